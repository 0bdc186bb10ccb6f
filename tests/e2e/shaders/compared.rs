//! Shaders that compare through two descriptors at once, of which any may be one that the device cannot compare.

use super::{Job, buffer, vulkan, write_buffer};
use crate::run::{self, Judged, Outcome, Skip, with_layer};
use ash::vk::{self, DescriptorType as T, Format as F, Handle};
use libtest_mimic::Trial;
use samplin_testkit::descriptor::{Binding, Pool, write_images};
use samplin_testkit::{Context, Image, ImageDesc, Pair, SamplerDesc, View, ViewDesc};

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/compared/both-combined", || draws(COMBINED, 3)),
        ("shaders/compared/combined-and-separate", || draws(MIXED, 3)),
        ("shaders/compared/two-legal", || legal(COMBINED)),
        ("shaders/compared/by-no-shader", by_no_shader),
        ("shaders/compared/command-buffer-that-began-before", began_before),
        ("shaders/compared/stencil", stencil),
        ("shaders/compared/combinations-of-combined", || combinations(true)),
        ("shaders/compared/combinations-of-separate", || combinations(false)),
    ])
}

/// Two comparisons, with 0.4 each.
const COMBINED: &str = "layout(binding = 0) uniform sampler2DShadow a;
layout(binding = 1) uniform sampler2DShadow b;
layout(binding = 3) buffer Out { float got[2]; };
void main() { got[0] = textureLod(a, vec3(0.5, 0.5, 0.4), 0); got[1] = textureLod(b, vec3(0.5, 0.5, 0.4), 0); }";
const MIXED: &str = "layout(binding = 0) uniform sampler2DShadow a;
layout(binding = 1) uniform texture2D b;
layout(binding = 2) uniform samplerShadow s;
layout(binding = 3) buffer Out { float got[2]; };
void main() {
    got[0] = textureLod(a, vec3(0.5, 0.5, 0.4), 0);
    got[1] = textureLod(sampler2DShadow(b, s), vec3(0.5, 0.5, 0.4), 0);
}";
/// No comparison.
const PLAIN: &str = "layout(binding = 0) uniform sampler2D a;
layout(binding = 3) buffer Out { float got[2]; };
void main() { got[0] = textureLod(a, vec2(0.5), 0).x; }";

/// An image of one texel.
fn image<'c>(context: &'c Context, format: F, texel: f32) -> Result<(Image<'c>, View<'c>), Skip> {
    let aspect = if format == F::D32_SFLOAT { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR };
    let image = Image::new(context, &ImageDesc::d2(format, 1, 1)).map_err(Skip)?;
    image.upload_bytes(aspect, 0, 0, &texel.to_le_bytes());
    let view = image.view(&ViewDesc::aspect(aspect));
    Ok((image, view))
}

/// A program with a descriptor of each of these types.
fn job<'c>(context: &'c Context, source: &str, types: &[T]) -> Job<'c> {
    let words = vulkan("comp", &format!("#version 450\nlayout(local_size_x = 1) in;\n{source}\n"));
    let bindings: Vec<_> = (0..).zip(types).map(|(binding, ty)| Binding::new(binding, *ty, 1)).collect();
    Job::new(context, &words, &bindings).expect("a pipeline")
}

/// What a shader finds in images of these formats, one pair after the other: colours are 0.6 there and depths 0.25.
fn look(context: &Context, source: &str, pairs: &[[F; 2]]) -> Result<Vec<[f32; 2]>, Skip> {
    let is_mixed = source.contains("texture2D b");
    let second = if is_mixed { T::SAMPLED_IMAGE } else { T::COMBINED_IMAGE_SAMPLER };
    let types = [T::COMBINED_IMAGE_SAMPLER, second, T::SAMPLER, T::STORAGE_BUFFER];
    let job = job(context, source, &types);
    let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS_OR_EQUAL).create(context);
    let (colour, depth) = (image(context, F::R32_SFLOAT, 0.6)?, image(context, F::D32_SFLOAT, 0.25)?);
    let mut all = Vec::new();
    for formats in pairs {
        let out = buffer(context, &[u32::MAX; 2]);
        let (_pool, set) = Pool::set(context, &job.set_layout);
        for (binding, format) in (0..).zip(formats) {
            let view = if *format == F::R32_SFLOAT { &colour.1 } else { &depth.1 };
            let info = Pair::new(view, &sampler).info();
            write_images(context, set, (binding, 0), types[binding as usize], &[info]);
        }
        write_images(context, set, (2, 0), T::SAMPLER, &[Pair::new(&colour.1, &sampler).info()]);
        write_buffer(context, set, 3, &out);
        job.dispatch(1, |commands| job.bind(commands, set));
        all.push([0, 1].map(|number: usize| f32::from_bits(out.words()[number])));
    }
    Ok(all)
}

const R32: F = F::R32_SFLOAT;
const D32: F = F::D32_SFLOAT;

fn unresolved(judged: &Judged) -> Vec<serde_json::Value> {
    judged.trace.events("unresolved").cloned().collect()
}

/// Whichever of them cannot be compared, and in whatever order that changes, each is compared.
fn draws(source: &'static str, times: usize) -> Outcome {
    let pairs = [[D32, D32], [R32, R32], [D32, R32], [R32, D32]];
    for first in 0..pairs.len() {
        let order: Vec<_> = pairs.iter().cycle().skip(first).take(pairs.len() * times).copied().collect();
        let (got, judged) = with_layer(Context::builder(), |context| look(context, source, &order))?;
        judged.assert_silent("with samplin");
        let wanted: Vec<_> =
            order.iter().map(|pair| pair.map(|format| if format == R32 { 1.0 } else { 0.0 })).collect();
        assert_eq!((got, unresolved(&judged)), (wanted, Vec::new()), "{order:?}");
    }
    Ok(())
}

fn legal(source: &'static str) -> Outcome {
    let (got, judged) = with_layer(Context::builder(), |context| look(context, source, &[[D32, D32]]))?;
    judged.assert_silent("with samplin");
    judged.assert_untouched("two depths");
    assert_eq!(got, [[0.0, 0.0]]);
    Ok(())
}

/// Of a pair that no shader compares nothing is known but that it is undefined: it is named when the device ends.
fn by_no_shader() -> Outcome {
    let (_, judged) = with_layer(Context::builder(), |context| look(context, PLAIN, &[[R32, R32]]))?;
    judged.assert_silent("with samplin");
    let [one] = &unresolved(&judged)[..] else { panic!("{:#?}", unresolved(&judged)) };
    assert_eq!((&one["what"], &one["vuid"]), (&"pair".into(), &"VUID-vkCmdDraw-None-06479".into()), "{one:#}");
    Ok(())
}

/// Nothing compares a stencil: the pair is named once, by its link.
fn stencil() -> Outcome {
    let body = |context: &Context| {
        let source = "layout(binding = 0) uniform sampler2DShadow a;\nlayout(binding = 1) buffer Out { float got[2]; };\n\
             void main() { got[0] = textureLod(a, vec3(0.5, 0.5, 0.4), 0); }";
        let types = [T::COMBINED_IMAGE_SAMPLER, T::STORAGE_BUFFER];
        let job = job(context, source, &types);
        let sampler = SamplerDesc::nearest().compare(vk::CompareOp::LESS_OR_EQUAL).create(context);
        let image = Image::new(context, &ImageDesc::d2(F::S8_UINT, 1, 1)).map_err(Skip)?;
        let view = image.view(&ViewDesc::aspect(vk::ImageAspectFlags::STENCIL));
        let out = buffer(context, &[u32::MAX; 2]);
        let (_pool, set) = Pool::set(context, &job.set_layout);
        write_buffer(context, set, 1, &out);
        write_images(context, set, (0, 0), types[0], &[Pair::new(&view, &sampler).info()]);
        job.dispatch(1, |commands| job.bind(commands, set));
        Ok(())
    };
    let ((), judged) = with_layer(Context::builder().record_only(), body)?;
    let own: Vec<_> = unresolved(&judged).into_iter().filter(|record| record["rule"] == "compare").collect();
    let [one] = &own[..] else { panic!("{own:#?}") };
    assert!(one["aspect"] == "stencil" && !one["link"].is_null(), "{one:#}");
    Ok(())
}

/// Nothing is repaired in a command buffer that began before the first descriptor that cannot compare: the record names rule, sampler and view.
fn began_before() -> Outcome {
    let body = |context: &Context| {
        let types = [T::COMBINED_IMAGE_SAMPLER, T::COMBINED_IMAGE_SAMPLER, T::SAMPLER, T::STORAGE_BUFFER];
        let job = job(context, COMBINED, &types);
        let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS_OR_EQUAL).create(context);
        let (colour, out) = (image(context, R32, 0.6)?, buffer(context, &[u32::MAX; 2]));
        let (_pool, set) = Pool::set(context, &job.set_layout);
        write_buffer(context, set, 3, &out);
        job.dispatch(1, |commands| {
            for binding in 0..2 {
                write_images(context, set, (binding, 0), types[0], &[Pair::new(&colour.1, &sampler).info()]);
            }
            // SAFETY: the buffer is recording, and the pipeline is alive.
            unsafe { context.device().cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, job.pipeline) };
            job.bind(commands, set);
        });
        Ok([sampler.handle().as_raw(), colour.1.handle().as_raw()].map(|handle| format!("{handle:#x}")))
    };
    // Drivers die of it.
    let ([sampler, view], judged) = with_layer(Context::builder().record_only(), body)?;
    let records = unresolved(&judged);
    let named: Vec<_> = records.iter().filter(|record| record["what"] == "began-before").collect();
    assert_eq!(named.len(), 2, "a link each: {records:#?}");
    for record in named {
        assert_eq!((&record["rule"], &record["vuid"]), (&"compare".into(), &"VUID-vkCmdDraw-None-06479".into()));
        assert_eq!(
            (&record["sampler"], &record["view"]),
            (&sampler.as_str().into(), &view.as_str().into()),
            "{record:#}"
        );
    }
    Ok(())
}

/// Comparisons of several kinds, each with 0.4.
const SIX: [&str; 6] = [
    "textureLod(@, vec3(0.5, 0.5, 0.4), 0)",
    "textureGather(@, vec2(0.5), 0.4).x",
    "textureGrad(@, vec3(0.5, 0.5, 0.4), vec2(0), vec2(0))",
    "textureLodOffset(@, vec3(0.5, 0.5, 0.4), 0, ivec2(1))",
    "textureProjLod(@, vec4(1, 1, 0.8, 2), 0)",
    "textureProjGrad(@, vec4(1, 1, 0.8, 2), vec2(0), vec2(0))",
];

/// What a shader finds in six images, of which those in a mask are colours: 0.6, which are compared, and else depths, 0.25.
fn look_at_six(context: &Context, is_combined: bool, masks: &[u32]) -> Result<Vec<u32>, Skip> {
    let (ty, declared) = match is_combined {
        true => (T::COMBINED_IMAGE_SAMPLER, "sampler2DShadow"),
        false => (T::SAMPLED_IMAGE, "texture2D"),
    };
    let mut source = "layout(binding = 6) uniform samplerShadow s;\n".to_owned();
    let mut looks = String::new();
    for (at, look) in SIX.iter().enumerate() {
        source += &format!("layout(binding = {at}) uniform {declared} t{at};\n");
        let pair = if is_combined { format!("t{at}") } else { format!("sampler2DShadow(t{at}, s)") };
        looks += &format!("got[{at}] = {};\n", look.replace('@', &pair));
    }
    source += &format!("layout(binding = 7) buffer Out {{ float got[6]; }};\nvoid main() {{ {looks} }}");
    let job = job(context, &source, &[ty, ty, ty, ty, ty, ty, T::SAMPLER, T::STORAGE_BUFFER]);
    let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS_OR_EQUAL).create(context);
    let (colour, depth) = (image(context, R32, 0.6)?, image(context, D32, 0.25)?);
    let mut all = Vec::new();
    for mask in masks {
        let out = buffer(context, &[u32::MAX; 6]);
        let (_pool, set) = Pool::set(context, &job.set_layout);
        for at in 0..6 {
            let view = if mask >> at & 1 != 0 { &colour.1 } else { &depth.1 };
            write_images(context, set, (at, 0), ty, &[Pair::new(view, &sampler).info()]);
        }
        write_images(context, set, (6, 0), T::SAMPLER, &[Pair::new(&colour.1, &sampler).info()]);
        write_buffer(context, set, 7, &out);
        job.dispatch(1, |commands| job.bind(commands, set));
        let passed = (0..6).filter(|at| f32::from_bits(out.words()[*at]) == 1.0);
        all.push(passed.fold(0, |all, at| all | 1 << at));
    }
    Ok(all)
}

/// Each of the 64 combinations, twice: pipelines are compiled for the first of them, and then one for all.
fn combinations(is_combined: bool) -> Outcome {
    let masks: Vec<u32> = (0..128).map(|turn| turn * 37 % 64).collect();
    let (got, judged) = with_layer(Context::builder(), |context| look_at_six(context, is_combined, &masks))?;
    assert_eq!((got, unresolved(&judged)), (masks, Vec::new()));
    // That looks for comparing instructions whether they are executed or not.
    assert!(judged.errors.iter().all(|error| error.id.ends_with("None-06479")), "{:#?}", judged.errors);
    let compiled = judged.trace.events("shader").count();
    assert!(compiled <= 24, "{compiled} pipelines");
    Ok(())
}
