//! Set layouts, pipeline layouts and set lifetimes: needed to know which samplers of a write are ignored because the binding
//! has immutable ones. Nothing is kept of layouts without immutable samplers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::SetLayout;
use samplin_hot::layout::Binding;
use samplin_hot::memory::{self, Room};

use super::{MISSING, device, slice};
use crate::device::Device;
use crate::table::lock;

pub(crate) unsafe extern "system" fn create_descriptor_set_layout(
    handle: vk::Device,
    create_info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.create_descriptor_set_layout else { return MISSING };
    // SAFETY: the application's own arguments.
    let result = unsafe { next(handle, create_info, allocator, layout) };
    if result == vk::Result::SUCCESS {
        // SAFETY: valid by the command's valid usage; the handle was set by the successful call.
        known.guard(|| unsafe { remember_layout(known, &*create_info, *layout) }, || ());
    }
    result
}

/// # Safety
///
/// `info` is valid.
unsafe fn remember_layout(
    known: &Device,
    info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    layout: vk::DescriptorSetLayout,
) {
    // SAFETY: VUID-VkDescriptorSetLayoutCreateInfo-pBindings-parameter.
    let given = unsafe { slice(info.p_bindings, info.binding_count) };
    let takes_samplers = |b: &vk::DescriptorSetLayoutBinding<'_>| {
        matches!(b.descriptor_type, vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
    };
    // For other types the pointer is ignored and may dangle (VUID-VkDescriptorSetLayoutBinding-descriptorType-00282).
    let immutable = |b: &vk::DescriptorSetLayoutBinding<'_>| {
        takes_samplers(b) && b.descriptor_count > 0 && !b.p_immutable_samplers.is_null()
    };
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
                samplers.iter().for_each(|sampler| pin(known, sampler.as_raw()));
            }
            Binding {
                binding: b.binding,
                count: b.descriptor_count,
                immutable: memory::collect(samplers.iter().copied()).into_boxed_slice(),
            }
        })
        .collect();
    known.layouts.insert(layout.as_raw(), Arc::new(SetLayout::new(bindings)));
    known.hot.has_immutables.store(true, Ordering::Release);
}

/// Keeps a sampler of a descriptor-buffer layout the same everywhere. Choices are made by state, so it gets a place of its own.
fn pin(known: &Device, sampler: u64) {
    known.has_pinned.store(true, Ordering::Relaxed);
    if !lock(&known.pinned).with_room().insert(sampler) {
        return;
    }
    if let Some(own) = (known.hot.gate.sampler(sampler) as u32)
        .checked_sub(1)
        .and_then(|number| known.cache.isolate(&known.hot.choices, number))
    {
        known.hot.gate.move_sampler(sampler, own);
    }
}

pub(crate) unsafe extern "system" fn destroy_descriptor_set_layout(
    handle: vk::Device,
    layout: vk::DescriptorSetLayout,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    known.guard(|| known.layouts.remove(layout.as_raw()), || ());
    if let Some(next) = known.fns.destroy_descriptor_set_layout {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, layout, allocator) };
    }
}

pub(crate) unsafe extern "system" fn create_pipeline_layout(
    handle: vk::Device,
    create_info: *const vk::PipelineLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.create_pipeline_layout else { return MISSING };
    // SAFETY: the application's own arguments.
    let result = unsafe { next(handle, create_info, allocator, layout) };
    if result == vk::Result::SUCCESS && known.hot.has_immutables.load(Ordering::Acquire) {
        known.guard(
            || {
                // SAFETY: valid by the command's valid usage; elements may be null with independent sets.
                let (info, made) = unsafe { (&*create_info, *layout) };
                // SAFETY: VUID-VkPipelineLayoutCreateInfo-pSetLayouts-parameter.
                let sets: Vec<Option<Arc<SetLayout>>> = unsafe { slice(info.p_set_layouts, info.set_layout_count) }
                    .iter()
                    // SAFETY: the set layouts are valid during this command.
                    .map(|set| unsafe { known.layouts.share(set.as_raw()) })
                    .collect();
                if sets.iter().any(Option::is_some) {
                    known.hot.pipeline_layouts.insert(made.as_raw(), Arc::new(sets));
                }
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_pipeline_layout(
    handle: vk::Device,
    layout: vk::PipelineLayout,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    known.guard(|| known.hot.pipeline_layouts.remove(layout.as_raw()), || ());
    if let Some(next) = known.fns.destroy_pipeline_layout {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, layout, allocator) };
    }
}

pub(crate) unsafe extern "system" fn allocate_descriptor_sets(
    handle: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    sets: *mut vk::DescriptorSet,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.allocate_descriptor_sets else { return MISSING };
    // SAFETY: the application's own arguments.
    let result = unsafe { next(handle, info, sets) };
    if result == vk::Result::SUCCESS && known.hot.has_immutables.load(Ordering::Acquire) {
        known.guard(
            || {
                // SAFETY: valid by the command's valid usage; both arrays have `descriptorSetCount` elements.
                let (info, layouts, made) = unsafe {
                    let info = &*info;
                    let count = info.descriptor_set_count;
                    (info, slice(info.p_set_layouts, count), slice(sets.cast_const(), count))
                };
                for (layout, set) in layouts.iter().zip(made) {
                    // SAFETY: the set layouts are valid during this command.
                    if let Some(layout) = unsafe { known.layouts.share(layout.as_raw()) } {
                        known.hot.sets.insert(set.as_raw(), layout);
                        let mut pools = lock(&known.pools);
                        pools
                            .with_room()
                            .entry(info.descriptor_pool.as_raw())
                            .or_default()
                            .with_room()
                            .push(set.as_raw());
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
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.free_descriptor_sets else { return MISSING };
    if known.hot.has_immutables.load(Ordering::Acquire) {
        known.guard(
            || {
                // SAFETY: `count` elements, null ones among them (VUID-vkFreeDescriptorSets-pDescriptorSets-00310).
                let gone = unsafe { slice(sets, count) };
                if let Some(list) = lock(&known.pools).get_mut(&pool.as_raw()) {
                    list.retain(|set| !gone.iter().any(|g| g.as_raw() == *set));
                }
                gone.iter().for_each(|set| known.hot.sets.remove(set.as_raw()));
            },
            || (),
        );
    }
    // SAFETY: the application's own arguments.
    unsafe { next(handle, pool, count, sets) }
}

/// Forgets every set of a pool.
fn forget_pool(known: &Device, pool: vk::DescriptorPool) {
    if known.hot.has_immutables.load(Ordering::Acquire) {
        let sets = lock(&known.pools).remove(&pool.as_raw()).unwrap_or_default();
        sets.into_iter().for_each(|set| known.hot.sets.remove(set));
    }
}

pub(crate) unsafe extern "system" fn reset_descriptor_pool(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    flags: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.reset_descriptor_pool else { return MISSING };
    known.guard(|| forget_pool(known, pool), || ());
    // SAFETY: the application's own arguments.
    unsafe { next(handle, pool, flags) }
}

pub(crate) unsafe extern "system" fn destroy_descriptor_pool(
    handle: vk::Device,
    pool: vk::DescriptorPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    known.guard(|| forget_pool(known, pool), || ());
    if let Some(next) = known.fns.destroy_descriptor_pool {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, pool, allocator) };
    }
}
