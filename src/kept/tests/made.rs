//! A create info of a graphics pipeline with all there is.

use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk::{self, Handle};

use crate::kept::{Context, Graphics, Subpass};
use samplin_core::left::Left;

type Dynamic = vk::DynamicState;

/// Both attachments.
pub(super) const BOTH: Context =
    Context { subpass: Some(Subpass { colors: 2, color: Some(true), depth_stencil: true }), advanced_blend: false };
/// Neither.
pub(super) const NEITHER: Context =
    Context { subpass: Some(Subpass { colors: 0, color: Some(false), depth_stencil: false }), advanced_blend: false };

/// All that one pipeline can be made of.
pub(super) struct Made {
    pub(super) stages: Vec<vk::PipelineShaderStageCreateInfo<'static>>,
    pub(super) bindings: [vk::VertexInputBindingDescription; 2],
    pub(super) attributes: [vk::VertexInputAttributeDescription; 3],
    pub(super) divisors: [vk::VertexInputBindingDivisorDescriptionKHR; 1],
    pub(super) divisor: vk::PipelineVertexInputDivisorStateCreateInfoKHR<'static>,
    pub(super) vertex: vk::PipelineVertexInputStateCreateInfo<'static>,
    pub(super) assembly: vk::PipelineInputAssemblyStateCreateInfo<'static>,
    pub(super) origin: vk::PipelineTessellationDomainOriginStateCreateInfo<'static>,
    pub(super) tessellation: vk::PipelineTessellationStateCreateInfo<'static>,
    pub(super) viewports: [vk::Viewport; 2],
    pub(super) scissors: [vk::Rect2D; 2],
    pub(super) clip: vk::PipelineViewportDepthClipControlCreateInfoEXT<'static>,
    pub(super) viewport: vk::PipelineViewportStateCreateInfo<'static>,
    pub(super) line: vk::PipelineRasterizationLineStateCreateInfoEXT<'static>,
    pub(super) rasterization: vk::PipelineRasterizationStateCreateInfo<'static>,
    pub(super) locations: [vk::SampleLocationEXT; 4],
    pub(super) sample_locations: vk::PipelineSampleLocationsStateCreateInfoEXT<'static>,
    pub(super) mask: [u32; 2],
    pub(super) multisample: vk::PipelineMultisampleStateCreateInfo<'static>,
    pub(super) depth_stencil: vk::PipelineDepthStencilStateCreateInfo<'static>,
    pub(super) blends: [vk::PipelineColorBlendAttachmentState; 2],
    pub(super) writes: [vk::Bool32; 2],
    pub(super) color_writes: vk::PipelineColorWriteCreateInfoEXT<'static>,
    pub(super) blend: vk::PipelineColorBlendStateCreateInfo<'static>,
    pub(super) formats: [vk::Format; 2],
    pub(super) rendering: vk::PipelineRenderingCreateInfo<'static>,
    pub(super) states: Vec<vk::DynamicState>,
    pub(super) dynamic: vk::PipelineDynamicStateCreateInfo<'static>,
}

pub(super) fn stage(stage: vk::ShaderStageFlags, module: u64) -> vk::PipelineShaderStageCreateInfo<'static> {
    let name: &'static CStr = if module.is_multiple_of(2) { c"even" } else { c"odd" };
    vk::PipelineShaderStageCreateInfo::default().stage(stage).module(vk::ShaderModule::from_raw(module)).name(name)
}

pub(super) fn pointer<T>(to: &T) -> *const c_void {
    ptr::from_ref(to).cast()
}

impl Made {
    pub(super) fn new() -> Self {
        let stencil = vk::StencilOpState {
            fail_op: vk::StencilOp::ZERO,
            pass_op: vk::StencilOp::INVERT,
            depth_fail_op: vk::StencilOp::REPLACE,
            compare_op: vk::CompareOp::LESS,
            compare_mask: 3,
            write_mask: 4,
            reference: 5,
        };
        let blend = vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_alpha_blend_factor(vk::BlendFactor::DST_COLOR)
            .color_blend_op(vk::BlendOp::REVERSE_SUBTRACT)
            .color_write_mask(vk::ColorComponentFlags::R | vk::ColorComponentFlags::A);
        let rect = |x| vk::Rect2D {
            offset: vk::Offset2D { x, y: x + 1 },
            extent: vk::Extent2D { width: x as u32 + 2, height: x as u32 + 3 },
        };
        let viewport =
            |x| vk::Viewport { x, y: x + 1.0, width: x + 2.0, height: x + 3.0, min_depth: 0.25, max_depth: 0.75 };
        let attribute = |location| vk::VertexInputAttributeDescription {
            location,
            binding: 1,
            format: vk::Format::R32G32_SFLOAT,
            offset: location * 8,
        };
        Self {
            stages: vec![
                stage(vk::ShaderStageFlags::VERTEX, 11),
                stage(vk::ShaderStageFlags::TESSELLATION_CONTROL, 12),
                stage(vk::ShaderStageFlags::TESSELLATION_EVALUATION, 13),
                stage(vk::ShaderStageFlags::FRAGMENT, 14),
            ],
            bindings: [
                vk::VertexInputBindingDescription::default().binding(1).stride(24),
                vk::VertexInputBindingDescription { binding: 2, stride: 4, input_rate: vk::VertexInputRate::INSTANCE },
            ],
            attributes: [attribute(0), attribute(1), attribute(2)],
            divisors: [vk::VertexInputBindingDivisorDescriptionKHR { binding: 2, divisor: 7 }],
            divisor: Default::default(),
            vertex: Default::default(),
            assembly: vk::PipelineInputAssemblyStateCreateInfo::default()
                .topology(vk::PrimitiveTopology::PATCH_LIST)
                .primitive_restart_enable(true),
            origin: vk::PipelineTessellationDomainOriginStateCreateInfo::default()
                .domain_origin(vk::TessellationDomainOrigin::LOWER_LEFT),
            tessellation: vk::PipelineTessellationStateCreateInfo::default().patch_control_points(5),
            viewports: [viewport(1.0), viewport(2.0)],
            scissors: [rect(3), rect(9)],
            clip: vk::PipelineViewportDepthClipControlCreateInfoEXT::default().negative_one_to_one(true),
            viewport: Default::default(),
            line: vk::PipelineRasterizationLineStateCreateInfoEXT::default()
                .line_stipple_factor(6)
                .line_stipple_pattern(9),
            rasterization: vk::PipelineRasterizationStateCreateInfo::default()
                .depth_clamp_enable(true)
                .polygon_mode(vk::PolygonMode::LINE)
                .cull_mode(vk::CullModeFlags::BACK)
                .front_face(vk::FrontFace::CLOCKWISE)
                .depth_bias_enable(true)
                .depth_bias_constant_factor(1.5)
                .depth_bias_clamp(2.5)
                .depth_bias_slope_factor(3.5)
                .line_width(4.5),
            locations: [0.1, 0.2, 0.3, 0.4].map(|x| vk::SampleLocationEXT { x, y: 1.0 - x }),
            sample_locations: vk::PipelineSampleLocationsStateCreateInfoEXT::default().sample_locations_enable(true),
            mask: [0xdead_beef, 0x0bad_cafe],
            multisample: vk::PipelineMultisampleStateCreateInfo::default()
                .rasterization_samples(vk::SampleCountFlags::TYPE_64)
                .sample_shading_enable(true)
                .min_sample_shading(0.5)
                .alpha_to_coverage_enable(true)
                .alpha_to_one_enable(true),
            depth_stencil: vk::PipelineDepthStencilStateCreateInfo::default()
                .depth_test_enable(true)
                .depth_write_enable(true)
                .depth_compare_op(vk::CompareOp::GREATER)
                .depth_bounds_test_enable(true)
                .stencil_test_enable(true)
                .front(stencil)
                .back(vk::StencilOpState { reference: 6, ..stencil })
                .min_depth_bounds(0.125)
                .max_depth_bounds(0.875),
            blends: [blend, blend.blend_enable(false)],
            writes: [vk::TRUE, vk::FALSE],
            color_writes: Default::default(),
            blend: vk::PipelineColorBlendStateCreateInfo::default()
                .logic_op_enable(true)
                .logic_op(vk::LogicOp::XOR)
                .blend_constants([1.0, 2.0, 3.0, 4.0]),
            formats: [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT],
            rendering: vk::PipelineRenderingCreateInfo::default()
                .view_mask(3)
                .depth_attachment_format(vk::Format::D32_SFLOAT)
                .stencil_attachment_format(vk::Format::S8_UINT),
            states: vec![Dynamic::BLEND_CONSTANTS],
            dynamic: Default::default(),
        }
    }

    /// Sets every pointer; from then on it must not move.
    pub(super) fn info(&mut self) -> vk::GraphicsPipelineCreateInfo<'static> {
        self.divisor.vertex_binding_divisor_count = 1;
        self.divisor.p_vertex_binding_divisors = self.divisors.as_ptr();
        self.vertex.p_next = pointer(&self.divisor);
        (self.vertex.vertex_binding_description_count, self.vertex.vertex_attribute_description_count) = (2, 3);
        self.vertex.p_vertex_binding_descriptions = self.bindings.as_ptr();
        self.vertex.p_vertex_attribute_descriptions = self.attributes.as_ptr();
        self.tessellation.p_next = pointer(&self.origin);
        self.viewport.p_next = pointer(&self.clip);
        (self.viewport.viewport_count, self.viewport.scissor_count) = (2, 2);
        (self.viewport.p_viewports, self.viewport.p_scissors) = (self.viewports.as_ptr(), self.scissors.as_ptr());
        self.rasterization.p_next = pointer(&self.line);
        let locations = &mut self.sample_locations.sample_locations_info;
        locations.sample_locations_per_pixel = vk::SampleCountFlags::TYPE_4;
        locations.sample_location_grid_size = vk::Extent2D { width: 1, height: 1 };
        (locations.sample_locations_count, locations.p_sample_locations) = (4, self.locations.as_ptr());
        self.multisample.p_next = pointer(&self.sample_locations);
        self.multisample.p_sample_mask = self.mask.as_ptr();
        (self.color_writes.attachment_count, self.color_writes.p_color_write_enables) = (2, self.writes.as_ptr());
        self.blend.p_next = pointer(&self.color_writes);
        (self.blend.attachment_count, self.blend.p_attachments) = (2, self.blends.as_ptr());
        self.rendering.color_attachment_count = 2;
        self.rendering.p_color_attachment_formats = self.formats.as_ptr();
        self.dynamic.dynamic_state_count = self.states.len() as u32;
        self.dynamic.p_dynamic_states = self.states.as_ptr();
        vk::GraphicsPipelineCreateInfo {
            p_next: pointer(&self.rendering),
            flags: vk::PipelineCreateFlags::DISABLE_OPTIMIZATION | vk::PipelineCreateFlags::ALLOW_DERIVATIVES,
            stage_count: self.stages.len() as u32,
            p_stages: self.stages.as_ptr(),
            p_vertex_input_state: &raw const self.vertex,
            p_input_assembly_state: &raw const self.assembly,
            p_tessellation_state: &raw const self.tessellation,
            p_viewport_state: &raw const self.viewport,
            p_rasterization_state: &raw const self.rasterization,
            p_multisample_state: &raw const self.multisample,
            p_depth_stencil_state: &raw const self.depth_stencil,
            p_color_blend_state: &raw const self.blend,
            p_dynamic_state: &raw const self.dynamic,
            layout: vk::PipelineLayout::from_raw(0x81),
            subpass: 2,
            base_pipeline_handle: vk::Pipeline::from_raw(0x82),
            base_pipeline_index: 4,
            ..Default::default()
        }
    }
}

pub(super) fn keep(info: &vk::GraphicsPipelineCreateInfo<'_>, context: Context) -> Result<Graphics, Left> {
    // SAFETY: each test passes what is valid but for members that are ignored.
    unsafe { Graphics::new(info, context) }
}

/// Keeps `info`, which must be possible, and looks at what comes back.
pub(super) fn back(info: &vk::GraphicsPipelineCreateInfo<'_>, look: impl FnOnce(&vk::GraphicsPipelineCreateInfo<'_>)) {
    let kept = keep(info, BOTH).expect("can be kept");
    kept.with_create_info(info.layout, info.render_pass, |stage| stage.module, look);
}
