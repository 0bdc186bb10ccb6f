//! Samplers of the application: what creation comes to, what is kept of each, and the places of the limits that they take. Y′CbCr
//! conversions and names of objects, which samplers depend on, are here as well.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_core::left::Left;
use samplin_hot::memory::Room;
use samplin_hot::recent::Words;
use samplin_wire::text::handle;
use serde_json::json;

use super::{Device, Separate};
use crate::budget::{BorderPlace, BorderWish, Crowded, Limit, Overrun, SamplerPlaces};
use crate::decide::{self, ConversionDecision, ConversionState, SamplerState, YcbcrConversion, fnv1a};
use crate::format;
use crate::outcome::{self, Creation};
use crate::sampler_info::{self, SamplerInfo};
use crate::table::{FastMap, lock};
use crate::variant::{Added, Again, SharedState};

/// Samplers and conversions of one device. Which sampler has which state stands in the gate.
#[derive(Default)]
pub(super) struct Samplers {
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
    /// Whether the decision goes down instead of what was given.
    pub rewrite: bool,
}

impl Device {
    // ---- creation ----

    /// A create info that needs no second look when one like it was seen before: without a chain, and where neither overrides nor the
    /// trace care for single samplers.
    #[inline(always)]
    pub fn sampler_words(&self, info: &vk::SamplerCreateInfo<'_>) -> Option<Words> {
        if self.overrides.use_samplers() || self.records_all() { None } else { sampler_info::words(info) }
    }

    /// What a create info with these words led to before.
    #[inline(always)]
    pub fn sampler_again(&self, words: &Words) -> Option<Again> {
        self.cache.again(words).filter(|_| self.is_sound())
    }

    /// What went down instead of a create info that was seen before and had to be changed; outer `None` if it has to be looked at again.
    pub fn rewritten_again(&self, again: Again) -> Option<Option<Words>> {
        self.rows().rewritten(again)
    }

    /// Enters a sampler whose create info was seen before, in one look-up that takes no memory and cannot panic. Whether it did.
    #[inline(always)]
    pub fn insert_sampler_again(&self, sampler: vk::Sampler, again: Again) -> bool {
        match self.rows().add_again(sampler.as_raw(), again) {
            None => return false,
            Some(true) => {}
            // Without a custom border colour, as every state that is remembered.
            Some(false) => _ = again.number().map(|number| self.duplicate_sampler(number)),
        }
        if again.is_changed() {
            self.count_changed_sampler();
        }
        true
    }

    /// Takes note that the driver returned the handle of another sampler: its one object for equal states. The first of them holds the
    /// places.
    #[cold]
    #[inline(never)]
    fn duplicate_sampler(&self, number: u32) {
        self.guard(
            || {
                let released = self.rows().release(number);
                let border = self.destroy_released(released);
                self.leave_border(border);
                self.rows().count_duplicate();
            },
            || (),
        );
    }

    /// What goes down for a sampler. It takes a place for its custom border colour, or gives one up, which [`Device::leave_plan`] gives
    /// back; and the next number by order of creation, which no other sampler gets.
    pub fn plan_sampler(&self, given: SamplerInfo) -> SamplerPlan {
        let overrides = if self.overrides.use_samplers() {
            let nth = self.samplers.created.fetch_add(1, Ordering::Relaxed) + 1;
            self.overrides.match_sampler(&given.state, given.state.fingerprint(), nth, None)
        } else {
            0
        };
        let off = self.off(overrides, None).created;
        let creation = outcome::creation(&given.state, off, &self.terms(), |wish| self.ask_border(wish));
        SamplerPlan { given, creation, overrides }
    }

    /// The sampler was not created.
    pub fn leave_plan(&self, plan: &SamplerPlan) {
        self.leave_border(plan.creation.border);
    }

    /// Whether a sampler of this state, of a create info that [has words](Self::sampler_words), goes down as it came and nothing is to be
    /// said of it.
    #[inline(never)]
    pub fn is_plainly_legal(&self, state: &SamplerState) -> bool {
        let is_legal = decide::is_plainly_legal(state, &self.caps, &self.policy);
        debug_assert!(!is_legal || decide::create(state, &self.caps, &self.policy).changes.is_empty());
        is_legal
    }

    /// Enters a new sampler of such a state into the tables.
    #[inline(never)]
    pub fn insert_plain_sampler(&self, sampler: vk::Sampler, words: &Words, state: &SamplerState) {
        let insert = || {
            let needs = self.relevant(decide::needs(state, state, &self.caps, &self.policy));
            if let Some(Added { number, is_new, live }) = self.rows().add_plain(sampler.as_raw(), words, needs) {
                self.look_at_places(live);
                if !is_new {
                    self.duplicate_sampler(number);
                }
            }
        };
        self.guard(insert, || ());
    }

    /// Enters a new sampler into the tables and the trace. `words`: its create info and, if it has no chain either, what went down
    /// instead.
    pub fn insert_sampler(
        &self,
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
        let needs = self.needs(&kept, overrides);
        let shared = SharedState {
            kept,
            needs,
            given: creation.is_refused.then(|| asked.fingerprint()),
            unknown: given.unknown,
            overrides,
            border: creation.border,
        };
        let added = self.rows().add(sampler, shared);
        if let Some(Added { live, .. }) = added {
            self.look_at_places(live);
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
                    self.rows().remember_recent(&words, number, changed, rewritten);
                }
            }
            Some(Added { number, .. }) => self.duplicate_sampler(number),
            None => {}
        }
        if self.policy.divides
            && decide::loses_texels(asked)
            && let Some(separate) = self.separate.as_deref()
        {
            separate.follow_pairs();
        }
        self.record_sampler(sampler, asked, &creation.decision);
        self.exempt_sampler(sampler, asked, overrides, &creation.exempted);
        if self.caps.unknown_extension {
            let mut strange = Vec::new();
            decide::unknown_enumerants(asked, &self.caps, |field, value| strange.push((field, value)));
            self.unknown_enumerants(&strange, Some(sampler), asked.fingerprint());
        }
        if let Some(s_type) = dropped {
            let why = format!(
                "the structure of type {s_type} stands before one that had to change, and its size is not known, so it was left out"
            );
            let members = json!({ "sampler": handle(sampler) });
            self.unresolved(Left::UnknownStructure, &why, None, members, (s_type as u64, asked.fingerprint()));
        }
    }

    /// Removes a sampler from the tables and destroys the variants that nobody else uses. Returns what it has of
    /// `maxCustomBorderColorSamplers`.
    #[inline(always)]
    pub fn forget_sampler(&self, sampler: vk::Sampler) -> BorderPlace {
        let separate = self.separate.as_deref().is_some_and(Separate::may_hold_samplers);
        let may_be_held = separate || self.has_pinned() || self.has_names() || !self.is_sound();
        if !may_be_held && self.rows().remove_plain(sampler.as_raw()) {
            return BorderPlace::None;
        }
        self.forget_held_sampler(sampler)
    }

    #[inline(never)]
    fn forget_held_sampler(&self, sampler: vk::Sampler) -> BorderPlace {
        let sampler = sampler.as_raw();
        let forget = || {
            let Some(released) = self.rows().remove(sampler) else { return BorderPlace::None };
            let border = self.destroy_released(released);
            self.unpin(sampler);
            if let Some(separate) = self.separate.as_deref().filter(|separate| separate.may_hold_samplers()) {
                self.forget_separate_sampler(separate, sampler);
            }
            self.forget_name(vk::ObjectType::SAMPLER, sampler);
            border
        };
        self.guard(forget, || BorderPlace::None)
    }

    /// Forgets a sampler in what only shaders join. Apart, as most devices hold none there.
    #[cold]
    #[inline(never)]
    fn forget_separate_sampler(&self, separate: &Separate, sampler: u64) {
        separate.forget_immutable(sampler);
        self.forget_hidden(separate, sampler);
    }

    // ---- limits ----

    /// Says that variants hold places which the application wants, if the last of `live` samplers wants one.
    fn look_at_places(&self, live: u32) {
        let limit = self.caps.max_sampler_allocation_count;
        self.share_if_many(live);
        let live = self.of_driver(live);
        if let Some(overrun) = Overrun::of(live, limit) {
            self.overrun(Limit::Samplers, overrun);
        }
        if let Some(crowded) = self.samplers.places.crowded(live, limit) {
            self.crowded(Limit::Samplers, crowded, limit);
        }
    }

    /// Takes note that the driver has made no sampler, maybe for want of a place.
    #[cold]
    #[inline(never)]
    pub fn refused_sampler(&self) {
        let look = || {
            let wanted = self.rows().samplers().live.saturating_add(1);
            self.samplers.wanted.fetch_max(wanted, Ordering::Relaxed);
            self.look_at_places(wanted);
        };
        self.guard(look, || ());
    }

    /// The most samplers that the application asked for at a time, of which so many were created.
    pub(super) fn samplers_asked(&self, peak: u32) -> u32 {
        peak.max(self.samplers.wanted.load(Ordering::Relaxed))
    }

    /// Places of `maxSamplerAllocationCount` that are taken.
    pub fn samplers_taken(&self) -> u32 {
        self.driver_samplers() + self.samplers.places.variants()
    }

    /// Gives a sampler of the application what it wants of `maxCustomBorderColorSamplers`.
    fn ask_border(&self, wish: BorderWish) -> BorderPlace {
        let ((place, crowded), overrun) = self.cache.with_borders(|borders| (borders.ask(wish), borders.overrun()));
        if let Some(overrun) = overrun.filter(|_| self.caps.custom_border_colors) {
            self.overrun(Limit::CustomBorders, overrun);
        }
        if let Some(crowded) = crowded {
            self.crowded(Limit::CustomBorders, crowded, self.caps.max_custom_border_color_samplers);
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
    fn overrun(&self, of: Limit, overrun: Overrun) {
        let [of_samplers, of_borders] = &self.samplers.overrun;
        let said = match of {
            Limit::Samplers => of_samplers,
            Limit::CustomBorders => of_borders,
        };
        if said.swap(true, Ordering::Relaxed) {
            return;
        }
        let rule = of.rule();
        let about = json!({ "vuid": of.vuid(), "limit": of.name(), "count": overrun.asked, "max": overrun.limit });
        let say = || self.unresolved(Left::LimitExceeded, &overrun.why(of), Some(rule), about, (rule as u64, 0));
        self.guard(say, || ());
    }

    /// Says once per limit that variants hold places that the application wants.
    #[cold]
    fn crowded(&self, of: Limit, crowded: Crowded, limit: u32) {
        let (rule, name, vuid) = (of.rule(), of.name(), of.vuid());
        let Crowded { application, variants } = crowded;
        let why = format!(
            "{name} is {limit}: the application wants {application} of these samplers and variants hold {variants}, \
             which cannot be destroyed while descriptors may name them"
        );
        self.guard(|| self.unresolved(Left::Limit, &why, Some(rule), json!({ "vuid": vuid }), (rule as u64, 0)), || ());
    }

    // ---- conversions ----

    /// The potential conversion of a handle, with a harmless stand-in for one that was never seen.
    pub fn conversion(&self, conversion: vk::SamplerYcbcrConversion) -> YcbcrConversion {
        let raw = conversion.as_raw();
        lock(&self.samplers.conversions).get(&raw).copied().unwrap_or(YcbcrConversion {
            handle: raw,
            chroma_filter: vk::Filter::NEAREST,
            separate_reconstruction: true,
            fingerprint: 0,
        })
    }

    /// What goes down for a conversion.
    pub fn plan_conversion(&self, format: vk::Format, state: &ConversionState) -> ConversionPlan {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { self.formats.get(&self.instance_fns, format) }.map(|features| features.potential());
        let (subsampled, off) = (format::chroma_subsampling(format), self.off_for_format(format));
        let decision = decide::conversion_except(state, features, subsampled, off);
        if !off.is_empty() {
            let full = decide::conversion(state, features, subsampled);
            let left = decide::new_changes(&full.changes, &decision.changes);
            self.exempt_format("conversion", format, &left, 0);
        }
        let rewrite = !self.audit && !decision.changes.is_empty();
        ConversionPlan { decision, features, rewrite }
    }

    /// Enters a new conversion into the tables and the trace. `info`: what went down.
    pub fn insert_conversion(
        &self,
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
        lock(&self.samplers.conversions).with_room().insert(raw, entry);
        self.record_conversion(raw, info.format, &plan.decision.changes);
    }

    /// Forgets a conversion.
    pub fn forget_conversion(&self, conversion: vk::SamplerYcbcrConversion) {
        self.guard(|| _ = lock(&self.samplers.conversions).remove(&conversion.as_raw()), || ());
    }

    /// Whether a conversion is kept.
    pub fn has_conversion(&self, conversion: vk::SamplerYcbcrConversion) -> bool {
        lock(&self.samplers.conversions).contains_key(&conversion.as_raw())
    }

    // ---- names ----

    /// Whether the name of an object of this type is asked for, by records or overrides.
    pub fn wants_name(&self, ty: vk::ObjectType, object: u64) -> bool {
        match ty {
            vk::ObjectType::SAMPLER | vk::ObjectType::IMAGE_VIEW => self.trace().is_on() || self.overrides.use_names(),
            _ => self.is_followed(ty, object),
        }
    }

    /// Remembers the name that an object got, and looks at the overrides again.
    pub fn name_object(&self, ty: vk::ObjectType, object: u64, name: String) {
        if ty == vk::ObjectType::SAMPLER && self.overrides.use_names() {
            self.rematch(object, &name);
        }
        self.set_name(ty, object, name);
        self.name_seconds_of(ty, object);
    }

    /// Looks at the overrides again for a sampler that got a name. Descriptors written from now on follow them.
    fn rematch(&self, sampler: u64, name: &str) {
        let word = self.hot.gate.sampler(sampler);
        let Some(number) = (word as u32).checked_sub(1) else { return };
        let Some(shared) = self.rows().state(number) else { return };
        // Overrides by order of creation keep what they said then; names are all that can have changed.
        let named = self.overrides.match_name(&shared.kept.original, shared.fingerprint(), name);
        let overrides = shared.overrides | named;
        if overrides == shared.overrides {
            return;
        }
        let needs = self.needs(&shared.kept, overrides);
        let moved = SharedState { overrides, needs, ..(*shared).clone() };
        if let Some((to, free)) = self.rows().acquire_moved(number, moved) {
            self.hot.gate.replace_sampler(sampler, needs.0, to);
            if let Some(separate) = self.separate.as_deref() {
                separate.look_again();
            }
            if free {
                // It is the same sampler, so it keeps its place for a custom border.
                let _ = self.destroy_released(self.rows().release(number));
            }
        }
    }
}
