//! Formats that the application is told it can store (`storage=advertise`): with everything that is promised of them an image can be made
//! and stored to, and nothing else is promised.

use super::formatless::{stored_one, storing};
use super::formats::{format, lacking, on_device};
use crate::run::{self, Outcome, silent, skip_if, with_layer, without_layer};
use ash::vk::{self, FormatFeatureFlags as Feature, ImageCreateFlags as Flags, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_core::{format::is_srgb, storage};
use samplin_spirv::image_formats::{CODECS, Channels, Codec, UNNAMED};
use samplin_testkit::{Capability, Context, ContextBuilder, Folder, ImageDesc};
use std::path::{Path, PathBuf};

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/advertised/stored-as-promised", stored_as_promised),
        ("shaders/advertised/images-can-be-made-as-promised", images),
        ("shaders/advertised/every-answer-says-the-same", answers),
        ("shaders/advertised/nothing-with-another-setting", || told_nothing(&[("storage", "emulate")])),
        ("shaders/advertised/nothing-in-an-audit", || told_nothing(&[("storage", "advertise"), ("mode", "audit")])),
        ("shaders/advertised/nothing-without-version-1.1", without_versions),
    ])
}

/// All formats of the core version.
fn formats() -> impl Iterator<Item = vk::Format> {
    (1..=184).map(vk::Format::from_raw)
}

/// The device without storage images of any format that another can stand in for.
fn file(folder: &Folder) -> Result<PathBuf, run::Skip> {
    let all: Vec<vk::Format> = formats().filter(|format| storage::declared(*format).is_some()).collect();
    Ok(without_layer(Context::builder(), |context| Ok(lacking(context, folder, &all)))?.0)
}

/// An application that sees the device of the file.
fn seeing(file: &Path) -> ContextBuilder {
    on_device(Context::builder(), file).setting("device_visible", "on")
}

fn advertising(file: &Path) -> ContextBuilder {
    seeing(file).setting("storage", "advertise")
}

/// The formats that the application can store with a tiling.
fn stored(context: &Context, tiling: vk::ImageTiling) -> Vec<vk::Format> {
    formats().filter(|format| context.format_features(*format, tiling).contains(Feature::STORAGE_IMAGE)).collect()
}

/// The bytes of a texel of which each component is 1.
fn ones(codec: &Codec) -> Vec<u8> {
    let one = |width: u8| match (codec.kind, width) {
        (Channels::Unorm, width) => (1_u64 << width) - 1,
        (Channels::Snorm, width) => (1 << (width - 1)) - 1,
        (Channels::Uint | Channels::Sint, _) => 1,
        (Channels::Float, 32) => 0x3f80_0000,
        (Channels::Float, 16) => 0x3c00,
        (Channels::Float, width) => 15 << (width - 5),
    };
    let channels = codec.order.iter().map(|channel| codec.widths[usize::from(*channel)]).filter(|width| *width > 0);
    let (texel, bits) = channels.fold((0, 0), |(texel, at), width| (texel | one(width) << at, at + width));
    texel.to_le_bytes()[..usize::from(bits) / 8].to_vec()
}

/// Each format that the application sees and the device lacks: a shader that declares it, or nothing where it has no name, stores its bits.
fn stored_as_promised() -> Outcome {
    let folder = Folder::new();
    let file = file(&folder)?;
    let ((native, told), _) = with_layer(advertising(&file), |context| {
        let told = stored(context, vk::ImageTiling::OPTIMAL);
        let native: Vec<vk::Format> = told.iter().copied().filter(|one| storage::declared(*one).is_none()).collect();
        Ok((native, told))
    })?;
    skip_if(native.is_empty().then(|| "the driver stores no integers".to_owned()))?;
    let mut seen = 0;
    for codec in CODECS.iter().filter(|codec| codec.format >= UNNAMED || told.contains(&format(codec).0)) {
        let of = |one: &vk::Format| storage::declared(*one) == Some(codec.format) && !is_srgb(*one);
        let Some(one) = told.iter().copied().find(of) else { continue };
        let declared = if codec.format < UNNAMED { format!(", {}", format(codec).1) } else { String::new() };
        let (prefix, texel) = match codec.kind {
            Channels::Uint => ("u", "uvec4(1)"),
            Channels::Sint => ("i", "ivec4(1)"),
            _ => ("", "vec4(1.0)"),
        };
        let source = storing(&declared, texel).replace("image2D im", &format!("{prefix}image2D im"));
        let run = |context: &Context| stored_one(context, (&source, Default::default()), (one, 0));
        let (bytes, _) = silent(advertising(&file), "with samplin", run)?;
        assert_eq!(bytes, ones(codec), "{one:?}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    Ok(())
}

/// What is answered for an image that is stored to holds: it can be made, and validation below sees nothing wrong with it.
fn images() -> Outcome {
    let folder = Folder::new();
    let file = file(&folder)?;
    let usages = [Usage::empty(), Usage::SAMPLED, Usage::TRANSFER_SRC | Usage::TRANSFER_DST, Usage::COLOR_ATTACHMENT];
    let flags = [
        Flags::empty(),
        Flags::MUTABLE_FORMAT,
        Flags::CUBE_COMPATIBLE,
        Flags::SPARSE_BINDING,
        Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE,
    ];
    let tilings = [vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR];
    let kinds =
        [(vk::ImageType::TYPE_1D, [8, 1, 1]), (vk::ImageType::TYPE_2D, [8, 8, 1]), (vk::ImageType::TYPE_3D, [8, 8, 2])];
    let builder = advertising(&file).with(Capability::ImagelessFramebuffer);
    let ((promised, refused), judged) = silent(builder, "with samplin", |context| {
        let (mut promised, mut refused) = (0, 0);
        for tiling in tilings {
            for format in stored(context, tiling).into_iter().filter(|format| storage::declared(*format).is_some()) {
                let base = ImageDesc::d2(format, 1, 1);
                for (kind, extent) in kinds {
                    for (usage, flags) in usages.iter().flat_map(|usage| flags.map(|flags| (*usage, flags))) {
                        let usage = usage | Usage::STORAGE;
                        // SAFETY: a physical device of this instance.
                        let limits = unsafe {
                            let physical = context.physical_device();
                            let instance = context.instance();
                            instance.get_physical_device_image_format_properties(
                                physical, format, kind, tiling, usage, flags,
                            )
                        };
                        let layers = if flags.contains(Flags::CUBE_COMPATIBLE) { 6 } else { 1 };
                        let Some(limits) = limits.ok().filter(|limits| limits.max_array_layers >= layers) else {
                            refused += 1;
                            continue;
                        };
                        assert!(limits.sample_counts.contains(vk::SampleCountFlags::TYPE_1), "{format:?}");
                        if layers == 6 && kind != vk::ImageType::TYPE_2D {
                            continue;
                        }
                        let desc = ImageDesc { flags, image_type: kind, extent, layers, tiling, usage, ..base };
                        let info = desc.info();
                        // SAFETY: what was reported as supported just above; nothing uses the image.
                        unsafe {
                            let image = context.device().create_image(&info, None);
                            context.device().destroy_image(image.expect("vkCreateImage"), None);
                        }
                        promised += 1;
                    }
                }
            }
        }
        Ok((promised, refused))
    })?;
    println!("{promised} kinds of images promised and made, {refused} refused");
    assert!(promised > 100 && refused > 0);
    // None was left as it is.
    judged.assert_resolved();
    Ok(())
}

/// The old and the new commands, and the 64-bit features, say the same; without a format nothing can be stored or read.
fn answers() -> Outcome {
    let folder = Folder::new();
    let file = file(&folder)?;
    let ((), _) = with_layer(advertising(&file), |context| {
        context.skip_where(!context.supports(Capability::FormatFeatureFlags2), "lacks VkFormatProperties3")?;
        for format in formats() {
            let mut three = vk::FormatProperties3::default();
            let mut two = vk::FormatProperties2::default().push_next(&mut three);
            let (instance, physical) = (context.instance(), context.physical_device());
            // SAFETY: a physical device of this instance; the chain is made of live locals.
            let one = unsafe {
                instance.get_physical_device_format_properties2(physical, format, &mut two);
                instance.get_physical_device_format_properties(physical, format)
            };
            let two = two.format_properties;
            let of = |it: vk::FormatProperties| [it.optimal_tiling_features, it.linear_tiling_features];
            assert_eq!(of(one), of(two), "{format:?}");
            let three = [three.optimal_tiling_features, three.linear_tiling_features];
            assert_eq!(three.map(|it| Feature::from_raw(it.as_raw() as u32)), of(one), "{format:?}");
            let without = vk::FormatFeatureFlags2::STORAGE_READ_WITHOUT_FORMAT
                | vk::FormatFeatureFlags2::STORAGE_WRITE_WITHOUT_FORMAT;
            let is_lowered = storage::declared(format).is_some();
            assert!(!is_lowered || !three[0].intersects(without), "{format:?}");
            let is_stored = three[0].contains(vk::FormatFeatureFlags2::STORAGE_IMAGE);
            assert!(!is_stored || !is_srgb(format), "{format:?}");
        }
        Ok(())
    })?;
    Ok(())
}

/// The application sees the device of the file, and nothing is added to it.
fn told_nothing(settings: &[(&str, &str)]) -> Outcome {
    let folder = Folder::new();
    let file = file(&folder)?;
    let builder = settings.iter().fold(seeing(&file), |builder, (name, value)| builder.setting(name, value));
    let (told, _) = with_layer(builder, |context| Ok(stored(context, vk::ImageTiling::OPTIMAL)))?;
    assert!(told.iter().all(|format| storage::declared(*format).is_none()), "{told:?}");
    Ok(())
}

fn without_versions() -> Outcome {
    let folder = Folder::new();
    let file = file(&folder)?;
    let builder = advertising(&file).api_version(vk::API_VERSION_1_0);
    let (told, _) = with_layer(builder, |context| Ok(stored(context, vk::ImageTiling::OPTIMAL)))?;
    assert!(told.iter().all(|format| storage::declared(*format).is_none()), "{told:?}");
    Ok(())
}
