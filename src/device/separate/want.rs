//! What uses of samplers ask for, with what stands behind each.

use samplin_bind::Other;
use samplin_bind::plan::{At, How, Use};
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_spirv::sampling::Task;

use super::command_buffers::BindPoint;
use super::tasks::TaskRequest;

/// What one use of a sampler asks for.
pub(super) struct Want {
    /// The link, by its position in the pipeline's list.
    pub(super) link: usize,
    pub(super) sampler_at: At,
    pub(super) image_at: At,
    /// The sampler that is there, and the one that the image needs.
    pub(super) given: u64,
    pub(super) wanted: u64,
    /// The one that it wrote there, which is another one in a descriptor that holds both: what it needs was chosen at the write.
    pub(super) own: u64,
    /// The pair where the shader divides coordinates, and the sampler for that.
    pub(super) divided: Option<(Pair, u64)>,
    /// State and class, if they conflict.
    pub(super) pair: Option<Pair>,
    /// The image's view; 0 if there is none, so that any sampler does.
    pub(super) view: u64,
    /// Image or sampler may be another one after the bind.
    pub(super) loose: bool,
    /// Position in the link's samplers of a hidden set.
    pub(super) hidden_at: u32,
    /// What the shader does instead, where there is no room for another sampler.
    pub(super) fetch: Option<Task>,
    /// What the shader does where it is given another sampler because that one cannot compare.
    pub(super) compare: Option<Task>,
}

/// A link by its position, with the descriptors of image and sampler.
#[derive(Clone, Copy)]
pub(super) struct LinkAt {
    pub(super) link: usize,
    pub(super) image: At,
    pub(super) sampler: At,
}

/// What became of the uses of a sampler.
pub(super) struct GroupRepair<'d> {
    pub(super) how: Result<How, Left>,
    /// The sampler that all get, and the pair that it is for.
    pub(super) met: Option<(u64, Pair)>,
    /// Links that are split.
    pub(super) split: u64,
    /// Those whose shaders do not do their tasks, which has a record.
    pub(super) left: u64,
    /// Positions whose coordinates are divided.
    pub(super) divided: &'d [(usize, u32)],
}

impl Want {
    /// The link, and the descriptors of its image and its sampler.
    pub(super) fn at(&self) -> LinkAt {
        LinkAt { link: self.link, image: self.image_at, sampler: self.sampler_at }
    }

    /// Whether its coordinates are divided, by the link and position of those whose are.
    pub(super) fn is_divided(&self, divided: &[(usize, u32)]) -> bool {
        self.divided.is_some() && divided.contains(&(self.link, self.hidden_at))
    }

    /// What the shader reads of it from a hidden set.
    pub(super) fn hidden(&self, divided: &[(usize, u32)]) -> u64 {
        self.divided.filter(|_| self.is_divided(divided)).map_or(self.wanted, |(_, sampler)| sampler)
    }

    /// Whether it reads the sampler of its set. `split`: links that read samplers of their own.
    pub(super) fn reads(&self, split: u64) -> bool {
        self.used().reads(split)
    }

    pub(super) fn used(&self) -> Use {
        Use {
            link: self.link,
            sampler_at: self.sampler_at,
            image_at: self.image_at,
            given: self.given,
            wanted: self.wanted,
            has_image: self.view != 0,
            loose: self.loose,
            divides: self.divided.is_some(),
            compares: self.compare.is_some(),
            fetches: self.fetch.is_some(),
        }
    }
}

/// What a copy of a set shows in place of a descriptor: a view of the stencil instead of one of the depth, or the sampler that rules ask for
/// since a combined descriptor was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shown {
    /// Number of the set.
    pub(super) set: u32,
    pub(super) is_stencil: bool,
    pub(super) other: Other,
}

/// What uses of samplers ask for, by the sets that are bound.
#[derive(Default)]
pub(super) struct Wants {
    pub(super) all: Vec<Want>,
    /// What shaders have to do.
    pub(super) requests: Vec<TaskRequest>,
    /// What copies of sets show besides.
    pub(super) shown: Vec<Shown>,
    /// Links that can join what conflicts and whose shader could look up what suits them, a bit each.
    pub(super) looked_up: u64,
    /// Those that compare where no other sampler could.
    pub(super) uncompared: u64,
    /// Set number and binding of samplers that are used in ways which are not known.
    pub(super) blocked: Vec<(u32, u32)>,
}

/// What a hidden set is created for.
pub(super) struct HiddenRequest<'a> {
    /// What the links of the pipeline need.
    pub(super) wants: &'a [Want],
    /// What its shaders do for descriptors.
    pub(super) requests: &'a [TaskRequest],
    pub(super) point: &'a BindPoint,
    /// How many samplers had gone when the samplers were looked up.
    pub(super) since: u64,
    /// The pipeline runs whatever is in its sets, so that one has to be bound (VUID-vkCmdDraw-None-08600).
    pub(super) runs: bool,
}
