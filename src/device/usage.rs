//! Usage of views and images that their formats cannot have: what reaches the driver instead, and what is said of it.

use std::ffi::c_void;

use ash::vk::{self, Handle};
use samplin_core::left::Cause;
use samplin_wire::kinds;
use samplin_wire::text::handle;
use samplin_wire::words::ImageClass;
use serde_json::Value as Json;
use vk_layer_sys::{ImageCreateFlags2CreateInfoKHR, ImageUsageFlags2CreateInfoKHR};

use super::classes::ImageTraits;
use super::driver::Driver;
use super::journal::Journal;
use crate::decide::{self, Change, Changes, Context, Rule};
use crate::features::Tiling;
use crate::names;
use crate::pnext;
use crate::record;

/// What is captured of such an image is of its own flags.
pub(super) const CAPTURED: vk::ImageCreateFlags = vk::ImageCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT;

/// The formats that the chain of an image or swapchain says views may have.
///
/// # Safety
///
/// `p_next` is the chain of a valid create info.
pub unsafe fn listed<'a>(p_next: *const c_void) -> Option<&'a [vk::Format]> {
    // SAFETY: the chain is valid by this function's contract, so a list in it is whole and has as many formats as it says
    // (VUID-VkImageFormatListCreateInfo-pViewFormats-parameter).
    unsafe {
        let node = pnext::find::<vk::ImageFormatListCreateInfo<'_>>(p_next)?;
        (node.view_format_count > 0).then(|| pnext::slice(node.p_view_formats, node.view_format_count))
    }
}

/// The create flags that count: with `VkImageCreateFlags2CreateInfoKHR` chained the word is ignored (VkImageCreateInfo).
///
/// # Safety
///
/// `p_next` is the chain of a valid `VkImageCreateInfo`.
#[inline(never)]
pub unsafe fn wide_flags(p_next: *const c_void, word: vk::ImageCreateFlags) -> u64 {
    type Wide = ImageCreateFlags2CreateInfoKHR;
    // SAFETY: `p_next` is a valid chain by this function's contract, so a node that says that it is a `Wide` is a whole one.
    unsafe { pnext::find_as::<Wide>(p_next, Wide::STRUCTURE_TYPE) }.map_or(word.as_raw().into(), |wide| wide.flags)
}

/// The usage that counts: with `VkImageUsageFlags2CreateInfoKHR` chained the word is ignored (VkImageCreateInfo,
/// VkSwapchainCreateInfoKHR).
///
/// # Safety
///
/// `p_next` is the chain of a valid create info of an image or a swapchain.
#[inline(never)]
pub unsafe fn wide_usage(p_next: *const c_void, word: vk::ImageUsageFlags) -> u64 {
    type Wide = ImageUsageFlags2CreateInfoKHR;
    // SAFETY: `p_next` is the valid chain of an image or a swapchain by this function's contract, so a usage structure in it is
    // whole.
    unsafe { pnext::find_as::<Wide>(p_next, Wide::STRUCTURE_TYPE) }.map_or(word.as_raw().into(), |wide| wide.usage)
}

/// What records say of a usage that is left.
#[inline(never)]
fn of_usage(format: vk::Format, usage: u64) -> Json {
    record::object(&mut [("format", names::format(format).into()), ("usage", names::image_usage(usage).into())])
}

/// The tiling of an image that is not laid out by a modifier.
pub(super) fn tiling_of(tiling: vk::ImageTiling) -> Option<Tiling> {
    match tiling {
        vk::ImageTiling::OPTIMAL => Some(Tiling::Optimal),
        vk::ImageTiling::LINEAR => Some(Tiling::Linear),
        _ => None,
    }
}

impl Driver {
    /// What of an image's usage one of its formats has.
    pub fn reachable_usage(&self, traits: &ImageTraits, formats: Option<&[vk::Format]>) -> u64 {
        let has = |format: &vk::Format| self.features(traits, *format);
        let Some(own) = has(&traits.format) else { return traits.usage };
        let mut listed = formats.map(|formats| formats.iter().filter_map(has));
        let listed = listed.as_mut().map(|listed| listed as &mut dyn Iterator<Item = _>);
        decide::reachable_usage(traits.usage, traits.flags, own, listed)
    }

    /// Finds out what of the usage of a swapchain's images their formats have. What none has the views go without, since the images are
    /// there; the swapchain itself stays as it is and is named.
    pub fn weigh_swapchain(&self, journal: &Journal, traits: &mut ImageTraits, formats: Option<&[vk::Format]>) {
        let gone = traits.usage & !self.reachable_usage(traits, formats);
        traits.is_short = gone != 0;
        if traits.is_short {
            let mut about = of_usage(traits.format, gone);
            about["vuid"] = "VUID-VkSwapchainCreateInfoKHR-imageFormat-01778".into();
            let (rule, key) = (Some(Rule::ImageUsage), (traits.format.as_raw() as u64, gone | 1 << 63));
            journal.unresolved(Cause::SwapchainUsage, rule, about, key);
        }
    }

    /// The usage that a view reaches the driver with, if not that which it inherits, and the changes.
    pub fn narrowed_usage(
        &self,
        journal: &Journal,
        image: &ImageTraits,
        format: vk::Format,
        stated: Option<u64>,
        inherited: u64,
    ) -> Option<(u64, Changes)> {
        if !image.may_lack_usage(format) {
            return None;
        }
        let features = self.features(image, format)?;
        let gone = decide::unsupported_usage(stated.unwrap_or(inherited), features);
        if gone == 0 {
            return None;
        }
        let asked = decide::ViewUsage {
            features,
            inherited,
            of_image: image.reachable,
            can_state_usage: self.caps.view_usage,
            imageless: self.caps.imageless_framebuffer,
        };
        let why = match (stated, decide::view_usage(&asked)) {
            (None, Ok(narrowed)) => return Some(narrowed),
            (None, Err(why)) => why,
            (Some(_), _) => Cause::StatedUsage,
        };
        let (rule, key) = (Some(Rule::ViewUsage), (format.as_raw() as u64, gone));
        journal.unresolved(why, rule, of_usage(format, gone), key);
        None
    }

    /// The flags that an image reaches the driver with, if not its own, with the change: its usage is one that only other formats of its
    /// list have.
    ///
    /// # Errors
    /// None do; whether that was recorded.
    ///
    /// # Safety
    ///
    /// `info` is valid.
    pub(super) unsafe fn wider_flags(
        &self,
        journal: &Journal,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<(vk::ImageCreateFlags, Change), bool> {
        let own_flags = info.flags;
        if !own_flags.contains(vk::ImageCreateFlags::MUTABLE_FORMAT) || !self.caps.view_usage {
            return Err(false);
        }
        // SAFETY: `info` is valid by this function's contract, so each node of its chain can be read as a base.
        let plain = unsafe { pnext::is_plain_image(info.p_next) };
        let tiling = tiling_of(info.tiling).ok_or(false)?;
        // SAFETY: `info` is valid by this function's contract, so a list of formats in its chain is whole.
        let formats = unsafe { listed(info.p_next) }.ok_or(false)?;
        let features = |format| self.features_with(tiling, 0, format);
        let own = features(info.format).ok_or(false)?;
        let listed = formats.iter().filter_map(|format| features(*format));
        let (flags, usage) = (u64::from(own_flags.as_raw()), u64::from(info.usage.as_raw()));
        let (wider, change) = decide::image_flags(flags, usage, own, listed).ok_or(false)?;
        let wider = vk::ImageCreateFlags::from_raw(wider as u32);
        let attachments = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let why = if !plain {
            Cause::ImageChain
        } else if own_flags.contains(CAPTURED) {
            Cause::CapturedImage
        } else if self.caps.imageless_framebuffer && info.usage.intersects(attachments) {
            Cause::ImagelessImage
        // SAFETY: `info` is valid, and its chain is what the query takes.
        } else if !unsafe { self.can_make(info, wider, info.p_next) } {
            Cause::NoExtendedImage
        } else {
            return Ok((wider, change));
        };
        let key = (info.format.as_raw() as u64, usage);
        journal.unresolved(why, Some(Rule::ImageUsage), of_usage(info.format, usage), key);
        Err(true)
    }

    /// Whether the device can make an image with these flags and this chain instead of its own.
    ///
    /// # Safety
    ///
    /// `info` is valid, and so is the chain, which has nothing but what extends `VkPhysicalDeviceImageFormatInfo2` as well.
    pub(super) unsafe fn can_make(
        &self,
        info: &vk::ImageCreateInfo<'_>,
        flags: vk::ImageCreateFlags,
        p_next: *const c_void,
    ) -> bool {
        let Some(get) = self.instance_fns.get_physical_device_image_format_properties2 else { return false };
        let asked = vk::PhysicalDeviceImageFormatInfo2 {
            p_next,
            format: info.format,
            ty: info.image_type,
            tiling: info.tiling,
            usage: info.usage,
            flags,
            ..Default::default()
        };
        let mut properties = vk::ImageFormatProperties2::default();
        // SAFETY: the physical device of `formats` belongs to this instance; the chain is the caller's.
        let result = unsafe { get(self.formats.physical(), &asked, &mut properties) };
        let limits = properties.image_format_properties;
        let (extent, most) = (info.extent, limits.max_extent);
        result == vk::Result::SUCCESS
            && extent.width <= most.width
            && extent.height <= most.height
            && extent.depth <= most.depth
            && info.mip_levels <= limits.max_mip_levels
            && info.array_layers <= limits.max_array_layers
            && limits.sample_counts.contains(info.samples)
    }
}

/// How the driver gets a view.
#[derive(Default)]
pub struct DriverView<'p> {
    /// Another format than the application's.
    pub alias: Option<vk::Format>,
    /// Where, if not when the view is created.
    pub path: Option<&'p str>,
}

impl Journal {
    /// Writes a `view` record; `class` is what a prediction needs, at the level all.
    #[inline(never)]
    pub fn record_view(
        &self,
        view: vk::ImageView,
        format: vk::Format,
        shown: DriverView<'_>,
        changes: &[Change],
        tiling: Tiling,
        class: Vec<u64>,
    ) {
        if let Some(changes) = self.changes_of_usage("view", format, tiling, changes) {
            let name = self.name(vk::ObjectType::IMAGE_VIEW, view.as_raw());
            let (view, format) = (handle(view.as_raw()), names::format(format));
            let (alias_format, path) = (shown.alias.map(names::format), shown.path.map(str::to_owned));
            self.trace().emit("view", &kinds::View { view, name, format, alias_format, path, changes, class });
        }
    }

    /// Writes an `image` record; at the level all of each image that may have to change on some device. `asked`: its flags and usage as the
    /// application has them.
    #[inline(never)]
    pub fn record_image(
        &self,
        driver: &Driver,
        image: vk::Image,
        traits: &ImageTraits,
        asked: (u64, u64),
        formats: Option<&[vk::Format]>,
        change: Option<Change>,
    ) {
        let (mutable, stores) = (vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw(), vk::ImageUsageFlags::STORAGE.as_raw());
        if change.is_none() && asked.0 & u64::from(mutable) == 0 && asked.1 & u64::from(stores) == 0 {
            return;
        }
        let (format, tiling) = (traits.format, traits.tiling);
        if let Some(changes) = self.changes_of_usage("image", format, tiling, change.as_slice()) {
            let of = |one| driver.features(traits, one);
            let is_all = self.records_all();
            let class =
                if is_all { ImageClass::write(tiling, asked.0, asked.1, formats, format, &of) } else { Vec::new() };
            let name = self.name(vk::ObjectType::IMAGE, image.as_raw());
            let (image, format) = (handle(image.as_raw()), names::format(format));
            self.trace().emit("image", &kinds::Image { image, name, format, changes, class });
        }
    }

    /// Changes as a record has them, if there is to be one: at the level all also of what did not change.
    fn changes_of_usage(
        &self,
        event: &'static str,
        format: vk::Format,
        tiling: Tiling,
        changes: &[Change],
    ) -> Option<Vec<Json>> {
        match changes.first() {
            Some(first) if !self.is_news_of_usage(event, format, first, self.records_all()) => return None,
            None if !self.records_all() => return None,
            _ => {}
        }
        self.count(changes);
        let context = Context { source: Some(format), tiling, ..self.context(None) };
        self.records_decisions().then(|| record::changes(changes, &context))
    }
}
