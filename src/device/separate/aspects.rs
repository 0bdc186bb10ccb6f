//! Views of depth and stencil at once that a program reads as integers: their descriptors are written with the depth, so its draws get a copy
//! of the set, or a push, in which they show the stencil.

use std::sync::atomic::Ordering;

use ash::vk::{self, Handle, ImageAspectFlags};
use samplin_bind::{Bound, Other};
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};
use samplin_spirv::ImageRead;
use samplin_wire::record::Descriptor;
use samplin_wire::text::handle;
use serde_json::json;

use super::Separate;
use super::commands::{Followed, Point};
use super::ladder::may_exchange;
use super::programs::Program;
use super::progress::Drawn;
use super::sets::SetEntry;
use super::templates::TemplateRun;
use super::wholes::Whole;
use crate::counters::Path;
use crate::decide::{Catalog, Rule};
use crate::device::aspects::Aspects;
use crate::device::ground::Ground;
use crate::device::hot::{Hot, follow};
use crate::device::images::Images;
use crate::device::journal::Journal;
use crate::device::live::{Filled, Live, Writes};
use crate::device::resolve::Pairs;
use crate::device::shown::shows_aspects;
use crate::table::fold;

impl Program {
    /// Set number and binding of images that it reads as integers.
    pub(super) fn integers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.reads.iter().filter(|read| read.is_integer).map(|read| (read.set, read.binding))
    }

    fn reads(&self, at: (u32, u32), is_integer: bool) -> bool {
        self.reads.contains(&ImageRead { set: at.0, binding: at.1, is_integer })
    }
}

impl SetEntry {
    /// Takes over what places of it show now: views with both aspects, or none.
    fn note_wholes(&self, places: impl Iterator<Item = ((u32, u32), Option<Whole>)>) {
        let has_wholes = self.has_wholes();
        let mut places = places.filter(|(_, whole)| has_wholes || whole.is_some()).peekable();
        if places.peek().is_none() {
            return;
        }
        let places = memory::collect(places);
        self.with_wholes(|all| {
            for (at, whole) in places {
                all.retain(|other| other.at != at);
                whole.into_iter().for_each(|whole| all.with_room().push(whole));
            }
        });
        self.touch();
    }

    /// Takes over what is copied from a set; of one that is not followed nothing is known.
    pub(super) fn copy_wholes(&self, from: Option<&Self>, copy: &vk::CopyDescriptorSet<'_>) {
        let count = copy.descriptor_count;
        let source = from.map(|from| from.shape.walk((copy.src_binding, copy.src_array_element), count));
        let mut source = source.into_iter().flatten();
        let target = self.shape.walk((copy.dst_binding, copy.dst_array_element), count);
        let places = target.map(|(binding, element)| {
            let at = (binding.binding, element);
            let own = source.next().and_then(|(binding, element)| from?.whole((binding.binding, element)));
            (at, own.map(|whole| Whole { at, ..whole }))
        });
        self.note_wholes(memory::collect(places).into_iter());
    }
}

impl Separate {
    /// There is a view with both aspects: sets note which descriptors show it.
    pub(super) fn follow_wholes_of(&self, hot: &Hot) {
        if !self.wholes.are_there.swap(true, Ordering::SeqCst) {
            self.takes_all.store(true, Ordering::Relaxed);
            self.sets.for_each(&mut |entry| entry.is_guarded.store(true, Ordering::Release));
        }
        if self.wholes.are_read.load(Ordering::SeqCst) {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// There is a program that reads these.
    pub(super) fn follow_reads(&self, hot: &Hot, reads: &[ImageRead]) {
        if !reads.iter().any(|read| read.is_integer) {
            return;
        }
        self.wholes.are_read.store(true, Ordering::SeqCst);
        if self.wholes.are_there.load(Ordering::SeqCst) {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// Takes note of what writes show.
    pub(super) fn note_written_wholes(&self, hot: &Hot, aspects: &Aspects, writes: Writes<'_>) {
        for write in writes.each().filter(|_| self.wholes.are_there()) {
            let Some(entry) = write.set().of(&self.sets) else { continue };
            let (ty, count) = (write.descriptor_type, write.descriptor_count);
            let target = (write.dst_binding, write.dst_array_element);
            if !shows_aspects(ty) {
                aspects.note_wholes(hot, entry, ty, (target, count), |_| vk::DescriptorImageInfo::default());
                continue;
            }
            let infos = write.images();
            let info = |index: u32| infos.get(index as usize).copied().unwrap_or_default();
            // An array that nobody may read is of no length.
            aspects.note_wholes(hot, entry, ty, (target, infos.len() as u32), info);
        }
    }

    /// Takes note of what an update with a template shows.
    pub(super) fn note_template_wholes(
        &self,
        hot: &Hot,
        aspects: &Aspects,
        set: Live<'_, vk::DescriptorSet>,
        filled: Filled<'_>,
    ) {
        if !self.wholes.are_there() {
            return;
        }
        let Some((entry, runs)) = set.of(&self.sets).zip(self.runs(filled)) else { return };
        for run in runs {
            let TemplateRun { ty, target, count, .. } = *run.run;
            aspects.note_wholes(hot, entry, ty, (target, count), |index| run.image(index));
        }
    }
}

impl Aspects {
    /// Takes note of what descriptors show from now on.
    fn note_wholes(
        &self,
        hot: &Hot,
        entry: &SetEntry,
        ty: vk::DescriptorType,
        (target, count): ((u32, u32), u32),
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        if !shows_aspects(ty) && !entry.has_wholes() {
            return;
        }
        let whole = |index, at| {
            let info = shows_aspects(ty).then(|| info(index))?;
            (self.stencil(info.image_view.as_raw()) != 0).then_some(Whole { at, ty, info })
        };
        let places = entry.shape.walk(target, count).map(|(binding, element)| (binding.binding, element));
        entry.note_wholes((0..).zip(places).map(|(index, at)| (at, whole(index, at))));
        if entry.has_wholes() {
            // What is written there from now on takes their place, also when no view with both aspects is left.
            hot.keep_watching(entry.shape.overwritten());
        }
    }

    /// The view of the stencil that a program reads in place of a view with both aspects at a set number and binding; 0 where it reads the
    /// view's own or the depth.
    pub(super) fn shown_stencil(&self, program: &Program, at: (u32, u32), view: u64) -> u64 {
        let is_read = !program.reads.is_empty() && program.reads(at, true) && !program.reads(at, false);
        if is_read { self.stencil(view) } else { 0 }
    }

    /// Set numbers, and what is shown there instead of the depth, for the sets that are bound. Names what stays.
    pub(super) fn stencils(&self, journal: &Journal, program: Drawn<'_>, point: &Point) -> Vec<(u32, Other)> {
        let mut stencils = Vec::new();
        for (set, binding) in program.integers() {
            let number = set as usize;
            let Some(bound) = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number)) else {
                continue;
            };
            for (element, view) in shown_by(bound, binding) {
                let stencil = self.stencil(view);
                if stencil == 0 {
                    continue;
                }
                let how =
                    if program.reads((set, binding), false) { Err(Left::BothAspects) } else { may_exchange(bound) };
                match how {
                    Ok(_) => stencils.with_room().push((set, (binding, element, stencil))),
                    Err(what) => journal.stencil_left(what, program, (set, binding, element), view),
                }
            }
        }
        stencils
    }

    /// Leaves what a set shows that there can be no copy of.
    pub(super) fn leave_stencils(
        &self,
        journal: &Journal,
        program: Drawn<'_>,
        stencils: &mut Vec<(u32, Other)>,
        set: u32,
    ) {
        stencils.retain(|(number, (binding, element, stencil))| {
            if *number == set {
                let view = self.whole(*stencil);
                journal.stencil_left(Left::Memory, program, (set, *binding, *element), view);
            }
            *number != set
        });
    }

    /// Says what is shown.
    pub(super) fn tell_stencils(&self, ground: &Ground, images: &Images, stencils: &[(u32, Other)]) {
        for (_, (_, _, stencil)) in stencils {
            images.tell_aspect(ground, self.whole(*stencil), ImageAspectFlags::STENCIL);
        }
    }
}

impl Journal {
    /// Names a descriptor that shows the depth to a shader that reads integers.
    fn stencil_left(&self, what: Left, program: Drawn<'_>, (set, binding, element): (u32, u32, u32), view: u64) {
        let descriptor = Descriptor { set, binding, element: Some(element) };
        let about = json!({ "vuid": Catalog::H6.vuid(), "descriptor": descriptor, "view": handle(view) });
        let at = u64::from(set) << 48 ^ u64::from(binding) << 24 ^ u64::from(element);
        let key = (fold(program.number), at);
        self.unresolved(what, &what.clause(), Some(Rule::Aspect), self.of_program(program, about), key);
    }
}

impl Pairs {
    /// What is written of a descriptor in a copy of its set: another sampler, or the stencil with the sampler that it needs.
    pub(super) fn exchanged(
        &self,
        ground: &Ground,
        entry: &SetEntry,
        (binding, element, other): &Other,
    ) -> (vk::DescriptorType, vk::DescriptorImageInfo) {
        let Some(Whole { ty, info, .. }) = entry.whole((*binding, *element)) else {
            let sampler = vk::Sampler::from_raw(*other);
            return (vk::DescriptorType::SAMPLER, vk::DescriptorImageInfo { sampler, ..Default::default() });
        };
        let mut shown = vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: vk::ImageView::from_raw(*other),
            image_layout: info.image_layout,
        };
        if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            let pair =
                self.images.stencil_pair(&ground.hot, &ground.driver, info.sampler.as_raw(), info.image_view.as_raw());
            let sampler = pair.map_or(info.sampler.as_raw(), |pair| self.choose(ground, pair, Path::Draw));
            shown.sampler = vk::Sampler::from_raw(sampler);
        }
        (ty, shown)
    }
}

/// Element and view of each descriptor of a binding that may show a view with both aspects.
fn shown_by(bound: &Bound<Followed>, binding: u32) -> Vec<(u32, u64)> {
    if bound.is_pushed() {
        let own = bound.pushed.iter().filter(|((own, _), descriptor)| {
            *own == binding && shows_aspects(vk::DescriptorType::from_raw(descriptor.ty))
        });
        return memory::collect(own.map(|((_, element), descriptor)| (*element, descriptor.words[1])));
    }
    let wholes = bound.content().map_or_else(Vec::new, |entry| entry.wholes(binding));
    memory::collect(wholes.iter().map(|whole| (whole.at.1, whole.info.image_view.as_raw())))
}
