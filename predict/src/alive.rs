//! What summaries say of how many samplers there were at once.

use samplin_wire::kinds::RequestedLimit;
use serde::Deserialize;
use serde_json::Value;

/// What an application asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alive {
    /// Samplers.
    pub samplers: u32,
    /// Different states of these.
    pub states: u32,
    /// Samplers with custom border colours; older traces do not have them.
    pub custom_borders: Option<u32>,
}

impl Alive {
    /// What the summary of a device says.
    pub fn of(summary: &Value) -> Option<Self> {
        let asked = |limit: &str| {
            let member = summary.pointer("/census/limits")?.get(limit)?;
            RequestedLimit::deserialize(member).ok().map(|asked| asked.asked)
        };
        let count = |pointer: &str| u32::try_from(summary.pointer(pointer)?.as_u64()?).ok();
        let peak = || count("/samplers/peak");
        Some(Self {
            states: count("/census/unique_states/peak").unwrap_or(u32::MAX),
            samplers: asked("maxSamplerAllocationCount").or_else(peak)?,
            custom_borders: asked("maxCustomBorderColorSamplers"),
        })
    }

    /// The most of both.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            samplers: self.samplers.max(other.samplers),
            states: self.states.max(other.states),
            custom_borders: self.custom_borders.max(other.custom_borders),
        }
    }
}
