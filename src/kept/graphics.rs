//! Graphics pipelines.

use std::mem::offset_of;

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};

use super::block::Block;
use super::pointers::{Context, Facts, StateMember};
use super::{Stage, chain};
use crate::pnext::Base;

type Info = vk::GraphicsPipelineCreateInfo<'static>;

/// A deep copy of a `VkGraphicsPipelineCreateInfo`.
#[derive(Debug)]
pub struct Graphics {
    block: Block,
    stages: Vec<Stage>,
    flags: u64,
    render_pass: vk::RenderPass,
    colors: u32,
}

impl Graphics {
    /// Keeps `info`, without flags and structures that a second pipeline has no use for (derivatives, captures, feedback).
    ///
    /// Members that the specification ignores, or ignored in any of its versions, are not read.
    ///
    /// # Safety
    ///
    /// `info` is valid (VUID-vkCreateGraphicsPipelines-pCreateInfos-parameter), and `context` is what it is used in.
    pub unsafe fn new(info: &vk::GraphicsPipelineCreateInfo<'_>, context: Context) -> Result<Self, Left> {
        // SAFETY: `info` is valid by this function's contract and used in `context`, and so is its chain.
        let (flags, facts) = unsafe { (chain::flags(info.flags, info.p_next), Facts::of(info, context)) };
        // SAFETY: the facts are those of `info`.
        let given = unsafe { facts.stages_of(info) };
        let mut keeper = Keeper::new(info, facts);
        keeper.block.write(offset_of!(Info, flags), flags as u32);
        keeper.block.write(offset_of!(Info, stage_count), given.len() as u32);
        // SAFETY: `info` is valid by this function's contract, and the facts are its own.
        unsafe { keeper.states(info) }?;
        let Keeper { mut block, .. } = keeper;
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
        let render_pass = if facts.render_pass() { info.render_pass } else { vk::RenderPass::null() };
        Ok(Self { block: block.close(), stages, flags, render_pass, colors: facts.colors() })
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

    /// How many colour attachments it has, used or not.
    pub const fn colors(&self) -> u32 {
        self.colors
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
}

/// Calls `Keeper::state` for a member of the create info.
macro_rules! state {
    ($keeper:expr, $which:ident $info:ident.$member:ident) => {
        $keeper.state(StateMember::$which, offset_of!(Info, $member), $info.$member)
    };
}

impl<'a> Keeper<'a> {
    /// The copy of the create info itself, at the start of the block and without pointers.
    fn new(info: &vk::GraphicsPipelineCreateInfo<'_>, facts: Facts<'a>) -> Self {
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
        Self { block, facts }
    }

    /// Copies a state and its chain, if it counts; returns where it starts, and the application's. Its own pointers are the caller's.
    ///
    /// # Safety
    ///
    /// `state` is that member of the create info of which the facts are, and `at` where it lies.
    unsafe fn state<'s, T: Copy>(
        &mut self,
        member: StateMember,
        at: usize,
        state: *const T,
    ) -> Result<Option<(usize, &'s T)>, Left> {
        let state = self.facts.follow(member, state)?;
        // SAFETY: null, or a valid state that is not ignored, by this function's contract.
        let Some(state) = (unsafe { state.as_ref() }) else { return Ok(None) };
        let copy = self.block.value(state);
        self.block.link(at, copy);
        // SAFETY: every state starts with a base.
        let p_next = unsafe { (*(&raw const *state).cast::<Base>()).p_next };
        // SAFETY: the chain is that of a valid state to which the facts apply, by this function's contract.
        unsafe { chain::keep(&mut self.block, copy + offset_of!(Base, p_next), p_next, &self.facts) }?;
        Ok(Some((copy, state)))
    }

    /// Copies those states that are not ignored.
    ///
    /// # Safety
    ///
    /// `info` is valid, and the facts are its own.
    unsafe fn states(&mut self, info: &vk::GraphicsPipelineCreateInfo<'_>) -> Result<(), Left> {
        // SAFETY: each is a member of `info`, which is valid, at its offset.
        let (dynamic, vertex, viewport, multisample, blend) = unsafe {
            state!(self, InputAssembly info.p_input_assembly_state)?;
            state!(self, Tessellation info.p_tessellation_state)?;
            state!(self, Rasterization info.p_rasterization_state)?;
            state!(self, DepthStencil info.p_depth_stencil_state)?;
            (
                state!(self, Dynamic info.p_dynamic_state)?,
                state!(self, VertexInput info.p_vertex_input_state)?,
                state!(self, Viewport info.p_viewport_state)?,
                state!(self, Multisample info.p_multisample_state)?,
                state!(self, ColorBlend info.p_color_blend_state)?,
            )
        };
        if let Some((at, state)) = dynamic {
            type State = vk::PipelineDynamicStateCreateInfo<'static>;
            let (states, count) = (state.p_dynamic_states, state.dynamic_state_count as usize);
            // SAFETY: VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter.
            unsafe { self.block.array(at + offset_of!(State, p_dynamic_states), states, count) };
        }
        if let Some((at, state)) = vertex {
            type State = vk::PipelineVertexInputStateCreateInfo<'static>;
            let (bindings, count) =
                (state.p_vertex_binding_descriptions, state.vertex_binding_description_count as usize);
            // SAFETY: VUID-VkPipelineVertexInputStateCreateInfo-pVertexBindingDescriptions-parameter.
            unsafe { self.block.array(at + offset_of!(State, p_vertex_binding_descriptions), bindings, count) };
            let attributes = state.p_vertex_attribute_descriptions;
            let (pointer, count) =
                (offset_of!(State, p_vertex_attribute_descriptions), state.vertex_attribute_description_count as usize);
            // SAFETY: VUID-VkPipelineVertexInputStateCreateInfo-pVertexAttributeDescriptions-parameter.
            unsafe { self.block.array(at + pointer, attributes, count) };
        }
        if let Some((at, state)) = viewport {
            type State = vk::PipelineViewportStateCreateInfo<'static>;
            let viewports = self.facts.follow(StateMember::Viewports, state.p_viewports)?;
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04130.
            unsafe { self.block.array(at + offset_of!(State, p_viewports), viewports, state.viewport_count as usize) };
            let scissors = self.facts.follow(StateMember::Scissors, state.p_scissors)?;
            // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04131.
            unsafe { self.block.array(at + offset_of!(State, p_scissors), scissors, state.scissor_count as usize) };
        }
        if let Some((at, state)) = multisample {
            type State = vk::PipelineMultisampleStateCreateInfo<'static>;
            let mask = self.facts.follow(StateMember::SampleMask, state.p_sample_mask)?;
            let words = if mask.is_null() { 0 } else { self.facts.mask_words(state.rasterization_samples)? };
            // SAFETY: VUID-VkPipelineMultisampleStateCreateInfo-pSampleMask-parameter.
            unsafe { self.block.array(at + offset_of!(State, p_sample_mask), mask, words) };
        }
        if let Some((at, state)) = blend {
            type State = vk::PipelineColorBlendStateCreateInfo<'static>;
            let attachments = self.facts.follow(StateMember::BlendAttachments, state.p_attachments)?;
            let (pointer, count) = (at + offset_of!(State, p_attachments), state.attachment_count as usize);
            // SAFETY: VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353.
            unsafe { self.block.array(pointer, attachments, count) };
        } else {
            self.unused_attachments();
        }
        Ok(())
    }

    /// A blend state that writes nothing, where there are colour attachments and none is used: the application's is ignored
    /// (VUID-VkGraphicsPipelineCreateInfo-renderPass-09037), but older versions of the specification asked for one (06054).
    fn unused_attachments(&mut self) {
        type State = vk::PipelineColorBlendStateCreateInfo<'static>;
        let count = self.facts.unused_colors();
        if count == 0 {
            return;
        }
        let at = self.block.value(&State { attachment_count: count, ..State::default() });
        self.block.link(offset_of!(Info, p_color_blend_state), at);
        let nothing = memory::collect((0..count).map(|_| vk::PipelineColorBlendAttachmentState::default()));
        let attachments = self.block.slice(&nothing);
        self.block.link(at + offset_of!(State, p_attachments), attachments);
    }
}
