//! SPIR-V: which images a shader reads through which samplers, and passes that change that.
//!
//! Words in, values out: no Vulkan call, no global, no unsafe code. [`scan`] says at once what a module could be of interest for.
//! [`Module::read`] checks the words once and remembers where things are; [`Module::links`] says which image instructions of an entry point join which descriptors; [`Editor`] makes a new
//! module in which everything that was not named is as it was; [`split`] and [`select`] are passes that use both, [`passes`] runs the others.
#![forbid(unsafe_code)]

pub mod atomic_counters;
mod build;
mod declared;
mod edit;
mod error;
mod exchange;
mod fold;
mod ids;
pub mod image_access;
pub mod image_formats;
mod lines;
mod links;
mod map;
mod module;
mod op;
mod operand;
mod outcome;
pub mod passes;
pub mod sample_builtins;
pub mod sample_inputs;
pub mod sample_mask;
pub mod sampling;
pub mod scan;
pub mod select;
mod sources;
pub mod split;
mod trace;
mod uses;

pub use declared::{Access, Declared, ImageRead};
pub use edit::{Editor, assemble};
pub use error::Error;
pub use fold::Specialization;
pub use links::{ImageType, Link, Sampled};
pub use module::{EntryPoint, Instruction, Module};
pub use operand::{Index, Operand};
pub use uses::Uses;
