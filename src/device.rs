//! One `VkDevice`, found by its dispatch key or that of one of its command buffers.
//!
//! What is kept of a device lies in rooms, one job each, which stand on the [`Ground`]: `samplers` with their `variants` and `images` with
//! views and swapchains, which are [`Pairs`] together, `layouts`, `shaders`, and `separate` for what only shaders join. Hooks put them
//! together. No room knows the [`Device`].

mod activity;
mod aspects;
pub mod caches;
mod classes;
mod driver;
mod exempt;
mod follower;
mod frames;
mod ground;
mod guard;
mod heaps;
mod hot;
mod images;
mod journal;
mod layouts;
mod live;
mod modules;
mod once;
mod pulse;
mod resolve;
mod retune;
mod rules;
mod samplers;
mod separate;
mod shaders;
mod shared;
mod shown;
mod stand_ins;
mod storage;
mod submissions;
mod summary;
mod templates;
mod types;
mod undecided;
mod upscaled;
mod usage;
mod variants;
mod wishes;
mod writes;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;
use samplin_hot::Keyed;

pub use self::activity::Activity;
use self::aspects::Aspects;
pub use self::classes::{ImageTraits, ViewClass};
pub use self::driver::Driver;
use self::follower::Follower;
pub use self::ground::Ground;
use self::heaps::Heaps;
pub use self::hot::Hot;
use self::images::Images;
pub use self::journal::Journal;
use self::journal::Wording;
pub use self::layouts::LayoutOf;
use self::layouts::Layouts;
pub use self::live::{Copied, Filled, Live, Recording, Submitting, Text, Write, Writes};
pub use self::resolve::{On, Pairs};
use self::rules::Rules;
pub use self::rules::RulesSource;
use self::samplers::Samplers;
pub use self::samplers::{ConversionPlan, SamplerPlan};
pub use self::separate::{
    Binds, Descriptors, Group, Label, LaterLimits, Limits, Made, Program, Pushes, Separate, Stage, TemplateRun, Words,
    WrittenSet, model,
};
pub use self::shaders::{PipelineRecord, Rewritten, Shaders, Shading, ShadingRequest};
pub use self::shared::Key;
use self::shared::SharedSamplers;
use self::stand_ins::StandIns;
use self::storage::Storage;
pub use self::storage::{HeapView, ViewCopy};
use self::submissions::Submissions;
pub use self::templates::Template;
use self::undecided::Undecided;
pub use self::usage::{DriverView, listed, wide_flags, wide_usage};
use self::wishes::Wishes;
pub use self::writes::Stop;
use crate::commands::Which;
use crate::decide::Policy;
use crate::dispatch;
use crate::overrides::Overrides;
use crate::settings::{self, AnisoNearest, Aspect, BorderMode, DepthLinear, GlClampRule, Mode};
use crate::variant::{Gate, Index};

static DEVICES: Keyed<Device> = Keyed::new();

/// One `VkDevice`.
///
/// In this order also in memory: what is written often lies at the end, apart from the commands that each descriptor write calls.
#[repr(C)]
pub struct Device {
    /// What the rooms stand on.
    pub ground: Ground,
    /// Samplers and views, and what pairs of them come to.
    pub pairs: Pairs,
    /// Set layouts with immutable samplers.
    pub layouts: Layouts,
    /// What only a shader joins, with `separate=resolve`.
    pub separate: Option<Arc<Separate>>,
    /// What is done about shader modules.
    pub shaders: Shaders,
}

impl Device {
    /// The entry of a new device. `limits`: what split pipelines have to keep.
    pub fn new(driver: Driver, overrides: Overrides, source: Option<RulesSource>, limits: Limits) -> Self {
        let (settings, caps) = (&driver.instance.settings, &driver.caps);
        let follows = settings.separate == settings::Separate::Resolve && settings.mode != Mode::Off;
        let named = overrides.demote(u64::MAX, None);
        let separate = follows.then(|| Arc::new(Separate::new(limits, settings, caps.gl_address_modes, named)));
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
        let (is_on, audit) = (!driver.instance.is_off(), settings.mode == Mode::Audit);
        // SAFETY: the formats were made for these commands, of an instance that the device keeps alive.
        let mut storage =
            unsafe { Storage::new(settings, &driver.formats, &driver.instance_fns, &driver.enabled, is_on) };
        storage.draws_look = separate.as_deref().is_some_and(Separate::repairs_formats);
        let aspects = Aspects::new(is_on && settings.aspect == Aspect::Depth);
        let follows_rules = (source.is_some() || overrides.follow_render()) && settings.mode == Mode::Legalize;
        let looks_at_samplers = source.is_some() || overrides.use_samplers();
        let looks_at_names = source.is_some() || overrides.use_names();
        let looks_at_levels = source.is_some() || overrides.use_levels();
        let looks_at_pipelines = source.is_some() || overrides.use_pipelines();
        let shaders = Shaders::new(settings, caps, looks_at_pipelines, storage.lowered, driver.enabled.storage_buffers);
        let may_share = SharedSamplers::may_share(settings, &driver.enabled, looks_at_samplers);
        let shared = SharedSamplers::new(settings.samplers, may_share, caps.max_sampler_allocation_count);
        let places = shared.places(caps.max_sampler_allocation_count);
        let journal = Journal::new(&driver.instance, Wording { caps: *caps, policy });
        let hot = Hot::new(Gate::with(journal.records_all(), Index::new(places)));
        if !follows {
            // It is to be said once that separate samplers are not followed.
            hot.watch(types::type_bit(vk::DescriptorType::SAMPLER));
        }
        // Of a command buffer that began before binds are followed nothing is known.
        if separate.as_deref().is_some_and(|separate| separate.is_forced() || separate.repairs_formats()) {
            hot.follow.store(hot::follow::ALL, std::sync::atomic::Ordering::Relaxed);
        }
        let follows_passes = overrides.follow_passes() && settings.mode == Mode::Legalize;
        let activity = (is_on && (settings.pulse || follows_passes))
            .then(|| Box::new(Activity::new(settings.pulse, follows_passes)));
        if activity.as_ref().is_some_and(|activity| activity.is_recorded)
            && let Some(separate) = separate.as_deref()
        {
            separate.follow_repaired(&hot);
        }
        if follows_rules && let Some(separate) = separate.as_deref() {
            separate.follow_rules(&hot);
        }
        let joins_immutables = separate.as_deref().is_some_and(Separate::follows_all_immutables);
        let rules = Rules::new(overrides, source);
        let wishes = Wishes {
            policy,
            audit,
            follows,
            joins_immutables,
            looks_at_samplers,
            looks_at_names,
            looks_at_levels,
            rules,
        };
        let follower = separate.clone().map(|separate| separate as Arc<dyn Follower>);
        let heaps = Heaps::new(&driver);
        let samplers = Samplers::new(caps.max_custom_border_color_samplers, shared);
        Self {
            ground: Ground { hot, driver, wishes, broken: AtomicBool::new(false), follower, journal },
            pairs: Pairs {
                samplers,
                images: Images::new(),
                stand_ins: StandIns { storage, aspects },
                undecided: Undecided::default(),
                heaps,
                activity,
                submissions: Submissions::default(),
            },
            layouts: Layouts::new(),
            separate,
            shaders,
        }
    }

    /// Enters the device.
    ///
    /// # Safety
    ///
    /// `self.ground.driver.handle` is valid.
    pub unsafe fn register(self: Arc<Self>) {
        // SAFETY: `self.ground.driver.handle` is a valid device by this function's contract, so it starts with its dispatch key.
        DEVICES.insert(unsafe { dispatch::key(self.ground.driver.handle) }, self);
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
        let shaders =
            separate || !self.ground.driver.instance.is_off() && (self.shaders.can_act() || self.pairs.heaps.is_on());
        let has_boundaries = separate && self.ground.driver.enabled.extension(ash::ext::frame_boundary::NAME);
        let (frames, retuned) =
            (has_boundaries || self.ground.wishes.rules.may_change(), self.ground.wishes.rules.may_change());
        let buffers = self.pairs.stand_ins.storage.watches_buffers();
        let pulsed = self.pairs.activity.is_some();
        Which {
            separate,
            shaders,
            buffers,
            buffer_views: separate || buffers,
            frames,
            retuned: retuned || pulsed,
            pulsed,
        }
    }
}
