//! The functions of `samplin_core.h` as a library.
#![forbid(unsafe_code)]

pub use samplin_capi::*;
