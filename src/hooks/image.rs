//! Images, swapchain images and image views: what fixes the format features of a pair.

use std::ffi::c_void;

use ash::vk::{self, Handle};
use samplin_core::left::Left;
use samplin_core::{Image, View};
use samplin_hot::recent::Words;
use samplin_wire::words::UsageClass;
use vk_layer_sys::{ImageStencilUsage2CreateInfoKHR, ImageViewUsage2CreateInfoKHR};

use crate::decide::{Catalog, Change, Changes, Reads, ViewTraits};
use crate::device::{Device, DriverView, ImageTraits, On, ViewCopy, listed, wide_flags, wide_usage};
use crate::features::Tiling;
use crate::pnext::{self, slice};

destroy! {
    destroy_image(vk::Image): |device, image| device.pairs.images.forget_image(image);
    destroy_swapchain(vk::SwapchainKHR): |device, swapchain| device.pairs.images.forget_swapchain(&device.ground, swapchain);
    destroy_image_view(vk::ImageView): |device, object| device.pairs.stand_ins.forget_view(&device.ground, object);
}

pub(crate) unsafe extern "system" fn create_image(
    handle: vk::Device,
    create_info: *const vk::ImageCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    image: *mut vk::Image,
) -> vk::Result {
    let (device, next) = enter!(handle, create_image);
    // SAFETY: valid by VUID-vkCreateImage-pCreateInfo-parameter.
    let copy = device.ground.guard(
        || unsafe {
            device.pairs.stand_ins.storage.image_copy(&device.ground.driver, &device.ground.journal, &*create_info)
        },
        || None,
    );
    let mut result = vk::Result::ERROR_UNKNOWN;
    if let Some(copy) = copy.as_ref().filter(|_| !device.ground.wishes.audit) {
        // SAFETY: the application's own arguments but for flags and formats, which the device was asked about.
        result = unsafe { copy.with(&*create_info, |info| next(handle, info, allocator, image)) };
    }
    let copied = copy.as_ref().filter(|_| result == vk::Result::SUCCESS);
    if copied.is_none() {
        result = down!(next(handle, create_info, allocator, image));
    }
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateImage-pCreateInfo-parameter; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *image) };
                // SAFETY: `info` is valid by VUID-vkCreateImage-pCreateInfo-parameter, and so is its chain.
                let (flags, usage, stencil_usage) = unsafe {
                    let usage = wide_usage(info.p_next, info.usage);
                    (wide_flags(info.p_next, info.flags), usage, stencil_usage(info.p_next).unwrap_or(usage))
                };
                let mut traits = ImageTraits {
                    format: info.format,
                    image_type: info.image_type,
                    tiling: Tiling::Optimal,
                    modifier: 0,
                    flags,
                    usage,
                    stencil_usage,
                    levels: info.mip_levels,
                    layers: info.array_layers,
                    reachable: usage,
                    aliased: copied.is_some_and(|copy| copy.is_aliased),
                    is_short: false,
                };
                if let Some(copied) = copied {
                    traits.flags |= copied.flags();
                }
                if info.tiling == vk::ImageTiling::LINEAR {
                    traits.tiling = Tiling::Linear;
                } else if info.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT {
                    traits.tiling = Tiling::Modifier;
                    traits.modifier = query_modifier(device, made);
                }
                // SAFETY: the chain of that create info (VUID-VkImageCreateInfo-pNext-pNext), so a list of formats in it is whole.
                let formats = unsafe { listed(info.p_next) };
                if !traits.aliased {
                    traits.aliased = device.pairs.stand_ins.storage.may_alias(&device.ground.driver, &traits, formats);
                    // SAFETY: the chain of that create info, so a structure in it is whole.
                    let of_swapchain = unsafe { pnext::find::<vk::ImageSwapchainCreateInfoKHR<'_>>(info.p_next) };
                    if of_swapchain.is_some_and(|node| node.swapchain != vk::SwapchainKHR::null()) {
                        device.ground.driver.weigh_swapchain(&device.ground.journal, &mut traits, formats);
                    } else {
                        traits.reachable = device.ground.driver.reachable_usage(&traits, formats);
                    }
                }
                device.pairs.stand_ins.aspects.expect(&device.ground, &traits);
                device.pairs.images.insert_image(made, traits);
                let change =
                    copy.as_ref().filter(|_| copied.is_some() || device.ground.wishes.audit).map(|copy| copy.change);
                if change.is_some() || device.ground.journal.records_all() {
                    device.ground.journal.record_image(
                        &device.ground.driver,
                        made,
                        &traits,
                        (flags, usage),
                        formats,
                        change,
                    );
                }
            },
            || (),
        );
    }
    result
}

/// The usage of an image's stencil aspect, if it has one of its own; at most one of the two structures is chained
/// (VUID-VkImageCreateInfo-pNext-12442).
///
/// # Safety
///
/// `p_next` is the chain of a valid `VkImageCreateInfo`.
unsafe fn stencil_usage(p_next: *const c_void) -> Option<u64> {
    type Wide = ImageStencilUsage2CreateInfoKHR;
    // SAFETY: `p_next` is a valid chain by this function's contract, so either of the two stencil structures in it is whole.
    unsafe {
        let wide = pnext::find_as::<Wide>(p_next, Wide::STRUCTURE_TYPE).map(|wide| wide.stencil_usage);
        wide.or_else(|| {
            pnext::find::<vk::ImageStencilUsageCreateInfo<'_>>(p_next).map(|node| node.stencil_usage.as_raw().into())
        })
    }
}

/// The usage that a view's chain states; at most one of the two structures is chained (VUID-vkCreateImageView-pNext-12444).
///
/// # Safety
///
/// `info` is valid.
unsafe fn stated_usage(info: &vk::ImageViewCreateInfo<'_>) -> Option<u64> {
    type Wide = ImageViewUsage2CreateInfoKHR;
    // SAFETY: `info` is valid by this function's contract, so either of the two usage structures in its chain is whole.
    unsafe {
        let wide = pnext::find_as::<Wide>(info.p_next, Wide::STRUCTURE_TYPE).map(|wide| wide.usage);
        wide.or_else(|| {
            pnext::find::<vk::ImageViewUsageCreateInfo<'_>>(info.p_next).map(|node| node.usage.as_raw().into())
        })
    }
}

/// The usage that a view inherits: that of the aspects it shows (VkImageViewCreateInfo).
fn inherited_usage(info: &vk::ImageViewCreateInfo<'_>, image: &ImageTraits) -> u64 {
    let aspects = info.subresource_range.aspect_mask;
    let (depth, stencil) =
        (aspects.contains(vk::ImageAspectFlags::DEPTH), aspects.contains(vk::ImageAspectFlags::STENCIL));
    match (depth, stencil) {
        (false, true) => image.stencil_usage,
        (true, true) => image.usage & image.stencil_usage,
        _ => image.usage,
    }
}

/// The modifier that the driver chose, which is only known after creation.
fn query_modifier(device: &Device, image: vk::Image) -> u64 {
    // DRM_FORMAT_MOD_INVALID: no format lists it, so a failed query ends in "no features".
    const INVALID: u64 = 0x00ff_ffff_ffff_ffff;
    let mut properties = vk::ImageDrmFormatModifierPropertiesEXT::default();
    let Some(get) = device.ground.driver.fns.get_image_drm_format_modifier_properties else { return INVALID };
    // SAFETY: the image has modifier tiling (VUID-vkGetImageDrmFormatModifierPropertiesEXT-image-02272).
    let result = unsafe { get(device.ground.driver.handle, image, &mut properties) };
    if result == vk::Result::SUCCESS { properties.drm_format_modifier } else { INVALID }
}

/// Remembers a swapchain.
///
/// # Safety
///
/// `info` is valid.
unsafe fn insert_swapchain(device: &Device, swapchain: vk::SwapchainKHR, info: &vk::SwapchainCreateInfoKHR<'_>) {
    // SAFETY: `info` is a valid create info by this function's contract.
    let (mut traits, formats) = unsafe { (swapchain_traits(info), listed(info.p_next)) };
    device.ground.driver.weigh_swapchain(&device.ground.journal, &mut traits, formats);
    traits.aliased = device.pairs.stand_ins.storage.may_alias(&device.ground.driver, &traits, formats);
    device.pairs.images.insert_swapchain(swapchain, traits);
    device.pairs.render(
        &device.ground,
        device.separate.as_deref(),
        [info.image_extent.width, info.image_extent.height],
    );
}

/// Traits of the images of a swapchain, which never go through `vkCreateImage`.
///
/// # Safety
///
/// `info` is valid.
unsafe fn swapchain_traits(info: &vk::SwapchainCreateInfoKHR<'_>) -> ImageTraits {
    let mut flags = vk::ImageCreateFlags::empty();
    if info.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT) {
        flags |= vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    }
    // SAFETY: `info` is valid by this function's contract, and so is the chain of a swapchain.
    let usage = unsafe { wide_usage(info.p_next, info.image_usage) };
    ImageTraits {
        format: info.image_format,
        image_type: vk::ImageType::TYPE_2D,
        tiling: Tiling::Optimal,
        modifier: 0,
        flags: flags.as_raw().into(),
        usage,
        stencil_usage: usage,
        levels: 1,
        layers: info.image_array_layers,
        reachable: usage,
        aliased: false,
        is_short: false,
    }
}

pub(crate) unsafe extern "system" fn create_swapchain(
    handle: vk::Device,
    create_info: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchain: *mut vk::SwapchainKHR,
) -> vk::Result {
    let (device, next) = enter!(handle, create_swapchain);
    let result = down!(next(handle, create_info, allocator, swapchain));
    if result == vk::Result::SUCCESS {
        // SAFETY: valid by VUID-vkCreateSwapchainKHR-pCreateInfo-parameter; the handle was set by the successful call.
        device.ground.guard(|| unsafe { insert_swapchain(device, *swapchain, &*create_info) }, || ());
    }
    result
}

pub(crate) unsafe extern "system" fn create_shared_swapchains(
    handle: vk::Device,
    count: u32,
    create_infos: *const vk::SwapchainCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    swapchains: *mut vk::SwapchainKHR,
) -> vk::Result {
    let (device, next) = enter!(handle, create_shared_swapchains);
    let result = down!(next(handle, count, create_infos, allocator, swapchains));
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: both arrays have `count` elements by the command's valid usage.
                let (infos, made) = unsafe { (slice(create_infos, count), slice(swapchains.cast_const(), count)) };
                for (info, swapchain) in infos.iter().zip(made) {
                    // SAFETY: each of them is valid.
                    unsafe { insert_swapchain(device, *swapchain, info) };
                }
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn get_swapchain_images(
    handle: vk::Device,
    swapchain: vk::SwapchainKHR,
    count: *mut u32,
    images: *mut vk::Image,
) -> vk::Result {
    let (device, next) = enter!(handle, get_swapchain_images);
    let result = down!(next(handle, swapchain, count, images));
    if matches!(result, vk::Result::SUCCESS | vk::Result::INCOMPLETE) && !images.is_null() {
        device.ground.guard(
            || {
                // SAFETY: the successful call set `*count` to the number of elements written.
                let written = unsafe { slice(images.cast_const(), *count) };
                device.pairs.images.insert_swapchain_images(swapchain, written);
            },
            || (),
        );
    }
    result
}

pub(crate) unsafe extern "system" fn create_image_view(
    handle: vk::Device,
    create_info: *const vk::ImageViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::ImageView,
) -> vk::Result {
    let (device, next) = enter!(handle, create_image_view);
    // SAFETY: valid by VUID-vkCreateImageView-pCreateInfo-parameter.
    let known = match unsafe { view_words(device, &*create_info) } {
        Some(words) => device.pairs.images.view_again(&words),
        None => 0,
    };
    if known == 0 {
        // SAFETY: `create_new_view` asks for the arguments of a valid `vkCreateImageView`, which this command was called with.
        return unsafe { create_new_view(device, next, create_info, allocator, view) };
    }
    let result = down!(next(handle, create_info, allocator, view));
    // SAFETY: the handle was set by the successful call.
    if result == vk::Result::SUCCESS && !device.pairs.images.insert_view_again(&device.ground, unsafe { *view }, known)
    {
        // SAFETY: the handle was set by the successful call, and the create info is valid by VUID-vkCreateImageView-pCreateInfo-parameter.
        device.ground.guard(|| unsafe { remember_view(device, &*create_info, *view) }, || ());
    }
    result
}

/// Creates a view that is not like one before.
///
/// # Safety
///
/// The arguments of a valid `vkCreateImageView`.
#[inline(never)]
unsafe fn create_new_view(
    device: &Device,
    next: vk::PFN_vkCreateImageView,
    create_info: *const vk::ImageViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::ImageView,
) -> vk::Result {
    let handle = device.ground.driver.handle;
    let (narrowed, mut copy) = if device.pairs.images.narrows_views() {
        // SAFETY: valid by VUID-vkCreateImageView-pCreateInfo-parameter.
        device.ground.guard(|| unsafe { changed_view(device, &*create_info) }, || (None, None))
    } else {
        (None, None)
    };
    let mut result = vk::Result::ERROR_UNKNOWN;
    if let Some((copy, _)) = copy.as_mut().filter(|_| !device.ground.wishes.audit) {
        // SAFETY: the application's own arguments, and what was made of its create info.
        result = unsafe {
            device.pairs.stand_ins.storage.make_view(&device.ground, next, &*create_info, copy, allocator, view)
        };
    }
    let copied = result == vk::Result::SUCCESS;
    if !copied {
        result = match &narrowed {
            Some((_, usage, _)) if !device.ground.wishes.audit => {
                // SAFETY: the create info is that of a valid `vkCreateImageView` by this function's contract.
                let mut copy = unsafe { *create_info };
                let usage = vk::ImageViewUsageCreateInfo {
                    p_next: copy.p_next,
                    usage: vk::ImageUsageFlags::from_raw(*usage as u32),
                    ..Default::default()
                };
                copy.p_next = (&raw const usage).cast();
                // SAFETY: the application's own arguments but for the usage, a part of what the view would inherit.
                unsafe { next(handle, &copy, allocator, view) }
            }
            _ => down!(next(handle, create_info, allocator, view)),
        };
    }
    if result == vk::Result::SUCCESS {
        device.ground.guard(
            || {
                // SAFETY: valid by VUID-vkCreateImageView-pCreateInfo-parameter; the handle was set by the successful call.
                let (info, made) = unsafe { (&*create_info, *view) };
                // SAFETY: `info` is the valid create info that `made` was just made with.
                unsafe {
                    remember_view(device, info, made);
                    if shows_one_aspect(device, info) {
                        device.pairs.stand_ins.aspects.make_aspects(&device.ground, next, info, made);
                    }
                }
                let mut recorded = (Tiling::Optimal, None, Vec::new());
                if let Some((tiling, _, changes)) = &narrowed {
                    recorded = (*tiling, None, changes.iter().copied().collect());
                    let lost = |change: &Change| change.catalog == Catalog::H1Storage;
                    if !device.ground.wishes.audit && recorded.2.iter().any(lost) {
                        device.pairs.stand_ins.storage.view_lost_storage(&device.ground, made);
                    }
                }
                if let Some((copy, tiling)) = copy.as_ref().filter(|_| copied || device.ground.wishes.audit) {
                    recorded = (*tiling, Some(copy.alias_format), vec![copy.change]);
                }
                // SAFETY: `info` is the valid create info of this call.
                let class = || unsafe { usage_class(device, info) };
                let class = if device.ground.journal.records_all() { class() } else { Vec::new() };
                let (tiling, alias, changes) = recorded;
                if !(changes.is_empty() && class.is_empty()) {
                    device.ground.journal.record_view(
                        made,
                        info.format,
                        DriverView { alias, path: None },
                        &changes,
                        tiling,
                        class,
                    );
                }
            },
            || (),
        );
    }
    result
}

/// Whether descriptors of a view may show only one of its aspects.
///
/// # Safety
///
/// `info` is valid.
unsafe fn shows_one_aspect(device: &Device, info: &vk::ImageViewCreateInfo<'_>) -> bool {
    let mut aspects = info.subresource_range.aspect_mask;
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    if device.pairs.stand_ins.aspects.makes_twins() {
        aspects = both;
    }
    // Almost all views have one.
    aspects.contains(both)
        && device.pairs.images.image(info.image).is_some_and(|(_, image)| {
            // SAFETY: `info` is a valid create info of a view by this function's contract.
            let usage = unsafe { stated_usage(info) }.unwrap_or_else(|| inherited_usage(info, image));
            crate::decide::shows_one_aspect(aspects, usage)
        })
}

/// What a prediction needs to know of a view, at the level all, if it may have to change on some device.
///
/// # Safety
///
/// `info` is valid.
#[inline(never)]
unsafe fn usage_class(device: &Device, info: &vk::ImageViewCreateInfo<'_>) -> Vec<u64> {
    let Some((_, image)) = device.pairs.images.image(info.image) else { return Vec::new() };
    let stores = u64::from(vk::ImageUsageFlags::STORAGE.as_raw());
    if !image.may_lack_usage(info.format) && image.usage & stores == 0 {
        return Vec::new();
    }
    // SAFETY: `info` is a valid create info of a view by this function's contract.
    let stated = unsafe { stated_usage(info) };
    let features = device.ground.driver.features(image, info.format);
    UsageClass::write(info.image.as_raw(), features, inherited_usage(info, image), stated)
}

/// The tiling of a view's image, the usage that the view reaches the driver with, and the changes.
type Narrowed = (Tiling, u64, Changes);

/// How a view reaches the driver, if changed: with a part of its usage, or with another view to store through.
///
/// # Safety
///
/// `info` is valid.
#[inline(never)]
pub(super) unsafe fn changed_view(
    device: &Device,
    info: &vk::ImageViewCreateInfo<'_>,
) -> (Option<Narrowed>, Option<(ViewCopy, Tiling)>) {
    let Some((_, image)) = device.pairs.images.image(info.image) else { return (None, None) };
    // SAFETY: `info` is a valid create info of a view by this function's contract.
    let stated = unsafe { stated_usage(info) };
    let inherited = inherited_usage(info, image);
    // SAFETY: `info` is a valid create info of a view by this function's contract, which is all that `lowered_view` asks.
    if let Some(copy) = unsafe {
        device.pairs.stand_ins.storage.lowered_view(
            &device.ground.driver,
            &device.ground.journal,
            info,
            image,
            stated,
            inherited,
        )
    } {
        return (None, Some((copy, image.tiling)));
    }
    let narrowed = device.ground.driver.narrowed_usage(&device.ground.journal, image, info.format, stated, inherited);
    (narrowed.map(|(usage, changes)| (image.tiling, usage, changes)), None)
}

/// Remembers a new view. A view of an image that the layer never saw stays unknown, which means that its pairs
/// are left alone.
///
/// # Safety
///
/// `info` is valid.
unsafe fn remember_view(device: &Device, info: &vk::ImageViewCreateInfo<'_>, view: vk::ImageView) {
    let Some((number, image)) = device.pairs.images.image(info.image) else {
        device.ground.journal.unresolved(Left::UnknownImage, None, serde_json::json!({}), (0, 0));
        device.pairs.images.count_stranger();
        return;
    };
    // SAFETY: `info` is valid, so its chain is.
    let (traits, is_known) = unsafe { view_traits(device, info, number, image) };
    if let Some(separate) = device.separate.as_deref() {
        // SAFETY: as above.
        let stated = unsafe { stated_usage(info) };
        separate.note_view(
            On { ground: &device.ground, pairs: &device.pairs },
            stated.unwrap_or_else(|| inherited_usage(info, image)),
            &traits,
        );
    }
    // What has both aspects is made together with another one each time.
    let is_whole =
        info.subresource_range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL);
    let words = view_words(device, info)
        .filter(|_| is_known && !is_whole && !device.pairs.stand_ins.storage.looks_at_views_of(image, info.format));
    device.pairs.images.insert_view(
        &device.ground.hot,
        &device.ground.driver,
        view,
        traits,
        image.tiling,
        words.as_ref(),
    );
}

/// What a view's class depends on, for a view without a chain of an image that is kept.
#[inline(always)]
fn view_words(device: &Device, info: &vk::ImageViewCreateInfo<'_>) -> Option<Words> {
    if !info.p_next.is_null() {
        return None;
    }
    let image = u64::from(device.pairs.images.image_number(info.image)?) + 1;
    let two = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
    let (components, range) = (info.components, info.subresource_range);
    // By twos that lie beside each other, so that each is loaded at once.
    Some([
        image,
        info.flags.as_raw().into(),
        two(info.view_type.as_raw() as u32, info.format.as_raw() as u32),
        two(components.r.as_raw() as u32, components.g.as_raw() as u32),
        two(components.b.as_raw() as u32, components.a.as_raw() as u32),
        two(range.aspect_mask.as_raw(), range.base_mip_level),
        two(range.level_count, range.base_array_layer),
        range.layer_count.into(),
    ])
}

/// What decisions look at, and whether the driver has answered all that they need to know.
///
/// # Safety
///
/// `info` is valid.
pub(super) unsafe fn view_traits(
    device: &Device,
    info: &vk::ImageViewCreateInfo<'_>,
    number: u32,
    image: &ImageTraits,
) -> (ViewTraits, bool) {
    // SAFETY: `info` is a valid create info of a view by this function's contract.
    let usage = unsafe { stated_usage(info) }.unwrap_or_else(|| inherited_usage(info, image));
    // SAFETY: `info` is valid by this function's contract, so a conversion structure in its chain is whole.
    let ycbcr = unsafe { pnext::find::<vk::SamplerYcbcrConversionInfo<'_>>(info.p_next) }.is_some();
    let features = device.ground.driver.features(image, info.format);
    let cubic = features.is_some_and(|f| f.contains(vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT));
    let answer = if device.ground.driver.caps.filter_cubic_ext && cubic {
        device.pairs.images.cubic(&device.ground.driver, number, image, info.view_type)
    } else {
        Some((true, true))
    };
    // What could not be asked is not taken away.
    let (filter_cubic, filter_cubic_minmax) = answer.unwrap_or((true, true));
    let view = View {
        format: info.format,
        view_type: info.view_type,
        components: info.components,
        range: info.subresource_range,
        usage: vk::ImageUsageFlags::from_raw(usage as u32),
        has_conversion: ycbcr,
        filter_cubic,
        filter_cubic_minmax,
        reads: Reads::Unknown,
        image: Image {
            image_type: image.image_type,
            tiling: image.tiling,
            modifier: image.modifier,
            flags: vk::ImageCreateFlags::from_raw(image.flags as u32),
            levels: image.levels,
            layers: image.layers,
        },
    };
    (view.traits(features, device.ground.wishes.looks_at_levels), answer.is_some())
}
