//! Samplers and images that are described where they are used, in descriptor heaps and in shaders (`VK_EXT_descriptor_heap`): they have no
//! handles, and which of them meet is for shaders to say.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use ash::vk;
use samplin_core::left::{Cause, Explained, Left};
use samplin_hot::memory::Room;
use samplin_wire::kinds;
use serde_json::json;
use vk_layer_sys::{EXT_DESCRIPTOR_HEAP_NAME, SamplerCustomBorderColorIndexCreateInfoEXT as ColourIndex};

use super::classes::ViewClass;
use super::driver::Driver;
use super::ground::Ground;
use super::images::Images;
use super::journal::Via;
use super::samplers::Samplers;
use crate::budget::{BorderPlace, BorderWish};
use crate::decide::{self, ConflictBits, Rule, SamplerState, ShaderType};
use crate::outcome::{self, Alone, Colour, Kept};
use crate::overrides::{Override, Overrides};
use crate::sampler_info::SamplerInfo;
use crate::table::{FastMap, lock};
use crate::{names, pnext};

/// Most sampler states, and most kinds of embedded samplers, of which it is remembered what they meet.
const MOST: usize = 4096;

/// Frames from one look to the next.
const FRAMES: u64 = 256;

/// What is in the heaps of one device and in its shaders.
pub struct Heaps {
    is_on: bool,
    met: Mutex<MetInHeaps>,
    /// Something met something that it may not be used with.
    conflicts: AtomicBool,
    integers: OnceLock<vk::FormatFeatureFlags2>,
}

#[derive(Default)]
struct MetInHeaps {
    counts: kinds::Heaps,
    /// What samplers in heaps need, by their fingerprints.
    states: FastMap<u64, ConflictBits>,
    /// Classes of the images in heaps.
    classes: FastMap<u32, ()>,
    /// Embedded samplers by fingerprint and type.
    embedded: FastMap<(u64, ShaderType), Embedded>,
    /// The places of registered border colours, by their index.
    colours: FastMap<u32, BorderPlace>,
    /// Whether images of floats, and of integers, are read through samplers in heaps.
    read: [bool; 2],
    is_recorded: bool,
}

#[derive(Clone, Copy)]
struct Embedded {
    kept: Kept,
    needs: ConflictBits,
}

/// The integer formats that are asked for what any of them can do: all that devices have to sample, and some beside them.
const INTEGERS: [vk::Format; 20] = {
    use vk::Format as F;
    [
        F::R8_UINT,
        F::R8_SINT,
        F::R8G8_UINT,
        F::R8G8_SINT,
        F::R8G8B8A8_UINT,
        F::R8G8B8A8_SINT,
        F::A8B8G8R8_UINT_PACK32,
        F::A8B8G8R8_SINT_PACK32,
        F::A2B10G10R10_UINT_PACK32,
        F::R16_UINT,
        F::R16_SINT,
        F::R16G16_UINT,
        F::R16G16_SINT,
        F::R16G16B16A16_UINT,
        F::R16G16B16A16_SINT,
        F::R32_UINT,
        F::R32_SINT,
        F::R32G32_UINT,
        F::R32G32B32A32_UINT,
        F::R32G32B32A32_SINT,
    ]
};

impl Heaps {
    /// None yet, on a device that may have heaps or not.
    pub(super) fn new(driver: &Driver) -> Self {
        Self {
            is_on: driver.enabled.extension(EXT_DESCRIPTOR_HEAP_NAME) && !driver.instance.is_off(),
            met: Mutex::default(),
            conflicts: AtomicBool::new(false),
            integers: OnceLock::new(),
        }
    }

    /// Whether the device has heaps, so that shaders may embed samplers.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// The features that any format of integers has on the device.
    pub fn integers(&self, driver: &Driver) -> vk::FormatFeatureFlags2 {
        *self.integers.get_or_init(|| {
            // SAFETY: `formats` was made for this device's instance, which outlives the device.
            let of = |format: &vk::Format| unsafe { driver.formats.get(&driver.instance_fns, *format) };
            INTEGERS.iter().filter_map(of).fold(vk::FormatFeatureFlags2::empty(), |all, one| all | one.potential())
        })
    }

    // ---- samplers ----

    /// What becomes of a sampler that is written to a heap.
    ///
    /// # Safety
    ///
    /// `info` is a valid create info, of which `given` was read.
    pub unsafe fn written<'a>(
        &self,
        ground: &Ground,
        rules: &'a Overrides,
        info: &vk::SamplerCreateInfo<'_>,
        given: &SamplerInfo,
    ) -> Alone<'a> {
        // SAFETY: the chain of a create info that is valid by this function's contract.
        let index = unsafe { pnext::find_as::<ColourIndex>(info.p_next, ColourIndex::STRUCTURE_TYPE) };
        let limit = ground.driver.caps.max_custom_border_color_samplers;
        let is_registered = index.is_some_and(|index| index.index < limit);
        let colour = if is_registered { Colour::Registered } else { Colour::Missing };
        let alone = self.decide(ground, rules, given, None, colour);
        self.meet_sampler(ground, given, &alone);
        self.record(ground, Via::HeapWrite, given, &alone, None);
        alone
    }

    /// What becomes of a sampler that a shader embeds, which reads images of these types through it; none if that is not known.
    pub fn embedded<'a>(
        &self,
        ground: &Ground,
        rules: &'a Overrides,
        images: &Images,
        given: &SamplerInfo,
        types: &[ShaderType],
    ) -> Alone<'a> {
        // It cannot be one sampler for each of several types.
        let ty = if let [one] = types { Some(one) } else { None };
        let alone = self.decide(ground, rules, given, ty, Colour::Embedded);
        for ty in types {
            self.meet_embedded(ground, images, &given.state, &alone, ty);
        }
        self.record(ground, Via::Embedded, given, &alone, ty);
        if ty.is_none() {
            self.record_several_types(ground, rules, given, &alone, types);
        }
        alone
    }

    /// Names a sampler that would have to be another one for some of these types.
    fn record_several_types(
        &self,
        ground: &Ground,
        rules: &Overrides,
        given: &SamplerInfo,
        alone: &Alone<'_>,
        types: &[ShaderType],
    ) {
        let change = types.iter().find_map(|ty| {
            let other = self.decide(ground, rules, given, Some(ty), Colour::Embedded);
            decide::new_changes(&other.decision.changes, &alone.decision.changes).into_iter().next()
        });
        let Some(catalog) = change.map(|change| change.catalog) else { return };
        let fingerprint = given.state.fingerprint();
        let about = json!({ "vuid": catalog.vuid(), "fingerprint": format!("{fingerprint:016x}") });
        ground.journal.unresolved(Cause::SeveralTypes, Some(catalog.rule()), about, (fingerprint, 1));
    }

    fn decide<'a>(
        &self,
        ground: &Ground,
        rules: &'a Overrides,
        given: &SamplerInfo,
        ty: Option<&ShaderType>,
        colour: Colour,
    ) -> Alone<'a> {
        let (wishes, state) = (&ground.wishes, &given.state);
        // Which sampler it is by order of creation, and its name, are not known of what has no handle.
        let overrides =
            if wishes.looks_at_samplers { rules.match_sampler(state, state.fingerprint(), 0, None) } else { 0 };
        let wished = rules.alone(overrides).map(Override::wished);
        let off = wishes.off(overrides, None).created;
        outcome::alone(state, ty, wished, off, colour, &wishes.terms(&ground.driver))
    }

    fn record(&self, ground: &Ground, via: Via, given: &SamplerInfo, alone: &Alone<'_>, ty: Option<&ShaderType>) {
        let (state, journal) = (&given.state, &ground.journal);
        journal.record_described(via, state, alone, ty);
        if let Some(catalog) = alone.decision.unresolved.filter(|_| via == Via::Embedded) {
            let view = ty.map(ShaderType::view);
            let context = decide::Context { view: view.as_ref(), of_shader: true, ..journal.context(None) };
            let why = Explained { what: Left::EmbeddedSampler, why: outcome::why_unmendable(catalog, &context) };
            let fingerprint = state.fingerprint();
            let about = json!({ "vuid": catalog.vuid(), "fingerprint": format!("{fingerprint:016x}") });
            journal.unresolved(why, Some(catalog.rule()), about, (fingerprint, 0));
        }
        if ground.driver.caps.unknown_extension {
            let mut strange = Vec::new();
            decide::unknown_enumerants(state, &ground.driver.caps, |field, value| strange.push((field, value)));
            journal.unknown_enumerants(&ground.driver, &strange, None, state.fingerprint());
        }
    }

    /// What a sampler needs of the views that it meets.
    fn needs(ground: &Ground, given: &SamplerState, alone: &Alone<'_>) -> (Kept, ConflictBits) {
        let base = if alone.rewrite { alone.decision.state } else { *given };
        let kept = Kept { original: base, base };
        let (caps, policy) = (&ground.driver.caps, &ground.wishes.policy);
        (kept, ground.driver.relevant(decide::needs(&base, &base, caps, policy)))
    }

    fn meet_sampler(&self, ground: &Ground, given: &SamplerInfo, alone: &Alone<'_>) {
        if !ground.journal.trace().is_on() {
            return;
        }
        let (_, needs) = Self::needs(ground, &given.state, alone);
        let mut met = lock(&self.met);
        met.counts.samplers += 1;
        if met.states.len() < MOST
            && let Entry::Vacant(entry) = met.states.with_room().entry(given.state.fingerprint())
        {
            entry.insert(needs);
            met.counts.states += 1;
            self.conflicts.store(true, Ordering::Relaxed);
        }
    }

    fn meet_embedded(
        &self,
        ground: &Ground,
        images: &Images,
        given: &SamplerState,
        alone: &Alone<'_>,
        ty: &ShaderType,
    ) {
        if !ground.journal.trace().is_on() {
            return;
        }
        let (kept, needs) = Self::needs(ground, given, alone);
        let mut met = lock(&self.met);
        let key = (given.fingerprint(), *ty);
        if met.embedded.len() >= MOST || met.embedded.contains_key(&key) {
            return;
        }
        let own = Embedded { kept, needs };
        met.embedded.with_room().insert(key, own);
        met.counts.embedded += 1;
        let classes = samplin_hot::memory::collect(met.classes.keys().copied());
        drop(met);
        for class in classes.into_iter().filter_map(|class| images.class(class)) {
            Self::record_embedded(ground, key.0, key.1, &own, class);
        }
    }

    /// Names an embedded sampler and an image in a heap that suits the shader and not the sampler.
    fn record_embedded(ground: &Ground, fingerprint: u64, ty: ShaderType, own: &Embedded, class: &ViewClass) {
        let view = &class.traits;
        let is_read = (view.numeric_class(), view.view_type) == (ty.class, ty.view_type);
        if !is_read || own.needs.0 & class.lacks.0 == 0 {
            return;
        }
        let (off, terms) = (ground.wishes.off(0, Some(class)), ground.wishes.terms(&ground.driver));
        let read = decide::ViewTraits { reads: ty.reads, ..*view };
        let context = ground.journal.context(Some(class));
        let (Some(left), _) = outcome::immutable(&own.kept, &read, off, &terms, &context) else { return };
        let about = json!({
            "vuid": left.vuid,
            "fingerprint": format!("{fingerprint:016x}"),
            "format": names::format(view.format),
            "view_type": names::view_type(view.view_type),
        });
        let key = (fingerprint, view.format.as_raw() as u32 as u64);
        let why = Explained { what: Left::EmbeddedSampler, why: left.why };
        ground.journal.unresolved(why, Some(left.rule), about, key);
    }

    // ---- images ----

    /// Notes an image that is written to a heap.
    pub fn meet_view(&self, ground: &Ground, images: &Images, class: u32) {
        let Some(own) = images.class(class) else { return };
        let mut met = lock(&self.met);
        met.counts.views += 1;
        if met.classes.contains_key(&class) {
            return;
        }
        met.classes.with_room().insert(class, ());
        met.counts.classes += 1;
        self.conflicts.store(true, Ordering::Relaxed);
        let embedded = samplin_hot::memory::collect(met.embedded.iter().map(|(key, own)| (*key, *own)));
        drop(met);
        embedded.iter().for_each(|(key, sampler)| Self::record_embedded(ground, key.0, key.1, sampler, own));
    }

    /// Takes note that shaders read images through samplers in heaps: of floats, and of integers.
    pub fn read(&self, floats: bool, integers: bool) {
        let [own_floats, own_integers] = &mut lock(&self.met).read;
        *own_floats |= floats;
        *own_integers |= integers;
        self.conflicts.store(true, Ordering::Relaxed);
    }

    // ---- border colours ----

    /// Notes a border colour that is registered.
    pub fn register(&self, ground: &Ground, samplers: &Samplers, index: u32) {
        let mut met = lock(&self.met);
        let Entry::Vacant(entry) = met.colours.with_room().entry(index) else { return };
        entry.insert(BorderPlace::None);
        drop(met);
        let place = samplers.ask_border(ground, BorderWish::Take { must: true });
        lock(&self.met).colours.with_room().insert(index, place);
    }

    /// Notes a border colour that is no longer registered.
    pub fn unregister(&self, samplers: &Samplers, index: u32) {
        let place = lock(&self.met).colours.remove(&index);
        samplers.leave_border(place.unwrap_or_default());
    }

    // ---- records ----

    /// Names what samplers and images in heaps may meet and may not be used with, once. Which of them shaders join is not known.
    pub fn record_meeting(&self, ground: &Ground, images: &Images) {
        if !self.is_on || !self.conflicts.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut met = lock(&self.met);
        let [floats, integers] = met.read;
        let classes = met.classes.keys().filter_map(|class| images.class(*class));
        let classes = samplin_hot::memory::collect(
            classes.filter(|class| if class.traits.is_integer() { integers } else { floats }),
        );
        let (mut count, mut first) = (0, None);
        for (fingerprint, needs) in &met.states {
            for class in classes.iter().filter(|class| needs.0 & class.lacks.0 != 0) {
                count += 1;
                first = first.or(Some((*fingerprint, class.traits.format)));
            }
        }
        met.counts.pairs = count;
        let Some((fingerprint, format)) = first.filter(|_| !std::mem::replace(&mut met.is_recorded, true)) else {
            return;
        };
        let about = json!({
            "heaps": met.counts,
            "fingerprint": format!("{fingerprint:016x}"),
            "format": names::format(format),
        });
        drop(met);
        ground.journal.unresolved(Left::DescriptorHeap, Some(Rule::Heap), about, (0, 0));
    }

    /// A frame has ended.
    #[inline]
    pub fn end_frame(&self, ground: &Ground, images: &Images) {
        if self.is_on && ground.journal.frames.count().is_multiple_of(FRAMES) {
            ground.guard(|| self.record_meeting(ground, images), || ());
        }
    }

    /// What the summary says; nothing where nothing was written or embedded.
    pub(super) fn summary(&self) -> Option<kinds::Heaps> {
        let counts = lock(&self.met).counts;
        (counts != kinds::Heaps::default()).then_some(counts)
    }

    /// States and kinds of embedded samplers that are remembered.
    pub(super) fn remembered(&self) -> usize {
        let met = lock(&self.met);
        met.states.len() + met.embedded.len()
    }
}
