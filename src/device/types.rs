//! Descriptor types as words that can be compared at once.

use ash::vk;

/// The bit of a descriptor type. One of an extension has that of another, which is looked at in vain if that is watched.
#[inline(always)]
pub(super) const fn type_bit(ty: vk::DescriptorType) -> u32 {
    1_u32.wrapping_shl(ty.as_raw() as u32)
}

/// `descriptorType` in the high half and `descriptorCount` in the low one, which is how little-endian machines have the two members
/// in memory: one comparison tells both.
pub(super) const fn kind(ty: vk::DescriptorType, count: u32) -> u64 {
    ((ty.as_raw() as u32 as u64) << 32) | count as u64
}

/// The kind of a single combined image sampler.
pub(super) const SINGLE: u64 = kind(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 1);

/// The bit of combined image samplers.
pub(super) const COMBINED: u32 = type_bit(vk::DescriptorType::COMBINED_IMAGE_SAMPLER);

/// The first kind of which nothing is to be looked at: `SAMPLER` and `COMBINED_IMAGE_SAMPLER` are the first two types.
pub(super) const fn plain_from(watched: u32) -> u64 {
    let above = 32 - watched.leading_zeros() as u64;
    if watched == u32::MAX {
        u64::MAX
    } else if above > 2 {
        above << 32
    } else {
        2 << 32
    }
}
