//! Descriptor types as bits of a word.

use ash::vk;

/// The bit of a descriptor type. One of an extension has that of another, which is looked at in vain if that is watched.
#[inline(always)]
pub(super) const fn type_bit(ty: vk::DescriptorType) -> u32 {
    1_u32.wrapping_shl(ty.as_raw() as u32)
}
