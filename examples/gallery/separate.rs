//! Painters of images and samplers in descriptors of their own, which only the shader joins.

use crate::cases::{Picture, colour, diagonal, relief_image, whole_panel};
use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, write_images};
use samplin_testkit::separate::{Commands, Job, Plan, Program, Rig};
use samplin_testkit::{Context, Pair, Path, Sampler, SamplerDesc, Value, View, ViewDesc, sample_via};

/// Image and sampler in one set.
pub(crate) fn same_set(context: &Context, format: vk::Format, sampler: &SamplerDesc) -> Result<Picture, String> {
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = sampler.create(context);
    let values = sample_via(context, Path::Separate, &[Pair::new(&view, &sampler)], &whole_panel())?;
    Ok(values.into_iter().flatten().map(|value| colour(format, value)).collect())
}

/// An image and a sampler for descriptors of their own.
fn alone(view: &View<'_>, sampler: &Sampler<'_>) -> [vk::DescriptorImageInfo; 2] {
    let pair = Pair::new(view, sampler).info();
    [
        vk::DescriptorImageInfo { sampler: vk::Sampler::null(), ..pair },
        vk::DescriptorImageInfo { sampler: pair.sampler, ..Default::default() },
    ]
}

/// What a pipeline that joins images and samplers finds on the whole panel: for each of its lookups, one value a point.
fn joined<'c>(context: &'c Context, plan: &Plan<'_, 'c>, sets: &[vk::DescriptorSet]) -> Vec<Vec<Value>> {
    let rig = Rig::new(context, plan);
    let mut found: Vec<Vec<Value>> = Vec::new();
    for points in whole_panel().chunks(1024) {
        let job = Job::new(&rig, points);
        let commands = Commands::primary(context, |commands| {
            rig.bind(commands);
            rig.bind_sets(commands, 0, sets, &[]);
            job.bind(commands);
            job.run(commands, 0);
        });
        commands.execute();
        let values = job.results();
        found.resize(values.len(), Vec::new());
        found.iter_mut().zip(values).for_each(|(all, some)| all.extend(some));
    }
    found
}

/// One sampler, which the shader joins with an image that it suits and one that it does not.
pub(crate) fn shared(context: &Context) -> Result<Picture, String> {
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT];
    let images = [relief_image(context, formats[0])?, relief_image(context, formats[1])?];
    let views = [images[0].view(&ViewDesc::default()), images[1].view(&ViewDesc::default())];
    let sampler = SamplerDesc::linear().named("shared").create(context);
    let layout = SetLayout::new(context, &[Binding::image(0), Binding::sampler(1), Binding::image(2)]);
    let (_pool, set) = Pool::set(context, &layout);
    for (view, binding) in views.iter().zip([0, 2]) {
        let [image, state] = alone(view, &sampler);
        write_images(context, set, (binding, 0), vk::DescriptorType::SAMPLED_IMAGE, &[image]);
        write_images(context, set, (1, 0), vk::DescriptorType::SAMPLER, &[state]);
    }
    let kinds = [0, 1].map(|index: usize| Pair::new(&views[index], &sampler).kind);
    let layouts = [&layout];
    let plan = Plan::new(Program::Shared, kinds[0], &layouts).second(kinds[1]);
    let halves: Vec<Picture> = joined(context, &plan, &[set])
        .into_iter()
        .zip(formats)
        .map(|(values, format)| values.into_iter().map(|value| colour(format, value)).collect())
        .collect();
    Ok(diagonal([&halves[0], &halves[1]]))
}

/// Image and sampler in different sets.
pub(crate) fn other_set(context: &Context) -> Result<Picture, String> {
    let format = vk::Format::R32_UINT;
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = SamplerDesc::linear().create(context);
    let layouts = [SetLayout::new(context, &[Binding::image(0)]), SetLayout::new(context, &[Binding::sampler(1)])];
    let pool = Pool::new(context, &[&layouts[0], &layouts[1]]);
    let sets = [pool.allocate(&layouts[0]), pool.allocate(&layouts[1])];
    let [texture, state] = alone(&view, &sampler);
    write_images(context, sets[0], (0, 0), vk::DescriptorType::SAMPLED_IMAGE, &[texture]);
    write_images(context, sets[1], (1, 0), vk::DescriptorType::SAMPLER, &[state]);
    let layouts = layouts.each_ref();
    let plan = Plan::new(Program::One, Pair::new(&view, &sampler).kind, &layouts);
    let values = joined(context, &plan, &sets);
    Ok(values.into_iter().flatten().map(|value| colour(format, value)).collect())
}
