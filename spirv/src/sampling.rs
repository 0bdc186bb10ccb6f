//! The pass `sampling`: what a sampler cannot express is done in the shader, as a task for each descriptor asks.
//!
//! An image instruction becomes a call of a function that the pass adds, with the same type and id, so the control flow of the
//! application's functions stays as it is. The function gets the task of the descriptor, and executes the application's own
//! instruction if the task asks for nothing. One function is made for each way of sampling and each pair of variables, not for
//! each instruction.
//!
//! It runs behind [`split`](crate::split): a slot's operands are those that the module has by then.

mod compare;
mod cube;
mod divide;
mod fetch;
mod filter;
mod helper;
mod site;
mod tasks;

pub use self::tasks::Keys;

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::edit::Editor;
use crate::error::{Error, copied, push};
use crate::fold::Specialization;
use crate::links::{Analysis, Pair, Scratch};
use crate::map::{Fold, put};
use crate::module::{Function, Instruction, Module, sort};
use crate::operand::{Index, Operand};
use crate::sources::{Doubt, OperandSource, Sources, WantedLink};
use crate::trace::{ELEMENTS, Tracer};
use crate::uses::Uses;

/// The name of the functions that the pass adds, by which it knows them again.
const NAME: &str = "samplin.sampling";

/// Most functions that are added to a module; each has up to a thousand words.
pub const FUNCTIONS: usize = 1024;

/// Bits of [`Task::flags`].
pub mod flags {
    /// `GL_CLAMP` for the first coordinate: it is clamped to where the texture is.
    pub const CLAMP_S: u32 = 1;
    /// The same for the second one.
    pub const CLAMP_T: u32 = 2;
    /// The same for the third one.
    pub const CLAMP_R: u32 = 4;
    /// `GL_MIRROR_CLAMP_EXT` with a border, in place of [`CLAMP_S`]: the coordinate loses its sign, and the lower bound is the middle
    /// of the first texel.
    pub const MIRROR_S: u32 = 8;
    /// The same for the second one.
    pub const MIRROR_T: u32 = 16;
    /// The same for the third one.
    pub const MIRROR_R: u32 = 32;
    /// The sampler takes coordinates in texels.
    pub const UNNORMALIZED: u32 = 64;
    /// Magnification is NEAREST over CLAMP_TO_BORDER, where minification is LINEAR: the upper end still reads the last texel.
    pub const MAG_NEAREST: u32 = 128;
    /// Minification is, where magnification is LINEAR.
    pub const MIN_NEAREST: u32 = 1 << 27;
    /// Whatever the level of detail is, the base level is read, by one filter: it need not be known. Only without [`EMULATE`].
    pub const BASE_LEVEL: u32 = 1 << 26;
    /// LINEAR is made of NEAREST.
    pub const EMULATE: u32 = 256;
    /// The sampler that was asked for magnifies with LINEAR.
    pub const MAG_LINEAR: u32 = 512;
    /// It minifies with LINEAR.
    pub const MIN_LINEAR: u32 = 1024;
    /// It is LINEAR between levels.
    pub const MIP_LINEAR: u32 = 2048;
    /// With [`EMULATE`]: texels are fetched, and the sampler that is bound has no say in it. What follows is what it would do.
    pub const FETCH: u32 = 1 << 12;
    /// The first coordinate repeats.
    pub const WRAP_S: u32 = 1 << 13;
    /// It is mirrored, at 0 or, with [`WRAP_S`], each time.
    pub const FOLD_S: u32 = 1 << 16;
    /// Beyond its ends is the border; without this and [`WRAP_S`] the last texel.
    pub const BORDER_S: u32 = 1 << 19;
    /// The first component of the border is 1, and with the next bits the others.
    pub const BORDER: u32 = 1 << 22;
    /// The first of three bits with the logarithm of how anisotropic the sampler may get, which lowers levels of detail.
    pub const ANISOTROPY: u32 = 1 << 28;

    /// Coordinates are in texels, and the sampler that is bound takes normalized ones.
    pub const DIVIDE: u32 = 1 << 31;

    pub use super::compare::{CLAMP_REFERENCE, COMPARE, EQUAL, GREATER, LESS, UNORDERED};

    /// The bits for a sampler's highest anisotropy: those of the power of two that is next to it.
    pub fn anisotropy(most: f32) -> u32 {
        let exponent = (most.clamp(1.0, 16.0) * std::f32::consts::SQRT_2).to_bits() >> 23;
        (exponent - 127) * ANISOTROPY
    }

    /// All axes of [`CLAMP_S`].
    pub(super) const CLAMP: u32 = CLAMP_S | CLAMP_T | CLAMP_R;
    /// All axes of [`MIRROR_S`].
    pub(super) const MIRROR: u32 = MIRROR_S | MIRROR_T | MIRROR_R;
}

/// What the new module reads for one descriptor: 16 bytes, little endian, in the order of the members.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Task {
    /// Of [`flags`].
    pub flags: u32,
    /// Of the sampler that was asked for, as the three below: what it adds to the level of detail.
    pub bias: f32,
    /// Its lowest level of detail.
    pub min_lod: f32,
    /// Its highest level of detail.
    pub max_lod: f32,
}

impl Task {
    /// The words of the task, in the order in which they lie in memory.
    pub const fn words(&self) -> [u32; 4] {
        [self.flags, self.bias.to_bits(), self.min_lod.to_bits(), self.max_lod.to_bits()]
    }
}

/// What the code for a slot is to be able to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Passes {
    /// `CLAMP_x` and `MIRROR_x`.
    pub saturate: bool,
    /// `EMULATE`.
    pub filter: bool,
    /// `FETCH`, which goes with `filter`.
    pub fetch: bool,
    /// `DIVIDE`.
    pub divide: bool,
    /// `COMPARE`.
    pub compare: bool,
    /// All tasks of this slot alone have `COMPARE`: no instruction has the sampler compare.
    pub must_compare: bool,
    /// The slot joins the image of a combined descriptor and another sampler: an empty task asks for that descriptor's own.
    pub own_sampler: bool,
}

impl Passes {
    /// Nothing.
    pub const NONE: Passes = Passes {
        saturate: false,
        filter: false,
        fetch: false,
        divide: false,
        compare: false,
        must_compare: false,
        own_sampler: false,
    };

    fn or(self, other: Passes) -> Passes {
        Passes {
            saturate: self.saturate || other.saturate,
            filter: self.filter || other.filter,
            fetch: self.fetch || other.fetch,
            divide: self.divide || other.divide,
            compare: self.compare || other.compare,
            must_compare: false,
            own_sampler: false,
        }
    }

    /// The flags of which any makes the code do something.
    const fn asks(self) -> u32 {
        self.asks_more() | if self.divide { flags::DIVIDE } else { 0 }
    }

    /// Those of which any makes it do more than to divide.
    const fn asks_more(self) -> u32 {
        let saturate = if self.saturate { flags::CLAMP | flags::MIRROR } else { 0 };
        let compare = if self.compare { flags::COMPARE } else { 0 };
        saturate | compare | if self.filter { flags::EMULATE } else { 0 }
    }

    /// What can be done for instructions of a form. Gathers and comparisons are not filtered, nor is what is no float, of which texels
    /// can be fetched all the same. The sampler that a fetch goes past answers for levels of detail itself. One that compares nothing
    /// filters nothing.
    fn of(self, form: &site::SampleForm, sampled: crate::Sampled) -> Passes {
        let (samples, float) = (!form.compared && !form.gathers && !form.sparse, sampled == crate::Sampled::Float);
        let fetch = self.fetch && samples && !form.asks;
        let filter = (self.filter || self.compare) && samples && float && !(self.fetch && form.asks);
        let compare = self.compare && form.compared && !form.sparse && float;
        let (saturate, must_compare) = (self.saturate && !form.asks, compare && self.must_compare);
        Passes { saturate, filter: filter || fetch, fetch, compare, must_compare, ..self }
    }
}

/// A link whose image instructions are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The link's image, as [`Module::links`] gives it for the module that is to be rewritten, under the same specialization.
    pub image: Operand,
    /// Its sampler; the same for a combined descriptor.
    pub sampler: Operand,
    /// Its first task: there are [`Slot::tasks`].
    pub first: u32,
    /// What may be asked of it.
    pub passes: Passes,
    /// Where image and sampler are both indexed dynamically, in arrays that are not one: tasks for each element of the image, so
    /// that element *i* of the image with *j* of the sampler has task `first + i * row + j`. 0 where *j* alone counts, as it does
    /// in a hidden set of [`split`](crate::split), which has an element for each pair.
    pub row: u32,
}

impl Slot {
    /// Tasks of the slot: one for each element of what is indexed dynamically.
    ///
    /// # Errors
    ///
    /// [`Unchanged::Unbounded`] if that has no end, or more than 64 elements.
    pub fn tasks(&self) -> Result<u32, Unchanged> {
        let reach = |operand: &Operand| match operand.index {
            Index::Whole | Index::Const(_) | Index::Spec(_) => Ok(1),
            Index::Push(_) | Index::Dynamic { .. } if (1..=ELEMENTS).contains(&operand.count) => Ok(operand.count),
            _ => Err(Unchanged::Unbounded),
        };
        let (image, sampler) = (reach(&self.image)?, reach(&self.sampler)?);
        let count = match (image, sampler) {
            _ if self.image == self.sampler => image,
            (image, 1) => image,
            (1, sampler) => sampler,
            (image, sampler) => (image - 1).saturating_mul(self.row).saturating_add(sampler),
        };
        if count > ELEMENTS { Err(Unchanged::Unbounded) } else { Ok(count) }
    }
}

/// What of the device matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// `maxSamplerLodBias`.
    pub lod_bias: f32,
}

/// What became of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The new module, for the entry point that was asked for: functions that others share with it read tasks there too.
    pub words: Vec<u32>,
    /// Image instructions that were changed.
    pub changed: u32,
    /// Slots, by position, that have instructions which were not, and why; each once.
    pub left: Vec<(usize, Unchanged)>,
}

/// Why instructions of a slot were left as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unchanged {
    /// The entry point never samples through such a link.
    NoLink,
    /// The image or the sampler is one of several at some instruction.
    Opaque,
    /// An index reaches elements of an array without a length, or more than 64.
    Unbounded,
    /// An index is no integer of 32 bits.
    Index,
    /// Instructions of vendors' own.
    Vendor,
    /// Questions for the footprint.
    Footprint,
    /// Cubes have no edges.
    Cube,
    /// The image is of a dimension that Vulkan does not sample.
    Dimension,
    /// Coordinates are no floats of 32 bits.
    Coordinate,
    /// Operands that are not known.
    Operands,
    /// A function would need more than 64 new parameters, or an index that its callers alone know.
    Call,
    /// The module would have more than [`FUNCTIONS`] new functions.
    Functions,
    /// Residency codes of several samples would have to be one.
    Sparse,
    /// Texels would have to be fetched for an instruction that takes more than one, or compares them.
    Fetch,
    /// There are not enough tasks.
    Tasks,
}

/// Why an instruction is not changed: it is left, or the whole module is.
enum Stop {
    Unchanged(Unchanged),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

/// Rewrites the image instructions of `slots` in the entry point `name` for an execution model.
///
/// # Errors
///
/// Why the module as a whole cannot be rewritten. Instructions that cannot are left, which the result says.
pub fn sampling(
    module: &Module<'_>,
    name: &str,
    model: u32,
    specialization: Option<&Specialization<'_>>,
    keys: Keys<'_>,
    slots: &[Slot],
    limits: Limits,
) -> Result<Sampled, Error> {
    let entry = module.entry(name, model).ok_or(Error::NoEntryPoint)?;
    let mut tracer = Tracer::new(module, specialization);
    let analysis = Analysis::new(&mut tracer, entry, &helper::own(module)?)?;
    let (mut left, mut active, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    for (position, slot) in slots.iter().enumerate() {
        tracer.step(analysis.links.len())?;
        let is_it = |link: &&crate::Link| link.image == Some(slot.image) && link.sampler == Some(slot.sampler);
        let found = analysis.links.iter().filter(is_it).any(|link| link.uses.samples());
        let count = if found { keys.count(slot) } else { Err(Unchanged::NoLink) };
        match count {
            Err(why) => push(&mut left, (position, why))?,
            Ok(0) => {}
            Ok(count) => {
                // Functions that are called with different links do not say it of each.
                for link in analysis.links.iter().filter(is_it) {
                    let opaque = link.opaque.then_some(Unchanged::Opaque);
                    for why in site::axes(link.ty.dim, slot.passes).err().into_iter().chain(opaque) {
                        push(&mut left, (position, why))?;
                    }
                }
                push(&mut active, (position, *slot))?;
                push(&mut wanted, WantedLink::new(slot.image, slot.sampler, count > 1))?;
            }
        }
    }
    let mut pass = SamplingEdit {
        tracer,
        sources: Sources::new(module, analysis, wanted)?,
        slots: active,
        keys,
        limits,
        editor: Editor::new(module),
        tasks: tasks::Tasks::default(),
        helpers: RefCell::default(),
        joined: Vec::new(),
        changed: 0,
        left: Vec::new(),
    };
    let all = pass.slots.iter().fold(Passes::default(), |all, (_, slot)| all.or(slot.passes));
    pass.sources.decide(&mut pass.tracer, &mut pass.editor, &|pair, uses| {
        // Levels of detail are answered for coordinates as they are, unless they are in texels.
        let asked = all.filter || all.divide || all.compare;
        let uses = if asked { uses } else { uses.without(Uses::QUERY_LOD) };
        uses.samples() && site::axes(pair.ty.dim, all).is_ok()
    })?;
    pass.rewrite()?;
    for (at, why) in &pass.left {
        if let Some((position, _)) = pass.slots.get(*at) {
            push(&mut left, (*position, *why))?;
        }
    }
    sort(&mut left);
    left.dedup();
    // Functions that were cloned for links that are left after all are no change.
    let editor = if pass.changed == 0 { Editor::new(module) } else { pass.editor };
    Ok(Sampled { words: editor.finish()?, changed: pass.changed, left })
}

/// Functions that were made, by all that they depend on.
type Helpers = HashMap<Vec<u32>, u32, BuildHasherDefault<Fold>>;

struct SamplingEdit<'a, 'm, 'w> {
    tracer: Tracer<'m, 'w>,
    sources: Sources,
    /// Slots that something may be asked of, each with its position among all.
    slots: Vec<(usize, Slot)>,
    keys: Keys<'a>,
    limits: Limits,
    editor: Editor<'m, 'w>,
    tasks: tasks::Tasks,
    helpers: RefCell<Helpers>,
    /// Functions and pairs that texels are fetched past, once for each instruction that read one.
    joined: Vec<(usize, u32)>,
    changed: u32,
    left: Vec<(usize, Unchanged)>,
}

impl<'w> SamplingEdit<'_, '_, 'w> {
    /// Changes instructions, functions and calls.
    fn rewrite(&mut self) -> Result<(), Error> {
        let module = self.tracer.module;
        for (slot, doubt) in &self.sources.doubts {
            push(&mut self.left, (*slot, if *doubt == Doubt::Opaque { Unchanged::Opaque } else { Unchanged::Call }))?;
        }
        let mut scratch = Scratch::default();
        for at in 0..self.sources.analysis.order.len() {
            let Some(number) = self.sources.analysis.order.get(at).copied() else { break };
            let Some(function) = module.functions().get(number) else { continue };
            for site in module.sites(function) {
                scratch.site(&mut self.tracer, function, &site)?;
                self.site(function, &site, &scratch)?;
            }
            if (0..self.sources.count(number)).all(|position| self.sources.passed(number, position).is_none()) {
                continue;
            }
            let ty = self.record_type()?;
            self.sources.signature(&mut self.editor, module, function, ty)?;
        }
        for function in module.functions() {
            for call in module.calls(function) {
                self.call(function, &call, &mut scratch)?;
            }
        }
        self.part()
    }

    /// Changes an image instruction, if its pair is a slot's or may be.
    fn site(&mut self, function: &Function, site: &Instruction<'w>, scratch: &Scratch) -> Result<(), Error> {
        let Some((pair, uses)) = scratch.pairs.first() else { return Ok(()) };
        if !uses.samples() {
            return Ok(());
        }
        let changed = match self.sources.source(&mut self.tracer, function.number, scratch)? {
            Ok(OperandSource::Own) => return Ok(()),
            Ok(source @ (OperandSource::Part(slot) | OperandSource::Passed(slot))) => {
                let (sparse, several) = (uses.contains(Uses::SPARSE), uses.intersects(Uses::GATHER | Uses::DREF));
                let passes = self.passes(source);
                if passes.fetch && (sparse || several) {
                    push(&mut self.left, (slot, Unchanged::Fetch))?;
                } else if sparse && (passes.filter && !several || passes.compare && uses.contains(Uses::DREF)) {
                    push(&mut self.left, (slot, Unchanged::Sparse))?;
                }
                self.change(function, site, source, pair).map_err(|stop| (slot, stop))
            }
            Err(slot) => Err((slot, Stop::Unchanged(Unchanged::Opaque))),
        };
        match changed {
            Ok(changed) => self.changed += u32::from(changed),
            Err((slot, Stop::Unchanged(why))) => push(&mut self.left, (slot, why))?,
            Err((_, Stop::Error(error))) => return Err(error),
        }
        Ok(())
    }

    /// What may be asked of what comes from a source.
    fn passes(&self, source: OperandSource) -> Passes {
        match source {
            OperandSource::Part(slot) => self.slots.get(slot).map(|(_, slot)| slot.passes).unwrap_or_default(),
            // What is passed may be any slot's task.
            _ => self.slots.iter().fold(Passes::default(), |all, (_, slot)| all.or(slot.passes)),
        }
    }

    /// Whether it is known of what comes from a source that its texels are fetched, so that nothing has to be read through its sampler.
    fn fetches(&self, source: OperandSource) -> bool {
        let (OperandSource::Part(slot), Keys::Fixed(tasks)) = (source, self.keys) else { return false };
        let Some((_, slot)) = self.slots.get(slot) else { return false };
        let (first, count) = (slot.first as usize, slot.tasks().unwrap_or(0) as usize);
        let own = tasks.get(first..first + count).unwrap_or(&[]);
        !own.is_empty() && own.iter().all(|task| task.flags & flags::FETCH != 0)
    }

    /// Makes an image instruction a call; says whether there was a reason to.
    fn change(
        &mut self,
        function: &Function,
        site: &Instruction<'w>,
        source: OperandSource,
        pair: &Pair,
    ) -> Result<bool, Stop> {
        let tasks = site::PairTasks {
            passes: self.passes(source),
            fetches: self.fetches(source),
            nonuniform: self.sources.is_nonuniform(function.number, pair),
        };
        let sample = site::Sample::new(&self.tracer, function, site, pair, tasks)?;
        if sample.passes.asks() == 0 {
            return Ok(false);
        }
        let mut before = Vec::new();
        let Some(task) = self.source(function.number, source, pair, &mut before)? else { return Ok(false) };
        let made = self.helpers.borrow().get(&sample.key).copied();
        let helper = match made {
            Some(helper) => helper,
            None if self.helpers.borrow().len() >= FUNCTIONS => return Err(Stop::Unchanged(Unchanged::Functions)),
            None => {
                let module = self.tracer.module;
                let helper = helper::make(&mut self.editor, module, &sample, self.limits, &self.helpers)?;
                put(&mut self.helpers.borrow_mut(), copied(&sample.key)?, helper)?;
                helper
            }
        };
        let mut arguments = Vec::new();
        push(&mut arguments, task)?;
        for (id, _) in &sample.passed {
            push(&mut arguments, *id)?;
        }
        self.editor.insert(site.at, &before)?;
        self.editor.call_instead(site, helper, &arguments)?;
        if sample.fetches {
            push(&mut self.joined, (function.number, site.word(3)))?;
        }
        Ok(true)
    }

    /// The id of the task for a pair in a function, as [`Pass::task`] gives it.
    fn source(
        &mut self,
        number: usize,
        source: OperandSource,
        pair: &Pair,
        before: &mut Vec<u32>,
    ) -> Result<Option<u32>, Stop> {
        match source {
            OperandSource::Own => Ok(None),
            OperandSource::Part(slot) => match self.slots.get(slot).copied() {
                Some((_, slot)) => self.task(&slot, pair, before).map(Some),
                None => Ok(None),
            },
            OperandSource::Passed(_) => Ok(Some(self.sources.parameter(number, pair)).filter(|id| *id != 0)),
        }
    }

    /// Passes to a function the tasks that it takes now.
    fn call(&mut self, function: &Function, call: &Instruction<'w>, scratch: &mut Scratch) -> Result<(), Error> {
        let Some(callee) = self.tracer.module.function(call.word(3)) else { return Ok(()) };
        let (mut before, mut arguments) = (Vec::new(), Vec::new());
        for position in 0..self.sources.count(callee) {
            let Some((open, _)) = self.sources.passed(callee, position) else { continue };
            let mut task = Ok(None);
            if self.sources.is_reached(function.number) {
                scratch.call(&mut self.tracer, function, call, &open)?;
                let source = self.sources.source(&mut self.tracer, function.number, scratch)?;
                if let (Ok(source @ (OperandSource::Part(slot) | OperandSource::Passed(slot))), Some((pair, _))) =
                    (source, scratch.pairs.first())
                {
                    task = self.source(function.number, source, pair, &mut before).map_err(|stop| (slot, stop));
                }
            }
            let task = match task {
                Ok(task) => task,
                Err((slot, Stop::Unchanged(why))) => {
                    push(&mut self.left, (slot, why))?;
                    None
                }
                Err((_, Stop::Error(error))) => return Err(error),
            };
            push(
                &mut arguments,
                match task {
                    Some(task) => task,
                    None => self.nothing()?,
                },
            )?;
        }
        if arguments.is_empty() {
            return Ok(());
        }
        self.editor.insert(call.at, &before)?;
        self.editor.lengthen(call, &arguments)
    }
}
