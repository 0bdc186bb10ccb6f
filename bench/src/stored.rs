//! Writes of storage images.

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout};
use samplin_testkit::image::{Image, ImageDesc};

use crate::sample::{CALLS, create_view, time};

/// What the simulated device does not store.
pub(crate) const LOWERED: vk::Format = vk::Format::B10G11R11_UFLOAT_PACK32;
/// What every device stores.
pub(crate) const STORED: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Calls of so many writes, each of `n` times the same view, to as many bindings.
pub(crate) fn measure(context: &Context, format: vk::Format, writes: usize, n: usize) -> f64 {
    let device = context.device();
    // Also sampled, so that the view of integers stands in for the application's own in descriptors alone.
    let desc = ImageDesc::d2(format, 4, 4).usage(vk::ImageUsageFlags::STORAGE);
    let image = Image::new(context, &desc).expect("an image that is stored to");
    let view = create_view(context, image.handle(), format);
    let binding = |at| Binding::new(at, vk::DescriptorType::STORAGE_IMAGE, n as u32);
    let layout = SetLayout::new(context, &(0..writes as u32).map(binding).collect::<Vec<_>>());
    let (_pool, set) = Pool::set(context, &layout);
    let info =
        vk::DescriptorImageInfo { image_view: view, image_layout: vk::ImageLayout::GENERAL, ..Default::default() };
    let infos = vec![info; n];
    let write = |at| {
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(at)
            .descriptor_type(vk::DescriptorType::STORAGE_IMAGE)
            .image_info(&infos)
    };
    let call: Vec<_> = (0..writes as u32).map(write).collect();
    // SAFETY: valid writes to a set that is not in use.
    let ns = time(&vec![call; CALLS], |writes| unsafe { device.update_descriptor_sets(writes, &[]) });
    // SAFETY: nothing was submitted.
    unsafe { device.destroy_image_view(view, None) };
    ns
}
