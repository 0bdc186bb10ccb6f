//! Split pipelines: second pipelines in which some links read their samplers from a set of the layer's own.
//!
//! The application's sets, layouts and bindings stay what they are. The set comes behind them, at the first number that the
//! pipeline layout leaves free, see [`hidden`](super::hidden).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ash::vk::{self, Handle};
use samplin_bind::Executable;
use samplin_bind::plan::{LINKS, link_bit};
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};
use samplin_spirv::sampling::Passes;
use samplin_spirv::split::{Part, Refused, Why, split};
use samplin_spirv::{Module, Operand, Specialization};

use super::Separate;
use super::compare::Compared;
use super::emulation;
use super::layouts::PipelineShape;
use super::limits::{More, bindings};
use super::looked_up::Selection;
use super::programs::Program;
use super::recipe::{MadeOf, PassRun, Recipe, Second, StageCode, When};
use super::stages::model;
use super::tasks::Keys;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::hot::follow;
use crate::device::journal::Journal;
use crate::kept;
use crate::settings::SplitCompile;
use crate::table::lock;

/// The name of what a pass refused.
pub(super) fn left_of(refused: Refused) -> Left {
    match refused {
        Refused::Module(why) => emulation::left_module(why),
        Refused::Part(_, Why::Opaque | Why::NoLink) => Left::OpaqueOperand,
        Refused::Part(_, Why::Unbounded) => Left::Bindless,
        Refused::Part(_, Why::Vendor) => Left::VendorInstruction,
        Refused::Part(_, Why::IndexType) => Left::IndexType,
        Refused::Part(_, Why::Call | Why::Parameters) => Left::TooManyClones,
    }
}

impl Separate {
    /// The pipeline in which at least these links are split, made if there is none; the name of what keeps it from being made.
    pub(super) fn split(
        &self,
        ground: &Ground,
        program: &Program,
        links: u64,
        when: When,
    ) -> Result<Arc<Second>, Left> {
        let splits = &program.splits;
        let wanted = {
            let made = lock(&splits.made);
            match made.last() {
                Some(last) if last.mask & links == links => return Ok(Arc::clone(last)),
                Some(last) => last.mask | links,
                None => links,
            }
        };
        let made = match (when, self.settings.compile) {
            (When::Bound, SplitCompile::Learn) => Err(Left::Learned),
            _ => self.make_second(&ground.driver, &ground.journal, program, wanted, None, when),
        };
        if when == When::Bound && matches!(made, Ok(_) | Err(Left::Learned)) {
            self.learn(program, links);
        }
        let second = Arc::new(made?);
        let mut made = lock(&splits.made);
        if let Some(last) = made.last().filter(|last| last.mask & !wanted != 0 || last.mask & links == links) {
            // Another thread was faster. The one in use has all links that are split, so where that one has others as well, and not
            // these, there has to be one with both.
            let (last, is_enough) = (Arc::clone(last), last.mask & links == links);
            drop(made);
            ground.driver.destroy_second(&second);
            return if is_enough { Ok(last) } else { self.split(ground, program, links, when) };
        }
        made.with_room().push(Arc::clone(&second));
        second.hidden.iter().for_each(|shape| self.hidden.enter(shape));
        splits.pipeline.store(second.pipeline(), Ordering::Release);
        if second.selection.as_ref().is_some_and(Selection::is_late) {
            splits.is_late.store(true, Ordering::Release);
            self.tables.expect_late();
        }
        ground.hot.follow.fetch_max(follow::ALL, Ordering::AcqRel);
        // First, so that what is found out after that is found out for a split pipeline.
        splits.mask.fetch_or(wanted, Ordering::AcqRel);
        self.resolutions.clear();
        self.splits.fetch_add(1, Ordering::Relaxed);
        Ok(second)
    }

    /// [`Separate::split`] with as many of the links as can be, of which those that are only wished for come last; what cannot be is
    /// remembered as refused. Those whose descriptors may change after the bind are left alone, whoever asks, unless they are
    /// looked up. The last pipeline that was
    /// made.
    pub(super) fn split_all(
        &self,
        ground: &Ground,
        program: &Program,
        links: u64,
        wishes: u64,
        when: When,
    ) -> Option<Arc<Second>> {
        let links = links & (!program.loose | program.looked_up);
        if links == 0 {
            return None;
        }
        match self.split(ground, program, links, when) {
            Ok(made) => Some(made),
            // One that cannot be split must not keep the others from it.
            Err(_) if links.count_ones() > 1 => {
                let ones = |links: u64| (0..LINKS).map(|link| 1_u64 << link).filter(move |one| links & one != 0);
                let all = ones(links & !wishes).chain(ones(links & wishes));
                all.filter_map(|one| self.split_all(ground, program, one, 0, when)).last()
            }
            Err(why) => {
                program.splits.refuse(links, why);
                None
            }
        }
    }

    /// Makes a second pipeline in which some links are split. `keys`: where its shaders find what to do for descriptors, if they are
    /// to do anything.
    pub(super) fn make_second(
        &self,
        driver: &Driver,
        journal: &Journal,
        program: &Program,
        mask: u64,
        keys: Option<(Keys, Compared)>,
        when: When,
    ) -> Result<Second, Left> {
        use vk::DescriptorType as T;
        let started = Instant::now();
        let recipe = program.recipe()?;
        let number = program.layout.sets.len();
        let has_block = matches!(keys, Some((Keys::Block, _)));
        let has_hidden = mask != 0 || has_block;
        if has_hidden {
            self.limits.check(&program.layout, &[], program.colors)?;
        }
        let looked_up = mask & program.looked_up;
        let split = mask & !looked_up;
        let chosen: Vec<usize> = memory::collect((0..program.links.len().min(LINKS)).filter(|n| split >> n & 1 != 0));
        let first = first_binding(&program.layout);
        let mut counts = memory::vec(chosen.len());
        counts.resize(chosen.len(), 1_u32);
        let mut codes = memory::vec(recipe.stages.len());
        for stage in &recipe.stages {
            codes.push(rewrite(program, stage, number as u32, first, &chosen, &mut counts)?);
        }
        let tasks = match keys {
            Some((keys, compared)) => {
                let limits = samplin_spirv::sampling::Limits { lod_bias: driver.caps.max_sampler_lod_bias };
                let all = self.force.filters();
                let passes = Passes { filter: all || self.tasks.filter, fetch: all, ..self.tasks };
                let at = emulation::HiddenAt { set: number as u32, first, chosen: &chosen, limits, passes };
                Some(emulation::rewrite_all(self, program, &recipe, &mut codes, at, keys, compared)?)
            }
            None => None,
        };
        let stages = |link: usize| program.links.get(link).map_or(vk::ShaderStageFlags::empty(), |link| link.stages);
        let samplers = chosen.iter().zip(&counts).map(|(link, count)| {
            let more = More { kind: T::SAMPLER, count: *count, stages: stages(*link) };
            (more, unread(program, *link))
        });
        let all = || recipe.stages.iter().fold(vk::ShaderStageFlags::empty(), |all, stage| all | stage.stage);
        let block = has_block.then(|| More { kind: T::UNIFORM_BUFFER, count: 1, stages: all() });
        let none = vk::DescriptorBindingFlags::empty();
        let mut own = memory::collect(samplers.chain(block.map(|block| (block, none))));
        let mut selection = None;
        if looked_up != 0 {
            let found = Selection::new(self, driver, program, looked_up, first, &own)?;
            for (stage, code) in recipe.stages.iter().zip(&mut codes) {
                let words = code.as_deref().unwrap_or(&stage.words);
                if let Some(words) = found.rewrite(program, stage, words, number as u32)? {
                    *code = Some(words);
                }
            }
            found.more(program).into_iter().for_each(|more| own.with_room().push(more));
            selection = Some(found);
        }
        let (mut hidden, mut layout) = (None, Arc::clone(&program.layout));
        if has_hidden {
            // What is looked up was checked with the rest.
            let flags = match &selection {
                Some(selection) => selection.layout_flags,
                None => {
                    let more = memory::collect(own.iter().map(|(more, _)| *more));
                    self.limits.check(&program.layout, &more, program.colors)?;
                    Default::default()
                }
            };
            let bindings = bindings(first, own);
            let shape = self.shape_of(kept::SetLayout { flags, bindings }, |_| 0);
            layout = Arc::new(program.layout.with_set(self.number(), Arc::clone(&shape)));
            hidden = Some(shape);
        }
        let twin = self.twin_of_pipeline(driver, &layout).ok_or(Left::Memory)?;
        let (made, libraries) = self.compile(driver, &recipe, &codes, &layout, twin)?;
        let took = started.elapsed();
        self.split_ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let parts = memory::collect(chosen.into_iter().zip(counts));
        for (stage, code) in recipe.stages.iter().zip(&codes) {
            if let Some(words) = code {
                let links = || (0..LINKS).filter(|link| mask & link_bit(*link) != 0);
                let (pass, links) = match &tasks {
                    Some(tasks) => (tasks.pass(self.tasks), tasks.links()),
                    None if looked_up != 0 => ("table", memory::collect(links())),
                    None => ("split", memory::collect(links())),
                };
                journal.shader_rewritten(program, stage, PassRun { pass, links: &links, took, when }, words.len());
            }
        }
        let second = Second { mask, made, libraries, layout, hidden, parts, tasks, selection, formats: Vec::new() };
        driver.name_second(journal, program, &second);
        Ok(second)
    }

    /// Makes what a recipe is for, with other code where there is any and the private layout, of which `twin` is made; and libraries
    /// that it is linked of.
    pub(super) fn compile(
        &self,
        driver: &Driver,
        recipe: &Recipe,
        codes: &[Option<Vec<u32>>],
        layout: &PipelineShape,
        twin: vk::PipelineLayout,
    ) -> Result<(Executable, Vec<u64>), Left> {
        let words = recipe.stages.iter().zip(codes).map(|(stage, code)| code.as_deref().unwrap_or(&stage.words));
        words.clone().for_each(|words| self.force.keep_module(words));
        if let MadeOf::Shaders(shaders) = &recipe.source {
            let codes = memory::collect(words);
            let made = self.make_shaders(driver, shaders, &codes, layout).ok_or(Left::Memory)?;
            let stages = recipe.stages.iter().map(|stage| stage.stage.as_raw());
            return Ok((Executable::Shaders(memory::collect(stages.zip(made)).into_boxed_slice()), Vec::new()));
        }
        let (Some(create), Some(destroy)) = (driver.fns.create_shader_module, driver.fns.destroy_shader_module) else {
            return Err(Left::Memory);
        };
        let mut modules = memory::vec(codes.len());
        let mut result = vk::Result::SUCCESS;
        for words in words {
            let info = vk::ShaderModuleCreateInfo::default().code(words);
            let mut module = vk::ShaderModule::null();
            // SAFETY: the application's own words, or what a pass made of them.
            result = unsafe { create(driver.handle, &info, std::ptr::null(), &mut module) };
            if result != vk::Result::SUCCESS {
                break;
            }
            modules.push(module);
        }
        let (mut pipeline, mut libraries) = (vk::Pipeline::null(), Vec::new());
        if result == vk::Result::SUCCESS {
            let modules = &mut modules.iter().copied();
            result = self.compile_with(driver, &recipe.source, modules, twin, &mut pipeline, &mut libraries);
        }
        for module in modules {
            // SAFETY: made above with a NULL allocator; pipelines do without their modules.
            unsafe { destroy(driver.handle, module, std::ptr::null()) };
        }
        if result == vk::Result::SUCCESS {
            return Ok((Executable::Pipeline(pipeline.as_raw()), libraries));
        }
        libraries.into_iter().for_each(|library| driver.destroy_executable(&Executable::Pipeline(library)));
        Err(Left::Memory)
    }

    fn compile_with(
        &self,
        driver: &Driver,
        source: &MadeOf,
        modules: &mut dyn Iterator<Item = vk::ShaderModule>,
        layout: vk::PipelineLayout,
        pipeline: &mut vk::Pipeline,
        linked: &mut Vec<u64>,
    ) -> vk::Result {
        const LACKING: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
        let (cache, none) = (vk::PipelineCache::null(), std::ptr::null());
        match source {
            MadeOf::Compute(kept) => {
                let (Some(create), Some(module)) = (driver.fns.create_compute_pipelines, modules.next()) else {
                    return LACKING;
                };
                kept.with_create_info(layout, module, |info| {
                    // SAFETY: equal to a create info that the driver accepted, but for a layout with one more set and code that reads it.
                    unsafe { create(driver.handle, cache, 1, info, none, pipeline) }
                })
            }
            MadeOf::Graphics(kept, pass, parts) => {
                let (create, pass) = (driver.fns.create_graphics_pipelines, self.twin_of_pass(driver, pass.as_deref()));
                let (Some(create), Some(pass)) = (create, pass) else { return LACKING };
                let mut libraries = memory::vec(parts.len());
                for part in parts {
                    let mut library = vk::Pipeline::null();
                    let result = self.compile_with(driver, &part.source, modules, layout, &mut library, linked);
                    if result != vk::Result::SUCCESS {
                        return result;
                    }
                    linked.with_room().push(library.as_raw());
                    libraries.push(library);
                }
                let mut node = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
                let module = |_: &kept::Stage| modules.next().unwrap_or_default();
                kept.with_create_info(layout, pass, module, |info| {
                    let mut info = *info;
                    if !libraries.is_empty() {
                        node.p_next = info.p_next;
                        info.p_next = (&raw const node).cast();
                    }
                    // SAFETY: equal to a create info that the driver accepted, but for a layout with one more set and code that reads it;
                    // the render pass is defined like the application's, and all libraries have the one layout, that of all their shaders.
                    unsafe { create(driver.handle, cache, 1, &info, none, pipeline) }
                })
            }
            // Made without modules.
            MadeOf::Shaders(_) => LACKING,
        }
    }

    /// Destroys the second pipelines or shaders of a program that is about to go.
    pub(super) fn destroy_seconds_of(&self, driver: &Driver, program: &Program) {
        program.splits.take().iter().for_each(|second| self.leave_second(driver, second));
    }

    /// Destroys a second pipeline, and its hidden sets if it was the last with such sets.
    pub(super) fn leave_second(&self, driver: &Driver, second: &Second) {
        driver.destroy_second(second);
        if let Some(shape) = &second.hidden {
            self.leave_hidden(driver, shape);
        }
    }

    /// Destroys every hidden set and second pipeline: for the end of the device.
    pub(super) fn destroy_splits(&self, driver: &Driver) {
        self.destroy_hidden(driver);
        let mut gone = Vec::new();
        let mut take = |program: &Program| {
            for second in program.splits.take() {
                gone.with_room().push(second);
            }
        };
        self.programs.for_each(&mut |program| take(program));
        self.shaders.for_each_combination(&mut take);
        gone.iter().for_each(|second| driver.destroy_second(second));
    }
}

impl Driver {
    /// Destroys a second pipeline or second shaders.
    pub(super) fn destroy_second(&self, second: &Second) {
        self.destroy_executable(&second.made);
        second.libraries.iter().for_each(|library| self.destroy_executable(&Executable::Pipeline(*library)));
    }

    fn destroy_executable(&self, made: &Executable) {
        match made {
            Executable::Pipeline(pipeline) => {
                if let Some(destroy) = self.fns.destroy_pipeline {
                    // SAFETY: made by `compile` with a NULL allocator; nobody has seen it, no command buffer holds it any more, or the
                    // pipeline that it stands in for is about to be destroyed, so that what was recorded with it is complete
                    // (VUID-vkDestroyPipeline-pipeline-00765).
                    unsafe { destroy(self.handle, Handle::from_raw(*pipeline), std::ptr::null()) };
                }
            }
            Executable::Shaders(shaders) => shaders.iter().for_each(|(_, shader)| self.destroy_shader(*shader)),
        }
    }
}

/// The first binding of a hidden set behind a layout: one that none of the application's sets has, if they have no large numbers.
/// Validation layers look the sampler of an image up by its binding alone, in the set of the image, and would take an application's
/// sampler there for the hidden one.
fn first_binding(layout: &PipelineShape) -> u32 {
    const LARGEST: u32 = 1024;
    let bindings = layout.sets.iter().flatten().flat_map(|set| set.bindings.iter());
    bindings.map(|binding| binding.binding).filter(|number| *number < LARGEST).max().map_or(0, |last| last + 1)
}

/// The flags of a link's hidden samplers: PARTIALLY_BOUND where those of the application's binding need not all be valid either.
fn unread(program: &Program, link: usize) -> vk::DescriptorBindingFlags {
    let flags = program.links.get(link).and_then(|link| {
        let set = program.layout.sets.get(link.sampler.set as usize)?.as_ref()?;
        let binding = set.kept.bindings.iter().find(|binding| binding.binding == link.sampler.binding)?;
        Some(binding.flags & vk::DescriptorBindingFlags::PARTIALLY_BOUND)
    });
    flags.unwrap_or_default()
}

/// The code of a stage in which the chosen links read hidden samplers; none if none of them is in it.
fn rewrite(
    program: &Program,
    stage: &StageCode,
    set: u32,
    first: u32,
    chosen: &[usize],
    counts: &mut [u32],
) -> Result<Option<Vec<u32>>, Left> {
    let links = chosen.iter().enumerate().filter_map(|(binding, link)| {
        let link = program.links.get(*link)?;
        let part = Part { image: link.image, sampler: link.sampler, binding: first + binding as u32 };
        link.stages.contains(stage.stage).then_some(part)
    });
    let parts = memory::collect(links);
    if parts.is_empty() {
        return Ok(None);
    }
    let Some(model) = model(stage.stage) else { return Err(Left::OpaqueOperand) };
    let constants = memory::collect(stage.constants.iter().map(|(number, bytes)| (*number, &**bytes)));
    let constants = Specialization(&constants);
    let module = Module::read(&stage.words).map_err(emulation::left_module)?;
    let done = split(&module, &stage.name, model, Some(&constants), set, &parts).map_err(left_of)?;
    for hidden in &done.hidden {
        if let Some(count) = counts.get_mut(hidden.binding.wrapping_sub(first) as usize) {
            *count = (*count).max(hidden.count);
        }
    }
    Ok(Some(done.words))
}

/// The position in a link's hidden samplers, or tasks, of an element of its image and one of its sampler.
pub(super) fn position_of(image: &Operand, sampler: &Operand, image_element: u32, sampler_element: u32) -> u32 {
    use samplin_spirv::Index;
    let varies = |operand: &Operand| matches!(operand.index, Index::Dynamic { .. } | Index::Push(_));
    if image == sampler {
        return if varies(image) { image_element } else { 0 };
    }
    match (varies(image), varies(sampler)) {
        (true, true) => image_element * sampler.count + sampler_element,
        (true, false) => image_element,
        (false, true) => sampler_element,
        (false, false) => 0,
    }
}
