//! The passes: one order, and one way to ask for them.
//!
//! A pass takes a module and gives new words or none; it changes all that it is for or nothing, and a second run finds nothing left
//! to do. What it refuses has a name.

use crate::atomic_counters::{self, atomic_counters};
use crate::error::{Error, extend, push};
use crate::image_access::{self, image_access};
use crate::image_formats::{self, image_formats};
use crate::module::Module;
use crate::sample_builtins::sample_builtins;
use crate::sample_inputs::sample_inputs;
use crate::sample_mask::sample_mask;
use crate::scan::Scan;

pub use crate::outcome::{Counters, Pass, PassChange, Rewrite, Why};

/// A pass with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<'a> {
    /// [`image_access()`].
    ImageAccess(image_access::Options),
    /// [`atomic_counters()`].
    AtomicCounters(atomic_counters::Options),
    /// [`image_formats()`].
    ImageFormats(image_formats::Options),
    /// [`sample_builtins()`].
    SampleBuiltins,
    /// [`sample_inputs()`], for the fragment entry point of this name.
    SampleInputs(&'a str),
    /// [`sample_mask()`], for a device with masks of so many words.
    SampleMask(u32),
}

impl Step<'_> {
    /// Which pass it is.
    pub const fn pass(&self) -> Pass {
        match self {
            Step::ImageAccess(_) => Pass::ImageAccess,
            Step::AtomicCounters(_) => Pass::AtomicCounters,
            Step::ImageFormats(_) => Pass::ImageFormats,
            Step::SampleBuiltins => Pass::SampleBuiltins,
            Step::SampleInputs(_) => Pass::SampleInputs,
            Step::SampleMask(_) => Pass::SampleMask,
        }
    }

    /// Whether it could find something in a module of which the pre-scan says `scan`.
    pub const fn could_find(&self, scan: Scan) -> bool {
        match self {
            Step::ImageAccess(_) => scan.intersects(Scan::FORMATLESS) || scan.intersects(Scan::STORAGE_IMAGES),
            // Uniform variables outside of blocks have no mark of their own.
            Step::AtomicCounters(_) => true,
            Step::ImageFormats(_) => scan.intersects(Scan::STORAGE_IMAGES),
            Step::SampleBuiltins => scan.intersects(Scan::SAMPLES),
            Step::SampleInputs(_) => scan.intersects(Scan::FRAGMENT),
            Step::SampleMask(_) => scan.intersects(Scan::SAMPLE_MASK),
        }
    }

    fn run(&self, module: &Module<'_>) -> Result<Rewrite, Why> {
        match self {
            Step::ImageAccess(options) => image_access(module, options),
            Step::AtomicCounters(options) => atomic_counters(module, options),
            Step::ImageFormats(options) => image_formats(module, options),
            Step::SampleBuiltins => sample_builtins(module),
            Step::SampleInputs(name) => sample_inputs(module, name),
            Step::SampleMask(most) => sample_mask(module, *most),
        }
    }
}

/// What is asked of the passes that need nothing but a module: where modules are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModuleOptions {
    /// Declarations of storage images, unless they are to stay as they are.
    pub images: Option<image_access::Options>,
    /// Shaders for OpenGL, if they are allowed.
    pub counters: Option<atomic_counters::Options>,
    /// Formats that the device cannot store.
    pub formats: image_formats::Options,
    /// Whether shaders do without sample shading, which the device has not.
    pub without_samples: bool,
    /// How many words a sample mask may have; 0 if that is not known.
    pub mask_words: u32,
}

/// What is done about samples where a pipeline is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampling<'a> {
    /// Nothing.
    #[default]
    Keep,
    /// The device has no sample shading, or there is one sample only.
    Lower,
    /// Every sample is to be shaded; the fragment entry point has this name.
    Force(&'a str),
}

/// What the passes made of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The new words; none if the module stays as it came.
    pub words: Option<Vec<u32>>,
    /// The same with the formats that the module declares, if [`image_formats()`] changed any.
    pub declared: Option<Vec<u32>>,
    /// What was done, in the order of the passes.
    pub changes: Vec<(Pass, PassChange)>,
    /// Passes that changed nothing although there was something to change, and parts that a pass left.
    pub refusals: Vec<(Pass, Why)>,
}

/// Runs the passes for a module as it is created; `scan` is what [`scan`](crate::scan::scan) says of the words.
///
/// # Errors
///
/// [`Error::Memory`] where even the outcome has no place; all else is in the outcome.
pub fn for_module(words: &[u32], scan: Scan, options: &ModuleOptions) -> Result<Outcome, Error> {
    let samples = options.without_samples.then_some(Step::SampleBuiltins);
    let mask = (options.mask_words != 0).then_some(Step::SampleMask(options.mask_words));
    let formats = Some(options.formats).filter(|formats| *formats != image_formats::Options::default());
    let formats = formats.map(Step::ImageFormats);
    let (images, counters) = (options.images.map(Step::ImageAccess), options.counters.map(Step::AtomicCounters));
    let steps = [images, counters, samples, mask, formats];
    run(words, scan, steps.iter().flatten())
}

/// Runs the passes for a stage of a pipeline.
///
/// # Errors
///
/// As [`for_module`].
pub fn for_pipeline(words: &[u32], scan: Scan, sampling: Sampling<'_>) -> Result<Outcome, Error> {
    let step = match sampling {
        Sampling::Keep => return Ok(Outcome::default()),
        Sampling::Lower => Step::SampleBuiltins,
        Sampling::Force(name) => Step::SampleInputs(name),
    };
    run(words, scan, std::iter::once(&step))
}

/// Runs passes one after the other. What one refuses the next gets as it was.
///
/// # Errors
///
/// As [`for_module`].
pub fn run<'a>(words: &[u32], scan: Scan, steps: impl Iterator<Item = &'a Step<'a>>) -> Result<Outcome, Error> {
    let mut steps = steps.filter(|step| step.could_find(scan));
    run_each(words, &mut steps)
}

/// One function for all ways to list steps.
#[inline(never)]
fn run_each<'a>(given: &[u32], steps: &mut dyn Iterator<Item = &'a Step<'a>>) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for step in steps {
        let pass = step.pass();
        let now = outcome.words.as_deref().unwrap_or(given);
        match Module::read(now).map_err(Why::Module).and_then(|module| step.run(&module)) {
            Ok(rewrite) => {
                // Types of counters that nothing is declared with go, but nobody misses them.
                let is_changed = !rewrite.changes.is_empty();
                for change in rewrite.changes {
                    push(&mut outcome.changes, (pass, change))?;
                }
                for why in rewrite.left {
                    push(&mut outcome.refusals, (pass, why))?;
                }
                if let (true, Some(words)) = (is_changed, rewrite.words) {
                    let before = outcome.words.replace(words);
                    if pass == Pass::ImageFormats {
                        let mut copy = before.unwrap_or_default();
                        if copy.is_empty() {
                            extend(&mut copy, given)?;
                        }
                        outcome.declared = Some(copy);
                    }
                }
            }
            Err(why) => push(&mut outcome.refusals, (pass, why))?,
        }
    }
    Ok(outcome)
}
