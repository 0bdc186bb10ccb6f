//! The operating system, as the layer uses it.
//!
//! This is the only crate of the layer that knows which system the layer runs on: privileges, environment, folders, clocks, thread
//! ids, and files that must not surprise the process the layer lives in. It knows nothing of Vulkan and nothing of what is
//! written to a file.
//!
//! Each system has a room of its own: `linux`, which is Android's too, `windows`, and `nowhere` for pages, which have no system.
//! Beside them is what only needs Rust's library. Four habits hold on every system:
//!
//! * Nothing is done behind the process's back: no thread, signal handler, exit handler or thread-local destructor.
//! * A privileged process (set-user-id, set-group-id, file capabilities) gets no environment and no file of ours.
//! * No function waits for another process, with one exception: a write to standard error, or to another descriptor that
//!   the process inherited, waits as the process's own would.
//! * No function that opens, reads, writes or closes is a point at which its thread is cancelled.
//!
//! `tests/sources.rs` holds the rest of the layer to asking here.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(target_family = "wasm")]
mod nowhere;
#[cfg(windows)]
mod windows;

#[cfg(any(target_os = "linux", target_os = "android"))]
use self::linux as system;
#[cfg(target_family = "wasm")]
use self::nowhere as system;
#[cfg(windows)]
use self::windows as system;

#[cfg(not(any(target_os = "linux", target_os = "android", windows, target_family = "wasm")))]
compile_error!("the platform crate has no version for this operating system yet");

mod append;
mod clock;
mod environment;
mod process;
mod read;

pub use self::append::*;
pub use self::clock::*;
pub use self::environment::*;
pub use self::process::*;
pub use self::read::*;
pub use self::system::*;
