//! Samplers of the application: what creation comes to, what is kept of each, and the places of the limits that they take. Y′CbCr
//! conversions and names of objects, which samplers depend on, are here as well.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_core::left::Cause;
use samplin_hot::memory::Room;
use samplin_hot::recent::Words;
use samplin_wire::kinds::Exempted;
use samplin_wire::text::handle;
use serde_json::json;

use super::driver::Driver;
use super::ground::Ground;
use super::hot::Hot;
use super::journal::Journal;
use super::shared::SharedSamplers;
use super::wishes::Wishes;
use crate::budget::{BorderPlace, BorderWish, Crowded, Limit, Overrun, SamplerPlaces};
use crate::decide::{self, ConflictBits, ConversionDecision, ConversionState, SamplerState, YcbcrConversion, fnv1a};
use crate::format;
use crate::outcome::{self, Creation};
use crate::sampler_info::{self, SamplerInfo};
use crate::table::{FastMap, FastSet, lock};
use crate::variant::{Added, Again, Cache, Rows, SharedState};

/// Samplers and conversions of one device. Which sampler has which state stands in the gate.
pub struct Samplers {
    /// States, choices and variants.
    pub(super) cache: Cache,
    /// Those that are handed out more than once.
    pub shared: SharedSamplers,
    /// Samplers ever, while there are overrides: those by order of creation count with it.
    created: AtomicU64,
    /// What variants hold of the places of `maxSamplerAllocationCount`.
    pub(super) places: SamplerPlaces,
    /// Samplers that there would have been, had the driver not refused one.
    wanted: AtomicU32,
    /// Limits of which it is said that the application asks for more: of samplers, and of custom border colours.
    overrun: [AtomicBool; 2],
    /// Y′CbCr conversions.
    conversions: Mutex<FastMap<u64, YcbcrConversion>>,
    /// Samplers that a descriptor-buffer layout holds as immutable ones: they must stay the same object everywhere.
    pinned: Mutex<FastSet<u64>>,
    /// Whether `pinned` ever held one.
    has_pinned: AtomicBool,
}

impl Samplers {
    /// None yet, of which so many may have custom border colours.
    pub(super) fn new(borders: u32, shared: SharedSamplers) -> Self {
        Self {
            cache: Cache::new(borders),
            shared,
            created: AtomicU64::new(0),
            places: SamplerPlaces::default(),
            wanted: AtomicU32::new(0),
            overrun: Default::default(),
            conversions: Mutex::default(),
            pinned: Mutex::default(),
            has_pinned: AtomicBool::new(false),
        }
    }

    /// Choices and variants.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// States and their samplers.
    #[inline(always)]
    pub fn rows<'a>(&'a self, hot: &'a Hot) -> Rows<'a> {
        self.cache.on(&hot.gate)
    }
}

/// What `vkCreateSampler` is going to hand down.
pub struct SamplerPlan {
    /// What the application asked for.
    pub given: SamplerInfo,
    /// What it comes to.
    pub creation: Creation,
    /// The overrides that match it, one bit each.
    overrides: u64,
}

/// What `vkCreateSamplerYcbcrConversion` is going to hand down.
pub struct ConversionPlan {
    /// What it may have.
    pub decision: ConversionDecision,
    /// Potential features of its format, if they can be known.
    features: Option<vk::FormatFeatureFlags2>,
    /// Whether the decision reaches the driver instead of what was given.
    pub rewrite: bool,
}

impl Samplers {
    // ---- creation ----

    /// A create info that needs no second look when one like it was seen before: without a chain, and where neither overrides nor the
    /// trace care for single samplers.
    #[inline(always)]
    pub fn sampler_words(&self, wishes: &Wishes, journal: &Journal, info: &vk::SamplerCreateInfo<'_>) -> Option<Words> {
        if wishes.looks_at_samplers || journal.records_all() { None } else { sampler_info::words(info) }
    }

    /// What a create info with these words led to before.
    #[inline(always)]
    pub fn sampler_again(&self, ground: &Ground, words: &Words) -> Option<Again> {
        self.cache.again(words).filter(|_| ground.is_sound())
    }

    /// What reached the driver instead of a create info that was seen before and had to be changed; outer `None` if it has to be looked at
    /// again.
    pub fn rewritten_again(&self, hot: &Hot, again: Again) -> Option<Option<Words>> {
        self.rows(hot).rewritten(again)
    }

    /// Enters a sampler whose create info was seen before, in one look-up that takes no memory and cannot panic. Whether it did.
    #[inline(always)]
    pub fn insert_sampler_again(&self, ground: &Ground, sampler: vk::Sampler, again: Again) -> bool {
        match self.rows(&ground.hot).add_again(sampler.as_raw(), again) {
            None => return false,
            Some(true) => {}
            // Without a custom border colour, as every state that is remembered.
            Some(false) => _ = again.number().map(|number| self.duplicate_sampler(ground, number)),
        }
        if again.is_changed() {
            ground.journal.count_changed_sampler();
        }
        true
    }

    /// Takes note that the driver returned the handle of another sampler: its one object for equal states. The first of them holds the
    /// places.
    #[cold]
    #[inline(never)]
    fn duplicate_sampler(&self, ground: &Ground, number: u32) {
        ground.guard(
            || {
                let released = self.rows(&ground.hot).release(number);
                let border = self.destroy_released(ground, released);
                self.leave_border(border);
                self.rows(&ground.hot).count_duplicate();
            },
            || (),
        );
    }

    /// What reaches the driver for a sampler. It takes a place for its custom border colour, or gives one up, which
    /// [`Samplers::leave_plan`] gives back; and the next number by order of creation, which no other sampler gets.
    pub fn plan_sampler(&self, ground: &Ground, given: SamplerInfo) -> SamplerPlan {
        let overrides = if ground.wishes.looks_at_samplers {
            let nth = self.created.fetch_add(1, Ordering::Relaxed) + 1;
            ground.wishes.rules().match_sampler(&given.state, given.state.fingerprint(), nth, None)
        } else {
            0
        };
        let off = ground.wishes.off(overrides, None).created;
        let creation = outcome::creation(&given.state, off, &ground.wishes.terms(&ground.driver), |wish| {
            self.ask_border(ground, wish)
        });
        SamplerPlan { given, creation, overrides }
    }

    /// The sampler was not created.
    pub fn leave_plan(&self, plan: &SamplerPlan) {
        self.leave_border(plan.creation.border);
    }

    /// Whether a sampler of this state, of a create info that [has words](Self::sampler_words), reaches the driver unchanged and nothing is
    /// to be said of it.
    #[inline(never)]
    pub fn is_plainly_legal(&self, driver: &Driver, wishes: &Wishes, state: &SamplerState) -> bool {
        let is_legal = decide::is_plainly_legal(state, &driver.caps, &wishes.policy);
        debug_assert!(!is_legal || decide::create(state, &driver.caps, &wishes.policy).changes.is_empty());
        is_legal
    }

    /// Enters a new sampler of such a state into the tables.
    #[inline(never)]
    pub fn insert_plain_sampler(&self, ground: &Ground, sampler: vk::Sampler, words: &Words, state: &SamplerState) {
        let insert = || {
            let needs = ground.driver.relevant(decide::needs(state, state, &ground.driver.caps, &ground.wishes.policy));
            if let Some(Added { number, is_new, live }) =
                self.rows(&ground.hot).add_plain(sampler.as_raw(), words, needs)
            {
                self.look_at_places(ground, live);
                if !is_new {
                    self.duplicate_sampler(ground, number);
                }
            }
        };
        ground.guard(insert, || ());
    }

    /// Enters a new sampler into the tables and the trace. `words`: its create info and, if it has no chain either, what reached the driver
    /// instead.
    pub fn insert_sampler(
        &self,
        ground: &Ground,
        sampler: vk::Sampler,
        plan: &SamplerPlan,
        words: Option<(Words, Option<Words>)>,
        dropped: Option<i32>,
    ) {
        let sampler = sampler.as_raw();
        let SamplerPlan { given, creation, overrides } = plan;
        let asked = &given.state;
        let kept = creation.kept(asked);
        let overrides = *overrides;
        let needs = ground.wishes.needs(&ground.driver, &kept, overrides);
        let shared = SharedState {
            kept,
            needs,
            given: creation.is_refused.then(|| asked.fingerprint()),
            unknown: given.unknown,
            overrides,
            border: creation.border,
        };
        let added = self.rows(&ground.hot).add(sampler, shared);
        if let Some(Added { live, .. }) = added {
            self.look_at_places(ground, live);
        }
        match added {
            // Places for custom borders come and go: whether there is one is asked each time.
            Some(Added { number, is_new: true, .. }) => {
                if let Some((words, rewritten)) = words
                    && rewritten.is_some() == creation.rewrite
                    && creation.border == BorderPlace::None
                    && !creation.is_refused
                {
                    let changed = !creation.decision.changes.is_empty();
                    self.rows(&ground.hot).remember_recent(&words, number, changed, rewritten);
                }
            }
            Some(Added { number, .. }) => self.duplicate_sampler(ground, number),
            None => {}
        }
        if ground.wishes.policy.divides
            && decide::may_divide(asked)
            && let Some(follower) = &ground.follower
        {
            follower.follow_pairs();
        }
        ground.journal.record_sampler(sampler, asked, &creation.decision);
        ground.wishes.exempt_sampler(&ground.journal, sampler, asked, overrides, &creation.exempted);
        if ground.driver.caps.unknown_extension {
            let mut strange = Vec::new();
            decide::unknown_enumerants(asked, &ground.driver.caps, |field, value| strange.push((field, value)));
            ground.journal.unknown_enumerants(&ground.driver, &strange, Some(sampler), asked.fingerprint());
        }
        if let Some(s_type) = dropped {
            let (why, members) = (Cause::LeftOut.with(&[&s_type]), json!({ "sampler": handle(sampler) }));
            ground.journal.unresolved(why, None, members, (s_type as u64, asked.fingerprint()));
        }
    }

    /// Removes a sampler from the tables and destroys the variants that nobody else uses. Returns what it has of
    /// `maxCustomBorderColorSamplers`. `may_be_joined`: somebody may follow what shaders join it with.
    #[inline(always)]
    pub fn forget_sampler(&self, ground: &Ground, sampler: vk::Sampler, may_be_joined: bool) -> BorderPlace {
        let may_be_held = may_be_joined || self.has_pinned() || ground.journal.has_names() || !ground.is_sound();
        if !may_be_held && self.rows(&ground.hot).remove_plain(sampler.as_raw()) {
            return BorderPlace::None;
        }
        self.forget_held_sampler(ground, sampler)
    }

    #[inline(never)]
    fn forget_held_sampler(&self, ground: &Ground, sampler: vk::Sampler) -> BorderPlace {
        let sampler = sampler.as_raw();
        let forget = || {
            let Some(released) = self.rows(&ground.hot).remove(sampler) else { return BorderPlace::None };
            let border = self.destroy_released(ground, released);
            self.unpin(sampler);
            if let Some(follower) = &ground.follower {
                follower.forget_sampler(&ground.driver, sampler);
            }
            ground.journal.forget_name(vk::ObjectType::SAMPLER, sampler);
            border
        };
        ground.guard(forget, || BorderPlace::None)
    }

    // ---- limits ----

    /// Says that variants hold places which the application wants, if the last of `live` samplers of the driver wants one.
    fn look_at_places(&self, ground: &Ground, live: u32) {
        let limit = ground.driver.caps.max_sampler_allocation_count;
        if self.shared.start_if_many(live, || self.rows(&ground.hot).plain_samplers()) {
            ground.journal.record_sharing(live);
        }
        if let Some(overrun) = Overrun::of(live, limit) {
            self.overrun(ground, Limit::Samplers, overrun);
        }
        if let Some(crowded) = self.places.crowded(live, limit) {
            self.crowded(ground, Limit::Samplers, crowded, limit);
        }
    }

    /// Takes note that the driver has made no sampler, maybe for want of a place.
    #[cold]
    #[inline(never)]
    pub fn refused_sampler(&self, ground: &Ground) {
        let look = || {
            let wanted = self.driver_samplers(&ground.hot).saturating_add(1);
            self.wanted.fetch_max(wanted.saturating_add(self.shared.saved()), Ordering::Relaxed);
            self.look_at_places(ground, wanted);
        };
        ground.guard(look, || ());
    }

    /// The most samplers that the application asked for at a time, of which so many were created.
    pub(super) fn samplers_asked(&self, peak: u32) -> u32 {
        peak.max(self.wanted.load(Ordering::Relaxed))
    }

    /// Places of `maxSamplerAllocationCount` that are taken.
    pub fn samplers_taken(&self, hot: &Hot) -> u32 {
        self.driver_samplers(hot) + self.places.variants()
    }

    /// Gives a sampler of the application what it wants of `maxCustomBorderColorSamplers`.
    pub(super) fn ask_border(&self, ground: &Ground, wish: BorderWish) -> BorderPlace {
        let ((place, crowded), overrun) = self.cache.with_borders(|borders| (borders.ask(wish), borders.overrun()));
        if let Some(overrun) = overrun.filter(|_| ground.driver.caps.custom_border_colors) {
            self.overrun(ground, Limit::CustomBorders, overrun);
        }
        if let Some(crowded) = crowded {
            self.crowded(ground, Limit::CustomBorders, crowded, ground.driver.caps.max_custom_border_color_samplers);
        }
        place
    }

    /// A sampler of the application and its variants are destroyed, or its creation failed.
    pub fn leave_border(&self, place: BorderPlace) {
        if place != BorderPlace::None {
            self.cache.with_borders(|borders| borders.leave(place));
        }
    }

    /// Says once per limit that the application asks for more than it allows. How much more is in the summary.
    #[cold]
    fn overrun(&self, ground: &Ground, of: Limit, overrun: Overrun) {
        let [of_samplers, of_borders] = &self.overrun;
        let said = match of {
            Limit::Samplers => of_samplers,
            Limit::CustomBorders => of_borders,
        };
        if said.swap(true, Ordering::Relaxed) {
            return;
        }
        let rule = of.rule();
        let about = json!({ "vuid": of.vuid(), "limit": of.name(), "count": overrun.asked, "max": overrun.limit });
        let say = || ground.journal.unresolved(overrun.explained(of), Some(rule), about, (rule as u64, 0));
        ground.guard(say, || ());
    }

    /// Says once per limit that variants hold places that the application wants.
    #[cold]
    fn crowded(&self, ground: &Ground, of: Limit, crowded: Crowded, limit: u32) {
        let (rule, name, vuid) = (of.rule(), of.name(), of.vuid());
        let Crowded { application, variants } = crowded;
        let why = Cause::PlacesHeld.with(&[&name, &limit, &application, &variants]);
        ground.guard(|| ground.journal.unresolved(why, Some(rule), json!({ "vuid": vuid }), (rule as u64, 0)), || ());
    }

    // ---- shared ones ----

    /// How many samplers of the application the driver has.
    pub(super) fn driver_samplers(&self, hot: &Hot) -> u32 {
        self.rows(hot).samplers().live
    }

    /// Whether a sampler with a chain is what was asked for: places for custom borders come and go, and what has none is its own.
    pub fn is_as_asked(&self, hot: &Hot, sampler: vk::Sampler) -> bool {
        let number = (hot.gate.sampler(sampler.as_raw()) as u32).checked_sub(1);
        let shared = number.and_then(|number| self.rows(hot).state(number));
        shared.is_some_and(|shared| shared.kept.base.fingerprint() == shared.kept.original.fingerprint())
    }

    /// Writes the record of a sampler without a chain that was handed out again.
    pub fn record_shared(&self, ground: &Ground, sampler: vk::Sampler, given: SamplerInfo) {
        let plan = self.plan_sampler(ground, given);
        let (sampler, state, creation) = (sampler.as_raw(), &plan.given.state, &plan.creation);
        ground.journal.record_sampler(sampler, state, &creation.decision);
        ground.wishes.exempt_sampler(&ground.journal, sampler, state, plan.overrides, &creation.exempted);
        self.leave_plan(&plan);
    }

    // ---- conversions ----

    /// The potential conversion of a handle, with a harmless stand-in for one that was never seen.
    pub fn conversion(&self, conversion: vk::SamplerYcbcrConversion) -> YcbcrConversion {
        let raw = conversion.as_raw();
        lock(&self.conversions).get(&raw).copied().unwrap_or(YcbcrConversion {
            handle: raw,
            chroma_filter: vk::Filter::NEAREST,
            separate_reconstruction: true,
            fingerprint: 0,
        })
    }

    /// What reaches the driver for a conversion.
    pub fn plan_conversion(&self, ground: &Ground, format: vk::Format, state: &ConversionState) -> ConversionPlan {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { ground.driver.formats.get(&ground.driver.instance_fns, format) }
            .map(|features| features.potential());
        let (subsampled, off) = (format::chroma_subsampling(format), ground.wishes.off_for_format(format));
        let decision = decide::conversion_except(state, features, subsampled, off);
        if !off.is_empty() {
            let full = decide::conversion(state, features, subsampled);
            let left = decide::new_changes(&full.changes, &decision.changes);
            ground.wishes.exempt_format(&ground.journal, Exempted::Conversion, format, &left, 0);
        }
        let rewrite = !ground.wishes.audit && !decision.changes.is_empty();
        ConversionPlan { decision, features, rewrite }
    }

    /// Enters a new conversion into the tables and the trace. `info`: what reached the driver.
    pub fn insert_conversion(
        &self,
        journal: &Journal,
        conversion: vk::SamplerYcbcrConversion,
        info: &vk::SamplerYcbcrConversionCreateInfo<'_>,
        plan: &ConversionPlan,
    ) {
        let raw = conversion.as_raw();
        let words = [
            info.format.as_raw(),
            info.ycbcr_model.as_raw(),
            info.ycbcr_range.as_raw(),
            info.components.r.as_raw(),
            info.components.g.as_raw(),
            info.components.b.as_raw(),
            info.components.a.as_raw(),
            info.x_chroma_offset.as_raw(),
            info.y_chroma_offset.as_raw(),
            info.chroma_filter.as_raw(),
            info.force_explicit_reconstruction as i32,
        ];
        let separate = vk::FormatFeatureFlags2::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER;
        let entry = YcbcrConversion {
            handle: raw,
            chroma_filter: info.chroma_filter,
            separate_reconstruction: plan.features.is_none_or(|features| features.contains(separate)),
            fingerprint: fnv1a(words.iter().flat_map(|word| word.to_le_bytes())),
        };
        lock(&self.conversions).with_room().insert(raw, entry);
        journal.record_conversion(raw, info.format, &plan.decision.changes);
    }

    /// Forgets a conversion.
    pub fn forget_conversion(&self, ground: &Ground, conversion: vk::SamplerYcbcrConversion) {
        ground.guard(|| _ = lock(&self.conversions).remove(&conversion.as_raw()), || ());
    }

    /// Whether a conversion is kept.
    pub fn has_conversion(&self, conversion: vk::SamplerYcbcrConversion) -> bool {
        lock(&self.conversions).contains_key(&conversion.as_raw())
    }

    // ---- names ----

    /// Looks at the overrides again for a sampler that got a name. Descriptors written from now on follow them.
    pub fn rematch(&self, ground: &Ground, sampler: u64, name: &str) {
        let _turn = ground.wishes.rules.turn();
        let word = ground.hot.gate.sampler(sampler);
        let Some(number) = (word as u32).checked_sub(1) else { return };
        let Some(shared) = self.rows(&ground.hot).state(number) else { return };
        // Overrides by order of creation keep what they said then; names are all that can have changed.
        let named = ground.wishes.rules().match_name(&shared.kept.original, shared.fingerprint(), name);
        let overrides = shared.overrides | named;
        if overrides == shared.overrides {
            return;
        }
        let needs = ground.wishes.needs(&ground.driver, &shared.kept, overrides);
        let needs = ConflictBits(needs.0 | ConflictBits::OVERRIDE.0);
        let moved = SharedState { overrides, needs, ..(*shared).clone() };
        if let Some((to, free)) = self.rows(&ground.hot).acquire_moved(number, moved) {
            ground.hot.gate.replace_sampler(sampler, needs.0, to);
            if let Some(follower) = &ground.follower {
                follower.look_again(&ground.hot);
            }
            if free {
                // It is the same sampler, so it keeps its place for a custom border.
                let _ = self.destroy_released(ground, self.rows(&ground.hot).release(number));
            }
        }
    }

    // ---- pinned ones ----

    /// Keeps a sampler of a descriptor-buffer layout the same everywhere. Choices are made by state, so it gets a row of its own.
    pub fn pin(&self, hot: &Hot, sampler: vk::Sampler) {
        self.has_pinned.store(true, Ordering::Relaxed);
        let sampler = sampler.as_raw();
        if !lock(&self.pinned).with_room().insert(sampler) {
            return;
        }
        if let Some(own) =
            (hot.gate.sampler(sampler) as u32).checked_sub(1).and_then(|number| self.rows(hot).isolate(number))
        {
            hot.gate.move_sampler(sampler, own);
        }
    }

    /// Whether a sampler must stay the same everywhere.
    pub(super) fn is_pinned(&self, sampler: u64) -> bool {
        lock(&self.pinned).contains(&sampler)
    }

    /// Whether any sampler was ever pinned.
    #[inline(always)]
    pub(super) fn has_pinned(&self) -> bool {
        self.has_pinned.load(Ordering::Relaxed)
    }

    /// Forgets that a sampler was pinned, which is about to be destroyed.
    pub(super) fn unpin(&self, sampler: u64) {
        if self.has_pinned() {
            lock(&self.pinned).remove(&sampler);
        }
    }

    // ---- states ----

    /// What says the state of a sampler: its fingerprint, or the handle of one that is not kept.
    pub fn state_of(&self, hot: &Hot, sampler: vk::Sampler) -> u64 {
        let number = (hot.gate.sampler(sampler.as_raw()) as u32).checked_sub(1);
        let shared = number.and_then(|number| self.rows(hot).state(number));
        shared.map_or(sampler.as_raw(), |shared| shared.fingerprint())
    }

    /// Writes the record of a sampler that is what was asked for, and was there.
    pub fn record_as_asked(&self, ground: &Ground, sampler: u64) {
        let number = (ground.hot.gate.sampler(sampler) as u32).checked_sub(1);
        if let Some(shared) = number.and_then(|number| self.rows(&ground.hot).state(number)) {
            let state = shared.kept.original;
            ground.journal.record_sampler(
                sampler,
                &state,
                &decide::create(&state, &ground.driver.caps, &ground.wishes.policy),
            );
        }
    }
}
