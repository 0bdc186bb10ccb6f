//! What is kept comes back member by member, and what may dangle is not read: a pointer to the first page crashes whoever does.

mod compute;
mod graphics;
mod layouts;
mod made;
mod pointers;
mod render_pass;
mod shader;
mod table;

use std::ptr;

use crate::pnext::{self, Base};
use ash::vk;

/// Nothing is mapped there.
fn dangling<T>() -> *const T {
    ptr::without_provenance(0x10)
}

/// Compares members by name.
macro_rules! same {
    ($left:expr, $right:expr; $($($member:ident).+),+) => {
        $(assert_eq!($left.$($member).+, $right.$($member).+, stringify!($($member).+));)+
    };
}
use same;

/// The bytes of an array without padding.
///
/// # Safety
///
/// `from` leads to `count` elements.
unsafe fn bytes<'a, T>(from: *const T, count: u32) -> &'a [u8] {
    assert!(!from.is_null());
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from.cast(), count as usize * size_of::<T>()) }
}

/// The types of a chain.
///
/// # Safety
///
/// As for [`pnext::chain`].
unsafe fn types(p_next: *const std::ffi::c_void) -> Vec<vk::StructureType> {
    // SAFETY: the chain is one that `pnext::chain` may walk, by this function's contract.
    unsafe { pnext::chain(p_next) }.map(|node| unsafe { (*node).s_type }).collect()
}

/// A structure that nobody knows.
fn unknown() -> Base {
    Base { s_type: vk::StructureType::from_raw(0x7fff_0001), p_next: ptr::null() }
}
