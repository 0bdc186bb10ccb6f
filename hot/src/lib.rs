//! What samplin asks for each descriptor, as plain data structures: look-ups by handle, the gate that finds pairs which conflict, the
//! choice of another sampler, counters.
//!
//! A crate of its own so that it can be modelled (loom), run in Miri and read without the layer: it knows neither devices nor
//! commands, and what is done about a pair without a choice belongs to the caller.
//!
//! On the paths that a descriptor takes nothing here locks, allocates or can panic.

// The leaf hooks, which have no guard around them, call this. What is indexed is masked or bounded on the line before.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

pub mod choices;
pub mod counters;
pub mod gate;
pub mod hash;
pub mod keyed;
pub mod layout;
pub mod lock;
pub mod memory;
pub mod recent;
pub mod table;
pub mod version;

pub use choices::{Choices, Pair};
pub use counters::Counters;
pub use gate::Gate;
pub use keyed::Keyed;
pub use layout::SetLayout;
pub use recent::Recent;
pub use version::{Summary, Version, Versions};
