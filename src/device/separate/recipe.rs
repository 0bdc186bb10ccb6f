//! What a pipeline can be made of again, and the pipelines that were made so.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ash::vk;
use samplin_bind::Executable;
use samplin_bind::plan::{LINKS, link_bit};
use samplin_core::left::Left;
use samplin_hot::memory::{self, Room};

use super::layouts::{PipelineShape, SetShape};
use super::looked_up::Selection;
use super::passes::RenderPass;
use super::tasks::{Keys, Tasks};
use super::words::{Counted, Words};
use crate::kept;
use crate::table::lock;

/// Why there is no room for another sampler.
pub(super) const NO_SET: Left = Left::NoFreeSet;
pub(super) const NO_SAMPLER: Left = Left::SamplerLimit;

/// The format that a shader declares for what is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    /// By its number; 0 is Unknown.
    pub(super) number: u32,
    /// Descriptors show unsigned integers with its bits, which the shader converts.
    pub(super) is_lowered: bool,
}

/// When a pipeline is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// When the application makes it.
    Made,
    /// In a draw that finds a conflict.
    Bound,
}

/// A pass over a stage, and for which links.
#[derive(Clone, Copy)]
pub(super) struct PassRun<'p> {
    pub(super) pass: &'p str,
    pub(super) links: &'p [usize],
    pub(super) took: Duration,
    pub(super) when: When,
}

/// A stage of a kept pipeline.
pub(super) struct StageCode {
    pub(super) stage: vk::ShaderStageFlags,
    pub(super) name: Box<str>,
    pub(super) constants: Vec<(u32, Box<[u8]>)>,
    pub(super) words: Arc<Words>,
}

/// What a pipeline was made of, or each of the shader objects that are bound together.
pub(super) enum MadeOf {
    Compute(kept::Compute),
    /// With its render pass, and with what each of its libraries was made of.
    Graphics(Box<kept::Graphics>, Option<Arc<RenderPass>>, Vec<Arc<Recipe>>),
    /// With their groups: those of one that is not 0 are linked.
    Shaders(Box<[(Arc<kept::Shader>, u64)]>),
}

/// What a pipeline can be made of again.
pub(super) struct Recipe {
    pub(super) source: MadeOf,
    /// Those of its libraries first.
    pub(super) stages: Vec<Arc<StageCode>>,
    /// Most colour attachments that it may have.
    pub(super) colors: u32,
    pub(super) _counted: Counted,
}

/// A second pipeline, or second shader objects.
pub(super) struct Second {
    /// The links that are split, by their positions.
    pub(super) mask: u64,
    pub(super) made: Executable,
    /// What it was linked of. Nothing needs that any more but validation layers, of which one reads on (1.3.239).
    pub(super) libraries: Vec<u64>,
    /// The application's layout with the hidden set behind it, if there is one.
    pub(super) layout: Arc<PipelineShape>,
    pub(super) hidden: Option<Arc<SetShape>>,
    /// The links, and how many samplers each has in the hidden set.
    pub(super) parts: Vec<(usize, u32)>,
    /// What its shaders can do for descriptors, if they were made for that.
    pub(super) tasks: Option<Tasks>,
    /// What its shaders look samplers up in, if they do.
    pub(super) selection: Option<Selection>,
    /// The formats that its shaders declare instead, by positions in the list of variables.
    pub(super) formats: Vec<(usize, Format)>,
}

impl Second {
    /// The links that it is there for: those that are split, or else those whose descriptors may have tasks.
    pub(super) fn links(&self) -> impl Iterator<Item = usize> {
        let tasks = self.tasks.as_ref().filter(|_| self.parts.is_empty()).map(Tasks::links).unwrap_or_default();
        let looked_up = self.looked_up();
        let looked_up = (0..LINKS).filter(move |link| looked_up & link_bit(*link) != 0);
        self.parts.iter().map(|(link, _)| *link).chain(looked_up).chain(tasks)
    }

    /// The links, a bit each, whose samplers its shaders look up.
    pub(super) fn looked_up(&self) -> u64 {
        self.selection.as_ref().map_or(0, |selection| selection.links)
    }

    /// The links, a bit each, for which its shaders may compare.
    pub(super) fn compared(&self) -> u64 {
        self.tasks.as_ref().map_or(0, |tasks| tasks.compared.may)
    }

    /// The links, a bit each, that its shaders do not do all that is asked for.
    pub(super) fn left(&self) -> u64 {
        self.tasks.iter().flat_map(|tasks| &tasks.left).fold(0, |all, (link, _)| all | link_bit(*link))
    }

    /// Whether its shaders have their tasks in their code, so that there may be any number of its kind.
    pub(super) fn is_fixed(&self) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| matches!(tasks.keys, Keys::Fixed(_)))
    }

    /// Its pipeline; 0 for shaders.
    pub(super) fn pipeline(&self) -> u64 {
        self.made.pipeline()
    }
}

/// What became of a pipeline's links.
#[derive(Default)]
pub(super) struct Splits {
    /// Links that are split, one bit each.
    pub(super) mask: AtomicU64,
    /// Links that cannot be.
    refused: AtomicU64,
    /// Why they cannot, each reason once.
    reasons: Mutex<Vec<(u64, Left)>>,
    /// Of these, links for which there is no room: no set number or no place for one more sampler.
    crowded: AtomicU64,
    /// The pipeline of the last that was made; 0 for none.
    pub(super) pipeline: AtomicU64,
    /// The last is the one in use; command buffers may hold those before it.
    pub(super) made: Mutex<Vec<Arc<Second>>>,
    /// Those whose shaders do tasks, the one that was wanted last at the end.
    pub(super) tasked: Mutex<Vec<Arc<Second>>>,
    /// Those whose shaders declare other formats, and whether that goes by types only.
    pub(super) retyped: Mutex<Vec<Arc<Second>>>,
    pub(super) by_type: AtomicBool,
    /// The shaders of one look up what may be written after the bind, so they run where that can conflict, see
    /// [`Program::may_meet_late`].
    pub(super) is_late: AtomicBool,
}

/// How many pipelines with tasks in their code a program has beside those that command buffers hold.
pub(super) const FIXED: usize = 64;

impl Splits {
    /// Links that are split.
    pub(super) fn mask(&self) -> u64 {
        self.mask.load(Ordering::Acquire)
    }

    /// Links that cannot be split.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Acquire)
    }

    /// Why one of these links cannot be split, if one cannot.
    pub(super) fn reason(&self, links: u64) -> Option<Left> {
        lock(&self.reasons).iter().find(|(refused, _)| refused & links != 0).map(|(_, why)| *why)
    }

    /// Links for which there is no room for another sampler.
    pub(super) fn crowded(&self) -> u64 {
        self.crowded.load(Ordering::Acquire)
    }

    /// Links cannot be split any more.
    pub(super) fn refuse(&self, links: u64, why: Left) {
        let mut reasons = lock(&self.reasons);
        match reasons.iter_mut().find(|(_, same)| *same == why) {
            Some((refused, _)) => *refused |= links,
            None => reasons.with_room().push((links, why)),
        }
        drop(reasons);
        if matches!(why, NO_SET | NO_SAMPLER) {
            self.crowded.fetch_or(links, Ordering::AcqRel);
        }
        self.refused.fetch_or(links, Ordering::AcqRel);
    }

    /// Calls `with` for all that were made.
    pub(super) fn for_each(&self, with: &mut dyn FnMut(&Second)) {
        [&self.made, &self.tasked, &self.retyped]
            .into_iter()
            .for_each(|some| lock(some).iter().for_each(|second| with(second)));
    }

    /// One that was made.
    pub(super) fn find(&self, is_it: impl Fn(&Second) -> bool) -> Option<Arc<Second>> {
        let all = [&self.made, &self.tasked, &self.retyped];
        all.into_iter().find_map(|some| lock(some).iter().find(|second| is_it(second)).cloned())
    }

    /// All that were made, which are about to be destroyed.
    pub(super) fn take(&self) -> Vec<Arc<Second>> {
        let mut all = std::mem::take(&mut *lock(&self.made));
        all.append(&mut lock(&self.tasked));
        all.append(&mut lock(&self.retyped));
        all
    }

    /// How many were made.
    pub(super) fn len(&self) -> usize {
        lock(&self.made).len() + lock(&self.tasked).len() + lock(&self.retyped).len()
    }

    /// Whether any second pipeline was made.
    pub(super) fn any(&self) -> bool {
        self.mask() != 0 || !lock(&self.tasked).is_empty() || !lock(&self.retyped).is_empty()
    }

    /// The handle of the pipeline to bind instead of the application's; 0 if there is none.
    pub(super) fn current_pipeline(&self) -> u64 {
        if self.mask() == 0 { 0 } else { self.pipeline.load(Ordering::Acquire) }
    }

    /// The pipeline with tasks that `is_it` says.
    pub(super) fn tasked(&self, is_it: impl Fn(&Second) -> bool) -> Option<Arc<Second>> {
        let mut tasked = lock(&self.tasked);
        let at = tasked.iter().position(|second| is_it(second))?;
        if let Some(rest) = tasked.get_mut(at..) {
            rest.rotate_left(1);
        }
        tasked.last().cloned()
    }

    /// Adds a pipeline with tasks, unless there is one like it by now: the one that is there.
    pub(super) fn add_tasked(&self, made: &Arc<Second>, is_it: impl Fn(&Second) -> bool) -> Arc<Second> {
        let mut tasked = lock(&self.tasked);
        if let Some(known) = tasked.iter().find(|second| is_it(second)) {
            return Arc::clone(known);
        }
        tasked.with_room().push(Arc::clone(made));
        Arc::clone(made)
    }

    /// How many were made each for one combination of links that compare.
    pub(super) fn combinations(&self) -> usize {
        lock(&self.tasked).iter().filter(|second| second.compared() != 0 && !second.is_fixed()).count()
    }

    /// The links that any of them may compare for, a bit each.
    pub(super) fn compared(&self) -> u64 {
        lock(&self.tasked).iter().fold(0, |all, second| all | second.compared())
    }

    /// Whether one more with tasks in its code would be too many.
    pub(super) fn is_full(&self) -> bool {
        lock(&self.tasked).iter().filter(|second| second.is_fixed()).count() >= FIXED
    }

    /// Takes out the pipelines with tasks in their code that were wanted longest ago and that nobody holds, if there are too many.
    pub(super) fn evict(&self) -> Vec<Arc<Second>> {
        let mut tasked = lock(&self.tasked);
        let mut excess = tasked.iter().filter(|second| second.is_fixed()).count().saturating_sub(FIXED - 1);
        let mut gone = memory::vec(excess);
        let is_free = |second: &mut Arc<Second>| {
            let goes = excess > 0 && second.is_fixed() && Arc::strong_count(second) == 1;
            excess -= usize::from(goes);
            goes
        };
        gone.extend(tasked.extract_if(.., is_free));
        gone
    }

    /// The pipeline to bind instead of the application's, if any.
    pub(super) fn current(&self) -> Option<Arc<Second>> {
        if self.mask() == 0 { None } else { lock(&self.made).last().cloned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refused_link_keeps_its_own_reason() {
        let splits = Splits::default();
        splits.refuse(0b001, Left::OpaqueOperand);
        splits.refuse(0b010, NO_SET);
        splits.refuse(0b100, Left::OpaqueOperand);
        let reasons = [0b001, 0b010, 0b100, 0b1000].map(|link| splits.reason(link));
        assert_eq!(reasons, [Some(Left::OpaqueOperand), Some(NO_SET), Some(Left::OpaqueOperand), None]);
        assert_eq!((splits.refused(), splits.crowded()), (0b111, 0b010));
    }
}
