//! Descriptors with UPDATE_AFTER_BIND, with `live=on`: samplin writes them again where rules ask for another sampler than before.
//!
//! No copy can stand in for their sets, because the application may write those after they were bound. A sampler apart from its image has no
//! pair of its own either: draws show which images it is read with. It follows what rules ask for where all these images ask for the same,
//! and where the other sampler needs no more of a view than the application's, so that no view that comes later can make it illegal.

use ash::vk::{self, Handle};
use samplin_core::left::Left;
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};
use samplin_wire::kinds::Members;

use super::Separate;
use super::bound::BoundBinding;
use super::layouts::{Binding, SetShape, SlotKind};
use super::sets::SetEntry;
use super::shown::{CLASSES, CombinedDescriptor, CombinedDescriptors, SamplerDescriptor};
use crate::counters::Path;
use crate::decide::{self, ConflictBits, Rule};
use crate::device::ground::Ground;
use crate::device::resolve::{On, Pairs};
use crate::table::{FastMap, lock};

/// What a change of rules did to descriptors with UPDATE_AFTER_BIND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Reissued {
    /// Descriptors that were written again, or would have to be.
    pub(in crate::device) written: u64,
    /// Descriptors that stay as they were although rules ask for another sampler, by reason.
    kept: FastMap<&'static str, u64>,
}

impl Reissued {
    /// Some stay.
    pub(in crate::device) fn keep(&mut self, why: &'static str, count: u64) {
        if count > 0 {
            *self.kept.with_room().entry(why).or_default() += count;
        }
    }

    /// Those that stay, in the order of the reasons.
    pub(in crate::device) fn kept(&self) -> Members<u64> {
        let all = self.kept.iter().map(|(why, count)| ((*why).to_owned(), *count));
        Members(memory::sorted(memory::collect(all)))
    }
}

impl SetShape {
    /// Whether descriptors of a binding may be written after the set was bound, also those that are read.
    fn may_rewrite(&self, binding: u32) -> bool {
        let is_it = |own: &&crate::kept::Binding| own.binding == binding;
        let own = self.kept.bindings.iter().find(is_it);
        own.is_some_and(|own| own.flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND))
    }
}

impl SetEntry {
    /// Notes a sampler that the application writes, or another descriptor in its place. Whether rules may ask for another one.
    pub(super) fn note_sampler(&self, at: (&Binding, u32), sampler: Option<u64>) -> bool {
        let at = (at.0.binding, at.1);
        self.edit_combined(|CombinedDescriptors { samplers: all, .. }| match sampler {
            Some(sampler) => all.get_mut(&at).is_some_and(|noted| {
                (noted.sampler, noted.chosen) = (sampler, sampler);
                true
            }),
            None => {
                all.remove(&at);
                false
            }
        })
        .unwrap_or(false)
    }

    /// What is noted of a sampler, or would be.
    pub(super) fn sampler(&self, binding: &Binding, element: u32) -> Option<SamplerDescriptor> {
        let noted = self.edit_combined(|all| all.samplers.get(&(binding.binding, element)).cloned()).flatten();
        let own = || binding.sampler_slot(element).map(|slot| SamplerDescriptor::new(self.get(slot)));
        noted.or_else(own).filter(|_| binding.kind == SlotKind::Sampler)
    }

    /// Notes a sampler that is copied: the driver copies the one that it has. Whether rules may ask for another one.
    pub(super) fn note_copied_sampler(&self, at: (&Binding, u32), from: Option<SamplerDescriptor>) -> bool {
        let own = self.sampler(at.0, at.1).map(|own| own.read).unwrap_or_default();
        let at = (at.0.binding, at.1);
        let Some(mut from) = from.filter(|from| from.is_repaired() || !own.is_empty()) else {
            self.edit_combined(|all| all.samplers.remove(&at));
            return false;
        };
        own.into_iter().for_each(|(class, view)| _ = from.note(class, view));
        self.with_combined(|all| all.samplers.with_room().insert(at, from));
        true
    }
}

impl Separate {
    /// The sampler that the driver has in a descriptor with UPDATE_AFTER_BIND that a draw reads, if that follows the rules. The draw is noted.
    pub(super) fn followed_sampler(
        &self,
        on: On<'_>,
        at: BoundBinding<'_>,
        element: u32,
        pair: Pair,
        view: u64,
    ) -> Option<u64> {
        let BoundBinding { set, binding } = at;
        let On { ground, pairs } = on;
        let may_change = self.wholes.follow_rules() && ground.wishes.rules.may_change();
        let is_it = binding.kind == SlotKind::Sampler && binding.immutable.is_empty();
        if !may_change || !is_it || !set.shape.may_rewrite(binding.binding) {
            return None;
        }
        let (given, is_new) = set.with_combined(|all| {
            let noted = all.samplers.with_room().entry((binding.binding, element));
            let noted = noted.or_insert_with(|| SamplerDescriptor::new(pair.sampler));
            (noted.chosen, noted.note(pair.class, view))
        });
        if is_new {
            pairs.submissions.owe();
        }
        pairs.may_follow(ground, pair).then_some(given)
    }

    /// Rules ask for something else than before.
    pub(in crate::device) fn retune(&self, ground: &Ground) {
        self.look_again(&ground.hot);
    }

    /// Descriptors of sets whose samplers are immutable, of those that `counts` says count.
    pub(in crate::device) fn immutables(&self, counts: &dyn Fn(u64) -> bool) -> u64 {
        let pools = lock(&self.pools);
        let of = |set: &u64| {
            // SAFETY: sets are taken from their pools before they are freed, so none is freed meanwhile.
            let entry = unsafe { self.sets.get(*set) }?;
            let samplers = entry.shape.kept.bindings.iter().flat_map(|binding| &binding.samplers);
            Some(samplers.filter(|sampler| counts(sampler.as_raw())).count() as u64)
        };
        pools.values().flat_map(|pool| &pool.sets).filter_map(of).sum()
    }

    /// Pipelines that are followed.
    pub(in crate::device) fn pipelines(&self) -> u64 {
        let mut all = 0;
        self.programs.for_each(&mut |_| all += 1);
        all
    }

    /// Writes descriptors with UPDATE_AFTER_BIND again where rules ask for other samplers than before, if `is_idle`; else only counts them.
    /// The caller keeps other threads from updating sets, and knows that no submission is pending if `is_idle`.
    pub(in crate::device) fn write_again(&self, on: On<'_>, is_idle: bool) -> Reissued {
        let On { ground, pairs } = on;
        let mut done = Reissued::default();
        let Some(update) = ground.driver.fns.update_descriptor_sets else { return done };
        let write = |set, at: (u32, u32), ty, info: vk::DescriptorImageInfo| {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(vk::DescriptorSet::from_raw(set))
                .dst_binding(at.0)
                .dst_array_element(at.1)
                .descriptor_type(ty)
                .image_info(std::slice::from_ref(&info));
            if is_idle {
                // SAFETY: nothing is pending that may consume the descriptor, and the flag of its binding keeps command buffers valid that
                // are recorded. Nobody else updates it meanwhile, by this function's contract. Sampler and view live, as the gate has both.
                unsafe { update(ground.driver.handle, 1, &write, 0, std::ptr::null()) };
            }
        };
        // Sets are taken from their pools before they are freed, so none is freed meanwhile.
        let pools = lock(&self.pools);
        for set in pools.values().flat_map(|pool| &pool.sets) {
            // SAFETY: as said, the set is not freed meanwhile.
            let Some(entry) = (unsafe { self.sets.get(*set) }).filter(|entry| entry.shape.after_bind) else { continue };
            entry.edit_combined(|all| {
                all.each(|(at, combined)| {
                    if !combined.lives(&ground.hot.gate) {
                        return;
                    }
                    let chosen = pairs.choose_combined(ground, combined.sampler, combined.view);
                    if chosen == combined.chosen {
                        return;
                    }
                    if !entry.shape.may_rewrite(at.0) {
                        return done.keep(Left::UpdateAfterBind.name(), 1);
                    }
                    let CombinedDescriptor { view, layout, .. } = *combined;
                    let info = vk::DescriptorImageInfo::default()
                        .sampler(vk::Sampler::from_raw(chosen))
                        .image_view(vk::ImageView::from_raw(view))
                        .image_layout(layout);
                    write(*set, *at, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, info);
                    combined.chosen = if is_idle { chosen } else { combined.chosen };
                    done.written += 1;
                });
                for (at, noted) in &mut all.samplers {
                    if ground.hot.gate.sampler(noted.sampler) == 0 {
                        continue;
                    }
                    let chosen = pairs.choose_noted(ground, noted).unwrap_or_else(|why| {
                        done.keep(why.name(), 1);
                        noted.sampler
                    });
                    if chosen != noted.chosen {
                        let info = vk::DescriptorImageInfo::default().sampler(vk::Sampler::from_raw(chosen));
                        write(*set, *at, vk::DescriptorType::SAMPLER, info);
                        noted.chosen = if is_idle { chosen } else { noted.chosen };
                        done.written += 1;
                    }
                }
            });
        }
        done
    }
}

impl Pairs {
    /// Whether a sampler that is read with any view may become what rules ask of it for one: nothing else changes it there, and it needs no
    /// more of a view than it does now.
    fn may_follow(&self, ground: &Ground, pair: Pair) -> bool {
        let of = self.samplers.rows(&ground.hot).state(pair.state).zip(self.images.class(pair.class));
        let Some((shared, class)) = of else { return false };
        let (rules, driver, policy) = (ground.wishes.rules(), &ground.driver, &ground.wishes.policy);
        let meeting = ground.wishes.meeting_of(&rules, driver, &shared, class);
        let needs = |original, state| driver.relevant(decide::needs(original, state, &driver.caps, policy)).0;
        let (now, before) = (needs(&meeting.state, &meeting.state), needs(&shared.kept.original, &shared.kept.base));
        let is_wish = meeting.changes.iter().all(|change| change.catalog.rule() == Rule::Override);
        is_wish && now & !(before | ConflictBits::OVERRIDE.0) == 0
    }

    /// The sampler that all images ask for which a noted one is read with. An error where some ask for another one that it may not become.
    fn choose_noted(&self, ground: &Ground, noted: &SamplerDescriptor) -> Result<u64, Left> {
        let Some(state) = (ground.hot.gate.sampler(noted.sampler) as u32).checked_sub(1) else {
            return Ok(noted.sampler);
        };
        let mut all = None;
        for (class, view) in &noted.read {
            let pair = Pair { sampler: noted.sampler, view: *view, state, class: *class };
            if !self.may_follow(ground, pair) {
                return Err(Left::UpdateAfterBind);
            }
            let chosen = self.choose(ground, pair, Path::Update);
            if *all.get_or_insert(chosen) != chosen {
                return Err(Left::SharedSampler);
            }
        }
        let all = all.unwrap_or(noted.sampler);
        if noted.read.len() > CLASSES && all != noted.sampler { Err(Left::SharedSampler) } else { Ok(all) }
    }
}
