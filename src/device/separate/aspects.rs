//! Views of depth and stencil at once that a program reads as integers: their descriptors are written with the depth, so its draws get a copy
//! of the set, or a push, in which they show the stencil.

use std::ffi::c_void;
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
use super::shown::Whole;
use super::templates::TemplateRun;
use super::wholes::Wholes;
use crate::counters::Path;
use crate::decide::{Catalog, Rule};
use crate::device::Device;
use crate::device::aspects::{self, shows_aspects};
use crate::device::hot::follow;
use crate::pnext::slice;
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

impl Device {
    /// There is an image that may have a view with both aspects: sets that may show it are followed from now on.
    pub(in crate::device) fn expect_wholes(&self) {
        if let Some(separate) = self.separate.as_deref() {
            separate.wholes.may_come.store(true, Ordering::Release);
        }
    }

    /// There is a view with both aspects: sets note which descriptors show it.
    pub(in crate::device) fn follow_wholes(&self) {
        let Some(separate) = self.separate.as_deref() else { return };
        separate.wholes.may_come.store(true, Ordering::Release);
        separate.wholes.are_there.store(true, Ordering::SeqCst);
        if separate.wholes.are_read.load(Ordering::SeqCst) {
            self.hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// There is a program that reads these.
    pub(super) fn follow_reads(&self, separate: &Separate, reads: &[ImageRead]) {
        if !reads.iter().any(|read| read.is_integer) {
            return;
        }
        separate.wholes.are_read.store(true, Ordering::SeqCst);
        if separate.wholes.are_there.load(Ordering::SeqCst) {
            self.hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        }
    }

    /// Takes note of what descriptors show from now on.
    fn note_wholes(
        &self,
        separate: &Separate,
        (set, ty): (vk::DescriptorSet, vk::DescriptorType),
        (target, count): ((u32, u32), u32),
        info: impl Fn(u32) -> vk::DescriptorImageInfo,
    ) {
        // SAFETY: a set that a command names is not freed meanwhile.
        let entry = unsafe { separate.sets.get(set.as_raw()) };
        let whole = |index| {
            let info = shows_aspects(ty).then(|| info(index))?;
            let (sampler, view, image_layout) = (info.sampler, info.image_view, info.image_layout);
            (self.aspects.stencil(view.as_raw()) != 0).then_some(Whole { ty, sampler, view, image_layout })
        };
        let written = (0..).zip(Wholes::walk(entry, target, count)).map(|(index, at)| (at, whole(index)));
        let shows_any = separate.wholes.take((set, entry), written);
        self.watch_overwriting(entry, shows_any);
    }

    /// What is written from now on to a set that shows views with both aspects takes their place, also when no such view is left.
    fn watch_overwriting(&self, entry: Option<&SetEntry>, shows_any: bool) {
        if shows_any {
            self.hot.keep_watching(entry.map_or(aspects::BITS, |entry| entry.shape.overwritten()));
        }
    }

    /// Takes note of what writes show.
    ///
    /// # Safety
    ///
    /// The writes of a valid `vkUpdateDescriptorSets`.
    pub(super) unsafe fn note_written_wholes(&self, separate: &Separate, writes: &[vk::WriteDescriptorSet<'_>]) {
        for write in writes.iter().filter(|_| separate.wholes.are_there()) {
            let (ty, mut count) = (write.descriptor_type, write.descriptor_count);
            let mut infos: &[vk::DescriptorImageInfo] = &[];
            if shows_aspects(ty) {
                // SAFETY: as many infos as the write has descriptors (VUID-vkUpdateDescriptorSets-pDescriptorWrites-06493).
                infos = unsafe { slice(write.p_image_info, count) };
                // An array that nobody may read is of no length.
                count = infos.len() as u32;
            }
            let info = |index: u32| infos.get(index as usize).copied().unwrap_or_default();
            let target = (write.dst_binding, write.dst_array_element);
            self.note_wholes(separate, (write.dst_set, ty), (target, count), info);
        }
    }

    /// Takes note of what an update with a template shows.
    ///
    /// # Safety
    ///
    /// The arguments of a valid `vkUpdateDescriptorSetWithTemplate`.
    pub(super) unsafe fn note_template_wholes(
        &self,
        separate: &Separate,
        (set, template): (vk::DescriptorSet, vk::DescriptorUpdateTemplate),
        data: *const c_void,
    ) {
        if !separate.wholes.are_there() {
            return;
        }
        // SAFETY: the template is valid during the command.
        let Some(runs) = (unsafe { separate.templates.get(template.as_raw()) }) else { return };
        for TemplateRun { ty, target, count, offset, stride } in runs.runs.iter().copied() {
            let info = |index: u32| {
                let at = data.cast::<u8>().wrapping_add(offset.wrapping_add(stride.wrapping_mul(index as usize)));
                // SAFETY: the template describes an element of a type with an info there, which is all that `note_wholes` asks for;
                // alignment is not promised.
                unsafe { at.cast::<vk::DescriptorImageInfo>().read_unaligned() }
            };
            self.note_wholes(separate, (set, ty), (target, count), info);
        }
    }

    /// Takes note of what a copy shows. `entries`: of source and target.
    pub(super) fn note_copied_wholes(
        &self,
        separate: &Separate,
        copy: &vk::CopyDescriptorSet<'_>,
        (from, to): (Option<&SetEntry>, Option<&SetEntry>),
    ) {
        if !separate.wholes.are_there() {
            return;
        }
        let count = copy.descriptor_count;
        let source = (copy.src_binding, copy.src_array_element);
        let shown = separate.wholes.shown((copy.src_set, from), source, count);
        let target = Wholes::walk(to, (copy.dst_binding, copy.dst_array_element), count);
        let written = target.zip(shown.into_iter().chain(std::iter::repeat(None)));
        let shows_any = separate.wholes.take((copy.dst_set, to), written);
        self.watch_overwriting(to, shows_any);
    }

    /// The view of the stencil that a program reads in place of a view with both aspects at a set number and binding; 0 where it reads the
    /// view's own or the depth.
    pub(super) fn shown_stencil(&self, program: &Program, at: (u32, u32), view: u64) -> u64 {
        let is_read = !program.reads.is_empty() && program.reads(at, true) && !program.reads(at, false);
        if is_read { self.aspects.stencil(view) } else { 0 }
    }

    /// Set numbers, and what is shown there instead of the depth, for the sets that are bound. Names what stays.
    pub(super) fn stencils(&self, separate: &Separate, program: Drawn<'_>, point: &Point) -> Vec<(u32, Other)> {
        let mut stencils = Vec::new();
        for (set, binding) in program.integers() {
            let number = set as usize;
            let Some(bound) = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number)) else {
                continue;
            };
            for (element, view) in shown_by(separate, bound, binding) {
                let stencil = self.aspects.stencil(view);
                if stencil == 0 {
                    continue;
                }
                let how =
                    if program.reads((set, binding), false) { Err(Left::BothAspects) } else { may_exchange(bound) };
                match how {
                    Ok(_) => stencils.with_room().push((set, (binding, element, stencil))),
                    Err(what) => self.stencil_left(what, program, (set, binding, element), view),
                }
            }
        }
        stencils
    }

    /// Leaves what a set shows that there can be no copy of.
    pub(super) fn leave_stencils(&self, program: Drawn<'_>, stencils: &mut Vec<(u32, Other)>, set: u32) {
        stencils.retain(|(number, (binding, element, stencil))| {
            if *number == set {
                let view = self.aspects.whole(*stencil);
                self.stencil_left(Left::Memory, program, (set, *binding, *element), view);
            }
            *number != set
        });
    }

    /// Says what is shown.
    pub(super) fn tell_stencils(&self, stencils: &[(u32, Other)]) {
        for (_, (_, _, stencil)) in stencils {
            self.tell_aspect(self.aspects.whole(*stencil), ImageAspectFlags::STENCIL);
        }
    }

    /// Names a descriptor that shows the depth to a shader that reads integers.
    fn stencil_left(&self, what: Left, program: Drawn<'_>, (set, binding, element): (u32, u32, u32), view: u64) {
        let descriptor = Descriptor { set, binding, element: Some(element) };
        let about = json!({ "vuid": Catalog::H6.vuid(), "descriptor": descriptor, "view": handle(view) });
        let at = u64::from(set) << 48 ^ u64::from(binding) << 24 ^ u64::from(element);
        let key = (fold(program.number), at);
        self.unresolved(what, &what.clause(), Some(Rule::Aspect), self.of_program(program, about), key);
    }

    /// What is written of a descriptor in a copy of its set: another sampler, or the stencil with the sampler that it needs.
    pub(super) fn exchanged(
        &self,
        entry: &SetEntry,
        (binding, element, other): &Other,
    ) -> (vk::DescriptorType, vk::DescriptorImageInfo) {
        let Some(Whole { ty, mut sampler, view, image_layout }) = entry.whole((*binding, *element)) else {
            let sampler = vk::Sampler::from_raw(*other);
            return (vk::DescriptorType::SAMPLER, vk::DescriptorImageInfo { sampler, ..Default::default() });
        };
        if ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            let pair = self.stencil_pair(sampler.as_raw(), view.as_raw());
            sampler = pair.map_or(sampler, |pair| vk::Sampler::from_raw(self.choose(pair, Path::Draw)));
        }
        let image_view = vk::ImageView::from_raw(*other);
        (ty, vk::DescriptorImageInfo { sampler, image_view, image_layout })
    }
}

/// Element and view of each descriptor of a binding that may show a view with both aspects.
fn shown_by(separate: &Separate, bound: &Bound<Followed>, binding: u32) -> Vec<(u32, u64)> {
    if bound.is_pushed() {
        let own = bound.pushed.iter().filter(|((own, _), descriptor)| {
            *own == binding && shows_aspects(vk::DescriptorType::from_raw(descriptor.ty))
        });
        return memory::collect(own.map(|((_, element), descriptor)| (*element, descriptor.words[1])));
    }
    match bound.content() {
        Some(entry) => entry.wholes(binding),
        None => separate.wholes.unfollowed_of(bound.set, binding),
    }
}
