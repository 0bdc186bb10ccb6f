//! Command buffers: what is bound at each of their bind points, see [`samplin_bind`].
//!
//! A command buffer is externally synchronised (Threading Behavior), so nothing here is locked.

use std::borrow::Borrow;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_bind::{Bound, Layout, Objects};
use samplin_hot::memory::Room;

use super::Separate;
use super::found::LastFound;
use super::layouts::PipelineShape;
use super::objects::Shader;
use super::programs::Program;
use super::progress::{Draw, Progress};
use super::sets::SetEntry;
use crate::device::live::{Live, Recording};
use crate::table::{FastMap, FastSet, HandleMap, lock};

/// How many bind points are followed.
pub(super) const POINTS: usize = 3;

const FOLLOWED: [vk::PipelineBindPoint; POINTS] =
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE, vk::PipelineBindPoint::RAY_TRACING_KHR];

/// Index of a bind point; none for one that is not followed.
#[inline(always)]
pub(super) fn index(point: vk::PipelineBindPoint) -> Option<usize> {
    FOLLOWED.iter().position(|followed| *followed == point)
}

/// The bind point with an index.
pub(super) fn bind_point(index: usize) -> vk::PipelineBindPoint {
    FOLLOWED.get(index).copied().unwrap_or_default()
}

/// What stands behind the handles of a command buffer.
pub(super) enum Followed {}

impl Objects for Followed {
    type Layout = PipelineShape;
    type Content = SetEntry;
    type Shader = Shader;
    type Program = Program;
}

impl Borrow<Layout> for PipelineShape {
    #[inline(always)]
    fn borrow(&self) -> &Layout {
        &self.binds
    }
}

pub(super) type BindPoint = samplin_bind::BindPoint<Followed>;

impl<'c> Recording<'c> {
    /// The pipeline that is bound there.
    #[inline(always)]
    pub(super) fn pipeline(self, point: &BindPoint) -> Live<'c, vk::Pipeline> {
        // SAFETY: destroying it would invalidate the command buffer (Command Buffer Lifecycle), which is recording.
        unsafe { Live::new(vk::Pipeline::from_raw(point.pipeline)) }
    }

    /// A set that is bound there.
    #[inline(always)]
    pub(super) fn set(self, bound: &Bound<Followed>) -> Live<'c, vk::DescriptorSet> {
        // SAFETY: freeing it would invalidate the command buffer (Command Buffer Lifecycle), which is recording.
        unsafe { Live::new(vk::DescriptorSet::from_raw(bound.set)) }
    }
}

/// A bind point, with what was found out for it.
#[derive(Default)]
pub(super) struct Place {
    pub(super) point: BindPoint,
    /// The draw that is looked at, for records.
    pub(super) draw: Draw,
    /// Shaders run that belong to no pipeline which is known (vkCmdBindPipelineShaderGroupNV).
    pub(super) is_unknown: bool,
    /// Descriptors of a type that is not known were pushed: nothing that disturbs them is bound, as nobody could push them again.
    pub(super) is_unpushable: bool,
    /// How many binds of sets were looked at where not all is known that is bound.
    pub(super) late_looks: u8,
    /// Resolutions that were found here.
    pub(super) found: LastFound,
    /// What the briefs of bound sets say held at this time, see [`Resolutions::time`].
    ///
    /// [`Resolutions::time`]: super::found::Resolutions::time
    pub(super) time: u64,
}

impl Place {
    /// Nothing is bound any more. What was found out stays: it does not depend on the recording.
    fn clear(&mut self) {
        self.point.clear();
        self.draw = Draw::default();
        (self.is_unknown, self.is_unpushable, self.late_looks) = (false, false, 0);
    }
}

/// What is bound in a command buffer.
#[derive(Default)]
pub(super) struct CommandBuffer {
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
    places: [Place; POINTS],
    /// It was begun when binds were followed, so that nothing is bound but what is known.
    is_whole: bool,
    progress: Progress,
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
        // Also when `with` unwinds: what is bound then gives way to the application's, see [`Separate::meet_draw`].
        let _turn = Turn(&self.is_taken);
        // SAFETY: no other reference is there: they end with this function, during which it counts as taken.
        Some(with(unsafe { &mut *self.inside.get() }))
    }

    /// Works on a bind point, which nobody else sees meanwhile: no lock is held, so `with` may call down. None if it cannot, or if not all
    /// is known that is bound.
    #[inline(always)]
    pub(super) fn edit<R>(&self, at: usize, with: impl FnOnce(&mut Place) -> R) -> Option<R> {
        self.inside(|inside| inside.places.get_mut(at).filter(|_| inside.is_whole).map(with)).flatten()
    }

    /// Whether what is bound has to be looked at.
    pub(super) fn is_dirty(&self, at: usize) -> bool {
        self.inside(|inside| inside.places.get(at).is_some_and(|place| place.point.is_dirty)).unwrap_or(false)
    }

    /// Counts a draw that is recorded next, and says whether what is bound has to be looked at for it.
    #[inline(always)]
    pub(super) fn count_draw(&self, at: usize) -> bool {
        let count = |inside: &mut Inside| {
            inside.progress.count();
            inside.places.get(at).is_some_and(|place| place.point.is_dirty)
        };
        self.inside(count).unwrap_or(false)
    }

    /// Takes note, for records, of the draw that was counted last.
    pub(super) fn note_draw(&self, at: usize) {
        self.inside(|inside| {
            if let Some(place) = inside.places.get_mut(at) {
                inside.progress.put_last(&mut place.draw);
            }
        });
    }

    /// Works on how far its recording has come.
    pub(super) fn at_progress(&self, with: impl FnOnce(&mut Progress)) {
        self.inside(|inside| with(&mut inside.progress));
    }

    /// [`CommandBuffer::edit`] where not all is known that is bound.
    pub(super) fn edit_late<R>(&self, at: usize, with: impl FnOnce(&mut Place) -> R) -> Option<R> {
        self.inside(|inside| inside.places.get_mut(at).filter(|_| !inside.is_whole).map(with)).flatten()
    }

    /// Nothing is bound in it any more. `begins`: it is being begun, and not in the middle of its commands.
    fn clear(&self, separate: &Separate, begins: bool) {
        self.inside(|inside| {
            inside.is_whole |= begins;
            if begins {
                inside.progress.begin();
            }
            for place in &mut inside.places {
                place.clear();
                if begins {
                    place.found.begin(&separate.resolutions);
                }
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

impl Separate {
    /// What is bound in a command buffer, made if there is none yet.
    pub(super) fn buffer<'c>(&'c self, commands: Live<'c, vk::CommandBuffer>) -> Option<&'c CommandBuffer> {
        let kept = commands.of_in_line(&self.commands.buffers);
        kept.or_else(|| {
            self.commands.buffers.insert(commands.as_raw(), Arc::default());
            commands.of(&self.commands.buffers)
        })
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
    pub fn clear_commands(&self, commands: Live<'_, vk::CommandBuffer>, begins: bool) {
        if let Some(buffer) = self.buffer(commands) {
            buffer.clear(self, begins);
        }
    }
}
