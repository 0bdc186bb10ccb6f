//! Descriptor update templates: what is kept of one, the look through the application's data, and what reaches the driver instead of it.
//!
//! `pData` is the application's memory of unknown size: only the elements that the template describes are read, without any
//! alignment, and nothing is written to it. Where a sampler has to change the described elements are copied to a block with the same
//! offsets and the same alignment, on the stack if they are few, and that reaches the driver.

mod entry;
pub(super) mod kept;
mod patches;

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::sync::Arc;

use ash::vk::{self, DescriptorImageInfo, Handle};
use samplin_hot::SetLayout;
use samplin_hot::gate::Start;

use self::entry::Entry;
pub use self::kept::Template;
use self::patches::{patches, writes};
use super::ground::Ground;
use super::hot::Hot;
use super::resolve::On;
use super::resolve::Pairs;
use super::writes::INFOS;
use crate::counters::Path;

/// Bytes of data that are copied on the stack.
const ON_STACK: usize = INFOS * size_of::<DescriptorImageInfo>();

/// What a copy is made of: 16 bytes of any type that a template describes have at most this alignment.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Piece(#[expect(dead_code, reason = "only its size counts")] [u8; Piece::SIZE]);

impl Piece {
    const SIZE: usize = 16;

    /// As many as a copy of so many bytes needs, at the same address modulo their size as the original.
    const fn count(extent: usize) -> usize {
        extent.div_ceil(Self::SIZE) + 1
    }
}

impl Entry {
    /// Notes the immutable samplers that conflict.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, and the entry is of combined image samplers.
    #[inline(never)]
    unsafe fn note_immutables(&self, On { ground, pairs }: On<'_>, layout: &SetLayout, data: *const c_void) {
        // SAFETY: the index is below the count, and `data` is valid for the template of this entry.
        let infos = (0..self.count).map(|index| unsafe { self.read(data, index) });
        pairs.note_immutables(ground, layout, (self.binding, self.element), infos);
    }

    /// Puts the chosen sampler into each pair of `copy` that conflicts. Returns how many there are.
    ///
    /// # Safety
    ///
    /// As for [`Entry::each_conflict`]; `copy` has the layout of the template's data and may be written.
    #[inline(always)]
    unsafe fn substitute(&self, On { ground, pairs }: On<'_>, copy: *mut u8, path: Path) -> u64 {
        let gate = &ground.hot.gate;
        let mut undecided = |pair| pairs.resolve(ground, pair, path);
        let mut changed = 0;
        for start in (0..self.count).step_by(64) {
            // SAFETY: the start is below the count, and the copy has the layout of the template's data, so it is read as that is.
            let mut left = unsafe { self.candidates(gate, copy.cast_const().cast(), start) };
            let look = gate.look();
            while left != 0 {
                let index = start + left.trailing_zeros() as usize;
                left &= left - 1;
                let info = copy.wrapping_add(self.at(index)).cast::<DescriptorImageInfo>();
                // SAFETY: the template describes an info there; alignment is not promised.
                let (sampler, view) = unsafe {
                    ((&raw const (*info).sampler).read_unaligned(), (&raw const (*info).image_view).read_unaligned())
                };
                let choice = look.choice(sampler, view, &mut undecided);
                changed += u64::from(choice != sampler);
                // SAFETY: the same info, of which the copy has room for all by this function's contract, and may be written; alignment is
                // not promised.
                unsafe { (&raw mut (*info).sampler).write_unaligned(choice) };
            }
        }
        changed
    }
}

impl Template {
    /// Whether a pair in `data` conflicts whose sampler is not an immutable one of `layout`. Notes the immutable ones.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    unsafe fn conflicts(&self, On { ground, pairs }: On<'_>, layout: Option<&SetLayout>, data: *const c_void) -> bool {
        let mut out = false;
        // SAFETY: `data` is valid for the template, so for each of its runs.
        unsafe {
            self.each_run(On { ground, pairs }, layout, data, |run| out = out || run.conflicts(&ground.hot.gate, data))
        };
        out
    }

    /// Whether it [conflicts](Self::conflicts), and where that starts if all that it describes is an array.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(never)]
    unsafe fn first_conflict(
        &self,
        On { ground, pairs }: On<'_>,
        layout: Option<&SetLayout>,
        data: *const c_void,
    ) -> Option<Option<Start>> {
        // SAFETY: `data` is valid for the template by this function's contract.
        match unsafe { self.array(data) }.filter(|_| layout.is_none()) {
            Some(infos) => ground.hot.gate.first_conflict(infos).map(Some),
            // SAFETY: `data` has all that the template describes by this function's contract, and `conflicts` reads no more.
            None => unsafe { self.conflicts(On { ground, pairs }, layout, data) }.then_some(None),
        }
    }

    /// Calls `with` for the pairs whose samplers are not immutable ones of `layout`. Notes the immutable ones in `data`.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    unsafe fn each_run(
        &self,
        On { ground, pairs }: On<'_>,
        layout: Option<&SetLayout>,
        data: *const c_void,
        mut with: impl FnMut(&Entry),
    ) {
        let Some(layout) = layout else { return self.runs.iter().for_each(with) };
        for entry in self.entries.iter().filter(|entry| entry.combined) {
            if layout.is_immutable(entry.binding) {
                // SAFETY: an entry of combined image samplers of the template that `data` is valid for.
                unsafe { entry.note_immutables(On { ground, pairs }, layout, data) };
            } else {
                with(entry);
            }
        }
    }
}

// ---- what reaches the driver ----

/// What has to reach the driver: a copy of the described data in `room` with legal pairs, or `data` itself.
///
/// # Safety
///
/// `data` is valid for the template, whose data can be copied; `room` has the [`Piece`]s for it. `start` is where pairs start to conflict,
/// if that is known of an array of pairs.
#[inline(never)]
unsafe fn rewrite_copy(
    On { ground, pairs }: On<'_>,
    (template, start): (&Template, Option<Start>),
    layout: Option<&SetLayout>,
    data: *const c_void,
    path: Path,
    room: &mut [MaybeUninit<Piece>],
) -> *const c_void {
    let Some((extent, spans)) = &template.copied else { return data };
    if room.len() < Piece::count(*extent) {
        return data;
    }
    // Where samplers are immutable it is mostly for them that the data is looked at.
    // SAFETY: `conflicts` reads what the template describes, which `data` has by this function's contract.
    if layout.is_some() && !unsafe { template.conflicts(On { ground, pairs }, layout, data) } {
        ground.hot.counters.add(path, template.seen, 0);
        return data;
    }
    let copy = room.as_mut_ptr().cast::<u8>().wrapping_add(data as usize % Piece::SIZE);
    // SAFETY: `data` is valid for the template by this function's contract.
    if let (Some(start), Some(infos)) = (start, unsafe { template.array(data) }) {
        let to = copy.wrapping_add(template.first).cast::<MaybeUninit<DescriptorImageInfo>>();
        // SAFETY: the room is as large as the data, whose alignment the copy has, and nobody else has seen it.
        let to = unsafe { std::slice::from_raw_parts_mut(to, infos.len()) };
        let changed = ground.hot.gate.substitute(infos, to, start, &mut |pair| pairs.resolve(ground, pair, path));
        ground.hot.counters.add(path, template.seen, changed);
        return if changed > 0 { copy.cast_const().cast() } else { data };
    }
    for (at, length) in spans {
        // SAFETY: the template describes these bytes of the data, and the room is as large.
        unsafe {
            std::ptr::copy_nonoverlapping(data.cast::<u8>().wrapping_add(*at), copy.wrapping_add(*at), *length);
        }
    }
    let mut changed = 0;
    // SAFETY: the copy has all bytes that the template describes, and nobody else has seen it.
    unsafe {
        template.each_run(On { ground, pairs }, layout, data, |run| {
            changed += run.substitute(On { ground, pairs }, copy, path)
        })
    };
    ground.hot.counters.add(path, template.seen, changed);
    if changed > 0 { copy.cast_const().cast() } else { data }
}

impl Hot {
    /// Remembers a template with combined image samplers.
    pub fn insert_template(&self, template: vk::DescriptorUpdateTemplate, kept: Template) {
        self.templates.insert(template.as_raw(), Arc::new(kept));
    }

    /// Whether descriptors of a template's types have to be followed.
    #[inline(always)]
    pub fn watches_template(&self, template: &Template) -> bool {
        template.types & self.watched() != 0
    }

    /// What is kept of a template, if it has combined image samplers or is followed.
    ///
    /// # Safety
    ///
    /// `template` is a valid template.
    #[inline(always)]
    pub unsafe fn template(&self, template: vk::DescriptorUpdateTemplate) -> Option<&Template> {
        // SAFETY: a template is valid during the command and destroyed under external synchronisation.
        unsafe { self.templates.get_in_line(template.as_raw()) }
    }

    /// Looks at the data of a template and counts it; only at the first pair, and not even at that unless `look` says so. False if it
    /// needs a closer look.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    pub unsafe fn pass_first(&self, template: &Template, look: bool, data: *const c_void, path: Path) -> bool {
        // SAFETY: a template that is looked at describes a pair, the first of which is there.
        let look = look && unsafe { Template::is_candidate(&self.gate, data, template.first) };
        !look && self.counters.add_here(path, template.seen)
    }

    /// [`Hot::pass_template`] for one run where something can conflict.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    pub unsafe fn pass_run(&self, template: &Template, data: *const c_void, path: Path) -> bool {
        let (mut at, mut left) = (data.wrapping_byte_add(template.first), template.seen);
        while left != 0 {
            // SAFETY: the place of an element of the run that the template has in its data.
            if unsafe { Template::is_candidate(&self.gate, at, 0) } {
                return false;
            }
            at = at.wrapping_byte_add(template.stride);
            left -= 1;
        }
        self.counters.add_here(path, template.seen)
    }

    /// [`Hot::pass_first`] for all of the data.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    pub unsafe fn pass_template(&self, template: &Template, look: bool, data: *const c_void, path: Path) -> bool {
        // SAFETY: the data is valid for the template, by this function's contract.
        let found = look && unsafe { self.has_candidate(template, data) };
        !found && self.counters.add_here(path, template.seen)
    }

    /// Whether any pair of the data may conflict. Apart, so that where nothing can no call saves registers for it.
    ///
    /// # Safety
    ///
    /// As for [`Hot::pass_template`].
    #[inline(never)]
    unsafe fn has_candidate(&self, template: &Template, data: *const c_void) -> bool {
        template.runs.iter().any(|run| {
            let mut at = data.wrapping_byte_add(run.offset);
            (0..run.count).any(|_| {
                // SAFETY: the place of an element of a run that the template has in its data.
                let found = unsafe { Template::is_candidate(&self.gate, at, 0) };
                at = at.wrapping_byte_add(run.stride);
                found
            })
        })
    }
}

impl Pairs {
    /// The one pair of a template in which another sampler has to reach the driver. Counts it.
    ///
    /// # Safety
    ///
    /// `data` is that pair.
    #[inline(always)]
    pub unsafe fn rewrite_lone(&self, ground: &Ground, data: *const c_void, path: Path) -> Option<DescriptorImageInfo> {
        // SAFETY: a pair by this function's contract; alignment is not promised.
        let info = unsafe { data.cast::<DescriptorImageInfo>().read_unaligned() };
        let sampler =
            ground.hot.gate.look().choice(info.sampler, info.image_view, &mut |pair| self.resolve(ground, pair, path));
        let differs = sampler != info.sampler;
        ground.hot.counters.add(path, 1, u64::from(differs));
        differs.then_some(DescriptorImageInfo { sampler, ..info })
    }

    /// Hands `data`, or a copy with legal pairs, to `down`. Where it cannot be copied it reaches the driver itself, and `patch` gets the
    /// writes of single descriptors that make it legal afterwards, and the template's bind point. `layout` is the one that the data is for,
    /// if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// `template` is a valid template and `data` is valid for it.
    #[inline(always)]
    pub unsafe fn forward_template<'a>(
        &self,
        ground: &'a Ground,
        template: vk::DescriptorUpdateTemplate,
        layout: impl FnOnce(&'a Template) -> Option<&'a SetLayout>,
        (data, path): (*const c_void, Path),
        down: impl FnOnce(*const c_void),
        patch: impl FnOnce(vk::PipelineBindPoint, &mut [vk::WriteDescriptorSet<'_>]),
    ) {
        // SAFETY: the template is valid by this function's contract, so it is not destroyed meanwhile.
        let Some(template) = (unsafe { ground.hot.template(template) }) else { return down(data) };
        // Last, so that pairs are of the application's views.
        let down = |data| {
            let aliased = if template.has_shown() && ground.hot.exchanges_views() {
                // SAFETY: `data` is valid for the template by this function's contract, or a copy of such data, and `template` is its entry.
                unsafe { self.aliased_data(ground, template, data) }
            } else {
                None
            };
            down(aliased.as_ref().map_or(data, |(_, data)| *data));
        };
        if !ground.hot.gate.must_look() || template.seen == 0 {
            ground.hot.counters.add(path, template.seen, 0);
            return down(data);
        }
        let layout = layout(template);
        // What was taken for candidates may be so only because samplers might have been immutable ones.
        // SAFETY: `data` is valid for the template by this function's contract.
        if layout.is_none() && ground.hot.has_immutables() && !unsafe { template.may_conflict(&ground.hot.gate, data) }
        {
            ground.hot.counters.add(path, template.seen, 0);
            return down(data);
        }
        if template.copied.as_ref().is_some_and(|(extent, _)| *extent <= ON_STACK) {
            let mut room = [const { MaybeUninit::uninit() }; Piece::count(ON_STACK)];
            // SAFETY: `data` is valid for the template, and the room has the pieces of the largest extent that is copied so.
            return down(unsafe {
                rewrite_copy(On { ground, pairs: self }, (template, None), layout, data, path, &mut room)
            });
        }
        // SAFETY: `data` is valid for the template by this function's contract, which is what `forward_large` asks.
        unsafe { self.forward_large(ground, template, layout, (data, path), down, patch) };
    }

    /// A copy of a template's data with other views, if a descriptor shows another one than it is written with.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(never)]
    unsafe fn aliased_data(
        &self,
        ground: &Ground,
        template: &Template,
        data: *const c_void,
    ) -> Option<(Vec<MaybeUninit<Piece>>, *const c_void)> {
        // SAFETY: `data` is valid for the template, so it has its elements.
        if !unsafe { self.stand_ins.finds(&template.shown, data) } {
            return None;
        }
        let Some((extent, spans)) = &template.copied else {
            // SAFETY: `data` is valid for the template by this function's contract; the null pointer says that there is no copy to write
            // to.
            if unsafe {
                self.stand_ins.exchange_stored(ground, &self.images, &template.shown, data, std::ptr::null_mut())
            } {
                ground.template_unresolved();
            }
            return None;
        };
        let mut room: Vec<MaybeUninit<Piece>> = Vec::new();
        room.try_reserve_exact(Piece::count(*extent)).ok()?;
        let copy = room.as_mut_ptr().cast::<u8>().wrapping_add(data as usize % Piece::SIZE);
        for (at, length) in spans {
            // SAFETY: the template describes these bytes of the data, and the room is as large.
            unsafe {
                std::ptr::copy_nonoverlapping(data.cast::<u8>().wrapping_add(*at), copy.wrapping_add(*at), *length);
            }
        }
        // SAFETY: the copy has all bytes that the template describes, and nobody else has seen it.
        let differs = unsafe { self.stand_ins.exchange_stored(ground, &self.images, &template.shown, data, copy) };
        differs.then(|| (room, copy.cast_const().cast()))
    }

    /// [`Pairs::forward_template`] for data that has no place on the stack: nothing is copied unless a pair conflicts.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(never)]
    unsafe fn forward_large(
        &self,
        ground: &Ground,
        template: &Template,
        layout: Option<&SetLayout>,
        (data, path): (*const c_void, Path),
        down: impl FnOnce(*const c_void),
        patch: impl FnOnce(vk::PipelineBindPoint, &mut [vk::WriteDescriptorSet<'_>]),
    ) {
        // SAFETY: `data` has all that the template describes by this function's contract, and `first_conflict` reads no more.
        let Some(start) = (unsafe { template.first_conflict(On { ground, pairs: self }, layout, data) }) else {
            ground.hot.counters.add(path, template.seen, 0);
            return down(data);
        };
        if let Some((extent, _)) = &template.copied {
            let mut room = Vec::new();
            if room.try_reserve_exact(Piece::count(*extent)).is_err() {
                // Without memory for a copy there is only what was given.
                return down(data);
            }
            // SAFETY: `data` is valid for the template, and as many pieces were reserved as its extent has.
            return down(unsafe {
                rewrite_copy(
                    On { ground, pairs: self },
                    (template, start),
                    layout,
                    data,
                    path,
                    room.spare_capacity_mut(),
                )
            });
        }
        let made = || {
            // SAFETY: `patches` reads what the template describes, which `data` has by this function's contract.
            let (patches, changed) = unsafe { patches(On { ground, pairs: self }, template, layout, data, path) };
            (writes(&patches), patches, changed)
        };
        let (mut writes, _patches, changed) = ground.guard(made, Default::default);
        ground.hot.counters.add(path, template.seen, changed);
        down(data);
        if changed > 0 {
            patch(template.bind_point, &mut writes);
        }
    }
}
