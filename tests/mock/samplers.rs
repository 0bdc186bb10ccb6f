//! Samplers and conversions that few drivers have: Y′CbCr, subsampled, portability subset, image processing, capture and
//! replay; and chains with structures that the layer does not know.

use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk::{self, Handle};

use crate::args;
use crate::driver::{Args, Chained};
use crate::loader::*;

/// A device with these extensions and features, and a trace.
fn device_with(
    extensions: &[&'static CStr],
    chain: *const c_void,
    change: impl FnOnce(&mut crate::driver::Config),
) -> Device {
    let instance = InstanceBuilder::new().traced("decisions").driver(change).instance();
    instance.device(&DeviceInfo { extensions: extensions.to_vec(), chain, ..Default::default() })
}

fn plain() -> Device {
    device_with(&[], ptr::null(), |_| ())
}

fn conversion(
    device: &Device,
    info: &vk::SamplerYcbcrConversionCreateInfo<'_>,
) -> (vk::SamplerYcbcrConversion, Chained<vk::SamplerYcbcrConversionCreateInfo<'static>>) {
    device.driver.calls();
    let made = device.conversion(info);
    args!(device, c"vkCreateSamplerYcbcrConversion", Args::CreateConversion { info: down, allocator: given, .. });
    assert_eq!(given, allocator() as usize);
    (made, down)
}

#[test]
fn conversions_are_repaired_and_keep_their_handle() {
    // The format of the mock has MIDPOINT only: no linear chroma filter, no cosited samples, nothing explicit.
    let device = Device::traced();
    let node = vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0003), ..Default::default() };
    let legal = vk::SamplerYcbcrConversionCreateInfo {
        p_next: ptr::from_ref(&node).cast(),
        format: PLANAR,
        ycbcr_model: vk::SamplerYcbcrModelConversion::YCBCR_709,
        ycbcr_range: vk::SamplerYcbcrRange::ITU_NARROW,
        x_chroma_offset: vk::ChromaLocation::MIDPOINT,
        y_chroma_offset: vk::ChromaLocation::MIDPOINT,
        chroma_filter: Filter::NEAREST,
        ..Default::default()
    };
    let (_, down) = conversion(&device, &legal);
    assert_eq!(down.at, ptr::from_ref(&legal) as usize);
    let bad = vk::SamplerYcbcrConversionCreateInfo {
        x_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        y_chroma_offset: vk::ChromaLocation::COSITED_EVEN,
        chroma_filter: Filter::LINEAR,
        force_explicit_reconstruction: 1,
        ..legal
    };
    let (repaired, down) = conversion(&device, &bad);
    assert_ne!(down.at, ptr::from_ref(&bad) as usize);
    assert_eq!(format!("{:?}", down.value), format!("{legal:?}"), "the legal one, chain included");
    assert_eq!(device.driver.live(crate::driver::Kind::Conversion).len(), 2);
    let changed: Vec<String> = device.instance.trace().changes().into_iter().map(|change| change.catalog).collect();
    assert_eq!(changed, ["A-43", "A-44", "A-44", "A-45"]);

    // A sampler with it: the filters follow the conversion, whose state is what was created, the addresses clamp, and the
    // handle stays in the chain.
    let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(repaired);
    let mut reduction = vk::SamplerReductionModeCreateInfo::default();
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(Filter::LINEAR)
        .min_filter(Filter::LINEAR)
        .anisotropy_enable(true)
        .max_anisotropy(4.0)
        .push_next(&mut chained)
        .push_next(&mut reduction);
    let (sampler, down, own) = device.created(&info);
    assert!(!own);
    let v = down.value;
    assert_eq!([v.mag_filter, v.min_filter], [Filter::NEAREST; 2]);
    assert_eq!([v.address_mode_u, v.address_mode_v, v.address_mode_w], [vk::SamplerAddressMode::CLAMP_TO_EDGE; 3]);
    assert_eq!(v.anisotropy_enable, 0);
    let kept = down.find::<vk::SamplerYcbcrConversionInfo<'_>>().expect("the conversion stays");
    assert_eq!(kept.conversion, repaired);
    assert_eq!(v.p_next, info.p_next, "the chain is the application's");
    // Its pairs are immutable by rule: left alone with any view.
    assert_eq!(written(&device, sampler, device.view(INTEGERS)), sampler);
    device.destroy_conversion(repaired);
    call!(device.destroy_conversion(device.raw, vk::SamplerYcbcrConversion::null(), ptr::null()));
}

#[test]
fn subsampled_samplers_are_never_exchanged() {
    let device = device_with(&[ash::ext::fragment_density_map::NAME], ptr::null(), |_| ());
    let info = vk::SamplerCreateInfo { flags: vk::SamplerCreateFlags::SUBSAMPLED_EXT, max_lod: 0.0, ..linear_info() };
    let (subsampled, _, own) = device.created(&info);
    assert!(own);
    let view = device.view(FILTERED);
    assert_eq!(written(&device, subsampled, view), subsampled);
    let image = image_info(FILTERED).flags(vk::ImageCreateFlags::SUBSAMPLED_EXT);
    let image = device.image_with(&image);
    let other = device.view_of(image, FILTERED);
    assert_eq!(written(&device, subsampled, other), subsampled);
    let plain = device.linear();
    assert_eq!(written(&device, plain, other), plain);
    // Both mismatches, and a match that is no immutable sampler.
    let whys: Vec<_> = device.left_as("pair").iter().map(|record| record["why"].clone()).collect();
    let needs = "a subsampled image is read through an immutable sampler that is subsampled";
    assert_eq!(whys, ["the sampler is subsampled and the image is not", needs, needs]);
}

#[test]
fn image_processing_samplers_follow_their_limits() {
    let extensions = [ash::qcom::image_processing::NAME, ash::qcom::image_processing2::NAME];
    let device = device_with(&extensions, ptr::null(), |_| ());
    let mut window = vk::SamplerBlockMatchWindowCreateInfoQCOM::default()
        .window_extent(vk::Extent2D { width: 100, height: 3 })
        .window_compare_mode(vk::BlockMatchWindowCompareModeQCOM::MAX);
    let mut weights =
        vk::SamplerCubicWeightsCreateInfoQCOM::default().cubic_weights(vk::CubicFilterWeightsQCOM::B_SPLINE);
    let node = vk::BaseInStructure { s_type: vk::StructureType::from_raw(0x7fff_0004), ..Default::default() };
    weights.p_next = ptr::from_ref(&node).cast();
    window.p_next = ptr::from_ref(&weights).cast();
    let info = vk::SamplerCreateInfo {
        p_next: ptr::from_ref(&window).cast(),
        flags: vk::SamplerCreateFlags::IMAGE_PROCESSING_QCOM,
        address_mode_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
        address_mode_v: vk::SamplerAddressMode::REPEAT,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        ..Default::default()
    };
    let (_, down, own) = device.created(&info);
    assert!(!own);
    let v = down.value;
    assert_eq!((v.flags, v.mipmap_mode), (info.flags, vk::SamplerMipmapMode::NEAREST));
    assert_eq!(v.address_mode_v, vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let clipped = down.find::<vk::SamplerBlockMatchWindowCreateInfoQCOM<'_>>().expect("the window stays");
    assert_eq!(clipped.window_extent, vk::Extent2D { width: 64, height: 3 });
    assert_eq!(clipped.window_compare_mode, window.window_compare_mode);
    // Behind the last structure that changed everything is the application's. (Weights mean nothing without CUBIC.)
    let behind: Vec<usize> = down.chain.iter().skip(1).map(|node| node.at).collect();
    assert_eq!(behind, [ptr::from_ref(&weights) as usize, ptr::from_ref(&node) as usize]);
    assert_eq!(window.window_extent.width, 100, "the application's stays as it is");
}

#[test]
fn capture_and_replay_needs_the_very_bits() {
    let features = vk::PhysicalDeviceDescriptorBufferFeaturesEXT {
        descriptor_buffer: 1,
        descriptor_buffer_capture_replay: 1,
        ..Default::default()
    };
    let device = device_with(&[ash::ext::descriptor_buffer::NAME], ptr::from_ref(&features).cast(), |_| ());
    let data = [1_u8; 8];
    let opaque = vk::OpaqueCaptureDescriptorDataCreateInfoEXT {
        opaque_capture_descriptor_data: data.as_ptr().cast(),
        ..Default::default()
    };
    // Illegal in every member, and still exactly what was captured.
    let info = vk::SamplerCreateInfo {
        p_next: ptr::from_ref(&opaque).cast(),
        flags: vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT,
        mip_lod_bias: 99.0,
        anisotropy_enable: 1,
        max_anisotropy: 99.0,
        ..linear_info()
    };
    let (sampler, _, own) = device.created(&info);
    assert!(own);
    assert_eq!(written(&device, sampler, device.view(INTEGERS)), sampler);
    // Nor for want of a place for its custom border (there is none without the extension).
    let mut border = vk::SamplerCustomBorderColorCreateInfoEXT::default().format(FILTERED);
    border.p_next = ptr::from_ref(&opaque).cast();
    let custom = vk::SamplerCreateInfo {
        border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
        p_next: ptr::from_ref(&border).cast(),
        ..info
    };
    let (_, _, own) = device.created(&custom);
    assert!(own);
    device.finish();

    // Without the feature the flag and the data have no meaning: both go.
    let device = plain();
    let (_, down, own) = device.created(&info);
    assert!(!own && down.chain.is_empty() && down.value.flags.is_empty());
    assert_eq!(down.value.mip_lod_bias, 4.0);
}

#[test]
fn unknown_structures_stay_where_they_can() {
    let device = plain();
    let s_type = vk::StructureType::from_raw(0x7fff_0005);
    // Behind the structure that has to go (MAX without its feature): kept, at its address.
    let behind = vk::BaseInStructure { s_type, ..Default::default() };
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
    reduction.p_next = ptr::from_ref(&behind).cast();
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&reduction).cast(), ..linear_info() };
    let (sampler, down, own) = device.created(&info);
    assert!(!own);
    assert_eq!(down.chain.iter().map(|node| node.at).collect::<Vec<_>>(), [ptr::from_ref(&behind) as usize]);
    // What it may mean is not known, so no other sampler can stand in for this one.
    assert_eq!(written(&device, sampler, device.view(INTEGERS)), sampler);
    let said = device.left_as("pair");
    assert_eq!((said.len(), &said[0]["rule"]), (1, &"flags".into()));

    // Before it: the layer cannot copy what it does not know the size of.
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
    reduction.p_next = ptr::null();
    let before = vk::BaseInStructure { s_type, p_next: ptr::from_ref(&reduction).cast(), ..Default::default() };
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&before).cast(), ..linear_info() };
    let (_, down, own) = device.created(&info);
    assert!(!own && down.types().is_empty());
    assert_eq!(device.left_as("unknown structure").len(), 1);

    // One that decisions know nothing of, but whose size is in the table: it is copied, and what it says goes down.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct BorderColorIndex {
        s_type: vk::StructureType,
        p_next: *const c_void,
        index: u32,
    }
    let index_type = vk::StructureType::from_raw(1_000_135_011);
    let reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::MAX);
    let before = BorderColorIndex { s_type: index_type, p_next: ptr::from_ref(&reduction).cast(), index: 0x1d };
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&before).cast(), ..linear_info() };
    let (_, down, own) = device.created(&info);
    assert!(!own);
    assert_eq!(down.types(), [index_type]);
    assert_ne!(down.chain[0].at, ptr::from_ref(&before) as usize, "it led to what must not go down");
    // SAFETY: the mock copied the whole structure.
    assert_eq!(unsafe { down.chain[0].bytes.as_ptr().cast::<BorderColorIndex>().read_unaligned() }.index, 0x1d);
    assert_eq!(device.left_as("unknown structure").len(), 1, "nothing more was left out");

    // Nothing in the chain has to change: all of it is kept, unknown ones in front included.
    let mut reduction = vk::SamplerReductionModeCreateInfo::default();
    reduction.p_next = ptr::null();
    let before = vk::BaseInStructure { s_type, p_next: ptr::from_ref(&reduction).cast(), ..Default::default() };
    let info = vk::SamplerCreateInfo { p_next: ptr::from_ref(&before).cast(), mip_lod_bias: -9.0, ..linear_info() };
    let (_, down, own) = device.created(&info);
    assert!(!own);
    assert_eq!((down.value.p_next, down.value.mip_lod_bias), (info.p_next, -4.0));
}

#[test]
fn names_reach_the_records() {
    let device = Device::traced();
    let (sampler, view) = (device.linear(), device.view(INTEGERS));
    let name = |sampler: vk::Sampler, text: &CStr| {
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(sampler).object_name(text);
        device.driver.calls();
        assert_eq!(call!(device.set_name(device.raw, &info)), SUCCESS);
        assert!(device.took(c"vkSetDebugUtilsObjectNameEXT", &info));
    };
    name(sampler, c"albedo");
    let marker = vk::DebugMarkerObjectNameInfoEXT {
        object: view.as_raw(),
        object_type: vk::DebugReportObjectTypeEXT::IMAGE_VIEW,
        p_object_name: c"ids".as_ptr(),
        ..Default::default()
    };
    assert_eq!(call!(device.set_marker_name(device.raw, &marker)), SUCCESS);
    assert_ne!(written(&device, sampler, view), sampler);
    let pair = &device.records("pair")[0];
    assert_eq!((&pair["names"]["sampler"], &pair["names"]["view"]), (&"albedo".into(), &"ids".into()));
    // Names go with their object, and a null name takes one back.
    device.destroy_sampler(sampler);
    let other = device.linear();
    assert!(device.entry().ground.journal.name(vk::ObjectType::SAMPLER, sampler.as_raw()).is_none());
    name(other, c"x");
    let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(other);
    assert_eq!(call!(device.set_name(device.raw, &info)), SUCCESS);
    assert!(device.entry().ground.journal.name(vk::ObjectType::SAMPLER, other.as_raw()).is_none());
}

/// The first value that an extension without enumerants of a sampler's today could give one.
const NEW: i32 = 1_000_900_000;

/// A device with an extension that no registry of today lists.
fn device_of_tomorrow() -> Device {
    const TOMORROW: &CStr = c"VK_EXT_sampling_of_tomorrow";
    let minmax = vk::PhysicalDeviceVulkan12Features { sampler_filter_minmax: 1, ..Default::default() };
    device_with(&[TOMORROW], ptr::from_ref(&minmax).cast(), |driver| driver.extensions.push(TOMORROW))
}

/// One sampler for each member that holds an enumerant, with this value in it.
fn with_value_in_each_member(raw: i32) -> [(&'static str, vk::SamplerCreateInfo<'static>); 8] {
    let plain = linear_info();
    let (filter, address) = (Filter::from_raw(raw), vk::SamplerAddressMode::from_raw(raw));
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    [
        ("magFilter", plain.mag_filter(filter)),
        ("minFilter", plain.min_filter(filter)),
        ("mipmapMode", plain.mipmap_mode(vk::SamplerMipmapMode::from_raw(raw))),
        ("addressModeU", plain.address_mode_u(address)),
        ("addressModeV", plain.address_mode_v(address)),
        ("addressModeW", plain.address_mode_w(address)),
        ("compareOp", plain.compare_enable(true).compare_op(vk::CompareOp::from_raw(raw))),
        ("borderColor", plain.address_mode_u(border).border_color(vk::BorderColor::from_raw(raw))),
    ]
}

/// Fundamentals > Valid Usage for Enumerated Types: an enumerant is valid if an enabled extension added it, and which ones an
/// extension adds that is younger than the layer is not known.
#[test]
fn values_of_an_unknown_extension_pass() {
    let device = device_of_tomorrow();
    for (count, (member, info)) in with_value_in_each_member(NEW).into_iter().enumerate() {
        // Twice: it is told once.
        for _ in 0..2 {
            let (_, _, own) = device.created(&info);
            assert!(own, "{member} goes down as it came");
        }
        let said = device.left_as("unknown enumerant");
        assert_eq!(said.len(), count + 1, "{member} is told once");
        let why = said[count]["why"].as_str().unwrap();
        assert!(why.contains(member) && why.contains("VK_EXT_sampling_of_tomorrow"), "{why}");
    }
    let mut reduction =
        vk::SamplerReductionModeCreateInfo::default().reduction_mode(vk::SamplerReductionMode::from_raw(NEW));
    let (_, _, own) = device.created(&linear_info().push_next(&mut reduction));
    assert!(own, "reductionMode goes down as it came");
    assert_eq!(device.left_as("unknown enumerant").len(), 9);
    // Also with a view that today's filters conflict with: what the value asks of it is not known.
    let (sampler, _, _) =
        device.created(&vk::SamplerCreateInfo { mag_filter: Filter::from_raw(NEW), ..Default::default() });
    assert_eq!(written(&device, sampler, device.view(INTEGERS)), sampler);

    // The rest of such a sampler is what it always was.
    let bad = vk::SamplerCreateInfo { mag_filter: Filter::from_raw(NEW), mip_lod_bias: 99.0, ..linear_info() };
    let (_, down, own) = device.created(&bad);
    assert_eq!((own, down.value.mag_filter.as_raw(), down.value.mip_lod_bias), (false, NEW, 4.0));

    // A filter of a blit as well.
    let image = device.image(INTEGERS);
    let said = device.left_as("unknown enumerant").len();
    for _ in 0..2 {
        assert_eq!(device.blits_with(image, Filter::from_raw(NEW)).as_raw(), NEW);
    }
    assert_eq!(device.left_as("unknown enumerant").len(), said + 1);
    assert_eq!(device.left_as("pair").len(), 0);
}

/// The twin: what no extension can have added is repaired, and so is everything where no unknown extension is enabled.
#[test]
fn values_of_no_extension_are_repaired() {
    let today = || device_with(&[ash::ext::filter_cubic::NAME, ash::khr::swapchain::NAME], ptr::null(), |_| ());
    for (device, values) in
        [(device_of_tomorrow(), &[77, -1, 999_999_999, i32::MIN, i32::MAX][..]), (today(), &[NEW, i32::MAX, 77])]
    {
        for raw in values {
            for (member, info) in with_value_in_each_member(*raw) {
                let (_, down, own) = device.created(&info);
                let shown = format!("{:?}", down.value);
                assert!(!own && !shown.contains(&raw.to_string()), "{member} {raw} went down: {shown}");
            }
        }
        assert_eq!(device.left_as("unknown enumerant").len(), 0);
    }
    // A value that an extension of today has, which is not enabled, is not one of tomorrow.
    let device = device_of_tomorrow();
    let (_, down, _) = device.created(&linear_info().mag_filter(Filter::CUBIC_EXT));
    assert_eq!(down.value.mag_filter, Filter::LINEAR);
    // Where nobody reads the member, any value is legal and nothing is told.
    let ignored = linear_info().compare_op(vk::CompareOp::from_raw(NEW)).border_color(vk::BorderColor::from_raw(NEW));
    let (_, _, own) = device.created(&ignored);
    assert!(own);
    assert_eq!(device.left_as("unknown enumerant").len(), 0);
}

/// Legal anisotropy on NEAREST filters, which is the driver's business unless a setting, or what is known of a device, says otherwise.
#[test]
fn anisotropy_stays_off_nearest_if_a_setting_says_so() {
    let smooth = vk::SamplerCreateInfo { anisotropy_enable: 1, max_anisotropy: 8.0, ..linear_info() };
    let flat = smooth.mag_filter(Filter::NEAREST).min_filter(Filter::NEAREST);
    let one = vk::SamplerCreateInfo { max_anisotropy: 1.0, ..flat };
    let mixed = vk::SamplerCreateInfo { min_filter: Filter::LINEAR, ..flat };
    // A weak device of our own, which a quirk alone tells from one that is only weak.
    let file = |quirks: &str| {
        File::new("json", format!(r#"{{"schema": "device-caps/1", "quirks": [{quirks}], "formats": {{}}}}"#))
    };
    let files = [file("\"anisotropy-smooths-nearest\""), file("")];
    let [quirky, plain] = files.each_ref().map(File::path);
    for (settings, off) in [
        (&[("aniso_nearest", "off")][..], true),
        (&[("aniso_nearest", "keep")], false),
        (&[], false),
        (&[("device", quirky)], true),
        (&[("device", quirky), ("aniso_nearest", "keep")], false),
        (&[("device", plain)], false),
        (&[("aniso_nearest", "off"), ("mode", "audit")], false),
    ] {
        let device = InstanceBuilder::new().traced("decisions").settings(settings).bare(&[]);
        for (info, concerned) in [(&flat, true), (&one, true), (&mixed, false), (&smooth, false), (&flat, true)] {
            let (_, down, own) = device.created(info);
            assert_eq!(own, !(off && concerned), "{settings:?} {info:?}");
            assert_eq!(down.value.anisotropy_enable, u32::from(own), "{settings:?} {info:?}");
        }
        // One record for each state.
        let told = device.records("sampler");
        let audit = settings.contains(&("mode", "audit"));
        assert_eq!(told.len(), if off || audit { 2 } else { 0 }, "{settings:?}: {told:#?}");
        for record in &told {
            let change = &record["changes"][0];
            assert_eq!((&change["rule"], &change["catalog"]), (&"anisotropy".into(), &"S-6".into()), "{record:#}");
        }
    }
}

/// A custom border colour that is chained and not asked for is legal, and mostly a mistake.
#[test]
fn a_custom_border_colour_that_is_ignored_is_hinted_at() {
    let features = any_border();
    for (level, color, chained, hinted) in [
        ("all", vk::BorderColor::FLOAT_OPAQUE_BLACK, true, true),
        ("all", vk::BorderColor::FLOAT_CUSTOM_EXT, true, false),
        ("all", vk::BorderColor::FLOAT_OPAQUE_BLACK, false, false),
        ("decisions", vk::BorderColor::FLOAT_OPAQUE_BLACK, true, false),
    ] {
        let instance = InstanceBuilder::new().traced(level).instance();
        let extensions = vec![ash::ext::custom_border_color::NAME];
        let info = DeviceInfo { extensions, chain: ptr::from_ref(&features).cast(), ..Default::default() };
        let device = instance.device(&info);
        let border = vk::SamplerCustomBorderColorCreateInfoEXT::default();
        let mut info = linear_info().address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER).border_color(color);
        if chained {
            info.p_next = ptr::from_ref(&border).cast();
        }
        assert!(device.created(&info).2, "it goes down as it came");
        let records = device.records("sampler");
        assert_eq!(records.len(), usize::from(level == "all"));
        assert!(records.iter().all(|record| record["hint"].is_string() == hinted), "{records:#?}");
        assert!(device.records("unresolved").is_empty());
    }
}
