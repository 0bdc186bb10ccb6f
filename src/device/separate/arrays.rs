//! Arrays that a shader indexes, and bindings that may be updated after their set was bound: which handle is in which slot, and what it
//! stood for when it was written.
//!
//! All memory of a set's arrays is there from the start, so that writes take none; the host finds pages for what is written. Nothing is
//! looked for where nothing can conflict: blocks of slots, sets and bindings have sums of what was ever written.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk::{self, Handle};
use samplin_hot::memory;
use samplin_spirv::Sampled;

use super::blocks::Table;
use super::words::Counted;
use crate::decide::ConflictBits;
use crate::table::Reader;
use crate::variant::Gate;

/// Slots that have a sum of their own.
const BLOCK: usize = 256;
const INTEGER: u64 = (ConflictBits::INTEGER.0 as u64) << 32;

/// What descriptors need, and in the upper half what they lack, for as long as this lives: of samplers and of views of floats in the
/// first word, of views of integers in the second.
#[derive(Debug, Default)]
pub(super) struct Sum([AtomicU64; 2]);

impl Sum {
    /// Whether any of these is new.
    #[inline(always)]
    pub(super) fn add(&self, bits: Kinds) -> bool {
        let mut is_news = false;
        for (own, bits) in self.0.iter().zip(bits.0) {
            if own.load(Ordering::Relaxed) & bits != bits {
                own.fetch_or(bits, Ordering::Relaxed);
                is_news = true;
            }
        }
        is_news
    }

    /// The same of one descriptor.
    #[inline(always)]
    pub(super) fn add_one(&self, bits: u64) -> bool {
        let [floats, integers] = &self.0;
        let own = if bits & INTEGER == 0 { floats } else { integers };
        let is_news = own.load(Ordering::Relaxed) & bits != bits;
        if is_news {
            own.fetch_or(bits, Ordering::Relaxed);
        }
        is_news
    }

    /// What samplers need.
    pub(super) fn needs(&self) -> u32 {
        self.0[0].load(Ordering::Relaxed) as u32
    }

    /// What views lack that may be read as this type, or as any. Others may not be (VUID-vkCmdDraw-format-07753).
    pub(super) fn lacks(&self, sampled: Option<Sampled>) -> u32 {
        let all = sampled.map_or(self.all(), |own| self.0[usize::from(own != Sampled::Float)].load(Ordering::Relaxed));
        (all >> 32) as u32
    }

    /// All of it.
    pub(super) fn all(&self) -> u64 {
        self.0.iter().fold(0, |all, word| all | word.load(Ordering::Relaxed))
    }
}

/// What is looked for in a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    Samplers,
    /// Those that may be read as this type, or as any.
    Images(Option<Sampled>),
}

/// What some descriptors need and lack, as a [`Sum`] has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds([u64; 2]);

impl Kinds {
    /// Adds those of a handle.
    #[inline(always)]
    fn add(&mut self, bits: u64) {
        let is_integer = 0_u64.wrapping_sub(u64::from(bits & INTEGER != 0));
        self.0[0] |= bits & !is_integer;
        self.0[1] |= bits & is_integer;
    }
}

/// What is written: samplers or images, and the table that says what they stand for.
#[derive(Clone, Copy)]
pub(super) struct Infos<'w, const SAMPLERS: bool> {
    pub(super) infos: &'w [vk::DescriptorImageInfo],
    pub(super) words: Reader<'w>,
}

impl<const SAMPLERS: bool> Infos<'_, SAMPLERS> {
    /// What they need and lack, where there is no room for them.
    pub(super) fn kinds(self) -> Kinds {
        self.each(std::iter::repeat(()), |(), _, _| ())
    }

    /// Calls `with` for each, with a slot, its handle and [`Meaning::word`]. What all of them need and lack.
    #[inline(always)]
    fn each<S>(self, slots: impl Iterator<Item = S>, with: impl Fn(S, u64, u32)) -> Kinds {
        let mut kinds = Kinds::default();
        for (slot, info) in slots.zip(self.infos) {
            let handle = if SAMPLERS { info.sampler.as_raw() } else { info.image_view.as_raw() };
            let word = self.words.get(handle);
            with(slot, handle, word as u32);
            // What samplers need is moved to its place at the end, and no sampler is of integers.
            if SAMPLERS { kinds.0[0] |= word } else { kinds.add(word) }
        }
        kinds.0 = kinds.0.map(|all| if SAMPLERS { all >> 32 } else { all & !u64::from(u32::MAX) });
        kinds
    }
}

/// What a handle stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// The number of a sampler's state or of a view's class, and 1; 0 if there is none. It never changes but with the descriptor, so a
    /// table of rows for states and of columns for classes can change beside it.
    pub(super) word: u32,
    /// What it needs, and in the upper half what it lacks.
    pub(super) bits: u64,
}

impl Meaning {
    #[inline(always)]
    pub(super) fn of(gate: &Gate, handle: u64, is_sampler: bool) -> Self {
        Self::read(gate.words(is_sampler), handle, is_sampler)
    }

    #[inline(always)]
    pub(super) fn read(words: Reader<'_>, handle: u64, is_sampler: bool) -> Self {
        let word = words.get(handle);
        let bits = if is_sampler { word >> 32 } else { word & !u64::from(u32::MAX) };
        Self { word: word as u32, bits }
    }
}

/// The memory of the arrays of all sets.
#[derive(Debug, Default)]
pub(super) struct Budget {
    bytes: Arc<AtomicU64>,
    most: u64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Self {
        Self { most, ..Self::default() }
    }

    /// Sets that have arrays.
    pub(super) fn count(&self) -> usize {
        // Each holds a share of the count.
        Arc::strong_count(&self.bytes) - 1
    }
}

/// The arrays of a set, by slots.
#[derive(Debug)]
pub(super) struct Arrays {
    handles: Box<[AtomicU64]>,
    words: Box<[AtomicU32]>,
    blocks: Box<[Sum]>,
    /// What shaders look up of it, once they do.
    pub(super) table: OnceLock<Arc<Table>>,
    _counted: Counted,
}

impl Arrays {
    /// So many slots, all of them 0; none if that is more than there may be.
    pub(super) fn new(slots: usize, budget: &Budget) -> Option<Self> {
        let bytes = slots.checked_mul(size_of::<u64>() + size_of::<u32>())?;
        let counted = Counted::within(&budget.bytes, bytes, budget.most)?;
        let blocks = memory::collect((0..slots.div_ceil(BLOCK)).map(|_| Sum::default())).into_boxed_slice();
        let (handles, words) = (memory::zeroed(slots), memory::zeroed(slots));
        Some(Self { handles, words, blocks, table: OnceLock::new(), _counted: counted })
    }

    pub(super) fn get(&self, slot: usize) -> u64 {
        self.handles.get(slot).map_or(0, |handle| handle.load(Ordering::Relaxed))
    }

    /// What the handle in a slot stood for when it was written, see [`Meaning::word`].
    pub(super) fn word(&self, slot: usize) -> Option<u32> {
        Some(self.words.get(slot)?.load(Ordering::Relaxed))
    }

    /// The handles of some slots.
    #[inline(always)]
    pub(super) fn handles(&self, range: Range<usize>) -> impl Iterator<Item = u64> {
        self.handles.get(range).unwrap_or(&[]).iter().map(|handle| handle.load(Ordering::Relaxed))
    }

    /// What the handles in some slots stood for when they were written.
    #[inline(always)]
    pub(super) fn words(&self, range: Range<usize>) -> impl Iterator<Item = u32> {
        self.words.get(range).unwrap_or(&[]).iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Sets a slot. Whether its block was never seen with such a one; also if there is no such slot.
    #[inline(always)]
    pub(super) fn set_one(&self, slot: usize, handle: u64, meaning: Meaning) -> bool {
        let (own, word) = (self.handles.get(slot), self.words.get(slot));
        let (Some(own), Some(word), Some(block)) = (own, word, self.blocks.get(slot / BLOCK)) else { return true };
        own.store(handle, Ordering::Relaxed);
        word.store(meaning.word, Ordering::Relaxed);
        block.add_one(meaning.bits)
    }

    /// Sets slots from one on. What they need and lack. Two threads may set different slots.
    #[inline(always)]
    pub(super) fn set<const SAMPLERS: bool>(&self, first: usize, all: Infos<'_, SAMPLERS>) -> Kinds {
        let (mut at, mut rest, mut seen) = (first, all.infos, Kinds::default());
        while let Some((infos, others)) = rest.split_at_checked(rest.len().min(BLOCK - at % BLOCK))
            && !infos.is_empty()
        {
            let own = Infos::<SAMPLERS> { infos, ..all };
            let end = at + infos.len();
            let (handles, words) = (self.handles.get(at..end), self.words.get(at..end));
            let kinds = match (handles, words, self.blocks.get(at / BLOCK)) {
                (Some(handles), Some(words), Some(block)) => {
                    let kinds = own.each(handles.iter().zip(words), |(slot, own), handle, word| {
                        slot.store(handle, Ordering::Relaxed);
                        own.store(word, Ordering::Relaxed);
                    });
                    block.add(kinds);
                    kinds
                }
                // What there is no room for is seen as well.
                _ => own.kinds(),
            };
            seen = Kinds([seen.0[0] | kinds.0[0], seen.0[1] | kinds.0[1]]);
            (at, rest) = (end, others);
        }
        seen
    }

    /// Calls `with` for each slot in `range` that is not 0 and lies in a block with a sum that `may` be meant, until it has found something.
    pub(super) fn find<R>(
        &self,
        range: Range<usize>,
        may: impl Fn(&Sum) -> bool,
        mut with: impl FnMut(usize, u64, u32) -> Option<R>,
    ) -> Option<R> {
        let (mut slot, last) = (range.start, range.end.min(self.handles.len()));
        while slot < last {
            let end = ((slot / BLOCK + 1) * BLOCK).min(last);
            if self.blocks.get(slot / BLOCK).is_some_and(&may) {
                let mut own = (slot..end).filter_map(|at| Some((at, self.get(at), self.word(at)?)));
                if let Some(found) = own.find_map(|(at, handle, word)| (handle != 0).then(|| with(at, handle, word))?) {
                    return Some(found);
                }
            }
            slot = end;
        }
        None
    }
}

/// What became of a write.
#[derive(Clone, Copy)]
#[must_use]
pub(super) enum Taken {
    /// It is in slots near the set's entry, which is to be touched after it (`SetEntry::touch`).
    Near,
    /// The entry was touched. False if there is news (`SetEntry::set`), or words that are not in the set's table yet.
    Touched(bool),
}

impl Taken {
    /// Whether there is neither news nor a word that is not in the set's table yet.
    #[inline(always)]
    pub(super) fn is_known(self) -> bool {
        !matches!(self, Self::Touched(false))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use ash::vk::{self, Handle};
    use samplin_hot::Versions;

    use super::super::layouts::{LARGEST, SetShape};
    use super::super::lists::Numbers;
    use super::super::sets::SetEntry;
    use super::*;
    use crate::device::live::Write;
    use crate::kept;
    use crate::variant::Index;

    type Ty = vk::DescriptorType;

    fn shape_of(bindings: &[(Ty, u32, vk::DescriptorBindingFlags)]) -> Arc<SetShape> {
        let of = |(binding, (kind, count, flags)): (u32, &(Ty, u32, vk::DescriptorBindingFlags))| kept::Binding {
            binding,
            kind: *kind,
            count: *count,
            stages: vk::ShaderStageFlags::COMPUTE,
            flags: *flags,
            samplers: Vec::new(),
            kinds: Vec::new(),
        };
        let bindings = (0..).zip(bindings).map(of).collect();
        let kept = kept::SetLayout { flags: vk::DescriptorSetLayoutCreateFlags::empty(), bindings };
        let (versions, news) = (Arc::new(Versions::default()), Arc::new(AtomicBool::new(false)));
        Arc::new(SetShape::new(1, kept, true, &versions, &news, |_| false, 0))
    }

    fn gate() -> Gate {
        Gate::with(false, Index::new(u32::MAX))
    }

    fn info(handle: u64) -> vk::DescriptorImageInfo {
        let (sampler, image_view) = (vk::Sampler::from_raw(handle), vk::ImageView::from_raw(handle));
        vk::DescriptorImageInfo { sampler, image_view, ..Default::default() }
    }

    const NONE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::empty();
    const LATE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;

    /// Types, lengths and flags of bindings, and whether they are in arrays.
    const BINDINGS: [(Ty, u32, vk::DescriptorBindingFlags, bool); 8] = [
        (Ty::SAMPLED_IMAGE, 65, NONE, true),
        (Ty::SAMPLED_IMAGE, 64, NONE, false),
        (Ty::SAMPLED_IMAGE, 4096, NONE, true),
        (Ty::SAMPLER, 1, LATE, true),
        (Ty::SAMPLER, 2048, LATE, true),
        (Ty::MUTABLE_EXT, 300, LATE, true),
        (Ty::SAMPLER, 3, NONE, false),
        (Ty::SAMPLED_IMAGE, 1_000_000, LATE, true),
    ];

    /// What an element of a binding holds: a handle and what it stood for when it was written, of the sampler and of the image.
    type Model = std::collections::HashMap<(u32, u32, bool), (u64, u32)>;

    /// The model and the entry agree in all that was ever written.
    fn check(entry: &SetEntry, model: &Model) {
        for (&(number, element, is_sampler), &(handle, word)) in model {
            let binding = entry.shape.binding(number).expect("a binding");
            let slot = if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
            let slot = slot.expect("a slot");
            assert_eq!(entry.get(slot), handle, "{number} {element}");
            let is_in_arrays = BINDINGS[number as usize].3;
            assert_eq!(entry.word(slot), is_in_arrays.then_some(word), "{number} {element}");
        }
    }

    /// Random writes, updates with templates, copies, pools that are reset, and handles that come back as something else, against a map.
    #[test]
    #[expect(clippy::too_many_lines, reason = "one step after the other")]
    fn words_are_those_of_a_model() {
        const SETS: usize = 3;
        let shape = shape_of(&BINDINGS.map(|(ty, count, flags, _)| (ty, count, flags)));
        let (gate, numbers, budget) = (gate(), Numbers::default(), Budget::new(1 << 30));
        let new = || SetEntry::new(&gate, &budget, shape.clone(), None, 1_000_000);
        let mut sets: [(SetEntry, Model); SETS] = std::array::from_fn(|_| (new(), Model::new()));
        let mut random = fastrand::Rng::with_seed(7);
        // What a state needs and a class lacks never changes.
        let bits = |number: u32| 1 << (number % 14) | 1 << (number / 14 % 14);
        let mut ever = [0_u64; 2];
        for step in 0..if cfg!(miri) { 200 } else { 100_000 } {
            // A sampler or a view that was there is another one now, or is new.
            let (sampler, view) = (random.u64(1..20), random.u64(100..140));
            match random.u8(..8) {
                0 => {
                    let state = random.u32(..200);
                    gate.replace_sampler(sampler, bits(state), state);
                }
                1 => gate.remove_view(view),
                2 => {
                    let class = random.u32(..400);
                    let integer = if class.is_multiple_of(3) { ConflictBits::INTEGER.0 } else { 0 };
                    gate.insert_view(view, bits(class) | integer, class);
                }
                _ => {}
            }
            let number = random.u32(..BINDINGS.len() as u32);
            let (mutable, most, ..) = BINDINGS[number as usize];
            // Near each other, so that they are written again, and over the end of a binding into the next.
            let element =
                if random.bool() { random.u32(..8).min(most - 1) } else { most - 1 - random.u32(..8).min(most - 1) };
            let ty = if mutable == Ty::MUTABLE_EXT && random.bool() { Ty::SAMPLER } else { mutable };
            let ty = if ty == Ty::MUTABLE_EXT { Ty::SAMPLED_IMAGE } else { ty };
            let (is_sampler, last) = (ty == Ty::SAMPLER, number + 1 == BINDINGS.len() as u32);
            let goes_on = !last && BINDINGS[number as usize + 1].0 == mutable && mutable != Ty::MUTABLE_EXT;
            let room = if goes_on { 8 } else { most - element };
            let count = random.u32(1..=room.min(8));
            let (at, from) = (random.usize(..SETS), random.usize(..SETS));
            let places = |element: u32, count: u32| {
                let (mut number, mut element) = (number, element);
                (0..count).map(move |_| {
                    while element >= BINDINGS[number as usize].1 {
                        (element, number) = (element - BINDINGS[number as usize].1, number + 1);
                    }
                    element += 1;
                    (number, element - 1)
                })
            };
            match random.u8(..16) {
                // Other sets of the same pool live on: what is allocated again is empty.
                0 if step % 64 == 0 => sets[at] = (new(), Model::new()),
                1..4 if at != from => {
                    let copied: Vec<_> = places(element, count).collect();
                    let source = sets[from].1.clone();
                    let copy = vk::CopyDescriptorSet::default().descriptor_count(count);
                    let copy = copy.src_binding(number).src_array_element(element);
                    let copy = copy.dst_binding(number).dst_array_element(element);
                    let (from, to) = match sets.get_disjoint_mut([from, at]).expect("two") {
                        [from, to] => (&from.0, to),
                    };
                    to.0.copy(&gate, Some(from), &copy);
                    for ((number, element), is_sampler) in copied.into_iter().flat_map(|at| [(at, false), (at, true)]) {
                        let key = (number, element, is_sampler);
                        match source.get(&key) {
                            Some(known) => _ = to.1.insert(key, *known),
                            None => _ = to.1.remove(&key),
                        }
                    }
                }
                way => {
                    let handles: Vec<u64> = (0..count)
                        .map(|_| match (random.u8(..8), is_sampler) {
                            (0, false) => 0,
                            (_, true) => random.u64(1..20),
                            (_, false) => random.u64(100..140),
                        })
                        .collect();
                    let infos: Vec<_> = handles.iter().map(|handle| info(*handle)).collect();
                    let (entry, model) = &mut sets[at];
                    let taken = if way % 2 == 0 {
                        let write = vk::WriteDescriptorSet::default().dst_binding(number).dst_array_element(element);
                        let write = write.descriptor_type(ty).image_info(&infos);
                        // SAFETY: a write of as many as there are infos.
                        entry.take::<false>((&gate, &numbers), unsafe { Write::new(&write) })
                    } else {
                        entry.write(&gate, &numbers, ty, (number, element), count, |index| infos[index as usize])
                    };
                    let mut seen = false;
                    for ((number, element), handle) in places(element, count).zip(handles) {
                        let meaning = Meaning::of(&gate, handle, is_sampler);
                        model.insert((number, element, is_sampler), (handle, meaning.word));
                        if mutable == Ty::MUTABLE_EXT {
                            model.insert((number, element, !is_sampler), (0, 0));
                        }
                        let is_in_arrays = BINDINGS[number as usize].3;
                        if is_in_arrays {
                            let own = &mut ever[usize::from(meaning.bits & INTEGER != 0)];
                            seen |= *own | meaning.bits != *own;
                            *own |= meaning.bits;
                        }
                    }
                    assert!(!taken.is_known() || !seen, "what no binding was seen with is news");
                    shape.news.store(false, Ordering::Relaxed);
                }
            }
            if step % 997 == 0 {
                sets.iter().for_each(|(entry, model)| check(entry, model));
            }
        }
        sets.iter().for_each(|(entry, model)| check(entry, model));
        // What is looked for is found, as in the model.
        for (entry, model) in &sets {
            for (number, bit) in
                (0..BINDINGS.len() as u32).flat_map(|number| (0..14).map(move |bit| (number, 1 << bit)))
            {
                let binding = entry.shape.binding(number).expect("a binding");
                let images = [None, Some(Sampled::Float), Some(Sampled::Uint)].map(Sought::Images);
                for sought in std::iter::once(Sought::Samplers).chain(images) {
                    let is_sampler_sought = sought == Sought::Samplers;
                    let has_bit = |element: u32, handle: u64| {
                        let meaning = Meaning::of(&gate, handle, is_sampler_sought);
                        let is_type = match sought {
                            Sought::Images(Some(ty)) => (meaning.bits & INTEGER != 0) == (ty == Sampled::Uint),
                            _ => true,
                        };
                        let bits = if is_sampler_sought { meaning.bits } else { meaning.bits >> 32 };
                        (is_type && bits & bit != 0).then_some(element)
                    };
                    let found = entry.find(&gate, binding, sought, bit as u32, has_bit);
                    let is_it = |(key, (handle, word)): (&(u32, u32, bool), &(u64, u32))| {
                        let (own, element, is_sampler) = *key;
                        let lives = !BINDINGS[own as usize].3 || Meaning::of(&gate, *handle, is_sampler).word == *word;
                        let is_own = own == number && is_sampler == is_sampler_sought && *handle != 0 && lives;
                        is_own.then(|| has_bit(element, *handle)).flatten()
                    };
                    assert_eq!(found, model.iter().filter_map(is_it).min(), "{number} {bit:#x} {sought:?}");
                }
            }
        }
    }

    /// What was written to a binding is known of all its sets, by the type that images are read as.
    #[test]
    fn bindings_know_what_they_were_seen_with() {
        let (gate, numbers, budget) = (gate(), Numbers::default(), Budget::new(1 << 20));
        gate.add_sampler(1, ConflictBits::LINEAR.0, 0);
        gate.insert_view(2, ConflictBits::LINEAR.0 | ConflictBits::INTEGER.0, 0);
        gate.insert_view(3, ConflictBits::LINEAR.0, 1);
        for count in [65, 4096, 1_000_000, LARGEST + 1] {
            let shape = shape_of(&[(Ty::SAMPLER, count, NONE), (Ty::SAMPLED_IMAGE, count, NONE)]);
            let new = || SetEntry::new(&gate, &budget, shape.clone(), None, 0);
            let (one, other) = (new(), new());
            let write = |ty, number, handle| {
                one.write(&gate, &numbers, ty, (number, count - 1), 1, |_| info(handle)).is_known()
            };
            let seen = |sampled| {
                let [samplers, images] = [0, 1].map(|number| shape.binding(number).expect("a binding"));
                other.seen(&gate, samplers, sampled) & other.seen(&gate, images, sampled) >> 32
            };
            assert!(!write(Ty::SAMPLER, 0, 1) && !write(Ty::SAMPLER, 0, 1), "news until somebody looks");
            shape.news.store(false, Ordering::Relaxed);
            assert!(write(Ty::SAMPLER, 0, 1));
            assert!(!write(Ty::SAMPLED_IMAGE, 1, 2));
            assert_eq!(
                (seen(Some(Sampled::Float)), seen(Some(Sampled::Uint))),
                (0, u64::from(ConflictBits::LINEAR.0)),
                "{count}"
            );
            assert_eq!(seen(None), u64::from(ConflictBits::LINEAR.0), "{count}");
            assert!(!write(Ty::SAMPLED_IMAGE, 1, 3));
            assert_eq!(seen(Some(Sampled::Float)), u64::from(ConflictBits::LINEAR.0), "{count}");
        }
    }

    /// Beyond what they may take there are no arrays, and what is written to them is still summed up.
    #[test]
    fn arrays_take_no_more_than_they_may() {
        let (gate, numbers, budget) = (gate(), Numbers::default(), Budget::new(3 << 20));
        gate.insert_view(3, ConflictBits::LINEAR.0, 1);
        let shape = shape_of(&[(Ty::SAMPLED_IMAGE, 100_000, NONE)]);
        let binding = shape.binding(0).expect("a binding");
        let new = || SetEntry::new(&gate, &budget, shape.clone(), None, 0);
        let sets: Vec<_> = (0..3).map(|_| new()).collect();
        let unlisted = |set: &SetEntry| set.unlisted(binding);
        assert_eq!(sets.iter().map(unlisted).collect::<Vec<_>>(), [None, None, Some(samplin_core::left::Left::Memory)]);
        _ = sets[2].write(&gate, &numbers, Ty::SAMPLED_IMAGE, (0, 7), 1, |_| info(3));
        assert_eq!((sets[2].get(7), (sets[2].brief(&gate).summary >> 32) as u32), (0, ConflictBits::LINEAR.0));
        drop(sets);
        assert_eq!((budget.bytes.load(Ordering::Relaxed), unlisted(&new())), (0, None));
        // Of a binding that varies, as many as the set has.
        let varies = vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT;
        let shape = shape_of(&[(Ty::SAMPLER, 2, LATE), (Ty::SAMPLED_IMAGE, 1_000_000, varies)]);
        assert_eq!([0, 1, 1000].map(|count| shape.slots_in_arrays(count)), [2, 3, 1002]);
    }
}
