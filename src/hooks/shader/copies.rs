//! Create infos of pipelines and shader objects that reach the driver in place of the application's, where a shader that comes with them or
//! their multisample state has to differ. The application's are not written to.

use std::ffi::CStr;

use ash::vk;
use samplin_hot::memory::Room;
use samplin_spirv::Link;

use super::mappings::{self, Mapped};
use super::{constants, samples, words};
use crate::device::{Device, Live, PipelineRecord, Rewritten};
use crate::kept;
use crate::pnext::{self, Base, slice};

/// Create infos of one call, and what they lead to that is not the application's.
pub(in crate::hooks) struct Copies<'a, I> {
    pub(in crate::hooks) infos: Vec<I>,
    device: &'a Device,
    stages: Vec<Vec<vk::PipelineShaderStageCreateInfo<'a>>>,
    /// With room for all, so that none moves.
    states: Vec<vk::PipelineMultisampleStateCreateInfo<'a>>,
    words: Vec<Rewritten>,
    /// Modules of what came in chains, which live as long as the call.
    modules: Vec<vk::ShaderModule>,
    /// Chains in which other samplers are embedded.
    mapped: Vec<Mapped>,
    /// What is written down of pipelines, by the position of the create info.
    records: Vec<(usize, PipelineRecord)>,
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
            mapped: Vec::new(),
            records: Vec::new(),
        }
    }

    /// What the code of a shader object was made of, if it reaches the driver in place of the application's.
    pub(in crate::hooks) fn made_of(&self, code: *const std::ffi::c_void) -> Option<&Rewritten> {
        self.words.iter().find(|rewritten| rewritten.words.as_ptr().cast() == code)
    }

    /// Whether anything differs from what was given; where nothing does there is only something to record.
    pub(in crate::hooks) fn differs(&self) -> bool {
        let is_same = self.words.is_empty() && self.modules.is_empty() && self.states.is_empty();
        !(is_same && self.mapped.is_empty())
    }

    /// A stage in which other samplers are embedded, if some have to be. `changed`: what reaches the driver in its place so far.
    ///
    /// # Safety
    ///
    /// `stage` is valid, and its chain is alive for as long as this is used.
    unsafe fn embed(
        &mut self,
        stage: &vk::PipelineShaderStageCreateInfo<'a>,
        changed: Option<vk::PipelineShaderStageCreateInfo<'a>>,
    ) -> Option<vk::PipelineShaderStageCreateInfo<'a>> {
        if !self.device.pairs.heaps.is_on() {
            return changed;
        }
        let given = changed.unwrap_or(*stage);
        // SAFETY: `stage` is valid by this function's contract, and so is one that reaches the driver in its place.
        let mapped = unsafe { mappings::mapped(self.device, given.p_next, || links_of(self.device, stage)) };
        let Some(mapped) = mapped else { return changed };
        let p_next = mapped.first();
        self.mapped.with_room().push(mapped);
        Some(vk::PipelineShaderStageCreateInfo { p_next, ..given })
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
        // SAFETY: `stage` is valid by this function's contract, so a module structure in its chain is whole.
        let chained = unsafe { pnext::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) }?;
        // SAFETY: a whole structure of the chain of `stage`, which is valid by this function's contract, so its words can be read.
        let rewritten =
            self.device.shaders.module_words(&self.device.ground, &self.device.pairs, unsafe { words(chained) })?;
        // SAFETY: `stage` is valid by this function's contract, which is all that `with_module` asks.
        unsafe { self.with_module(stage, &rewritten) }
    }

    /// The stage with a module of other words in place of its own, which may come in its chain.
    ///
    /// # Safety
    ///
    /// `stage` is valid.
    unsafe fn with_module(
        &mut self,
        stage: &vk::PipelineShaderStageCreateInfo<'a>,
        rewritten: &Rewritten,
    ) -> Option<vk::PipelineShaderStageCreateInfo<'a>> {
        let (words, mut p_next) = (&rewritten.words, stage.p_next);
        // SAFETY: `stage` is valid by this function's contract, so a module structure in its chain is whole.
        if let Some(chained) = unsafe { pnext::find::<vk::ShaderModuleCreateInfo<'_>>(p_next) } {
            let first: *const Base = p_next.cast();
            if first != (&raw const *chained).cast() {
                self.device.ground.journal.chain_unresolved(words);
                return None;
            }
            p_next = chained.p_next;
        }
        let create = self.device.ground.driver.fns.create_shader_module?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        let mut module = vk::ShaderModule::null();
        // SAFETY: words that a pass has made of the application's.
        if unsafe { create(self.device.ground.driver.handle, &info, std::ptr::null(), &mut module) }
            != vk::Result::SUCCESS
        {
            return None;
        }
        self.modules.with_room().push(module);
        self.device.shaders.insert_module(self.device.separate.as_deref(), module, words, Some(rewritten));
        Some(vk::PipelineShaderStageCreateInfo { module, p_next, ..*stage })
    }
}

/// What a stage joins, if that is known.
///
/// # Safety
///
/// `stage` is valid.
unsafe fn links_of(device: &Device, stage: &vk::PipelineShaderStageCreateInfo<'_>) -> Option<Vec<Link>> {
    // SAFETY: `stage` is valid by this function's contract: its name is null-terminated (-pName-parameter), its module is null or valid,
    // and what its chain holds is whole.
    unsafe {
        let name = CStr::from_ptr(stage.p_name).to_string_lossy();
        let constants = constants(stage.p_specialization_info);
        if let Some(chained) = pnext::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next) {
            return mappings::links(words(chained), &name, stage.stage, &constants);
        }
        let words = device.separate.as_deref()?.words(Live::new(stage.module))?;
        mappings::links(&words, &name, stage.stage, &constants)
    }
}

impl<I> Copies<'_, I> {
    /// Writes down what became of the pipelines that were made.
    pub(in crate::hooks) fn record(&self, made: &[vk::Pipeline]) {
        for (position, record) in &self.records {
            let pipeline = made.get(*position).copied().unwrap_or_default();
            self.device.ground.journal.record_pipeline(pipeline, record);
        }
    }
}

impl<I> Drop for Copies<'_, I> {
    fn drop(&mut self) {
        let device = self.device;
        for module in self.modules.drain(..) {
            device.ground.guard(|| device.shaders.forget_module(device.separate.as_deref(), module), || ());
            if let Some(destroy) = device.ground.driver.fns.destroy_shader_module {
                // SAFETY: made by `stage` with a NULL allocator; the call that needed it is over.
                unsafe { destroy(device.ground.driver.handle, module, std::ptr::null()) };
            }
        }
    }
}

/// What reaches the driver in place of the create infos of compute pipelines, if not these.
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
        // SAFETY: the chain of a valid create info.
        if unsafe { kept::has_binaries(info.p_next) } {
            continue;
        }
        // SAFETY: the stage of a valid create info.
        let other = unsafe {
            let other = copies.stage(&info.stage);
            copies.embed(&info.stage, other)
        };
        // SAFETY: layout and module are those of a valid create info, or the module was made above.
        let (layout, module) =
            unsafe { (Live::new(info.layout), Live::new(other.as_ref().unwrap_or(&info.stage).module)) };
        device.shaders.check_counters(&device.ground.journal, device.separate.as_deref(), layout, module);
        if let (Some(stage), Some(copy)) = (other, copies.infos.get_mut(position)) {
            copy.stage = stage;
        }
    }
    copies.differs().then_some(copies)
}

/// What reaches the driver in place of the create infos of shader objects, if not these.
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
        if let (Some(rewritten), Some(copy)) =
            (device.shaders.module_words(&device.ground, &device.pairs, given), copies.infos.get_mut(position))
        {
            rewritten.of_an_object(&device.ground.journal);
            (copy.p_code, copy.code_size) = (rewritten.words.as_ptr().cast(), size_of_val(&*rewritten.words));
            copies.words.with_room().push(rewritten);
        }
        if !device.pairs.heaps.is_on() {
            continue;
        }
        // SAFETY: `info` is valid by this function's contract: its name is null-terminated (VUID-VkShaderCreateInfoEXT-pName-parameter), and
        // so are its constants (-pSpecializationInfo-parameter) and its chain.
        let mapped = unsafe {
            mappings::mapped(device, info.p_next, || {
                let name = CStr::from_ptr(info.p_name).to_string_lossy();
                mappings::links(given, &name, info.stage, &constants(info.p_specialization_info))
            })
        };
        if let (Some(mapped), Some(copy)) = (mapped, copies.infos.get_mut(position)) {
            copy.p_next = mapped.first();
            copies.mapped.with_room().push(mapped);
        }
    }
    copies.differs().then_some(copies)
}

/// Functions for what reaches the driver in place of the create infos of ray tracing pipelines, if not these.
macro_rules! rays {
    ($($name:ident: $info:ident;)+) => {$(
        /// # Safety
        ///
        /// There are `count` valid create infos.
        pub(in crate::hooks) unsafe fn $name<'a>(
            device: &'a Device,
            infos: *const vk::$info<'a>,
            count: u32,
        ) -> Option<Copies<'a, vk::$info<'a>>> {
            if !device.pairs.heaps.is_on() {
                return None;
            }
            // SAFETY: `count` create infos by this function's contract.
            let mut copies = Copies::new(device, unsafe { slice(infos, count) });
            for position in 0..copies.infos.len() {
                let Some(info) = copies.infos.get(position).copied() else { break };
                // SAFETY: as many stages as a valid create info says (its `-pStages-parameter` VUID).
                let given = unsafe { slice(info.p_stages, info.stage_count) };
                let mut other = Vec::new();
                for (number, stage) in given.iter().enumerate() {
                    // SAFETY: a stage of a valid create info.
                    if let Some(stage) = unsafe { copies.embed(stage, None) } {
                        put(&mut other, given, number, stage);
                    }
                }
                if let (false, Some(copy)) = (other.is_empty(), copies.infos.get_mut(position)) {
                    copy.p_stages = other.as_ptr();
                    copies.stages.with_room().push(other);
                }
            }
            copies.differs().then_some(copies)
        }
    )+};
}

rays! {
    rays_khr: RayTracingPipelineCreateInfoKHR;
    rays_nv: RayTracingPipelineCreateInfoNV;
}

/// What reaches the driver in place of the create infos of graphics pipelines, if not these.
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
        let mut other = Vec::new();
        // SAFETY: `infos` are valid by this function's contract; what one is used in makes no difference for its stages.
        let facts = unsafe { kept::Facts::of(info, kept::Context::default()) };
        // SAFETY: the facts are those of `info`.
        let (stages, binaries) = unsafe { (facts.stages_of(info), kept::has_binaries(info.p_next)) };
        if !binaries {
            for (number, stage) in stages.iter().enumerate() {
                // SAFETY: a stage of a valid create info.
                let made = unsafe {
                    let made = if facts.is_whole() { copies.stage(stage) } else { None };
                    copies.embed(stage, made)
                };
                // SAFETY: layout and module are those of a valid create info, or the module was made above.
                let (layout, module) =
                    unsafe { (Live::new(info.layout), Live::new(made.as_ref().unwrap_or(stage).module)) };
                device.shaders.check_counters(&device.ground.journal, device.separate.as_deref(), layout, module);
                if let Some(stage) = made {
                    put(&mut other, stages, number, stage);
                }
            }
        }
        // SAFETY: one of `infos`, which are valid by this function's contract, and its stages or copies of them.
        if let Some(samples) = unsafe { samples::decide(device, info, &other) } {
            if let Some((number, words)) = samples.fragment {
                let now = if other.is_empty() { stages } else { &other }.get(number).copied();
                let rewritten = device.shaders.with_formats(words);
                // SAFETY: a stage of a create info that is valid by this function's contract, or a copy of one with a module made above.
                if let Some(stage) = now.and_then(|stage| unsafe { copies.with_module(&stage, &rewritten) }) {
                    put(&mut other, stages, number, stage);
                }
            }
            if let (Some(state), Some(copy)) = (samples.state, copies.infos.get_mut(position)) {
                copies.states.push(state);
                copy.p_multisample_state = copies.states.last().map_or(std::ptr::null(), std::ptr::from_ref);
            }
            for record in samples.records.into_iter().flatten() {
                copies.records.with_room().push((position, record));
            }
        }
        if let (false, Some(copy)) = (other.is_empty(), copies.infos.get_mut(position)) {
            copy.p_stages = other.as_ptr();
            copies.stages.with_room().push(other);
        }
    }
    (copies.differs() || !copies.records.is_empty()).then_some(copies)
}

/// Puts a stage among the copies of all.
fn put<'a>(
    copies: &mut Vec<vk::PipelineShaderStageCreateInfo<'a>>,
    given: &[vk::PipelineShaderStageCreateInfo<'a>],
    number: usize,
    stage: vk::PipelineShaderStageCreateInfo<'a>,
) {
    if copies.is_empty() {
        *copies = samplin_hot::memory::collect(given.iter().copied());
    }
    if let Some(copy) = copies.get_mut(number) {
        *copy = stage;
    }
}
