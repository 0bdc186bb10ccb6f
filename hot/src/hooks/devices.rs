//! Devices by their dispatch key.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use ash::vk::Handle;

use super::record::Hot;
use crate::table::HandleMap;

const NEAR: usize = 8;

struct Place {
    key: AtomicU64,
    device: AtomicPtr<c_void>,
}

/// The first few devices are found by comparing a handful of words in a row, which is what almost every process needs; further
/// ones are in a table.
static NEAR_DEVICES: [Place; NEAR] =
    [const { Place { key: AtomicU64::new(0), device: AtomicPtr::new(std::ptr::null_mut()) } }; NEAR];

/// What the table of further devices holds: a pointer that keeps its provenance.
struct Far(*const c_void);

// SAFETY: the pointer is only handed out again; what it points to is shared between threads by the contract of `insert`.
unsafe impl Send for Far {}
// SAFETY: as for `Send`.
unsafe impl Sync for Far {}

fn far_devices() -> &'static HandleMap<Far> {
    static FAR: std::sync::OnceLock<HandleMap<Far>> = std::sync::OnceLock::new();
    FAR.get_or_init(HandleMap::new)
}

/// Makes a device record known by its dispatch key.
///
/// # Safety
///
/// `device` points to a record that starts with a [`Hot`], may be used by every thread, and stays valid until [`remove`] has
/// returned.
pub unsafe fn insert(key: u64, device: *const c_void) {
    // SAFETY: forwarded from the caller.
    unsafe { &*device.cast::<Hot>() }.is_part_of(device);
    for place in &NEAR_DEVICES {
        // The pointer is the claim: it goes from null to a device once, and readers look at the key first.
        let claim =
            place.device.compare_exchange(std::ptr::null_mut(), device.cast_mut(), Ordering::AcqRel, Ordering::Relaxed);
        if claim.is_ok() {
            place.key.store(key, Ordering::Release);
            return;
        }
    }
    far_devices().insert(key, Arc::new(Far(device)));
}

/// Forgets the device with this dispatch key and returns its record, null if there was none.
///
/// # Safety
///
/// No call that names the device is under way (vkDestroyDevice, "Host Synchronization").
pub unsafe fn remove(key: u64) -> *const c_void {
    for place in &NEAR_DEVICES {
        if place.key.compare_exchange(key, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return place.device.swap(std::ptr::null_mut(), Ordering::AcqRel);
        }
    }
    // SAFETY: forwarded from the caller.
    let device = unsafe { get(key) };
    far_devices().remove(key);
    device
}

/// The record of the device with this dispatch key, null if there is none.
///
/// # Safety
///
/// The device is not removed meanwhile.
#[inline(always)]
pub unsafe fn get(key: u64) -> *const c_void {
    for place in &NEAR_DEVICES {
        if place.key.load(Ordering::Acquire) == key {
            return place.device.load(Ordering::Acquire);
        }
    }
    // SAFETY: forwarded from the caller.
    unsafe { far(key) }
}

/// # Safety
///
/// As for [`get`].
#[cold]
#[inline(never)]
unsafe fn far(key: u64) -> *const c_void {
    // SAFETY: forwarded from the caller.
    unsafe { far_devices().get(key) }.map_or(std::ptr::null(), |far| far.0)
}

/// The record of a dispatchable handle if it belongs to the device that came first, which is the only one of almost every
/// process. No call, so that the hooks need no stack.
///
/// # Safety
///
/// `of` is a valid device or command buffer.
#[inline(always)]
pub(super) unsafe fn find_first<'a>(of: impl Handle) -> Option<&'a Hot> {
    let [place, ..] = &NEAR_DEVICES;
    // SAFETY: as in `find`.
    unsafe {
        let key = *(of.as_raw() as usize as *const usize) as u64;
        if place.key.load(Ordering::Acquire) == key {
            place.device.load(Ordering::Acquire).cast::<Hot>().as_ref()
        } else {
            None
        }
    }
}

/// The record of a dispatchable handle: its first word is its dispatch key (Loader and Layer Interface, "Dispatch key").
///
/// # Safety
///
/// `of` is a valid device or command buffer.
#[inline(always)]
pub(super) unsafe fn find<'a>(of: impl Handle) -> Option<&'a Hot> {
    // SAFETY: every dispatchable object starts with its dispatch key; the record lives as long as the device, which is not
    // destroyed while a command names it (VUID-vkDestroyDevice-device-05137).
    unsafe { get(*(of.as_raw() as usize as *const usize) as u64).cast::<Hot>().as_ref() }
}
