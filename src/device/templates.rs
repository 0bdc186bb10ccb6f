//! Descriptor update templates: what is kept of one, the look through the application's data, and what goes down instead of it.
//!
//! `pData` is the application's memory of unknown size: only the elements that the template describes are read, without any
//! alignment, and nothing is written to it. Where a sampler has to change, one plain run of pairs is copied to the stack; of anything
//! else the described elements are copied to a block with the same offsets and the same alignment, and that goes down.

use std::cmp;
use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, DescriptorImageInfo, Handle};
use samplin_hot::memory::{self, Room};
use samplin_hot::{Gate, SetLayout};

use super::Device;
use super::types::type_bit;
use super::writes::INFOS;
use crate::counters::Path;

/// Largest copy of a template's data, in bytes. Beyond it (and with elements of unknown size, or that share bytes) the template
/// is applied as it is and the conflicting descriptors are written again.
const LARGEST_COPY: usize = 256 * 1024;

// ---- what is kept ----

/// One entry of a template.
#[derive(Clone, Copy, Debug)]
struct Entry {
    binding: u32,
    element: u32,
    count: usize,
    offset: usize,
    stride: usize,
    /// Bytes of one element; 0 when the type is not known.
    size: usize,
    combined: bool,
}

impl Entry {
    fn new(entry: &vk::DescriptorUpdateTemplateEntry) -> Self {
        use vk::DescriptorType as T;
        let count = entry.descriptor_count as usize;
        let (count, stride, size) = match entry.descriptor_type {
            T::SAMPLER
            | T::COMBINED_IMAGE_SAMPLER
            | T::SAMPLED_IMAGE
            | T::STORAGE_IMAGE
            | T::INPUT_ATTACHMENT
            | T::SAMPLE_WEIGHT_IMAGE_QCOM
            | T::BLOCK_MATCH_IMAGE_QCOM => (count, entry.stride, size_of::<DescriptorImageInfo>()),
            T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
                (count, entry.stride, size_of::<vk::DescriptorBufferInfo>())
            }
            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => (count, entry.stride, size_of::<vk::BufferView>()),
            T::ACCELERATION_STRUCTURE_KHR => (count, entry.stride, size_of::<vk::AccelerationStructureKHR>()),
            T::ACCELERATION_STRUCTURE_NV => (count, entry.stride, size_of::<vk::AccelerationStructureNV>()),
            // descriptorCount is a number of bytes and the stride is ignored.
            T::INLINE_UNIFORM_BLOCK => (usize::from(count > 0), 0, count),
            _ => (count, entry.stride, 0),
        };
        Self {
            binding: entry.dst_binding,
            element: entry.dst_array_element,
            count,
            offset: entry.offset,
            stride,
            size,
            combined: entry.descriptor_type == T::COMBINED_IMAGE_SAMPLER,
        }
    }

    /// Whether it has combined image samplers whose samplers are not ignored.
    fn is_pair(&self, layout: Option<&SetLayout>) -> bool {
        self.combined && !layout.is_some_and(|layout| layout.is_immutable(self.binding))
    }

    /// Offset of element `index` in `pData`.
    fn at(&self, index: usize) -> usize {
        self.offset.wrapping_add(index.wrapping_mul(self.stride))
    }

    /// One past the last byte; `None` for an unknown size or a sum beyond the address space.
    fn end(&self) -> Option<usize> {
        if self.count == 0 {
            return Some(0);
        }
        if self.size == 0 {
            return None;
        }
        (self.count - 1).checked_mul(self.stride)?.checked_add(self.offset)?.checked_add(self.size)
    }

    /// The combined image sampler at element `index`.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685), the entry is of combined image samplers
    /// and `index` is below the count.
    #[inline(always)]
    unsafe fn read(&self, data: *const c_void, index: usize) -> DescriptorImageInfo {
        let at = data.cast::<u8>().wrapping_add(self.at(index));
        // SAFETY: the template describes an info there; alignment is not promised.
        unsafe { at.cast::<DescriptorImageInfo>().read_unaligned() }
    }

    /// Takes note of the immutable samplers that conflict.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, and the entry is of combined image samplers.
    #[inline(never)]
    unsafe fn note_immutables(&self, device: &Device, layout: &SetLayout, data: *const c_void) {
        // SAFETY: forwarded from the caller; below the count.
        let infos = (0..self.count).map(|index| unsafe { self.read(data, index) });
        device.note_immutables(layout, (self.binding, self.element), infos);
    }

    /// Whether a pair of it conflicts.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template, and the entry is of combined image samplers.
    #[inline(never)]
    unsafe fn conflicts(&self, gate: &Gate, data: *const c_void) -> bool {
        let infos = data.cast::<u8>().wrapping_add(self.offset).cast::<DescriptorImageInfo>();
        if self.count == 0 {
            return false;
        }
        if self.stride == size_of::<DescriptorImageInfo>() && infos.is_aligned() {
            // SAFETY: the template describes `count` infos without gaps, and they are aligned.
            return gate.first_conflict(unsafe { std::slice::from_raw_parts(infos, self.count) }).is_some();
        }
        (0..self.count).any(|index| {
            // SAFETY: below the count.
            let info = unsafe { self.read(data, index) };
            gate.conflict(info.sampler, info.image_view).is_some()
        })
    }
}

/// Whether no byte of `extent` belongs to two elements.
///
/// Applications may feed several bindings from one structure, a pair and a separate sampler say; in a copy of the data the
/// sampler could not change for one of them alone.
fn are_disjoint(entries: &[Entry], extent: usize) -> bool {
    let bytes = entries.iter().fold(0, |all: usize, entry| all.saturating_add(entry.count.saturating_mul(entry.size)));
    // Also bounds the list below.
    if bytes > extent {
        return false;
    }
    let all = entries.iter().flat_map(|entry| (0..entry.count).map(move |index| (entry.at(index), entry.size)));
    let mut ranges = memory::collect(all.map(|(at, size)| (at, at + size)));
    ranges.sort_unstable();
    ranges.windows(2).all(|pair| matches!(pair, [(_, end), (start, _)] if end <= start))
}

/// What is kept of a template with combined image samplers.
pub struct Template {
    /// Its entries of combined image samplers.
    runs: Box<[Entry]>,
    /// Number of its combined image samplers.
    seen: u64,
    /// Nothing but one tightly packed run at the start of the data.
    plain: bool,
    /// Layout with immutable samplers of the sets that it is for.
    layout: Option<Arc<SetLayout>>,
    /// All of its entries.
    entries: Vec<Entry>,
    /// Their types.
    types: u32,
    bind_point: vk::PipelineBindPoint,
    /// Size of the data, if it can be copied.
    extent: Option<usize>,
}

impl Template {
    /// A template of these entries; `None` without combined image samplers, unless it `is_followed` all the same. `layout`: that of
    /// the sets which it is for, if it has immutable samplers.
    pub fn new(
        given: &[vk::DescriptorUpdateTemplateEntry],
        bind_point: vk::PipelineBindPoint,
        layout: Option<Arc<SetLayout>>,
        is_followed: bool,
    ) -> Option<Self> {
        let entries: Vec<Entry> = given.iter().map(Entry::new).collect();
        let runs: Box<[Entry]> = entries.iter().filter(|entry| entry.combined).copied().collect();
        if runs.is_empty() && !is_followed {
            return None;
        }
        let types = given.iter().fold(0, |types, entry| types | type_bit(entry.descriptor_type));
        let extent = entries
            .iter()
            .try_fold(0, |all: usize, entry| Some(all.max(entry.end()?)))
            .filter(|extent| *extent <= LARGEST_COPY && are_disjoint(&entries, *extent));
        let seen = runs.iter().map(|run| run.count as u64).sum();
        let plain = match *entries {
            [Entry { offset: 0, stride, size, combined: true, .. }] => stride == size || seen == 1,
            _ => false,
        };
        Some(Self { runs, seen, plain, layout, entries, types, bind_point, extent })
    }

    /// Layout with immutable samplers of the sets that it is for.
    pub fn layout(&self) -> Option<&SetLayout> {
        self.layout.as_deref()
    }

    /// Whether a single pair in `data` may conflict, or a run of several has to be looked at.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    unsafe fn may_conflict(&self, gate: &Gate, data: *const c_void) -> bool {
        self.runs.iter().any(|run| {
            if run.count != 1 {
                return run.count > 1;
            }
            // SAFETY: forwarded from the caller.
            let info = unsafe { run.read(data, 0) };
            gate.candidate(info.sampler, info.image_view)
        })
    }

    /// Whether a pair in `data` conflicts whose sampler is not an immutable one of `layout`. Takes note of the immutable ones.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(always)]
    unsafe fn conflicts(&self, device: &Device, layout: Option<&SetLayout>, data: *const c_void) -> bool {
        let mut out = false;
        for run in &self.runs {
            // SAFETY: forwarded from the caller.
            unsafe {
                match layout.filter(|layout| layout.is_immutable(run.binding)) {
                    Some(layout) => run.note_immutables(device, layout, data),
                    None => out = out || run.conflicts(&device.hot.gate, data),
                }
            }
        }
        out
    }
}

/// A template with data in which a pair conflicts, and the layout that the data is for if it has immutable samplers.
#[derive(Clone, Copy)]
pub struct Conflict<'a> {
    template: &'a Template,
    layout: Option<&'a SetLayout>,
}

// ---- what goes down ----

/// What has to go down for a plain template.
///
/// # Safety
///
/// `data` is valid for the template and aligned, and there is room for all elements.
unsafe fn rewrite_plain(
    device: &Device,
    template: &Template,
    data: *const c_void,
    path: Path,
    room: &mut [MaybeUninit<DescriptorImageInfo>],
) -> *const c_void {
    // SAFETY: a plain template describes that many infos at `data`.
    let given = unsafe { std::slice::from_raw_parts(data.cast::<DescriptorImageInfo>(), template.seen as usize) };
    let mut undecided = |pair| device.resolve(pair, path);
    let changed = device.hot.gate.substitute(&device.hot.choices, given, room, &mut undecided);
    device.hot.counters.add(path, template.seen, changed);
    if changed > 0 { room.as_ptr().cast() } else { data }
}

/// A rewritten write: binding, array element, image info.
type Patch = (u32, u32, DescriptorImageInfo);

/// What goes down instead of the application's data.
enum Rewritten {
    /// A block in which the data starts at this index.
    Block(Vec<u8>, usize),
    /// The application's data, followed by these writes, which point into what is beside them.
    Patches(Vec<vk::WriteDescriptorSet<'static>>, Vec<Patch>),
}

/// A write for each patch, as for a push. They point into `patches`, which must outlive them and not grow.
fn writes(patches: &[Patch]) -> Vec<vk::WriteDescriptorSet<'static>> {
    memory::collect(patches.iter().map(|(binding, element, info)| vk::WriteDescriptorSet {
        dst_binding: *binding,
        dst_array_element: *element,
        descriptor_count: 1,
        descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        p_image_info: info,
        ..Default::default()
    }))
}

/// The writes that make `changed`, which has the order of the elements, true after the application's data went down as it is.
///
/// A later element may be for the same descriptor, and must stay the last word about it: elements of an entry of which that cannot
/// be ruled out are written again, in their place of the order.
///
/// # Safety
///
/// `data` is valid for the template.
unsafe fn again(
    template: &Template,
    layout: Option<&SetLayout>,
    data: *const c_void,
    changed: &[(Patch, usize)],
) -> Vec<Patch> {
    let mut out: Vec<Patch> = Vec::new();
    let mut left = changed.iter().peekable();
    for (number, entry) in template.entries.iter().enumerate().filter(|(_, entry)| entry.is_pair(layout)) {
        // Elements of one entry are different descriptors. Elements beyond the end of a binding are those of the next, and how many a
        // binding has is not known here: then an element of a later binding may be one of an earlier binding's.
        let end = |entry: &Entry| u64::from(entry.element) + entry.count as u64;
        let reaches = |low: &Entry, high: &Entry| end(low) > u64::from(high.element);
        let again = template.entries.iter().take(number).any(|earlier| {
            earlier.combined
                && match earlier.binding.cmp(&entry.binding) {
                    cmp::Ordering::Less => reaches(earlier, entry),
                    cmp::Ordering::Equal => reaches(earlier, entry) && reaches(entry, earlier),
                    cmp::Ordering::Greater => reaches(entry, earlier),
                }
        });
        for index in 0..entry.count {
            let (binding, element) = (entry.binding, entry.element.wrapping_add(index as u32));
            if let Some((patch, _)) =
                left.next_if(|(patch, at)| (patch.0, patch.1, *at) == (binding, element, entry.at(index)))
            {
                out.with_room().push(*patch);
            } else if again && !out.is_empty() {
                // SAFETY: forwarded from the caller.
                out.with_room().push((binding, element, unsafe { entry.read(data, index) }));
            }
        }
    }
    out
}

/// Makes the replacement; `None` when no sampler differs after all.
///
/// # Safety
///
/// `data` is valid for the template.
unsafe fn rewrite(
    device: &Device,
    template: &Template,
    layout: Option<&SetLayout>,
    data: *const c_void,
    path: Path,
) -> Option<(Rewritten, u64)> {
    let mut patches: Vec<(Patch, usize)> = Vec::new();
    for entry in template.entries.iter().filter(|entry| entry.is_pair(layout)) {
        for index in 0..entry.count {
            // SAFETY: forwarded from the caller.
            let info = unsafe { entry.read(data, index) };
            let Some(pair) = device.hot.gate.conflict(info.sampler, info.image_view) else { continue };
            let choice = device.choose(pair, path);
            if choice != pair.sampler {
                let info = DescriptorImageInfo { sampler: vk::Sampler::from_raw(choice), ..info };
                let element = entry.element.wrapping_add(index as u32);
                patches.with_room().push(((entry.binding, element, info), entry.at(index)));
            }
        }
    }
    if patches.is_empty() {
        return None;
    }
    let rewritten = patches.len() as u64;
    let Some(extent) = template.extent else {
        // SAFETY: forwarded from the caller.
        let patches = unsafe { again(template, layout, data, &patches) };
        return Some((Rewritten::Patches(writes(&patches), patches), rewritten));
    };
    // The same address modulo 16 as the application's block, so that what is aligned there is aligned here.
    let mut block = memory::vec(extent + 32);
    block.resize(extent + 32, 0_u8);
    let start = (data as usize).wrapping_sub(block.as_ptr() as usize) & 15;
    for entry in &template.entries {
        for index in 0..entry.count {
            let at = entry.at(index);
            if let Some(target) = block.get_mut(start + at..start + at + entry.size) {
                // SAFETY: the template describes `size` bytes there, and `target` is as long.
                unsafe {
                    std::ptr::copy_nonoverlapping(data.cast::<u8>().wrapping_add(at), target.as_mut_ptr(), entry.size);
                }
            }
        }
    }
    for ((_, _, info), at) in &patches {
        if let Some(target) = block.get_mut(start + at..start + at + size_of::<DescriptorImageInfo>()) {
            // SAFETY: `target` has the size of the structure; alignment is not assumed.
            unsafe { target.as_mut_ptr().cast::<DescriptorImageInfo>().write_unaligned(*info) };
        }
    }
    Some((Rewritten::Block(block, start), rewritten))
}

impl Device {
    /// Remembers a template with combined image samplers.
    pub fn insert_template(&self, template: vk::DescriptorUpdateTemplate, kept: Template) {
        self.hot.templates.insert(template.as_raw(), Arc::new(kept));
    }

    /// Forgets a template.
    pub fn forget_template(&self, template: vk::DescriptorUpdateTemplate) {
        self.guard(
            || {
                self.hot.templates.remove(template.as_raw());
                if let Some(separate) = self.separate.as_deref() {
                    self.forget_separate_template(separate, template);
                }
            },
            || (),
        );
    }

    /// Whether descriptors of a template's types have to be followed.
    ///
    /// # Safety
    ///
    /// `template` is a valid template.
    pub unsafe fn follows_template(&self, template: vk::DescriptorUpdateTemplate) -> bool {
        let watched = self.hot.watched.load(Ordering::Relaxed);
        // SAFETY: a template is valid during the command and destroyed under external synchronisation.
        let device = unsafe { self.hot.templates.get(template.as_raw()) };
        self.separate.is_some() && device.is_none_or(|template| template.types & watched != 0)
    }

    /// Looks through the data of a template and counts it. False if it needs a closer look.
    ///
    /// # Safety
    ///
    /// `template` is a valid template and `data` is valid for it.
    #[inline(always)]
    pub unsafe fn pass_template(&self, template: vk::DescriptorUpdateTemplate, data: *const c_void) -> bool {
        // SAFETY: a template is valid during the command and destroyed under external synchronisation.
        let Some(template) = (unsafe { self.hot.templates.get(template.as_raw()) }) else { return true };
        // SAFETY: forwarded from the caller.
        let watched = template.types & self.hot.watched.load(Ordering::Relaxed) != 0;
        // SAFETY: forwarded from the caller.
        let look = watched || (self.hot.gate.must_look() && unsafe { template.may_conflict(&self.hot.gate, data) });
        !look && self.hot.counters.add_here(Path::Template, template.seen)
    }

    /// Looks closer: a pair in the data of a template that conflicts. Counts the data if there is none, which goes down as it is then.
    ///
    /// # Safety
    ///
    /// `template` is a valid template and `data` is valid for it.
    #[inline(always)]
    pub unsafe fn look_at_template<'a>(
        &'a self,
        template: vk::DescriptorUpdateTemplate,
        layout: impl FnOnce(&'a Template) -> Option<&'a SetLayout>,
        data: *const c_void,
        path: Path,
    ) -> Option<Conflict<'a>> {
        // SAFETY: a template is valid during the command and destroyed under external synchronisation.
        let template = unsafe { self.hot.templates.get(template.as_raw()) }?;
        let layout = layout(template);
        // SAFETY: forwarded from the caller. The scan has no way to panic.
        if self.hot.gate.must_look() && unsafe { template.conflicts(self, layout, data) } {
            return Some(Conflict { template, layout });
        }
        self.hot.counters.add(path, template.seen, 0);
        None
    }

    /// Hands a copy of `data` with legal pairs to `down`. Where it cannot be copied it goes down itself, and `patch` gets the writes of
    /// single descriptors that make it legal afterwards, and the template's bind point.
    ///
    /// # Safety
    ///
    /// The conflict was found in `data`.
    #[inline(always)]
    pub unsafe fn forward_template(
        &self,
        conflict: Conflict<'_>,
        data: *const c_void,
        path: Path,
        down: impl FnOnce(*const c_void),
        patch: impl FnOnce(vk::PipelineBindPoint, &mut [vk::WriteDescriptorSet<'_>]),
    ) {
        let Conflict { template, layout } = conflict;
        if layout.is_some() || !template.plain || !data.cast::<DescriptorImageInfo>().is_aligned() {
            // SAFETY: forwarded from the caller.
            return unsafe { self.forward_shaped(template, layout, data, path, down, patch) };
        }
        if template.seen <= INFOS as u64 {
            let mut room = [const { MaybeUninit::uninit() }; INFOS];
            // SAFETY: forwarded from the caller; there is room.
            return down(unsafe { rewrite_plain(self, template, data, path, &mut room) });
        }
        let mut room = Vec::new();
        if room.try_reserve_exact(template.seen as usize).is_err() {
            // Without memory for a copy there is only what was given.
            return down(data);
        }
        // SAFETY: as above.
        down(unsafe { rewrite_plain(self, template, data, path, room.spare_capacity_mut()) });
    }

    /// [`Device::forward_template`] for any shape of data.
    ///
    /// # Safety
    ///
    /// `data` is valid for the template.
    #[inline(never)]
    unsafe fn forward_shaped(
        &self,
        template: &Template,
        layout: Option<&SetLayout>,
        data: *const c_void,
        path: Path,
        down: impl FnOnce(*const c_void),
        patch: impl FnOnce(vk::PipelineBindPoint, &mut [vk::WriteDescriptorSet<'_>]),
    ) {
        // SAFETY: forwarded from the caller.
        let changed = self.guard(|| unsafe { rewrite(self, template, layout, data, path) }, || None);
        self.hot.counters.add(path, template.seen, changed.as_ref().map_or(0, |(_, rewritten)| *rewritten));
        match changed {
            None => down(data),
            Some((Rewritten::Block(block, start), _)) => down(block.as_ptr().wrapping_add(start).cast()),
            Some((Rewritten::Patches(mut writes, _patches), _)) => {
                down(data);
                patch(template.bind_point, &mut writes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(ty: vk::DescriptorType, count: u32, offset: usize, stride: usize) -> Entry {
        Entry::new(&vk::DescriptorUpdateTemplateEntry {
            dst_binding: 0,
            dst_array_element: 0,
            descriptor_count: count,
            descriptor_type: ty,
            offset,
            stride,
        })
    }

    #[test]
    fn elements_that_share_bytes_are_found() {
        use vk::DescriptorType as T;
        let disjoint = |entries: &[Entry]| {
            let extent = entries.iter().map(|entry| entry.end().unwrap()).max().unwrap();
            are_disjoint(entries, extent)
        };
        let pairs = |count, offset, stride| entry(T::COMBINED_IMAGE_SAMPLER, count, offset, stride);
        assert!(disjoint(&[pairs(3, 0, 24), pairs(2, 72, 24)]));
        // Interleaved, as in an array of structures.
        assert!(disjoint(&[pairs(3, 0, 48), pairs(3, 24, 48)]));
        assert!(!disjoint(&[pairs(3, 0, 48), pairs(3, 23, 48)]));
        assert!(!disjoint(&[pairs(2, 0, 23)]));
        assert!(!disjoint(&[pairs(u32::MAX, 0, 0)]));
        assert!(!disjoint(&[pairs(1, 0, 24), entry(T::SAMPLER, 1, 0, 24)]));
        assert!(!disjoint(&[pairs(1, 0, 24), entry(T::INLINE_UNIFORM_BLOCK, 1, 23, 0)]));
        assert!(disjoint(&[pairs(1, 0, 24), pairs(0, 5, 24), entry(T::INLINE_UNIFORM_BLOCK, 9, 24, 0)]));
    }

    #[test]
    fn extents_cover_the_last_element_and_nothing_more() {
        use vk::DescriptorType as T;
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 3, 5, 33).end(), Some(5 + 2 * 33 + 24));
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 1, 5, 0).end(), Some(29));
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 0, 500, 24).end(), Some(0));
        assert_eq!(entry(T::INLINE_UNIFORM_BLOCK, 40, 8, 999).end(), Some(48));
        assert_eq!(entry(T::from_raw(0x7fff_0001), 1, 0, 8).end(), None);
        assert_eq!(entry(T::COMBINED_IMAGE_SAMPLER, 2, 0, usize::MAX).end(), None);
    }
}
