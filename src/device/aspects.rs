//! Views of depth and stencil at once, and what descriptors show in their place: a view with one aspect, made with the application's and
//! gone with it (VUID-VkDescriptorImageInfo-imageView-01976).
//!
//! Descriptors are written with the depth. A draw whose shader declares integers gets the stencil (`separate::aspects`). The view itself
//! stays as it is: as an attachment it may have both aspects.

use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, Handle, ImageAspectFlags as Aspect};
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::lock::Lock;
use serde_json::json;

use super::classes::ImageTraits;
use super::driver::Driver;
use super::ground::Ground;
use super::hot::Hot;
use super::images::Images;
use super::separate::force::Force;
use super::shown::{BITS, OWN, TYPES};
use super::usage::DriverView;
use crate::counters::Path;
use crate::decide::{Rule, aspect_shown};
use crate::table::FlatTable;
use crate::{format, names};

/// The views of one device that have both aspects, while there are any.
pub struct Aspects {
    /// Held while views enter the tables or leave them.
    entering: Lock<()>,
    /// The view of the depth, by the application's view.
    pub(super) depths: FlatTable,
    /// The view of the stencil, by the application's view.
    stencils: FlatTable,
    /// The application's view, by that of the stencil.
    wholes: FlatTable,
    /// Whether any is there.
    any: AtomicBool,
    /// Whether descriptors show one aspect alone.
    is_on: bool,
    force: Force,
}

/// What of a view shaders read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownAspect {
    /// What it shows.
    Itself,
    /// The aspect that they declare, of two.
    OneAspect,
    /// What the driver makes of two aspects, if it has two.
    Unknown,
}

impl Aspects {
    /// What shaders read of a view of this format.
    pub(super) fn shown(&self, view: u64, format: vk::Format) -> ShownAspect {
        let has_both = format::aspects(format).contains(Aspect::DEPTH | Aspect::STENCIL);
        match self.is_on {
            false if has_both => ShownAspect::Unknown,
            true if has_both && self.any() && self.depths.get(view) != 0 => ShownAspect::OneAspect,
            _ => ShownAspect::Itself,
        }
    }

    pub(super) fn new(is_on: bool) -> Self {
        let [depths, stencils, wholes] = [(); 3].map(|()| FlatTable::new(8));
        Self {
            entering: Lock::new(()),
            depths,
            stencils,
            wholes,
            any: AtomicBool::new(false),
            is_on,
            force: Force::default(),
        }
    }

    /// Whether a view may be shown through another one.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Whether descriptors of views with both aspects show one.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether descriptors show another view in place of each, also of one with one aspect: a test switch.
    pub fn makes_twins(&self) -> bool {
        self.is_on && self.force.twins()
    }

    /// Whether what descriptors show of a view is another thing than it.
    pub(super) fn shows_less(&self, view: u64) -> bool {
        !self.makes_twins() || self.stencil(view) != 0
    }

    /// The view of a view's stencil; 0 if there is none.
    pub(super) fn stencil(&self, view: u64) -> u64 {
        if self.any() { self.stencils.get(view) } else { 0 }
    }

    /// The view that this one shows the stencil of; 0 if it is none of these.
    pub(super) fn whole(&self, stencil: u64) -> u64 {
        if self.any() { self.wholes.get(stencil) } else { 0 }
    }
}

impl Images {
    /// Says once of a format that descriptors show this aspect of a view with both.
    #[cold]
    #[inline(never)]
    pub(super) fn record_aspect(&self, ground: &Ground, view: u64, aspect: Aspect) {
        ground.guard(
            || {
                let class = self.class((ground.hot.gate.view(view) as u32).wrapping_sub(1));
                if let Some(class) = class {
                    let change = aspect_shown(aspect);
                    // Descriptors are written with the depth, and a draw gets the stencil.
                    let path = if aspect == Aspect::STENCIL { Path::Draw.name() } else { "descriptor" };
                    let (view, format) = (vk::ImageView::from_raw(view), class.traits.format);
                    ground.journal.record_view(
                        view,
                        format,
                        DriverView { path: Some(path), ..DriverView::default() },
                        &[change],
                        class.tiling,
                        Vec::new(),
                    );
                }
            },
            || (),
        );
    }

    /// The pair of a sampler and the stencil of a view with both aspects, if they conflict.
    pub(super) fn stencil_pair(&self, hot: &Hot, driver: &Driver, sampler: u64, view: u64) -> Option<Pair> {
        let (needs, lacks) = (hot.gate.sampler(sampler), hot.gate.view(view));
        let class = self.class_of_stencil(driver, (lacks as u32).checked_sub(1)?);
        let state = (needs as u32).checked_sub(1)?;
        let conflicts = (needs >> 32) as u32 & self.class(class)?.lacks.0 != 0;
        conflicts.then_some(Pair { sampler, view, state, class })
    }
}

impl Aspects {
    /// Notes an image that may have views with both aspects which shaders read.
    pub fn expect(&self, ground: &Ground, image: &ImageTraits) {
        let is_read = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::INPUT_ATTACHMENT;
        let is_read = (image.usage | image.stencil_usage) & u64::from(is_read.as_raw()) != 0;
        if is_read
            && self.is_on
            && format::aspects(image.format).contains(Aspect::DEPTH | Aspect::STENCIL)
            && let Some(follower) = &ground.follower
        {
            follower.expect_wholes();
        }
    }

    /// Makes the views that descriptors show in place of one that was just made.
    ///
    /// # Safety
    ///
    /// `info` is the create info that the driver made `view` with.
    #[inline(never)]
    pub unsafe fn make_aspects(
        &self,
        ground: &Ground,
        create: vk::PFN_vkCreateImageView,
        info: &vk::ImageViewCreateInfo<'_>,
        view: vk::ImageView,
    ) {
        // What is captured for a replay is made with data of its own, which no second view may have.
        let is_captured = info.flags.contains(vk::ImageViewCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
        if !self.is_on || is_captured {
            return;
        }
        let make = |aspect| {
            let mut info = *info;
            info.subresource_range.aspect_mask = aspect;
            let mut shown = vk::ImageView::null();
            // SAFETY: the create info that the driver has just accepted, with one of its aspects; the handle is written to a local.
            let result = unsafe { create(ground.driver.handle, &info, std::ptr::null(), &mut shown) };
            if result == vk::Result::SUCCESS { shown.as_raw() } else { 0 }
        };
        let own = info.subresource_range.aspect_mask;
        let has_both = own.contains(Aspect::DEPTH | Aspect::STENCIL);
        // In audit mode it is said, and the view stays.
        let shown = if has_both { Aspect::DEPTH } else { own };
        let depth = if ground.wishes.audit { OWN } else { make(shown) };
        if depth == 0 {
            let about =
                json!({ "format": names::format(info.format), "view": samplin_wire::text::handle(view.as_raw()) });
            let key = (info.format.as_raw() as u64, 0);
            return ground.journal.unresolved(Left::Memory, Some(Rule::Aspect), about, key);
        }
        self.force.keep_twin();
        let follows = has_both && !ground.wishes.audit && ground.wishes.follows;
        let stencil = if follows { make(Aspect::STENCIL) } else { 0 };
        let _entering = self.entering.lock();
        if stencil != 0 {
            self.stencils.insert(view.as_raw(), stencil);
            self.wholes.insert(stencil, view.as_raw());
        }
        self.depths.insert(view.as_raw(), depth);
        self.any.store(true, Ordering::Release);
        ground.hot.exchange(BITS);
        if let Some(follower) = ground.follower.as_ref().filter(|_| has_both) {
            follower.follow_wholes(&ground.hot);
        }
    }

    /// Forgets what stands in for a view, which goes with it.
    pub(super) fn forget_aspects(&self, hot: &Hot, driver: &Driver, view: vk::ImageView) {
        if !self.any() {
            return;
        }
        let shown = {
            let _entering = self.entering.lock();
            let depth = self.depths.remove(view.as_raw());
            let stencil = self.stencils.remove(view.as_raw());
            self.wholes.remove(stencil);
            if depth != 0 && self.depths.is_empty() {
                self.any.store(false, Ordering::Release);
                TYPES.into_iter().for_each(|ty| hot.exchange_no_more(ty));
            }
            [depth, stencil]
        };
        shown.into_iter().for_each(|shown| driver.destroy_aspect(shown));
    }

    /// Destroys what stands in for views that the application did not destroy: for the end of the device.
    pub fn destroy_aspects(&self, driver: &Driver) {
        for shown in [&self.depths, &self.stencils] {
            shown.for_each(&mut |_, shown| driver.destroy_aspect(shown));
        }
    }
}

impl Driver {
    fn destroy_aspect(&self, shown: u64) {
        if let Some(destroy) = self.fns.destroy_image_view.filter(|_| (1..OWN).contains(&shown)) {
            // SAFETY: made by `make_aspects` with a NULL allocator, and used by nothing that does not use the application's view, which is
            // being destroyed (VUID-vkDestroyImageView-imageView-01026), or its device.
            unsafe { destroy(self.handle, vk::ImageView::from_raw(shown), std::ptr::null()) };
        }
    }
}
