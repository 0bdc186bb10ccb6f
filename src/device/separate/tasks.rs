//! Tasks: what a shader has to do for a descriptor beside sampling it, and where it finds that.

use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory;
use samplin_spirv::sampling::{Passes, Task, flags};

use super::compare::{Compared, has};

/// Most elements of an array that is indexed dynamically, and most tasks of a link.
pub(super) const ELEMENTS: u32 = 64;

/// Where shaders find their tasks.
pub(super) enum Keys {
    /// In a uniform buffer of the hidden set, behind its samplers.
    Block,
    /// In their code: those of all descriptors.
    Fixed(Box<[Task]>),
}

/// A link whose descriptors may have tasks.
#[derive(Clone, Copy)]
pub(super) struct Tasked {
    pub(super) link: usize,
    /// The position of its first task, and how many it has: one for each descriptor that it may name.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Each of its instructions has a fetch that does the same.
    pub(super) may_fetch: bool,
}

/// What the shaders of a second pipeline can do.
pub(super) struct Tasks {
    pub(super) tasked: Vec<Tasked>,
    pub(super) keys: Keys,
    /// The links that may compare.
    pub(super) compared: Compared,
    /// The links that are split, a bit each.
    pub(super) split: u64,
    /// What the code for all links is to be able to do beside that.
    pub(super) all: Passes,
    /// Links that cannot be rewritten, and why.
    pub(super) left: Vec<(usize, Left)>,
}

impl Tasks {
    /// The links that were rewritten.
    pub(super) fn links(&self) -> Vec<usize> {
        let done =
            self.tasked.iter().filter(|tasked| !self.is_left(tasked.link) && self.passes(tasked) != Passes::NONE);
        memory::collect(done.map(|tasked| tasked.link))
    }

    /// What the code for a link is to be able to do. Another sampler than that of the set is read where a link is split, and nowhere else.
    pub(super) fn passes(&self, tasked: &Tasked) -> Passes {
        let fetch = self.all.fetch && tasked.may_fetch || self.fetches(tasked);
        let divide = self.all.divide && has(self.split, tasked.link);
        let [compare, must_compare, own_sampler] = self.compared.passes(tasked.link);
        let filter = self.all.filter || fetch;
        Passes { filter, fetch, divide, compare, must_compare, own_sampler, ..self.all }
    }

    fn is_left(&self, link: usize) -> bool {
        self.left.iter().any(|(left, _)| *left == link)
    }

    /// The positions, each with its link, of descriptors whose coordinates are divided, of those that ask for it.
    pub(super) fn divided(&self, requests: &[TaskRequest]) -> Vec<(usize, u32)> {
        let is_done = |request: &&TaskRequest| {
            let has_task = self.tasked.iter().any(|tasked| tasked.link == request.link);
            has_task && !self.is_left(request.link) && request.task.as_ref().is_ok_and(divides)
        };
        memory::collect(requests.iter().filter(is_done).map(|request| (request.link, request.position)))
    }

    /// Why a link is left whose coordinates would be divided, if tasks are in the code: the sampler that is bound would not suit all of
    /// its instructions.
    pub(super) fn undivided(&self) -> Option<Left> {
        let Keys::Fixed(tasks) = &self.keys else { return None };
        let is_undivided = |tasked: &&Tasked| {
            let own = tasks.get(tasked.first as usize..(tasked.first + tasked.count) as usize);
            self.is_left(tasked.link) && own.is_some_and(|own| own.iter().any(divides))
        };
        let undivided = self.tasked.iter().find(is_undivided)?;
        self.left.iter().find(|(link, _)| *link == undivided.link).map(|(_, why)| *why)
    }

    /// Whether texels of a link are fetched.
    pub(super) fn fetches(&self, tasked: &Tasked) -> bool {
        let Keys::Fixed(tasks) = &self.keys else { return false };
        let end = tasked.first + tasked.count;
        tasks.get(tasked.first as usize..end as usize).is_some_and(|own| own.iter().any(fetches))
    }

    /// The name of what its shaders do, on a device whose shaders may do `all`.
    pub(super) fn pass(&self, all: Passes) -> &'static str {
        match () {
            () if self.tasked.iter().any(|tasked| self.fetches(tasked)) => "fetch",
            () if self.compared.may != 0 => "compare",
            () if all.filter => "filter",
            () if all.saturate => "saturate",
            () => "divide",
        }
    }

    /// The words of its uniform buffer, by what descriptors ask for; none if it has none.
    pub(super) fn words(&self, requests: &[TaskRequest]) -> Vec<u32> {
        match self.keys {
            Keys::Block => {
                let mut own_tasks = tasks(&self.tasked, requests);
                for left in self.tasked.iter().filter(|tasked| self.is_left(tasked.link)) {
                    let own = own_tasks.get_mut(left.first as usize..(left.first + left.count) as usize);
                    // Some instructions would read texels by other coordinates than the rest.
                    own.into_iter().flatten().filter(|task| divides(task)).for_each(|task| *task = Task::default());
                }
                words_of(&own_tasks)
            }
            Keys::Fixed(_) => Vec::new(),
        }
    }
}

/// A task of a descriptor that is bound.
pub(super) struct TaskRequest {
    pub(super) link: usize,
    /// Which of the link's descriptors.
    pub(super) position: u32,
    /// The sampler and the view that ask for it.
    pub(super) pair: Pair,
    /// What the shader has to do, or why it cannot be said.
    pub(super) task: Result<Task, Left>,
}

/// Whether a task goes past the sampler that is bound.
pub(super) fn fetches(task: &Task) -> bool {
    task.flags & flags::FETCH != 0
}

/// Whether a task is for another sampler than that of the set.
pub(super) fn divides(task: &Task) -> bool {
    task.flags & flags::DIVIDE != 0
}

fn words_of(tasks: &[Task]) -> Vec<u32> {
    memory::collect(tasks.iter().flat_map(Task::words))
}

/// The tasks of all descriptors, in their order.
pub(super) fn tasks(tasked: &[Tasked], requests: &[TaskRequest]) -> Vec<Task> {
    let count = tasked.iter().map(|tasked| tasked.count as usize).sum();
    let mut all = memory::vec(count);
    all.resize(count, Task::default());
    for (request, task) in requests.iter().filter_map(|request| Some((request, request.task.ok()?))) {
        let Some(of) = tasked.iter().find(|tasked| tasked.link == request.link) else { continue };
        if let Some(place) = all.get_mut((of.first + request.position) as usize).filter(|_| request.position < of.count)
        {
            *place = task;
        }
    }
    all
}

/// Why a shader cannot do a task for a descriptor, if that may be another one after the bind.
pub(super) fn loose(after_bind: bool) -> Option<Left> {
    after_bind.then_some(Left::UpdateAfterBind)
}
