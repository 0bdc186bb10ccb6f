//! The gate that every descriptor passes: which (sampler, view) pairs conflict, and what goes down instead.
//!
//! Three questions, each cheaper than the next: can anything on this device conflict at all ([`Gate::must_look`])? May this
//! sampler and this view, by two bits in filters that stay in the first-level cache? Do they, by their words in the tables?

mod samplers;

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use ash::vk::{self, DescriptorImageInfo, Handle};

use crate::choices::{Choices, Chosen, KEEP, Pair, UNDECIDED};
use crate::lock::{Lock, lock};
use crate::memory::Room;
use crate::table::{Apart, BitFilter, FastMap, FlatTable, Reader};

pub use self::samplers::Samplers;

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

/// The sides of a pair, in [`Gate::stale`].
const SAMPLERS: usize = 0;
const VIEWS: usize = 1;

/// Bits of removed objects on one side that are put up with although a new object meets one: what filters are made anew for costs as much
/// as a hundred instructions for each.
const STALE: u32 = 64;

/// Descriptors looked at together: one bit each.
const BLOCK: usize = 64;

/// What a descriptor write looks at first; everything here is written rarely.
///
/// The two filters hold the samplers that some view may conflict with and the views that some sampler may conflict with, by the
/// unions of all needs and all lacks so far. When a union grows the filters are made anew before the call that made it grow
/// returns, and only calls after that can name the new object.
pub struct Gate<W = ()> {
    /// What goes down for pairs that conflict, by state and class.
    pub choices: Choices,
    look: AtomicBool,
    /// All ones when every pair counts as a conflict.
    force: u32,
    /// Sampler handle → needs in the high half, state number + 1 in the low half.
    samplers: FlatTable<W>,
    /// View handle → lacks in the high half, class number + 1 in the low half.
    views: FlatTable,
    sampler_filter: BitFilter,
    /// The same, or every sampler once [`Gate::take_any_sampler`] was called.
    any_filter: BitFilter,
    view_filter: BitFilter,
    unions: Apart<Lock<Unions>>,
    /// [`Unions::needs`] in the high half and [`Unions::lacks`] in the low half, for objects that change neither and conflict with
    /// nothing: those need no second lock. Read under the lock of a table after the object was entered there, and written before the
    /// tables are walked for new filters, under these locks: so whoever comes second sees the other.
    sums: AtomicU64,
    /// How many samplers and views were removed whose bits are still in the filters: what is created in their place would be taken for
    /// what they were. Each is written under the lock of its table.
    stale: [AtomicU32; 2],
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
            samplers: FlatTable::with(64, with),
            views: FlatTable::new(64),
            sampler_filter: BitFilter::new(everything),
            any_filter: BitFilter::new(everything),
            view_filter: BitFilter::new(everything),
            unions: Apart::default(),
            sums: AtomicU64::new(0),
            stale: Default::default(),
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
        self.unions.0.lock().open = true;
        self.look.store(false, Ordering::Relaxed);
    }

    /// Takes every sampler for one that may conflict from here on: which sampler a descriptor is with is not known where it has an
    /// immutable one. Then the view alone tells candidates, until it is known that the sampler is what is written.
    pub fn take_any_sampler(&self) {
        self.unions.0.lock().any_sampler = true;
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

    /// Word of a view: lacks in the high half, class number + 1 in the low half; 0 for an unknown one.
    pub fn view(&self, view: u64) -> u64 {
        self.views.get(view)
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

    /// Whether filters have to be told of an object that needs, or lacks, `own`; `others` and `opposite` are the halves of the sums.
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
        self.samplers.insert(sampler, (u64::from(needs) << 32) | (u64::from(state) + 1));
        self.need(sampler, needs);
    }

    /// Tells the filters of a sampler that is in the table.
    #[inline(never)]
    fn need(&self, sampler: u64, needs: u32) {
        if self.force != 0 {
            return;
        }
        let mut unions = self.unions.0.lock();
        if needs & !unions.needs != 0 {
            unions.needs |= needs;
            self.rebuild_filters(&mut unions);
        } else if needs & unions.lacks != 0 && self.sampler_filter.insert(sampler) {
            self.any_filter.insert(sampler);
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
    pub fn insert_view(&self, view: u64, lacks: u32, class: u32) {
        self.views.insert(view, (u64::from(lacks) << 32) | (u64::from(class) + 1));
        self.lack(view, lacks);
    }

    /// The same where that takes no memory, so that nothing unwinds. Whether it did.
    #[inline(always)]
    pub fn insert_view_in_room(&self, view: u64, lacks: u32, class: u32) -> bool {
        let mut views = self.views.write();
        if !views.has_room() {
            return false;
        }
        views.insert(view, (u64::from(lacks) << 32) | (u64::from(class) + 1));
        let sums = self.sums.load(Ordering::Relaxed);
        drop(views);
        if self.concerns(lacks, sums as u32, (sums >> 32) as u32) {
            self.lack(view, lacks);
        } else {
            self.look_for_stale(VIEWS, &self.view_filter, view);
        }
        true
    }

    /// Tells the filters of a view that is in the table.
    #[inline(never)]
    fn lack(&self, view: u64, lacks: u32) {
        if self.force != 0 {
            return;
        }
        let mut unions = self.unions.0.lock();
        if lacks & !unions.lacks != 0 {
            unions.lacks |= lacks;
            self.rebuild_filters(&mut unions);
        } else if lacks & unions.needs != 0 && self.view_filter.insert(view) {
            self.count_stale(&mut unions);
        }
    }

    /// Forgets a view.
    #[inline]
    pub fn remove_view(&self, view: u64) {
        let mut views = self.views.write();
        let word = views.remove(view);
        self.leave(VIEWS, (word >> 32) & self.sums.load(Ordering::Relaxed) >> 32);
    }

    /// Counts an object that was removed, under the lock of its table; `meets` is what of the other side it may have conflicted with.
    #[inline(always)]
    fn leave(&self, side: usize, meets: u64) {
        if meets != 0 {
            let stale = &self.stale[side];
            stale.store(stale.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }

    /// Makes filters anew if one takes a new object, which conflicts with nothing, for one of many that were removed.
    #[inline(always)]
    fn look_for_stale(&self, side: usize, filter: &BitFilter, handle: u64) {
        if self.stale[side].load(Ordering::Relaxed) >= STALE && filter.may_hold(handle) {
            self.renew();
        }
    }

    #[cold]
    #[inline(never)]
    fn renew(&self) {
        if self.force == 0 {
            self.rebuild_filters(&mut self.unions.0.lock());
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
        self.stale.iter().for_each(|stale| stale.store(0, Ordering::Relaxed));
        self.sums.store((u64::from(unions.needs) << 32) | u64::from(unions.lacks), Ordering::Relaxed);
        // In proportion to what has to be walked, so that it costs a constant amount per insertion.
        unions.limit = (2 * (self.samplers.len() + self.views.len())).max(8192);
        fill(&self.sampler_filter, &self.samplers, unions.lacks);
        if !unions.any_sampler {
            self.any_filter.take(&self.sampler_filter);
        }
        fill(&self.view_filter, &self.views, unions.needs);
        if unions.needs & unions.lacks != 0 && !unions.open {
            self.look.store(true, Ordering::Release);
        }
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
        let words = self.samplers.both(sampler.as_raw(), self.views, view.as_raw());
        self.choice_by(words, sampler, view, undecided)
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
            let words = match LARGE {
                true => self.samplers.both_in_buckets(sampler, self.views, view),
                false => (self.samplers.get(sampler), self.views.get(view)),
            };
            let choice = self.choice_by(words, info.sampler, info.image_view, undecided);
            changed += u64::from(choice != info.sampler);
            info.sampler = choice;
        }
        changed
    }

    #[inline(always)]
    fn choice_by(
        &self,
        (sampler_word, view_word): (u64, u64),
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

/// Makes a filter anew of the handles that meet what is on the other side.
fn fill<W>(filter: &BitFilter, table: &FlatTable<W>, other: u32) {
    filter.reset(|add| {
        table.for_each(&mut |handle, word| {
            if (word >> 32) as u32 & other != 0 {
                add(handle);
            }
        });
    });
}

#[cfg(all(test, not(loom)))]
mod tests;
