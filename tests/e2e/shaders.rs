//! Shaders that are rewritten as they come: atomic counters in [`counters`], what is declared of views in [`declared`], storage images in [`storage`], [`formats`], [`formatless`] and [`frame`], what is shaded for each
//! sample in [`samples`].
//!
//! Shaders are compiled when the test runs, by `glslangValidator` and `spirv-as`, because some are no valid SPIR-V for Vulkan.

mod advertised;
mod compared;
mod counters;
mod declared;
mod formatless;
mod formats;
mod frame;
mod samples;
mod storage;

use crate::run::{Outcome, build};
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_testkit::Context;
use samplin_testkit::job::{Job, buffer, with_texels, write_buffer, write_image, write_texels};

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        counters::trials(),
        declared::trials(),
        storage::trials(),
        formats::trials(),
        advertised::trials(),
        compared::trials(),
        formatless::trials(),
        frame::trials(),
        samples::trials(),
    ];
    all.into_iter().flatten().collect()
}

/// The part of a process of its own.
pub(crate) fn application(name: &str) -> Outcome {
    match name {
        "counters" => counters::application(&build(&Context::builder().samplin())?),
        _ => panic!("{name} is no part"),
    }
}

// --- compilers ------------------------------------------------------------------------------------------------------

/// GLSL for Vulkan.
fn vulkan(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::Glsl("vulkan1.0"), stage, source)
}

/// HLSL for Vulkan, with the entry point `main`.
fn hlsl(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::Hlsl("vulkan1.0"), stage, source)
}

/// A capability in front of all others, as compilers declare it for nothing.
fn declaring(mut words: Vec<u32>, capability: u32) -> Vec<u32> {
    words.splice(5..5, [2 << 16 | 17, capability]);
    words
}

/// GLSL for OpenGL, with room for eight bindings of counters.
fn opengl(stage: &str, source: &str) -> Vec<u32> {
    compile(Language::OpenGl(8), stage, source)
}
