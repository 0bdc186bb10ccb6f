//! What is submitted where rules may change: whether anything is pending that may consume descriptors.
//!
//! Contents of bindings with UPDATE_AFTER_BIND may be consumed from the submission on until the commands are complete, and must not be altered
//! meanwhile (Descriptor Set Binding). Nothing tells a layer which commands are complete, so a fence of its own follows them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;
use samplin_platform as platform;

use super::driver::Driver;
use super::live::Submitting;
use crate::table::{FastMap, lock};

/// Most nanoseconds that the application waits for its own commands when samplin has to write descriptors again.
const PATIENCE: u64 = 50_000_000;

/// Nanoseconds from one try to write descriptors again to the next, and most tries for one change.
const PAUSE: u64 = 250_000_000;
const TRIES: u32 = 8;

/// What is submitted to a device.
#[derive(Default)]
pub struct Submissions {
    queues: Mutex<FastMap<u64, Work>>,
    /// Tries that are left to write descriptors that may have to be written again.
    tries: AtomicU32,
    /// When the last try was.
    tried: AtomicU64,
}

/// What was submitted to a queue.
#[derive(Default)]
struct Work {
    /// Fences of the layer's own, of which the last one is signalled last.
    fences: Vec<vk::Fence>,
    /// Nothing was submitted after the last one.
    is_covered: bool,
}

impl Work {
    /// Has a fence signalled as soon as everything is complete that was submitted to the queue.
    fn cover(&mut self, driver: &Driver, queue: Submitting<'_>) {
        let (Some(create), Some(submit)) = (driver.fns.create_fence, driver.fns.queue_submit) else { return };
        self.is_complete(driver, 0);
        let (info, mut fence) = (vk::FenceCreateInfo::default(), vk::Fence::null());
        // SAFETY: the device is valid as long as its entry, and the structure is complete.
        if unsafe { create(driver.handle, &info, std::ptr::null(), &mut fence) } != vk::Result::SUCCESS {
            return;
        }
        self.fences.with_room().push(fence);
        // SAFETY: the queue is valid and nobody else uses it, as the token says. The fence is new.
        self.is_covered = unsafe { submit(queue.handle(), 0, std::ptr::null(), fence) } == vk::Result::SUCCESS;
        if !self.is_covered {
            self.fences.pop();
            destroy(driver, fence);
        }
    }

    /// Whether everything before the last fence is complete within some nanoseconds. Its fences are destroyed then.
    fn is_complete(&mut self, driver: &Driver, patience: u64) -> bool {
        let (Some(last), Some(wait)) = (self.fences.last(), driver.fns.wait_for_fences) else { return true };
        // SAFETY: the device is valid as long as its entry, and the fence lives in the list.
        if unsafe { wait(driver.handle, 1, last, vk::TRUE, patience) } != vk::Result::SUCCESS {
            return false;
        }
        self.fences.drain(..).for_each(|fence| destroy(driver, fence));
        true
    }
}

/// Destroys a fence that is not pending any more.
fn destroy(driver: &Driver, fence: vk::Fence) {
    if let Some(destroy) = driver.fns.destroy_fence {
        // SAFETY: the layer created the fence without allocation callbacks, and the caller knows that nothing pending signals it.
        unsafe { destroy(driver.handle, fence, std::ptr::null()) };
    }
}

impl Submissions {
    /// Something is about to be submitted to a queue.
    pub(super) fn begin(&self, queue: Submitting<'_>) {
        lock(&self.queues).with_room().entry(queue.handle().as_raw()).or_default().is_covered = false;
    }

    /// Has a fence follow what was submitted, if other queues have to know when that is complete.
    pub fn end(&self, driver: &Driver, queue: Submitting<'_>) {
        if self.tries.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut queues = lock(&self.queues);
        if queues.len() > 1
            && let Some(work) = queues.get_mut(&queue.handle().as_raw())
        {
            work.cover(driver, queue);
        }
    }

    /// Calls `with` if nothing is pending on any queue. Submissions wait meanwhile; the one to this queue has not begun.
    pub(super) fn if_idle<R>(&self, driver: &Driver, queue: Submitting<'_>, with: impl FnOnce() -> R) -> Option<R> {
        let mut queues = lock(&self.queues);
        let own = queue.handle().as_raw();
        if let Some(own) = queues.get_mut(&own).filter(|own| !own.is_covered) {
            own.cover(driver, queue);
        }
        let mut are_complete = |is_own: bool, patience| {
            let those = queues.iter_mut().filter(|(queue, _)| (**queue == own) == is_own);
            those.map(|(_, work)| work).all(|work| work.is_covered && work.is_complete(driver, patience))
        };
        (are_complete(false, 0) && are_complete(true, PATIENCE)).then(with)
    }

    /// Descriptors may have to be written again.
    pub(super) fn owe(&self) {
        self.tries.store(TRIES, Ordering::Relaxed);
    }

    /// The tries that are left, before it is looked which have to be.
    pub(super) fn take(&self) -> u32 {
        self.tries.swap(0, Ordering::Relaxed)
    }

    /// Some have to be, and could not.
    pub(super) fn give_back(&self, tries: u32) {
        self.tries.fetch_max(tries, Ordering::Relaxed);
    }

    /// Whether it is time to try, and nobody else does.
    pub(super) fn is_due(&self) -> bool {
        let tries = self.tries.load(Ordering::Relaxed);
        let (now, last) = (platform::now_ns(), self.tried.load(Ordering::Relaxed));
        let is_due = tries > 0 && now.wrapping_sub(last) >= PAUSE;
        is_due && self.tried.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() && {
            self.tries.store(tries - 1, Ordering::Relaxed);
            true
        }
    }

    /// Destroys all fences with the device: nothing is pending then.
    pub fn destroy(&self, driver: &Driver) {
        lock(&self.queues).drain().flat_map(|(_, work)| work.fences).for_each(|fence| destroy(driver, fence));
    }
}
