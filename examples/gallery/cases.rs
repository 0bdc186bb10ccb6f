//! The cases: what each asks of the device, and how its panel is painted.
//!
//! A case knows nothing about the layer. It is painted once without it and once with it, from the same code.

use crate::{emulated, levels, separate, shaders};
use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_combined};
use samplin_testkit::shader::{Access, Bind, Op, grid};
use samplin_testkit::{
    BlitApi, Capability, Context, ContextBuilder, Image, ImageDesc, Pair, Path, Probe, ResultKind, SamplePoint,
    SamplerDesc, Value, ViewDesc, sample, sample_via, texel,
};

/// Edge of a panel in pixels.
pub(crate) const PANEL: u32 = 192;
/// Edge of most textures in texels.
pub(crate) const TEXTURE: u32 = 12;

/// One RGB pixel.
pub(crate) type Rgb = [u8; 3];
/// `PANEL × PANEL` pixels, row by row from the top.
pub(crate) type Picture = Vec<Rgb>;

/// One case of the gallery.
pub(crate) struct Case {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Title of the tile.
    pub(crate) title: &'static str,
    /// What the application asks for, in one or two sentences.
    pub(crate) asks: &'static str,
    /// Changes the context to what the case needs.
    pub(crate) prepare: fn(ContextBuilder) -> ContextBuilder,
    /// Paints the panel, or says what the device lacks.
    pub(crate) paint: fn(&Context) -> Result<Picture, String>,
}

fn as_it_is(builder: ContextBuilder) -> ContextBuilder {
    builder
}

/// Every case, in the order of the page.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "rgba8-linear",
        title: "RGBA8, LINEAR",
        asks: "The legal twin: a LINEAR sampler on a format every device filters.",
        prepare: as_it_is,
        paint: |context| filtered(context, vk::Format::R8G8B8A8_UNORM, &SamplerDesc::linear()),
    },
    Case {
        name: "r32-uint-linear",
        title: "R32_UINT, LINEAR",
        asks: "A LINEAR sampler on an integer texture: weights of integers mean nothing.",
        prepare: as_it_is,
        paint: |context| filtered(context, vk::Format::R32_UINT, &SamplerDesc::linear()),
    },
    Case {
        name: "shared-sampler",
        title: "One sampler, two textures",
        asks: "One LINEAR sampler in one set, with RGBA8 (upper left, legal) and with R32_UINT (lower right, illegal).",
        prepare: as_it_is,
        paint: shared_sampler,
    },
    Case {
        name: "separate",
        title: "Separate texture and sampler",
        asks: "R32_UINT and a LINEAR sampler in two bindings; they meet in the shader only.",
        prepare: as_it_is,
        paint: |context| separate::same_set(context, vk::Format::R32_UINT, &SamplerDesc::linear()),
    },
    Case {
        name: "separate-shared",
        title: "Separate, sampler shared",
        asks: "One LINEAR sampler, which the shader joins with RGBA8 (upper left, legal) and with R32_UINT (lower right, \
               illegal).",
        prepare: as_it_is,
        paint: separate::shared,
    },
    Case {
        name: "separate-sets",
        title: "Separate, in two sets",
        asks: "R32_UINT in one descriptor set and a LINEAR sampler in another.",
        prepare: as_it_is,
        paint: separate::other_set,
    },
    Case {
        name: "r32-uint-max",
        title: "R32_UINT, LINEAR, maximum",
        asks: "A reduction to the largest texel of the footprint, on an integer texture.",
        prepare: as_it_is,
        paint: |context| match context.missing(&[Capability::SamplerFilterMinmax]) {
            Some(lacking) => Err(lacking),
            None => {
                filtered(context, vk::Format::R32_UINT, &SamplerDesc::linear().reduction(vk::SamplerReductionMode::MAX))
            }
        },
    },
    Case {
        name: "r16-sint-mip-linear",
        title: "R16_SINT, mipmap mode LINEAR",
        asks: "NEAREST filters, but levels of an integer texture are to be blended; LOD grows to the right.",
        prepare: as_it_is,
        paint: levels::integers,
    },
    Case {
        name: "d32-linear",
        title: "D32_SFLOAT, LINEAR, no compare",
        asks: "Plain lookups of a depth texture with a LINEAR sampler.",
        prepare: as_it_is,
        paint: |context| filtered(context, vk::Format::D32_SFLOAT, &SamplerDesc::linear()),
    },
    Case {
        name: "d16-linear",
        title: "D16_UNORM, LINEAR, no compare",
        asks: "The same with the depth format every device has.",
        prepare: as_it_is,
        paint: |context| filtered(context, vk::Format::D16_UNORM, &SamplerDesc::linear()),
    },
    Case {
        name: "d32-compare",
        title: "D32_SFLOAT, LINEAR with compare",
        asks: "A shadow map with comparison LESS: filtering comparisons is legal on every depth format.",
        prepare: as_it_is,
        paint: |context| shadow(context, vk::Format::D32_SFLOAT, Path::Update),
    },
    Case {
        name: "colour-shadow",
        title: "RGBA8, compared by the shader",
        asks: "The same of the red of a colour texture, whose format cannot be compared, with a sampler in a descriptor of its own: \
               the shader compares each of the four texels.",
        prepare: as_it_is,
        paint: |context| shadow(context, vk::Format::R8G8B8A8_UNORM, Path::Separate),
    },
    Case {
        name: "colour-compare",
        title: "RGBA8, LINEAR with compare",
        asks: "Comparison left enabled on a colour texture that the shader reads plainly, from a sampler in a descriptor of its own.",
        prepare: as_it_is,
        paint: |context| {
            let compares = SamplerDesc::linear().compare(vk::CompareOp::LESS);
            separate::same_set(context, vk::Format::R8G8B8A8_UNORM, &compares)
        },
    },
    Case {
        name: "stencil-linear",
        title: "Stencil view, LINEAR",
        asks: "A LINEAR sampler on the stencil aspect.",
        prepare: as_it_is,
        paint: |context| stencil(context, vk::ImageAspectFlags::STENCIL),
    },
    Case {
        name: "both-aspects",
        title: "Depth and stencil in one view",
        asks: "The stencil again, through a view that has the depth as well: the shader declares integers, the depth is a slope.",
        prepare: as_it_is,
        paint: |context| stencil(context, vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL),
    },
    Case {
        name: "int-border",
        title: "INT border on a float view",
        asks: "CLAMP_TO_BORDER with INT_OPAQUE_WHITE around an RGBA8 texture.",
        prepare: as_it_is,
        paint: |context| bordered(context, vk::Format::R8G8B8A8_UNORM, vk::BorderColor::INT_OPAQUE_WHITE),
    },
    Case {
        name: "float-border",
        title: "FLOAT border on an integer view",
        asks: "CLAMP_TO_BORDER with FLOAT_OPAQUE_WHITE around an R32_UINT texture; integer white is 1.",
        prepare: as_it_is,
        paint: |context| bordered(context, vk::Format::R32_UINT, vk::BorderColor::FLOAT_OPAQUE_WHITE),
    },
    Case {
        name: "gl-clamp",
        title: "GL_CLAMP, LINEAR",
        asks: "OpenGL's GL_CLAMP with a white border, which takes part over half a texel; CLAMP_TO_BORDER where no extension has it, \
               which is the nearest of Vulkan's modes.",
        prepare: |builder| builder.extension(emulated::GL_ADDRESS_MODES),
        paint: emulated::gl_clamp,
    },
    Case {
        name: "r32f-linear",
        title: "R32_SFLOAT, LINEAR, emulated",
        asks: "32-bit floats with a LINEAR sampler, on a device that is simulated not to filter them: NEAREST is what is left, or \
               the shader filters.",
        prepare: |builder| emulated::weak(builder).setting("unfilterable", "emulate"),
        paint: emulated::floats,
    },
    Case {
        name: "immutable",
        title: "Immutable sampler, two textures",
        asks: "LINEAR, immutable in a combined descriptor, with RGBA8 (upper left, legal) and with R32_SFLOAT (lower right), which \
               the device is simulated not to filter.",
        prepare: |builder| emulated::weak(builder).setting("immutable", "demote"),
        paint: emulated::immutable,
    },
    Case {
        name: "border-swizzle",
        title: "Opaque black through a swizzle",
        asks: "CLAMP_TO_BORDER with FLOAT_OPAQUE_BLACK; the view moves alpha into red, so the border should be red.",
        prepare: |builder| {
            builder.without(Capability::BorderColorSwizzle).without(Capability::BorderColorSwizzleFromImage)
        },
        paint: swizzled_border,
    },
    Case {
        name: "anisotropy",
        title: "maxAnisotropy 1000",
        asks: "Trilinear filtering of a floor with more anisotropy than maxSamplerAnisotropy.",
        prepare: as_it_is,
        paint: |context| levels::floor(context, SamplerDesc::trilinear().anisotropy(1000.0)),
    },
    Case {
        name: "aniso-nearest",
        title: "Anisotropy with NEAREST",
        asks: "The same floor with both filters NEAREST and an anisotropy of 16, which some drivers smooth.",
        prepare: |builder| builder.setting("aniso_nearest", "off"),
        paint: |context| levels::floor(context, SamplerDesc::nearest().anisotropy(16.0)),
    },
    Case {
        name: "lod-range",
        title: "minLod 3 > maxLod 1",
        asks: "An empty LOD range over levels of different colours; LOD 0 to 5 from left to right.",
        prepare: as_it_is,
        paint: |context| levels::each(context, &SamplerDesc::trilinear().lod(3.0, 1.0), 5.0),
    },
    Case {
        name: "lod-bias",
        title: "mipLodBias NaN",
        asks: "A bias that is not a number; LOD 0 to 5 from left to right, then the bias.",
        prepare: as_it_is,
        paint: |context| levels::each(context, &SamplerDesc { lod_bias: f32::NAN, ..SamplerDesc::trilinear() }, 5.0),
    },
    Case {
        name: "unnormalized",
        title: "Unnormalized, with illegal members",
        asks: "Coordinates in texels, with min NEAREST and mag LINEAR, mipmaps LINEAR, a LOD range and REPEAT.",
        prepare: as_it_is,
        paint: unnormalized,
    },
    Case {
        name: "mirror-clamp",
        title: "MIRROR_CLAMP_TO_EDGE, not enabled",
        asks: "The address mode without samplerMirrorClampToEdge; coordinates from -2 to 2.",
        prepare: |builder| builder.without(Capability::SamplerMirrorClampToEdge),
        paint: mirrored,
    },
    Case {
        name: "cube-linear",
        title: "Cube, RGBA8, LINEAR",
        asks: "A legal cube map, filtered across its edges.",
        prepare: as_it_is,
        paint: |context| globe(context, vk::Format::R8G8B8A8_UNORM),
    },
    Case {
        name: "cube-uint",
        title: "Cube, R32_UINT, LINEAR",
        asks: "The same cube in integers.",
        prepare: as_it_is,
        paint: |context| globe(context, vk::Format::R32_UINT),
    },
    Case {
        name: "blit-rgba8",
        title: "Blit RGBA8, LINEAR",
        asks: "The legal twin: vkCmdBlitImage enlarges a colour image.",
        prepare: as_it_is,
        paint: |context| blitted(context, vk::Format::R8G8B8A8_UNORM),
    },
    Case {
        name: "blit-uint",
        title: "Blit R32_UINT, LINEAR",
        asks: "vkCmdBlitImage with a LINEAR filter from an integer image.",
        prepare: as_it_is,
        paint: |context| blitted(context, vk::Format::R32_UINT),
    },
    Case {
        name: "blit-depth",
        title: "Blit D32_SFLOAT, LINEAR",
        asks: "vkCmdBlitImage with a LINEAR filter from a depth image.",
        prepare: as_it_is,
        paint: |context| blitted(context, vk::Format::D32_SFLOAT),
    },
    Case {
        name: "gl-counters",
        title: "Atomic counters of OpenGL",
        asks: "A shader for OpenGL whose atomic counters count the shades of the relief; a bar for each.",
        prepare: |builder| builder.extension(shaders::GL_SHADERS),
        paint: shaders::counters,
    },
    Case {
        name: "hlsl-store",
        title: "A store of HLSL's to RGBA8",
        asks: "The compiler declares Rgba32f, for HLSL does not say what the image is; drivers that believe it store something else.",
        prepare: |builder| builder.setting("storage", "emulate"),
        paint: shaders::store,
    },
    Case {
        name: "r11g11b10-store",
        title: "R11G11B10F, read and stored to",
        asks: "A shader adds light to an image of small floats. An application that asks first (left) is refused by the simulated device.",
        prepare: |builder| builder.setting("storage", "emulate").setting("device", shaders::NO_SMALL_FLOATS),
        paint: shaders::lamps,
    },
    Case {
        name: "one-sample",
        title: "Sample shading, one sample",
        asks: "Inputs and builtins of samples, and a target that has one, on a device that is simulated to have no sample shading.",
        prepare: |builder| builder.without(Capability::SampleRateShading).setting("device", shaders::NO_SAMPLE_SHADING),
        paint: shaders::samples,
    },
];

// ---- pictures out of values ----

/// Shown where a value is none that the texture could have given.
const POISON: Rgb = [255, 0, 200];

/// Colour of a position on a dark-to-light scale.
pub(crate) fn scale(position: f64) -> Rgb {
    const STOPS: [[f64; 3]; 6] = [
        [38.0, 22.0, 74.0],
        [62.0, 73.0, 137.0],
        [38.0, 130.0, 142.0],
        [53.0, 183.0, 121.0],
        [180.0, 222.0, 44.0],
        [253.0, 240.0, 160.0],
    ];
    if !(-0.004..=1.004).contains(&position) {
        return POISON;
    }
    let at = position.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let low = (at as usize).min(STOPS.len() - 2);
    let fraction = at - low as f64;
    std::array::from_fn(|index| (STOPS[low][index] * (1.0 - fraction) + STOPS[low + 1][index] * fraction) as u8)
}

/// A colour value as it is; other values on the scale (integers 0..=255, depth 0..=1).
pub(crate) fn colour(format: vk::Format, value: Value) -> Rgb {
    let [r, g, b, _] = value.components();
    match value {
        Value::Float(_) if texel::aspects(format) == vk::ImageAspectFlags::COLOR => {
            if [r, g, b].iter().all(|c| (-0.004..=1.004).contains(c)) {
                [r, g, b].map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8)
            } else {
                POISON
            }
        }
        Value::Float(_) => scale(r),
        Value::Int(_) | Value::Uint(_) => scale(r / 255.0),
    }
}

/// The value of kind and range [`colour`] expects, from a position on the scale and a colour.
pub(crate) fn texel_of(format: vk::Format, position: f64, rgb: [f64; 3]) -> Value {
    match texel::numeric_kind(format, texel::aspects(format)) {
        texel::NumericKind::Uint => Value::Uint([(position * 255.0).round() as u32, 0, 0, 1]),
        texel::NumericKind::Int => Value::Int([(position * 255.0).round() as i32, 0, 0, 1]),
        texel::NumericKind::Float if texel::aspects(format) == vk::ImageAspectFlags::COLOR => {
            Value::Float([rgb[0] as f32, rgb[1] as f32, rgb[2] as f32, 1.0])
        }
        texel::NumericKind::Float => Value::Float([position as f32, 0.0, 0.0, 1.0]),
    }
}

// ---- textures ----

/// Height of the test relief at a texel, 0..=1: rings with a brighter disc off the centre.
pub(crate) fn relief(x: u32, y: u32) -> f64 {
    let (x, y) = (f64::from(x), f64::from(y));
    let middle = f64::from(TEXTURE - 1) / 2.0;
    let ring = ((x - middle).hypot(y - middle) * 1.15).cos() * 0.5 + 0.5;
    let disc = if (x - 8.0).hypot(y - 3.0) < 2.1 { 1.0 } else { 0.0 };
    (ring * 0.75 + 0.1).max(disc)
}

/// Colour of the same relief.
fn relief_colour(x: u32, y: u32) -> [f64; 3] {
    scale(relief(x, y)).map(|c| f64::from(c) / 255.0).map(|c| (c * 1.02_f64).min(1.0))
}

pub(crate) fn relief_image(context: &Context, format: vk::Format) -> Result<Image<'_>, String> {
    Image::filled(context, &ImageDesc::d2(format, TEXTURE, TEXTURE), |_, _, _, [x, y, _]| {
        texel_of(format, relief(x, y), relief_colour(x, y))
    })
}

pub(crate) fn whole_panel() -> Vec<SamplePoint> {
    grid(PANEL, PANEL, [0.0, 0.0], [1.0, 1.0])
}

// ---- painters ----

fn filtered(context: &Context, format: vk::Format, sampler: &SamplerDesc) -> Result<Picture, String> {
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = sampler.create(context);
    let values = sample(context, Pair::new(&view, &sampler), &whole_panel());
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

fn shared_sampler(context: &Context) -> Result<Picture, String> {
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT];
    let images = [relief_image(context, formats[0])?, relief_image(context, formats[1])?];
    let views = [images[0].view(&ViewDesc::default()), images[1].view(&ViewDesc::default())];
    let sampler = SamplerDesc::linear().named("shared").create(context);
    let pairs = [Pair::new(&views[0], &sampler), Pair::new(&views[1], &sampler)];
    let layout = SetLayout::new(context, &[Binding::combined(0, 1), Binding::combined(1, 1)]);
    let (_pool, set) = Pool::set(context, &layout);
    let mut halves = Vec::new();
    for (binding, (pair, format)) in (0..).zip(pairs.iter().zip(formats)) {
        write_combined(context, set, (binding, 0), &[*pair]);
        halves.push((binding, *pair, format));
    }
    let halves: Vec<Picture> = halves
        .into_iter()
        .map(|(binding, pair, format)| {
            let probe = Probe::new(context, &layout, Op::Sample, pair.shape, pair.kind, Access::Single { binding });
            let values = probe.run(&Bind::Set(set), &whole_panel());
            values.into_iter().map(|value| colour(format, value)).collect()
        })
        .collect();
    Ok(diagonal([&halves[0], &halves[1]]))
}

/// The upper left of one picture and the lower right of another.
pub(crate) fn diagonal(halves: [&Picture; 2]) -> Picture {
    let pixel = |index: u32| {
        let (x, y) = (index % PANEL, index / PANEL);
        match (x + y).cmp(&(PANEL - 1)) {
            std::cmp::Ordering::Less => halves[0][index as usize],
            std::cmp::Ordering::Equal => [255, 255, 255],
            std::cmp::Ordering::Greater => halves[1][index as usize],
        }
    };
    (0..PANEL * PANEL).map(pixel).collect()
}

fn shadow(context: &Context, format: vk::Format, path: Path) -> Result<Picture, String> {
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().compare(vk::CompareOp::LESS).create(context);
    let points: Vec<_> = whole_panel().into_iter().map(|point| point.reference(0.55)).collect();
    let values = sample_via(context, path, &[Pair::new(&view, &sampler).shadow()], &points)?;
    Ok(values.into_iter().flatten().map(|value| scale(0.05 + 0.95 * value.components()[0])).collect())
}

/// What a shader that declares integers finds through a view with these aspects.
fn stencil(context: &Context, aspects: vk::ImageAspectFlags) -> Result<Picture, String> {
    let formats = [vk::Format::S8_UINT, vk::Format::D32_SFLOAT_S8_UINT, vk::Format::D24_UNORM_S8_UINT];
    let mut reason = String::new();
    for format in formats.into_iter().filter(|format| texel::aspects(*format).contains(aspects)) {
        let desc = ImageDesc::d2(format, TEXTURE, TEXTURE);
        let image = match Image::filled(context, &desc, |aspect, _, _, [x, y, _]| match aspect {
            vk::ImageAspectFlags::STENCIL => Value::Uint([(relief(x, y) * 255.0) as u32, 0, 0, 1]),
            _ => Value::Float([x as f32 / TEXTURE as f32, 0.0, 0.0, 1.0]),
        }) {
            Ok(image) => image,
            Err(lacking) => {
                reason = lacking;
                continue;
            }
        };
        let view = image.view(&ViewDesc::aspect(aspects));
        let sampler = SamplerDesc::linear().create(context);
        let values = sample(context, Pair { kind: ResultKind::Uint, ..Pair::new(&view, &sampler) }, &whole_panel());
        return Ok(values.into_iter().map(|value| colour(format, value)).collect());
    }
    Err(reason)
}

fn bordered(context: &Context, format: vk::Format, border: vk::BorderColor) -> Result<Picture, String> {
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::nearest().border(border).create(context);
    let values = sample(context, Pair::new(&view, &sampler), &grid(PANEL, PANEL, [-0.35, -0.35], [1.35, 1.35]));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

fn swizzled_border(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = relief_image(context, format)?;
    let alpha_first = vk::ComponentMapping {
        r: vk::ComponentSwizzle::A,
        g: vk::ComponentSwizzle::G,
        b: vk::ComponentSwizzle::B,
        a: vk::ComponentSwizzle::R,
    };
    let view = image.view(&ViewDesc::swizzle(alpha_first));
    let sampler = SamplerDesc::nearest().border(vk::BorderColor::FLOAT_OPAQUE_BLACK).create(context);
    let values = sample(context, Pair::new(&view, &sampler), &grid(PANEL, PANEL, [-0.35, -0.35], [1.35, 1.35]));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

fn unnormalized(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc {
        min_filter: vk::Filter::NEAREST,
        mag_filter: vk::Filter::LINEAR,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        min_lod: 0.0,
        max_lod: 4.0,
        ..SamplerDesc::unnormalized(vk::Filter::NEAREST)
    }
    .address(vk::SamplerAddressMode::REPEAT)
    .create(context);
    let edge = TEXTURE as f32;
    let values = sample(
        context,
        Pair::new(&view, &sampler),
        &grid(PANEL, PANEL, [-0.35 * edge, -0.35 * edge], [1.35 * edge, 1.35 * edge]),
    );
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

fn mirrored(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R8G8B8A8_UNORM;
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::nearest().address(vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE).create(context);
    let values = sample(context, Pair::new(&view, &sampler), &grid(PANEL, PANEL, [-2.0, -2.0], [2.0, 2.0]));
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}

/// A ball inside which the cube map is seen from the middle, on a plain background.
fn globe(context: &Context, format: vk::Format) -> Result<Picture, String> {
    let image = Image::filled(context, &ImageDesc::cube(format, 6), |_, _, face, [x, y, _]| {
        let checker = (x + y) % 2 == 0;
        let position = 0.06 + 0.15 * f64::from(face) + if checker { 0.12 } else { 0.0 };
        texel_of(format, position, scale(position).map(|c| f64::from(c) / 255.0))
    })?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().create(context);
    let disc: Vec<Option<SamplePoint>> = grid(PANEL, PANEL, [-1.06, 1.06], [1.06, -1.06])
        .into_iter()
        .map(|point| {
            let [x, y, ..] = point.coord;
            let height = 1.0 - x * x - y * y;
            (height > 0.0).then(|| {
                // Turned so that three faces are in view.
                let z = height.sqrt();
                let (sin, cos) = 0.6f32.sin_cos();
                let (y, z) = (y * cos + z * sin, z * cos - y * sin);
                let (x, z) = (x * cos + z * sin, z * cos - x * sin);
                SamplePoint::at(x, y, z)
            })
        })
        .collect();
    let points: Vec<_> = disc.iter().flatten().copied().collect();
    let mut values = sample(context, Pair::new(&view, &sampler), &points).into_iter();
    let pixel = |point: &Option<SamplePoint>| match point {
        Some(_) => values.next().map_or(POISON, |value| colour(format, value)),
        None => [236, 239, 243],
    };
    Ok(disc.iter().map(pixel).collect())
}

fn blitted(context: &Context, format: vk::Format) -> Result<Picture, String> {
    let features = context.format_features(format, vk::ImageTiling::OPTIMAL);
    if !features.contains(vk::FormatFeatureFlags::BLIT_SRC | vk::FormatFeatureFlags::BLIT_DST) {
        return Err(format!("{} cannot blit {format:?} to itself", context.device_name()));
    }
    let source = relief_image(context, format)?;
    let target = Image::new(context, &ImageDesc::d2(format, PANEL, PANEL))?;
    target.blit_from(&source, vk::Filter::LINEAR, BlitApi::Core);
    let values = target.read(texel::aspects(format), 0, 0);
    Ok(values.into_iter().map(|value| colour(format, value)).collect())
}
