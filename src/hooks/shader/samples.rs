//! What the create info of a graphics pipeline says about samples.

use std::ffi::CStr;

use ash::vk;

use super::words;
use crate::decide::SampleShading;
use crate::device::{Device, Live, PipelineRecord, Shading, ShadingRequest};
use crate::kept::{self, Facts, StateMember};
use crate::pnext::{self, slice};

/// What a pipeline has in place of what it asks for.
pub(super) struct Samples<'a> {
    /// The multisample state, if another one.
    pub(super) state: Option<vk::PipelineMultisampleStateCreateInfo<'a>>,
    /// The position of the fragment stage and its words, if others.
    pub(super) fragment: Option<(usize, Vec<u32>)>,
    /// What is written down of it.
    pub(super) records: [Option<PipelineRecord>; 2],
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
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: `info` is valid by this function's contract.
    let (facts, binaries) = unsafe { (facts_of(device, info), kept::has_binaries(info.p_next)) };
    if binaries
        || facts.discards()
        || !facts.parts().intersects(Part::FRAGMENT_SHADER | Part::FRAGMENT_OUTPUT_INTERFACE)
    {
        return None;
    }
    let library = !facts.is_whole();
    // SAFETY: the facts are those of `info`.
    let given = unsafe { facts.stages_of(info) };
    let stages = if other.is_empty() { given } else { other };
    let is_dynamic = |state| facts.has(&[state]);
    // SAFETY: null, or a valid state that is not ignored.
    let given = unsafe { facts.follow(StateMember::Multisample, info.p_multisample_state).ok()?.as_ref() };
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
    let asked = ShadingRequest {
        shading: SampleShading { enable: state.sample_shading_enable != vk::FALSE, least: state.min_sample_shading },
        samples: known.then_some(state.rasterization_samples.as_raw()),
        // SAFETY: the facts are those of the valid create info of this function's contract.
        blended: device.shaders.looks_at_pipelines().then(|| unsafe { blended(info, &facts) }).flatten(),
        library,
        // SAFETY: `info` is valid by this function's contract, so a shading rate structure in its chain is whole.
        rate: is_dynamic(vk::DynamicState::FRAGMENT_SHADING_RATE_KHR)
            || unsafe { pnext::find::<vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>>(info.p_next) }
                .is_some_and(|node| node.fragment_size != vk::Extent2D { width: 1, height: 1 }),
    };
    if given.is_none() && !library {
        return None;
    }
    let Shading { state: got, words, record } = match stage.filter(|_| device.shaders.looks_at_pipelines()) {
        // SAFETY: a stage of a create info that is valid by this function's contract, or a copy of one.
        Some(stage) => unsafe {
            with_words(device, stage, |words, name| device.shaders.shading(&device.ground, &asked, Some((words, name))))
        },
        None => device.shaders.shading(&device.ground, &asked, None),
    };
    let lowered = stage.and_then(|stage| {
        let samples = asked.samples.filter(|samples| !(moved && *samples == 1));
        // SAFETY: the module of a valid stage.
        let module = unsafe { Live::new(stage.module) };
        device.shaders.lowered(&device.ground.driver, &device.ground.journal, module, samples)
    });
    let other = vk::PipelineMultisampleStateCreateInfo {
        sample_shading_enable: got.enable.into(),
        min_sample_shading: got.least,
        ..state
    };
    let differs =
        given.is_some() && (got.enable, got.least.to_bits()) != (asked.shading.enable, asked.shading.least.to_bits());
    Some(Samples {
        state: (differs && !device.ground.wishes.audit).then_some(other),
        fragment: fragment.zip(words),
        records: [record, lowered],
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
        None => {
            // SAFETY: the module of a valid stage.
            let module = unsafe { Live::new(stage.module) };
            device.shaders.with_words_of(device.separate.as_deref(), module, |words| then(words, &name))
        }
    }
}

/// What decides about the pointers of a create info, on this device.
///
/// # Safety
///
/// `info` is valid.
unsafe fn facts_of<'a>(device: &Device, info: &vk::GraphicsPipelineCreateInfo<'a>) -> Facts<'a> {
    // SAFETY: `info` is valid by this function's contract.
    let context = device.separate.as_deref().map(|separate| unsafe { separate.context(info) });
    // SAFETY: `info` is valid, and `context` is what it is used in.
    unsafe { Facts::of(info, context.unwrap_or_default()) }
}

/// Whether a pipeline blends into any attachment, if that is known.
///
/// # Safety
///
/// `info` is valid, and the facts are its own.
unsafe fn blended(info: &vk::GraphicsPipelineCreateInfo<'_>, facts: &Facts<'_>) -> Option<bool> {
    if !facts.is_whole() || facts.has(&[vk::DynamicState::COLOR_BLEND_ENABLE_EXT]) {
        return None;
    }
    if !facts.uses_colors().ok()? {
        return Some(false);
    }
    // SAFETY: null, or a valid state that is not ignored.
    let state = unsafe { facts.follow(StateMember::ColorBlend, info.p_color_blend_state).ok()?.as_ref() }?;
    let attachments = facts.follow(StateMember::BlendAttachments, state.p_attachments).ok()?;
    // SAFETY: as many attachments as the state says (VUID-VkPipelineColorBlendStateCreateInfo-pAttachments-07353).
    let attachments = unsafe { slice(attachments, state.attachment_count) };
    Some(attachments.iter().any(|attachment| attachment.blend_enable != vk::FALSE))
}
