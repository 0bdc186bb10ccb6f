//! Samplers, Y′CbCr conversions and object names.

use std::ffi::{CStr, c_char};
use std::sync::atomic::Ordering;

use ash::vk::{self, Handle};
use samplin_hot::memory::Room;
use samplin_hot::recent::Words;

use super::{MISSING, device};
use crate::budget::{BorderPlace, BorderPlaces};
use crate::decide::{self, Catalog, ConversionState, Decision, SamplerState, YcbcrConversion, fnv1a, is_custom};
use crate::device::Device;
use crate::names;
use crate::sampler_info::{self, SamplerInfo};
use crate::table::lock;
use crate::variant::{Again, SharedState};

/// What `vkCreateSampler` is going to hand down.
struct Plan {
    given: SamplerInfo,
    decision: Decision,
    /// Whether the decision goes down instead of what was given.
    rewrite: bool,
    /// What it has of `maxCustomBorderColorSamplers`.
    border: BorderPlace,
}

pub(crate) unsafe extern "system" fn create_sampler(
    handle: vk::Device,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.create_sampler else { return MISSING };
    // SAFETY: null or valid by VUID-vkCreateSampler-pCreateInfo-parameter.
    let words = unsafe { create_info.as_ref() }.and_then(|info| words(known, info));
    if let Some(again) = words.and_then(|words| known.guard(|| known.cache.acquire_recent(&words), || None)) {
        let rewritten = again.rewritten.as_ref().map(info_of);
        let down = rewritten.as_ref().map_or(create_info, std::ptr::from_ref);
        // SAFETY: the application's own arguments, or what went down for the same create info before.
        return unsafe { create_again(known, &again, down, allocator, sampler) };
    }
    let plan = known.guard(
        || {
            // SAFETY: as above.
            let info = unsafe { create_info.as_ref() }?;
            // SAFETY: as above.
            let given = unsafe { sampler_info::read(info, |conversion| known.conversion(conversion)) };
            let mut decision = decide::create(&given.state, &known.caps, &known.policy);
            // In audit mode only the modes that no driver knows are replaced.
            let rewrite = !decision.changes.is_empty()
                && (!known.audit || given.state.address_mode.iter().any(|mode| decide::is_gl(*mode)));
            let down = if rewrite { &decision.state } else { &given.state };
            let must = known.audit || decide::replays(&given.state, &known.caps);
            let mut rewrite = rewrite;
            let mut border = BorderPlace::None;
            if is_custom(down.border_color) {
                border = known.enter_border(must);
                if border == BorderPlace::None {
                    let (state, change) = decide::without_custom_border(&decision.state, None, &known.caps);
                    decision.replace_border(state, change);
                    rewrite = true;
                }
            } else if is_custom(given.state.border_color) {
                border = known.cache.with_borders(BorderPlaces::give_up);
            }
            Some(Plan { given, decision, rewrite, border })
        },
        || None,
    );
    let mut dropped = None;
    let mut rewritten = None;
    known.enter_sampler();
    let result = match &plan {
        Some(plan) if plan.rewrite => {
            // SAFETY: `create_info` was dereferenced above; the application's chain is alive during the call; the
            // remaining arguments are the application's own.
            unsafe {
                let original = Some((&*create_info, &plan.given.state));
                sampler_info::with_create_info(&plan.decision.state, original, |info, left_out| {
                    dropped = left_out;
                    rewritten = words_of(info);
                    next(handle, info, allocator, sampler)
                })
            }
        }
        // SAFETY: the application's own arguments.
        _ => unsafe { next(handle, create_info, allocator, sampler) },
    };
    if result != vk::Result::SUCCESS {
        known.totals.places.leave();
    }
    if let Some(plan) = plan {
        if result == vk::Result::SUCCESS {
            // SAFETY: set by the successful call.
            let raw = unsafe { *sampler }.as_raw();
            known.guard(|| remember(known, raw, &plan, words.map(|words| (words, rewritten)), dropped), || ());
        } else {
            known.leave_border(plan.border);
        }
    }
    result
}

/// A create info that needs no second look when one like it was seen before: without a chain, and where neither rules nor the
/// trace care for single samplers.
fn words(known: &Device, info: &vk::SamplerCreateInfo<'_>) -> Option<Words> {
    if !known.rules.is_empty() || known.records_all() { None } else { words_of(info) }
}

/// A create info without a chain as plain words. [`info_of`] is the reverse.
fn words_of(info: &vk::SamplerCreateInfo<'_>) -> Option<Words> {
    if !info.p_next.is_null() {
        return None;
    }
    let two = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
    let raw = |value: i32| value as u32;
    Some([
        two(info.flags.as_raw(), raw(info.mag_filter.as_raw())),
        two(raw(info.min_filter.as_raw()), raw(info.mipmap_mode.as_raw())),
        two(raw(info.address_mode_u.as_raw()), raw(info.address_mode_v.as_raw())),
        two(raw(info.address_mode_w.as_raw()), info.mip_lod_bias.to_bits()),
        two(info.anisotropy_enable, info.max_anisotropy.to_bits()),
        two(info.compare_enable, raw(info.compare_op.as_raw())),
        two(info.min_lod.to_bits(), info.max_lod.to_bits()),
        two(raw(info.border_color.as_raw()), info.unnormalized_coordinates),
    ])
}

fn info_of(words: &Words) -> vk::SamplerCreateInfo<'static> {
    let halves = |word: u64| (word as u32, (word >> 32) as u32);
    let [
        (flags, mag),
        (min, mipmap),
        (u, v),
        (w, bias),
        (anisotropy, degree),
        (compare, op),
        (low, high),
        (border, raw),
    ] = words.map(halves);
    vk::SamplerCreateInfo {
        flags: vk::SamplerCreateFlags::from_raw(flags),
        mag_filter: vk::Filter::from_raw(mag as i32),
        min_filter: vk::Filter::from_raw(min as i32),
        mipmap_mode: vk::SamplerMipmapMode::from_raw(mipmap as i32),
        address_mode_u: vk::SamplerAddressMode::from_raw(u as i32),
        address_mode_v: vk::SamplerAddressMode::from_raw(v as i32),
        address_mode_w: vk::SamplerAddressMode::from_raw(w as i32),
        mip_lod_bias: f32::from_bits(bias),
        anisotropy_enable: anisotropy,
        max_anisotropy: f32::from_bits(degree),
        compare_enable: compare,
        compare_op: vk::CompareOp::from_raw(op as i32),
        min_lod: f32::from_bits(low),
        max_lod: f32::from_bits(high),
        border_color: vk::BorderColor::from_raw(border as i32),
        unnormalized_coordinates: raw,
        ..Default::default()
    }
}

/// Creates a sampler whose create info was seen before and which has been counted at a place.
///
/// # Safety
///
/// The arguments are those of a valid `vkCreateSampler`.
unsafe fn create_again(
    known: &Device,
    again: &Again,
    create_info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    let number = again.number;
    known.enter_sampler();
    let result = match known.fns.create_sampler {
        // SAFETY: forwarded from the caller.
        Some(next) => unsafe { next(known.handle, create_info, allocator, sampler) },
        None => MISSING,
    };
    known.guard(
        || {
            if result == vk::Result::SUCCESS {
                // SAFETY: set by the successful call.
                let raw = unsafe { *sampler }.as_raw();
                if again.changed {
                    known.totals.samplers_changed.fetch_add(1, Ordering::Relaxed);
                }
                if !known.hot.gate.add_sampler(raw, again.needs.0, number) {
                    // Without a custom border colour, as every state that is remembered.
                    let _ = destroy_variants(known, number);
                    known.cache.count_duplicate(true);
                }
            } else {
                known.totals.places.leave();
                let _ = destroy_variants(known, number);
                known.cache.uncount_created();
            }
        },
        || (),
    );
    result
}

/// Counts one sampler less at a place and destroys the variants that nobody else uses. Returns what the sampler has of
/// `maxCustomBorderColorSamplers`, which is free only when the driver has destroyed it.
#[must_use]
fn destroy_variants(known: &Device, number: u32) -> BorderPlace {
    let released = known.cache.release(&known.hot.choices, number);
    for variant in released.variants {
        known.destroy_variant(variant);
    }
    released.border
}

/// Enters a new sampler into the tables and the trace. `words`: its create info and, if it has no chain either, what went down
/// instead.
fn remember(known: &Device, sampler: u64, plan: &Plan, words: Option<(Words, Option<Words>)>, dropped: Option<i32>) {
    let original = plan.given.state;
    let base = if plan.rewrite { plan.decision.state } else { original };
    // A custom border that there was no place for stays given up, with every view.
    let given_up = plan.rewrite && is_custom(original.border_color) && {
        plan.decision.changes.iter().any(|change| matches!(change.catalog, Catalog::A35 | Catalog::A35Exact))
    };
    let wanted = if given_up {
        SamplerState { border_color: base.border_color, custom_border: None, ..original }
    } else {
        original
    };
    let rules = if known.rules.is_empty() {
        0
    } else {
        let nth = known.totals.samplers_created.fetch_add(1, Ordering::Relaxed) + 1;
        known.rules.match_sampler(&original, original.fingerprint(), nth, None)
    };
    let needs = known.needs(&wanted, &base, rules);
    let shared = SharedState {
        original: wanted,
        base,
        needs,
        given: given_up.then(|| original.fingerprint()),
        unknown: plan.given.unknown,
        rules,
        border: plan.border,
    };
    if let Some(number) = known.cache.acquire(&known.hot.choices, shared) {
        if known.hot.gate.add_sampler(sampler, needs.0, number) {
            // Places for custom borders come and go: whether there is one is asked each time.
            if let Some((words, rewritten)) = words
                && rewritten.is_some() == plan.rewrite
                && plan.border == BorderPlace::None
                && !given_up
            {
                known.cache.remember_recent(&words, number, !plan.decision.changes.is_empty(), rewritten);
            }
        } else {
            // The driver's one object for equal states; the first of them holds the places.
            known.leave_border(destroy_variants(known, number));
            known.cache.count_duplicate(true);
        }
    }
    known.record_sampler(sampler, &original, &plan.decision);
    if known.caps.unknown_extension {
        let mut strange = Vec::new();
        decide::unknown_enumerants(&original, &known.caps, |field, value| strange.push((field, value)));
        known.unknown_enumerants(&strange, Some(sampler), original.fingerprint());
    }
    if let Some(s_type) = dropped {
        let why = format!(
            "the structure of type {s_type} stands before one that had to change, and its size is not known, so it was left out"
        );
        let members = serde_json::json!({ "sampler": samplin_wire::text::handle(sampler) });
        known.unresolved("unknown structure", &why, None, members, (s_type as u64, original.fingerprint()));
    }
}

pub(crate) unsafe extern "system" fn destroy_sampler(
    handle: vk::Device,
    sampler: vk::Sampler,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    let border = if sampler.is_null() {
        BorderPlace::None
    } else {
        known.guard(|| forget(known, sampler.as_raw()), || BorderPlace::None)
    };
    if let Some(next) = known.fns.destroy_sampler {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, sampler, allocator) };
    }
    if !sampler.is_null() {
        known.totals.places.leave();
        known.leave_border(border);
    }
}

/// Removes a sampler from the tables and destroys the variants that nobody else uses. Returns what it has of
/// `maxCustomBorderColorSamplers`.
fn forget(known: &Device, sampler: u64) -> BorderPlace {
    let Some(word) = known.hot.gate.remove_sampler(sampler) else {
        known.cache.count_duplicate(false);
        return BorderPlace::None;
    };
    let Some(number) = (word as u32).checked_sub(1) else { return BorderPlace::None };
    let border = destroy_variants(known, number);
    if known.has_pinned.load(Ordering::Relaxed) {
        lock(&known.pinned).remove(&sampler);
    }
    known.forget_name(vk::ObjectType::SAMPLER, sampler);
    border
}

pub(crate) unsafe extern "system" fn create_sampler_ycbcr_conversion(
    handle: vk::Device,
    create_info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    conversion: *mut vk::SamplerYcbcrConversion,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    let Some(next) = known.fns.create_sampler_ycbcr_conversion else { return MISSING };
    // SAFETY: null or valid by VUID-vkCreateSamplerYcbcrConversion-pCreateInfo-parameter.
    let given = unsafe { create_info.as_ref() };
    let plan = known.guard(
        || {
            let info = given?;
            let state = ConversionState {
                x_chroma_offset: info.x_chroma_offset,
                y_chroma_offset: info.y_chroma_offset,
                chroma_filter: info.chroma_filter,
                force_explicit_reconstruction: info.force_explicit_reconstruction != 0,
            };
            // SAFETY: `formats` belongs to this device's instance, which is alive.
            let features = unsafe { known.formats.get(&known.instance_fns, info.format) }.map(|f| f.potential());
            let name = names::format(info.format);
            let subsampled = [name.contains("_420") || name.contains("_422"), name.contains("_420")];
            Some((decide::conversion(&state, features, subsampled), features))
        },
        || None,
    );
    let mut changed = given.copied();
    if let (Some((decision, _)), Some(info)) = (&plan, &mut changed)
        && !known.audit
        && !decision.changes.is_empty()
    {
        // The chain (an external format, say) stays the application's own.
        info.x_chroma_offset = decision.state.x_chroma_offset;
        info.y_chroma_offset = decision.state.y_chroma_offset;
        info.chroma_filter = decision.state.chroma_filter;
        info.force_explicit_reconstruction = u32::from(decision.state.force_explicit_reconstruction);
    }
    let rewritten = plan.as_ref().is_some_and(|(decision, _)| !known.audit && !decision.changes.is_empty());
    let down = match &changed {
        Some(info) if rewritten => std::ptr::from_ref(info),
        _ => create_info,
    };
    // SAFETY: the application's own arguments, or a copy of its create info with legal members.
    let result = unsafe { next(handle, down, allocator, conversion) };
    if result == vk::Result::SUCCESS
        && let (Some((decision, features)), Some(info)) = (plan, changed)
    {
        // SAFETY: set by the successful call.
        let raw = unsafe { *conversion }.as_raw();
        known.guard(
            || {
                let words = [
                    info.format.as_raw(),
                    info.ycbcr_model.as_raw(),
                    info.ycbcr_range.as_raw(),
                    info.components.r.as_raw(),
                    info.components.g.as_raw(),
                    info.components.b.as_raw(),
                    info.components.a.as_raw(),
                    info.x_chroma_offset.as_raw(),
                    info.y_chroma_offset.as_raw(),
                    info.chroma_filter.as_raw(),
                    info.force_explicit_reconstruction as i32,
                ];
                let separate = vk::FormatFeatureFlags2::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER;
                let record = YcbcrConversion {
                    handle: raw,
                    chroma_filter: info.chroma_filter,
                    separate_reconstruction: features.is_none_or(|features| features.contains(separate)),
                    fingerprint: fnv1a(words.iter().flat_map(|word| word.to_le_bytes())),
                };
                lock(&known.conversions).with_room().insert(raw, record);
                known.record_conversion(raw, info.format, &decision.changes);
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_sampler_ycbcr_conversion(
    handle: vk::Device,
    conversion: vk::SamplerYcbcrConversion,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return };
    known.guard(|| _ = lock(&known.conversions).remove(&conversion.as_raw()), || ());
    if let Some(next) = known.fns.destroy_sampler_ycbcr_conversion {
        // SAFETY: the application's own arguments.
        unsafe { next(handle, conversion, allocator) };
    }
}

/// Looks at the rules again for a sampler that got a name. Descriptors written from now on follow them.
fn rematch(known: &Device, sampler: u64, name: &str) {
    let word = known.hot.gate.sampler(sampler);
    let Some(number) = (word as u32).checked_sub(1) else { return };
    let Some(shared) = known.cache.state(number) else { return };
    // Rules by order of creation keep what they said then; names are all that can have changed.
    let named = known.rules.match_name(&shared.original, shared.fingerprint(), name);
    let rules = shared.rules | named;
    if rules == shared.rules {
        return;
    }
    let needs = known.needs(&shared.original, &shared.base, rules);
    let moved = SharedState { rules, needs, ..(*shared).clone() };
    if let Some((to, free)) = known.cache.acquire_moved(&known.hot.choices, number, moved) {
        known.hot.gate.replace_sampler(sampler, needs.0, to);
        if free {
            // It is the same sampler, so it keeps its place for a custom border.
            for variant in known.cache.release(&known.hot.choices, number).variants {
                known.destroy_variant(variant);
            }
        }
    }
}

/// Remembers a name if it is one of an object that records mention.
///
/// # Safety
///
/// `name` is null or null-terminated.
unsafe fn remember_name(known: &Device, ty: vk::ObjectType, object: u64, name: *const c_char) {
    let wanted = known.trace().is_on() || known.rules.use_names();
    if matches!(ty, vk::ObjectType::SAMPLER | vk::ObjectType::IMAGE_VIEW) && wanted {
        let text = if name.is_null() {
            String::new()
        } else {
            // SAFETY: forwarded from the caller.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        };
        if ty == vk::ObjectType::SAMPLER && known.rules.use_names() {
            rematch(known, object, &text);
        }
        known.set_name(ty, object, text);
    }
}

pub(crate) unsafe extern "system" fn set_debug_utils_object_name(
    handle: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    // SAFETY: null or valid by VUID-vkSetDebugUtilsObjectNameEXT-pNameInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        // SAFETY: null or null-terminated by VUID-VkDebugUtilsObjectNameInfoEXT-pObjectName-parameter.
        known
            .guard(|| unsafe { remember_name(known, info.object_type, info.object_handle, info.p_object_name) }, || ());
    }
    let Some(next) = known.fns.set_debug_utils_object_name else { return vk::Result::SUCCESS };
    // SAFETY: the application's own arguments.
    unsafe { next(handle, info) }
}

pub(crate) unsafe extern "system" fn debug_marker_set_object_name(
    handle: vk::Device,
    info: *const vk::DebugMarkerObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: the command's valid usage.
    let Some(known) = (unsafe { device(handle) }) else { return MISSING };
    // SAFETY: null or valid by VUID-vkDebugMarkerSetObjectNameEXT-pNameInfo-parameter.
    if let Some(info) = unsafe { info.as_ref() } {
        let ty = match info.object_type {
            vk::DebugReportObjectTypeEXT::SAMPLER => vk::ObjectType::SAMPLER,
            vk::DebugReportObjectTypeEXT::IMAGE_VIEW => vk::ObjectType::IMAGE_VIEW,
            _ => vk::ObjectType::UNKNOWN,
        };
        // SAFETY: null-terminated by VUID-VkDebugMarkerObjectNameInfoEXT-pObjectName-parameter.
        known.guard(|| unsafe { remember_name(known, ty, info.object, info.p_object_name) }, || ());
    }
    let Some(next) = known.fns.debug_marker_set_object_name else { return vk::Result::SUCCESS };
    // SAFETY: the application's own arguments.
    unsafe { next(handle, info) }
}
