//! The layer between a loader and a driver that both live in this process.
//!
//! What no driver on a test machine does (new entry points, odd formats, failing calls, handles that come back at once) and what
//! only the callee can see (which pointers went down, what they led to) is tested here. [`driver`] writes
//! down every call, [`loader`] builds the chains and is the application, [`words`] says in a line what it does again and again,
//! [`pages`] has memory that faults when touched.
#![allow(dead_code, reason = "parts of the mock serve tests that some configurations leave out")]
#![allow(clippy::field_reassign_with_default, reason = "chains are linked after their nodes have addresses")]

/// The library's own, which the tests of memory that runs out need.
#[global_allocator]
static ALLOCATOR: samplin::memory::WithReserve = samplin::memory::WithReserve;

mod driver;
mod loader;
mod pages;
mod words;

mod arrays;
mod binds;
mod budget;
mod buffers;
mod caches;
mod cancel;
mod chains;
mod clamp;
mod draws;
mod exempt;
mod flush;
mod fuzz;
mod guarded;
mod heaps;
mod identity;
mod images;
mod kept;
mod learned;
mod lifetime;
mod log;
mod memory;
mod modules;
mod names;
mod panics;
mod paths;
mod pipelines;
mod programs;
mod refused;
mod resolve;
mod reuse;
mod samplers;
mod separate;
mod shared;
mod stress;
mod tables;
mod trace;
mod updates;
mod visible;

/// Takes the arguments of the only call of a command since the last look: `args!(device, c"vkName", Args::Kind { … })`.
macro_rules! args {
    ($device:expr, $command:literal, $pattern:pat) => {
        let mut calls = $device.driver.calls_of($command);
        assert_eq!(calls.len(), 1, "{:?} was called {} times", $command, calls.len());
        let args = calls.remove(0);
        let $pattern = args else { panic!("{args:?}") };
    };
}
pub(crate) use args;
