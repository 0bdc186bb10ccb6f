//! The harness against itself: without the layer under test, with the validation layer where it is installed.
//!
//! Every case also has to stay silent in the validation layer, so that later findings are the layer's and not the
//! harness's.

use ash::vk;
use samplin_testkit::path::{Path, sample_via};
use samplin_testkit::{
    BlitApi, Capability, Context, Image, ImageDesc, Mapping, Painter, Pair, ResultKind, SamplePoint, SamplerDesc,
    Value, ViewDesc, descriptor, layer, reference, sample, shader, skip, texel,
};

const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

fn ramp(width: u32, [x, y, _]: [u32; 3]) -> Value {
    Value::Float([(x * 16 % 256) as f32 / 255.0, (y * 16) as f32 / 255.0, (width % 256) as f32 / 255.0, 1.0])
}

#[test]
fn every_path_delivers_the_same_texels() {
    let version = vk::make_api_version(0, 1, 4, 0);
    let Some(context) = Context::builder().api_version(version).validated() else { return };
    let image = |width: u32| {
        let desc = ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, width, 4);
        Image::filled(&context, &desc, |_, _, _, at| ramp(width, at)).expect("a required format")
    };
    let (first, second, third) = (image(4), image(8), image(16));
    let views = [first.view(&ViewDesc::default()), second.view(&ViewDesc::default()), third.view(&ViewDesc::default())];
    let samplers = [
        SamplerDesc::nearest().create(&context),
        SamplerDesc::linear().named("linear").create(&context),
        SamplerDesc::nearest().address(vk::SamplerAddressMode::REPEAT).create(&context),
    ];
    let mut pairs: Vec<_> = views.iter().zip(&samplers).map(|(view, sampler)| Pair::new(view, sampler)).collect();
    // Another kind of shader variable among them.
    let integers = Image::filled(&context, &ImageDesc::d2(vk::Format::R32_UINT, 4, 4), |_, _, _, [x, y, _]| {
        Value::Uint([10 * y + x, 0, 0, 1])
    });
    let integers = integers.expect("R32_UINT is sampled everywhere");
    let integers = integers.view(&ViewDesc::default());
    pairs.insert(1, Pair::new(&integers, &samplers[0]));
    let points = shader::grid(4, 4, [0.0, 0.0], [1.0, 1.0]);
    let expected = sample_via(&context, Path::Update, &pairs, &points).expect("every device has it");
    let nearest: Vec<_> = (0..16).map(|index| ramp(4, [index % 4, index / 4, 0])).collect();
    for (got, want) in expected[0].iter().zip(&nearest) {
        assert!(got.is_near(*want, 1e-6), "{got:?} is not {want:?}");
    }
    for path in Path::COMBINED.into_iter().chain(Path::APART) {
        match sample_via(&context, path, &pairs, &points) {
            Ok(got) => assert_eq!(got, expected, "{path:?}"),
            Err(missing) => skip(format!("{path:?}: {missing}")),
        }
    }
    context.assert_silent();
}

#[test]
fn texels_survive_upload_and_fetch() {
    let Some(context) = Context::builder().validated() else { return };
    let colour = [
        vk::Format::R8_UNORM,
        vk::Format::R8G8_SNORM,
        vk::Format::R8G8B8A8_UINT,
        vk::Format::R8G8B8A8_SINT,
        vk::Format::R8G8B8A8_SRGB,
        vk::Format::B8G8R8A8_UNORM,
        vk::Format::R16_UINT,
        vk::Format::R16G16_SINT,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R32_UINT,
        vk::Format::R32G32_SFLOAT,
        vk::Format::R32G32B32A32_SINT,
        vk::Format::A2B10G10R10_UNORM_PACK32,
        vk::Format::B5G6R5_UNORM_PACK16,
        vk::Format::B4G4R4A4_UNORM_PACK16,
        vk::Format::B10G11R11_UFLOAT_PACK32,
        vk::Format::E5B9G9R9_UFLOAT_PACK32,
    ]
    .map(|format| (format, COLOUR));
    let depth = [
        (vk::Format::D16_UNORM, vk::ImageAspectFlags::DEPTH),
        (vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH),
        (vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::DEPTH),
        (vk::Format::D24_UNORM_S8_UINT, vk::ImageAspectFlags::STENCIL),
        (vk::Format::D32_SFLOAT_S8_UINT, vk::ImageAspectFlags::DEPTH),
        (vk::Format::D32_SFLOAT_S8_UINT, vk::ImageAspectFlags::STENCIL),
        (vk::Format::S8_UINT, vk::ImageAspectFlags::STENCIL),
    ];
    for (format, aspect) in colour.into_iter().chain(depth) {
        let value = |aspect, [x, y, _]: [u32; 3]| match texel::numeric_kind(format, aspect) {
            texel::NumericKind::Float => Value::Float([x as f32 / 4.0, y as f32 / 4.0, 0.5, 1.0]),
            texel::NumericKind::Int => Value::Int([x as i32 - 2, y as i32, -7, 1]),
            texel::NumericKind::Uint => Value::Uint([x * 50 + y, 7, 9, 1]),
        };
        let image = match Image::filled(&context, &ImageDesc::d2(format, 4, 3), |aspect, _, _, at| value(aspect, at)) {
            Ok(image) => image,
            Err(missing) => {
                skip(format!("{format:?}: {missing}"));
                continue;
            }
        };
        let view = image.view(&ViewDesc::aspect(aspect));
        let sampler = SamplerDesc::nearest().create(&context);
        let points = shader::grid(4, 3, [0.0, 0.0], [1.0, 1.0]);
        let sampled = sample(&context, Pair::new(&view, &sampler), &points);
        let read = image.read(aspect, 0, 0);
        assert_eq!(sampled.len(), 12);
        for (index, (got, stored)) in sampled.iter().zip(&read).enumerate() {
            let at = [index as u32 % 4, index as u32 / 4, 0];
            let mut bytes = Vec::new();
            texel::encode(format, aspect, value(aspect, at), &mut bytes);
            let want = texel::decode(format, aspect, &bytes);
            // Drivers may decode sRGB with a table and widen short components to eight bits; depth and stencil define
            // their first component only.
            let tolerance = match format {
                vk::Format::R8G8B8A8_SRGB | vk::Format::B5G6R5_UNORM_PACK16 | vk::Format::B4G4R4A4_UNORM_PACK16 => 4e-3,
                _ => 1e-6,
            };
            assert!(stored.is_near(want, 1e-6), "{format:?} {aspect:?} at {at:?}: read {stored:?}, not {want:?}");
            let first = |value: Value| value.components()[0];
            let same = if aspect == COLOUR {
                got.is_near(want, tolerance)
            } else {
                (first(*got) - first(want)).abs() <= tolerance
            };
            assert!(same, "{format:?} {aspect:?} at {at:?}: sampled {got:?}, not {want:?}");
        }
    }
    context.assert_silent();
}

#[test]
fn every_shape_and_instruction_runs() {
    let Some(context) = Context::builder().validated() else { return };
    let format = vk::Format::R32_SFLOAT;
    let mut descs = vec![
        (ImageDesc::d1(format, 4), vk::ImageViewType::TYPE_1D),
        (ImageDesc::d1(format, 4).layers(3), vk::ImageViewType::TYPE_1D_ARRAY),
        (ImageDesc::d2(format, 4, 4), vk::ImageViewType::TYPE_2D),
        (ImageDesc::d2(format, 4, 4).layers(3), vk::ImageViewType::TYPE_2D_ARRAY),
        (ImageDesc::d3(format, 4, 4, 4), vk::ImageViewType::TYPE_3D),
        (ImageDesc::cube(format, 4), vk::ImageViewType::CUBE),
    ];
    if context.supports(Capability::ImageCubeArray) {
        descs.push((ImageDesc::cube(format, 4).layers(12), vk::ImageViewType::CUBE_ARRAY));
    }
    let sampler = SamplerDesc::nearest().create(&context);
    for (desc, view_type) in descs {
        let desc = desc.levels(2);
        let image = Image::filled(&context, &desc, |_, level, layer, _| Value::Float([(10 * level + layer) as f32; 4]));
        let image = image.expect("R32_SFLOAT is sampled everywhere");
        let view = image.view(&ViewDesc { view_type: Some(view_type), ..ViewDesc::default() });
        let pair = Pair::new(&view, &sampler);
        // Looks along -y: face 3 of a cube; layer 2 of the arrays.
        let coord = match view_type {
            vk::ImageViewType::CUBE => [0.1, -1.0, 0.2, 0.0],
            vk::ImageViewType::CUBE_ARRAY => [0.1, -1.0, 0.2, 1.0],
            vk::ImageViewType::TYPE_1D_ARRAY => [0.5, 2.0, 0.0, 0.0],
            _ => [0.5, 0.5, 2.0, 0.0],
        };
        let layer = match view_type {
            vk::ImageViewType::CUBE => 3.0,
            vk::ImageViewType::CUBE_ARRAY => 9.0,
            vk::ImageViewType::TYPE_1D_ARRAY | vk::ImageViewType::TYPE_2D_ARRAY => 2.0,
            _ => 0.0,
        };
        let points = [0.0, 1.0].map(|lod| SamplePoint { coord, lod, reference: 0.0 });
        let got = sample(&context, pair, &points);
        assert_eq!(got.iter().map(|value| value.components()[0]).collect::<Vec<_>>(), [layer, 10.0 + layer]);
        for path in [Path::UpdateArray, Path::Separate] {
            assert_eq!(sample_via(&context, path, &[pair], &points).expect("everywhere")[0], got, "{view_type:?}");
        }
    }
    context.assert_silent();
}

#[test]
fn fetch_and_gather_read_the_named_texels() {
    let Some(context) = Context::builder().validated() else { return };
    let desc = ImageDesc::d2(vk::Format::R32_UINT, 4, 4);
    let image = Image::filled(&context, &desc, |_, _, _, [x, y, _]| Value::Uint([10 * y + x, 0, 0, 1]));
    let image = image.expect("R32_UINT is sampled everywhere");
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::nearest().create(&context);
    let layout = descriptor::SetLayout::new(&context, &[descriptor::Binding::combined(3, 1)]);
    let (_pool, set) = descriptor::Pool::set(&context, &layout);
    let pair = Pair::new(&view, &sampler);
    descriptor::write_combined(&context, set, (3, 0), &[pair]);
    let run = |op, point| {
        let access = shader::Access::Single { binding: 3 };
        let probe = shader::Probe::new(&context, &layout, op, pair.shape, pair.kind, access);
        probe.run(&shader::Bind::Set(set), &[point])[0]
    };
    assert_eq!(run(shader::Op::Fetch, SamplePoint::at(2.0, 3.0, 0.0)), Value::Uint([32, 0, 0, 1]));
    assert_eq!(run(shader::Op::Gather, SamplePoint::at(0.5, 0.5, 0.0)), Value::Uint([21, 22, 12, 11]));
    context.assert_silent();
}

#[test]
fn depth_comparison_runs_in_every_shape() {
    let Some(context) = Context::builder().validated() else { return };
    let sampler = SamplerDesc::nearest().compare(vk::CompareOp::LESS).create(&context);
    let format = vk::Format::D16_UNORM;
    let flat = ImageDesc::d2(format, 4, 4);
    for desc in [ImageDesc::d1(format, 4), flat, flat.layers(2), ImageDesc::cube(format, 4)] {
        let image = match Image::filled(&context, &desc, |_, _, _, _| Value::Float([0.5, 0.0, 0.0, 1.0])) {
            Ok(image) => image,
            Err(missing) => {
                skip(format!("{desc:?}: {missing}"));
                continue;
            }
        };
        let view = image.view(&ViewDesc::default());
        let pair = Pair::new(&view, &sampler).shadow();
        let points = [0.25, 0.75].map(|reference| SamplePoint::at(0.5, 0.25, 1.0).reference(reference));
        let got = sample(&context, pair, &points);
        assert_eq!(got, [Value::Float([1.0; 4]), Value::Float([0.0; 4])], "{:?}", view.view_type());
    }
    context.assert_silent();
}

#[test]
fn painting_agrees_with_probing() {
    let Some(context) = Context::builder().validated() else { return };
    for (format, kind) in [
        (vk::Format::R8G8B8A8_UNORM, ResultKind::Float),
        (vk::Format::R32_UINT, ResultKind::Uint),
        (vk::Format::R16_SINT, ResultKind::Int),
    ] {
        let desc = ImageDesc::d2(format, 8, 8);
        let image = Image::filled(&context, &desc, |_, _, _, [x, y, _]| match kind {
            ResultKind::Uint => Value::Uint([x + 8 * y, 0, 0, 1]),
            ResultKind::Int => Value::Int([x as i32 - 8 * y as i32, 0, 0, 1]),
            _ => Value::Float([x as f32 / 15.0, y as f32 / 15.0, 0.0, 1.0]),
        });
        let image = image.expect("sampled everywhere");
        let view = image.view(&ViewDesc::default());
        let sampler = SamplerDesc::nearest().create(&context);
        let pair = Pair::new(&view, &sampler);
        let layout = descriptor::SetLayout::new(&context, &[descriptor::Binding::combined(0, 1)]);
        let (_pool, set) = descriptor::Pool::set(&context, &layout);
        descriptor::write_combined(&context, set, (0, 0), &[pair]);
        let painter = Painter::new(&context, &layout, pair.shape, pair.kind, [16, 16]).expect("a renderable target");
        let painted = painter.paint(set, &Mapping::rectangle([0.0, 0.0], [1.0, 1.0]));
        let probed = sample(&context, pair, &shader::grid(16, 16, [0.0, 0.0], [1.0, 1.0]));
        assert_eq!(painted, probed, "{format:?}");
    }
    context.assert_silent();
}

#[test]
fn blits_scale_by_every_command() {
    let Some(context) = Context::builder().validated() else { return };
    let source = Image::filled(&context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 2, 1), |_, _, _, [x, _, _]| {
        Value::Float([x as f32, 0.0, 0.0, 1.0])
    });
    let source = source.expect("a required format");
    for api in [BlitApi::Core, BlitApi::Core2, BlitApi::Khr2] {
        let lacking = match api {
            BlitApi::Core => None,
            BlitApi::Core2 => context.missing(&[Capability::Copy2]),
            BlitApi::Khr2 => context.missing(&[Capability::Copy2Khr]),
        };
        if let Some(lacking) = lacking {
            skip(format!("{api:?}: {lacking}"));
            continue;
        }
        let target = Image::new(&context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 1)).expect("a required format");
        let reds = |filter| {
            target.blit_from(&source, filter, api);
            target.read(COLOUR, 0, 0).into_iter().map(|value| value.components()[0]).collect::<Vec<_>>()
        };
        assert_eq!(reds(vk::Filter::NEAREST), [0.0, 0.0, 1.0, 1.0]);
        let linear = reds(vk::Filter::LINEAR);
        for (got, want) in linear.iter().zip([0.0, 0.25, 0.75, 1.0]) {
            assert!((got - want).abs() < 0.02, "{api:?}: {linear:?}");
        }
    }
    context.assert_silent();
}

#[test]
fn abilities_can_be_left_off_and_old_versions_work() {
    for (version, queries) in [
        (vk::API_VERSION_1_0, false),
        (vk::API_VERSION_1_0, true),
        (vk::API_VERSION_1_1, true),
        (vk::API_VERSION_1_2, true),
    ] {
        let mut builder = Context::builder()
            .api_version(version)
            .without(Capability::SamplerAnisotropy)
            .without(Capability::CustomBorderColor);
        if !queries {
            builder = builder.without_queries();
        }
        let Some(context) = builder.validated() else { return };
        assert_eq!(context.version(), version);
        assert!(!context.supports(Capability::SamplerAnisotropy));
        assert!(!context.supports(Capability::CustomBorderColorWithoutFormat));
        let image =
            Image::filled(&context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 2, 2), |_, _, _, at| ramp(2, at));
        let image = image.expect("a required format");
        let view = image.view(&ViewDesc::default());
        let sampler = SamplerDesc::nearest().create(&context);
        let pairs = [Pair::new(&view, &sampler)];
        let points = [SamplePoint::at(0.75, 0.25, 0.0)];
        for path in Path::COMBINED {
            match sample_via(&context, path, &pairs, &points) {
                Ok(got) => assert!(got[0][0].is_near(ramp(2, [1, 0, 0]), 1e-6), "{path:?}: {got:?}"),
                Err(missing) => skip(format!("{path:?}: {missing}")),
            }
        }
        context.assert_silent();
    }
}

#[test]
fn illegal_pairs_reach_the_validation_layer() {
    let Some(context) = Context::builder().validated() else { return };
    let image = Image::filled(&context, &ImageDesc::d2(vk::Format::R32_UINT, 2, 2), |_, _, _, _| Value::Uint([1; 4]));
    let image = image.expect("sampled everywhere");
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().create(&context);
    sample(&context, Pair::new(&view, &sampler), &[SamplePoint::at(0.5, 0.5, 0.0)]);
    let has_validation = layer_is_visible(&context, layer::VALIDATION);
    assert_eq!(context.messages().has_vuid("magFilter-04553"), has_validation);
    assert_eq!(layer::loaded_library(), None, "these tests run without the layer under test");
}

fn layer_is_visible(context: &Context, name: &str) -> bool {
    // SAFETY: global command of a loaded loader.
    let layers = unsafe { context.entry().enumerate_instance_layer_properties() }.expect("layers can be listed");
    layers.iter().any(|layer| layer.layer_name_as_c_str().is_ok_and(|known| known.to_bytes() == name.as_bytes()))
}

#[test]
fn devices_agree_with_the_reference() {
    let Some(context) = Context::builder().validated() else { return };
    let noise = |seed: u32| (seed.wrapping_mul(2_654_435_761) >> 16 & 0xff) as f32;
    let modes = [
        vk::SamplerAddressMode::REPEAT,
        vk::SamplerAddressMode::MIRRORED_REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_EDGE,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    ];
    // Off the texel boundaries, where a device may round either way.
    let points: Vec<_> = (0..120)
        .map(|n| {
            let step = |k: u32| (n as f32 * 0.377 + k as f32 * 1.931).rem_euclid(5.0) - 2.0;
            SamplePoint::at(step(0), step(1), step(2)).lod([0.0, 0.3, 1.0, 1.8, 7.0][n as usize % 5])
        })
        .filter(|point| {
            let sizes = [16.0, 8.0, 4.0, 2.0, 1.0];
            point.coord.iter().all(|c| {
                let off = |position: f32| (position - position.round()).abs() > 0.02;
                *c == 0.0 || sizes.iter().all(|size| off(c * size) && off(c * size - 0.5))
            })
        })
        .collect();
    assert!(points.len() > 30, "the filter leaves too little: {}", points.len());
    for desc in [
        ImageDesc::d1(vk::Format::R8G8B8A8_UNORM, 16).levels(5),
        ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 16, 8).levels(5),
        ImageDesc::d2(vk::Format::R8G8_UNORM, 16, 8).levels(4).layers(3),
        ImageDesc::d3(vk::Format::R8G8B8A8_UNORM, 8, 4, 4).levels(3),
    ] {
        let image = Image::filled(&context, &desc, |_, level, layer, [x, y, z]| {
            let seed = x + 37 * y + 1009 * z + 20011 * level + 50021 * layer;
            Value::Float([noise(seed) / 255.0, noise(seed + 7) / 255.0, noise(seed + 13) / 255.0, 0.25])
        });
        let image = image.expect("a required format");
        let view = image.view(&ViewDesc::default());
        let texture = reference::Texture::read(&image, &view);
        for mode in modes {
            if mode == vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE
                && let Some(lacking) = context.missing(&[Capability::SamplerMirrorClampToEdge])
            {
                skip(format!("{mode:?}: {lacking}"));
                continue;
            }
            for base in [SamplerDesc::nearest(), SamplerDesc::linear(), SamplerDesc::trilinear()] {
                for lod_bias in [0.0, 0.6] {
                    let mut sampler =
                        SamplerDesc { lod_bias, ..base.clone() }.border(vk::BorderColor::FLOAT_OPAQUE_WHITE);
                    sampler.address = [mode; 3];
                    let created = sampler.create(&context);
                    let got = sample(&context, Pair::new(&view, &created), &points);
                    for (point, got) in points.iter().zip(got) {
                        let want = reference::sample(&texture, &sampler, point, context.limits().max_sampler_lod_bias);
                        // 8-bit weights in up to three axes and the mip fraction.
                        assert!(got.is_near(want, 0.02), "{desc:?} {sampler:?} {point:?}: {got:?}, not {want:?}");
                    }
                }
            }
        }
    }
    context.assert_silent();
}
