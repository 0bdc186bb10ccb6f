//! Command buffers: which pipeline and which sets are bound at each bind point, and what the layer has bound in their place.
//!
//! A command buffer is externally synchronised (Threading Behavior), so its lock is never waited for.

use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::layouts::PipelineShape;
use super::objects::BoundShader;
use super::programs::Program;
use super::sets::SetRecord;
use crate::table::{FastMap, FastSet, HandleMap, lock};

/// How many bind points are followed.
pub(super) const POINTS: usize = 3;

const FOLLOWED: [vk::PipelineBindPoint; POINTS] =
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::RAY_TRACING_KHR];

/// Place of a bind point; none for one that is not followed.
pub(super) fn place(point: vk::PipelineBindPoint) -> Option<usize> {
    FOLLOWED.iter().position(|followed| *followed == point)
}

/// The bind point at a place.
pub(super) fn bind_point(place: usize) -> vk::PipelineBindPoint {
    FOLLOWED.get(place).copied().unwrap_or_default()
}

/// What is bound at a set number.
#[derive(Default)]
pub(super) struct Bound {
    /// The application's set; 0 for pushed descriptors and for none.
    pub(super) set: u64,
    /// What is in it; none if nothing is bound, or nothing of interest.
    pub(super) record: Option<Arc<SetRecord>>,
    /// The layout that it was bound with; none if nothing is bound.
    pub(super) layout: Option<Arc<PipelineShape>>,
    /// Dynamic offsets.
    pub(super) offsets: Vec<u32>,
    /// The set that is bound in truth.
    pub(super) actual: u64,
    /// Samplers that the layer has pushed in place of others: binding, element, handle.
    pub(super) pushed: Vec<(u32, u32, u64)>,
    /// The application has pushed since, perhaps over them.
    pub(super) repushed: bool,
}

impl Bound {
    /// Whether something else is bound than the application has bound.
    pub(super) fn differs(&self) -> bool {
        self.actual != self.set || !self.pushed.is_empty()
    }
}

/// A bind point.
#[derive(Default)]
pub(super) struct Point {
    pub(super) program: Option<Arc<Program>>,
    /// The pipeline that is bound in truth; 0 where shader objects are.
    pub(super) pipeline: u64,
    /// The shader objects that are bound instead of a pipeline, in the order of their stages.
    pub(super) shaders: Vec<BoundShader>,
    pub(super) sets: Vec<Bound>,
    pub(super) hidden: Option<Hidden>,
    /// Something is bound that the application has not bound there.
    pub(super) differs: bool,
    /// Transform feedback is active, during which no other pipeline may be bound (VUID-vkCmdBindPipeline-None-02323).
    pub(super) feeds_back: bool,
}

/// A hidden set that is bound.
pub(super) struct Hidden {
    pub(super) set: u64,
    /// The layout that it was bound with, whose last set it is.
    pub(super) layout: Arc<PipelineShape>,
}

impl Hidden {
    /// Its set number.
    pub(super) fn number(&self) -> usize {
        self.layout.sets.len() - 1
    }
}

/// What is bound in a command buffer.
#[derive(Default)]
pub struct CommandState(Mutex<[Point; POINTS]>);

impl CommandState {
    /// Works on a bind point, which nobody else sees meanwhile: no lock is held, so `with` may call down.
    pub(super) fn with<R: Default>(&self, at: usize, with: impl FnOnce(&mut Point) -> R) -> R {
        let Some(mut point) = lock(&self.0).get_mut(at).map(std::mem::take) else { return R::default() };
        let result = with(&mut point);
        if let Some(place) = lock(&self.0).get_mut(at) {
            *place = point;
        }
        result
    }

    fn clear(&self) {
        *lock(&self.0) = Default::default();
    }
}

/// Command buffers by handle.
#[derive(Default)]
pub(super) struct Commands {
    states: HandleMap<CommandState>,
    pools: Mutex<FastMap<u64, FastSet<u64>>>,
}

/// Sets that are about to be bound.
#[derive(Clone, Copy)]
pub struct Binds<'a> {
    /// Bind point.
    pub point: vk::PipelineBindPoint,
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// Number of the first set.
    pub first: u32,
    /// The sets.
    pub sets: &'a [vk::DescriptorSet],
    /// Dynamic offsets of all of them.
    pub offsets: &'a [u32],
}

impl Point {
    /// Makes room for set numbers below `count`.
    fn reach(&mut self, count: usize) {
        while self.sets.len() < count {
            self.sets.with_room().push(Bound::default());
        }
    }

    /// Forgets what a bind of the numbers from `first` to `last` with `layout` disturbs (Pipeline Layout Compatibility).
    fn disturb(&mut self, layout: &PipelineShape, first: usize, last: usize) {
        for (number, bound) in self.sets.iter_mut().enumerate() {
            let witness = if number < first { number } else { last };
            let stays = bound.layout.as_ref().is_some_and(|own| own.is_compatible(layout, witness));
            if !(first..=last).contains(&number) && !stays {
                *bound = Bound::default();
            }
        }
        let stays = |hidden: &Hidden| {
            let number = hidden.number();
            let witness = if number < first { number } else { last };
            !(first..=last).contains(&number) && hidden.layout.is_compatible(layout, witness)
        };
        if !self.hidden.as_ref().is_some_and(stays) {
            self.hidden = None;
        }
    }

    /// Takes note that a hidden set is bound: what was at its number and behind it is bound no more, nor is what was bound below with
    /// a layout that is not compatible (Pipeline Layout Compatibility).
    pub(super) fn hide(&mut self, hidden: Hidden) {
        for (number, bound) in self.sets.iter_mut().enumerate() {
            let stays = bound.layout.as_ref().is_some_and(|own| own.is_compatible(&hidden.layout, number));
            if number >= hidden.number() || !stays {
                bound.actual = 0;
                bound.repushed = true;
            }
        }
        self.differs = true;
        self.hidden = Some(hidden);
    }

    /// Takes note that the layer has bound a set of the application's with `layout`: a hidden set at its number or before it, which is of
    /// a shorter pipeline layout, is bound no more, nor is one behind it whose layout is not compatible.
    pub(super) fn show(&mut self, number: usize, layout: &PipelineShape) {
        self.hidden.take_if(|hidden| hidden.number() <= number || !hidden.layout.is_compatible(layout, number));
    }

    /// Whether descriptors were pushed that a hidden set behind those of `layout` would disturb: at its number, behind it, or with a layout
    /// that is not compatible. Nobody could push them again.
    pub(super) fn is_pushed_beside(&self, layout: &PipelineShape) -> bool {
        self.sets.iter().enumerate().any(|(number, bound)| {
            let stays = bound.layout.as_ref().is_some_and(|own| own.is_compatible(layout, number));
            bound.set == 0 && bound.record.is_some() && !stays
        })
    }

    /// Takes over bound sets.
    ///
    /// # Safety
    ///
    /// The sets are valid.
    pub(super) unsafe fn bind(&mut self, separate: &Separate, layout: &Arc<PipelineShape>, binds: &Binds<'_>) {
        let first = binds.first as usize;
        let Some(last) = (first + binds.sets.len()).checked_sub(1).filter(|last| *last >= first) else { return };
        self.disturb(layout, first, last);
        self.reach(last + 1);
        let mut offsets = binds.offsets;
        for (number, set) in (first..).zip(binds.sets) {
            let shape = layout.sets.get(number).and_then(Option::as_ref);
            let count = shape.map_or(0, |shape| shape.dynamic as usize).min(offsets.len());
            let (own, rest) = offsets.split_at(count);
            offsets = rest;
            let Some(bound) = self.sets.get_mut(number) else { return };
            // SAFETY: a set that a command names is valid.
            let record = unsafe { separate.sets.share(set.as_raw()) };
            bound.set = set.as_raw();
            bound.actual = set.as_raw();
            bound.record = record;
            bound.layout = Some(Arc::clone(layout));
            bound.offsets.clear();
            for offset in own {
                bound.offsets.with_room().push(*offset);
            }
            bound.pushed.clear();
            bound.repushed = false;
        }
    }

    /// The sets of a bind, with those that are bound in place of some of them; none if there are none.
    pub(super) fn actual(&self, binds: &Binds<'_>) -> Option<Vec<vk::DescriptorSet>> {
        let bound = self.sets.get(binds.first as usize..).unwrap_or(&[]);
        let differs = binds.sets.iter().zip(bound).any(|(set, bound)| set.as_raw() != bound.actual);
        differs.then(|| {
            let actual = bound.iter().map(|bound| vk::DescriptorSet::from_raw(bound.actual));
            memory::collect(actual.take(binds.sets.len()))
        })
    }

    /// The record of descriptors pushed to a set number.
    pub(super) fn push(
        &mut self,
        separate: &Separate,
        layout: &Arc<PipelineShape>,
        number: usize,
    ) -> Option<&SetRecord> {
        let shape = layout.sets.get(number)?.as_ref()?;
        self.disturb(layout, number, number);
        self.reach(number + 1);
        let bound = self.sets.get_mut(number)?;
        // Descriptors that were pushed before stay, if the layout is compatible.
        let stays = bound.set == 0
            && bound.layout.as_ref().is_some_and(|own| own.is_compatible(layout, number))
            && bound.record.is_some();
        if !stays {
            let record = Arc::new(SetRecord::new(Arc::clone(shape), None, 0, separate.number()));
            *bound = Bound { record: Some(record), ..Bound::default() };
        }
        bound.layout = Some(Arc::clone(layout));
        bound.repushed = true;
        bound.record.as_deref()
    }
}

impl Separate {
    /// The state of a command buffer, made if there is none yet.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer while the reference is used.
    pub unsafe fn state(&self, commands: vk::CommandBuffer) -> Option<&CommandState> {
        // SAFETY: forwarded from the caller.
        if let Some(state) = unsafe { self.commands.states.get(commands.as_raw()) } {
            return Some(state);
        }
        self.commands.states.insert(commands.as_raw(), Arc::default());
        // SAFETY: as above.
        unsafe { self.commands.states.get(commands.as_raw()) }
    }

    /// Takes note that transform feedback is active in a command buffer, or no more.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer.
    pub unsafe fn set_feedback(&self, commands: vk::CommandBuffer, active: bool) {
        // SAFETY: forwarded from the caller.
        let Some(state) = (unsafe { self.state(commands) }) else { return };
        if let Some(at) = place(vk::PipelineBindPoint::GRAPHICS) {
            state.with(at, |point| point.feeds_back = active);
        }
    }

    /// Remembers where command buffers come from.
    pub fn insert_commands(&self, pool: vk::CommandPool, commands: &[vk::CommandBuffer]) {
        let mut pools = lock(&self.commands.pools);
        let list = pools.with_room().entry(pool.as_raw()).or_default();
        for commands in commands {
            list.with_room().insert(commands.as_raw());
        }
    }

    /// Forgets command buffers that are about to be freed.
    pub fn forget_commands(&self, pool: vk::CommandPool, commands: &[vk::CommandBuffer]) {
        if let Some(list) = lock(&self.commands.pools).get_mut(&pool.as_raw()) {
            commands.iter().for_each(|commands| _ = list.remove(&commands.as_raw()));
        }
        commands.iter().for_each(|commands| self.commands.states.remove(commands.as_raw()));
    }

    /// Forgets the command buffers of a pool.
    pub fn forget_command_pool(&self, pool: vk::CommandPool) {
        let list = lock(&self.commands.pools).remove(&pool.as_raw()).unwrap_or_default();
        list.into_iter().for_each(|commands| self.commands.states.remove(commands));
    }

    /// Nothing is bound in a command buffer any more, or it is not known what.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer.
    pub unsafe fn clear_commands(&self, commands: vk::CommandBuffer) {
        // SAFETY: forwarded from the caller.
        if let Some(state) = unsafe { self.commands.states.get(commands.as_raw()) } {
            state.clear();
        }
    }
}
