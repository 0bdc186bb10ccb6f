//! samplin-core for C. `include/samplin_core.h` is made from this, and `capi/lib` makes the library.
//!
//! Every function catches panics and checks what it is given for null. A structure begins with its size, so that it can grow.

mod sized;
mod structures;
mod text;

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use samplin_core::{Change, Device, FormatFeatures, FormatProperties, Outcome, Sampler, Settings, Unresolved, vk};
use samplin_reports::Capabilities;

use self::sized::{read, write};
pub use self::structures::{
    SamplinChange, SamplinDeviceInfo, SamplinFeatures, SamplinFormat, SamplinLimits, SamplinSampler, SamplinUnresolved,
    SamplinView,
};
use self::text::{Words, put};

/// What a function came to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplinResult {
    /// It did what it is for.
    Success = 0,
    /// A pointer is null that must not be.
    Null = -1,
    /// The size of a structure is too small, or members that this version does not know are not zero.
    Size = -2,
    /// There is nothing at that index.
    Index = -3,
    /// The text is of none of the forms that devices come in.
    Malformed = -4,
    /// A defect of the library, which has changed nothing.
    Defect = -5,
}

/// A device. Made by `samplin_device_create` or `samplin_device_from_json`, and destroyed by `samplin_device_destroy`.
pub struct SamplinDevice(Device);

/// What a sampler came to. Made by `samplin_create` or `samplin_decide`, and destroyed by `samplin_outcome_destroy`.
pub struct SamplinOutcome {
    outcome: Outcome,
    changes: Vec<ChangeText>,
    unresolved: Vec<UnresolvedText>,
}

struct ChangeText {
    rule: Words,
    catalog: Words,
    field: Words,
    from: Words,
    to: Words,
    because: Words,
    vuid: Option<Words>,
    lost: Words,
}

struct UnresolvedText {
    rule: Words,
    vuid: Option<Words>,
    because: Words,
}

impl From<&Change> for ChangeText {
    fn from(of: &Change) -> Self {
        Self {
            rule: Words::new(of.rule),
            catalog: Words::new(of.catalog),
            field: Words::new(of.field),
            from: Words::new(&of.from.to_string()),
            to: Words::new(&of.to.to_string()),
            because: Words::new(&of.because),
            vuid: of.vuid.map(Words::new),
            lost: Words::new(of.lost),
        }
    }
}

impl From<&Unresolved> for UnresolvedText {
    fn from(of: &Unresolved) -> Self {
        Self { rule: Words::new(of.rule), vuid: of.vuid.map(Words::new), because: Words::new(&of.because) }
    }
}

impl From<Outcome> for SamplinOutcome {
    fn from(outcome: Outcome) -> Self {
        Self {
            changes: outcome.changes.iter().map(Into::into).collect(),
            unresolved: outcome.unresolved.iter().map(Into::into).collect(),
            outcome,
        }
    }
}

/// Runs what may panic.
fn guarded(body: impl FnOnce() -> Result<(), SamplinResult>) -> SamplinResult {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SamplinResult::Success,
        Ok(Err(result)) => result,
        Err(_) => SamplinResult::Defect,
    }
}

/// Destroys an object of this library, or nothing.
///
/// # Safety
///
/// `object` is null, or was made by [`make`] and is used no more.
unsafe fn destroy<T>(object: *mut T) {
    if !object.is_null() {
        // What is dropped are maps, lists and texts; their destructors do not panic, and if one did the object would be lost.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: not null, so by this function's contract from `Box::into_raw` and not destroyed before.
            drop(unsafe { Box::from_raw(object) });
        }));
    }
}

/// Puts a new object where the caller wants it.
///
/// # Safety
///
/// `out` can be written.
unsafe fn make<T>(out: *mut *mut T, object: T) {
    // SAFETY: the caller promises that `out` can be written.
    unsafe { out.write(Box::into_raw(Box::new(object))) };
}

/// The version of the library, as `1.2.3`. Lasts for ever.
#[unsafe(no_mangle)]
pub extern "C" fn samplin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Makes a device of what it reports. Without limits or features they are the least of Vulkan 1.0.
///
/// # Safety
///
/// `info` points to a structure of its size whose pointers are null or point to as many elements as it says; `device` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_device_create(
    info: *const SamplinDeviceInfo,
    device: *mut *mut SamplinDevice,
) -> SamplinResult {
    guarded(|| {
        if device.is_null() {
            return Err(SamplinResult::Null);
        }
        // SAFETY: null, or a structure of its size, by this function's contract.
        let info = unsafe { read(info) }?;
        // SAFETY: as above, for those that are there.
        let limits = if info.limits.is_null() { Ok(None) } else { unsafe { read(info.limits) }.map(Some) }?;
        // SAFETY: as above.
        let features = if info.features.is_null() { Ok(None) } else { unsafe { read(info.features) }.map(Some) }?;
        if info.formats.is_null() && info.format_count > 0 {
            return Err(SamplinResult::Null);
        }
        let mut formats = FormatProperties::new();
        for index in 0..info.format_count {
            // SAFETY: the caller promises so many elements.
            let of = unsafe { info.formats.add(index).read() };
            let wide = vk::FormatFeatureFlags2::from_raw;
            let features = FormatFeatures {
                optimal: wide(of.optimal),
                linear: wide(of.linear),
                buffer: wide(of.buffer),
                modifiers: Vec::new(),
            };
            formats.insert(vk::Format::from_raw(of.format), features);
        }
        let settings = Settings {
            border_strict: info.border_strict != 0,
            depth_linear_compare: info.depth_linear_compare != 0,
            gl_clamp_rule_min: info.gl_clamp_rule_min != 0,
            aniso_nearest_off: info.aniso_nearest_off != 0,
        };
        let limits = limits.map(|limits: SamplinLimits| limits.of()).unwrap_or_default();
        let features = features.map(|features: SamplinFeatures| features.of()).unwrap_or_default();
        let made = Device::from(&formats, &limits, &features).with_settings(&settings);
        // SAFETY: not null, and the caller promises that it can be written.
        unsafe { make(device, SamplinDevice(made)) };
        Ok(())
    })
}

/// Makes a device of a capability file, a report of vulkan.gpuinfo.org, or a Vulkan Profile, with everything enabled that it has.
///
/// If the text is none of these, `message` says why, in at most `message_size` bytes with the zero at the end. It may be null.
///
/// # Safety
///
/// `text` points to `length` bytes, `message` is null or points to `message_size` bytes that can be written; `device` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_device_from_json(
    text: *const c_char,
    length: usize,
    device: *mut *mut SamplinDevice,
    message: *mut c_char,
    message_size: usize,
) -> SamplinResult {
    guarded(|| {
        if text.is_null() || device.is_null() {
            return Err(SamplinResult::Null);
        }
        // SAFETY: not null, and so many bytes by this function's contract.
        let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
        let found = std::str::from_utf8(bytes)
            .map_err(|error| error.to_string())
            .and_then(|text| Capabilities::read(text).map_err(|malformed| malformed.message));
        match found {
            Ok(found) => {
                // SAFETY: not null, and the caller promises that it can be written.
                unsafe { make(device, SamplinDevice(found.device())) };
                Ok(())
            }
            Err(why) => {
                // SAFETY: null or so many bytes, by this function's contract.
                unsafe { put(&why, message, message_size) };
                Err(SamplinResult::Malformed)
            }
        }
    })
}

/// Destroys a device, or nothing if it is null.
///
/// # Safety
///
/// The device is null, or is one of this library's and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_device_destroy(device: *mut SamplinDevice) {
    // SAFETY: null, or a device that `samplin_device_create` made and that the program uses no more.
    unsafe { destroy(device) };
}

/// Says what `vkCreateSampler` may be called with instead of `sampler`.
///
/// # Safety
///
/// `device` is null or one of this library's; `sampler` points to a structure of its size; `outcome` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_create(
    device: *const SamplinDevice,
    sampler: *const SamplinSampler,
    outcome: *mut *mut SamplinOutcome,
) -> SamplinResult {
    // SAFETY: the same contract.
    unsafe { judge(device, sampler, outcome, |device, state| Ok(device.create(state))) }
}

/// Says what the sampler of a descriptor with `view` may be instead of `sampler`.
///
/// # Safety
///
/// `device` is null or one of this library's; `sampler` and `view` point to structures of their sizes; `outcome` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_decide(
    device: *const SamplinDevice,
    sampler: *const SamplinSampler,
    view: *const SamplinView,
    outcome: *mut *mut SamplinOutcome,
) -> SamplinResult {
    let decide = |device: &Device, state: &Sampler| {
        // SAFETY: null or a structure of its size, by this function's contract.
        let view: SamplinView = unsafe { read(view) }?;
        Ok(device.decide(state, &view.of()))
    };
    // SAFETY: the same contract, but for the view.
    unsafe { judge(device, sampler, outcome, decide) }
}

/// Has a device judge a state.
///
/// # Safety
///
/// `device` is null or one of this library's; `sampler` points to a structure of its size; `outcome` can be written.
unsafe fn judge(
    device: *const SamplinDevice,
    sampler: *const SamplinSampler,
    outcome: *mut *mut SamplinOutcome,
    judge: impl FnOnce(&Device, &Sampler) -> Result<Outcome, SamplinResult>,
) -> SamplinResult {
    guarded(|| {
        // SAFETY: null or one of this library's, by this function's contract.
        let device = unsafe { device.as_ref() }.ok_or(SamplinResult::Null)?;
        if outcome.is_null() {
            return Err(SamplinResult::Null);
        }
        // SAFETY: null or a structure of its size, by this function's contract.
        let sampler: SamplinSampler = unsafe { read(sampler) }?;
        let judged = judge(&device.0, &sampler.state())?;
        // SAFETY: not null, and the caller promises that it can be written.
        unsafe { make(outcome, judged.into()) };
        Ok(())
    })
}

/// Destroys an outcome with the texts that were read from it, or nothing if it is null.
///
/// # Safety
///
/// The outcome is null, or is one of this library's and used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_destroy(outcome: *mut SamplinOutcome) {
    // SAFETY: null, or an outcome that this library made and that the program uses no more.
    unsafe { destroy(outcome) };
}

/// Writes the state to create the sampler with. The program sets `sampler->size` before.
///
/// # Safety
///
/// `outcome` is null or one of this library's; `sampler` points to a structure of its size that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_sampler(
    outcome: *const SamplinOutcome,
    sampler: *mut SamplinSampler,
) -> SamplinResult {
    guarded(|| {
        // SAFETY: null or one of this library's, by this function's contract.
        let outcome = unsafe { outcome.as_ref() }.ok_or(SamplinResult::Null)?;
        // SAFETY: null or a structure of its size, by this function's contract.
        unsafe { write(sampler, SamplinSampler::new(&outcome.outcome.state)) }
    })
}

/// How many changes there are; 0 of null.
///
/// # Safety
///
/// `outcome` is null or one of this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_change_count(outcome: *const SamplinOutcome) -> usize {
    // SAFETY: null or one of this library's, by this function's contract.
    unsafe { outcome.as_ref() }.map_or(0, |outcome| outcome.changes.len())
}

/// Writes a change. Its texts last as long as the outcome. The program sets `change->size` before.
///
/// # Safety
///
/// `outcome` is null or one of this library's; `change` points to a structure of its size that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_change(
    outcome: *const SamplinOutcome,
    index: usize,
    change: *mut SamplinChange,
) -> SamplinResult {
    guarded(|| {
        // SAFETY: null or one of this library's, by this function's contract.
        let outcome = unsafe { outcome.as_ref() }.ok_or(SamplinResult::Null)?;
        let of = outcome.changes.get(index).ok_or(SamplinResult::Index)?;
        let found = SamplinChange {
            size: 0,
            rule: of.rule.as_ptr(),
            catalog: of.catalog.as_ptr(),
            field: of.field.as_ptr(),
            from: of.from.as_ptr(),
            to: of.to.as_ptr(),
            because: of.because.as_ptr(),
            vuid: of.vuid.as_ref().map_or(std::ptr::null(), Words::as_ptr),
            lost: of.lost.as_ptr(),
        };
        // SAFETY: null or a structure of its size, by this function's contract.
        unsafe { write(change, found) }
    })
}

/// How many things stay wrong; 0 of null.
///
/// # Safety
///
/// `outcome` is null or one of this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_unresolved_count(outcome: *const SamplinOutcome) -> usize {
    // SAFETY: null or one of this library's, by this function's contract.
    unsafe { outcome.as_ref() }.map_or(0, |outcome| outcome.unresolved.len())
}

/// Writes something that stays wrong. Its texts last as long as the outcome. The program sets `unresolved->size` before.
///
/// # Safety
///
/// `outcome` is null or one of this library's; `unresolved` points to a structure of its size that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_outcome_unresolved(
    outcome: *const SamplinOutcome,
    index: usize,
    unresolved: *mut SamplinUnresolved,
) -> SamplinResult {
    guarded(|| {
        // SAFETY: null or one of this library's, by this function's contract.
        let outcome = unsafe { outcome.as_ref() }.ok_or(SamplinResult::Null)?;
        let of = outcome.unresolved.get(index).ok_or(SamplinResult::Index)?;
        let found = SamplinUnresolved {
            size: 0,
            rule: of.rule.as_ptr(),
            vuid: of.vuid.as_ref().map_or(std::ptr::null(), Words::as_ptr),
            because: of.because.as_ptr(),
        };
        // SAFETY: null or a structure of its size, by this function's contract.
        unsafe { write(unresolved, found) }
    })
}

/// Fills in a 2D view with one level and one layer of an optimally tiled image of the format, for sampling. The program sets `view->size`
/// before.
///
/// # Safety
///
/// `view` points to a structure of its size that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn samplin_view_2d(format: c_int, view: *mut SamplinView) -> SamplinResult {
    guarded(|| {
        let new = SamplinView::new(&samplin_core::View::new_2d(vk::Format::from_raw(format)));
        // SAFETY: null or a structure of its size, by this function's contract.
        unsafe { write(view, new) }
    })
}
