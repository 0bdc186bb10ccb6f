//! One `VkDevice`, found by its dispatch key or that of one of its command buffers.
//!
//! What is kept of a device lies in rooms, one job each, and hooks reach it through their methods: `samplers` and their
//! `variants`, `images` with views and swapchains, `layouts`, `resolve` for the slow way of a pair, `guard` against panics of the
//! layer's own, `telling` for records. What each descriptor needs is in [`Hot`].

mod guard;
mod images;
mod layouts;
mod resolve;
mod samplers;
mod separate;
mod telling;
mod variants;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;
use samplin_hot::{Gate, Hot, Next, Rest};
use vk_layer_sys::PfnGetDeviceProcAddr;

use self::images::Images;
pub use self::images::{ImageTraits, ViewClass};
use self::layouts::Layouts;
use self::samplers::Samplers;
pub use self::samplers::{ConversionPlan, SamplerPlan};
pub use self::separate::{Binds, Limits, Made, Separate, Stage, TemplateRun};
use self::telling::Telling;
use crate::caps::{Enabled, Formats};
use crate::decide::{DeviceCaps, Policy};
use crate::dispatch::{self, DeviceFns, InstanceFns};
use crate::instance::Instance;
use crate::rules::Rules;
use crate::settings::{self, BorderMode, DepthLinear, GlClampRule, Mode};
use crate::variant::Cache;

/// One `VkDevice`.
#[repr(C)]
pub struct Device {
    /// What each descriptor needs. First, because the hooks of `samplin-hot` find a device by it.
    pub hot: Hot,
    /// The device.
    pub handle: vk::Device,
    /// Its instance.
    pub instance: Arc<Instance>,
    /// `vkGetDeviceProcAddr` of the layer below.
    pub next_gdpa: PfnGetDeviceProcAddr,
    /// Commands of the layer below that take the physical device.
    instance_fns: InstanceFns,
    /// Commands of the layer below.
    pub fns: DeviceFns,
    /// Features enabled, extensions enabled, limits.
    pub caps: DeviceCaps,
    /// Names behind `caps`, for the trace.
    pub enabled: Enabled,
    /// Settings that decisions depend on.
    policy: Policy,
    /// Format features.
    formats: Formats,
    /// Whether decisions are only written down.
    pub audit: bool,
    /// The rules in force.
    pub rules: Rules,

    /// The device only forwards, because a hook panicked.
    broken: AtomicBool,
    /// States, choices and variants.
    cache: Cache,
    samplers: Samplers,
    images: Images,
    layouts: Layouts,
    telling: Telling,
    /// What only a shader joins, with `separate=resolve`.
    pub separate: Option<Box<Separate>>,
}

/// What a device is made from.
pub struct NewDevice {
    /// The device.
    pub handle: vk::Device,
    /// Its instance.
    pub instance: Arc<Instance>,
    /// `vkGetDeviceProcAddr` of the layer below.
    pub next_gdpa: PfnGetDeviceProcAddr,
    /// Commands of the layer below that take the physical device.
    pub instance_fns: InstanceFns,
    /// Commands of the layer below.
    pub fns: DeviceFns,
    /// Features enabled, extensions enabled, limits.
    pub caps: DeviceCaps,
    /// Names behind `caps`.
    pub enabled: Enabled,
    /// Format features.
    pub formats: Formats,
    /// The rules in force.
    pub rules: Rules,
    /// The hook for updates with a template that `samplin-hot` does not do itself.
    pub template_hook: vk::PFN_vkUpdateDescriptorSetWithTemplate,
}

impl Device {
    /// The entry of a new device.
    pub fn new(new: NewDevice) -> Self {
        let settings = &new.instance.settings;
        let policy = Policy {
            strict_border: settings.border == BorderMode::Strict,
            gl_clamp_min: settings.gl_clamp_rule == GlClampRule::Min,
            depth_compare: settings.depth_linear == DepthLinear::Compare,
        };
        let next = Next {
            update_descriptor_sets: new.fns.update_descriptor_sets,
            cmd_push_descriptor_set: new.fns.cmd_push_descriptor_set,
            update_descriptor_set_with_template: new.fns.update_descriptor_set_with_template,
        };
        let rest = Rest {
            update_descriptor_set_with_template: new.template_hook,
            resolve: Self::resolve_for,
            immutable: Self::immutable_conflict_for,
            separate: Self::separate_for,
        };
        let telling = Telling::new(&new.instance.trace);
        let follows = settings.separate == settings::Separate::Resolve && settings.mode != Mode::Off;
        let separate = follows.then(Box::default);
        let hot = Hot::new(Gate::new(telling.records_all()), next, rest);
        // Nothing is to be said of separate samplers as such where each of their links is.
        hot.separate_said.store(follows, std::sync::atomic::Ordering::Relaxed);
        Self {
            hot,
            policy,
            audit: settings.mode == Mode::Audit,
            handle: new.handle,
            next_gdpa: new.next_gdpa,
            instance_fns: new.instance_fns,
            fns: new.fns,
            caps: new.caps,
            enabled: new.enabled,
            formats: new.formats,
            rules: new.rules,
            instance: new.instance,
            broken: AtomicBool::new(false),
            cache: Cache::new(new.caps.max_custom_border_color_samplers),
            samplers: Samplers::default(),
            images: Images::new(),
            layouts: Layouts::new(),
            telling,
            separate,
        }
    }

    /// Makes the device known.
    ///
    /// # Safety
    ///
    /// `self.handle` is valid.
    pub unsafe fn register(self: Arc<Self>) {
        // SAFETY: forwarded from the caller.
        let key = unsafe { dispatch::key(self.handle) };
        // SAFETY: a device starts with its `Hot`, is shared between threads, and is kept by the share given here until `forget`.
        unsafe { samplin_hot::hooks::insert(key, Arc::into_raw(self).cast()) };
    }

    /// The entry of a device or of one of its command buffers.
    ///
    /// # Safety
    ///
    /// `of` is a valid device, queue or command buffer, which also keeps the entry alive: a device is destroyed under external
    /// synchronisation and after everything made from it (VUID-vkDestroyDevice-device-05137).
    #[inline(always)]
    pub unsafe fn find<'a>(of: impl vk::Handle) -> Option<&'a Self> {
        // SAFETY: forwarded from the caller; `register` put a pointer to a device there.
        unsafe { samplin_hot::hooks::get(dispatch::key(of)).cast::<Self>().as_ref() }
    }

    /// A share of the entry.
    ///
    /// # Safety
    ///
    /// As for [`Device::find`].
    pub unsafe fn share(of: impl vk::Handle) -> Option<Arc<Self>> {
        // SAFETY: forwarded from the caller.
        let device = unsafe { samplin_hot::hooks::get(dispatch::key(of)) }.cast::<Self>();
        if device.is_null() {
            return None;
        }
        // SAFETY: `register` got the pointer from an `Arc`, whose share it keeps there.
        unsafe {
            Arc::increment_strong_count(device);
            Some(Arc::from_raw(device))
        }
    }

    /// Forgets the device with this dispatch key, before it is destroyed below.
    ///
    /// # Safety
    ///
    /// No call that names the device is under way (vkDestroyDevice, "Host Synchronization").
    pub unsafe fn forget(key: u64) {
        // SAFETY: forwarded from the caller.
        let device = unsafe { samplin_hot::hooks::remove(key) }.cast::<Self>();
        if !device.is_null() {
            // SAFETY: `register` put this share there, and `remove` returns it once.
            drop(unsafe { Arc::from_raw(device) });
        }
    }

    /// States, choices and variants.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }
}
