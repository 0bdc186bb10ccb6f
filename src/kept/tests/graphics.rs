//! Graphics pipelines: states, and which of them are looked at.

use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk::{self, Handle};

use super::made::{BOTH, Made, NEITHER, back, keep, pointer, stage};
use super::{bytes, dangling, same, types, unknown};
use crate::kept::Context;
use crate::pnext::{self, Base};
use samplin_core::left::Left;

type Dynamic = vk::DynamicState;
type Type = vk::StructureType;

#[test]
fn a_graphics_pipeline_comes_back_member_by_member() {
    let reference = Box::leak(Box::new(Made::new()));
    let given = reference.info();
    let kept = {
        let mut made = Box::new(Made::new());
        let kept = keep(&made.info(), Context::default()).unwrap();
        // What the copies were made of is overwritten before they are looked at.
        made.viewports.fill(vk::Viewport::default());
        made.formats.fill(vk::Format::UNDEFINED);
        made.locations.fill(vk::SampleLocationEXT::default());
        kept
    };
    assert_eq!(kept.flags(), u64::from(vk::PipelineCreateFlags::DISABLE_OPTIMIZATION.as_raw()));
    assert_eq!(kept.render_pass(), vk::RenderPass::null());
    assert_eq!(kept.stages().iter().map(|stage| stage.module.as_raw()).collect::<Vec<_>>(), [11, 12, 13, 14]);
    let layout = vk::PipelineLayout::from_raw(0x91);
    let new = |stage: &crate::kept::Stage| vk::ShaderModule::from_raw(stage.module.as_raw() + 100);
    kept.with_create_info(layout, vk::RenderPass::from_raw(0x92), new, |info| {
        assert_eq!(info.s_type, Type::GRAPHICS_PIPELINE_CREATE_INFO);
        assert_eq!(info.flags, vk::PipelineCreateFlags::DISABLE_OPTIMIZATION);
        assert_eq!((info.layout, info.render_pass.as_raw(), info.subpass), (layout, 0x92, 2));
        assert_eq!((info.base_pipeline_handle, info.base_pipeline_index), (vk::Pipeline::null(), -1));
        // SAFETY: what is handed out lives as long as the call, and `reference` for ever.
        unsafe { compare(info, &given) };
    });
}

/// # Safety
///
/// Both are valid, with all states.
unsafe fn compare(info: &vk::GraphicsPipelineCreateInfo<'_>, given: &vk::GraphicsPipelineCreateInfo<'_>) {
    macro_rules! states {
        ($member:ident) => {{
            assert_ne!(info.$member, given.$member, "a copy");
            // SAFETY: the caller's promise.
            unsafe { (&*info.$member, &*given.$member) }
        }};
    }
    macro_rules! arrays {
        ($left:ident, $right:ident, $member:ident, $count:ident) => {
            assert_eq!($left.$count, $right.$count);
            assert_ne!($left.$member, $right.$member, "a copy");
            // SAFETY: the caller's promise.
            unsafe { assert_eq!(bytes($left.$member, $left.$count), bytes($right.$member, $right.$count)) };
        };
    }
    macro_rules! node {
        ($left:ident, $right:ident, $type:ident) => {{
            // SAFETY: the caller's promise.
            unsafe {
                assert_eq!(types($left.p_next), types($right.p_next));
                let found = (pnext::find::<vk::$type<'_>>($left.p_next), pnext::find::<vk::$type<'_>>($right.p_next));
                (found.0.unwrap(), found.1.unwrap())
            }
        }};
    }
    assert_eq!(info.stage_count, given.stage_count);
    for number in 0..info.stage_count as usize {
        // SAFETY: the caller's promise.
        let (left, right) = unsafe { (&*info.p_stages.add(number), &*given.p_stages.add(number)) };
        same!(left, right; s_type, flags, stage);
        assert_eq!(left.module.as_raw(), right.module.as_raw() + 100);
        // SAFETY: the caller's promise.
        unsafe { assert_eq!(CStr::from_ptr(left.p_name), CStr::from_ptr(right.p_name)) };
        assert!(left.p_specialization_info.is_null() && left.p_next.is_null());
    }
    let (left, right) = node!(info, given, PipelineRenderingCreateInfo);
    same!(left, right; view_mask, depth_attachment_format, stencil_attachment_format);
    arrays!(left, right, p_color_attachment_formats, color_attachment_count);

    let (left, right) = states!(p_vertex_input_state);
    same!(left, right; s_type, flags);
    arrays!(left, right, p_vertex_binding_descriptions, vertex_binding_description_count);
    arrays!(left, right, p_vertex_attribute_descriptions, vertex_attribute_description_count);
    let (left, right) = node!(left, right, PipelineVertexInputDivisorStateCreateInfoKHR);
    arrays!(left, right, p_vertex_binding_divisors, vertex_binding_divisor_count);

    let (left, right) = states!(p_input_assembly_state);
    same!(left, right; s_type, flags, topology, primitive_restart_enable);
    let (left, right) = states!(p_tessellation_state);
    same!(left, right; s_type, flags, patch_control_points);
    let (left, right) = node!(left, right, PipelineTessellationDomainOriginStateCreateInfo);
    same!(left, right; domain_origin);

    let (left, right) = states!(p_viewport_state);
    same!(left, right; s_type, flags);
    arrays!(left, right, p_viewports, viewport_count);
    arrays!(left, right, p_scissors, scissor_count);
    let (left, right) = node!(left, right, PipelineViewportDepthClipControlCreateInfoEXT);
    same!(left, right; negative_one_to_one);

    let (left, right) = states!(p_rasterization_state);
    same!(left, right; s_type, flags, depth_clamp_enable, rasterizer_discard_enable, polygon_mode, cull_mode, front_face,
        depth_bias_enable, depth_bias_constant_factor, depth_bias_clamp, depth_bias_slope_factor, line_width);
    let (left, right) = node!(left, right, PipelineRasterizationLineStateCreateInfoEXT);
    same!(left, right; line_rasterization_mode, stippled_line_enable, line_stipple_factor, line_stipple_pattern);

    let (left, right) = states!(p_multisample_state);
    same!(left, right; s_type, flags, rasterization_samples, sample_shading_enable, min_sample_shading,
        alpha_to_coverage_enable, alpha_to_one_enable);
    assert_ne!(left.p_sample_mask, right.p_sample_mask, "a copy");
    // SAFETY: 64 samples are two words.
    unsafe { assert_eq!(bytes(left.p_sample_mask, 2), bytes(right.p_sample_mask, 2)) };
    let (left, right) = node!(left, right, PipelineSampleLocationsStateCreateInfoEXT);
    same!(left, right; sample_locations_enable, sample_locations_info.s_type,
        sample_locations_info.sample_locations_per_pixel, sample_locations_info.sample_location_grid_size);
    let (left, right) = (&left.sample_locations_info, &right.sample_locations_info);
    assert!(left.p_next.is_null());
    arrays!(left, right, p_sample_locations, sample_locations_count);

    let (left, right) = states!(p_depth_stencil_state);
    same!(left, right; s_type, flags, depth_test_enable, depth_write_enable, depth_compare_op, depth_bounds_test_enable,
        stencil_test_enable, min_depth_bounds, max_depth_bounds);
    for (left, right) in [(left.front, right.front), (left.back, right.back)] {
        same!(left, right; fail_op, pass_op, depth_fail_op, compare_op, compare_mask, write_mask, reference);
    }

    let (left, right) = states!(p_color_blend_state);
    same!(left, right; s_type, flags, logic_op_enable, logic_op, blend_constants);
    arrays!(left, right, p_attachments, attachment_count);
    let (left, right) = node!(left, right, PipelineColorWriteCreateInfoEXT);
    arrays!(left, right, p_color_write_enables, attachment_count);

    let (left, right) = states!(p_dynamic_state);
    same!(left, right; s_type, flags);
    arrays!(left, right, p_dynamic_states, dynamic_state_count);
}

#[test]
fn without_rasterization_its_states_are_not_read() {
    let mut made = Made::new();
    made.rasterization.rasterizer_discard_enable = vk::TRUE;
    let mut info = made.info();
    info.p_viewport_state = dangling();
    info.p_multisample_state = dangling();
    info.p_depth_stencil_state = dangling();
    info.p_color_blend_state = dangling();
    made.rendering.p_color_attachment_formats = dangling();
    back(&info, |info| {
        assert!(info.p_viewport_state.is_null() && info.p_multisample_state.is_null());
        assert!(info.p_depth_stencil_state.is_null() && info.p_color_blend_state.is_null());
        assert!(!info.p_vertex_input_state.is_null() && !info.p_rasterization_state.is_null());
        // SAFETY: it lives as long as the call.
        let rendering = unsafe { pnext::find::<vk::PipelineRenderingCreateInfo<'_>>(info.p_next) }.unwrap();
        assert_eq!((rendering.color_attachment_count, rendering.view_mask), (0, 3));
        assert!(rendering.p_color_attachment_formats.is_null());
    });
    // Where it is dynamic, the member says nothing.
    let mut made = Made::new();
    made.rasterization.rasterizer_discard_enable = vk::TRUE;
    made.states.push(Dynamic::RASTERIZER_DISCARD_ENABLE);
    back(&made.info(), |info| {
        assert!(!info.p_viewport_state.is_null() && !info.p_multisample_state.is_null());
        assert!(!info.p_depth_stencil_state.is_null() && !info.p_color_blend_state.is_null());
    });
}

#[test]
fn mesh_pipelines_have_no_vertex_input() {
    let mut made = Made::new();
    made.stages = vec![stage(vk::ShaderStageFlags::MESH_EXT, 21), stage(vk::ShaderStageFlags::FRAGMENT, 22)];
    let mut info = made.info();
    info.p_vertex_input_state = dangling();
    info.p_input_assembly_state = dangling();
    info.p_tessellation_state = dangling();
    back(&info, |info| {
        assert!(info.p_vertex_input_state.is_null() && info.p_input_assembly_state.is_null());
        assert!(info.p_tessellation_state.is_null() && !info.p_color_blend_state.is_null());
    });
}

#[test]
fn tessellation_is_read_with_its_stages_only() {
    let mut made = Made::new();
    made.stages.retain(|stage| stage.stage.intersects(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT));
    let mut info = made.info();
    info.p_tessellation_state = dangling();
    back(&info, |info| assert!(info.p_tessellation_state.is_null()));
    let mut made = Made::new();
    made.states = vec![Dynamic::PATCH_CONTROL_POINTS_EXT];
    back(&made.info(), |info| assert!(!info.p_tessellation_state.is_null(), "the domain's origin is still static"));
    made.states.push(Dynamic::TESSELLATION_DOMAIN_ORIGIN_EXT);
    let mut info = made.info();
    info.p_tessellation_state = dangling();
    back(&info, |info| assert!(info.p_tessellation_state.is_null()));
}

#[test]
fn states_without_attachments_are_not_read() {
    let mut made = Made::new();
    let mut info = made.info();
    info.render_pass = vk::RenderPass::from_raw(0x31);
    info.p_depth_stencil_state = dangling();
    info.p_color_blend_state = dangling();
    made.rendering.p_color_attachment_formats = dangling();
    let kept = keep(&info, NEITHER).unwrap();
    assert_eq!(kept.render_pass(), info.render_pass);
    kept.with_create_info(
        info.layout,
        info.render_pass,
        |stage| stage.module,
        |info| {
            assert!(info.p_depth_stencil_state.is_null() && info.p_color_blend_state.is_null());
            assert!(info.p_next.is_null(), "the render pass counts");
            assert!(!info.p_multisample_state.is_null());
        },
    );
    let kept = keep(&made.info(), Context::default()).map(drop);
    assert_eq!(kept, Ok(()), "without a render pass what is said of its subpass is not asked for");
    // Without a render pass the formats decide.
    for (depth, stencil, colors) in [(0, 0, 0), (126, 0, 0), (0, 127, 0), (0, 0, 2)] {
        let mut made = Made::new();
        let mut info = made.info();
        made.rendering.depth_attachment_format = vk::Format::from_raw(depth);
        made.rendering.stencil_attachment_format = vk::Format::from_raw(stencil);
        made.rendering.color_attachment_count = colors;
        if depth + stencil == 0 {
            info.p_depth_stencil_state = dangling();
        }
        if colors == 0 {
            info.p_color_blend_state = dangling();
        }
        back(&info, |info| {
            assert_eq!(info.p_depth_stencil_state.is_null(), depth + stencil == 0);
            assert_eq!(info.p_color_blend_state.is_null(), colors == 0);
        });
    }
    let mut info = made.info();
    info.p_next = ptr::null();
    (info.p_depth_stencil_state, info.p_color_blend_state) = (dangling(), dangling());
    back(&info, |info| assert!(info.p_depth_stencil_state.is_null() && info.p_color_blend_state.is_null()));
}

#[test]
fn dynamic_arrays_are_not_read() {
    /// The dynamic states, and the pointer that dangles with them.
    type Case = (&'static [Dynamic], fn(&mut Made) -> *mut *const c_void);
    let cases: [Case; 8] = [
        (&[Dynamic::VIEWPORT], |made| (&raw mut made.viewport.p_viewports).cast()),
        (&[Dynamic::VIEWPORT_WITH_COUNT], |made| (&raw mut made.viewport.p_viewports).cast()),
        (&[Dynamic::SCISSOR], |made| (&raw mut made.viewport.p_scissors).cast()),
        (&[Dynamic::SCISSOR_WITH_COUNT], |made| (&raw mut made.viewport.p_scissors).cast()),
        (&[Dynamic::SAMPLE_MASK_EXT], |made| (&raw mut made.multisample.p_sample_mask).cast()),
        (
            &[Dynamic::COLOR_BLEND_ENABLE_EXT, Dynamic::COLOR_BLEND_EQUATION_EXT, Dynamic::COLOR_WRITE_MASK_EXT],
            |made| (&raw mut made.blend.p_attachments).cast(),
        ),
        (&[Dynamic::COLOR_WRITE_ENABLE_EXT], |made| (&raw mut made.color_writes.p_color_write_enables).cast()),
        (&[Dynamic::SAMPLE_LOCATIONS_EXT], |made| {
            (&raw mut made.sample_locations.sample_locations_info.p_sample_locations).cast()
        }),
    ];
    for (states, member) in cases {
        let mut made = Made::new();
        made.states.extend(states);
        let info = made.info();
        let at = member(&mut made);
        // SAFETY: a pointer of `made`.
        unsafe { *at = dangling() };
        let kept = keep(&info, BOTH).unwrap();
        made.states.truncate(1);
        // Its twin: nothing of it is dynamic, so it is read and takes more room.
        let info = made.info();
        let whole = keep(&info, BOTH).unwrap();
        assert!(whole.bytes() + 4 * states.len() > kept.bytes() + 4, "{states:?}");
        for (kept, is_null) in [(&kept, true), (&whole, false)] {
            kept.with_create_info(
                info.layout,
                info.render_pass,
                |stage| stage.module,
                // SAFETY: what is handed out lives as long as the call.
                |info| assert_eq!(unsafe { found(info, states[0]) }.is_null(), is_null, "{states:?}"),
            );
        }
    }
    let mut made = Made::new();
    made.states.push(Dynamic::VERTEX_INPUT_EXT);
    let mut info = made.info();
    info.p_vertex_input_state = dangling();
    back(&info, |info| assert!(info.p_vertex_input_state.is_null() && !info.p_input_assembly_state.is_null()));
}

/// The pointer that a dynamic state has ignored.
///
/// # Safety
///
/// `info` is valid, with all states.
unsafe fn found(info: &vk::GraphicsPipelineCreateInfo<'_>, state: Dynamic) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe {
        let (viewport, multisample) = (&*info.p_viewport_state, &*info.p_multisample_state);
        let blend = &*info.p_color_blend_state;
        match state {
            Dynamic::VIEWPORT | Dynamic::VIEWPORT_WITH_COUNT => viewport.p_viewports.cast(),
            Dynamic::SCISSOR | Dynamic::SCISSOR_WITH_COUNT => viewport.p_scissors.cast(),
            Dynamic::SAMPLE_MASK_EXT => multisample.p_sample_mask.cast(),
            Dynamic::COLOR_BLEND_ENABLE_EXT => blend.p_attachments.cast(),
            Dynamic::COLOR_WRITE_ENABLE_EXT => {
                let node = pnext::find::<vk::PipelineColorWriteCreateInfoEXT<'_>>(blend.p_next).unwrap();
                node.p_color_write_enables.cast()
            }
            _ => {
                let node =
                    pnext::find::<vk::PipelineSampleLocationsStateCreateInfoEXT<'_>>(multisample.p_next).unwrap();
                node.sample_locations_info.p_sample_locations.cast()
            }
        }
    }
}

#[test]
fn advanced_blending_needs_its_attachments() {
    let mut made = Made::new();
    made.states =
        vec![Dynamic::COLOR_BLEND_ENABLE_EXT, Dynamic::COLOR_BLEND_EQUATION_EXT, Dynamic::COLOR_WRITE_MASK_EXT];
    let advanced = Context { advanced_blend: true, ..BOTH };
    let attachments = |made: &mut Made| {
        let kept = keep(&made.info(), advanced).unwrap();
        kept.with_create_info(
            Default::default(),
            Default::default(),
            |stage| stage.module,
            |info| {
                // SAFETY: it lives as long as the call.
                unsafe { !(*info.p_color_blend_state).p_attachments.is_null() }
            },
        )
    };
    assert!(attachments(&mut made));
    made.states.push(Dynamic::COLOR_BLEND_ADVANCED_EXT);
    assert!(!attachments(&mut made));
}

#[test]
fn switched_off_arrays_are_not_read() {
    let mut made = Made::new();
    made.sample_locations.sample_locations_enable = vk::FALSE;
    let info = made.info();
    made.sample_locations.sample_locations_info.p_next = dangling();
    made.sample_locations.sample_locations_info.p_sample_locations = dangling();
    back(&info, |info| {
        // SAFETY: it lives as long as the call.
        let found = unsafe { found(info, Dynamic::SAMPLE_LOCATIONS_EXT) };
        assert!(found.is_null());
    });
    // Whether it is off is said later: there may be an array or not.
    made.states.push(Dynamic::SAMPLE_LOCATIONS_ENABLE_EXT);
    made.sample_locations.sample_locations_info.p_next = ptr::null();
    let info = made.info();
    assert_eq!(keep(&info, BOTH).err(), Some(Left::PipelineChain));
    made.sample_locations.sample_locations_enable = vk::TRUE;
    assert!(keep(&info, BOTH).is_ok());
    // Nothing may be chained inside.
    let node = unknown();
    made.sample_locations.sample_locations_info.p_next = (&raw const node).cast();
    assert_eq!(keep(&info, BOTH).err(), Some(Left::PipelineChain));

    // Younger than the bindings: mode, pointer to a range.
    #[repr(C)]
    struct Clamp {
        base: Base,
        mode: u32,
        range: *const [f32; 2],
    }
    let base = Base { s_type: vk::StructureType::from_raw(1_000_582_001), p_next: ptr::null() };
    let mut clamp = Clamp { base, mode: 0, range: dangling() };
    let mut made = Made::new();
    let info = made.info();
    made.viewport.p_next = pointer(&clamp);
    // SAFETY: what is handed out lives as long as the call, and a node of this type is a `Clamp`.
    let range = |info: &vk::GraphicsPipelineCreateInfo<'_>| unsafe {
        let node = pnext::find_as::<Clamp>((*info.p_viewport_state).p_next, base.s_type).unwrap();
        (node.mode, node.range.as_ref().copied())
    };
    back(&info, |info| assert_eq!(range(info), (0, None)));
    let ends = [0.25, 0.75];
    (clamp.mode, clamp.range) = (1, &raw const ends);
    made.viewport.p_next = pointer(&clamp);
    back(&info, |info| assert_eq!(range(info), (1, Some(ends))));
}

#[test]
fn null_states_stay_null() {
    let mut made = Made::new();
    made.states = vec![Dynamic::RASTERIZER_DISCARD_ENABLE];
    made.dynamic = Default::default();
    let given = made.info();
    let info = vk::GraphicsPipelineCreateInfo {
        stage_count: given.stage_count,
        p_stages: given.p_stages,
        p_dynamic_state: given.p_dynamic_state,
        ..Default::default()
    };
    back(&info, |info| {
        assert!(info.p_vertex_input_state.is_null() && info.p_input_assembly_state.is_null());
        assert!(info.p_tessellation_state.is_null() && info.p_viewport_state.is_null());
        assert!(info.p_rasterization_state.is_null() && info.p_multisample_state.is_null());
        assert!(info.p_depth_stencil_state.is_null() && info.p_color_blend_state.is_null());
        assert_eq!(info.stage_count, 4);
    });
}

/// Of a library only the states of its part are read: the others are ignored and may dangle.
#[test]
fn libraries_are_read_by_their_parts() {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let all = [
        Part::VERTEX_INPUT_INTERFACE,
        Part::PRE_RASTERIZATION_SHADERS,
        Part::FRAGMENT_SHADER,
        Part::FRAGMENT_OUTPUT_INTERFACE,
    ];
    // By the fields of the specification's lists ("Graphics Pipeline ... State"): vertex input, assembly, tessellation, viewport,
    // rasterization, multisample, depth and stencil, blend.
    let read = [
        [true, true, false, false, false, false, false, false],
        [false, false, true, true, true, false, false, false],
        [false, false, false, false, false, true, true, false],
        [false, false, false, false, false, true, false, true],
    ];
    for (part, read) in all.into_iter().zip(read) {
        let mut made = Made::new();
        let mut info = made.info();
        let own = match part {
            Part::PRE_RASTERIZATION_SHADERS => &made.stages[..3],
            Part::FRAGMENT_SHADER => &made.stages[3..],
            _ => &[],
        };
        let has_shaders = !own.is_empty();
        (info.stage_count, info.p_stages) =
            if has_shaders { (own.len() as u32, own.as_ptr()) } else { (4, dangling()) };
        macro_rules! hide {
            ($($number:literal $member:ident),+) => { $(if !read[$number] { info.$member = dangling(); })+ };
        }
        hide!(
            0 p_vertex_input_state, 1 p_input_assembly_state, 2 p_tessellation_state, 3 p_viewport_state,
            4 p_rasterization_state, 5 p_multisample_state, 6 p_depth_stencil_state, 7 p_color_blend_state
        );
        let mut rendering = made.rendering;
        if part != Part::FRAGMENT_OUTPUT_INTERFACE {
            rendering.p_color_attachment_formats = dangling();
        }
        let mut node = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(part);
        node.p_next = pointer(&rendering);
        (info.p_next, info.flags) = (pointer(&node), vk::PipelineCreateFlags::LIBRARY_KHR);
        if part == Part::VERTEX_INPUT_INTERFACE {
            info.render_pass = vk::RenderPass::from_raw(0xdead);
        }
        back(&info, |given| {
            let kept = [
                given.p_vertex_input_state.is_null(),
                given.p_input_assembly_state.is_null(),
                given.p_tessellation_state.is_null(),
                given.p_viewport_state.is_null(),
                given.p_rasterization_state.is_null(),
                given.p_multisample_state.is_null(),
                given.p_depth_stencil_state.is_null(),
                given.p_color_blend_state.is_null(),
            ];
            assert_eq!(kept.map(|is_null| !is_null), read, "{part:?}");
            assert_eq!((given.stage_count > 0, given.flags), (has_shaders, vk::PipelineCreateFlags::LIBRARY_KHR));
            // SAFETY: what comes back is whole.
            let own = unsafe { pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(given.p_next) };
            assert_eq!(own.map(|own| own.flags), Some(part));
        });
    }
}

/// A pipeline of libraries has no states of its own, unless it says so; which libraries is not kept.
#[test]
fn what_is_linked_has_no_states() {
    let parts = [vk::Pipeline::from_raw(0x41)];
    let linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&parts);
    let mut info = vk::GraphicsPipelineCreateInfo::default().layout(vk::PipelineLayout::from_raw(3));
    (info.stage_count, info.p_stages, info.p_rasterization_state) = (2, dangling(), dangling());
    info.p_next = pointer(&linked);
    back(&info, |given| {
        assert!(given.p_next.is_null() && given.p_rasterization_state.is_null());
        assert_eq!(given.stage_count, 0);
    });
    let mut made = Made::new();
    let mut info = made.info();
    let none = vk::PipelineLibraryCreateInfoKHR::default();
    info.p_next = pointer(&none);
    back(&info, |given| assert_eq!(given.stage_count, 4, "of nothing"));
}

#[test]
fn unknown_structures_are_refused_in_every_chain() {
    let node = unknown();
    let chains: [fn(&mut Made) -> *mut *const c_void; 11] = [
        |made| &raw mut made.stages[3].p_next,
        |made| &raw mut made.vertex.p_next,
        |made| &raw mut made.divisor.p_next,
        |made| &raw mut made.assembly.p_next,
        |made| &raw mut made.tessellation.p_next,
        |made| &raw mut made.viewport.p_next,
        |made| &raw mut made.rasterization.p_next,
        |made| &raw mut made.multisample.p_next,
        |made| &raw mut made.depth_stencil.p_next,
        |made| &raw mut made.blend.p_next,
        |made| &raw mut made.dynamic.p_next,
    ];
    for (number, chain) in chains.into_iter().enumerate() {
        let mut made = Made::new();
        let info = made.info();
        assert!(keep(&info, BOTH).is_ok());
        let at = chain(&mut made);
        // SAFETY: a pointer of `made`.
        unsafe { *at = pointer(&node) };
        assert_eq!(keep(&info, BOTH).err(), Some(Left::PipelineChain), "chain {number}");
    }
    let mut made = Made::new();
    let info = vk::GraphicsPipelineCreateInfo { p_next: pointer(&node), ..made.info() };
    assert_eq!(keep(&info, BOTH).err(), Some(Left::PipelineChain));
    // Known, and full of pointers to pointers or of pipelines.
    let palette = vk::PipelineViewportShadingRateImageStateCreateInfoNV::default();
    let groups = vk::GraphicsPipelineShaderGroupsCreateInfoNV::default();
    for node in [pointer(&palette), pointer(&groups)] {
        let info = vk::GraphicsPipelineCreateInfo { p_next: node, ..made.info() };
        assert_eq!(keep(&info, BOTH).err(), Some(Left::PipelineChain));
    }
}

#[test]
fn threads_may_share_what_is_kept() {
    let kept = keep(&Made::new().info(), BOTH).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let kept = &kept;
            scope.spawn(move || {
                for _ in 0..100 {
                    let layout = vk::PipelineLayout::from_raw(number);
                    kept.with_create_info(
                        layout,
                        Default::default(),
                        |stage| stage.module,
                        |info| {
                            assert_eq!(info.layout, layout);
                            // SAFETY: there are four.
                            assert_eq!(unsafe { (*info.p_stages.add(2)).module.as_raw() }, 13);
                        },
                    );
                }
            });
        }
    });
}
