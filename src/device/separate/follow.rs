//! Binds, as far as they are leaves.
//!
//! Almost every bind ends here, so nothing here allocates, locks or counts references, but for what was found out in another command
//! buffer. What cannot be done so is left to the slow way, which takes the same bind over from the beginning.
//!
//! A bind takes note of what the application binds, and lets stand in for it what is known to be needed. What else is to be bound, or to
//! be found out, is left to the next draw, see [`Device::flush`].
//!
//! Where nothing of the layer's own is bound and nothing that is bound conflicts, a bind [passes](Device::pass_sets) with what is
//! written down at its bind point.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};

use super::Separate;
use super::commands::{Binds, CommandBuffer, FEW, Few, LastLayout, Point, UNHELD, index};
use super::found::{Key, Resolution};
use super::programs::Program;
use super::sets::Brief;
use crate::device::Device;
use crate::device::hot::follow;
use crate::hooks::slice;

/// What a bind of sets comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Taken over: they go down.
    Down,
    /// Taken over: others stand in for some of them.
    Others,
    /// Not taken over: it is left to the slow way.
    Slowly,
}

impl Device {
    /// Whether binds have to be followed: something may conflict that pipelines join, or a pipeline reads samplers of the layer's own.
    #[inline(always)]
    pub fn follows_binds(&self) -> bool {
        match self.hot.follow.load(Ordering::Acquire) {
            follow::NONE => false,
            follow::LINKED => self.hot.gate.must_look(),
            _ => true,
        }
    }

    /// What is followed, and the state of a command buffer that was begun meanwhile.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer while the references are used.
    #[inline(always)]
    unsafe fn followed(&self, commands: vk::CommandBuffer) -> Option<(&Separate, &CommandBuffer)> {
        let separate = self.separate.as_deref().filter(|separate| !separate.force.any())?;
        // SAFETY: the command buffer is valid while the references are used, by this function's contract, so it is not freed meanwhile.
        Some((separate, unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) }?))
    }

    /// Whether a pipeline needs nothing but what is bound with it, as far as that is seen without a look at what was found out.
    #[inline(always)]
    fn needs_nothing(&self, program: &Program, point: &Point) -> bool {
        if program.splits.mask() != 0 {
            return false;
        }
        let is_legal = || point.is_legal_at_all() || program.linked.is_some_and(|linked| point.is_legal(linked));
        program.is_plain() || (!self.records_all() && is_legal())
    }

    /// A bind point at which nothing of the layer's own is bound and nothing that is bound conflicts.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer, and the caller a leaf that works on it, see [`CommandBuffer::glance`].
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "of a command buffer, which the application has to itself")]
    unsafe fn quiet(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
    ) -> Option<(&Separate, &mut Point)> {
        // SAFETY: the command buffer is valid by this function's contract.
        let (separate, buffer) = unsafe { self.followed(commands) }?;
        // SAFETY: the caller is such a leaf.
        let point = unsafe { buffer.glance(point.as_raw() as u32 as usize) }?;
        if point.quiet_at == separate.moves() { Some((separate, point)) } else { None }
    }

    /// Takes over the bind of a pipeline at a bind point where any goes down as it is. Whether it did.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_pipeline`].
    #[inline(always)]
    pub unsafe fn pass_pipeline(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> bool {
        // SAFETY: the command buffer is recording, by this function's contract, and nothing is called but what looks up a pipeline.
        let Some((separate, point)) = (unsafe { self.quiet(commands, point) }) else { return false };
        if self.hot.follow.load(Ordering::Acquire) != follow::LINKED {
            // SAFETY: the pipeline is valid by this function's contract, so it is not destroyed and its entry stays meanwhile.
            let program = unsafe { separate.programs.get(pipeline.as_raw()) };
            if program.is_none_or(|program| program.splits.mask() != 0) {
                return false;
            }
        }
        (point.given, point.pipeline) = (pipeline.as_raw(), pipeline.as_raw());
        true
    }

    /// Takes over the bind of sets without dynamic offsets, as long as nothing is to be done for them. Whether it did.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_sets`].
    #[inline(always)]
    pub unsafe fn pass_sets(
        &self,
        (commands, point): (vk::CommandBuffer, vk::PipelineBindPoint),
        layout: vk::PipelineLayout,
        first: u32,
        sets: &[vk::DescriptorSet],
    ) -> bool {
        // SAFETY: the command buffer is recording, by this function's contract, and nothing is called but what looks up a set.
        let Some((separate, point)) = (unsafe { self.quiet(commands, point) }) else { return false };
        // SAFETY: the sets are valid by this function's contract.
        point.holds(layout, first, sets) || unsafe { self.pass_other_sets(separate, point, layout, first, sets) }
    }

    /// [`Device::pass_sets`] for others than are bound.
    ///
    /// # Safety
    ///
    /// The sets are valid.
    #[cold]
    #[inline(never)]
    unsafe fn pass_other_sets(
        &self,
        separate: &Separate,
        point: &mut Point,
        layout: vk::PipelineLayout,
        first: u32,
        sets: &[vk::DescriptorSet],
    ) -> bool {
        let (first, mut all) = (first as usize, point.summary);
        let range = first..first.saturating_add(sets.len());
        let (true, Some(bound), Some(held)) =
            (point.last.handle == layout.as_raw(), point.sets.get_mut(range.clone()), point.held.get_mut(range))
        else {
            return false;
        };
        for ((bound, held), set) in bound.iter_mut().zip(held).zip(sets) {
            let set = set.as_raw();
            // A set that is bound stays what it is until the command buffer is of no use any more (Command Buffer Lifecycle).
            if *held == set {
                continue;
            }
            // SAFETY: the set is one of valid ones by this function's contract, so it is not freed meanwhile.
            let brief = match unsafe { separate.sets.get(set) } {
                Some(entry) => entry.known_brief(),
                None => Some(Brief::EMPTY),
            };
            // Not exactly the sum: what was bound before at this number counts still, until a bind goes the longer way.
            all |= brief.map_or(0, |brief| brief.summary);
            let (true, Some(brief), 0) = (*held != UNHELD, brief, (all & (all >> 32)) as u32) else {
                point.add_up();
                return false;
            };
            (bound.set, bound.actual, bound.brief) = (set, set, brief);
            *held = set;
        }
        point.summary = all;
        true
    }

    /// Takes over the bind of a pipeline, if a leaf can: the one to bind.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, `pipeline` a valid pipeline.
    #[inline(always)]
    pub unsafe fn follow_pipeline(
        &self,
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    ) -> Option<vk::Pipeline> {
        let Some(at) = index(point) else { return Some(pipeline) };
        // SAFETY: the command buffer is recording, by this function's contract.
        let (separate, buffer) = unsafe { self.followed(commands) }?;
        // SAFETY: the pipeline is valid by this function's contract, so it is not destroyed and its entry stays meanwhile.
        let program = unsafe { separate.programs.get(pipeline.as_raw()) }?;
        let followed = buffer.leaf(at, |point| {
            if !point.shaders.is_empty() || point.time != separate.resolutions.time() {
                return None;
            }
            point.refresh(separate, &self.hot.gate);
            Some(self.take_pipeline(separate, program, point))
        });
        followed.flatten().map(vk::Pipeline::from_raw)
    }

    /// Takes over the bind of a pipeline. Returns the one to bind.
    #[inline(always)]
    pub(super) fn take_pipeline(&self, separate: &Separate, program: &Program, point: &mut Point) -> u64 {
        let wanted = self.foresee(separate, program, point, 0..0);
        point.differs |= wanted != program.handle;
        (point.given, point.pipeline) = (program.handle, wanted);
        wanted
    }

    /// Takes over the bind of sets, if a leaf can.
    ///
    /// # Safety
    ///
    /// `commands` is a valid command buffer in the recording state, the sets and the layout are valid.
    #[inline(always)]
    pub unsafe fn follow_sets(
        &self,
        (commands, point): (vk::CommandBuffer, vk::PipelineBindPoint),
        layout: vk::PipelineLayout,
        first: u32,
        sets: &[vk::DescriptorSet],
        (offset_count, offsets): (u32, *const u32),
    ) -> Follow {
        let Some(at) = index(point) else { return Follow::Down };
        // SAFETY: the command buffer is recording, by this function's contract.
        let Some((separate, buffer)) = (unsafe { self.followed(commands) }) else { return Follow::Slowly };
        let first = first as usize;
        let followed = buffer.leaf(at, |point| {
            if point.time != separate.resolutions.time() {
                return Follow::Slowly;
            }
            // SAFETY: the sets and the layout are valid by this function's contract, and there are as many offsets.
            let is_taken = unsafe {
                self.follow_each(separate, point, layout, first, sets)
                    && (offset_count == 0
                        || point.take_offsets(first..first + sets.len(), slice(offsets, offset_count)))
            };
            if !is_taken {
                return Follow::Slowly;
            }
            self.follow_program(separate, point, first..first + sets.len())
        });
        followed.unwrap_or(Follow::Slowly)
    }

    /// The sets to bind for some that were taken over.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_sets`].
    pub unsafe fn followed_sets(
        &self,
        separate: &Separate,
        commands: vk::CommandBuffer,
        binds: &Binds<'_>,
    ) -> Option<Few> {
        // SAFETY: the command buffer is valid by this function's contract, so it is not freed meanwhile.
        let buffer = unsafe { separate.commands.buffers.get_in_line(commands.as_raw()) }?;
        buffer.read(index(binds.point)?, |point| point.actual_few(binds.first as usize))
    }

    /// What sets that were taken over come to with the pipeline.
    #[inline(never)]
    pub(super) fn follow_program(&self, separate: &Separate, point: &mut Point, binds: Range<usize>) -> Follow {
        point.refresh(separate, &self.hot.gate);
        let held = if point.given == 0 { point.program.take() } else { None };
        // SAFETY: destroying it would have invalidated the command buffer that it is bound in (Command Buffer Lifecycle).
        let given = unsafe { separate.programs.get(point.given) };
        match held.as_deref().or(given) {
            Some(program) => {
                let wanted = self.foresee(separate, program, point, binds.clone());
                if wanted != point.pipeline {
                    self.leave(point);
                }
                point.differs |= point.pipeline != program.own_pipeline();
            }
            None if point.differs => self.leave(point),
            None => {}
        }
        if held.is_some() {
            point.program = held;
        }
        let bound = point.sets.get(binds).unwrap_or(&[]);
        if bound.iter().any(|bound| bound.actual != bound.set) { Follow::Others } else { Follow::Down }
    }

    /// Leaves what is to be bound to the next draw.
    #[inline(always)]
    pub(super) fn leave(&self, point: &mut Point) {
        point.is_left = true;
        if !self.leaves_binds() {
            self.hot.leaves_binds.store(true, Ordering::Relaxed);
        }
    }

    /// Whether anything was ever left to be bound right before a draw.
    #[inline(always)]
    pub fn leaves_binds(&self) -> bool {
        // A command buffer is recorded by one thread at a time, which sees what it has left.
        self.hot.leaves_binds.load(Ordering::Relaxed)
    }

    /// The pipeline that is needed with the sets that are bound, as far as that is known, and puts in force what is known for the sets of the
    /// numbers in `binds`, which are about to be bound. What else is to be bound or found out is left.
    #[inline(always)]
    fn foresee(&self, separate: &Separate, program: &Program, point: &mut Point, binds: Range<usize>) -> u64 {
        let is_legal = self.needs_nothing(program, point) && !separate.force.any();
        if !point.differs && is_legal {
            point.is_left = false;
            return program.own_pipeline();
        }
        self.foresee_conflict(separate, (program, is_legal), point, binds)
    }

    /// [`Device::foresee`] where something conflicts, or something of the layer's own is bound.
    #[inline(never)]
    fn foresee_conflict(
        &self,
        separate: &Separate,
        (program, is_legal): (&Program, bool),
        point: &mut Point,
        binds: Range<usize>,
    ) -> u64 {
        let is_closed = point.feeds_back || point.has_pushes || program.is_of_shaders();
        if !is_closed && let Some(wanted) = self.look_up(separate, (program, is_legal), point, binds) {
            return wanted;
        }
        self.leave(point);
        // What is split stays split.
        let second = if is_closed { 0 } else { program.splits.current_pipeline() };
        if second == 0 { program.own_pipeline() } else { second }
    }

    /// Looks up what was found out for a pipeline and what is in its sets, unless that is seen to be legal, and puts it in force. Returns
    /// the pipeline that is needed; none if nothing was found.
    #[inline(always)]
    fn look_up(
        &self,
        separate: &Separate,
        (program, is_legal): (&Program, bool),
        point: &mut Point,
        binds: Range<usize>,
    ) -> Option<u64> {
        if !is_legal {
            let key = Key::of(program, point).filter(|_| !separate.force.any())?;
            if program.splits.mask() != 0 || !separate.resolutions.is_nothing(&key) {
                let found = point.found.take(&separate.resolutions, &key).or_else(|| point.borrow(separate, &key))?;
                return Some(self.put_in_force(program, point, found, binds));
            }
        }
        point.is_left = false;
        if point.sets.iter().any(|bound| bound.actual != bound.set) {
            self.leave(point);
        } else {
            point.differs = false;
        }
        Some(program.own_pipeline())
    }

    /// Takes over what was found out. Returns the pipeline that is needed.
    #[inline(always)]
    fn put_in_force(&self, program: &Program, point: &mut Point, found: Arc<Resolution>, binds: Range<usize>) -> u64 {
        let (mut differs, mut is_all) = (found.second.is_some(), true);
        for (number, bound) in point.sets.iter_mut().enumerate() {
            let shadow = found.shadows.iter().find(|(at, _)| *at == number);
            let wanted = shadow.map_or(bound.set, |(_, shadow)| *shadow);
            if binds.contains(&number) {
                bound.actual = wanted;
            }
            is_all &= bound.actual == wanted;
            differs |= bound.actual != bound.set;
        }
        let mut wanted = program.own_pipeline();
        if let Some((second, set)) = &found.second {
            is_all &= *set == 0 || point.hidden.as_ref().is_some_and(|hidden| hidden.is_of(second, *set));
            wanted = second.pipeline();
        }
        (point.differs, point.is_left) = (differs, false);
        if !is_all {
            self.leave(point);
        }
        point.found.put_back(found);
        wanted
    }

    /// Takes over each of the sets of a bind, from number `first` on.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_sets`].
    #[inline(always)]
    unsafe fn follow_each(
        &self,
        separate: &Separate,
        point: &mut Point,
        layout: vk::PipelineLayout,
        first: usize,
        sets: &[vk::DescriptorSet],
    ) -> bool {
        let end = first + sets.len();
        // Numbers that have a bit, and sets that others are bound for without an allocation.
        if end > point.sets.len().min(u32::BITS as usize) || sets.len().wrapping_sub(1) >= FEW {
            return sets.is_empty();
        }
        let numbers = (u32::MAX >> (u32::BITS as usize - sets.len())) << first;
        let is_same = point.last.handle == layout.as_raw() && point.last.gone == separate.layouts_gone();
        // Then nothing is disturbed: what else is bound was compatible when the later of both was.
        let stays = is_same && numbers & !point.with_last == 0 && end <= point.hidden_from;
        // SAFETY: the layout is valid by this function's contract.
        if !stays && !unsafe { self.follow_layout(separate, point, layout, first..end) } {
            return false;
        }
        let Some(range) = point.sets.get_mut(first..end) else { return false };
        let mut is_other = false;
        for (bound, set) in range.iter_mut().zip(sets) {
            let set = set.as_raw();
            // A set that is bound stays what it is until the command buffer is of no use any more (Command Buffer Lifecycle), but for
            // those that are looked at again for each bind.
            if bound.set == set && set != 0 {
                bound.hold_again();
                continue;
            }
            // SAFETY: the set is one of valid ones by this function's contract, so it is not freed meanwhile.
            let entry = unsafe { separate.sets.get(set) };
            let brief = entry.map_or(Brief::EMPTY, |entry| entry.brief(&self.hot.gate));
            point.has_loose |= brief.is_loose;
            bound.hold(set, brief);
            is_other = true;
        }
        if is_other {
            point.add_up();
        }
        true
    }

    /// Takes over the layout of a bind that is not the one of the last bind, or was not that of all that is bound.
    ///
    /// # Safety
    ///
    /// As for [`Device::follow_sets`].
    #[inline(never)]
    unsafe fn follow_layout(
        &self,
        separate: &Separate,
        point: &mut Point,
        layout: vk::PipelineLayout,
        numbers: Range<usize>,
    ) -> bool {
        let (handle, gone) = (layout.as_raw(), separate.layouts_gone());
        // SAFETY: the layout is valid by this function's contract, so it is not destroyed meanwhile.
        let Some(layout) = (unsafe { separate.layout_at(layout) }) else { return false };
        let at = std::ptr::from_ref(layout);
        point.disturb(layout, numbers.start, numbers.end - 1);
        if !point.sets.get_mut(numbers).is_some_and(|sets| sets.iter_mut().all(|bound| bound.is_with(at))) {
            return false;
        }
        point.last = LastLayout { handle, at: at.addr(), gone };
        point.sum_up();
        true
    }
}

impl Point {
    /// Whether these sets are what is [held](Point::held), at a point that is quiet: no pipeline layout has gone since.
    #[inline(always)]
    fn holds(&self, layout: vk::PipelineLayout, first: u32, sets: &[vk::DescriptorSet]) -> bool {
        let first = first as usize;
        let held = first.checked_add(sets.len()).and_then(|end| self.held.get(first..end));
        let Some(held) = held.filter(|_| self.last.handle == layout.as_raw()) else { return false };
        held.iter().zip(sets).all(|(held, set)| *held == set.as_raw())
    }

    /// What was found out in another command buffer, or before this one was begun again: the one thing that a leaf locks for, once for a
    /// key. The first time for a command buffer goes the slow way, which makes room for what is found.
    #[cold]
    #[inline(never)]
    fn borrow(&self, separate: &Separate, key: &Key) -> Option<Arc<Resolution>> {
        if self.found.has_room(&separate.resolutions) { separate.resolutions.get(key) } else { None }
    }

    /// Takes over the dynamic offsets of sets that were taken over, if there is room for them.
    #[inline(never)]
    fn take_offsets(&mut self, binds: Range<usize>, mut offsets: &[u32]) -> bool {
        for (number, bound) in binds.clone().zip(self.sets.get_mut(binds).unwrap_or(&mut [])) {
            let count = bound.layout.as_ref().map_or(0, |layout| layout.dynamic(number)).min(offsets.len());
            let (own, rest) = offsets.split_at(count);
            offsets = rest;
            if bound.offsets.capacity() < count {
                return false;
            }
            bound.offsets.extend_from_slice(own);
            bound.has_more = true;
        }
        true
    }
}
