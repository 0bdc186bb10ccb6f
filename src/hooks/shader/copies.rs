//! Create infos of pipelines and shader objects that go down in place of the application's, where a shader that comes with them or
//! their multisample state has to differ. The application's are not written to.

use ash::vk;
use samplin_hot::memory::Room;

use super::words;
use crate::decide::{Changes, SampleShading, sample_shading};
use crate::device::{Device, Rewritten};
use crate::hooks::slice;
use crate::pnext::{self, Base};

/// Create infos of one call, and what they lead to that is not the application's.
pub(in crate::hooks) struct Copies<'a, I> {
    pub(in crate::hooks) infos: Vec<I>,
    device: &'a Device,
    stages: Vec<Vec<vk::PipelineShaderStageCreateInfo<'a>>>,
    /// With room for all, so that none moves.
    states: Vec<vk::PipelineMultisampleStateCreateInfo<'a>>,
    words: Vec<Vec<u32>>,
    /// Modules of what came in chains, which live as long as the call.
    modules: Vec<vk::ShaderModule>,
    /// What changed in multisample states, by the position of the create info.
    changes: Vec<(usize, Changes)>,
}

impl<'a, I: Copy> Copies<'a, I> {
    fn new(device: &'a Device, infos: &[I]) -> Self {
        let mut copied = samplin_hot::memory::vec(infos.len());
        copied.extend_from_slice(infos);
        Self {
            infos: copied,
            device,
            stages: Vec::new(),
            states: samplin_hot::memory::vec(infos.len()),
            words: Vec::new(),
            modules: Vec::new(),
            changes: Vec::new(),
        }
    }

    fn differs(&self) -> bool {
        !(self.words.is_empty() && self.modules.is_empty() && self.states.is_empty())
    }

    /// The stage with a module of other words, if its own come in its chain and a pass makes others of them.
    ///
    /// # Safety
    ///
    /// `stage` is valid.
    unsafe fn stage(
        &mut self,
        stage: &vk::PipelineShaderStageCreateInfo<'a>,
    ) -> Option<vk::PipelineShaderStageCreateInfo<'a>> {
        if stage.module != vk::ShaderModule::null() {
            return None;
        }
        // SAFETY: the chain of a valid stage.
        let chained = unsafe { pnext::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) }?;
        // SAFETY: a structure of a valid chain.
        let rewritten = self.device.module_words(unsafe { words(chained) })?;
        let words = &rewritten.words;
        let first: *const Base = stage.p_next.cast();
        if first != (&raw const *chained).cast() {
            self.device.chain_unresolved(words);
            return None;
        }
        let create = self.device.fns.create_shader_module?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        let mut module = vk::ShaderModule::null();
        // SAFETY: words that a pass has made of the application's.
        if unsafe { create(self.device.handle, &info, std::ptr::null(), &mut module) } != vk::Result::SUCCESS {
            return None;
        }
        self.modules.with_room().push(module);
        if let Some(separate) = self.device.separate.as_deref() {
            separate.insert_module(module, words);
        }
        self.device.shaders.insert(module, &rewritten);
        Some(vk::PipelineShaderStageCreateInfo { module, p_next: chained.p_next, ..*stage })
    }
}

impl<I> Copies<'_, I> {
    /// Writes down what changed in multisample states of the pipelines that were made.
    pub(in crate::hooks) fn tell(&self, made: &[vk::Pipeline]) {
        for (position, changes) in &self.changes {
            let pipeline = made.get(*position).copied().unwrap_or_default();
            self.device.record_multisample(pipeline, changes);
        }
    }
}

impl<I> Drop for Copies<'_, I> {
    fn drop(&mut self) {
        let device = self.device;
        for module in self.modules.drain(..) {
            device.guard(|| device.forget_module(module), || ());
            if let Some(destroy) = device.fns.destroy_shader_module {
                // SAFETY: made by `stage` with a NULL allocator; the call that needed it is over.
                unsafe { destroy(device.handle, module, std::ptr::null()) };
            }
        }
    }
}

/// What goes down in place of the create infos of compute pipelines, if not these.
///
/// # Safety
///
/// `infos` are valid.
pub(in crate::hooks) unsafe fn compute<'a>(
    device: &'a Device,
    infos: &[vk::ComputePipelineCreateInfo<'a>],
) -> Option<Copies<'a, vk::ComputePipelineCreateInfo<'a>>> {
    let mut copies = Copies::new(device, infos);
    for (position, info) in infos.iter().enumerate() {
        // SAFETY: the stage of a valid create info.
        let other = unsafe { copies.stage(&info.stage) };
        // SAFETY: layout and module are those of a valid create info, or the module was made above.
        unsafe { device.check_counters(info.layout, other.as_ref().unwrap_or(&info.stage).module) };
        if let (Some(stage), Some(copy)) = (other, copies.infos.get_mut(position)) {
            copy.stage = stage;
        }
    }
    copies.differs().then_some(copies)
}

/// What goes down in place of the create infos of shader objects, if not these.
///
/// # Safety
///
/// `infos` are valid.
pub(in crate::hooks) unsafe fn objects<'a>(
    device: &'a Device,
    infos: &[vk::ShaderCreateInfoEXT<'a>],
) -> Option<Copies<'a, vk::ShaderCreateInfoEXT<'a>>> {
    let mut copies = Copies::new(device, infos);
    for (position, info) in infos.iter().enumerate() {
        if info.code_type != vk::ShaderCodeTypeEXT::SPIRV {
            continue;
        }
        // SAFETY: SPIR-V is a multiple of four bytes (VUID-VkShaderCreateInfoEXT-codeSize-08735) at an address that is one too
        // (-pCode-08493).
        let given = unsafe { slice(info.p_code.cast::<u32>(), u32::try_from(info.code_size / 4).unwrap_or(0)) };
        if let (Some(Rewritten { words, .. }), Some(copy)) =
            (device.module_words(given), copies.infos.get_mut(position))
        {
            (copy.p_code, copy.code_size) = (words.as_ptr().cast(), size_of_val(&*words));
            copies.words.with_room().push(words);
        }
    }
    copies.differs().then_some(copies)
}

/// What goes down in place of the create infos of graphics pipelines, if not these.
///
/// # Safety
///
/// `infos` are valid.
pub(in crate::hooks) unsafe fn graphics<'a>(
    device: &'a Device,
    infos: &[vk::GraphicsPipelineCreateInfo<'a>],
) -> Option<Copies<'a, vk::GraphicsPipelineCreateInfo<'a>>> {
    let mut copies = Copies::new(device, infos);
    for (position, info) in infos.iter().enumerate() {
        // SAFETY: the chain of a valid create info.
        let whole = unsafe { is_whole(info) };
        // Those of a library without shaders, and of a pipeline that is only linked, may dangle.
        if !whole {
            continue;
        }
        // SAFETY: VUID-VkGraphicsPipelineCreateInfo-pStages-06600.
        let stages = unsafe { slice(info.p_stages, info.stage_count) };
        let mut other = Vec::new();
        for (number, stage) in stages.iter().enumerate() {
            // SAFETY: a stage of a valid create info.
            let made = unsafe { copies.stage(stage) };
            // SAFETY: layout and module are those of a valid create info, or the module was made above.
            unsafe { device.check_counters(info.layout, made.as_ref().unwrap_or(stage).module) };
            let Some(stage) = made else { continue };
            if other.is_empty() {
                other = samplin_hot::memory::vec(stages.len());
                other.extend_from_slice(stages);
            }
            if let Some(copy) = other.get_mut(number) {
                *copy = stage;
            }
        }
        // SAFETY: a complete pipeline's.
        let state = unsafe { multisample(device, info) };
        let Some(copy) = copies.infos.get_mut(position) else { continue };
        if !other.is_empty() {
            copy.p_stages = other.as_ptr();
            copies.stages.with_room().push(other);
        }
        if let Some((state, changes)) = state {
            if !device.audit {
                copies.states.push(state);
                copy.p_multisample_state = copies.states.last().map_or(std::ptr::null(), std::ptr::from_ref);
            }
            copies.changes.with_room().push((position, changes));
        }
    }
    (copies.differs() || !copies.changes.is_empty()).then_some(copies)
}

/// Whether a pipeline has all of its state, and is neither a library nor linked from some.
///
/// # Safety
///
/// `info` is valid.
unsafe fn is_whole(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    // SAFETY: the chain of a valid create info.
    unsafe {
        pnext::find::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>(info.p_next).is_none()
            && pnext::find::<vk::PipelineLibraryCreateInfoKHR<'_>>(info.p_next)
                .is_none_or(|node| node.library_count == 0)
    }
}

/// The multisample state that goes down in place of a pipeline's, if not its own, and what changed.
///
/// # Safety
///
/// `info` is that of a complete pipeline.
unsafe fn multisample<'a>(
    device: &Device,
    info: &vk::GraphicsPipelineCreateInfo<'a>,
) -> Option<(vk::PipelineMultisampleStateCreateInfo<'a>, Changes)> {
    // SAFETY: null or valid, by VUID-VkGraphicsPipelineCreateInfo-pDynamicState-parameter; as many states as it says
    // (VUID-VkPipelineDynamicStateCreateInfo-pDynamicStates-parameter).
    let dynamic = unsafe {
        info.p_dynamic_state.as_ref().map_or(&[][..], |state| slice(state.p_dynamic_states, state.dynamic_state_count))
    };
    let is_dynamic = |state| dynamic.contains(&state);
    // SAFETY: null or valid in a complete pipeline (VUID-VkGraphicsPipelineCreateInfo-pRasterizationState-09040).
    let discards = unsafe { info.p_rasterization_state.as_ref() }
        .is_some_and(|state| state.rasterizer_discard_enable != vk::FALSE);
    // What is not rasterized has no samples, and its state may dangle (VkGraphicsPipelineCreateInfo, "pMultisampleState").
    if discards && !is_dynamic(vk::DynamicState::RASTERIZER_DISCARD_ENABLE) {
        return None;
    }
    // SAFETY: null or valid where something may be rasterized (VUID-VkGraphicsPipelineCreateInfo-pMultisampleState-09026).
    let state = unsafe { info.p_multisample_state.as_ref() }?;
    let asked = SampleShading { enable: state.sample_shading_enable != vk::FALSE, least: state.min_sample_shading };
    let single = state.rasterization_samples == vk::SampleCountFlags::TYPE_1
        && !is_dynamic(vk::DynamicState::RASTERIZATION_SAMPLES_EXT);
    let (got, changes) = sample_shading(asked, device.caps.sample_rate_shading, single);
    let other = vk::PipelineMultisampleStateCreateInfo {
        sample_shading_enable: got.enable.into(),
        min_sample_shading: got.least,
        ..*state
    };
    (!changes.is_empty()).then_some((other, changes))
}
