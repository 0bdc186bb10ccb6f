//! Graphics pipelines whose create infos lead nowhere wherever the specification ignores what they say, and whose render pass is gone as
//! soon as they are there.

use std::alloc::{self, Layout};
use std::ffi::c_void;
use std::ptr;

use ash::vk::{self, Handle};

/// Nothing is mapped there, in processes of 32 bits neither: the last page of all addresses.
const GARBAGE: usize = usize::MAX << 12;

fn nowhere<T>() -> *const T {
    ptr::without_provenance(GARBAGE)
}

/// What stands in front of each allocation: its own layout.
type Head = Layout;

unsafe extern "system" fn allocation(
    _: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    let room = alignment.max(size_of::<Head>().next_power_of_two());
    let layout = Layout::from_size_align(size + room, room).expect("a layout");
    // SAFETY: it has a size, and room for its head in front of what is handed out.
    unsafe {
        let first = alloc::alloc(layout);
        assert!(!first.is_null(), "no memory");
        let to = first.add(room);
        to.cast::<Head>().sub(1).write(layout);
        to.cast()
    }
}

unsafe extern "system" fn reallocation(
    data: *mut c_void,
    from: *mut c_void,
    size: usize,
    alignment: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: null, or of `allocation`, which leaves as many bytes as its layout has behind its head.
    unsafe {
        let to = allocation(data, size, alignment, scope);
        if !from.is_null() {
            let old = from.cast::<Head>().sub(1).read();
            ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), size.min(old.size() - old.align()));
            release(data, from);
        }
        to
    }
}

unsafe extern "system" fn release(_: *mut c_void, from: *mut c_void) {
    if !from.is_null() {
        // SAFETY: of `allocation`: its layout stands in front of it, and what it was allocated at as far in front as it is aligned to.
        unsafe {
            let layout = from.cast::<Head>().sub(1).read();
            alloc::dealloc(from.cast::<u8>().sub(layout.align()), layout);
        }
    }
}

/// An allocator of the application's.
fn allocator() -> vk::AllocationCallbacks<'static> {
    vk::AllocationCallbacks {
        pfn_allocation: Some(allocation),
        pfn_reallocation: Some(reallocation),
        pfn_free: Some(release),
        ..Default::default()
    }
}

/// A render pass whose subpass refers to attachments and uses none, so that it is compatible with one that has none.
pub(crate) fn pass(device: &ash::Device) -> vk::RenderPass {
    let unused = vk::AttachmentReference { attachment: vk::ATTACHMENT_UNUSED, layout: vk::ImageLayout::UNDEFINED };
    let colors = [unused; 2];
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .depth_stencil_attachment(&unused);
    // Arrays of nothing.
    (subpass.p_input_attachments, subpass.p_preserve_attachments) = (nowhere(), nowhere());
    let subpasses = [subpass];
    let info = vk::RenderPassCreateInfo::default().subpasses(&subpasses);
    // SAFETY: one subpass without attachments; all locals.
    unsafe { device.create_render_pass(&info, Some(&allocator())) }.expect("vkCreateRenderPass")
}

/// Destroys what [`pass`] made.
pub(crate) fn destroy(device: &ash::Device, pass: vk::RenderPass) {
    // SAFETY: made with that allocator; a pipeline does without its render pass.
    unsafe { device.destroy_render_pass(pass, Some(&allocator())) };
}

/// Calls `make` with `info`, which is for a render pass of [`pass`], and garbage in all that is ignored of it.
pub(crate) fn with<R>(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    make: impl FnOnce(&vk::GraphicsPipelineCreateInfo<'_>) -> R,
) -> R {
    let states = [vk::DynamicState::BLEND_CONSTANTS];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let mut info = vk::GraphicsPipelineCreateInfo { p_dynamic_state: &dynamic, ..*info };
    // No tessellation shaders, and no attachments that are used.
    info.p_tessellation_state = nowhere();
    info.p_depth_stencil_state = nowhere();
    info.p_color_blend_state = nowhere();
    // It is not derived.
    info.base_pipeline_handle = vk::Pipeline::from_raw(GARBAGE as u64);
    make(&info)
}
