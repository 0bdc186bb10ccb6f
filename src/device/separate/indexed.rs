//! Links whose descriptors are not all known when a draw is recorded: which of them shaders look up, and their records.

use ash::vk::{self, Handle};
use samplin_bind::plan::{How, link_bit};
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory::Room;
use samplin_spirv::{Operand, Sampled, Uses};

use super::Separate;
use super::arrays::Sought;
use super::bound::{BoundBinding, BoundLink};
use super::command_buffers::BindPoint;
use super::layouts::PipelineShape;
use super::programs::{Program, ProgramLink};
use super::progress::Drawn;
use super::records::LinkRepair;
use super::want::LinkAt;
use crate::counters::Path;
use crate::decide::ViewTraits;
use crate::device::ground::Ground;
use crate::device::resolve::{On, Pairs};

/// Whether a shader may read a view as this type (VUID-vkCmdDraw-format-07753), or as any; one of a format that is not known it may.
fn is_read_as(traits: &ViewTraits, sampled: Option<Sampled>) -> bool {
    !traits.class_is_known() || sampled.is_none_or(|own| traits.is_integer() == (own != Sampled::Float))
}

impl Separate {
    /// The links whose shader looks up what suits them, where any does, a bit each.
    pub(super) fn looked_up(&self, layout: &PipelineShape, links: &[ProgramLink]) -> u64 {
        let looks_up = |link: &ProgramLink| {
            // Where comparisons conflict, links that are listed have shaders that compare.
            let all = self.force.selects() && !link.uses.contains(Uses::DREF);
            (self.settings.looks_up || all)
                && !link.is_combined()
                && layout.is_looked_up(&link.image, &link.sampler, all, self.limits.dynamic_indexing)
        };
        let links = links.iter().enumerate().filter(|(_, link)| looks_up(link));
        links.fold(0, |all, (number, _)| all | link_bit(number))
    }

    /// Writes a record for each link that can join what conflicts and whose shader looks up what suits it, or why it does not.
    pub(super) fn record_looked_up(
        &self,
        On { ground, pairs }: On<'_>,
        program: Drawn<'_>,
        point: &BindPoint,
        links: u64,
        split: u64,
        unhidden: Option<Left>,
    ) {
        let bound = |operand: &Operand| {
            let entry = point.sets.get(operand.set as usize)?.content()?;
            Some(BoundBinding { set: entry, binding: entry.shape.binding(operand.binding)? })
        };
        for (index, link) in program.links.iter().enumerate().filter(|(index, _)| links & link_bit(*index) != 0) {
            let Some((image, sampler)) = bound(&link.image).zip(bound(&link.sampler)) else { continue };
            let bound = BoundLink { index, image, sampler };
            let why = match split & link_bit(index) {
                0 => Some(unhidden.or_else(|| program.splits.reason(link_bit(index))).unwrap_or(Left::Bindless)),
                _ => None,
            };
            let is_crowded = |pair: Pair| self.tables.is_crowded(pair.class);
            if why.is_none() && self.tables.has_crowded() {
                pairs.record_indexed(ground, program, &bound, Some(Left::TooManyColumns), &is_crowded);
            }
            let is_unplaced = |pair| self.tables.is_unplaced(pair);
            if why.is_none() && self.tables.has_unplaced() {
                pairs.record_indexed(ground, program, &bound, Some(Left::SamplerLimit), &is_unplaced);
            }
            let is_it = |pair: Pair| why.is_some() || !is_crowded(pair) && !is_unplaced(pair);
            pairs.record_indexed(ground, program, &bound, why, &is_it);
        }
    }
}

impl Program {
    /// Whether its shaders look up what suits each of its links.
    pub(super) fn looks_all_up(&self) -> bool {
        let all = (0..self.links.len()).fold(0, |all, number| all | link_bit(number));
        all != 0 && self.looked_up == all && !self.reads_noted() && self.blind.is_none()
    }

    /// The images and samplers of its links, and whether it is a sampler.
    pub(super) fn operands(&self) -> impl Iterator<Item = (&Operand, bool)> {
        self.links.iter().flat_map(|link| [(&link.image, false), (&link.sampler, true)])
    }

    /// Whether a link whose shader looks up what suits it may join what conflicts once the sets are written that are bound: images that may
    /// come can be any, and samplers that may come any that were ever in such a binding.
    pub(super) fn may_meet_late(&self, point: &BindPoint) -> bool {
        let links = self.looked_up & self.loose & self.splits.mask();
        self.links.iter().enumerate().filter(|(number, _)| links & link_bit(*number) != 0).any(|(_, link)| {
            let [image, sampler] = [&link.image, &link.sampler].map(|at| self.layout.binding(at).map(|(_, own)| own));
            let (Some(image), Some(sampler)) = (image, sampler) else { return true };
            let brief = point.sets.get(link.image.set as usize).and_then(|bound| bound.brief);
            let (Some(seen), Some(brief), false) = (&sampler.seen, brief, image.after_bind) else { return true };
            seen.needs() & (brief.summary >> 32) as u32 != 0
        })
    }
}

impl Pairs {
    /// The class of a view whose sampler is looked up: what a shader would do for it beside is not done there.
    pub(super) fn looked_up_class(&self, ground: &Ground, class: u32) -> u32 {
        let policy = &ground.wishes.policy;
        let does_more = policy.saturates || policy.emulates;
        if does_more { self.images.class_by_itself(&ground.driver, class) } else { class }
    }

    /// Names a link whose descriptors are not all known, by the first pair of those that are in its bindings which conflicts and `is_it`,
    /// and `why` it is left if it is. Nothing is said where none does.
    pub(super) fn record_indexed(
        &self,
        ground: &Ground,
        program: Drawn<'_>,
        bound: &BoundLink<'_>,
        why: Option<Left>,
        is_it: &dyn Fn(Pair) -> bool,
    ) {
        let link = bound.index;
        let BoundBinding { set: images, binding: image } = bound.image;
        let BoundBinding { set: samplers, binding: sampler } = bound.sampler;
        let Some(own) = program.links.get(link) else { return };
        let (image_at, sampler_at, is_combined) = (&own.image, &own.sampler, own.is_combined());
        // What no other sampler mends is not left for want of an index.
        let mendable = |pair| {
            Some(self.images.as_read(&ground.hot, &ground.driver, pair, own.uses))
                .filter(|pair| self.is_mendable(ground, *pair))
        };
        let gate = &ground.hot.gate;
        let conflict = |given, view| {
            let pair = gate.conflict(vk::Sampler::from_raw(given), vk::ImageView::from_raw(view))?;
            let is_read = is_read_as(&self.images.class(pair.class)?.traits, own.sampled);
            Some(pair).filter(|pair| is_read && is_it(*pair)).and_then(mendable)
        };
        let lacks = (images.seen(gate, image, own.sampled) >> 32) as u32;
        // Of samplers of one state the first one speaks for all.
        let mut seen = Vec::new();
        let found = samplers.find(gate, sampler, Sought::Samplers, lacks, |sampler_element, given| {
            let state = gate.sampler(given);
            let needs = (state >> 32) as u32;
            if needs & lacks == 0 || !is_combined && seen.contains(&state) {
                return None;
            }
            if is_combined {
                let view = image.image_slot(sampler_element).map_or(0, |slot| images.get(slot));
                return Some((sampler_element, sampler_element, conflict(given, view)?));
            }
            seen.with_room().push(state);
            let sought = Sought::Images(own.sampled);
            images.find(gate, image, sought, needs, |element, view| {
                Some((element, sampler_element, conflict(given, view)?))
            })
        });
        let Some((image_element, sampler_element, pair)) = found else { return };
        program.mark_late_recorded(link);
        let of = [(image_at, image_element), (sampler_at, sampler_element)];
        let [image_at, sampler_at] = of.map(|(of, element)| (of.set, of.binding, element));
        let at = LinkAt { link, image: image_at, sampler: sampler_at };
        match why {
            Some(why) => self.link_left(ground, why, program, at, pair),
            None if ground.journal.is_unrecorded(&program, link, pair, false) => {
                let pair = Pair { class: self.looked_up_class(ground, pair.class), ..pair };
                let wanted = self.choose(ground, pair, Path::Draw);
                let repair = LinkRepair { at, how: Some(How::Table.name()), pair, because: pair, wanted };
                self.record_link(ground, program, repair);
            }
            None => {}
        }
    }
}
