//! What keeps a panic of the layer's own from the application: after the first one the device only forwards.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use ash::vk;
use samplin_core::left::{Cause, Left};
use samplin_hot::memory::OutOfMemory;

use super::ground::Ground;
use super::hot::follow;
use crate::memory;
use samplin_wire::kinds::Unresolved;
use serde_json::json;

impl Ground {
    /// Runs `body`; if it panics, now or at any time before, returns `fallback()` and lets the device forward from then on.
    pub fn guard<R>(&self, body: impl FnOnce() -> R, fallback: impl FnOnce() -> R) -> R {
        if !self.works() {
            return fallback();
        }
        match catch_unwind(AssertUnwindSafe(|| memory::inside(body))) {
            Ok(result) => result,
            Err(payload) => {
                self.panicked(payload);
                fallback()
            }
        }
    }

    /// [`Ground::works`] for what cannot panic and may be done later under the guard: in place, and it changes nothing.
    #[inline(always)]
    pub(super) fn is_sound(&self) -> bool {
        !memory::is_low() && !self.is_broken()
    }

    /// Whether the layer's own work goes on; not if little is left of the reserve.
    #[inline(never)]
    fn works(&self) -> bool {
        if memory::is_low() {
            self.pass_through(None);
        }
        !self.is_broken()
    }

    #[cold]
    #[inline(never)]
    fn panicked(&self, payload: Box<dyn Any + Send>) {
        let literal = payload.downcast_ref::<&str>().copied();
        let text = literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        self.pass_through((!payload.is::<OutOfMemory>()).then(|| text.unwrap_or("no message")));
        // A payload whose destructor panics must not get the chance.
        std::mem::forget(payload);
    }

    /// Lets the device forward only, and says why the first time: the message of a panic, or none where the host has no memory left.
    #[cold]
    fn pass_through(&self, panic: Option<&str>) {
        if self.broken.swap(true, Ordering::Relaxed) {
            return;
        }
        self.hot.gate.open();
        // Where pipelines of the layer's own run, a draw may still have to bind the application's.
        let _ = self.hot.follow.compare_exchange(follow::LINKED, follow::NONE, Ordering::AcqRel, Ordering::Relaxed);
        // A record may be what panicked.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let of = panic.map_or(Cause::NoMemory.into(), |message| Cause::Panicked.with(&[&message]));
            let (what, why) = (of.what.name().to_owned(), of.why.into());
            let record = Unresolved { what, why, rule: None, about: Default::default() };
            self.journal.trace().emit("unresolved", &record);
            tracing::warn!(what = of.what.name(), why = panic, "the device is passed through from here on");
        }));
    }

    /// Whether the layer's own look-ups are still in force.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Says once that separate samplers and images are paired in the shader only.
    #[inline(always)]
    pub fn separate_seen(&self) {
        if !self.wishes.follows && self.hot.unwatch(vk::DescriptorType::SAMPLER) {
            self.record_separate_use();
        }
    }

    #[cold]
    #[inline(never)]
    fn record_separate_use(&self) {
        self.guard(
            || {
                self.journal.unresolved(Left::SeparateSamplers, None, json!({}), (0, 0));
            },
            || (),
        );
    }
}
