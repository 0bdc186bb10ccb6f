//! Records say at which draw a pair was met: its number in its command buffer, and the application's debug label.

use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, stage) in [("compute", Stage::Compute), ("graphics", Stage::Fragment)] {
        for (kind, label) in [("labels", Some("Shadow pass")), ("no-labels", None)] {
            trials.push(trial_in(stage, format!("draws/{kind}-{name}"), move || says_its_draw(stage, label)));
        }
        trials.push(trial_in(stage, format!("draws/secondary-{name}"), move || secondary(stage)));
        trials.push(trial_in(stage, format!("draws/legal-{name}"), move || legal(stage)));
    }
    trials
}

/// An image with a sampler that suits it, and with one that does not.
struct Sets<'c> {
    texture: Texture<'c>,
    _samplers: [Sampler<'c>; 2],
    legal: Held<'c>,
    conflict: Held<'c>,
}

impl<'c> Sets<'c> {
    fn new(context: &'c Context) -> Result<Self, Skip> {
        let conflict = conflicts::uint();
        let texture = Texture::new(context, conflict.scene)?;
        let samplers = [SamplerDesc::nearest(), conflict.sampler].map(|sampler| sampler.create(context));
        let [legal, conflict] =
            samplers.each_ref().map(|sampler| Held::of(context, &[texture.slot(0, 0), Slot::sampler(sampler, 1, 0)]));
        Ok(Self { texture, _samplers: samplers, legal, conflict })
    }

    fn rig(&self, context: &'c Context, stage: Stage) -> Rig<'c> {
        Rig::new(context, &Plan::new(Program::One, self.texture.kind(), &[&self.legal.layout]).stage(stage))
    }
}

/// Draws twice with what is legal and then twice with what is not.
fn record(
    context: &Context,
    rig: &Rig<'_>,
    job: &Job<'_, '_>,
    sets: &Sets<'_>,
    label: Option<&str>,
    commands: vk::CommandBuffer,
) {
    context.begin_label(commands, label.map(|_| "Frame"));
    rig.bind(commands);
    rig.bind_sets(commands, 0, &[sets.legal.set], &[]);
    job.bind(commands);
    job.run(commands, 0);
    context.begin_label(commands, label.map(|_| "Depth pass"));
    job.run(commands, 0);
    context.end_label(commands, label);
    context.begin_label(commands, label);
    rig.bind_sets(commands, 0, &[sets.conflict.set], &[]);
    job.bind(commands);
    job.run(commands, 0);
    context.end_label(commands, label);
    job.run(commands, 0);
    context.end_label(commands, label);
}

fn says_its_draw(stage: Stage, label: Option<&str>) -> Outcome {
    let body = |context: &Context| -> Result<Vec<Look>, Skip> {
        let sets = Sets::new(context)?;
        let rig = sets.rig(context, stage);
        let job = Job::new(&rig, &points());
        let commands = Commands::primary(context, |commands| record(context, &rig, &job, &sets, label, commands));
        commands.execute();
        Ok(Vec::new())
    };
    let (_, judged) = silent(resolve(Context::builder()), "with samplin", body)?;
    assert_draw(&judged, 3, label);
    Ok(())
}

/// The only pair that a shader's link led to was met at this draw.
fn assert_draw(judged: &Judged, draw: u64, label: Option<&str>) {
    let records = draws(judged);
    let [record] = &records[..] else { panic!("one, though it was met twice: {records:#?}") };
    assert_eq!((&record["frame"], &record["draw"]), (&0.into(), &draw.into()), "{record:#}");
    assert_eq!(record.get("label").and_then(Json::as_str), label, "{record:#}");
}

/// A secondary command buffer counts its own draws and has its own labels.
fn secondary(stage: Stage) -> Outcome {
    let body = |context: &Context| -> Result<Vec<Look>, Skip> {
        let sets = Sets::new(context)?;
        let rig = sets.rig(context, stage);
        let job = Job::new(&rig, &points());
        let inner = Commands::secondary(context, &rig, |commands| {
            context.begin_label(commands, Some("Rocks"));
            rig.bind(commands);
            rig.bind_sets(commands, 0, &[sets.conflict.set], &[]);
            job.bind(commands);
            job.record(commands, 0);
            context.end_label(commands, Some("Rocks"));
        });
        let commands = Commands::primary(context, |commands| {
            context.begin_label(commands, Some("Frame"));
            rig.in_pass(commands, vk::SubpassContents::SECONDARY_COMMAND_BUFFERS, || inner.record_into(commands));
            job.finish(commands);
            context.end_label(commands, Some("Frame"));
        });
        commands.execute();
        Ok(Vec::new())
    };
    let (_, judged) = silent(resolve(Context::builder()), "with samplin", body)?;
    assert_draw(&judged, 1, Some("Rocks"));
    Ok(())
}

/// Labels alone are no reason for a record.
fn legal(stage: Stage) -> Outcome {
    judge_legal(&Context::builder(), &|context| {
        let sets = Sets::new(context)?;
        let rig = sets.rig(context, stage);
        let job = Job::new(&rig, &points());
        Commands::once(context, |commands| {
            context.begin_label(commands, Some("Frame"));
            rig.bind(commands);
            rig.bind_sets(commands, 0, &[sets.legal.set], &[]);
            job.bind(commands);
            job.run(commands, 0);
            context.end_label(commands, Some("Frame"));
        });
        Ok(vec![sets.texture.look("the image", &SamplerDesc::nearest(), job.results().remove(0))])
    })
}
