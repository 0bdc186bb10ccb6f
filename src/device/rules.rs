//! The overrides in force. Those that follow what is rendered, or the rules file (`live=on`), are others when that changes.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use samplin_core::quirk::Quirks;
use samplin_hot::memory;
use samplin_platform as platform;
use samplin_wire::kinds;

use super::journal::Journal;
use super::separate::Reissued;
use crate::overrides::{Host, Overrides, Rendered, ScaleBy};
use crate::settings::Problem;
use crate::table::lock;

/// Nanoseconds from one look at the rules file to the next.
const PAUSE: u64 = 250_000_000;

/// Where overrides come from.
#[derive(Debug, Default)]
pub struct RulesSource {
    /// The setting `config`.
    pub setting: Option<String>,
    /// Name of the executable.
    pub exe: String,
    /// Name of the application.
    pub app: String,
    /// Name of the engine.
    pub engine: String,
    /// Name of the device.
    pub driver: String,
    /// What its driver does otherwise.
    pub quirks: Quirks,
}

impl RulesSource {
    /// What is in the file now.
    fn read(&self) -> (Overrides, Vec<Problem>) {
        let (found, problems) = Overrides::find(self.setting.as_deref(), &self.exe);
        let host = Host { exe: &self.exe, app: &self.app, engine: &self.engine };
        (found.for_host(&host).for_device(&self.driver, self.quirks), problems)
    }

    /// What changes with the file.
    fn stamp(&self) -> Option<(u128, u64)> {
        platform::stamp(&Overrides::path_of(self.setting.as_deref(), &self.exe)?)
    }
}

/// The overrides of a device.
pub(super) struct Rules {
    /// Those of its creation, which stay unless others follow.
    fixed: Overrides,
    followed: Option<Box<Followed>>,
}

/// Overrides that may change.
struct Followed {
    now: Mutex<Arc<Overrides>>,
    /// Held while overrides change, and while a sampler is created by those in force.
    state: Mutex<State>,
    source: Option<RulesSource>,
    /// When the file was last looked at.
    looked: AtomicU64,
}

/// What overrides follow from.
pub(super) struct State {
    /// Those of the file.
    file: Overrides,
    stamp: Option<(u128, u64)>,
    /// What the application is known to render.
    rendered: Rendered,
    /// How often others came into force.
    generation: u64,
}

impl State {
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }
}

/// No others come into force meanwhile.
pub(super) type Turn<'a> = MutexGuard<'a, State>;

/// Other overrides have come into force.
pub(super) struct Change<'a> {
    _turn: Turn<'a>,
    pub(super) generation: u64,
    /// What was in force before.
    pub(super) before: Arc<Overrides>,
}

/// The overrides of one decision.
pub enum InForce<'a> {
    /// They never change.
    Fixed(&'a Overrides),
    /// They stay until the last decision that began with them is made.
    Shared(Arc<Overrides>),
}

impl Deref for InForce<'_> {
    type Target = Overrides;

    fn deref(&self) -> &Overrides {
        match self {
            Self::Fixed(overrides) => overrides,
            Self::Shared(overrides) => overrides,
        }
    }
}

impl Followed {
    /// Puts what follows from the state into force.
    fn renew<'a>(&self, mut turn: Turn<'a>) -> Option<Change<'a>> {
        let fresh = turn.file.rendered(turn.rendered);
        let before = Arc::clone(&lock(&self.now));
        if fresh.do_the_same(&before) {
            return None;
        }
        *lock(&self.now) = Arc::new(fresh);
        turn.generation += 1;
        Some(Change { generation: turn.generation, _turn: turn, before })
    }
}

impl Rules {
    /// These, which follow the file if there is a `source`.
    pub(super) fn new(overrides: Overrides, source: Option<RulesSource>) -> Self {
        let followed = (source.is_some() || overrides.follow_render()).then(|| {
            let stamp = source.as_ref().and_then(RulesSource::stamp);
            let state = State { file: overrides.clone(), stamp, rendered: Rendered::default(), generation: 0 };
            let now = Mutex::new(Arc::new(overrides.clone()));
            Box::new(Followed { now, state: Mutex::new(state), source, looked: AtomicU64::new(0) })
        });
        Self { fixed: overrides, followed }
    }

    pub(super) fn in_force(&self) -> InForce<'_> {
        match &self.followed {
            None => InForce::Fixed(&self.fixed),
            Some(followed) => InForce::Shared(Arc::clone(&lock(&followed.now))),
        }
    }

    /// Whether others may come into force.
    pub(super) fn may_change(&self) -> bool {
        self.followed.is_some()
    }

    /// Whether the file is followed.
    pub(super) fn are_live(&self) -> bool {
        self.followed.as_ref().is_some_and(|followed| followed.source.is_some())
    }

    /// Keeps others from coming into force, if they may.
    #[inline(always)]
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        self.followed.as_ref().map(|followed| lock(&followed.state))
    }

    /// Another width and height is rendered.
    pub(super) fn render(&self, extent: [u32; 2]) -> Option<Change<'_>> {
        let followed = self.followed.as_ref()?;
        let mut turn = lock(&followed.state);
        turn.rendered = Rendered { swapchain: Some(extent), observed: None };
        followed.renew(turn)
    }

    /// The application is seen to scale up what has this width and height, or nothing any more.
    pub(super) fn observe(&self, observed: Option<[u32; 2]>) -> Option<(Change<'_>, Rendered)> {
        let followed = self.followed.as_ref()?;
        let mut turn = lock(&followed.state);
        turn.rendered.observed = observed;
        let rendered = turn.rendered;
        Some((followed.renew(turn)?, rendered))
    }

    /// Whether it is time to look at the file, and nobody else does.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        let Some(followed) = self.followed.as_ref().filter(|followed| followed.source.is_some()) else { return false };
        let (now, last) = (platform::now_ns(), followed.looked.load(Ordering::Relaxed));
        now.wrapping_sub(last) >= PAUSE
            && followed.looked.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Reads the file if it is another one than before. One with mistakes changes nothing, and `report` gets these.
    pub(super) fn read_again(&self, report: impl FnOnce(&[Problem])) -> Option<Change<'_>> {
        let followed = self.followed.as_ref()?;
        let source = followed.source.as_ref()?;
        let mut turn = lock(&followed.state);
        let stamp = source.stamp();
        if std::mem::replace(&mut turn.stamp, stamp) == stamp {
            return None;
        }
        let (file, problems) = source.read();
        if !problems.is_empty() {
            report(&problems);
            return None;
        }
        turn.file = file;
        followed.renew(turn)
    }
}

impl Journal {
    /// Writes a `scale` record for each override whose LOD bias is a constant, or follows what is rendered in the way that `is_it` says.
    pub fn record_scales(
        &self,
        rules: &Overrides,
        rendered: Rendered,
        is_it: fn(ScaleBy) -> bool,
        seen: Option<kinds::Observed>,
    ) {
        if !self.records_decisions() {
            return;
        }
        for (one, scale) in rules.scaled().filter(|(_, scale)| is_it(scale.by)) {
            // Nothing is scaled up any more.
            let none = seen.is_some().then_some((1.0, 0.0));
            let Some((ratio, bias)) = scale.ratio(rendered).zip(scale.bias(rendered)).or(none) else { continue };
            let (output, rendered) = match scale.by {
                ScaleBy::Output(output) => (Some(output), rendered.swapchain),
                ScaleBy::Auto => (rendered.swapchain, rendered.observed.or(rendered.swapchain)),
                ScaleBy::Fixed(_) => (None, None),
            };
            let (offset, strength) = (scale.offset, scale.strength);
            let rule = one.name.clone();
            let record = kinds::Scale { rule, output, rendered, scale: ratio, offset, strength, bias, observed: seen };
            self.trace().emit("scale", &record);
        }
    }

    /// Writes the `settings` records of a rules file that was read again.
    pub(super) fn record_problems(&self, problems: &[Problem]) {
        problems.iter().for_each(|problem| self.trace().emit("settings", problem));
    }

    /// Writes a `retune` record.
    pub(super) fn record_retune(&self, change: &Change<'_>, now: &Overrides, states: u32, done: Reissued) {
        if self.records_decisions() {
            let rules = memory::collect(now.news(&change.before).map(str::to_owned));
            let gone = memory::collect(change.before.news(now).map(str::to_owned));
            let (reissued, kept) = (done.written, done.kept());
            self.trace()
                .emit("retune", &kinds::Retune { generation: change.generation, rules, gone, states, reissued, kept });
        }
    }

    /// Writes another `retune` record of rules that are in force, for descriptors that were written again since.
    pub(super) fn record_reissued(&self, generation: u64, done: Reissued) {
        if self.records_decisions() {
            let (reissued, kept) = (done.written, done.kept());
            let (rules, gone, states) = (Vec::new(), Vec::new(), 0);
            self.trace().emit("retune", &kinds::Retune { generation, rules, gone, states, reissued, kept });
        }
    }
}
