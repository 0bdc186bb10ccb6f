//! One `VkDevice`, found by its dispatch key or that of one of its command buffers.
//!
//! What is kept of a device lies in rooms, one job each, and hooks reach it through their methods: `samplers` and their
//! `variants`, `images` with views and swapchains, `layouts`, `resolve` for the slow way of a pair, `guard` against panics of the
//! layer's own, `telling` for records. What each descriptor needs is in [`Hot`], and what is made of it in `writes` and `templates`.

mod aspects;
pub mod caches;
mod exempt;
mod frames;
mod guard;
mod hot;
mod images;
mod layouts;
mod once;
mod resolve;
mod samplers;
mod separate;
mod shaders;
mod shared;
mod storage;
mod telling;
mod templates;
mod types;
mod usage;
mod variants;
mod writes;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;
use samplin_hot::Keyed;
use vk_layer_sys::PfnGetDeviceProcAddr;

use self::aspects::Aspects;
use self::frames::Frames;
pub use self::hot::Hot;
use self::images::Images;
pub use self::images::{ImageTraits, ViewClass};
pub use self::layouts::LayoutOf;
use self::layouts::Layouts;
use self::samplers::Samplers;
pub use self::samplers::{ConversionPlan, SamplerPlan};
pub use self::separate::{
    Binds, Descriptors, Group, Label, LaterLimits, Limits, Made, Program, Pushes, Separate, Stage, TemplateRun, Words,
};
pub use self::shaders::{Asked, Rewritten, Shaders, Shading, Told};
pub use self::shared::Key;
use self::shared::SharedSamplers;
use self::storage::Storage;
pub use self::storage::ViewCopy;
use self::telling::Telling;
pub use self::templates::Template;
use self::usage::Narrows;
pub use self::usage::{listed, wide_flags, wide_usage};
pub use self::writes::Stop;
use crate::caps::{Enabled, Formats};
use crate::commands::Which;
use crate::decide::{DeviceCaps, Policy};
use crate::dispatch::{self, DeviceFns, InstanceFns};
use crate::instance::Instance;
use crate::outcome::Terms;
use crate::overrides::Overrides;
use crate::settings::{self, AnisoNearest, Aspect, BorderMode, DepthLinear, GlClampRule, Mode};
use crate::variant::{Cache, Gate, Index, Rows};

static DEVICES: Keyed<Device> = Keyed::new();

/// One `VkDevice`.
///
/// In this order also in memory: what is written often lies at the end, apart from the commands that each descriptor write calls.
#[repr(C)]
pub struct Device {
    /// What each descriptor needs.
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
    /// The overrides in force.
    pub overrides: Overrides,

    /// The device only forwards, because a hook panicked.
    broken: AtomicBool,
    /// States, choices and variants.
    cache: Cache,
    samplers: Samplers,
    shared: SharedSamplers,
    images: Images,
    narrows: Narrows,
    layouts: Layouts,
    telling: Telling,
    /// Which frame it is.
    pub frames: Frames,
    /// What only a shader joins, with `separate=resolve`.
    pub separate: Option<Box<Separate>>,
    /// What is done about shader modules.
    pub shaders: Shaders,
    /// What is done about storage images whose format the device cannot store.
    pub storage: Storage,
    /// Views that descriptors show one aspect of.
    aspects: Aspects,
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
    /// The overrides in force.
    pub overrides: Overrides,
    /// Limits that split pipelines have to keep.
    pub limits: Limits,
}

impl Device {
    /// The entry of a new device.
    pub fn new(new: NewDevice) -> Self {
        let settings = &new.instance.settings;
        let telling = Telling::new(&new.instance.trace);
        let follows = settings.separate == settings::Separate::Resolve && settings.mode != Mode::Off;
        let named = new.overrides.demote(u64::MAX, None);
        let separate = follows.then(|| Box::new(Separate::new(new.limits, settings, new.caps.gl_address_modes, named)));
        let tasks = separate.as_deref().map(Separate::tasks).unwrap_or_default();
        let policy = Policy {
            strict_border: settings.border == BorderMode::Strict,
            gl_clamp_min: settings.gl_clamp_rule == GlClampRule::Min,
            depth_compare: settings.depth_linear == DepthLinear::Compare,
            saturates: tasks.saturate,
            emulates: tasks.filter,
            divides: tasks.divide,
            compares: tasks.compare,
            flat_nearest: settings.aniso_nearest == AnisoNearest::Off,
        };
        let is_on = !new.instance.is_off();
        // SAFETY: the formats were made for these commands, of an instance that the device keeps alive.
        let storage = unsafe { Storage::new(settings, &new.formats, &new.instance_fns, &new.enabled, is_on) };
        if let Some(separate) = separate.as_deref().filter(|_| storage.is_lowering()) {
            separate.store_by_views();
        }
        let aspects = Aspects::new(is_on && settings.aspect == Aspect::Depth);
        let shaders = Shaders::new(settings, &new.caps, &new.overrides, (storage.lowered, new.enabled.storage_buffers));
        let may_share = Self::may_share(settings, &new.enabled, new.overrides.use_samplers());
        let shared = SharedSamplers::new(settings.samplers, may_share, new.caps.max_sampler_allocation_count);
        let places = shared.places(new.caps.max_sampler_allocation_count);
        let hot = Hot::new(Gate::with(telling.records_all(), Index::new(places)));
        if !follows {
            // It is to be said once that separate samplers are not followed.
            hot.watch(types::type_bit(vk::DescriptorType::SAMPLER));
        }
        if separate.as_ref().is_some_and(|separate| separate.is_forced()) {
            hot.follow.store(hot::follow::ALL, std::sync::atomic::Ordering::Relaxed);
        }
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
            overrides: new.overrides,
            instance: new.instance,
            broken: AtomicBool::new(false),
            cache: Cache::new(new.caps.max_custom_border_color_samplers),
            samplers: Samplers::default(),
            shared,
            images: Images::new(),
            narrows: Narrows::default(),
            layouts: Layouts::new(),
            telling,
            frames: Frames::default(),
            separate,
            shaders,
            storage,
            aspects,
        }
    }

    /// Enters the device.
    ///
    /// # Safety
    ///
    /// `self.handle` is valid.
    pub unsafe fn register(self: Arc<Self>) {
        // SAFETY: `self.handle` is a valid device by this function's contract, so it starts with its dispatch key.
        DEVICES.insert(unsafe { dispatch::key(self.handle) }, self);
    }

    /// The entry of a device or of one of its command buffers.
    ///
    /// # Safety
    ///
    /// `of` is a valid device, queue or command buffer, which also keeps the entry alive: a device is destroyed under external
    /// synchronisation and after everything made from it (VUID-vkDestroyDevice-device-05137).
    #[inline(always)]
    pub unsafe fn find<'a>(of: impl vk::Handle) -> Option<&'a Self> {
        // SAFETY: `of` is valid, so it starts with its dispatch key, and its device is not destroyed while the entry is used: both
        // by this function's contract.
        unsafe { DEVICES.get(dispatch::key(of)) }
    }

    /// [`Device::find`] for the device that came first, which is the only one of almost every process; others are not found.
    ///
    /// # Safety
    ///
    /// As for [`Device::find`].
    #[inline(always)]
    pub unsafe fn find_first<'a>(of: impl vk::Handle) -> Option<&'a Self> {
        // SAFETY: `of` starts with its dispatch key and its device is not destroyed while the entry is used, as `find` asks.
        unsafe { DEVICES.first(dispatch::key(of)) }
    }

    /// A share of the entry.
    ///
    /// # Safety
    ///
    /// As for [`Device::find`].
    pub unsafe fn share(of: impl vk::Handle) -> Option<Arc<Self>> {
        // SAFETY: `of` starts with its dispatch key and its device is not destroyed before the entry is shared, as `find` asks.
        unsafe { DEVICES.share(dispatch::key(of)) }
    }

    /// Whether there is an entry with this dispatch key.
    ///
    /// # Safety
    ///
    /// The device with this key is not destroyed meanwhile.
    pub unsafe fn is_kept(key: u64) -> bool {
        // SAFETY: the entry of this key is not removed meanwhile, since its device is not destroyed, by this function's contract.
        unsafe { DEVICES.get(key) }.is_some()
    }

    /// Forgets the device with this dispatch key, before it is destroyed below.
    ///
    /// # Safety
    ///
    /// No call that names the device is under way (vkDestroyDevice, "Host Synchronization").
    pub unsafe fn forget(key: u64) {
        // SAFETY: no call uses the entry of this key any more, by this function's contract.
        drop(unsafe { DEVICES.remove(key) });
    }

    /// Which commands are intercepted on it that are not always.
    pub fn which(&self) -> Which {
        let separate = self.separate.is_some();
        let shaders = separate || !self.instance.is_off() && self.shaders.can_act();
        let frames = separate && self.enabled.extension(ash::ext::frame_boundary::NAME);
        let buffers = self.storage.watches_buffers();
        Which { separate, shaders, buffers, buffer_views: separate || buffers, frames }
    }

    /// What outcomes on it depend on.
    fn terms(&self) -> Terms<'_> {
        Terms { caps: &self.caps, policy: &self.policy, audit: self.audit }
    }

    /// Choices and variants.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// States and their samplers.
    #[inline(always)]
    pub fn rows(&self) -> Rows<'_> {
        self.cache.on(&self.hot.gate)
    }
}
