//! One `VkDevice`, found by its dispatch key or that of one of its command buffers.

use std::any::Any;
use std::ffi::c_void;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk;
use samplin_hot::memory::{OutOfMemory, Room};
use samplin_hot::{Gate, Hot, Next, Pair, Recent, Rest, SetLayout};
use samplin_wire::text::handle;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use vk_layer_sys::PfnGetDeviceProcAddr;

use crate::budget::{BorderPlace, BorderPlaces, Crowded, SamplerPlaces};
use crate::caps::{Enabled, Formats};
use crate::counters::Path;
use crate::decide::{
    self, Bits, BlitSource, Change, Changes, Context, Decision, DeviceCaps, Policy, Rule, SamplerState, ViewTraits,
    YcbcrConversion,
};
use crate::dispatch::{self, DeviceFns, InstanceFns};
use crate::features::Tiling;
use crate::instance::Instance;
use crate::memory;
use crate::names;
use crate::record;
use crate::rules::Rules;
use crate::sampler_info;
use crate::settings::{Mode, TraceLevel};
use crate::table::{FastMap, FastSet, FlatTable, HandleMap, Interner, lock};
use crate::trace::Trace;
use crate::variant::{Cache, Gone, KEEP, Reserved, SharedState, UNDECIDED, Use};

/// What is kept of an image. Images with equal traits share one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageTraits {
    /// Format of creation.
    pub format: vk::Format,
    /// `imageType`.
    pub image_type: vk::ImageType,
    /// Tiling; [`Tiling::Modifier`] goes with `modifier`.
    pub tiling: Tiling,
    /// DRM format modifier, 0 without one.
    pub modifier: u64,
    /// Effective create flags ("Effective Flags"), whose low half is a `VkImageCreateFlags`.
    pub flags: u64,
    /// Effective usage, whose low half is a `VkImageUsageFlags`.
    pub usage: u64,
    /// Effective usage of the stencil aspect.
    pub stencil_usage: u64,
    /// `mipLevels`.
    pub levels: u32,
    /// `arrayLayers`.
    pub layers: u32,
}

/// What is kept of a view class.
#[derive(Clone, Copy, Debug)]
pub struct ViewClass {
    /// What decisions look at.
    pub traits: ViewTraits,
    /// What it cannot give.
    pub lacks: Bits,
    /// Tiling of the image, for the wording of reasons.
    pub tiling: Tiling,
}

/// Swapchains, whose images never go through `vkCreateImage`.
#[derive(Default)]
pub struct Swapchains {
    /// Swapchains ever.
    pub made: u32,
    /// Handle → what [`Device::images`] has for its images, and the images seen so far.
    pub by_handle: FastMap<u64, (u64, Vec<u64>)>,
}

/// Names that the application gave its objects.
#[derive(Default)]
struct Names {
    by_object: FastMap<(i32, u64), String>,
}

/// What is counted once per device and printed in the summary.
#[derive(Default)]
pub struct Totals {
    /// Samplers ever, while there are rules: those by order of creation count with it.
    pub samplers_created: AtomicU64,
    /// Who holds the places of `maxSamplerAllocationCount`.
    pub places: SamplerPlaces,
    /// Samplers that were changed at creation, or would have been but for the mode.
    pub samplers_changed: AtomicU64,
    /// Blits whose filter was changed.
    pub blits_rewritten: AtomicU64,
}

/// What is kept of views created before.
#[derive(Default)]
pub struct RecentViews {
    /// Views ever.
    pub created: u64,
    /// Lacks in the high half and class number + 1 in the low half, by what they depend on.
    pub classes: Recent,
}

/// How many things of a kind are remembered as said. Of what is new beyond that nothing is said.
const SAID: usize = 1 << 16;

/// What was said before, so that each thing is said once.
#[derive(Default)]
struct Said {
    unresolved: FastSet<(String, u64, u64)>,
    blits: FastSet<(i32, i32)>,
    /// Fingerprints of what samplers asked for and of what they got.
    samplers: FastSet<(u64, u64)>,
    rules: FastMap<&'static str, u64>,
}

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
    pub instance_fns: InstanceFns,
    /// Commands of the layer below.
    pub fns: DeviceFns,
    /// Features enabled, extensions enabled, limits.
    pub caps: DeviceCaps,
    /// Names behind `caps`, for the trace.
    pub enabled: Enabled,
    /// Settings that decisions depend on.
    pub policy: Policy,
    /// Format features.
    pub formats: Formats,
    /// Whether decisions are only written down.
    pub audit: bool,
    /// The rules in force.
    pub rules: Rules,

    /// The device only forwards, because a hook panicked.
    broken: AtomicBool,
    /// Every pair is recorded.
    records_all: bool,

    /// States, choices and variants.
    pub cache: Cache,
    /// Views ever, and the classes of those created lately.
    pub recent_views: Mutex<RecentViews>,
    /// View classes.
    pub classes: Interner<(ViewTraits, Tiling), ViewClass>,
    /// Image handle → traits number + 1 in the low half and the number of the swapchain that owns it, or 0, in the high one.
    pub images: FlatTable,
    /// Image traits.
    pub image_traits: Interner<ImageTraits, ImageTraits>,
    /// Y′CbCr conversions.
    pub conversions: Mutex<FastMap<u64, YcbcrConversion>>,
    /// Set layouts with immutable samplers.
    pub layouts: HandleMap<SetLayout>,
    /// Sets of such layouts by pool.
    pub pools: Mutex<FastMap<u64, Vec<u64>>>,
    /// Swapchains.
    pub swapchains: Mutex<Swapchains>,
    /// Answers of the cubic filter query by (image traits number, view type).
    pub cubic: Mutex<FastMap<(u32, i32), (bool, bool)>>,
    /// Samplers that a descriptor-buffer layout holds as immutable ones: they must stay the same object everywhere.
    pub pinned: Mutex<FastSet<u64>>,
    /// Whether `pinned` ever held one.
    pub has_pinned: AtomicBool,
    names: Mutex<Names>,
    has_names: AtomicBool,
    /// Other counters.
    pub totals: Totals,
    said: Mutex<Said>,
}

/// Why a device is passed through that ran out of memory.
const NO_MEMORY: &str = "the host has no memory left";

/// Why there is no variant.
enum Refusal {
    /// No place for its custom border colour.
    Border,
    /// No sampler, for this reason.
    Sampler(String),
}

/// What the record of a pair tells beside the pair.
struct Outcome<'a> {
    changes: &'a [Change],
    saturate: [bool; 3],
    by_rules: &'a [&'a str],
    choice: u64,
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
            strict_border: settings.border == crate::settings::BorderMode::Strict,
            gl_clamp_min: settings.gl_clamp_rule == crate::settings::GlClampRule::Min,
            depth_compare: settings.depth_linear == crate::settings::DepthLinear::Compare,
        };
        let records_all = new.instance.trace.is_on() && new.instance.trace.level() == TraceLevel::All;
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
        Self {
            hot: Hot::new(Gate::new(records_all), next, rest),
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
            records_all,
            cache: Cache::new(new.caps.max_custom_border_color_samplers),
            recent_views: Mutex::default(),
            classes: Interner::new(),
            images: FlatTable::new(64),
            image_traits: Interner::new(),
            conversions: Mutex::default(),
            layouts: HandleMap::new(),
            pools: Mutex::default(),
            swapchains: Mutex::default(),
            cubic: Mutex::default(),
            pinned: Mutex::default(),
            has_pinned: AtomicBool::new(false),
            names: Mutex::default(),
            has_names: AtomicBool::new(false),
            totals: Totals::default(),
            said: Mutex::default(),
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

    /// Runs `body`; if it panics, now or at any time before, returns `fallback()` and lets the device forward from then on.
    pub fn guard<R>(&self, body: impl FnOnce() -> R, fallback: impl FnOnce() -> R) -> R {
        if !self.works() {
            return fallback();
        }
        match catch_unwind(AssertUnwindSafe(|| memory::inside(body))) {
            Ok(result) => result,
            Err(payload) => {
                self.panicked(payload);
                fallback()
            }
        }
    }

    /// Whether the layer's own work goes on; not if little is left of the reserve.
    #[inline(never)]
    fn works(&self) -> bool {
        if memory::is_low() {
            self.pass_through(NO_MEMORY);
        }
        !self.is_broken()
    }

    #[cold]
    #[inline(never)]
    fn panicked(&self, payload: Box<dyn Any + Send>) {
        let text = if payload.is::<OutOfMemory>() {
            NO_MEMORY
        } else {
            let literal = payload.downcast_ref::<&str>().copied();
            literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
        };
        self.pass_through(text);
        // A payload whose destructor panics must not get the chance.
        std::mem::forget(payload);
    }

    /// Lets the device forward only, and says why the first time.
    #[cold]
    fn pass_through(&self, why: &str) {
        if self.broken.swap(true, Ordering::Relaxed) {
            return;
        }
        self.hot.gate.open();
        // A record may be what panicked.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            tracing::error!(
                target: "samplin::guard",
                trace = self.instance.trace.id(),
                what = if why == NO_MEMORY { "out of host memory" } else { "panic in a hook" },
                why,
                "the device is passed through from here on"
            );
        }));
    }

    /// Whether the layer's own look-ups are still in force.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Where records go.
    pub fn trace(&self) -> &Trace {
        &self.instance.trace
    }

    /// Whether records of single decisions are wanted.
    pub fn records_decisions(&self) -> bool {
        self.trace().is_on() && self.trace().level() != TraceLevel::Summary
    }

    /// Whether records of everything are wanted.
    pub fn records_all(&self) -> bool {
        self.records_all
    }

    // ---- the gate ----

    /// The sampler to use for a pair that conflicts.
    pub fn choose(&self, pair: Pair, path: Path) -> u64 {
        let choice = match self.hot.choices.choice(pair.state, pair.class) {
            UNDECIDED => self.resolve(pair, path),
            choice => choice,
        };
        if choice == KEEP { pair.sampler } else { choice }
    }

    /// What samplers of a state ask of a view on this device; `rules` are those that match them.
    pub fn needs(&self, original: &SamplerState, base: &SamplerState, rules: u64) -> Bits {
        let bits = self.relevant(decide::needs(original, base, &self.caps, &self.policy));
        if rules == 0 { bits } else { Bits(bits.0 | Bits::OVERRIDE.0) }
    }

    /// Bits that can matter on this device at all: without subsampled images nothing is missed for not being subsampled.
    pub fn relevant(&self, bits: Bits) -> Bits {
        let ignored = if self.enabled.subsampled { 0 } else { Bits::SUBSAMPLED.0 | Bits::NOT_SUBSAMPLED.0 };
        Bits(bits.0 & !ignored)
    }

    // ---- decisions ----

    /// [`Device::resolve`] for `samplin-hot`.
    ///
    /// # Safety
    ///
    /// `device` points to a device.
    unsafe fn resolve_for(device: *const c_void, pair: Pair, path: Path) -> u64 {
        // SAFETY: forwarded from the caller.
        unsafe { &*device.cast::<Self>() }.resolve(pair, path)
    }

    /// Decides a (state, class) for the first time: makes or finds the variant, publishes the choice, writes the record.
    #[cold]
    pub fn resolve(&self, pair: Pair, path: Path) -> u64 {
        self.guard(|| self.resolve_unguarded(pair, path), || KEEP)
    }

    fn resolve_unguarded(&self, pair: Pair, path: Path) -> u64 {
        let (Some(shared), Some(class)) = (self.cache.state(pair.state), self.classes.get(pair.class)) else {
            return KEEP;
        };
        let mut wished = shared.original;
        let mut overrides = Changes::new();
        let mut by_rules = Vec::new();
        // No wish is worth the bits that were captured.
        let rules = if decide::replays(&shared.original, &self.caps) { 0 } else { shared.rules };
        for rule in self.rules.for_view(rules, &class.traits) {
            wished = decide::apply(&wished, &class.traits, &rule.wish, rule.guards_off, &mut overrides);
            by_rules.push(rule.name.as_str());
        }
        let mut decision = decide::pair(&wished, &class.traits, &self.caps, &self.policy);
        let mut choice = KEEP;
        let mut variant = None;
        let mut over_budget = false;
        let mut trouble: Option<(Rule, String)> = None;
        let mut wanted = decision.state.key();
        // In audit mode only the modes that no driver knows are replaced.
        let may_change = !self.audit || shared.original.address_mode.iter().any(|mode| decide::is_gl(*mode));
        if wanted != shared.base.key() && may_change {
            if let Some(s_type) = shared.unknown {
                let why =
                    format!("the sampler has a structure of type {s_type} chained, which a variant could not carry");
                trouble = Some((Rule::Flags, why));
            } else if lock(&self.pinned).contains(&pair.sampler) {
                if self.cache.is_shareable(pair.state) {
                    // It is just being given a place of its own; what holds for it must not hold for the others of this one.
                    return KEEP;
                }
                let why = "the sampler is immutable in a descriptor-buffer layout, so it must stay the same everywhere";
                trouble = Some((Rule::Flags, why.to_owned()));
            } else {
                let mut found = self.variant(pair.state, &shared, &decision.state);
                if matches!(found, Err(Refusal::Border))
                    && !by_rules.is_empty()
                    && decide::is_custom(shared.original.border_color)
                {
                    // No wish is worth the colour that the application has.
                    overrides = Changes::new();
                    decision = decide::pair(&shared.original, &class.traits, &self.caps, &self.policy);
                    wanted = decision.state.key();
                    found = if wanted == shared.base.key() {
                        trouble = Some((Rule::BorderBudget, decide::no_border_share(&self.caps)));
                        Ok(None)
                    } else {
                        self.variant(pair.state, &shared, &decision.state)
                    };
                }
                if matches!(found, Err(Refusal::Border)) {
                    let (state, change) =
                        decide::without_custom_border(&decision.state, Some(&class.traits), &self.caps);
                    decision.replace_border(state, change);
                    wanted = decision.state.key();
                    over_budget = true;
                    found = if wanted == shared.base.key() {
                        Ok(None)
                    } else {
                        self.variant(pair.state, &shared, &decision.state)
                    };
                }
                match found {
                    Ok(Some((made, usage))) => (choice, variant) = (made, Some(usage)),
                    Ok(None) | Err(Refusal::Border) => {}
                    Err(Refusal::Sampler(why)) => trouble = Some((Rule::SamplerBudget, why)),
                }
            }
        }
        let (choice, first) = self.cache.publish(&self.hot.choices, (pair.state, pair.class), &shared, choice, variant);
        if !first {
            // Another thread was faster; what was prepared here is not needed.
            if let Some(usage) = variant
                && let Some(unused) = self.cache.drop_use(pair.state, &shared, &usage)
            {
                self.destroy_variant(unused);
            }
            return choice;
        }
        let created = decide::create(&shared.original, &self.caps, &self.policy);
        let mut changes: Vec<Change> = Vec::new();
        // Equal to what creation made of it: then creation has told every change, by whichever rule. But for wishes: also one
        // that was held back, or that came to nothing, is told with its reason; and a colour that the view would have brought back
        // and that there was no place for.
        if trouble.is_none() && (wanted != shared.base.key() || overrides.iter().next().is_some() || over_budget) {
            changes.extend(overrides.iter());
            changes.extend(decide::new_changes(&decision.changes, &created.changes));
        }
        if let Some(catalog) = decision.unresolved {
            let change =
                Change { catalog, field: decide::Field::Flags, from: decide::Value::Absent, to: decide::Value::Absent };
            let why = decide::because(&change, &self.context(Some(class)));
            self.pair_unresolved("pair", &why, catalog.rule(), catalog.vuid(), pair, &shared, class);
        }
        if let Some((rule, why)) = &trouble {
            self.pair_unresolved("pair", why, *rule, None, pair, &shared, class);
        }
        if !changes.is_empty() || self.records_all() {
            self.count(&changes);
            if self.records_decisions() {
                let outcome = Outcome { changes: &changes, saturate: decision.saturate, by_rules: &by_rules, choice };
                self.record_pair(pair, &shared, class, &outcome, path);
            }
        }
        choice
    }

    /// A sampler of `decided`'s kind for the state at place `number`, shared with whoever else needs the same one.
    fn variant(
        &self,
        number: u32,
        decided: &Arc<SharedState>,
        state: &SamplerState,
    ) -> Result<Option<(u64, Use)>, Refusal> {
        let custom = decide::is_custom(state.border_color);
        let usage = match self.cache.reserve(number, decided, state.key(), custom) {
            Reserved::Made(handle, usage) => return Ok(Some((handle, usage))),
            Reserved::ToMake(usage) => usage,
            Reserved::NoBorder => return Err(Refusal::Border),
        };
        let made = match self.make(state) {
            Ok(made) => match self.cache.add_variant(&usage, made, custom) {
                Some((handle, true)) => return Ok(Some((handle, usage))),
                added => {
                    self.destroy_variant(Gone { handle: made, custom_border: custom });
                    added.map(|(handle, _)| handle).ok_or_else(|| NO_MEMORY.to_owned())
                }
            },
            Err(why) => {
                if custom {
                    self.cache.with_borders(BorderPlaces::give_back);
                }
                Err(why)
            }
        };
        made.map(|handle| Some((handle, usage))).map_err(|why| {
            self.cache.abandon(number, decided, &usage);
            Refusal::Sampler(why)
        })
    }

    /// A new sampler, which holds one of the variants' places.
    fn make(&self, state: &SamplerState) -> Result<u64, String> {
        let Some(create) = self.fns.create_sampler else { return Err("vkCreateSampler is missing".into()) };
        self.totals.places.lend(self.caps.max_sampler_allocation_count)?;
        let mut made = vk::Sampler::null();
        // SAFETY: the create info is legal for this device, its chain is made of live locals, and a NULL allocator is always
        // allowed: the application's own one is only promised for the call it was passed to.
        let result = unsafe {
            sampler_info::with_create_info(state, None, |info, _| {
                create(self.handle, info, std::ptr::null(), &mut made)
            })
        };
        if result != vk::Result::SUCCESS {
            self.totals.places.give_back();
            return Err(format!("vkCreateSampler of the variant failed: {result:?}"));
        }
        Ok(vk::Handle::as_raw(made))
    }

    /// Destroys a variant that is no longer used. Its places are free only after that.
    pub fn destroy_variant(&self, gone: Gone) {
        if let Some(destroy) = self.fns.destroy_sampler {
            // SAFETY: the sampler was created by `make` with a NULL allocator and is named by no descriptor in use: every
            // application sampler that it stood in for is being destroyed, so work that refers to it is complete
            // (VUID-vkDestroySampler-sampler-01082).
            unsafe { destroy(self.handle, vk::Handle::from_raw(gone.handle), std::ptr::null()) };
        }
        self.totals.places.give_back();
        if gone.custom_border {
            self.cache.with_borders(BorderPlaces::give_back);
        }
    }

    /// Takes a place of `maxSamplerAllocationCount` for the application.
    #[inline]
    pub fn enter_sampler(&self) {
        let limit = self.caps.max_sampler_allocation_count;
        if let Some(crowded) = self.totals.places.enter(limit) {
            self.crowded(Rule::SamplerBudget, crowded, limit);
        }
    }

    /// Takes a place of `maxCustomBorderColorSamplers` for a sampler of the application, unless its own count refuses it; not if
    /// it `must` be created as it is.
    pub fn enter_border(&self, must: bool) -> BorderPlace {
        let (place, crowded) = self.cache.with_borders(|borders| borders.enter(must));
        if let Some(crowded) = crowded {
            self.crowded(Rule::BorderBudget, crowded, self.caps.max_custom_border_color_samplers);
        }
        place
    }

    /// A sampler of the application and its variants are destroyed, or its creation failed.
    pub fn leave_border(&self, place: BorderPlace) {
        if place != BorderPlace::None {
            self.cache.with_borders(|borders| borders.leave(place));
        }
    }

    /// Says once per limit that variants hold places that the application wants.
    #[cold]
    fn crowded(&self, rule: Rule, crowded: Crowded, limit: u32) {
        let (name, vuid) = match rule {
            Rule::BorderBudget => ("maxCustomBorderColorSamplers", "VUID-VkSamplerCreateInfo-None-04012"),
            _ => ("maxSamplerAllocationCount", "VUID-vkCreateSampler-maxSamplerAllocationCount-04110"),
        };
        let Crowded { application, variants } = crowded;
        let why = format!(
            "{name} is {limit}: the application wants {application} of these samplers and variants hold {variants}, \
             which cannot be destroyed while descriptors may name them"
        );
        self.guard(|| self.unresolved("limit", &why, Some(rule), json!({ "vuid": vuid }), (rule as u64, 0)), || ());
    }

    /// The potential conversion of a handle, with a harmless stand-in for one that was never seen.
    pub fn conversion(&self, conversion: vk::SamplerYcbcrConversion) -> YcbcrConversion {
        let raw = vk::Handle::as_raw(conversion);
        lock(&self.conversions).get(&raw).copied().unwrap_or(YcbcrConversion {
            handle: raw,
            chroma_filter: vk::Filter::NEAREST,
            separate_reconstruction: true,
            fingerprint: 0,
        })
    }

    /// Traits of an image that the layer saw.
    pub fn image(&self, image: vk::Image) -> Option<(u32, &ImageTraits)> {
        let number = (self.images.get(vk::Handle::as_raw(image)) as u32).checked_sub(1)?;
        Some((number, self.image_traits.get(number)?))
    }

    /// Remembers an image.
    pub fn insert_image(&self, image: vk::Image, traits: ImageTraits) {
        if let Some(number) = self.image_traits.intern(traits, |_| traits) {
            self.images.insert(vk::Handle::as_raw(image), u64::from(number) + 1);
        }
    }

    /// Features of `format` with the image's tiling; `None` when they cannot be known.
    pub fn features(&self, image: &ImageTraits, format: vk::Format) -> Option<vk::FormatFeatureFlags2> {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { self.formats.get(&self.instance_fns, format) }?;
        Some(match image.tiling {
            Tiling::Optimal => features.optimal,
            Tiling::Linear => features.linear,
            Tiling::Modifier => features
                .modifiers
                .iter()
                .find(|(modifier, _)| *modifier == image.modifier)
                .map_or(vk::FormatFeatureFlags2::empty(), |(_, features)| *features),
        })
    }

    /// The source of a blit, if the image is known.
    pub fn blit_source(&self, image: vk::Image) -> Option<(BlitSource, Tiling)> {
        let (_, traits) = self.image(image)?;
        let features = self.features(traits, traits.format);
        Some((BlitSource { format: traits.format, image_type: traits.image_type, features }, traits.tiling))
    }

    // ---- names ----

    /// Remembers the application's name of an object; an empty one forgets it.
    pub fn set_name(&self, ty: vk::ObjectType, object: u64, name: String) {
        if name.is_empty() {
            return self.forget_name(ty, object);
        }
        self.has_names.store(true, Ordering::Relaxed);
        lock(&self.names).by_object.with_room().insert((ty.as_raw(), object), name);
    }

    /// Forgets the name of an object that goes away.
    pub fn forget_name(&self, ty: vk::ObjectType, object: u64) {
        if self.has_names.load(Ordering::Relaxed) {
            lock(&self.names).by_object.remove(&(ty.as_raw(), object));
        }
    }

    /// The application's name of an object.
    pub fn name(&self, ty: vk::ObjectType, object: u64) -> Option<String> {
        lock(&self.names).by_object.get(&(ty.as_raw(), object)).cloned()
    }

    // ---- records ----

    fn context<'a>(&'a self, class: Option<&'a ViewClass>) -> Context<'a> {
        Context {
            caps: &self.caps,
            view: class.map(|class| &class.traits),
            source: None,
            tiling: class.map_or(Tiling::Optimal, |class| class.tiling),
        }
    }

    /// Adds changes to the counts by rule.
    pub fn count(&self, changes: &[Change]) {
        let mut said = lock(&self.said);
        for change in changes.iter().filter(|change| change.catalog.is_made()) {
            *said.rules.entry(change.catalog.rule().name()).or_insert(0) += 1;
        }
    }

    /// Whether something is to be said: not again, and not if too much was said already, which counts as left out of the trace.
    fn is_news<T: Hash + Eq>(&self, kind: impl FnOnce(&mut Said) -> &mut FastSet<T>, thing: T) -> bool {
        let mut said = lock(&self.said);
        let said = kind(&mut said);
        if said.len() < SAID {
            return said.with_room().insert(thing);
        }
        if !said.contains(&thing) {
            self.trace().leave_out(0);
        }
        false
    }

    fn record_pair(&self, pair: Pair, shared: &SharedState, class: &ViewClass, outcome: &Outcome<'_>, path: Path) {
        #[derive(Serialize)]
        struct Record {
            sampler: String,
            view: String,
            names: Json,
            fingerprint: String,
            #[serde(flatten)]
            members: record::ViewMembers,
            path: &'static str,
            changes: Vec<Json>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            saturate: Vec<&'static str>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            rules: Vec<String>,
            variant: Option<String>,
        }
        let context = self.context(Some(class));
        self.trace().emit(
            "pair",
            &Record {
                sampler: handle(pair.sampler),
                view: handle(pair.view),
                names: json!({
                    "sampler": self.name(vk::ObjectType::SAMPLER, pair.sampler),
                    "view": self.name(vk::ObjectType::IMAGE_VIEW, pair.view),
                }),
                fingerprint: format!("{:016x}", shared.fingerprint()),
                members: record::ViewMembers {
                    view_class: self.records_all().then(|| record::view_class(&class.traits, class.tiling)),
                    ..record::view(&class.traits)
                },
                path: path.name(),
                changes: outcome.changes.iter().map(|change| record::change(change, &context)).collect(),
                rules: outcome.by_rules.iter().map(|name| (*name).to_owned()).collect(),
                saturate: ["u", "v", "w"]
                    .into_iter()
                    .zip(outcome.saturate)
                    .filter_map(|(axis, on)| on.then_some(axis))
                    .collect(),
                variant: (outcome.choice != KEEP).then(|| handle(outcome.choice)),
            },
        );
    }

    /// Writes a `sampler` record: at the level all for each, else one for all that ask for the same and get the same.
    pub fn record_sampler(&self, sampler: u64, state: &SamplerState, decision: &Decision) {
        if !decision.changes.is_empty() {
            self.totals.samplers_changed.fetch_add(1, Ordering::Relaxed);
        }
        if !self.records_all() {
            let both = || (state.fingerprint(), decision.state.fingerprint());
            if decision.changes.is_empty() || !self.trace().is_on() || !self.is_news(|said| &mut said.samplers, both())
            {
                return;
            }
        }
        let changes: Vec<Change> = decision.changes.iter().copied().collect();
        self.count(&changes);
        if !self.records_decisions() {
            return;
        }
        let context = self.context(None);
        self.trace().emit(
            "sampler",
            &json!({
                "sampler": handle(sampler),
                "name": self.name(vk::ObjectType::SAMPLER, sampler),
                "fingerprint": format!("{:016x}", state.fingerprint()),
                "state": record::state(state),
                "changes": changes.iter().map(|change| record::change(change, &context)).collect::<Vec<_>>(),
            }),
        );
    }

    /// Writes a `conversion` record.
    pub fn record_conversion(&self, conversion: u64, format: vk::Format, changes: &Changes) {
        let changes: Vec<Change> = changes.iter().copied().collect();
        self.count(&changes);
        if changes.is_empty() || !self.records_decisions() {
            return;
        }
        let context = Context { source: Some(format), ..self.context(None) };
        self.trace().emit(
            "conversion",
            &json!({
                "conversion": handle(conversion),
                "format": names::format(format),
                "changes": changes.iter().map(|change| record::change(change, &context)).collect::<Vec<_>>(),
            }),
        );
    }

    /// Writes a `blit` record, once per format and filter; at the level all, also of a blit that is legal.
    pub fn record_blit(
        &self,
        source: &BlitSource,
        tiling: Tiling,
        changes: &Changes,
        filter: vk::Filter,
        lossless: impl FnOnce() -> bool,
    ) {
        let changes: Vec<Change> = changes.iter().copied().collect();
        if !changes.is_empty() {
            self.totals.blits_rewritten.fetch_add(1, Ordering::Relaxed);
        } else if !self.records_all() {
            return;
        }
        // A legal one must not keep an illegal one of another tiling from being told.
        let key = if changes.is_empty() { !filter.as_raw() } else { filter.as_raw() };
        if !self.is_news(|said| &mut said.blits, (source.format.as_raw(), key)) {
            return;
        }
        self.count(&changes);
        if !self.records_decisions() {
            return;
        }
        let context = Context { source: Some(source.format), tiling, ..self.context(None) };
        let mut record = json!({
            "src_format": names::format(source.format),
            "changes": changes.iter().map(|change| record::change(change, &context)).collect::<Vec<_>>(),
            "lossless": lossless(),
        });
        if let (true, Json::Object(members)) = (self.records_all(), &mut record) {
            members.insert("filter".into(), names::filter(filter).into());
            members.insert("src_type".into(), names::image_type(source.image_type).into());
            members.insert("src_tiling".into(), tiling.word().into());
            members.insert("src_features".into(), record::features(source.features).into());
        }
        self.trace().emit("blit", &record);
    }

    #[expect(clippy::too_many_arguments, reason = "the members of one record")]
    fn pair_unresolved(
        &self,
        what: &str,
        why: &str,
        rule: Rule,
        vuid: Option<&str>,
        pair: Pair,
        shared: &SharedState,
        class: &ViewClass,
    ) {
        let members = record::view(&class.traits);
        self.unresolved(
            what,
            why,
            Some(rule),
            json!({
                "vuid": vuid,
                "sampler": handle(pair.sampler),
                "view": handle(pair.view),
                "names": {
                    "sampler": self.name(vk::ObjectType::SAMPLER, pair.sampler),
                    "view": self.name(vk::ObjectType::IMAGE_VIEW, pair.view),
                },
                "fingerprint": format!("{:016x}", shared.fingerprint()),
                "format": members.format,
                "aspect": members.aspect,
                "view_type": members.view_type,
            }),
            (shared.fingerprint(), u64::from(pair.class)),
        );
    }

    /// Says once (per `what` and `key`) that something is passed through although it may be wrong.
    pub fn unresolved(&self, what: &str, why: &str, rule: Option<Rule>, members: Json, key: (u64, u64)) {
        if !self.records_decisions() || !self.is_news(|said| &mut said.unresolved, (what.to_owned(), key.0, key.1)) {
            return;
        }
        let mut record = Map::new();
        record.insert("what".into(), what.into());
        record.insert("why".into(), why.into());
        record.insert("rule".into(), rule.map_or(Json::Null, |rule| rule.name().into()));
        if let Json::Object(members) = members {
            record.extend(members);
        }
        self.trace().emit("unresolved", &record);
    }

    /// Says once (per `key`) that members of a sampler, or the filter of a blit, hold values which an extension younger than
    /// the layer may have added.
    pub fn unknown_enumerants(&self, members: &[(decide::Field, decide::Value)], sampler: Option<u64>, key: u64) {
        let Some(((field, value), others)) = members.split_first() else { return };
        let mut why = format!("{} {}", field.name(), record::value(*value));
        for (field, value) in others {
            why = format!("{why}, {} {}", field.name(), record::value(*value));
        }
        let origin = self.enabled.unknown().next().unwrap_or("the device's core version");
        why += ": ";
        why += origin;
        why += " is younger than the layer and may have added it";
        let mut about = Map::new();
        if let Some(sampler) = sampler {
            about.insert("sampler".into(), handle(sampler).into());
            about.insert("fingerprint".into(), format!("{key:016x}").into());
        }
        self.unresolved("unknown enumerant", &why, None, Json::Object(about), (key, sampler.is_some().into()));
    }

    /// Says that separate samplers and images are paired in the shader only, for `samplin-hot`, which asks once.
    ///
    /// # Safety
    ///
    /// `device` points to a device.
    unsafe fn separate_for(device: *const c_void) {
        // SAFETY: forwarded from the caller.
        let device = unsafe { &*device.cast::<Self>() };
        device.guard(
            || {
                let why = "a SAMPLER descriptor meets its image in the shader only; its sampler is legal by itself, the pair is not looked at";
                device.unresolved("separate samplers", why, None, json!({}), (0, 0));
            },
            || (),
        );
    }

    /// [`Device::immutable_conflict`] for `samplin-hot`.
    ///
    /// # Safety
    ///
    /// `device` points to a device.
    unsafe fn immutable_conflict_for(device: *const c_void, pair: Pair) {
        // SAFETY: forwarded from the caller.
        let device = unsafe { &*device.cast::<Self>() };
        device.guard(|| device.immutable_conflict(pair), || ());
    }

    /// An immutable sampler meets a view that it conflicts with, for the first time by their state and class.
    #[cold]
    fn immutable_conflict(&self, pair: Pair) {
        let (Some(shared), Some(class)) = (self.cache.state(pair.state), self.classes.get(pair.class)) else {
            return;
        };
        // When everything is recorded every pair is said to conflict.
        if self.relevant(shared.needs).0 & class.lacks.0 != 0 {
            let decision = decide::pair(&shared.original, &class.traits, &self.caps, &self.policy);
            let created = decide::create(&shared.original, &self.caps, &self.policy);
            let changes = decide::new_changes(&decision.changes, &created.changes);
            let catalog = changes.first().map(|change| change.catalog).or(decision.unresolved);
            if let Some(catalog) = catalog {
                let reason = changes.first().map_or_else(String::new, |change| {
                    format!(": {}", decide::because(change, &self.context(Some(class))))
                });
                let why = format!("the sampler is immutable, so it is the same for every view{reason}");
                self.pair_unresolved("immutable sampler", &why, catalog.rule(), catalog.vuid(), pair, &shared, class);
            }
        }
        self.cache.settle(&self.hot.choices, (pair.state, pair.class), &shared);
    }

    /// Writes the `device` record.
    pub fn record_device(&self, properties: Option<vk::PhysicalDeviceProperties>, intercepts: &[&str]) {
        let (name, driver) = properties.map_or((String::new(), Json::Null), |p| {
            let name = p.device_name_as_c_str().map_or_else(|_| String::new(), |n| n.to_string_lossy().into_owned());
            let version = p.api_version;
            let driver = json!({
                "vendor_id": p.vendor_id,
                "device_id": p.device_id,
                "driver_version": p.driver_version,
                "api_version": format!(
                    "{}.{}.{}",
                    vk::api_version_major(version),
                    vk::api_version_minor(version),
                    vk::api_version_patch(version)
                ),
            });
            (name, driver)
        });
        let features: Map<String, Json> =
            self.enabled.features.iter().map(|(name, on)| ((*name).to_owned(), (*on).into())).collect();
        self.trace().emit(
            "device",
            &json!({
                "device": name,
                "driver": driver,
                "limits": record::limits(&self.caps),
                "features": features,
                "augmented": self.enabled.augmented,
                "simulated": self.instance.simulation.as_ref().map(|simulation| simulation.name.clone()),
                "intercepts": intercepts,
            }),
        );
    }

    /// Writes the `summary` record.
    pub fn record_summary(&self) {
        let writes: Map<String, Json> = Path::ALL
            .iter()
            .map(|path| {
                let (seen, rewritten) = self.hot.counters.sum(*path);
                (path.name().to_owned(), json!({ "seen": seen, "rewritten": rewritten }))
            })
            .collect();
        let rules: Map<String, Json> =
            lock(&self.said).rules.iter().map(|(rule, count)| ((*rule).to_owned(), (*count).into())).collect();
        let variants = self.cache.variants();
        let states = self.cache.states();
        let samplers = self.cache.samplers();
        self.trace().emit_last(
            "summary",
            &json!({
                "scope": "device",
                "device": handle(vk::Handle::as_raw(self.handle)),
                "samplers": {
                    "created": samplers.created,
                    "live": samplers.live,
                    "peak": samplers.peak,
                    "changed": self.totals.samplers_changed.load(Ordering::Relaxed),
                },
                "views": {
                    "created": lock(&self.recent_views).created,
                    "live": self.hot.gate.views(),
                    "classes": self.classes.len(),
                },
                "writes": writes,
                "blits_rewritten": self.totals.blits_rewritten.load(Ordering::Relaxed),
                "changes": rules,
                "variants": { "live": variants.live, "peak": variants.peak, "created": variants.created },
                "census": {
                    "unique_states": { "live": states.live, "peak": states.peak },
                    "headroom": {
                        "maxSamplerAllocationCount":
                            self.caps.max_sampler_allocation_count.saturating_sub(samplers.peak + variants.peak),
                        "maxCustomBorderColorSamplers":
                            self.caps.max_custom_border_color_samplers
                                .saturating_sub(self.cache.with_borders(|borders| borders.peak())),
                    },
                },
                "passed_through": self.is_broken(),
                "dropped": self.trace().dropped(),
                "left_out": self.trace().left_out(),
            }),
        );
    }
}
