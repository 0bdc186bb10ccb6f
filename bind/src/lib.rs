//! Record at binds, decide at draws.
//!
//! A [`BindPoint`] notes what the application binds at one bind point of a command buffer, and what the driver has bound there. Binds
//! reach the driver unchanged. Before a draw that needs something else, [`BindPoint::meet`] makes the calls that lead from what is bound
//! to what the draw [`Needs`].
//!
//! Nothing here calls Vulkan, and no handle means anything: handles are words that are equal or not. What stands behind them is the
//! caller's, see [`Objects`]; how calls are made is, see [`Calls`].
//!
//! `tests/reference.rs` has a second model of the same state, written from the specification, and compares both over random streams.

#![forbid(unsafe_code)]

mod bits;
mod layout;
mod meet;
pub mod plan;
mod point;
mod push;
pub mod reference;

pub use bits::NumberSet;
pub use layout::Layout;
pub use meet::{Calls, Executable, Hide, Needs, Refused};
pub use point::{BindPoint, Binds, Bound, BoundShader, Brief, Hidden, Objects};
pub use push::{Descriptor, Other, Pushed};
