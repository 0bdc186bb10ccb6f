//! Traces: reading them at speed, and what they add up to.
//!
//! [`reader`] gives records one by one, [`analysis`] folds them into what the commands print. A file of any size is read in
//! a fixed amount of memory.

pub mod analysis;
pub(crate) mod key;
pub mod links;
pub(crate) mod open;
pub mod reader;
pub mod record;
pub mod scan;
