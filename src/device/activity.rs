//! What is submitted, with `pulse=on`: draws by command buffer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;
use samplin_platform as platform;

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

#[derive(Default)]
struct Counts {
    recorded: FastMap<u64, Draws>,
    submitted: Draws,
}

/// The draws of a device.
#[derive(Default)]
pub struct Activity {
    counts: Mutex<Counts>,
    /// When the last record was written.
    written: AtomicU64,
}

impl Activity {
    /// A command buffer is begun.
    pub fn begin(&self, commands: vk::CommandBuffer) {
        let mut counts = lock(&self.counts);
        if counts.recorded.len() >= MOST {
            counts.recorded.clear();
        }
        counts.recorded.with_room().insert(commands.as_raw(), Draws::default());
    }

    /// A draw is recorded.
    pub fn draw(&self, commands: vk::CommandBuffer, is_repaired: bool) {
        if let Some(own) = lock(&self.counts).recorded.get_mut(&commands.as_raw()) {
            own.add(Draws { all: 1, repaired: is_repaired.into() });
        }
    }

    /// A command buffer executes others.
    pub fn execute(&self, commands: vk::CommandBuffer, secondaries: &[vk::CommandBuffer]) {
        let mut counts = lock(&self.counts);
        for secondary in secondaries {
            let Some(draws) = counts.recorded.get(&secondary.as_raw()).copied() else { continue };
            if let Some(own) = counts.recorded.get_mut(&commands.as_raw()) {
                own.add(draws);
            }
        }
    }

    /// A command buffer is submitted.
    pub fn submit(&self, commands: vk::CommandBuffer) {
        let mut counts = lock(&self.counts);
        if let Some(draws) = counts.recorded.get(&commands.as_raw()).copied() {
            counts.submitted.add(draws);
        }
    }

    /// How many command buffers are known.
    pub(super) fn remembered(&self) -> usize {
        lock(&self.counts).recorded.len()
    }

    /// Draws that were submitted, and those of them that were repaired, if it is time for a record and nobody else writes it.
    pub(super) fn due(&self) -> Option<[u64; 2]> {
        let (now, last) = (platform::now_ns(), self.written.load(Ordering::Relaxed));
        let is_due = now.wrapping_sub(last) >= PAUSE
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
        activity.draw(first, true);
        activity.submit(first);
        assert_eq!(submitted(), (0, 0), "it was begun before anybody counted");
        activity.begin(first);
        activity.begin(second);
        activity.draw(first, true);
        activity.draw(second, false);
        activity.draw(second, true);
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
