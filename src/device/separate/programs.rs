//! Shader modules and pipelines: which images a pipeline reads through which samplers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};
use samplin_spirv as spirv;

use super::Separate;
use super::layouts::PipelineShape;
use super::recipe::{Recipe, Source, Splits, StageCode, When};
use super::words::Words;
use crate::device::Device;
use crate::kept;
use crate::settings::SeparateShared;
use crate::table::lock;

/// A link of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramLink {
    pub(super) image: spirv::Operand,
    pub(super) sampler: spirv::Operand,
    pub(super) uses: spirv::Uses,
    pub(super) stages: vk::ShaderStageFlags,
}

/// A pipeline. All are remembered, because what the layer binds for one may disturb the sets of the next.
pub(super) struct Program {
    pub(super) number: u64,
    pub(super) handle: u64,
    pub(super) layout: Arc<PipelineShape>,
    pub(super) links: Box<[ProgramLink]>,
    /// The numbers of the sets that links are in, as bits; none if one is too high for that.
    pub(super) linked: Option<u32>,
    /// Why it may have more links than these, if it may.
    pub(super) blind: Option<&'static str>,
    /// What it can be made of again, or the name of what keeps it from that.
    recipe: Mutex<Result<Arc<Recipe>, &'static str>>,
    pub(super) splits: Splits,
}

impl Program {
    /// What it can be made of again, or the name of what keeps it from that.
    pub(super) fn recipe(&self) -> Result<Arc<Recipe>, &'static str> {
        lock(&self.recipe).clone()
    }

    /// Forgets what it can be made of again, unless it is split or being split.
    fn forget_recipe(&self) -> Option<Arc<Recipe>> {
        let mut recipe = lock(&self.recipe);
        let is_idle = self.splits.mask() == 0 && recipe.as_ref().is_ok_and(|recipe| Arc::strong_count(recipe) == 1);
        if is_idle { std::mem::replace(&mut *recipe, Err("learned")).ok() } else { None }
    }

    /// The render pass that it would be made with again; null if none.
    pub(super) fn render_pass(&self) -> vk::RenderPass {
        match lock(&self.recipe).as_deref() {
            Ok(Recipe { source: Source::Graphics(kept), .. }) => kept.render_pass(),
            _ => vk::RenderPass::null(),
        }
    }
}

/// What a pipeline was made of.
pub enum Made<'a> {
    /// A compute pipeline.
    Compute(&'a vk::ComputePipelineCreateInfo<'a>),
    /// A graphics pipeline.
    Graphics(&'a vk::GraphicsPipelineCreateInfo<'a>),
}

/// A stage of a pipeline that is being made.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// Which one.
    pub stage: vk::ShaderStageFlags,
    /// Name of the entry point.
    pub name: &'a str,
    /// Specialization constants: number and bytes.
    pub constants: &'a [(u32, &'a [u8])],
    /// Its code.
    pub words: &'a Arc<Words>,
}

/// Number of the execution model of a stage; none for a stage that reads no images here.
pub(super) fn model(stage: vk::ShaderStageFlags) -> Option<u32> {
    use vk::ShaderStageFlags as S;
    // SPIR-V specification, "Execution Model".
    let models: &[(vk::ShaderStageFlags, u32)] = &[
        (S::VERTEX, 0),
        (S::TESSELLATION_CONTROL, 1),
        (S::TESSELLATION_EVALUATION, 2),
        (S::GEOMETRY, 3),
        (S::FRAGMENT, 4),
        (S::COMPUTE, 5),
        (S::TASK_EXT, 5364),
        (S::MESH_EXT, 5365),
    ];
    models.iter().find(|(other, _)| *other == stage).map(|(_, model)| *model)
}

impl Separate {
    /// Remembers the words of a shader module.
    pub fn insert_module(&self, module: vk::ShaderModule, words: &[u32]) {
        self.modules.insert(module.as_raw(), Arc::new(self.intern(words)));
    }

    /// Forgets a shader module.
    pub fn forget_module(&self, module: vk::ShaderModule) {
        self.modules.remove(module.as_raw());
    }

    /// The words of a module.
    ///
    /// # Safety
    ///
    /// `module` is null or valid during the call.
    pub unsafe fn words(&self, module: vk::ShaderModule) -> Option<Arc<Words>> {
        // SAFETY: forwarded from the caller.
        unsafe { self.modules.get(module.as_raw()) }.map(Arc::clone)
    }

    /// A copy of words, shared with all that are equal.
    pub fn intern(&self, words: &[u32]) -> Arc<Words> {
        self.words.intern(words)
    }
}

/// What a pipeline can be made of again.
///
/// # Safety
///
/// `made` is valid, and `stages` are its stages whose code is known.
unsafe fn recipe(separate: &Separate, made: &Made<'_>, stages: &[Stage<'_>]) -> Result<Recipe, &'static str> {
    // SAFETY: forwarded from the caller.
    let (source, count) = unsafe {
        match made {
            Made::Compute(info) => (Source::Compute(kept::Compute::new(info).map_err(kept::Why::name)?), 1),
            Made::Graphics(info) => {
                let context = separate.subpass(info.render_pass, info.subpass);
                let kept = kept::Graphics::new(info, context).map_err(kept::Why::name)?;
                let count = kept.stages().len();
                (Source::Graphics(Box::new(kept)), count)
            }
        }
    };
    if stages.len() != count {
        return Err("hidden-spirv");
    }
    let stages = memory::collect(stages.iter().map(|stage| StageCode {
        stage: stage.stage,
        name: stage.name.into(),
        constants: memory::collect(stage.constants.iter().map(|(number, bytes)| (*number, Box::from(*bytes)))),
        words: Arc::clone(stage.words),
    }));
    let bytes = match &source {
        Source::Compute(kept) => kept.bytes(),
        Source::Graphics(kept) => kept.bytes(),
    };
    Ok(Recipe { source, stages, _counted: separate.words.count(bytes) })
}

impl Device {
    /// Forgets a pipeline that is about to be destroyed.
    pub fn forget_pipeline(&self, separate: &Separate, pipeline: vk::Pipeline) {
        // SAFETY: the pipeline is the application's to destroy, so no other call names it.
        if let Some(program) = unsafe { separate.programs.share(pipeline.as_raw()) } {
            self.destroy_variants_of(&program);
            separate.programs.remove(pipeline.as_raw());
            self.leave_render_pass(separate, program.render_pass());
        }
    }

    /// Remembers a pipeline. `hidden`: why there are stages whose code is not known.
    ///
    /// # Safety
    ///
    /// `made` is the valid create info that `pipeline` was made with, and `libraries` are valid pipelines.
    pub unsafe fn insert_pipeline(
        &self,
        separate: &Separate,
        pipeline: vk::Pipeline,
        made: &Made<'_>,
        stages: &[Stage<'_>],
        libraries: &[vk::Pipeline],
        hidden: Option<&'static str>,
    ) {
        let (layout, flags) = match made {
            Made::Compute(info) => (info.layout, info.flags),
            Made::Graphics(info) => (info.layout, info.flags),
        };
        if flags.contains(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT) {
            return;
        }
        // SAFETY: forwarded from the caller.
        let Some(layout) = (unsafe { separate.pipeline_shape(layout) }) else { return };
        let mut links: Vec<ProgramLink> = Vec::new();
        let mut blind = hidden;
        let mut add = |link: ProgramLink| {
            let same = |other: &&mut ProgramLink| (other.image, other.sampler) == (link.image, link.sampler);
            match links.iter_mut().find(same) {
                Some(other) => {
                    other.uses |= link.uses;
                    other.stages |= link.stages;
                }
                None => links.with_room().push(link),
            }
        };
        for stage in stages {
            blind = blind.or(self.links_of(pipeline, stage, &mut add));
        }
        for library in libraries {
            // SAFETY: forwarded from the caller.
            if let Some(program) = unsafe { separate.programs.get(library.as_raw()) } {
                program.links.iter().copied().for_each(&mut add);
                blind = blind.or(program.blind);
            }
        }
        let recipe = if links.is_empty() {
            Err("memory")
        } else {
            // SAFETY: forwarded from the caller.
            unsafe { recipe(separate, made, stages) }
        };
        let (number, links) = (separate.number(), links.into_boxed_slice());
        let (handle, splits) = (pipeline.as_raw(), Splits::default());
        let sets = links.iter().flat_map(|link| [link.image.set, link.sampler.set]);
        let linked = sets.into_iter().try_fold(0, |all, set| Some(all | 1_u32.checked_shl(set)?));
        let recipe = Mutex::new(recipe.map(Arc::new));
        let program = Arc::new(Program { number, handle, layout, links, linked, blind, recipe, splits });
        if !self.audit && separate.settings.shared == SeparateShared::Split {
            self.split_all(separate, &program, separate.learned(&program), When::Made);
        }
        separate.programs.insert(handle, Arc::clone(&program));
        separate.links.fetch_add(program.links.len() as u64, Ordering::Relaxed);
        if !program.links.is_empty() {
            self.keep_within(separate, &program);
        }
    }

    /// Takes a new pipeline among those that may be made again. If that is more than may be kept, what the oldest ones that are not split
    /// are made of is forgotten.
    fn keep_within(&self, separate: &Separate, program: &Arc<Program>) {
        {
            let mut kept = lock(&separate.kept);
            if kept.len() >= 64 && kept.len().is_power_of_two() {
                kept.retain(|program| program.strong_count() > 0);
            }
            kept.with_room().push_back(Arc::downgrade(program));
        }
        while separate.words.bytes() > separate.settings.memory {
            let Some(oldest) = lock(&separate.kept).pop_front() else { return };
            let Some(oldest) = oldest.upgrade() else { continue };
            let pass = oldest.render_pass();
            if oldest.forget_recipe().is_some() {
                self.leave_render_pass(separate, pass);
            }
        }
    }

    /// The links of a stage that may have to be repaired. Returns why there may be more, if that is so.
    fn links_of(
        &self,
        pipeline: vk::Pipeline,
        stage: &Stage<'_>,
        add: &mut impl FnMut(ProgramLink),
    ) -> Option<&'static str> {
        let model = model(stage.stage)?;
        let constants = spirv::Specialization(stage.constants);
        let links =
            spirv::Module::read(stage.words).and_then(|module| module.links(stage.name, model, Some(&constants)));
        let links = match links {
            Ok(links) => links,
            Err(spirv::Error::Memory) => memory::give_up(),
            Err(why) => {
                self.shader_unresolved("malformed-spirv", &why.to_string(), pipeline, stage);
                return Some("malformed-spirv");
            }
        };
        let mut blind = None;
        for link in links.iter().filter(|link| link.uses.samples() && !link.uses.contains(spirv::Uses::COMBINED)) {
            match (link.image, link.sampler, link.opaque) {
                (Some(image), Some(sampler), false) => {
                    add(ProgramLink { image, sampler, uses: link.uses, stages: stage.stage });
                }
                _ => {
                    let why = "image or sampler is one of several, or comes from no variable";
                    self.shader_unresolved("opaque-operand", why, pipeline, stage);
                    blind = Some("opaque-operand");
                }
            }
        }
        blind
    }
}
