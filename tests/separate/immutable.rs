//! `immutable=demote`: a combined descriptor whose sampler is immutable meets a view that it suits and one that it does not, over time.

use super::*;
use samplin_testkit::held::bindings;
use samplin_testkit::way::{Route, Way};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = run::trials(&[
        ("demote/off", off),
        ("demote/legal", legal),
        ("demote/compare", compares),
        ("demote/named", named),
        ("demote/not-named", not_named),
        ("demote/updated-after-bind", || updated_after_bind(builder())),
        ("demote/updated-after-bind-named", || {
            let (_folder, builder) = ruled("min_filter = \"linear\", format = \"R32_*\"");
            updated_after_bind(builder)
        }),
    ]);
    // Custom border colours have none of their own (VUID-VkDescriptorSetLayoutBinding-pImmutableSamplers-04009).
    for conflict in [conflicts::d16(), conflicts::simulated()] {
        for (name, stage) in STAGES.into_iter().chain([("linked", Stage::LinkedObjects)]) {
            let (conflict, name) = (conflict.clone(), format!("demote/over-time-{}/{name}", conflict.name));
            trials.push(trial_in(stage, name, move || over_time(stage, Way::Set, &conflict)));
        }
        for (name, way) in [("push", Way::Push), ("template", Way::Template), ("copy", Way::Copy)] {
            let (conflict, name) = (conflict.clone(), format!("demote/{name}-{}", conflict.name));
            trials.push(trial(name, move || over_time(Stage::Compute, way, &conflict)));
        }
    }
    trials
}

fn builder() -> ContextBuilder {
    Context::builder().setting("immutable", "demote")
}

/// What lookups of [`Program::Beside`] find through the immutable sampler of binding 2, with each of the textures in turn.
fn look(
    context: &Context,
    (stage, way): (Stage, Way),
    immutable: &SamplerDesc,
    textures: &[(&Texture<'_>, &SamplerDesc)],
) -> Result<Vec<Look>, Skip> {
    let (immutable, plain) = (immutable.create(context), SamplerDesc::nearest().create(context));
    let slots = |texture: &Texture<'_>| {
        let alone = [1, 3].map(|binding| Slot::sampler(&plain, binding, 0));
        [texture.slot(0, 0), alone[0], texture.pair(&immutable, 2, 0).fixed(), alone[1]]
    };
    let route = Route::new(context, way, &bindings(&slots(textures[0].0)), 0)?;
    let kind = textures[0].0.kind();
    let rig = Rig::new(context, &Plan::new(Program::Beside, kind, &route.layouts()).stage(stage));
    let mut all = Vec::new();
    for (texture, legal) in textures {
        let wanted =
            [("a sampler of its own", *texture, &SamplerDesc::nearest()), ("the immutable one", texture, legal)];
        all.extend(looks(&wanted, route.found(&rig, &slots(texture), &points())));
    }
    Ok(all)
}

/// Good, bad and good again, through the same set.
fn over_time(stage: Stage, way: Way, conflict: &Conflict) -> Outcome {
    over_time_in(builder(), (stage, way), conflict).map(|_| ())
}

fn over_time_in(builder: ContextBuilder, (stage, way): (Stage, Way), conflict: &Conflict) -> Result<Judged, Skip> {
    let body = |context: &Context| {
        conflict.check(context)?;
        let [good, bad] = textures(context, [conflict.twin.0, conflict.scene])?;
        let turns = [(&good, &conflict.sampler), (&bad, &conflict.legal), (&good, &conflict.sampler)];
        look(context, (stage, way), &conflict.sampler, &turns)
    };
    let oracle = conflict.oracle.where_seen();
    let builder = match &*conflict.name {
        "d16" => builder,
        _ => builder.simulated(conflicts::WEAK),
    };
    let (_, errors) = without_layer(builder.clone().record_only(), body)?;
    oracle.assert(&errors, "without samplin");
    let (looks, judged) = with_layer(resolve(builder), body)?;
    // Validation judges a variable by all of its descriptor, of which this shader uses the image only ("is used to sample").
    oracle.assert(&judged.errors, "with samplin");
    let changed = Changed { image: place(0, 2, 0), sampler: place(0, 2, 0), how: How::Split };
    assert_changed(&judged, &[changed]);
    looks.iter().for_each(|look| look.assert("with samplin"));
    Ok(judged)
}

/// A builder with a rule for immutable samplers, and the folder that it is in.
fn ruled(when: &str) -> (run::Folder, ContextBuilder) {
    let folder = run::Folder::new();
    let text = format!("[[rule]]\nwhen = {{ {when} }}\nset = {{ immutable = \"demote\" }}\n");
    let builder = Context::builder().rules(&folder, &text);
    (folder, builder)
}

/// A rule names the sampler and the format: the pipeline is split when it is made, and no bind compiles.
fn named() -> Outcome {
    let (_folder, builder) = ruled("min_filter = \"linear\", format = \"R32_*\"");
    let judged = over_time_in(builder, (Stage::Compute, Way::Set), &conflicts::simulated())?;
    assert_passes(&judged, &["split"]);
    let first = judged.trace.events("shader").next();
    assert!(first.is_some_and(|record| record["learned"] == true), "{:#?}", judged.trace);
    Ok(())
}

/// What a rule does not name stays, and is told as without one: samplers of pipelines that are made once, and pairs of named samplers.
fn not_named() -> Outcome {
    switch::without_rewrites()?;
    let conflict = conflicts::uint();
    for (when, made) in [("min_filter = \"nearest\"", 0), ("min_filter = \"linear\", format = \"R8_*\"", 1)] {
        let (_folder, builder) = ruled(when);
        let (_, judged) = with_layer(resolve(builder.record_only()), |context| {
            let texture = Texture::new(context, conflict.scene)?;
            look(context, (Stage::Compute, Way::Set), &conflict.sampler, &[(&texture, &conflict.legal)])
        })?;
        assert_eq!(judged.left(), ["immutable sampler"], "{when}: {:#?}", judged.trace);
        assert_eq!((judged.trace.events("shader").count(), draws(&judged).len()), (made, 0), "{when}");
    }
    // What the sampler suits is read through it all the same.
    let (_folder, builder) = ruled("min_filter = \"linear\"");
    let linear = SamplerDesc::linear();
    judge_legal(&builder, &|context| {
        let texture = Texture::new(context, RGBA8)?;
        look(context, (Stage::Compute, Way::Set), &linear, &[(&texture, &linear)])
    })
}

/// The image conflicts when its set is bound, and is another one, which does not, by the time that it is read.
fn updated_after_bind(builder: ContextBuilder) -> Outcome {
    let conflict = conflicts::simulated();
    let builder = builder.simulated(conflicts::WEAK);
    let (looks, judged) = silent(resolve(builder), "with samplin", |context| {
        skip_if(context.missing(&[Capability::DescriptorIndexing]))?;
        let [good, bad] = textures(context, [conflict.twin.0, conflict.scene])?;
        let (immutable, plain) = (conflict.sampler.create(context), SamplerDesc::nearest().create(context));
        let late = vk::DescriptorBindingFlags::UPDATE_AFTER_BIND;
        let bindings = [
            Binding::image(0),
            Binding::sampler(1),
            Binding::combined(2, 1).immutable(&[&immutable]).flags(late),
            Binding::sampler(3),
        ];
        let held = Held::new(context, &bindings, &[]);
        let rig = Rig::new(context, &Plan::new(Program::Beside, good.kind(), &[&held.layout]).stage(Stage::Compute));
        let job = Job::new(&rig, &points());
        let combined = |texture: &Texture<'_>| texture.pair(&immutable, 2, 0).fixed();
        let samplers = [Slot::sampler(&plain, 1, 0), Slot::sampler(&plain, 3, 0)];
        held.write(&samplers);
        held.write(&[good.slot(0, 0), combined(&bad)]);
        let commands = job.over(&[held.set], 0);
        held.write(&[combined(&good)]);
        commands.execute();
        Ok(vec![good.look("the immutable one", &conflict.sampler, job.results().remove(1))])
    })?;
    assert_left(&judged, "update-after-bind");
    looks.iter().for_each(|look| look.assert("with samplin"));
    Ok(())
}

/// What conflicts with nothing is as the application has it.
fn legal() -> Outcome {
    let linear = SamplerDesc::linear();
    judge_legal(&builder(), &|context| {
        let texture = Texture::new(context, RGBA8)?;
        look(context, (Stage::Compute, Way::Set), &linear, &[(&texture, &linear), (&texture, &linear)])
    })
}

/// By default an immutable sampler is repaired by itself only, and the pair is named.
fn off() -> Outcome {
    switch::without_rewrites()?;
    let conflict = conflicts::uint();
    let (_, judged) = with_layer(resolve(Context::builder().record_only()), |context| {
        let texture = Texture::new(context, conflict.scene)?;
        look(context, (Stage::Compute, Way::Set), &conflict.sampler, &[(&texture, &conflict.legal)])
    })?;
    assert_eq!(judged.left(), ["immutable sampler"], "{:#?}", judged.trace);
    assert_eq!(judged.trace.events("shader").count(), 0);
    Ok(())
}

/// A view that cannot be compared, and a shader that does not compare: the hidden sampler has no comparison. The twin has none to give up.
fn compares() -> Outcome {
    let (plain, compares) = (SamplerDesc::nearest(), SamplerDesc::nearest().compare(vk::CompareOp::LESS));
    let body = |context: &Context, immutable: &SamplerDesc| {
        let texture = Texture::new(context, RGBA8)?;
        look(context, (Stage::Compute, Way::Set), immutable, &[(&texture, &plain)])
    };
    let changed = Changed { image: place(0, 2, 0), sampler: place(0, 2, 0), how: How::Split };
    let (looks, judged) = silent(resolve(builder()), "with samplin", |context| body(context, &compares))?;
    assert_changed(&judged, &[changed]);
    looks.iter().for_each(|look| look.assert("with samplin"));
    judge_legal(&builder(), &|context| body(context, &plain))
}
