//! Second pipelines whose shaders declare other formats of storage images than the application's: none, or that of the view that is bound.
//!
//! A variable gets a type of its own. Where functions take it the type is changed where it stands, so that all variables of it get the
//! same. Without a format the texels are the view's; where the device
//! cannot do without for this format, and its images are of one that shaders can declare, it is that one. Where integers stand in for the
//! view, it is its format as well, which the pass `image_formats` then converts: also one that no shader can declare.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use ash::vk;
use samplin_core::declared::{Declared, Mismatch, Viewed, differs, number_of};
use samplin_core::left::Left;
use samplin_core::storage;
use samplin_hot::memory::{self, Room};
use samplin_spirv::image_access::{Formats, assign};
use samplin_spirv::image_formats::{Codec, Options, image_formats};
use samplin_spirv::passes;
use samplin_wire::kinds;

use super::Separate;
use super::emulation::left_module;
use super::programs::Program;
use super::recipe::{Format, Second};
use super::seen::Variable;
use super::viewed::Bound;
use crate::decide::{Catalog, Change, Field, Value};
use crate::device::driver::Driver;
use crate::device::journal::Journal;
use crate::names::{self, Spirv};
use crate::settings::SplitCompile;
use crate::table::lock;

/// How many pipelines with other formats a program has.
const RETYPED: usize = 32;

fn capability(change: &passes::PassChange) -> Option<Change> {
    let named = |number| Value::Spirv(names::spirv(Spirv::Capability, number));
    let (catalog, field) = (Catalog::H4View, Field::Capability);
    Some(match change {
        passes::PassChange::CapabilityAdded(number) => {
            Change { catalog, field, from: Value::Absent, to: named(*number) }
        }
        _ => return None,
    })
}

/// What it is that a shader declares another format.
fn change(declared: &Declared, format: Format) -> Change {
    let stand_in = Codec::of(format.number).filter(|_| format.is_lowered).map(Codec::alias);
    let catalog = match () {
        () if stand_in.is_some() => Catalog::H5,
        () if declared.format != 0 => Catalog::H4View,
        () if declared.is_read => Catalog::H7,
        () => Catalog::H8,
    };
    let named = |number| Value::Spirv(names::spirv(Spirv::ImageFormat, number));
    let to = named(stand_in.unwrap_or(format.number));
    Change { catalog, field: Field::ImageFormat, from: named(declared.format), to }
}

/// The formats of variables that the shader converts.
fn lowered<'a>(all: impl Iterator<Item = (&'a Variable, Format)>) -> Options {
    let mut lowered = Options::default();
    for (variable, format) in all.filter(|(_, format)| format.is_lowered) {
        let formats = if variable.is_buffer() { &mut lowered.buffers } else { &mut lowered.images };
        *formats |= 1 << format.number;
    }
    lowered
}

/// What gets a format together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A variable, with all elements that are named of it.
    Variable,
    /// All variables of an image type.
    Type,
}

impl By {
    /// The stage, and the id in its code.
    fn key(self, variable: &Variable) -> (vk::ShaderStageFlags, u32) {
        (variable.stages, if self == By::Variable { variable.variable } else { variable.image })
    }
}

impl Bound<'_> {
    /// Whether another format in the shader makes it right.
    fn is_mendable(&self) -> bool {
        [Mismatch::Format, Mismatch::Read, Mismatch::Write].into_iter().any(|how| self.is_wrong(how))
    }

    /// The format that the shader may declare for what is bound: Unknown, if the device can do without for all of its views, or else the one
    /// that they all have. `may`: whether shaders may read and write without a format at all.
    fn format(&self, may: (bool, bool)) -> Option<Format> {
        let Variable { declared, is_atomic, .. } = self.variable;
        let mut views = self.views.iter().map(|(_, _, viewed)| *viewed);
        let is_known = views.all(|viewed| viewed.is_some_and(|viewed| !self.differs(&viewed, Mismatch::Numbers)));
        if self.after_bind || *is_atomic || !is_known {
            return None;
        }
        let mut views = self.views.iter().filter_map(|(_, _, viewed)| *viewed);
        let unknown = Declared { format: 0, ..*declared };
        let mut suits = views
            .clone()
            .all(|viewed| !differs(&unknown, &viewed, Mismatch::Read) && !differs(&unknown, &viewed, Mismatch::Write));
        suits &= (may.0 || !declared.is_read) && (may.1 || !declared.is_written);
        if suits {
            return Some(Format::default());
        }
        let format = |viewed: Viewed| {
            let of = if viewed.is_lowered { storage::declared } else { number_of };
            Some(Format { number: of(viewed.format)?, is_lowered: viewed.is_lowered })
        };
        let first = format(views.next()?)?;
        views.all(|viewed| format(viewed) == Some(first)).then_some(first)
    }
}

impl Driver {
    /// The formats that shaders of a program would have to declare for what is bound, by positions of variables; none where what they
    /// declare suits, or nothing does. `by`: what gets one format together, variables or types.
    pub(super) fn formats_for(&self, separate: &Separate, bound: &[Bound<'_>], by: By) -> Vec<(usize, Format)> {
        let mut all: Vec<(usize, Format)> = Vec::new();
        if !separate.seen.repairs {
            return all;
        }
        let may = |feature: bool| feature || self.caps.format_feature_flags2;
        let may = (may(self.caps.storage_read_without_format), may(self.caps.storage_write_without_format));
        for wrong in bound.iter().filter(|bound| bound.variable.declared.is_storage && bound.is_mendable()) {
            let key = by.key(wrong.variable);
            let group = bound.iter().filter(|other| by.key(other.variable) == key);
            let wanted = wrong.format(may);
            let is_one = group.clone().all(|other| other.views.is_empty() || other.format(may) == wanted);
            let Some(format) = wanted.filter(|_| is_one) else { continue };
            for other in group {
                if !all.iter().any(|(position, _)| *position == other.position) {
                    all.with_room().push((other.position, format));
                }
            }
        }
        all
    }
}

impl Separate {
    /// The pipeline, or shaders, in which what is bound is declared as it is: variables by themselves, or where functions take them, all of
    /// a type. None where nothing has to differ, or it cannot be made. `all`: what every shader of the device converts.
    pub(super) fn retyped_for(
        &self,
        driver: &Driver,
        all: Options,
        journal: &Journal,
        program: &Program,
        bound: &[Bound<'_>],
    ) -> Option<Arc<Second>> {
        [By::Variable, By::Type].into_iter().find_map(|by| {
            if by == By::Variable && program.splits.by_type.load(Ordering::Relaxed) {
                return None;
            }
            let formats = Some(driver.formats_for(self, bound, by)).filter(|formats| !formats.is_empty())?;
            let made = self.retyped(driver, all, journal, program, &formats, by);
            if by == By::Variable && made.as_ref().is_err_and(|why| *why == Left::ImageEscapes) {
                program.splits.by_type.store(true, Ordering::Relaxed);
            }
            made.ok()
        })
    }

    /// The pipeline, or shaders, that declare these formats, made if there is none.
    fn retyped(
        &self,
        driver: &Driver,
        all: Options,
        journal: &Journal,
        program: &Program,
        formats: &[(usize, Format)],
        by: By,
    ) -> Result<Arc<Second>, Left> {
        let is_it = |second: &&Arc<Second>| second.formats == formats;
        if let Some(known) = lock(&program.splits.retyped).iter().find(is_it) {
            return Ok(Arc::clone(known));
        }
        if self.settings.compile == SplitCompile::Learn && !program.is_of_shaders() {
            return Err(Left::Learned);
        }
        if lock(&program.splits.retyped).len() >= RETYPED {
            return Err(Left::TooManyClones);
        }
        let started = Instant::now();
        let recipe = program.recipe()?;
        let (mut codes, mut retyped) = (memory::vec(recipe.stages.len()), Vec::new());
        for stage in &recipe.stages {
            let own = formats.iter().filter_map(|(position, format)| {
                let variable = program.variables.get(*position)?;
                (variable.stages == stage.stage).then_some((variable, *format))
            });
            let mut ids = memory::collect(own.clone().map(|(variable, format)| (by.key(variable).1, format.number)));
            ids.dedup();
            if ids.is_empty() {
                codes.push(None);
                continue;
            }
            // Other variables were converted when the module came, and are again.
            let declared = stage.words.declared();
            let module = samplin_spirv::Module::read(declared).map_err(left_module)?;
            let assigned = match by {
                By::Variable => Formats::OfVariables(&ids),
                By::Type => Formats::OfTypes(&ids),
            };
            let (mut words, others) = assign(&module, assigned).map_err(|why| why.left())?;
            let mut lowered = lowered(own.clone());
            if !std::ptr::eq(declared, &**stage.words) {
                lowered = Options { images: lowered.images | all.images, buffers: lowered.buffers | all.buffers };
            }
            if lowered != Options::default() {
                let module = samplin_spirv::Module::read(&words).map_err(left_module)?;
                let rewrite = image_formats(&module, &lowered).map_err(|why| why.left())?;
                words = rewrite.words.unwrap_or(words);
            }
            let own = own.filter(|(variable, format)| variable.declared.format != format.number);
            let changes = own.clone().map(|(variable, format)| change(&variable.declared, format));
            let changes = changes.chain(others.iter().filter_map(capability));
            let bindings = own.map(|(one, _)| kinds::Binding { set: one.at.set, binding: one.at.binding });
            retyped.with_room().push((stage, memory::collect(bindings), memory::collect(changes), words.len()));
            codes.push(Some(words));
        }
        let layout = Arc::clone(&program.layout);
        let twin = self.twin_of_pipeline(driver, &layout).ok_or(Left::Memory)?;
        let (made, libraries) = self.compile(driver, &recipe, &codes, &layout, twin)?;
        let took = started.elapsed();
        self.split_ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.splits.fetch_add(1, Ordering::Relaxed);
        let formats = memory::collect(formats.iter().copied());
        let (hidden, parts, tasks) = (None, Vec::new(), None);
        let second =
            Arc::new(Second { mask: 0, made, libraries, layout, hidden, parts, tasks, selection: None, formats });
        driver.name_second(journal, program, &second);
        for (stage, bindings, changes, words) in retyped {
            journal.shader_retyped(program, stage, bindings, &changes, words, took);
        }
        lock(&program.splits.retyped).with_room().push(Arc::clone(&second));
        Ok(second)
    }
}
