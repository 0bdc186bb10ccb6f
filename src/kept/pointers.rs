//! Which pointers of a pipeline's create info may be followed: the one place that every reader asks.
//!
//! The specification ignores many of them under conditions, and what is ignored may be any address. Each pointer has its condition
//! here, with where the specification says so. Where the conditions do not decide, nothing is followed, and the answer is why not.

use std::mem::offset_of;

use ash::vk;

use super::flags::{self, CUSTOM_RESOLVE, DEPTH_CLAMP_CONTROL};
use crate::pnext::{self, Base, slice};
use samplin_core::left::Left;
use vk::DynamicState as Dynamic;
use vk::GraphicsPipelineLibraryFlagsEXT as Part;
use vk::StructureType as Type;

/// All that a graphics pipeline is made of.
const WHOLE: Part = Part::from_raw(
    Part::VERTEX_INPUT_INTERFACE.as_raw()
        | Part::PRE_RASTERIZATION_SHADERS.as_raw()
        | Part::FRAGMENT_SHADER.as_raw()
        | Part::FRAGMENT_OUTPUT_INTERFACE.as_raw(),
);

// Younger than the bindings.
const DEPTH_CLAMP_RANGE: Dynamic = Dynamic::from_raw(1_000_582_000);
const EXTERNAL_FORMAT_OHOS: Type = Type::from_raw(1_000_452_005);

/// What a subpass uses: attachments that are not `VK_ATTACHMENT_UNUSED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subpass {
    /// How many colour attachments it has, used or not.
    pub colors: u32,
    /// Colour attachments; none if it has only what colours are resolved to, which the driver may draw to directly
    /// (`nullColorAttachmentWithExternalFormatResolve`).
    pub color: Option<bool>,
    /// A depth/stencil attachment.
    pub depth_stencil: bool,
}

/// What the create info does not say itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// The subpass of its render pass, if that is known. Not looked at without a render pass.
    pub subpass: Option<Subpass>,
    /// `advancedBlendCoherentOperations` is enabled.
    pub advanced_blend: bool,
}

/// A pointer of a `VkGraphicsPipelineCreateInfo` or of one of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateMember {
    /// `pStages`.
    Stages,
    /// `pVertexInputState`.
    VertexInput,
    /// `pInputAssemblyState`.
    InputAssembly,
    /// `pTessellationState`.
    Tessellation,
    /// `pViewportState`.
    Viewport,
    /// `pViewportState->pViewports`.
    Viewports,
    /// `pViewportState->pScissors`.
    Scissors,
    /// `pRasterizationState`.
    Rasterization,
    /// `pMultisampleState`.
    Multisample,
    /// `pMultisampleState->pSampleMask`.
    SampleMask,
    /// `pDepthStencilState`.
    DepthStencil,
    /// `pColorBlendState`.
    ColorBlend,
    /// `pColorBlendState->pAttachments`.
    BlendAttachments,
    /// `pDynamicState`.
    Dynamic,
    /// `VkPipelineRenderingCreateInfo::pColorAttachmentFormats`.
    ColorFormats,
}

/// What becomes of the arrays of a chained structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// They are read.
    Read,
    /// They are ignored.
    Ignored,
    /// They are ignored, and their count with them, which becomes 0: no driver has to expect a null pointer there.
    Emptied,
}

/// What decides about the pointers of one create info.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// What it describes itself, and not the libraries that it is linked of.
    parts: Part,
    is_linked: bool,
    is_whole: bool,
    stages: vk::ShaderStageFlags,
    dynamic: &'a [Dynamic],
    render_pass: bool,
    /// It never rasterizes. Not known without pre-rasterization state.
    discards: bool,
    context: Context,
    rendering: Option<&'a vk::PipelineRenderingCreateInfo<'a>>,
    /// It names a format of the platform's.
    has_external_format: bool,
}

impl Facts<'_> {
    /// Those of what is no graphics pipeline.
    pub(super) const NONE: Self = Self {
        parts: Part::empty(),
        is_linked: false,
        is_whole: false,
        stages: vk::ShaderStageFlags::empty(),
        dynamic: &[],
        render_pass: false,
        discards: false,
        context: Context { subpass: None, advanced_blend: false },
        rendering: None,
        has_external_format: false,
    };
}

impl<'a> Facts<'a> {
    /// Those of a graphics pipeline.
    ///
    /// # Safety
    ///
    /// `info` is valid, and `context` is what it is used in.
    pub unsafe fn of(info: &vk::GraphicsPipelineCreateInfo<'a>, context: Context) -> Self {
        // SAFETY: `info` is valid by this function's contract, so what its chain names is whole.
        let (own, linked, is_library, rendering) = unsafe {
            (
                pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next),
                pnext::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(info.p_next),
                flags::is_library(info.flags, info.p_next),
                pnext::find::<vk::PipelineRenderingCreateInfo<'a>>(info.p_next),
            )
        };
        let is_linked = linked.is_some_and(|linked| linked.library_count > 0);
        let parts = match own {
            Some(own) => own.flags,
            // VkGraphicsPipelineLibraryCreateInfoEXT, what is assumed without it.
            None if is_library || is_linked => Part::empty(),
            None => WHOLE,
        };
        // SAFETY: null or valid, see `Member::Dynamic`, with as many states as it says
        // (VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter).
        let dynamic = unsafe {
            let state = info.p_dynamic_state.as_ref();
            state.map_or(&[][..], |state| slice(state.p_dynamic_states, state.dynamic_state_count))
        };
        // SAFETY: the chain of a valid create info.
        let has_external_format = unsafe { has_external_format(info) };
        let rendered = Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE;
        let render_pass = info.render_pass != vk::RenderPass::null() && parts.intersects(rendered);
        let is_whole = own.is_none() && parts == WHOLE;
        let mut facts = Self {
            parts,
            is_linked,
            is_whole,
            dynamic,
            render_pass,
            context,
            rendering,
            has_external_format,
            ..Facts::NONE
        };
        // SAFETY: `info` is valid, so its stages and its rasterization state lead somewhere where the table says so.
        unsafe {
            facts.stages = facts.stages_of(info).iter().fold(facts.stages, |all, stage| all | stage.stage);
            let rasterization =
                facts.follow(StateMember::Rasterization, info.p_rasterization_state).unwrap_or_default();
            let discards = rasterization.as_ref().is_some_and(|it| it.rasterizer_discard_enable != vk::FALSE);
            facts.discards = discards && !facts.has(&[Dynamic::RASTERIZER_DISCARD_ENABLE]);
        }
        facts
    }

    /// What the create info describes itself.
    pub const fn parts(&self) -> Part {
        self.parts
    }

    /// Whether it has all of its state, and is neither a library nor linked of some.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether all of `states` are dynamic.
    pub fn has(&self, states: &[Dynamic]) -> bool {
        states.iter().all(|state| self.dynamic.contains(state))
    }

    /// Whether it never rasterizes, as far as its own parts say.
    pub const fn discards(&self) -> bool {
        self.discards
    }

    /// Whether it is made with its render pass, which is otherwise ignored and may be any handle.
    pub const fn render_pass(&self) -> bool {
        self.render_pass
    }

    /// The stages that count.
    ///
    /// # Safety
    ///
    /// The facts are those of `info`, which is valid.
    pub unsafe fn stages_of(
        &self,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
    ) -> &'a [vk::PipelineShaderStageCreateInfo<'a>] {
        match self.leads(StateMember::Stages) {
            // SAFETY: as many stages as it says (VUID-VkGraphicsPipelineCreateInfo-pStages-06600).
            Ok(true) => unsafe { slice(info.p_stages, info.stage_count) },
            _ => &[],
        }
    }

    /// A pointer, null where it is ignored; why not, if it is not null and that is not decided.
    pub fn follow<T>(&self, member: StateMember, pointer: *const T) -> Result<*const T, Left> {
        match self.leads(member) {
            _ if pointer.is_null() => Ok(pointer),
            Ok(true) => Ok(pointer),
            Ok(false) => Ok(std::ptr::null()),
            Err(why) => Err(why),
        }
    }

    /// Whether a pointer is null or leads to what it is declared to lead to.
    pub fn leads(&self, member: StateMember) -> Result<bool, Left> {
        let has = |parts: Part| self.parts.intersects(parts);
        let is_dynamic = |state| self.has(&[state]);
        Ok(match member {
            // VUID-VkGraphicsPipelineCreateInfo-pStages-06600.
            StateMember::Stages => has(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER),
            // VUID-VkGraphicsPipelineCreateInfo-pStages-02097; "ignored if the pipeline includes a mesh shader stage".
            StateMember::VertexInput => {
                has(Part::VERTEX_INPUT_INTERFACE) && self.reads_vertices()? && !is_dynamic(Dynamic::VERTEX_INPUT_EXT)
            }
            // VUID-VkGraphicsPipelineCreateInfo-dynamicPrimitiveTopologyUnrestricted-09031, -pInputAssemblyState-09032.
            StateMember::InputAssembly => has(Part::VERTEX_INPUT_INTERFACE) && self.reads_vertices()?,
            // VUID-VkGraphicsPipelineCreateInfo-pStages-09022; nothing of it counts where all that it holds is dynamic.
            StateMember::Tessellation => {
                has(Part::PRE_RASTERIZATION_SHADERS)
                    && self.stages.intersects(vk::ShaderStageFlags::TESSELLATION_CONTROL)
                    && !self.has(&[Dynamic::PATCH_CONTROL_POINTS_EXT, Dynamic::TESSELLATION_DOMAIN_ORIGIN_EXT])
            }
            // VUID-VkGraphicsPipelineCreateInfo-pRasterizationState-06601, -pRasterizationState-09040.
            StateMember::Rasterization => has(Part::PRE_RASTERIZATION_SHADERS),
            // VUID-VkGraphicsPipelineCreateInfo-rasterizerDiscardEnable-09024, -pViewportState-09025.
            StateMember::Viewport => has(Part::PRE_RASTERIZATION_SHADERS) && !self.discards,
            // VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04130.
            StateMember::Viewports => !is_dynamic(Dynamic::VIEWPORT) && !is_dynamic(Dynamic::VIEWPORT_WITH_COUNT),
            // VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-04131.
            StateMember::Scissors => !is_dynamic(Dynamic::SCISSOR) && !is_dynamic(Dynamic::SCISSOR_WITH_COUNT),
            // VUID-VkGraphicsPipelineCreateInfo-pMultisampleState-09026, -09027; "Fragment Shader State", "Fragment Output State".
            StateMember::Multisample => {
                has(Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE) && self.rasterizes()?
            }
            // VkDynamicState, "VK_DYNAMIC_STATE_SAMPLE_MASK_EXT specifies that the pSampleMask state […] will be ignored".
            StateMember::SampleMask => !is_dynamic(Dynamic::SAMPLE_MASK_EXT),
            // VUID-VkGraphicsPipelineCreateInfo-renderPass-09028, -09033, -09035.
            StateMember::DepthStencil => {
                has(Part::FRAGMENT_SHADER) && self.rasterizes()? && self.uses_depth_stencil()?
            }
            // VUID-VkGraphicsPipelineCreateInfo-renderPass-09030, -09037.
            StateMember::ColorBlend => {
                has(Part::FRAGMENT_OUTPUT_INTERFACE) && self.rasterizes()? && self.uses_colors()?
            }
            // VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353.
            StateMember::BlendAttachments => {
                let blending =
                    [Dynamic::COLOR_BLEND_ENABLE_EXT, Dynamic::COLOR_BLEND_EQUATION_EXT, Dynamic::COLOR_WRITE_MASK_EXT];
                !self.has(&blending) || self.context.advanced_blend && !is_dynamic(Dynamic::COLOR_BLEND_ADVANCED_EXT)
            }
            // VUID-VkGraphicsPipelineCreateInfo-pDynamicState-parameter.
            StateMember::Dynamic => true,
            // VUID-VkGraphicsPipelineCreateInfo-renderPass-06579; "created with a valid VkRenderPass, parameters […] are ignored".
            StateMember::ColorFormats => {
                !self.render_pass && has(Part::FRAGMENT_OUTPUT_INTERFACE) && self.rasterizes()?
            }
        })
    }

    /// Words of the sample mask, if it is read.
    pub(super) fn mask_words(&self, samples: vk::SampleCountFlags) -> Result<usize, Left> {
        match samples.as_raw() {
            1 | 2 | 4 | 8 | 16 | 32 => Ok(1),
            // VUID-VkPipelineMultisampleStateCreateInfo-pSampleMask-parameter.
            64 if !self.has(&[Dynamic::RASTERIZATION_SAMPLES_EXT]) => Ok(2),
            // The number is ignored as well, so nobody says how long the mask is.
            _ => Err(Left::PipelineChain),
        }
    }

    /// Whether something may be rasterized. A library without pre-rasterization state has all of its states; where the pipeline is linked
    /// of one that has it, that decides ("Fragment Shader State", "Fragment Output State").
    fn rasterizes(&self) -> Result<bool, Left> {
        match self.parts.contains(Part::PRE_RASTERIZATION_SHADERS) {
            true => Ok(!self.discards),
            false if self.is_linked => Err(Left::PipelineLibrary),
            false => Ok(true),
        }
    }

    /// Whether vertices come from buffers, likewise ("Vertex Input State").
    fn reads_vertices(&self) -> Result<bool, Left> {
        match self.parts.contains(Part::PRE_RASTERIZATION_SHADERS) {
            true => Ok(self.stages.contains(vk::ShaderStageFlags::VERTEX)),
            false if self.is_linked => Err(Left::PipelineLibrary),
            false => Ok(true),
        }
    }

    /// Whether there is a depth/stencil attachment. Without the fragment output interface nobody knows yet, and the state counts.
    fn uses_depth_stencil(&self) -> Result<bool, Left> {
        if self.render_pass {
            return self.context.subpass.map(|subpass| subpass.depth_stencil).ok_or(Left::PipelineChain);
        }
        match self.parts.contains(Part::FRAGMENT_OUTPUT_INTERFACE) {
            true => Ok(self.rendering.is_some_and(|it| {
                [it.depth_attachment_format, it.stencil_attachment_format].iter().any(|it| *it != vk::Format::UNDEFINED)
            })),
            false if self.is_linked => Err(Left::PipelineLibrary),
            false => Ok(true),
        }
    }

    /// Whether there are colour attachments.
    pub fn uses_colors(&self) -> Result<bool, Left> {
        if self.render_pass {
            return self.context.subpass.and_then(|subpass| subpass.color).ok_or(Left::PipelineChain);
        }
        let Some(rendering) = self.rendering else { return Ok(false) };
        if !self.leads(StateMember::ColorFormats)? {
            return Ok(false);
        }
        // SAFETY: the formats are not ignored, so there are as many (VUID-VkGraphicsPipelineCreateInfo-renderPass-06579).
        let formats = unsafe { slice(rendering.p_color_attachment_formats, rendering.color_attachment_count) };
        match formats.iter().any(|format| *format != vk::Format::UNDEFINED) {
            // Of a format of the platform's the attachment has none.
            false if self.has_external_format && !formats.is_empty() => Err(Left::PipelineChain),
            any => Ok(any),
        }
    }

    /// How many colour attachments there are, used or not.
    pub(super) fn colors(&self) -> u32 {
        match self.render_pass {
            true => self.context.subpass.map_or(0, |subpass| subpass.colors),
            false => self.rendering.map_or(0, |rendering| rendering.color_attachment_count),
        }
    }

    /// Colour attachments that have to be in a blend state although none of them is used.
    pub(super) fn unused_colors(&self) -> u32 {
        let count = self.colors();
        let is_unused = self.leads(StateMember::ColorFormats) == Ok(true) && self.uses_colors() == Ok(false);
        if is_unused { count } else { 0 }
    }

    /// What becomes of the arrays of a node.
    ///
    /// # Safety
    ///
    /// `node` is one of the chain of a valid create info, or of a stage or state of it, to which the facts apply.
    pub(super) unsafe fn arrays(&self, node: *const Base) -> Result<Arrays, Left> {
        // SAFETY: `node` is one of a valid chain by this function's contract, so its base can be read.
        let s_type = unsafe { (*node).s_type };
        let has = |parts: Part| self.parts.intersects(parts);
        match s_type {
            Type::PIPELINE_RENDERING_CREATE_INFO | CUSTOM_RESOLVE => {
                // "Fragment Shader State", "Formats are ignored".
                return self
                    .leads(StateMember::ColorFormats)
                    .map(|leads| if leads { Arrays::Read } else { Arrays::Emptied });
            }
            // What is not of the parts that the pipeline has, or of its render pass, is ignored; whether it may dangle then is not said.
            Type::PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT
                if !has(Part::PRE_RASTERIZATION_SHADERS) || self.discards =>
            {
                return Err(Left::PipelineChain);
            }
            Type::RENDERING_ATTACHMENT_LOCATION_INFO_KHR | Type::ATTACHMENT_SAMPLE_COUNT_INFO_AMD
                if self.render_pass || !has(Part::FRAGMENT_OUTPUT_INTERFACE) || self.discards =>
            {
                return Err(Left::PipelineChain);
            }
            Type::RENDERING_INPUT_ATTACHMENT_INDEX_INFO_KHR
                if self.render_pass || !has(Part::FRAGMENT_SHADER) || self.discards =>
            {
                return Err(Left::PipelineChain);
            }
            _ => {}
        }
        let Some(row) = SWITCHED.iter().find(|row| row.s_type == s_type) else { return Ok(Arrays::Read) };
        if self.has(&[row.by]) {
            return Ok(Arrays::Ignored);
        }
        let Some((offset, dynamic)) = row.unless else { return Ok(Arrays::Read) };
        // SAFETY: the member at that offset of a structure of this type, 32 bits wide and aligned to them.
        if unsafe { *node.byte_add(offset).cast::<u32>() } != 0 {
            return Ok(Arrays::Read);
        }
        // Switched off, and the switch is dynamic: whether there has to be an array is not said.
        if dynamic.is_some_and(|state| self.has(&[state])) { Err(Left::PipelineChain) } else { Ok(Arrays::Ignored) }
    }
}

/// Whether a format of the platform's is chained.
///
/// # Safety
///
/// `info` is valid.
unsafe fn has_external_format(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    // SAFETY: the chain of a valid create info; every node has a base.
    unsafe { pnext::chain(info.p_next) }
        .any(|node| matches!(unsafe { (*node).s_type }, Type::EXTERNAL_FORMAT_ANDROID | EXTERNAL_FORMAT_OHOS))
}

/// A chained structure whose arrays are ignored with a dynamic state, or while a switch is off.
struct Switched {
    s_type: Type,
    /// The dynamic state that has them ignored.
    by: Dynamic,
    /// Offset of the 32-bit member that has them ignored while it is 0, and the dynamic state that has this member ignored.
    unless: Option<(usize, Option<Dynamic>)>,
}

/// From VkDynamicState and the descriptions of the structures; W scaling also from
/// VUID-VkGraphicsPipelineCreateInfo-pDynamicStates-01715, depth clamping from
/// VUID-VkPipelineViewportDepthClampControlCreateInfoEXT-pDepthClampRange-09646.
static SWITCHED: [Switched; 8] = [
    Switched {
        s_type: Type::PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
        by: Dynamic::DISCARD_RECTANGLE_EXT,
        unless: None,
    },
    Switched {
        s_type: Type::PIPELINE_VIEWPORT_W_SCALING_STATE_CREATE_INFO_NV,
        by: Dynamic::VIEWPORT_W_SCALING_NV,
        unless: Some((
            offset_of!(vk::PipelineViewportWScalingStateCreateInfoNV<'static>, viewport_w_scaling_enable),
            Some(Dynamic::VIEWPORT_W_SCALING_ENABLE_NV),
        )),
    },
    Switched {
        s_type: Type::PIPELINE_VIEWPORT_SWIZZLE_STATE_CREATE_INFO_NV,
        by: Dynamic::VIEWPORT_SWIZZLE_NV,
        unless: None,
    },
    Switched {
        s_type: Type::PIPELINE_VIEWPORT_EXCLUSIVE_SCISSOR_STATE_CREATE_INFO_NV,
        by: Dynamic::EXCLUSIVE_SCISSOR_NV,
        unless: None,
    },
    Switched {
        s_type: Type::PIPELINE_COVERAGE_MODULATION_STATE_CREATE_INFO_NV,
        by: Dynamic::COVERAGE_MODULATION_TABLE_NV,
        unless: Some((
            offset_of!(vk::PipelineCoverageModulationStateCreateInfoNV<'static>, coverage_modulation_table_enable),
            Some(Dynamic::COVERAGE_MODULATION_TABLE_ENABLE_NV),
        )),
    },
    Switched { s_type: DEPTH_CLAMP_CONTROL, by: DEPTH_CLAMP_RANGE, unless: Some((size_of::<Base>(), None)) },
    Switched {
        s_type: Type::PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
        by: Dynamic::SAMPLE_LOCATIONS_EXT,
        unless: Some((
            offset_of!(vk::PipelineSampleLocationsStateCreateInfoEXT<'static>, sample_locations_enable),
            Some(Dynamic::SAMPLE_LOCATIONS_ENABLE_EXT),
        )),
    },
    Switched { s_type: Type::PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, by: Dynamic::COLOR_WRITE_ENABLE_EXT, unless: None },
];

/// Whether a binding of a set layout has `pImmutableSamplers`: for other types, and without descriptors, that is ignored
/// (VUID-VkDescriptorSetLayoutBinding-descriptorType-00282; "pImmutableSamplers affects initialization of samplers").
pub fn takes_samplers(binding: &vk::DescriptorSetLayoutBinding<'_>) -> bool {
    use vk::DescriptorType as T;
    matches!(binding.descriptor_type, T::SAMPLER | T::COMBINED_IMAGE_SAMPLER) && binding.descriptor_count > 0
}
