//! What a change loses, and who makes up for it.

/// Who gives the application what it asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repairer {
    /// Nobody but the sampler: what comes out follows from the changed member.
    #[default]
    Sampler,
    /// The shaders that samplin rewrites. For others the changed member counts.
    SomeShaders,
    /// Each shader that reads the pair, so that the sampler's own changes by the same rule do not show either.
    Shader,
}

impl Repairer {
    /// Its word in records, where the sampler needs none.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Sampler => None,
            Self::SomeShaders => Some("some_shaders"),
            Self::Shader => Some("shader"),
        }
    }
}

/// What is lost, in words, and who makes up for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) words: &'static str,
    pub(super) repairer: Repairer,
}

impl Lost {
    pub(super) const fn but_for_some_shaders(words: &'static str) -> Self {
        Self { words, repairer: Repairer::SomeShaders }
    }

    pub(super) const fn but_for_the_shader(words: &'static str) -> Self {
        Self { words, repairer: Repairer::Shader }
    }
}

impl From<&'static str> for Lost {
    fn from(words: &'static str) -> Self {
        Self { words, repairer: Repairer::Sampler }
    }
}
