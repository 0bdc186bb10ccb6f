//! Settings that leave the pair alone: `separate=base`, and `mode=audit`.

use super::*;

pub(crate) fn trials() -> Vec<Trial> {
    run::trials(&[("mode/base", base), ("mode/off", off), ("mode/audit", audit), ("mode/audit-legal", audit_legal)])
}

/// Samples one image with a sampler that does not suit it, twice, in a pipeline each.
fn look(context: &Context) -> Result<Vec<Look>, Skip> {
    let conflict = conflicts::uint();
    let texture = Texture::new(context, conflict.scene)?;
    let sampler = conflict.sampler.create(context);
    let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)]);
    for _ in 0..2 {
        held.found((Program::One, Stage::Compute), [texture.kind(); 2])?;
    }
    Ok(Vec::new())
}

/// What validation says of the pair comes through as it does without samplin.
fn passed(builder: ContextBuilder) -> Result<Judged, Skip> {
    let builder = builder.record_only();
    let (_, judged) = with_layer(builder, look)?;
    let oracle = conflicts::uint().oracle;
    // A link that is split has image and sampler in different sets.
    let oracle = if switch::is_split() { oracle.where_seen() } else { oracle };
    oracle.assert(&judged.errors, "with samplin");
    assert_eq!(judged.summary()["variants"]["created"], 0, "{:#}", judged.summary());
    Ok(judged)
}

fn base() -> Outcome {
    assert_left(&passed(Context::builder().setting("separate", "base"))?, "separate samplers");
    Ok(())
}

/// Nothing is recorded, and nothing done.
fn off() -> Outcome {
    let builder = resolve(Context::builder()).setting("mode", "off").record_only();
    let context = run::build(&builder.samplin().validation())?;
    let log = context.messages();
    look(&context)?;
    drop(context);
    conflicts::uint().oracle.assert(&log.errors(), "with samplin switched off");
    Ok(())
}

/// The record is there, and nothing else.
fn audit() -> Outcome {
    let judged = passed(resolve(Context::builder()).setting("mode", "audit"))?;
    let records = draws(&judged);
    assert_eq!(records.len(), 1, "one for both pipelines: {:#?}", judged.trace);
    for record in records {
        assert!(record["variant"].is_null(), "{record:#}");
        assert_eq!(record["link"]["image"]["binding"], 0, "{record:#}");
        assert_eq!(record["link"]["sampler"]["binding"], 1, "{record:#}");
        assert!(!samplin_testkit::trace::changes(record).is_empty(), "{record:#}");
    }
    judged.assert_resolved();
    Ok(())
}

fn audit_legal() -> Outcome {
    judge_legal(&Context::builder().setting("mode", "audit"), &|context| {
        let texture = Texture::new(context, RGBA8)?;
        let linear = SamplerDesc::linear();
        let sampler = linear.create(context);
        let held = Held::of(context, &[texture.slot(0, 0), Slot::sampler(&sampler, 1, 0)]);
        held.looks((Program::One, Stage::Compute), &[("the image", &texture, &linear)])
    })
}
