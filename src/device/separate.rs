//! Samplers and images that only a shader joins (`separate=resolve`): what is remembered of shaders, layouts, sets and command
//! buffers, and what is bound in place of a set whose samplers conflict with the images that a pipeline reads through them.
//!
//! Descriptors without `UPDATE_AFTER_BIND` may be consumed by the bind itself (VkDescriptorBindingFlagBits), so what a pipeline
//! will read is known once it and its sets are bound, and no draw has to be looked at. [`ladder`] decides, [`shadow`] makes the
//! sets; the rest only remembers.

mod bits;
mod commands;
mod force;
mod ladder;
mod layouts;
mod objects;
mod passes;
mod programs;
mod recipe;
mod resolution;
mod sets;
mod settle;
mod shaders;
mod shadow;
mod split;
mod told;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::commands::Binds;
use self::commands::Commands;
use self::force::Force;
use self::layouts::LayoutTables;
pub use self::objects::Group;
use self::passes::RenderPass;
use self::programs::{Code, Deferred};
pub use self::programs::{Made, Program, Stage};
use self::resolution::Resolutions;
pub use self::sets::TemplateRun;
use self::sets::{SetRecord, TemplateRuns};
use self::shaders::Shaders;
use self::split::HiddenSets;
pub use self::split::Limits;
use self::told::Told;
use crate::table::{FastMap, FastSet, HandleMap};

/// What is remembered of one device's shaders, layouts, sets and command buffers.
#[derive(Default)]
pub struct Separate {
    layouts: LayoutTables,
    /// Sets of layouts with separate samplers or images.
    sets: HandleMap<SetRecord>,
    /// The sets of each pool.
    pools: Mutex<FastMap<u64, FastSet<u64>>>,
    templates: HandleMap<TemplateRuns>,
    modules: HandleMap<Code>,
    /// Pipelines with links.
    programs: HandleMap<Program>,
    shaders: Shaders,
    /// Pipelines that are being made, by the operation that makes them.
    deferred: Mutex<FastMap<u64, Deferred>>,
    commands: Commands,
    /// Numbers given out.
    numbers: AtomicU64,
    /// Shadow sets there are, and the most at a time.
    shadows: AtomicU64,
    most_shadows: AtomicU64,
    hidden: HiddenSets,
    passes: HandleMap<RenderPass>,
    /// Render passes that the application has destroyed and that pipelines may be made with again.
    old_passes: Mutex<Vec<u64>>,
    /// Second pipelines ever made.
    splits: AtomicU64,
    limits: Limits,
    resolutions: Resolutions,
    told: Told,
    force: Force,
}

impl Separate {
    /// Nothing seen yet, on a device with these limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// A number that nothing else has.
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }
}
