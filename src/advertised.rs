//! What the application reads of storage images with `storage=advertise`: formats that the device cannot store and shaders convert.
//!
//! Only what an image of such a format can be made with is promised, and what any shader can do that declares its format. So no bit says
//! that a format can be stored without one, or in a texel buffer; sRGB formats, whose stores would have to be encoded, get no bit; and a
//! query is answered by what the driver says of the image that it would get.

use std::sync::Arc;

use ash::vk::{self, FormatFeatureFlags2 as Feature, ImageCreateFlags as Flags, ImageUsageFlags as Usage};
use samplin_core::storage;

use crate::caps::Formats;
use crate::dispatch::InstanceFns;
use crate::features::FormatFeatures;
use crate::format;
use crate::lowered;
use crate::pnext;
use crate::settings::Settings;
use crate::simulate::Simulation;

/// What the application reads of one physical device.
pub struct Advertised {
    formats: Formats,
    /// The image formats that shaders convert, as bits.
    lowered: u64,
    /// Framebuffers may compare flags and usages of images with what the application says.
    imageless: bool,
}

impl Advertised {
    /// What the application reads of a physical device, by what the settings ask for; none below version 1.1, where views cannot say what they are
    /// used for.
    ///
    /// # Safety
    ///
    /// `physical` is a valid physical device of the instance that `fns` were loaded for.
    pub unsafe fn new(
        settings: &Settings,
        fns: &InstanceFns,
        physical: vk::PhysicalDevice,
        simulation: Option<Arc<Simulation>>,
    ) -> Option<Self> {
        let mut properties = vk::PhysicalDeviceProperties::default();
        let mut imageless = vk::PhysicalDeviceImagelessFramebufferFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default();
        let has_imageless = |version| version >= vk::API_VERSION_1_2;
        // SAFETY: `physical` is valid by this function's contract; what is written to are live locals.
        unsafe {
            (fns.get_physical_device_properties?)(physical, &mut properties);
            if has_imageless(properties.api_version) {
                features = features.push_next(&mut imageless);
            }
            (fns.get_physical_device_features2?)(physical, &mut features);
        }
        if properties.api_version < vk::API_VERSION_1_1 {
            return None;
        }
        // SAFETY: `physical` is of the instance of `fns`, by this function's contract.
        let formats = unsafe { Formats::new(fns, physical, properties.api_version, simulation) };
        // SAFETY: the formats were made with these commands, whose instance is alive.
        let lowered = unsafe { lowered::formats(settings, &formats, fns) }.images;
        // Version 1.1 may have it as an extension, of which nothing was asked.
        let imageless = imageless.imageless_framebuffer != 0 || !has_imageless(properties.api_version);
        Some(Self { formats, lowered, imageless })
    }

    fn lowers(&self, format: vk::Format) -> bool {
        storage::lowers(self.lowered, format) && !format::is_srgb(format)
    }

    /// Adds what can be stored with the two tilings to what the application sees.
    ///
    /// # Safety
    ///
    /// `fns` are those of the instance.
    pub unsafe fn add(&self, fns: &InstanceFns, format: vk::Format, optimal: &mut Feature, linear: &mut Feature) {
        let Some(alias) = storage::alias(format).filter(|_| self.lowers(format)) else { return };
        // SAFETY: the formats were made with these commands, whose instance is alive.
        let alias = unsafe { self.formats.get(fns, alias) }.unwrap_or_default();
        for (own, alias) in [(optimal, alias.optimal), (linear, alias.linear)] {
            if !own.is_empty() && alias.contains(Feature::STORAGE_IMAGE) {
                *own |= Feature::STORAGE_IMAGE;
            }
        }
    }

    /// The create flags of an image that is stored to as it reaches the driver, if one like that can be made at all.
    ///
    /// # Safety
    ///
    /// `fns` are those of the instance; the chain of `info` is valid.
    pub unsafe fn flags(&self, fns: &InstanceFns, info: &vk::PhysicalDeviceImageFormatInfo2<'_>) -> Option<Flags> {
        let sparse = Flags::SPARSE_BINDING | Flags::SPARSE_RESIDENCY;
        let attachments = Usage::COLOR_ATTACHMENT | Usage::INPUT_ATTACHMENT;
        let alias = storage::alias(info.format).filter(|_| self.lowers(info.format))?;
        // SAFETY: the formats were made with these commands, whose instance is alive.
        let of = |format| unsafe { self.formats.get(fns, format) }.unwrap_or_default();
        let with_tiling = |features: FormatFeatures| match info.tiling {
            vk::ImageTiling::OPTIMAL => features.optimal,
            vk::ImageTiling::LINEAR => features.linear,
            _ => Feature::empty(),
        };
        let is_one = info.usage.contains(Usage::STORAGE)
            && !info.flags.intersects(sparse)
            && !(self.imageless && info.usage.intersects(attachments))
            // SAFETY: the chain is valid, by this function's contract.
            && unsafe { pnext::is_plain_image(info.p_next) }
            && with_tiling(of(alias)).contains(Feature::STORAGE_IMAGE);
        is_one.then(|| storage::flags_with_alias(info.flags, with_tiling(of(info.format))))
    }
}
