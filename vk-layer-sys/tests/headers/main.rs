//! The crate's types and sizes against the installed C headers.
//!
//! Needs a C compiler for the target (`compiler` says which) and the Vulkan headers (Debian: `libvulkan-dev`).

mod abi;
mod compiler;
mod names;
mod sizes;
