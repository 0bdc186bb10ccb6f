//! The overrides in force. Those that follow what is rendered are others when that changes.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use samplin_wire::kinds;

use super::journal::Journal;
use crate::overrides::{Overrides, ScaleBy};
use crate::table::lock;

/// The overrides of a device.
pub(super) struct Rules {
    /// Those of its creation, which stay unless others follow.
    fixed: Overrides,
    followed: Option<Box<Followed>>,
}

/// Overrides that may change.
struct Followed {
    now: Mutex<Arc<Overrides>>,
    /// Width and height of the newest swapchain. Held while overrides change, and while a sampler is created by those in force.
    rendered: Mutex<Option<[u32; 2]>>,
}

/// No others come into force meanwhile.
pub(super) type Turn<'a> = MutexGuard<'a, Option<[u32; 2]>>;

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

impl Rules {
    pub(super) fn new(overrides: Overrides) -> Self {
        let followed = overrides.follow_render().then(|| {
            let now = Mutex::new(Arc::new(overrides.clone()));
            Box::new(Followed { now, rendered: Mutex::default() })
        });
        Self { fixed: overrides, followed }
    }

    pub(super) fn in_force(&self) -> InForce<'_> {
        match &self.followed {
            None => InForce::Fixed(&self.fixed),
            Some(followed) => InForce::Shared(Arc::clone(&lock(&followed.now))),
        }
    }

    /// Keeps others from coming into force, if they may.
    #[inline(always)]
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        self.followed.as_ref().map(|followed| lock(&followed.rendered))
    }

    /// Another width and height is rendered. What was in force before, if other overrides are now; no others come before the turn ends.
    pub(super) fn render(&self, extent: [u32; 2]) -> Option<(Turn<'_>, Arc<Overrides>)> {
        let followed = self.followed.as_ref()?;
        let mut turn = lock(&followed.rendered);
        if turn.replace(extent) == Some(extent) {
            return None;
        }
        let fresh = self.fixed.rendered(Some(extent));
        let before = Arc::clone(&lock(&followed.now));
        if fresh.do_the_same(&before) {
            return None;
        }
        *lock(&followed.now) = Arc::new(fresh);
        Some((turn, before))
    }
}

impl Journal {
    /// Writes a `scale` record for each override whose LOD bias follows a scale; `rendered`: width and height of the newest swapchain, for
    /// those that follow it, and none for all others.
    pub fn record_scales(&self, rules: &Overrides, rendered: Option<[u32; 2]>) {
        if !self.records_decisions() {
            return;
        }
        for (one, scale) in rules.scaled().filter(|(_, scale)| scale.follows() == rendered.is_some()) {
            let (Some(ratio), Some(bias)) = (scale.ratio(rendered), scale.bias(rendered)) else { continue };
            let output = match scale.by {
                ScaleBy::Output(output) => Some(output),
                ScaleBy::Fixed(_) => None,
            };
            let (offset, strength) = (scale.offset, scale.strength);
            let rule = one.name.clone();
            self.trace().emit("scale", &kinds::Scale { rule, output, rendered, scale: ratio, offset, strength, bias });
        }
    }
}
