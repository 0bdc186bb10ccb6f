//! What objects hold of memory.

use ash::vk;
use samplin_testkit::context::Context;
use samplin_testkit::image::{Image, ImageDesc};

use crate::sample::create_view;

/// Bytes that the process holds on its heap.
fn heap() -> f64 {
    // SAFETY: mallinfo2 only reads the allocator's own records.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as f64
}

/// What objects hold, driver and layers together; the difference to no layer is the layer's.
pub(crate) struct Held {
    pub(crate) view: f64,
    pub(crate) sampler: f64,
    pub(crate) left: f64,
}

/// Creates many views and samplers and looks at the heap.
pub(crate) fn held(context: &Context) -> Held {
    const VIEWS: usize = 50_000;
    const SAMPLERS: usize = 3_000;
    let device = context.device();
    let image = Image::new(context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 4)).expect("an RGBA8 image");
    let view = || create_view(context, image.handle(), vk::Format::R8G8B8A8_UNORM);
    let before = heap();
    let views: Vec<_> = (0..VIEWS).map(|_| view()).collect();
    let per_view = (heap() - before) / VIEWS as f64;
    // SAFETY: the views are not in use.
    views.into_iter().for_each(|view| unsafe { device.destroy_image_view(view, None) });
    let before = heap();
    let samplers: Vec<_> = (0..SAMPLERS)
        .map(|n| {
            let info = vk::SamplerCreateInfo::default().mag_filter(vk::Filter::LINEAR).max_lod(n as f32 / 64.0);
            // SAFETY: a valid create info.
            unsafe { device.create_sampler(&info, None) }.expect("a sampler")
        })
        .collect();
    let per_sampler = (heap() - before) / SAMPLERS as f64;
    // SAFETY: the samplers are not in use.
    samplers.into_iter().for_each(|sampler| unsafe { device.destroy_sampler(sampler, None) });
    let before = heap();
    for _ in 0..1_000_000 {
        // SAFETY: the view is not in use.
        unsafe { device.destroy_image_view(view(), None) };
    }
    Held { view: per_view, sampler: per_sampler, left: heap() - before }
}
