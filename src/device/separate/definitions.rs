//! Layouts by handle, and which of them are defined alike.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::differs::differ_in_samplers;
use super::layouts::{PipelineShape, SetLayout, SetShape, Twin, hash_of};
use crate::device::live::Live;
use crate::kept;
use crate::table::{FastMap, HandleMap, lock};

/// Layouts by handle, and those that live by their definition.
#[derive(Default)]
pub(super) struct LayoutTables {
    sets: HandleMap<SetLayout>,
    pipelines: HandleMap<PipelineShape>,
    /// Pipeline layouts that were destroyed.
    gone: AtomicU64,
    alike: Mutex<Alike>,
    /// There was ever a layout with immutable samplers.
    has_immutables: AtomicBool,
    /// There were ever two at once that differ in these only.
    pub(super) differ: AtomicBool,
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
    /// Those with immutable samplers, and how many there are when the gone ones are looked for.
    with_samplers: Vec<Weak<SetShape>>,
    samplers_limit: usize,
}

impl Alike {
    /// Adds a shape to the list of its definition.
    fn add(&mut self, shape: &Arc<SetShape>) {
        if shape.kept.bindings.iter().any(|binding| !binding.samplers.is_empty()) {
            if self.with_samplers.len() >= self.samplers_limit {
                self.with_samplers.retain(|shape| shape.strong_count() > 0);
                self.samplers_limit = 2 * self.with_samplers.len() + 64;
            }
            self.with_samplers.with_room().push(Arc::downgrade(shape));
        }
        self.list(&shape.kept).with_room().push(Arc::downgrade(shape));
    }

    /// Whether one that lives differs from this one in immutable samplers only.
    fn has_other(&self, shape: &SetShape) -> bool {
        let differs = |other: &Weak<SetShape>| other.upgrade().is_some_and(|other| differ_in_samplers(&other, shape));
        if shape.looks.is_empty() {
            self.with_samplers.iter().any(differs)
        } else {
            self.lists.values().flatten().any(differs)
        }
    }

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
    /// How many definitions of sets there are, those that are gone among them.
    pub(super) fn definitions(&self) -> usize {
        lock(&self.alike).lists.values().map(Vec::len).sum()
    }

    /// How many layouts of the layer's own there are.
    pub(super) fn own(&self) -> usize {
        lock(&self.own_sets).twins.len() + lock(&self.own_pipelines).twins.len()
    }

    /// Whether there was ever a layout with immutable samplers.
    pub(super) fn has_immutables(&self) -> bool {
        self.has_immutables.load(Ordering::Acquire)
    }
}

impl Separate {
    /// Remembers a set layout. Returns the types of descriptors that are to be watched for its sets, those whose views are to be, and the number
    /// of its definition. `look`: says the state of a sampler.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that `layout` was made with.
    pub unsafe fn insert_set_layout(
        &self,
        layout: vk::DescriptorSetLayout,
        info: &vk::DescriptorSetLayoutCreateInfo<'_>,
        look: impl Fn(vk::Sampler) -> u64,
    ) -> (u32, u32, u64) {
        // SAFETY: `info` is a valid create info of a set layout by this function's contract.
        let shape = match unsafe { kept::SetLayout::new(info) } {
            None => {
                let nothing = kept::SetLayout { flags: info.flags, bindings: Vec::new() };
                Arc::new(SetShape::new(self.number(), nothing, false, &self.versions, &self.news, |_| false, 0))
            }
            Some(kept) => self.shape_of(kept, look),
        };
        let said = (shape.followed, self.seen.watched(shape.viewed), shape.number());
        self.embedded.watch(info.flags);
        if shape.kept.bindings.iter().any(|binding| !binding.samplers.is_empty()) {
            self.layouts.has_immutables.store(true, Ordering::Release);
        }
        self.layouts.sets.insert(layout.as_raw(), Arc::new(SetLayout::new(shape)));
        said
    }

    /// The shape of all set layouts that are defined so. `look`: says the state of a sampler.
    pub(super) fn shape_of(&self, kept: kept::SetLayout, look: impl Fn(vk::Sampler) -> u64) -> Arc<SetShape> {
        let mut looks = memory::vec(kept.bindings.iter().map(|binding| binding.samplers.len()).sum());
        looks.extend(kept.bindings.iter().flat_map(|binding| &binding.samplers).map(|sampler| look(*sampler)));
        let mut alike = lock(&self.layouts.alike);
        let list = alike.list(&kept);
        let same = list.iter().filter_map(Weak::upgrade).find(|shape| shape.kept == kept && !shape.is_dead());
        same.unwrap_or_else(|| {
            let combined = |immutable| self.follows_combined(immutable);
            let types = self.seen.types();
            let mut shape = SetShape::new(self.number(), kept, true, &self.versions, &self.news, combined, types);
            shape.looks = looks.into();
            let shape = Arc::new(shape);
            if !self.layouts.differ.load(Ordering::Relaxed) && alike.has_other(&shape) {
                self.layouts.differ.store(true, Ordering::Relaxed);
            }
            alike.add(&shape);
            shape
        })
    }

    /// The shape of set layouts with immutable samplers whose definition has this number, while it lives.
    pub(super) fn shape(&self, number: u64) -> Option<Arc<SetShape>> {
        let alike = lock(&self.layouts.alike);
        alike.with_samplers.iter().filter_map(Weak::upgrade).find(|shape| shape.number() == number)
    }

    /// Forgets a set layout.
    pub fn forget_set_layout(&self, layout: vk::DescriptorSetLayout) {
        // SAFETY: the layout is the application's to destroy, so no other command names it.
        if let Some(entry) = unsafe { self.layouts.sets.get(layout.as_raw()) } {
            entry.go();
        }
        self.layouts.sets.remove(layout.as_raw());
    }

    /// A sampler is about to go, and its handle may come back as another one: no layout that is defined from now on is like one with
    /// this sampler, and nothing more is made of those that there are.
    pub fn forget_immutable(&self, sampler: u64) {
        if !self.layouts.has_immutables() {
            return;
        }
        self.embedded.forget(sampler);
        let sampler = vk::Sampler::from_raw(sampler);
        lock(&self.layouts.alike).with_samplers.retain(|shape| match shape.upgrade() {
            Some(shape) if shape.holds(sampler) => {
                shape.die();
                false
            }
            other => other.is_some(),
        });
    }

    /// What is kept of a set layout.
    pub(super) fn set_layout(&self, layout: Live<'_, vk::DescriptorSetLayout>) -> Option<Arc<SetLayout>> {
        layout.share(&self.layouts.sets)
    }

    /// How a set layout is defined.
    fn set_shape(&self, layout: Live<'_, vk::DescriptorSetLayout>) -> Option<Arc<SetShape>> {
        layout.of(&self.layouts.sets).map(|entry| Arc::clone(&entry.shape))
    }

    /// Remembers a pipeline layout.
    ///
    /// # Safety
    ///
    /// `info` is the valid create info that `layout` was made with.
    pub unsafe fn insert_pipeline_layout(&self, layout: vk::PipelineLayout, info: &vk::PipelineLayoutCreateInfo<'_>) {
        // SAFETY: VUID-VkPipelineLayoutCreateInfo-pSetLayouts-parameter: valid or null, and not destroyed during the command.
        let sets = unsafe {
            let given = Live::all(crate::pnext::slice(info.p_set_layouts, info.set_layout_count));
            memory::collect(given.iter().map(|set| self.set_shape(*set)))
        };
        // SAFETY: `info` is a valid create info of a pipeline layout by this function's contract.
        let shape = PipelineShape::new(self.number(), sets, unsafe { kept::PipelineLayout::new(info) }.map(Arc::new));
        self.layouts.pipelines.insert(layout.as_raw(), Arc::new(shape));
    }

    /// The layout of shader objects, which are made without one.
    pub(super) fn shape_of_shader(
        &self,
        sets: &[Live<'_, vk::DescriptorSetLayout>],
        ranges: &[vk::PushConstantRange],
    ) -> PipelineShape {
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges);
        let sets = memory::collect(sets.iter().map(|set| self.set_shape(*set)));
        // SAFETY: the create info is a local with the caller's ranges.
        PipelineShape::new(self.number(), sets, unsafe { kept::PipelineLayout::new(&info) }.map(Arc::new))
    }

    /// The layout of libraries without shaders.
    pub(super) fn no_layout(&self) -> PipelineShape {
        PipelineShape::new(self.number(), Vec::new(), None)
    }

    /// Forgets a pipeline layout.
    pub fn forget_pipeline_layout(&self, layout: vk::PipelineLayout) {
        // Before its handle can come back as another layout.
        self.layouts.gone.fetch_add(1, Ordering::AcqRel);
        self.layouts.pipelines.remove(layout.as_raw());
    }

    /// How many pipeline layouts were destroyed: as long as it stays, a handle is that of the same layout.
    #[inline(always)]
    pub(super) fn layouts_gone(&self) -> u64 {
        self.layouts.gone.load(Ordering::Acquire)
    }

    /// The type of a binding of a pipeline layout, or none if it has no such binding; `None` if the layout is not known.
    pub fn descriptor_type(
        &self,
        layout: Live<'_, vk::PipelineLayout>,
        set: u32,
        binding: u32,
    ) -> Option<Option<vk::DescriptorType>> {
        let shape = self.pipeline_shape(layout)?;
        let set = shape.sets.get(set as usize).and_then(Option::as_deref);
        Some(set.and_then(|set| set.bindings.iter().find(|it| it.binding == binding)).map(|it| it.ty))
    }

    /// A share of what is known of a pipeline layout.
    pub(super) fn pipeline_shape(&self, layout: Live<'_, vk::PipelineLayout>) -> Option<Arc<PipelineShape>> {
        layout.share(&self.layouts.pipelines)
    }
}
