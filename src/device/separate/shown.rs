//! Descriptors that some programs cannot read as they are ([`wholes`](super::wholes)), as the application wrote them.

use ash::vk;
use samplin_hot::memory::{self, Room};

use crate::decide::ConflictBits;
use crate::table::FastMap;
use crate::variant::Gate;

/// The bit of [`Brief::summary`](samplin_bind::Brief::summary) of a set that shows any.
pub(super) const ASPECTS: u64 = (ConflictBits::ASPECTS.0 as u64) << 32;

/// Such a descriptor, as the application wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotedDescriptor {
    pub(super) ty: vk::DescriptorType,
    pub(super) sampler: vk::Sampler,
    pub(super) view: vk::ImageView,
    pub(super) image_layout: vk::ImageLayout,
}

/// Binding and element of a descriptor, and what it is, if it is such a one.
pub(super) type Written = ((u32, u32), Option<NotedDescriptor>);

/// Those of one set, by binding and element.
#[derive(Debug, Default)]
pub(super) struct NotedDescriptors(FastMap<(u32, u32), NotedDescriptor>);

impl NotedDescriptors {
    /// Takes over what is written, in time that does not depend on how much is there. Whether anything can have changed.
    pub(super) fn take(&mut self, written: impl Iterator<Item = Written>) -> bool {
        written.fold(false, |changes, (at, whole)| changes | self.set(at, whole))
    }

    /// The same of one descriptor.
    #[inline]
    pub(super) fn set(&mut self, at: (u32, u32), whole: Option<NotedDescriptor>) -> bool {
        match whole {
            Some(whole) => {
                self.0.with_room().insert(at, whole);
                true
            }
            None => !self.is_empty() && self.0.remove(&at).is_some(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, at: (u32, u32)) -> Option<NotedDescriptor> {
        self.0.get(&at).copied()
    }

    /// Elements and descriptors of a binding, in ascending order.
    pub(super) fn of(&self, binding: u32) -> Vec<(u32, NotedDescriptor)> {
        let own = self.0.iter().filter(|((own, _), _)| *own == binding);
        memory::sorted_by_key(memory::collect(own.map(|((_, element), whole)| (*element, *whole))), |(element, _)| {
            *element
        })
    }
}

/// Descriptors of a set for which rules may come to ask for another sampler: combined ones, by binding and element, and samplers apart.
#[derive(Debug, Default)]
pub(super) struct CombinedDescriptors {
    all: FastMap<(u32, u32), CombinedDescriptor>,
    pub(super) samplers: FastMap<(u32, u32), SamplerDescriptor>,
    /// How many combined ones have another sampler than the application's.
    repaired: usize,
}

impl CombinedDescriptors {
    pub(super) fn get(&self, at: (u32, u32)) -> Option<CombinedDescriptor> {
        self.all.get(&at).copied()
    }

    pub(super) fn has_repaired(&self) -> bool {
        self.repaired > 0 || self.samplers.values().any(SamplerDescriptor::is_repaired)
    }

    /// Notes one that is written, or another descriptor in its place.
    pub(super) fn set(&mut self, at: (u32, u32), combined: Option<CombinedDescriptor>) {
        self.repaired += usize::from(combined.is_some_and(|new| new.is_repaired()));
        let old = match combined {
            Some(combined) => self.all.with_room().insert(at, combined),
            None => self.all.remove(&at),
        };
        self.repaired -= usize::from(old.is_some_and(|old| old.is_repaired()));
    }

    /// Calls `with` for each.
    pub(super) fn each(&mut self, with: impl FnMut((&(u32, u32), &mut CombinedDescriptor))) {
        self.all.iter_mut().for_each(with);
        self.repaired = self.all.values().filter(|own| own.is_repaired()).count();
    }
}

/// What was written to a combined descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct CombinedDescriptor {
    pub(super) sampler: u64,
    pub(super) view: u64,
    pub(super) layout: vk::ImageLayout,
    /// Number of the view's class, and one more: the handle of a view that is gone may come back.
    pub(super) class: u32,
    /// The sampler that the driver has there.
    pub(super) chosen: u64,
}

impl CombinedDescriptor {
    fn is_repaired(&self) -> bool {
        self.chosen != self.sampler
    }

    /// Whether sampler and view live, as far as that can be told.
    pub(super) fn lives(&self, gate: &Gate) -> bool {
        gate.sampler(self.sampler) != 0 && self.class != 0 && gate.view(self.view) as u32 == self.class
    }
}

/// Most view classes that a sampler is known to be read with.
pub(super) const CLASSES: usize = 16;

/// A sampler apart from its image, in a binding with UPDATE_AFTER_BIND.
#[derive(Clone, Debug)]
pub(super) struct SamplerDescriptor {
    /// The application's.
    pub(super) sampler: u64,
    /// The one that the driver has there.
    pub(super) chosen: u64,
    /// Classes of the views that draws read with it, each with one of them. More than [`CLASSES`] are too many.
    pub(super) read: Vec<(u32, u64)>,
}

impl SamplerDescriptor {
    pub(super) fn new(sampler: u64) -> Self {
        Self { sampler, chosen: sampler, read: Vec::new() }
    }

    /// Whether the driver has another sampler there than the application's.
    pub(super) fn is_repaired(&self) -> bool {
        self.chosen != self.sampler
    }

    /// Draws read a view of a class with it. Whether that is new.
    pub(super) fn note(&mut self, class: u32, view: u64) -> bool {
        let is_new = self.read.len() <= CLASSES && self.read.iter().all(|(own, _)| *own != class);
        if is_new {
            self.read.with_room().push((class, view));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn whole(view: u64) -> Option<NotedDescriptor> {
        Some(NotedDescriptor {
            ty: vk::DescriptorType::SAMPLED_IMAGE,
            sampler: vk::Sampler::null(),
            view: vk::ImageView::from_raw(view),
            image_layout: vk::ImageLayout::GENERAL,
        })
    }

    #[test]
    fn what_is_written_last_is_shown() {
        let mut shown = NotedDescriptors::default();
        assert!(!shown.take([((0, 0), None)].into_iter()) && shown.is_empty());
        assert!(shown.take([((1, 2), whole(12)), ((1, 0), whole(10)), ((0, 5), whole(5))].into_iter()));
        let views = |binding| {
            shown.of(binding).into_iter().map(|(element, whole)| (element, whole.view.as_raw())).collect::<Vec<_>>()
        };
        assert_eq!((views(1), views(0), views(2)), (vec![(0, 10), (2, 12)], vec![(5, 5)], vec![]));
        assert!(shown.take([((1, 0), None), ((1, 2), whole(22))].into_iter()));
        assert_eq!((shown.get((1, 0)), shown.get((1, 2))), (None, whole(22)));
        assert!(shown.take([((1, 2), None), ((0, 5), None)].into_iter()) && shown.is_empty());
    }

    /// One descriptor after the other, in either order: looking through what is there for each would take a minute.
    #[test]
    fn an_update_costs_what_it_writes() {
        const MANY: u32 = 1 << 17;
        let start = std::time::Instant::now();
        let mut shown = NotedDescriptors::default();
        (0..MANY).rev().for_each(|element| _ = shown.take([((0, element), whole(1))].into_iter()));
        (0..MANY).for_each(|element| _ = shown.take([((0, element), whole(2))].into_iter()));
        assert!(shown.of(0).len() == MANY as usize && shown.get((0, 7)) == whole(2));
        (0..MANY).for_each(|element| _ = shown.take([((0, element), None)].into_iter()));
        assert!(shown.is_empty());
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
