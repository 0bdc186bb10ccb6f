//! Command buffers: which pipeline and which sets are bound at each bind point, and what the layer has bound in their place.
//!
//! A command buffer is externally synchronised (Threading Behavior), so nothing here is locked. What a bind has to remember of a set
//! is its handle and two words; the rest is looked up where something may have to be repaired.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::bound::{Bound, Hidden};
use super::found::Found;
use super::layouts::PipelineShape;
use super::objects::BoundShader;
use super::programs::Program;
use super::sets::{Brief, SetEntry};
use crate::table::{FastMap, FastSet, HandleMap, lock};
use crate::variant::Gate;

/// How many bind points are followed.
pub(super) const POINTS: usize = 3;

/// How many of them are worth a shorter way; their indices are their numbers.
const GLANCED: usize = 2;

const FOLLOWED: [vk::PipelineBindPoint; POINTS] =
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::RAY_TRACING_KHR];

/// Index of a bind point; none for one that is not followed.
pub(super) fn index(point: vk::PipelineBindPoint) -> Option<usize> {
    FOLLOWED.iter().position(|followed| *followed == point)
}

/// The bind point with an index.
pub(super) fn bind_point(index: usize) -> vk::PipelineBindPoint {
    FOLLOWED.get(index).copied().unwrap_or_default()
}

/// No sum of what has moved.
const LOUD: u64 = 0;

/// Set numbers that a bind goes the shortest way for.
const HELD: usize = 8;

/// What is held of a set number where a bind has to be looked at: no handle.
pub(super) const UNHELD: u64 = u64::MAX;

/// A pipeline layout as it was found by its handle.
#[derive(Clone, Copy, Default)]
pub(super) struct LastLayout {
    pub(super) handle: u64,
    /// Where it is; only compared.
    pub(super) at: usize,
    /// How many pipeline layouts were destroyed before.
    pub(super) gone: u64,
}

/// A bind point.
#[derive(Default)]
pub(super) struct Point {
    /// The pipeline, unless `given` is still to be looked up.
    pub(super) program: Option<Arc<Program>>,
    /// A pipeline of the application's that was bound since; 0 for none.
    pub(super) given: u64,
    /// All is known that is bound, nothing of the layer's own is, and no two of the bound sets conflict: as of this sum, see
    /// [`Separate::moves`]; [`LOUD`] if not.
    pub(super) quiet_at: u64,
    /// At a quiet point the set of each number that was bound with the last layout and of which nothing more is kept, 0 for none; else
    /// [`UNHELD`]. Binding it again changes nothing.
    pub(super) held: [u64; HELD],
    /// A set is bound, or was, that may be updated while it is.
    pub(super) has_loose: bool,
    /// The layout that sets were bound with last.
    pub(super) last: LastLayout,
    /// Set numbers that were bound with that, as bits.
    pub(super) with_last: u32,
    /// Binds of numbers below this with the last layout leave the hidden set alone.
    pub(super) hidden_from: usize,
    /// What all sets need and lack.
    pub(super) summary: u64,
    /// Descriptors were pushed.
    pub(super) has_pushes: bool,
    /// Resolutions that were found here.
    pub(super) found: Found,
    /// What the briefs of bound sets say held at this time, see [`Resolutions::time`].
    ///
    /// [`Resolutions::time`]: super::found::Resolutions::time
    pub(super) time: u64,
    /// The pipeline that is bound in truth; 0 where shader objects are.
    pub(super) pipeline: u64,
    /// The shader objects that are bound instead of a pipeline, in the order of their stages.
    pub(super) shaders: Vec<BoundShader>,
    pub(super) sets: Vec<Bound>,
    pub(super) hidden: Option<Hidden>,
    /// Something is bound that the application has not bound there.
    pub(super) differs: bool,
    /// The next draw has something to find out or to bind.
    pub(super) is_left: bool,
    /// Transform feedback is active, during which no other pipeline may be bound (VUID-vkCmdBindPipeline-None-02323).
    pub(super) feeds_back: bool,
}

/// What is bound in a command buffer.
#[derive(Default)]
pub struct CommandBuffer {
    /// A command is at work on it.
    is_taken: AtomicBool,
    inside: UnsafeCell<Inside>,
}

/// The time during which a command is at work.
struct Turn<'c>(&'c AtomicBool);

impl Drop for Turn<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Inside {
    points: [Point; POINTS],
    /// It was begun when binds were followed, so that nothing is bound but what is known.
    is_whole: bool,
}

// SAFETY: the cell is only reached through `CommandBuffer::inside`, by commands on one command buffer, which the application must not
// call at the same time (Threading Behavior, "externally synchronized parameters").
unsafe impl Sync for CommandBuffer {}

impl CommandBuffer {
    /// Works on what is inside; not if another command does, whose driver called back, or which the application has called on another
    /// thread at once.
    #[inline(always)]
    fn inside<R>(&self, with: impl FnOnce(&mut Inside) -> R) -> Option<R> {
        if self.is_taken.load(Ordering::Relaxed) {
            return None;
        }
        self.is_taken.store(true, Ordering::Relaxed);
        // Also when `with` unwinds: what is bound then gives way to the application's, see `Device::flush`.
        let _turn = Turn(&self.is_taken);
        // SAFETY: no other reference is there: they end with this function, during which it counts as taken.
        Some(with(unsafe { &mut *self.inside.get() }))
    }

    /// Works on a bind point, which nobody else sees meanwhile: no lock is held, so `with` may call down.
    #[inline(always)]
    pub(super) fn with<R: Default>(&self, at: usize, with: impl FnOnce(&mut Point) -> R) -> R {
        self.edit(at, with).unwrap_or_default()
    }

    /// [`CommandBuffer::with`] for what has no default: none if it cannot.
    #[inline(always)]
    pub(super) fn edit<R>(&self, at: usize, with: impl FnOnce(&mut Point) -> R) -> Option<R> {
        let with = |point: &mut Point| {
            let result = with(point);
            point.sum_up();
            result
        };
        let all = |inside: &mut Inside| {
            let (is_whole, point) = (inside.is_whole, inside.points.get_mut(at)?);
            let result = with(point);
            point.hush(is_whole);
            Some(result)
        };
        self.inside(all).flatten()
    }

    /// [`CommandBuffer::with`] for a leaf: none if it cannot, or if not all is known that is bound.
    #[inline(always)]
    pub(super) fn leaf<R>(&self, at: usize, with: impl FnOnce(&mut Point) -> R) -> Option<R> {
        let all = |inside: &mut Inside| {
            let point = inside.points.get_mut(at).filter(|_| inside.is_whole)?;
            let result = with(point);
            point.hush(true);
            Some(result)
        };
        self.inside(all).flatten()
    }

    /// One of the first bind points, unless a command is at work on it.
    ///
    /// # Safety
    ///
    /// The caller is a leaf: a command on this command buffer, which calls nothing that could come to it again while the reference is
    /// used.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "the application has it to itself, which is this function's contract")]
    pub(super) unsafe fn glance(&self, at: usize) -> Option<&mut Point> {
        if self.is_taken.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: no command is at work on it, none begins on this thread while the reference is used, by this function's contract,
        // and other threads must not name the command buffer at the same time (Threading Behavior).
        unsafe { &mut *self.inside.get() }.points.first_chunk_mut::<GLANCED>()?.get_mut(at)
    }

    /// Whether the next draw has something to find out or to bind.
    #[inline(always)]
    pub(super) fn is_left(&self, at: usize) -> bool {
        self.read(at, |point| point.is_left).unwrap_or(false)
    }

    /// [`CommandBuffer::leaf`] that changes nothing.
    #[inline(always)]
    pub(super) fn read<R>(&self, at: usize, with: impl FnOnce(&Point) -> R) -> Option<R> {
        self.inside(|inside| inside.points.get(at).map(with)).flatten()
    }

    /// Whether all is known that is bound in it.
    pub(super) fn is_whole(&self) -> bool {
        self.inside(|inside| inside.is_whole).unwrap_or(false)
    }

    /// Nothing is bound in it any more. `begins`: it is being begun, and not in the middle of its commands.
    fn clear(&self, separate: &Separate, begins: bool) {
        self.inside(|inside| {
            inside.is_whole |= begins;
            for point in &mut inside.points {
                point.clear();
                if begins {
                    point.found.begin(&separate.resolutions);
                }
                point.hush(inside.is_whole);
            }
        });
    }
}

/// Command buffers by handle.
#[derive(Default)]
pub(super) struct Commands {
    pub(super) buffers: HandleMap<CommandBuffer>,
    pools: Mutex<FastMap<u64, FastSet<u64>>>,
}

/// Sets of a bind that are copied without an allocation.
pub(super) const FEW: usize = 8;

/// The first of these are to be bound.
pub(super) type Few = [vk::DescriptorSet; FEW];

/// The sets to bind in place of the application's.
pub enum Actual {
    /// The first of these.
    Few(Few),
    /// These.
    Many(Vec<vk::DescriptorSet>),
}

impl Actual {
    /// As many sets as the application binds.
    pub fn as_ptr(&self) -> *const vk::DescriptorSet {
        match self {
            Self::Few(sets) => sets.as_ptr(),
            Self::Many(sets) => sets.as_ptr(),
        }
    }
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
    /// Looks up what leaves have left to be looked up.
    pub(super) fn meet(&mut self, separate: &Separate) {
        self.meet_program(separate);
        for bound in self.sets.iter_mut().filter(|bound| bound.set != 0 && bound.entry.is_none()) {
            // SAFETY: a set that is freed invalidates the command buffers that it is bound in (Command Buffer Lifecycle), and this one is
            // recording.
            bound.entry = unsafe { separate.sets.share(bound.set) };
            bound.has_more = true;
        }
    }

    /// Works out what the leaves go by.
    pub(super) fn sum_up(&mut self) {
        self.add_up();
        (self.with_last, self.has_pushes) = (0, false);
        let mut last = None;
        for (number, bound) in self.sets.iter().enumerate() {
            self.has_pushes |= bound.set == 0 && bound.entry.is_some();
            if let Some(own) = &bound.layout
                && Arc::as_ptr(own).addr() == self.last.at
                && number < u32::BITS as usize
            {
                self.with_last |= 1 << number;
                last = Some(own);
            }
        }
        // Compatible for a number is compatible for all below it.
        let stays = |hidden: &Hidden| {
            let below = hidden.number().checked_sub(1);
            below.zip(last).is_some_and(|(below, last)| hidden.layout.is_compatible(last, below))
        };
        self.hidden_from = match &self.hidden {
            None => usize::MAX,
            Some(hidden) if stays(hidden) => hidden.number(),
            Some(_) => 0,
        };
    }

    /// Takes note of whether the application's own pipeline and sets are to be bound, whatever pipeline it is, as long as the sets that are
    /// bound need nothing that others lack.
    #[inline(always)]
    fn hush(&mut self, is_whole: bool) {
        let is_own = self.shaders.is_empty() && !self.differs && !self.is_left && !self.has_loose;
        let is_quiet = is_whole && is_own && self.is_legal_at_all();
        self.quiet_at = LOUD;
        if is_quiet {
            self.quiet_at = self.time.wrapping_add(self.last.gone).wrapping_add(1);
            self.held = [UNHELD; HELD];
            for (number, (held, bound)) in self.held.iter_mut().zip(&self.sets).enumerate() {
                if self.with_last >> number & 1 != 0 && !bound.has_more {
                    *held = bound.set;
                }
            }
        }
    }

    /// Looks the pipeline up.
    pub(super) fn meet_program(&mut self, separate: &Separate) {
        let given = std::mem::take(&mut self.given);
        if given != 0 {
            // SAFETY: the application destroys a pipeline only when no command buffer that it is bound in is recording or pending
            // (VUID-vkDestroyPipeline-pipeline-00765), and this one is recording.
            self.program = unsafe { separate.programs.share(given) };
        }
    }

    /// Looks again at what is in sets that may have been updated since they were bound.
    #[inline(always)]
    pub(super) fn refresh(&mut self, separate: &Separate, gate: &Gate) {
        if !self.has_loose {
            return;
        }
        for bound in self.sets.iter_mut().filter(|bound| bound.brief.is_loose) {
            // SAFETY: as in `meet`.
            let entry = unsafe { separate.sets.get(bound.set) };
            bound.brief = entry.map_or(Brief::EMPTY, |entry| entry.brief(gate));
        }
        self.add_up();
    }

    /// Works out what all sets need and lack.
    #[inline(always)]
    pub(super) fn add_up(&mut self) {
        self.summary = self.sets.iter().fold(0, |all, bound| all | bound.brief.summary);
    }

    /// Looks again at what is in all sets, if that means something else than before.
    pub(super) fn renew(&mut self, separate: &Separate, gate: &Gate) {
        let time = separate.resolutions.time();
        if self.time != time {
            self.time = time;
            self.look_again(separate, gate);
        }
    }

    /// Looks again at what is in all sets.
    pub(super) fn look_again(&mut self, separate: &Separate, gate: &Gate) {
        self.meet(separate);
        for bound in &mut self.sets {
            let brief = bound.entry.as_deref().map_or(Brief::EMPTY, |entry| entry.brief(gate));
            let stamp = if bound.set == 0 { Brief::PUSHED } else { brief.stamp };
            bound.brief = Brief { stamp, ..brief };
        }
        self.add_up();
    }

    /// Nothing is bound any more. What stays is what does not depend on the recording: what was found out, by content; the time of briefs,
    /// of which none is left; the last layout, by handle and number; and room that was asked of the allocator.
    pub(super) fn clear(&mut self) {
        let Self { found, time, last, .. } = self;
        let (found, time, last) = (std::mem::take(found), *time, *last);
        let (mut sets, mut shaders) = (std::mem::take(&mut self.sets), std::mem::take(&mut self.shaders));
        sets.iter_mut().for_each(Bound::clear);
        shaders.clear();
        *self = Self { found, time, last, sets, shaders, ..Self::default() };
        self.sum_up();
    }

    /// A pipeline is bound of which nothing is known but its handle.
    pub(super) fn take_unknown(&mut self, pipeline: vk::Pipeline) {
        (self.program, self.given, self.pipeline) = (None, 0, pipeline.as_raw());
        // Shaders of this bind point are bound no more (vkCmdBindPipeline).
        self.shaders.clear();
    }

    /// Nothing is known of what sets are bound.
    pub(super) fn forget_sets(&mut self) {
        self.sets.iter_mut().for_each(Bound::clear);
        self.hidden = None;
        self.sum_up();
    }

    /// Makes room for set numbers below `count`.
    fn reach(&mut self, count: usize) {
        while self.sets.len() < count {
            self.sets.with_room().push(Bound::default());
        }
    }

    /// Forgets what a bind of the numbers from `first` to `last` with `layout` disturbs (Pipeline Layout Compatibility).
    #[inline]
    pub(super) fn disturb(&mut self, layout: &PipelineShape, first: usize, last: usize) {
        for (number, bound) in self.sets.iter_mut().enumerate() {
            if (first..=last).contains(&number) {
                continue;
            }
            let witness = if number < first { number } else { last };
            let stays = |own: &Arc<PipelineShape>| std::ptr::eq(&**own, layout) || own.is_compatible(layout, witness);
            if !bound.layout.as_ref().is_some_and(stays) {
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
                (bound.repushed, bound.has_more) = (true, true);
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
            bound.set == 0 && bound.entry.is_some() && !stays
        })
    }

    /// Takes over bound sets.
    ///
    /// # Safety
    ///
    /// The sets are valid, and so is the pipeline layout, which `layout` belongs to.
    pub(super) unsafe fn bind(&mut self, separate: &Separate, gate: &Gate, layout: &PipelineShape, binds: &Binds<'_>) {
        let first = binds.first as usize;
        let Some(last) = (first + binds.sets.len()).checked_sub(1).filter(|last| *last >= first) else { return };
        self.disturb(layout, first, last);
        self.reach(last + 1);
        let mut offsets = binds.offsets;
        for (number, set) in (first..).zip(binds.sets) {
            let count = layout.dynamic(number).min(offsets.len());
            let (own, rest) = offsets.split_at(count);
            offsets = rest;
            let Some(bound) = self.sets.get_mut(number) else { break };
            // SAFETY: a set that a command names is valid.
            let entry = unsafe { separate.sets.get(set.as_raw()) };
            let brief = entry.map_or(Brief::EMPTY, |entry| entry.brief(gate));
            self.has_loose |= brief.is_loose;
            bound.hold(set.as_raw(), brief);
            if !bound.is_with(layout) {
                // SAFETY: the layout of `binds` is valid by this function's contract.
                bound.layout = unsafe { separate.pipeline_shape(binds.layout) };
            }
            for offset in own {
                bound.offsets.with_room().push(*offset);
                bound.has_more = true;
            }
        }
        self.sum_up();
    }

    /// The sets of a bind, with those that are bound in place of some of them; none if there are none.
    pub(super) fn actual(&self, binds: &Binds<'_>) -> Option<Actual> {
        let bound = self.sets.get(binds.first as usize..).unwrap_or(&[]);
        let differs = binds.sets.iter().zip(bound).any(|(set, bound)| set.as_raw() != bound.actual);
        differs.then(|| {
            if binds.sets.len() <= FEW {
                return Actual::Few(self.actual_few(binds.first as usize));
            }
            let bound = bound.iter().take(binds.sets.len());
            Actual::Many(memory::collect(bound.map(|bound| vk::DescriptorSet::from_raw(bound.actual))))
        })
    }

    /// What is bound in truth, from a set number on.
    pub(super) fn actual_few(&self, first: usize) -> Few {
        let mut few = [vk::DescriptorSet::null(); FEW];
        let bound = self.sets.iter().skip(first).map(|bound| vk::DescriptorSet::from_raw(bound.actual));
        few.iter_mut().zip(bound).for_each(|(place, set)| *place = set);
        few
    }

    /// The entry of descriptors pushed to a set number.
    pub(super) fn push(&mut self, layout: &Arc<PipelineShape>, number: usize) -> Option<&SetEntry> {
        let shape = layout.sets.get(number)?.as_ref()?;
        self.disturb(layout, number, number);
        self.reach(number + 1);
        let bound = self.sets.get_mut(number)?;
        // Descriptors that were pushed before stay, if the layout is compatible.
        let stays = bound.set == 0
            && bound.layout.as_ref().is_some_and(|own| own.is_compatible(layout, number))
            && bound.entry.is_some();
        if !stays {
            let entry = Arc::new(SetEntry::new(Arc::clone(shape), None, 0));
            *bound = Bound { entry: Some(entry), has_more: true, ..Bound::default() };
        }
        bound.layout = Some(Arc::clone(layout));
        bound.repushed = true;
        self.has_pushes = true;
        bound.entry.as_deref()
    }
}

impl Separate {
    /// What is bound in a command buffer, made if there is none yet.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer while the reference is used.
    pub unsafe fn buffer(&self, commands: vk::CommandBuffer) -> Option<&CommandBuffer> {
        // SAFETY: a command buffer's entry is removed when it is freed, which it is not while the reference is used, by this
        // function's contract.
        if let Some(buffer) = unsafe { self.commands.buffers.get_in_line(commands.as_raw()) } {
            return Some(buffer);
        }
        self.commands.buffers.insert(commands.as_raw(), Arc::default());
        // SAFETY: it was inserted just above, and the command buffer is not freed while the reference is used, by this function's
        // contract.
        unsafe { self.commands.buffers.get(commands.as_raw()) }
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
        commands.iter().for_each(|commands| self.commands.buffers.remove(commands.as_raw()));
    }

    /// Forgets the command buffers of a pool.
    pub fn forget_command_pool(&self, pool: vk::CommandPool) {
        let list = lock(&self.commands.pools).remove(&pool.as_raw()).unwrap_or_default();
        list.into_iter().for_each(|commands| self.commands.buffers.remove(commands));
    }

    /// Nothing is bound in a command buffer any more: it begins, or, in the middle of its commands, the state is undefined.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer.
    pub unsafe fn clear_commands(&self, commands: vk::CommandBuffer, begins: bool) {
        // SAFETY: the command buffer is valid by this function's contract, so it is not freed and its entry stays meanwhile.
        if let Some(buffer) = unsafe { self.buffer(commands) } {
            buffer.clear(self, begins);
        }
    }
}
