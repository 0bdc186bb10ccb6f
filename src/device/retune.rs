//! What follows when overrides change: which states they match now, and what was chosen for these.

use samplin_hot::memory;
use samplin_wire::kinds::Members;

use super::ground::Ground;
use super::resolve::Pairs;
use super::rules::Change;
use super::separate::Separate;

impl Pairs {
    /// A swapchain of this width and height is the newest.
    pub fn render(&self, ground: &Ground, separate: Option<&Separate>, extent: [u32; 2]) {
        if let Some(change) = ground.wishes.rules.render(extent) {
            self.retune(ground, separate, &change);
            ground.journal.record_scales(&ground.wishes.rules(), Some(extent));
        }
    }

    /// Something is submitted: a good time to look whether the rules file is another one, with `live=on`.
    #[inline]
    pub fn submit(&self, ground: &Ground, separate: Option<&Separate>) {
        if ground.wishes.rules.is_due() {
            ground.guard(|| self.read_rules(ground, separate), || ());
        }
    }

    #[cold]
    fn read_rules(&self, ground: &Ground, separate: Option<&Separate>) {
        if let Some(change) = ground.wishes.rules.read_again(|problems| ground.journal.record_problems(problems)) {
            self.retune(ground, separate, &change);
        }
    }

    /// Other overrides are in force.
    fn retune(&self, ground: &Ground, separate: Option<&Separate>, change: &Change<'_>) {
        let rules = ground.wishes.rules();
        let states = self.samplers.rows(&ground.hot).look_again(&mut |shared| {
            let old = (&*change.before, shared.overrides);
            let (overrides, is_other) = rules.match_again(old, &shared.kept.original, shared.fingerprint());
            (overrides, ground.wishes.needs(&ground.driver, &shared.kept, overrides), is_other)
        });
        let reissued = separate.map(|separate| separate.retune(ground, self)).unwrap_or_default();
        let kept = Members(memory::collect(
            [("update-after-bind".to_owned(), reissued.kept)].into_iter().filter(|(_, n)| *n > 0),
        ));
        ground.journal.record_retune(change, &rules, (states, reissued.written, kept));
    }
}
