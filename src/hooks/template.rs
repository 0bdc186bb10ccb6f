//! Descriptor update templates.
//!
//! `pData` is the application's memory of unknown size: only the elements that the template describes are read, without any
//! alignment, and nothing is written to it. When a sampler has to change, the described elements are copied to a block with the
//! same offsets and the same alignment and that block goes down.

use std::cmp;
use std::ffi::c_void;
use std::mem::size_of;

use ash::vk::{self, Handle};
use samplin_hot::SetLayout;
use samplin_hot::hooks::{self, Run};
use samplin_hot::memory::{self, Room};

use super::slice;
use crate::counters::Path;
use crate::device::{Device, TemplateRun};

/// Largest copy of a template's data, in bytes. Beyond it (and with elements of unknown size, or that share bytes) the template
/// is applied as it is and the conflicting descriptors are written again.
const LARGEST_COPY: usize = 256 * 1024;

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
            | T::BLOCK_MATCH_IMAGE_QCOM => (count, entry.stride, size_of::<vk::DescriptorImageInfo>()),
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
#[derive(Clone, Debug)]
pub struct Template {
    entries: Vec<Entry>,
    bind_point: vk::PipelineBindPoint,
    /// Size of the data, if it can be copied.
    extent: Option<usize>,
}

destroy! {
    destroy_descriptor_update_template(vk::DescriptorUpdateTemplate): forget_template;
}

pub(crate) unsafe extern "system" fn create_descriptor_update_template(
    handle: vk::Device,
    create_info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    template: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    let (known, next) = enter!(handle, create_descriptor_update_template);
    // SAFETY: the application's own arguments.
    let result = unsafe { next(handle, create_info, allocator, template) };
    if result == vk::Result::SUCCESS {
        known.guard(
            || {
                // SAFETY: valid by the command's valid usage; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *template) };
                // SAFETY: VUID-VkDescriptorUpdateTemplateCreateInfo-pDescriptorUpdateEntries-parameter.
                let given = unsafe { slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count) };
                if given.iter().any(|entry| entry.descriptor_type == vk::DescriptorType::SAMPLER) {
                    known.hot.separate_seen();
                }
                if let Some(separate) = known.separate.as_deref() {
                    let runs = given.iter().map(|entry| TemplateRun {
                        ty: entry.descriptor_type,
                        target: (entry.dst_binding, entry.dst_array_element),
                        count: entry.descriptor_count,
                        offset: entry.offset,
                        stride: entry.stride,
                    });
                    known.insert_separate_template(separate, made, info.pipeline_bind_point, runs);
                }
                let entries: Vec<Entry> = given.iter().map(Entry::new).collect();
                if !entries.iter().any(|entry| entry.combined) {
                    return;
                }
                // The set layout is ignored, and may be garbage, for push templates.
                let for_sets = info.template_type == vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET;
                let layout = if for_sets && known.has_immutables() {
                    // SAFETY: valid by VUID-VkDescriptorUpdateTemplateCreateInfo-templateType-00350.
                    unsafe { known.share_set_layout(info.descriptor_set_layout) }
                } else {
                    None
                };
                let extent = entries
                    .iter()
                    .try_fold(0, |all: usize, entry| Some(all.max(entry.end()?)))
                    .filter(|extent| *extent <= LARGEST_COPY && are_disjoint(&entries, *extent));
                let runs: Box<[Run]> = entries
                    .iter()
                    .filter(|entry| entry.combined)
                    .map(|entry| Run {
                        offset: entry.offset,
                        stride: entry.stride,
                        count: entry.count,
                        target: (entry.binding, entry.element),
                    })
                    .collect();
                let seen = runs.iter().map(|run| run.count as u64).sum();
                let plain = match *entries {
                    [Entry { offset: 0, stride, size, .. }] => stride == size || seen == 1,
                    _ => false,
                };
                let detail = Box::new(Template { entries, bind_point: info.pipeline_bind_point, extent });
                let entry = hooks::Template { runs, seen, plain, layout, detail };
                known.insert_template(made, entry);
            },
            || (),
        );
    }
    result
}

/// Reads the combined image sampler at element `index` of `entry`.
///
/// # Safety
///
/// `data` is valid for the template (VUID-vkUpdateDescriptorSetWithTemplate-pData-01685) and `index` is below the count.
#[inline(always)]
unsafe fn read(data: *const c_void, entry: &Entry, index: usize) -> vk::DescriptorImageInfo {
    // SAFETY: the template describes an element of this type there; alignment is not promised.
    unsafe { data.cast::<u8>().wrapping_add(entry.at(index)).cast::<vk::DescriptorImageInfo>().read_unaligned() }
}

/// A rewritten write: binding, array element, image info.
type Patch = (u32, u32, vk::DescriptorImageInfo);

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
                out.with_room().push((binding, element, unsafe { read(data, entry, index) }));
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
    known: &Device,
    template: &Template,
    layout: Option<&SetLayout>,
    data: *const c_void,
    path: Path,
) -> Option<(Rewritten, u64)> {
    let mut patches: Vec<(Patch, usize)> = Vec::new();
    for entry in template.entries.iter().filter(|entry| entry.is_pair(layout)) {
        for index in 0..entry.count {
            // SAFETY: forwarded from the caller.
            let info = unsafe { read(data, entry, index) };
            let Some(pair) = known.hot.gate.conflict(info.sampler, info.image_view) else { continue };
            let choice = known.choose(pair, path);
            if choice != pair.sampler {
                let info = vk::DescriptorImageInfo { sampler: vk::Sampler::from_raw(choice), ..info };
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
        if let Some(target) = block.get_mut(start + at..start + at + size_of::<vk::DescriptorImageInfo>()) {
            // SAFETY: `target` has the size of the structure; alignment is not assumed.
            unsafe { target.as_mut_ptr().cast::<vk::DescriptorImageInfo>().write_unaligned(*info) };
        }
    }
    Some((Rewritten::Block(block, start), rewritten))
}

/// Hands `data` to `down`, or a copy with legal pairs; `patch` writes single descriptors.
///
/// # Safety
///
/// `template` is a valid template and `data` is valid for it.
unsafe fn forward<'a>(
    known: &'a Device,
    template: vk::DescriptorUpdateTemplate,
    layout: impl FnOnce(&'a hooks::Template) -> Option<&'a SetLayout>,
    data: *const c_void,
    path: Path,
    down: impl FnOnce(*const c_void),
    patch: impl FnOnce(&Template, &mut [vk::WriteDescriptorSet<'_>]),
) {
    // SAFETY: a template is valid during the command and destroyed under external synchronisation.
    let Some(hot) = (unsafe { known.hot.templates.get(template.as_raw()) }) else { return down(data) };
    let Some(record) = hot.detail.downcast_ref::<Template>() else { return down(data) };
    let layout = layout(hot);
    // SAFETY: forwarded from the caller. The scan has no way to panic.
    if !known.hot.gate.must_look() || !unsafe { hot.conflicts(&known.hot, layout, data) } {
        known.hot.counters.add(path, hot.seen, 0);
        return down(data);
    }
    // SAFETY: forwarded from the caller.
    let changed = known.guard(|| unsafe { rewrite(known, record, layout, data, path) }, || None);
    known.hot.counters.add(path, hot.seen, changed.as_ref().map_or(0, |(_, rewritten)| *rewritten));
    match changed {
        None => down(data),
        Some((Rewritten::Block(block, start), _)) => down(block.as_ptr().wrapping_add(start).cast()),
        Some((Rewritten::Patches(mut writes, _patches), _)) => {
            down(data);
            patch(record, &mut writes);
        }
    }
}

pub(crate) unsafe extern "system" fn update_descriptor_set_with_template(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let (known, next) = enter!(handle, update_descriptor_set_with_template);
    // SAFETY: the application's own arguments, or a copy of the described data with other samplers.
    unsafe {
        forward(
            known,
            template,
            |hot| hot.layout.as_deref(),
            data,
            Path::Template,
            move |data| next(handle, set, template, data),
            |_, writes| {
                writes.iter_mut().for_each(|write| write.dst_set = set);
                if let Some(update) = known.fns.update_descriptor_sets {
                    update(handle, writes.len() as u32, writes.as_ptr(), 0, std::ptr::null());
                }
            },
        );
    }
}

/// Pushes single descriptors.
///
/// # Safety
///
/// The arguments are those of a valid push with a template.
unsafe fn push_patches(
    known: &Device,
    commands: vk::CommandBuffer,
    record: &Template,
    layout: vk::PipelineLayout,
    set: u32,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    if let Some(push) = known.fns.cmd_push_descriptor_set {
        // SAFETY: the bind point is the template's, the rest the application's own.
        unsafe { push(commands, record.bind_point, layout, set, writes.len() as u32, writes.as_ptr()) };
    }
}

/// A shader stage of a bind point: a push for one is a push for all of them (VkPushDescriptorSetInfo, "subset of all stages").
fn stage(bind_point: vk::PipelineBindPoint) -> vk::ShaderStageFlags {
    match bind_point {
        vk::PipelineBindPoint::COMPUTE => vk::ShaderStageFlags::COMPUTE,
        vk::PipelineBindPoint::RAY_TRACING_KHR => vk::ShaderStageFlags::RAYGEN_KHR,
        vk::PipelineBindPoint::SUBPASS_SHADING_HUAWEI => vk::ShaderStageFlags::SUBPASS_SHADING_HUAWEI,
        _ => vk::ShaderStageFlags::FRAGMENT,
    }
}

/// Pushes single descriptors as `given` did: with its chain, because a null layout is described there, and only this version of
/// the command takes one (VUID-VkPushDescriptorSetInfo-None-09495).
///
/// # Safety
///
/// `given` is the argument of a valid push with a template.
unsafe fn push_patches2(
    known: &Device,
    commands: vk::CommandBuffer,
    record: &Template,
    given: &vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    if given.layout != vk::PipelineLayout::null() {
        // SAFETY: forwarded from the caller.
        return unsafe { push_patches(known, commands, record, given.layout, given.set, writes) };
    }
    let mut info = vk::PushDescriptorSetInfoKHR::default()
        .stage_flags(stage(record.bind_point))
        .set(given.set)
        .descriptor_writes(writes);
    info.p_next = given.p_next;
    if let Some(push) = known.fns.cmd_push_descriptor_set2 {
        // SAFETY: the stage is one of the template's bind point, the rest the application's own; both structures may be extended by
        // the same ones.
        unsafe { push(commands, &info) };
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template(
    commands: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const c_void,
) {
    let (known, next) = enter!(commands, cmd_push_descriptor_set_with_template);
    // SAFETY: the application's own arguments, or a copy of the described data with other samplers.
    unsafe {
        forward(
            known,
            template,
            |_| known.hot.push_layout(layout, set),
            data,
            Path::PushTemplate,
            move |data| next(commands, template, layout, set, data),
            |record, writes| push_patches(known, commands, record, layout, set, writes),
        );
    }
}

pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template2(
    commands: vk::CommandBuffer,
    info: *const vk::PushDescriptorSetWithTemplateInfoKHR<'_>,
) {
    let (known, next) = enter!(commands, cmd_push_descriptor_set_with_template2);
    // SAFETY: valid by the command's valid usage; the data is the application's or a copy of what is described.
    unsafe {
        let Some(given) = info.as_ref() else { return next(commands, info) };
        forward(
            known,
            given.descriptor_update_template,
            |_| super::descriptor::push_layout(known, given.layout, given.p_next, given.set),
            given.p_data,
            Path::PushTemplate,
            |data| {
                if data == given.p_data {
                    next(commands, info);
                } else {
                    next(commands, &vk::PushDescriptorSetWithTemplateInfoKHR { p_data: data, ..*given });
                }
            },
            |record, writes| push_patches2(known, commands, record, given, writes),
        );
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
