//! Views of depth and stencil at once that a program reads as integers: their descriptors are written with the depth, so its draws get a copy
//! of the set, or a push, in which they show the stencil.

use std::cell::Cell;
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
use super::command_buffers::{BindPoint, Followed};
use super::ladder::may_exchange;
use super::programs::{Program, ProgramLink};
use super::progress::Drawn;
use super::sets::SetEntry;
use super::shown::{NotedDescriptor, Written};
use super::templates::TemplateRun;
use super::want::Shown;
use super::wholes::{ASPECT, COMPARISON, Wholes};
use crate::counters::Path;
use crate::decide::{Catalog, Rule};
use crate::device::aspects::Aspects;
use crate::device::ground::Ground;
use crate::device::hot::{Hot, follow};
use crate::device::images::Images;
use crate::device::journal::Journal;
use crate::device::live::{Copied, Filled, Live, Writes};
use crate::device::resolve::Pairs;
use crate::device::shown::{BITS, shows_aspects};
use crate::device::types::COMBINED;
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

impl Separate {
    /// There is a view with both aspects: sets note which descriptors show it.
    pub(super) fn follow_wholes_of(&self, hot: &Hot) {
        self.wholes.may_come.store(true, Ordering::Release);
        if self.wholes.come(ASPECT) {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// There is a combined descriptor that compares where its format cannot: sets note those from now on.
    pub(super) fn follow_comparisons_of(&self, hot: &Hot) {
        hot.keep_watching(COMBINED);
        if self.wholes.come(COMPARISON) {
            hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// There is a program that reads these images and has these links.
    pub(super) fn follow_reads(&self, hot: &Hot, reads: &[ImageRead], links: &[ProgramLink]) {
        let is_read = (reads.iter().any(|read| read.is_integer), ASPECT);
        let is_compared = (links.iter().any(|link| link.is_noted), COMPARISON);
        for (_, what) in [is_read, is_compared].into_iter().filter(|(reads, _)| *reads) {
            if self.wholes.are_read(what) {
                hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
            }
        }
    }

    /// Whether combined descriptors are noted that compare where their format cannot. The first one is found while it is written, so it is
    /// noted after that.
    pub fn notes_comparisons(&self) -> bool {
        self.wholes.compare()
    }

    /// Notes what writes show.
    pub fn note_written_wholes(&self, hot: &Hot, aspects: &Aspects, writes: Writes<'_>) {
        if !self.wholes.are_there() {
            return;
        }
        let mut last: Option<(vk::DescriptorSet, Option<&SetEntry>)> = None;
        for write in writes.each() {
            let (ty, mut count) = (write.descriptor_type, write.descriptor_count);
            let mut infos: &[vk::DescriptorImageInfo] = &[];
            if shows_aspects(ty) {
                infos = write.images();
                // An array that nobody may read is of no length.
                count = infos.len() as u32;
            }
            let known = last.filter(|(set, _)| *set == write.dst_set);
            let (set, entry) = known.unwrap_or_else(|| (write.dst_set, write.set().of(&self.sets)));
            last = Some((set, entry));
            if !shows_aspects(ty) && !self.shows_wholes(set, entry) {
                continue;
            }
            let info = |index: u32| infos.get(index as usize).copied().unwrap_or_default();
            let target = (write.dst_binding, write.dst_array_element);
            let written = self.written_wholes(hot, aspects, entry, WrittenRun { ty, target, count }, info);
            watch_overwriting(hot, entry, self.wholes.take(set, entry, written, &self.versions));
        }
    }

    /// Notes what an update with a template shows.
    pub fn note_template_wholes(
        &self,
        hot: &Hot,
        aspects: &Aspects,
        set: Live<'_, vk::DescriptorSet>,
        filled: Filled<'_>,
    ) {
        if !self.wholes.are_there() {
            return;
        }
        let Some(runs) = self.runs(filled) else { return };
        let (set, entry) = (set.handle(), set.of(&self.sets));
        let mut types = runs.clone().map(|run| run.run.ty);
        let shows_any = Cell::new(!types.all(shows_aspects) && self.shows_wholes(set, entry));
        let runs = runs.filter(|run| shows_any.get() || shows_aspects(run.run.ty));
        let written = runs.flat_map(|run| {
            let TemplateRun { ty, target, count, .. } = *run.run;
            self.written_wholes(hot, aspects, entry, WrittenRun { ty, target, count }, move |index| run.image(index))
        });
        // What shows no view may take the place of one that was written before it.
        let written = written.inspect(|(_, whole)| shows_any.set(shows_any.get() | whole.is_some()));
        watch_overwriting(hot, entry, self.wholes.take(set, entry, written, &self.versions));
    }

    /// Whether a set shows any, so that what shows no view is of interest as well.
    fn shows_wholes(&self, set: vk::DescriptorSet, entry: Option<&SetEntry>) -> bool {
        entry.map_or_else(|| self.wholes.is_unfollowed(set), SetEntry::has_wholes)
    }

    /// What so many descriptors of a set from one on show from now on.
    #[inline(always)]
    fn written_wholes<'w, I: Fn(u32) -> vk::DescriptorImageInfo + 'w>(
        &self,
        hot: &'w Hot,
        aspects: &'w Aspects,
        entry: Option<&'w SetEntry>,
        run: WrittenRun,
        info: I,
    ) -> impl Iterator<Item = Written> + use<'w, I> {
        let WrittenRun { ty, target, count } = run;
        let may_compare = self.wholes.compare() && ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let whole = move |index| {
            let info = shows_aspects(ty).then(|| info(index))?;
            let (sampler, view, image_layout) = (info.sampler, info.image_view, info.image_layout);
            let compares = || may_compare && hot.cannot_compare(sampler, view);
            (aspects.stencil(view.as_raw()) != 0 || compares()).then_some(NotedDescriptor {
                ty,
                sampler,
                view,
                image_layout,
            })
        };
        (0..).zip(Wholes::walk(entry, target, count)).map(move |(index, at)| (at, whole(index)))
    }

    /// Notes what a copy shows.
    pub(super) fn note_copied_wholes(&self, hot: &Hot, copy: Copied<'_>) {
        if !self.wholes.are_there() {
            return;
        }
        let [(source, from), (target, to)] = copy.sets().map(|set| (set.handle(), set.of(&self.sets)));
        let count = copy.descriptor_count;
        let shown = self.wholes.shown(source, from, (copy.src_binding, copy.src_array_element), count);
        let places = Wholes::walk(to, (copy.dst_binding, copy.dst_array_element), count);
        let written = places.zip(shown.into_iter().chain(std::iter::repeat(None)));
        watch_overwriting(hot, to, self.wholes.take(target, to, written, &self.versions));
    }
}

impl Aspects {
    /// The view of the stencil that a program reads in place of a view with both aspects at a set number and binding; 0 where it reads the
    /// view's own or the depth.
    pub(super) fn shown_stencil(&self, program: &Program, at: (u32, u32), view: u64) -> u64 {
        let is_read = !program.reads.is_empty() && program.reads(at, true) && !program.reads(at, false);
        if is_read { self.stencil(view) } else { 0 }
    }

    /// Set numbers, and what is shown there instead of the depth, for the sets that are bound. Names what stays.
    pub(super) fn stencils(
        &self,
        journal: &Journal,
        separate: &Separate,
        program: Drawn<'_>,
        point: &BindPoint,
    ) -> Vec<Shown> {
        let mut stencils = Vec::new();
        for (set, binding) in program.integers() {
            let number = set as usize;
            let Some(bound) = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number)) else {
                continue;
            };
            for (element, whole) in shown_by(separate, bound, binding) {
                let view = whole.view.as_raw();
                let stencil = self.stencil(view);
                if stencil == 0 {
                    continue;
                }
                let how =
                    if program.reads((set, binding), false) { Err(Left::BothAspects) } else { may_exchange(bound) };
                match how {
                    Ok(_) => {
                        stencils.with_room().push(Shown { set, is_stencil: true, other: (binding, element, stencil) });
                    }
                    Err(what) => journal.stencil_left(what, program, set, (binding, element), view),
                }
            }
        }
        stencils
    }

    /// Leaves what a set shows that there can be no copy of.
    pub(super) fn leave_shown(&self, journal: &Journal, program: Drawn<'_>, shown: &mut Vec<Shown>, set: u32) {
        shown.retain(|shown| {
            let (binding, element, stencil) = shown.other;
            if shown.set == set && shown.is_stencil {
                journal.stencil_left(Left::Memory, program, set, (binding, element), self.whole(stencil));
            }
            shown.set != set
        });
    }

    /// Says what is shown.
    pub(super) fn record_stencils(&self, ground: &Ground, images: &Images, shown: &[Shown]) {
        for shown in shown.iter().filter(|shown| shown.is_stencil) {
            images.record_aspect(ground, self.whole(shown.other.2), ImageAspectFlags::STENCIL);
        }
    }
}

/// Descriptors of a type that are written from one on.
struct WrittenRun {
    ty: vk::DescriptorType,
    /// Binding and element of the first.
    target: (u32, u32),
    count: u32,
}

impl Journal {
    /// Names a descriptor that shows the depth to a shader that reads integers.
    fn stencil_left(&self, what: Left, program: Drawn<'_>, set: u32, at: (u32, u32), view: u64) {
        let (binding, element) = at;
        let descriptor = Descriptor { set, binding, element: Some(element) };
        let about = json!({ "vuid": Catalog::H6.vuid(), "descriptor": descriptor, "view": handle(view) });
        let place = u64::from(set) << 48 ^ u64::from(binding) << 24 ^ u64::from(element);
        let key = (fold(program.number), place);
        self.unresolved(what, Some(Rule::Aspect), self.of_program(program, about), key);
    }
}

impl Pairs {
    /// What is written of a descriptor in a copy of its set: another sampler, or the stencil with the sampler that it needs.
    pub(super) fn exchanged(
        &self,
        ground: &Ground,
        entry: &SetEntry,
        own: &Other,
    ) -> (vk::DescriptorType, vk::DescriptorImageInfo) {
        let (binding, element, other) = own;
        let Some(NotedDescriptor { ty, mut sampler, view, image_layout }) = entry.whole((*binding, *element)) else {
            let (ty, info) = sampler_of(own);
            return entry.combined((*binding, *element)).map_or((ty, info), |own| {
                let (image_view, image_layout) = (vk::ImageView::from_raw(own.view), own.layout);
                (
                    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                    vk::DescriptorImageInfo { image_view, image_layout, ..info },
                )
            });
        };
        if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            let pair = self.images.stencil_pair(&ground.hot, &ground.driver, sampler.as_raw(), view.as_raw());
            sampler = pair.map_or(sampler, |pair| vk::Sampler::from_raw(self.choose(ground, pair, Path::Draw)));
        }
        let image_view = vk::ImageView::from_raw(*other);
        (ty, vk::DescriptorImageInfo { sampler, image_view, image_layout })
    }
}

/// A sampler of its own, as a descriptor.
pub(super) fn sampler_of((_, _, sampler): &Other) -> (vk::DescriptorType, vk::DescriptorImageInfo) {
    let sampler = vk::Sampler::from_raw(*sampler);
    (vk::DescriptorType::SAMPLER, vk::DescriptorImageInfo { sampler, ..Default::default() })
}

/// What is written from now on to a set that shows views with both aspects takes their place, also when no such view is left.
fn watch_overwriting(hot: &Hot, entry: Option<&SetEntry>, shows_any: bool) {
    if shows_any {
        hot.keep_watching(entry.map_or(BITS, |entry| entry.shape.overwritten()));
    }
}

/// The descriptors of a binding that sets note, by their elements; all of those that were pushed.
pub(super) fn shown_by(separate: &Separate, bound: &Bound<Followed>, binding: u32) -> Vec<(u32, NotedDescriptor)> {
    if bound.is_pushed() {
        let whole = |descriptor: &samplin_bind::Descriptor| {
            let [sampler, view, layout] = descriptor.words;
            NotedDescriptor {
                ty: vk::DescriptorType::from_raw(descriptor.ty),
                sampler: vk::Sampler::from_raw(sampler),
                view: vk::ImageView::from_raw(view),
                image_layout: vk::ImageLayout::from_raw(layout as i32),
            }
        };
        let own = bound.pushed.iter().filter(|((own, _), _)| *own == binding);
        let own = own.map(|((_, element), descriptor)| (*element, whole(descriptor)));
        return memory::collect(own.filter(|(_, whole)| shows_aspects(whole.ty)));
    }
    match bound.content() {
        Some(entry) => entry.wholes(binding),
        None => separate.wholes.unfollowed_of(bound.set, binding),
    }
}
