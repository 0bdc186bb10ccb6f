//! Descriptors that hold both, image and sampler: what shaders have to do for them.

use ash::vk::{self, Handle};
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory::Room;

use super::Separate;
use super::arrays::Sought;
use super::aspects::shown_by;
use super::bound::{BoundBinding, LinkOf};
use super::command_buffers::BindPoint;
use super::ladder::elements;
use super::programs::{Program, ProgramLink};
use super::progress::Drawn;
use super::split::position_of;
use super::tasks::{TaskRequest, loose};
use super::want::{LinkAt, Want, Wants};
use crate::counters::Path;
use crate::device::ground::Ground;
use crate::device::resolve::{On, Pairs};

/// What a descriptor holds that is both, and whether that may change after the bind.
struct Both {
    element: u32,
    sampler: u64,
    view: u64,
    after_bind: bool,
}

impl Separate {
    /// What shaders have to do for the descriptors of a link that hold both: their samplers were chosen when they were written.
    pub(super) fn tasks_of(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        LinkOf { index, link }: LinkOf<'_>,
        BoundBinding { set, binding }: BoundBinding<'_>,
        wants: &mut Wants,
    ) {
        if let Some(what) = set.unlisted(binding) {
            let seen = set.seen(&ground.hot.gate, binding, link.sampled);
            if (seen & seen >> 32) as u32 != 0 {
                ground.journal.link_unresolved(what, program, index);
            }
            return;
        }
        let both_at = |element| {
            // Of a layout that was made when only views were of interest nothing else is known.
            if binding.sampler_slot(element).is_none() {
                return (0, 0);
            }
            let get = |slot: Option<usize>| slot.map_or(0, |slot| set.get(slot));
            (get(binding.sampler_slot(element)), get(binding.image_slot(element)))
        };
        let pair_at = |element| {
            let (sampler, view) = both_at(element);
            pairs.shown_pair(ground, &program, link, sampler, view).filter(|_| sampler != 0 && view != 0)
        };
        let Some(named) = elements(&link.image, binding) else {
            // The first one speaks for all.
            let lacks = (set.brief(&ground.hot.gate).summary >> 32) as u32;
            let divided = |pair| self.divided(ground, pairs, Some(pair), link.uses).map_or(pair, |(pair, _)| pair);
            let asks = |pair: &Pair| self.task_of(ground, pairs, *pair, false).is_some();
            let found = set.find(&ground.hot.gate, binding, Sought::Samplers, lacks, |element, _| {
                pair_at(element).map(divided).filter(asks)
            });
            return found
                .into_iter()
                .for_each(|pair| self.ask(On { ground, pairs }, index, 0, pair, Some(Left::Bindless), wants));
        };
        for element in named {
            let (sampler, view) = both_at(element);
            self.want_both(
                ground,
                pairs,
                program,
                LinkOf { index, link },
                Both { element, sampler, view, after_bind: binding.after_bind },
                wants,
            );
        }
    }

    /// [`Separate::tasks_of`] for a link of which sets note the descriptors that cannot compare, and no others.
    pub(super) fn noted_tasks_of(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        point: &BindPoint,
        LinkOf { index, link }: LinkOf<'_>,
        wants: &mut Wants,
    ) {
        let number = link.image.set as usize;
        let set = program.layout.sets.get(number).and_then(Option::as_ref);
        let binding = set.and_then(|set| set.binding(link.image.binding)).filter(|_| self.wholes.compare());
        let bound = point.sets.get(number).filter(|bound| bound.is_for(&program.layout, number));
        let Some((binding, bound)) = binding.zip(bound) else { return };
        let noted = shown_by(self, bound, binding.binding);
        let both_at = |element| {
            let (_, whole) = noted.iter().find(|(own, _)| *own == element)?;
            ground
                .hot
                .cannot_compare(whole.sampler, whole.view)
                .then_some((whole.sampler.as_raw(), whole.view.as_raw()))
        };
        let mut named = elements(&link.image, binding).into_iter().flatten();
        let all = match (named.next(), named.next()) {
            (Some(one), None) => both_at(one).map(|both| (one, both)),
            // Another sampler for one means one for each, and of the others nothing is known.
            _ => {
                let any = noted.iter().find_map(|(element, _)| Some((*element, both_at(*element)?)));
                if let Some((element, (sampler, view))) = any
                    && let Some(pair) = ground.hot.gate.conflict(Handle::from_raw(sampler), Handle::from_raw(view))
                {
                    let at = (link.image.set, link.image.binding, element);
                    pairs.undecided.decide(pair);
                    pairs.link_left(
                        ground,
                        Left::SetUnfollowed,
                        program,
                        LinkAt { link: index, image: at, sampler: at },
                        pair,
                    );
                }
                None
            }
        };
        if let Some((element, (sampler, view))) = all {
            self.want_both(
                ground,
                pairs,
                program,
                LinkOf { index, link },
                Both { element, sampler, view, after_bind: binding.after_bind },
                wants,
            );
        }
    }

    /// What the shader has to do for one descriptor.
    fn want_both(
        &self,
        ground: &Ground,
        pairs: &Pairs,
        program: Drawn<'_>,
        LinkOf { index, link }: LinkOf<'_>,
        both: Both,
        wants: &mut Wants,
    ) {
        let Both { element, sampler: own, view, after_bind } = both;
        let pair = pairs.shown_pair(ground, &program, link, own, view).filter(|_| own != 0 && view != 0);
        if let Some(pair) = pair.filter(|_| self.notes(link.uses)) {
            pairs.undecided.decide(pair);
        }
        let position = position_of(&link.image, &link.sampler, element, element);
        let divided = self.divided(ground, pairs, pair, link.uses);
        let compares = self.notes(link.uses);
        let mut is_compared = false;
        if self.tasks.divide || compares {
            // All of a link that is split read the hidden set, also those with nothing to divide or compare.
            let given = pair.map_or(own, |pair| pairs.choose(ground, pair, Path::Draw));
            let at = (link.image.set, link.image.binding, element);
            let mut want = Want {
                link: index,
                sampler_at: at,
                image_at: at,
                given,
                wanted: given,
                own,
                divided,
                pair: None,
                loose: after_bind,
                view,
                hidden_at: position,
                fetch: None,
                compare: None,
            };
            if let Some(pair) = pair.filter(|_| compares && divided.is_none()) {
                self.want_comparison_of_both(
                    ground,
                    pairs,
                    program,
                    &mut want,
                    pairs.images.as_read(&ground.hot, &ground.driver, pair, link.uses),
                );
            }
            is_compared = want.compare.is_some();
            wants.all.with_room().push(want);
        }
        let Some(pair) = pair.filter(|_| !is_compared) else { return };
        if divided.is_none() {
            pairs.record_read(
                ground,
                program,
                index,
                element,
                pairs.images.as_read(&ground.hot, &ground.driver, pair, link.uses),
            );
        }
        let pair = divided.map_or(pair, |(pair, _)| pair);
        self.ask(On { ground, pairs }, index, position, pair, loose(after_bind), wants);
    }

    /// Adds what the shader has to do for a pair; `why`: the name of what keeps it from that, if anything does.
    pub(super) fn ask(
        &self,
        On { ground, pairs }: On<'_>,
        link: usize,
        position: u32,
        pair: Pair,
        why: Option<Left>,
        wants: &mut Wants,
    ) {
        if let Some(task) = self.task_of(ground, pairs, pair, false) {
            let task = why.map_or(task, Err);
            wants.requests.with_room().push(TaskRequest { link, position, pair, task });
        }
    }
}

impl Pairs {
    /// The pair that a link reads of a sampler and a view, if they conflict: with the stencil where the link is shown that in place of a
    /// view with both aspects.
    pub(super) fn shown_pair(
        &self,
        ground: &Ground,
        program: &Program,
        link: &ProgramLink,
        sampler: u64,
        view: u64,
    ) -> Option<Pair> {
        match self.stand_ins.aspects.shown_stencil(program, (link.image.set, link.image.binding), view) {
            0 => ground.hot.gate.conflict(vk::Sampler::from_raw(sampler), vk::ImageView::from_raw(view)),
            _ => self.images.stencil_pair(&ground.hot, &ground.driver, sampler, view),
        }
    }
}
