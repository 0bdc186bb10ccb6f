//! OpenGL's clamp modes: `VK_SAMPLIN_gl_address_modes`, and rules that use them.

use crate::run::{Folder, Judged, Outcome, Skip, build, silent, skip_if, trial, with_layer, without_layer};
use crate::scene::{Scene, Shape, pattern};
use ash::vk;
use libtest_mimic::Trial;
use samplin_suite::opengl;
use samplin_testkit::texel::NumericKind;
use samplin_testkit::trace::changes;
use samplin_testkit::{
    Capability, Context, ContextBuilder, Held, Mapping, Painter, Pair, Path, SamplePoint, SamplerDesc, Slot, Texture,
    Value, layer, reference, sample, sample_via,
};
use serde_json::{Value as Json, json};
use std::ffi::{CStr, CString};

type F = vk::Format;
type M = vk::SamplerAddressMode;

const EXTENSION: &CStr = c"VK_SAMPLIN_gl_address_modes";
const GL_CLAMP: M = M::from_raw(0x2900);
const GL_MIRROR_CLAMP: M = M::from_raw(0x8742);

pub(crate) fn trials() -> Vec<Trial> {
    let paths = Path::COMBINED.into_iter().chain([Path::Separate, Path::SeparateImmutable]);
    let mut trials: Vec<_> = paths.map(|path| trial(format!("clamp/path/{path:?}"), move || by(path))).collect();
    trials.extend([
        trial("clamp/listed", listed),
        trial("clamp/can-be-enabled", can_be_enabled),
        trial("clamp/three-views", three_views),
        trial("clamp/two-borders", two_borders),
        trial("clamp/audit", audit),
        trial("clamp/address-half", address_half),
        trial("clamp/filters", filters),
        trial("clamp/levels", levels),
        trial("clamp/axes", axes),
        trial("clamp/opengl", as_opengl),
        trial("clamp/mirror", mirror),
        trial("clamp/mirror-border", mirror_border),
        trial("clamp/mirror-alone", mirror_alone),
        trial("clamp/without-extension", without_extension),
        trial("clamp/rule", rule),
    ]);
    trials
}

fn extended() -> ContextBuilder {
    Context::builder().extension(EXTENSION)
}

/// A device on which 32-bit floats cannot be filtered.
const WEAK: &str = "broadcom-v3d-4.2-v3dv";

const RGBA8: Scene = Scene::RGBA8;

/// Names of the device extensions, of the layer or of all.
fn extensions(context: &Context, layer: Option<&str>) -> Vec<CString> {
    let name = layer.map(|name| CString::new(name).expect("no NUL"));
    let name = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
    let enumerate = context.instance().fp_v1_0().enumerate_device_extension_properties;
    let (physical, mut count, mut list) = (context.physical_device(), 0, Vec::new());
    // SAFETY: two-call idiom on a valid physical device; the second call writes at most `count` elements.
    unsafe {
        assert_eq!(enumerate(physical, name, &mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
        list.resize(count as usize, vk::ExtensionProperties::default());
        assert_eq!(enumerate(physical, name, &mut count, list.as_mut_ptr()), vk::Result::SUCCESS);
    }
    list.truncate(count as usize);
    list.iter().filter_map(|p| Some(p.extension_name_as_c_str().ok()?.to_owned())).collect()
}

/// The extension is there with the layer, once, both of the device and of the layer, and not without it.
fn listed() -> Outcome {
    let count = |list: &[CString]| list.iter().filter(|name| name.as_c_str() == EXTENSION).count();
    let with = build(&Context::builder().samplin())?;
    let all = extensions(&with, None);
    assert_eq!(count(&all), 1, "{all:?}");
    let own = extensions(&with, Some(layer::SAMPLIN));
    assert_eq!(own, [EXTENSION, c"VK_SAMPLIN_gl_shaders"].map(CStr::to_owned), "by the layer's name");
    drop(with);
    let without = build(&Context::builder())?;
    assert_eq!(count(&extensions(&without, None)), 0);
    Ok(())
}

/// Nobody but the layer knows the extension; with it a device can be made. (That the driver never hears of it is tested on the mock
/// driver: the loader in between drops what a driver does not list.)
fn can_be_enabled() -> Outcome {
    let create = |context: &Context| {
        let queues =
            [vk::DeviceQueueCreateInfo::default().queue_family_index(context.queue_family()).queue_priorities(&[1.0])];
        let names = [EXTENSION.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        // SAFETY: the create info is made of locals; the name may be unknown, which is the question.
        let made = unsafe { context.instance().create_device(context.physical_device(), &info, None) };
        // SAFETY: just created, without children.
        made.map(|device| unsafe { device.destroy_device(None) })
    };
    let alone = build(&Context::builder())?;
    assert_eq!(create(&alone), Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
    drop(alone);
    for augment in ["on", "off"] {
        let builder = extended().setting("augment", augment);
        silent(builder, "a device with the layer's extension", |context| {
            assert!(context.extensions().contains(&EXTENSION));
            assert_eq!(create(context), Ok(()));
            Ok(())
        })?;
    }
    Ok(())
}

/// The reference's result where `sampler` names modes of Vulkan: that of the address mode alone.
fn half(texture: &Texture<'_>, sampler: &SamplerDesc) -> Vec<Value> {
    texture.wanted(sampler, &texture.scene.points(false))
}

/// What OpenGL gives where `sampler` has CLAMP_TO_BORDER for its GL_CLAMP: coordinates are clamped to [0, 1] before the footprint is
/// taken. Where the filter is NEAREST, the upper end reads the last texel (OpenGL compatibility profile, Texel Selection).
fn wanted(shown: &Texture<'_>, sampler: &SamplerDesc) -> Vec<Value> {
    let (texture, scene) = (reference::Texture::read(&shown.image, &shown.view), shown.scene);
    let at = |point: &SamplePoint| {
        let mut sampler = sampler.clone();
        let mut coord = point.coord;
        let axes = match scene.shape {
            Shape::D1 => 1,
            Shape::D3 => 3,
            _ => 2,
        };
        for (mode, coord) in sampler.address.iter_mut().zip(&mut coord).take(axes) {
            if *mode == M::CLAMP_TO_BORDER {
                *coord = coord.clamp(0.0, 1.0);
                let filter = if point.lod <= 0.0 { sampler.mag_filter } else { sampler.min_filter };
                if filter == vk::Filter::NEAREST {
                    *mode = M::CLAMP_TO_EDGE;
                }
            }
        }
        reference::sample(&texture, &sampler, &SamplePoint { coord, ..*point }, 2.0)
    };
    scene.points(false).iter().map(at).collect()
}

fn assert_near(got: &[Value], wanted: &[Value], what: &str) {
    for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!(got.is_near(*wanted, 0.02), "{what}: {got:?} is not {wanted:?} at point {index}");
    }
}

/// Samples the three views through one sampler, all bound at once, and compares each with what it must be.
fn look_at_three(context: &Context, sampler: &SamplerDesc, legal: &[SamplerDesc; 3]) -> Result<(), Skip> {
    let scenes = [F::R8G8B8A8_UNORM, F::R8G8B8A8_UINT, F::R32_SFLOAT].map(Scene::colour);
    let textures = Texture::all(context, &scenes)?;
    let made = sampler.create(context);
    let pairs: Vec<_> = textures.iter().map(|texture| Pair::new(&texture.view, &made)).collect();
    let got = sample_via(context, Path::Update, &pairs, &scenes[0].points(false)).map_err(Skip)?;
    for ((texture, legal), got) in textures.iter().zip(legal).zip(got) {
        assert_near(&got, &wanted(texture, legal), &format!("{:?}", texture.scene.format));
    }
    Ok(())
}

/// The member `saturate` of each pair's record, by format.
fn saturated(judged: &Judged) -> Vec<(String, Json)> {
    let text = |value: &Json| value.as_str().unwrap_or_default().trim_start_matches("VK_FORMAT_").to_owned();
    judged.trace.events("pair").map(|record| (text(&record["format"]), record["saturate"].clone())).collect()
}

/// One sampler at once with a view that filters, one of integers and one that the simulated device cannot filter.
fn three_views() -> Outcome {
    let sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let (edge, border) = (SamplerDesc::nearest(), sampler.clone());
    let ((), judged) = silent(extended().simulated(WEAK), "three views", |context| {
        look_at_three(context, &sampler.clone().address(GL_CLAMP), &[border, edge.clone(), edge])
    })?;
    let created = judged.changes("sampler");
    let rows: Vec<_> = created.iter().map(|c| (c.rule.as_str(), c.catalog.as_str(), c.field.as_str())).collect();
    let each = ["addressModeU", "addressModeV", "addressModeW"].map(|field| ("gl-clamp", "S-4", field));
    assert_eq!(rows, each, "before a view is known");
    assert!(
        created
            .iter()
            .all(|c| (c.from.as_str(), c.to.as_str()) == ("GL_CLAMP", "VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE"))
    );
    let saturate = [("R8G8B8A8_UNORM", json!(["u", "v"])), ("R8G8B8A8_UINT", Json::Null), ("R32_SFLOAT", Json::Null)];
    assert_eq!(saturated(&judged), saturate.map(|(format, axes)| (format.to_owned(), axes)));
    let records: Vec<_> = judged.trace.events("pair").collect();
    let to = |record: &Json| -> Vec<String> {
        let all = changes(record).into_iter().filter(|change| change.field.starts_with("addressMode"));
        all.map(|change| change.to.trim_start_matches("VK_SAMPLER_ADDRESS_MODE_").to_owned()).collect()
    };
    assert_eq!(to(records[0]), ["CLAMP_TO_BORDER"; 2], "the axes that the view has: {:#}", records[0]);
    // Creation has said so of these already.
    assert!(to(records[1]).is_empty() && to(records[2]).is_empty(), "{records:#?}");
    Ok(())
}

/// Samplers that differ in their border only keep it apart, although creation clamps them to the edge.
fn two_borders() -> Outcome {
    let ((), judged) = silent(extended(), "borders of GL_CLAMP", |context| {
        let texture = Texture::new(context, RGBA8)?;
        let colours = [
            vk::BorderColor::FLOAT_OPAQUE_WHITE,
            vk::BorderColor::FLOAT_OPAQUE_BLACK,
            vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        ];
        let samplers = colours.map(|colour| SamplerDesc::linear().border(colour));
        let made: Vec<_> = samplers.iter().map(|desc| desc.clone().address(GL_CLAMP).create(context)).collect();
        for (legal, made) in samplers.iter().zip(&made) {
            let got = texture.through(made, &RGBA8.points(false));
            assert_near(&got, &wanted(&texture, legal), &format!("{:?}", legal.border_color));
        }
        Ok(())
    })?;
    let prints: std::collections::BTreeSet<_> =
        judged.trace.events("sampler").map(|record| record["fingerprint"].to_string()).collect();
    assert_eq!(prints.len(), 3, "states that differ have fingerprints that differ");
    assert!(judged.trace.events("sampler").all(|record| record["state"]["borderColor"].is_string()));
    Ok(())
}

/// Also `mode=audit` has to hide modes that no driver knows; nothing else is changed.
fn audit() -> Outcome {
    let sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let ((), judged) = silent(extended().setting("mode", "audit"), "GL_CLAMP in audit mode", |context| {
        let texture = Texture::new(context, RGBA8)?;
        let got = texture.through(&sampler.clone().address(GL_CLAMP).create(context), &RGBA8.points(false));
        assert_near(&got, &half(&texture, &sampler), "audit");
        Ok(())
    })?;
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(())
}

/// What a change says is lost of GL_CLAMP.
fn lost(judged: &Judged) -> Vec<String> {
    judged.changes("pair").into_iter().filter(|change| change.rule == "gl-clamp").map(|change| change.lost).collect()
}

/// With `separate=base` no shader is looked at: the address mode is all there is, and half of the border's influence is lost.
fn address_half() -> Outcome {
    let sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let ((), judged) = silent(extended().setting("separate", "base"), "the address half", |context| {
        let texture = Texture::new(context, RGBA8)?;
        let got = texture.through(&sampler.clone().address(GL_CLAMP).create(context), &RGBA8.points(false));
        assert_near(&got, &half(&texture, &sampler), "the address half");
        let exact = wanted(&texture, &sampler);
        let far = got.iter().zip(&exact).filter(|(got, exact)| !got.is_near(**exact, 0.1)).count();
        assert!(far > 20, "only {far} points are far from what OpenGL gives");
        Ok(())
    })?;
    assert!(lost(&judged).iter().all(|lost| lost.starts_with("half of the border")), "{:?}", lost(&judged));
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(())
}

/// A way of a pair to its set: exact, but for descriptors that lie in the application's memory.
fn by(path: Path) -> Outcome {
    let sampler = SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    let is_buffer = path == Path::DescriptorBuffer;
    let ((), judged) = silent(extended(), "a path", |context| {
        skip_if(path.missing(context))?;
        let texture = Texture::new(context, RGBA8)?;
        let made = sampler.clone().address(GL_CLAMP).create(context);
        let got =
            sample_via(context, path, &[Pair::new(&texture.view, &made); 2], &RGBA8.points(false)).map_err(Skip)?;
        let reference = if is_buffer { half } else { wanted };
        got.iter().for_each(|got| assert_near(got, &reference(&texture, &sampler), "a path"));
        Ok(())
    })?;
    assert!(is_buffer || lost(&judged).iter().all(|lost| lost.starts_with("nothing")), "{:?}", lost(&judged));
    Ok(())
}

/// `gl_clamp_rule`: whether one LINEAR filter is enough for the border. Where shaders are rewritten it always is.
fn filters() -> Outcome {
    let (linear, nearest) = (vk::Filter::LINEAR, vk::Filter::NEAREST);
    for (separate, rule, min, mag, reaches) in [
        ("base", "both", linear, linear, true),
        ("base", "both", linear, nearest, false),
        ("base", "both", nearest, linear, false),
        ("base", "both", nearest, nearest, false),
        ("base", "min", linear, linear, true),
        ("base", "min", linear, nearest, true),
        ("base", "min", nearest, linear, false),
        ("base", "min", nearest, nearest, false),
        ("resolve", "both", linear, linear, true),
        ("resolve", "both", linear, nearest, true),
        ("resolve", "both", nearest, linear, true),
        ("resolve", "both", nearest, nearest, false),
        ("resolve", "min", nearest, linear, true),
    ] {
        let what = format!("{separate}, {rule}, min {min:?}, mag {mag:?}");
        let sampler = SamplerDesc {
            min_filter: min,
            mag_filter: mag,
            ..SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_WHITE)
        };
        let legal = if reaches { sampler.clone() } else { sampler.clone().address(M::CLAMP_TO_EDGE) };
        let builder = extended().setting("gl_clamp_rule", rule).setting("separate", separate);
        let reference = if separate == "base" { half } else { wanted };
        let ((), judged) = with_layer(builder, |context| {
            let texture = Texture::new(context, RGBA8)?;
            let made = sampler.clone().address(GL_CLAMP).create(context);
            let all = RGBA8.points(false).into_iter().zip(reference(&texture, &legal)).collect::<Vec<_>>();
            // One level of detail at a time: llvmpipe 22 magnifies none of neighbours of which it minifies one.
            for all in all.chunk_by(|(one, _), (other, _)| one.lod == other.lod) {
                let (points, wanted): (Vec<_>, Vec<_>) = all.iter().copied().unzip();
                assert_near(&texture.through(&made, &points), &wanted, &what);
            }
            Ok(())
        })?;
        judged.assert_silent(&what);
        let wanted: Vec<_> = reaches.then(|| ("R8G8B8A8_UNORM".to_owned(), json!(["u", "v"]))).into_iter().collect();
        assert_eq!(saturated(&judged), wanted, "{what}");
    }
    Ok(())
}

/// Texels of a level, as OpenGL takes them.
fn texels(scene: &Scene, level: u32) -> ([u32; 3], Vec<[u8; 4]>) {
    let size @ [width, height, depth] = scene.image_desc().level_extent(level);
    let all = (0..width * height * depth).map(|n| [n % width, n / width % height, n / width / height]);
    let texel = |at| pattern(NumericKind::Float, level, 0, at).components().map(|part| (part * 255.0).round() as u8);
    (size, all.map(texel).collect())
}

/// The same texture through OpenGL itself, llvmpipe's: on texel edges, between them and far outside.
fn as_opengl() -> Outcome {
    let places: Vec<f32> = (-20..=36).map(|n| n as f32 / 16.0).chain([-1e4, -7.31, -2.5, 3.5, 9.73, 1e4]).collect();
    let coordinates: Vec<[f32; 4]> = (0..3 * places.len())
        .map(|n| [n, n * 7 + 3, n * 13 + 5].map(|n| places[n % places.len()]))
        .map(|[x, y, z]| [x, y, z, 0.0])
        .collect();
    let mut differ = 0;
    for (axes, shape) in [(1, Shape::D1), (2, Shape::D2), (3, Shape::D3)] {
        // 1D images have one level with some drivers.
        let scene = Scene::colour(F::R8G8B8A8_UNORM).shape(shape);
        let scene = if axes == 1 { scene.flat() } else { scene };
        let levels: Vec<_> = (0..scene.levels).map(|level| texels(&scene, level)).collect();
        for linear in [[true, true, false], [true, true, true], [false, true, false], [false; 3]] {
            let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            let mip = if linear[2] { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
            let sampler = SamplerDesc {
                mag_filter: filter(linear[0]),
                min_filter: filter(linear[1]),
                mipmap_mode: mip,
                ..SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE)
            };
            let texture = opengl::Clamped { axes, levels: &levels, linear, border: [1.0; 4] };
            let mut wanted = Vec::new();
            for lod in [-1.0, 0.0, 0.4, 1.0, 1.6, 5.0] {
                // Rounding decides between two texels at their edge, which OpenGL leaves open but at the ends.
                let is_edge = |at: &f32| *at > 0.0 && *at < 1.0 && (at * 8.0).fract() == 0.0;
                let is_nearest = !linear[usize::from(lod > 0.0)];
                let at = |at: &&[f32; 4]| !is_nearest || !at.iter().take(axes).any(is_edge);
                let places: Vec<_> = coordinates.iter().filter(at).copied().collect();
                let found = opengl::sample(&texture, &places, lod)?;
                wanted.extend(
                    places
                        .into_iter()
                        .zip(found)
                        .map(|(at, found)| (SamplePoint::at(at[0], at[1], at[2]).lod(lod), found)),
                );
            }
            let builder = extended().setting("gl_clamp_rule", "min");
            silent(builder, "as OpenGL", |context| {
                let (_image, view) = scene.shown(context)?;
                let modes = [GL_CLAMP, M::CLAMP_TO_BORDER];
                let [made, border] = modes.map(|mode| sampler.clone().address(mode).create(context));
                // One level of detail at a time: llvmpipe 22 magnifies none of neighbours of which it minifies one.
                for all in wanted.chunk_by(|(one, _), (other, _)| one.lod == other.lod) {
                    let points: Vec<_> = all.iter().map(|(point, _)| *point).collect();
                    let look = |sampler| sample(context, Pair::new(&view, sampler), &points);
                    for ((got, half), (at, wanted)) in look(&made).iter().zip(&look(&border)).zip(all) {
                        let wanted = Value::Float(*wanted);
                        differ += usize::from(!half.is_near(wanted, 0.1));
                        assert!(got.is_near(wanted, 0.02), "{shape:?} {linear:?} {at:?}: {got:?}, not {wanted:?}");
                    }
                }
                Ok(())
            })?;
        }
    }
    assert!(differ > 1000, "{differ} places are different without the clamp");
    Ok(())
}

/// Axes are decided one by one, and only those that the view has are to be saturated.
fn axes() -> Outcome {
    let modes = [
        ("1d", Shape::D1, [GL_CLAMP; 3], json!(["u"])),
        ("2d", Shape::D2, [GL_CLAMP; 3], json!(["u", "v"])),
        ("2d-array", Shape::D2Array, [GL_CLAMP; 3], json!(["u", "v"])),
        ("3d", Shape::D3, [GL_CLAMP; 3], json!(["u", "v", "w"])),
        ("3d, w alone", Shape::D3, [M::REPEAT, M::CLAMP_TO_EDGE, GL_CLAMP], json!(["w"])),
        ("2d, v alone", Shape::D2, [M::MIRRORED_REPEAT, GL_CLAMP, M::REPEAT], json!(["v"])),
        // Faces ignore address modes, and directions must not be clamped.
        ("cube", Shape::Cube, [GL_CLAMP; 3], Json::Null),
    ];
    for (what, shape, address, saturate) in modes {
        let scene = Scene::colour(F::R8G8B8A8_UNORM).shape(shape);
        let scene = if shape == Shape::D1 { scene.flat() } else { scene };
        let sampler =
            SamplerDesc { address, border_color: vk::BorderColor::FLOAT_OPAQUE_WHITE, ..SamplerDesc::linear() };
        let legal = SamplerDesc {
            address: address.map(|mode| if mode == GL_CLAMP { M::CLAMP_TO_BORDER } else { mode }),
            ..sampler.clone()
        };
        let ((), judged) = with_layer(extended(), |context| {
            let (texture, points) = (Texture::new(context, scene)?, scene.points(false));
            let got = texture.through(&sampler.create(context), &points);
            let wanted = if shape == Shape::Cube {
                texture.through(&legal.create(context), &points)
            } else {
                wanted(&texture, &legal)
            };
            assert_near(&got, &wanted, what);
            Ok(())
        })?;
        judged.assert_silent(what);
        let told = saturated(&judged);
        assert_eq!(told.first().map_or(Json::Null, |(_, axes)| axes.clone()), saturate, "{what}: {told:?}");
    }
    Ok(())
}

/// `GL_MIRROR_CLAMP_EXT` mirrors once and clamps, or what comes nearest to that.
fn mirror() -> Outcome {
    for (without, legal, told) in [
        (vec![], M::MIRROR_CLAMP_TO_EDGE, vec!["S-4"; 3]),
        (
            vec![Capability::SamplerMirrorClampToEdge],
            M::MIRRORED_REPEAT,
            vec!["S-4", "A-21", "S-4", "A-21", "S-4", "A-21"],
        ),
    ] {
        let builder = without.iter().fold(extended().setting("augment", "off"), |b, capability| b.without(*capability));
        let ((), judged) = silent(builder, "GL_MIRROR_CLAMP_EXT", |context| {
            if without.is_empty() {
                skip_if(context.missing(&[Capability::SamplerMirrorClampToEdge]))?;
            }
            let texture = Texture::new(context, RGBA8)?;
            let got =
                texture.through(&SamplerDesc::nearest().address(GL_MIRROR_CLAMP).create(context), &RGBA8.points(false));
            let legal = SamplerDesc::nearest().address(legal);
            assert_near(&got, &wanted(&texture, &legal), "mirrored");
            Ok(())
        })?;
        let changes = judged.changes("sampler");
        let rows: Vec<&str> = changes.iter().map(|change| change.catalog.as_str()).collect();
        assert_eq!(rows, told);
        assert_eq!((changes[0].from.as_str(), changes[0].rule.as_str()), ("GL_MIRROR_CLAMP_EXT", "gl-clamp"));
        assert!(changes[0].lost.contains("border"), "{:?}", changes[0]);
    }
    Ok(())
}

/// Pictures of what is smaller than the texture, where nothing is clamped: from the level, or the levels, of any other address mode; and
/// from the base level where that is all that the sampler or the view has.
fn levels() -> Outcome {
    let scene = RGBA8;
    let paint = |context: &Context, scene: Scene, sampler: &SamplerDesc| -> Result<Vec<Value>, Skip> {
        let (_image, view) = scene.shown(context)?;
        let made = sampler.create(context);
        let pair = Pair::new(&view, &made);
        let held = Held::of(context, &[Slot::pair(&view, &made, 0, 0)]);
        let painter = Painter::new(context, &held.layout, pair.shape, pair.kind, [2, 2]).map_err(Skip)?;
        Ok(painter.paint(held.set, &Mapping::rectangle([0.125, 0.2], [0.875, 0.8])))
    };
    let whole = SamplerDesc::linear();
    for (scene, sampler) in [
        (scene, SamplerDesc::trilinear()),
        (scene, whole.clone()),
        (scene, whole.lod(0.0, 0.25)),
        (scene.flat(), SamplerDesc::trilinear()),
    ] {
        let (own, _) = without_layer(Context::builder(), |context| paint(context, scene, &sampler))?;
        let clamped = sampler.clone().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).address(GL_CLAMP);
        let (got, _) = silent(extended(), "levels", |context| paint(context, scene, &clamped))?;
        assert_near(&got, &own, &format!("{sampler:?}"));
    }
    Ok(())
}

fn mirrored() -> SamplerDesc {
    SamplerDesc::linear().border(vk::BorderColor::FLOAT_OPAQUE_WHITE).address(GL_MIRROR_CLAMP)
}

/// With LINEAR the border takes part over half a texel at the far ends, and nowhere else: "min(1, max(1/(2N), abs(s)))", N the size
/// of the level (EXT_texture_mirror_clamp).
fn mirror_border() -> Outcome {
    for path in [Path::Update, Path::Template, Path::Separate, Path::SeparateImmutable] {
        let ((), judged) = silent(extended(), "a mirrored border", |context| {
            skip_if(path.missing(context))?;
            let texture = Texture::new(context, RGBA8)?;
            let made = mirrored().create(context);
            let points = RGBA8.points(false);
            let got = sample_via(context, path, &[Pair::new(&texture.view, &made); 2], &points).map_err(Skip)?;
            let near = |point: &SamplePoint| {
                let level = ((point.lod + 0.5).ceil() - 1.0).clamp(0.0, 2.0);
                let half = 0.5 / (8.0 / level.exp2());
                SamplePoint { coord: point.coord.map(|s| s.abs().clamp(half, 1.0)), ..*point }
            };
            let points: Vec<_> = points.iter().map(near).collect();
            let exact = texture.wanted(&mirrored().address(M::CLAMP_TO_BORDER), &points);
            got.iter().for_each(|got| assert_near(got, &exact, &format!("{path:?}")));
            let edge = half(&texture, &mirrored().address(M::MIRROR_CLAMP_TO_EDGE));
            let differ = edge.iter().zip(&exact).filter(|(edge, exact)| !edge.is_near(**exact, 0.1)).count();
            assert!(differ > 20, "the border shows at {differ} points only");
            Ok(())
        })?;
        assert_eq!(saturated(&judged)[0].1, json!(["u", "v"]));
        assert!(lost(&judged).iter().all(|lost| lost.starts_with("nothing")), "{:?}", lost(&judged));
    }
    Ok(())
}

/// Where no shader drops signs, mirroring is worth more than the border.
fn mirror_alone() -> Outcome {
    for (key, value) in [("separate", "base"), ("mode", "audit")] {
        let ((), judged) = silent(extended().setting(key, value), "mirroring alone", |context| {
            let texture = Texture::new(context, RGBA8)?;
            let got = texture.through(&mirrored().create(context), &RGBA8.points(false));
            let edge = half(&texture, &mirrored().address(M::MIRROR_CLAMP_TO_EDGE));
            assert_near(&got, &edge, value);
            Ok(())
        })?;
        assert!(saturated(&judged).iter().all(|(_, axes)| axes.is_null()));
    }
    Ok(())
}

/// Without the extension the values are like any other that is no address mode.
fn without_extension() -> Outcome {
    for mode in [GL_CLAMP, GL_MIRROR_CLAMP] {
        let ((), judged) = silent(Context::builder(), "a mode that is not enabled", |context| {
            let texture = Texture::new(context, RGBA8)?;
            let got = texture.through(&SamplerDesc::linear().address(mode).create(context), &RGBA8.points(false));
            assert_near(&got, &half(&texture, &SamplerDesc::linear()), "clamped to the edge");
            Ok(())
        })?;
        let rows: Vec<_> = judged.changes("sampler").iter().map(|c| (c.rule.clone(), c.catalog.clone())).collect();
        assert_eq!(rows, vec![("address-mode".to_owned(), "A-20".to_owned()); 3]);
        assert_eq!(judged.trace.events("pair").count(), 0);
    }
    Ok(())
}

/// A rule asks for the same on behalf of an application that knows nothing of the extension. Integers are guarded.
fn rule() -> Outcome {
    let folder = Folder::new();
    let builder =
        Context::builder().rules(&folder, "[[rule]]\nset = { address_mode = \"gl_clamp\" }\n").simulated(WEAK);
    let sampler =
        SamplerDesc { border_color: vk::BorderColor::FLOAT_OPAQUE_WHITE, ..SamplerDesc::linear().address(M::REPEAT) };
    let (border, edge) = (sampler.clone().address(M::CLAMP_TO_BORDER), SamplerDesc::nearest());
    let guarded = SamplerDesc::nearest().address(M::REPEAT);
    let ((), judged) =
        silent(builder, "a rule with gl_clamp", |context| look_at_three(context, &sampler, &[border, guarded, edge]))?;
    assert_eq!(judged.trace.events("sampler").count(), 0, "the sampler by itself is legal");
    let saturate = [("R8G8B8A8_UNORM", json!(["u", "v"])), ("R8G8B8A8_UINT", Json::Null), ("R32_SFLOAT", Json::Null)];
    assert_eq!(saturated(&judged), saturate.map(|(format, axes)| (format.to_owned(), axes)));
    Ok(())
}
