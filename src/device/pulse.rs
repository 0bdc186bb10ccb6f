//! The `pulse` records.

use ash::vk::Handle;
use samplin_wire::kinds;
use samplin_wire::text::handle;

use super::activity::Activity;
use super::ground::Ground;
use super::resolve::Pairs;

impl Pairs {
    /// Writes a `pulse` record if it is time for one. `copies`: those of sets, and places for samplers that shaders look up, if what only
    /// shaders join is followed.
    pub fn pulse(&self, ground: &Ground, activity: &Activity, copies: Option<[u64; 2]>) {
        if !ground.journal.records_decisions() {
            return;
        }
        let Some([draws, repaired]) = activity.due() else { return };
        let caps = &ground.driver.caps;
        let samplers = self.samplers.rows(&ground.hot).samplers().live + self.samplers.cache.variants().live;
        let borders = self.samplers.cache.with_borders(|borders| borders.taken());
        ground.journal.trace().emit(
            "pulse",
            &kinds::Pulse {
                device: handle(ground.driver.handle.as_raw()),
                frames: ground.journal.frames.count(),
                draws,
                repaired: copies.map(|_| repaired),
                headroom: kinds::Headroom {
                    samplers: caps.max_sampler_allocation_count.saturating_sub(samplers),
                    custom_borders: caps.max_custom_border_color_samplers.saturating_sub(borders),
                },
                copies: copies.map(|[copies, _]| copies),
                places: copies.map(|[_, places]| places),
            },
        );
    }
}
