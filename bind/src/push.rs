//! Pushed descriptors, all of them whatever their type: what the layer binds may disturb them, and then they are pushed again.

use samplin_hot::memory::{self, Room};

/// What a descriptor has in place of its own: binding, element, and a sampler in a descriptor of one, a view in any other.
pub type Other = (u32, u32, u64);

/// `VK_DESCRIPTOR_TYPE_SAMPLER`.
const SAMPLER: i32 = 0;

/// A descriptor as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// `VkDescriptorType`.
    pub ty: i32,
    /// The members of `VkDescriptorImageInfo` (sampler, view, layout) or `VkDescriptorBufferInfo`, or one handle.
    pub words: [u64; 3],
}

/// The descriptors that were pushed to a set number, by binding and element, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    all: Vec<((u32, u32), Descriptor)>,
}

impl Pushed {
    /// Takes over a descriptor that was written.
    pub fn write(&mut self, at: (u32, u32), descriptor: Descriptor) {
        match self.all.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(place) => self.all[place].1 = descriptor,
            Err(place) => self.all.with_room().insert(place, (at, descriptor)),
        }
    }

    /// The descriptor of a binding and an element.
    pub fn get(&self, at: (u32, u32)) -> Option<Descriptor> {
        let place = self.all.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.all.get(place).map(|(_, descriptor)| *descriptor)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &((u32, u32), Descriptor)> {
        self.all.iter()
    }

    /// All of them, with other samplers or views in some.
    pub fn with(&self, others: &[Other]) -> Vec<((u32, u32), Descriptor)> {
        memory::collect(self.all.iter().map(|(at, descriptor)| (*at, exchange(*descriptor, *at, others))))
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Nothing was pushed; what was asked of the allocator stays.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

/// A descriptor with another sampler or view, if there is one for its place.
pub(crate) fn exchange(mut descriptor: Descriptor, at: (u32, u32), others: &[Other]) -> Descriptor {
    if let Some((_, _, other)) = others.iter().find(|(binding, element, _)| (*binding, *element) == at) {
        descriptor.words[usize::from(descriptor.ty != SAMPLER)] = *other;
    }
    descriptor
}
