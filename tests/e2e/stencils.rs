//! Views of depth and stencil at once that shaders declare as integers, by programs of their own: several that read one set, descriptors that
//! are overwritten, and what is left.

use crate::aspects::{BOTH, image};
use crate::run::{Outcome, Skip, silent, skip_if, trial, with_layer};
use ash::vk::{self, ImageAspectFlags as Aspects};
use libtest_mimic::Trial;
use samplin_compiler::{Language, compile};
use samplin_testkit::descriptor::{self, Binding, Pool, SetLayout};
use samplin_testkit::held::{Slot, write};
use samplin_testkit::shader::Bind;
use samplin_testkit::way::Way;
use samplin_testkit::{
    Capability, Context, ContextBuilder, Image, ImageDesc, Pair, Probe, ResultKind, SamplePoint, SamplerDesc, Value,
    View, ViewDesc, lookup,
};

pub(crate) fn trials() -> Vec<Trial> {
    let ways = [("write", Way::Set), ("copy", Way::Copy), ("template", Way::Template)];
    let mut trials: Vec<Trial> = ways
        .into_iter()
        .map(|(name, way)| trial(format!("stencil/overwritten/{name}"), move || overwritten(way)))
        .collect();
    trials.extend([
        trial("stencil/two-programs".to_owned(), two_programs),
        trial("stencil/one-program-reads-both".to_owned(), mixed),
        trial("stencil/texels-without-a-sampler".to_owned(), fetched),
        trial("stencil/border".to_owned(), border),
        trial("stencil/views-made-anew".to_owned(), made_anew),
        trial("stencil/update-after-bind".to_owned(), after_bind),
        trial("stencil/set-before-the-view".to_owned(), set_before_view),
        trial("stencil/set-before-the-image".to_owned(), || set_before_image(INTEGERS, &["set-unfollowed"])),
        trial("stencil/set-before-the-image/floats-are-left-alone".to_owned(), || set_before_image(FLOATS, &[])),
    ]);
    trials
}

fn builder() -> ContextBuilder {
    Context::builder().api_version(vk::make_api_version(0, 1, 2, 0))
}

fn points() -> Vec<SamplePoint> {
    lookup::grid(8, 8, [-0.5, -0.5], [1.5, 1.5])
}

/// What a program declares, and what it makes of a point.
#[derive(Clone, Copy)]
struct Code(&'static str, &'static str);

const INTEGERS: Code = Code(
    "layout(set = 0, binding = 0) uniform usampler2D integers;",
    "textureLod(integers, points[index].coord.xy, 0.0)",
);
const FLOATS: Code = Code(
    "layout(set = 0, binding = 0) uniform sampler2D floats;",
    "floatBitsToUint(textureLod(floats, points[index].coord.xy, 0.0))",
);
const MIXED: Code = Code(
    "layout(set = 0, binding = 0) uniform sampler2D floats;
     layout(set = 0, binding = 0) uniform usampler2D integers;",
    "uvec4(floatBitsToUint(textureLod(floats, points[index].coord.xy, 0.0).x), textureLod(integers, vec2(0.5), 0.0).x * 0u, 0u, 1u)",
);
const FETCHED: Code = Code(
    "#extension GL_EXT_samplerless_texture_functions : require
     layout(set = 0, binding = 0) uniform utexture2D integers;",
    "texelFetch(integers, clamp(ivec2(points[index].coord.xy * 4.0), ivec2(0), ivec2(3)), 0)",
);

/// A program of this code for sets of a layout.
fn probe<'c>(context: &'c Context, layout: &SetLayout<'_>, Code(declared, texel): Code) -> Probe<'c> {
    let source = format!(
        "#version 450
        {declared}
        layout(local_size_x = 64) in;
        struct Point {{ vec4 coord; vec4 rest; }};
        layout(std430, set = 1, binding = 0) readonly buffer Points {{ Point points[]; }};
        layout(std430, set = 1, binding = 1) writeonly buffer Results {{ uvec4 results[]; }};
        layout(push_constant) uniform Size {{ uint count; }};
        void main() {{
            uint index = gl_GlobalInvocationID.x;
            if (index < count) {{
                results[index] = {texel};
            }}
        }}"
    );
    let words = compile(Language::Glsl("vulkan1.2"), "comp", &source);
    Probe::of_words(context, layout, ResultKind::Uint, &words)
}

fn with_aspects<'c>(image: &Image<'c>, aspects: Aspects) -> View<'c> {
    image.view(&ViewDesc::aspect(aspects))
}

/// What a program reads of a set of its own for each view of an image, with these aspects, in a descriptor of a type.
fn read_each<const N: usize>(
    context: &Context,
    (code, ty): (Code, vk::DescriptorType),
    sampler: &SamplerDesc,
    aspects: [Aspects; N],
) -> Result<[Vec<Value>; N], Skip> {
    let image = image(context, 0)?;
    let sampler = sampler.create(context);
    let layout = SetLayout::new(context, &[Binding::new(0, ty, 1)]);
    let pool = Pool::new(context, &[&layout; N]);
    let probe = probe(context, &layout, code);
    Ok(aspects.map(|aspects| {
        let (view, set) = (with_aspects(&image, aspects), pool.allocate(&layout));
        let slot = if ty == COMBINED { Slot::pair(&view, &sampler, 0, 0) } else { Slot::image(&view, 0, 0) };
        write(context, set, &[slot]);
        probe.run(&Bind::Set(set), &points())
    }))
}

const COMBINED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// Two programs read one set, one of them floats and the other integers, in turns.
fn two_programs() -> Outcome {
    let (_, judged) = silent(builder(), "with samplin", |context| {
        let image = image(context, 0)?;
        let views = [BOTH, Aspects::DEPTH, Aspects::STENCIL].map(|aspects| with_aspects(&image, aspects));
        let sampler = SamplerDesc::nearest().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let pool = Pool::new(context, &[&layout; 3]);
        let [both, depth, stencil] = [0, 1, 2].map(|view| {
            let set = pool.allocate(&layout);
            descriptor::write_combined(context, set, (0, 0), &[Pair::new(&views[view], &sampler)]);
            set
        });
        let (floats, integers) = (probe(context, &layout, FLOATS), probe(context, &layout, INTEGERS));
        let run = |probe: &Probe<'_>, set| probe.run(&Bind::Set(set), &points());
        let wanted = [run(&floats, depth), run(&integers, stencil)];
        assert_ne!(wanted[0], wanted[1]);
        for turn in 0..3 {
            assert_eq!(run(&floats, both), wanted[0], "turn {turn}");
            assert_eq!(run(&integers, both), wanted[1], "turn {turn}");
        }
        Ok(())
    })?;
    assert_eq!(judged.changes("view").len(), 2, "{:#?}", judged.trace);
    Ok(())
}

/// What took its place is read, and the first again when that is written once more.
fn overwritten(way: Way) -> Outcome {
    silent(builder(), "with samplin", |context| {
        let images = [image(context, 0)?, image(context, 1)?];
        let both = with_aspects(&images[0], BOTH);
        let alone = [0, 1].map(|image| with_aspects(&images[image], Aspects::STENCIL));
        let sampler = SamplerDesc::nearest().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let pool = Pool::new(context, &[&layout; 3]);
        let sets = [(); 3].map(|()| pool.allocate(&layout));
        let write = |set: usize, view: &View<'_>| {
            way.fill(context, &layout, sets[set], &[Slot::pair(view, &sampler, 0, 0)]);
        };
        let probe = probe(context, &layout, INTEGERS);
        let read = |set: usize| probe.run(&Bind::Set(sets[set]), &points());
        write(1, &alone[0]);
        write(2, &alone[1]);
        let wanted: [Vec<Value>; 2] = [read(1), read(2)];
        assert_ne!(wanted[0], wanted[1]);
        for (turn, view) in [&both, &alone[1], &both, &alone[0], &alone[1], &both].into_iter().enumerate() {
            write(0, view);
            assert_eq!(read(0), wanted[[0, 1, 0, 0, 1, 0][turn]], "turn {turn}");
        }
        Ok(())
    })?;
    Ok(())
}

/// One program reads a descriptor as both. It shows one of them, which is the depth, and that is said.
fn mixed() -> Outcome {
    let read =
        |context: &Context| read_each(context, (MIXED, COMBINED), &SamplerDesc::nearest(), [BOTH, Aspects::DEPTH]);
    let ([both, depth], judged) = with_layer(builder().record_only(), read)?;
    assert_eq!(both, depth);
    let left: Vec<_> = judged.trace.events("unresolved").filter(|record| record["rule"] == "aspect").collect();
    let [record] = left.as_slice() else { panic!("{left:#?}") };
    assert_eq!(record["what"], "both-aspects", "{record:#}");
    assert_eq!(record["descriptor"], serde_json::json!({"set": 0, "binding": 0, "element": 0}), "{record:#}");
    Ok(())
}

/// An image by itself, of which texels are fetched.
fn fetched() -> Outcome {
    let read = |context: &Context| {
        let code = (FETCHED, vk::DescriptorType::SAMPLED_IMAGE);
        read_each(context, code, &SamplerDesc::nearest(), [BOTH, Aspects::STENCIL])
    };
    let ([both, stencil], judged) = with_layer(builder(), read)?;
    assert_eq!(both, stencil);
    judged.assert_silent("with samplin");
    Ok(())
}

/// The sampler is the one that the stencil needs, which is not the one of the depth: its border is of integers.
fn border() -> Outcome {
    let sampler = SamplerDesc::linear()
        .address(vk::SamplerAddressMode::CLAMP_TO_BORDER)
        .border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let read = |context: &Context| read_each(context, (INTEGERS, COMBINED), &sampler, [BOTH, Aspects::STENCIL]);
    let ([both, stencil], judged) = with_layer(builder(), read)?;
    assert_eq!(both, stencil);
    judged.assert_silent("with samplin");
    Ok(())
}

/// Views come and go, and their handles come back.
fn made_anew() -> Outcome {
    silent(builder(), "with samplin", |context| {
        let images = [image(context, 0)?, image(context, 1)?];
        drop(with_aspects(&images[0], BOTH));
        let sampler = SamplerDesc::nearest().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        let pool = Pool::new(context, &[&layout; 2]);
        let probe = probe(context, &layout, INTEGERS);
        let (first, second) = (pool.allocate(&layout), pool.allocate(&layout));
        for turn in 0..6 {
            let image = &images[turn % 2];
            let read = |set, aspects| {
                let view = with_aspects(image, aspects);
                descriptor::write_combined(context, set, (0, 0), &[Pair::new(&view, &sampler)]);
                probe.run(&Bind::Set(set), &points())
            };
            assert_eq!(read(first, BOTH), read(second, Aspects::STENCIL), "turn {turn}");
        }
        Ok(())
    })?;
    Ok(())
}

/// A set that may be updated after it is bound has no copy: it shows the depth, and that is said.
fn after_bind() -> Outcome {
    let (_, judged) = with_layer(builder().record_only(), |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let image = image(context, 0)?;
        let sampler = SamplerDesc::nearest().create(context);
        let view = with_aspects(&image, BOTH);
        let binding = Binding::combined(0, 1).flags(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND);
        let layout = SetLayout::new(context, &[binding]);
        let (_pool, set) = Pool::set(context, &layout);
        descriptor::write_combined(context, set, (0, 0), &[Pair::new(&view, &sampler)]);
        probe(context, &layout, INTEGERS).run(&Bind::Set(set), &points());
        Ok(())
    })?;
    assert_eq!(judged.left(), ["update-after-bind"], "{:#?}", judged.trace);
    Ok(())
}

/// Writes so often that samplin follows sets no more for what shaders declare of images.
fn write_often(context: &Context, layout: &SetLayout<'_>, pair: Pair<'_, '_>) {
    let (_pool, set) = Pool::set(context, layout);
    (0..300).for_each(|_| descriptor::write_combined(context, set, (0, 0), &[pair]));
}

/// A set that was allocated before the first view with both aspects shows the stencil, however it is written.
fn set_before_view() -> Outcome {
    silent(builder(), "with samplin", |context| {
        let image = image(context, 0)?;
        let stencil = with_aspects(&image, Aspects::STENCIL);
        let sampler = SamplerDesc::nearest().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        write_often(context, &layout, Pair::new(&stencil, &sampler));
        let pool = Pool::new(context, &[&layout; 3]);
        let [first, second, third] = [0, 1, 2].map(|_| pool.allocate(&layout));
        let both = with_aspects(&image, BOTH);
        descriptor::write_combined(context, first, (0, 0), &[Pair::new(&both, &sampler)]);
        descriptor::write_combined(context, second, (0, 0), &[Pair::new(&stencil, &sampler)]);
        descriptor::update(context, &[], &[Slot::pair(&both, &sampler, 0, 0).copy(first, third)], &[]);
        let probe = probe(context, &layout, INTEGERS);
        let [first, second, third] = [first, second, third].map(|set| probe.run(&Bind::Set(set), &points()));
        assert_eq!((&first, &third), (&second, &second));
        Ok(())
    })?;
    Ok(())
}

/// A set that is older than the image is not followed: it shows the depth, and that is said if a shader reads integers.
fn set_before_image(code: Code, wanted: &[&str]) -> Outcome {
    let (_, judged) = with_layer(builder().record_only(), |context| {
        let desc = ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 4);
        let colour = Image::filled(context, &desc, |_, _, _, _| Value::Float([0.5; 4])).map_err(Skip)?;
        let view = colour.view(&ViewDesc::default());
        let sampler = SamplerDesc::nearest().create(context);
        let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
        write_often(context, &layout, Pair::new(&view, &sampler));
        let pool = Pool::new(context, &[&layout; 2]);
        let sets = [0, 1].map(|_| pool.allocate(&layout));
        let image = image(context, 0)?;
        let both = with_aspects(&image, BOTH);
        let probe = probe(context, &layout, code);
        for set in sets {
            // Nothing is wrong with it before that view is written.
            descriptor::write_combined(context, set, (0, 0), &[Pair::new(&view, &sampler)]);
            descriptor::write_combined(context, set, (0, 0), &[Pair::new(&both, &sampler)]);
            probe.run(&Bind::Set(set), &points());
        }
        // What takes its place is read as it is.
        descriptor::write_combined(context, sets[0], (0, 0), &[Pair::new(&view, &sampler)]);
        probe.run(&Bind::Set(sets[0]), &points());
        Ok(())
    })?;
    let left: Vec<_> = judged.trace.events("unresolved").filter(|record| record["rule"] == "aspect").collect();
    let names: Vec<_> = left.iter().map(|record| record["what"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, wanted, "{left:#?}");
    Ok(())
}
