//! One device in full.

use serde_json::json;

use super::{Arguments, Input, Predicted, predict, table};
use crate::devices;
use crate::failure::{Outcome, Result};
use crate::files;
use crate::inspect;
use crate::output::{Output, Style};
use crate::trace::analysis::By;
use crate::trace::reader::TraceSource;
use crate::trace::record::{counted, grouped, short};

/// Prints the prediction for one device in full.
pub(super) fn run(arguments: &Arguments, name: &str, source: &TraceSource, output: &mut Output) -> Result {
    let found = predict(name, arguments.alone, &Input::open(source)?, true)?;
    let Predicted { prediction, recorded, lines, analysis: predicted, notes } = found;
    let denied = table::denied(&predicted, &arguments.deny);
    table::must_be_finished(arguments, !denied.is_empty(), recorded.unfinished().into_values().next(), source)?;
    let outcome = Outcome::from_findings(!denied.is_empty());
    if let Some(path) = &arguments.output {
        let text = lines.join("\n") + "\n";
        if files::is_stdout(path) {
            output.document(&text);
            return Ok(outcome);
        }
        let devices = devices::inputs(&arguments.device);
        files::must_not_replace(&[("--output", path)], std::slice::from_ref(source), &devices)?;
        files::write_output(path, text.as_bytes())?;
    }
    if output.json {
        output.json(&json!({
            "device": prediction.simulation.name,
            "alone": arguments.alone,
            "recorded_on": prediction.recorded_on,
            "samplers": prediction.samplers,
            "pairs": prediction.pairs,
            "blits": prediction.blits,
            "images": prediction.images,
            "modules": prediction.modules,
            "unsupported_formats": prediction.unsupported,
            "changes": predicted.change_count(),
            "recorded_changes": recorded.change_count(),
            "by_rule": predicted.by_rule(),
            "decisions": predicted.decisions,
            "unresolved": predicted.unresolved,
            "denied": denied,
            "notes": notes,
        }));
        return Ok(outcome);
    }
    let name = output.styled(Style::Heading, &prediction.simulation.name);
    let how = if arguments.alone { "by itself" } else { "on top of what the recording device lacks" };
    output.line(format!("On {name}, {how}:"));
    output.line(format!(
        "  {}, {} and {} recorded on {}",
        counted(prediction.samplers, "sampler state"),
        counted(prediction.pairs, "pair"),
        counted(prediction.blits, "blit"),
        prediction.recorded_on.as_deref().unwrap_or("an unknown device"),
    ));
    if prediction.images + prediction.modules > 0 {
        let (images, modules) = (prediction.images, prediction.modules);
        output.line(format!(
            "  {} images and views, and {}, that some device may have to change",
            grouped(images),
            counted(modules, "shader module")
        ));
    }
    let (now, then) = (predicted.change_count(), recorded.change_count());
    output.line(format!("  {} instead of {}", counted(now, "change"), grouped(then)));
    for (format, pairs) in &prediction.unsupported {
        let text = format!("  {} cannot be sampled there at all ({})", short(format), counted(*pairs, "pair"));
        output.styled_line(Style::Bad, text);
    }
    for limit in &prediction.exceeded {
        output.styled_line(Style::Bad, format!("  {limit}"));
    }
    for finding in &denied {
        output.styled_line(Style::Bad, format!("  denied: {}: {}", finding.rule, finding.rest()));
    }
    for note in &notes {
        output.styled_line(Style::Warn, format!("  {note}"));
    }
    let limit = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    if now > 0 {
        let groups = [By::Rule, By::Format, By::Sampler];
        inspect::text(&predicted, &groups, limit, output);
    }
    Ok(outcome)
}
