//! Which descriptors may show another view than the one that they are written with, and what tables say of views.

use ash::vk;

use super::types::type_bit;

/// The types of descriptors that show a view to shaders that only read.
pub(super) const TYPES: [vk::DescriptorType; 3] = [
    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    vk::DescriptorType::SAMPLED_IMAGE,
    vk::DescriptorType::INPUT_ATTACHMENT,
];
/// Their bits.
pub(super) const BITS: u32 = type_bit(TYPES[0]) | type_bit(TYPES[1]) | type_bit(TYPES[2]);

/// Whether a descriptor of this type shows a view to shaders that only read.
pub(super) fn shows_aspects(ty: vk::DescriptorType) -> bool {
    TYPES.contains(&ty)
}

/// A view that descriptors get none in place of.
pub(super) const NOTHING: u64 = u64::MAX;
/// A view that cannot store, and that nothing stands in for.
pub(super) const LOST: u64 = u64::MAX - 1;
/// A view of unsigned integers itself, since all that it is for is to be stored to.
pub(super) const OWN: u64 = u64::MAX - 2;

/// Elements of a template that are stored to: views of images at these places of the data, or of buffers.
pub(super) struct ElementsOf {
    /// Offset of the first, distance to the next, and how many.
    pub(super) at: (usize, usize, usize),
    /// The binding that they are written to.
    pub(super) binding: u32,
    pub(super) shown: StandIn,
}

/// What stands in for views.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StandIn {
    /// An image that is stored to.
    Stored,
    /// A texel buffer that is stored to.
    Buffer,
    /// An image that is read.
    Read,
}

impl StandIn {
    /// What descriptors of a type show, if that may be something else than what they are written with.
    pub(super) fn of(ty: vk::DescriptorType) -> Option<Self> {
        match ty {
            vk::DescriptorType::STORAGE_IMAGE => Some(Self::Stored),
            vk::DescriptorType::STORAGE_TEXEL_BUFFER => Some(Self::Buffer),
            _ if BITS & type_bit(ty) != 0 && ty.as_raw() < 32 => Some(Self::Read),
            _ => None,
        }
    }
}
