//! Deep copies of create infos, for making a second, changed object when the application's structures are long gone.
//!
//! What is kept holds no pointer of the application. Handles are kept as they came; whether the objects live is the caller's to know.
//! Members that the specification lets dangle are not read, and come back as null: [`Facts`] knows which, for every reader of the layer.
//! Where no copy can be made, [`Left`](samplin_core::left::Left) says why.
//!
//! Nothing here calls Vulkan, knows devices, or has a global. Nothing can be cloned: the standard library ends the process where there
//! is no memory for a clone, while these unwind as [`samplin_hot::memory`] does.

mod block;
mod chain;
mod compute;
mod flags;
mod graphics;
mod layout;
mod pointers;
mod render_pass;
mod shader;
mod stage;
#[cfg(test)]
mod tests;

pub use compute::Compute;
pub use flags::{all_flags, has_binaries};
pub use graphics::Graphics;
pub use layout::{Binding, PipelineLayout, SetLayout};
pub use pointers::{Context, Facts, StateMember, Subpass, takes_samplers};
pub use render_pass::{RenderPass, RenderPassInfo};
pub use shader::Shader;
pub use stage::{Stage, inline_words};
