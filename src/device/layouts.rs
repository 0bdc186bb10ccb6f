//! Set layouts and the sets of each pool: what tells which samplers of a write are
//! ignored because the binding has immutable ones. Nothing is kept of layouts without immutable samplers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use ash::vk::{self, DescriptorImageInfo, Handle, WriteDescriptorSet};
use samplin_hot::SetLayout;
use samplin_hot::layout::Binding;
use samplin_hot::memory::Room;

use super::ground::Ground;
use super::hot::Hot;
use super::resolve::Pairs;
use crate::table::{FastMap, HandleMap, lock};

/// Set layouts and pools of one device. What each descriptor needs of them (sets, pipeline layouts, templates)
/// stands in [`Hot`](super::Hot).
pub struct Layouts {
    /// Set layouts with immutable samplers.
    sets: HandleMap<SetLayout>,
    /// Sets of such layouts by pool.
    pools: Mutex<FastMap<u64, Vec<u64>>>,
}

impl Layouts {
    pub(super) fn new() -> Self {
        Self { sets: HandleMap::new(), pools: Mutex::default() }
    }
}

/// Which set layout a write is for.
#[derive(Clone, Copy)]
pub enum LayoutOf<'a> {
    /// That of its `dstSet`, which is a valid set (VUID-VkWriteDescriptorSet-dstSet-00320).
    DstSet,
    /// Push descriptors: `dstSet` is ignored, and this is the layout, if it has immutable samplers.
    Push(Option<&'a SetLayout>),
}

impl Hot {
    /// Whether there ever was a layout with immutable samplers.
    #[inline]
    pub fn has_immutables(&self) -> bool {
        self.has_immutables.load(Ordering::Acquire)
    }

    /// Remembers a pipeline layout by its set layouts, if one of them has immutable samplers.
    pub fn insert_pipeline_layout(&self, layout: vk::PipelineLayout, sets: Vec<Option<Arc<SetLayout>>>) {
        if sets.iter().any(Option::is_some) {
            self.pipeline_layouts.insert(layout.as_raw(), Arc::new(sets));
        }
    }

    // ---- for each descriptor ----

    /// The layout by which the samplers of a write are ignored, because the binding has immutable ones.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    pub(super) unsafe fn ignoring<'a>(
        &'a self,
        write: &WriteDescriptorSet<'_>,
        layout_of: LayoutOf<'a>,
    ) -> Option<&'a SetLayout> {
        let layout = match layout_of {
            // SAFETY: a set that a command names is not freed meanwhile.
            LayoutOf::DstSet => unsafe { self.sets.get_in_line(write.dst_set.as_raw()) },
            LayoutOf::Push(layout) => layout,
        };
        layout.filter(|layout| layout.is_immutable(write.dst_binding))
    }

    /// Whether a write is for a set, or a push, whose layout has immutable samplers.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(always)]
    pub(super) unsafe fn has_layout(&self, write: &WriteDescriptorSet<'_>, layout_of: LayoutOf<'_>) -> bool {
        match layout_of {
            // SAFETY: a set that a command names is not freed meanwhile.
            LayoutOf::DstSet => unsafe { self.sets.get_in_line(write.dst_set.as_raw()) }.is_some(),
            LayoutOf::Push(layout) => layout.is_some(),
        }
    }

    /// [`Hot::ignoring`], where it is rarely asked.
    ///
    /// # Safety
    ///
    /// The write is valid.
    #[inline(never)]
    pub(super) unsafe fn is_ignored(&self, write: &WriteDescriptorSet<'_>, layout_of: LayoutOf<'_>) -> bool {
        // SAFETY: `write` is valid by this function's contract, which is all that `ignoring` asks.
        unsafe { self.ignoring(write, layout_of) }.is_some()
    }

    /// The layout with immutable samplers of set number `set` of a pipeline layout, for push descriptors.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid.
    #[inline(always)]
    pub unsafe fn push_layout(&self, layout: vk::PipelineLayout, set: u32) -> Option<&SetLayout> {
        if !self.has_immutables() {
            return None;
        }
        // SAFETY: a pipeline layout that is not null is not destroyed meanwhile, by this function's contract; so its entry stays.
        let sets = unsafe { self.pipeline_layouts.get(layout.as_raw()) }?;
        sets.get(set as usize)?.as_deref()
    }
}

impl Layouts {
    /// Remembers a set layout with immutable samplers. `number`: that of its definition.
    pub fn insert_set_layout(&self, hot: &Hot, layout: vk::DescriptorSetLayout, bindings: Vec<Binding>, number: u64) {
        self.sets.insert(layout.as_raw(), Arc::new(SetLayout::new(bindings).numbered(number)));
        if !hot.has_immutables.swap(true, Ordering::AcqRel) {
            hot.gate.take_any_sampler();
        }
    }

    /// Whether a set layout is kept.
    pub fn has_set_layouts(&self) -> bool {
        !self.sets.is_empty()
    }

    /// A set layout, if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid while the reference is used.
    pub unsafe fn set_layout(&self, layout: vk::DescriptorSetLayout) -> Option<&SetLayout> {
        // SAFETY: a layout that is not null is not destroyed while the reference is used, by this function's contract; so its entry
        // stays.
        unsafe { self.sets.get(layout.as_raw()) }
    }

    /// A share of a set layout, if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    pub unsafe fn share_set_layout(&self, layout: vk::DescriptorSetLayout) -> Option<Arc<SetLayout>> {
        // SAFETY: a layout that is not null is not destroyed during the call, by this function's contract; so its entry stays until
        // it is shared.
        unsafe { self.sets.share(layout.as_raw()) }
    }

    /// Forgets a set layout.
    pub fn forget_set_layout(&self, layout: vk::DescriptorSetLayout) {
        self.sets.remove(layout.as_raw());
    }

    /// Remembers a set of a layout with immutable samplers.
    pub fn insert_set(&self, hot: &Hot, pool: vk::DescriptorPool, set: vk::DescriptorSet, layout: Arc<SetLayout>) {
        hot.sets.insert(set.as_raw(), layout);
        let mut pools = lock(&self.pools);
        pools.with_room().entry(pool.as_raw()).or_default().with_room().push(set.as_raw());
    }

    /// Forgets sets of a pool.
    pub fn forget_sets(&self, hot: &Hot, pool: vk::DescriptorPool, gone: &[vk::DescriptorSet]) {
        if let Some(list) = lock(&self.pools).get_mut(&pool.as_raw()) {
            list.retain(|set| !gone.iter().any(|g| g.as_raw() == *set));
        }
        gone.iter().for_each(|set| hot.sets.remove(set.as_raw()));
    }

    /// Forgets every set of a pool.
    pub fn forget_sets_of(&self, hot: &Hot, pool: vk::DescriptorPool) {
        if hot.has_immutables() {
            let sets = lock(&self.pools).remove(&pool.as_raw()).unwrap_or_default();
            sets.into_iter().for_each(|set| hot.sets.remove(set));
        }
    }

    /// Whether sets of a pool are kept.
    pub fn has_pool(&self, pool: vk::DescriptorPool) -> bool {
        lock(&self.pools).contains_key(&pool.as_raw())
    }
}

impl Pairs {
    /// Notes immutable samplers that conflict with the views written to `target` (binding and element) and on, unless it
    /// was done for that state and class before.
    #[inline(always)]
    pub(super) fn note_immutables(
        &self,
        ground: &Ground,
        layout: &SetLayout,
        target: (u32, u32),
        infos: impl Iterator<Item = DescriptorImageInfo>,
    ) {
        if ground.wishes.joins_immutables {
            // What becomes of them is said where they are bound.
            return;
        }
        layout.for_each(target.0, target.1, infos, |sampler, view| {
            if ground.hot.gate.may_conflict(sampler, view)
                && let Some(pair) = ground.hot.gate.look_up(sampler, view)
                && !ground.hot.gate.choices.is_recorded(pair.state, pair.class)
            {
                self.immutable_conflict(ground, pair);
            }
        });
    }
}
