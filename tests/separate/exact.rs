//! `unfilterable=emulate` against a filter in full precision: each address mode, border, range of levels and bias, on formats and shapes
//! that the device does not filter. Coordinates and levels are sums of powers of two, so that rounding decides nothing, also between
//! texels; sizes are not.

use super::*;
use samplin_testkit::descriptor::write_combined;
use samplin_testkit::lookup::{Access, Op, Shape};
use samplin_testkit::shader::{Bind, Probe};

const SHAPES: [(&str, Shape); 5] = [
    ("1d", Shape::D1),
    ("1d-array", Shape::D1Array),
    ("2d", Shape::D2),
    ("2d-array", Shape::D2Array),
    ("3d", Shape::D3),
];

const FLOATS: [(&str, F); 2] = [("r32", F::R32_SFLOAT), ("rgba32", F::R32G32B32A32_SFLOAT)];
const DEPTHS: [(&str, F); 2] = [("d16", F::D16_UNORM), ("d32", F::D32_SFLOAT)];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (shape_name, shape) in SHAPES {
        let mut add = |format: &str, body: fn(F, Shape) -> Outcome, of: F| {
            trials.push(trial(format!("filter/exact/{format}/{shape_name}"), move || body(of, shape)));
        };
        FLOATS.into_iter().for_each(|(name, format)| add(name, floats, format));
        FLOATS.into_iter().for_each(|(name, format)| add(&format!("driver/{name}"), as_the_driver, format));
        // Floats of half the size, which the same device filters.
        add("rgba16", filtered_by_the_device, F::R16G16B16A16_SFLOAT);
        // Hardly any device has depths in 3D.
        if shape != Shape::D3 {
            DEPTHS.into_iter().for_each(|(name, format)| add(name, depths, format));
        }
    }
    trials
}

/// A device that filters neither floats of 32 bits nor depths.
fn adreno() -> ContextBuilder {
    native().simulated("qualcomm-adreno-650-android")
}

fn native() -> ContextBuilder {
    resolve(Context::builder()).setting("unfilterable", "emulate")
}

/// Samplers that filter in some way: between texels, between levels, or both.
fn samplers() -> Vec<SamplerDesc> {
    use vk::BorderColor as B;
    use vk::Filter as T;
    use vk::SamplerAddressMode as M;
    let mut wrapped: Vec<_> = [M::REPEAT, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE, M::MIRROR_CLAMP_TO_EDGE]
        .map(|mode| SamplerDesc::nearest().address(mode))
        .to_vec();
    let colours = [B::FLOAT_TRANSPARENT_BLACK, B::FLOAT_OPAQUE_BLACK, B::FLOAT_OPAQUE_WHITE];
    wrapped.extend(colours.map(|colour| SamplerDesc::nearest().border(colour)));
    // An axis each.
    let address = [M::CLAMP_TO_BORDER, M::MIRRORED_REPEAT, M::REPEAT];
    wrapped.push(SamplerDesc { address, border_color: B::FLOAT_OPAQUE_WHITE, ..SamplerDesc::nearest() });
    let mut all = Vec::new();
    for base in wrapped {
        for (mag_filter, min_filter, mipmap_mode) in [
            (T::LINEAR, T::LINEAR, vk::SamplerMipmapMode::NEAREST),
            (T::LINEAR, T::LINEAR, vk::SamplerMipmapMode::LINEAR),
            (T::LINEAR, T::NEAREST, vk::SamplerMipmapMode::NEAREST),
            (T::LINEAR, T::NEAREST, vk::SamplerMipmapMode::LINEAR),
            (T::NEAREST, T::LINEAR, vk::SamplerMipmapMode::NEAREST),
            (T::NEAREST, T::LINEAR, vk::SamplerMipmapMode::LINEAR),
            (T::NEAREST, T::NEAREST, vk::SamplerMipmapMode::LINEAR),
        ] {
            for (lod_bias, min_lod, max_lod) in [
                (0.0, 0.0, vk::LOD_CLAMP_NONE),
                (0.375, 0.0, vk::LOD_CLAMP_NONE),
                (0.0, 0.5625, 1.25),
                (-0.75, 0.25, 1.625),
                (1.5, 0.0, 0.125),
            ] {
                all.push(SamplerDesc {
                    mag_filter,
                    min_filter,
                    mipmap_mode,
                    lod_bias,
                    min_lod,
                    max_lod,
                    ..base.clone()
                });
            }
        }
    }
    all
}

/// Texel edges, their middles, what is between, and far outside, on all levels and between them.
fn points() -> Vec<SamplePoint> {
    let mut lattice: Vec<f32> = (-11..=20).map(|n| n as f32 / 8.0 + 1.0 / 128.0).collect();
    lattice.extend((-3..=6).map(|n| n as f32 / 4.0));
    lattice.extend([-9.328_125, 12.171_875]);
    // None halfway between two, which may go either way.
    let levels = [-1.5, 0.0, 0.25, 0.4375, 0.625, 1.0, 1.5625, 1.8125, 2.0, 5.0];
    let at = |n: usize| lattice[n % lattice.len()];
    let all = (0..3 * lattice.len())
        .map(|n| SamplePoint::at(at(n), at(7 * n + 3), at(13 * n + 5)).lod(levels[n % levels.len()]));
    all.collect()
}

/// Those that are LINEAR both ways, not with each range of levels: llvmpipe 22 has one filter for neighbours of which it magnifies some, and
/// which of two texels NEAREST takes at their edge is a driver's choice.
fn some() -> Vec<SamplerDesc> {
    let linear = [vk::Filter::LINEAR; 2];
    let is_it =
        |desc: &SamplerDesc| [desc.mag_filter, desc.min_filter] == linear && desc.lod_bias <= 0.0 && desc.min_lod < 0.5;
    samplers().into_iter().filter(is_it).collect()
}

/// The same with a layer, also one that does not exist, behind the coordinates of an array.
fn points_of(shape: Shape) -> Vec<SamplePoint> {
    let layer = texels::layer_of(shape);
    let mut all = points();
    for (n, point) in all.iter_mut().enumerate() {
        if let Some(layer) = layer {
            point.coord[layer] = [0.0, 1.25, 2.0, -3.0, 7.0][n % 5];
        }
    }
    all
}

/// What is found through a sampler at each point, and what has to be.
type Found = (SamplerDesc, Vec<[Value; 2]>);

/// What one program finds through each of the samplers.
fn look(context: &Context, (format, shape): (F, Shape), samplers: Vec<SamplerDesc>) -> Result<Vec<Found>, Skip> {
    skip_if(context.missing(&[Capability::SamplerMirrorClampToEdge]))?;
    let image = texels::image(context, format, shape, 3, |bits| (bits >> 10) as f32 / (1 << 22) as f32)?;
    let view = image.view(&samplin_testkit::ViewDesc::default());
    let texels = reference::Texture::read(&image, &view);
    let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
    let access = Access::Single { binding: 0 };
    let probe = Probe::new(context, &layout, Op::Sample, shape, ResultKind::Float, access);
    let points = points_of(shape);
    let all = samplers.into_iter().map(|desc| {
        let sampler = desc.create(context);
        let (_pool, set) = Pool::set(context, &layout);
        write_combined(context, set, (0, 0), &[Pair::new(&view, &sampler)]);
        let got = probe.run(&Bind::Set(set), &points);
        let bias = context.limits().max_sampler_lod_bias;
        let wanted = points.iter().map(|point| reference::sample(&texels, &desc, point, bias));
        let found = got.into_iter().zip(wanted).map(|(got, wanted)| [got, wanted]).collect();
        (desc, found)
    });
    Ok(all.collect())
}

/// Compares `components` of all that was found; `error` says how much too far a component is off.
fn compare(
    builder: ContextBuilder,
    (format, shape): (F, Shape),
    components: usize,
    error: fn(f64, f64) -> bool,
) -> Outcome {
    let (all, judged) = silent(builder, "emulated filters", |context| look(context, (format, shape), samplers()))?;
    for (desc, found) in &all {
        for ([got, wanted], point) in found.iter().zip(points_of(shape)) {
            let [of, to] = [got, wanted].map(|value| value.components());
            let is_off = (0..components).any(|n| error(of[n], to[n]));
            assert!(!is_off, "{desc:#?}: {of:?}, not {to:?}, at {point:?}");
        }
    }
    judged.assert_resolved();
    // One pipeline does for all samplers.
    assert_passes(&judged, &["filter"]);
    let pairs = judged.trace.events("pair").count();
    assert_eq!(pairs, samplers().len(), "each sampler is in need of it: {:#?}", judged.trace);
    Ok(())
}

/// Within 2^-20 of the value.
fn floats(format: F, shape: Shape) -> Outcome {
    let components = if format == F::R32_SFLOAT { 1 } else { 4 };
    compare(adreno(), (format, shape), components, |got, wanted| {
        (got - wanted).abs() > wanted.abs() / f64::from(1 << 20)
    })
}

/// Within a step of 16 bits; without a simulated device where the driver does not filter depths.
fn depths(format: F, shape: Shape) -> Outcome {
    let context = run::build(&Context::builder())?;
    let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
    drop(context);
    let is_native = !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    let builder = if is_native { native() } else { adreno() };
    compare(builder, (format, shape), 1, |got, wanted| (got - wanted).abs() > 1.0 / 65535.0)
}

/// The same samplers with a format that the device filters: the driver's own bits, by the application's own samplers.
fn filtered_by_the_device(format: F, shape: Shape) -> Outcome {
    let (own, _) = without_layer(resolve(Context::builder()), |context| look(context, (format, shape), samplers()))?;
    let (got, judged) = with_layer(adreno(), |context| look(context, (format, shape), samplers()))?;
    judged.assert_untouched("a format that the device filters");
    for ((desc, own), (_, got)) in own.iter().zip(&got) {
        let alike = own.iter().zip(got).all(|([own, _], [got, _])| own.bits() == got.bits());
        assert!(alike, "{desc:#?}: {got:?} is not {own:?}");
    }
    Ok(())
}

/// As near to the driver's own filter as that has to be: within 1/256 of what the texels of the footprint differ by, in 3D within 1/128. A
/// device has 8 bits for each weight (`subTexelPrecisionBits`, `mipmapPrecisionBits`), and there it has four of them.
fn as_the_driver(format: F, shape: Shape) -> Outcome {
    let context = run::build(&Context::builder())?;
    let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
    let lacks = !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    skip_if(lacks.then(|| format!("{} does not filter {format:?}", context.device_name())))?;
    drop(context);
    let ends = |context: &Context| {
        let image = texels::image(context, format, shape, 3, |bits| (bits >> 10) as f32 / (1 << 22) as f32)?;
        let texels = reference::Texture::read(&image, &image.view(&samplin_testkit::ViewDesc::default()));
        let bias = context.limits().max_sampler_lod_bias;
        let of = |desc: &SamplerDesc, point: &SamplePoint| {
            [vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX].map(|mode| {
                reference::sample(&texels, &SamplerDesc { reduction: Some(mode), ..desc.clone() }, point, bias)
                    .components()
            })
        };
        let of = |desc: SamplerDesc| points_of(shape).iter().map(|point| of(&desc, point)).collect::<Vec<_>>();
        let all: Vec<_> = some().into_iter().map(of).collect();
        Ok((look(context, (format, shape), some())?, all))
    };
    let ((own, ends), _) = without_layer(resolve(Context::builder()), ends)?;
    let (got, _) = silent(adreno(), "emulated filters", |context| look(context, (format, shape), some()))?;
    let (mut compared, mut differ) = (0, 0);
    for (((desc, own), (_, got)), ends) in own.iter().zip(&got).zip(&ends) {
        for ((([own, _], [got, _]), [low, high]), point) in own.iter().zip(got).zip(ends).zip(points_of(shape)) {
            let (of, to) = (got.components(), own.components());
            for n in 0..if format == F::R32_SFLOAT { 1 } else { 4 } {
                let range = high[n] - low[n];
                compared += 1;
                differ += u32::from(range > 0.1);
                let is_off = (of[n] - to[n]).abs() > range / if shape == Shape::D3 { 128.0 } else { 256.0 } + 1e-6;
                assert!(!is_off, "{desc:#?}: {of:?}, not {to:?}, of {low:?} to {high:?}, at {point:?}");
            }
        }
    }
    assert!(differ > compared / 4, "{differ} of {compared} have texels that differ");
    Ok(())
}
