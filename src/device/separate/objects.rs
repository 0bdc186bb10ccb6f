//! Shader objects, and what is bound of them.

use std::sync::Arc;

use super::layouts::PipelineShape;
use super::programs::ProgramLink;
use super::recipe::StageCode;
use super::seen::Variable;
use crate::kept;
use samplin_core::left::Left;
use samplin_spirv::ImageRead;

/// A shader object.
pub(super) struct Shader {
    /// That of no other.
    pub(super) number: u64,
    pub(super) handle: u64,
    pub(super) layout: Arc<PipelineShape>,
    pub(super) links: Box<[ProgramLink]>,
    /// The images that it reads.
    pub(super) reads: Box<[ImageRead]>,
    pub(super) sets_read: u32,
    pub(super) variables: Box<[Variable]>,
    pub(super) blind: Option<Left>,
    pub(super) group: Group,
    /// What it can be made of again, or the name of what keeps it from that.
    pub(super) recipe: Result<(Arc<kept::Shader>, Arc<StageCode>), Left>,
}

/// Shaders that are linked (VK_SHADER_CREATE_LINK_STAGE_BIT_EXT): they come from one call, are only bound together, and are made
/// again in one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// That of no other; 0 for a shader that is not linked.
    pub(super) number: u64,
    /// How many shaders it has.
    pub(super) size: usize,
}
