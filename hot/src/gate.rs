//! The gate that every descriptor passes: which (sampler, view) pairs conflict, and what goes down instead.
//!
//! Three questions, each cheaper than the next: can anything on this device conflict at all ([`Gate::must_look`])? May this
//! sampler and this view, by two bits in filters that stay in the first-level cache? Do they, by their words in the tables?

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk::{self, DescriptorImageInfo, Handle};

use crate::choices::{Choices, Pair, choose};
use crate::memory::Room;
use crate::table::{Apart, BitFilter, FastMap, FlatTable, lock};

/// Union of what samplers ever needed and of what views ever lacked, and how many bits of each filter may be stale.
#[derive(Default)]
struct Unions {
    needs: u32,
    lacks: u32,
    stale: usize,
    /// Insertions after which the filters are made anew.
    limit: usize,
    /// [`Gate::open`] was called.
    open: bool,
    /// [`Gate::take_any_sampler`] was called.
    any_sampler: bool,
}

/// Descriptors looked at together: one bit each.
const BLOCK: usize = 64;

/// What a descriptor write looks at first; everything here is written rarely.
///
/// The two filters hold the samplers that some view may conflict with and the views that some sampler may conflict with, by the
/// unions of all needs and all lacks so far. When a union grows the filters are made anew before the call that made it grow
/// returns, and only calls after that can name the new object.
pub struct Gate {
    look: AtomicBool,
    /// All ones when every pair counts as a conflict.
    force: u32,
    /// Sampler handle → needs in the high half, state number + 1 in the low half.
    samplers: FlatTable,
    /// View handle → lacks in the high half, class number + 1 in the low half.
    views: FlatTable,
    sampler_filter: BitFilter,
    view_filter: BitFilter,
    unions: Apart<Mutex<Unions>>,
    /// How often a sampler handle exists beyond once: drivers may return one handle for equal states. Guarded by the table's
    /// own lock; the flag spares all others a second one.
    duplicates: Apart<Mutex<FastMap<u64, u32>>>,
    has_duplicates: AtomicBool,
}

impl Gate {
    /// A gate without samplers and views; `everything` makes every known pair a conflict.
    pub fn new(everything: bool) -> Self {
        Self {
            look: AtomicBool::new(everything),
            force: if everything { u32::MAX } else { 0 },
            samplers: FlatTable::new(64),
            views: FlatTable::new(64),
            sampler_filter: BitFilter::new(everything),
            view_filter: BitFilter::new(everything),
            unions: Apart::default(),
            duplicates: Apart::default(),
            has_duplicates: AtomicBool::new(false),
        }
    }

    /// Whether any live combination can conflict, so that descriptors have to be looked at one by one.
    #[inline(always)]
    pub fn must_look(&self) -> bool {
        self.look.load(Ordering::Relaxed)
    }

    /// Lets every pair through from here on.
    pub fn open(&self) {
        // Under the lock, so that filters which are being made anew do not close it again.
        lock(&self.unions.0).open = true;
        self.look.store(false, Ordering::Relaxed);
    }

    /// Takes every sampler for one that may conflict from here on: which sampler a descriptor is with is not known where it has an
    /// immutable one. Then the view alone tells candidates.
    pub fn take_any_sampler(&self) {
        lock(&self.unions.0).any_sampler = true;
        self.sampler_filter.fill();
    }

    // ---- looking ----

    /// Whether the pair may conflict.
    #[inline(always)]
    pub fn candidate(&self, sampler: vk::Sampler, view: vk::ImageView) -> bool {
        self.sampler_filter.both(sampler.as_raw(), &self.view_filter, view.as_raw())
    }

    /// The pair, if it conflicts (or if every pair does). Takes no lock, writes nothing, cannot panic.
    ///
    /// Either word may be any value at all: an unknown one is no conflict.
    #[inline(always)]
    pub fn conflict(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        if self.candidate(sampler, view) { self.conflict_by_tables(sampler, view) } else { None }
    }

    #[inline(never)]
    fn conflict_by_tables(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        self.look_up(sampler, view)
    }

    /// The pair, if it conflicts, by the tables alone.
    #[inline(always)]
    pub fn look_up(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        let (sampler, view) = (sampler.as_raw(), view.as_raw());
        let (sampler_word, view_word) = (self.samplers.get(sampler), self.views.get(view));
        let conflict = ((sampler_word & view_word) >> 32) as u32;
        if conflict | self.force == 0 || sampler_word == 0 || view_word == 0 {
            return None;
        }
        Some(Pair {
            sampler,
            view,
            state: (sampler_word as u32).wrapping_sub(1),
            class: (view_word as u32).wrapping_sub(1),
        })
    }

    /// A bit for each of at most [`BLOCK`] pairs that may conflict.
    #[inline(always)]
    fn candidates(&self, block: &[DescriptorImageInfo]) -> u64 {
        let bits = block.iter().rev().map(|info| u64::from(self.candidate(info.sampler, info.image_view)));
        bits.fold(0, |all, bit| (all << 1) | bit)
    }

    /// Index of the first pair that conflicts.
    #[inline(never)]
    pub fn first_conflict(&self, infos: &[DescriptorImageInfo]) -> Option<usize> {
        for (block, start) in infos.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let mut left = self.candidates(block);
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(info) = block.get(at)
                    && self.look_up(info.sampler, info.image_view).is_some()
                {
                    return Some(start + at);
                }
            }
        }
        None
    }

    /// Copies `infos` to the start of `out`, with the chosen sampler in every pair that conflicts; `undecided` chooses for pairs
    /// without a choice ([`KEEP`](crate::choices::KEEP) stands for the given sampler). Returns how many samplers differ from the
    /// given ones.
    ///
    /// Copies nothing if `out` is shorter than `infos`.
    #[inline(never)]
    pub fn substitute(
        &self,
        choices: &Choices,
        infos: &[DescriptorImageInfo],
        out: &mut [MaybeUninit<DescriptorImageInfo>],
        undecided: &mut dyn FnMut(Pair) -> u64,
    ) -> u64 {
        let mut changed = 0;
        let Some(out) = out.get_mut(..infos.len()) else { return 0 };
        for (block, to) in infos.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            // SAFETY: an initialised element is a valid `MaybeUninit` of the same layout.
            to.copy_from_slice(unsafe { &*(std::ptr::from_ref(block) as *const [MaybeUninit<DescriptorImageInfo>]) });
            // SAFETY: all elements were just written.
            let to = unsafe { &mut *(std::ptr::from_mut(to) as *mut [DescriptorImageInfo]) };
            changed += self.substitute_in_place(choices, to, undecided, |_, _| ());
        }
        changed
    }

    /// Puts the chosen sampler into every pair of at most 64 that conflicts, and calls `changed` with each of these. Returns how
    /// many there are.
    #[inline(always)]
    pub fn substitute_in_place(
        &self,
        choices: &Choices,
        block: &mut [DescriptorImageInfo],
        undecided: &mut dyn FnMut(Pair) -> u64,
        mut changed: impl FnMut(usize, &DescriptorImageInfo),
    ) -> u64 {
        let mut count = 0;
        let mut left = self.candidates(block);
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(info) = block.get_mut(at) else { break };
            let Some(pair) = self.look_up(info.sampler, info.image_view) else { continue };
            let choice = choose(choices, pair, undecided);
            if choice != pair.sampler {
                info.sampler = vk::Sampler::from_raw(choice);
                changed(at, info);
                count += 1;
            }
        }
        count
    }

    // ---- what there is ----

    /// Word of a sampler: needs in the high half, state number + 1 in the low half; 0 for an unknown one.
    pub fn sampler(&self, sampler: u64) -> u64 {
        self.samplers.get(sampler)
    }

    /// Word of a view: lacks in the high half, class number + 1 in the low half; 0 for an unknown one.
    pub fn view(&self, view: u64) -> u64 {
        self.views.get(view)
    }

    /// Adds a sampler. If the driver returned a handle that is there already, the first one stays in force: a descriptor does not
    /// tell which of them it means. Then false is returned.
    #[inline]
    pub fn add_sampler(&self, sampler: u64, needs: u32, state: u32) -> bool {
        let word = (u64::from(needs) << 32) | (u64::from(state) + 1);
        let before = self.samplers.insert_unless(sampler, word, &mut || {
            *lock(&self.duplicates.0).with_room().entry(sampler).or_insert(0) += 1;
            self.has_duplicates.store(true, Ordering::Relaxed);
            true
        });
        // Also for a handle that was there: whoever entered it may not have come this far yet, and this call returns it as well.
        self.need(sampler, if before == 0 { needs } else { (before >> 32) as u32 });
        before == 0
    }

    /// Gives a sampler other needs and another state.
    pub fn replace_sampler(&self, sampler: u64, needs: u32, state: u32) {
        self.samplers.insert(sampler, (u64::from(needs) << 32) | (u64::from(state) + 1));
        self.need(sampler, needs);
    }

    #[inline]
    fn need(&self, sampler: u64, needs: u32) {
        if self.force != 0 || needs == 0 {
            return;
        }
        let mut unions = lock(&self.unions.0);
        if needs & !unions.needs != 0 {
            unions.needs |= needs;
            self.rebuild_filters(&mut unions);
        } else if needs & unions.lacks != 0 {
            self.sampler_filter.insert(sampler);
            self.count_stale(&mut unions);
        }
    }

    /// Gives a sampler another state.
    pub fn move_sampler(&self, sampler: u64, state: u32) {
        let word = self.samplers.get(sampler);
        if word != 0 {
            self.samplers.insert(sampler, (word & !u64::from(u32::MAX)) | (u64::from(state) + 1));
        }
    }

    /// Adds a view, or replaces it.
    #[inline]
    pub fn insert_view(&self, view: u64, lacks: u32, class: u32) {
        self.views.insert(view, (u64::from(lacks) << 32) | (u64::from(class) + 1));
        if self.force == 0 && lacks != 0 {
            let mut unions = lock(&self.unions.0);
            if lacks & !unions.lacks != 0 {
                unions.lacks |= lacks;
                self.rebuild_filters(&mut unions);
            } else if lacks & unions.needs != 0 {
                self.view_filter.insert(view);
                self.count_stale(&mut unions);
            }
        }
    }

    /// Forgets a sampler and returns its word, 0 for one never seen; `None` if its handle exists once more.
    #[inline]
    pub fn remove_sampler(&self, sampler: u64) -> Option<u64> {
        let mut duplicate = false;
        let word = self.samplers.remove_unless(sampler, &mut || {
            if !self.has_duplicates.load(Ordering::Relaxed) {
                return false;
            }
            let mut duplicates = lock(&self.duplicates.0);
            let Some(count) = duplicates.get_mut(&sampler) else { return false };
            *count -= 1;
            if *count == 0 {
                duplicates.remove(&sampler);
            }
            duplicate = true;
            true
        });
        (!duplicate).then_some(word)
    }

    /// Forgets a view.
    #[inline]
    pub fn remove_view(&self, view: u64) {
        self.views.remove(view);
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Number of sampler handles.
    pub fn samplers(&self) -> usize {
        self.samplers.len()
    }

    /// Bits of destroyed objects stay in the filters and cost time; after as many insertions as a filter has bits to spare both
    /// are made anew.
    fn count_stale(&self, unions: &mut Unions) {
        unions.stale += 1;
        if unions.stale >= unions.limit {
            self.rebuild_filters(unions);
        }
    }

    /// Makes both filters anew from the tables.
    #[cold]
    fn rebuild_filters(&self, unions: &mut Unions) {
        unions.stale = 0;
        // In proportion to what has to be walked, so that it costs a constant amount per insertion.
        unions.limit = (2 * (self.samplers.len() + self.views.len())).max(8192);
        let fill = |filter: &BitFilter, table: &FlatTable, other: u32| {
            filter.reset(|add| {
                table.for_each(&mut |handle, word| {
                    if (word >> 32) as u32 & other != 0 {
                        add(handle);
                    }
                });
            });
        };
        if !unions.any_sampler {
            fill(&self.sampler_filter, &self.samplers, unions.lacks);
        }
        fill(&self.view_filter, &self.views, unions.needs);
        if unions.needs & unions.lacks != 0 && !unions.open {
            self.look.store(true, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Samplers and views as a driver's pools hand them out: every other sampler needs what every other view lacks.
    fn scene(size: u64) -> (Gate, Vec<vk::Sampler>, Vec<vk::ImageView>) {
        let gate = Gate::new(false);
        let handles = |base: u64, stride: u64| (0..size).map(move |n| base + n * stride);
        let samplers: Vec<_> = handles(0x5555_5670_0010, 0x70).collect();
        let views: Vec<_> = handles(0x7fff_a000_0040, 0x160).collect();
        for (n, sampler) in samplers.iter().enumerate() {
            assert!(gate.add_sampler(*sampler, u32::from(n.is_multiple_of(2)), n as u32));
        }
        for (n, view) in views.iter().enumerate() {
            gate.insert_view(*view, u32::from(!n.is_multiple_of(2)), 0);
        }
        let views = views.into_iter().map(vk::ImageView::from_raw).collect();
        (gate, samplers.into_iter().map(vk::Sampler::from_raw).collect(), views)
    }

    fn infos(samplers: &[vk::Sampler], views: &[vk::ImageView]) -> Vec<DescriptorImageInfo> {
        let mut seed = 1_u64;
        let mut draw = |n: usize| {
            seed = crate::table::fold(seed + 1);
            (seed >> 20) as usize % n
        };
        let count = if cfg!(miri) { 200 } else { 20_000 };
        (0..count)
            .map(|_| DescriptorImageInfo {
                sampler: samplers[draw(samplers.len())],
                image_view: views[draw(views.len())],
                image_layout: vk::ImageLayout::GENERAL,
            })
            .collect()
    }

    fn position<T: PartialEq>(list: &[T], one: T) -> usize {
        list.iter().position(|other| *other == one).unwrap()
    }

    /// Whether the pair conflicts, from how the scene was made.
    fn conflicts(samplers: &[vk::Sampler], views: &[vk::ImageView], info: &DescriptorImageInfo) -> bool {
        position(samplers, info.sampler).is_multiple_of(2) && !position(views, info.image_view).is_multiple_of(2)
    }

    #[test]
    fn filters_pass_nothing_that_conflicts_and_most_of_the_rest() {
        for (size, most) in [(1, 0.0), (64, 0.01), (4096, 0.08)] {
            if cfg!(miri) && size > 64 {
                continue;
            }
            let (gate, samplers, views) = scene(size);
            let (mut legal, mut stopped) = (0_u32, 0_u32);
            for info in infos(&samplers, &views) {
                let candidate = gate.candidate(info.sampler, info.image_view);
                let conflict = conflicts(&samplers, &views, &info);
                assert_eq!(gate.conflict(info.sampler, info.image_view).is_some(), conflict);
                assert!(candidate || !conflict, "a conflict that the filters pass");
                legal += u32::from(!conflict);
                stopped += u32::from(candidate && !conflict);
            }
            let rate = f64::from(stopped) / f64::from(legal);
            println!("{size} samplers and views: the filters stop {:.2} % of what is legal", 100.0 * rate);
            assert!(rate <= most, "{size}: {rate}");
        }
    }

    #[test]
    fn a_handle_that_another_thread_is_still_entering_is_looked_at() {
        let gate = Gate::new(false);
        gate.insert_view(8, 1, 0);
        gate.insert_view(9, 0, 1);
        // The other thread has put the handle into the table and not come to the filters yet.
        gate.samplers.insert(7, (1 << 32) | 1);
        assert!(!gate.add_sampler(7, 1, 0), "the driver returned it twice");
        let conflict = |view| gate.conflict(vk::Sampler::from_raw(7), vk::ImageView::from_raw(view));
        assert!(gate.must_look() && conflict(8).is_some());
        assert_eq!(conflict(9), None);
    }

    #[test]
    fn where_any_sampler_may_be_meant_the_view_alone_tells_candidates() {
        let (gate, samplers, views) = scene(64);
        let unknown = vk::Sampler::from_raw(0x1234);
        assert!(!gate.candidate(unknown, views[1]) && !gate.candidate(unknown, views[0]));
        gate.take_any_sampler();
        let ask = |unknown| views.iter().map(|view| gate.candidate(unknown, *view)).collect::<Vec<_>>();
        let every_other: Vec<bool> = (0..64).map(|n| n % 2 == 1).collect();
        assert_eq!(ask(unknown), every_other);
        assert_eq!(gate.conflict(unknown, views[1]), None, "by the tables it is still unknown");
        // Filters that are made anew stay like this.
        assert!(gate.add_sampler(0x5678, 2, 64));
        assert_eq!(ask(samplers[1]), every_other);
    }

    #[test]
    fn the_first_conflict_is_found_wherever_it_lies() {
        let (gate, samplers, views) = scene(64);
        let legal = DescriptorImageInfo { sampler: samplers[0], image_view: views[0], ..Default::default() };
        let illegal = DescriptorImageInfo { image_view: views[1], ..legal };
        for count in [0, 1, 2, 63, 64, 65, 200] {
            let mut infos = vec![legal; count];
            assert_eq!(gate.first_conflict(&infos), None);
            for at in (0..count).rev() {
                infos[at] = illegal;
                assert_eq!(gate.first_conflict(&infos), Some(at), "of {count}");
            }
        }
    }

    #[test]
    fn exactly_the_conflicting_samplers_are_exchanged() {
        let (gate, samplers, views) = scene(64);
        let choices = Choices::default();
        samplers.iter().for_each(|_| _ = choices.add_row());
        // State 0 is kept, state 2 has no choice yet, all others have one.
        for state in 0..64 {
            let choice = match state {
                0 => crate::choices::KEEP,
                2 => continue,
                _ => 1000 + u64::from(state),
            };
            choices.publish(state, 0, choice);
        }
        let mut given = infos(&samplers, &views);
        // Not left to the draw: the one that is asked for.
        given.push(DescriptorImageInfo { sampler: samplers[2], image_view: views[1], ..Default::default() });
        let mut out = vec![MaybeUninit::uninit(); given.len()];
        let mut asked = 0;
        let changed = gate.substitute(&choices, &given, &mut out, &mut |pair| {
            assert_eq!((pair.state, pair.class), (2, 0));
            asked += 1;
            7
        });
        let mut expected = 0;
        for (from, to) in given.iter().zip(out) {
            // SAFETY: `substitute` writes every element.
            let to = unsafe { to.assume_init() };
            let state = position(&samplers, from.sampler) as u64;
            let sampler = match state {
                _ if !conflicts(&samplers, &views, from) => from.sampler.as_raw(),
                0 => from.sampler.as_raw(),
                2 => 7,
                state => 1000 + state,
            };
            assert_eq!(to.sampler.as_raw(), sampler);
            assert_eq!((to.image_view, to.image_layout), (from.image_view, from.image_layout));
            expected += u64::from(sampler != from.sampler.as_raw());
        }
        assert!(asked > 0);
        assert_eq!(changed, expected);
        let mut short = vec![MaybeUninit::uninit(); given.len() - 1];
        assert_eq!(gate.substitute(&choices, &given, &mut short, &mut |_| 7), 0, "no room");
    }
}
