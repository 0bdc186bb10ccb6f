//! What follows when overrides change: which states they match now, and what was chosen for these.

use super::ground::Ground;
use super::resolve::Pairs;
use crate::overrides::Overrides;

impl Pairs {
    /// A swapchain of this width and height is the newest.
    pub fn render(&self, ground: &Ground, extent: [u32; 2]) {
        if let Some((_turn, before)) = ground.wishes.rules.render(extent) {
            self.retune(ground, &before);
            ground.journal.record_scales(&ground.wishes.rules(), Some(extent));
        }
    }

    /// Other overrides than `before` are in force.
    fn retune(&self, ground: &Ground, before: &Overrides) {
        let rules = ground.wishes.rules();
        self.samplers.rows(&ground.hot).look_again(&mut |shared| {
            let old = (before, shared.overrides);
            let (overrides, is_other) = rules.match_again(old, &shared.kept.original, shared.fingerprint());
            (overrides, ground.wishes.needs(&ground.driver, &shared.kept, overrides), is_other)
        });
        if let Some(follower) = &ground.follower {
            follower.look_again(&ground.hot);
        }
    }
}
