//! Hooks of `live=on`. Each replaces the hook that it calls, so that nothing is asked without `live=on`.
//!
//! Creating a sampler and updating a set hold the rules, so no others come into force meanwhile. Updates also note combined descriptors,
//! and submissions read the rules file again.

use std::ffi::c_void;

use ash::vk;

use super::{descriptor, queue, sampler, template};
use crate::device::{Copied, Filled, Live, Submitting, Writes};
use crate::pnext::slice;

pub(crate) unsafe extern "system" fn create_sampler(
    handle: vk::Device,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    made: *mut vk::Sampler,
) -> vk::Result {
    let device = enter!(handle);
    let _rules = device.ground.wishes.hold_rules();
    // SAFETY: the application's own arguments.
    unsafe { sampler::create_sampler(handle, create_info, allocator, made) }
}

pub(crate) unsafe extern "system" fn update_descriptor_sets(
    handle: vk::Device,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    let device = enter!(handle);
    let _rules = device.ground.wishes.hold_rules();
    // SAFETY: `count` writes and `copy_count` copies of valid sets (VUID-vkUpdateDescriptorSets-pDescriptorWrites-parameter and
    // -pDescriptorCopies-parameter).
    let (noted, copied) = unsafe { (Writes::new(slice(writes, count)), Copied::all(slice(copies, copy_count))) };
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(|| separate.note_combined(&device.ground, &device.pairs, noted, copied), || ());
    }
    // SAFETY: the application's own arguments.
    unsafe { descriptor::update_descriptor_sets(handle, count, writes, copy_count, copies) };
}

pub(crate) unsafe extern "system" fn update_descriptor_set_with_template(
    handle: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const c_void,
) {
    let device = enter!(handle);
    let _rules = device.ground.wishes.hold_rules();
    // SAFETY: set, template and data are valid by the command's valid usage.
    let (noted, filled) = unsafe { (Live::new(set), Filled::new(Live::new(template), data)) };
    if let Some(separate) = device.separate.as_deref() {
        device.ground.guard(|| separate.note_combined_template(&device.ground, &device.pairs, noted, filled), || ());
    }
    // SAFETY: the application's own arguments.
    unsafe { template::update_descriptor_set_with_template(handle, set, template, data) };
}

macro_rules! submissions {
    ($($command:ident: $info:ident;)+) => {$(
        pub(crate) unsafe extern "system" fn $command(
            queue: vk::Queue,
            count: u32,
            infos: *const vk::$info<'_>,
            fence: vk::Fence,
        ) -> vk::Result {
            let device = enter!(queue);
            // SAFETY: the queue is valid and externally synchronised during this command ("Host Synchronization").
            let on = unsafe { Submitting::new(queue) };
            device.pairs.submit(&device.ground, device.separate.as_deref(), on);
            // SAFETY: the application's own arguments.
            let result = unsafe { queue::$command(queue, count, infos, fence) };
            device.ground.guard(|| device.pairs.submissions.end(&device.ground.driver, on), || ());
            result
        }
    )+};
}

submissions! {
    queue_submit: SubmitInfo;
    queue_submit2: SubmitInfo2;
    queue_bind_sparse: BindSparseInfo;
}
