//! What is noted of views with depth and stencil: which descriptors show them, and which programs read integers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::decide::Bits;
use ash::vk;

/// The bit of [`Brief::summary`](samplin_bind::Brief::summary) of a set that shows views with both aspects.
pub(super) const ASPECTS: u64 = (Bits::ASPECTS.0 as u64) << 32;

/// A descriptor of a view with both aspects, as the application wrote it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Binding and element.
    pub(super) at: (u32, u32),
    pub(super) ty: vk::DescriptorType,
    pub(super) info: vk::DescriptorImageInfo,
}

/// Whether sets have to note descriptors of views with both aspects, and binds to be followed for them.
#[derive(Default)]
pub(super) struct Wholes {
    /// There was such a view.
    pub(super) are_there: AtomicBool,
    /// A program reads integers.
    pub(super) are_read: AtomicBool,
}

impl Wholes {
    /// Whether there was a view with both aspects.
    #[inline(always)]
    pub(super) fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Acquire)
    }
}
