//! Formats of storage images that a device cannot store, and that shaders convert.

use ash::vk::FormatFeatureFlags2 as Feature;
use samplin_core::storage::{self, StorableFormats};
use samplin_spirv::image_formats::Options;

use crate::caps::Formats;
use crate::dispatch::InstanceFns;
use crate::settings::{Separate, Settings};

/// The image formats that shaders do without on a device.
///
/// # Safety
///
/// `fns` are those that `formats` was made with, and their instance is alive.
pub(crate) unsafe fn formats(settings: &Settings, formats: &Formats, fns: &InstanceFns) -> Options {
    // SAFETY: `formats` and `fns` belong together, by this function's contract.
    let [images, buffers] = unsafe { known(formats, fns) };
    // Shaders of formats without a name are made in front of draws.
    let named = if settings.separate == Separate::Resolve { u64::MAX } else { !storage::UNNAMED };
    Options { images: images.lowered() & named, buffers: buffers.lowered() & named }
}

/// What a device can do with the formats of storage images, and with those of storage texel buffers.
///
/// # Safety
///
/// `fns` are those that `formats` was made with, and their instance is alive.
#[inline(never)]
pub(crate) unsafe fn known(formats: &Formats, fns: &InstanceFns) -> [StorableFormats; 2] {
    // SAFETY: `formats` and `fns` belong together, by this function's contract.
    let all = |format| unsafe { formats.get(fns, format) }.unwrap_or_default();
    let images = StorableFormats::of(&mut |format| all(format).optimal, Feature::STORAGE_IMAGE);
    [images, StorableFormats::of(&mut |format| all(format).buffer, Feature::STORAGE_TEXEL_BUFFER)]
}
