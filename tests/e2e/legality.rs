//! Runs the table of [`cases`](crate::cases).

use crate::cases::all;
use crate::run::{Outcome, silent, trial, without_layer};
use libtest_mimic::Trial;
use samplin_suite::case::{Case, assert_same, look, looks};
use samplin_testkit::ContextBuilder;

/// One test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    all().into_iter().map(|case| trial(format!("case/{}", case.name), move || run(&case))).collect()
}

fn builder(case: &Case) -> ContextBuilder {
    // What becomes of a sampler alone; `tests/separate/texels.rs` has what shaders divide.
    case.builder().setting("unnormalized", "base")
}

fn run(case: &Case) -> Outcome {
    run_off(case)?;
    run_on(case)?;
    run_twin(case)
}

/// Without samplin: validation says what is wrong. Nothing illegal is executed.
fn run_off(case: &Case) -> Outcome {
    let builder = builder(case).record_only();
    let builder = if case.alone { builder.refuse_errors() } else { builder };
    let ((), errors) = without_layer(builder, |context| {
        case.check(context)?;
        if case.alone {
            let _ = case.sampler.try_create(context);
        } else {
            look(context, &case.scene, &case.sampler, &case.legal)?;
        }
        Ok(())
    })?;
    case.oracle.assert(&errors, "without samplin");
    Ok(())
}

/// With samplin: silent, the pixels of the legalized sampler, and the changes in the trace.
fn run_on(case: &Case) -> Outcome {
    let builder = builder(case).setting("augment", "off");
    let (look, judged) =
        silent(builder, "with samplin", |context| look(context, &case.scene, &case.sampler, &case.legal))?;
    case.assert_changes(&judged);
    let (summary, replaced) = (judged.summary(), i32::from(!case.at_pair.is_empty()));
    let writes = serde_json::json!({"seen": looks(&case.scene, &case.legal), "rewritten": replaced});
    assert_eq!(summary["writes"]["update"], writes, "{summary:#}");
    assert_eq!(summary["variants"], serde_json::json!({"live": 0, "peak": replaced, "created": replaced}));
    if replaced == 1 {
        let record = judged.trace.first("pair");
        assert_eq!(record["path"], "update", "{record:#}");
        assert!(record["variant"].is_string(), "{record:#}");
    }
    assert_same(&look.got, &look.wanted, &case.legal, &case.scene, "with samplin");
    Ok(())
}

/// What is legal stays as it is.
fn run_twin(case: &Case) -> Outcome {
    let (scene, sampler) = &case.twin;
    let builder = builder(case).setting("augment", "off");
    let (look, judged) = silent(builder, "the legal twin", |context| look(context, scene, sampler, sampler))?;
    judged.assert_untouched("the legal twin");
    let (summary, seen) = (judged.summary(), looks(scene, sampler));
    assert_eq!(summary["writes"]["update"]["seen"], seen, "the layer looked at the write: {summary:#}");
    assert_same(&look.got, &look.wanted, sampler, scene, "the legal twin");
    Ok(())
}
