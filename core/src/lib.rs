//! What samplin decides, and the facts it decides by: pure values, no Vulkan call, no global, no file.
//!
//! Start at [`decide`], and at [`outcome`] for what decisions come to. Vulkan's types appear as plain data; an enumerant that the bindings do not know is a number like any
//! other.
#![forbid(unsafe_code)]

pub mod ability;
pub mod budget;
pub mod decide;
pub mod declared;
pub mod features;
pub mod format;
pub mod left;
pub mod names;
pub mod outcome;
pub mod storage;
