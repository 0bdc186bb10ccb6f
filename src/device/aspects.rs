//! Views of depth and stencil at once, and what descriptors show in their place: a view with one aspect, made with the application's and
//! gone with it (VUID-VkDescriptorImageInfo-imageView-01976).
//!
//! The view itself stays as it is: as an attachment it may have both aspects.

use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::lock::Lock;

use super::Device;
use super::storage::OWN;
use super::types::type_bit;
use crate::decide::aspect_read;
use crate::table::FlatTable;

/// The types of descriptors that show a view to shaders that only read.
const TYPES: [vk::DescriptorType; 3] = [
    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    vk::DescriptorType::SAMPLED_IMAGE,
    vk::DescriptorType::INPUT_ATTACHMENT,
];
/// Their bits.
pub(super) const BITS: u32 = type_bit(TYPES[0]) | type_bit(TYPES[1]) | type_bit(TYPES[2]);

/// The views of one device that have both aspects, while there are any.
pub(super) struct Aspects {
    /// Held while views enter the table or leave it.
    entering: Lock<()>,
    /// What descriptors show in place of a view.
    pub(super) views: FlatTable,
    /// Whether any is there.
    any: AtomicBool,
    /// Whether descriptors show the depth alone.
    shows_depth: bool,
}

impl Aspects {
    pub(super) fn new(shows_depth: bool) -> Self {
        Self { entering: Lock::new(()), views: FlatTable::new(8), any: AtomicBool::new(false), shows_depth }
    }

    /// Whether a view may be shown through another one.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }
}

impl Device {
    /// Says once of a format that a descriptor shows one aspect of a view with both.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_aspect(&self, view: u64) {
        self.guard(
            || {
                let class = self.class((self.hot.gate.view(view) as u32).wrapping_sub(1));
                let read = aspect_read(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL, u64::MAX);
                if let Some((class, (_, change))) = class.zip(read) {
                    let of = (class.tiling, Vec::new());
                    self.record_view(vk::ImageView::from_raw(view), class.traits.format, None, &[change], of);
                }
            },
            || (),
        );
    }

    /// Makes the view that descriptors show in place of one that was just made.
    ///
    /// # Safety
    ///
    /// `info` is the create info that the driver made `view` with.
    #[inline(never)]
    pub unsafe fn make_aspect(
        &self,
        create: vk::PFN_vkCreateImageView,
        info: &vk::ImageViewCreateInfo<'_>,
        view: vk::ImageView,
        aspect: vk::ImageAspectFlags,
    ) {
        // What is captured for a replay is made with data of its own, which no second view may have.
        let is_captured = info.flags.contains(vk::ImageViewCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        if !self.aspects.shows_depth || is_captured {
            return;
        }
        let mut info = *info;
        info.subresource_range.aspect_mask = aspect;
        let mut shown = vk::ImageView::null();
        if !self.audit {
            // SAFETY: the create info that the driver has just accepted, with one of its aspects; the handle is written to a local.
            let result = unsafe { create(self.handle, &info, std::ptr::null(), &mut shown) };
            if result != vk::Result::SUCCESS {
                return;
            }
        }
        // In audit mode it is said, and the view stays.
        let shown = if self.audit { OWN } else { shown.as_raw() };
        let _entering = self.aspects.entering.lock();
        self.aspects.views.insert(view.as_raw(), shown);
        self.aspects.any.store(true, Ordering::Release);
        self.hot.exchange(BITS);
    }

    /// Forgets what stands in for a view, which goes with it.
    pub(super) fn forget_aspect(&self, view: vk::ImageView) {
        if !self.aspects.any() {
            return;
        }
        let shown = {
            let _entering = self.aspects.entering.lock();
            let shown = self.aspects.views.remove(view.as_raw());
            if shown != 0 && self.aspects.views.is_empty() {
                self.aspects.any.store(false, Ordering::Release);
                TYPES.into_iter().for_each(|ty| self.hot.exchange_no_more(ty));
            }
            shown
        };
        self.destroy_aspect(shown);
    }

    fn destroy_aspect(&self, shown: u64) {
        if let Some(destroy) = self.fns.destroy_image_view.filter(|_| (1..OWN).contains(&shown)) {
            // SAFETY: made by `make_aspect` with a NULL allocator, and used by nothing that does not use the application's view, which is
            // being destroyed (VUID-vkDestroyImageView-imageView-01026), or its device.
            unsafe { destroy(self.handle, vk::ImageView::from_raw(shown), std::ptr::null()) };
        }
    }

    /// Destroys what stands in for views that the application did not destroy: for the end of the device.
    pub fn destroy_aspects(&self) {
        self.aspects.views.for_each(&mut |_, shown| self.destroy_aspect(shown));
    }
}
