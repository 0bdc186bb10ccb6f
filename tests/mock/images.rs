//! Images that are not just created with optimal tiling, and views of images that the layer never saw.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use ash::vk::{self, Handle};
use samplin_core::decide::ViewTraits;
use vk_layer_sys::{
    ImageCreateFlags2CreateInfoKHR, ImageStencilUsage2CreateInfoKHR, ImageUsageFlags2CreateInfoKHR,
    ImageViewUsage2CreateInfoKHR,
};

use crate::args;
use crate::driver::{Args, Config, FormatSupport, Kind, Reuse, lock};
use crate::loader::*;

/// Whether a LINEAR sampler is replaced when it is written with a view.
fn changes(device: &Device, view: vk::ImageView) -> bool {
    let (set, infos) = (device.plain_set(), [pair(device.linear(), view)]);
    let writes = [combined(set, 0, &infos)];
    let down = device.updates(&writes);
    let changed = down.items[0].images[0].sampler != infos[0].sampler;
    assert_eq!(changed, down.at != writes.as_ptr() as usize);
    changed
}

#[test]
fn what_filters_cubic_is_asked_once_for_each_kind_of_view() {
    let cubic = vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT;
    for (failure, asked) in [(None, 1), (Some(vk::Result::ERROR_OUT_OF_HOST_MEMORY), 2)] {
        let config = |driver: &mut Config| {
            driver.of_format(FILTERED).optimal |= cubic;
            let failed = failure.map(|failure| (failure, false, false));
            let answers = failed.into_iter().chain([(SUCCESS, false, false)]);
            *lock(&driver.cubic) = answers.collect();
        };
        let builder = InstanceBuilder::new().driver(config);
        let answers = Arc::clone(&builder.config.cubic);
        let device = builder.bare(&[ash::ext::filter_cubic::NAME]);
        let sampler = device.sampler(&linear_info().mag_filter(Filter::CUBIC_EXT));
        let image = device.image(FILTERED);
        for number in 1..=3 {
            let able = written(&device, sampler, device.view_of(image, FILTERED)) == sampler;
            // An answer that fails takes nothing away, and is no answer.
            assert_eq!(able, number < asked, "view {number}");
        }
        assert!(lock(&answers).is_empty(), "everything was asked for");
    }
}

/// What the layer took from the create infos of a view and its image.
fn traits(device: &Device, view: vk::ImageView) -> ViewTraits {
    let word = device.entry().ground.hot.gate.view(view.as_raw());
    device.entry().pairs.images.class(word as u32 - 1).expect("a known view").traits
}

#[test]
fn wide_flags_stand_for_the_words_of_an_image() {
    let device = Device::usual();
    let (corner, subsampled) = (vk::ImageCreateFlags::CORNER_SAMPLED_NV, vk::ImageCreateFlags::SUBSAMPLED_EXT);
    let (attachment, sampled) = (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::SAMPLED);
    let wide = |flags: vk::ImageCreateFlags| ImageCreateFlags2CreateInfoKHR::new(u64::from(flags.as_raw()) | 1 << 40);
    let wide_usage =
        |usage: vk::ImageUsageFlags| ImageUsageFlags2CreateInfoKHR::new(u64::from(usage.as_raw()) | 1 << 40);
    // Without the structures the words count; with them the words are ignored, whatever they say.
    for (flags, usage, flags2, usage2, expected) in [
        (corner, attachment, None, None, (true, false, true)),
        (corner, attachment, Some(wide(subsampled)), None, (false, true, true)),
        (corner, attachment, None, Some(wide_usage(sampled)), (true, false, false)),
        (vk::ImageCreateFlags::empty(), sampled, Some(wide(corner)), Some(wide_usage(attachment)), (true, false, true)),
    ] {
        let mut next = ptr::null();
        let mut flags2 = flags2;
        let mut usage2 = usage2;
        if let Some(node) = &mut flags2 {
            node.p_next = next;
            next = ptr::from_ref(node).cast::<c_void>();
        }
        if let Some(node) = &mut usage2 {
            node.p_next = next;
            next = ptr::from_ref(node).cast();
        }
        let info = vk::ImageCreateInfo { p_next: next, ..image_info(FILTERED).flags(flags).usage(usage) };
        let seen = traits(&device, device.view_of(device.image_with(&info), FILTERED));
        assert_eq!((seen.corner_sampled, seen.subsampled, seen.attachment), expected);
    }
}

#[test]
fn a_view_has_the_usage_that_its_chain_says() {
    let device = Device::usual();
    let (attachment, sampled) = (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::SAMPLED);
    let image = device.image_with(&image_info(FILTERED).usage(attachment | sampled));
    let narrow = vk::ImageViewUsageCreateInfo::default().usage(sampled);
    let wide = ImageViewUsage2CreateInfoKHR::new(u64::from(sampled.as_raw()));
    let wide_attachment = ImageViewUsage2CreateInfoKHR::new(u64::from(attachment.as_raw()));
    for (next, expected) in [
        (ptr::null(), true),
        (ptr::from_ref(&narrow).cast::<c_void>(), false),
        (ptr::from_ref(&wide).cast(), false),
        (ptr::from_ref(&wide_attachment).cast(), true),
    ] {
        let info = vk::ImageViewCreateInfo { p_next: next, ..view_info(image, FILTERED) };
        assert_eq!(traits(&device, device.view_with(&info)).attachment, expected);
    }
}

#[test]
fn views_that_have_to_change_do_so_each_time_and_others_never() {
    use vk::FormatFeatureFlags2 as Feature;
    let config = |driver: &mut Config| {
        for (format, support) in &mut driver.formats {
            let attachment = if *format == FILTERED { Feature::COLOR_ATTACHMENT } else { Feature::empty() };
            support.optimal = support.optimal & !Feature::COLOR_ATTACHMENT | Feature::SAMPLED_IMAGE | attachment;
        }
    };
    let device = InstanceBuilder::new().driver(config).device();
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let mutable = vk::ImageCreateFlags::MUTABLE_FORMAT;
    let [plain, mutable] = [vk::ImageCreateFlags::empty(), mutable]
        .map(|flags| device.image_with(&image_info(FILTERED).usage(usage).flags(flags)));
    for (image, format, untouched) in
        [(plain, FILTERED, true), (mutable, FILTERED, true), (mutable, INTEGERS, false), (plain, FILTERED, true)]
    {
        let info = view_info(image, format);
        for nth in 0..3 {
            device.driver.calls();
            let view = device.view_with(&info);
            assert_eq!(device.took(c"vkCreateImageView", &info), untouched, "{format:?}, view {nth}");
            assert_eq!(traits(&device, view).format, format);
            device.destroy_view(view);
        }
    }
}

#[test]
fn a_stencil_view_has_the_usage_of_its_aspect() {
    let device = Device::usual();
    let format = vk::Format::D24_UNORM_S8_UINT;
    let (attachment, sampled) = (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, vk::ImageUsageFlags::SAMPLED);
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let narrow = vk::ImageStencilUsageCreateInfo::default().stencil_usage(sampled);
    let wide = ImageStencilUsage2CreateInfoKHR::new(u64::from(sampled.as_raw()));
    // "Image Views": the stencil's usage for stencil alone, the image's for depth alone, what both have for both.
    for (next, expected) in [
        (ptr::null(), [true, true, true]),
        (ptr::from_ref(&narrow).cast::<c_void>(), [true, false, false]),
        (ptr::from_ref(&wide).cast(), [true, false, false]),
    ] {
        let info = vk::ImageCreateInfo { p_next: next, ..image_info(format).usage(attachment | sampled) };
        let image = device.image_with(&info);
        let seen = [depth, stencil, depth | stencil].map(|aspects| {
            let mut info = view_info(image, format);
            info.subresource_range.aspect_mask = aspects;
            traits(&device, device.view_with(&info)).attachment
        });
        assert_eq!(seen, expected);
    }
}

#[test]
fn what_filters_cubic_is_asked_with_the_flags_that_count() {
    let config = |driver: &mut Config| {
        driver.of_format(FILTERED).optimal |= vk::FormatFeatureFlags2::SAMPLED_IMAGE_FILTER_CUBIC_EXT;
    };
    let builder = InstanceBuilder::new().driver(config);
    let asked = Arc::clone(&builder.config.asked);
    let device = builder.bare(&[ash::ext::filter_cubic::NAME]);
    let sampled = u64::from(vk::ImageUsageFlags::SAMPLED.as_raw());
    let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
    let flags = [1_000_668_001, 1_000_668_002];
    // What fits in the words goes there, as before the extension; what does not needs the structures.
    for (wide, expected) in [((mutable, sampled), vec![]), ((mutable | 1 << 33, sampled | 1 << 34), flags.to_vec())] {
        let usage = ImageUsageFlags2CreateInfoKHR::new(wide.1);
        let mut node = ImageCreateFlags2CreateInfoKHR::new(wide.0);
        node.p_next = ptr::from_ref(&usage).cast();
        let stale = image_info(FILTERED).usage(vk::ImageUsageFlags::STORAGE).flags(vk::ImageCreateFlags::ALIAS);
        let image = device.image_with(&vk::ImageCreateInfo { p_next: ptr::from_ref(&node).cast(), ..stale });
        device.view_of(image, FILTERED);
        let question = lock(&asked).pop().expect("a question");
        assert_eq!((question.value.usage.as_raw(), question.value.flags.as_raw()), (wide.1 as u32, wide.0 as u32));
        let chained = question.chain.iter().filter(|node| flags.contains(&node.s_type.as_raw()));
        let chained: Vec<(i32, u64)> = chained
            .map(|node| {
                // SAFETY: the mock copied the whole structure.
                let node = unsafe { node.bytes.as_ptr().cast::<ImageUsageFlags2CreateInfoKHR>().read_unaligned() };
                (node.s_type.as_raw(), node.usage)
            })
            .collect();
        let words = [(flags[0], wide.0), (flags[1], wide.1)];
        let expected: Vec<(i32, u64)> = words.into_iter().filter(|(s_type, _)| expected.contains(s_type)).collect();
        assert_eq!(chained.len(), expected.len());
        assert!(expected.iter().all(|node| chained.contains(node)), "{chained:x?}");
    }
}

/// What is read and stored to.
const STORED: vk::ImageUsageFlags =
    vk::ImageUsageFlags::from_raw(vk::ImageUsageFlags::SAMPLED.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw());

fn swapchain_info(flags: vk::SwapchainCreateFlagsKHR) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR::default()
        .flags(flags)
        .image_format(SRGB)
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::SAMPLED)
}

fn swapchain(device: &Device) -> vk::SwapchainKHR {
    let info = swapchain_info(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT);
    create!(device.create_swapchain(&info))
}

/// The second call of the idiom, with room for `room` images.
fn images(device: &Device, swapchain: vk::SwapchainKHR, room: u32) -> (vk::Result, Vec<vk::Image>) {
    let mut count = room;
    let mut out = vec![vk::Image::null(); room as usize + 1];
    let result = call!(device.get_swapchain_images(device.raw, swapchain, &mut count, out.as_mut_ptr()));
    assert!(out[count as usize..].iter().all(|image| image.is_null()));
    out.truncate(count as usize);
    (result, out)
}

#[test]
fn swapchain_images_have_the_format_of_the_swapchain() {
    let device = Device::usual();
    let chain = swapchain(&device);
    let mut count = 0;
    let result = call!(device.get_swapchain_images(device.raw, chain, &mut count, ptr::null_mut()));
    assert_eq!((result, count), (SUCCESS, 3));
    // A part of them first.
    let (result, some) = images(&device, chain, 1);
    assert_eq!((result, some.len()), (vk::Result::INCOMPLETE, 1));
    assert!(changes(&device, device.view_of(some[0], SRGB)));
    let (result, all) = images(&device, chain, 3);
    assert_eq!((result, all.len(), all[0]), (SUCCESS, 3, some[0]));
    assert_eq!(images(&device, chain, 3).1, all, "again the same");
    for image in &all {
        assert!(changes(&device, device.view_of(*image, SRGB)));
        // The view's format decides, not the image's.
        assert!(!changes(&device, device.view_of(*image, BGRA)));
    }
    device.destroy_swapchain(chain);
    for image in all {
        assert_eq!(device.entry().pairs.images.image_number(image), None, "gone with the swapchain");
    }
}

#[test]
fn wide_usage_stands_for_that_of_a_swapchain() {
    let device = Device::usual();
    let wide = ImageUsageFlags2CreateInfoKHR::new(u64::from(vk::ImageUsageFlags::SAMPLED.as_raw()));
    for (next, expected) in [(ptr::null(), true), (ptr::from_ref(&wide).cast::<c_void>(), false)] {
        let info = vk::SwapchainCreateInfoKHR { p_next: next, ..swapchain_info(Default::default()) };
        let info = info.image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let chain = create!(device.create_swapchain(&info));
        let (_, all) = images(&device, chain, 3);
        assert_eq!(traits(&device, device.view_of(all[0], SRGB)).attachment, expected);
    }
}

/// A surface may offer a usage that one of its formats has and another has not. The driver makes such a swapchain, and its views would
/// inherit the usage.
#[test]
fn views_of_a_swapchain_go_without_what_its_format_lacks() {
    let stores = |driver: &mut Config| {
        driver.of_format(BGRA).optimal |= vk::FormatFeatureFlags2::STORAGE_IMAGE;
    };
    let sampled = vk::ImageUsageFlags::SAMPLED;
    let usage = sampled | vk::ImageUsageFlags::STORAGE;
    let unorm = BGRA;
    let mutable = vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT;
    let none = vk::SwapchainCreateFlagsKHR::empty();
    // Flags, the swapchain's format, those of its list, usage; the view's format, whether it is narrowed, and whether the swapchain is
    // named.
    for (flags, format, list, usage, viewed, narrowed, named) in [
        (none, SRGB, &[][..], usage, SRGB, true, true),
        (none, unorm, &[], usage, unorm, false, false),
        (none, SRGB, &[], sampled, SRGB, false, false),
        (mutable, SRGB, &[SRGB, unorm], usage, SRGB, true, false),
        (mutable, SRGB, &[SRGB, unorm], usage, unorm, false, false),
        (mutable, SRGB, &[SRGB], usage, SRGB, true, true),
    ] {
        let device = InstanceBuilder::new().traced("decisions").driver(stores).device();
        let mut formats = vk::ImageFormatListCreateInfo::default().view_formats(list);
        let mut info = swapchain_info(flags).image_format(format).image_usage(usage);
        if !list.is_empty() {
            info = info.push_next(&mut formats);
        }
        let chain = create!(device.create_swapchain(&info));
        assert!(device.took(c"vkCreateSwapchainKHR", &info), "the swapchain itself stays as it is");
        // An image of the application's that is bound to the swapchain's memory is one of them.
        let mut of_chain = vk::ImageSwapchainCreateInfoKHR::default().swapchain(chain);
        let bound = image_info(format).usage(usage).push_next(&mut of_chain);
        let mut all = images(&device, chain, 3).1;
        if list.is_empty() {
            all.push(device.image_with(&bound));
        }
        for image in all {
            let info = view_info(image, viewed);
            device.driver.calls();
            let view = device.view_with(&info);
            assert_eq!(!device.took(c"vkCreateImageView", &info), narrowed, "{flags:?} {format:?} {viewed:?}");
            device.destroy_view(view);
        }
        let trace = &device.instance;
        assert_eq!(trace.records("view").len(), usize::from(narrowed));
        let told = trace.records("unresolved").into_iter().filter(|record| record["rule"] == "image-usage");
        let told: Vec<_> = told.map(|record| (record["vuid"].clone(), record["usage"].clone())).collect();
        let vuid = "VUID-VkSwapchainCreateInfoKHR-imageFormat-01778";
        let expected = (vuid.into(), serde_json::json!(["VK_IMAGE_USAGE_STORAGE_BIT"]));
        assert_eq!(told, if named { vec![expected] } else { Vec::new() });
    }
    // What the application says of a view itself stays.
    let device = InstanceBuilder::new().driver(stores).device();
    let info = swapchain_info(none).image_usage(usage);
    let chain = create!(device.create_swapchain(&info));
    let own = vk::ImageViewUsageCreateInfo::default().usage(sampled);
    let image = images(&device, chain, 1).1[0];
    let info = vk::ImageViewCreateInfo { p_next: ptr::from_ref(&own).cast(), ..view_info(image, SRGB) };
    device.view_with(&info);
    assert!(device.took(c"vkCreateImageView", &info));
}

#[test]
fn shared_swapchains_are_known_too() {
    let device = Device::usual();
    let infos = [
        swapchain_info(vk::SwapchainCreateFlagsKHR::empty()),
        swapchain_info(Default::default()).image_format(FILTERED),
    ];
    let mut out = [vk::SwapchainKHR::null(); 2];
    assert_eq!(
        call!(device.create_shared_swapchains(device.raw, 2, infos.as_ptr(), allocator(), out.as_mut_ptr())),
        SUCCESS
    );
    args!(device, c"vkCreateSharedSwapchainsKHR", Args::Create { info, allocator: given, out: at });
    assert_eq!((info, given, at), (infos.as_ptr() as usize, allocator() as usize, out.as_ptr() as usize));
    for (chain, format, expected) in [(out[0], SRGB, true), (out[1], FILTERED, false)] {
        let (_, all) = images(&device, chain, 3);
        assert_eq!(changes(&device, device.view_of(all[2], format)), expected);
    }
}

#[test]
fn a_swapchain_takes_its_images_along() {
    // The handles come back at once, for images of another format.
    let device = InstanceBuilder::new().driver(|driver| driver.reuse = Reuse::AtOnce).device();
    let chain = swapchain(&device);
    let (_, all) = images(&device, chain, 3);
    device.destroy_swapchain(chain);
    for _ in &all {
        let image = device.image(FILTERED);
        assert!(all.contains(&image));
        assert!(!changes(&device, device.view_of(image, FILTERED)));
    }
}

#[test]
fn a_retired_swapchain_takes_only_its_own_images_along() {
    for swapchain_again in [true, false] {
        let device = InstanceBuilder::new().driver(|driver| driver.reuse = Reuse::AtOnce).device();
        let old = swapchain(&device);
        let (_, all) = images(&device, old, 3);
        // The driver hands the images of a retired swapchain on, handles and all, while the application still has the swapchain.
        for image in &all {
            device.driver.free_early(Kind::Image, image.as_raw());
        }
        let (new, owned) = if swapchain_again {
            let new = swapchain(&device);
            (new, images(&device, new, 3).1)
        } else {
            (vk::SwapchainKHR::null(), all.iter().map(|_| device.image(SRGB)).collect())
        };
        assert!(owned.iter().all(|image| all.contains(image)), "the handles came back");
        device.destroy_swapchain(old);
        for image in &owned {
            assert!(changes(&device, device.view_of(*image, SRGB)), "still known");
        }
        if swapchain_again {
            device.destroy_swapchain(new);
        } else {
            owned.iter().for_each(|image| device.destroy_image(*image));
        }
        assert!(
            owned.iter().all(|image| device.entry().pairs.images.image_number(*image).is_none()),
            "gone with their owner"
        );
    }
}

#[test]
fn a_view_of_an_unknown_image_is_left_alone() {
    let device = Device::traced();
    let (_, all) = (swapchain(&device), [vk::Image::from_raw(0xabc), vk::Image::from_raw(0xdef)]);
    for image in all {
        assert!(!changes(&device, device.view_of(image, INTEGERS)));
    }
    assert_eq!(texts(&device.left_as("unknown image"), "why"), [samplin_core::left::Left::UnknownImage.clause()]);
}

#[test]
fn linear_tiling_has_features_of_its_own() {
    let device = Device::usual();
    let image = device.image_with(&image_info(FILTERED).tiling(vk::ImageTiling::LINEAR));
    assert!(changes(&device, device.view_of(image, FILTERED)));
    assert!(!changes(&device, device.view(FILTERED)));
    // Blits ask for the same.
    for (source, expected) in [(image, Filter::NEAREST), (device.image(FILTERED), Filter::LINEAR)] {
        assert_eq!(device.blits_with(source, Filter::LINEAR), expected);
    }
}

#[test]
fn the_modifier_that_the_driver_chose_decides() {
    const FORMAT: vk::Format = vk::Format::A2R10G10B10_UNORM_PACK32;
    // The driver chooses; modifier 7 filters, 9 does not. With 11, which is not in the list, the format cannot be sampled at all, and no
    // filter mends that. Asked in both widths of the list.
    for version in [vk::API_VERSION_1_1, vk::API_VERSION_1_3] {
        for (modifier, expected) in [(7, false), (9, true), (11, false)] {
            let device = InstanceBuilder::new()
                .driver(|driver| {
                    driver.modifier = modifier;
                    driver.api_version = version;
                    if version < vk::API_VERSION_1_3 {
                        driver.extensions.retain(|name| *name != ash::khr::format_feature_flags2::NAME);
                    }
                })
                .device();
            let image = device.image_with(&image_info(FORMAT).tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT));
            assert_eq!(device.driver.calls_of(c"vkGetImageDrmFormatModifierPropertiesEXT").len(), 1, "after creation");
            assert_eq!(changes(&device, device.view_of(image, FORMAT)), expected, "modifier {modifier}");
            let optimal = device.image(FORMAT);
            assert!(!changes(&device, device.view_of(optimal, FORMAT)));
            assert!(device.driver.calls_of(c"vkGetImageDrmFormatModifierPropertiesEXT").is_empty());
        }
    }
}

#[test]
fn an_external_format_is_left_alone() {
    let device = Device::usual();
    let image = device.image(vk::Format::UNDEFINED);
    assert!(!changes(&device, device.view_of(image, vk::Format::UNDEFINED)));
    assert_eq!(device.blits_with(image, Filter::LINEAR), Filter::LINEAR);
    let info = vk::SamplerYcbcrConversionCreateInfo { chroma_filter: Filter::LINEAR, ..Default::default() };
    create!(device.create_conversion(&info));
    assert!(device.took(c"vkCreateSamplerYcbcrConversion", &info));
}

#[test]
fn a_view_outlives_its_image_in_the_records() {
    let device = InstanceBuilder::new().driver(|driver| driver.reuse = Reuse::AtOnce).device();
    let image = device.image(INTEGERS);
    let view = device.view_of(image, INTEGERS);
    device.destroy_image(image);
    let other = device.image(FILTERED);
    assert_eq!(image, other);
    assert!(changes(&device, view), "the view stays what it was");
    assert!(!changes(&device, device.view_of(other, FILTERED)));
}

#[test]
fn old_devices_are_asked_the_old_way() {
    // Version 1.0 without VK_KHR_get_physical_device_properties2: only vkGetPhysicalDeviceFormatProperties.
    let mut builder = InstanceBuilder::new().driver(|driver| driver.api_version = vk::API_VERSION_1_0);
    builder.api_version = vk::API_VERSION_1_0;
    builder.extensions.clear();
    let device = builder.bare(&[]);
    assert!(changes(&device, device.view(INTEGERS)));
    assert!(!changes(&device, device.view(FILTERED)));
    let depth = device.view(DEPTH);
    assert!(changes(&device, depth), "LINEAR without the bit");
}

#[test]
fn formats_are_asked_once() {
    // Not a promise to applications, but queries go through every layer below.
    let config = Config::new();
    assert!(config.formats.len() > 3);
    let device = Device::usual();
    let first = view_info(device.image(FILTERED), FILTERED);
    for _ in 0..3 {
        device.view_with(&first);
    }
    assert_eq!(device.entry().pairs.images.view_classes(), 1, "equal views are one class");
}

/// With the last view that has another one in its place writes go down by the application's pointer again, and with the next one they do
/// not.
#[test]
fn writes_are_looked_at_while_a_view_has_another_in_its_place() {
    let device = lowering(InstanceBuilder::new().set("storage", "emulate"));
    let ty = Ty::STORAGE_IMAGE;
    let set = device.set(&[binding(0, ty, 1)]);
    let stored = |format| device.view_of(device.image_with(&image_info(format).usage(STORED)), format);
    let goes_as_it_came = |view| {
        let info = [image_alone(view)];
        let writes = [vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(ty).image_info(&info)];
        device.updates(&writes).at == writes.as_ptr() as usize
    };
    let native = stored(INTEGERS);
    assert!(goes_as_it_came(native));
    for _ in 0..2 {
        let [one, other] = [stored(FILTERED), stored(FILTERED)];
        assert_eq!([one, other].map(goes_as_it_came), [false; 2]);
        device.destroy_view(one);
        assert!(!goes_as_it_came(other), "there is one left");
        device.destroy_view(other);
        assert!(goes_as_it_came(native));
    }
}

/// Descriptors in memory and handles of views are made of the view that is stored to, which comes and goes with the application's.
#[test]
fn descriptors_in_memory_are_of_the_view_that_is_stored_to() {
    let config = |driver: &mut Config| {
        let stores = vk::FormatFeatureFlags2::STORAGE_IMAGE;
        driver.of_format(INTEGERS).optimal |= stores;
    };
    let builder = InstanceBuilder::new().traced("decisions").set("storage", "emulate").driver(config);
    let device = builder.bare(&[ash::ext::descriptor_buffer::NAME, ash::nvx::image_view_handle::NAME]);
    let stored = |format| device.view_of(device.image_with(&image_info(format).usage(STORED)), format);
    // What the device stores, what nobody stores to, and what is neither.
    for (view, is_other) in [(stored(INTEGERS), false), (device.view(FILTERED), false), (stored(FILTERED), true)] {
        let views = device.driver.live(Kind::View);
        let image = image_alone(view);
        let ty = Ty::STORAGE_IMAGE;
        let data = vk::DescriptorDataEXT { p_storage_image: &image };
        let (is_own, Some((at, found)), _) = device.described(ty, data) else { panic!("a storage image") };
        assert_eq!((!is_own, at != ptr::from_ref(&image) as usize), (is_other, is_other));
        assert_eq!((found.image_view != view, found.image_layout), (is_other, image.image_layout));
        assert!(views.contains(&found.image_view.as_raw()));
        call!(device.get_view_handle(device.raw, &handle_info(ty, &image)));
        args!(device, c"vkGetImageViewHandleNVX", Args::ViewHandle { info: down });
        assert_eq!(down.value.image_view, found.image_view);
        device.destroy_view(view);
        assert_eq!(device.driver.live(Kind::View).len(), views.len() - 1 - usize::from(is_other));
    }
}

/// A texel buffer in memory has no view: its description names another format, if the device does not store to that one.
#[test]
fn texel_buffers_in_memory_are_of_the_format_that_is_stored_to() {
    const STORED: vk::Format = vk::Format::R16_SFLOAT;
    let config = |driver: &mut Config| {
        let (reads, stores) =
            (vk::FormatFeatureFlags2::UNIFORM_TEXEL_BUFFER, vk::FormatFeatureFlags2::STORAGE_TEXEL_BUFFER);
        for (format, buffer) in [(FILTERED, reads), (INTEGERS, reads | stores), (STORED, reads | stores)] {
            driver.formats.retain(|(other, _)| *other != format);
            driver.formats.push((format, FormatSupport { buffer, ..FormatSupport::default() }));
        }
    };
    for (setting, lowers) in [("emulate", true), ("base", false)] {
        let builder = InstanceBuilder::new().set("storage", setting).driver(config);
        let device = builder.bare(&[ash::ext::descriptor_buffer::NAME]);
        for (format, wanted) in [(STORED, STORED), (INTEGERS, INTEGERS), (FILTERED, INTEGERS)] {
            let wanted = if lowers { wanted } else { format };
            let texels = vk::DescriptorAddressInfoEXT { address: 0x1000, range: 256, format, ..Default::default() };
            let data = vk::DescriptorDataEXT { p_storage_texel_buffer: &texels };
            let (is_own, _, found) = device.described(Ty::STORAGE_TEXEL_BUFFER, data);
            let (at, found) = found.expect("a storage texel buffer");
            assert_eq!((found.format, found.address, found.range), (wanted, 0x1000, 256), "{setting}");
            let is_own = (is_own, at == ptr::from_ref(&texels) as usize);
            assert_eq!(is_own, (wanted == format, wanted == format), "{setting} {format:?}");
            // One that is only read from is as it was.
            let data = vk::DescriptorDataEXT { p_uniform_texel_buffer: &texels };
            assert!(device.described(Ty::UNIFORM_TEXEL_BUFFER, data).0);
        }
    }
}

/// What is captured of an image is of its own flags: the replay, whose image has the captured data chained, would have others.
#[test]
fn images_for_capture_and_replay_go_down_as_they_came() {
    let device = lowering(InstanceBuilder::new().set("storage", "emulate"));
    for (flags, is_own) in
        [(vk::ImageCreateFlags::empty(), false), (vk::ImageCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT, true)]
    {
        let info = image_info(FILTERED).usage(STORED).flags(flags);
        device.driver.calls();
        device.image_with(&info);
        assert_eq!(device.took(c"vkCreateImage", &info), is_own, "{flags:?}");
    }
    assert_eq!(device.left(), ["storage-image"]);
}

/// A device that stores 32-bit integers and no RGBA8.
fn lowering(builder: InstanceBuilder) -> Device {
    let stores = vk::FormatFeatureFlags2::STORAGE_IMAGE;
    let config = |driver: &mut Config| {
        driver.of_format(INTEGERS).optimal |= stores;
        driver.extensions.push(ash::khr::maintenance5::NAME);
    };
    builder.traced("decisions").driver(config).device()
}

/// What an image would need is asked of the image that would go down, in every form there is.
#[test]
fn images_that_are_not_there_yet_are_asked_about_as_they_would_go_down() {
    type Seen = (u32, Vec<vk::Format>);
    let device = lowering(InstanceBuilder::new().set("storage", "emulate"));
    let seen = device.sees(|call| {
        let at = match (call.command.to_str(), &call.args) {
            (Ok("vkCreateImage"), Args::Create { info, .. }) => *info,
            (Ok(name), Args::Other(went)) if name.starts_with("vkGetDeviceImage") => went[0] as usize,
            _ => return None,
        };
        // SAFETY: the create info of a call that is under way, whose chain is a list of formats if anything.
        let went = unsafe {
            let info = &*(at as *const vk::ImageCreateInfo<'_>);
            let list = info.p_next.cast::<vk::ImageFormatListCreateInfo<'_>>().as_ref();
            let formats =
                list.map(|list| std::slice::from_raw_parts(list.p_view_formats, list.view_format_count as usize));
            (at, (info.flags.as_raw(), formats.unwrap_or_default().to_vec()))
        };
        Some(went)
    });
    let stored = STORED;
    for (format, usage, differs) in
        [(FILTERED, stored, true), (FILTERED, vk::ImageUsageFlags::SAMPLED, false), (INTEGERS, stored, false)]
    {
        let info = image_info(format).usage(usage);
        device.image_with(&info);
        let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
        let part = vk::ImageSubresource2KHR::default();
        let about = vk::DeviceImageSubresourceInfoKHR::default().create_info(&info).subresource(&part);
        let (mut all, mut count, mut of_part) = (Default::default(), 0, Default::default());
        call!(device.image_requirements(device.raw, &asked, &mut all));
        call!(device.sparse_requirements(device.raw, &asked, &mut count, ptr::null_mut()));
        call!(device.subresource_layout(device.raw, &about, &mut of_part));
        let seen = std::mem::take(&mut *lock(&seen));
        let [made, others @ ..] = &seen[..] else { panic!("nothing went down") };
        assert_eq!(others.len(), 3, "{seen:?}");
        assert!(others.iter().all(|other| other.1 == made.1), "{seen:?}");
        for (at, (flags, formats)) in &seen {
            assert_eq!(*at != ptr::from_ref(&info) as usize, differs, "{seen:?}");
            assert_eq!((*flags != 0, !formats.is_empty()), (differs, differs && !formats.is_empty()), "{seen:?}");
        }
    }
}

/// Usage and flags of 64 bits count where the words do not. No such image changes, so it is named.
#[test]
fn images_with_wide_usage_are_named() {
    let stored = u64::from((vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE).as_raw());
    let sampled = u64::from(vk::ImageUsageFlags::SAMPLED.as_raw());
    let mutable = u64::from(vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw());
    let list = [FILTERED, INTEGERS];
    // The setting, whether there is a list, flags and usage of 64 bits; what is named.
    for (setting, listed, flags, usage, named) in [
        ("emulate", false, 0, stored, Some("storage-image")),
        ("emulate", false, 0, stored | 1 << 40, Some("storage-image")),
        ("emulate", false, 0, sampled, None),
        ("base", false, 0, stored, Some("storage-image")),
        ("base", false, 0, sampled, None),
        ("base", true, mutable, stored, Some("image-usage")),
        ("base", true, mutable, sampled, None),
    ] {
        let device = lowering(InstanceBuilder::new().set("storage", setting));
        let mut formats = vk::ImageFormatListCreateInfo::default().view_formats(&list);
        let mut wide_flags = ImageCreateFlags2CreateInfoKHR::new(flags);
        let mut wide_usage = ImageUsageFlags2CreateInfoKHR::new(usage);
        wide_flags.p_next = if listed { ptr::from_mut(&mut formats).cast() } else { ptr::null_mut() };
        wide_usage.p_next = ptr::from_ref(&wide_flags).cast();
        // The words say the opposite.
        let word = if usage == sampled { stored } else { sampled };
        let info = image_info(FILTERED).usage(vk::ImageUsageFlags::from_raw(word as u32));
        let info = vk::ImageCreateInfo { p_next: ptr::from_ref(&wide_usage).cast(), ..info };
        device.driver.calls();
        device.image_with(&info);
        assert!(device.took(c"vkCreateImage", &info));
        assert_eq!(device.left(), Vec::from_iter(named), "{setting} {flags:#x} {usage:#x}");
    }
}
