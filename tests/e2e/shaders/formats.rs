//! Storage images of formats that the device cannot store: what shaders read and write through unsigned integers is what the driver
//! itself reads and writes.
//!
//! The drivers at hand store the formats; a capability file takes that away, so that both can be compared.

use super::{Job, buffer, vulkan, with_texels, write_buffer, write_image, write_texels};
use crate::run::{self, Judged, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use ash::vk::{self, FormatFeatureFlags as Feature, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_core::{names, storage};
use samplin_spirv::image_formats::{CODECS, Channels, Codec, UNNAMED};
use samplin_testkit::descriptor::{Binding, SetLayout, update, whole};
use samplin_testkit::held::Slot;
use samplin_testkit::stored::{Allowed, components, differences, half_toward_zero, is_same_read, through};
use samplin_testkit::way::Way as By;
use samplin_testkit::{Buffer, Capability, Context, ContextBuilder, Folder, Image, ImageDesc, ViewDesc};
use serde_json::json;
use std::collections::BTreeSet;

pub(super) fn trials() -> Vec<Trial> {
    let mut all = by_ways("shaders/formats/path-", &[], every_path);
    all.extend(run::trials(&[
        ("shaders/formats/lowered-is-native", lowered_is_native),
        ("shaders/formats/line", || every_kind(0)),
        ("shaders/formats/plane", || every_kind(1)),
        ("shaders/formats/linear-tiling", || every_kind(2)),
        ("shaders/formats/array", || every_kind(3)),
        ("shaders/formats/volume", || every_kind(4)),
        ("shaders/formats/cube", || every_kind(5)),
        ("shaders/formats/texel-buffers", texel_buffers),
        ("shaders/formats/left-alone-where-they-are-stored", left_alone),
        ("shaders/formats/told-where-integers-are-not-stored-either", told_of_integers),
        ("shaders/formats/told-where-only-its-tiling-lacks-it", told_of_tiling),
    ]));
    all
}

pub(super) const COLOR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

/// What images that are stored to and looked at are for.
pub(super) const STORED: Usage = Usage::from_raw(
    Usage::SAMPLED.as_raw() | Usage::STORAGE.as_raw() | Usage::TRANSFER_SRC.as_raw() | Usage::TRANSFER_DST.as_raw(),
);

/// The Vulkan format of an image format of SPIR-V's, and GLSL's names for it: of the format, and of what its images begin with.
pub(super) fn format(codec: &Codec) -> (vk::Format, &'static str, &'static str) {
    let raw = (1..=184).map(vk::Format::from_raw);
    let of = |format: &vk::Format| storage::declared(*format) == Some(codec.format);
    // The names of packed formats come second, but for those that have no other.
    let plain =
        |format: &vk::Format| !format!("{format:?}").contains("A8B8G8R8") && !format!("{format:?}").contains("SRGB");
    let format = raw.filter(of).find(plain).expect("a format");
    let names = ",,rgba16f,r32f,rgba8,rgba8_snorm,rg32f,rg16f,r11f_g11f_b10f,r16f,rgba16,rgb10_a2,rg16,rg8,r16,r8,\
        rgba16_snorm,rg16_snorm,rg8_snorm,r16_snorm,r8_snorm,,rgba16i,rgba8i,r32i,rg32i,rg16i,rg8i,r16i,r8i,,rgba16ui,\
        rgba8ui,,rgb10_a2ui,,rg16ui,rg8ui";
    let name = names.split(',').nth(codec.format as usize).expect("a name");
    let prefix = match codec.kind {
        Channels::Uint => "u",
        Channels::Sint => "i",
        _ => "",
    };
    (format, name, prefix)
}

/// A capability file of the device at hand without one feature of some formats.
pub(super) fn lacking(context: &Context, folder: &Folder, formats: &[vk::Format]) -> std::path::PathBuf {
    let mut all = serde_json::Map::new();
    for raw in 1..=184 {
        let format = vk::Format::from_raw(raw);
        let lacks = formats.contains(&format);
        let names_of = |features: Feature| -> Vec<String> {
            let wide = |bit: u32| vk::FormatFeatureFlags2::from_raw(1 << bit);
            let there = (0..32).filter(|bit| features.as_raw() >> bit & 1 != 0).map(wide);
            let taken = vk::FormatFeatureFlags2::STORAGE_IMAGE | vk::FormatFeatureFlags2::STORAGE_TEXEL_BUFFER;
            there.filter(|bit| !lacks || !taken.contains(*bit)).map(|bit| format!("{bit:?}")).collect()
        };
        all.insert(
            names::format(format),
            json!({
                "optimalTilingFeatures": names_of(context.format_features(format, vk::ImageTiling::OPTIMAL)),
                "linearTilingFeatures": names_of(context.format_features(format, vk::ImageTiling::LINEAR)),
                "bufferFeatures": names_of(context.buffer_features(format)),
            }),
        );
    }
    let file = json!({ "schema": "device-caps/1", "name": "lacking", "formats": all, "effective": {}, "limits": {} });
    folder.write("lacking.json", file.to_string())
}

/// A device that lacks the formats, with their lowering.
pub(super) fn lowering(builder: ContextBuilder, file: &std::path::Path) -> ContextBuilder {
    on_device(builder, file).setting("storage", "emulate")
}

/// A device that lacks the formats.
pub(super) fn on_device(builder: ContextBuilder, file: &std::path::Path) -> ContextBuilder {
    builder.file("device", file)
}

/// The formats that the driver stores.
fn stored(context: &Context) -> Vec<&'static Codec> {
    let stores = |codec: &&Codec| {
        let features = context.format_features(format(codec).0, vk::ImageTiling::OPTIMAL);
        features.contains(Feature::STORAGE_IMAGE | Feature::SAMPLED_IMAGE)
    };
    CODECS.iter().filter(|codec| codec.format < UNNAMED).filter(stores).collect()
}

/// Whether a driver's own conversions of normalized numbers may be others that the specification allows: of what is stored one of
/// the two closest, of what is read the next float (Fundamentals > Fixed-Point Data Conversions). Those that run on the processor
/// convert as the layer does.
pub(super) fn converts_otherwise(context: &Context) -> bool {
    !["llvmpipe", "SwiftShader"].iter().any(|name| context.device_name().contains(name))
}

fn lines(judged: &Judged, event: &str) -> BTreeSet<String> {
    judged.changes(event).iter().map(|it| format!("{} {}: {} {}", it.catalog, it.field, it.from, it.to)).collect()
}

/// Each format that the driver stores, taken away: what is read and what is written is the same, bit for bit, but for what
/// [`converts_otherwise`]. Of floats that are rounded to the nearest only SwiftShader's driver makes other bits.
fn lowered_is_native() -> Outcome {
    let folder = Folder::new();
    let ((all, native, file), _) = without_layer(Context::builder(), |context| {
        let all = stored(context);
        context.skip_where(all.is_empty(), "stores nothing")?;
        let formats: Vec<vk::Format> = all.iter().map(|codec| format(codec).0).collect();
        let native =
            all.iter().map(|codec| through(context, codec, format(codec).0)).collect::<Result<Vec<_>, Skip>>()?;
        Ok((all, native, lacking(context, &folder, &formats)))
    })?;
    let ((lowered, rounds, otherwise), judged) =
        silent(lowering(Context::builder(), &file), "with samplin", |context| {
            let lowered =
                all.iter().map(|codec| through(context, codec, format(codec).0)).collect::<Result<Vec<_>, Skip>>()?;
            Ok((lowered, context.device_name().contains("SwiftShader"), converts_otherwise(context)))
        })?;
    let mut wrong = Vec::new();
    for (codec, (native, lowered)) in all.iter().zip(native.iter().zip(&lowered)) {
        let name = format(codec).1;
        let steps = u32::from(rounds && codec.kind == Channels::Float);
        let (read, written) = differences(codec, native, lowered, Allowed { steps, otherwise });
        println!("{name}: {} components read, {read} differ; {written} channels written differ", native.read.len());
        // SwiftShader stores halves that lie further from the value than the two closest: 0x6bb9 for what lies above 0x6bb7, and 0xb
        // for 0x8. What is to be stored there the processor says.
        let is_half = codec.kind == Channels::Float && codec.widths[0] == 16;
        let written = if is_half { wrong_halves(codec, &lowered.written) } else { written };
        if (read, written) != (0, 0) {
            wrong.push((name, read, written));
        }
    }
    assert_eq!(wrong, [], "formats, components read, channels written");
    // It was not the driver.
    for (event, count) in [("shader", all.len()), ("view", all.len()), ("image", 1)] {
        let changes = lines(&judged, event);
        assert!(
            changes.iter().all(|line| line.starts_with("H-5 ")) && changes.len() >= count.min(2),
            "{event}: {changes:#?}"
        );
    }
    assert_eq!(lines(&judged, "shader").len(), all.len());
    Ok(())
}

/// How many halves that were stored are not what rounding toward zero makes of the components.
fn wrong_halves(codec: &Codec, written: &[u8]) -> usize {
    let channels = codec.widths.iter().filter(|width| **width > 0).count();
    let components = components(codec);
    let wanted = components.chunks_exact(4).flat_map(|texel| &texel[..channels]).map(|word| half_toward_zero(*word));
    let got = written.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    got.zip(wanted).filter(|(got, wanted)| got != wanted).count()
}

/// How a view comes into a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    By(By),
    /// With another write in the same call.
    Several,
    /// Into one that may be something else as well.
    Mutable,
}

impl Way {
    pub(super) const UPDATE: Self = Self::By(By::Set);
    pub(super) const COPY: Self = Self::By(By::Copy);
    pub(super) const TEMPLATE_KHR: Self = Self::By(By::TemplateKhr);
    pub(super) const PUSH: Self = Self::By(By::Push);

    const ALL: [(&str, Self); 8] = [
        ("update", Self::UPDATE),
        ("several-writes", Self::Several),
        ("copy", Self::COPY),
        ("mutable", Self::Mutable),
        ("template", Self::By(By::Template)),
        ("template-khr", Self::TEMPLATE_KHR),
        ("push", Self::PUSH),
        ("push-template", Self::By(By::PushTemplate)),
    ];
}

/// A test for each way but some.
pub(super) fn by_ways(prefix: &str, without: &[Way], body: fn(Way) -> Outcome) -> Vec<Trial> {
    let ways = Way::ALL.into_iter().filter(|(_, way)| !without.contains(way));
    let name = |name: &str, way| match (way, prefix.strip_suffix("-by-")) {
        (Way::Mutable, Some(what)) => format!("{what}-of-mutable-descriptors"),
        _ => format!("{prefix}{name}"),
    };
    ways.map(|(own, way)| run::trial(name(own, way), move || body(way))).collect()
}

/// A shader that stores texel n as n / 255 in each component, in an image at binding 1.
pub(super) const STORE: &str = "#version 450\nlayout(local_size_x = 8, local_size_y = 8) in;\nlayout(binding = 1, rgba8) uniform image2D im;\n\
    void main() { uvec2 at = gl_LocalInvocationID.xy; imageStore(im, ivec2(at), vec4(at.x + 8 * at.y) / 255.0); }\n";

/// An image of zeros, for shaders to store to.
pub(super) fn empty<'c>(context: &'c Context, desc: &ImageDesc) -> Result<Image<'c>, Skip> {
    let image = Image::new(context, desc).map_err(Skip)?;
    image.clear(vk::ClearColorValue { uint32: [0; 4] });
    image.transition(vk::ImageLayout::GENERAL);
    Ok(image)
}

pub(super) fn store_by(context: &Context, way: Way, source: &str) -> Result<Vec<u8>, Skip> {
    let (ty, by) = (vk::DescriptorType::STORAGE_IMAGE, if let Way::By(by) = way { by } else { By::Set });
    by.check(context)?;
    let mine = match way {
        Way::Mutable => {
            skip_if(context.missing(&[Capability::MutableDescriptorType]))?;
            Binding::mutable(1, &[ty, vk::DescriptorType::UNIFORM_TEXEL_BUFFER])
        }
        _ => Binding::stored(1),
    };
    let set_layout =
        if by.pushes() { SetLayout::pushed } else { SetLayout::new }(context, &[Binding::storage(0), mine]);
    let job = Job::with(context, &vulkan("comp", source), set_layout).expect("a pipeline");
    let desc = ImageDesc { usage: STORED, ..ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 8, 8) };
    let image = empty(context, &desc)?;
    let view = image.view(&ViewDesc::default());
    let other = buffer(context, &[0; 4]);
    let slots = [Slot::stored(&view, 1)];
    if by.pushes() {
        let of = (vk::PipelineBindPoint::COMPUTE, job.layout);
        job.dispatch(1, |commands| by.push(context, commands, of, &slots));
    } else {
        job.run(1, |set| match way {
            Way::Several => {
                let info = [whole(&other)];
                let beside = vk::WriteDescriptorSet::default().dst_set(set).buffer_info(&info);
                let beside = beside.descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
                update(context, &[beside, slots[0].write(set)], &[], &[]);
            }
            _ => by.fill(context, &job.set_layout, set, &slots),
        });
    }
    Ok(image.read_bytes(COLOR, 0, 0))
}

/// The capability file of a device that lacks what shaders declare for one format.
pub(super) fn lacking_one(folder: &Folder, one: vk::Format) -> Result<std::path::PathBuf, Skip> {
    let (file, _) = without_layer(Context::builder(), |context| Ok(lacking(context, folder, &[one])))?;
    Ok(file)
}

/// However a view comes into a descriptor, the one that can be stored to comes in its place.
fn every_path(way: Way) -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, vk::Format::R8G8B8A8_UNORM)?;
    let (bytes, judged) =
        silent(lowering(Context::builder(), &file), "with samplin", |context| store_by(context, way, STORE))?;
    let wanted: Vec<u8> = (0..64).flat_map(|n| [n; 4]).collect();
    assert_eq!(bytes, wanted);
    assert_eq!(lines(&judged, "view").len(), 1);
    Ok(())
}

/// A kind of image: how GLSL calls it and how it is indexed.
pub(super) fn kinds(format: vk::Format) -> [(&'static str, &'static str, ImageDesc, ViewDesc); 6] {
    let of = |ty| ViewDesc { view_type: Some(ty), ..ViewDesc::default() };
    [
        ("image1D", "int(n)", ImageDesc::d1(format, 64), of(vk::ImageViewType::TYPE_1D)),
        ("image2D", "ivec2(n % 8, n / 8)", ImageDesc::d2(format, 8, 8), ViewDesc::default()),
        ("image2D", "ivec2(n % 8, n / 8)", ImageDesc::d2(format, 8, 8).linear_tiling(), ViewDesc::default()),
        (
            "image2DArray",
            "ivec3(n % 4, n / 4 % 4, n / 16)",
            ImageDesc::d2(format, 4, 4).layers(4),
            of(vk::ImageViewType::TYPE_2D_ARRAY),
        ),
        ("image3D", "ivec3(n % 4, n / 4 % 4, n / 16)", ImageDesc::d3(format, 4, 4, 4), of(vk::ImageViewType::TYPE_3D)),
        ("imageCube", "ivec3(n % 3, n / 3 % 3, n / 9 % 6)", ImageDesc::cube(format, 3), of(vk::ImageViewType::CUBE)),
    ]
}

/// What is in an image that was cleared, read and stored to, what was read of it, and whether that may differ a little.
fn kind(context: &Context, codec: &Codec, which: usize) -> Result<(Vec<u8>, Vec<u32>, bool), Skip> {
    let (format, name, _) = format(codec);
    let (glsl, at, desc, view) = kinds(format)[which];
    let features = context.format_features(format, desc.tiling);
    let stores = features.contains(Feature::STORAGE_IMAGE | Feature::SAMPLED_IMAGE);
    skip_if((!stores).then(|| format!("{} does not store {format:?} with {:?}", context.device_name(), desc.tiling)))?;
    let image = Image::new(context, &ImageDesc { usage: STORED, ..desc }).map_err(Skip)?;
    check_sizes(context, &image);
    // One invocation for each: a cube has fewer than the others.
    let texels = desc.extent.iter().product::<u32>() * desc.layers;
    let words = vulkan(
        "comp",
        &format!(
            "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0, {name}) uniform {glsl} im;\n\
             layout(binding = 1) buffer B {{ uvec4 words[]; }};\nvoid main() {{ uint n = gl_GlobalInvocationID.x;\n\
             if (n >= {texels}) return;\n\
             words[n] = floatBitsToUint(imageLoad(im, {at}));\n\
             if (n % 3 == 1) imageStore(im, {at}, vec4(n, 3.0 * n, 64 - n, n) / 64.0); }}\n"
        ),
    );
    let job = Job::new(context, &words, &[Binding::stored(0), Binding::storage(1)]).expect("a pipeline");
    image.clear(vk::ClearColorValue { float32: [0.25, 0.5, 1.0, 0.0] });
    image.transition(vk::ImageLayout::GENERAL);
    let view = image.view(&view);
    let read = buffer(context, &[7; 256]);
    job.run(1, |set| {
        write_image(context, set, 0, &view);
        write_buffer(context, set, 1, &read);
    });
    let bytes = (0..desc.layers).flat_map(|layer| image.read_bytes(COLOR, 0, layer)).collect();
    Ok((bytes, read.words(), converts_otherwise(context)))
}

/// What an image would need is what it needs.
pub(super) fn check_sizes(context: &Context, image: &Image<'_>) {
    if context.version() < vk::API_VERSION_1_3 {
        return;
    }
    let info = image.desc().info();
    let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
    let (mut before, mut after) = (vk::MemoryRequirements2::default(), vk::MemoryRequirements2::default());
    let given = vk::ImageMemoryRequirementsInfo2::default().image(image.handle());
    // SAFETY: the image is alive; the create info is that which it was made with.
    unsafe {
        context.device().get_device_image_memory_requirements(&asked, &mut before);
        context.device().get_image_memory_requirements2(&given, &mut after);
    }
    let of = |it: vk::MemoryRequirements| (it.size, it.alignment, it.memory_type_bits);
    assert_eq!(of(before.memory_requirements), of(after.memory_requirements));
}

/// What is left: the image, and what was read of it as words, with whether these may differ a little.
pub(super) type Frame = (Vec<u8>, Vec<u32>, bool);

/// Compares what the driver makes of something with what comes of it where the format is taken away; `check`: that this was not the driver.
pub(super) fn compare(
    numbers: &[u32],
    run: impl Fn(&Context, &Codec) -> Result<Frame, Skip>,
    check: impl Fn(&Judged),
) -> Outcome {
    let folder = Folder::new();
    for number in numbers {
        let codec = Codec::of(*number).expect("a format");
        let file = lacking_one(&folder, format(codec).0)?;
        let (native, _) = without_layer(Context::builder(), |context| run(context, codec))?;
        let (lowered, judged) =
            silent(lowering(Context::builder(), &file), "with samplin", |context| run(context, codec))?;
        let ((bytes, read, otherwise), (bytes_lowered, read_lowered, _)) = (&native, &lowered);
        let same = |(one, other): (&u32, &u32)| is_same_read(codec, (*one, *other), *otherwise);
        let alike = read.len() == read_lowered.len() && read.iter().zip(read_lowered).all(same);
        assert!(bytes == bytes_lowered && alike, "{}: {native:?}\n{lowered:?}", format(codec).1);
        check(&judged);
    }
    Ok(())
}

/// Lines, planes, arrays, volumes, cubes, and linear tiling: cleared, read, stored to and copied in one go.
fn every_kind(which: usize) -> Outcome {
    let check = |judged: &Judged| assert_eq!(lines(judged, "view").len(), 1);
    compare(&[4, 7], |context, codec| kind(context, codec, which), check)
}

/// What is in a texel buffer that was read and stored to.
fn texels(context: &Context, also_read: bool) -> Result<Vec<u8>, Skip> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let needed = Feature::STORAGE_TEXEL_BUFFER | Feature::UNIFORM_TEXEL_BUFFER;
    context.skip_where(!context.buffer_features(format).contains(needed), "stores no texel buffers of it")?;
    let reads = vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
    let usage = if also_read { reads } else { vk::BufferUsageFlags::empty() };
    let buffer = Buffer::new(context, 256, usage | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER);
    buffer.write(0, &(0..=255).collect::<Vec<u8>>());
    let words = vulkan(
        "comp",
        "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0, rgba8) uniform imageBuffer im;\n\
         void main() { int n = int(gl_GlobalInvocationID.x); imageStore(im, n, imageLoad(im, n).wzyx); }\n",
    );
    let ty = vk::DescriptorType::STORAGE_TEXEL_BUFFER;
    let job = Job::new(context, &words, &[Binding::new(0, ty, 1)]).expect("a pipeline");
    with_texels(context, &buffer, format, |view| job.run(1, |set| write_texels(context, set, (0, ty), view)));
    Ok(buffer.read(0, 256))
}

/// Texel buffers: those that are only stored to, and those that are read as well, where two views are needed.
fn texel_buffers() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, vk::Format::R8G8B8A8_UNORM)?;
    let wanted: Vec<u8> = (0..64).flat_map(|n| [4 * n + 3, 4 * n + 2, 4 * n + 1, 4 * n]).collect();
    for also_read in [false, true] {
        let ((bytes, says), judged) = silent(lowering(Context::builder(), &file), "with samplin", |context| {
            let says = context.extensions().contains(&ash::khr::maintenance5::NAME);
            Ok((texels(context, also_read)?, says))
        })?;
        assert_eq!(bytes, wanted);
        // Without maintenance5 the application's view keeps a usage that its format lacks, and that is named.
        assert_eq!(judged.left(), if also_read && !says { vec!["storage-view"] } else { vec![] });
        assert_eq!(lines(&judged, "shader").len(), 1);
        let (bytes, judged) =
            with_layer(Context::builder().setting("storage", "emulate"), |context| texels(context, also_read))?;
        assert_eq!((bytes, judged.trace.events("shader").count()), (wanted.clone(), 0));
    }
    Ok(())
}

/// Where the device stores them nothing is touched, and nothing without being asked; what it does not store is named then.
fn left_alone() -> Outcome {
    let codec = CODECS.iter().find(|codec| codec.format == 8).expect("a format");
    let check = |context: &Context| {
        context.skip_where(!stored(context).contains(&codec), "does not store it")?;
        through(context, codec, format(codec).0)
    };
    let folder = Folder::new();
    let ((native, file), _) = without_layer(Context::builder(), |context| {
        Ok((check(context)?, lacking(context, &folder, &[format(codec).0])))
    })?;
    let device = file.to_str().expect("UTF-8");
    let (same, judged) = silent(Context::builder().setting("storage", "emulate"), "with samplin", check)?;
    judged.assert_untouched("a format that is stored");
    assert!(native == same);
    let (same, judged) = with_layer(Context::builder().setting("device", device), check)?;
    assert_told(&judged, &format!("VK_FORMAT_{:?}", format(codec).0), "nothing stands in for it");
    assert_eq!(judged.trace.events("shader").count() + judged.trace.events("view").count(), 0);
    assert!(native == same);
    Ok(())
}

/// Makes images that are stored to.
fn make(context: &Context, formats: &[(vk::Format, vk::ImageTiling)]) -> Outcome {
    for (format, tiling) in formats {
        let usage = Usage::STORAGE | Usage::TRANSFER_DST;
        Image::new(context, &ImageDesc { usage, tiling: *tiling, ..ImageDesc::d2(*format, 4, 4) }).map_err(Skip)?;
    }
    Ok(())
}

/// The only thing that is named, of one format and once; nothing is changed.
fn assert_told(judged: &Judged, format: &str, why: &str) {
    judged.assert_silent("with samplin");
    let record = judged.only_left();
    assert_eq!(
        (&record["what"], &record["rule"], &record["format"]),
        (&json!("storage-image"), &json!("storage-format"), &json!(format))
    );
    assert!(record["why"].as_str().expect("a reason").contains(why), "{record:#?}");
    assert_eq!(judged.trace.events("image").count(), 0);
}

/// A device that stores neither R8 nor integers of its size: nothing can be done about such an image, and it is named. Its twin is stored.
fn told_of_integers() -> Outcome {
    let (r8, rgba8) = (vk::Format::R8_UNORM, vk::Format::R8G8B8A8_UNORM);
    let of = |format| (format, vk::ImageTiling::OPTIMAL);
    for storage in ["emulate", "base"] {
        let builder = || Context::builder().simulated("qualcomm-adreno-506-android").setting("storage", storage);
        let ((), judged) = with_layer(builder(), |context| make(context, &[of(r8), of(rgba8), of(r8)]))?;
        assert_told(&judged, "VK_FORMAT_R8_UNORM", "nothing stands in for it");
        let ((), judged) = with_layer(builder(), |context| make(context, &[of(rgba8)]))?;
        judged.assert_untouched("a format that is stored");
        judged.assert_resolved();
    }
    Ok(())
}

/// A format that is stored with optimal tiling and not with linear tiling: shaders stay as they are, so that the linear image is named.
fn told_of_tiling() -> Outcome {
    let folder = Folder::new();
    let format = vk::Format::R8G8B8A8_UNORM;
    let ((), _) = without_layer(Context::builder(), |context| {
        let path = lacking(context, &folder, &[]);
        let mut file: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
        let features = file["formats"][names::format(format)]["linearTilingFeatures"].as_array_mut().expect("features");
        let before = features.len();
        features.retain(|feature| feature != "STORAGE_IMAGE");
        context.skip_where(features.len() == before, "stores no linear images")?;
        std::fs::write(&path, file.to_string()).expect("writes a file");
        Ok(())
    })?;
    let builder = || lowering(Context::builder(), &folder.join("lacking.json"));
    let (linear, optimal) = ((format, vk::ImageTiling::LINEAR), (format, vk::ImageTiling::OPTIMAL));
    let ((), judged) = with_layer(builder(), |context| make(context, &[linear, optimal, linear]))?;
    assert_told(&judged, "VK_FORMAT_R8G8B8A8_UNORM", "with its tiling");
    let ((), judged) = with_layer(builder(), |context| make(context, &[optimal]))?;
    judged.assert_untouched("a tiling that is stored");
    judged.assert_resolved();
    Ok(())
}
