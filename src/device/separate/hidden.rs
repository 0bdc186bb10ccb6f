//! Hidden sets: what second pipelines read of the layer's own.
//!
//! The content of a set is its name: equal samplers and equal words are one set, written before it is first bound and never again. It is
//! not found any more when one of its samplers goes, with the last pipeline that has such a set, or when many others were used since; it is
//! destroyed when no command buffer holds it any more, see [`found`](super::found).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ash::vk::{self, Handle};
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::blocks::{Block, Looked, Slice, Statics, Table};
use super::layouts::SetShape;
use super::looked_up::Selection;
use crate::device::driver::Driver;
use crate::table::{FastMap, lock};

/// How many are found, beside those that command buffers hold.
pub(super) const MOST: usize = 256;

pub(super) struct HiddenSet {
    /// Kept, so that another pipeline with a hidden set that is defined so finds this one.
    shape: Arc<SetShape>,
    pub(super) set: u64,
    pool: u64,
    /// Where its words are, if it has any.
    block: Option<Block>,
    /// Where those words are that stand for descriptors in no table, if there are any.
    pub(super) statics: Option<Statics>,
    /// Its pool of samplers is written while it is bound.
    is_late: bool,
    /// When it was last asked for.
    used: AtomicU64,
    /// It is not found any more.
    is_retired: AtomicBool,
}

impl HiddenSet {
    /// Whether it is not found any more, so that nothing keeps it but what holds it.
    pub(super) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }
}

/// What shaders look samplers up in.
pub(super) struct LookUps<'s> {
    /// The tables of sets.
    pub(super) tables: Vec<Arc<Table>>,
    /// Words that stand for descriptors in no table, and these.
    pub(super) statics: Vec<u32>,
    pub(super) looked: Vec<Looked>,
    pub(super) selection: &'s Selection,
    /// The places that words lead to and what is there, unless the pool is written on.
    pub(super) reached: Vec<(u32, u64)>,
    /// The pool is written while the set is bound.
    pub(super) is_late: bool,
}

/// What a hidden set holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Content {
    /// The number of its layout.
    shape: u64,
    samplers: Box<[u64]>,
    /// Those of its uniform buffer.
    words: Box<[u32]>,
    /// Words that stand for descriptors in no table, or the classes of images if samplers may come that part columns.
    statics: Box<[u32]>,
    /// The numbers of its tables.
    tables: Box<[u64]>,
    /// What of its pool is read, unless that is written on.
    reached: Box<[(u32, u64)]>,
}

#[derive(Default)]
struct Sets {
    by_content: FastMap<Content, Arc<HiddenSet>>,
    /// How many are found when those that nobody holds are looked for.
    limit: usize,
    /// Those that are not found any more, and how many there are when those that nobody holds are looked for.
    old: Vec<Arc<HiddenSet>>,
    old_limit: usize,
    /// How many pipelines may have sets of a layout, by its number.
    users: FastMap<u64, u32>,
    /// How often one was asked for.
    turns: u64,
}

impl Sets {
    /// The set with a content.
    fn get(&mut self, content: &Content) -> Option<Arc<HiddenSet>> {
        self.turns += 1;
        let found = self.by_content.get(content)?;
        found.used.store(self.turns, Ordering::Relaxed);
        Some(Arc::clone(found))
    }

    /// Finds those no more that `goes` says.
    fn retire(&mut self, mut goes: impl FnMut(&Content, &Arc<HiddenSet>) -> bool) {
        for (_, hidden) in self.by_content.extract_if(|content, hidden| goes(content, hidden)) {
            hidden.is_retired.store(true, Ordering::Release);
            self.old.with_room().push(hidden);
        }
    }

    fn is_full(&self) -> bool {
        self.by_content.len() >= self.limit.max(MOST)
    }

    /// If there are too many, finds half as many no more: those that were asked for longest ago.
    fn evict(&mut self) {
        if !self.is_full() {
            return;
        }
        let is_free = |hidden: &Arc<HiddenSet>| Arc::strong_count(hidden) == 1;
        let free = self.by_content.values().filter(|hidden| is_free(hidden));
        let turns = memory::sorted(memory::collect(free.map(|hidden| hidden.used.load(Ordering::Relaxed))));
        let excess = self.by_content.len() - MOST / 2;
        if let Some(last) = turns.get(excess.min(turns.len()).wrapping_sub(1)).copied() {
            self.retire(|_, hidden| is_free(hidden) && hidden.used.load(Ordering::Relaxed) <= last);
        }
        self.limit = 2 * self.by_content.len();
    }

    /// A pipeline goes that has sets of a layout. Takes out all of these if it is the last.
    fn leave(&mut self, number: u64) -> Vec<Arc<HiddenSet>> {
        let mut gone = Vec::new();
        if let Some(users) = self.users.get_mut(&number) {
            *users = users.saturating_sub(1);
            if *users == 0 {
                self.users.remove(&number);
                self.retire(|of, _| of.shape == number);
                for hidden in self.old.extract_if(.., |hidden| hidden.shape.number() == number) {
                    gone.with_room().push(hidden);
                }
            }
        }
        gone
    }

    /// Takes out those that are not found and that nobody holds.
    fn unheld(&mut self) -> Vec<Arc<HiddenSet>> {
        let mut gone = Vec::new();
        if self.old.len() >= self.old_limit {
            for hidden in self.old.extract_if(.., |hidden| Arc::strong_count(hidden) == 1) {
                gone.with_room().push(hidden);
            }
            // Few are looked at each time.
            self.old_limit = if self.old.len() < 16 { 0 } else { 2 * self.old.len() };
        }
        gone
    }
}

/// Hidden sets by their layout, samplers and words.
#[derive(Default)]
pub(super) struct HiddenSets {
    sets: Mutex<Sets>,
    /// There was ever one.
    any: AtomicBool,
}

impl HiddenSets {
    /// How many are found, and how many are not but may be held.
    pub(super) fn count(&self) -> (usize, usize) {
        let sets = lock(&self.sets);
        (sets.by_content.len(), sets.old.len())
    }

    /// Whether there was ever one.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// A pipeline was made that has sets of this layout.
    pub(super) fn enter(&self, shape: &SetShape) {
        *lock(&self.sets).users.with_room().entry(shape.number()).or_default() += 1;
    }
}

impl Separate {
    /// The set with these samplers, one for each of `shape` in their order, and these words in its uniform buffer, if it has one. `since`:
    /// how many samplers had gone when these were looked up, see [`Resolutions::gone`](super::found::Resolutions::gone).
    pub(super) fn hidden_set(
        &self,
        driver: &Driver,
        shape: &Arc<SetShape>,
        samplers: &[u64],
        since: u64,
        words: &[u32],
        look_ups: Option<&LookUps<'_>>,
    ) -> Option<Arc<HiddenSet>> {
        let is_late = look_ups.is_some_and(|own| own.is_late);
        let content = Content {
            shape: shape.number(),
            samplers: Box::from(samplers),
            words: Box::from(words),
            statics: look_ups.map_or_else(Box::default, |own| {
                let is_class = |looked: &Looked| is_late && !looked.is_sampler && looked.meaning != 0;
                let words = own.statics.iter().zip(&own.looked);
                words.map(|(word, looked)| if is_class(looked) { !looked.meaning } else { *word }).collect()
            }),
            tables: look_ups.map_or_else(Box::default, |own| own.tables.iter().map(|table| table.number).collect()),
            reached: look_ups.map_or_else(Box::default, |own| own.reached[..].into()),
        };
        if let Some(found) = lock(&self.hidden.sets).get(&content) {
            return Some(found);
        }
        self.hidden.any.store(true, Ordering::Release);
        let statics = match look_ups.filter(|own| !own.statics.is_empty()) {
            None => None,
            Some(own) => {
                let slice = self.take_slice(driver, &self.tables.blocks, own.statics.len())?;
                own.statics.iter().enumerate().for_each(|(at, word)| slice.set(at, *word));
                Some(Statics { slice, of: own.looked[..].into() })
            }
        };
        let mut made = HiddenSet {
            shape: Arc::clone(shape),
            set: 0,
            pool: 0,
            block: if words.is_empty() { None } else { self.take_block(driver, words) },
            statics,
            is_late,
            used: AtomicU64::new(0),
            is_retired: AtomicBool::new(false),
        };
        let after_bind = vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL;
        let flags = match shape.kept.flags.contains(after_bind) {
            true => vk::DescriptorPoolCreateFlags::UPDATE_AFTER_BIND,
            false => vk::DescriptorPoolCreateFlags::empty(),
        };
        let has_words = words.is_empty() || made.block.is_some();
        let Some((pool, set)) = self.make_set(driver, shape, 0, flags).filter(|_| has_words) else {
            self.give_hidden_back(driver, &made);
            return None;
        };
        (made.set, made.pool) = (set.as_raw(), pool.as_raw());
        let buffers = look_ups.map_or_else(Vec::new, |own| {
            let matrix = self.tables.matrix().map(Slice::info);
            let tables = own.tables.iter().map(|table| table.slice.info());
            memory::collect(matrix.into_iter().chain(made.statics.as_ref().map(|own| own.slice.info())).chain(tables))
        });
        let fill = |pool: &[u64]| {
            let all = memory::collect(samplers.iter().chain(pool).copied());
            driver.fill_hidden(set, shape, &all, made.block.as_ref(), &buffers);
        };
        let binding = shape.bindings.last().map_or(0, |last| last.binding);
        let pool_of = |own: &LookUps<'_>| own.selection.pool_of(&own.tables);
        match look_ups {
            None => fill(&[]),
            Some(own) if !is_late => self.tables.with_places(&pool_of(own), &own.reached, fill),
            Some(own) if self.tables.with_pool(&pool_of(own), set, binding, fill) => {}
            // Others have taken more places meanwhile.
            Some(_) => {
                driver.destroy_pool(pool);
                self.give_hidden_back(driver, &made);
                return None;
            }
        }
        let made = Arc::new(made);
        if lock(&self.hidden.sets).is_full() {
            // They hold what is to be evicted.
            self.resolutions.clear();
        }
        let (found, gone) = {
            let mut sets = lock(&self.hidden.sets);
            let found = sets.get(&content);
            match &found {
                // Another thread was faster.
                Some(_) => sets.old.with_room().push(Arc::clone(&made)),
                // One of the samplers may have gone meanwhile, so it serves this once.
                None if self.resolutions.gone() != since => sets.old.with_room().push(Arc::clone(&made)),
                None => {
                    sets.evict();
                    made.used.store(sets.turns, Ordering::Relaxed);
                    sets.by_content.with_room().insert(content, Arc::clone(&made));
                }
            }
            let found = found.unwrap_or(made);
            (found, sets.unheld())
        };
        gone.iter().for_each(|hidden| self.destroy_hidden_set(driver, hidden));
        Some(found)
    }

    /// Finds the hidden sets no more that name a sampler which is about to go.
    pub fn forget_hidden(&self, driver: &Driver, sampler: u64) {
        self.resolutions.forget_sampler(sampler);
        if self.hidden.any() {
            let gone = {
                let mut sets = lock(&self.hidden.sets);
                let reads = |of: &Content| of.reached.iter().any(|(_, own)| *own == sampler);
                sets.retire(|of, _| of.samplers.contains(&sampler) || reads(of));
                sets.unheld()
            };
            gone.iter().for_each(|hidden| self.destroy_hidden_set(driver, hidden));
        }
    }

    /// A pipeline is about to go that has hidden sets of this layout; those go with the last one: nothing that was recorded with any of these
    /// is pending (VUID-vkDestroyPipeline-pipeline-00765).
    pub(super) fn leave_hidden(&self, driver: &Driver, shape: &SetShape) {
        let gone = lock(&self.hidden.sets).leave(shape.number());
        gone.iter().for_each(|hidden| self.destroy_hidden_set(driver, hidden));
    }

    /// All hidden sets with words for descriptors in no table.
    pub(super) fn with_statics(&self) -> Vec<Arc<HiddenSet>> {
        let sets = lock(&self.hidden.sets);
        let all = sets.by_content.values().chain(&sets.old).filter(|hidden| hidden.statics.is_some());
        let mut shares = Vec::new();
        all.for_each(|hidden| shares.with_room().push(Arc::clone(hidden)));
        shares
    }

    /// Finds the hidden sets no more that name the table of a set which is about to go.
    pub(super) fn retire_hidden_of(&self, table: u64) {
        let mut is_any = false;
        lock(&self.hidden.sets).retire(|of, _| {
            let goes = of.tables.contains(&table);
            is_any |= goes;
            goes
        });
        if is_any {
            self.resolutions.forget_retired();
        }
    }

    fn destroy_hidden_set(&self, driver: &Driver, hidden: &HiddenSet) {
        if hidden.is_late {
            self.tables.leave_pool(hidden.set);
        }
        driver.destroy_pool(vk::DescriptorPool::from_raw(hidden.pool));
        // Nobody may be writing its words.
        let _walk = hidden.statics.as_ref().map(|_| self.tables.walk());
        self.give_hidden_back(driver, hidden);
    }

    /// Takes back the memory of a hidden set.
    fn give_hidden_back(&self, driver: &Driver, hidden: &HiddenSet) {
        hidden.block.iter().for_each(|block| self.give_block_back(driver, block));
        hidden.statics.iter().for_each(|own| self.tables.blocks.give_slice_back(driver, &own.slice));
    }

    /// Destroys every hidden set: for the end of the device.
    pub(super) fn destroy_hidden(&self, driver: &Driver) {
        let Sets { by_content, old, .. } = std::mem::take(&mut *lock(&self.hidden.sets));
        by_content.values().chain(&old).for_each(|hidden| self.destroy_hidden_set(driver, hidden));
        self.blocks.destroy(driver);
        self.tables.blocks.destroy(driver);
    }
}

impl Driver {
    /// Writes samplers, a uniform buffer and storage buffers to a set, each in the order of its bindings.
    fn fill_hidden(
        &self,
        set: vk::DescriptorSet,
        shape: &SetShape,
        samplers: &[u64],
        block: Option<&Block>,
        buffers: &[vk::DescriptorBufferInfo],
    ) {
        let Some(update) = self.fns.update_descriptor_sets else { return };
        let infos =
            memory::collect(samplers.iter().map(|sampler| vk::DescriptorImageInfo {
                sampler: vk::Sampler::from_raw(*sampler),
                ..Default::default()
            }));
        let buffer = block.map(Block::info).unwrap_or_default();
        let (mut rest, mut buffers) = (&infos[..], buffers.iter());
        let writes = memory::collect(shape.bindings.iter().filter_map(|binding| {
            let write =
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding.binding).descriptor_type(binding.ty);
            if binding.ty == vk::DescriptorType::UNIFORM_BUFFER {
                return Some(write.buffer_info(std::slice::from_ref(&buffer)));
            }
            if binding.ty == vk::DescriptorType::STORAGE_BUFFER {
                return Some(write.buffer_info(std::slice::from_ref(buffers.next()?)));
            }
            let (own, behind) = rest.split_at((binding.count as usize).min(rest.len()));
            rest = behind;
            // Where no sampler is known nobody reads one.
            own.iter().all(|info| info.sampler != vk::Sampler::null()).then(|| write.image_info(own))
        }));
        // SAFETY: a set that nobody has seen yet; each sampler lives, or is one that the shader does not
        // read (PARTIALLY_BOUND); the buffer's part is the set's until that goes.
        unsafe { update(self.handle, writes.len() as u32, writes.as_ptr(), 0, std::ptr::null()) };
    }
}
