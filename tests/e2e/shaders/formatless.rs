//! Shaders without a format where an image is viewed as integers: a draw converts by the view that it finds, and names what stays. With
//! `separate=base` nothing is seen of draws, so shaders are named that may meet such a view.

use super::formats::{STORE, Way, by_ways, empty, lacking, lacking_one, lowering, on_device, store_by};
use super::{Job, vulkan, with_texels, write_image, write_texels};
use crate::run::{self, Judged, Outcome, Skip, silent, with_layer, without_layer};
use ash::vk::{self, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout};
use samplin_testkit::shader::ShaderModule;
use samplin_testkit::{Buffer, Capability, Context, ContextBuilder, Folder, Image, ImageDesc, ViewDesc};
use serde_json::{Value as Json, json};

pub(super) fn trials() -> Vec<Trial> {
    let mut all = by_ways("shaders/formatless/converted-by-", &[Way::TEMPLATE_KHR], converted);
    let without = [Way::TEMPLATE_KHR, Way::COPY, Way::Mutable];
    all.extend(by_ways("shaders/formatless/named-by-", &without, named));
    all.extend(run::trials(&[
        ("shaders/formatless/converted-of-formats-that-no-shader-declares", unnamed),
        ("shaders/formatless/converted-where-another-format-is-declared", declared),
        ("shaders/formatless/converted-after-many-writes", late),
        ("shaders/formatless/converted-in-command-buffers-that-began-before", early),
        ("shaders/formatless/named-where-views-come-after-the-bind", after_bind),
        ("shaders/formatless/named-whatever-comes-first", either_first),
        ("shaders/formatless/named-of-texel-buffers", texel_buffer),
        ("shaders/formatless/left-alone-where-it-is-stored", stored),
        ("shaders/formatless/read-left-alone-where-it-is-legal", read),
        ("shaders/formatless/left-alone-where-they-do-not-meet", apart),
    ]));
    all
}

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// [`STORE`] without a format.
fn formatless() -> String {
    STORE.replace("layout(binding = 1, rgba8) uniform", "layout(binding = 1) writeonly uniform")
}

/// A shader that does something to an image at a binding.
fn shader(declared: &str, body: &str) -> Vec<u32> {
    vulkan(
        "comp",
        &format!("#version 450\nlayout(local_size_x = 1) in;\nlayout({declared} im;\nvoid main() {{ {body} }}\n"),
    )
}

/// What images that are stored to alone are for.
pub(super) const UNSAMPLED: Usage =
    Usage::from_raw(Usage::STORAGE.as_raw() | Usage::TRANSFER_SRC.as_raw() | Usage::TRANSFER_DST.as_raw());

/// Nothing is seen of draws.
fn base() -> ContextBuilder {
    Context::builder().setting("separate", "base")
}

/// What was said of shaders without a format.
fn said(judged: &Judged) -> Vec<Json> {
    let records = judged.trace.events("unresolved").filter(|record| record["what"] == "storage-without-format");
    records.inspect(|record| assert_eq!(record["rule"], "storage-format")).cloned().collect()
}

/// What storage images of shaders become: from what, to what, by which rule.
fn becomes(judged: &Judged) -> Vec<[String; 3]> {
    let formats = judged.changes("shader").into_iter().filter(|change| change.field == "image format");
    formats.map(|change| [change.catalog, change.from, change.to]).collect()
}

fn line(line: [&str; 3]) -> Vec<[String; 3]> {
    vec![line.map(str::to_owned)]
}

/// However a view comes to a binding, what a shader without a format stores there is converted to the view's format.
fn converted(way: Way) -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let wanted: Vec<u8> = (0..64).flat_map(|n| [n; 4]).collect();
    let (bytes, judged) =
        silent(lowering(Context::builder(), &file), "with samplin", |context| store_by(context, way, &formatless()))?;
    assert_eq!((becomes(&judged), bytes), (line(["H-5", "Unknown", "R32ui"]), wanted));
    assert_eq!(said(&judged), Vec::<Json>::new());
    Ok(())
}

/// A storage image of one texel.
fn storage_image(context: &Context, format: vk::Format) -> Result<Image<'_>, Skip> {
    Image::new(context, &ImageDesc { usage: UNSAMPLED, ..ImageDesc::d2(format, 1, 1) }).map_err(Skip)
}

/// A storage image at binding 1 that may get its view after the bind, or not, and that a job writes to: its first four bytes.
pub(super) fn stored_one(
    context: &Context,
    (source, flags): (&str, vk::DescriptorBindingFlags),
    (format, before): (vk::Format, usize),
) -> Result<Vec<u8>, Skip> {
    let image = empty(context, &ImageDesc { usage: UNSAMPLED, ..ImageDesc::d2(format, 1, 1) })?;
    let view = image.view(&ViewDesc::default());
    let layout = SetLayout::new(context, &[Binding::stored(1).flags(flags)]);
    let (_pool, set) = Pool::set(context, &layout);
    (0..=before).for_each(|_| write_image(context, set, 1, &view));
    let job = Job::with(context, &vulkan("comp", source), layout).expect("a pipeline");
    job.dispatch(1, |commands| job.bind(commands, set));
    Ok(image.read_bytes(vk::ImageAspectFlags::COLOR, 0, 0))
}

/// A shader that stores a texel without a format, or with one.
pub(super) fn storing(declared: &str, texel: &str) -> String {
    format!(
        "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 1{declared}) writeonly uniform image2D im;\n\
         void main() {{ imageStore(im, ivec2(0), {texel}); }}\n"
    )
}

/// Formats that SPIR-V has no name for, and their bytes of a texel whose red is 1, and of one whose green is.
const UNNAMED: [(vk::Format, &[u8], &[u8]); 5] = [
    (vk::Format::B8G8R8A8_UNORM, &[0, 0, 255, 0], &[0, 255, 0, 0]),
    (vk::Format::A2R10G10B10_UNORM_PACK32, &[0, 0, 0xf0, 0x3f], &[0, 0xfc, 0x0f, 0]),
    (vk::Format::R5G6B5_UNORM_PACK16, &[0, 0xf8], &[0xe0, 0x07]),
    (vk::Format::A1R5G5B5_UNORM_PACK16, &[0, 0x7c], &[0xe0, 0x03]),
    (vk::Format::B4G4R4A4_UNORM_PACK16, &[0xf0, 0], &[0, 0x0f]),
];

fn unnamed() -> Outcome {
    let folder = Folder::new();
    for (format, red, green) in UNNAMED {
        let file = lacking_one(&folder, format)?;
        for (texel, wanted) in [("vec4(1.0, 0.0, 0.0, 0.0)", red), ("vec4(0.0, 1.0, 0.0, 0.0)", green)] {
            let flags = vk::DescriptorBindingFlags::empty();
            let source = storing("", texel);
            let run = |context: &Context| stored_one(context, (&source, flags), (format, 0));
            let builder = on_device(Context::builder(), &file).setting("storage", "advertise");
            let (bytes, judged) = silent(builder, "with samplin", run)?;
            let stand_in = if wanted.len() == 4 { "R32ui" } else { "R16ui" };
            assert_eq!(
                (becomes(&judged), bytes.as_slice()),
                (line(["H-5", "Unknown", stand_in]), wanted),
                "{format:?}"
            );
            assert_eq!(said(&judged), Vec::<Json>::new());
        }
    }
    Ok(())
}

/// A format over a view of another that the device cannot store: the texels are the view's, in its order, whether the device stores the
/// declared format or not, and also where integers are declared that are as large as the view's. A view that suits stays.
fn declared() -> Outcome {
    let folder = Folder::new();
    let (bgra, halves, words) = (vk::Format::B8G8R8A8_UNORM, vk::Format::R16G16_UINT, vk::Format::R32_UINT);
    let texel = "vec4(1.0, 128.0 / 255.0, 64.0 / 255.0, 0.0)";
    let (rgba8, r32ui) = (storing(", rgba8", texel), storing(", r32ui", "uvec4(0x12345678, 9, 9, 9)"));
    let r32ui = r32ui.replace("image2D", "uimage2D");
    let (from_rgba8, from_r32ui) = (line(["H-5", "Rgba8", "R32ui"]), line(["H-5", "R32ui", "R32ui"]));
    let ordered = [64, 128, 255, 0];
    for (lacks, source, viewed, changes, wanted) in [
        (vec![bgra], &rgba8, bgra, from_rgba8.clone(), ordered),
        (vec![bgra, FORMAT], &rgba8, bgra, [from_rgba8.clone(), from_rgba8].concat(), ordered),
        (vec![halves], &r32ui, halves, from_r32ui, [0x78, 0x56, 9, 0]),
        (vec![halves], &r32ui, words, Vec::new(), [0x78, 0x56, 0x34, 0x12]),
    ] {
        let (file, _) = without_layer(Context::builder(), |context| Ok(lacking(context, &folder, &lacks)))?;
        let run = |context: &Context| stored_one(context, (source, Default::default()), (viewed, 0));
        let (bytes, judged) = silent(lowering(Context::builder(), &file), "with samplin", run)?;
        assert_eq!(
            (becomes(&judged), bytes),
            (changes, wanted.to_vec()),
            "{source} over {viewed:?}, without {lacks:?}"
        );
    }
    Ok(())
}

/// A command buffer that is begun before there is an image, and a view of another format than the shader declares: its draws are
/// converted as others are.
fn early() -> Outcome {
    let folder = Folder::new();
    let weak = lacking_one(&folder, FORMAT)?;
    let on_all = || Context::builder().setting("storage", "emulate");
    for (declared, builder, changes) in [
        ("", lowering(Context::builder(), &weak), line(["H-5", "Unknown", "R32ui"])),
        (", r32f", lowering(Context::builder(), &weak), line(["H-5", "R32f", "R32ui"])),
        (", r32f", on_all(), line(["H-4", "R32f", "Unknown"])),
        (", rgba8", on_all(), Vec::new()),
    ] {
        let (bytes, judged) = silent(builder, "with samplin", |context| {
            let words = vulkan("comp", &storing(declared, "vec4(1.0, 0.0, 0.0, 0.0)"));
            let job = Job::new(context, &words, &[Binding::stored(1)]).expect("a pipeline");
            let pool = Pool::new(context, &[&job.set_layout]);
            let (mut image, mut view) = (None, None);
            job.dispatch(1, |commands| {
                let made = &*image.insert(storage_image(context, FORMAT).expect("an image"));
                made.record_transition(commands, vk::ImageLayout::GENERAL);
                let set = pool.allocate(&job.set_layout);
                write_image(context, set, 1, view.insert(made.view(&ViewDesc::default())));
                job.bind(commands, set);
            });
            Ok(image.expect("one was made").read_bytes(vk::ImageAspectFlags::COLOR, 0, 0))
        })?;
        assert_eq!((becomes(&judged), bytes), (changes, vec![255, 0, 0, 0]), "{declared}");
    }
    Ok(())
}

/// Writes an image that the device stores to a set so many times.
fn write_others(context: &Context, times: usize) -> Result<(), Skip> {
    let desc = ImageDesc { usage: Usage::STORAGE, ..ImageDesc::d2(vk::Format::R32_UINT, 1, 1) };
    let image = Image::new(context, &desc).map_err(Skip)?;
    let view = image.view(&ViewDesc::default());
    let layout = SetLayout::new(context, &[Binding::stored(0)]);
    let (_pool, set) = Pool::set(context, &layout);
    (0..times).for_each(|_| write_image(context, set, 0, &view));
    Ok(())
}

/// What is written long before there is a shader is known at its draw, and so is a set that is allocated after many writes to others.
fn late() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let flags = vk::DescriptorBindingFlags::empty();
    let source = storing("", "vec4(1.0, 0.0, 0.0, 0.0)");
    for (others, own) in [(0, 5000), (300, 0)] {
        let run = |context: &Context| {
            write_others(context, others)?;
            stored_one(context, (&source, flags), (FORMAT, own))
        };
        let (bytes, judged) = silent(lowering(Context::builder(), &file), "with samplin", run)?;
        let converted = (line(["H-5", "Unknown", "R32ui"]), vec![255, 0, 0, 0]);
        assert_eq!((becomes(&judged), bytes), converted, "{others} writes to others, {own} of its own");
    }
    Ok(())
}

/// Where another view may be written after the bind, none is known at the draw.
fn after_bind() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let source = storing("", "vec4(1.0, 0.0, 0.0, 0.0)");
    let flags = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
    let (_, judged) = silent(lowering(Context::builder(), &file), "with samplin", |context| {
        context.skip_where(
            !context.supports(Capability::StorageUpdateAfterBind),
            "lacks descriptorBindingStorageImageUpdateAfterBind",
        )?;
        stored_one(context, (&source, flags), (FORMAT, 0))
    })?;
    let [one] = &said(&judged)[..] else { panic!("{:#?}", said(&judged)) };
    assert_eq!(
        (&one["descriptor"], &one["format"]),
        (&json!({ "set": 0, "binding": 1 }), &json!("VK_FORMAT_R8G8B8A8_UNORM"))
    );
    assert_eq!((becomes(&judged), &one["vuid"]), (Vec::new(), &Json::Null));
    Ok(())
}

/// However a view comes to a binding, a shader that has no format there is named, with what it meets, where nothing is seen of draws.
fn named(way: Way) -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let (_, judged) = with_layer(lowering(base(), &file), |context| store_by(context, way, &formatless()))?;
    let [one] = &said(&judged)[..] else { panic!("{:#?}", said(&judged)) };
    assert_eq!(one["descriptor"], json!({ "set": 0, "binding": 1 }));
    assert_eq!(
        (&one["format"], &one["view_type"]),
        (&json!("VK_FORMAT_R8G8B8A8_UNORM"), &json!("VK_IMAGE_VIEW_TYPE_2D"))
    );
    assert_eq!(one["module"].as_str().map(str::len), Some(16));
    Ok(())
}

/// The same store to an image that the device stores is right, and nothing is changed or said.
fn stored() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, vk::Format::R16_UNORM)?;
    let wanted: Vec<u8> = (0..64).flat_map(|n| [n; 4]).collect();
    for builder in [Context::builder().setting("storage", "emulate"), lowering(Context::builder(), &file)] {
        let (bytes, judged) = silent(builder, "with samplin", |context| store_by(context, Way::UPDATE, &formatless()))?;
        judged.assert_untouched("a store without a format");
        assert_eq!((bytes, said(&judged)), (wanted.clone(), Vec::new()));
    }
    Ok(())
}

/// Reads without a format where the device has the feature, which speaks for this format: right, and nothing is changed or said. From
/// version 1.3 on that takes no feature of the application's; before it one that `augment` enables for it, and nothing else.
fn read() -> Outcome {
    let double = "imageStore(im, ivec2(at), vec4(at.x + 8 * at.y) / 255.0); imageStore(im, ivec2(at), imageLoad(im, ivec2(at)) * 2.0);";
    let source = format!(
        "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(local_size_x = 8, local_size_y = 8) in;\n\
         layout(binding = 1) uniform image2D im;\nvoid main() {{ uvec2 at = gl_LocalInvocationID.xy; {double} }}\n"
    );
    let run = |context: &Context| {
        let features = context.features();
        let (reads, writes) =
            (features.shader_storage_image_read_without_format, features.shader_storage_image_write_without_format);
        context.skip_where(reads == 0 || writes == 0, "lacks shaderStorageImageReadWithoutFormat")?;
        store_by(context, Way::UPDATE, &source)
    };
    let folder = Folder::new();
    let file = lacking_one(&folder, vk::Format::R16_UNORM)?;
    let wanted: Vec<u8> = (0..64).flat_map(|n| [2 * n; 4]).collect();
    let before = || Context::builder().api_version(vk::API_VERSION_1_2).without(Capability::FormatFeatureFlags2);
    for builder in [
        Context::builder().setting("augment", "off"),
        Context::builder().setting("storage", "emulate"),
        before(),
        before().setting("storage", "emulate"),
    ] {
        let (bytes, judged) = silent(builder, "with samplin", run)?;
        judged.assert_untouched("a read without a format");
        assert_eq!((judged.trace.events("shader").count(), bytes), (0, wanted.clone()));
    }
    // The device of the file cannot read this format so (VUID-vkCmdDraw-OpTypeImage-07028).
    let (bytes, judged) = silent(lowering(Context::builder(), &file), "with samplin", run)?;
    assert_eq!((&judged.summary()["changes"], bytes), (&json!({"storage-unknown": 1}), wanted));
    Ok(())
}

/// Creates modules, and writes a view of an image of this usage to a binding, before or after that.
fn meet(
    context: &Context,
    usage: Usage,
    (image, ty): (ImageDesc, vk::ImageViewType),
    modules: &[Vec<u32>],
    first: bool,
) -> Result<(), Skip> {
    let create = || {
        for words in modules {
            ShaderModule::new(context, words);
        }
    };
    if first {
        create();
    }
    let words = shader("binding = 3, rgba8) uniform image2D", "");
    let job = Job::new(context, &words, &[Binding::stored(3)]).expect("a pipeline");
    let image = Image::new(context, &ImageDesc { usage, ..image }).map_err(Skip)?;
    let view = image.view(&ViewDesc { view_type: Some(ty), ..ViewDesc::default() });
    job.run(1, |set| {
        write_image(context, set, 3, &view);
        write_image(context, set, 3, &view);
    });
    if !first {
        create();
    }
    Ok(())
}

/// Views are written before or after a module is created; those that are only stored to are views of integers themselves. Twice the same
/// is said once, and each module by itself.
fn either_first() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let one = shader("binding = 3) writeonly uniform image2D", "imageStore(im, ivec2(0), vec4(1.0));");
    let other = shader("set = 2, binding = 3) writeonly uniform image2D", "imageStore(im, ivec2(0), vec4(0.5));");
    let plane = (ImageDesc::d2(FORMAT, 8, 8), vk::ImageViewType::TYPE_2D);
    for (usage, first) in [
        (Usage::STORAGE | Usage::SAMPLED, true),
        (Usage::STORAGE | Usage::SAMPLED, false),
        (Usage::STORAGE, true),
        (Usage::STORAGE, false),
    ] {
        let modules = [one.clone(), other.clone(), one.clone()];
        let builder = lowering(base(), &file);
        let ((), judged) = silent(builder, "with samplin", |context| meet(context, usage, plane, &modules, first))?;
        let sets: Vec<Json> = said(&judged).iter().map(|record| record["descriptor"]["set"].clone()).collect();
        assert_eq!(sets, [json!(0), json!(2)], "{usage:?}, modules first: {first}");
    }
    Ok(())
}

/// Shaders that cannot meet the image: at another binding, of another dimension, of other components, or that only ask for its size; and
/// those that declare a format.
fn apart() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let modules = [
        shader("binding = 2) writeonly uniform image2D", "imageStore(im, ivec2(0), vec4(1.0));"),
        shader("binding = 3) writeonly uniform image3D", "imageStore(im, ivec3(0), vec4(1.0));"),
        shader("binding = 3) writeonly uniform image2DArray", "imageStore(im, ivec3(0), vec4(1.0));"),
        shader("binding = 3) writeonly uniform uimage2D", "imageStore(im, ivec2(0), uvec4(1));"),
        shader("binding = 3) writeonly uniform iimage2D", "imageStore(im, ivec2(0), ivec4(1));"),
        shader("binding = 3) writeonly uniform imageBuffer", "imageStore(im, 0, vec4(1.0));"),
        shader("binding = 3) writeonly uniform image2D", "if (imageSize(im).x == 0) return;"),
        shader("binding = 3, rgba8) writeonly uniform image2D", "imageStore(im, ivec2(0), vec4(1.0));"),
    ];
    let plane = (ImageDesc::d2(FORMAT, 8, 8), vk::ImageViewType::TYPE_2D);
    for first in [true, false] {
        let builder = lowering(base(), &file);
        let usage = Usage::STORAGE | Usage::SAMPLED;
        let ((), judged) = silent(builder, "with samplin", |context| meet(context, usage, plane, &modules, first))?;
        assert_eq!(said(&judged), Vec::<Json>::new());
    }
    Ok(())
}

/// Texel buffers that are only stored to, and those that have two views.
fn texel_buffer() -> Outcome {
    let folder = Folder::new();
    let file = lacking_one(&folder, FORMAT)?;
    let words = shader("binding = 0) writeonly uniform imageBuffer", "imageStore(im, 0, vec4(1.0));");
    for (reads, binding) in [
        (vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER, 0),
        (vk::BufferUsageFlags::empty(), 0),
        (vk::BufferUsageFlags::empty(), 1),
    ] {
        let ((), judged) = silent(lowering(base(), &file), "with samplin", |context| {
            let ty = vk::DescriptorType::STORAGE_TEXEL_BUFFER;
            let job = Job::new(context, &words, &[Binding::new(0, ty, 1), Binding::new(1, ty, 1)]).expect("a pipeline");
            let buffer = Buffer::new(context, 256, reads | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER);
            // Nothing is drawn with it.
            let (_pool, set) = Pool::set(context, &job.set_layout);
            with_texels(context, &buffer, FORMAT, |view| write_texels(context, set, (binding, ty), view));
            Ok(())
        })?;
        assert_eq!(said(&judged).len(), usize::from(binding == 0));
    }
    Ok(())
}
