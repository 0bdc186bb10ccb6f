//! Combined descriptors as they were written, with `live=on`: which sampler of the driver is in a set, so that a draw finds out where rules
//! ask for another one since.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_bind::Bound;
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::command_buffers::{BindPoint, Followed, Place, index};
use super::ladder::{elements, may_exchange};
use super::layouts::Binding;
use super::progress::Drawn;
use super::sets::SetEntry;
use super::shown::CombinedDescriptor;
use super::want::Shown;
use super::wholes::RULES;
use crate::counters::Path;
use crate::device::ground::Ground;
use crate::device::hot::{Hot, follow};
use crate::device::live::{Copied, Filled, Live, Recording, Writes};
use crate::device::resolve::Pairs;
use crate::device::types::COMBINED;

impl Pairs {
    /// The sampler for a combined descriptor, by the rules in force.
    pub(super) fn choose_combined(&self, ground: &Ground, sampler: u64, view: u64) -> u64 {
        let pair = ground.hot.gate.conflict(vk::Sampler::from_raw(sampler), vk::ImageView::from_raw(view));
        pair.map_or(sampler, |pair: Pair| self.choose(ground, pair, Path::Update))
    }
}

impl SetEntry {
    /// What is noted of a combined descriptor.
    pub(super) fn combined(&self, at: (u32, u32)) -> Option<CombinedDescriptor> {
        self.edit_combined(|all| all.get(at)).flatten()
    }

    /// Whether any combined descriptor has a sampler and a view of which `is_it` says so.
    fn any_combined(&self, is_it: impl Fn(u64, u64) -> bool) -> bool {
        let get = |slot: Option<usize>| slot.map_or(0, |slot| self.get(slot));
        let bindings = self.shape.bindings.iter().filter(|own| own.has_pairs() && own.immutable.is_empty());
        bindings.flat_map(|own| (0..own.count).map(move |element| (own, element))).any(|(own, element)| {
            let (sampler, view) = (get(own.sampler_slot(element)), get(own.image_slot(element)));
            sampler != 0 && view != 0 && is_it(sampler, view)
        })
    }

    /// Whether a combined descriptor that is noted has another sampler than the application's.
    fn has_repaired(&self) -> bool {
        self.edit_combined(|all| all.has_repaired()).unwrap_or(false)
    }

    /// Notes a descriptor that is written: a combined one, or another one in its place.
    fn note_combined(&self, at: (&Binding, u32), combined: Option<CombinedDescriptor>) {
        let (binding, element) = at;
        let combined = combined.filter(|_| binding.immutable.is_empty());
        self.with_combined(|all| all.set((binding.binding, element), combined));
    }
}

impl Separate {
    /// Notes all combined descriptors from now on, since rules may come to be others.
    pub fn follow_rules(&self, hot: &Hot) {
        self.follow_pairs();
        self.wholes.come(RULES);
        hot.keep_watching(COMBINED);
    }

    /// Notes what is written, before it reaches the driver.
    pub fn note_combined<'a>(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        writes: Writes<'_>,
        copies: impl Iterator<Item = Copied<'a>>,
    ) {
        if !self.wholes.follow_rules() {
            return;
        }
        let mut owes = false;
        for write in writes.each() {
            let Some(entry) = write.set().of(&self.sets) else { continue };
            let places = entry.shape.walk((write.dst_binding, write.dst_array_element), write.descriptor_count);
            let is_combined = write.descriptor_type == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            let infos = if is_combined { write.images() } else { &[] };
            for (index, at) in places.enumerate() {
                entry.note_combined(at, infos.get(index).map(|info| pairs.combined(ground, info)));
                let sampler = write.images().get(index).map(|info| info.sampler.as_raw());
                let is_sampler = write.descriptor_type == vk::DescriptorType::SAMPLER;
                owes |= entry.note_sampler(at, sampler.filter(|_| is_sampler));
            }
        }
        for copy in copies {
            let [Some(from), Some(to)] = copy.sets().map(|set| set.of(&self.sets)) else { continue };
            let count = copy.descriptor_count;
            let source = from.shape.walk((copy.src_binding, copy.src_array_element), count);
            let noted = |at: (&Binding, u32)| (from.combined((at.0.binding, at.1)), from.sampler(at.0, at.1));
            let source = memory::collect(source.map(noted));
            let target = to.shape.walk((copy.dst_binding, copy.dst_array_element), count);
            for (at, (combined, sampler)) in target.zip(source) {
                to.note_combined(at, combined);
                owes |= to.note_copied_sampler(at, sampler);
            }
        }
        if owes {
            pairs.submissions.owe();
        }
    }

    /// The same of an update with a template.
    pub fn note_combined_template(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        set: Live<'_, vk::DescriptorSet>,
        filled: Filled<'_>,
    ) {
        let Some(entry) = set.of(&self.sets).filter(|_| self.wholes.follow_rules()) else { return };
        for run in self.runs(filled).into_iter().flatten() {
            let is_combined = run.run.ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            for (index, at) in (0..).zip(entry.shape.walk(run.run.target, run.run.count)) {
                entry.note_combined(at, is_combined.then(|| pairs.combined(ground, &run.image(index))));
                let is_sampler = run.run.ty == vk::DescriptorType::SAMPLER;
                if entry.note_sampler(at, is_sampler.then(|| run.image(index).sampler.as_raw())) {
                    pairs.submissions.owe();
                }
            }
        }
    }

    /// Notes what is bound from now on, and which combined descriptors were repaired, to tell which draws read such.
    pub fn follow_repaired(&self, hot: &Hot) {
        self.follow_rules(hot);
        hot.follow.store(follow::ALL, Ordering::Relaxed);
    }

    /// Whether something of the layer's own is bound, or a set with a sampler of its own.
    pub fn reads_repaired(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        commands: Recording<'_>,
        point: vk::PipelineBindPoint,
    ) -> bool {
        let Some((at, buffer)) = index(point).zip(self.noted(commands)) else { return false };
        let is_other = |sampler, view| pairs.choose_combined(ground, sampler, view) != sampler;
        let is_repaired = |place: &mut Place| {
            let point = &mut place.point;
            let has_repaired = |bound: &Bound<Followed>| match bound.is_pushed() {
                true => bound.content().is_some_and(|pushed| pushed.any_combined(is_other)),
                false => commands.set(bound).of(&self.sets).is_some_and(SetEntry::has_repaired),
            };
            point.looks_different() || point.sets.iter().any(has_repaired)
        };
        buffer.edit(at, is_repaired).unwrap_or(false)
    }

    /// How many copies of sets there are, and places in the pool of samplers that shaders look up.
    pub fn copies(&self) -> [u64; 2] {
        [self.shadows.load(Ordering::Relaxed), self.tables.left() as u64]
    }

    /// What copies of the sets that are bound show besides: stencils, and the samplers that are to be in combined descriptors where rules ask
    /// for others than when these were written.
    pub(super) fn shown(&self, ground: &Ground, pairs: &Pairs, program: Drawn<'_>, point: &BindPoint) -> Vec<Shown> {
        let mut shown = pairs.stand_ins.aspects.stencils(&ground.journal, self, program, point);
        if !self.wholes.follow_rules() {
            return shown;
        }
        for link in program.links.iter().filter(|link| link.is_combined()) {
            let number = link.image.set as usize;
            let Some(bound) = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number)) else {
                continue;
            };
            let Some(entry) = bound.content().filter(|_| bound.set != 0 && may_exchange(bound).is_ok()) else {
                continue;
            };
            let Some(binding) = entry.shape.binding(link.image.binding) else { continue };
            let all = elements(&link.image, binding).unwrap_or(0..binding.count);
            for element in all {
                let at = (binding.binding, element);
                let noted = entry.combined(at).filter(|own| entry.whole(at).is_none() && own.lives(&ground.hot.gate));
                let Some(combined) = noted else { continue };
                let chosen = pairs.choose_combined(ground, combined.sampler, combined.view);
                let retuned = Shown { set: link.image.set, is_stencil: false, other: (at.0, at.1, chosen) };
                if chosen != combined.chosen && !shown.contains(&retuned) {
                    shown.with_room().push(retuned);
                }
            }
        }
        shown
    }
}

impl Pairs {
    fn combined(&self, ground: &Ground, info: &vk::DescriptorImageInfo) -> CombinedDescriptor {
        let (sampler, view) = (info.sampler.as_raw(), info.image_view.as_raw());
        let chosen = self.choose_combined(ground, sampler, view);
        let class = ground.hot.gate.view(view) as u32;
        CombinedDescriptor { sampler, view, layout: info.image_layout, class, chosen }
    }
}
