//! Set layouts and pipeline layouts: which slots a set has, and which layouts are compatible.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ash::vk::{self, Handle};
use samplin_bind::Layout;
use samplin_hot::Versions;
use samplin_hot::memory;
use samplin_spirv::{Index, Operand};

use super::Separate;
use super::arrays::Sum;
use super::tasks::ELEMENTS;
use crate::decide::fnv1a;
use crate::device::live::Write;
use crate::device::shown::{self, shows_aspects};
use crate::device::types::{COMBINED, type_bit};
use crate::kept;
use crate::table::{FastMap, fold};

/// Most descriptors of a binding that are followed.
pub(super) const LARGEST: u32 = 1 << 20;

/// Most descriptors of a binding that is no array of a set's ([`Arrays`]); where samplers or images of both are chosen by writes, more.
///
/// [`Arrays`]: super::arrays::Arrays
const FEW: u32 = ELEMENTS;
const FEW_PAIRS: u32 = 256;

/// Most descriptors of a set that is copied.
const COPIED: u64 = 1 << 14;

pub(super) fn hash_of(definition: &impl Hash) -> u64 {
    FastMap::<u64, ()>::default().hasher().hash_one(definition)
}

/// What a binding holds of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// Nothing.
    Other,
    /// Samplers: a slot each.
    Sampler,
    /// Sampled images: a slot each.
    Image,
    /// Either, as written (`VK_DESCRIPTOR_TYPE_MUTABLE_EXT`): a slot for a sampler and one for an image each.
    Either,
    /// Both, where passes rewrite what is sampled: slots as of [`SlotKind::Either`].
    Combined,
    /// What shaders declare more of than that it is sampled, or whose samplers are of no interest: a slot for each view.
    Viewed,
}

/// A binding of a set layout.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) binding: u32,
    /// `descriptorCount`.
    pub(super) count: u32,
    pub(super) ty: vk::DescriptorType,
    pub(super) kind: SlotKind,
    /// First slot, and slots of an element.
    first: usize,
    stride: usize,
    has_samplers: bool,
    has_images: bool,
    /// Descriptors may be updated after the set was bound.
    pub(super) after_bind: bool,
    /// What was ever written to it, in any set, if its slots are in arrays. Apart, so that the rest is known not to change.
    pub(super) seen: Option<Box<Sum>>,
    /// Handles of immutable samplers that are in slots.
    pub(super) immutable: Box<[u64]>,
}

/// A number of a slot. In a program of 32 bits the slots of more elements than any device allows have none; no slot has the last one.
#[inline(always)]
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Binding {
    /// The first slot of an element.
    #[inline(always)]
    fn slot(&self, element: u32) -> usize {
        place(self.first as u64 + self.stride as u64 * u64::from(element))
    }

    /// The slot of an element's sampler.
    pub(super) fn sampler_slot(&self, element: u32) -> Option<usize> {
        (element < self.count && self.has_samplers).then(|| self.slot(element))
    }

    /// The slot of an element's image.
    pub(super) fn image_slot(&self, element: u32) -> Option<usize> {
        // Behind the sampler of the same element, if there is one.
        let last = self.stride - 1;
        (element < self.count && self.has_images).then(|| self.slot(element).saturating_add(last))
    }

    /// Whether samplers and images of combined descriptors have slots.
    pub(super) fn has_pairs(&self) -> bool {
        self.kind == SlotKind::Combined
    }

    /// Whether there are any slots.
    fn has_slots(&self) -> bool {
        self.has_samplers || self.has_images
    }

    /// All of its slots.
    pub(super) fn slots(&self) -> Range<usize> {
        self.first..self.slot(self.count)
    }

    /// Whether its descriptors are too many for slots.
    pub(super) fn is_too_large(&self) -> bool {
        self.count > LARGEST
    }

    /// The element that a slot of it is of, if the slot is for a sampler, or else for an image.
    pub(super) fn element_of(&self, slot: usize, is_sampler: bool) -> Option<u32> {
        let element = u32::try_from(slot.checked_sub(self.first)? / self.stride).ok()?;
        let own = if is_sampler { self.sampler_slot(element) } else { self.image_slot(element) };
        (own == Some(slot)).then_some(element)
    }
}

/// A set layout. Layouts that are defined alike are one.
#[derive(Debug)]
pub(super) struct SetShape {
    /// Differs from that of every layout that is defined in another way.
    number: u64,
    /// By ascending number.
    pub(super) bindings: Box<[Binding]>,
    /// Slots of a set, but for those in arrays.
    pub(super) slots: usize,
    /// Slots in arrays, behind these.
    arrays: usize,
    /// There are samplers or images in a binding that is too large for slots.
    pub(super) is_too_large: bool,
    /// Dynamic offsets that a bind of a set takes.
    pub(super) dynamic: u32,
    /// Some descriptors may be updated while a set is bound or in use.
    pub(super) after_bind: bool,
    /// Number of the last binding if its count is given with each set.
    pub(super) variable: Option<u32>,
    /// Types of descriptors that change what is in slots, as [`type_bit`]s, and those whose views alone are in slots.
    pub(super) followed: u32,
    pub(super) viewed: u32,
    /// There are no slots but those of such views.
    is_viewed: bool,
    /// Its definition.
    pub(super) kept: kept::SetLayout,
    /// The states of its immutable samplers, in the order of its definition.
    pub(super) looks: Box<[u64]>,
    /// The definition is all that there is to it.
    pub(super) is_known: bool,
    pub(super) twin: Twin,
    /// One of its immutable samplers is gone.
    is_dead: AtomicBool,
    /// Says how it is defined, but for handles; the same in every run.
    stable: u64,
    /// Where the versions of its sets come from.
    pub(super) versions: Arc<Versions>,
    /// A binding of any definition was seen with what it was not seen with before.
    pub(super) news: Arc<AtomicBool>,
}

/// A set layout of the application's.
#[derive(Debug)]
pub(super) struct SetLayout {
    pub(super) shape: Arc<SetShape>,
    is_gone: AtomicBool,
}

impl SetLayout {
    /// One that lives.
    pub(super) fn new(shape: Arc<SetShape>) -> Self {
        Self { shape, is_gone: AtomicBool::new(false) }
    }

    /// It is being destroyed.
    pub(super) fn go(&self) {
        self.is_gone.store(true, Ordering::Release);
    }

    /// It was destroyed. Its sets can still be bound, but not be copied, which may access the layout.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }
}

fn stable(kept: &kept::SetLayout) -> u64 {
    let words = kept.bindings.iter().flat_map(|binding| {
        let of_it = [
            binding.binding,
            binding.kind.as_raw() as u32,
            binding.count,
            binding.stages.as_raw(),
            binding.flags.as_raw(),
            binding.samplers.len() as u32,
        ];
        of_it.into_iter().chain(binding.kinds.iter().map(|kind| kind.as_raw() as u32))
    });
    fnv1a(std::iter::once(kept.flags.as_raw()).chain(words).flat_map(u32::to_le_bytes))
}

impl SetShape {
    /// `combined`: whether descriptors of both have slots, by whether their samplers are immutable. `viewed`: types of descriptors whose
    /// views have slots.
    pub(super) fn new(
        number: u64,
        kept: kept::SetLayout,
        is_known: bool,
        versions: &Arc<Versions>,
        news: &Arc<AtomicBool>,
        combined: impl Fn(bool) -> bool,
        viewed: u32,
    ) -> Self {
        use vk::DescriptorType as T;
        let (mut dynamic, mut variable, mut followed, mut is_too_large) = (0_u32, None, 0, false);
        let (mut of_views, mut is_viewed) = (0, true);
        let kind_of = |binding: &kept::Binding| match binding.kind {
            T::SAMPLER => (SlotKind::Sampler, 1),
            T::SAMPLED_IMAGE => (SlotKind::Image, 1),
            T::MUTABLE_EXT => (SlotKind::Either, 2),
            T::COMBINED_IMAGE_SAMPLER if combined(!binding.samplers.is_empty()) => (SlotKind::Combined, 2),
            ty if ty.as_raw() < 32 && viewed & type_bit(ty) != 0 => (SlotKind::Viewed, 1),
            _ => (SlotKind::Other, 0),
        };
        let loose =
            vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING;
        // Those in arrays come behind all others, and behind these come those that there is no room for.
        let part_of = |binding: &kept::Binding| match kind_of(binding).0 {
            _ if binding.count > LARGEST => 2,
            SlotKind::Combined | SlotKind::Viewed => usize::from(binding.count > FEW_PAIRS),
            _ => usize::from(binding.count > FEW || binding.flags.intersects(loose)),
        };
        let mut ends = [0; 3];
        // Counts that no device allows: in a program of 32 bits their sum is no number.
        let slots_of = |binding: &kept::Binding| (binding.count as usize).saturating_mul(kind_of(binding).1);
        let add = |end: &mut usize, binding| *end = end.saturating_add(slots_of(binding));
        kept.bindings.iter().for_each(|binding| add(&mut ends[part_of(binding)], binding));
        let [slots, arrays, _] = ends;
        ends = [0, slots, slots.saturating_add(arrays)];
        let bindings = memory::collect(kept.bindings.iter().map(|binding| {
            let count = binding.count;
            if matches!(binding.kind, T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC) {
                dynamic = dynamic.saturating_add(count);
            }
            if binding.flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT) {
                variable = Some(binding.binding);
            }
            let (kind, each) = match kind_of(binding) {
                (SlotKind::Viewed, _) if count > LARGEST => (SlotKind::Other, 0),
                (kind, each) => (kind, each),
            };
            is_too_large |= count > LARGEST && kind != SlotKind::Other;
            is_viewed &= matches!(kind, SlotKind::Other | SlotKind::Viewed);
            of_views |= if kind == SlotKind::Viewed { type_bit(binding.kind) } else { 0 };
            followed |= match kind {
                SlotKind::Other | SlotKind::Viewed => 0,
                SlotKind::Sampler | SlotKind::Image => Separate::WATCHED,
                SlotKind::Either => Separate::WATCHED | Separate::OTHERS,
                SlotKind::Combined => COMBINED,
            };
            let end = &mut ends[part_of(binding)];
            let first = *end;
            add(end, binding);
            let immutable =
                if matches!(kind, SlotKind::Sampler | SlotKind::Combined) { &binding.samplers[..] } else { &[] };
            Binding {
                binding: binding.binding,
                count,
                ty: binding.kind,
                kind,
                first,
                stride: each.max(1),
                has_samplers: matches!(kind, SlotKind::Sampler | SlotKind::Either | SlotKind::Combined),
                has_images: matches!(kind, SlotKind::Image | SlotKind::Either | SlotKind::Combined | SlotKind::Viewed),
                after_bind: binding.flags.intersects(loose),
                seen: (part_of(binding) > 0).then(Box::default),
                immutable: memory::collect(immutable.iter().map(|sampler| sampler.as_raw())).into_boxed_slice(),
            }
        }))
        .into_boxed_slice();
        let after_bind = bindings.iter().any(|binding| binding.after_bind);
        let stable = stable(&kept);
        if !is_known {
            followed = Separate::WATCHED;
        }
        Self {
            number,
            bindings,
            slots,
            arrays,
            is_too_large,
            dynamic,
            after_bind,
            variable,
            followed,
            viewed: of_views,
            is_viewed,
            kept,
            looks: Box::default(),
            is_known,
            twin: Twin::default(),
            is_dead: AtomicBool::new(false),
            stable,
            versions: Arc::clone(versions),
            news: Arc::clone(news),
        }
    }

    /// Whether its descriptors are pushed, and not in sets.
    pub(super) fn is_pushed(&self) -> bool {
        self.kept.flags.contains(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
    }

    /// Whether there is anything to follow in its sets. `views`: whether views alone are.
    pub(super) fn is_followed(&self, views: bool) -> bool {
        self.slots + self.arrays > 0 && (views || !self.is_viewed) || self.is_too_large
    }

    /// Slots in the arrays of a set; `variable`: descriptors of its last binding, if that varies.
    pub(super) fn slots_in_arrays(&self, variable: u32) -> usize {
        let last = self.bindings.last().filter(|last| self.variable == Some(last.binding) && self.has_in_arrays(last));
        let missing = last.map_or(0, |last| last.stride * last.count.saturating_sub(variable) as usize);
        self.arrays - missing
    }

    /// Whether the slots of a binding are in the arrays of a set.
    pub(super) fn has_in_arrays(&self, binding: &Binding) -> bool {
        binding.first >= self.slots && !binding.is_too_large() && binding.has_slots()
    }

    /// Whether any descriptors of its sets are in arrays, or too many for that.
    pub(super) fn has_arrays(&self) -> bool {
        self.arrays > 0 || self.is_too_large
    }

    /// Whether a descriptor of it may show a view with both aspects.
    pub(super) fn may_show_aspects(&self) -> bool {
        self.bindings.iter().any(|binding| shows_aspects(binding.ty) || binding.ty == vk::DescriptorType::MUTABLE_EXT)
    }

    /// The types of descriptors that may take the place of one that shows a view, as [`type_bit`]s.
    pub(super) fn overwritten(&self) -> u32 {
        let is_mutable = self.bindings.iter().any(|binding| binding.ty == vk::DescriptorType::MUTABLE_EXT);
        if is_mutable { u32::MAX } else { shown::BITS }
    }

    /// Whether an immutable sampler of it is gone. What was made of it stays what it is, but nothing more is made: the handle may be
    /// another sampler's.
    pub(super) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Acquire)
    }

    /// It is so from now on.
    pub(super) fn die(&self) {
        self.is_dead.store(true, Ordering::Release);
    }

    /// Whether it has an immutable sampler, in a slot or not.
    pub(super) fn holds(&self, sampler: vk::Sampler) -> bool {
        self.kept.bindings.iter().any(|binding| binding.samplers.contains(&sampler))
    }

    /// Whether the samplers of a binding are immutable.
    pub(super) fn is_immutable(&self, number: u32) -> bool {
        self.kept.bindings.iter().any(|binding| binding.binding == number && !binding.samplers.is_empty())
    }

    /// Whether its sets have too many descriptors for a copy that nothing asks for but one sampler.
    pub(super) fn is_too_large_to_copy(&self) -> bool {
        self.bindings.iter().map(|binding| u64::from(binding.count)).sum::<u64>() > COPIED
    }

    /// A number that says how it is defined, but for handles, and is the same in every run.
    pub(super) fn stable(&self) -> u64 {
        self.stable
    }

    /// A number that says how it is defined.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// A binding by its number; as a rule every number has one.
    #[inline(always)]
    pub(super) fn binding(&self, number: u32) -> Option<&Binding> {
        match self.bindings.get(number as usize) {
            Some(binding) if binding.binding == number => Some(binding),
            _ => self.other_binding(number),
        }
    }

    /// A binding whose number is not its position. Apart, so that looking up the others calls nothing.
    #[inline(never)]
    fn other_binding(&self, number: u32) -> Option<&Binding> {
        let at = self.bindings.partition_point(|binding| binding.binding < number);
        self.bindings.get(at).filter(|binding| binding.binding == number)
    }

    /// The slots of a write of samplers or sampled images that stays in one binding of nothing but these.
    #[inline(always)]
    pub(super) fn run(&self, ty: vk::DescriptorType, at: (u32, u32), count: u32) -> Option<(&Binding, Range<usize>)> {
        let binding = self.binding(at.0)?;
        let fits = match ty {
            vk::DescriptorType::SAMPLER => binding.kind == SlotKind::Sampler && binding.immutable.is_empty(),
            vk::DescriptorType::SAMPLED_IMAGE => binding.kind == SlotKind::Image,
            _ => false,
        };
        let (element, count) = (u64::from(at.1), u64::from(count));
        let first = binding.first as u64 + element;
        (fits && element + count <= u64::from(binding.count)).then(|| (binding, place(first)..place(first + count)))
    }

    /// The slot of a write of one sampler or sampled image to a binding of nothing but these, and what is written. None also for a binding
    /// whose number is not its position.
    #[inline(always)]
    pub(super) fn single(&self, write: Write<'_>) -> Option<(usize, u64)> {
        let binding = self.bindings.get(write.dst_binding as usize)?;
        let element = write.dst_array_element;
        if binding.binding != write.dst_binding || write.descriptor_count != 1 || element >= binding.count {
            return None;
        }
        let handle = match (write.descriptor_type, binding.kind) {
            (vk::DescriptorType::SAMPLER, SlotKind::Sampler) if binding.immutable.is_empty() => {
                write.images().first()?.sampler.as_raw()
            }
            (vk::DescriptorType::SAMPLED_IMAGE, SlotKind::Image) => write.images().first()?.image_view.as_raw(),
            _ => return None,
        };
        Some((place(binding.first as u64 + u64::from(element)), handle))
    }

    /// The slots of a write of combined ones that stays in one binding of these, two for each, and whether the samplers are written.
    #[inline(always)]
    pub(super) fn pairs(&self, ty: vk::DescriptorType, at: (u32, u32), count: u32) -> Option<(Range<usize>, bool)> {
        let binding = self.binding(at.0)?;
        let is_combined = ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && binding.kind == SlotKind::Combined;
        let (element, count) = (u64::from(at.1), u64::from(count));
        let fits = binding.stride == 2 && element + count <= u64::from(binding.count);
        let first = binding.first as u64 + 2 * element;
        (is_combined && fits).then(|| (place(first)..place(first + 2 * count), binding.immutable.is_empty()))
    }

    /// Binding and element of each of `count` descriptors from `element` of `binding` on, and into the bindings that follow
    /// (VkWriteDescriptorSet, "consecutive bindings").
    pub(super) fn walk(&self, (binding, element): (u32, u32), count: u32) -> impl Iterator<Item = (&Binding, u32)> {
        let at = self.bindings.partition_point(|there| there.binding < binding);
        let mut bindings = self.bindings.get(at..).unwrap_or(&[]).iter();
        let (mut here, mut element) = (bindings.next(), element);
        (0..count).map_while(move |_| {
            while element >= here?.count {
                element -= here?.count;
                here = bindings.next();
            }
            element += 1;
            Some((here?, element - 1))
        })
    }
}

/// A pipeline layout.
#[derive(Debug)]
pub(super) struct PipelineShape {
    /// One for each set; none where the set layout is null.
    pub(super) sets: Box<[Option<Arc<SetShape>>]>,
    /// Which layouts it is compatible with.
    pub(super) binds: Layout,
    /// Differs between layouts that are not defined alike.
    whole: u64,
    /// What else defines it; none if it has members that are not known.
    pub(super) kept: Option<Arc<kept::PipelineLayout>>,
    pub(super) twin: Twin,
}

impl PipelineShape {
    pub(super) fn new(number: u64, sets: Vec<Option<Arc<SetShape>>>, kept: Option<Arc<kept::PipelineLayout>>) -> Self {
        let mut word = kept.as_ref().map_or(number, |kept| {
            let ranges = kept.ranges.iter().map(|r| (r.stage_flags.as_raw(), r.offset, r.size));
            hash_of(&(kept.flags.as_raw(), memory::sorted(memory::collect(ranges))))
        });
        let compatible = memory::collect(sets.iter().map(|set| {
            word = fold(word.rotate_left(17) ^ set.as_ref().map_or(1, |set| fold(set.number)));
            word
        }));
        let dynamic = memory::collect(sets.iter().map(|set| set.as_ref().map_or(0, |set| set.dynamic)));
        let binds = Layout::new(compatible.into(), dynamic.into());
        Self { sets: sets.into(), binds, whole: word, kept, twin: Twin::default() }
    }

    /// This layout with one more set at its end.
    pub(super) fn with_set(&self, number: u64, set: Arc<SetShape>) -> Self {
        let mut sets = memory::vec(self.sets.len() + 1);
        sets.extend(self.sets.iter().cloned());
        sets.push(Some(set));
        Self::new(number, sets, self.kept.clone())
    }

    /// Whether libraries that are linked may have it and others, each with the sets of its own shaders.
    pub(super) fn has_independent_sets(&self) -> bool {
        let flags = self.kept.as_ref().map_or(vk::PipelineLayoutCreateFlags::empty(), |kept| kept.flags);
        flags.contains(vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT)
    }

    /// Whether a descriptor of either may be another one after its set was bound.
    pub(super) fn may_change(&self, image: &Operand, sampler: &Operand) -> bool {
        [image, sampler].into_iter().any(|operand| {
            let set = self.sets.get(operand.set as usize).and_then(Option::as_ref);
            set.and_then(|set| set.binding(operand.binding)).is_some_and(|binding| binding.after_bind)
        })
    }

    /// The binding of an operand, with its set.
    pub(super) fn binding(&self, operand: &Operand) -> Option<(&SetShape, &Binding)> {
        let shape = self.sets.get(operand.set as usize)?.as_ref()?;
        Some((shape, shape.binding(operand.binding)?))
    }

    /// Whether the running shader alone knows which sampler an image meets: by an index, or because descriptors may be written later. `all`:
    /// with any index; `dynamic`: shaders may index samplers.
    pub(super) fn is_looked_up(&self, image: &Operand, sampler: &Operand, all: bool, dynamic: bool) -> bool {
        let is_indexed = |operand: &Operand| !matches!(operand.index, Index::Whole | Index::Const(_));
        let is_open = |operand: &Operand| match operand.index {
            Index::Whole | Index::Const(_) => false,
            Index::Dynamic { .. } | Index::Push(_) => all || !(1..=ELEMENTS).contains(&operand.count),
            Index::Spec(_) | Index::Unbounded => true,
        };
        let is_known = |operand: &Operand| {
            let found = self.binding(operand);
            found.is_some_and(|(shape, binding)| {
                // What is pushed has no table.
                !(binding.is_too_large() || shape.is_pushed() && shape.has_in_arrays(binding))
            })
        };
        let operands = [image, sampler];
        // More pairs than a hidden set lists.
        let has_many = operands.into_iter().all(is_indexed) && image.count.saturating_mul(sampler.count) > ELEMENTS;
        // A pool is indexed dynamically, which a device need not do for shaders that never do (shaderSampledImageArrayDynamicIndexing).
        (dynamic || operands.into_iter().any(is_indexed))
            && operands.into_iter().all(is_known)
            && (operands.into_iter().any(is_open) || has_many || self.may_change(image, sampler))
    }

    /// Whether both are defined alike.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.whole == other.whole && self.sets.len() == other.sets.len()
    }

    /// Whether a set that was bound with this layout at number `set` stays bound for a pipeline of `other`.
    pub(super) fn is_compatible(&self, other: &Self, set: usize) -> bool {
        self.binds.is_compatible(&other.binds, set)
    }
}

/// The layer's own object of a shape, 0 before it is needed.
pub(super) type Twin = Arc<AtomicU64>;
