//! Records of overrides that follow something.

use serde::{Deserialize, Serialize};

/// A `scale` record: the LOD bias that a rule asks for, because of the scale at which the application renders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The rule.
    pub rule: String,
    /// Width and height of the output that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<[u32; 2]>,
    /// Width and height of the newest swapchain, for a rule that follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<[u32; 2]>,
    /// Rendered height to the height of the output.
    pub scale: f32,
    /// Added to the bias.
    pub offset: f32,
    /// How much of the scale counts.
    pub strength: f32,
    /// What is added to the bias of a sampler, in mip levels: strength · log2(scale) + offset.
    pub bias: f32,
}
