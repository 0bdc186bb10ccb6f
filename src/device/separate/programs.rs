//! Shader modules and pipelines: which images a pipeline reads through which samplers.

use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};
use samplin_spirv as spirv;

use super::Separate;
use super::layouts::PipelineShape;
use crate::device::Device;

/// The words of a shader module that joins images and samplers.
pub(super) struct Code {
    pub(super) words: Arc<[u32]>,
}

/// A link of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramLink {
    pub(super) image: spirv::Operand,
    pub(super) sampler: spirv::Operand,
    pub(super) uses: spirv::Uses,
    pub(super) stages: vk::ShaderStageFlags,
}

/// A pipeline that joins images and samplers.
pub(super) struct Program {
    pub(super) number: u64,
    pub(super) handle: u64,
    pub(super) layout: Arc<PipelineShape>,
    pub(super) links: Box<[ProgramLink]>,
    /// Why it may have more links than these, if it may.
    pub(super) blind: Option<&'static str>,
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
    pub words: &'a [u32],
}

/// Number of the execution model of a stage; none for a stage that reads no images here.
fn model(stage: vk::ShaderStageFlags) -> Option<u32> {
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

/// Whether words hold an instruction that joins an image and a sampler (`OpSampledImage`). Lengths of instructions are followed, and
/// what is behind one that is malformed counts.
fn joins(words: &[u32]) -> bool {
    const HEADER: usize = 5;
    const SAMPLED_IMAGE: u32 = 86;
    let mut at = HEADER;
    while let Some(first) = words.get(at) {
        if first & 0xffff == SAMPLED_IMAGE {
            return true;
        }
        match (first >> 16) as usize {
            0 => return true,
            length => at += length,
        }
    }
    false
}

impl Separate {
    /// Remembers the words of a shader module, if it joins anything.
    pub fn insert_module(&self, module: vk::ShaderModule, words: &[u32]) {
        if joins(words) {
            let mut copy = memory::vec(words.len());
            copy.extend_from_slice(words);
            self.modules.insert(module.as_raw(), Arc::new(Code { words: copy.into() }));
        }
    }

    /// Forgets a shader module.
    pub fn forget_module(&self, module: vk::ShaderModule) {
        self.modules.remove(module.as_raw());
    }

    /// The words of a module, if it joins anything.
    ///
    /// # Safety
    ///
    /// `module` is null or valid during the call.
    pub unsafe fn words(&self, module: vk::ShaderModule) -> Option<Arc<[u32]>> {
        // SAFETY: forwarded from the caller.
        unsafe { self.modules.get(module.as_raw()) }.map(|code| Arc::clone(&code.words))
    }

    /// Forgets a pipeline.
    pub fn forget_pipeline(&self, pipeline: vk::Pipeline) {
        self.programs.remove(pipeline.as_raw());
    }
}

impl Device {
    /// Remembers a pipeline, if it joins anything. `hidden`: why there are stages whose code is not known.
    ///
    /// # Safety
    ///
    /// `layout` is the valid pipeline layout that `pipeline` was made with, and `libraries` are valid pipelines.
    pub unsafe fn insert_pipeline(
        &self,
        separate: &Separate,
        pipeline: vk::Pipeline,
        layout: vk::PipelineLayout,
        stages: &[Stage<'_>],
        (libraries, is_library): (&[vk::Pipeline], bool),
        hidden: Option<&'static str>,
    ) {
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
        if links.is_empty() && (blind.is_none() || !is_library) {
            return;
        }
        let links = links.into_boxed_slice();
        let program = Program { number: separate.number(), handle: pipeline.as_raw(), layout, links, blind };
        separate.programs.insert(pipeline.as_raw(), Arc::new(program));
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
