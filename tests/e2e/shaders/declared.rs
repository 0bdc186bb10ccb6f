//! Views that are not what the shader declares of the variable: named once for a binding and a class, and with `storage=emulate` the
//! shader declares another format.

use super::formats::{STORE, STORED, Way, by_ways, empty, store_by};
use super::{Job, buffer, vulkan, with_texels, write_buffer, write_image, write_texels};
use crate::run::{self, Judged, Outcome, Skip, silent, skip_if, with_layer};
use ash::vk::{self, DescriptorType as T, Format as F};
use libtest_mimic::Trial;
use samplin_testkit::descriptor::{Binding, Pool, write_images};
use samplin_testkit::held::Slot;
use samplin_testkit::{Buffer, Capability, Context, Image, ImageDesc, SamplerDesc, View, ViewDesc};
use serde_json::{Value as Json, json};

pub(super) fn trials() -> Vec<Trial> {
    let mut all = by_ways("shaders/declared/format-named-by-", &[Way::TEMPLATE_KHR], format_named);
    all.extend(run::trials(&[
        ("shaders/declared/format-left-alone-where-it-is-the-view's", format_left),
        ("shaders/declared/format-becomes-unknown", || format_emulated(Way::UPDATE)),
        ("shaders/declared/format-of-what-is-pushed-becomes-unknown", || format_emulated(Way::PUSH)),
        ("shaders/declared/order-of-bgra-stays", bgra),
        ("shaders/declared/only-the-image-that-differs-changes", beside),
        ("shaders/declared/format-of-shader-objects", objects),
        ("shaders/declared/element-that-is-read", element),
        ("shaders/declared/numbers-and-dimensions-of-storage-images", storage_kinds),
        ("shaders/declared/numbers-of-sampled-images", sampled_numbers),
        ("shaders/declared/dimensions-of-sampled-images", sampled_dimensions),
        ("shaders/declared/variables-of-one-binding", variables_of_one_binding),
        ("shaders/declared/texel-buffers", texel_buffers),
        ("shaders/declared/unknown-reads-and-writes", unknown),
    ]));
    all
}

/// [`STORE`] with another format.
fn storing(format: &str) -> String {
    STORE.replace("rgba8)", &format!("{format})"))
}

/// What was said of views and shaders that differ: name, what is declared, and the view's format.
fn said(judged: &Judged) -> Vec<[String; 3]> {
    let names = ["declared-format", "declared-numbers", "declared-dimension", "format-unreadable", "format-unwritable"];
    let text = |record: &Json, member: &str| record[member].as_str().unwrap_or("").to_owned();
    let records = judged.trace.events("unresolved").filter(|record| names.contains(&text(record, "what").as_str()));
    records.map(|record| ["what", "declared", "format"].map(|member| text(record, member))).collect()
}

fn lines(lines: &[[&str; 3]]) -> Vec<[String; 3]> {
    lines.iter().map(|line| line.map(str::to_owned)).collect()
}

/// However a view comes to a binding, it is told of once that the shader declares another format, with the setting that helps.
fn format_named(way: Way) -> Outcome {
    let (_, judged) = with_layer(Context::builder(), |context| store_by(context, way, &storing("rgba32f")))?;
    assert_eq!(said(&judged), lines(&[["declared-format", "Rgba32f", "VK_FORMAT_R8G8B8A8_UNORM"]]));
    let one = judged.trace.events("unresolved").find(|record| record["what"] == "declared-format").expect("a record");
    let members = ["descriptor", "view_type", "setting", "rule", "stages", "draw"];
    let wanted = json!([{ "set": 0, "binding": 1 }, "VK_IMAGE_VIEW_TYPE_2D", "storage=emulate", "storage-format", ["compute"], 1]);
    assert_eq!(Json::Array(members.iter().map(|member| one[*member].clone()).collect()), wanted);
    Ok(())
}

/// The view's own format, and none where that is legal: nothing is changed or said.
fn format_left() -> Outcome {
    let wanted: Vec<u8> = (0..64).flat_map(|n| [n; 4]).collect();
    let formatless = STORE.replace("layout(binding = 1, rgba8) uniform", "layout(binding = 1) writeonly uniform");
    for source in [STORE.to_owned(), formatless] {
        for storage in ["base", "emulate"] {
            let builder = Context::builder().setting("storage", storage);
            let (bytes, judged) = silent(builder, "with samplin", |context| store_by(context, Way::UPDATE, &source))?;
            judged.assert_untouched("a format that suits");
            let shaders = judged.trace.events("shader").count();
            assert_eq!((said(&judged), shaders, &bytes), (Vec::new(), 0, &wanted), "{storage}");
        }
    }
    Ok(())
}

/// Without the format the texels are the view's, whatever the driver makes of the one that was declared.
fn format_emulated(way: Way) -> Outcome {
    let wanted: Vec<u8> = (0..64).flat_map(|n| [n; 4]).collect();
    for format in ["rgba32f", "rgba16f", "r32f", "rgba8_snorm"] {
        let builder = Context::builder().setting("storage", "emulate");
        let (bytes, judged) = silent(builder, "with samplin", |context| store_by(context, way, &storing(format)))?;
        assert_eq!((said(&judged), &bytes), (Vec::new(), &wanted), "{format}");
        let changes = judged.changes("shader");
        let [format_change, capability] = &changes[..] else { panic!("{changes:#?}") };
        assert_eq!((&*format_change.catalog, &*format_change.to), ("H-4", "Unknown"));
        assert_eq!(capability.to, "StorageImageWriteWithoutFormat");
    }
    Ok(())
}

/// One store to an image of a format, through a set: its bytes.
fn stored(context: &Context, source: &str, format: F) -> Result<Vec<u8>, Skip> {
    let job = Job::new(context, &vulkan("comp", source), &[Binding::stored(1)]).expect("a pipeline");
    let image = image(context, format)?;
    let view = image.view(&ViewDesc::default());
    job.run(1, |set| write_image(context, set, 1, &view));
    Ok(image.read_bytes(vk::ImageAspectFlags::COLOR, 0, 0))
}

fn image(context: &Context, format: F) -> Result<Image<'_>, Skip> {
    empty(context, &ImageDesc { usage: STORED, ..ImageDesc::d2(format, 1, 1) })
}

/// A shader that does something at (0, 0).
fn doing(declared: &str, body: &str) -> String {
    format!(
        "#version 450\n#extension GL_EXT_shader_image_load_formatted : require\nlayout(local_size_x = 1) in;\n{declared}\n\
         void main() {{ {body} }}\n"
    )
}

/// An image of BGRA, which no shader can declare: without a format the first component is stored as red, which comes third. `store` runs
/// the shader.
fn stored_as_bgra(store: impl Fn(&Context, &str) -> Result<Vec<u8>, Skip>) -> Outcome {
    let source = doing(
        "layout(binding = 1, rgba8) uniform writeonly image2D im;",
        "imageStore(im, ivec2(0), vec4(1.0, 128.0 / 255.0, 64.0 / 255.0, 0.0));",
    );
    for (storage, named) in [("base", true), ("emulate", false)] {
        let builder = Context::builder().setting("storage", storage);
        let (bytes, judged) = silent(builder, "with samplin", |context| store(context, &source))?;
        let line: &[_] = if named { &[["declared-format", "Rgba8", "VK_FORMAT_B8G8R8A8_UNORM"]] } else { &[] };
        assert_eq!(said(&judged), lines(line), "{storage}");
        if !named {
            assert_eq!(bytes, [64, 128, 255, 0]);
        }
    }
    Ok(())
}

fn bgra() -> Outcome {
    stored_as_bgra(|context, source| stored(context, source, F::B8G8R8A8_UNORM))
}

/// Two images of one type, of which one is not as it is declared: the other one keeps its format, which drivers need for reading.
fn beside() -> Outcome {
    let source = doing(
        "layout(binding = 0, rgba8) uniform readonly image2D from;\nlayout(binding = 1, rgba8) uniform writeonly image2D to;",
        "imageStore(to, ivec2(0), imageLoad(from, ivec2(0)));",
    );
    for format in [F::R8G8B8A8_UNORM, F::B8G8R8A8_UNORM, F::R16G16B16A16_SFLOAT] {
        let builder = Context::builder().setting("storage", "emulate");
        let (bytes, judged) = silent(builder, "with samplin", |context| {
            let job = Job::new(context, &vulkan("comp", &source), &[0, 1].map(Binding::stored)).expect("a pipeline");
            let (from, to) = (image(context, F::R8G8B8A8_UNORM)?, image(context, format)?);
            from.clear(vk::ClearColorValue { float32: [1.0, 0.0, 0.0, 1.0] });
            from.transition(vk::ImageLayout::GENERAL);
            let views = [&from, &to].map(|image| image.view(&ViewDesc::default()));
            job.run(1, |set| (0..).zip(&views).for_each(|(binding, view)| write_image(context, set, binding, view)));
            Ok(to.read_bytes(vk::ImageAspectFlags::COLOR, 0, 0))
        })?;
        let wanted: &[u8] = match format {
            F::R8G8B8A8_UNORM => &[255, 0, 0, 255],
            F::B8G8R8A8_UNORM => &[0, 0, 255, 255],
            _ => &[0, 0x3c, 0, 0, 0, 0, 0, 0x3c],
        };
        let differs = format != F::R8G8B8A8_UNORM;
        let bindings: Vec<&Json> = judged.trace.events("shader").map(|record| &record["bindings"]).collect();
        let changed = json!([{ "set": 0, "binding": 1 }]);
        assert_eq!((said(&judged), bytes.as_slice()), (Vec::new(), wanted), "{format:?}");
        assert_eq!(bindings, if differs { vec![&changed] } else { Vec::new() }, "{format:?}");
    }
    Ok(())
}

/// Shader objects are made again as pipelines are.
fn objects() -> Outcome {
    stored_as_bgra(|context, source| {
        context.skip_where(!context.supports(Capability::ShaderObject), "lacks VK_EXT_shader_object")?;
        let device = context.device();
        let objects = ash::ext::shader_object::Device::new(context.instance(), device);
        let job = Job::new(context, &vulkan("comp", source), &[Binding::stored(1)]).expect("one");
        let code: Vec<u8> = vulkan("comp", source).iter().flat_map(|word| word.to_le_bytes()).collect();
        let layouts = [job.set_layout.handle()];
        let info = vk::ShaderCreateInfoEXT::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .code_type(vk::ShaderCodeTypeEXT::SPIRV)
            .code(&code)
            .name(c"main")
            .set_layouts(&layouts);
        // SAFETY: code and layouts are alive.
        let shader = unsafe { objects.create_shaders(&[info], None) }.expect("vkCreateShadersEXT")[0];
        let image = image(context, F::B8G8R8A8_UNORM)?;
        let view = image.view(&ViewDesc::default());
        let (_pool, set) = Pool::set(context, &job.set_layout);
        write_image(context, set, 1, &view);
        context.submit(|commands| {
            job.bind(commands, set);
            // SAFETY: the buffer is recording; what is bound is alive and belongs together.
            unsafe {
                objects.cmd_bind_shaders(commands, &[vk::ShaderStageFlags::COMPUTE], &[shader]);
                device.cmd_dispatch(commands, 1, 1, 1);
            }
        });
        let bytes = image.read_bytes(vk::ImageAspectFlags::COLOR, 0, 0);
        // SAFETY: the submission is complete.
        unsafe { objects.destroy_shader(shader, None) };
        Ok(bytes)
    })
}

/// Of an array it counts which element is written to, if the shader says that.
fn element() -> Outcome {
    let source =
        doing("layout(binding = 1, rgba8) uniform writeonly image2D im[3];", "imageStore(im[1], ivec2(0), vec4(1.0));");
    for wrong in [0, 1, 2] {
        let ((), judged) = with_layer(Context::builder(), |context| {
            let job = Job::new(context, &vulkan("comp", &source), &[Binding::new(1, T::STORAGE_IMAGE, 3)])
                .expect("a pipeline");
            let format = |at| if at == wrong { F::R16G16_SFLOAT } else { F::R8G8B8A8_UNORM };
            let images = (0..3).map(|at| image(context, format(at))).collect::<Result<Vec<_>, _>>()?;
            let views: Vec<_> = images.iter().map(|image| image.view(&ViewDesc::default())).collect();
            let infos: Vec<_> = views.iter().map(|view| Slot::stored(view, 1).info).collect();
            job.run(1, |set| write_images(context, set, (1, 0), T::STORAGE_IMAGE, &infos));
            Ok(())
        })?;
        let line: &[_] = if wrong == 1 { &[["declared-format", "Rgba8", "VK_FORMAT_R16G16_SFLOAT"]] } else { &[] };
        assert_eq!(said(&judged), lines(line), "{wrong}");
    }
    Ok(())
}

/// Other numbers, another dimension: named by their valid usages, which validation reports as well.
fn storage_kinds() -> Outcome {
    let store = |declared: &str, body: &str| doing(&format!("layout(binding = 1, {declared} im;"), body);
    let cases = [
        (store("r32ui) uniform writeonly uimage2D", "imageStore(im, ivec2(0), uvec4(1));"), F::R32_UINT, None),
        (
            store("r32ui) uniform writeonly uimage2D", "imageStore(im, ivec2(0), uvec4(1));"),
            F::R32_SINT,
            Some(("declared-numbers", "VUID-vkCmdDraw-format-07753")),
        ),
        (
            store(
                "r32ui) uniform writeonly uimage2DArray",
                "if (imageSize(im).x == 77) imageStore(im, ivec3(0), uvec4(1));",
            ),
            F::R32_UINT,
            Some(("declared-dimension", "VUID-vkCmdDraw-viewType-07752")),
        ),
    ];
    for (source, format, wrong) in cases {
        let (_, judged) = with_layer(Context::builder(), |context| stored(context, &source, format))?;
        let found = judged
            .trace
            .events("unresolved")
            .filter_map(|record| Some((record["what"].as_str()?.to_owned(), record["vuid"].as_str()?.to_owned())));
        let wanted = wrong.map(|(what, vuid)| (what.to_owned(), vuid.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), wanted.into_iter().collect::<Vec<_>>(), "{format:?}");
    }
    Ok(())
}

/// A shader that would fetch a texel of a variable of this type, with a sampler in the descriptor or none.
fn fetch(context: &Context, ty: &str, at: &str, view: &View<'_>) {
    fetch_by(context, &[(ty, at)], view);
}

/// The same of variables that share the binding.
fn fetch_by(context: &Context, variables: &[(&str, &str)], view: &View<'_>) {
    let (mut declared, mut body) = ("layout(binding = 1) buffer B { vec4 o; };\n".to_owned(), String::new());
    for (number, (ty, at)) in variables.iter().enumerate() {
        declared += &format!("layout(binding = 0) uniform {ty} im{number};\n");
        body += &format!("if (o.x == 77.0 + {number}) o = vec4(texelFetch(im{number}, {at})); ");
    }
    let (source, ty) = (doing(&declared, &body), variables[0].0);
    let without = "formatted : require\n#extension GL_EXT_samplerless_texture_functions : require";
    let source = source.replace("formatted : require", without);
    let ty = if ty.contains("sampler") { T::COMBINED_IMAGE_SAMPLER } else { T::SAMPLED_IMAGE };
    let bindings = [Binding::new(0, ty, 1), Binding::storage(1)];
    let job = Job::new(context, &vulkan("comp", &source), &bindings).expect("a pipeline");
    let out = buffer(context, &[0; 4]);
    let sampler = SamplerDesc::nearest().create(context);
    job.run(1, |set| {
        write_buffer(context, set, 1, &out);
        write_images(context, set, (0, 0), ty, &[Slot::pair(view, &sampler, 0, 0).general().info]);
    });
}

/// A dimension or layers that the view has not: named by the valid usage, with and without a sampler in the descriptor.
fn sampled_dimensions() -> Outcome {
    use vk::ImageViewType as V;
    let cases = [
        ("2D", "ivec2(0), 0", V::TYPE_2D, None),
        ("2D", "ivec2(0), 0", V::TYPE_2D_ARRAY, Some("2D")),
        ("2DArray", "ivec3(0), 0", V::TYPE_2D_ARRAY, None),
        ("2DArray", "ivec3(0), 0", V::TYPE_2D, Some("2D array")),
        ("2DArray", "ivec3(0), 0", V::CUBE, Some("2D array")),
        ("3D", "ivec3(0), 0", V::TYPE_3D, None),
        ("3D", "ivec3(0), 0", V::TYPE_2D_ARRAY, Some("3D")),
        ("1D", "0, 0", V::TYPE_1D, None),
        ("1D", "0, 0", V::TYPE_2D, Some("1D")),
    ];
    for (shape, at, view_type, wrong) in cases {
        for prefix in ["sampler", "texture"] {
            let ((), judged) = with_layer(Context::builder().record_only(), |context| {
                let format = F::R8G8B8A8_UNORM;
                let desc = match view_type {
                    V::TYPE_1D => ImageDesc::d1(format, 4),
                    V::TYPE_3D => ImageDesc::d3(format, 4, 4, 4),
                    _ => ImageDesc::cube(format, 4),
                };
                let image = Image::new(context, &desc).map_err(Skip)?;
                image.transition(vk::ImageLayout::GENERAL);
                let layers = (view_type == V::TYPE_2D).then_some((0, 1));
                let view = image.view(&ViewDesc { view_type: Some(view_type), layers, ..ViewDesc::default() });
                fetch(context, &format!("{prefix}{shape}"), at, &view);
                Ok(())
            })?;
            let line = wrong.map(|declared| ["declared-dimension", declared, "VK_FORMAT_R8G8B8A8_UNORM"]);
            assert_eq!(said(&judged), lines(line.as_slice()), "{prefix}{shape} {view_type:?}");
            if wrong.is_some() {
                let record = judged.trace.events("unresolved").next().expect("a record");
                assert_eq!(record["vuid"], "VUID-vkCmdDraw-viewType-07752");
            } else {
                judged.assert_silent("with samplin");
            }
        }
    }
    Ok(())
}

/// Views of buffers, with and without formats in the shader: named once what is declared is not the view's.
fn texel_buffers() -> Outcome {
    const NUMBERS: &str = "VUID-vkCmdDraw-format-07753";
    let uniform =
        |prefix: &str| (T::UNIFORM_TEXEL_BUFFER, format!("uniform {prefix}samplerBuffer"), "texelFetch(im, 0)");
    let storage = |format: &str, prefix: &str| {
        (T::STORAGE_TEXEL_BUFFER, format!("layout({format}) uniform readonly {prefix}imageBuffer"), "imageLoad(im, 0)")
    };
    let numbers = || ("declared-numbers", json!(NUMBERS));
    // Nothing forbids another format; what is read is undefined.
    let of_format = || ("declared-format", Json::Null);
    let cases = [
        (uniform(""), F::R32_SFLOAT, vec![]),
        (uniform(""), F::R8G8B8A8_UNORM, vec![]),
        (uniform("u"), F::R32_UINT, vec![]),
        (uniform("u"), F::R32_SFLOAT, vec![numbers()]),
        (uniform("i"), F::R32_UINT, vec![numbers()]),
        (storage("r32ui", "u"), F::R32_UINT, vec![]),
        (storage("rgba32f", ""), F::R32G32B32A32_SFLOAT, vec![]),
        (storage("r32ui", "u"), F::R32_SINT, vec![numbers(), of_format()]),
        (storage("rgba32f", ""), F::R32_SFLOAT, vec![of_format()]),
    ];
    for ((ty, declared, read), format, wrong) in cases {
        let declared = declared.replace("layout(", "layout(binding = 0, ").replace("uniform ", "uniform highp ");
        let declared =
            if declared.starts_with("layout") { declared } else { format!("layout(binding = 0) {declared}") };
        let source = doing(
            &format!("{declared} im;\nlayout(binding = 1) buffer B {{ vec4 o; }};"),
            &format!("o = vec4({read});"),
        );
        let ((), judged) = with_layer(Context::builder().record_only(), |context| {
            let properties = context.format_features(format, vk::ImageTiling::OPTIMAL);
            skip_if(properties.is_empty().then(|| format!("{format:?} is unknown")))?;
            let usage = vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
            let texels = Buffer::new(context, 64, usage);
            let bindings = [Binding::new(0, ty, 1), Binding::storage(1)];
            let job = Job::new(context, &vulkan("comp", &source), &bindings).expect("a pipeline");
            let out = buffer(context, &[0; 4]);
            with_texels(context, &texels, format, |view| {
                job.run(1, |set| {
                    write_buffer(context, set, 1, &out);
                    write_texels(context, set, (0, ty), view);
                });
            });
            Ok(())
        })?;
        let found: Vec<_> =
            judged.trace.events("unresolved").map(|record| (record["what"].clone(), record["vuid"].clone())).collect();
        let wanted: Vec<_> = wrong.into_iter().map(|(what, vuid)| (json!(what), vuid)).collect();
        assert_eq!(found, wanted, "{source} {format:?}");
        if wanted.is_empty() {
            judged.assert_silent("with samplin");
        }
    }
    Ok(())
}

/// A float image on a view of integers and the other way, with a sampler of its own and with one in the descriptor.
fn sampled_numbers() -> Outcome {
    for (prefix, format, wrong) in
        [("", F::R32_UINT, true), ("u", F::R32_UINT, false), ("u", F::R32_SINT, true), ("i", F::R32_SINT, false)]
    {
        for combined in [false, true] {
            let ty = format!("{prefix}{}2D", if combined { "sampler" } else { "texture" });
            let ((), judged) = with_layer(Context::builder(), |context| {
                let image = image(context, format)?;
                fetch(context, &ty, "ivec2(0), 0", &image.view(&ViewDesc::default()));
                Ok(())
            })?;
            let declared = if prefix == "u" { "uint" } else { "float" };
            let name = format!("VK_FORMAT_{format:?}");
            let line: &[_] = if wrong { &[["declared-numbers", declared, &*name]] } else { &[] };
            assert_eq!(said(&judged), lines(line), "{prefix} {format:?} {combined}");
        }
    }
    Ok(())
}

/// Variables of several types share a binding, and one of them suits the view: the shader may read that one. Numbers and dimension have to
/// be those of the same variable.
fn variables_of_one_binding() -> Outcome {
    let (float, uint, layers) =
        (("texture2D", "ivec2(0), 0"), ("utexture2D", "ivec2(0), 0"), ("utexture2DArray", "ivec3(0), 0"));
    let name = "VK_FORMAT_R32_UINT";
    let numbers = ["declared-numbers", "float", name];
    for (variables, wrong) in [
        (&[float][..], &[numbers][..]),
        (&[float, uint], &[]),
        (&[layers, float, uint], &[]),
        (&[layers, float], &[["declared-dimension", "2D array", name], numbers]),
    ] {
        let ((), judged) = with_layer(Context::builder(), |context| {
            let image = image(context, F::R32_UINT)?;
            fetch_by(context, variables, &image.view(&ViewDesc::default()));
            Ok(())
        })?;
        let (mut found, mut wanted) = (said(&judged), lines(wrong));
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{variables:?}");
    }
    Ok(())
}

/// Reads without a format where the view's format cannot: named in every value of `storage`, and with `emulate` the shader declares it.
fn unknown() -> Outcome {
    let source =
        doing("layout(binding = 1) uniform image2D im;", "imageStore(im, ivec2(0), imageLoad(im, ivec2(0)) * 2.0);");
    for storage in ["base", "emulate"] {
        let mut lacks = false;
        let builder = Context::builder().setting("storage", storage);
        let (_, judged) = with_layer(builder, |context| {
            context.skip_where(context.version() < vk::API_VERSION_1_3, "does not tell which formats")?;
            // It ends with the module: such a pipeline cannot be made there.
            context.skip_where(context.device_name().contains("SwiftShader"), "does not take the capability")?;
            let mut three = vk::FormatProperties3::default();
            let mut properties = vk::FormatProperties2::default().push_next(&mut three);
            let (instance, physical) = (context.instance(), context.physical_device());
            // SAFETY: a physical device of this instance.
            unsafe { instance.get_physical_device_format_properties2(physical, F::R8G8B8A8_UNORM, &mut properties) };
            lacks = !three.optimal_tiling_features.contains(vk::FormatFeatureFlags2::STORAGE_READ_WITHOUT_FORMAT);
            stored(context, &source, F::R8G8B8A8_UNORM)
        })?;
        let named = lacks && storage == "base";
        let line: &[_] = if named { &[["format-unreadable", "Unknown", "VK_FORMAT_R8G8B8A8_UNORM"]] } else { &[] };
        assert_eq!(said(&judged), lines(line), "{storage}");
        if lacks && storage == "emulate" {
            judged.assert_silent("with samplin");
            let changes = judged.changes("shader");
            assert!(changes.iter().any(|change| (&*change.catalog, &*change.to) == ("H-7", "Rgba8")), "{changes:#?}");
        }
    }
    Ok(())
}
