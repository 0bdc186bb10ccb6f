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

/// The bits of the types that are described by image infos.
const IMAGES: u32 = COMBINED
    | type_bit(vk::DescriptorType::SAMPLER)
    | type_bit(vk::DescriptorType::SAMPLED_IMAGE)
    | type_bit(vk::DescriptorType::STORAGE_IMAGE)
    | type_bit(vk::DescriptorType::INPUT_ATTACHMENT);

/// Whether descriptors of a type are described by image infos.
#[inline(always)]
pub(super) fn has_images(ty: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    match ty.as_raw() {
        0..32 => IMAGES & type_bit(ty) != 0,
        _ => matches!(ty, T::SAMPLE_WEIGHT_IMAGE_QCOM | T::BLOCK_MATCH_IMAGE_QCOM),
    }
}

/// Whether they are described by buffer infos.
pub(super) fn has_buffers(ty: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    matches!(ty, T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC)
}

/// Whether they are views of buffers.
pub(super) fn has_texels(ty: vk::DescriptorType) -> bool {
    matches!(ty, vk::DescriptorType::UNIFORM_TEXEL_BUFFER | vk::DescriptorType::STORAGE_TEXEL_BUFFER)
}
