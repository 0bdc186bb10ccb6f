//! What samplin runs for each descriptor: look-ups, the scan for conflicting pairs, and the choice of another sampler.
//!
//! A crate of its own so that it can be compiled for speed while the rest of the layer, which runs rarely, is compiled for size
//! (see `[profile.release]` of the workspace). For the same reason the functions that loop are neither generic nor inlined across
//! the crate's border: they would be compiled with the caller's settings there.
//!
//! On the paths that a descriptor takes nothing here locks or can panic, and only a call that has to change and is too large for
//! the stack allocates. What is done for a pair without a choice belongs to the caller.

// The hooks here have no guard around them. What is indexed is masked or bounded on the line before.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

pub mod choices;
pub mod counters;
pub mod gate;
pub mod hash;
pub mod hooks;
pub mod layout;
pub mod memory;
pub mod recent;
pub mod table;

pub use choices::{Choices, Pair};
pub use counters::Counters;
pub use gate::Gate;
pub use hooks::{Hot, Next, Rest};
pub use layout::SetLayout;
pub use recent::Recent;
