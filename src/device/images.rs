//! Images, the swapchains that own some, and image views with the classes that decisions look at.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::Recent;
use samplin_hot::memory::Room;
use samplin_hot::recent::Words;
use vk_layer_sys::{ImageCreateFlags2CreateInfoKHR, ImageUsageFlags2CreateInfoKHR};

use super::classes::{ImageTraits, ViewClass};
use super::driver::Driver;
use super::ground::Ground;
use super::hot::Hot;
use crate::decide::{self, Aspect, BlitSource, ConflictBits, Divide, Reads, ViewTraits};
use crate::features::Tiling;
use crate::table::{FastMap, FlatTable, Interner, lock};

/// Swapchains, whose images never go through `vkCreateImage`.
#[derive(Default)]
struct Swapchains {
    /// Swapchains ever.
    made: u32,
    /// Handle → what [`Images::by_handle`] has for its images, and the images seen so far.
    by_handle: FastMap<u64, (u64, Vec<u64>)>,
}

/// Images, swapchains and views of one device. Which view is of which class stands in the gate.
pub struct Images {
    /// Image handle → traits number + 1 in the low half and the number of the swapchain that owns it, or 0, in the high one.
    by_handle: FlatTable,
    traits: Interner<ImageTraits, ImageTraits>,
    swapchains: Mutex<Swapchains>,
    classes: Interner<(ViewTraits, Tiling), ViewClass>,
    /// How many of these are others as shaders read them.
    read: AtomicUsize,
    /// Of views created lately: lacks in the high half and class number + 1 in the low half, by what they depend on.
    recent: Recent,
    /// Views ever of images that the layer never saw.
    strangers: AtomicU64,
    /// Answers of the cubic filter query by (image traits number, view type).
    cubic: Mutex<FastMap<(u32, i32), (bool, bool)>>,
    /// Whether any image may have views whose formats lack a part of its usage. Nothing is looked at before.
    narrows: AtomicBool,
}

impl Images {
    pub(super) fn new() -> Self {
        Self {
            by_handle: FlatTable::new(64),
            traits: Interner::new(),
            swapchains: Mutex::default(),
            classes: Interner::new(),
            read: AtomicUsize::new(0),
            recent: Recent::new(),
            strangers: AtomicU64::new(0),
            cubic: Mutex::default(),
            narrows: AtomicBool::new(false),
        }
    }

    // ---- images ----

    /// Number of an image's traits, if the layer saw the image.
    #[inline]
    pub fn image_number(&self, image: vk::Image) -> Option<u32> {
        (self.by_handle.get_in_line(image.as_raw()) as u32).checked_sub(1)
    }

    /// Traits of an image that the layer saw.
    pub fn image(&self, image: vk::Image) -> Option<(u32, &ImageTraits)> {
        let number = self.image_number(image)?;
        Some((number, self.traits.get(number)?))
    }

    /// Remembers an image.
    pub fn insert_image(&self, image: vk::Image, traits: ImageTraits) {
        self.watch_views_of(&traits);
        if let Some(number) = self.traits.intern(traits, |_| traits) {
            self.by_handle.insert(image.as_raw(), u64::from(number) + 1);
        }
    }

    /// Forgets an image, which cannot panic.
    pub fn forget_image(&self, image: vk::Image) {
        self.by_handle.remove(image.as_raw());
    }
}

impl Driver {
    /// Features of `format` with the image's tiling; `None` when they cannot be known.
    pub fn features(&self, image: &ImageTraits, format: vk::Format) -> Option<vk::FormatFeatureFlags2> {
        self.features_with(image.tiling, image.modifier, format)
    }

    /// The same for a tiling, with the modifier if it is one.
    pub(super) fn features_with(
        &self,
        tiling: Tiling,
        modifier: u64,
        format: vk::Format,
    ) -> Option<vk::FormatFeatureFlags2> {
        // SAFETY: `formats` was made for this device's instance, which outlives the device.
        let features = unsafe { self.formats.get(&self.instance_fns, format) }?;
        Some(features.with_tiling(tiling, modifier))
    }
}

impl Images {
    /// The source of a blit, if the image is kept.
    pub fn blit_source(&self, driver: &Driver, image: vk::Image) -> Option<(BlitSource, Tiling)> {
        let (_, traits) = self.image(image)?;
        let features = driver.features(traits, traits.format);
        Some((BlitSource { format: traits.format, image_type: traits.image_type, features }, traits.tiling))
    }

    /// Definitions of images so far.
    pub(super) fn image_definitions(&self) -> usize {
        self.traits.len()
    }

    /// Images kept, those of swapchains among them.
    pub fn images_kept(&self) -> usize {
        self.by_handle.len()
    }

    // ---- swapchains ----

    /// Remembers a swapchain by the traits of its images.
    pub fn insert_swapchain(&self, swapchain: vk::SwapchainKHR, traits: ImageTraits) {
        self.watch_views_of(&traits);
        if let Some(number) = self.traits.intern(traits, |_| traits) {
            let mut swapchains = lock(&self.swapchains);
            swapchains.made = swapchains.made.wrapping_add(1).max(1);
            let word = (u64::from(swapchains.made) << 32) | (u64::from(number) + 1);
            swapchains.by_handle.with_room().insert(swapchain.as_raw(), (word, Vec::new()));
        }
    }

    /// Remembers images of a swapchain.
    pub fn insert_swapchain_images(&self, swapchain: vk::SwapchainKHR, images: &[vk::Image]) {
        let mut swapchains = lock(&self.swapchains);
        let Some((word, seen)) = swapchains.by_handle.get_mut(&swapchain.as_raw()) else { return };
        for image in images {
            self.by_handle.insert(image.as_raw(), *word);
            if !seen.contains(&image.as_raw()) {
                seen.with_room().push(image.as_raw());
            }
        }
    }

    /// Forgets a swapchain and its images.
    pub fn forget_swapchain(&self, ground: &Ground, swapchain: vk::SwapchainKHR) {
        ground.guard(
            || {
                let gone = lock(&self.swapchains).by_handle.remove(&swapchain.as_raw());
                let Some((word, images)) = gone else { return };
                let mut table = self.by_handle.write();
                for image in images {
                    // A retired swapchain's image may have become another's before, under the same handle.
                    if self.by_handle.get(image) == word {
                        table.remove(image);
                    }
                }
            },
            || (),
        );
    }

    /// Whether a swapchain is kept.
    pub fn has_swapchain(&self, swapchain: vk::SwapchainKHR) -> bool {
        lock(&self.swapchains).by_handle.contains_key(&swapchain.as_raw())
    }

    // ---- views ----

    /// Has views looked at from now on, if a view of this image may lack a part of its usage.
    pub(super) fn watch_views_of(&self, traits: &ImageTraits) {
        if traits.is_short || traits.flags & u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw()) != 0 {
            self.narrows.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a view of any image may lack a part of the image's usage.
    pub fn narrows_views(&self) -> bool {
        self.narrows.load(Ordering::Relaxed)
    }

    /// What views are that depend on the same `words` as one before: lacks in the high half and class number + 1 in the low half, 0 if
    /// that is not known. Such a view reaches the driver unchanged.
    #[inline(always)]
    pub fn view_again(&self, words: &Words) -> u64 {
        self.recent.get(words)
    }

    /// Remembers a view of which that is known, if it takes no memory and the device is not passed through. Whether it did.
    #[inline(always)]
    pub fn insert_view_again(&self, ground: &Ground, view: vk::ImageView, known: u64) -> bool {
        ground.is_sound() && ground.hot.gate.insert_view_in_room(view.as_raw(), (known >> 32) as u32, known as u32 - 1)
    }

    /// The number of the class of a view.
    pub fn class_of(&self, driver: &Driver, traits: ViewTraits, tiling: Tiling) -> Option<u32> {
        self.classes.intern((traits, tiling), |_| ViewClass {
            traits,
            lacks: driver.relevant(decide::lacks(&traits, &driver.caps)),
            tiling,
        })
    }

    /// Remembers a view. `words`: what its class depends on, if that is all and it reached the driver unchanged.
    pub fn insert_view(
        &self,
        hot: &Hot,
        driver: &Driver,
        view: vk::ImageView,
        traits: ViewTraits,
        tiling: Tiling,
        words: Option<&Words>,
    ) {
        if let Some(class) = self.class_of(driver, traits, tiling) {
            let lacks = self.class(class).map_or(ConflictBits::NONE, |class| class.lacks);
            hot.gate.insert_view(view.as_raw(), lacks.0, class);
            if let Some(words) = words {
                self.recent.set(words, (u64::from(lacks.0) << 32) | (u64::from(class) + 1));
            }
        }
    }

    /// Counts a view of an image that the layer never saw.
    pub fn count_stranger(&self) {
        self.strangers.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of a view class as shaders read it.
    pub(super) fn class_as_read(&self, driver: &Driver, number: u32, reads: Reads) -> u32 {
        self.class_with(driver, number, |traits| ViewTraits { reads, ..traits })
    }

    /// The same where shaders divide coordinates in texels.
    pub(super) fn class_divided(&self, driver: &Driver, number: u32, reads: Reads, divide: Divide) -> u32 {
        self.class_with(driver, number, |traits| ViewTraits { reads, divide, ..traits })
    }

    /// The same where shaders do nothing but sample.
    pub(super) fn class_by_itself(&self, driver: &Driver, number: u32) -> u32 {
        self.class_with(driver, number, |traits| ViewTraits { by_itself: true, ..traits })
    }

    /// The same where shaders read the stencil of a view with both aspects.
    pub(super) fn class_of_stencil(&self, driver: &Driver, number: u32) -> u32 {
        self.class_with(driver, number, |traits| ViewTraits { aspect: Aspect::Stencil, ..traits })
    }

    fn class_with(&self, driver: &Driver, number: u32, with: impl FnOnce(ViewTraits) -> ViewTraits) -> u32 {
        let Some(class) = self.class(number) else { return number };
        let traits = with(class.traits);
        if traits == class.traits {
            return number;
        }
        let made = |_| {
            self.read.fetch_add(1, Ordering::Relaxed);
            ViewClass { traits, lacks: driver.relevant(decide::lacks(&traits, &driver.caps)), ..*class }
        };
        self.classes.intern((traits, class.tiling), made).unwrap_or(number)
    }

    /// A view class by its number.
    pub fn class(&self, number: u32) -> Option<&ViewClass> {
        self.classes.get(number)
    }

    /// View classes so far, however they are read.
    pub fn view_classes(&self) -> usize {
        self.classes.len().saturating_sub(self.read.load(Ordering::Relaxed))
    }

    /// Views ever.
    pub(super) fn views_created(&self, hot: &Hot) -> u64 {
        hot.gate.views_ever() + self.strangers.load(Ordering::Relaxed)
    }

    /// `filterCubic` and `filterCubicMinmax` of an image's parameters with a view type, asked once for each; `None` if the driver could
    /// not answer.
    pub fn cubic(
        &self,
        driver: &Driver,
        number: u32,
        image: &ImageTraits,
        view_type: vk::ImageViewType,
    ) -> Option<(bool, bool)> {
        let key = (number, view_type.as_raw());
        if let Some(answer) = lock(&self.cubic).get(&key) {
            return Some(*answer);
        }
        let Some(get) = driver.instance_fns.get_physical_device_image_format_properties2 else {
            return Some((true, true));
        };
        let mut view_info = vk::PhysicalDeviceImageViewImageFormatInfoEXT::default().image_view_type(view_type);
        let (mut flags, usage) =
            (ImageCreateFlags2CreateInfoKHR::new(image.flags), ImageUsageFlags2CreateInfoKHR::new(image.usage));
        if (image.flags | image.usage) >> 32 != 0 {
            // Only an application with VK_KHR_extended_flags can have such an image.
            flags.p_next = (&raw const usage).cast();
            view_info.p_next = (&raw mut flags).cast();
        }
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(image.format)
            .ty(image.image_type)
            .tiling(if image.tiling == Tiling::Linear { vk::ImageTiling::LINEAR } else { vk::ImageTiling::OPTIMAL })
            .usage(vk::ImageUsageFlags::from_raw(image.usage as u32))
            .flags(vk::ImageCreateFlags::from_raw(image.flags as u32))
            .push_next(&mut view_info);
        let mut cubic = vk::FilterCubicImageViewImageFormatPropertiesEXT::default();
        let mut properties = vk::ImageFormatProperties2::default().push_next(&mut cubic);
        // SAFETY: the physical device of `formats` belongs to this instance; the chains are made of live locals.
        let result = unsafe { get(driver.formats.physical(), &info, &mut properties) };
        let answer = match result {
            vk::Result::SUCCESS if image.tiling != Tiling::Modifier => {
                (cubic.filter_cubic != 0, cubic.filter_cubic_minmax != 0)
            }
            vk::Result::SUCCESS | vk::Result::ERROR_FORMAT_NOT_SUPPORTED => (true, true),
            // Out of memory, say, which may pass: the next view asks again.
            _ => return None,
        };
        lock(&self.cubic).with_room().insert(key, answer);
        Some(answer)
    }
}
