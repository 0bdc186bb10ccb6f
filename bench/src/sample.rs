//! One sample: calls that are timed together, and what all scenes make for them.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ash::vk;
use samplin_testkit::context::Context;

use crate::callgrind;

/// Calls that one sample times together.
pub(crate) const CALLS: usize = 256;
/// How often they are made for one sample, so that reading the clock does not count.
pub(crate) const PASSES: usize = 4;
/// Calls that one sample of instructions covers.
pub(crate) const COUNTED: usize = CALLS * PASSES;

/// CPU time of the calling thread in ns.
pub(crate) fn thread_ns() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime writes one `timespec` through the pointer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

pub(crate) fn create_view(context: &Context, image: vk::Image, format: vk::Format) -> vk::ImageView {
    create_view_of(context, image, format, vk::ComponentMapping::default())
}

/// A view that exchanges components.
pub(crate) fn create_view_of(
    context: &Context,
    image: vk::Image,
    format: vk::Format,
    components: vk::ComponentMapping,
) -> vk::ImageView {
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .components(components)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        });
    // SAFETY: a valid create info.
    unsafe { context.device().create_image_view(&info, None) }.expect("a view")
}

/// Whether each call comes behind an atomic, as where a program takes a lock. It waits for what the driver's last call has combined to
/// write.
pub(crate) static BEHIND_ATOMICS: AtomicBool = AtomicBool::new(false);

/// ns of thread CPU time per call, after one untimed pass that brings everything into the caches. Under callgrind the
/// instructions of the timed passes are written as well.
pub(crate) fn time<T>(calls: &[T], mut call: impl FnMut(&T)) -> f64 {
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    if BEHIND_ATOMICS.load(Ordering::Relaxed) {
        let behind = |c: &T| {
            TAKEN.fetch_add(1, Ordering::SeqCst);
            call(c);
        };
        return time_alone(calls, behind);
    }
    time_alone(calls, call)
}

fn time_alone<T>(calls: &[T], mut call: impl FnMut(&T)) -> f64 {
    calls.iter().for_each(|c| call(black_box(c)));
    callgrind::zero();
    let start = thread_ns();
    for _ in 0..PASSES {
        calls.iter().for_each(|c| call(black_box(c)));
    }
    let ns = (thread_ns() - start) / (calls.len() * PASSES) as f64;
    callgrind::dump(c"sample");
    ns
}

/// A write of combined ones to binding 0 of a set.
pub(crate) fn combined(
    set: vk::DescriptorSet,
    element: u32,
    infos: &[vk::DescriptorImageInfo],
) -> vk::WriteDescriptorSet<'_> {
    vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(0)
        .dst_array_element(element)
        .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
        .image_info(infos)
}

/// A write of a sampler alone.
pub(crate) fn sampler_write<'i>(
    set: vk::DescriptorSet,
    binding: u32,
    info: &'i [vk::DescriptorImageInfo; 1],
) -> vk::WriteDescriptorSet<'i> {
    let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
    write.descriptor_type(vk::DescriptorType::SAMPLER).image_info(info)
}
