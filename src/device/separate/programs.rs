//! Shader modules and pipelines: which images a pipeline reads through which samplers.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_bind::Executable;
use samplin_bind::plan::link_bit;
use samplin_core::left::{Cause, Left};
use samplin_hot::memory::{self, Room};
use samplin_spirv as spirv;
use vk_layer_sys::PIPELINE_CREATE_2_DESCRIPTOR_HEAP;

use super::Separate;
use super::found::LINKED;
use super::layouts::{Binding, PipelineShape};
use super::recipe::{MadeOf, Recipe, Splits, StageCode, When};
use super::seen::{Variable, add, followed};
use super::stages::model;
use super::words::{Module, Words};
use crate::device::aspects::Aspects;
use crate::device::ground::Ground;
use crate::device::hot::follow;
use crate::device::journal::Journal;
use crate::device::live::Live;
use crate::device::once::Once;
use crate::device::resolve::{On, Pairs};
use crate::kept;
use crate::settings::SeparateShared;
use crate::table::{FastMap, lock};

/// Why links are not known of code that is not SPIR-V.
pub(super) const HIDDEN: Left = Left::HiddenSpirv;

/// A link of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramLink {
    pub(super) image: spirv::Operand,
    pub(super) sampler: spirv::Operand,
    pub(super) ty: spirv::ImageType,
    /// What shaders read its images as; none if as floats and as integers, by variables of the same binding.
    pub(super) sampled: Option<spirv::Sampled>,
    pub(super) uses: spirv::Uses,
    pub(super) stages: vk::ShaderStageFlags,
    /// It compares through a combined descriptor that has no slots: sets note those alone that cannot compare.
    pub(super) is_noted: bool,
}

impl ProgramLink {
    /// Whether image and sampler are one descriptor.
    pub(super) fn is_combined(&self) -> bool {
        self.uses.contains(spirv::Uses::COMBINED)
    }
}

/// Link, state, class, and whether the link is left as it is: one that is repaired with some sets may be left with others.
type RecordedLink = (usize, u32, u32, bool);

/// What is known of a link that may join what conflicts without a draw that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// It names its descriptors, and what was ever written to their bindings conflicts, though not in these.
    Expected,
    /// It can reach what conflicts.
    Found,
    Recorded,
}

/// What records have of a pipeline.
#[derive(Default)]
pub(super) struct RecordedLinks {
    pub(super) links: Mutex<Once<RecordedLink, 256>>,
    /// Links that can reach what conflicts in ways that no draw may show.
    pub(super) late: Mutex<FastMap<usize, Late>>,
}

/// A pipeline. All are remembered, because what the layer binds for one may disturb the sets of the next.
pub struct Program {
    pub(super) number: u64,
    pub(super) handle: u64,
    pub(super) layout: Arc<PipelineShape>,
    pub(super) links: Box<[ProgramLink]>,
    /// The images that it reads, where some are integers that views with both aspects may show.
    pub(super) reads: Box<[spirv::ImageRead]>,
    /// The images that it declares whose views are known where they are bound, and the numbers of their sets as bits.
    pub(super) variables: Box<[Variable]>,
    pub(super) variable_sets: u32,
    /// The numbers of the sets that links are in, as bits; none if one is too high for that.
    pub(super) linked: Option<u32>,
    /// The same; none if a key has no room for them either.
    pub(super) key_sets: Option<u32>,
    /// Links whose descriptors may be other ones after the bind, one bit each: nothing of the layer's own stands in for these.
    pub(super) loose: u64,
    /// Links whose shader looks up what suits them, where any does, one bit each.
    pub(super) looked_up: u64,
    /// What the application has bound when this is bound.
    pub(super) own: Executable,
    /// The numbers of the sets that shaders are known to read images in, as bits.
    pub(super) sets_read: u32,
    /// Why it may have more links than these, if it may.
    pub(super) blind: Option<Left>,
    /// Others are linked of it, and it is never bound.
    pub(super) is_library: bool,
    /// Most colour attachments of what can be made again.
    pub(super) colors: u32,
    /// What it can be made of again, or the name of what keeps it from that.
    recipe: Mutex<Result<Arc<Recipe>, Left>>,
    pub(super) splits: Splits,
    pub(super) records: RecordedLinks,
}

/// Links as they are found, each once.
#[derive(Default)]
pub(super) struct FoundLinks {
    pub(super) links: Vec<ProgramLink>,
    /// The images that are read, where it matters as what.
    reads: Vec<spirv::ImageRead>,
    /// The numbers of the sets that they are in, and those are that are not followed, as bits.
    pub(super) sets_read: u32,
    pub(super) variables: Vec<Variable>,
    /// Why there may be more of them.
    pub(super) blind: Option<Left>,
}

impl FoundLinks {
    /// Takes a link over, or its uses and stages if it is there.
    pub(super) fn add(&mut self, link: ProgramLink) {
        let same = |other: &&mut ProgramLink| (other.image, other.sampler) == (link.image, link.sampler);
        match self.links.iter_mut().find(same) {
            Some(other) => {
                let both = other.sampled.zip(link.sampled);
                let is_float = |sampled| sampled == spirv::Sampled::Float;
                other.sampled = both.filter(|(own, new)| is_float(*own) == is_float(*new)).map(|(own, _)| own);
                other.uses |= link.uses;
                other.stages |= link.stages;
            }
            None => self.links.with_room().push(link),
        }
    }

    /// Takes over what was found elsewhere.
    pub(super) fn extend(
        &mut self,
        links: &[ProgramLink],
        reads: &[spirv::ImageRead],
        variables: &[Variable],
        blind: Option<Left>,
    ) {
        links.iter().copied().for_each(|link| self.add(link));
        reads.iter().for_each(|read| self.reads.with_room().push(*read));
        add(&mut self.variables, variables.iter().cloned());
        self.blind = self.blind.or(blind);
    }

    /// The images that are read, if it matters as what. `is_part`: other shaders may read the same ones.
    pub(super) fn take_reads(&mut self, is_part: bool) -> Box<[spirv::ImageRead]> {
        let reads = std::mem::take(&mut self.reads);
        if is_part || reads.iter().any(|read| read.is_integer) { reads.into_boxed_slice() } else { Box::default() }
    }

    /// The links, combined ones last: the first can be split. Where shaders have nothing to do, of combined descriptors only those
    /// matter whose samplers no write chooses.
    pub(super) fn into_links(mut self, separate: &Separate, layout: &PipelineShape) -> Box<[ProgramLink]> {
        self.links.retain_mut(|link| {
            let set = layout.sets.get(link.image.set as usize).and_then(Option::as_ref);
            let has_slots = set.is_some_and(|set| set.binding(link.image.binding).is_some_and(Binding::has_pairs));
            let is_immutable = set.is_some_and(|set| set.is_immutable(link.image.binding));
            link.is_noted = link.is_combined() && separate.notes(link.uses) && !has_slots && !is_immutable;
            !link.is_combined() || link.is_noted || separate.follows_pairs() || has_slots && is_immutable
        });
        memory::sorted_by_key(self.links, |link| (link.is_combined(), link.is_noted)).into_boxed_slice()
    }
}

impl Program {
    /// What was found in shaders of this layout. `named`: the handle that records name it by.
    pub(super) fn new(
        separate: &Separate,
        named: u64,
        own: Executable,
        is_library: bool,
        layout: Arc<PipelineShape>,
        mut found: FoundLinks,
        recipe: impl FnOnce() -> Result<Recipe, Left>,
    ) -> Self {
        let (blind, sets_read) = (found.blind, found.sets_read);
        let reads = found.take_reads(is_library);
        let variables = followed(std::mem::take(&mut found.variables), &layout);
        let variable_sets = variables.iter().fold(0, |all, one| all | 1_u32.checked_shl(one.at.set).unwrap_or(0));
        let links = found.into_links(separate, &layout);
        let may_retype = separate.seen.repairs && variables.iter().any(|one| one.declared.is_storage);
        let recipe = if links.is_empty() && !is_library && !may_retype { Err(Left::Memory) } else { recipe() };
        let linked = if blind == Some(HIDDEN) {
            // Nobody knows which.
            1_u32.checked_shl(layout.sets.len() as u32).map(|end| end - 1)
        } else {
            let sets = links.iter().flat_map(|link| [link.image.set, link.sampler.set]);
            sets.chain(reads.iter().filter(|read| read.is_integer).map(|read| read.set))
                .try_fold(0, |all, set| Some(all | 1_u32.checked_shl(set)?))
        };
        let loose = links.iter().enumerate().filter(|(_, link)| layout.may_change(&link.image, &link.sampler));
        let loose = loose.fold(0, |all, (number, _)| all | link_bit(number));
        let looked_up = separate.looked_up(&layout, &links);
        let (number, splits) = (separate.number(), Splits::default());
        let colors = recipe.as_ref().map_or(0, |recipe| recipe.colors);
        let (records, recipe) = (RecordedLinks::default(), Mutex::new(recipe.map(Arc::new)));
        let key_sets = linked.filter(|linked| linked.count_ones() as usize <= LINKED);
        Self {
            number,
            handle: named,
            layout,
            links,
            reads,
            variables,
            variable_sets,
            linked,
            key_sets,
            loose,
            looked_up,
            own,
            sets_read,
            blind,
            is_library,
            colors,
            recipe,
            splits,
            records,
        }
    }

    /// Whether it joins what may conflict before any set notes that.
    pub(super) fn has_links(&self) -> bool {
        self.links.iter().any(|link| !link.is_noted)
    }

    /// Whether it reads anything that sets may note.
    #[inline(always)]
    pub(super) fn reads_noted(&self) -> bool {
        // Such links come last.
        !self.reads.is_empty() || self.links.last().is_some_and(|link| link.is_noted)
    }

    /// Whether nothing is to be known of what it reads through separate samplers, as nothing is there.
    pub(super) fn is_plain(&self) -> bool {
        self.links.is_empty() && self.integers().next().is_none() && self.blind != Some(HIDDEN)
    }

    /// Whether it is shader objects that are bound together.
    pub(super) fn is_of_shaders(&self) -> bool {
        matches!(self.own, Executable::Shaders(_))
    }

    /// What it can be made of again, or the name of what keeps it from that.
    pub(super) fn recipe(&self) -> Result<Arc<Recipe>, Left> {
        lock(&self.recipe).clone()
    }

    /// Forgets what it can be made of again, unless it is being split, or is split and `also_split` does not say so. Whether it did. What
    /// is linked of a library keeps that.
    fn forget_recipe(&self, also_split: bool) -> bool {
        let mut recipe = lock(&self.recipe);
        let is_idle = self.is_library
            || (also_split || !self.splits.any()) && recipe.as_ref().is_ok_and(|recipe| Arc::strong_count(recipe) == 1);
        if is_idle {
            *recipe = Err(Left::Learned);
        }
        is_idle
    }
}

/// Pipelines that a deferred operation makes.
pub(super) struct Deferred {
    /// Where their handles will be.
    made: AtomicPtr<vk::Pipeline>,
    programs: Vec<Option<Program>>,
}

/// What a pipeline was made of.
pub enum Made<'a> {
    /// A compute pipeline.
    Compute(&'a vk::ComputePipelineCreateInfo<'a>),
    /// A graphics pipeline.
    Graphics(&'a vk::GraphicsPipelineCreateInfo<'a>),
    /// A ray tracing pipeline of this layout, with these flags and this chain. It is never made again: the application holds handles of
    /// its groups (vkGetRayTracingShaderGroupHandlesKHR), of which another pipeline has others.
    RayTracing(vk::PipelineLayout, u64, *const c_void),
}

impl Made<'_> {
    /// What is chained to its create info.
    pub const fn p_next(&self) -> *const c_void {
        match self {
            Self::Compute(info) => info.p_next,
            Self::Graphics(info) => info.p_next,
            Self::RayTracing(_, _, p_next) => *p_next,
        }
    }
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

impl Separate {
    /// Remembers pipelines that are made by a deferred operation: their handles will be at `made`.
    pub fn defer_pipelines(
        &self,
        operation: vk::DeferredOperationKHR,
        made: *mut vk::Pipeline,
        programs: Vec<Option<Program>>,
    ) {
        let deferred = Deferred { made: AtomicPtr::new(made), programs };
        lock(&self.deferred).with_room().insert(operation.as_raw(), deferred);
    }

    /// Remembers the words of a shader module.
    pub fn insert_module(&self, module: vk::ShaderModule, words: &[u32], declared: Option<&[u32]>) {
        self.modules.insert(module.as_raw(), Arc::new(Module::new(self.intern(words, declared))));
    }

    /// The words of a module.
    pub fn words(&self, module: Live<'_, vk::ShaderModule>) -> Option<Arc<Words>> {
        module.of(&self.modules).map(|module| Arc::clone(module.words()))
    }

    /// A copy of words, shared with all that are equal. `declared`: the same with the image formats that the application declares, where
    /// others stand for them.
    pub fn intern(&self, words: &[u32], declared: Option<&[u32]>) -> Arc<Words> {
        self.words.intern(words, declared.map(|declared| self.words.intern(declared, None)))
    }

    /// Forgets a pipeline that is about to be destroyed.
    pub fn forget_pipeline(&self, ground: &Ground, pipeline: vk::Pipeline) {
        let (driver, journal) = (&ground.driver, &ground.journal);
        // SAFETY: the pipeline is the application's to destroy, so no other call names it.
        if let Some(program) = unsafe { self.programs.share(pipeline.as_raw()) } {
            self.record_late(ground, &program);
            if program.splits.any() {
                // They hold second pipelines.
                self.resolutions.clear();
            }
            self.destroy_seconds_of(driver, &program);
            journal.forget_name(vk::ObjectType::PIPELINE, pipeline.as_raw());
            self.programs.remove(pipeline.as_raw());
        }
    }

    /// What there is to know of a pipeline, if anything. `hidden`: why there are stages whose code is not known. `pipeline` may be null if
    /// it is not made yet.
    ///
    /// # Safety
    ///
    /// `made` is the valid create info that `pipeline` is made with.
    pub unsafe fn program_of(
        &self,
        On { ground, pairs }: On<'_>,
        pipeline: vk::Pipeline,
        made: &Made<'_>,
        stages: &[Stage<'_>],
        libraries: &[Live<'_, vk::Pipeline>],
        hidden: Option<Left>,
    ) -> Option<Program> {
        let libraries = memory::collect(libraries.iter().map(|library| library.share(&self.programs)));
        // SAFETY: `made` is of a valid create info, by this function's contract, and so is its chain.
        let (layout, flags) = unsafe {
            match made {
                Made::Compute(info) => (Some(info.layout), kept::all_flags(info.flags, info.p_next)),
                Made::Graphics(info) => (own_layout(info, &libraries), kept::all_flags(info.flags, info.p_next)),
                Made::RayTracing(layout, flags, _) => (Some(*layout), *flags),
            }
        };
        // SAFETY: one that a valid create info is made with, by this function's contract, so it is not destroyed meanwhile.
        let layout = layout.map(|layout| unsafe { Live::new(layout) });
        let has = |flag: vk::PipelineCreateFlags| flags & u64::from(flag.as_raw()) != 0;
        let is_library = has(vk::PipelineCreateFlags::LIBRARY_KHR) && !matches!(made, Made::Compute(_));
        let in_heaps = flags & PIPELINE_CREATE_2_DESCRIPTOR_HEAP != 0;
        if in_heaps || has(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT) {
            let layout = layout.filter(|_| !in_heaps).and_then(|layout| self.pipeline_shape(layout));
            self.join_in_memory(On { ground, pairs }, pipeline, layout.as_deref(), stages, in_heaps, hidden);
            return None;
        }
        let layout = match layout {
            Some(layout) => self.pipeline_shape(layout)?,
            None => libraries
                .iter()
                .flatten()
                .map(|library| &library.layout)
                .max_by_key(|layout| layout.sets.len())
                .map_or_else(|| Arc::new(self.no_layout()), Arc::clone),
        };
        let mut found = FoundLinks { blind: hidden, ..FoundLinks::default() };
        for stage in stages {
            self.force.keep_read(stage.words);
            self.links_of(&ground.journal, &pairs.stand_ins.aspects, pipeline.as_raw(), stage, &mut found);
        }
        for library in libraries.iter().flatten() {
            found.extend(&library.links, &library.reads, &library.variables, library.blind);
            found.sets_read |= library.sets_read;
        }
        let handle = pipeline.as_raw();
        // SAFETY: `made` and its stages are of one valid create info by this function's contract.
        let recipe = || unsafe { recipe(self, made, stages, &libraries) };
        self.note_declared(&ground.hot, &found.variables);
        let program = Program::new(self, handle, Executable::Pipeline(handle), is_library, layout, found, recipe);
        if program.has_links() || program.integers().next().is_some() || program.blind == Some(HIDDEN) {
            ground.hot.follow.fetch_max(follow::LINKED, Ordering::AcqRel);
        }
        self.follow_reads(&ground.hot, &program.reads, &program.links);
        Some(program)
    }

    /// Takes over the pipelines of a deferred operation that is complete.
    ///
    /// # Safety
    ///
    /// No thread of the application has learned that it is complete, so that the handles are where they were written.
    pub unsafe fn take_deferred(&self, ground: &Ground, pairs: &Pairs, operation: vk::DeferredOperationKHR) {
        // The lock is held until the pipelines can be found: another thread that learns the same waits for that here, before its application
        // may bind them. Nothing calls down meanwhile, as ray tracing pipelines are never made a second time (`Made::RayTracing`).
        let mut deferred = lock(&self.deferred);
        let Some(Deferred { made, programs }) = deferred.remove(&operation.as_raw()) else { return };
        let first = made.into_inner().cast_const();
        // SAFETY: an element for each create info, at their place still by this function's contract.
        let made = unsafe { crate::pnext::slice(first, programs.len() as u32) };
        for (pipeline, program) in made.iter().zip(programs) {
            if let Some(program) = program.filter(|_| *pipeline != vk::Pipeline::null()) {
                self.insert_pipeline(ground, pairs, *pipeline, program);
            }
        }
    }

    /// Remembers a pipeline, and splits it at once where links of it are learned.
    pub fn insert_pipeline(&self, ground: &Ground, pairs: &Pairs, pipeline: vk::Pipeline, mut program: Program) {
        let handle = pipeline.as_raw();
        (program.handle, program.own) = (handle, Executable::Pipeline(handle));
        let program = Arc::new(program);
        if !program.is_library {
            if !ground.wishes.audit && self.settings.shared != SeparateShared::Keep {
                let links = self.learned(&program) | if self.demotes { pairs.named_links(ground, &program) } else { 0 };
                self.split_all(ground, &program, links, 0, When::Made);
            }
            self.prepare_tasks(&ground.driver, &ground.journal, &program);
        }
        self.suspect_new(&ground.hot, &program);
        self.programs.insert(handle, Arc::clone(&program));
        self.links.fetch_add(program.links.len() as u64, Ordering::Relaxed);
        if !program.links.is_empty() || program.is_library || program.recipe().is_ok() {
            lock(&self.kept).add(&program);
            self.keep_within();
        }
    }

    /// Forgets a shader module. Its words count from now on, if pipelines may be made of them again.
    pub fn forget_separate_module(&self, module: vk::ShaderModule) {
        self.modules.remove(module.as_raw());
        self.keep_within();
    }

    /// If more is kept than may be, forgets what pipelines can be made of again: the oldest first, those that are split last, the newest
    /// never.
    fn keep_within(&self) {
        let budget = self.settings.memory;
        while self.words.bytes() > budget {
            let Some((oldest, is_last)) = lock(&self.kept).oldest(budget > 0) else { return };
            let Some(program) = oldest.upgrade() else { continue };
            if !program.forget_recipe(is_last) && !is_last {
                lock(&self.kept).set_aside(oldest);
            }
        }
    }

    /// Finds the links of a stage that may have to be repaired. `program`: the handle that records name it by.
    pub(super) fn links_of(
        &self,
        journal: &Journal,
        aspects: &Aspects,
        program: u64,
        stage: &Stage<'_>,
        found: &mut FoundLinks,
    ) {
        let Some(model) = model(stage.stage) else { return };
        self.variables_of(stage, &mut found.variables);
        let constants = spirv::Specialization(stage.constants);
        let links = spirv::Module::read(stage.words).and_then(|module| {
            if aspects.is_on() {
                found.reads.append(&mut module.images_read(stage.name, model, Some(&constants))?);
            }
            module.links(stage.name, model, Some(&constants))
        });
        let links = match links {
            Ok(links) => links,
            Err(spirv::Error::Memory) => memory::give_up(),
            Err(error) => {
                journal.shader_unresolved(Cause::UnreadableStage.with(&[&error]), program, stage);
                return found.extend(&[], &[], &[], Some(Left::MalformedSpirv));
            }
        };
        let sets = links.iter().flat_map(|link| [link.image, link.sampler]).flatten().map(|operand| operand.set);
        found.sets_read |= sets.fold(0, |all, set| all | 1_u32.checked_shl(set).unwrap_or(0));
        let counts =
            |uses: spirv::Uses| self.follows_immutables() || self.notes(uses) || !uses.contains(spirv::Uses::COMBINED);
        for link in links.iter().filter(|link| link.uses.samples() && counts(link.uses)) {
            match (link.image, link.sampler, link.opaque) {
                (Some(image), Some(sampler), false) => {
                    let (ty, uses, stages) = (link.ty, link.uses, stage.stage);
                    let sampled = Some(ty.sampled);
                    found.add(ProgramLink { image, sampler, ty, sampled, uses, stages, is_noted: false });
                }
                _ => {
                    journal.shader_unresolved(Left::OpaqueOperand, program, stage);
                    found.extend(&[], &[], &[], Some(Left::OpaqueOperand));
                }
            }
        }
    }
}

/// What is kept of a stage.
pub(super) fn code_of(stage: &Stage<'_>) -> StageCode {
    StageCode {
        stage: stage.stage,
        name: stage.name.into(),
        constants: memory::collect(stage.constants.iter().map(|(number, bytes)| (*number, Box::from(*bytes)))),
        words: Arc::clone(stage.words),
    }
}

/// What a pipeline can be made of again; `libraries` are those that it is linked of, none for one that is not known.
///
/// # Safety
///
/// `made` is valid, and `stages` are its stages whose code is known.
unsafe fn recipe(
    separate: &Separate,
    made: &Made<'_>,
    stages: &[Stage<'_>],
    libraries: &[Option<Arc<Program>>],
) -> Result<Recipe, Left> {
    let (mut parts, mut all) = (memory::vec(libraries.len()), Vec::new());
    for library in libraries {
        let part = library.as_deref().ok_or(Left::PipelineLibrary)?.recipe()?;
        part.stages.iter().for_each(|stage| all.with_room().push(Arc::clone(stage)));
        parts.push(part);
    }
    // SAFETY: the create info behind `made` is valid by this function's contract.
    let (source, count) = unsafe {
        match made {
            Made::Compute(info) => (MadeOf::Compute(kept::Compute::new(info)?), 1),
            Made::Graphics(info) => {
                let context = separate.context(info);
                let kept = kept::Graphics::new(info, context)?;
                let (count, pass) = (kept.stages().len(), separate.pass_for(kept.render_pass())?);
                (MadeOf::Graphics(Box::new(kept), pass, parts), count)
            }
            Made::RayTracing(..) => return Err(Left::RayTracingHandles),
        }
    };
    if stages.len() != count {
        return Err(HIDDEN);
    }
    stages.iter().for_each(|stage| all.with_room().push(Arc::new(code_of(stage))));
    let (bytes, colors) = match &source {
        MadeOf::Compute(kept) => (kept.bytes(), 0),
        MadeOf::Graphics(kept, _, parts) => {
            (kept.bytes(), parts.iter().map(|part| part.colors).fold(kept.colors(), u32::max))
        }
        MadeOf::Shaders(_) => (0, 0),
    };
    Ok(Recipe { source, stages: all, colors, _counted: separate.words.count(bytes) })
}

/// The layout that a graphics pipeline is made with; none where that of its libraries counts, or nothing has one.
///
/// Without shaders of its own, and without optimization at link time, the member is looked at for libraries with independent sets only
/// (VUID-VkGraphicsPipelineCreateInfo-flags-06642, -07814, -06729 and -06730), and may be anything else where it is not.
///
/// # Safety
///
/// `info` is valid.
unsafe fn own_layout(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    libraries: &[Option<Arc<Program>>],
) -> Option<vk::PipelineLayout> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    // SAFETY: `info` is valid by this function's contract; what it is used in makes no difference for its parts.
    let parts = unsafe { kept::Facts::of(info, kept::Context::default()) }.parts();
    let has_shaders = parts.intersects(Part::PRE_RASTERIZATION_SHADERS | Part::FRAGMENT_SHADER);
    let is_independent = |library: &Arc<Program>| library.layout.has_independent_sets();
    (has_shaders || libraries.iter().flatten().any(is_independent)).then_some(info.layout)
}
