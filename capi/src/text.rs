//! Texts for C.

use std::ffi::{CString, c_char};

/// A text with a zero at the end.
pub(crate) struct Words(CString);

impl Words {
    /// Nothing that samplin says has a zero in it; if it had, it would end there.
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.split('\0').next().unwrap_or_default();
        Self(CString::new(bytes).unwrap_or_default())
    }

    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr()
    }
}

/// Copies as much of a text as there is room for, with a zero at the end.
///
/// # Safety
///
/// `to` is null or points to `size` bytes that can be written.
pub(crate) unsafe fn put(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    // Not in the middle of a letter.
    let mut length = text.len().min(size - 1);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    // SAFETY: the caller promises `size` bytes at `to`, and at most `size - 1` are copied, of a text that is as long.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), length);
        to.add(length).write(0);
    }
}
