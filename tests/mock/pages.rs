//! Memory that ends where the process ends: a read or write beyond what a test placed, or a write to it, is a fault.

use std::ffi::c_void;
use std::ptr;

/// Size of a page.
pub(crate) fn page() -> usize {
    // SAFETY: takes no pointer.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page has a size")
}

/// A range of pages, of which only those can be read that something was placed on; none can be written.
pub(crate) struct Pages {
    start: *mut u8,
    len: usize,
    placed: Vec<bool>,
}

// SAFETY: the memory is only read once it has been placed.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Room for `len` bytes, rounded up, none of it readable.
    pub(crate) fn new(len: usize) -> Self {
        let count = len.div_ceil(page()).max(1);
        let len = count * page();
        // SAFETY: a new private mapping.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), len + page(), libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert!(start != libc::MAP_FAILED, "no memory: {}", std::io::Error::last_os_error());
        Self { start: start.cast(), len, placed: vec![false; count] }
    }

    fn protect(&self, page_number: usize, protection: libc::c_int) {
        // SAFETY: a page of the mapping of `self`.
        let result = unsafe { libc::mprotect(self.start.add(page_number * page()).cast(), page(), protection) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    }

    /// Copies `items` to `offset`, aligned or not, and makes the pages that they lie on readable.
    pub(crate) fn place<T: Copy>(&mut self, offset: usize, items: &[T]) -> *const T {
        let len = size_of_val(items);
        assert!(len > 0 && offset + len <= self.len);
        let pages = offset / page()..=(offset + len - 1) / page();
        for number in pages.clone() {
            self.protect(number, libc::PROT_READ | libc::PROT_WRITE);
        }
        // SAFETY: within the mapping, and writable at the moment; a copy of bytes needs no alignment.
        unsafe { ptr::copy_nonoverlapping(items.as_ptr().cast::<u8>(), self.start.add(offset), len) };
        for number in pages {
            self.protect(number, libc::PROT_READ);
            self.placed[number] = true;
        }
        self.start.wrapping_add(offset).cast_const().cast()
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *const c_void {
        self.start.cast_const().cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.start.cast(), self.len + page()) };
    }
}

/// Values in memory that can only be read and that ends with them.
#[derive(Default)]
pub(crate) struct Guarded {
    pages: Vec<Pages>,
}

impl Guarded {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A copy of `items` whose last byte is the last of a page that nothing readable follows.
    pub(crate) fn slice<T: Copy>(&mut self, items: &[T]) -> *const T {
        let len = size_of_val(items);
        let mut pages = Pages::new(len);
        let at = pages.place(pages.len - len, items);
        assert_eq!(at.align_offset(align_of::<T>()), 0);
        self.pages.push(pages);
        at
    }

    /// A copy of one value, in the same place.
    pub(crate) fn value<T: Copy>(&mut self, value: T) -> *const T {
        self.slice(&[value])
    }
}

/// An address that nothing can be read from.
pub(crate) fn dangling<T>() -> *const T {
    ptr::without_provenance(0x10_0010)
}
