//! samplin: a Vulkan layer that makes texture sampling legal, portable and explained.
#![allow(non_snake_case, reason = "the library's file name is what the Vulkan loader's manifests expect")]

pub mod decide;
pub mod format;
pub mod platform;
pub mod settings;
pub mod trace;
