//! What the create info of a graphics pipeline says about samples.

use std::ffi::CStr;

use ash::vk;

use super::words;
use crate::decide::SampleShading;
use crate::device::{Asked, Device, Shading, Told};
use crate::hooks::slice;
use crate::kept;
use crate::pnext;

/// Whether a pipeline has all of its state, and is neither a library nor linked from some.
///
/// # Safety
///
/// `info` is valid.
pub(super) unsafe fn is_whole(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    // SAFETY: `info` is valid by this function's contract, so both structures are whole where its chain has them.
    unsafe {
        pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next).is_none()
            && pnext::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(info.p_next)
                .is_none_or(|node| node.library_count == 0)
    }
}

/// The stages of a pipeline that count, and whether it is a library: those of a library without shaders, and of a pipeline that is only
/// linked, may dangle. None of what has no multisample state.
///
/// # Safety
///
/// `info` is valid.
unsafe fn stages<'a>(
    info: &vk::GraphicsPipelineCreateInfo<'a>,
) -> Option<(&'a [vk::PipelineShaderStageCreateInfo<'a>], bool)> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: `info` is valid by this function's contract, and so is its chain.
    let whole = unsafe { is_whole(info) };
    // SAFETY: `info` is valid by this function's contract, so a library structure in its chain is whole.
    let part = unsafe { pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next) };
    let has = |bit| part.is_some_and(|part| part.flags.contains(bit));
    if !whole && !has(Part::FRAGMENT_SHADER) {
        return has(Part::FRAGMENT_OUTPUT_INTERFACE).then_some((&[], true));
    }
    // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pStages-06600, which is of whole pipelines and of libraries with shaders.
    Some((unsafe { slice(info.p_stages, info.stage_count) }, !whole))
}

/// What a pipeline has in place of what it asks for.
pub(super) struct Samples<'a> {
    /// The multisample state, if another one.
    pub(super) state: Option<vk::PipelineMultisampleStateCreateInfo<'a>>,
    /// The position of the fragment stage and its words, if others.
    pub(super) fragment: Option<(usize, Vec<u32>)>,
    /// What is written down of it.
    pub(super) told: [Option<Told>; 2],
}

/// Decides how often the fragment shader of a pipeline runs. `other`: its stages, if not the application's.
///
/// # Safety
///
/// `info` is valid, and so are the stages.
pub(super) unsafe fn decide<'a>(
    device: &Device,
    info: &vk::GraphicsPipelineCreateInfo<'a>,
    other: &[vk::PipelineShaderStageCreateInfo<'_>],
) -> Option<Samples<'a>> {
    // SAFETY: `info` is valid by this function's contract, and its stages are not looked at where they may dangle.
    let (stages, library) = unsafe { stages(info) }?;
    let stages = if other.is_empty() { stages } else { other };
    // SAFETY: null or valid, by VUID-VkGraphicsPipelineCreateInfo-pDynamicState-parameter; as many states as it says
    // (VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter).
    let dynamic = unsafe {
        info.p_dynamic_state.as_ref().map_or(&[][..], |state| slice(state.p_dynamic_states, state.dynamic_state_count))
    };
    let is_dynamic = |state| dynamic.contains(&state);
    // Where only fragments are in a library its rasterization state may dangle, and says nothing of it.
    let raster = if library { std::ptr::null() } else { info.p_rasterization_state };
    // SAFETY: null or valid in a complete pipeline (VUID-VkGraphicsPipelineCreateInfo-pRasterizationState-09040).
    let discards = unsafe { raster.as_ref() }.is_some_and(|state| state.rasterizer_discard_enable != vk::FALSE);
    // What is not rasterized has no samples, and its state may dangle (VkGraphicsPipelineCreateInfo, "pMultisampleState").
    if discards && !is_dynamic(vk::DynamicState::RASTERIZER_DISCARD_ENABLE) {
        return None;
    }
    // SAFETY: null or valid where something may be rasterized (VUID-VkGraphicsPipelineCreateInfo-pMultisampleState-09026), and in
    // libraries with a fragment shader (-06629).
    let given = unsafe { info.p_multisample_state.as_ref() };
    let state = given.copied().unwrap_or_default();
    let known = given.is_some() && !is_dynamic(vk::DynamicState::RASTERIZATION_SAMPLES_EXT);
    let fragment = stages.iter().position(|stage| stage.stage == vk::ShaderStageFlags::FRAGMENT);
    let stage = fragment.and_then(|position| stages.get(position));
    // Mixed and custom samples are none in the middle of the pixel.
    // SAFETY: the chain of a valid state.
    let moved = unsafe {
        pnext::find::<vk::PipelineSampleLocationsStateCreateInfoEXT<'_>>(state.p_next)
            .is_some_and(|node| node.sample_locations_enable != vk::FALSE)
            || is_dynamic(vk::DynamicState::SAMPLE_LOCATIONS_ENABLE_EXT)
            || pnext::find::<vk::PipelineCoverageModulationStateCreateInfoNV<'_>>(state.p_next).is_some()
            || pnext::find::<vk::AttachmentSampleCountInfoAMD<'_>>(info.p_next).is_some()
    };
    let asked = Asked {
        shading: SampleShading { enable: state.sample_shading_enable != vk::FALSE, least: state.min_sample_shading },
        samples: known.then_some(state.rasterization_samples.as_raw()),
        // SAFETY: `blended` looks at the valid create info of this function's contract.
        blended: device.looks_at_pipelines().then(|| unsafe { blended(device, info, library, &is_dynamic) }).flatten(),
        library,
        // SAFETY: `info` is valid by this function's contract, so a shading rate structure in its chain is whole.
        rate: is_dynamic(vk::DynamicState::FRAGMENT_SHADING_RATE_KHR)
            || unsafe { pnext::find::<vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>>(info.p_next) }
                .is_some_and(|node| node.fragment_size != vk::Extent2D { width: 1, height: 1 }),
    };
    if given.is_none() && !library {
        return None;
    }
    let Shading { state: got, words, told } = match stage.filter(|_| device.looks_at_pipelines()) {
        // SAFETY: a stage of a create info that is valid by this function's contract, or a copy of one.
        Some(stage) => unsafe { with_words(device, stage, |words, name| device.shading(&asked, Some((words, name)))) },
        None => device.shading(&asked, None),
    };
    let lowered = stage.and_then(|stage| {
        // SAFETY: the module of a valid stage.
        unsafe { device.lowered(stage.module, asked.samples.filter(|samples| !(moved && *samples == 1))) }
    });
    let other = vk::PipelineMultisampleStateCreateInfo {
        sample_shading_enable: got.enable.into(),
        min_sample_shading: got.least,
        ..state
    };
    let differs =
        given.is_some() && (got.enable, got.least.to_bits()) != (asked.shading.enable, asked.shading.least.to_bits());
    Some(Samples {
        state: (differs && !device.audit).then_some(other),
        fragment: fragment.zip(words),
        told: [told, lowered],
    })
}

/// Calls `then` with the words of a stage, if they are known, and the name of its entry point.
///
/// # Safety
///
/// `stage` is valid.
unsafe fn with_words<R>(
    device: &Device,
    stage: &vk::PipelineShaderStageCreateInfo<'_>,
    then: impl FnOnce(Option<&[u32]>, &str) -> R,
) -> R {
    // SAFETY: null-terminated by VUID-VkPipelineShaderStageCreateInfo-pName-parameter.
    let name = unsafe { CStr::from_ptr(stage.p_name) }.to_string_lossy();
    // SAFETY: the chain of a valid stage; a module in it counts where the stage has none.
    let chained = unsafe { pnext::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) };
    match chained.filter(|_| stage.module == vk::ShaderModule::null()) {
        // SAFETY: a whole structure of the chain of `stage`, which is valid by this function's contract, so its words can be read.
        Some(chained) => then(Some(unsafe { words(chained) }), &name),
        // SAFETY: the module of a valid stage.
        None => unsafe { device.with_words_of(stage.module, |words| then(words, &name)) },
    }
}

/// Whether a pipeline blends into any attachment, if that is known.
///
/// # Safety
///
/// `info` is valid.
unsafe fn blended(
    device: &Device,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    library: bool,
    is_dynamic: &dyn Fn(vk::DynamicState) -> bool,
) -> Option<bool> {
    if library || is_dynamic(vk::DynamicState::COLOR_BLEND_ENABLE_EXT) {
        return None;
    }
    let context = match device.separate.as_deref() {
        // SAFETY: the render pass of a valid create info.
        Some(separate) => unsafe { separate.subpass(info.render_pass, info.subpass) },
        None if info.render_pass == vk::RenderPass::null() => kept::Context::default(),
        None => return None,
    };
    // SAFETY: `info` is valid, and `context` is what it is used in.
    if !unsafe { kept::attachments(info, context) }.0 {
        return Some(false);
    }
    // SAFETY: VUID-VkGraphicsPipelineCreateInfo-renderPass-09030 and -09037.
    let state = unsafe { info.p_color_blend_state.as_ref() }?;
    // SAFETY: VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353; whether they blend is not dynamic.
    let attachments = unsafe { slice(state.p_attachments, state.attachment_count) };
    Some(attachments.iter().any(|attachment| attachment.blend_enable != vk::FALSE))
}
