//! A program that asks for much of what devices cannot do, for trying the tools on: many samplers with many views, in
//! descriptors and blits. Nothing is executed; the layer decides when descriptors are written.
//!
//!     samplin run --trace-level all -- target/debug/examples/scene
//!
//! `--without NAMES` leaves out samplers and formats by name, separated by semicolons: builds of a program differ in such things.
//!
//!     target/debug/examples/scene --without 'shadow;R32_SFLOAT'
//!
//! With a file it draws instead, legally, and writes the picture there as a portable pixmap: one row for each of a few samplers,
//! of which only the row of "lookup table" changes when its sampler reads a smaller level.
//!
//!     samplin rules bisect --rules FILE --good-if 'cmp -s good.ppm now.ppm' -- target/debug/examples/scene now.ppm

use std::ffi::OsString;
use std::process::ExitCode;

use ash::vk;
use samplin_testkit::context::{Context, ContextBuilder};
use samplin_testkit::descriptor::{Binding, Pair, Pool, SetLayout, write_combined};
use samplin_testkit::image::{BlitApi, Image, ImageDesc, View, ViewDesc};
use samplin_testkit::path::{Path, sample_via};
use samplin_testkit::sampler::{BorderValue, Sampler, SamplerDesc};
use samplin_testkit::shader;
use samplin_testkit::texel::Value;

/// Samplers that ask for something unusual each, and a few that do not.
fn samplers() -> Vec<SamplerDesc> {
    use vk::{BorderColor as B, SamplerAddressMode as A};
    let linear = SamplerDesc::linear;
    let mut descs = vec![
        SamplerDesc::nearest().named("nearest"),
        linear().named("linear"),
        SamplerDesc::trilinear().named("trilinear"),
        SamplerDesc::trilinear().anisotropy(16.0).named("anisotropic"),
        SamplerDesc::trilinear().anisotropy(64.0).named("too anisotropic"),
        linear().address(A::MIRROR_CLAMP_TO_EDGE).named("mirror clamp"),
        linear().address(A::CLAMP_TO_BORDER).border(B::FLOAT_OPAQUE_WHITE).named("white border"),
        SamplerDesc::nearest().address(A::CLAMP_TO_BORDER).border(B::INT_OPAQUE_BLACK).named("integer border"),
        linear().compare(vk::CompareOp::LESS_OR_EQUAL).named("shadow"),
        linear().reduction(vk::SamplerReductionMode::MAX).named("maximum"),
        linear().lod(4.0, 1.0).named("levels in the wrong order"),
        SamplerDesc::unnormalized(vk::Filter::LINEAR).named("texels"),
        linear()
            .address(A::CLAMP_TO_BORDER)
            .custom_border(BorderValue::Float([0.25, 0.5, 0.75, 1.0]), vk::Format::R8G8B8A8_UNORM)
            .named("own border"),
        linear()
            .address(A::CLAMP_TO_BORDER)
            .custom_border(BorderValue::Float([1.0, 0.0, 0.0, 1.0]), vk::Format::UNDEFINED)
            .named("own border, any format"),
    ];
    let mut biased = linear();
    biased.lod_bias = 15.5;
    descs.push(biased.named("biased"));
    let mut seams = linear();
    seams.flags |= vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
    descs.push(seams.named("seams"));
    descs
}

/// Images of every class of formats, some of them unusual in another way.
fn images() -> Vec<(ImageDesc, ViewDesc)> {
    use vk::Format as F;
    let plain = ViewDesc::default;
    let swizzle = vk::ComponentMapping {
        r: vk::ComponentSwizzle::B,
        g: vk::ComponentSwizzle::G,
        b: vk::ComponentSwizzle::R,
        a: vk::ComponentSwizzle::ONE,
    };
    let mut all: Vec<(ImageDesc, ViewDesc)> = [
        F::R8G8B8A8_UNORM,
        F::R8G8B8A8_SRGB,
        F::R5G6B5_UNORM_PACK16,
        F::R16_UNORM,
        F::R16G16B16A16_UNORM,
        F::R16G16B16A16_SFLOAT,
        F::R32_SFLOAT,
        F::R32G32B32A32_SFLOAT,
        F::R32_UINT,
        F::R8G8B8A8_SINT,
        F::D16_UNORM,
        F::D32_SFLOAT,
        F::BC1_RGBA_UNORM_BLOCK,
    ]
    .into_iter()
    .map(|format| (ImageDesc::d2(format, 8, 8).levels(2), plain()))
    .collect();
    all.push((ImageDesc::d2(F::D32_SFLOAT_S8_UINT, 8, 8), ViewDesc::aspect(vk::ImageAspectFlags::DEPTH)));
    all.push((ImageDesc::d2(F::D32_SFLOAT_S8_UINT, 8, 8), ViewDesc::aspect(vk::ImageAspectFlags::STENCIL)));
    all.push((ImageDesc::d2(F::R8G8B8A8_UNORM, 8, 8).linear_tiling(), plain()));
    all.push((ImageDesc::d2(F::R8G8B8A8_UNORM, 8, 8), ViewDesc::swizzle(swizzle)));
    all.push((ImageDesc::d1(F::R8G8B8A8_UNORM, 8), plain()));
    all.push((ImageDesc::d3(F::R32_SFLOAT, 8, 8, 8), plain()));
    all.push((ImageDesc::cube(F::R8G8B8A8_UNORM, 8), plain()));
    all
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let mut picture = arguments.next();
    let mut without = String::new();
    if picture.as_ref().is_some_and(|argument| argument == "--without") {
        picture = None;
        without = arguments.next().and_then(|names| names.into_string().ok()).unwrap_or_default();
    }
    let builder = ContextBuilder::default().application("scene", 1).engine("samplin", 0);
    let builder = if picture.is_some() { builder } else { builder.record_only() };
    let context = match builder.build() {
        Ok(context) => context,
        Err(error) => {
            eprintln!("scene: {error}");
            return ExitCode::from(4);
        }
    };
    match picture {
        Some(path) => draw(&context, &path),
        None => {
            let without: Vec<&str> = without.split(';').collect();
            println!("{} descriptors written", ask(&context, &without));
            ExitCode::SUCCESS
        }
    }
}

/// Samples an image through each of a few samplers and writes what they see.
fn draw(context: &Context, path: &OsString) -> ExitCode {
    const COLUMNS: u32 = 16;
    let names = ["ground", "walls", "lookup table", "water", "sky", "lamp"];
    let mut picture = format!("P3\n{COLUMNS} {}\n255\n", names.len());
    for (row, name) in names.into_iter().enumerate() {
        let desc = ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 4).levels(2);
        let image = Image::filled(context, &desc, |_, level, _, [x, y, _]| {
            // Every other image looks the same at each level.
            let red = if name == "lookup table" { [0.0, 1.0][level as usize] } else { 0.2 * row as f32 };
            let blue = if name == "lookup table" && level == 0 { (x + 4 * y) as f32 / 15.0 } else { 0.5 };
            Value::Float([red, 0.5, blue, 1.0])
        });
        let image = match image {
            Ok(image) => image,
            Err(error) => {
                eprintln!("scene: {error}");
                return ExitCode::from(4);
            }
        };
        let view = image.view(&ViewDesc::default());
        // Each has a state of its own.
        let sampler = SamplerDesc::trilinear().lod(0.0, 1.0 + row as f32).named(name).create(context);
        let points = shader::grid(COLUMNS, 1, [0.0, 0.0], [1.0, 1.0]);
        let seen = match sample_via(context, Path::Update, &[Pair::new(&view, &sampler)], &points) {
            Ok(mut seen) => seen.remove(0),
            Err(why) => {
                eprintln!("scene: {why}");
                return ExitCode::from(4);
            }
        };
        for value in seen {
            let [red, green, blue, _] = value.components().map(|part| (part * 255.0).round() as u8);
            picture += &format!("{red} {green} {blue}\n");
        }
    }
    if let Err(error) = std::fs::write(path, picture) {
        eprintln!("scene: {}: {error}", path.display());
        return ExitCode::from(3);
    }
    ExitCode::SUCCESS
}

/// Writes a descriptor for every sampler with every image, but those of these names, and blits; returns the number of
/// descriptors.
fn ask(context: &Context, without: &[&str]) -> usize {
    let has_sampler = |desc: &SamplerDesc| desc.name.as_deref().is_none_or(|name| !without.contains(&name));
    let has_format = |desc: &ImageDesc| !without.contains(&format!("{:?}", desc.format).as_str());
    let images: Vec<(Image<'_>, ViewDesc)> = images()
        .into_iter()
        .filter(|(desc, _)| has_format(desc))
        .filter_map(|(desc, view)| Some((Image::new(context, &desc).ok()?, view)))
        .collect();
    let views: Vec<View<'_>> = images.iter().map(|(image, view)| image.view(view)).collect();
    let samplers: Vec<Sampler<'_>> =
        samplers().iter().filter(|desc| has_sampler(desc)).filter_map(|desc| desc.try_create(context).ok()).collect();
    let layout = SetLayout::new(context, &[Binding::combined(0, 1)]);
    let pool = Pool::new(context, &[&layout]);
    let set = pool.allocate(&layout);
    let mut written = 0;
    for sampler in &samplers {
        for view in &views {
            write_combined(context, set, (0, 0), &[Pair::new(view, sampler)]);
            written += 1;
        }
    }
    let target = Image::new(context, &ImageDesc::d2(vk::Format::R8G8B8A8_UNORM, 4, 4));
    let Ok(target) = target else { return written };
    for format in [vk::Format::R8G8B8A8_UNORM, vk::Format::R32G32B32A32_SFLOAT, vk::Format::R16G16B16A16_UNORM] {
        if let Ok(source) = Image::new(context, &ImageDesc::d2(format, 8, 8)) {
            target.blit_from(&source, vk::Filter::LINEAR, BlitApi::Core);
        }
    }
    written
}
