//! What is said of a device when it ends.

use ash::vk;
use samplin_core::left::Left;
use samplin_wire::kinds;
use samplin_wire::text::handle;

use super::ground::Ground;
use super::journal::PairParts;
use super::resolve::Pairs;
use crate::counters::Path;

impl Pairs {
    /// Names the pairs that no draw has decided about, as nobody draws any more.
    fn record_undecided(&self, ground: &Ground) {
        for (pair, unresolved, shared) in self.undecided.take() {
            if let Some(class) = self.images.class(pair.class) {
                let parts = PairParts { pair, shared: &shared, class };
                ground.journal.pair_unresolved(Left::Pair, unresolved, parts, None);
            }
        }
    }

    /// Writes the `summary` record. `separate`: what is said there of what only shaders join; `columns`: what its census says of arrays.
    pub fn summarize(&self, ground: &Ground, separate: Option<kinds::Separate>, columns: Option<u64>) {
        self.record_undecided(ground);
        let writes = Path::ALL.iter().map(|path| {
            let (seen, rewritten) = ground.hot.counters.sum(*path);
            (path.name().to_owned(), kinds::Writes { seen, rewritten })
        });
        let (variants, states, samplers) = (
            self.samplers.cache.variants(),
            self.samplers.rows(&ground.hot).states(),
            self.samplers.rows(&ground.hot).samplers(),
        );
        let driver_peak = samplers.peak;
        let samplers = self.samplers.shared.of_application(samplers);
        let (borders, asked_borders) =
            self.samplers.cache.with_borders(|borders| (borders.peak(), borders.asked_peak()));
        let (max_samplers, max_borders) =
            (ground.driver.caps.max_sampler_allocation_count, ground.driver.caps.max_custom_border_color_samplers);
        let summary = kinds::DeviceSummary {
            device: handle(vk::Handle::as_raw(ground.driver.handle)),
            samplers: kinds::Samplers {
                created: samplers.created,
                live: samplers.live.into(),
                peak: samplers.peak.into(),
                changed: 0,
                shared: self.samplers.shared.sharing(&ground.driver),
            },
            views: kinds::Views {
                created: self.images.views_created(&ground.hot),
                live: ground.hot.gate.views() as u64,
                classes: self.images.view_classes() as u64,
            },
            writes: writes.collect(),
            blits_rewritten: 0,
            changes: Default::default(),
            variants: kinds::Variants {
                live: variants.live.into(),
                peak: variants.peak.into(),
                created: variants.created,
            },
            census: kinds::Census {
                unique_states: kinds::Alive { live: states.live.into(), peak: states.peak.into() },
                headroom: kinds::Headroom {
                    samplers: max_samplers.saturating_sub(driver_peak + variants.peak),
                    custom_borders: max_borders.saturating_sub(borders),
                },
                limits: Some(kinds::Limits {
                    samplers: kinds::RequestedLimit {
                        asked: self.samplers.samplers_asked(samplers.peak),
                        limit: max_samplers,
                    },
                    custom_borders: kinds::RequestedLimit { asked: asked_borders, limit: max_borders },
                }),
                columns,
                heaps: self.heaps.summary(),
            },
            separate,
            passed_through: ground.is_broken(),
            dropped: 0,
            left_out: Default::default(),
        };
        ground.journal.record_summary(summary);
    }
}
