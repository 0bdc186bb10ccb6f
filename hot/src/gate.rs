//! The gate that every descriptor passes: which (sampler, view) pairs conflict, and what reaches the driver instead.
//!
//! Three questions, each cheaper than the next: can anything on this device conflict at all ([`Gate::must_look`])? May this
//! sampler and this view, by two bits in filters that stay in the first-level cache? Do they, by their words in the tables?

mod samplers;

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ash::vk::{self, DescriptorImageInfo, Handle};

use crate::choices::{Choices, Chosen, KEEP, Pair, UNDECIDED};
use crate::lock::lock;
use crate::memory::Room;
use crate::table::{Apart, BitFilter, Counts, FastMap, FlatTable, Reader, Writing};

pub use self::samplers::Samplers;

/// What the lock of samplers guards beside their table.
struct Guarded<W> {
    /// Of [`Gate::sampler_filter`].
    counts: Counts,
    /// [`Gate::take_any_sampler`] was called.
    any_sampler: bool,
    with: W,
}

/// Descriptors looked at together: one bit each.
const BLOCK: usize = 64;

/// What a descriptor write looks at first; everything here is written rarely.
///
/// The two filters hold the samplers that some view may conflict with and the views that some sampler may conflict with, by the
/// unions of all needs and all lacks so far. Each holds what is in its table at any time its lock is free. When a union grows the filters
/// are filled again from the tables before the call that made it grow returns, and only calls after that can name the new object.
pub struct Gate<W = ()> {
    /// What reaches the driver for pairs that conflict, by state and class.
    pub choices: Choices,
    look: AtomicBool,
    /// All ones when every pair counts as a conflict.
    force: u32,
    /// Sampler handle → needs in the high half, state number + 1 in the low half.
    samplers: FlatTable<Guarded<W>>,
    /// View handle → lacks in the high half, class number + 1 in the low half. Its lock guards the counts of the view filter.
    views: FlatTable<Counts>,
    sampler_filter: BitFilter,
    /// The same, or every sampler once [`Gate::take_any_sampler`] was called.
    any_filter: BitFilter,
    view_filter: BitFilter,
    /// What samplers ever needed in the high half, what views ever lacked in the low half: written under both locks, read under one.
    unions: AtomicU64,
    /// [`Gate::open`] was called.
    open: AtomicBool,
    /// How often a sampler handle exists beyond once: drivers may return one handle for equal states. Guarded by the table's
    /// own lock; the flag spares all others a second one.
    duplicates: Apart<Mutex<FastMap<u64, u32>>>,
    has_duplicates: AtomicBool,
}

impl Gate {
    /// A gate without samplers and views; `everything` makes every known pair a conflict.
    pub fn new(everything: bool) -> Self {
        Self::with(everything, ())
    }
}

impl<W> Gate<W> {
    /// The same, whose lock of samplers guards `with` as well.
    pub fn with(everything: bool, with: W) -> Self {
        Self {
            choices: Choices::default(),
            look: AtomicBool::new(everything),
            force: if everything { u32::MAX } else { 0 },
            samplers: FlatTable::with(64, Guarded { counts: Counts::default(), any_sampler: false, with }),
            views: FlatTable::with(64, Counts::default()),
            sampler_filter: BitFilter::new(everything),
            any_filter: BitFilter::new(everything),
            view_filter: BitFilter::new(everything),
            unions: AtomicU64::new(0),
            open: AtomicBool::new(false),
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
        // In this order, so that whoever closes it at the same time sees that it is to stay open.
        self.open.store(true, Ordering::SeqCst);
        self.look.store(false, Ordering::SeqCst);
    }

    /// Takes every sampler for one that may conflict from here on: which sampler a descriptor is with is not known where it has an
    /// immutable one. Then the view alone tells candidates, until it is known that the sampler is what is written.
    pub fn take_any_sampler(&self) {
        let mut samplers = self.samplers.write();
        samplers.with().any_sampler = true;
        self.any_filter.fill();
    }

    // ---- looking ----

    /// Whether a descriptor that this pair is written to may conflict; its sampler may be another one.
    #[inline(always)]
    pub fn candidate(&self, sampler: vk::Sampler, view: vk::ImageView) -> bool {
        self.any_filter.both(sampler.as_raw(), &self.view_filter, view.as_raw())
    }

    /// Whether the pair itself may conflict.
    #[inline(always)]
    pub fn may_conflict(&self, sampler: vk::Sampler, view: vk::ImageView) -> bool {
        self.sampler_filter.both(sampler.as_raw(), &self.view_filter, view.as_raw())
    }

    /// The pair, if it conflicts (or if every pair does). Takes no lock, writes nothing, cannot panic.
    ///
    /// Either word may be any value at all: an unknown one is no conflict.
    #[inline(always)]
    pub fn conflict(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        if self.may_conflict(sampler, view) { self.conflict_by_tables(sampler, view) } else { None }
    }

    #[inline(never)]
    fn conflict_by_tables(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        self.look_up(sampler, view)
    }

    /// The pair, if it conflicts, by the tables alone.
    #[inline(always)]
    pub fn look_up(&self, sampler: vk::Sampler, view: vk::ImageView) -> Option<Pair> {
        let (sampler, view) = (sampler.as_raw(), view.as_raw());
        let (sampler_word, view_word) = self.samplers.reader().both(sampler, self.views.reader(), view);
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
        let bits = block.iter().rev().map(|info| u64::from(self.may_conflict(info.sampler, info.image_view)));
        bits.fold(0, |all, bit| (all << 1) | bit)
    }

    /// What is asked of for each pair of a block that may conflict, found once for all of them.
    #[inline(always)]
    pub fn look(&self) -> Look<'_> {
        let (samplers, views) = (self.samplers.reader(), self.views.reader());
        Look { samplers, views, force: self.force, choices: self.choices.reader() }
    }

    /// Where the first pair is that conflicts.
    #[inline(never)]
    pub fn first_conflict(&self, infos: &[DescriptorImageInfo]) -> Option<Start> {
        for (block, start) in infos.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            let mut left = self.candidates(block);
            while left != 0 {
                if let Some(info) = block.get(left.trailing_zeros() as usize)
                    && self.look_up(info.sampler, info.image_view).is_some()
                {
                    return Some(Start { block: start, left });
                }
                left &= left - 1;
            }
        }
        None
    }

    /// Copies `infos` to the start of `out`, with the chosen sampler in every pair that conflicts; `first` is where the first of these
    /// is. `undecided` chooses for pairs without a choice ([`KEEP`] stands for the given sampler). Returns how
    /// many samplers differ from the given ones.
    ///
    /// Copies nothing if `out` is shorter than `infos`.
    #[inline(never)]
    pub fn substitute(
        &self,
        infos: &[DescriptorImageInfo],
        out: &mut [MaybeUninit<DescriptorImageInfo>],
        first: Start,
        undecided: &mut dyn FnMut(Pair) -> u64,
    ) -> u64 {
        let Some(out) = out.get_mut(..infos.len()) else { return 0 };
        // SAFETY: an initialised element is a valid `MaybeUninit` of the same layout.
        out.copy_from_slice(unsafe { &*(std::ptr::from_ref(infos) as *const [MaybeUninit<DescriptorImageInfo>]) });
        // SAFETY: all elements were just written.
        let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [DescriptorImageInfo]) };
        let mut changed = 0;
        let mut left = first.left;
        for (nth, block) in out.get_mut(first.block..).unwrap_or_default().chunks_mut(BLOCK).enumerate() {
            if nth != 0 {
                left = self.candidates(block);
            }
            let look = self.look();
            let is_large = look.samplers.suits_buckets() && look.views.suits_buckets();
            changed += if is_large {
                look.substitute::<true>(block, left, undecided)
            } else {
                look.substitute::<false>(block, left, undecided)
            };
        }
        changed
    }

    // ---- what there is ----

    /// Word of a sampler: needs in the high half, state number + 1 in the low half; 0 for an unknown one.
    pub fn sampler(&self, sampler: u64) -> u64 {
        self.samplers.get(sampler)
    }

    /// All that views lack so far.
    pub fn all_lacks(&self) -> u32 {
        self.unions().1
    }

    /// Word of a view: lacks in the high half, class number + 1 in the low half; 0 for an unknown one.
    pub fn view(&self, view: u64) -> u64 {
        self.views.get(view)
    }

    /// Words of samplers, or of views, for several look-ups.
    #[inline(always)]
    pub fn words(&self, of_samplers: bool) -> Reader<'_> {
        if of_samplers { self.samplers.reader() } else { self.views.reader() }
    }

    /// Adds a sampler, see [`Samplers::add`].
    pub fn add_sampler(&self, sampler: u64, needs: u32, state: u32) -> bool {
        self.write_samplers().add(sampler, needs, state)
    }

    /// Keeps other threads from adding and removing samplers, and from what the lock guards.
    #[inline(always)]
    pub fn write_samplers(&self) -> Samplers<'_, W> {
        Samplers { gate: self, table: self.samplers.write() }
    }

    /// [`Gate::unions`], under one of the locks: needs and lacks.
    #[inline(always)]
    fn unions(&self) -> (u32, u32) {
        let unions = self.unions.load(Ordering::Relaxed);
        ((unions >> 32) as u32, unions as u32)
    }

    /// Whether filters have to take note of an object that needs, or lacks, `own`; `others` and `opposite` are the unions of both.
    #[inline(always)]
    fn concerns(&self, own: u32, others: u32, opposite: u32) -> bool {
        own & (!others | opposite) != 0 && self.force == 0
    }

    /// Counts a handle that was there already, under the table's lock.
    #[cold]
    #[inline(never)]
    fn count_duplicate(&self, sampler: u64) {
        *lock(&self.duplicates.0).with_room().entry(sampler).or_insert(0) += 1;
        self.has_duplicates.store(true, Ordering::Relaxed);
    }

    /// Whether a handle was there more than once, which is once less then; under the table's lock.
    #[cold]
    #[inline(never)]
    fn uncount_duplicate(&self, sampler: u64) -> bool {
        let mut duplicates = lock(&self.duplicates.0);
        let Some(count) = duplicates.get_mut(&sampler) else { return false };
        *count -= 1;
        if *count == 0 {
            duplicates.remove(&sampler);
        }
        true
    }

    /// Gives a sampler other needs and another state.
    pub fn replace_sampler(&self, sampler: u64, needs: u32, state: u32) {
        let mut samplers = self.write_samplers();
        let before = samplers.table.insert(sampler, (u64::from(needs) << 32) | (u64::from(state) + 1));
        samplers.meet(sampler, needs, (before >> 32) as u32);
    }

    /// Gives a sampler another state.
    pub fn move_sampler(&self, sampler: u64, state: u32) {
        let word = self.samplers.get(sampler);
        if word != 0 {
            self.samplers.insert(sampler, (word & !u64::from(u32::MAX)) | (u64::from(state) + 1));
        }
    }

    /// Adds a view, or replaces it.
    pub fn insert_view(&self, view: u64, lacks: u32, class: u32) {
        self.enter_view(self.views.write(), view, lacks, class);
    }

    /// The same where that takes no memory, so that nothing unwinds: for lacks that a view had before. Whether it did.
    #[inline(always)]
    pub fn insert_view_in_room(&self, view: u64, lacks: u32, class: u32) -> bool {
        let views = self.views.write();
        let has_room = views.has_room();
        if has_room {
            self.enter_view(views, view, lacks, class);
        }
        has_room
    }

    #[inline(always)]
    fn enter_view(&self, mut views: Writing<'_, Counts>, view: u64, lacks: u32, class: u32) {
        let before = (views.insert(view, (u64::from(lacks) << 32) | (u64::from(class) + 1)) >> 32) as u32;
        let (all_needs, all_lacks) = self.unions();
        if self.concerns(lacks | before, all_lacks, all_needs) {
            self.meet_view(views, view, lacks, before);
        }
    }

    /// Takes a view into its filter that is in the table, where it was one that lacked `before`.
    #[inline(never)]
    fn meet_view(&self, mut views: Writing<'_, Counts>, view: u64, lacks: u32, before: u32) {
        let (all_needs, all_lacks) = self.unions();
        if lacks & !all_lacks != 0 {
            drop(views);
            return self.widen(0, lacks);
        }
        if lacks & all_needs != 0 && views.with().add(view) {
            self.view_filter.insert(view);
        }
        if before & all_needs != 0 {
            self.leave_view(&mut views, view);
        }
    }

    /// Forgets a view.
    #[inline]
    pub fn remove_view(&self, view: u64) {
        let mut views = self.views.write();
        let lacks = (views.remove(view) >> 32) as u32;
        if lacks & self.unions().0 != 0 {
            self.leave_view(&mut views, view);
        }
    }

    #[inline(never)]
    fn leave_view(&self, views: &mut Writing<'_, Counts>, view: u64) {
        if views.with().remove(view) {
            self.view_filter.remove(view);
        }
    }

    /// Lets the unions grow, and fills both filters from the tables.
    #[cold]
    #[inline(never)]
    fn widen(&self, needs: u32, lacks: u32) {
        if self.force != 0 {
            return;
        }
        let (mut samplers, mut views) = (self.samplers.write(), self.views.write());
        let (all_needs, all_lacks) = self.unions();
        let (needs, lacks) = (all_needs | needs, all_lacks | lacks);
        if needs & lacks != 0 {
            let mut counts = [Counts::new(), Counts::new()];
            fill(&self.sampler_filter, &mut counts[0], &samplers, lacks);
            fill(&self.view_filter, &mut counts[1], &views, needs);
            let guarded = samplers.with();
            if !guarded.any_sampler {
                self.any_filter.take(&self.sampler_filter);
            }
            [guarded.counts, *views.with()] = counts;
        }
        self.unions.store((u64::from(needs) << 32) | u64::from(lacks), Ordering::Relaxed);
        if needs & lacks != 0 {
            self.look.store(true, Ordering::SeqCst);
            if self.open.load(Ordering::SeqCst) {
                self.look.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Views ever.
    pub fn views_ever(&self) -> u64 {
        self.views.insertions()
    }

    /// Number of views.
    pub fn views(&self) -> usize {
        self.views.len()
    }

    /// Number of sampler handles.
    pub fn samplers(&self) -> usize {
        self.samplers.len()
    }
}

/// Where pairs of an array start to conflict: the first of the 64 among which the first one is, and a bit for each of these from there
/// on that may conflict.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    block: usize,
    left: u64,
}

/// The tables of a gate as they are now: every handle that a call names was entered before the call.
pub struct Look<'g> {
    samplers: Reader<'g>,
    views: Reader<'g>,
    force: u32,
    choices: Chosen<'g>,
}

impl Look<'_> {
    /// The sampler to hand down for a pair, by the tables alone; `undecided` chooses where there is no choice yet.
    #[inline(always)]
    pub fn choice(
        &self,
        sampler: vk::Sampler,
        view: vk::ImageView,
        undecided: &mut dyn FnMut(Pair) -> u64,
    ) -> vk::Sampler {
        let (sampler_word, view_word) = self.samplers.both(sampler.as_raw(), self.views, view.as_raw());
        self.choice_by(sampler_word, view_word, sampler, view, undecided)
    }

    /// Exchanges the samplers of those pairs of a block that `left` has a bit for and that conflict. Returns how many differ.
    ///
    /// By itself for each size of tables: with both ways in one loop there are too few registers.
    #[inline(never)]
    fn substitute<const LARGE: bool>(
        &self,
        block: &mut [DescriptorImageInfo],
        mut left: u64,
        undecided: &mut dyn FnMut(Pair) -> u64,
    ) -> u64 {
        let mut changed = 0;
        while left != 0 {
            let at = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(info) = block.get_mut(at) else { break };
            let (sampler, view) = (info.sampler.as_raw(), info.image_view.as_raw());
            let (sampler_word, view_word) = match LARGE {
                true => self.samplers.both_in_buckets(sampler, self.views, view),
                false => (self.samplers.get(sampler), self.views.get(view)),
            };
            let choice = self.choice_by(sampler_word, view_word, info.sampler, info.image_view, undecided);
            changed += u64::from(choice != info.sampler);
            info.sampler = choice;
        }
        changed
    }

    #[inline(always)]
    fn choice_by(
        &self,
        sampler_word: u64,
        view_word: u64,
        sampler: vk::Sampler,
        view: vk::ImageView,
        undecided: &mut dyn FnMut(Pair) -> u64,
    ) -> vk::Sampler {
        let conflict = ((sampler_word & view_word) >> 32) as u32;
        // Where every pair is one that conflicts, both still have to be known.
        if conflict == 0 && (self.force == 0 || sampler_word == 0 || view_word == 0) {
            return sampler;
        }
        let choice = match self.choices.choice(sampler_word as u32, view_word as u32) {
            UNDECIDED => {
                let (state, class) = ((sampler_word as u32).wrapping_sub(1), (view_word as u32).wrapping_sub(1));
                undecided(Pair { sampler: sampler.as_raw(), view: view.as_raw(), state, class })
            }
            choice => choice,
        };
        if choice == KEEP { sampler } else { vk::Sampler::from_raw(choice) }
    }
}

/// Makes a filter hold the handles that meet what is on the other side, and counts them.
fn fill<T>(filter: &BitFilter, counts: &mut Counts, table: &Writing<'_, T>, other: u32) {
    filter.reset(|add| {
        table.for_each(&mut |handle, word| {
            if (word >> 32) as u32 & other != 0 && counts.add(handle) {
                add(handle);
            }
        });
    });
}

#[cfg(all(test, not(loom)))]
mod tests;
