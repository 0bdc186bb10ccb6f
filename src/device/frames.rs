//! Which frame it is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts frames: presents, or from the first frame boundary on these alone (VK_EXT_frame_boundary).
#[derive(Default)]
pub struct Frames {
    count: AtomicU64,
    has_boundaries: AtomicBool,
}

impl Frames {
    /// How many frames have ended.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Notes a present, or a submission that may end a frame.
    pub fn end(&self, is_present: bool, is_boundary: bool) {
        if is_boundary {
            self.has_boundaries.store(true, Ordering::Relaxed);
        }
        if is_boundary || is_present && !self.has_boundaries.load(Ordering::Relaxed) {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_count_in_place_of_presents() {
        let frames = Frames::default();
        let counted = |presents: &[(bool, bool)]| {
            presents.iter().for_each(|(is_present, is_boundary)| frames.end(*is_present, *is_boundary));
            frames.count()
        };
        assert_eq!(counted(&[]), 0);
        assert_eq!(counted(&[(false, false), (true, false), (true, false)]), 2);
        assert_eq!(counted(&[(false, true), (true, false)]), 3, "that present ends no frame of its own");
        assert_eq!(counted(&[(true, true)]), 4);
    }
}
