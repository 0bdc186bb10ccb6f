//! Templates whose data cannot be copied: what changes is written again after the application's data reached the driver.

use std::cmp;
use std::ffi::c_void;
use std::ops::ControlFlow;

use ash::vk::{self, DescriptorImageInfo, Handle};
use samplin_hot::memory::{self, Room};
use samplin_hot::{Pair, SetLayout};

use super::Template;
use super::entry::Entry;
use crate::counters::Path;
use crate::device::resolve::On;

/// A rewritten write: binding, array element, image info.
pub(super) type Patch = (u32, u32, DescriptorImageInfo);

/// A write for each patch, as for a push. They point into `patches`, which must outlive them and not grow.
pub(super) fn writes(patches: &[Patch]) -> Vec<vk::WriteDescriptorSet<'static>> {
    memory::collect(patches.iter().map(|(binding, element, info)| vk::WriteDescriptorSet {
        dst_binding: *binding,
        dst_array_element: *element,
        descriptor_count: 1,
        descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        p_image_info: info,
        ..Default::default()
    }))
}

/// The writes that make `changed`, which has the order of the elements, true after the application's data reached the driver unchanged.
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
                // SAFETY: the index is below the count of an entry of the template that `data` is valid for.
                out.with_room().push((binding, element, unsafe { entry.read(data, index) }));
            }
        }
    }
    out
}

/// The writes of [`again`] and how many samplers are others.
///
/// # Safety
///
/// `data` is valid for the template.
pub(super) unsafe fn patches(
    On { ground, pairs }: On<'_>,
    template: &Template,
    layout: Option<&SetLayout>,
    data: *const c_void,
    path: Path,
) -> (Vec<Patch>, u64) {
    let mut changed: Vec<(Patch, usize)> = Vec::new();
    for entry in template.entries.iter().filter(|entry| entry.is_pair(layout)) {
        let with = |index, pair: Pair| {
            let choice = pairs.choose(ground, pair, path);
            if choice != pair.sampler {
                // SAFETY: `each_conflict` calls with indices below the count of this entry, and `data` is valid for its template by this
                // function's contract.
                let info = unsafe { entry.read(data, index) };
                let info = DescriptorImageInfo { sampler: vk::Sampler::from_raw(choice), ..info };
                let element = entry.element.wrapping_add(index as u32);
                changed.with_room().push(((entry.binding, element, info), entry.at(index)));
            }
            ControlFlow::Continue(())
        };
        // SAFETY: an entry of the template that `data` is valid for, of combined image samplers.
        unsafe { entry.each_conflict(&ground.hot.gate, data, with) };
    }
    // SAFETY: `data` is valid for the template by this function's contract, and `changed` are places in what it describes.
    (unsafe { again(template, layout, data, &changed) }, changed.len() as u64)
}
