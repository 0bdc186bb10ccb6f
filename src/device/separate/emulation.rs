//! Second pipelines whose shaders do more for what they sample than other samplers could: saturate coordinates, as OpenGL's clamp modes
//! need it.
//!
//! What a shader has to do for a descriptor, its task, follows from the sampler that was asked for and the view, so it is known where
//! a draw is recorded. With `shader_keys=uniform` shaders read their tasks from the hidden set: the pipeline that can do any is made with
//! the application's, and a draw only finds or writes a set. With `shader_keys=pipeline`, and where there is no room for a uniform
//! buffer, the tasks are in the code, and a draw that finds new ones makes a pipeline. Where nothing has a task the application's own
//! pipeline is bound.

use std::sync::Arc;

use samplin_bind::plan::link_bit;
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};
use samplin_spirv::sampling::{self, Passes, Task, Unchanged, flags, sampling};
use samplin_spirv::{Error, Module, Operand, Specialization, Uses};

use super::compare::{Compared, compares};
use super::programs::{Program, ProgramLink};
use super::progress::Drawn;
use super::reads::is_divided;
use super::recipe::{NO_SET, Recipe, Second, StageCode, When};
use super::stages::model;
use super::tasks::{ELEMENTS, Keys, TaskRequest, Tasked, Tasks, fetches, tasks};
use super::{Separate, compare, fetch};
use crate::decide::Dimensions;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::journal::Journal;
use crate::device::resolve::Pairs;
use crate::outcome::Meeting;
use crate::settings::{ShaderKeys, SplitCompile};

/// How many combinations of links that compare have pipelines of their own before one is made for all. In such a one a comparison that the
/// device cannot do is still in the code, of which validation layers do not know that it is not executed.
const COMBINATIONS: usize = 16;

/// What distinguishes second pipelines whose shaders do tasks.
struct Ability {
    mask: u64,
    compared: Compared,
    /// If they are in the code.
    tasks: Option<Vec<Task>>,
}

impl Ability {
    fn is_of(&self, second: &Second) -> bool {
        let Some(own) = second.tasks.as_ref().filter(|own| second.mask == self.mask && own.compared == self.compared)
        else {
            return false;
        };
        match (&own.keys, &self.tasks) {
            (Keys::Fixed(own), Some(tasks)) => **own == **tasks,
            (Keys::Block, None) => true,
            _ => false,
        }
    }
}

/// Where the hidden set of a pipeline is, and what is in it.
#[derive(Clone, Copy)]
pub(super) struct HiddenAt<'a> {
    /// Its number.
    pub(super) set: u32,
    /// The first of its bindings.
    pub(super) first: u32,
    /// The links whose samplers are in it, a binding each.
    pub(super) chosen: &'a [usize],
    pub(super) limits: sampling::Limits,
    /// What the code is to be able to do.
    pub(super) passes: Passes,
}

/// The name of why a module is not rewritten.
pub(super) fn left_module(why: Error) -> Left {
    if why == Error::Memory { memory::give_up() } else { Left::MalformedSpirv }
}

/// The name of why instructions of a link are left.
fn left_of(unchanged: Unchanged) -> Left {
    match unchanged {
        Unchanged::Unbounded | Unchanged::Index | Unchanged::Tasks => Left::Bindless,
        Unchanged::NoLink | Unchanged::Opaque | Unchanged::Dimension => Left::OpaqueOperand,
        Unchanged::Vendor | Unchanged::Footprint => Left::VendorInstruction,
        Unchanged::Call | Unchanged::Functions => Left::TooManyClones,
        Unchanged::Cube => Left::Cube,
        Unchanged::Coordinate => Left::CoordinateType,
        Unchanged::Operands | Unchanged::Sparse => Left::ImageOperands,
        Unchanged::Fetch => NO_SET,
    }
}

/// How many descriptors a link may name; none if that is not known.
fn count_of(link: &ProgramLink) -> Option<u32> {
    use samplin_spirv::Index;
    let count = |operand: &Operand| match operand.index {
        Index::Whole | Index::Const(_) => Some(1),
        Index::Dynamic { .. } | Index::Push(_) => Some(operand.count).filter(|count| (1..=ELEMENTS).contains(count)),
        Index::Spec(_) | Index::Unbounded => None,
    };
    let images = count(&link.image)?;
    let all = if link.is_combined() { images } else { images * count(&link.sampler)? };
    Some(all).filter(|all| *all <= ELEMENTS)
}

/// The links that are split, and whether all others are asked for as well.
#[derive(Clone, Copy)]
pub(super) struct SplitMask {
    pub(super) mask: u64,
    pub(super) is_for_all: bool,
}

/// The links of a program whose descriptors may have tasks, as long as the room lasts for these; and those for which that is not so.
/// `mask`: those that are split or compare. Of a device whose shaders do no more than that, or fetch, only these or those that are fetched
/// have any.
fn tasked(separate: &Separate, program: &Program, mask: u64, has_fetch: bool) -> (Vec<Tasked>, Vec<(usize, Left)>) {
    let room = separate.limits.tasks();
    let all = separate.has_tasks() || has_fetch;
    let (mut tasked, mut left, mut first) = (memory::vec(program.links.len()), Vec::new(), 0);
    let links = program.links.iter().enumerate().filter(|(link, _)| all || mask & link_bit(*link) != 0);
    for (link, found) in links {
        match count_of(found) {
            Some(count) if count <= room - first => {
                let may_fetch = !found.uses.intersects(Uses::GATHER | Uses::DREF | Uses::SPARSE);
                tasked.push(Tasked { link, first, count, may_fetch });
                first += count;
            }
            Some(_) => left.with_room().push((link, Left::TooLarge)),
            None => left.with_room().push((link, Left::Bindless)),
        }
    }
    (tasked, left)
}

/// The links that are asked to compare, a bit each.
pub(super) fn may_compare(requests: &[TaskRequest]) -> u64 {
    let compared = requests.iter().filter(|request| request.task.as_ref().is_ok_and(compares));
    compared.fold(0, |all, request| all | link_bit(request.link))
}

/// Those of which every descriptor is.
fn must_compare(tasked: &[Tasked], requests: &[TaskRequest]) -> u64 {
    let of = |request: &&TaskRequest, link: usize| request.link == link && request.task.as_ref().is_ok_and(compares);
    let is_it =
        |tasked: &&Tasked| requests.iter().filter(|request| of(request, tasked.link)).count() as u32 == tasked.count;
    tasked.iter().filter(is_it).fold(0, |all, tasked| all | link_bit(tasked.link))
}

/// Rewrites the stages of a recipe so that they do tasks: `codes` are what they were made before, if they were.
pub(super) fn rewrite_all(
    separate: &Separate,
    program: &Program,
    recipe: &Recipe,
    codes: &mut [Option<Vec<u32>>],
    place: HiddenAt<'_>,
    keys: Keys,
    compared: Compared,
) -> Result<Tasks, Left> {
    let split = place.chosen.iter().fold(0, |all, link| all | link_bit(*link));
    let has_fetch = matches!(&keys, Keys::Fixed(tasks) if tasks.iter().any(fetches));
    let (tasked, left) = tasked(separate, program, split | compared.may, has_fetch);
    // With a test switch all links can be divided, though none is asked to.
    let split = if separate.force.filters() { u64::MAX } else { split };
    let mut tasks = Tasks { tasked, keys, compared, split, all: place.passes, left };
    for (stage, code) in recipe.stages.iter().zip(codes) {
        let words = code.as_deref().unwrap_or(&stage.words);
        if let Some(words) = rewrite(program, stage, words, place, &mut tasks)? {
            *code = Some(words);
        }
    }
    if tasks.links().is_empty() {
        return Err(tasks.left.first().map_or(Left::OpaqueOperand, |(_, why)| *why));
    }
    if let Some(why) = tasks.undivided() {
        return Err(why);
    }
    Ok(tasks)
}

/// The code of a stage whose links do their tasks; none if it has no such links.
fn rewrite(
    program: &Program,
    stage: &StageCode,
    words: &[u32],
    place: HiddenAt<'_>,
    tasks: &mut Tasks,
) -> Result<Option<Vec<u32>>, Left> {
    let link_of = |tasked: &Tasked| program.links.get(tasked.link).filter(|link| link.stages.contains(stage.stage));
    let is_own = |tasked: &Tasked| link_of(tasked).is_some() && tasks.passes(tasked) != Passes::NONE;
    let own: Vec<Tasked> = memory::collect(tasks.tasked.iter().copied().filter(is_own));
    if own.is_empty() {
        return Ok(None);
    }
    let model = model(stage.stage).ok_or(Left::OpaqueOperand)?;
    let constants = memory::collect(stage.constants.iter().map(|(number, bytes)| (*number, &**bytes)));
    let constants = Specialization(&constants);
    let module = Module::read(words).map_err(left_module)?;
    let hidden = match place.chosen {
        [] => Vec::new(),
        _ => module.links(&stage.name, model, Some(&constants)).map_err(left_module)?,
    };
    // What is split reads its sampler from the hidden set by now.
    let sampler = |tasked: &Tasked, link: &ProgramLink| {
        let binding = place.chosen.iter().position(|chosen| *chosen == tasked.link);
        let Some(binding) = binding.map(|binding| place.first + binding as u32) else { return Some(link.sampler) };
        let is_it = |found: &Operand| (found.set, found.binding) == (place.set, binding);
        hidden.iter().filter(|found| found.image == Some(link.image)).filter_map(|found| found.sampler).find(is_it)
    };
    let slot = |tasked: &Tasked| {
        let link = link_of(tasked)?;
        let sampler = sampler(tasked, link)?;
        let is_split = sampler != link.sampler;
        Some(sampling::Slot {
            image: link.image,
            sampler,
            first: tasked.first,
            passes: tasks.passes(tasked),
            row: if is_split { 0 } else { link.sampler.count },
        })
    };
    let slots: Vec<sampling::Slot> = memory::collect(own.iter().filter_map(slot));
    if slots.len() != own.len() {
        return Err(Left::OpaqueOperand);
    }
    let keys = match &tasks.keys {
        Keys::Block => {
            let count = tasks.tasked.iter().map(|tasked| tasked.count).sum();
            sampling::Keys::Block { set: place.set, binding: place.first + place.chosen.len() as u32, count }
        }
        Keys::Fixed(tasks) => sampling::Keys::Fixed(tasks),
    };
    let done =
        sampling(&module, &stage.name, model, Some(&constants), keys, &slots, place.limits).map_err(left_module)?;
    for (position, why) in done.left {
        if let Some(tasked) = own.get(position) {
            tasks.left.with_room().push((tasked.link, left_of(why)));
        }
    }
    Ok((done.changed > 0).then_some(done.words))
}

impl Separate {
    /// What the shader has to do for a pair, if anything; the name of what keeps it from that. `fetches`: it is to do without the sampler.
    pub(super) fn task_of(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        pair: Pair,
        fetches: bool,
    ) -> Option<Result<Task, Left>> {
        let (shared, class) = (pairs.samplers.rows(&ground.hot).state(pair.state)?, pairs.images.class(pair.class)?);
        let rules = ground.wishes.rules();
        let meeting = ground.wishes.meeting_of(&rules, &ground.driver, &shared, class);
        let fetch = if fetches { fetch::flags_of(&meeting, &class.traits)? } else { 0 };
        let divides = self.tasks.divide && is_divided(&meeting);
        let Meeting { state, saturate, mirror, emulate, lods: [bias, min_lod, max_lod], compare, .. } = meeting;
        let bits = |on: [bool; 3], flags: [u32; 3]| {
            on.iter().zip(flags).fold(0, |all, (on, flag)| if *on { all | flag } else { all })
        };
        let mut task = Task { flags: fetch, bias, min_lod, max_lod };
        if self.tasks.saturate {
            let clamp = std::array::from_fn(|axis| saturate.get(axis) != mirror.get(axis));
            task.flags |= bits(clamp, [flags::CLAMP_S, flags::CLAMP_T, flags::CLAMP_R])
                | bits(mirror, [flags::MIRROR_S, flags::MIRROR_T, flags::MIRROR_R]);
        }
        let emulates = self.tasks.filter && emulate.contains(&true) || compare.is_some();
        let emulate = if emulates { emulate } else { [false; 3] };
        if emulates {
            task.flags |= flags::EMULATE | bits(emulate, [flags::MAG_LINEAR, flags::MIN_LINEAR, flags::MIP_LINEAR]);
        }
        task.flags |= compare.map_or(0, compare::flags_of);
        if divides {
            let levels = state.mipmap_mode == ash::vk::SamplerMipmapMode::LINEAR;
            task.flags |= flags::DIVIDE | if levels { flags::MIP_LINEAR } else { 0 };
        }
        if task.flags == 0 {
            return None;
        }
        if self.tasks.saturate && saturate.contains(&true) && class.traits.dimensions() == Dimensions::Cube {
            return Some(Err(Left::Cube));
        }
        if state.unnormalized_coordinates {
            task.flags |= flags::UNNORMALIZED;
        }
        // What divides looks for the middle of a texel, whoever filters.
        if !emulates || divides {
            let [mag, min, mip] = emulate;
            let is_nearest = |filter, emulated: bool| filter == ash::vk::Filter::NEAREST && !emulated;
            for (filter, emulated, flag) in
                [(state.mag_filter, mag, flags::MAG_NEAREST), (state.min_filter, min, flags::MIN_NEAREST)]
            {
                task.flags |= if is_nearest(filter, emulated) { flag } else { 0 };
            }
            if state.anisotropy_enable {
                task.flags |= flags::anisotropy(state.max_anisotropy);
            }
            // One level, or the first one up to a level of detail of 0.5 (Image Level(s) Selection).
            let whole = state.mipmap_mode == ash::vk::SamplerMipmapMode::NEAREST && !mip && max_lod < 0.5;
            let is_flat = class.traits.single_level || whole;
            if is_flat && !state.anisotropy_enable && state.mag_filter == state.min_filter {
                task.flags |= flags::BASE_LEVEL;
            }
        }
        Some(Ok(task))
    }

    /// Makes the pipeline that can do any task, if there is to be one.
    pub(super) fn prepare_tasks(&self, driver: &Driver, journal: &Journal, program: &Program) {
        let mask = program.splits.mask();
        // What is learned is made at once, and nothing of it in a bind.
        let divides = self.tasks.divide && self.follows_pairs() && mask != 0;
        let has_tasks = self.has_tasks() || divides;
        if has_tasks
            && !program.links.is_empty()
            && has_block(self, program)
            && let Err(why) =
                self.tasked(driver, journal, program, SplitMask { mask, is_for_all: false }, &[], When::Made)
        {
            tracing::debug!(pipeline = program.handle, why = why.name(), "no second pipeline");
        }
    }

    /// What a second pipeline has to be able to do in which these links are split. `is_for_all`: whatever was asked of the program before, too.
    fn ability(
        &self,
        program: &Program,
        SplitMask { mask, is_for_all }: SplitMask,
        requests: &[TaskRequest],
    ) -> Ability {
        // What is fetched is in the code alone, so that nothing of it reads through the sampler.
        let has_fetch = requests.iter().any(|request| request.task.as_ref().is_ok_and(fetches));
        let forced = if self.force.filters() { program.comparing() } else { 0 };
        let (may, is_block) = (may_compare(requests) | forced, !has_fetch && has_block(self, program));
        let all = tasked(self, program, mask | may, has_fetch).0;
        let compared = match is_for_all && is_block {
            false => Compared { may, must: must_compare(&all, requests), or_own: 0 },
            true => Compared { may: may | program.splits.compared(), must: 0, or_own: mask & program.noted() },
        };
        Ability { mask, compared, tasks: if is_block { None } else { Some(tasks(&all, requests)) } }
    }

    /// Whether what is asked would be one combination too many of links that compare, each with a pipeline of its own.
    pub(super) fn is_one_too_many(&self, program: &Program, mask: u64, requests: &[TaskRequest]) -> bool {
        let ability = self.ability(program, SplitMask { mask, is_for_all: false }, requests);
        let is_new = || program.splits.tasked(|second| ability.is_of(second)).is_none();
        ability.compared.may != 0
            && ability.tasks.is_none()
            && program.splits.combinations() >= COMBINATIONS
            && is_new()
    }

    /// The second pipeline in which these links are split and whose shaders do what is asked; the name of what keeps it from being made.
    pub(super) fn tasked(
        &self,
        driver: &Driver,
        journal: &Journal,
        program: &Program,
        split: SplitMask,
        requests: &[TaskRequest],
        when: When,
    ) -> Result<Arc<Second>, Left> {
        let ability = self.ability(program, split, requests);
        let Ability { compared, tasks, .. } = &ability;
        let is_it = |second: &Second| ability.is_of(second);
        if let Some(known) = program.splits.tasked(is_it) {
            return Ok(known);
        }
        if when == When::Bound && self.settings.compile == SplitCompile::Learn && !program.is_of_shaders() {
            return Err(Left::Learned);
        }
        let keys = tasks.as_ref().map_or(Keys::Block, |tasks| Keys::Fixed(Box::from(&**tasks)));
        let made = Arc::new(self.make_second(driver, journal, program, split.mask, Some((keys, *compared)), when)?);
        // Before another thread finds it: the hidden sets that this one makes go with the last pipeline that was entered.
        made.hidden.iter().for_each(|shape| self.hidden.enter(shape));
        if tasks.is_some() {
            self.evict_tasked(driver, program);
        }
        let known = program.splits.add_tasked(&made, is_it);
        if !Arc::ptr_eq(&known, &made) {
            // Another thread was faster.
            self.leave_second(driver, &made);
            return Ok(known);
        }
        self.splits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(made)
    }

    /// Makes room for one more pipeline with tasks in its code. Those that command buffers hold stay beside that.
    fn evict_tasked(&self, driver: &Driver, program: &Program) {
        if program.splits.is_full() {
            // They hold what is to be evicted.
            self.resolutions.clear();
            program.splits.evict().iter().for_each(|second| self.leave_second(driver, second));
        }
    }

    /// The pipeline to bind for what is asked, in which these links are split, if anything is; and, of those that have a bit, the links for
    /// which it does not do that.
    pub(super) fn with_tasks(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        unhidden: Option<Left>,
        split: SplitMask,
        requests: &[TaskRequest],
    ) -> (Option<Arc<Second>>, u64) {
        let mut all_left = 0;
        for (request, why) in requests.iter().filter_map(|request| Some((request, request.task.err()?))) {
            pairs.task_left(ground, why, program, request);
        }
        let has_task = requests.iter().any(|request| request.task.is_ok());
        if !has_task && !self.force.tasks() {
            return (None, all_left);
        }
        let made = match unhidden {
            Some(why) => Err(why),
            None => self.tasked(&ground.driver, &ground.journal, &program, split, requests, When::Bound),
        };
        let left = |request: &TaskRequest| match &made {
            Ok(made) => {
                let left = made.tasks.as_ref().map_or(&[][..], |tasks| &tasks.left);
                left.iter().find(|(link, _)| *link == request.link).map(|(_, why)| *why)
            }
            Err(why) => Some(*why),
        };
        for request in requests.iter().filter(|request| request.task.is_ok()) {
            if let Some(why) = left(request) {
                pairs.task_left(ground, why, program, request);
                all_left |= link_bit(request.link);
            }
        }
        (made.ok(), all_left)
    }
}

/// Whether shaders read their tasks from a uniform buffer: it is wanted so, and there is room for one.
fn has_block(separate: &Separate, program: &Program) -> bool {
    separate.settings.keys == ShaderKeys::Uniform && separate.limits.has_room_for_block(&program.layout, program.colors)
}
