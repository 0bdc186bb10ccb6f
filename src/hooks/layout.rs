//! Set layouts, pipeline layouts and set lifetimes: needed to know which samplers of a write are ignored because the binding
//! has immutable ones. Nothing is kept of layouts without immutable samplers.

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::SetLayout;
use samplin_hot::layout::Binding;
use samplin_hot::memory;

use crate::device::Device;
use crate::kept;
use crate::pnext::slice;

destroy! {
    destroy_descriptor_set_layout(vk::DescriptorSetLayout): |device, layout| {
        let forget = || {
            device.layouts.forget_set_layout(layout);
            if let Some(separate) = device.separate.as_deref() {
                separate.forget_set_layout(layout);
            }
        };
        device.ground.guard(forget, || ());
    };
    destroy_pipeline_layout(vk::PipelineLayout): |device, layout| {
        let forget = || {
            device.ground.hot.pipeline_layouts.remove(layout.as_raw());
            if let Some(separate) = device.separate.as_deref() {
                separate.forget_pipeline_layout(layout);
            }
        };
        device.ground.guard(forget, || ());
    };
    destroy_descriptor_pool(vk::DescriptorPool): |device, pool| forget_sets_of(device, pool, true);
}

/// Forgets every set of a pool, and the pool itself if it `goes`.
fn forget_sets_of(device: &Device, pool: vk::DescriptorPool, goes: bool) {
    let forget = || {
        device.layouts.forget_sets_of(&device.ground.hot, pool);
        if let Some(separate) = device.separate.as_deref() {
            separate.forget_separate_pool(&device.ground.driver, pool, goes);
        }
    };
    device.ground.guard(forget, || ());
}

pub(crate) unsafe extern "system" fn create_descriptor_set_layout(
    handle: vk::Device,
    create_info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    let (device, next) = enter!(handle, create_descriptor_set_layout);
    let result = down!(next(handle, create_info, allocator, layout));
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateDescriptorSetLayout-pCreateInfo-parameter; the handle was set by the successful call.
                unsafe {
                    let mut number = 0;
                    if let Some(separate) = device.separate.as_deref() {
                        let look = |sampler| device.pairs.samplers.state_of(&device.ground.hot, sampler);
                        let (types, views, own) = separate.insert_set_layout(*layout, &*create_info, look);
                        device.ground.hot.keep_watching(types);
                        device.ground.hot.look_at_views(views);
                        separate.follow_differing_layouts(&device.ground.hot, &device.ground.journal);
                        number = own;
                    }
                    remember_layout(device, &*create_info, *layout, number);
                }
            },
            || (),
        );
    }
    result
}

/// # Safety
///
/// `info` is valid.
unsafe fn remember_layout(
    device: &Device,
    info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    layout: vk::DescriptorSetLayout,
    number: u64,
) {
    // SAFETY: VUID-VkDescriptorSetLayoutCreateInfo-pBindings-parameter.
    let given = unsafe { slice(info.p_bindings, info.binding_count) };
    let immutable =
        |b: &vk::DescriptorSetLayoutBinding<'_>| kept::takes_samplers(b) && !b.p_immutable_samplers.is_null();
    if !given.iter().any(immutable) {
        return;
    }
    let pins = info.flags.contains(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT);
    let bindings: Vec<Binding> = given
        .iter()
        .map(|b| {
            let samplers: &[vk::Sampler] = if immutable(b) {
                // SAFETY: `descriptorCount` valid handles (VUID-VkDescriptorSetLayoutBinding-descriptorType-00282).
                unsafe { slice(b.p_immutable_samplers, b.descriptor_count) }
            } else {
                &[]
            };
            if pins {
                samplers.iter().for_each(|sampler| device.pairs.samplers.pin(&device.ground.hot, *sampler));
            }
            Binding {
                binding: b.binding,
                count: b.descriptor_count,
                immutable: memory::collect(samplers.iter().copied()).into_boxed_slice(),
            }
        })
        .collect();
    device.layouts.insert_set_layout(&device.ground.hot, layout, bindings, number);
}

pub(crate) unsafe extern "system" fn create_pipeline_layout(
    handle: vk::Device,
    create_info: *const vk::PipelineLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    let (device, next) = enter!(handle, create_pipeline_layout);
    let result = down!(next(handle, create_info, allocator, layout));
    if result == vk::Result::SUCCESS && (device.ground.hot.has_immutables() || device.separate.is_some()) {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreatePipelineLayout-pCreateInfo-parameter; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *layout) };
                if let Some(separate) = device.separate.as_deref() {
                    // SAFETY: `info` was read from the create info of the call that made `made`, valid by
                    // VUID-vkCreatePipelineLayout-pCreateInfo-parameter.
                    unsafe { separate.insert_pipeline_layout(made, info) };
                }
                // SAFETY: VUID-VkPipelineLayoutCreateInfo-pSetLayouts-parameter.
                let sets: Vec<Option<Arc<SetLayout>>> = unsafe { slice(info.p_set_layouts, info.set_layout_count) }
                    .iter()
                    // SAFETY: null or valid, and not destroyed during this command (VUID-VkPipelineLayoutCreateInfo-pSetLayouts-parameter).
                    .map(|set| unsafe { device.layouts.share_set_layout(*set) })
                    .collect();
                device.ground.hot.insert_pipeline_layout(made, sets);
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn create_descriptor_pool(
    handle: vk::Device,
    create_info: *const vk::DescriptorPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::DescriptorPool,
) -> vk::Result {
    let (device, next) = enter!(handle, create_descriptor_pool);
    let result = down!(next(handle, create_info, allocator, pool));
    if result == vk::Result::SUCCESS {
        // SAFETY: valid by VUID-vkCreateDescriptorPool-pCreateInfo-parameter; the handle was set by the successful call.
        let (pool, flags) = unsafe { (*pool, (*create_info).flags) };
        if let Some(separate) = device.separate.as_deref() {
            device.ground.guard(|| separate.insert_set_pool(pool, flags), || ());
        }
    }
    result
}

pub(crate) unsafe extern "system" fn allocate_descriptor_sets(
    handle: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    sets: *mut vk::DescriptorSet,
) -> vk::Result {
    let (device, next) = enter!(handle, allocate_descriptor_sets);
    let result = down!(next(handle, info, sets));
    if result == vk::Result::SUCCESS && (device.ground.hot.has_immutables() || device.separate.is_some()) {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkAllocateDescriptorSets-pAllocateInfo-parameter; both arrays have `descriptorSetCount` elements
                // (VUID-VkDescriptorSetAllocateInfo-pSetLayouts-parameter, VUID-vkAllocateDescriptorSets-pDescriptorSets-parameter).
                let (info, layouts, made) = unsafe {
                    let info = &*info;
                    let count = info.descriptor_set_count;
                    (info, slice(info.p_set_layouts, count), slice(sets.cast_const(), count))
                };
                if let Some(separate) = device.separate.as_deref() {
                    // SAFETY: `info` is the valid argument of the call that allocated `made`
                    // (VUID-vkAllocateDescriptorSets-pAllocateInfo-parameter).
                    unsafe { separate.separate_sets(&device.ground.hot, info, made) };
                }
                for (layout, set) in layouts.iter().zip(made) {
                    // SAFETY: valid, and not destroyed during this command (VUID-VkDescriptorSetAllocateInfo-pSetLayouts-parameter).
                    if let Some(layout) = unsafe { device.layouts.share_set_layout(*layout) } {
                        device.layouts.insert_set(&device.ground.hot, info.descriptor_pool, *set, layout);
                    }
                }
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn free_descriptor_sets(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    count: u32,
    sets: *const vk::DescriptorSet,
) -> vk::Result {
    let (device, next) = enter!(handle, free_descriptor_sets);
    if device.ground.hot.has_immutables() || device.separate.is_some() {
        device.ground.guard(
            || {
                // SAFETY: `count` elements, null ones among them (VUID-vkFreeDescriptorSets-pDescriptorSets-00310).
                let gone = unsafe { slice(sets, count) };
                device.layouts.forget_sets(&device.ground.hot, pool, gone);
                if let Some(separate) = device.separate.as_deref() {
                    separate.forget_separate_sets(&device.ground.driver, pool, gone);
                }
            },
            || (),
        );
    }
    down!(next(handle, pool, count, sets))
}

pub(crate) unsafe extern "system" fn reset_descriptor_pool(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    flags: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    let (device, next) = enter!(handle, reset_descriptor_pool);
    forget_sets_of(device, pool, false);
    down!(next(handle, pool, flags))
}
