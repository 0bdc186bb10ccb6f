//! What an application renders and scales up to its swapchain, as far as its render passes tell (`scale = "auto"`).
//!
//! A pass with a depth attachment and many draws is taken for the scene. Of shadow maps, cubes and mirrors the aspect is another one. What
//! is not known is not touched: an extent has to be there in many frames before it counts.

use std::collections::VecDeque;

use samplin_hot::memory::{self, Room};

use crate::table::FastMap;

/// Most passes of a command buffer that are looked at.
const PASSES: usize = 256;
/// Least draws of a pass that counts.
const DRAWS: u64 = 64;
/// Frames with one extent, and frames whose median counts where there are several.
const STABLE: usize = 60;
const MEDIAN: usize = 120;
/// Most difference of aspects.
const ASPECT: f32 = 0.02;
/// Least scale; the greatest one at which something is scaled at all; the greatest one that is none.
const SCALES: [f32; 3] = [0.3, 0.98, 1.02];
/// Least change, in mip levels.
const CHANGE: f32 = 1.0 / 8.0;
/// Nanoseconds from one change to the next.
const PAUSE: u64 = 2_000_000_000;

/// Width and height.
pub(super) type Extent = [u32; 2];

/// Passes of a command buffer, and draws in them.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// Those with a depth attachment.
    all: Vec<(Extent, u64)>,
    /// The last one is the one that is recorded now.
    is_open: bool,
    /// Draws in passes of command buffers that execute this one.
    outside: u64,
}

impl Passes {
    /// A pass begins; none: one that does not count.
    pub(super) fn begin(&mut self, extent: Option<Extent>) {
        let extent = extent.filter(|_| self.all.len() < PASSES);
        self.is_open = extent.is_some();
        if let Some(extent) = extent {
            self.all.with_room().push((extent, 0));
        }
    }

    pub(super) fn draw(&mut self, draws: u64) {
        match self.all.last_mut().filter(|_| self.is_open) {
            Some((_, all)) => *all += draws,
            None => self.outside += draws,
        }
    }

    /// Another command buffer is executed.
    pub(super) fn execute(&mut self, other: &Self) {
        self.draw(other.outside);
        let is_open = self.is_open;
        let room = PASSES.saturating_sub(self.all.len());
        other.all.iter().take(room).for_each(|pass| self.all.with_room().push(*pass));
        self.is_open = is_open && other.all.is_empty();
    }
}

/// Another extent is scaled up than before, or none; and what tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) extent: Option<Extent>,
    pub(super) frames: u32,
    pub(super) draws: u64,
}

/// What is scaled up.
#[derive(Debug, Default)]
pub(super) struct Upscaled {
    /// Of the newest swapchain.
    screen: Option<Extent>,
    /// Draws of this frame, by extent.
    frame: FastMap<Extent, u64>,
    /// What each of the last frames has most draws in.
    recent: VecDeque<Extent>,
    /// What is scaled up as far as is known.
    now: Option<Extent>,
    /// When that changed.
    changed: Option<u64>,
}

fn scale([_, height]: Extent, [_, screen]: Extent) -> f32 {
    height as f32 / screen.max(1) as f32
}

impl Upscaled {
    /// There is another swapchain.
    pub(super) fn show(&mut self, screen: Extent) {
        *self = Self { screen: Some(screen), changed: self.changed, ..Self::default() };
    }

    /// A command buffer is submitted.
    pub(super) fn submit(&mut self, passes: &Passes) {
        for (extent, draws) in passes.all.iter().filter(|(_, draws)| *draws >= DRAWS) {
            *self.frame.with_room().entry(*extent).or_default() += draws;
        }
    }

    /// A frame has ended, at a time in nanoseconds. What is scaled up since, if that is something else.
    pub(super) fn end_frame(&mut self, time: u64) -> Option<Seen> {
        let screen = self.screen?;
        let most = self.frame.drain().max_by_key(|(extent, draws)| (*draws, *extent));
        let Some((extent, draws)) = most.filter(|(extent, _)| may_be_scene(*extent, screen)) else {
            self.recent.clear();
            return None;
        };
        if self.recent.len() >= MEDIAN {
            self.recent.pop_front();
        }
        self.recent.with_room().push_back(extent);
        let is_stable = self.recent.iter().rev().take(STABLE).filter(|own| **own == extent).count() == STABLE;
        let (extent, frames) = match self.recent.len() {
            _ if is_stable => (extent, STABLE),
            MEDIAN => (self.median(), MEDIAN),
            _ => return None,
        };
        let [_, scaled, _] = SCALES;
        let new = Some(extent).filter(|extent| scale(*extent, screen) <= scaled);
        let is_near =
            |old: Extent, new: Extent| (scale(old, screen).log2() - scale(new, screen).log2()).abs() <= CHANGE;
        let stays = match (self.now, new) {
            (Some(old), Some(new)) => is_near(old, new),
            (old, new) => old == new,
        };
        if stays || self.changed.is_some_and(|last| time.wrapping_sub(last) < PAUSE) {
            return None;
        }
        (self.now, self.changed) = (new, Some(time));
        Some(Seen { extent: new, frames: frames as u32, draws })
    }

    /// The extent of median height.
    fn median(&self) -> Extent {
        let all = memory::sorted_by_key(memory::collect(self.recent.iter().copied()), |[_, height]| *height);
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

/// Whether this may be what is shown on a screen, scaled up or as it is.
fn may_be_scene(extent: Extent, screen: Extent) -> bool {
    let aspect = |[width, height]: Extent| width as f32 / height.max(1) as f32;
    let [least, _, most] = SCALES;
    (aspect(extent) / aspect(screen) - 1.0).abs() <= ASPECT && (least..=most).contains(&scale(extent, screen))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Extent = [1920, 1080];
    const HALF: Extent = [960, 540];
    const FRAME: u64 = 16_000_000;

    fn passes(all: &[(Extent, u64)]) -> Passes {
        let mut passes = Passes::default();
        for (extent, draws) in all {
            passes.begin(Some(*extent));
            passes.draw(*draws);
        }
        passes
    }

    /// What is seen in so many frames of these passes, and in which of them. Time begins with the frame `from`.
    fn seen(of: &mut Upscaled, from: u64, frames: u64, all: impl Fn(u64) -> Vec<(Extent, u64)>) -> Vec<(u64, Seen)> {
        let frame = |at: u64| {
            of.submit(&passes(&all(at)));
            of.end_frame((from + at) * FRAME).map(|seen| (at, seen))
        };
        (0..frames).filter_map(frame).collect()
    }

    fn of_screen() -> Upscaled {
        let mut own = Upscaled::default();
        own.show(SCREEN);
        own
    }

    #[test]
    fn what_is_drawn_most_in_sixty_frames_is_the_scene() {
        let mut own = of_screen();
        let shadows = ([2048, 2048], 900);
        let all = seen(&mut own, 0, 100, |_| vec![(HALF, 100), ([480, 270], 70), (SCREEN, 63)]);
        assert_eq!(all, [(59, Seen { extent: Some(HALF), frames: 60, draws: 100 })]);
        assert_eq!(seen(&mut of_screen(), 0, 300, |_| vec![(HALF, 100), shadows]), []);
        // At full size nothing is scaled any more, at the earliest 2 seconds later.
        let all = seen(&mut own, 100, 200, |_| vec![(SCREEN, 100)]);
        assert_eq!(all, [(84, Seen { extent: None, frames: 60, draws: 100 })]);
    }

    #[test]
    fn what_is_not_known_is_not_touched() {
        for pass in
            [(HALF, 63), ([540, 960], 100), ([540, 540], 100), ([288, 162], 100), ([3840, 2160], 100), (SCREEN, 100)]
        {
            assert_eq!(seen(&mut of_screen(), 0, 300, |_| vec![pass]), [], "{pass:?}");
        }
        assert_eq!(seen(&mut Upscaled::default(), 0, 300, |_| vec![(HALF, 100)]), [], "there is no swapchain");
        let loading = |at| if at % 50 == 49 { vec![] } else { vec![(HALF, 100)] };
        assert_eq!(seen(&mut of_screen(), 0, 300, loading), []);
    }

    #[test]
    fn of_extents_that_alternate_the_median_counts() {
        let all = |at| vec![([[960, 540], [1280, 720], [1600, 900]][at as usize % 3], 100)];
        let found = seen(&mut of_screen(), 0, 600, all);
        assert_eq!(found, [(119, Seen { extent: Some([1280, 720]), frames: 120, draws: 100 })]);
    }

    #[test]
    fn draws_of_other_command_buffers_count_for_the_pass_that_executes_them() {
        let mut secondary = Passes::default();
        secondary.draw(64);
        let mut own = Passes::default();
        own.begin(Some(HALF));
        own.execute(&secondary);
        own.begin(None);
        own.draw(5);
        assert_eq!((own.all, own.outside), (vec![(HALF, 64)], 5));
    }
}
