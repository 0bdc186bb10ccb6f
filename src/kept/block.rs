//! Structures that point at each other, in one piece of memory without a pointer.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use crate::pnext::slice;
use samplin_hot::memory::{self, Room};

/// Copies of plain structures and arrays, and which member leads to which of them. Places are offsets in bytes; every copy starts at
/// a multiple of 8, the strictest alignment of Vulkan's structures. Padding may be uninitialised, so the words are never read as such.
#[derive(Debug, Default)]
pub(super) struct Block {
    words: Vec<MaybeUninit<u64>>,
    /// Offset of a pointer, offset of what it leads to.
    links: Vec<(usize, usize)>,
}

impl Block {
    /// Copies `size` bytes and returns where the copy starts. Pointers in it are copied as they are: the caller [clears](Self::clear)
    /// each of them.
    ///
    /// # Safety
    ///
    /// `size` bytes from `from` on can be read; they may be uninitialised.
    pub(super) unsafe fn copy(&mut self, from: *const u8, size: usize) -> usize {
        let (old, more) = (self.words.len(), size.div_ceil(8));
        if self.words.try_reserve(more).is_err() {
            memory::give_up();
        }
        // There is room, so this does not allocate.
        self.words.resize(old + more, MaybeUninit::new(0));
        let at = old * 8;
        // SAFETY: `size` bytes can be read from `from` by this function's contract; `more` words, which are at least as many bytes, were
        // just added from `at` on, and are nobody else's.
        unsafe { ptr::copy_nonoverlapping(from, self.words.as_mut_ptr().cast::<u8>().add(at), size) };
        at
    }

    /// As [`copy`](Self::copy), of a slice.
    pub(super) fn slice<T: Copy>(&mut self, items: &[T]) -> usize {
        // SAFETY: a slice can be read as far as it goes.
        unsafe { self.copy(items.as_ptr().cast(), size_of_val(items)) }
    }

    /// As [`copy`](Self::copy), of a value.
    pub(super) fn value<T: Copy>(&mut self, value: &T) -> usize {
        self.slice(std::slice::from_ref(value))
    }

    /// Overwrites a member.
    pub(super) fn write<T: Copy>(&mut self, at: usize, value: T) {
        write(self.words.as_mut_ptr().cast(), self.words.len() * 8, at, value);
    }

    /// Makes the pointer at `pointer` null.
    pub(super) fn clear(&mut self, pointer: usize) {
        self.write(pointer, ptr::null::<u8>());
    }

    /// Lets the pointer at `pointer` lead to what is at `to`.
    pub(super) fn link(&mut self, pointer: usize, to: usize) {
        self.links.with_room().push((pointer, to));
    }

    /// Copies `count` elements and lets the pointer at `pointer` lead to them; null stays null, and becomes of an empty array.
    ///
    /// # Safety
    ///
    /// `from` is null, or leads to `count` readable elements.
    pub(super) unsafe fn array<T: Copy>(&mut self, pointer: usize, from: *const T, count: usize) {
        self.clear(pointer);
        let size = count.checked_mul(size_of::<T>()).unwrap_or_else(|| memory::give_up());
        if !from.is_null() && size != 0 {
            // SAFETY: `from` is not null here, so `count` elements, which are `size` bytes, can be read by this function's
            // contract.
            let to = unsafe { self.copy(from.cast(), size) };
            self.link(pointer, to);
        }
    }

    /// As [`array`](Self::array), of structures with pointers of their own: where each copy starts, and what it is a copy of.
    ///
    /// # Safety
    ///
    /// As for [`array`](Self::array), for `'a`.
    pub(super) unsafe fn each<'a, T: Copy + 'a>(
        &mut self,
        pointer: usize,
        from: *const T,
        count: u32,
    ) -> impl Iterator<Item = (usize, &'a T)> + use<'a, T> {
        let first = self.words.len() * 8;
        // SAFETY: null, or `count` elements that live for `'a`, by this function's contract.
        let items = unsafe {
            self.array(pointer, from, count as usize);
            slice(from, count)
        };
        items.iter().enumerate().map(move |(number, item)| (first + number * size_of::<T>(), item))
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * 8 + self.links.capacity() * size_of::<(usize, usize)>()
    }

    /// As large as what it holds. A copy, because the standard library's own shrinking may end the process.
    pub(super) fn close(self) -> Self {
        Self { words: memory::collect(self.words.iter().copied()), links: memory::collect(self.links.iter().copied()) }
    }

    /// A second copy, with pointers.
    pub(super) fn live(&self) -> Live<'_> {
        let mut words = memory::collect(self.words.iter().copied());
        let base = words.as_mut_ptr().cast::<u8>();
        let live = Live { base, words, of: PhantomData };
        for &(pointer, to) in &self.links {
            live.write(pointer, base.cast_const().wrapping_add(to));
        }
        live
    }
}

/// A block whose pointers lead into it, for as long as it lives.
pub(super) struct Live<'a> {
    words: Vec<MaybeUninit<u64>>,
    /// Start of `words`, from before the pointers were made.
    base: *mut u8,
    of: PhantomData<&'a Block>,
}

impl Live<'_> {
    /// Overwrites a member.
    pub(super) fn write<T: Copy>(&self, at: usize, value: T) {
        write(self.base, self.words.len() * 8, at, value);
    }

    /// The structure at `at`.
    ///
    /// # Safety
    ///
    /// A `T` was copied to `at`.
    pub(super) unsafe fn get<T: Copy>(&self, at: usize) -> &T {
        // SAFETY: a `T` was copied to `at` by this function's contract; copies start at multiples of 8, and nothing is written while this
        // is borrowed but through `write`, which is done before.
        unsafe { &*self.base.add(at).cast() }
    }
}

/// Writes a member of a block of `size` bytes. Members lie within what was copied; what does not is not written.
fn write<T: Copy>(base: *mut u8, size: usize, at: usize, value: T) {
    let fits = at.checked_add(size_of::<T>()).is_some_and(|end| end <= size);
    debug_assert!(fits, "{at} lies outside of {size} bytes");
    if fits {
        // SAFETY: checked above; callers own the block.
        unsafe { base.add(at).cast::<T>().write_unaligned(value) };
    }
}
