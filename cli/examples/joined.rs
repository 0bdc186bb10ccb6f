//! A program whose images and samplers stand in descriptors of their own, so that only its shaders join them: a pair of one set, one
//! sampler for two images, the same where no further set can be bound. Nothing is executed; the layer decides when sets are bound.
//!
//!     samplin run --trace-level all -- target/debug/examples/joined
//!
//! With a number it makes the first of them that often, one pipeline after the other.

use std::process::ExitCode;

use ash::vk;
use samplin_testkit::Capability;
use samplin_testkit::context::{Context, ContextBuilder};
use samplin_testkit::descriptor::SetLayout;
use samplin_testkit::held::{Held, Slot};
use samplin_testkit::image::{Image, ImageDesc, ViewDesc};
use samplin_testkit::sampler::SamplerDesc;
use samplin_testkit::separate::{Job, Plan, Program, Rig, Stage};
use samplin_testkit::shader::SamplePoint;

fn main() -> ExitCode {
    let builder = ContextBuilder::default().application("joined", 1).engine("samplin", 0).record_only();
    let outcome = builder.build().map_err(|error| error.to_string()).and_then(|context| {
        use vk::Format as F;
        if let Some(times) = std::env::args().nth(1).and_then(|times| times.parse::<u32>().ok()) {
            return (0..times).try_for_each(|_| bind(&context, "again", Stage::Fragment, &[F::D32_SFLOAT], false));
        }
        bind(&context, "of one set", Stage::Fragment, &[F::D32_SFLOAT], false)?;
        bind(&context, "of two images", Stage::Compute, &[F::R8G8B8A8_UNORM, F::R32_UINT], false)?;
        bind(&context, "of all sets", Stage::Compute, &[F::R8G8B8A8_UNORM, F::R8G8B8A8_UINT], true)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("joined: {why}");
            ExitCode::from(4)
        }
    }
}

/// Binds a pipeline that joins images of these formats with one sampler, and their set. `full`: the layout has all sets that
/// the device can bind.
fn bind(context: &Context, name: &str, stage: Stage, formats: &[vk::Format], full: bool) -> Result<(), String> {
    if let Some(lacking) = context.missing(&[Capability::FragmentStores]) {
        return Err(lacking);
    }
    let images = formats.iter().map(|format| Image::new(context, &ImageDesc::d2(*format, 8, 8)));
    let images: Vec<_> = images.collect::<Result<_, _>>()?;
    let views: Vec<_> = images.iter().map(|image| image.view(&ViewDesc::default())).collect();
    let sampler = SamplerDesc::linear().named(name).create(context);
    let mut slots = vec![Slot::sampler(&sampler, 1, 0)];
    slots.extend(views.iter().zip([0, 2]).map(|(view, binding)| Slot::image(view, binding, 0)));
    let held = Held::of(context, &slots);
    let kinds: Vec<_> = views.iter().map(|view| view.numeric_kind().into()).collect();
    let layouts = [&held.layout];
    let plan = match kinds.as_slice() {
        [first, second] => Plan::new(Program::Shared, *first, &layouts).second(*second),
        _ => Plan::new(Program::One, kinds[0], &layouts),
    };
    // Three sets are the images' and the rig's own.
    let count = if full { context.limits().max_bound_descriptor_sets - 3 } else { 0 };
    let above: Vec<_> = (0..count).map(|_| SetLayout::new(context, &[])).collect();
    let above: Vec<_> = above.iter().collect();
    let rig = Rig::new(context, &Plan { above: &above, ..plan.stage(stage) });
    let job = Job::new(&rig, &[SamplePoint::at(0.5, 0.5, 0.5)]);
    job.over(&[held.set], 0);
    Ok(())
}
