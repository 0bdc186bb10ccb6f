//! A program whose images and samplers stand in descriptors of their own, bound in every way there is: sets, several sets, pushes,
//! copies, secondary command buffers, one pipeline after another. `scripts/reconcile` looks at what is bound above the layer and
//! below it; nothing is executed. Of each case there is a legal one too.

use std::process::ExitCode;

use ash::vk;
use samplin_testkit::descriptor::{Binding, Pool, SetLayout, update, write_images};
use samplin_testkit::separate::{Commands, Job, Plan, Program, Rig, Stage};
use samplin_testkit::{Capability, Context, Image, ImageDesc, ResultKind, SamplePoint, SamplerDesc, ViewDesc};

type F = vk::Format;

/// How the descriptors of a case are bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One set.
    Set,
    /// Images in one set, the sampler in the next.
    Sets,
    /// The set is a copy of another.
    Copy,
    /// Pushed.
    Push,
    /// One set, in a secondary command buffer.
    Secondary,
    /// One set, bound again with another sampler in its place, and with the first again.
    Again,
}

const ILLEGAL: [F; 3] = [F::R32_UINT, F::D16_UNORM, F::D32_SFLOAT];
const LEGAL: F = F::R8G8B8A8_UNORM;

fn main() -> ExitCode {
    let builder = Context::builder().application("bound", 1).engine("samplin", 0).record_only();
    let outcome = builder.build().map_err(|error| error.to_string()).and_then(|context| {
        if let Some(lacking) = context.missing(&[Capability::FragmentStores]) {
            return Err(lacking);
        }
        let pushes = context.missing(&[Capability::PushDescriptor]).is_none().then_some(Way::Push);
        for way in [Way::Set, Way::Sets, Way::Copy, Way::Secondary, Way::Again].into_iter().chain(pushes) {
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

/// Binds images of these formats at 0 and 2, a LINEAR sampler at 1, and a pipeline that joins them.
fn case(context: &Context, program: Program, stage: Stage, way: Way, formats: &[F]) -> Result<(), String> {
    let images = formats.iter().map(|format| Image::new(context, &ImageDesc::d2(*format, 8, 8)));
    let images: Vec<_> = images.collect::<Result<_, _>>()?;
    let views: Vec<_> = images.iter().map(|image| image.view(&ViewDesc::default())).collect();
    let samplers = [SamplerDesc::linear(), SamplerDesc::trilinear()].map(|desc| desc.create(context));

    let images_at: Vec<u32> = [0, 2].into_iter().take(views.len()).collect();
    let mut first: Vec<Binding> = images_at.iter().map(|at| Binding::image(*at)).collect();
    let mut layouts = Vec::new();
    match way {
        Way::Sets => {
            layouts.push(SetLayout::new(context, &first));
            layouts.push(SetLayout::new(context, &[Binding::sampler(1)]));
        }
        Way::Push => {
            first.push(Binding::sampler(1));
            let push = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
            layouts.push(SetLayout::with_flags(context, &first, push));
        }
        _ => {
            first.push(Binding::sampler(1));
            layouts.push(SetLayout::new(context, &first));
        }
    }
    let all: Vec<&SetLayout<'_>> = layouts.iter().collect();

    // The descriptors, with the sampler of this number.
    let infos = |number: usize| -> Vec<(u32, vk::DescriptorType, vk::DescriptorImageInfo)> {
        let image = |(at, view): (&u32, &samplin_testkit::View<'_>)| {
            let info = vk::DescriptorImageInfo::default().image_view(view.handle());
            let info = info.image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
            (*at, vk::DescriptorType::SAMPLED_IMAGE, info)
        };
        let sampler = vk::DescriptorImageInfo::default().sampler(samplers[number].handle());
        let sampler = (1, vk::DescriptorType::SAMPLER, sampler);
        images_at.iter().zip(&views).map(image).chain([sampler]).collect()
    };
    let pools: Vec<_> = (0..3).map(|_| Pool::new(context, &all)).collect();
    let filled = |pool: &Pool<'_>, number: usize| -> Vec<vk::DescriptorSet> {
        let sets: Vec<_> = all.iter().map(|layout| pool.allocate(layout)).collect();
        for (at, ty, info) in infos(number) {
            let set = if way == Way::Sets && at == 1 { 1 } else { 0 };
            write_images(context, sets[set], (at, 0), ty, &[info]);
        }
        sets
    };
    let mut sets = if way == Way::Push { Vec::new() } else { filled(&pools[0], 0) };
    let others = if way == Way::Again { filled(&pools[1], 1) } else { Vec::new() };
    if way == Way::Copy {
        let copied = pools[2].allocate(all[0]);
        let copies = infos(0).into_iter().map(|(at, ..)| {
            let copy = vk::CopyDescriptorSet::default().src_set(sets[0]).src_binding(at).descriptor_count(1);
            copy.dst_set(copied).dst_binding(at)
        });
        update(context, &[], &copies.collect::<Vec<_>>(), &[]);
        sets = vec![copied];
    }

    let kinds: Vec<ResultKind> = views.iter().map(|view| view.numeric_kind().into()).collect();
    let plan = Plan::new(program, kinds[0], &all).stage(stage);
    let rig = Rig::new(context, &kinds.get(1).map_or(plan, |second| plan.second(*second)));
    let job = Job::new(&rig, &[SamplePoint::at(0.5, 0.5, 0.5)]);
    let bind = |commands| {
        rig.bind(commands);
        job.bind(commands);
        match way {
            Way::Push => {
                let infos = infos(0);
                let writes = infos.iter().map(|(at, ty, info)| {
                    let write = vk::WriteDescriptorSet::default().dst_binding(*at).descriptor_type(*ty);
                    write.image_info(std::slice::from_ref(info))
                });
                rig.push(commands, 0, &writes.collect::<Vec<_>>());
            }
            _ => rig.bind_sets(commands, 0, &sets, &[]),
        }
    };
    if way == Way::Secondary {
        let secondary = Commands::secondary(context, &rig, |commands| {
            bind(commands);
            job.record(commands, 0);
        });
        Commands::primary(context, |commands| {
            rig.in_pass(commands, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS, || secondary.record_into(commands));
            job.finish(commands);
        });
    } else {
        Commands::primary(context, |commands| {
            bind(commands);
            job.run(commands, 0);
            if way == Way::Again {
                for sets in [&others, &sets] {
                    rig.bind_sets(commands, 0, sets, &[]);
                    job.run(commands, 0);
                }
            }
        });
    }
    Ok(())
}
