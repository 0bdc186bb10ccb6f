//! A program whose images and samplers stand in descriptors of their own, bound in every way there is: sets, several sets, pushes,
//! copies, secondary command buffers, one pipeline after another. `scripts/reconcile` looks at what is bound above the layer and
//! below it; nothing is executed. Of each case there is a legal one too.

use std::process::ExitCode;

use ash::vk;
use samplin_testkit::held::{Held, Slot, bindings};
use samplin_testkit::separate::{Commands, Job, Plan, Program, Rig, Stage};
use samplin_testkit::way::{Route, Way};
use samplin_testkit::{Capability, Context, Image, ImageDesc, ResultKind, SamplePoint, SamplerDesc, ViewDesc};

type F = vk::Format;

const ILLEGAL: [F; 3] = [F::R32_UINT, F::D16_UNORM, F::D32_SFLOAT];
const LEGAL: F = F::R8G8B8A8_UNORM;

fn main() -> ExitCode {
    let builder = Context::builder().application("bound", 1).engine("samplin", 0).record_only();
    let outcome = builder.build().map_err(|error| error.to_string()).and_then(|context| {
        if let Some(lacking) = context.missing(&[Capability::FragmentStores]) {
            return Err(lacking);
        }
        let pushes = context.missing(&[Capability::PushDescriptor]).is_none().then_some((Way::Push, false));
        let ways = [Way::Set, Way::Sets, Way::Copy, Way::Secondary].map(|way| (way, false));
        for way in ways.into_iter().chain([(Way::Set, true)]).chain(pushes) {
            for stage in [Stage::Compute, Stage::Fragment] {
                for format in ILLEGAL {
                    case(&context, Program::One, stage, way, &[format])?;
                }
                case(&context, Program::One, stage, way, &[LEGAL])?;
                // The sampler is good for one image and not for the other; for neither; for both.
                case(&context, Program::Shared, stage, way, &[LEGAL, F::R32_UINT])?;
                case(&context, Program::Shared, stage, way, &[F::R32_UINT, F::R8G8B8A8_UINT])?;
                case(&context, Program::Shared, stage, way, &[LEGAL, LEGAL])?;
            }
        }
        Ok(())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bound: {why}");
            ExitCode::from(4)
        }
    }
}

/// Binds images of these formats at 0 and 2, a LINEAR sampler at 1, and a pipeline that joins them; `again`: then with another sampler in
/// its place, and with the first again.
fn case(
    context: &Context,
    program: Program,
    stage: Stage,
    (way, again): (Way, bool),
    formats: &[F],
) -> Result<(), String> {
    let images = formats.iter().map(|format| Image::new(context, &ImageDesc::d2(*format, 8, 8)));
    let images: Vec<_> = images.collect::<Result<_, _>>()?;
    let views: Vec<_> = images.iter().map(|image| image.view(&ViewDesc::default())).collect();
    let samplers = [SamplerDesc::linear(), SamplerDesc::trilinear()].map(|desc| desc.create(context));
    let [slots, others] = samplers.each_ref().map(|sampler| {
        let images = views.iter().zip([0, 2]).map(|(view, at)| Slot::image(view, at, 0));
        images.chain([Slot::sampler(sampler, 1, 0)]).collect::<Vec<_>>()
    });
    let route = Route::new(context, way, &bindings(&slots), 1).map_err(|skip| skip.0)?;
    let layouts = route.layouts();
    let kinds: Vec<ResultKind> = views.iter().map(|view| view.numeric_kind().into()).collect();
    let plan = Plan::new(program, kinds[0], &layouts).second(kinds[kinds.len() - 1]).stage(stage);
    let (rig, points) = (Rig::new(context, &plan), [SamplePoint::at(0.5, 0.5, 0.5)]);
    if !again {
        route.found(&rig, &slots, &points);
    } else {
        let sets = [&slots, &others].map(|slots| Held::of(context, slots));
        let job = Job::new(&rig, &points);
        Commands::primary(context, |commands| {
            rig.bind(commands);
            job.bind(commands);
            for held in [&sets[0], &sets[1], &sets[0]] {
                rig.bind_sets(commands, 0, &[held.set], &[]);
                job.run(commands, 0);
            }
        });
    }
    Ok(())
}
