//! One instance, one device, one queue: built as a test wants them and torn down in the right order.
//!
//! Knows how layers, layer settings, messages and optional abilities get in. Knows nothing about images or samplers.
//! Start at [`ContextBuilder`].

use crate::capability::{Capability, Plan};
use crate::folder::Folder;
use crate::layer;
use crate::resident;
use crate::skip::{Outcome, skip_if};
use ash::vk;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Environment variable that picks the physical device: a part of its name, or `#n` for the n-th.
pub const DEVICE_VARIABLE: &str = "SAMPLIN_TEST_DEVICE";

/// First header version with `VK_EXT_layer_settings`.
const SETTINGS_HEADER: u32 = vk::make_api_version(0, 1, 3, 272);

/// One message of the debug messenger.
#[derive(Clone, Debug)]
pub struct Message {
    /// Message id name: the VUID for the validation layer's errors; empty when the sender gave none.
    pub id: String,
    /// The text.
    pub text: String,
    /// One severity bit.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
}

impl Message {
    /// Whether the message is of error severity.
    pub fn is_error(&self) -> bool {
        self.severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
    }
}

/// The messages of one context, shared with the messenger; outlives the context.
#[derive(Clone, Debug, Default)]
pub struct MessageLog(Arc<Mutex<Vec<Message>>>);

impl MessageLog {
    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every message so far, oldest first.
    pub fn all(&self) -> Vec<Message> {
        self.lock().clone()
    }

    /// Removes and returns every message so far.
    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    /// The messages of error severity.
    pub fn errors(&self) -> Vec<Message> {
        self.lock().iter().filter(|message| message.is_error()).cloned().collect()
    }

    /// Whether a message's id ends with `suffix`, e.g. `"magFilter-04553"`.
    pub fn has_vuid(&self, suffix: &str) -> bool {
        self.lock().iter().any(|message| message.id.ends_with(suffix))
    }
}

/// Why a context could not be built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ContextError {
    /// The Vulkan loader library could not be loaded.
    Loader(String),
    /// A requested layer is not visible to the loader.
    LayerMissing(String),
    /// The layer under test was requested and not found.
    LayerUnderTest(String),
    /// `vkCreateInstance` failed.
    Instance(vk::Result),
    /// No physical device, or none of that name.
    Device(String),
    /// A device-level call failed.
    Vulkan(&'static str, vk::Result),
}

impl ContextError {
    /// What a person can do about it, naming the Debian package; empty when the error speaks for itself.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Loader(_) => "install the Vulkan loader (Debian package libvulkan1)",
            Self::LayerMissing(name) if name == layer::VALIDATION => {
                "install the validation layer (Debian package vulkan-validationlayers)"
            }
            Self::Instance(vk::Result::ERROR_INCOMPATIBLE_DRIVER) | Self::Device(_) => {
                "install a Vulkan driver; Debian package mesa-vulkan-drivers has a software one"
            }
            _ => "",
        }
    }
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loader(text) => write!(f, "the Vulkan loader cannot be loaded: {text}"),
            Self::LayerMissing(name) => write!(f, "the loader sees no layer named {name}"),
            Self::LayerUnderTest(text) => f.write_str(text),
            Self::Instance(result) => write!(f, "vkCreateInstance failed: {result:?}"),
            Self::Device(text) => f.write_str(text),
            Self::Vulkan(call, result) => write!(f, "{call} failed: {result:?}"),
        }?;
        let hint = self.hint();
        if hint.is_empty() { Ok(()) } else { write!(f, "; {hint}") }
    }
}

impl std::error::Error for ContextError {}

/// A file of `devices/`.
pub fn device_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../devices/{name}.json"))
}

/// Describes the context to build; every method adds to or replaces one default.
#[derive(Clone, Debug)]
pub struct ContextBuilder {
    layers: Vec<String>,
    settings: Vec<(String, String, String)>,
    application: (String, u32),
    engine: (String, u32),
    api_version: u32,
    device: Option<String>,
    without: BTreeSet<Capability>,
    messenger: bool,
    queries: bool,
    refuse_errors: bool,
    record_only: bool,
    surfaces: bool,
    windows: bool,
    extensions: Vec<&'static CStr>,
}

impl Default for ContextBuilder {
    fn default() -> Self {
        Self {
            layers: Vec::new(),
            settings: Vec::new(),
            application: ("samplin-testkit".to_owned(), 1),
            engine: ("testkit".to_owned(), 1),
            api_version: vk::API_VERSION_1_3,
            device: None,
            without: BTreeSet::from([Capability::ImagelessFramebuffer, Capability::DescriptorHeap]),
            messenger: true,
            queries: true,
            refuse_errors: false,
            record_only: false,
            surfaces: false,
            windows: false,
            extensions: Vec::new(),
        }
    }
}

impl ContextBuilder {
    /// Appends a layer to `ppEnabledLayerNames`; the first is nearest the application.
    pub fn layer(mut self, name: &str) -> Self {
        self.layers.push(name.to_owned());
        self
    }

    /// Appends the layer under test.
    pub fn samplin(self) -> Self {
        self.layer(layer::SAMPLIN)
    }

    /// Appends the Khronos validation layer.
    ///
    /// An older validation layer caps what the context uses: the API version, and extensions whose commands it does not
    /// know, because it wraps handles and crashes the driver when it cannot unwrap them.
    pub fn validation(self) -> Self {
        self.layer(layer::VALIDATION)
    }

    /// Hands a string setting to the layer under test through `VK_EXT_layer_settings`.
    pub fn setting(self, key: &str, value: &str) -> Self {
        self.layer_setting(layer::SAMPLIN, key, value)
    }

    /// Hands the path of a file over as a setting.
    pub fn file(self, key: &str, path: impl AsRef<Path>) -> Self {
        self.setting(key, path.as_ref().to_str().expect("paths of tests are UTF-8"))
    }

    /// Writes rules to a folder, and has them followed.
    pub fn rules(self, folder: &Folder, text: &str) -> Self {
        self.file("config", folder.write("samplin.toml", text))
    }

    /// Simulates a device of `devices/`.
    pub fn simulated(self, name: &str) -> Self {
        self.file("device", device_file(name))
    }

    /// Hands a string setting to any layer.
    pub fn layer_setting(mut self, layer: &str, key: &str, value: &str) -> Self {
        self.settings.push((layer.to_owned(), key.to_owned(), value.to_owned()));
        self
    }

    /// A context with the validation layer, where that is visible; `None`, and a message, without loader or driver.
    /// Panics where `CI` is set, in place of the message.
    pub fn validated(self) -> Option<Context> {
        let outcome = match self.clone().validation().build() {
            Err(ContextError::LayerMissing(_)) => self.build(),
            outcome => outcome,
        };
        match outcome {
            Ok(context) => Some(context),
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "no context: {error}");
                crate::skip(error);
                None
            }
        }
    }

    /// Sets `pApplicationName` and `applicationVersion`.
    pub fn application(mut self, name: &str, version: u32) -> Self {
        self.application = (name.to_owned(), version);
        self
    }

    /// Sets `pEngineName` and `engineVersion`.
    pub fn engine(mut self, name: &str, version: u32) -> Self {
        self.engine = (name.to_owned(), version);
        self
    }

    /// Sets the instance's `apiVersion`; the default is 1.3. The effective version is the lower of this and the device's.
    pub fn api_version(mut self, version: u32) -> Self {
        self.api_version = version;
        self
    }

    /// Picks the physical device: a part of its name in any case, or `#n` for the n-th. The default is the value of
    /// [`DEVICE_VARIABLE`], else the first device.
    pub fn device(mut self, choice: &str) -> Self {
        self.device = Some(choice.to_owned());
        self
    }

    /// Leaves an ability off although the device has it.
    pub fn without(mut self, capability: Capability) -> Self {
        self.without.insert(capability);
        self
    }

    /// Enables an ability that is off otherwise, where the device has it.
    pub fn with(mut self, capability: Capability) -> Self {
        self.without.remove(&capability);
        self
    }

    /// Enables a device extension, where the device has it, with none of its features unless they are a [`Capability`].
    pub fn extension(mut self, name: &'static CStr) -> Self {
        self.extensions.push(name);
        self
    }

    /// Enables surfaces without a window (`VK_EXT_headless_surface`), and swapchains, where there are both.
    pub fn surfaces(mut self) -> Self {
        self.surfaces = true;
        self.extension(ash::khr::swapchain::NAME)
    }

    /// Enables surfaces of X11 as well, for drivers without the others: [`Swapchain`](crate::swapchain::Swapchain) takes what there is.
    pub fn windows(mut self) -> Self {
        self.windows = true;
        self.surfaces()
    }

    /// Leaves out the debug messenger and the debug-utils extension.
    pub fn without_messenger(mut self) -> Self {
        self.messenger = false;
        self
    }

    /// Lets the messenger ask that calls with an error go no further: the validation layer then fails them, and what is
    /// illegal never reaches the driver.
    pub fn refuse_errors(mut self) -> Self {
        self.refuse_errors = true;
        self
    }

    /// Records command buffers and never submits them, so that what is illegal can be judged without being executed.
    /// Whatever is read back is then zero.
    pub fn record_only(mut self) -> Self {
        self.record_only = true;
        self
    }

    /// With `api_version` 1.0, also leaves out `VK_KHR_get_physical_device_properties2`: a bare 1.0 application.
    pub fn without_queries(mut self) -> Self {
        self.queries = false;
        self
    }

    /// Creates instance, messenger, device, queue and command pool.
    /// Of an error nothing stays behind.
    pub fn build(&self) -> Result<Context, ContextError> {
        let installed = layer::install();
        if self.layers.iter().any(|name| name == layer::SAMPLIN) {
            installed.map_err(ContextError::LayerUnderTest)?;
        }
        // SAFETY: the Vulkan loader is the system's library of that name; its constructors have no precondition.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| ContextError::Loader(error.to_string()))?;
        resident::keep_drivers();
        let log = MessageLog::default();
        let instance = Instance::new(self, entry, &log)?;
        if self.layers.iter().any(|name| name == layer::VALIDATION) {
            resident::keep_validation();
        }
        let (physical_device, properties) = self.pick(&instance.raw)?;
        Context::new(self, instance, physical_device, properties, log)
    }

    fn pick(
        &self,
        instance: &ash::Instance,
    ) -> Result<(vk::PhysicalDevice, vk::PhysicalDeviceProperties), ContextError> {
        // SAFETY: the instance is alive.
        let handles = unsafe { instance.enumerate_physical_devices() }
            .map_err(|error| ContextError::Vulkan("vkEnumeratePhysicalDevices", error))?;
        let devices: Vec<_> = handles
            .into_iter()
            // SAFETY: the handle was enumerated from this instance.
            .map(|handle| (handle, unsafe { instance.get_physical_device_properties(handle) }))
            .collect();
        let choice = self.device.clone().or_else(|| std::env::var(DEVICE_VARIABLE).ok()).unwrap_or_default();
        let found = match choice.strip_prefix('#') {
            Some(index) => index.parse().ok().and_then(|index: usize| devices.get(index)),
            None => devices
                .iter()
                .find(|(_, properties)| device_name(properties).to_lowercase().contains(&choice.to_lowercase())),
        };
        found.copied().ok_or_else(|| {
            let names: Vec<String> = devices.iter().map(|(_, properties)| device_name(properties)).collect();
            ContextError::Device(format!("no Vulkan device matches {choice:?} among {names:?}"))
        })
    }
}

fn device_name(properties: &vk::PhysicalDeviceProperties) -> String {
    properties.device_name_as_c_str().map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
}

fn c_string(text: &str) -> CString {
    CString::new(text).expect("test strings hold no NUL")
}

/// An instance and its messenger, destroyed together.
struct Instance {
    raw: ash::Instance,
    entry: ash::Entry,
    debug: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    queries: Option<ash::khr::get_physical_device_properties2::Instance>,
    /// Surfaces without a window are enabled.
    surfaces: bool,
    /// Surfaces of X11 are.
    windows: bool,
    version: u32,
    /// Abilities newer than the validation layer in use, which wraps handles and would not unwrap them in new commands.
    beyond_validation: BTreeSet<Capability>,
    /// Keeps what the messenger's user pointer names alive.
    _listener: Box<Listener>,
}

/// What the messenger's user pointer names.
struct Listener {
    log: MessageLog,
    /// Once there is an instance: an older validation layer objects to the structure of settings that it is made with.
    refuse_errors: AtomicBool,
}

impl Instance {
    fn new(builder: &ContextBuilder, entry: ash::Entry, log: &MessageLog) -> Result<Self, ContextError> {
        // SAFETY: global command of a loaded loader.
        let known = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(|error| ContextError::Vulkan("vkEnumerateInstanceLayerProperties", error))?;
        let mut newest = builder.api_version;
        let mut beyond_validation = BTreeSet::new();
        for name in &builder.layers {
            let found = known
                .iter()
                .find(|layer| layer.layer_name_as_c_str().is_ok_and(|known| known.to_bytes() == name.as_bytes()));
            let found = found.ok_or_else(|| ContextError::LayerMissing(name.clone()))?;
            if name == layer::VALIDATION {
                let spec = found.spec_version;
                let (major, minor) = (vk::api_version_major(spec), vk::api_version_minor(spec));
                newest = newest.min(vk::make_api_version(0, major, minor, vk::api_version_patch(u32::MAX)));
                for (capability, header) in [(Capability::Maintenance5, 260), (Capability::Maintenance6, 275)] {
                    if spec < vk::make_api_version(0, 1, 3, header) {
                        beyond_validation.insert(capability);
                    }
                }
                if spec < vk::make_api_version(0, 1, 4, 340) {
                    beyond_validation.insert(Capability::DescriptorHeap);
                }
            }
        }
        let layer_names: Vec<CString> = builder.layers.iter().map(|name| c_string(name)).collect();
        let mut present = BTreeSet::new();
        for layer in std::iter::once(None).chain(layer_names.iter().map(|name| Some(name.as_c_str()))) {
            // SAFETY: global command; the layer name is null or one the loader listed.
            let extensions = unsafe { entry.enumerate_instance_extension_properties(layer) }
                .map_err(|error| ContextError::Vulkan("vkEnumerateInstanceExtensionProperties", error))?;
            present.extend(extensions.iter().filter_map(|e| Some(e.extension_name_as_c_str().ok()?.to_owned())));
        }
        // SAFETY: global command of a loaded loader.
        let loader_version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        let version = newest.min(loader_version.unwrap_or(vk::API_VERSION_1_0).max(vk::API_VERSION_1_0));
        let mut extensions: Vec<&CStr> = Vec::new();
        // A loader older than the extension refuses its name, even where a layer's manifest offers it; the chained structure
        // goes through all the same.
        let settings_extension = !builder.settings.is_empty()
            && present.contains(ash::ext::layer_settings::NAME)
            && loader_version.is_some_and(|loader| loader >= SETTINGS_HEADER);
        let messenger = builder.messenger && present.contains(ash::ext::debug_utils::NAME);
        if messenger {
            extensions.push(ash::ext::debug_utils::NAME);
        }
        let names = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
        let surfaces = builder.surfaces && names.iter().all(|name| present.contains(*name));
        if surfaces {
            extensions.extend(names);
        }
        let names = [ash::khr::surface::NAME, ash::khr::xcb_surface::NAME];
        let windows = builder.windows && !surfaces && names.iter().all(|name| present.contains(*name));
        if windows {
            extensions.extend(names);
        }
        let queries = version < vk::API_VERSION_1_1
            && builder.queries
            && present.contains(ash::khr::get_physical_device_properties2::NAME);
        if queries {
            extensions.push(ash::khr::get_physical_device_properties2::NAME);
        }
        if settings_extension {
            extensions.push(ash::ext::layer_settings::NAME);
        }
        let extension_pointers: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let layer_pointers: Vec<_> = layer_names.iter().map(|name| name.as_ptr()).collect();

        let strings: Vec<[CString; 3]> = builder
            .settings
            .iter()
            .map(|(layer, key, value)| [c_string(layer), c_string(key), c_string(value)])
            .collect();
        let values: Vec<*const std::ffi::c_char> = strings.iter().map(|[_, _, value]| value.as_ptr()).collect();
        let settings: Vec<vk::LayerSettingEXT<'_>> = strings
            .iter()
            .zip(&values)
            .map(|([layer, key, _], value)| vk::LayerSettingEXT {
                p_layer_name: layer.as_ptr(),
                p_setting_name: key.as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: std::ptr::from_ref(value).cast(),
                ..Default::default()
            })
            .collect();

        let user = Box::new(Listener { log: log.clone(), refuse_errors: AtomicBool::new(false) });
        let mut messenger_info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
            )
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(on_message))
            .user_data(std::ptr::from_ref(user.as_ref()).cast_mut().cast());
        let later = messenger_info;
        let mut settings_info = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let (name, engine) = (c_string(&builder.application.0), c_string(&builder.engine.0));
        let application = vk::ApplicationInfo::default()
            .application_name(&name)
            .application_version(builder.application.1)
            .engine_name(&engine)
            .engine_version(builder.engine.1)
            .api_version(version);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layer_pointers)
            .enabled_extension_names(&extension_pointers);
        if messenger {
            info = info.push_next(&mut messenger_info);
        }
        if !settings.is_empty() {
            info = info.push_next(&mut settings_info);
        }
        // SAFETY: the create info and everything it points to are locals that outlive the call; the user data is boxed and
        // kept until after the instance is destroyed.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(ContextError::Instance)?;
        user.refuse_errors.store(builder.refuse_errors, Ordering::Relaxed);
        if !settings.is_empty() && !settings_extension {
            // What a validation layer older than the structure says about it.
            log.lock().retain(|message| !message.id.ends_with("VkInstanceCreateInfo-pNext-pNext"));
        }
        let queries = queries.then(|| ash::khr::get_physical_device_properties2::Instance::new(&entry, &raw));
        let mut instance =
            Self { raw, entry, debug: None, queries, surfaces, windows, version, beyond_validation, _listener: user };
        if messenger {
            let functions = ash::ext::debug_utils::Instance::new(&instance.entry, &instance.raw);
            // SAFETY: the extension is enabled; `later` has an empty chain and user data that outlives the messenger.
            let handle = unsafe { functions.create_debug_utils_messenger(&later, None) }
                .map_err(|error| ContextError::Vulkan("vkCreateDebugUtilsMessengerEXT", error))?;
            instance.debug = Some((functions, handle));
        }
        Ok(instance)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((functions, messenger)) = self.debug.take() {
            // SAFETY: created from this instance in `new`, destroyed once.
            unsafe { functions.destroy_debug_utils_messenger(messenger, None) };
        }
        // SAFETY: every child object borrows the context, so all of them are gone.
        unsafe { self.raw.destroy_instance(None) };
    }
}

/// Appends one message to the log behind `user`.
///
/// # Safety
///
/// Called by the loader or a layer with the arguments that `PFN_vkDebugUtilsMessengerCallbackEXT` describes; `user` is
/// the boxed [`Listener`] given at creation.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `user` is the boxed listener of `Instance::new`, alive until the instance is destroyed.
    let listener = unsafe { user.cast::<Listener>().as_ref() };
    // SAFETY: the callback data is valid for the duration of the call (VK_EXT_debug_utils).
    let data = unsafe { data.as_ref() };
    let Some(listener) = listener else { return vk::FALSE };
    if let Some(data) = data {
        // SAFETY: null or a NUL-terminated string for the duration of the call, as above.
        let id = unsafe { data.message_id_name_as_c_str() };
        // SAFETY: as for the id.
        let text = unsafe { data.message_as_c_str() };
        let own = |text: Option<&CStr>| text.map_or_else(String::new, |text| text.to_string_lossy().into_owned());
        listener.log.lock().push(Message { id: own(id), text: own(text), severity });
    }
    vk::Bool32::from(
        listener.refuse_errors.load(Ordering::Relaxed)
            && severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR),
    )
}

/// A device with one graphics-and-compute queue, ready to record and submit.
///
/// Objects made from it borrow it, so they are gone before it is.
pub struct Context {
    // Declared in order of destruction: the device's own `Drop` runs first, then the instance's.
    device: ash::Device,
    pool: Mutex<vk::CommandPool>,
    queue: vk::Queue,
    queue_family: u32,
    physical_device: vk::PhysicalDevice,
    properties: vk::PhysicalDeviceProperties,
    memory: vk::PhysicalDeviceMemoryProperties,
    plan: Plan,
    version: u32,
    log: MessageLog,
    record_only: bool,
    pub(crate) functions: Extensions,
    instance: Instance,
}

/// Function tables of the device extensions; calling one whose capability is off panics in ash.
pub(crate) struct Extensions {
    pub(crate) push: ash::khr::push_descriptor::Device,
    pub(crate) maintenance6: ash::khr::maintenance6::Device,
    pub(crate) buffer: ash::ext::descriptor_buffer::Device,
    pub(crate) template: ash::khr::descriptor_update_template::Device,
    pub(crate) copy2: ash::khr::copy_commands2::Device,
    pub(crate) objects: ash::ext::shader_object::Device,
    pub(crate) debug: Option<ash::ext::debug_utils::Device>,
}

impl Context {
    /// A builder with the defaults.
    pub fn builder() -> ContextBuilder {
        ContextBuilder::default()
    }

    fn new(
        builder: &ContextBuilder,
        instance: Instance,
        physical_device: vk::PhysicalDevice,
        properties: vk::PhysicalDeviceProperties,
        log: MessageLog,
    ) -> Result<Self, ContextError> {
        let raw = &instance.raw;
        // SAFETY: the physical device was enumerated from this instance.
        let families = unsafe { raw.get_physical_device_queue_family_properties(physical_device) };
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let queue_family = families
            .iter()
            .position(|family| family.queue_flags.contains(wanted))
            .ok_or_else(|| ContextError::Device("the device has no graphics-and-compute queue".to_owned()))?;
        let queue_family = queue_family as u32;
        // SAFETY: as above.
        let extensions = unsafe { raw.enumerate_device_extension_properties(physical_device) }
            .map_err(|error| ContextError::Vulkan("vkEnumerateDeviceExtensionProperties", error))?;
        let present: BTreeSet<String> = extensions
            .iter()
            .filter_map(|extension| extension.extension_name_as_c_str().ok())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        // SAFETY: as above.
        let core = unsafe { raw.get_physical_device_features(physical_device) };
        let version = instance.version.min(properties.api_version);
        let query_core = |features: &mut vk::PhysicalDeviceFeatures2<'_>| {
            // SAFETY: version 1.1; the chain holds structures of supported versions and extensions only.
            unsafe { raw.get_physical_device_features2(physical_device, features) };
        };
        let query_khr = |features: &mut vk::PhysicalDeviceFeatures2<'_>| {
            if let Some(functions) = &instance.queries {
                // SAFETY: the extension is enabled; the chain as above.
                unsafe { functions.get_physical_device_features2(physical_device, features) };
            }
        };
        let query: Option<&dyn Fn(&mut vk::PhysicalDeviceFeatures2<'_>)> =
            if instance.version >= vk::API_VERSION_1_1 && properties.api_version >= vk::API_VERSION_1_1 {
                Some(&query_core)
            } else if instance.queries.is_some() {
                Some(&query_khr)
            } else {
                None
            };
        let without = builder.without.union(&instance.beyond_validation).copied().collect();
        let mut plan = Plan::new(version, &present, &core, query, &without);
        for name in &builder.extensions {
            // Swapchains are of surfaces.
            let lacks = *name == ash::khr::swapchain::NAME && !instance.surfaces && !instance.windows;
            if !lacks && present.contains(name.to_string_lossy().as_ref()) && !plan.extensions.contains(name) {
                plan.extensions.push(name);
            }
        }
        let names: Vec<_> = plan.extensions.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&[1.0])];
        let device = plan
            .enable(query.is_some(), |chain, core| {
                let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
                let info = match chain {
                    Some(chain) => info.push_next(chain),
                    None => info.enabled_features(core),
                };
                // SAFETY: extensions and features were reported by this physical device.
                unsafe { raw.create_device(physical_device, &info, None) }
            })
            .map_err(|error| ContextError::Vulkan("vkCreateDevice", error))?;
        // SAFETY: one queue of this family was requested above.
        let queue = unsafe { device.get_device_queue(queue_family, 0) };
        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the create info is a local without pointers.
        let pool = match unsafe { device.create_command_pool(&pool_info, None) } {
            Ok(pool) => pool,
            Err(error) => {
                // SAFETY: the device has no child objects yet.
                unsafe { device.destroy_device(None) };
                return Err(ContextError::Vulkan("vkCreateCommandPool", error));
            }
        };
        // SAFETY: as for the other queries of the physical device.
        let memory = unsafe { raw.get_physical_device_memory_properties(physical_device) };
        let functions = Extensions {
            push: ash::khr::push_descriptor::Device::new(raw, &device),
            maintenance6: ash::khr::maintenance6::Device::new(raw, &device),
            buffer: ash::ext::descriptor_buffer::Device::new(raw, &device),
            template: ash::khr::descriptor_update_template::Device::new(raw, &device),
            copy2: ash::khr::copy_commands2::Device::new(raw, &device),
            objects: ash::ext::shader_object::Device::new(raw, &device),
            debug: instance.debug.is_some().then(|| ash::ext::debug_utils::Device::new(raw, &device)),
        };
        let pool = Mutex::new(pool);
        Ok(Self {
            device,
            pool,
            queue,
            queue_family,
            physical_device,
            properties,
            memory,
            plan,
            version,
            log,
            record_only: builder.record_only,
            functions,
            instance,
        })
    }

    /// Whether surfaces without a window and swapchains are enabled.
    pub fn has_surfaces(&self) -> bool {
        self.instance.surfaces && self.plan.extensions.contains(&ash::khr::swapchain::NAME)
    }

    /// Whether surfaces of X11 and swapchains are enabled.
    pub fn has_windows(&self) -> bool {
        self.instance.windows && self.plan.extensions.contains(&ash::khr::swapchain::NAME)
    }

    /// The device's functions.
    pub fn device(&self) -> &ash::Device {
        &self.device
    }

    /// The instance's functions.
    pub fn instance(&self) -> &ash::Instance {
        &self.instance.raw
    }

    /// The loader's functions.
    pub fn entry(&self) -> &ash::Entry {
        &self.instance.entry
    }

    /// The physical device in use.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.physical_device
    }

    /// The queue; [`Context::submit`] synchronises its use.
    pub fn queue(&self) -> vk::Queue {
        self.queue
    }

    /// Family of the queue.
    pub fn queue_family(&self) -> u32 {
        self.queue_family
    }

    /// The physical device's properties.
    pub fn properties(&self) -> &vk::PhysicalDeviceProperties {
        &self.properties
    }

    /// The physical device's limits.
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.properties.limits
    }

    /// The physical device's name.
    pub fn device_name(&self) -> String {
        device_name(&self.properties)
    }

    /// The lower of the instance's and the device's version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether `capability` is enabled on this device.
    pub fn supports(&self, capability: Capability) -> bool {
        self.plan.enabled.contains(&capability)
    }

    /// Whether the physical device has `capability`, enabled or not.
    pub fn offers(&self, capability: Capability) -> bool {
        self.plan.offered.contains(&capability)
    }

    /// Every enabled capability.
    pub fn enabled(&self) -> impl Iterator<Item = Capability> + '_ {
        self.plan.enabled.iter().copied()
    }

    /// Names of the enabled device extensions.
    pub fn extensions(&self) -> &[&'static CStr] {
        &self.plan.extensions
    }

    /// The first of `wanted` that is not enabled, as a skip message; `None` when all are.
    pub fn missing(&self, wanted: &[Capability]) -> Option<String> {
        let lacking = wanted.iter().find(|capability| !self.supports(**capability))?;
        Some(format!("{} lacks {}", self.device_name(), lacking.name()))
    }

    /// A skip where this holds, for what the device then does or lacks.
    pub fn skip_where(&self, holds: bool, does: &str) -> Outcome {
        skip_if(holds.then(|| format!("{} {does}", self.device_name())))
    }

    /// Format features of `format` with `tiling` (the 32-bit set).
    pub fn format_features(&self, format: vk::Format, tiling: vk::ImageTiling) -> vk::FormatFeatureFlags {
        // SAFETY: the physical device belongs to this instance; any format value may be asked.
        let found = unsafe { self.instance.raw.get_physical_device_format_properties(self.physical_device, format) };
        if tiling == vk::ImageTiling::LINEAR { found.linear_tiling_features } else { found.optimal_tiling_features }
    }

    /// Format features of texel buffers of `format`.
    pub fn buffer_features(&self, format: vk::Format) -> vk::FormatFeatureFlags {
        // SAFETY: as above.
        unsafe { self.instance.raw.get_physical_device_format_properties(self.physical_device, format) }.buffer_features
    }

    /// Features that the physical device has, enabled or not.
    pub fn features(&self) -> vk::PhysicalDeviceFeatures {
        // SAFETY: as above.
        unsafe { self.instance.raw.get_physical_device_features(self.physical_device) }
    }

    /// The messages of this context; the log may be kept beyond the context's life.
    pub fn messages(&self) -> MessageLog {
        self.log.clone()
    }

    /// Panics if the validation layer has reported an error so far.
    pub fn assert_silent(&self) {
        let errors = self.log.errors();
        assert!(errors.is_empty(), "the validation layer objects: {errors:#?}");
    }

    /// Names an object in messages and traces; nothing happens without the messenger.
    pub fn set_name<T: vk::Handle>(&self, object: T, name: &str) {
        if let Some(functions) = &self.functions.debug {
            let name = c_string(name);
            let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&name);
            // SAFETY: the extension is enabled and the caller's object belongs to this device.
            unsafe { functions.set_debug_utils_object_name(&info) }.expect("naming an object");
        }
    }

    /// Begins a debug label region, if there is to be one; nothing happens without the messenger.
    pub fn begin_label(&self, commands: vk::CommandBuffer, label: Option<&str>) {
        if let Some((functions, label)) = self.functions.debug.as_ref().zip(label) {
            let name = c_string(label);
            // SAFETY: the extension is enabled and the caller's command buffer is recording.
            unsafe {
                functions.cmd_begin_debug_utils_label(commands, &vk::DebugUtilsLabelEXT::default().label_name(&name))
            };
        }
    }

    /// Ends the debug label region that [`Context::begin_label`] has begun, if there was to be one.
    pub fn end_label(&self, commands: vk::CommandBuffer, label: Option<&str>) {
        if let Some(functions) = self.functions.debug.as_ref().filter(|_| label.is_some()) {
            // SAFETY: as above.
            unsafe { functions.cmd_end_debug_utils_label(commands) };
        }
    }

    /// Address of a device command by name, `None` when the device does not have it.
    pub fn device_proc(&self, name: &CStr) -> vk::PFN_vkVoidFunction {
        // SAFETY: the device is alive and the name is NUL-terminated.
        unsafe { self.instance.raw.get_device_proc_addr(self.device.handle(), name.as_ptr()) }
    }

    /// Records a command buffer with `record`, submits it (unless [`ContextBuilder::record_only`]) and waits until it is
    /// done.
    pub fn submit<R>(&self, record: impl FnOnce(vk::CommandBuffer) -> R) -> R {
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let allocate = vk::CommandBufferAllocateInfo::default().command_pool(*pool).command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the pool is locked for this thread until the end of the function.
        let buffers = unsafe { self.device.allocate_command_buffers(&allocate) }.expect("vkAllocateCommandBuffers");
        // SAFETY: freshly allocated, not recording.
        unsafe { self.device.begin_command_buffer(buffers[0], &begin) }.expect("vkBeginCommandBuffer");
        let result = record(buffers[0]);
        // SAFETY: the buffer is recording since the call above.
        unsafe { self.device.end_command_buffer(buffers[0]) }.expect("vkEndCommandBuffer");
        self.wait_for(&buffers);
        // SAFETY: the queue is idle, so the buffer is not pending.
        unsafe { self.device.free_command_buffers(*pool, &buffers) };
        result
    }

    /// Whether command buffers are only recorded ([`ContextBuilder::record_only`]).
    pub fn is_record_only(&self) -> bool {
        self.record_only
    }

    /// Submits a recorded command buffer (unless [`ContextBuilder::record_only`]) and waits until it is done.
    pub fn execute(&self, commands: vk::CommandBuffer) {
        let _queue = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        self.wait_for(&[commands]);
    }

    /// Submits where the pool is locked.
    fn wait_for(&self, buffers: &[vk::CommandBuffer]) {
        if self.record_only {
            return;
        }
        let submits = [vk::SubmitInfo::default().command_buffers(buffers)];
        // SAFETY: the pool's lock also guards the queue, and the caller's buffers are executable.
        unsafe { self.device.queue_submit(self.queue, &submits, vk::Fence::null()) }.expect("vkQueueSubmit");
        // SAFETY: as above.
        unsafe { self.device.queue_wait_idle(self.queue) }.expect("vkQueueWaitIdle");
    }

    /// Allocates device memory for `requirements`; `flags` are wanted, and dropped when no type has them, unless
    /// `HOST_VISIBLE` is among them.
    pub fn allocate(
        &self,
        requirements: vk::MemoryRequirements,
        flags: vk::MemoryPropertyFlags,
        address: bool,
    ) -> vk::DeviceMemory {
        let count = self.memory.memory_type_count as usize;
        let find = |flags: vk::MemoryPropertyFlags| {
            self.memory.memory_types[..count].iter().enumerate().position(|(index, memory)| {
                requirements.memory_type_bits >> index & 1 == 1 && memory.property_flags.contains(flags)
            })
        };
        let relaxed = if flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
            flags
        } else {
            vk::MemoryPropertyFlags::empty()
        };
        let index = find(flags).or_else(|| find(relaxed)).expect("a memory type fits the object");
        let mut address_flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info =
            vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index as u32);
        if address {
            info = info.push_next(&mut address_flags);
        }
        // SAFETY: the type index is one of the device's; the chain is a local.
        unsafe { self.device.allocate_memory(&info, None) }.expect("vkAllocateMemory")
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let pool = *self.pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the device is alive; waiting has no other precondition once nobody else can submit (`&mut self`).
        let _ = unsafe { self.device.device_wait_idle() };
        // SAFETY: nothing is pending after the wait, and every object made from the context borrowed it.
        unsafe { self.device.destroy_command_pool(pool, None) };
        // SAFETY: the last child is gone.
        unsafe { self.device.destroy_device(None) };
    }
}
