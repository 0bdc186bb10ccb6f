//! What is submitted, with `pulse=on` or where rules follow render passes: draws by command buffer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;
use samplin_platform as platform;

use super::upscaled::{Extent, Passes, Seen, Upscaled};
use crate::table::{FastMap, lock};

/// Nanoseconds from one record to the next.
const PAUSE: u64 = 1_000_000_000;

/// Most command buffers whose draws are known. Those that are freed stay until there are so many.
pub(super) const MOST: usize = 1 << 16;

/// Draws of a command buffer or of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Draws {
    all: u64,
    repaired: u64,
}

impl Draws {
    fn add(&mut self, others: Self) {
        self.all += others.all;
        self.repaired += others.repaired;
    }
}

/// What was recorded to a command buffer.
#[derive(Default)]
struct Recorded {
    draws: Draws,
    passes: Passes,
}

#[derive(Default)]
struct Counts {
    recorded: FastMap<u64, Recorded>,
    submitted: Draws,
    /// What is scaled up, if rules follow that.
    upscaled: Option<Upscaled>,
}

/// The draws of a device.
#[derive(Default)]
pub struct Activity {
    counts: Mutex<Counts>,
    /// With `pulse=on`.
    pub is_recorded: bool,
    /// When the last record was written.
    written: AtomicU64,
}

impl Activity {
    /// `is_told`: with `pulse=on`; `follows_passes`: rules follow render passes.
    pub(super) fn new(is_recorded: bool, follows_passes: bool) -> Self {
        let counts = Counts { upscaled: follows_passes.then(Upscaled::default), ..Counts::default() };
        Self { counts: Mutex::new(counts), is_recorded, written: AtomicU64::default() }
    }

    /// There is another swapchain.
    pub(super) fn show(&self, extent: Extent) {
        if let Some(upscaled) = &mut lock(&self.counts).upscaled {
            upscaled.show(extent);
        }
    }

    /// A render pass begins, with this width and height if it has a depth attachment.
    pub fn begin_pass(&self, commands: vk::CommandBuffer, extent: Option<[u32; 2]>) {
        let counts = &mut *lock(&self.counts);
        if let Some(own) = counts.recorded.get_mut(&commands.as_raw()).filter(|_| counts.upscaled.is_some()) {
            own.passes.begin(extent);
        }
    }

    /// A frame has ended. What is scaled up since, if that is something else.
    pub(super) fn end_frame(&self) -> Option<Seen> {
        lock(&self.counts).upscaled.as_mut()?.end_frame(platform::now_ns())
    }

    /// A command buffer is begun.
    pub fn begin(&self, commands: vk::CommandBuffer) {
        let mut counts = lock(&self.counts);
        if counts.recorded.len() >= MOST {
            counts.recorded.clear();
        }
        counts.recorded.with_room().insert(commands.as_raw(), Recorded::default());
    }

    /// A draw is recorded.
    pub fn draw(&self, commands: vk::CommandBuffer, is_graphics: bool, is_repaired: bool) {
        if let Some(own) = lock(&self.counts).recorded.get_mut(&commands.as_raw()) {
            own.draws.add(Draws { all: 1, repaired: is_repaired.into() });
            own.passes.draw(is_graphics.into());
        }
    }

    /// A command buffer executes others.
    pub fn execute(&self, commands: vk::CommandBuffer, secondaries: &[vk::CommandBuffer]) {
        let mut counts = lock(&self.counts);
        // None of them is the one that executes them.
        let Some(mut own) = counts.recorded.remove(&commands.as_raw()) else { return };
        for other in secondaries.iter().filter_map(|secondary| counts.recorded.get(&secondary.as_raw())) {
            own.draws.add(other.draws);
            own.passes.execute(&other.passes);
        }
        counts.recorded.with_room().insert(commands.as_raw(), own);
    }

    /// A command buffer is submitted.
    pub fn submit(&self, commands: vk::CommandBuffer) {
        let counts = &mut *lock(&self.counts);
        if let Some(own) = counts.recorded.get(&commands.as_raw()) {
            counts.submitted.add(own.draws);
            if let Some(upscaled) = &mut counts.upscaled {
                upscaled.submit(&own.passes);
            }
        }
    }

    /// How many command buffers are known.
    pub(super) fn remembered(&self) -> usize {
        lock(&self.counts).recorded.len()
    }

    /// Draws that were submitted, and those of them that were repaired, if it is time for a record and nobody else writes it.
    pub(super) fn due(&self) -> Option<[u64; 2]> {
        let (now, last) = (platform::now_ns(), self.written.load(Ordering::Relaxed));
        let is_due = self.is_recorded
            && now.wrapping_sub(last) >= PAUSE
            && self.written.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        is_due.then(|| {
            let Draws { all, repaired } = lock(&self.counts).submitted;
            [all, repaired]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_count_when_they_are_submitted() {
        let activity = Activity::default();
        let [first, second] = [1, 2].map(vk::CommandBuffer::from_raw);
        let submitted = || {
            let draws = lock(&activity.counts).submitted;
            (draws.all, draws.repaired)
        };
        activity.draw(first, true, true);
        activity.submit(first);
        assert_eq!(submitted(), (0, 0), "it was begun before anybody counted");
        activity.begin(first);
        activity.begin(second);
        activity.draw(first, true, true);
        activity.draw(second, true, false);
        activity.draw(second, true, true);
        activity.execute(first, &[second]);
        assert_eq!(submitted(), (0, 0));
        activity.submit(first);
        activity.submit(first);
        assert_eq!(submitted(), (6, 4));
        activity.begin(first);
        activity.submit(first);
        assert_eq!(submitted(), (6, 4), "what was recorded before is gone");
    }
}
