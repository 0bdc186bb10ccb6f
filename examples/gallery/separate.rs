//! Painters of images and samplers in descriptors of their own, which only the shader joins.

use crate::cases::{Picture, colour, diagonal, relief_image, whole_panel};
use ash::vk;
use samplin_testkit::held::{Held, Slot};
use samplin_testkit::separate::{Plan, Program, Rig};
use samplin_testkit::{Context, Pair, Path, SamplerDesc, Value, ViewDesc, sample_via};

/// Image and sampler in one set.
pub(crate) fn same_set(context: &Context, format: vk::Format, sampler: &SamplerDesc) -> Result<Picture, String> {
    let image = relief_image(context, format)?;
    let view = image.view(&ViewDesc::default());
    let sampler = sampler.create(context);
    let values = sample_via(context, Path::Separate, &[Pair::new(&view, &sampler)], &whole_panel())?;
    Ok(values.into_iter().flatten().map(|value| colour(format, value)).collect())
}

/// What a pipeline that joins images and samplers finds on the whole panel: for each of its lookups, one value a point.
fn joined<'c>(context: &'c Context, plan: &Plan<'_, 'c>, sets: &[vk::DescriptorSet]) -> Vec<Vec<Value>> {
    let rig = Rig::new(context, plan);
    let mut found: Vec<Vec<Value>> = Vec::new();
    for points in whole_panel().chunks(1024) {
        let values = rig.found(sets, points, 0);
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
    let slots = [Slot::image(&views[0], 0, 0), Slot::sampler(&sampler, 1, 0), Slot::image(&views[1], 2, 0)];
    let held = Held::of(context, &slots);
    let kinds = views.each_ref().map(|view| view.numeric_kind().into());
    let layouts = [&held.layout];
    let plan = Plan::new(Program::Shared, kinds[0], &layouts).second(kinds[1]);
    let halves: Vec<Picture> = joined(context, &plan, &[held.set])
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
    let (first, second) = (Slot::image(&view, 0, 0), Slot::sampler(&sampler, 1, 0));
    let sets = [first, second].map(|slot| Held::of(context, &[slot]));
    let layouts = sets.each_ref().map(|held| &held.layout);
    let plan = Plan::new(Program::One, view.numeric_kind().into(), &layouts);
    let values = joined(context, &plan, &sets.each_ref().map(|held| held.set));
    Ok(values.into_iter().flatten().map(|value| colour(format, value)).collect())
}
