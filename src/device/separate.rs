//! Samplers and images that only a shader joins (`separate=resolve`): what is remembered of shaders, layouts, sets and command
//! buffers, and what is bound in place of a set whose samplers conflict with the images that a pipeline reads through them.
//!
//! Descriptors without `UPDATE_AFTER_BIND` may be consumed by the bind itself (VkDescriptorBindingFlagBits), so what a draw
//! will read is known when it is recorded. [`ladder`] decides, [`shadow`] makes the sets, [`draws`] binds, and the rest only remembers.

mod again;
mod arrays;
mod aspects;
mod binds;
mod blocks;
mod bound;
mod caches;
mod columns;
mod combined;
mod command_buffers;
mod compare;
mod comparisons;
mod definitions;
mod differs;
mod draws;
mod embedded;
mod emulation;
mod fetch;
pub(super) mod force;
mod found;
mod hidden;
mod indexed;
mod known;
mod ladder;
mod late;
mod layouts;
mod learned;
mod limits;
mod listed;
mod lists;
mod looked_up;
mod named;
mod objects;
mod pairs;
mod passes;
mod places;
mod pools;
mod programs;
mod progress;
mod pushes;
mod reads;
mod recipe;
mod records;
mod resolution;
mod retyped;
mod rewritten;
mod seen;
mod selection;
mod sets;
mod shader_objects;
mod shadow;
mod shown;
mod split;
mod stages;
mod tables;
mod tasks;
mod templates;
mod twins;
mod updates;
mod viewed;
mod want;
mod wholes;
mod words;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk;
use samplin_hot::Versions;
use samplin_spirv::sampling::Passes;
use samplin_wire::kinds;

use self::again::KeptPrograms;
use self::arrays::Budget;
pub use self::binds::{Binds, Descriptors, Pushes};
use self::blocks::Blocks;
pub(super) use self::caches::CACHES;
use self::columns::Held;
use self::command_buffers::Commands;
use self::definitions::{LayoutTables, Own};
use self::embedded::Embedded;
use self::force::Force;
use self::found::Resolutions;
use self::hidden::HiddenSets;
use self::learned::Learned;
pub use self::limits::{LaterLimits, Limits};
pub use self::objects::Group;
use self::passes::RenderPass;
use self::pools::SetPool;
use self::programs::Deferred;
pub use self::programs::{Made, Program, Stage};
pub use self::progress::Label;
pub(super) use self::rewritten::Reissued;
use self::seen::Seen;
use self::sets::SetEntry;
use self::shader_objects::Shaders;
pub use self::stages::model;
use self::tables::Tables;
pub use self::templates::TemplateRun;
use self::templates::TemplateRuns;
pub use self::updates::WrittenSet;
use self::wholes::Wholes;
pub use self::words::Words;
use self::words::{Module, WordTable};
use super::driver::Driver;
use super::follower::Follower;
use super::hot::Hot;
use super::types::type_bit;
use crate::settings::{
    Bindless, Immutable, Mode, SeparateShared, Settings, ShaderKeys, SplitCompile, TraceLevel, TraceTarget,
    Unfilterable, Unnormalized,
};
use crate::table::{FastMap, HandleMap, lock};

/// What is remembered of one device's shaders, layouts, sets and command buffers.
#[derive(Default)]
pub struct Separate {
    layouts: LayoutTables,
    embedded: Embedded,
    /// Sets of layouts with separate samplers or images.
    sets: HandleMap<SetEntry>,
    pools: Mutex<FastMap<u64, SetPool>>,
    templates: HandleMap<TemplateRuns>,
    modules: HandleMap<Module>,
    words: WordTable,
    kept: Mutex<KeptPrograms>,
    learned: Learned,
    settings: SplitSettings,
    /// Pipelines with links.
    programs: HandleMap<Program>,
    shaders: Shaders,
    /// Pipelines that are being made, by the operation that makes them.
    deferred: Mutex<FastMap<u64, Deferred>>,
    commands: Commands,
    /// Numbers given out.
    numbers: AtomicU64,
    /// Versions of sets.
    versions: Arc<Versions>,
    /// A binding with its slots in arrays was seen with what it was not seen with before.
    news: Arc<AtomicBool>,
    /// There may be links that no draw has shown, see [`late`].
    has_late: AtomicBool,
    /// What arrays of sets may take.
    arrays: Budget,
    /// What was in them, if the trace says how much that is.
    held: Mutex<Held>,
    counts_columns: bool,
    /// Shadow sets there are, and the most at a time.
    shadows: AtomicU64,
    most_shadows: AtomicU64,
    /// Writes are taken over whatever their types: a set was copied.
    takes_all: AtomicBool,
    hidden: HiddenSets,
    passes: HandleMap<RenderPass>,
    /// Render passes of the layer's own.
    own_passes: Mutex<Own>,
    /// Second pipelines ever made, and the nanoseconds that it took.
    splits: AtomicU64,
    split_ns: AtomicU64,
    /// Links of all pipelines.
    links: AtomicU64,
    limits: Limits,
    /// What shaders may have to do for what they sample beside that, see [`emulation`]: if anything, combined descriptors are followed
    /// as well.
    tasks: Passes,
    /// Combined descriptors are followed although no pipeline is made a second time at once: a sampler may need a shader that divides
    /// coordinates.
    pairs: AtomicBool,
    /// Immutable samplers of combined descriptors are exchanged as others are (`immutable=demote`): all, or those that rules name.
    demotes: bool,
    demotes_all: bool,
    blocks: Blocks,
    tables: Tables,
    wholes: Wholes,
    resolutions: Resolutions,
    /// What shaders declare of images, and what views there are.
    seen: Seen,
    force: Force,
}

/// What the settings say of split pipelines.
#[derive(Default)]
struct SplitSettings {
    shared: SeparateShared,
    compile: SplitCompile,
    keys: ShaderKeys,
    /// Shaders look up which sampler suits what they index.
    looks_up: bool,
    /// Bytes that may be kept.
    memory: u64,
}

impl Separate {
    /// The types of descriptors that are watched from the start.
    pub const WATCHED: u32 = type_bit(vk::DescriptorType::SAMPLER) | type_bit(vk::DescriptorType::SAMPLED_IMAGE);
    /// What else a binding of several types can hold, and attachments.
    const OTHERS: u32 = type_bit(vk::DescriptorType::STORAGE_IMAGE)
        | type_bit(vk::DescriptorType::INPUT_ATTACHMENT)
        | type_bit(vk::DescriptorType::UNIFORM_BUFFER)
        | type_bit(vk::DescriptorType::STORAGE_BUFFER)
        | type_bit(vk::DescriptorType::UNIFORM_TEXEL_BUFFER)
        | type_bit(vk::DescriptorType::STORAGE_TEXEL_BUFFER);

    /// Nothing seen yet, on a device with these limits. `gl`: samplers may have address modes of OpenGL. `named`: rules name immutable
    /// samplers.
    pub fn new(limits: Limits, settings: &Settings, gl: bool, named: bool) -> Self {
        let (shared, compile, keys) = (settings.separate_shared, settings.split_compile, settings.shader_keys);
        let looks_up = settings.bindless == Bindless::Resolve && settings.mode == Mode::Legalize;
        let memory = settings.resolve_memory.saturating_mul(1 << 20);
        let choices = SplitSettings { shared, compile, keys, looks_up, memory };
        let (seen, arrays) = (Seen::new(settings), Budget::new(choices.memory));
        let mut new = Self { limits, settings: choices, seen, arrays, sets: HandleMap::dense(), ..Self::default() };
        new.counts_columns = settings.trace != TraceTarget::Off && settings.trace_level == TraceLevel::All;
        let rewrites = settings.mode == Mode::Legalize;
        let filter = settings.unfilterable == Unfilterable::Emulate;
        new.demotes_all = rewrites && settings.immutable == Immutable::Demote;
        new.demotes = new.demotes_all || rewrites && named;
        let saturate = rewrites && (gl || new.force.tasks());
        let divide = rewrites && settings.unnormalized != Unnormalized::Base;
        new.pairs = AtomicBool::new(rewrites && settings.unnormalized == Unnormalized::Always);
        new.tasks = Passes { saturate, filter: rewrites && filter, divide, compare: rewrites, ..Passes::NONE };
        new
    }

    /// Whether a test switch wants repairs that nothing asks for.
    pub fn is_forced(&self) -> bool {
        self.force.any()
    }

    /// Whether there are copies of any set.
    fn has_shadows(&self) -> bool {
        self.shadows.load(Ordering::Relaxed) != 0
    }

    /// What shaders may have to do for what they sample beside that.
    pub fn tasks(&self) -> Passes {
        self.tasks
    }

    /// Follows combined descriptors of layouts and pipelines that are made from now on.
    pub fn follow_pairs(&self) {
        self.pairs.store(true, Ordering::Release);
    }

    /// Whether combined descriptors are followed.
    fn follows_pairs(&self) -> bool {
        self.has_tasks() || self.pairs.load(Ordering::Acquire)
    }

    /// Whether sets note descriptors for what a link does with them, where these have no slots.
    fn notes(&self, uses: samplin_spirv::Uses) -> bool {
        self.tasks.compare && uses.contains(samplin_spirv::Uses::DREF)
    }

    /// Whether they may have to do anything that each pipeline is made for at once. Comparisons and divisions are found where links are
    /// followed, and pipelines made for them then.
    fn has_tasks(&self) -> bool {
        self.tasks.saturate || self.tasks.filter
    }

    /// Whether layouts, hidden sets or what was found out may name a sampler.
    #[inline]
    pub fn may_hold_samplers(&self) -> bool {
        self.resolutions.any() || self.hidden.any() || self.layouts.has_immutables()
    }

    /// Whether combined descriptors have slots: those with immutable samplers, or also the others.
    fn follows_combined(&self, immutable: bool) -> bool {
        self.follows_pairs() || immutable && self.demotes
    }

    /// Whether what immutable samplers of combined descriptors come to is decided where they are bound, of some at least.
    pub fn follows_immutables(&self) -> bool {
        self.follows_combined(true)
    }

    /// Whether that goes for all of them.
    pub fn follows_all_immutables(&self) -> bool {
        self.has_tasks() || self.demotes_all
    }

    /// Its part of the `summary` record, but for what is unresolved.
    fn summary(&self) -> kinds::Separate {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        kinds::Separate {
            links: count(&self.links),
            sets: lock(&self.pools).values().map(|pool| pool.sets.len() as u64).sum(),
            shadows: kinds::Alive { live: count(&self.shadows), peak: count(&self.most_shadows) },
            hidden_sets: self.hidden.count().0 as u64,
            splits: count(&self.splits),
            compile_ms: count(&self.split_ns) as f64 / 1e6,
            learned: self.learned.count() as u64,
            ..kinds::Separate::default()
        }
    }

    /// The sum of a count of all pipelines and combinations of shaders.
    fn of_programs(&self, count: impl Fn(&Program) -> usize) -> usize {
        let mut sum = 0;
        self.programs.for_each(&mut |program| sum += count(program));
        self.shaders.for_each_combination(&mut |program| sum += count(program));
        sum
    }

    /// A number that nothing else has.
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Follower for Separate {
    fn forget_variant(&self, driver: &Driver, variant: u64) {
        self.tables.forget(driver, variant);
        self.forget_hidden(driver, variant);
    }

    fn forget_sampler(&self, driver: &Driver, sampler: u64) {
        self.tables.forget(driver, sampler);
        if self.may_hold_samplers() {
            self.forget_immutable(sampler);
            self.forget_hidden(driver, sampler);
        }
    }

    fn look_again(&self, hot: &Hot) {
        Self::look_again(self, hot);
    }

    fn follow_pairs(&self) {
        Self::follow_pairs(self);
    }

    fn expect_wholes(&self) {
        self.wholes.may_come.store(true, Ordering::Release);
    }

    fn follow_wholes(&self, hot: &Hot) {
        self.follow_wholes_of(hot);
    }

    fn follow_comparisons(&self, hot: &Hot) {
        if self.tasks.compare {
            self.follow_comparisons_of(hot);
        }
    }

    fn follows_immutables(&self) -> bool {
        Self::follows_immutables(self)
    }

    fn compares_combined(&self) -> bool {
        self.tasks.compare
    }
}
