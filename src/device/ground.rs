//! What the rooms of a device stand on.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::driver::Driver;
use super::follower::Follower;
use super::hot::Hot;
use super::journal::Journal;
use super::wishes::Wishes;

/// The layer below, what each descriptor needs, what is asked for, and where it is written down what was done.
///
/// In this order also in memory: what is written often lies at the end, apart from the commands that each descriptor write calls.
#[repr(C)]
pub struct Ground {
    /// What each descriptor needs.
    pub hot: Hot,
    /// The layer below.
    pub driver: Driver,
    /// What is asked for.
    pub wishes: Wishes,
    /// The device only forwards, because a hook panicked.
    pub(super) broken: AtomicBool,
    /// Who follows what only shaders join, with `separate=resolve`.
    pub(super) follower: Option<Arc<dyn Follower>>,
    /// What is written down.
    pub journal: Journal,
}
