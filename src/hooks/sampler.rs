//! Samplers, Y′CbCr conversions and object names.

use std::ffi::{CStr, c_char};

use ash::vk::{self, Handle};
use samplin_hot::recent::Words;

use crate::budget::BorderPlace;
use crate::decide::{ConversionState, SamplerState};
use crate::device::{Device, Ground, Key, Separate};
use crate::sampler_info::{self, SamplerInfo};
use crate::variant::Again;

destroy! {
    destroy_sampler_ycbcr_conversion(vk::SamplerYcbcrConversion): |device, conversion| device.pairs.samplers.forget_conversion(&device.ground, conversion);
}

pub(crate) unsafe extern "system" fn create_sampler(
    handle: vk::Device,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    let (device, next) = enter!(handle, create_sampler);
    if device.pairs.samplers.shared.shares() {
        // SAFETY: the arguments of a valid `vkCreateSampler`.
        return unsafe { create_shared_sampler(device, next, create_info, allocator, sampler) };
    }
    // SAFETY: null or valid by VUID-vkCreateSampler-pAllocator-parameter.
    device.pairs.samplers.shared.note_allocator(unsafe { allocator.as_ref() });
    // SAFETY: the arguments of a valid `vkCreateSampler`.
    unsafe { create_own_sampler(device, next, create_info, allocator, sampler) }.0
}

/// Hands out a sampler that was made for an equal create info, or creates one and keeps it for the next.
///
/// # Safety
///
/// The arguments of a valid `vkCreateSampler`.
#[inline(never)]
unsafe fn create_shared_sampler(
    device: &Device,
    next: vk::PFN_vkCreateSampler,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    // SAFETY: null or valid by VUID-vkCreateSampler-pCreateInfo-parameter and -pAllocator-parameter.
    let (info, given) = unsafe { (create_info.as_ref(), allocator.as_ref()) };
    // SAFETY: valid by VUID-vkCreateSampler-pCreateInfo-parameter.
    let key = info.and_then(|info| unsafe { device.pairs.samplers.shared.shared_key(&device.ground, info, given) });
    let is_chained = key.as_ref().is_some_and(Key::is_chained);
    let shared = &device.pairs.samplers.shared;
    let taken = key.as_ref().map(|key| shared.take_shared(key));
    if let (Some(info), Some(Ok((made, is_changed)))) = (info, &taken) {
        let (made, is_changed) = (*made, *is_changed);
        // SAFETY: valid by VUID-vkCreateSampler-pSampler-parameter.
        unsafe { *sampler = made };
        if device.ground.journal.records_all() {
            record_shared(device, info, made, is_chained);
        } else if is_changed {
            device.ground.journal.count_changed_sampler();
        }
        return vk::Result::SUCCESS;
    }
    // SAFETY: the arguments of a valid `vkCreateSampler`.
    let (result, is_as_before) = unsafe { create_own_sampler(device, next, create_info, allocator, sampler) };
    if result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: the call succeeded, so it has set the handle.
    let made = unsafe { *sampler };
    match (info, &key, taken) {
        (Some(info), Some(key), Some(Err(creating))) => {
            let is_whole = !is_chained || device.pairs.samplers.is_as_asked(&device.ground.hot, made);
            creating.done(made, is_whole.then(|| (key, !is_as_before && is_changed(device, info))));
        }
        _ => shared.count_unshared(),
    }
    result
}

/// Whether a sampler without a chain that was just created is not what was asked for.
#[cold]
#[inline(never)]
fn is_changed(device: &Device, info: &vk::SamplerCreateInfo<'_>) -> bool {
    let words = device.pairs.samplers.sampler_words(&device.ground.wishes, &device.ground.journal, info);
    let again = words.and_then(|words| device.pairs.samplers.sampler_again(&device.ground, &words));
    again.is_some_and(|again| again.is_changed())
}

/// Writes the record of a sampler that was handed out again.
#[cold]
#[inline(never)]
fn record_shared(device: &Device, info: &vk::SamplerCreateInfo<'_>, made: vk::Sampler, is_chained: bool) {
    let (ground, samplers) = (&device.ground, &device.pairs.samplers);
    ground.guard(
        || {
            if is_chained {
                samplers.record_as_asked(ground, made.as_raw());
            } else {
                // SAFETY: the create info of a valid `vkCreateSampler`, whose chain is whole.
                samplers.record_shared(ground, made, unsafe { read(device, info) });
            }
        },
        || (),
    );
}

/// Creates a sampler of the driver for one of the application. With the result is said whether one like it reached the driver unchanged
/// before.
///
/// # Safety
///
/// The arguments of a valid `vkCreateSampler`.
#[inline(always)]
unsafe fn create_own_sampler(
    device: &Device,
    next: vk::PFN_vkCreateSampler,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> (vk::Result, bool) {
    let handle = device.ground.driver.handle;
    // SAFETY: null or valid by VUID-vkCreateSampler-pCreateInfo-parameter.
    let words = unsafe { create_info.as_ref() }
        .and_then(|info| device.pairs.samplers.sampler_words(&device.ground.wishes, &device.ground.journal, info));
    let again = words.and_then(|words| device.pairs.samplers.sampler_again(&device.ground, &words));
    let Some(again) = again.filter(|again| !again.is_changed()) else {
        // SAFETY: `create_new_sampler` asks for the arguments of a valid `vkCreateSampler`, which this command was called with.
        let result =
            unsafe { create_new_sampler(device, next, create_info, allocator, sampler, words.as_ref(), again) };
        return (result, false);
    };
    let result = down!(next(handle, create_info, allocator, sampler));
    if result != vk::Result::SUCCESS {
        device.pairs.samplers.refused_sampler(&device.ground);
        return (result, true);
    }
    // SAFETY: the call succeeded, so it has set the handle.
    let made = unsafe { *sampler };
    if !device.pairs.samplers.insert_sampler_again(&device.ground, made, again) {
        // SAFETY: it was not null, else there were no words.
        remember_sampler(device, unsafe { &*create_info }, None, made);
    }
    (result, true)
}

/// Remembers a sampler that reached the driver as one like it did, or as `rewritten`, and whose state is not where it was any more.
#[cold]
#[inline(never)]
fn remember_sampler(device: &Device, info: &vk::SamplerCreateInfo<'_>, rewritten: Option<Words>, made: vk::Sampler) {
    let words = device.pairs.samplers.sampler_words(&device.ground.wishes, &device.ground.journal, info);
    if let (Some(words), None) = (&words, rewritten) {
        let state = SamplerState::from(info);
        if device.pairs.samplers.is_plainly_legal(&device.ground.driver, &device.ground.wishes, &state) {
            return device.pairs.samplers.insert_plain_sampler(&device.ground, made, words, &state);
        }
    }
    device.ground.guard(
        || {
            // SAFETY: the create info of a valid `vkCreateSampler`, whose chain is whole.
            let given = unsafe { read(device, info) };
            let words = words.map(|words| (words, rewritten));
            device.pairs.samplers.insert_sampler(
                &device.ground,
                made,
                &device.pairs.samplers.plan_sampler(&device.ground, given),
                words,
                None,
            );
        },
        || (),
    );
}

/// What a create info asks for.
///
/// # Safety
///
/// `info` is valid.
#[inline(never)]
pub(super) unsafe fn read(device: &Device, info: &vk::SamplerCreateInfo<'_>) -> SamplerInfo {
    // SAFETY: `info` is valid by this function's contract, so the structures of its chain are whole.
    unsafe { sampler_info::read(info, |conversion| device.pairs.samplers.conversion(conversion)) }
}

/// Creates a sampler whose create info was not seen before, or has to be changed; `words` are its own, and what they led to.
///
/// # Safety
///
/// The arguments of a valid `vkCreateSampler`.
#[inline(never)]
unsafe fn create_new_sampler(
    device: &Device,
    next: vk::PFN_vkCreateSampler,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
    words: Option<&Words>,
    again: Option<Again>,
) -> vk::Result {
    let handle = device.ground.driver.handle;
    // SAFETY: null or valid by VUID-vkCreateSampler-pCreateInfo-parameter.
    let info = unsafe { create_info.as_ref() };
    if let (Some(info), Some(again)) = (info, again)
        && let Some(rewritten) =
            device.ground.guard(|| device.pairs.samplers.rewritten_again(&device.ground.hot, again), || None)
    {
        let down = rewritten.as_ref().map(sampler_info::from_words);
        let down = down.as_ref().map_or(create_info, std::ptr::from_ref);
        // SAFETY: the application's own arguments, or what reached the driver for the same create info before.
        let result = unsafe { next(handle, down, allocator, sampler) };
        if result != vk::Result::SUCCESS {
            device.pairs.samplers.refused_sampler(&device.ground);
            return result;
        }
        // SAFETY: the call succeeded, so it has set the handle.
        let made = unsafe { *sampler };
        if !device.pairs.samplers.insert_sampler_again(&device.ground, made, again) {
            remember_sampler(device, info, rewritten, made);
        }
        return result;
    }
    if let (Some(info), Some(words), None) = (info, words, again) {
        let state = SamplerState::from(info);
        if device.pairs.samplers.is_plainly_legal(&device.ground.driver, &device.ground.wishes, &state) {
            let result = down!(next(handle, create_info, allocator, sampler));
            if result == vk::Result::SUCCESS {
                // SAFETY: set by the successful call.
                let made = unsafe { *sampler };
                device.pairs.samplers.insert_plain_sampler(&device.ground, made, words, &state);
            } else {
                device.pairs.samplers.refused_sampler(&device.ground);
            }
            return result;
        }
    }
    let plan = device.ground.guard(
        || {
            // SAFETY: the create info is valid (VUID-vkCreateSampler-pCreateInfo-parameter), so its chain is.
            let given = unsafe { read(device, info?) };
            Some(device.pairs.samplers.plan_sampler(&device.ground, given))
        },
        || None,
    );
    let mut dropped = None;
    let mut rewritten = None;
    let result = match &plan {
        Some(plan) if plan.creation.rewrite => {
            // SAFETY: `create_info` was dereferenced above; the application's chain is alive during the call; the
            // remaining arguments are the application's own.
            unsafe {
                let original = Some((&*create_info, &plan.given.state));
                sampler_info::with_create_info(&plan.creation.decision.state, original, |info, left_out| {
                    dropped = left_out;
                    rewritten = sampler_info::words(info);
                    next(handle, info, allocator, sampler)
                })
            }
        }
        _ => down!(next(handle, create_info, allocator, sampler)),
    };
    if let Some(plan) = plan {
        if result == vk::Result::SUCCESS {
            // SAFETY: the call succeeded, so it has set the handle.
            let made = unsafe { *sampler };
            let words = words.map(|words| (*words, rewritten));
            device
                .ground
                .guard(|| device.pairs.samplers.insert_sampler(&device.ground, made, &plan, words, dropped), || ());
        } else {
            device.pairs.samplers.refused_sampler(&device.ground);
            device.pairs.samplers.leave_plan(&plan);
        }
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_sampler(
    handle: vk::Device,
    sampler: vk::Sampler,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    let device = enter!(handle);
    let shared = &device.pairs.samplers.shared;
    let was_shared = !sampler.is_null() && shared.shares();
    if was_shared && !shared.leave_shared(sampler) {
        return;
    }
    let border = if sampler.is_null() {
        BorderPlace::None
    } else {
        device.pairs.samplers.forget_sampler(
            &device.ground,
            sampler,
            device.separate.as_deref().is_some_and(Separate::may_hold_samplers),
        )
    };
    let is_last = sampler.is_null() || was_shared || !shared.shares() || shared.leave_shared(sampler);
    if let Some(next) = device.ground.driver.fns.destroy_sampler.filter(|_| is_last) {
        down!(next(handle, sampler, allocator));
    }
    device.pairs.samplers.leave_border(border);
}

pub(crate) unsafe extern "system" fn create_sampler_ycbcr_conversion(
    handle: vk::Device,
    create_info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    conversion: *mut vk::SamplerYcbcrConversion,
) -> vk::Result {
    let (device, next) = enter!(handle, create_sampler_ycbcr_conversion);
    // SAFETY: null or valid by VUID-vkCreateSamplerYcbcrConversion-pCreateInfo-parameter.
    let given = unsafe { create_info.as_ref() };
    let plan = device.ground.guard(
        || {
            let info = given?;
            let state = ConversionState {
                x_chroma_offset: info.x_chroma_offset,
                y_chroma_offset: info.y_chroma_offset,
                chroma_filter: info.chroma_filter,
                force_explicit_reconstruction: info.force_explicit_reconstruction != 0,
            };
            Some(device.pairs.samplers.plan_conversion(&device.ground, info.format, &state))
        },
        || None,
    );
    let mut down = given.copied();
    let rewrite = plan.as_ref().is_some_and(|plan| plan.rewrite);
    if let (Some(plan), Some(info), true) = (&plan, &mut down, rewrite) {
        // The chain (an external format, say) stays the application's own.
        info.x_chroma_offset = plan.decision.state.x_chroma_offset;
        info.y_chroma_offset = plan.decision.state.y_chroma_offset;
        info.chroma_filter = plan.decision.state.chroma_filter;
        info.force_explicit_reconstruction = u32::from(plan.decision.state.force_explicit_reconstruction);
    }
    let pointer = match &down {
        Some(info) if rewrite => std::ptr::from_ref(info),
        _ => create_info,
    };
    // SAFETY: the application's own arguments, or a copy of its create info with legal members.
    let result = unsafe { next(handle, pointer, allocator, conversion) };
    if result == vk::Result::SUCCESS
        && let (Some(plan), Some(info)) = (plan, down)
    {
        // SAFETY: the call succeeded, so it has set the conversion.
        let made = unsafe { *conversion };
        device
            .ground
            .guard(|| device.pairs.samplers.insert_conversion(&device.ground.journal, made, &info, &plan), || ());
    }
    result
}

/// Hands on a name if it is one that something asks for.
///
/// # Safety
///
/// `name` is null or null-terminated.
unsafe fn name_object(device: &Device, ty: vk::ObjectType, object: u64, name: *const c_char) {
    let Ground { wishes, journal, .. } = &device.ground;
    let separate = device.separate.as_deref();
    let is_wanted = match ty {
        vk::ObjectType::SAMPLER | vk::ObjectType::IMAGE_VIEW => journal.trace().is_on() || wishes.looks_at_names,
        _ => separate.is_some_and(|separate| separate.is_followed(ty, object)),
    };
    if is_wanted {
        let text = if name.is_null() {
            String::new()
        } else {
            // SAFETY: it is not null, and null-terminated by this function's contract.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        };
        if ty == vk::ObjectType::SAMPLER && wishes.rules().use_names() {
            device.pairs.samplers.rematch(&device.ground, object, &text);
        }
        journal.set_name(ty, object, text);
        if let Some(separate) = separate {
            separate.name_seconds_of(&device.ground.driver, &device.ground.journal, ty, object);
        }
    }
}

pub(crate) unsafe extern "system" fn set_debug_utils_object_name(
    handle: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    let device = enter!(handle);
    // SAFETY: null or valid by VUID-vkSetDebugUtilsObjectNameEXT-pNameInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        // SAFETY: null or null-terminated by VUID-VkDebugUtilsObjectNameInfoEXT-pObjectName-parameter.
        device
            .ground
            .guard(|| unsafe { name_object(device, info.object_type, info.object_handle, info.p_object_name) }, || ());
    }
    let Some(next) = device.ground.driver.fns.set_debug_utils_object_name else { return vk::Result::SUCCESS };
    down!(next(handle, info))
}

pub(crate) unsafe extern "system" fn debug_marker_set_object_name(
    handle: vk::Device,
    info: *const vk::DebugMarkerObjectNameInfoEXT<'_>,
) -> vk::Result {
    let device = enter!(handle);
    // SAFETY: null or valid by VUID-vkDebugMarkerSetObjectNameEXT-pNameInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        let ty = match info.object_type {
            vk::DebugReportObjectTypeEXT::SAMPLER => vk::ObjectType::SAMPLER,
            vk::DebugReportObjectTypeEXT::IMAGE_VIEW => vk::ObjectType::IMAGE_VIEW,
            _ => vk::ObjectType::UNKNOWN,
        };
        // SAFETY: null-terminated by VUID-VkDebugMarkerObjectNameInfoEXT-pObjectName-parameter.
        device.ground.guard(|| unsafe { name_object(device, ty, info.object, info.p_object_name) }, || ());
    }
    let Some(next) = device.ground.driver.fns.debug_marker_set_object_name else { return vk::Result::SUCCESS };
    down!(next(handle, info))
}
