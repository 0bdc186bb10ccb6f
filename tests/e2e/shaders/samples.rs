//! Fragment shaders that are shaded for each sample.

use super::{buffer, vulkan, write_buffer};
use crate::run::{self, Folder, Judged, Outcome, Skip, silent, skip_if, with_layer, without_layer};
use ash::vk::{self, ImageUsageFlags as Usage, SampleCountFlags as Samples};
use libtest_mimic::Trial;
use samplin_suite::case::assert_reported;
use samplin_testkit::context::device_file;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout};
use samplin_testkit::shader::{COLOUR, Target, attachment, covering, make_graphics, pipeline_layout};
use samplin_testkit::texel::Value;
use samplin_testkit::{Buffer, Capability, Context, ContextBuilder, Image, ImageDesc, Message, View, ViewDesc};
use serde_json::Value as Json;

pub(super) fn trials() -> Vec<Trial> {
    run::trials(&[
        ("shaders/samples/feature-added", feature_added),
        ("shaders/samples/feature-not-needed", not_needed),
        ("shaders/samples/lowered", lowered),
        ("shaders/samples/lowered-with-more-samples", lowered_many),
        ("shaders/samples/what-is-lost-is-told", lost),
        ("shaders/samples/state-without-the-feature", state),
        ("shaders/samples/fraction", fraction),
        ("shaders/samples/fraction-audit", fraction_audit),
        ("shaders/samples/mask", mask),
        ("shaders/samples/wish", wish),
        ("shaders/samples/wish-chained", wish_chained),
        ("shaders/samples/wish-held-back", wish_held_back),
        ("shaders/samples/wish-mask-input", wish_mask_input),
        ("shaders/samples/wish-left-alone", wish_left_alone),
        ("shaders/samples/wish-off", wish_off),
        ("shaders/samples/wish-audit", wish_audit),
        ("shaders/samples/wish-without-the-feature", wish_without_the_feature),
    ])
}

const EDGE: u32 = 16;

/// A picture to draw.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    samples: Samples,
    /// `sampleShadingEnable` and `minSampleShading`.
    shading: Option<f32>,
    /// What is drawn is blended with what is there.
    blends: bool,
    /// Words come in the chains of stages.
    chained: bool,
}

pub(super) const ONE: Draw = Draw { samples: Samples::TYPE_1, shading: None, blends: false, chained: false };
const FOUR: Draw = Draw { samples: Samples::TYPE_4, ..ONE };
/// Each of four samples is shaded.
pub(super) const SHADED: Draw = Draw { shading: Some(1.0), ..FOUR };

const VERTEX: &str = "#version 450
layout(location = 0) out vec2 place;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0;
    place = corner;
    gl_Position = vec4(corner, 0.0, 1.0);
}
";

/// A fragment shader of which this is the body; the picture is `o`.
pub(super) fn fragment(body: &str) -> Vec<u32> {
    declaring("in vec2 place;", body)
}

/// The same, with this at the first location.
fn declaring(declared: &str, body: &str) -> Vec<u32> {
    let head = format!("#version 450\nlayout(location = 0) {declared}\nlayout(location = 0) out vec4 o;");
    vulkan("frag", &format!("{head}\nvoid main() {{ {body} }}\n"))
}

/// Draws a triangle that covers everything, and reads the picture, resolved where it has several samples.
fn draw(context: &Context, fragment: &[u32], how: Draw) -> Result<Vec<Value>, Skip> {
    Ok(draw_with(context, fragment, how, &[])?.0)
}

/// The same with storage buffers of a word, of which it reads what they hold then.
fn draw_with(context: &Context, fragment: &[u32], how: Draw, bindings: &[u32]) -> Result<(Vec<Value>, Vec<u32>), Skip> {
    draw_stages(context, [&vulkan("vert", VERTEX), fragment], how, bindings)
}

/// The same with a vertex shader.
pub(super) fn draw_stages(
    context: &Context,
    stages: [&[u32]; 2],
    how: Draw,
    bindings: &[u32],
) -> Result<(Vec<Value>, Vec<u32>), Skip> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let desc = ImageDesc { usage: Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC, ..ImageDesc::d2(format, EDGE, EDGE) };
    let target = Image::new(context, &desc).map_err(Skip)?;
    let many = Image::new(context, &ImageDesc { samples: how.samples, ..desc }).map_err(Skip)?;
    let views = [&target, &many].map(|image| image.view(&ViewDesc::default()));
    let handles = views.each_ref().map(View::handle);
    let cleared =
        attachment(format, vk::AttachmentLoadOp::CLEAR, [vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL]);
    let attachments = [cleared, cleared.samples(how.samples)];
    let pass = match how.samples {
        Samples::TYPE_1 => Target::new(context, &attachments[..1], COLOUR, &handles[..1], [EDGE; 2]),
        _ => Target::new(context, &attachments, [&[1], &[], &[0], &[]], &handles, [EDGE; 2]),
    };
    let set_layout = SetLayout::with_stages(
        context,
        &bindings.iter().map(|binding| Binding::storage(*binding)).collect::<Vec<_>>(),
        vk::DescriptorSetLayoutCreateFlags::empty(),
        vk::ShaderStageFlags::ALL_GRAPHICS,
    );
    let set = (!bindings.is_empty()).then(|| Pool::set(context, &set_layout));
    let buffers: Vec<_> = bindings.iter().map(|_| buffer(context, &[0])).collect();
    for (binding, buffer) in bindings.iter().zip(&buffers) {
        write_buffer(context, set.as_ref().expect("a set").1, *binding, buffer);
    }
    let layout = pipeline_layout(context, &[&set_layout], &[]);
    let area = vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: EDGE, height: EDGE } };
    let pipeline = pipeline_of(context, stages, how, (layout, pass.pass), area);
    let (device, point) = (context.device(), vk::PipelineBindPoint::GRAPHICS);
    // SAFETY: the buffer is recording; pass, pipeline and set belong together.
    pass.draw(&[vk::ClearValue::default(); 2], |commands| unsafe {
        device.cmd_bind_pipeline(commands, point, pipeline);
        if let Some((_, set)) = set {
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        }
        device.cmd_draw(commands, 3, 1, 0, 0);
    });
    target.set_layout(vk::ImageLayout::GENERAL);
    let picture = target.read(vk::ImageAspectFlags::COLOR, 0, 0);
    // SAFETY: the submission was waited for.
    unsafe {
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
    }
    Ok((picture, buffers.iter().flat_map(Buffer::words).collect()))
}

/// A pipeline that covers an area.
pub(super) fn pipeline(
    context: &Context,
    fragment: &[u32],
    how: Draw,
    (layout, pass): (vk::PipelineLayout, vk::RenderPass),
    area: vk::Rect2D,
) -> vk::Pipeline {
    pipeline_of(context, [&vulkan("vert", VERTEX), fragment], how, (layout, pass), area)
}

/// The same with a vertex shader.
fn pipeline_of(
    context: &Context,
    stages: [&[u32]; 2],
    how: Draw,
    (layout, pass): (vk::PipelineLayout, vk::RenderPass),
    area: vk::Rect2D,
) -> vk::Pipeline {
    let device = context.device();
    let mut codes = stages.map(|words| vk::ShaderModuleCreateInfo::default().code(words));
    let modules = codes.map(|info| {
        if how.chained {
            return vk::ShaderModule::null();
        }
        // SAFETY: the words are a module's; what the rules forbid of them is the test's business.
        unsafe { device.create_shader_module(&info, None) }.expect("vkCreateShaderModule")
    });
    let stage = |stage, module| vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main");
    let mut stages =
        [stage(vk::ShaderStageFlags::VERTEX, modules[0]), stage(vk::ShaderStageFlags::FRAGMENT, modules[1])];
    if how.chained {
        let [vertex, fragment] = &mut codes;
        stages = [stages[0].push_next(vertex), stages[1].push_next(fragment)];
    }
    let mut multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(how.samples);
    if let Some(least) = how.shading {
        multisample = multisample.sample_shading_enable(true).min_sample_shading(least);
    }
    let mut blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    if how.blends {
        let one = vk::BlendFactor::ONE;
        blends = blends.map(|it| it.blend_enable(true).src_color_blend_factor(one).src_alpha_blend_factor(one));
    }
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let pipeline = covering(&stages, area, 1, |info| {
        let info = info.multisample_state(&multisample).color_blend_state(&blend);
        make_graphics(device, &info.layout(layout).render_pass(pass))
    });
    // SAFETY: only needed while the pipeline was made.
    modules.iter().for_each(|module| unsafe { device.destroy_shader_module(*module, None) });
    pipeline
}

/// The picture without samplin.
fn own(words: &[u32], how: Draw) -> Result<Vec<Value>, Skip> {
    Ok(without_layer(Context::builder(), |context| draw(context, words, how))?.0)
}

/// The picture with samplin, of which nothing is reported.
fn drawn(builder: ContextBuilder, words: &[u32], how: Draw) -> Result<(Vec<Value>, Judged), Skip> {
    silent(builder, "with samplin", |context| draw(context, words, how))
}

/// The same under rules.
fn ruled(rules: &str, words: &[u32], how: Draw) -> Result<(Vec<Value>, Judged), Skip> {
    let folder = Folder::new();
    drawn(Context::builder().rules(&folder, rules), words, how)
}

/// An application that does not ask for the feature.
fn unasked() -> ContextBuilder {
    Context::builder().without(Capability::SampleRateShading)
}

/// Whether validation reports the lack of the feature.
fn wants_feature(errors: &[Message]) -> bool {
    errors.iter().any(|error| error.text.contains("SampleRateShading") || error.text.contains("sampleRateShading"))
}

fn added(judged: &Judged) -> bool {
    judged.trace.first("device")["augmented"].to_string().contains("sampleRateShading")
}

/// The application does not ask for the feature, and needs it: a shade of its own for each sample. What is drawn is what one that asks
/// gets, for which nothing is done.
fn feature_added() -> Outcome {
    let by_sample = fragment("o = vec4(float(gl_SampleID + 1) / 8.0, gl_SamplePosition, 1.0);");
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    // The second is what older validation layers call it.
    let declared = ["pCode-08740", "pCode-01091"];
    let asked = ["sampleShadingEnable-00784"; 2];
    for (words, how, rules) in [(&by_sample, ONE, declared), (&by_sample, FOUR, declared), (&plain, SHADED, asked)] {
        let run = |context: &Context| draw(context, words, how);
        let (_, errors) = without_layer(unasked(), run)?;
        assert!(
            errors.iter().any(|error| rules.iter().any(|rule| error.id.ends_with(rule))),
            "without samplin: {errors:#?}"
        );
        let (wanted, errors) = without_layer(Context::builder(), run)?;
        assert!(errors.is_empty(), "of one that asks: {errors:#?}");
        for (builder, asks) in [(unasked(), false), (Context::builder(), true)] {
            let (got, judged) = silent(builder, "with samplin", run)?;
            judged.assert_untouched("a feature is all it takes");
            assert_eq!(added(&judged), !asks);
            assert_eq!(judged.trace.first("device")["features"]["sampleRateShading"], true);
            assert_eq!((judged.trace.events("shader").count(), got), (0, wanted.clone()));
        }
    }
    Ok(())
}

/// It changes nothing of what does without it, and `augment=off` adds nothing.
fn not_needed() -> Outcome {
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    for how in [ONE, FOUR] {
        let (wanted, errors) = without_layer(unasked(), |context| draw(context, &plain, how))?;
        assert!(!wants_feature(&errors));
        assert_eq!(drawn(unasked(), &plain, how)?.0, wanted);
        let (_, judged) = with_layer(unasked().setting("augment", "off"), |_| Ok(()))?;
        assert!(!added(&judged));
    }
    Ok(())
}

/// A device that lacks the feature, but for that the one at hand as far as it is told.
fn lacking(folder: &Folder) -> ContextBuilder {
    let path = device_file("llvmpipe-mesa-22.3-debian12");
    let mut file: Json = serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON");
    file["effective"]["sampleRateShading"] = false.into();
    unasked().file("device", folder.write("lacking.json", file.to_string()))
}

/// Each way to ask for a sample, or for a place to interpolate at.
const WAYS: [(&str, &str); 6] = [
    ("SampleId", "o = vec4(float(gl_SampleID + 1) / 8.0, 0.25, 0.5, 1.0);"),
    ("SamplePosition", "o = vec4(gl_SamplePosition, gl_SamplePosition.x, 1.0);"),
    ("Sample", "o = vec4(at_sample * 0.5 + 0.5, 0.5, 1.0);"),
    ("InterpolateAtSample", "o = vec4(interpolateAtSample(place, 0) * 0.5 + 0.5, 0.5, 1.0);"),
    ("InterpolateAtCentroid", "o = vec4(interpolateAtCentroid(place) * 0.5 + 0.5, 0.5, 1.0);"),
    ("InterpolateAtOffset", "o = vec4(interpolateAtOffset(place, vec2(0.25, -0.25)) * 0.5 + 0.5, 0.5, 1.0);"),
];

/// The shader of a way.
fn asking((_, body): (&str, &str)) -> Vec<u32> {
    declaring(if body.contains("at_sample") { "sample in vec2 at_sample;" } else { "in vec2 place;" }, body)
}

/// With one sample the picture is the one of a device that has the feature.
fn lowered() -> Outcome {
    let folder = Folder::new();
    for way in WAYS {
        let words = asking(way);
        let (_, errors) = without_layer(unasked(), |context| draw(context, &words, ONE))?;
        assert!(!errors.is_empty(), "{}: without samplin", way.0);
        let (native, errors) = without_layer(Context::builder(), |context| draw(context, &words, ONE))?;
        assert!(errors.is_empty(), "{}: with the feature: {errors:#?}", way.0);
        let (got, judged) = with_layer(lacking(&folder), |context| draw(context, &words, ONE))?;
        judged.assert_silent(way.0);
        assert!(!added(&judged), "{}", way.0);
        let near = got.iter().zip(&native).all(|(got, native)| got.is_near(*native, 1.5 / 255.0));
        assert!(near && got.len() == native.len(), "{}: {got:?} is not {native:?}", way.0);
        assert!(way.0 == "InterpolateAtOffset" || got == native, "{}: {got:?} is not {native:?}", way.0);
        let changes = judged.changes("shader");
        assert!(!changes.is_empty() && changes.iter().all(|it| (&*it.rule, &*it.catalog) == ("sample-shading", "J-2")));
        assert_lowered(&judged, true);
        // The pipeline knows that nothing is lost, but for what no derivative can say.
        let told = samplin_testkit::trace::changes(judged.trace.events("shader").nth(1).expect("of the pipeline"));
        assert!(
            told.iter().all(|it| it.lost.starts_with("nothing: there is one sample")
                || it.from.contains("InterpolateAtOffset") && it.lost.starts_with("nothing without perspective")),
            "{told:#?}"
        );
    }
    // What asks for no sample is left alone on such a device.
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    let (_, judged) = drawn(lacking(&folder), &plain, FOUR)?;
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(())
}

/// With more samples it is shaded once for each pixel, and that is said.
fn lowered_many() -> Outcome {
    let folder = Folder::new();
    let (got, judged) = drawn(lacking(&folder), &asking(WAYS[0]), FOUR)?;
    let first = got[0];
    assert!(first.is_near(Value::Float([0.125, 0.25, 0.5, 1.0]), 0.01), "{first:?}");
    assert!(got.iter().all(|value| *value == first), "{got:?}");
    assert!(judged.changes("shader").iter().all(|change| change.lost.starts_with("shading per sample")));
    assert_lowered(&judged, false);
    Ok(())
}

/// A mask of its own for each sample is one for all of them then, and derivatives that neighbours part from are no values: both is
/// said, of the shaders that have it and of no others.
fn lost() -> Outcome {
    let folder = Folder::new();
    let mask = fragment("o = vec4(1.0); gl_SampleMask[0] = 1 << gl_SampleID;");
    let apart = |head: &str, body: &str| {
        let body = format!("o = vec4(0.5); if (gl_FragCoord.x > 3.0) o.xy = {body};");
        declaring(&format!("in vec2 place;\n{head}"), &body)
    };
    let offset = "interpolateAtOffset(place, vec2(0.25))";
    let ahead = apart("", offset);
    let there = apart(&format!("vec2 at() {{ return {offset}; }}"), "at()");
    for (words, coverage, branch) in [(mask, true, false), (ahead, false, false), (there, false, true)] {
        for how in [ONE, FOUR] {
            let (_, judged) = drawn(lacking(&folder), &words, how)?;
            let pipeline = judged.trace.events("shader").nth(1).expect("of the pipeline");
            let lost: Vec<String> = samplin_testkit::trace::changes(pipeline).into_iter().map(|it| it.lost).collect();
            let says = |text: &str| lost.iter().any(|lost| lost.contains(text));
            assert_eq!(says("coverage"), coverage && how.samples != Samples::TYPE_1, "{lost:?}");
            assert_eq!(says("another branch"), branch, "{lost:?}");
        }
    }
    Ok(())
}

/// One record of the module, and one of the pipeline that says how many samples it has.
fn assert_lowered(judged: &Judged, single: bool) {
    let records: Vec<&Json> = judged.trace.events("shader").collect();
    let [module, pipeline] = records[..] else { panic!("{records:#?}") };
    assert!(records.iter().all(|record| record["pass"] == "sample_builtins"));
    assert_eq!((&module["tier"], &pipeline["tier"]), (&"module".into(), &"pipeline".into()));
    assert_eq!(module["module"], pipeline["module"]);
    assert_eq!(pipeline["key"], serde_json::json!({ "single": single }));
    // Counted once.
    let count = samplin_testkit::trace::changes(module).len();
    assert_eq!(judged.summary()["changes"]["sample-shading"], count);
}

/// Sample shading that the pipeline enables and the device lacks.
fn state() -> Outcome {
    let folder = Folder::new();
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    for (how, lost) in [(ONE, "nothing: there is one sample"), (FOUR, "shading per sample")] {
        let shaded = Draw { shading: Some(1.0), ..how };
        let (_, errors) = without_layer(unasked(), |context| draw(context, &plain, shaded))?;
        assert_reported(&errors, &["StateCreateInfo-sampleShadingEnable-00784"], "without samplin");
        let (got, judged) = drawn(lacking(&folder), &plain, shaded)?;
        let (wanted, _) = without_layer(unasked(), |context| draw(context, &plain, how))?;
        assert_eq!(got, wanted);
        let change = judged.change("shader");
        assert_eq!((&*change.catalog, &*change.field, &*change.lost), ("J-2", "sampleShadingEnable", lost));
    }
    Ok(())
}

const FRACTION: &str = "VkPipelineMultisampleStateCreateInfo-minSampleShading-00786";

/// A fraction that is none becomes the nearest that is.
fn fraction() -> Outcome {
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    let shaded = |least| Draw { shading: Some(least), ..FOUR };
    for (least, becomes) in [(f32::NAN, 0.0), (-0.5, 0.0), (1.5, 1.0), (f32::INFINITY, 1.0)] {
        let (_, errors) = without_layer(Context::builder(), |context| draw(context, &plain, shaded(least)))?;
        // Of NaN older validation layers say nothing.
        if !least.is_nan() {
            assert_reported(&errors, &[FRACTION], "without samplin");
        }
        let (got, judged) = drawn(Context::builder(), &plain, shaded(least))?;
        assert_eq!(got, own(&plain, shaded(becomes))?);
        let change = judged.change("shader");
        assert_eq!((&*change.catalog, &*change.field), ("J-3", "minSampleShading"));
    }
    for least in [0.0, 0.5, 1.0] {
        let (_, judged) = drawn(Context::builder(), &plain, shaded(least))?;
        judged.assert_untouched("a fraction");
        assert_eq!(judged.trace.events("shader").count(), 0);
    }
    Ok(())
}

/// Written down and not done.
fn fraction_audit() -> Outcome {
    let plain = fragment("o = vec4(place, 0.5, 1.0);");
    let how = Draw { shading: Some(1.5), ..FOUR };
    let builder = Context::builder().setting("mode", "audit");
    let (_, judged) = with_layer(builder, |context| draw(context, &plain, how))?;
    assert_reported(&judged.errors, &[FRACTION], "in audit mode");
    assert_eq!(judged.changes("shader").len(), 1);
    Ok(())
}

// --- rules --------------------------------------------------------------------------------------------------------------

/// A shader whose picture tells where it was interpolated: each sample has another colour.
const FINE: &str = "o = vec4(fract(place * 37.0), fract(place.x * place.y * 91.0), 1.0);";

/// Shaded for each sample by the application: the feature, and inputs that say so.
pub(super) fn sampled(body: &str) -> Vec<u32> {
    declaring("sample in vec2 place;", body)
}

/// What is written down of a pipeline.
fn told(judged: &Judged) -> (&Json, Vec<samplin_testkit::trace::RecordedChange>) {
    let record = judged.only("shader");
    assert_eq!(record["tier"], "pipeline");
    (record, samplin_testkit::trace::changes(record))
}

const ALL: &str = "[[rule]]\nname = \"smooth\"\nset = { sample_shading = 1.0 }\n";

/// The picture of an application which shades each sample itself; it is not the one that is shaded by pixel.
fn shaded_by_sample() -> Result<Vec<Value>, Skip> {
    let coarse = own(&fragment(FINE), FOUR)?;
    let (wanted, errors) = without_layer(Context::builder(), |context| draw(context, &sampled(FINE), SHADED))?;
    assert!(errors.is_empty() && coarse != wanted, "the shader does not tell samples apart: {errors:#?}");
    Ok(wanted)
}

/// Draws what asks for nothing, by a rule that asks for it, and checks the picture and the record.
fn assert_wish(builder: ContextBuilder, how: Draw, wanted: &[Value]) -> Outcome {
    let (got, judged) = silent(builder, "with samplin", |context| {
        skip_if(if how.chained { context.missing(&[Capability::Maintenance5]) } else { None })?;
        draw(context, &fragment(FINE), how)
    })?;
    assert_eq!(got, wanted);
    let (record, changes) = told(&judged);
    assert_eq!((&record["pass"], &record["rules"]), (&"sample_inputs".into(), &serde_json::json!(["smooth"])));
    let lines: Vec<String> = changes.iter().map(|it| format!("{} {} {}", it.catalog, it.field, it.to)).collect();
    assert_eq!(
        lines,
        ["O-1 sampleShadingEnable true", "O-1 minSampleShading 1.0", "O-1 decoration Sample"],
        "{changes:#?}"
    );
    Ok(())
}

/// The picture is that of an application which shades each sample itself, and the shader runs as often.
fn wish() -> Outcome {
    let folder = Folder::new();
    let wanted = shaded_by_sample()?;
    // Without `separate` words are kept by themselves; the application need not ask for the feature.
    for builder in [Context::builder(), unasked(), unasked().setting("separate", "base")] {
        assert_wish(builder.rules(&folder, ALL), FOUR, &wanted)?;
    }
    // A part of the samples: as the application's own. It only raises what the application asks for.
    let half = "[[rule]]\nset = { sample_shading = 0.5 }\n";
    let (got, _) = drawn(unasked().rules(&folder, half), &fragment(FINE), FOUR)?;
    assert_eq!(got, own(&sampled(FINE), Draw { shading: Some(0.5), ..FOUR })?);
    Ok(())
}

/// The same of words that come in the chains of stages.
fn wish_chained() -> Outcome {
    let folder = Folder::new();
    let wanted = shaded_by_sample()?;
    let how = Draw { chained: true, ..FOUR };
    for builder in [unasked(), unasked().setting("separate", "base")] {
        assert_wish(builder.rules(&folder, ALL), how, &wanted)?;
    }
    Ok(())
}

/// A shader that counts how often it runs.
fn counting(sample: &str) -> Vec<u32> {
    let declared = format!("{sample} in vec2 place;\nlayout(binding = 0) buffer B {{ uint runs; }};");
    declaring(&declared, "atomicAdd(runs, 1); o = vec4(place, 0.5, 1.0);")
}

/// What would be seen is held back by its guard, and the picture stays; a rule may switch guards off.
fn wish_held_back() -> Outcome {
    let folder = Folder::new();
    let words = counting("");
    // How often it runs without the layer, plain and shaded for each sample. Lavapipe counts some
    // invocations outside of the triangle where it shades pixels.
    let native = |words: &[u32], how| {
        let run = |context: &Context| {
            skip_if(context.missing(&[Capability::FragmentStores]))?;
            draw_with(context, words, how, &[0])
        };
        Ok::<_, Skip>(without_layer(Context::builder(), run)?.0.1)
    };
    let (one, coarse) = (native(&words, ONE)?, native(&words, FOUR)?);
    let fine = native(&counting("sample"), SHADED)?;
    assert_eq!(fine, [4 * EDGE * EDGE], "once for each sample");
    let without = |off: &str| format!("{ALL}guards_off = [{off}]\n");
    let with = |text: &str, how: Draw| {
        with_layer(Context::builder().rules(&folder, text), |context| {
            skip_if(context.missing(&[Capability::FragmentStores]))?;
            draw_with(context, &words, how, &[0])
        })
    };
    let ((_, runs), judged) = with(ALL, FOUR)?;
    judged.assert_silent("held back");
    assert_eq!(runs, coarse);
    assert_held(&judged, "side-effects");
    let ((_, runs), judged) = with(&without("\"side-effects\""), FOUR)?;
    judged.assert_silent("switched off");
    assert_eq!(runs, fine);
    assert!(told(&judged).1.iter().all(|change| change.catalog == "O-1"));
    let ((_, runs), judged) = with(&without("\"side-effects\""), ONE)?;
    judged.assert_silent("one sample");
    assert_eq!(runs, one);
    assert_held(&judged, "single-sample");
    for (body, guard) in [
        ("gl_SampleMask[0] = 1; o = vec4(place, 0.5, 1.0);", "mask-output"),
        (COVERED, "mask-input"),
        ("o = vec4(place, 0.5, 1.0);", "single-sample"),
    ] {
        let how = if guard == "single-sample" { ONE } else { FOUR };
        let words = fragment(body);
        let (got, judged) = ruled(ALL, &words, how)?;
        assert_eq!(got, own(&words, how)?);
        assert_held(&judged, guard);
    }
    Ok(())
}

/// A shade that says how many samples an invocation covers.
const COVERED: &str = "o = vec4(vec3(float(bitCount(gl_SampleMaskIn[0])) / 8.0), 1.0);";

/// What the guard is about: where it is switched off each invocation covers a sample, and the shade is another one.
fn wish_mask_input() -> Outcome {
    let words = fragment(COVERED);
    let wanted = own(&words, FOUR)?;
    let count = |picture: &[Value], shade: f32| {
        picture.iter().filter(|it| it.is_near(Value::Float([shade, shade, shade, 1.0]), 0.01)).count()
    };
    assert!(count(&wanted, 0.125) == 0 && count(&wanted, 0.5) > wanted.len() / 2, "all four samples of most pixels");
    for (off, held) in [("", true), ("guards_off = [\"mask-input\"]\n", false)] {
        let (got, _) = ruled(&format!("{ALL}{off}"), &words, FOUR)?;
        assert_eq!(count(&got, 0.125), if held { 0 } else { got.len() }, "{off}");
        assert_eq!(got == wanted, held, "{off}");
    }
    Ok(())
}

fn assert_held(judged: &Judged, guard: &str) {
    let (record, changes) = told(judged);
    assert_eq!(record["pass"], "multisample_state");
    assert!(!changes.is_empty() && changes.iter().all(|it| it.catalog == "O-2"), "{changes:#?}");
    assert!(changes.iter().all(|it| it.because.ends_with(&format!("(guard {guard})"))), "{changes:#?}");
    assert_eq!(judged.summary()["changes"], serde_json::json!({}));
}

/// Pipelines that no rule is about, and those that need none.
fn wish_left_alone() -> Outcome {
    let plain = fragment(FINE);
    let blended = Draw { blends: true, ..FOUR };
    let rule = |when: &str| format!("[[rule]]\nwhen = {{ {when} }}\nset = {{ sample_shading = 1.0 }}\n");
    for (when, how) in [
        ("samples = { min = 8 }", FOUR),
        ("samples = 2", FOUR),
        ("samples = { max = 2 }", FOUR),
        ("blended = true", FOUR),
        ("blended = false", blended),
        ("exe = \"another\"", FOUR),
    ] {
        let (got, judged) = ruled(&rule(when), &plain, how)?;
        judged.assert_untouched(when);
        assert_eq!((judged.trace.events("shader").count(), got), (0, own(&plain, how)?), "{when}");
    }
    // Their twins.
    for (when, how) in
        [("samples = { min = 2, max = 4 }", FOUR), ("blended = false", FOUR), ("blended = true", blended)]
    {
        let (_, judged) = ruled(&rule(when), &plain, how)?;
        assert_eq!(judged.trace.first("shader")["pass"], "sample_inputs", "{when}");
    }
    // Each sample is shaded already; what asks for as much itself stays as well.
    for (words, how) in [(fragment("o = vec4(place, gl_SampleID, 1.0);"), FOUR), (sampled(FINE), SHADED)] {
        let (got, judged) = ruled(ALL, &words, how)?;
        judged.assert_untouched("shaded already");
        assert_eq!((judged.trace.events("shader").count(), got), (0, own(&words, how)?));
    }
    Ok(())
}

/// What an application shades for each sample is shaded once; with one sample nothing is lost.
fn wish_off() -> Outcome {
    let off = "[[rule]]\nset = { sample_shading = \"off\" }\n";
    let words = fragment("o = vec4(float(gl_SampleID + 1) / 8.0, place * 0.5 + 0.5, 1.0);");
    let (got, judged) = ruled(off, &words, ONE)?;
    assert_eq!(got, own(&words, ONE)?);
    assert_eq!(told(&judged).0["pass"], "sample_builtins");
    let (got, judged) = ruled(off, &words, SHADED)?;
    assert!(got.iter().all(|value| matches!(value, Value::Float([red, ..]) if (red - 0.125).abs() < 0.01)), "{got:?}");
    assert!(told(&judged).1.iter().all(|change| change.catalog == "O-1"));
    Ok(())
}

/// Written down and not done.
fn wish_audit() -> Outcome {
    let folder = Folder::new();
    let builder = Context::builder().rules(&folder, ALL).setting("mode", "audit");
    let (got, judged) = drawn(builder, &fragment(FINE), FOUR)?;
    assert_eq!(got, own(&fragment(FINE), FOUR)?);
    assert_eq!(told(&judged).1.len(), 3);
    Ok(())
}

/// On a device that has no such feature a wish comes to nothing.
fn wish_without_the_feature() -> Outcome {
    let folder = Folder::new();
    let (got, judged) = drawn(lacking(&folder).rules(&folder, ALL), &fragment(FINE), FOUR)?;
    assert_eq!(got, own(&fragment(FINE), FOUR)?);
    let rows: Vec<String> = told(&judged).1.into_iter().map(|change| change.catalog).collect();
    assert_eq!(rows, ["O-1", "O-1", "J-2"]);
    Ok(())
}

/// A mask of two words, of which the shader touches the first.
fn lengthened(words: &[u32]) -> Vec<u32> {
    let mut longer = words.to_vec();
    let (mut at, mut constants, mut lengths) = (5, Vec::new(), Vec::new());
    while at < words.len() {
        match words[at] & 0xffff {
            28 => lengths.push(words[at + 3]),
            43 if words[at + 3] == 1 => constants.push((words[at + 2], at + 3)),
            _ => {}
        }
        at += (words[at] >> 16) as usize;
    }
    for (_, at) in constants.iter().filter(|(id, _)| lengths.contains(id)) {
        longer[*at] = 2;
    }
    assert_ne!(longer, words, "the shader has an array of one word");
    longer
}

/// A mask that is longer than the device has: as many words as it has, and the picture of those.
fn mask() -> Outcome {
    let words = fragment("gl_SampleMask[0] = 5; o = vec4(place * 0.5 + 0.5, 1.0, 1.0);");
    let longer = lengthened(&words);
    let wanted = own(&words, FOUR)?;
    let (_, errors) = without_layer(Context::builder(), |context| draw(context, &longer, FOUR))?;
    let is_told = |error: &Message| error.id.ends_with("maxSampleMaskWords-00711");
    assert!(errors.iter().any(is_told), "without samplin: {errors:#?}");
    let (got, judged) = silent(Context::builder(), "with samplin", |context| {
        context.skip_where(context.limits().max_sample_mask_words != 1, "has more words")?;
        draw(context, &longer, FOUR)
    })?;
    assert_eq!(got, wanted);
    let changes: Vec<_> = judged.changes("shader");
    let lines: Vec<_> = changes.iter().map(|it| format!("{} {} {} {}", it.catalog, it.field, it.from, it.to)).collect();
    assert_eq!(lines, ["J-4 sample mask words 2 1"]);
    // One that is short enough stays as it is.
    let (same, judged) = drawn(Context::builder(), &words, FOUR)?;
    assert_eq!((same, judged.changes("shader").len()), (wanted, 0));
    Ok(())
}
