//! What keeps a panic of the layer's own from the application: after the first one the device only forwards.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use ash::vk;
use samplin_core::left::Left;
use samplin_hot::memory::OutOfMemory;

use super::ground::Ground;
use super::hot::follow;
use crate::memory;
use samplin_wire::kinds::Unresolved;
use serde_json::json;

/// Why a device is passed through that ran out of memory.
pub(super) const NO_MEMORY: &str = "the host has no memory left";

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
            self.pass_through(NO_MEMORY);
        }
        !self.is_broken()
    }

    #[cold]
    #[inline(never)]
    fn panicked(&self, payload: Box<dyn Any + Send>) {
        let text = if payload.is::<OutOfMemory>() {
            NO_MEMORY
        } else {
            let literal = payload.downcast_ref::<&str>().copied();
            literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
        };
        self.pass_through(text);
        // A payload whose destructor panics must not get the chance.
        std::mem::forget(payload);
    }

    /// Lets the device forward only, and says why the first time.
    #[cold]
    fn pass_through(&self, why: &str) {
        if self.broken.swap(true, Ordering::Relaxed) {
            return;
        }
        self.hot.gate.open();
        // Where pipelines of the layer's own run, a draw may still have to bind the application's.
        let _ = self.hot.follow.compare_exchange(follow::LINKED, follow::NONE, Ordering::AcqRel, Ordering::Relaxed);
        // A record may be what panicked.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let what = if why == NO_MEMORY { Left::OutOfHostMemory } else { Left::PanicInAHook };
            self.journal.trace().emit("unresolved", &Unresolved::passed_through(what.name(), why));
            tracing::warn!(what = what.name(), why, "the device is passed through from here on");
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
            self.tell_of_separate();
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_of_separate(&self) {
        self.guard(
            || {
                self.journal.unresolved(Left::SeparateSamplers, "", None, json!({}), (0, 0));
            },
            || (),
        );
    }
}
