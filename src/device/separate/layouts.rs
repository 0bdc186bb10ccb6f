//! Set layouts and pipeline layouts: which slots a set has, which layouts are defined alike, and the layer's own copies of them.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use crate::decide::fnv1a;
use crate::device::types::COMBINED;
use crate::kept;
use crate::table::{FastMap, HandleMap, fold, lock};

/// Most descriptors of a binding that are followed.
pub(super) const LARGEST: u32 = 256;

fn hash_of(definition: &impl Hash) -> u64 {
    FastMap::<u64, ()>::default().hasher().hash_one(definition)
}

/// What a binding holds of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing.
    Other,
    /// Samplers: a slot each.
    Sampler,
    /// Sampled images: a slot each.
    Image,
    /// Either, as written (`VK_DESCRIPTOR_TYPE_MUTABLE_EXT`): a slot for a sampler and one for an image each.
    Either,
    /// Both, where passes rewrite what is sampled: slots as of [`Kind::Either`].
    Combined,
}

/// A binding of a set layout.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) binding: u32,
    /// `descriptorCount`.
    pub(super) count: u32,
    pub(super) ty: vk::DescriptorType,
    pub(super) stages: vk::ShaderStageFlags,
    pub(super) kind: Kind,
    /// First slot, and slots of an element.
    first: usize,
    stride: usize,
    has_samplers: bool,
    has_images: bool,
    /// Descriptors may be updated after the set was bound.
    pub(super) after_bind: bool,
    /// Handles of immutable samplers.
    pub(super) immutable: Box<[u64]>,
}

impl Binding {
    /// The slot of an element's sampler.
    pub(super) fn sampler_slot(&self, element: u32) -> Option<usize> {
        (element < self.count && self.has_samplers).then(|| self.first + self.stride * element as usize)
    }

    /// The slot of an element's image.
    pub(super) fn image_slot(&self, element: u32) -> Option<usize> {
        // Behind the sampler of the same element, if there is one.
        let last = self.first + self.stride - 1;
        (element < self.count && self.has_images).then(|| last + self.stride * element as usize)
    }
}

/// A set layout. Layouts that are defined alike are one.
#[derive(Debug)]
pub(super) struct SetShape {
    /// Differs from that of every layout that is defined in another way.
    number: u64,
    /// By ascending number.
    pub(super) bindings: Box<[Binding]>,
    /// Slots of a set.
    pub(super) slots: usize,
    /// Dynamic offsets that a bind of a set takes.
    pub(super) dynamic: u32,
    /// Some descriptors may be updated while a set is bound or in use.
    pub(super) after_bind: bool,
    /// Number of the last binding if its count is given with each set.
    pub(super) variable: Option<u32>,
    /// Types of descriptors that change what is in slots, as [`type_bit`]s.
    pub(super) followed: u32,
    /// Its definition.
    pub(super) kept: kept::SetLayout,
    /// The definition is all that there is to it.
    pub(super) is_known: bool,
    pub(super) twin: Twin,
    /// Says how it is defined, but for handles; the same in every run.
    stable: u64,
}

/// A set layout of the application's.
#[derive(Debug)]
pub(super) struct SetLayout {
    pub(super) shape: Arc<SetShape>,
    is_gone: AtomicBool,
}

impl SetLayout {
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
    /// `combined`: whether descriptors of both have slots, by whether their samplers are immutable.
    fn new(number: u64, kept: kept::SetLayout, is_known: bool, combined: impl Fn(bool) -> bool) -> Self {
        use vk::DescriptorType as T;
        let (mut slots, mut dynamic, mut variable, mut followed) = (0, 0_u32, None, 0);
        let loose =
            vk::DescriptorBindingFlags::UPDATE_AFTER_BIND | vk::DescriptorBindingFlags::UPDATE_UNUSED_WHILE_PENDING;
        let bindings = memory::collect(kept.bindings.iter().map(|binding| {
            let count = binding.count;
            if matches!(binding.kind, T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC) {
                dynamic = dynamic.saturating_add(count);
            }
            if binding.flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT) {
                variable = Some(binding.binding);
            }
            let (kind, each) = match binding.kind {
                _ if count > LARGEST => (Kind::Other, 0),
                T::SAMPLER => (Kind::Sampler, 1),
                T::SAMPLED_IMAGE => (Kind::Image, 1),
                T::MUTABLE_EXT => (Kind::Either, 2),
                T::COMBINED_IMAGE_SAMPLER if combined(!binding.samplers.is_empty()) => (Kind::Combined, 2),
                _ => (Kind::Other, 0),
            };
            followed |= match kind {
                Kind::Other => 0,
                Kind::Sampler | Kind::Image => Separate::WATCHED,
                Kind::Either => Separate::WATCHED | Separate::OTHERS,
                Kind::Combined => COMBINED,
            };
            let first = slots;
            slots += each * count as usize;
            let immutable = if matches!(kind, Kind::Sampler | Kind::Combined) { &binding.samplers[..] } else { &[] };
            Binding {
                binding: binding.binding,
                count,
                ty: binding.kind,
                stages: binding.stages,
                kind,
                first,
                stride: each.max(1),
                has_samplers: matches!(kind, Kind::Sampler | Kind::Either | Kind::Combined),
                has_images: matches!(kind, Kind::Image | Kind::Either | Kind::Combined),
                after_bind: binding.flags.intersects(loose),
                immutable: memory::collect(immutable.iter().map(|sampler| sampler.as_raw())).into_boxed_slice(),
            }
        }))
        .into_boxed_slice();
        let after_bind = bindings.iter().any(|binding| binding.after_bind);
        let stable = stable(&kept);
        if !is_known {
            followed = Separate::WATCHED;
        }
        let twin = Twin::default();
        Self { number, bindings, slots, dynamic, after_bind, variable, followed, kept, is_known, twin, stable }
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
        let at = |at: usize| self.bindings.get(at).filter(|binding| binding.binding == number);
        at(number as usize).or_else(|| at(self.bindings.partition_point(|binding| binding.binding < number)))
    }

    /// The slots of a write of samplers or sampled images that stays in one binding of nothing but these.
    #[inline(always)]
    pub(super) fn run(&self, ty: vk::DescriptorType, at: (u32, u32), count: u32) -> Option<Range<usize>> {
        let binding = self.binding(at.0)?;
        let fits = match ty {
            vk::DescriptorType::SAMPLER => binding.kind == Kind::Sampler && binding.immutable.is_empty(),
            vk::DescriptorType::SAMPLED_IMAGE => binding.kind == Kind::Image,
            _ => false,
        };
        let (first, end) = (binding.first + at.1 as usize, u64::from(at.1) + u64::from(count));
        (fits && end <= u64::from(binding.count)).then(|| first..first + count as usize)
    }

    /// The slots of a write of combined ones that stays in one binding of these, two for each, and whether the samplers are written.
    #[inline(always)]
    pub(super) fn pairs(&self, ty: vk::DescriptorType, at: (u32, u32), count: u32) -> Option<(Range<usize>, bool)> {
        let binding = self.binding(at.0)?;
        let is_combined = ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER && binding.kind == Kind::Combined;
        let fits = binding.stride == 2 && u64::from(at.1) + u64::from(count) <= u64::from(binding.count);
        let first = binding.first + 2 * at.1 as usize;
        (is_combined && fits).then(|| (first..first + 2 * count as usize, binding.immutable.is_empty()))
    }

    /// Calls `each` with the position in the write, the binding and the element of each of `count` descriptors from `element` of
    /// `binding` on, and into the bindings that follow (VkWriteDescriptorSet, "consecutive bindings").
    pub(super) fn walk(&self, (binding, element): (u32, u32), count: u32, mut each: impl FnMut(u32, &Binding, u32)) {
        let at = self.bindings.partition_point(|there| there.binding < binding);
        let mut element = element;
        let mut bindings = self.bindings.get(at..).unwrap_or(&[]).iter();
        let Some(mut here) = bindings.next() else { return };
        for index in 0..count {
            while element >= here.count {
                element -= here.count;
                let Some(next) = bindings.next() else { return };
                here = next;
            }
            each(index, here, element);
            element += 1;
        }
    }
}

/// A pipeline layout.
#[derive(Debug)]
pub(super) struct PipelineShape {
    /// One for each set; none where the set layout is null.
    pub(super) sets: Box<[Option<Arc<SetShape>>]>,
    /// Differs between layouts that are not compatible for the set of that number (Pipeline Layout Compatibility).
    compatible: Box<[u64]>,
    /// Differs between layouts that are not defined alike.
    whole: u64,
    /// What else defines it; none if it has members that are not known.
    pub(super) kept: Option<Arc<kept::PipelineLayout>>,
    pub(super) twin: Twin,
}

impl PipelineShape {
    fn new(number: u64, sets: Vec<Option<Arc<SetShape>>>, kept: Option<Arc<kept::PipelineLayout>>) -> Self {
        let mut word = kept.as_ref().map_or(number, |kept| {
            let ranges = kept.ranges.iter().map(|r| (r.stage_flags.as_raw(), r.offset, r.size));
            hash_of(&(kept.flags.as_raw(), memory::sorted(memory::collect(ranges))))
        });
        let compatible = memory::collect(sets.iter().map(|set| {
            word = fold(word.rotate_left(17) ^ set.as_ref().map_or(1, |set| fold(set.number)));
            word
        }));
        Self { sets: sets.into(), compatible: compatible.into(), whole: word, kept, twin: Twin::default() }
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

    /// Dynamic offsets that a bind of the set of a number takes.
    pub(super) fn dynamic(&self, set: usize) -> usize {
        self.sets.get(set).and_then(Option::as_ref).map_or(0, |shape| shape.dynamic as usize)
    }

    /// Whether both are defined alike.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.whole == other.whole && self.sets.len() == other.sets.len()
    }

    /// Whether a set that was bound with this layout at number `set` stays bound for a pipeline of `other`.
    pub(super) fn is_compatible(&self, other: &Self, set: usize) -> bool {
        matches!((self.compatible.get(set), other.compatible.get(set)), (Some(one), Some(two)) if one == two)
    }
}

/// Layouts by handle, and those that live by their definition.
#[derive(Default)]
pub(super) struct LayoutTables {
    sets: HandleMap<SetLayout>,
    pipelines: HandleMap<PipelineShape>,
    /// Pipeline layouts that were destroyed.
    gone: AtomicU64,
    alike: Mutex<Alike>,
    /// There was ever a layout with immutable samplers in slots.
    has_immutables: AtomicBool,
    /// Layouts of the layer's own.
    pub(super) own_sets: Mutex<Own>,
    pub(super) own_pipelines: Mutex<Own>,
}

/// Shapes that live, by hashes of their definitions.
#[derive(Default)]
struct Alike {
    lists: FastMap<u64, Vec<Weak<SetShape>>>,
    /// How many lists there are when those of shapes that are gone are looked for.
    limit: usize,
}

impl Alike {
    /// The list of a definition.
    fn list(&mut self, kept: &kept::SetLayout) -> &mut Vec<Weak<SetShape>> {
        if self.lists.len() >= self.limit {
            self.lists.retain(|_, list| list.iter().any(|shape| shape.strong_count() > 0));
            self.limit = 2 * self.lists.len() + 64;
        }
        let list = self.lists.with_room().entry(hash_of(kept)).or_default();
        list.retain(|shape| shape.strong_count() > 0);
        list
    }
}

/// The layer's own object of a shape, 0 before it is needed.
pub(super) type Twin = Arc<AtomicU64>;

/// Objects of the layer's own, each shared with its shape.
#[derive(Default)]
pub(super) struct Own {
    pub(super) twins: Vec<Twin>,
    /// How many there are when those of shapes that are gone are looked for.
    limit: usize,
}

impl Own {
    /// Adds one. Returns those that no shape has any more, so that no command can be at work with them.
    pub(super) fn add(&mut self, twin: &Twin) -> Vec<u64> {
        let mut gone = Vec::new();
        if self.twins.len() >= self.limit {
            self.twins.retain(|twin| {
                let stays = Arc::strong_count(twin) > 1;
                if !stays {
                    gone.with_room().push(twin.load(Ordering::Acquire));
                }
                stays
            });
            self.limit = 2 * self.twins.len() + 64;
        }
        self.twins.with_room().push(Arc::clone(twin));
        gone
    }
}

impl LayoutTables {
    /// Whether there was ever a layout with immutable samplers in slots.
    pub(super) fn has_immutables(&self) -> bool {
        self.has_immutables.load(Ordering::Acquire)
    }
}

impl Separate {
    /// Remembers a set layout. Returns the types of descriptors that are to be watched for its sets.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that `layout` was made with.
    pub unsafe fn insert_set_layout(
        &self,
        layout: vk::DescriptorSetLayout,
        info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    ) -> u32 {
        // SAFETY: `info` is a valid create info of a set layout by this function's contract.
        let shape = match unsafe { kept::SetLayout::new(info) } {
            None => {
                let nothing = kept::SetLayout { flags: info.flags, bindings: Vec::new() };
                Arc::new(SetShape::new(self.number(), nothing, false, |_| false))
            }
            Some(kept) => self.shape_of(kept),
        };
        let followed = shape.followed;
        if shape.bindings.iter().any(|binding| !binding.immutable.is_empty()) {
            self.layouts.has_immutables.store(true, Ordering::Release);
        }
        let entry = SetLayout { shape, is_gone: AtomicBool::new(false) };
        self.layouts.sets.insert(layout.as_raw(), Arc::new(entry));
        followed
    }

    /// The shape of all set layouts that are defined so.
    pub(super) fn shape_of(&self, kept: kept::SetLayout) -> Arc<SetShape> {
        let mut alike = lock(&self.layouts.alike);
        let list = alike.list(&kept);
        let same = list.iter().filter_map(Weak::upgrade).find(|shape| shape.kept == kept);
        same.unwrap_or_else(|| {
            let shape =
                Arc::new(SetShape::new(self.number(), kept, true, |immutable| self.follows_combined(immutable)));
            list.with_room().push(Arc::downgrade(&shape));
            shape
        })
    }

    /// Forgets a set layout.
    pub fn forget_set_layout(&self, layout: vk::DescriptorSetLayout) {
        // SAFETY: the layout is the application's to destroy, so no other command names it.
        if let Some(entry) = unsafe { self.layouts.sets.get(layout.as_raw()) } {
            entry.is_gone.store(true, Ordering::Release);
        }
        self.layouts.sets.remove(layout.as_raw());
    }

    /// No layout that is defined from now on is like one with this sampler: its handle may come back as another sampler.
    pub fn forget_immutable(&self, sampler: u64) {
        if !self.layouts.has_immutables() {
            return;
        }
        let holds = |shape: &SetShape| shape.bindings.iter().any(|binding| binding.immutable.contains(&sampler));
        for list in lock(&self.layouts.alike).lists.values_mut() {
            list.retain(|shape| shape.upgrade().is_some_and(|shape| !holds(&shape)));
        }
    }

    /// What is kept of a set layout.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    pub(super) unsafe fn set_layout(&self, layout: vk::DescriptorSetLayout) -> Option<Arc<SetLayout>> {
        // SAFETY: a set layout that is not null is not destroyed during the call, by this function's contract; so its entry stays
        // until it is shared.
        unsafe { self.layouts.sets.share(layout.as_raw()) }
    }

    /// How a set layout is defined.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    unsafe fn set_shape(&self, layout: vk::DescriptorSetLayout) -> Option<Arc<SetShape>> {
        // SAFETY: a set layout that is not null is not destroyed during the call, by this function's contract; only its shape
        // outlives that.
        unsafe { self.layouts.sets.get(layout.as_raw()) }.map(|entry| Arc::clone(&entry.shape))
    }

    /// Remembers a pipeline layout.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that `layout` was made with.
    pub unsafe fn insert_pipeline_layout(&self, layout: vk::PipelineLayout, info: &vk::PipelineLayoutCreateInfo<'_>) {
        // SAFETY: VUID-VkPipelineLayoutCreateInfo-pSetLayouts-parameter: valid or null, and not destroyed during the command.
        let sets = unsafe {
            let given = crate::hooks::slice(info.p_set_layouts, info.set_layout_count);
            memory::collect(given.iter().map(|set| self.set_shape(*set)))
        };
        // SAFETY: `info` is a valid create info of a pipeline layout by this function's contract.
        let shape = PipelineShape::new(self.number(), sets, unsafe { kept::PipelineLayout::new(info) }.map(Arc::new));
        self.layouts.pipelines.insert(layout.as_raw(), Arc::new(shape));
    }

    /// The layout of shader objects, which are made without one.
    ///
    /// # Safety
    ///
    /// `sets` are null or valid during the call.
    pub(super) unsafe fn shape_of_shader(
        &self,
        sets: &[vk::DescriptorSetLayout],
        ranges: &[vk::PushConstantRange],
    ) -> PipelineShape {
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges);
        // SAFETY: `sets` are null or valid by this function's contract, which is all that `set_shape` asks; the create info is a local with
        // the caller's ranges.
        unsafe {
            let sets = memory::collect(sets.iter().map(|set| self.set_shape(*set)));
            PipelineShape::new(self.number(), sets, kept::PipelineLayout::new(&info).map(Arc::new))
        }
    }

    /// The layout of libraries without shaders.
    pub(super) fn no_layout(&self) -> PipelineShape {
        PipelineShape::new(self.number(), Vec::new(), None)
    }

    /// Forgets a pipeline layout.
    pub fn forget_pipeline_layout(&self, layout: vk::PipelineLayout) {
        // Before its handle can come back as another layout.
        self.layouts.gone.fetch_add(1, Ordering::AcqRel);
        self.move_on();
        self.layouts.pipelines.remove(layout.as_raw());
    }

    /// How many pipeline layouts were destroyed: as long as it stays, a handle is that of the same layout.
    #[inline(always)]
    pub(super) fn layouts_gone(&self) -> u64 {
        self.layouts.gone.load(Ordering::Acquire)
    }

    /// What is kept of a pipeline layout.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid while the reference is used.
    #[inline(always)]
    pub(super) unsafe fn layout_at(&self, layout: vk::PipelineLayout) -> Option<&PipelineShape> {
        // SAFETY: null or valid while the reference is used, by this function's contract.
        unsafe { self.layouts.pipelines.get(layout.as_raw()) }
    }

    /// The type of a binding of a pipeline layout, or none if it has no such binding; `None` if the layout is not known.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    pub unsafe fn descriptor_type(
        &self,
        layout: vk::PipelineLayout,
        (set, binding): (u32, u32),
    ) -> Option<Option<vk::DescriptorType>> {
        // SAFETY: null or valid during the call, by this function's contract.
        let shape = unsafe { self.pipeline_shape(layout) }?;
        let set = shape.sets.get(set as usize).and_then(Option::as_deref);
        Some(set.and_then(|set| set.bindings.iter().find(|it| it.binding == binding)).map(|it| it.ty))
    }

    /// A share of what is known of a pipeline layout.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    pub(super) unsafe fn pipeline_shape(&self, layout: vk::PipelineLayout) -> Option<Arc<PipelineShape>> {
        // SAFETY: a pipeline layout that is not null is not destroyed during the call, by this function's contract; so its entry
        // stays until it is shared.
        unsafe { self.layouts.pipelines.share(layout.as_raw()) }
    }
}
