//! Records of overrides that follow something.

use serde::{Deserialize, Serialize};

use super::Members;

/// A `scale` record: the LOD bias that a rule asks for, because of the scale at which the application renders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The rule.
    pub rule: String,
    /// Width and height of the output that it names, or of the newest swapchain with the scale "auto".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<[u32; 2]>,
    /// Width and height of the newest swapchain, for a rule that follows it; what is scaled up to it with the scale "auto".
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
    /// What `rendered` was observed from, for a rule with the scale "auto".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// What a scale was observed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Frames that were looked at: 60 with one width and height, or 120 of which this is the median height.
    pub frames: u32,
    /// Draws of the last frame in passes of that width and height.
    pub draws: u64,
}

/// A `retune` record: other rules are in force, because the rules file or what they follow has changed. Another one of the same generation
/// says that descriptors have followed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retune {
    /// How often that was so, this time included.
    pub generation: u64,
    /// Rules that are new, or ask for something else.
    pub rules: Vec<String>,
    /// Rules that are gone, or asked for something else.
    pub gone: Vec<String>,
    /// States of samplers that are alive for which something else is chosen.
    pub states: u32,
    /// Descriptors with UPDATE_AFTER_BIND that were written again.
    pub reissued: u64,
    /// Descriptors and pipelines that stay as they were, by reason.
    pub kept: Members<u64>,
}
