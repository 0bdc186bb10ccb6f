//! A program that shows what overrides and repairs do to pictures: one line for each of a few images, with what a shader sees
//! between two texels, and between two mip levels.
//!
//!     samplin preset retro -- target/debug/examples/looks

use std::process::ExitCode;

use ash::vk;
use samplin_testkit::context::{Context, ContextBuilder};
use samplin_testkit::descriptor::Pair;
use samplin_testkit::image::{Image, ImageDesc, ViewDesc};
use samplin_testkit::path::{Path, sample_via};
use samplin_testkit::sampler::SamplerDesc;
use samplin_testkit::shader::SamplePoint;
use samplin_testkit::texel::Value;

/// An image and its sampler under a name.
struct Look {
    name: &'static str,
    image: ImageDesc,
    aspect: vk::ImageAspectFlags,
    sampler: SamplerDesc,
    path: Path,
    shadow: bool,
}

fn looks() -> Vec<Look> {
    use vk::Format as F;
    let rgba = |levels| ImageDesc::d2(F::R8G8B8A8_UNORM, 8, 8).levels(levels);
    let depth = |levels| ImageDesc::d2(F::D32_SFLOAT, 8, 8).levels(levels);
    let look = |name, image, sampler| Look {
        name,
        image,
        aspect: vk::ImageAspectFlags::COLOR,
        sampler,
        path: Path::Update,
        shadow: false,
    };
    let of_depth =
        |name, sampler, path| Look { aspect: vk::ImageAspectFlags::DEPTH, path, ..look(name, depth(3), sampler) };
    let (linear, tri) = (SamplerDesc::linear(), SamplerDesc::trilinear());
    let shadow = of_depth("shadow", linear.clone().compare(vk::CompareOp::LESS), Path::Update);
    vec![
        look("texture", rgba(3), tri.clone()),
        look("font", rgba(1), tri.clone()),
        look("target", rgba(3).usage(vk::ImageUsageFlags::COLOR_ATTACHMENT), tri),
        of_depth("depth", linear.clone(), Path::Update),
        of_depth("immutable", linear, Path::Immutable),
        Look { shadow: true, ..shadow },
    ]
}

/// What a shader sees at each point.
fn see(context: &Context, look: &Look, points: &[SamplePoint]) -> Result<Vec<Value>, String> {
    // Every other column of texels is lit, and each level is a quarter brighter than the one before.
    let image = Image::filled(context, &look.image, |_, level, _, [x, ..]| {
        Value::Float([(x % 2) as f32, 0.25 * level as f32, 0.0, 1.0])
    })?;
    let view = image.view(&ViewDesc::aspect(look.aspect));
    let sampler = look.sampler.clone().create(context);
    let pair = Pair::new(&view, &sampler);
    let pair = if look.shadow { pair.shadow() } else { pair };
    Ok(sample_via(context, look.path, &[pair], points)?.remove(0))
}

fn main() -> ExitCode {
    // Near the border of two texels of level 0, and half way between levels 1 and 2.
    let between = SamplePoint { reference: 0.5, ..SamplePoint::at(0.245, 0.4, 0.0) };
    let points = [between, SamplePoint { lod: 1.5, ..between }];
    let context = match ContextBuilder::default().application("looks", 1).build() {
        Ok(context) => context,
        Err(error) => {
            eprintln!("looks: {error}");
            return ExitCode::from(4);
        }
    };
    for look in looks() {
        match see(&context, &look, &points) {
            Ok(seen) => {
                let [texels, levels] = [0, 1].map(|at| seen.get(at).map_or([0.0; 4], |value| value.components()));
                println!("{}: {:.1} {:.1}", look.name, texels[0], levels[1]);
            }
            Err(why) => {
                eprintln!("looks: {}: {why}", look.name);
                return ExitCode::from(4);
            }
        }
    }
    ExitCode::SUCCESS
}
