//! Random pairs by random paths from a seed, on a real driver with the validation layer below samplin as judge.
//!
//! `API_FUZZ_DEVICE_SEQUENCES` is the number of sequences, `API_FUZZ_FIRST` the first seed; a failure names its seed. The states of
//! the samplers are mostly illegal for their views: the same sequences without samplin, of which nothing is executed, must
//! make the validation layer speak, or it would prove nothing that it is silent.

use crate::run::{Outcome, Skip, silent, trial, without_layer};
use crate::scene::{Scene, Shape};
use ash::vk;
use libtest_mimic::Trial;
use samplin_testkit::sampler::{BorderValue, CustomBorder};
use samplin_testkit::{Capability, Context, Pair, Path, SamplePoint, SamplerDesc, sample_via};
use std::time::Instant;

/// The tests of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("random/pairs-on-every-path", pairs)]
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, pool: &[T]) -> T {
        pool[self.below(pool.len())]
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

fn scene(random: &mut Random) -> Scene {
    use vk::Format as F;
    const COLOURS: [F; 10] = [
        F::R8G8B8A8_UNORM,
        F::R8G8B8A8_SRGB,
        F::R16G16B16A16_SFLOAT,
        F::R32_SFLOAT,
        F::B4G4R4A4_UNORM_PACK16,
        F::R32_UINT,
        F::R8G8B8A8_UINT,
        F::R16G16B16A16_UINT,
        F::R8_SINT,
        F::R32G32_SINT,
    ];
    let mut scene = match random.below(10) {
        0 => Scene::depth(F::D16_UNORM),
        1 => Scene::depth(F::D32_SFLOAT),
        2 => Scene::stencil(F::D32_SFLOAT_S8_UINT),
        _ => Scene::colour(random.pick(&COLOURS)),
    };
    if scene.aspect == vk::ImageAspectFlags::COLOR {
        scene.shape = random.pick(&[Shape::D1, Shape::D2, Shape::D2, Shape::D2Array, Shape::D3, Shape::Cube]);
        if random.chance(30) {
            use vk::ComponentSwizzle as S;
            const ALL: [S; 7] = [S::IDENTITY, S::ZERO, S::ONE, S::R, S::G, S::B, S::A];
            let [r, g, b, a] = std::array::from_fn(|_| random.pick(&ALL));
            scene.components = vk::ComponentMapping { r, g, b, a };
        }
    }
    if random.chance(40) { scene.flat() } else { scene }
}

fn sampler(random: &mut Random, context: &Context, scene: &Scene, alone: bool) -> SamplerDesc {
    const FILTERS: [vk::Filter; 3] = [vk::Filter::NEAREST, vk::Filter::LINEAR, vk::Filter::LINEAR];
    use vk::SamplerAddressMode as A;
    const MODES: [A; 5] =
        [A::REPEAT, A::MIRRORED_REPEAT, A::CLAMP_TO_EDGE, A::CLAMP_TO_BORDER, A::MIRROR_CLAMP_TO_EDGE];
    let mut desc = SamplerDesc {
        mag_filter: random.pick(&FILTERS),
        min_filter: random.pick(&FILTERS),
        mipmap_mode: random.pick(&[vk::SamplerMipmapMode::NEAREST, vk::SamplerMipmapMode::LINEAR]),
        address: std::array::from_fn(|_| random.pick(&MODES)),
        lod_bias: random.pick(&[0.0, 0.0, 0.5, -1.0, 1000.0, f32::NAN]),
        min_lod: random.pick(&[0.0, 0.0, 1.0, 9.0]),
        max_lod: random.pick(&[vk::LOD_CLAMP_NONE, 0.0, 2.0]),
        border_color: vk::BorderColor::from_raw(random.below(6) as i32),
        max_anisotropy: random.pick(&[1.0, f32::NAN, 99.0]),
        compare_op: random.pick(&[vk::CompareOp::LESS, vk::CompareOp::ALWAYS]),
        ..SamplerDesc::default()
    };
    let filters = scene.features(context).contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    // lavapipe 22's compiler falls over anisotropy on anything but plain images, and in one shader with those, legal as it is.
    desc.anisotropy_enable = alone
        && filters
        && scene.shape == Shape::D2
        && scene.aspect == vk::ImageAspectFlags::COLOR
        && random.chance(20);
    desc.compare_enable = random.chance(20);
    // Old validation layers take no notice of the reduction when they ask for the filter's format feature.
    if filters && random.chance(15) {
        desc.reduction = Some(random.pick(&[vk::SamplerReductionMode::MIN, vk::SamplerReductionMode::MAX]));
    }
    if random.chance(25) && context.supports(Capability::CustomBorderColor) {
        let int = random.chance(50);
        desc.border_color = if int { vk::BorderColor::INT_CUSTOM_EXT } else { vk::BorderColor::FLOAT_CUSTOM_EXT };
        let value =
            if int { BorderValue::Uint([3, 200, 70_000, 1]) } else { BorderValue::Float([0.5, -3.0, 0.25, 1.0]) };
        // They also exempt combined depth/stencil formats only from matching the kind of the colour.
        let own = if scene.aspect == vk::ImageAspectFlags::COLOR { scene.format } else { vk::Format::UNDEFINED };
        let formats = [vk::Format::UNDEFINED, own, vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT];
        let mut format = random.pick(&formats);
        // And for some formats validation asks for the colour's format even where no border is read, which samplin leaves alone.
        if scene.format == vk::Format::B4G4R4A4_UNORM_PACK16 && format == vk::Format::UNDEFINED {
            format = vk::Format::R8G8B8A8_UNORM;
        }
        desc.custom_border = Some(CustomBorder { value, format });
    }
    desc
}

/// One sequence: images, views and samplers come, are written by one path, sampled, and go.
fn sequence(context: &Context, seed: u64) -> Result<u64, Skip> {
    let mut random = Random(seed);
    let scenes: Vec<Scene> = (0..1 + random.below(4)).map(|_| scene(&mut random)).collect();
    let images = scenes.iter().map(|scene| scene.image(context)).collect::<Result<Vec<_>, _>>();
    // A format or shape that this device does not have.
    let Ok(images) = images else { return Ok(0) };
    let views: Vec<_> = scenes.iter().zip(&images).map(|(scene, image)| scene.view(image)).collect();
    let descs: Vec<_> = scenes.iter().map(|scene| sampler(&mut random, context, scene, scenes.len() == 1)).collect();
    let samplers: Vec<_> = descs.iter().map(|desc| desc.create(context)).collect();
    let pairs: Vec<Pair<'_, '_>> = views
        .iter()
        .zip(&samplers)
        .zip(scenes.iter().zip(&descs))
        .map(|((view, sampler), (scene, desc))| {
            let pair = Pair::new(view, sampler);
            if desc.compare_enable && scene.aspect == vk::ImageAspectFlags::DEPTH { pair.shadow() } else { pair }
        })
        .collect();
    let path = random.pick(&Path::COMBINED);
    if path == Path::DescriptorBuffer || path.missing(context).is_some() {
        return Ok(0);
    }
    let points =
        [SamplePoint::at(0.3, 0.4, 0.2).reference(0.4), SamplePoint::at(1.7, -0.6, 0.9).lod(1.3).reference(0.4)];
    sample_via(context, path, &pairs, &points).map_err(Skip)?;
    Ok(pairs.len() as u64)
}

fn pairs() -> Outcome {
    let (first, count) = (number("API_FUZZ_FIRST", 1), number("API_FUZZ_DEVICE_SEQUENCES", 40));
    let version = vk::make_api_version(0, 1, 3, 0);
    let run = |context: &Context| {
        let mut sampled = 0;
        for seed in first..first + count {
            sampled += sequence(context, seed)?;
            let log = context.messages().errors();
            if context.messages().errors().len() > 2000 {
                return Err(Skip(format!("{log:#?}")));
            }
        }
        Ok(sampled)
    };
    let started = Instant::now();
    let (_, errors) =
        without_layer(Context::builder().api_version(version).record_only(), |context| run(context).or(Ok(0)))?;
    let (sampled, judged) = silent(Context::builder().api_version(version), "random pairs", |context| {
        let mut sampled = 0;
        for seed in first..first + count {
            sampled += sequence(context, seed)?;
            let said = context.messages().errors();
            assert!(said.is_empty(), "seed {seed}: {said:#?}");
        }
        Ok(sampled)
    })?;
    println!(
        "{count} sequences, {sampled} pairs sampled in {} s: {} reports without samplin, {} with it, {} pairs repaired",
        started.elapsed().as_secs(),
        errors.len(),
        judged.errors.len(),
        judged.trace.events("pair").count(),
    );
    if count >= 20 {
        assert!(sampled > 0 && errors.len() > 10 && judged.trace.events("pair").count() > 10);
    }
    Ok(())
}
