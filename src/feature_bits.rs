//! Where the bit of an ability lies in chains of feature structures.

use std::ffi::c_void;

use ash::vk;

use crate::ability::Ability;
use crate::pnext::{self, Base};

/// Its bits in a chain of structures of features that starts with the structure at `first`.
///
/// # Safety
///
/// As for [`pnext::chain`]; nodes of known types are whole.
unsafe fn bits(ability: &Ability, first: *const c_void) -> impl Iterator<Item = *const vk::Bool32> {
    // SAFETY: the chain that starts at `first` is a valid one, as `pnext::chain` asks.
    unsafe { pnext::chain(first) }.flat_map(move |node: *const Base| {
        // SAFETY: at least the base of each node that `pnext::chain` yields can be read, and `s_type` is in it.
        let s_type = unsafe { (*node).s_type };
        let members = ability.members.iter().filter(move |member| member.s_type == s_type);
        members.map(move |member| node.cast::<u8>().wrapping_add(member.offset).cast())
    })
}

/// Whether a device is created with the feature.
///
/// # Safety
///
/// `info` is valid.
pub(crate) unsafe fn is_enabled(ability: &Ability, info: &vk::DeviceCreateInfo<'_>) -> bool {
    // SAFETY: the chain of a valid create info; the bits lie in whole structures, by their type.
    if unsafe { bits(ability, info.p_next) }.any(|bit| unsafe { *bit } != 0) {
        return true;
    }
    // SAFETY: null or valid by VUID-VkDeviceCreateInfo-pEnabledFeatures-parameter.
    let Some(plain) = (unsafe { info.p_enabled_features.as_ref() }) else { return false };
    let two = vk::PhysicalDeviceFeatures2 { features: *plain, ..Default::default() };
    // SAFETY: a chain of one live local.
    unsafe { bits(ability, (&raw const two).cast()) }.any(|bit| unsafe { *bit } != 0)
}

/// Clears the feature in the chain of an answer.
///
/// # Safety
///
/// As for [`is_enabled`]; the command that has the chain may write it.
pub(crate) unsafe fn clear(ability: &Ability, first: *mut c_void) {
    // SAFETY: the chain may be read as `is_enabled` asks, and each bit that `bits` yields lies in a node that may be written, by
    // this function's contract.
    unsafe { bits(ability, first) }.for_each(|bit| unsafe { *bit.cast_mut() = vk::FALSE });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_and_cleared_where_they_are() {
        let anisotropy = Ability::by_name("samplerAnisotropy").unwrap();
        let minmax = Ability::by_name("samplerFilterMinmax").unwrap();
        let plain = vk::PhysicalDeviceFeatures { sampler_anisotropy: 1, ..Default::default() };
        let info = vk::DeviceCreateInfo::default().enabled_features(&plain);
        // SAFETY: valid create info without a chain.
        assert!(unsafe { is_enabled(anisotropy, &info) && !is_enabled(minmax, &info) });
        let mut twelve =
            vk::PhysicalDeviceVulkan12Features::default().sampler_filter_minmax(true).imageless_framebuffer(true);
        let mut two = vk::PhysicalDeviceFeatures2::default().features(plain).push_next(&mut twelve);
        let first = (&raw mut two).cast::<c_void>();
        let info = vk::DeviceCreateInfo { p_next: first, ..Default::default() };
        // SAFETY: a chain of live locals.
        unsafe {
            assert!(is_enabled(anisotropy, &info) && is_enabled(minmax, &info));
            clear(minmax, first);
            assert!(is_enabled(anisotropy, &info) && !is_enabled(minmax, &info));
        }
        assert_eq!((twelve.sampler_filter_minmax, twelve.imageless_framebuffer), (0, 1));
    }
}
