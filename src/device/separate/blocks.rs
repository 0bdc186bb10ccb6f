//! Memory of the buffers that shaders read tasks and tables from: slices of buffers that the layer makes and the host keeps mapped.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;

use super::Separate;
use crate::device::driver::Driver;
use crate::table::lock;

/// Bytes of a buffer, if no slice of it is larger.
const BYTES: u64 = 1 << 16;

/// A slice of a buffer.
pub(super) struct Block {
    buffer: u64,
    offset: u64,
    /// Bytes that are read.
    bytes: u64,
    /// Bytes that it takes of the buffer.
    stride: u64,
}

impl Block {
    /// What a descriptor of it holds.
    pub(super) fn info(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo { buffer: vk::Buffer::from_raw(self.buffer), offset: self.offset, range: self.bytes }
    }
}

/// A slice of a buffer that the host writes as long as it has it.
pub(super) struct Slice {
    block: Block,
    mapped: AtomicPtr<u32>,
    words: usize,
}

/// The words that shaders look up of a set.
#[derive(Debug)]
pub(super) struct Table {
    /// That of no other.
    pub(super) number: u64,
    pub(super) slice: Slice,
    /// The words of some samplers lead nowhere, for want of places.
    pub(super) is_short: AtomicBool,
}

/// A descriptor in no table that has a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) handle: u64,
    pub(super) is_sampler: bool,
    /// What it stood for when its word was first written, see [`Meaning::word`](super::arrays::Meaning::word).
    pub(super) meaning: u32,
}

/// The words of descriptors in no table.
#[derive(Debug)]
pub(super) struct Statics {
    pub(super) slice: Slice,
    pub(super) of: Box<[Looked]>,
}

impl std::fmt::Debug for Slice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Slice").field("words", &self.words).finish_non_exhaustive()
    }
}

impl Slice {
    /// What a descriptor of it holds.
    pub(super) fn info(&self) -> vk::DescriptorBufferInfo {
        self.block.info()
    }

    /// A word, if it has that.
    #[inline(always)]
    fn at(&self, at: usize) -> Option<&AtomicU32> {
        let place = self.mapped.load(Ordering::Relaxed).wrapping_add(at);
        // SAFETY: one of the words that were mapped for this slice, which nobody else has until it is given back; the device reads no word
        // that is being written, see `tables`.
        (at < self.words).then(|| unsafe { AtomicU32::from_ptr(place) })
    }

    /// Sets a word, if it has that.
    #[inline]
    pub(super) fn set(&self, at: usize, word: u32) {
        self.at(at).into_iter().for_each(|own| own.store(word, Ordering::Release));
    }

    /// The word that was set, if it has that.
    pub(super) fn get(&self, at: usize) -> Option<u32> {
        Some(self.at(at)?.load(Ordering::Relaxed))
    }

    /// Sets a word beside others who may write it. What they wrote before is seen from then on.
    pub(super) fn exchange(&self, at: usize, word: u32) {
        self.at(at).into_iter().for_each(|own| _ = own.swap(word, Ordering::AcqRel));
    }

    /// Some of its words.
    #[inline(always)]
    pub(super) fn words(&self, range: Range<usize>) -> impl Iterator<Item = Word<'_>> {
        range.map_while(|at| self.at(at).map(Word))
    }
}

/// A word of a slice. Who [exchanges](Slice::exchange) it later sees what was written before it.
pub(super) struct Word<'s>(&'s AtomicU32);

impl Word<'_> {
    #[inline(always)]
    pub(super) fn set(&self, word: u32) {
        self.0.store(word, Ordering::Release);
    }
}

struct Buffer {
    buffer: u64,
    memory: u64,
    bytes: u64,
    /// Where the host has it.
    mapped: AtomicPtr<u32>,
    /// Bytes that were given out from the start, and slices that are in use.
    given: u64,
    used: u64,
    /// Offset and stride of slices that were given back.
    free: Vec<(u64, u64)>,
}

impl Buffer {
    /// Where a slice of so many bytes is.
    fn take(&mut self, stride: u64) -> Option<u64> {
        let free = self.free.iter().position(|(_, of)| *of == stride).map(|at| self.free.swap_remove(at).0);
        let offset = free.or_else(|| {
            let end = self.given.checked_add(stride).filter(|end| *end <= self.bytes)?;
            Some(std::mem::replace(&mut self.given, end))
        })?;
        self.used += 1;
        Some(offset)
    }

    fn give_back(&mut self, block: &Block) {
        self.used = self.used.saturating_sub(1);
        if self.used == 0 {
            self.given = 0;
            self.free.clear();
        } else {
            self.free.with_room().push((block.offset, block.stride));
        }
    }
}

/// What shaders read a buffer as.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum BufferKind {
    #[default]
    Uniform,
    Storage,
}

/// The buffers, the oldest first.
#[derive(Default)]
pub(super) struct Blocks(Mutex<Vec<Buffer>>, BufferKind);

impl Blocks {
    /// None yet, of a kind.
    pub(super) fn of(kind: BufferKind) -> Self {
        Self(Mutex::default(), kind)
    }

    /// A slice of a buffer that has room, and where the host writes it.
    fn take(&self, bytes: u64, stride: u64) -> Option<(Block, *mut u32)> {
        let mut buffers = lock(&self.0);
        let (buffer, offset) =
            buffers.iter_mut().find_map(|buffer| buffer.take(stride).map(|offset| (buffer, offset)))?;
        let words = (offset / size_of::<u32>() as u64) as usize;
        let mapped = buffer.mapped.load(Ordering::Relaxed).wrapping_add(words);
        Some((Block { buffer: buffer.buffer, offset, bytes, stride }, mapped))
    }

    /// Takes a slice back. Returns a buffer of which nothing is in use, if it is not the only such one.
    fn give_back(&self, block: &Block) -> Option<Buffer> {
        let mut buffers = lock(&self.0);
        if let Some(buffer) = buffers.iter_mut().find(|buffer| buffer.buffer == block.buffer) {
            buffer.give_back(block);
        }
        let mut empty = (0..).zip(&*buffers).filter(|(_, buffer)| buffer.used == 0).map(|(at, _)| at);
        let spare = empty.next().and(empty.next());
        spare.map(|at| buffers.remove(at))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

impl Separate {
    /// A slice of a uniform buffer with these words; none if there is no memory, or the words are more than a descriptor may show.
    pub(super) fn take_block(&self, driver: &Driver, words: &[u32]) -> Option<Block> {
        if size_of_val(words) as u64 > BYTES {
            return None;
        }
        let slice = self.take_slice(driver, &self.blocks, words.len())?;
        words.iter().enumerate().for_each(|(at, word)| slice.set(at, *word));
        Some(slice.block)
    }

    /// A slice of so many words, in which anything may be.
    pub(super) fn take_slice(&self, driver: &Driver, blocks: &Blocks, words: usize) -> Option<Slice> {
        let alignment = match blocks.1 {
            BufferKind::Uniform => self.limits.block_alignment,
            BufferKind::Storage => self.limits.storage_alignment,
        };
        let bytes = u64::try_from(words.checked_mul(size_of::<u32>())?).ok()?;
        let stride = bytes.checked_next_multiple_of(alignment)?;
        let found = blocks.take(bytes, stride);
        let (block, mapped) = found.or_else(|| {
            let buffer = self.make_buffer(driver, blocks.1, stride.max(BYTES))?;
            lock(&blocks.0).with_room().push(buffer);
            blocks.take(bytes, stride)
        })?;
        Some(Slice { block, mapped: AtomicPtr::new(mapped), words })
    }

    /// Takes back a block that no set names any more.
    pub(super) fn give_block_back(&self, driver: &Driver, block: &Block) {
        self.blocks.give_back_to(driver, block);
    }

    fn make_buffer(&self, driver: &Driver, kind: BufferKind, bytes: u64) -> Option<Buffer> {
        let (create, requirements) = (driver.fns.create_buffer?, driver.fns.get_buffer_memory_requirements?);
        let families = &self.limits.families;
        let is_shared = families.len() > 1;
        let sharing = if is_shared { vk::SharingMode::CONCURRENT } else { vk::SharingMode::EXCLUSIVE };
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(match kind {
                BufferKind::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
                BufferKind::Storage => vk::BufferUsageFlags::STORAGE_BUFFER,
            })
            .sharing_mode(sharing)
            .queue_family_indices(if is_shared { families } else { &[] });
        let mut buffer = vk::Buffer::null();
        // SAFETY: a create info of the layer's own, whose queue families are those of the device, each once.
        if unsafe { create(driver.handle, &info, std::ptr::null(), &mut buffer) } != vk::Result::SUCCESS {
            return None;
        }
        let mut wanted = vk::MemoryRequirements::default();
        // SAFETY: the buffer was just made.
        unsafe { requirements(driver.handle, buffer, &mut wanted) };
        let made = self.bind_host_memory(driver, buffer, &wanted, bytes);
        if made.is_none() {
            driver.destroy_buffer(buffer.as_raw(), 0);
        }
        made
    }

    /// Gives a buffer memory that the host has mapped.
    fn bind_host_memory(
        &self,
        driver: &Driver,
        buffer: vk::Buffer,
        wanted: &vk::MemoryRequirements,
        bytes: u64,
    ) -> Option<Buffer> {
        let (allocate, bind, map) =
            (driver.fns.allocate_memory?, driver.fns.bind_buffer_memory?, driver.fns.map_memory?);
        // Tables are written word by word beside atomics. Where the host does not cache them it may combine writes, and each atomic then
        // waits for what is combined.
        let cached = wanted.memory_type_bits & self.limits.cached_types;
        let types = if cached != 0 { cached } else { wanted.memory_type_bits & self.limits.host_types };
        if types == 0 {
            return None;
        }
        let info =
            vk::MemoryAllocateInfo::default().allocation_size(wanted.size).memory_type_index(types.trailing_zeros());
        let mut memory = vk::DeviceMemory::null();
        // SAFETY: a memory type that the device has and the buffer may be bound to.
        if unsafe { allocate(driver.handle, &info, std::ptr::null(), &mut memory) } != vk::Result::SUCCESS {
            return None;
        }
        let mut mapped = std::ptr::null_mut();
        // SAFETY: buffer and memory were just made for each other and nobody else has them; the memory is host-visible.
        let done = unsafe {
            bind(driver.handle, buffer, memory, 0) == vk::Result::SUCCESS
                && map(driver.handle, memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty(), &mut mapped)
                    == vk::Result::SUCCESS
        };
        if !done || mapped.is_null() {
            driver.free_memory(memory.as_raw());
            return None;
        }
        let mapped = AtomicPtr::new(mapped.cast());
        let (buffer, memory) = (buffer.as_raw(), memory.as_raw());
        Some(Buffer { buffer, memory, bytes, mapped, given: 0, used: 0, free: Vec::new() })
    }
}

impl Blocks {
    /// Takes back a slice that no set names any more.
    fn give_back_to(&self, driver: &Driver, block: &Block) {
        if let Some(Buffer { buffer, memory, .. }) = self.give_back(block) {
            driver.destroy_buffer(buffer, memory);
        }
    }

    /// The same of one that the host writes.
    pub(super) fn give_slice_back(&self, driver: &Driver, slice: &Slice) {
        self.give_back_to(driver, &slice.block);
    }

    /// Destroys the buffers: for the end of the device.
    pub(super) fn destroy(&self, driver: &Driver) {
        for buffer in std::mem::take(&mut *lock(&self.0)) {
            driver.destroy_buffer(buffer.buffer, buffer.memory);
        }
    }
}

impl Driver {
    fn destroy_buffer(&self, buffer: u64, memory: u64) {
        if let Some(destroy) = self.fns.destroy_buffer {
            // SAFETY: made by `make_buffer` with a NULL allocator; nobody has seen it, or no set names it any more.
            unsafe { destroy(self.handle, Handle::from_raw(buffer), std::ptr::null()) };
        }
        if memory != 0 {
            self.free_memory(memory);
        }
    }

    fn free_memory(&self, memory: u64) {
        if let Some(free) = self.fns.free_memory {
            // SAFETY: allocated by `bind_host_memory` with a NULL allocator; the buffer that was bound to it is gone, or never was used.
            unsafe { free(self.handle, Handle::from_raw(memory), std::ptr::null()) };
        }
    }
}
