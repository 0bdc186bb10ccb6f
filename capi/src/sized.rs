//! Structures that begin with their size.

use std::mem::MaybeUninit;

use crate::SamplinResult;

/// A structure whose first member is its size, and of which every pattern of bits is a value.
///
/// # Safety
///
/// The structure is `repr(C)`, begins with a `u32`, and has no member but numbers and pointers.
pub(crate) unsafe trait Sized32: Copy {}

/// Reads a structure of a program that may be older or younger than the library.
///
/// # Safety
///
/// `from` is null, or points to as many bytes as the `u32` there says.
pub(crate) unsafe fn read<T: Sized32>(from: *const T) -> Result<T, SamplinResult> {
    if from.is_null() {
        return Err(SamplinResult::Null);
    }
    // SAFETY: not null, so its size is there.
    let size = unsafe { from.cast::<u32>().read_unaligned() } as usize;
    if size < size_of::<u32>() {
        return Err(SamplinResult::Size);
    }
    let bytes = from.cast::<u8>();
    for index in size_of::<T>()..size {
        // SAFETY: within the size that the caller promises.
        if unsafe { bytes.add(index).read() } != 0 {
            return Err(SamplinResult::Size);
        }
    }
    let mut out = MaybeUninit::<T>::zeroed();
    // SAFETY: no more than either has; what was not copied is zero, and any bits are a value of `T` by its trait.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes, out.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(out.assume_init())
    }
}

/// Writes a structure for a program that may be older or younger than the library. Its size stays.
///
/// # Safety
///
/// `to` is null, or points to as many bytes as the `u32` there says, which can be written.
pub(crate) unsafe fn write<T: Sized32>(to: *mut T, value: T) -> Result<(), SamplinResult> {
    if to.is_null() {
        return Err(SamplinResult::Null);
    }
    // SAFETY: not null, so its size is there.
    let size = unsafe { to.cast::<u32>().read_unaligned() } as usize;
    if size < size_of::<u32>() {
        return Err(SamplinResult::Size);
    }
    let skipped = size_of::<u32>();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises `size` bytes; no more than `value` has are copied, and the rest of them become zero.
    unsafe {
        let (from, to) = ((&raw const value).cast::<u8>(), to.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(skipped), to.add(skipped), known - skipped);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}
