//! Immutable samplers: which of a set layout's bindings have them, and what that means for a write.

use ash::vk::{self, DescriptorImageInfo};

use crate::memory;

/// One binding of a set layout.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Binding number.
    pub binding: u32,
    /// `descriptorCount`.
    pub count: u32,
    /// The driver's handles of its immutable samplers, one for each descriptor. Empty if it has none.
    pub immutable: Box<[vk::Sampler]>,
}

/// The bindings of a set layout with immutable samplers, by ascending number; all of them, because a write goes on from one
/// binding to the next.
#[derive(Clone, Debug)]
pub struct SetLayout {
    bindings: Box<[Binding]>,
    number: u64,
}

impl SetLayout {
    /// A set layout with these bindings.
    ///
    /// A number may stand for one binding in each of several stages (`VK_NV_per_stage_descriptor_set`). A write to it names no stage,
    /// so its samplers are ignored only if they are in every one, the first one's are taken for those it meets, and it never goes on
    /// into another binding, since which one follows depends on the stage as well.
    pub fn new(bindings: Vec<Binding>) -> Self {
        let mut bindings = memory::sorted_by_key(bindings, |binding| binding.binding);
        bindings.dedup_by(|next, first| {
            let is_same = next.binding == first.binding;
            if is_same {
                first.count = u32::MAX;
                if next.immutable.is_empty() {
                    first.immutable = Box::default();
                }
            }
            is_same
        });
        Self { bindings: bindings.into_boxed_slice(), number: 0 }
    }

    /// The same, with the number of its definition.
    #[must_use]
    pub fn numbered(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// The number of its definition, 0 for none.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Index of binding number `binding`, or of the next one. Mostly they are numbered from 0 without gaps.
    #[inline(always)]
    fn index(&self, binding: u32) -> usize {
        match self.bindings.get(binding as usize) {
            Some(there) if there.binding == binding => binding as usize,
            _ => self.search(binding),
        }
    }

    #[inline(never)]
    fn search(&self, binding: u32) -> usize {
        self.bindings.partition_point(|there| there.binding < binding)
    }

    /// Whether the samplers of combined image samplers that are written to `binding` are ignored
    /// (VkWriteDescriptorSet, `pImageInfo`).
    #[inline(always)]
    pub fn is_immutable(&self, binding: u32) -> bool {
        self.bindings
            .get(self.index(binding))
            .is_some_and(|there| there.binding == binding && !there.immutable.is_empty())
    }

    /// Calls `each` with the immutable sampler and the image view of each of `infos`, which are written from `element` of
    /// `binding` on, and into the bindings that follow (VkWriteDescriptorSet, "consecutive bindings": those without descriptors
    /// are skipped).
    #[inline(always)]
    pub fn for_each(
        &self,
        binding: u32,
        mut element: u32,
        infos: impl Iterator<Item = DescriptorImageInfo>,
        mut each: impl FnMut(vk::Sampler, vk::ImageView),
    ) {
        let mut bindings = self.bindings.get(self.index(binding)..).unwrap_or(&[]).iter();
        let Some(mut here) = bindings.next() else { return };
        for info in infos {
            while element >= here.count {
                element -= here.count;
                let Some(next) = bindings.next() else { return };
                here = next;
            }
            if let Some(sampler) = here.immutable.get(element as usize) {
                each(*sampler, info.image_view);
            }
            element += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use ash::vk::Handle;

    use super::*;

    fn layout(bindings: &[(u32, u32, &[u64])]) -> SetLayout {
        let binding = |&(binding, count, immutable): &(u32, u32, &[u64])| Binding {
            binding,
            count,
            immutable: immutable.iter().map(|sampler| vk::Sampler::from_raw(*sampler)).collect(),
        };
        SetLayout::new(bindings.iter().map(binding).collect())
    }

    fn found(layout: &SetLayout, binding: u32, element: u32, count: u64) -> Vec<(u64, u64)> {
        let infos = (0..count)
            .map(|view| DescriptorImageInfo { image_view: vk::ImageView::from_raw(view), ..Default::default() });
        let mut out = Vec::new();
        layout.for_each(binding, element, infos, |sampler, view| out.push((sampler.as_raw(), view.as_raw())));
        out
    }

    #[test]
    fn bindings_are_found_with_and_without_gaps() {
        let gaps = layout(&[(9, 1, &[90]), (2, 2, &[20, 21]), (5, 1, &[])]);
        let dense = layout(&[(1, 1, &[]), (0, 1, &[10]), (2, 2, &[20, 21])]);
        let immutable = |layout: &SetLayout| (0..12).filter(|n| layout.is_immutable(*n)).collect::<Vec<_>>();
        assert_eq!(immutable(&gaps), [2, 9]);
        assert_eq!(immutable(&dense), [0, 2]);
        assert_eq!(immutable(&layout(&[])), []);
    }

    #[test]
    fn a_number_that_stands_for_several_bindings_is_immutable_only_in_all_of_them() {
        let all = layout(&[(0, 1, &[10]), (0, 2, &[11, 12]), (1, 1, &[13])]);
        assert!(all.is_immutable(0) && all.is_immutable(1));
        assert_eq!(found(&all, 0, 0, 3), [(10, 0)]);
        let some = layout(&[(0, 1, &[10]), (0, 1, &[]), (1, 1, &[13])]);
        assert!(!some.is_immutable(0) && some.is_immutable(1));
    }

    #[test]
    fn a_write_goes_on_into_the_bindings_that_follow() {
        let layout = layout(&[(2, 2, &[20, 21]), (5, 0, &[]), (7, 1, &[]), (9, 2, &[90, 91])]);
        assert_eq!(found(&layout, 2, 1, 1), [(21, 0)]);
        assert_eq!(found(&layout, 2, 1, 4), [(21, 0), (90, 2), (91, 3)]);
        // The element itself may lie beyond its binding, and the write beyond the layout.
        assert_eq!(found(&layout, 2, 3, 9), [(90, 0), (91, 1)]);
        assert_eq!(found(&layout, 2, u32::MAX, 2), []);
        assert_eq!(found(&layout, 11, 0, 2), []);
    }
}
