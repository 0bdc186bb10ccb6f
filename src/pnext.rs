//! Walking `pNext` chains, and arrays that a structure or a command leads to.
//!
//! A node is read as its 16-byte base until its `sType` is known, because nodes may be smaller than the structure one
//! hopes for. A chain is followed for at most [`LIMIT`] nodes, so that a loop made by mistake ends.

use std::ffi::c_void;

use ash::vk::{self, TaggedStructure};

/// Longest chain that is followed.
pub const LIMIT: usize = 256;

/// The first two members that every chained structure has.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// `sType`.
    pub s_type: vk::StructureType,
    /// `pNext`.
    pub p_next: *const c_void,
}

/// Iterator over the nodes of a chain.
#[derive(Clone, Debug)]
pub struct Chain {
    next: *const Base,
    left: usize,
}

impl Iterator for Chain {
    type Item = *const Base;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.is_null() || self.left == 0 {
            return None;
        }
        let node = self.next;
        // SAFETY: `chain`'s caller promises that every non-null pNext leads to a readable base.
        self.next = unsafe { (*node).p_next }.cast();
        self.left -= 1;
        Some(node)
    }
}

/// The nodes of the chain that starts at `p_next`.
///
/// # Safety
///
/// Every non-null pointer of the chain leads to memory of at least [`Base`]'s size, as the valid usage of every
/// `pNext` member demands (VUID-…-pNext-pNext), for as long as the iterator is used.
pub unsafe fn chain(p_next: *const c_void) -> Chain {
    Chain { next: p_next.cast(), left: LIMIT }
}

/// A slice from a Vulkan (pointer, count) pair: empty when the count is 0, whatever the pointer.
///
/// # Safety
///
/// If `count` is not 0 and `first` not null, `first` points to `count` readable elements for `'a`.
#[inline(always)]
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 || first.is_null() {
        &[]
    } else {
        // SAFETY: neither null nor empty, so there are `count` elements for `'a` by this function's contract.
        unsafe { std::slice::from_raw_parts(first, count as usize) }
    }
}

/// The first structure of type `T` in the chain.
///
/// # Safety
///
/// As for [`chain`]; and a node whose `sType` is that of `T` is a whole `T` (VUID-…-sType-sType), for `'a`.
pub unsafe fn find<'a, T: TaggedStructure + 'a>(p_next: *const c_void) -> Option<&'a T> {
    // SAFETY: a node with the type of `T` is a whole `T` for `'a`, by this function's contract.
    unsafe { find_as(p_next, T::STRUCTURE_TYPE) }
}

/// As [`find`], for a structure that the bindings do not have.
///
/// # Safety
///
/// As for [`chain`]; and a node whose `sType` is `s_type` is a whole `T`, for `'a`.
pub unsafe fn find_as<'a, T: 'a>(p_next: *const c_void, s_type: vk::StructureType) -> Option<&'a T> {
    // SAFETY: every node of the chain is at least a base, by this function's contract.
    unsafe { chain(p_next) }.find_map(|node| {
        // SAFETY: `chain` yields readable bases; the type is checked before the rest is touched.
        unsafe { ((*node).s_type == s_type).then(|| &*node.cast::<T>()) }
    })
}

/// A copied node, in storage that no pointer into ever moves, aligned for every structure of Vulkan. Padding may be uninitialised, so
/// that the words are never read as such.
pub struct Copied(Box<[u64]>);

impl Copied {
    /// Copies a node; `None` if nobody knows its size.
    ///
    /// # Safety
    ///
    /// `node` is a node of the chain of a valid create info of one of the kinds that [`vk_layer_sys::sizes`] is about.
    pub unsafe fn new(node: *const Base) -> Option<Self> {
        // SAFETY: `node` is one of a valid chain by this function's contract, so its base can be read.
        let size = vk_layer_sys::sizes::of(unsafe { (*node).s_type })?;
        // SAFETY: a valid node of this type has this size.
        Some(unsafe { Self::sized(node, size) })
    }

    /// Copies a node of the chain of a stage or of a shader object, which goes on leading to what it leads to; `None` if nobody knows its
    /// size.
    ///
    /// # Safety
    ///
    /// `node` is a node of the chain of a valid create info of a stage or of a shader object.
    pub unsafe fn of_stage(node: *const Base) -> Option<Self> {
        // SAFETY: `node` is one of a valid chain by this function's contract, so its base can be read.
        let s_type = unsafe { (*node).s_type };
        let size = match s_type {
            vk::ShaderModuleCreateInfo::STRUCTURE_TYPE => size_of::<vk::ShaderModuleCreateInfo<'_>>(),
            _ => vk_layer_sys::sizes::in_pipeline(s_type)?.size,
        };
        // SAFETY: a valid node of this type has this size.
        Some(unsafe { Self::sized(node, size) })
    }

    /// # Safety
    ///
    /// `node` leads to so many bytes.
    unsafe fn sized(node: *const Base, size: usize) -> Self {
        let mut words = vec![0_u64; size.div_ceil(8)].into_boxed_slice();
        // SAFETY: `node` has this size by this function's contract, and `words` has at least as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(node.cast::<u8>(), words.as_mut_ptr().cast(), size) };
        Self(words)
    }

    /// `sType`.
    pub fn s_type(&self) -> vk::StructureType {
        // SAFETY: only `new` makes one, from at least a base.
        unsafe { (*self.0.as_ptr().cast::<Base>()).s_type }
    }

    /// The copy as a structure of type `T`, if that is what it is.
    pub fn get_mut<T: TaggedStructure>(&mut self) -> Option<&mut T> {
        let fits = self.s_type() == T::STRUCTURE_TYPE && size_of::<T>() <= size_of_val(&*self.0);
        // SAFETY: a copy of a whole structure of that type, in memory that is aligned for it and that nobody else points into while
        // `self` is borrowed.
        fits.then(|| unsafe { &mut *self.0.as_mut_ptr().cast() })
    }

    /// Puts the copy in front of a chain and returns the new chain.
    pub fn link(&mut self, next: *const c_void) -> *const c_void {
        let base = self.0.as_mut_ptr().cast::<Base>();
        // SAFETY: only `new` makes one, from at least a base.
        unsafe { (*base).p_next = next };
        base.cast_const().cast()
    }
}

/// Whether nothing is chained to an image but what its formats and the usage of its stencil aspect are.
///
/// Both sides of external memory state equal parameters, and 64-bit flags and usages are asked of in their own structures.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub unsafe fn is_plain_image(p_next: *const c_void) -> bool {
    // SAFETY: the chain of a valid create info, by this function's contract.
    unsafe { chain(p_next) }.all(|node| {
        // SAFETY: `chain` yields readable bases.
        let s_type = unsafe { (*node).s_type };
        [vk::ImageFormatListCreateInfo::STRUCTURE_TYPE, vk::ImageStencilUsageCreateInfo::STRUCTURE_TYPE]
            .contains(&s_type)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_structure_behind_unknown_ones() {
        let reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
        let unknown = Base { s_type: vk::StructureType::from_raw(0x7fff_0001), p_next: (&raw const reduction).cast() };
        // SAFETY: both nodes live on this stack frame.
        let found = unsafe { find::<vk::SamplerReductionModeCreateInfo>((&raw const unknown).cast()) };
        assert_eq!(found.map(|node| node.reduction_mode), Some(vk::SamplerReductionMode::MAX));
        // SAFETY: a local node without a successor, which is whole.
        assert!(unsafe { find::<vk::SamplerCustomBorderColorCreateInfoEXT>((&raw const unknown).cast()) }.is_none());
    }

    #[test]
    fn a_loop_ends() {
        let mut node = Base { s_type: vk::StructureType::from_raw(0x7fff_0001), p_next: std::ptr::null() };
        let pointer = &raw mut node;
        // SAFETY: `pointer` is valid; the chain leads back to it.
        unsafe { (*pointer).p_next = pointer.cast() };
        // SAFETY: the only node lives on this stack frame.
        assert_eq!(unsafe { chain(pointer.cast()) }.count(), LIMIT);
    }
}
