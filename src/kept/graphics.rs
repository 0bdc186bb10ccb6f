//! Graphics pipelines.

use std::mem::offset_of;

use ash::vk;
use samplin_hot::memory::{self, Room};

use super::block::{Block, slice};
use super::chain::{self, Facts};
use super::{Stage, Why};
use crate::pnext::{self, Base};
use vk::GraphicsPipelineLibraryFlagsEXT as Part;

type Info = vk::GraphicsPipelineCreateInfo<'static>;

/// What the create info does not say itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// The subpass of the render pass has a colour attachment. Not looked at without a render pass.
    pub color: bool,
    /// The subpass of the render pass has a depth/stencil attachment. Not looked at without a render pass.
    pub depth_stencil: bool,
    /// `advancedBlendCoherentOperations` is enabled.
    pub advanced_blend: bool,
}

/// A deep copy of a `VkGraphicsPipelineCreateInfo`.
#[derive(Debug)]
pub struct Graphics {
    block: Block,
    stages: Vec<Stage>,
    flags: u64,
    render_pass: vk::RenderPass,
}

impl Graphics {
    /// Keeps `info`, without flags and structures that a second pipeline has no use for (derivatives, captures, feedback).
    ///
    /// Members that the specification ignores, or ignored in any of its versions, are not read.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateGraphicsPipelines-pCreateInfos-parameter), and `context` is what it is used in.
    pub unsafe fn new(info: &vk::GraphicsPipelineCreateInfo<'_>, context: Context) -> Result<Self, Why> {
        // SAFETY: `info` is valid by this function's contract, and so is its chain.
        let (flags, parts) = unsafe { (chain::flags(info.flags, info.p_next), parts(info)) };
        let given = if parts.intersects(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER) {
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pStages-06600; where it has no shaders they are not looked at.
            unsafe { slice(info.p_stages, info.stage_count) }
        } else {
            &[]
        };
        let mut keeper = Keeper::new(info, parts, given);
        keeper.block.write(offset_of!(Info, flags), flags as u32);
        keeper.block.write(offset_of!(Info, stage_count), given.len() as u32);
        // SAFETY: `info` is valid and used in `context`, by this function's contract, which is that of `states`.
        unsafe { keeper.states(info, context) }?;
        let Keeper { mut block, facts, .. } = keeper;
        // SAFETY: the chain is that of `info`, valid by this function's contract, and the facts were read from `info`.
        unsafe { chain::keep(&mut block, offset_of!(Info, p_next), info.p_next, &facts) }?;
        let first = block.slice(given);
        if !given.is_empty() {
            block.link(offset_of!(Info, p_stages), first);
        }
        let mut stages = memory::vec(given.len());
        for (number, stage) in given.iter().enumerate() {
            let at = first + number * size_of_val(stage);
            // SAFETY: the stage is one of `info`, valid by this function's contract, and the facts were read from `info`.
            stages.with_room().push(unsafe { Stage::keep(&mut block, at, stage, &facts) }?);
        }
        let render_pass = if facts.render_pass { info.render_pass } else { vk::RenderPass::null() };
        Ok(Self { block: block.close(), stages, flags, render_pass })
    }

    /// Its stages, in the application's order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Its flags, wide ones included, without those that were dropped.
    pub const fn flags(&self) -> u64 {
        self.flags
    }

    /// The application's render pass, which may be gone; null where there was none.
    pub const fn render_pass(&self) -> vk::RenderPass {
        self.render_pass
    }

    /// Calls `then` with the create info over another layout, a compatible render pass (null where there was none), and a module for
    /// each stage. What it leads to lives only as long as the call.
    pub fn with_create_info<R>(
        &self,
        layout: vk::PipelineLayout,
        render_pass: vk::RenderPass,
        mut module: impl FnMut(&Stage) -> vk::ShaderModule,
        then: impl FnOnce(&vk::GraphicsPipelineCreateInfo<'_>) -> R,
    ) -> R {
        let live = self.block.live();
        live.write(offset_of!(Info, layout), layout);
        live.write(offset_of!(Info, render_pass), render_pass);
        for stage in &self.stages {
            stage.set_module(&live, module(stage));
        }
        // SAFETY: `new` puts it first.
        then(unsafe { live.get(0) })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.block.bytes() + self.stages.capacity() * size_of::<Stage>()
    }
}

/// Copies the states of one create info.
struct Keeper<'a> {
    block: Block,
    facts: Facts<'a>,
    stages: vk::ShaderStageFlags,
    /// What the create info describes.
    parts: Part,
}

/// Calls `Keeper::state` for a member of the create info.
macro_rules! state {
    ($keeper:expr, $info:expr, $member:ident) => {
        $keeper.state(offset_of!(Info, $member), $info.$member)
    };
}

impl<'a> Keeper<'a> {
    /// The copy of the create info itself, at the start of the block and without pointers.
    fn new(
        info: &vk::GraphicsPipelineCreateInfo<'_>,
        parts: Part,
        stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    ) -> Self {
        let mut block = Block::default();
        block.value(info);
        for pointer in [
            offset_of!(Info, p_stages),
            offset_of!(Info, p_vertex_input_state),
            offset_of!(Info, p_input_assembly_state),
            offset_of!(Info, p_tessellation_state),
            offset_of!(Info, p_viewport_state),
            offset_of!(Info, p_rasterization_state),
            offset_of!(Info, p_multisample_state),
            offset_of!(Info, p_depth_stencil_state),
            offset_of!(Info, p_color_blend_state),
            offset_of!(Info, p_dynamic_state),
        ] {
            block.clear(pointer);
        }
        block.write(offset_of!(Info, layout), vk::PipelineLayout::null());
        block.write(offset_of!(Info, render_pass), vk::RenderPass::null());
        block.write(offset_of!(Info, base_pipeline_handle), vk::Pipeline::null());
        block.write(offset_of!(Info, base_pipeline_index), -1_i32);
        let stages = stages.iter().fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage.stage);
        let rendered = Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE;
        let facts = Facts {
            // Ignored where nothing depends on it, and may then be anything.
            render_pass: info.render_pass != vk::RenderPass::null() && parts.intersects(rendered),
            without_output: !parts.intersects(Part::FRAGMENT_OUTPUT_INTERFACE),
            ..Facts::default()
        };
        Self { block, facts, stages, parts }
    }

    /// Copies a state and its chain; returns where it starts, and the application's. `None` where it is null. Its own pointers are the
    /// caller's to clear.
    ///
    /// # Safety
    ///
    /// `member` is the offset of a pointer in the create info; `state` is null, or a valid state to which the facts apply.
    unsafe fn state<'s, T: Copy>(&mut self, member: usize, state: *const T) -> Result<Option<(usize, &'s T)>, Why> {
        // SAFETY: null, or a valid state of the create info by this function's contract.
        let Some(state) = (unsafe { state.as_ref() }) else { return Ok(None) };
        let at = self.block.value(state);
        self.block.link(member, at);
        // SAFETY: every state starts with a base.
        let p_next = unsafe { (*(&raw const *state).cast::<Base>()).p_next };
        // SAFETY: the chain is that of a valid state to which the facts apply, by this function's contract.
        unsafe { chain::keep(&mut self.block, at + offset_of!(Base, p_next), p_next, &self.facts) }?;
        Ok(Some((at, state)))
    }

    /// Copies those states that are not ignored.
    ///
    /// # Safety
    ///
    /// As for [`Graphics::new`].
    unsafe fn states(&mut self, info: &vk::GraphicsPipelineCreateInfo<'a>, context: Context) -> Result<(), Why> {
        use vk::DynamicState as Dynamic;
        // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pDynamicState-parameter.
        if let Some((at, state)) = unsafe { state!(self, info, p_dynamic_state) }? {
            type State = vk::PipelineDynamicStateCreateInfo<'static>;
            let (from, count) = (state.p_dynamic_states, state.dynamic_state_count);
            // SAFETY: VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter.
            unsafe { self.block.array(at + offset_of!(State, p_dynamic_states), from, count as usize) };
            // SAFETY: the dynamic state is valid, so `from` leads to `count` states
            // (VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter).
            self.facts.dynamic = unsafe { slice(from, count) };
        }
        let has_vertices = self.parts.intersects(Part::PRE_RASTERIZATION_SHADERS);
        if has_vertices {
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pRasterizationState-09040.
            let rasterization = unsafe { state!(self, info, p_rasterization_state) }?;
            self.facts.discards = !self.facts.has(&[Dynamic::RASTERIZER_DISCARD_ENABLE])
                && rasterization.is_some_and(|(_, state)| state.rasterizer_discard_enable != vk::FALSE);
        }

        let is_fed = self.parts.intersects(Part::VERTEX_INPUT_INTERFACE);
        if is_fed && !self.stages.intersects(vk::ShaderStageFlags::MESH_EXT) {
            // SAFETY: `info` is valid, as `new` asks, and its vertex input state is not ignored here.
            unsafe { self.vertex_input(info) }?;
        }
        // VUID-VkGraphicsPipelineCreateInfo-pStages-09022; where all that it holds is dynamic it is not needed.
        if self.stages.intersects(vk::ShaderStageFlags::TESSELLATION_CONTROL)
            && !self.facts.has(&[Dynamic::PATCH_CONTROL_POINTS_EXT, Dynamic::TESSELLATION_DOMAIN_ORIGIN_EXT])
        {
            // SAFETY: null or valid where tessellation shaders are and not all of it is dynamic
            // (VUID-VkGraphicsPipelineCreateInfo-pStages-09022).
            unsafe { state!(self, info, p_tessellation_state) }?;
        }
        if !self.facts.discards {
            // SAFETY: `info` is valid and used in `context`, as `new` asks, and rasterization is not switched off for good.
            unsafe { self.rasterized(info, context) }?;
        }
        Ok(())
    }

    /// Where vertices come from: not with mesh shaders.
    ///
    /// # Safety
    ///
    /// As for [`Graphics::new`].
    unsafe fn vertex_input(&mut self, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<(), Why> {
        type State = vk::PipelineVertexInputStateCreateInfo<'static>;
        // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pInputAssemblyState-09032.
        unsafe { state!(self, info, p_input_assembly_state) }?;
        if self.facts.has(&[vk::DynamicState::VERTEX_INPUT_EXT]) {
            return Ok(());
        }
        // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pStages-02097.
        let Some((at, state)) = unsafe { state!(self, info, p_vertex_input_state) }? else { return Ok(()) };
        let (bindings, attributes) =
            (offset_of!(State, p_vertex_binding_descriptions), offset_of!(State, p_vertex_attribute_descriptions));
        let count = state.vertex_binding_description_count as usize;
        // SAFETY: VUID-VkPipelineVertexInputStateCreateInfo-pVertexBindingDescriptions-parameter.
        unsafe { self.block.array(at + bindings, state.p_vertex_binding_descriptions, count) };
        let count = state.vertex_attribute_description_count as usize;
        // SAFETY: VUID-VkPipelineVertexInputStateCreateInfo-pVertexAttributeDescriptions-parameter.
        unsafe { self.block.array(at + attributes, state.p_vertex_attribute_descriptions, count) };
        Ok(())
    }

    /// What only counts where something is rasterized.
    ///
    /// # Safety
    ///
    /// As for [`Graphics::new`].
    unsafe fn rasterized(&mut self, info: &vk::GraphicsPipelineCreateInfo<'_>, context: Context) -> Result<(), Why> {
        use vk::DynamicState as Dynamic;
        let is_static = |facts: &Facts<'_>, one, other| !facts.has(&[one]) && !facts.has(&[other]);
        let parts = self.parts;

        let has = |part| parts.intersects(part);

        let state = match has(Part::PRE_RASTERIZATION_SHADERS) {
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-rasterizerDiscardEnable-09024 and -pViewportState-09025.
            true => unsafe { state!(self, info, p_viewport_state) }?,
            false => None,
        };
        if let Some((at, state)) = state {
            type State = vk::PipelineViewportStateCreateInfo<'static>;
            let (viewports, scissors) = (at + offset_of!(State, p_viewports), at + offset_of!(State, p_scissors));
            self.block.clear(viewports);
            self.block.clear(scissors);
            if is_static(&self.facts, Dynamic::VIEWPORT, Dynamic::VIEWPORT_WITH_COUNT) {
                // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04130.
                unsafe { self.block.array(viewports, state.p_viewports, state.viewport_count as usize) };
            }
            if is_static(&self.facts, Dynamic::SCISSOR, Dynamic::SCISSOR_WITH_COUNT) {
                // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04131.
                unsafe { self.block.array(scissors, state.p_scissors, state.scissor_count as usize) };
            }
        }

        let state = match has(Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE) {
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pMultisampleState-09026 and -09027.
            true => unsafe { state!(self, info, p_multisample_state) }?,
            false => None,
        };
        if let Some((at, state)) = state {
            type State = vk::PipelineMultisampleStateCreateInfo<'static>;
            let mask = at + offset_of!(State, p_sample_mask);
            self.block.clear(mask);
            if !self.facts.has(&[Dynamic::SAMPLE_MASK_EXT]) {
                let words = state.rasterization_samples.as_raw().min(64).div_ceil(32);
                // SAFETY: VUID-VkPipelineMultisampleStateCreateInfo-pSampleMask-parameter; there are at most 64 samples.
                unsafe { self.block.array(mask, state.p_sample_mask, words as usize) };
            }
        }

        // SAFETY: `info` is valid and used in `context`, as `new` asks.
        let (color, depth_stencil) = unsafe { attachments(info, context) };
        // Without the fragment output interface nobody knows the formats yet (VUID-VkGraphicsPipelineCreateInfo-renderPass-09035).
        let is_open = !self.facts.render_pass && self.facts.without_output;
        if has(Part::FRAGMENT_SHADER) && (depth_stencil || is_open) {
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-renderPass-09028, -09033 and -09035, -pDepthStencilState-09029.
            unsafe { state!(self, info, p_depth_stencil_state) }?;
        }
        if !color || self.facts.without_output {
            return Ok(());
        }
        // SAFETY: VUID-VkGraphicsPipelineCreateInfo-renderPass-09030 and -09037, -pColorBlendState-09038.
        if let Some((at, state)) = unsafe { state!(self, info, p_color_blend_state) }? {
            type State = vk::PipelineColorBlendStateCreateInfo<'static>;
            let attachments = at + offset_of!(State, p_attachments);
            self.block.clear(attachments);
            let are_dynamic = self.facts.has(&[
                Dynamic::COLOR_BLEND_ENABLE_EXT,
                Dynamic::COLOR_BLEND_EQUATION_EXT,
                Dynamic::COLOR_WRITE_MASK_EXT,
            ]) && (!context.advanced_blend || self.facts.has(&[Dynamic::COLOR_BLEND_ADVANCED_EXT]));
            if !are_dynamic {
                // SAFETY: VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353.
                unsafe { self.block.array(attachments, state.p_attachments, state.attachment_count as usize) };
            }
        }
        Ok(())
    }
}

/// What a create info describes itself, and not the libraries that it is linked of (VkGraphicsPipelineLibraryCreateInfoEXT).
///
/// # Safety
///
/// `info` is valid.
pub unsafe fn parts(info: &vk::GraphicsPipelineCreateInfo<'_>) -> Part {
    // SAFETY: `info` is valid by this function's contract, so what its chain names is whole.
    let (own, linked, is_library) = unsafe {
        let own = pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next);
        let linked = pnext::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(info.p_next);
        (own, linked, chain::is_library(info.flags, info.p_next))
    };
    match own {
        Some(own) => own.flags,
        None if is_library || linked.is_some_and(|linked| linked.library_count > 0) => Part::empty(),
        None => {
            Part::VERTEX_INPUT_INTERFACE
                | Part::PRE_RASTERIZATION_SHADERS
                | Part::FRAGMENT_SHADER
                | Part::FRAGMENT_OUTPUT_INTERFACE
        }
    }
}

/// Whether the pipeline has colour attachments, and a depth/stencil attachment.
///
/// # Safety
///
/// As for [`Graphics::new`].
pub unsafe fn attachments(info: &vk::GraphicsPipelineCreateInfo<'_>, context: Context) -> (bool, bool) {
    if info.render_pass != vk::RenderPass::null() {
        return (context.color, context.depth_stencil);
    }
    // SAFETY: `info` is valid, as `new` asks, so a rendering structure in its chain is whole.
    let rendering = unsafe { pnext::find::<vk::PipelineRenderingCreateInfo<'_>>(info.p_next) };
    rendering.map_or((false, false), |rendering| {
        let formats = [rendering.depth_attachment_format, rendering.stencil_attachment_format];
        (rendering.color_attachment_count != 0, formats.iter().any(|format| *format != vk::Format::UNDEFINED))
    })
}
