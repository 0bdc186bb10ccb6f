//! Views with depth and stencil, and writes of descriptors that show them.

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::image::{Image, ImageDesc, View, ViewDesc};

use crate::sample::{CALLS, combined, time};

/// An image of depth and stencil, and a view of both.
pub(crate) fn with_both(context: &Context) -> (Image<'_>, View<'_>) {
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let image = Image::new(context, &ImageDesc::d2(format, 4, 4)).expect("an image of depth and stencil");
    let view = image.view(&ViewDesc::aspect(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL));
    (image, view)
}

/// Calls of one write of `n` descriptors of a set, of which all show a view with both aspects: they show another one and that view by
/// turns.
pub(crate) fn measure(
    context: &Context,
    set: vk::DescriptorSet,
    (plain, both): (&[vk::DescriptorImageInfo], vk::ImageView),
    n: usize,
) -> f64 {
    let device = context.device();
    let shown = plain.iter().map(|info| vk::DescriptorImageInfo { image_view: both, ..*info });
    let shown: Vec<_> = shown.collect();
    // SAFETY: a valid write to a set that only this thread uses.
    unsafe { device.update_descriptor_sets(&[combined(set, 0, &shown)], &[]) };
    let calls: Vec<_> = (0..CALLS)
        .map(|call| {
            let (infos, at) = (if call % 2 == 0 { plain } else { &shown }, call / 2 * n % plain.len());
            [combined(set, at as u32, &infos[at..at + n])]
        })
        .collect();
    // SAFETY: as above.
    time(&calls, |writes| unsafe { device.update_descriptor_sets(writes, &[]) })
}
