//! Set layouts, the sets of each pool, templates, and the samplers that a layout pins: what tells which samplers of a write are
//! ignored because the binding has immutable ones. Nothing is kept of layouts without immutable samplers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::SetLayout;
use samplin_hot::hooks::Template;
use samplin_hot::layout::Binding;
use samplin_hot::memory::Room;

use super::Device;
use crate::table::{FastMap, FastSet, HandleMap, lock};

/// Set layouts, pools and pinned samplers of one device. What each descriptor needs of them (sets, pipeline layouts, templates)
/// stands in [`samplin_hot::Hot`].
pub(super) struct Layouts {
    /// Set layouts with immutable samplers.
    sets: HandleMap<SetLayout>,
    /// Sets of such layouts by pool.
    pools: Mutex<FastMap<u64, Vec<u64>>>,
    /// Samplers that a descriptor-buffer layout holds as immutable ones: they must stay the same object everywhere.
    pinned: Mutex<FastSet<u64>>,
    /// Whether `pinned` ever held one.
    has_pinned: AtomicBool,
}

impl Layouts {
    pub(super) fn new() -> Self {
        Self {
            sets: HandleMap::new(),
            pools: Mutex::default(),
            pinned: Mutex::default(),
            has_pinned: AtomicBool::new(false),
        }
    }
}

impl Device {
    /// Whether there ever was a layout with immutable samplers.
    pub fn has_immutables(&self) -> bool {
        self.hot.has_immutables.load(Ordering::Acquire)
    }

    /// Remembers a set layout with immutable samplers.
    pub fn insert_set_layout(&self, layout: vk::DescriptorSetLayout, bindings: Vec<Binding>) {
        self.layouts.sets.insert(layout.as_raw(), Arc::new(SetLayout::new(bindings)));
        self.hot.has_immutables.store(true, Ordering::Release);
    }

    /// Whether a set layout is known.
    pub fn has_set_layouts(&self) -> bool {
        !self.layouts.sets.is_empty()
    }

    /// A set layout, if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid while the reference is used.
    pub unsafe fn set_layout(&self, layout: vk::DescriptorSetLayout) -> Option<&SetLayout> {
        // SAFETY: forwarded from the caller.
        unsafe { self.layouts.sets.get(layout.as_raw()) }
    }

    /// A share of a set layout, if it has immutable samplers.
    ///
    /// # Safety
    ///
    /// `layout` is null or valid during the call.
    pub unsafe fn share_set_layout(&self, layout: vk::DescriptorSetLayout) -> Option<Arc<SetLayout>> {
        // SAFETY: forwarded from the caller.
        unsafe { self.layouts.sets.share(layout.as_raw()) }
    }

    /// Forgets a set layout.
    pub fn forget_set_layout(&self, layout: vk::DescriptorSetLayout) {
        self.guard(
            || {
                self.layouts.sets.remove(layout.as_raw());
                if let Some(separate) = self.separate.as_deref() {
                    separate.forget_set_layout(layout);
                }
            },
            || (),
        );
    }

    /// Remembers a pipeline layout by its set layouts, if one of them has immutable samplers.
    pub fn insert_pipeline_layout(&self, layout: vk::PipelineLayout, sets: Vec<Option<Arc<SetLayout>>>) {
        if sets.iter().any(Option::is_some) {
            self.hot.pipeline_layouts.insert(layout.as_raw(), Arc::new(sets));
        }
    }

    /// Forgets a pipeline layout.
    pub fn forget_pipeline_layout(&self, layout: vk::PipelineLayout) {
        self.guard(
            || {
                self.hot.pipeline_layouts.remove(layout.as_raw());
                if let Some(separate) = self.separate.as_deref() {
                    separate.forget_pipeline_layout(layout);
                }
            },
            || (),
        );
    }

    /// Remembers a set of a layout with immutable samplers.
    pub fn insert_set(&self, pool: vk::DescriptorPool, set: vk::DescriptorSet, layout: Arc<SetLayout>) {
        self.hot.sets.insert(set.as_raw(), layout);
        let mut pools = lock(&self.layouts.pools);
        pools.with_room().entry(pool.as_raw()).or_default().with_room().push(set.as_raw());
    }

    /// Forgets sets of a pool.
    pub fn forget_sets(&self, pool: vk::DescriptorPool, gone: &[vk::DescriptorSet]) {
        if let Some(list) = lock(&self.layouts.pools).get_mut(&pool.as_raw()) {
            list.retain(|set| !gone.iter().any(|g| g.as_raw() == *set));
        }
        gone.iter().for_each(|set| self.hot.sets.remove(set.as_raw()));
    }

    /// Forgets every set of a pool.
    pub fn forget_pool(&self, pool: vk::DescriptorPool) {
        self.guard(
            || {
                if self.has_immutables() {
                    let sets = lock(&self.layouts.pools).remove(&pool.as_raw()).unwrap_or_default();
                    sets.into_iter().for_each(|set| self.hot.sets.remove(set));
                }
                if let Some(separate) = self.separate.as_deref() {
                    self.forget_separate_pool(separate, pool);
                }
            },
            || (),
        );
    }

    /// Whether sets of a pool are known.
    pub fn has_pool(&self, pool: vk::DescriptorPool) -> bool {
        lock(&self.layouts.pools).contains_key(&pool.as_raw())
    }

    /// Remembers a template with combined image samplers.
    pub fn insert_template(&self, template: vk::DescriptorUpdateTemplate, entry: Template) {
        self.hot.templates.insert(template.as_raw(), Arc::new(entry));
    }

    /// Forgets a template.
    pub fn forget_template(&self, template: vk::DescriptorUpdateTemplate) {
        self.guard(
            || {
                self.hot.templates.remove(template.as_raw());
                if let Some(separate) = self.separate.as_deref() {
                    self.forget_separate_template(separate, template);
                }
            },
            || (),
        );
    }

    /// Keeps a sampler of a descriptor-buffer layout the same everywhere. Choices are made by state, so it gets a place of its own.
    pub fn pin(&self, sampler: vk::Sampler) {
        self.layouts.has_pinned.store(true, Ordering::Relaxed);
        let sampler = sampler.as_raw();
        if !lock(&self.layouts.pinned).with_room().insert(sampler) {
            return;
        }
        if let Some(own) = (self.hot.gate.sampler(sampler) as u32)
            .checked_sub(1)
            .and_then(|number| self.cache.isolate(&self.hot.choices, number))
        {
            self.hot.gate.move_sampler(sampler, own);
        }
    }

    /// Whether a sampler must stay the same everywhere.
    pub(super) fn is_pinned(&self, sampler: u64) -> bool {
        lock(&self.layouts.pinned).contains(&sampler)
    }

    /// Forgets that a sampler was pinned, which is about to be destroyed.
    pub(super) fn unpin(&self, sampler: u64) {
        if self.layouts.has_pinned.load(Ordering::Relaxed) {
            lock(&self.layouts.pinned).remove(&sampler);
        }
    }
}
