//! Descriptor heaps: samplers and views that are described where they are written, and samplers that shaders embed.

use crate::run::{self, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use ash::vk::{self, Format as F, ImageUsageFlags as Usage};
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_suite::case::reported;
use samplin_testkit::heap::{self, Heaps, Made, embedding, mapping, pushed};
use samplin_testkit::{Capability, Context, ContextBuilder, Folder, Image, ImageDesc, Value, ViewDesc};

pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("heap/embedded/linear-integers", || integers(Made::Pipeline, true)),
        ("heap/embedded/linear-integers/object", || integers(Made::Object, true)),
        ("heap/embedded/linear-integers/apart", || integers(Made::Pipeline, false)),
        ("heap/embedded/integer-border", || border(Made::Pipeline)),
        ("heap/embedded/integer-border/object", || border(Made::Object)),
        ("heap/embedded/legal", legal),
        ("heap/written/lod-range", lod_range),
        ("heap/written/legal", written_legal),
        ("heap/written/named-with-counts", named),
        ("heap/written/nothing-to-name", nothing_named),
        ("heap/written/rules", rules),
        ("heap/borders/registered", registered),
        ("heap/views/usage", usage),
        ("heap/audit", audit),
    ])
}

const LINEAR: vk::SamplerCreateInfo<'static> =
    vk::SamplerCreateInfo { mag_filter: vk::Filter::LINEAR, min_filter: vk::Filter::LINEAR, ..NEAREST };

const NEAREST: vk::SamplerCreateInfo<'static> = vk::SamplerCreateInfo {
    s_type: vk::StructureType::SAMPLER_CREATE_INFO,
    p_next: std::ptr::null(),
    flags: vk::SamplerCreateFlags::empty(),
    mag_filter: vk::Filter::NEAREST,
    min_filter: vk::Filter::NEAREST,
    mipmap_mode: vk::SamplerMipmapMode::NEAREST,
    address_mode_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    address_mode_v: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    address_mode_w: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    mip_lod_bias: 0.0,
    anisotropy_enable: 0,
    max_anisotropy: 1.0,
    compare_enable: 0,
    compare_op: vk::CompareOp::NEVER,
    min_lod: 0.0,
    max_lod: 0.0,
    border_color: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
    unnormalized_coordinates: 0,
    _marker: std::marker::PhantomData,
};

fn bordered(color: vk::BorderColor) -> vk::SamplerCreateInfo<'static> {
    let mode = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    vk::SamplerCreateInfo { address_mode_u: mode, address_mode_v: mode, border_color: color, ..NEAREST }
}

fn builder() -> ContextBuilder {
    Context::builder().with(Capability::DescriptorHeap)
}

fn check(context: &Context) -> Outcome {
    skip_if(context.missing(&[Capability::DescriptorHeap]))
}

/// A shader that samples `image` at the middle, which is a corner of four texels, and beyond the edge.
fn shader(kind: &str, is_combined: bool) -> Vec<u32> {
    let declared = if is_combined {
        format!("layout(set = 0, binding = 0) uniform {kind}sampler2D pair;\n#define IMAGE pair\n")
    } else {
        format!(
            "layout(set = 0, binding = 0) uniform {kind}texture2D image;\n\
             layout(set = 0, binding = 1) uniform sampler own;\n#define IMAGE {kind}sampler2D(image, own)\n"
        )
    };
    let word = if kind.is_empty() { "floatBitsToUint" } else { "uint" };
    let source = format!(
        "#version 450\n\
         layout(local_size_x = 1) in;\n\
         {declared}
         layout(set = 0, binding = 2) buffer Output {{ uint words[2]; }};\n\
         void main() {{\n\
             words[0] = {word}(textureLod(IMAGE, vec2(0.375, 0.375), 0.0).r);\n\
             words[1] = {word}(textureLod(IMAGE, vec2(-1.0, 0.5), 0.0).r);\n\
         }}\n"
    );
    compile(Language::Glsl("vulkan1.2"), "comp", &source)
}

fn view(image: &Image<'_>) -> vk::ImageViewCreateInfo<'static> {
    image.view_info(&ViewDesc::default())
}

const SAMPLED: vk::DescriptorType = vk::DescriptorType::SAMPLED_IMAGE;

/// An image of which each texel has this value in its red component.
fn image(context: &Context, format: F, value: u32) -> Result<Image<'_>, Skip> {
    let desc = ImageDesc::d2(format, 4, 4);
    let of = |value: u32| match format {
        F::R32_UINT => Value::Uint([value, 0, 0, 1]),
        _ => Value::Float([value as f32 / 255.0, 0.0, 0.0, 1.0]),
    };
    Image::filled(context, &desc, |_, _, _, _| of(value)).map_err(Skip)
}

/// What a shader reads through this embedded sampler.
fn embedded(
    context: &Context,
    made: Made,
    is_combined: bool,
    sampler: &vk::SamplerCreateInfo<'_>,
    (format, value): (F, u32),
) -> Result<[u32; 2], Skip> {
    check(context)?;
    if made == Made::Object {
        skip_if(context.missing(&[Capability::ShaderObject]))?;
    }
    let heaps = Heaps::new(context);
    let image = image(context, format, value)?;
    heaps.write_image(0, SAMPLED, &view(&image), image.rest_layout());
    let words = shader(if format == F::R32_UINT { "u" } else { "" }, is_combined);
    let mappings = if is_combined {
        vec![embedding(0, 0, sampler), pushed(2)]
    } else {
        vec![mapping(0, 0), embedding(1, 0, sampler), pushed(2)]
    };
    Ok(heap::run(&heaps, made, &words, &mappings, 2).try_into().expect("two words"))
}

fn assert_changed(judged: &run::Judged, wanted: &[(&str, &str)]) {
    let records: Vec<_> = judged.trace.events("sampler").collect();
    let changes = judged.changes("sampler");
    let got: Vec<_> = changes.iter().map(|change| (change.rule.as_str(), change.field.as_str())).collect();
    assert_eq!(got, wanted, "{records:#?}");
}

/// Integers have no average: what the driver makes of LINEAR is not the texel.
fn integers(made: Made, is_combined: bool) -> Outcome {
    let read = |context: &Context| embedded(context, made, is_combined, &LINEAR, (F::R32_UINT, 300));
    let (wrong, _) = without_layer(builder(), read)?;
    assert_eq!(wrong[0], 1, "the driver makes something else of LINEAR");
    let (right, judged) = silent(builder(), "with samplin", read)?;
    assert_eq!(right, [300, 300]);
    assert_changed(&judged, &[("linear-filter", "magFilter"), ("linear-filter", "minFilter")]);
    let record = judged.trace.events("sampler").next().expect("a record");
    assert_eq!(record["path"], "embedded");
    Ok(())
}

fn border(made: Made) -> Outcome {
    let sampler = bordered(vk::BorderColor::INT_OPAQUE_WHITE);
    let read = |context: &Context| embedded(context, made, true, &sampler, (F::R8G8B8A8_UNORM, 255));
    let (wrong, _) = without_layer(builder(), read)?;
    assert_eq!(f32::from_bits(wrong[1]), 0.0, "the driver makes something else of the border");
    let (right, judged) = silent(builder(), "with samplin", read)?;
    assert_eq!(right.map(f32::from_bits), [1.0, 1.0]);
    assert_changed(&judged, &[("border-type", "borderColor")]);
    Ok(())
}

/// Each with its right kind.
fn legal() -> Outcome {
    for (sampler, of) in [
        (NEAREST, (F::R32_UINT, 300)),
        (bordered(vk::BorderColor::INT_OPAQUE_WHITE), (F::R32_UINT, 300)),
        (bordered(vk::BorderColor::FLOAT_OPAQUE_WHITE), (F::R8G8B8A8_UNORM, 255)),
        (LINEAR, (F::R8G8B8A8_UNORM, 255)),
    ] {
        let read = |context: &Context| embedded(context, Made::Pipeline, true, &sampler, of);
        let (own, errors) = without_layer(builder(), read)?;
        run::assert_silent(&errors, "without samplin");
        let (with, judged) = silent(builder(), "with samplin", read)?;
        assert_eq!(with, own);
        judged.assert_untouched("a legal embedded sampler");
        assert_eq!(judged.summary()["census"]["heaps"]["embedded"], 1);
    }
    Ok(())
}

/// The bytes of samplers that are written to a heap.
fn written(context: &Context, infos: &[vk::SamplerCreateInfo<'_>]) -> Result<Vec<Vec<u8>>, Skip> {
    check(context)?;
    Ok(Heaps::new(context).write_samplers(infos))
}

fn lod_range() -> Outcome {
    let wrong = vk::SamplerCreateInfo { min_lod: 3.0, max_lod: 1.0, ..LINEAR };
    let right = vk::SamplerCreateInfo { min_lod: 3.0, max_lod: 3.0, ..LINEAR };
    let wanted = reported(builder(), &["VkSamplerCreateInfo-maxLod-01973"], |context| {
        written(context, &[LINEAR, right, wrong])
    })?;
    assert_ne!(wanted[1], wanted[2]);
    let (got, judged) = silent(builder(), "with samplin", |context| written(context, &[LINEAR, wrong, wrong]))?;
    assert_eq!(got[1], got[2], "equal create infos have equal bits");
    assert_eq!(got[0], wanted[0], "the legal one before it is untouched");
    let changes = judged.changes("sampler");
    assert!(!changes.is_empty() && changes.iter().all(|change| change.rule == "lod-range"), "{changes:#?}");
    let record = judged.trace.events("sampler").next().expect("a record");
    assert_eq!(record["path"], "heap_write");
    assert_eq!(judged.summary()["census"]["heaps"]["samplers"], 3);
    assert_eq!(judged.summary()["census"]["heaps"]["states"], 2);
    Ok(())
}

fn written_legal() -> Outcome {
    let all = [LINEAR, NEAREST, bordered(vk::BorderColor::INT_OPAQUE_WHITE)];
    let (own, errors) = without_layer(builder(), |context| written(context, &all))?;
    run::assert_silent(&errors, "without samplin");
    let (with, judged) = silent(builder(), "with samplin", |context| written(context, &all))?;
    assert_eq!(with, own);
    judged.assert_untouched("legal samplers in a heap");
    Ok(())
}

/// What a shader reads through the samplers of a heap.
fn joined(
    context: &Context,
    samplers: &[vk::SamplerCreateInfo<'_>],
    (format, value): (F, u32),
) -> Result<[u32; 2], Skip> {
    check(context)?;
    let heaps = Heaps::new(context);
    let image = image(context, format, value)?;
    heaps.write_samplers(samplers);
    heaps.write_image(0, SAMPLED, &view(&image), image.rest_layout());
    let words = shader(if format == F::R32_UINT { "u" } else { "" }, false);
    let mappings = [mapping(0, 0), mapping(1, 0), pushed(2)];
    Ok(heap::run(&heaps, Made::Pipeline, &words, &mappings, 2).try_into().expect("two words"))
}

/// Which sampler of a heap meets which image is for the shader to say.
fn named() -> Outcome {
    let (_, judged) =
        silent(builder(), "with samplin", |context| joined(context, &[LINEAR, NEAREST], (F::R32_UINT, 300)))?;
    let record = judged.only_left();
    assert_eq!((&record["what"], &record["rule"]), (&"descriptor-heap".into(), &"heap".into()));
    for (member, count) in [("samplers", 2), ("states", 2), ("views", 1), ("classes", 1), ("pairs", 1)] {
        assert_eq!(record["heaps"][member], count, "{member} of {record:#}");
    }
    assert_eq!(record["format"], "VK_FORMAT_R32_UINT");
    Ok(())
}

/// A shader of floats reads no view of integers, whatever else is in the heap.
fn nothing_named() -> Outcome {
    let (read, judged) = silent(builder(), "with samplin", |context| {
        check(context)?;
        let integers = image(context, F::R32_UINT, 300)?;
        let heaps = Heaps::new(context);
        heaps.write_image(1, SAMPLED, &view(&integers), integers.rest_layout());
        joined(context, &[LINEAR], (F::R8G8B8A8_UNORM, 255))
    })?;
    assert_eq!(f32::from_bits(read[0]), 1.0);
    judged.assert_untouched("LINEAR samplers beside integers that no shader joins");
    assert_eq!(judged.summary()["census"]["heaps"]["views"], 2);
    Ok(())
}

fn rules() -> Outcome {
    let folder = Folder::new();
    let write = |apply: &str| {
        let text = format!(
            "[[rule]]\nname = \"blocky\"\n{apply}when = {{ mag_filter = \"linear\" }}\nset = {{ mag_filter = \"nearest\", min_filter = \"nearest\" }}\n"
        );
        builder().rules(&folder, &text)
    };
    let run = |builder| {
        silent(builder, "with samplin", |context| {
            let bytes = written(context, &[LINEAR, NEAREST])?;
            let words = embedded(context, Made::Pipeline, true, &LINEAR, (F::R8G8B8A8_UNORM, 255))?;
            Ok((bytes, words))
        })
    };
    let ((bytes, _), judged) = run(write("apply = \"sampler\"\n"))?;
    assert_eq!(bytes[0], bytes[1]);
    let records: Vec<_> = judged.trace.events("sampler").collect();
    assert_eq!(records.len(), 2, "{records:#?}");
    assert!(records.iter().all(|record| record["rules"] == serde_json::json!(["blocky"])), "{records:#?}");
    let ((bytes, _), judged) = run(write(""))?;
    assert_ne!(bytes[0], bytes[1]);
    judged.assert_untouched("a rule that does not say that it holds without a view");
    Ok(())
}

fn registered() -> Outcome {
    let register = |context: &Context| {
        check(context)?;
        skip_if(context.missing(&[Capability::CustomBorderColor, Capability::CustomBorderColorWithoutFormat]))?;
        let heaps = Heaps::new(context);
        let mut color = vk::SamplerCustomBorderColorCreateInfoEXT::default()
            .custom_border_color(vk::ClearColorValue { float32: [0.5, 0.25, 0.0, 1.0] });
        let indices: Vec<_> = (0..3).map(|_| heaps.register(&color).expect("a place")).collect();
        let index = vk_layer_sys::SamplerCustomBorderColorIndexCreateInfoEXT {
            s_type: vk_layer_sys::SamplerCustomBorderColorIndexCreateInfoEXT::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            index: indices[0],
        };
        color.p_next = (&raw const index).cast();
        let own =
            vk::SamplerCreateInfo { p_next: (&raw const color).cast(), ..bordered(vk::BorderColor::FLOAT_CUSTOM_EXT) };
        let legal = heaps.write_samplers(&[own]);
        // The filter has to change, and the colour stays the one that is registered.
        let wrong = vk::SamplerCreateInfo { min_lod: 1.0, max_lod: 0.0, ..own };
        let repaired = heaps.write_samplers(&[wrong]);
        indices.iter().for_each(|index| heaps.unregister(*index));
        // A driver may hand out one index for several.
        Ok((legal, repaired, std::collections::BTreeSet::from_iter(indices).len()))
    };
    let ((own, ..), _) = without_layer(builder(), register)?;
    let ((legal, repaired, count), judged) = silent(builder(), "with samplin", register)?;
    assert_eq!(legal, own);
    assert_ne!(repaired, own, "the LOD differs");
    let changes = judged.changes("sampler");
    assert!(changes.iter().all(|change| change.rule == "lod-range"), "{changes:#?}");
    assert_eq!(judged.summary()["census"]["limits"]["maxCustomBorderColorSamplers"]["asked"], count);
    Ok(())
}

/// A view that inherits STORAGE from its image, with a format that cannot be stored.
fn usage() -> Outcome {
    let write = |context: &Context| {
        check(context)?;
        let stores = |format| {
            let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
            features.contains(vk::FormatFeatureFlags::STORAGE_IMAGE)
        };
        let (unorm, srgb) = (F::R8G8B8A8_UNORM, F::R8G8B8A8_SRGB);
        context.skip_where(stores(srgb) || !stores(unorm), "stores sRGB")?;
        let desc = ImageDesc::d2(unorm, 4, 4).mutable().usage(Usage::STORAGE | Usage::SAMPLED);
        let image = Image::new(context, &desc).map_err(Skip)?;
        let heaps = Heaps::new(context);
        for format in [srgb, unorm] {
            let view = image.view_info(&ViewDesc::format(format));
            heaps.write_image(0, SAMPLED, &view, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        }
        Ok(())
    };
    reported(builder(), &["VkImageViewCreateInfo-usage-02275"], write)?;
    let ((), judged) = silent(builder(), "with samplin", write)?;
    let change = judged.change("view");
    assert_eq!((change.rule.as_str(), change.field.as_str()), ("view-usage", "usage"));
    assert_eq!(judged.trace.events("view").next().expect("a record")["path"], "heap_write");
    Ok(())
}

/// Nothing goes down but what the application asks for, and the trace says what would have been changed.
fn audit() -> Outcome {
    let read = |context: &Context| {
        let words = embedded(context, Made::Pipeline, true, &LINEAR, (F::R32_UINT, 300))?;
        let wrong = vk::SamplerCreateInfo { min_lod: 3.0, max_lod: 1.0, ..LINEAR };
        Ok((words, written(context, &[wrong])?))
    };
    let (own, _) = without_layer(builder(), read)?;
    let (with, judged) = with_layer(builder().setting("mode", "audit"), read)?;
    assert_eq!(with, own);
    let rules: Vec<_> = judged.changes("sampler").into_iter().map(|change| change.rule).collect();
    assert!(rules.contains(&"linear-filter".to_owned()) && rules.contains(&"lod-range".to_owned()), "{rules:?}");
    Ok(())
}
