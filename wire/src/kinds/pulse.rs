//! Records of how it goes.

use serde::{Deserialize, Serialize};

use super::Headroom;

/// A `pulse` record: what was submitted so far, and what is left of limits now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulse {
    /// The device.
    pub device: String,
    /// Frames that have ended.
    pub frames: u64,
    /// Draws, dispatches and traces of rays that were submitted, each time that their command buffer was.
    pub draws: u64,
    /// Those among them that had something of samplin's own bound, or a set with a sampler of samplin's own; none with `separate=base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<u64>,
    /// What is left of the limits now.
    pub headroom: Headroom,
    /// Copies of descriptor sets that samplin has now, each in a pool of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u64>,
    /// Places that are left in the pool of samplers that shaders look up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<u64>,
}
