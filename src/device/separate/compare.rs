//! How a shader compares in the place of a sampler, as tasks say it.

use ash::vk;
use samplin_spirv::sampling::{Task, flags};

use crate::decide::ShaderCompare;

/// How the shader compares in the place of a sampler.
pub(super) fn flags_of(ShaderCompare { operator, clamps }: ShaderCompare) -> u32 {
    use vk::CompareOp as O;
    let passes = match operator {
        O::LESS => flags::LESS,
        O::EQUAL => flags::EQUAL,
        O::LESS_OR_EQUAL => flags::LESS | flags::EQUAL,
        O::GREATER => flags::GREATER,
        O::NOT_EQUAL => flags::LESS | flags::GREATER | flags::UNORDERED,
        O::GREATER_OR_EQUAL => flags::GREATER | flags::EQUAL,
        O::ALWAYS => flags::LESS | flags::EQUAL | flags::GREATER | flags::UNORDERED,
        _ => 0,
    };
    flags::COMPARE | passes | if clamps { flags::CLAMP_REFERENCE } else { 0 }
}

/// Links, a bit each, whose shaders may be asked to compare in the place of a sampler, and of these those that always are.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) may: u64,
    pub(super) must: u64,
    /// Links of which nothing may be known but that they suit: they read their own descriptor unless they are asked to compare.
    pub(super) or_own: u64,
}

impl Compared {
    /// What the code for a link is to be able to do of this.
    pub(super) fn passes(self, link: usize) -> [bool; 3] {
        [self.may, self.must, self.or_own].map(|links| has(links, link))
    }
}

/// Whether a link is one of these.
pub(super) const fn has(links: u64, link: usize) -> bool {
    link < u64::BITS as usize && links >> link & 1 != 0
}

/// Whether a task is a comparison: of one that fetches the bit is a part of the border.
pub(super) fn compares(task: &Task) -> bool {
    task.flags & (flags::COMPARE | flags::FETCH) == flags::COMPARE
}
