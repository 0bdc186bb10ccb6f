//! Hidden sets: what second pipelines read of the layer's own.
//!
//! The content of a set is its name: equal samplers and equal words are one set, written before it is first bound and never again. It
//! goes with the first of its samplers (VUID-vkDestroySampler-sampler-01082: nothing that is pending refers to that), or with the last
//! pipeline that has such a set.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::blocks::Block;
use super::layouts::SetShape;
use crate::device::Device;
use crate::table::{FastMap, lock};

struct HiddenSet {
    /// Kept, so that another pipeline with a hidden set that is defined so finds this one.
    _shape: Arc<SetShape>,
    set: u64,
    pool: u64,
    /// Where its words are, if it has any.
    block: Option<Block>,
}

/// Number of a hidden set's layout, its samplers, and the words of its uniform buffer.
type Content = (u64, Box<[u64]>, Box<[u32]>);

/// Hidden sets by their layout, samplers and words.
#[derive(Default)]
pub(super) struct HiddenSets {
    by_content: Mutex<FastMap<Content, HiddenSet>>,
    /// How many pipelines may have sets without samplers, by the number of the layout.
    users: Mutex<FastMap<u64, u32>>,
    /// There was ever one.
    any: AtomicBool,
}

impl HiddenSets {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        lock(&self.by_content).len()
    }

    /// Whether there was ever one.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// A pipeline was made that has sets of this layout.
    pub(super) fn enter(&self, shape: &SetShape) {
        *lock(&self.users).with_room().entry(shape.number()).or_default() += 1;
    }

    /// Takes out those that `goes` says.
    fn take(&self, mut goes: impl FnMut(&Content, &HiddenSet) -> bool) -> Vec<HiddenSet> {
        let mut gone = Vec::new();
        for (_, hidden) in lock(&self.by_content).extract_if(|content, hidden| goes(content, hidden)) {
            gone.with_room().push(hidden);
        }
        gone
    }
}

impl Device {
    /// The set with these samplers, one for each of `shape` in their order, and these words in its uniform buffer, if it has one.
    pub(super) fn hidden_set(
        &self,
        separate: &Separate,
        shape: &Arc<SetShape>,
        samplers: &[u64],
        words: &[u32],
    ) -> Option<u64> {
        let key = (shape.number(), Box::from(samplers), Box::from(words));
        if let Some(kept) = lock(&separate.hidden.by_content).get(&key) {
            return Some(kept.set);
        }
        separate.hidden.any.store(true, Ordering::Release);
        let block = if words.is_empty() { None } else { Some(self.take_block(separate, words)?) };
        let Some((pool, set)) = self.make_set(separate, shape, 0, vk::DescriptorPoolCreateFlags::empty()) else {
            block.into_iter().for_each(|block| separate.blocks.give_back(&block));
            return None;
        };
        self.fill_hidden(set, shape, samplers, block.as_ref());
        let made = HiddenSet { _shape: Arc::clone(shape), set: set.as_raw(), pool: pool.as_raw(), block };
        let mut sets = lock(&separate.hidden.by_content);
        if let Some(kept) = sets.get(&key) {
            // Another thread was faster.
            let kept = kept.set;
            drop(sets);
            self.destroy_hidden_set(separate, &made);
            return Some(kept);
        }
        sets.with_room().insert(key, made);
        Some(set.as_raw())
    }

    fn fill_hidden(&self, set: vk::DescriptorSet, shape: &SetShape, samplers: &[u64], block: Option<&Block>) {
        let Some(update) = self.fns.update_descriptor_sets else { return };
        let infos =
            memory::collect(samplers.iter().map(|sampler| vk::DescriptorImageInfo {
                sampler: vk::Sampler::from_raw(*sampler),
                ..Default::default()
            }));
        let buffer = block.map(Block::info).unwrap_or_default();
        let mut rest = &infos[..];
        let writes = memory::collect(shape.bindings.iter().map(|binding| {
            let write =
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding.binding).descriptor_type(binding.ty);
            if binding.ty == vk::DescriptorType::UNIFORM_BUFFER {
                return write.buffer_info(std::slice::from_ref(&buffer));
            }
            let (own, behind) = rest.split_at((binding.count as usize).min(rest.len()));
            rest = behind;
            write.image_info(own)
        }));
        // SAFETY: a set that nobody has seen yet; each sampler lives, and takes the set along when it goes; the buffer's part is the
        // set's until that goes.
        unsafe { update(self.handle, writes.len() as u32, writes.as_ptr(), 0, std::ptr::null()) };
    }

    /// Destroys the hidden sets with a sampler that is about to go.
    pub fn forget_hidden(&self, separate: &Separate, sampler: u64) {
        separate.resolutions.clear();
        if separate.hidden.any() {
            let gone = separate.hidden.take(|(_, samplers, _), _| samplers.contains(&sampler));
            gone.iter().for_each(|hidden| self.destroy_hidden_set(separate, hidden));
        }
    }

    /// A pipeline is about to go that has hidden sets of this layout. Those without samplers go with the last one: nothing that was
    /// recorded with it is pending (VUID-vkDestroyPipeline-pipeline-00765).
    pub(super) fn leave_hidden(&self, separate: &Separate, shape: &SetShape) {
        let number = shape.number();
        let is_last = match lock(&separate.hidden.users).get_mut(&number) {
            Some(users) => {
                *users = users.saturating_sub(1);
                *users == 0
            }
            None => false,
        };
        if is_last {
            lock(&separate.hidden.users).remove(&number);
            let gone = separate.hidden.take(|(of, samplers, _), _| *of == number && samplers.is_empty());
            gone.iter().for_each(|hidden| self.destroy_hidden_set(separate, hidden));
        }
    }

    fn destroy_hidden_set(&self, separate: &Separate, hidden: &HiddenSet) {
        self.destroy_pool(vk::DescriptorPool::from_raw(hidden.pool));
        if let Some(block) = &hidden.block {
            separate.blocks.give_back(block);
        }
    }

    /// Destroys every hidden set: for the end of the device.
    pub(super) fn destroy_hidden(&self, separate: &Separate) {
        separate.hidden.take(|_, _| true).iter().for_each(|hidden| self.destroy_hidden_set(separate, hidden));
        self.destroy_blocks(separate);
    }
}
