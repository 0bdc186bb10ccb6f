//! Embedded samplers, the immutable ones of layouts for descriptor buffers, and the images that they may meet there.
//!
//! Which image a shader finds in such a buffer is in memory that the layer does not read. Known is what images were asked for as
//! descriptors, and what a shader declares; where one of these suits the shader and not the sampler, that is named. Either may come first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use samplin_core::declared::dimension;
use samplin_core::left::{Cause, Left};
use samplin_hot::memory::Room;
use samplin_spirv::{ImageType, Sampled};
use samplin_wire::record;
use samplin_wire::text::handle;
use serde_json::json;

use super::Separate;
use super::layouts::PipelineShape;
use super::programs::{FoundLinks, ProgramLink, Stage};
use super::records::joined;
use crate::decide::{Aspect, ViewTraits};
use crate::device::ground::Ground;
use crate::device::hot::Hot;
use crate::device::journal::PairParts;
use crate::device::resolve::{On, Pairs};
use crate::format::{NumericClass, numeric_class};
use crate::outcome;
use crate::table::{FastMap, lock};
use samplin_hot::Pair;

const EMBEDDED: vk::DescriptorSetLayoutCreateFlags =
    vk::DescriptorSetLayoutCreateFlags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT;

/// What may meet.
#[derive(Default)]
pub(super) struct Embedded {
    /// There was ever a layout with embedded samplers.
    any: AtomicBool,
    met: Mutex<MetInMemory>,
}

#[derive(Default)]
struct MetInMemory {
    /// Samplers that live, for each kind of image once, as the first pipeline joins them.
    samplers: Vec<Sampler>,
    /// Classes of views that lack something and were asked for as descriptors of sampled images, each with the first of its views.
    classes: FastMap<u32, u64>,
}

/// A sampler as a pipeline joins it with an image.
#[derive(Clone, Copy)]
struct Sampler {
    sampler: u64,
    pipeline: u64,
    link: ProgramLink,
}

/// Whether a shader that declares `ty` can have the image of a view.
fn is_like(view: &ViewTraits, ty: &ImageType) -> bool {
    let sampled = match (view.aspect, numeric_class(view.format)) {
        (Aspect::Stencil, _) | (_, NumericClass::Uint) => Sampled::Uint,
        (_, NumericClass::Sint) => Sampled::Sint,
        _ => Sampled::Float,
    };
    dimension(view.view_type) == Some((ty.dim, ty.arrayed)) && sampled == ty.sampled
}

impl Embedded {
    /// Notes a set layout with these flags.
    pub(super) fn watch(&self, flags: vk::DescriptorSetLayoutCreateFlags) {
        if flags.contains(EMBEDDED) {
            self.any.store(true, Ordering::Release);
        }
    }

    /// A sampler is about to go.
    pub(super) fn forget(&self, sampler: u64) {
        if self.any.load(Ordering::Acquire) {
            lock(&self.met).samplers.retain(|own| own.sampler != sampler);
        }
    }
}

impl Separate {
    /// Whether images that are asked for as descriptors may meet embedded samplers.
    #[inline(always)]
    pub fn has_embedded(&self, hot: &Hot) -> bool {
        self.embedded.any.load(Ordering::Relaxed) && hot.gate.must_look()
    }

    /// Notes an image that is asked for as a descriptor.
    #[inline(never)]
    pub fn meet_embedded(&self, ground: &Ground, pairs: &Pairs, view: vk::ImageView) {
        let word = ground.hot.gate.view(view.as_raw());
        let Some(class) = (word as u32).checked_sub(1) else { return };
        if word >> 32 == 0 {
            return;
        }
        ground.guard(
            || {
                let mut met = lock(&self.embedded.met);
                if met.classes.with_room().insert(class, view.as_raw()).is_some() {
                    return;
                }
                let samplers = samplin_hot::memory::collect(met.samplers.iter().copied());
                drop(met);
                samplers.iter().for_each(|sampler| _ = pairs.record_embedded(ground, sampler, class, view.as_raw()));
            },
            || (),
        );
    }

    /// Notes a pipeline whose descriptors are in memory, `in_heaps` or in descriptor buffers of this layout.
    pub(super) fn join_in_memory(
        &self,
        On { ground, pairs }: On<'_>,
        pipeline: vk::Pipeline,
        layout: Option<&PipelineShape>,
        stages: &[Stage<'_>],
        in_heaps: bool,
        blind: Option<Left>,
    ) {
        let mut found = FoundLinks::default();
        found.blind = blind;
        for stage in stages {
            self.links_of(&ground.journal, &pairs.stand_ins.aspects, pipeline.as_raw(), stage, &mut found);
        }
        if in_heaps {
            // What is mapped is known of its mappings.
            return found.blind.iter().for_each(|_| pairs.heaps.read(true, true));
        }
        if !found.links.is_empty() {
            ground.journal.descriptor_buffer(pipeline);
        }
        if let Some(layout) = layout {
            self.join_embedded(ground, pairs, pipeline, layout, &found.links);
        }
    }

    /// Notes the embedded samplers that a pipeline with this layout joins with images.
    fn join_embedded(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        pipeline: vk::Pipeline,
        layout: &PipelineShape,
        links: &[ProgramLink],
    ) {
        for link in links {
            let set = layout.sets.get(link.sampler.set as usize).and_then(Option::as_ref);
            let Some(set) = set.filter(|set| set.kept.flags.contains(EMBEDDED)) else { continue };
            let bindings = set.kept.bindings.iter().filter(|binding| binding.binding == link.sampler.binding);
            for sampler in bindings.flat_map(|binding| &binding.samplers) {
                let own = Sampler { sampler: sampler.as_raw(), pipeline: pipeline.as_raw(), link: *link };
                let mut met = lock(&self.embedded.met);
                let same = |other: &Sampler| (other.sampler, other.link.ty) == (own.sampler, own.link.ty);
                if met.samplers.iter().any(same) {
                    continue;
                }
                met.samplers.with_room().push(own);
                let classes = samplin_hot::memory::collect(met.classes.iter().map(|(class, view)| (*class, *view)));
                drop(met);
                let count =
                    classes.iter().filter(|class| pairs.record_embedded(ground, &own, class.0, class.1)).count();
                if count == 0 {
                    pairs.record_embedded_alone(ground, &own);
                }
            }
        }
    }
}

impl Pairs {
    /// Names an embedded sampler and an image that it does not suit. Whether that is so.
    fn record_embedded(&self, ground: &Ground, own: &Sampler, class: u32, view: u64) -> bool {
        let state = (ground.hot.gate.sampler(own.sampler) as u32).checked_sub(1);
        let shared = state.and_then(|state| self.samplers.rows(&ground.hot).state(state));
        let (Some(state), Some(shared), Some(of)) = (state, shared, self.images.class(class)) else {
            return false;
        };
        if !is_like(&of.traits, &own.link.ty) || ground.driver.relevant(shared.needs).0 & of.lacks.0 == 0 {
            return false;
        }
        let off = ground.wishes.off(shared.overrides, Some(of));
        let (unresolved, _) = outcome::immutable(
            &shared.kept,
            &of.traits,
            off,
            &ground.wishes.terms(&ground.driver),
            &ground.journal.context(Some(of)),
        );
        let Some(unresolved) = unresolved else { return false };
        let joined = record::Joined {
            pipeline: handle(own.pipeline),
            pipeline_name: ground.journal.name(vk::ObjectType::PIPELINE, own.pipeline),
            link: joined(&own.link),
            source: None,
            how: None,
            draw: None,
        };
        let pair = Pair { sampler: own.sampler, view, state, class };
        let parts = PairParts { pair, shared: &shared, class: of };
        ground.journal.pair_unresolved(Left::EmbeddedSampler, unresolved, parts, Some(&joined));
        true
    }

    /// Names an embedded sampler that some image of the device would not suit, where it is not known which it meets.
    fn record_embedded_alone(&self, ground: &Ground, own: &Sampler) {
        let word = ground.hot.gate.sampler(own.sampler);
        let shared = (word as u32).checked_sub(1).and_then(|state| self.samplers.rows(&ground.hot).state(state));
        let Some(shared) =
            shared.filter(|shared| ground.driver.relevant(shared.needs).0 & ground.hot.gate.all_lacks() != 0)
        else {
            return;
        };
        let fingerprint = shared.fingerprint();
        let members = json!({
            "sampler": handle(own.sampler),
            "fingerprint": format!("{fingerprint:016x}"),
            "pipeline": handle(own.pipeline),
            "link": joined(&own.link),
        });
        ground.journal.unresolved(Cause::UnknownMeetings, None, members, (fingerprint, u64::MAX));
    }
}
