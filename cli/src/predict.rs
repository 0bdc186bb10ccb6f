//! `samplin predict`: what the decisions of a recorded run would be on another device.
//!
//! [`samplin_predict`] decides; here are the trace, the names of devices and what is printed.

mod alive;
mod one;
pub(crate) mod table;

use std::collections::BTreeSet;
use std::path::PathBuf;

use samplin_predict::{PAIRS, Prediction};
use serde_json::Value;

use self::alive::Input;
use crate::check;
use crate::devices;
use crate::failure::{Failure, Result};
use crate::inspect;
use crate::output::Output;
use crate::trace::analysis::Analysis;
use crate::trace::reader::{self, Line};
use crate::trace::record::{counted, grouped};
use crate::trace::scan::Damage;

/// The arguments of `samplin predict`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A trace of the level all (`samplin run --trace-level all -- PROGRAM`); `-` is standard input. Without one, what is piped in,
    /// else the newest
    #[arg(value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// The device: a name from `samplin caps --list`, a capability file, or gpu, gpu:1, … of this machine; several make a table
    #[arg(long, value_name = "NAME", required_unless_present = "all")]
    pub device: Vec<String>,
    /// All devices that come with samplin, in one table
    #[arg(long)]
    pub all: bool,
    /// Exit with status 1 if a device has findings by these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = check::rule_names())]
    pub deny: Vec<String>,
    /// With --deny, accept a trace without the end of its run (the program was killed or still runs); without this, that is exit status 3
    #[arg(long)]
    pub allow_unfinished: bool,
    /// Judge by this device alone, without what the recording device lacks
    #[arg(long)]
    pub alone: bool,
    /// Write the prediction as a trace, for inspect, diff, check and report
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// How many rows of a group (of several devices: findings of a rule) to show; 0 for all
    #[arg(long, default_value_t = 10)]
    pub limit: usize,
}

/// Runs the command.
///
/// # Errors
///
/// When the trace or the capability file cannot be used, or the trace does not hold enough.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let source = inspect::sources(arguments.trace.as_slice())?.remove(0);
    let mut names = arguments.device.clone();
    if arguments.all {
        names.extend(devices::SHIPPED.iter().map(|shipped| shipped.short.to_owned()));
    }
    // A device may have been spelled in several ways.
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(devices::find(name).map_or_else(|_| name.clone(), |file| file.name())));
    if let [name] = names.as_slice() {
        return one::run(arguments, name, &source, output);
    }
    if arguments.output.is_some() {
        return Err(Failure::usage("-o writes the trace of one device"));
    }
    table::run(arguments, &names, &source, output)
}

/// What a run would be on a device.
struct Predicted {
    prediction: Prediction,
    recorded: Analysis,
    /// The predicted trace.
    lines: Vec<String>,
    analysis: Analysis,
    notes: Vec<String>,
}

/// Predicts for a device what it would do with the run of a trace.
fn predict(name: &str, alone: bool, input: &Input<'_>, progress: bool) -> Result<Predicted> {
    let mut prediction = Prediction::new(table::simulation(name)?, alone, input.alive.clone());
    let mut recorded = Analysis::default();
    let counts = input.read(progress, |record| {
        recorded.record(0, record)?;
        if Prediction::reads(record.event.name()) {
            let value = serde_json::from_slice::<Value>(record.text).map_err(|_| Damage::NotARecord)?;
            prediction.record(value);
        }
        Ok(())
    })?;
    let source = input.source;
    if !prediction.level_is_all || (prediction.pairs == 0 && prediction.without_class > 0) {
        return Err(Failure::input(format!("{}: the trace does not hold every sampler and pair", source.name()))
            .hint("record it with `samplin run --trace-level all -- PROGRAM`"));
    }
    let lines = prediction.lines();
    let mut analysis = Analysis::default();
    for (number, text) in lines.iter().enumerate() {
        if let Some(Line::Record(record)) = reader::line(number as u64 + 1, text.as_bytes()) {
            // What was just written can be read.
            let _ = analysis.record(0, &record);
        }
    }
    analysis.fill_names();
    let mut notes = notes(&prediction, counts.damaged);
    notes.extend(recorded.unfinished().into_values());
    Ok(Predicted { prediction, recorded, lines, analysis, notes })
}

/// What a reader has to know of it.
fn notes(prediction: &Prediction, damaged: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if damaged > 0 {
        notes.push(format!("{} of the trace left out", counted(damaged, "damaged line")));
    }
    for (what, count) in &prediction.not_understood {
        notes.push(format!("{} could not be read back and are left out", counted(*count, &format!("{what} record"))));
    }
    if prediction.without_class > 0 {
        notes.push(format!("{} hold too little to predict", counted(prediction.without_class, "record")));
    }
    if prediction.left_out > 0 {
        notes.push(format!(
            "{} beyond the first {} are left out",
            counted(prediction.left_out, "record"),
            grouped(PAIRS)
        ));
    }
    if prediction.links_left > 0 {
        notes.push(format!(
            "{} that the layer left alone taken over as recorded",
            counted(prediction.links_left, "link")
        ));
    }
    if prediction.with_rules > 0 {
        notes.push(format!(
            "rules applied to {}; a prediction knows the rules of the device alone",
            counted(prediction.with_rules, "pair")
        ));
    }
    notes
}
