//! What follows when overrides change: which states they match now, and what was chosen for these.

use samplin_core::left::Left;
use samplin_hot::memory::Room;
use samplin_wire::kinds::Observed;

use super::ground::Ground;
use super::live::Submitting;
use super::resolve::{On, Pairs};
use super::rules::Change;
use super::separate::{Reissued, Separate};
use super::upscaled::Seen;
use crate::overrides::{Overrides, Rendered, ScaleBy};
use crate::table::FastSet;

/// Why a descriptor with UPDATE_AFTER_BIND stays until a later submission.
const PENDING: &str = "pending";
/// What stays of rules about pipelines.
const PIPELINE: &str = "pipeline";

impl Pairs {
    /// A swapchain of this width and height is the newest.
    pub fn render(&self, ground: &Ground, separate: Option<&Separate>, extent: [u32; 2]) {
        if let Some(activity) = &self.activity {
            activity.show(extent);
        }
        if let Some(change) = ground.wishes.rules.render(extent) {
            self.retune(ground, separate, &change, None);
            let rendered = Rendered { swapchain: Some(extent), observed: None };
            let is_it = |by| matches!(by, ScaleBy::Output(_));
            ground.journal.record_scales(&ground.wishes.rules(), rendered, is_it, None);
        }
    }

    /// A frame has ended: a good time to look whether the application scales up what it renders.
    pub fn observe(&self, ground: &Ground, separate: Option<&Separate>) {
        let Some(Seen { extent, frames, draws }) = self.activity.as_ref().and_then(|activity| activity.end_frame())
        else {
            return;
        };
        if let Some((change, rendered)) = ground.wishes.rules.observe(extent) {
            self.retune(ground, separate, &change, None);
            let is_it = |by| by == ScaleBy::Auto;
            let seen = Some(Observed { frames, draws });
            ground.journal.record_scales(&ground.wishes.rules(), rendered, is_it, seen);
        }
    }

    /// Something is about to be submitted: a good time to look whether the rules file is another one, with `live=on`.
    #[inline]
    pub fn submit(&self, ground: &Ground, separate: Option<&Separate>, queue: Submitting<'_>) {
        let rules = &ground.wishes.rules;
        if !rules.may_change() {
            return;
        }
        if rules.is_due() {
            ground.guard(|| self.read_rules(ground, separate, queue), || ());
        }
        if self.submissions.is_due() {
            ground.guard(|| self.follow(ground, separate, queue), || ());
        }
        ground.guard(|| self.submissions.begin(queue), || ());
    }

    #[cold]
    fn read_rules(&self, ground: &Ground, separate: Option<&Separate>, queue: Submitting<'_>) {
        if let Some(change) = ground.wishes.rules.read_again(|problems| ground.journal.record_problems(problems)) {
            self.retune(ground, separate, &change, Some(queue));
        }
    }

    /// Other overrides are in force. `queue`: one that is about to be submitted to, if any is.
    fn retune(&self, ground: &Ground, separate: Option<&Separate>, change: &Change<'_>, queue: Option<Submitting<'_>>) {
        let rules = ground.wishes.rules();
        let mut others = FastSet::default();
        let states = self.samplers.rows(&ground.hot).look_again(&mut |shared| {
            let (overrides, is_other) =
                rules.match_again(&change.before, shared.overrides, &shared.kept.original, shared.fingerprint());
            if is_other {
                others.with_room().insert(shared.fingerprint());
            }
            (overrides, ground.wishes.needs(&ground.driver, &shared.kept, overrides), is_other)
        });
        let mut done = Reissued::default();
        if let Some(separate) = separate {
            separate.retune(ground);
            self.submissions.owe();
            done = self.write_again(ground, separate, queue);
            let stays = |sampler| self.is_fixed(ground, &rules, &others, sampler);
            done.keep(Left::ImmutableSampler.name(), separate.immutables(&stays));
            if !rules.same_for_pipelines(&change.before) {
                done.keep(PIPELINE, separate.pipelines());
            }
        }
        ground.journal.record_retune(change, &rules, states, done);
    }

    /// Whether an immutable sampler stays although rules ask for something else than before: its state is one of `others`, and no rule asks
    /// to exchange it as others are.
    fn is_fixed(&self, ground: &Ground, rules: &Overrides, others: &FastSet<u64>, sampler: u64) -> bool {
        let state = (ground.hot.gate.sampler(sampler) as u32).checked_sub(1);
        let shared = state.and_then(|state| self.samplers.rows(&ground.hot).state(state));
        shared.is_some_and(|shared| others.contains(&shared.fingerprint()) && !rules.demote(shared.overrides, None))
    }

    /// Descriptors may have to be written again since draws were recorded, or since something was pending.
    #[cold]
    fn follow(&self, ground: &Ground, separate: Option<&Separate>, queue: Submitting<'_>) {
        let Some(turn) = ground.wishes.rules.turn() else { return };
        let reissued = separate.map(|separate| self.write_again(ground, separate, Some(queue))).unwrap_or_default();
        if reissued.written > 0 {
            ground.journal.record_reissued(turn.generation(), reissued);
        }
    }

    /// Writes descriptors with UPDATE_AFTER_BIND again, as soon as nothing is pending. The caller keeps other threads from updating sets.
    fn write_again(&self, ground: &Ground, separate: &Separate, queue: Option<Submitting<'_>>) -> Reissued {
        let on = On { ground, pairs: self };
        let tries = self.submissions.take();
        let mut due = separate.write_again(on, false);
        if due.written == 0 {
            return due;
        }
        let write = |queue| self.submissions.if_idle(&ground.driver, queue, || separate.write_again(on, true));
        if let Some(done) = queue.and_then(write) {
            return done;
        }
        self.submissions.give_back(tries);
        let pending = std::mem::take(&mut due.written);
        due.keep(PENDING, pending);
        due
    }
}
