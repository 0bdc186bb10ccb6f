//! Several devices at once: findings down, devices across.

use std::collections::BTreeMap;

use samplin_config::simulate::{self, Simulation};
use samplin_predict::Prediction;
use serde::Serialize;
use serde_json::json;

use super::{Arguments, Input, Predicted, predict};
use crate::caps;
use crate::check::{Finding, UNRESOLVED, folded};
use crate::devices;
use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table};
use crate::trace::analysis::Analysis;
use crate::trace::reader::TraceSource;
use crate::trace::record::{counted, grouped, short};

/// How many devices have columns of their own; of more, a finding lists the names.
const COLUMNS: usize = 6;

/// What a device can do: a shipped one, a file, or this machine's.
pub(super) fn simulation(name: &str) -> Result<Simulation> {
    let path = match name == "gpu" || name.starts_with("gpu:") {
        true => caps::on_disk(name)?,
        false => devices::find(name)?.on_disk()?,
    };
    let setting =
        path.to_str().ok_or_else(|| Failure::environment(format!("{}: the path is not UTF-8", path.display())))?;
    simulate::load(setting).map_err(|unusable| {
        let line = unusable.line.map(|line| format!(":{line}")).unwrap_or_default();
        Failure::input(format!("{name}{line}: {}", unusable.message))
    })
}

/// All findings of an analysis, each once, those of unresolved things among them.
fn findings(analysis: &Analysis) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        analysis.decisions.iter().flat_map(|decision| Finding::of_decision(analysis, decision)).collect();
    found.extend(analysis.unresolved.iter().map(|item| Finding::of_unresolved(analysis, item)));
    folded(found)
}

fn is_denied_by(finding: &Finding, deny: &[String]) -> bool {
    deny.iter().any(|rule| *rule == finding.rule || (finding.unresolved && rule == UNRESOLVED))
}

/// The findings by these rules.
pub(super) fn denied(analysis: &Analysis, deny: &[String]) -> Vec<Finding> {
    let mut found = if deny.is_empty() { Vec::new() } else { findings(analysis) };
    found.retain(|finding| is_denied_by(finding, deny));
    found
}

/// With `--deny`, a trace that ends early is no proof that nothing is found.
pub(super) fn must_be_finished(
    arguments: &Arguments,
    is_denied: bool,
    why: Option<String>,
    source: &TraceSource,
) -> Result<()> {
    match why {
        Some(why) if !arguments.deny.is_empty() && !is_denied && !arguments.allow_unfinished => {
            Err(Failure::input(format!("{}: {why}", source.name())).hint("--allow-unfinished accepts it"))
        }
        _ => Ok(()),
    }
}

/// A finding, and the devices that have it.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) finding: Finding,
    pub(crate) devices: Vec<bool>,
}

/// What a run would lose on a device.
#[derive(Default, Serialize)]
pub(crate) struct Losses {
    pub(crate) device: String,
    /// Changes.
    pub(crate) changes: u64,
    /// What is lost, with how many changes, those of most first. What loses nothing is left out.
    pub(crate) lost: Vec<(String, u64)>,
    /// What stays wrong, by the rule that is broken or by what it is, with how often.
    pub(crate) left: BTreeMap<String, u64>,
    /// Formats that it does not sample, and limits that the run exceeds.
    pub(crate) beyond: Vec<String>,
}

impl Losses {
    fn of(device: &str, prediction: &Prediction, analysis: &Analysis) -> Self {
        let mut lost: BTreeMap<&str, u64> = BTreeMap::new();
        for decision in &analysis.decisions {
            for change in decision.changes.iter().filter(|change| !change.lost.starts_with("nothing")) {
                *lost.entry(&change.lost).or_default() += decision.count;
            }
        }
        let mut lost: Vec<(String, u64)> = lost.into_iter().map(|(text, count)| (text.to_owned(), count)).collect();
        lost.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut left = BTreeMap::new();
        for item in &analysis.unresolved {
            *left.entry(item.rule.clone().unwrap_or_else(|| item.what.clone())).or_default() += item.count;
        }
        let formats = prediction.unsupported.keys().map(|format| format!("{} cannot be sampled", short(format)));
        let beyond = formats.chain(prediction.exceeded.iter().cloned()).collect();
        Self { device: device.to_owned(), changes: analysis.change_count(), lost, left, beyond }
    }
}

/// Findings on several devices.
pub(crate) struct Matrix {
    pub(crate) rows: Vec<Row>,
    /// What the run would lose on each device.
    pub(crate) losses: Vec<Losses>,
    notes: Vec<String>,
    /// Why the trace does not hold a run to its end, if so.
    unfinished: Option<String>,
}

impl Matrix {
    /// A row for each text and set of devices, by rule, the ones of most devices first: findings that differ in what their text leaves
    /// out (the aspect of a view, say) are counted together.
    pub(crate) fn printed(&self) -> Vec<Row> {
        let mut rows: BTreeMap<(&str, String, &[bool]), Row> = BTreeMap::new();
        for row in &self.rows {
            let once = Finding { count: 1, ..row.finding.clone() };
            rows.entry((&row.finding.rule, once.rest(), &row.devices))
                .and_modify(|first| first.finding.count += row.finding.count)
                .or_insert_with(|| row.clone());
        }
        let mut rows: Vec<Row> = rows.into_values().collect();
        let devices = |row: &Row| row.devices.iter().filter(|has| **has).count();
        rows.sort_by(|a, b| (&a.finding.rule, devices(b)).cmp(&(&b.finding.rule, devices(a))));
        rows
    }
}

/// Predicts for each of these devices what it would do with the run of a trace.
pub(crate) fn matrix(names: &[String], alone: bool, source: &TraceSource) -> Result<Matrix> {
    let input = Input::open(source)?;
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let mut losses: Vec<Losses> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    let mut unfinished = None;
    for (at, name) in names.iter().enumerate() {
        let found = predict(name, alone, &input, false)?;
        let Predicted { prediction, recorded, analysis, notes: of_device, .. } = found;
        unfinished = recorded.unfinished().into_values().next();
        losses.push(Losses::of(name, &prediction, &analysis));
        for format in prediction.unsupported.keys() {
            notes.push(format!("{name}: {format} cannot be sampled there at all"));
        }
        for note in of_device.into_iter().filter(|_| at == 0) {
            notes.push(note);
        }
        for finding in findings(&analysis) {
            let key = (finding.rule.clone(), finding.key());
            let row = rows.entry(key).or_insert_with(|| Row { finding, devices: vec![false; names.len()] });
            if let Some(device) = row.devices.get_mut(at) {
                *device = true;
            }
        }
    }
    Ok(Matrix { rows: rows.into_values().collect(), losses, notes, unfinished })
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, titles: &[String], source: &TraceSource, output: &mut Output) -> Result {
    let matrix = matrix(titles, arguments.alone, source)?;
    let is_denied = matrix.rows.iter().any(|row| is_denied_by(&row.finding, &arguments.deny));
    must_be_finished(arguments, is_denied, matrix.unfinished.clone(), source)?;
    if output.json {
        let table: Vec<_> = matrix
            .rows
            .iter()
            .map(|row| {
                let has: BTreeMap<&String, bool> = titles.iter().zip(row.devices.iter().copied()).collect();
                json!({ "finding": row.finding, "devices": has })
            })
            .collect();
        let changes: Vec<u64> = matrix.losses.iter().map(|losses| losses.changes).collect();
        output.json(&json!({ "devices": titles, "changes": changes, "findings": table, "notes": matrix.notes }));
        return Ok(Outcome::from_findings(is_denied));
    }
    print(titles, &matrix, arguments.limit, output);
    for note in matrix.notes {
        output.styled_line(Style::Warn, note);
    }
    Ok(Outcome::from_findings(is_denied))
}

/// Which devices have a finding, as short as can be: those, or all the others.
fn whose(titles: &[String], row: &Row) -> Option<String> {
    let names = |wanted: bool| -> Vec<&str> {
        titles.iter().zip(&row.devices).filter(|(_, has)| **has == wanted).map(|(name, _)| name.as_str()).collect()
    };
    let (has, lacks) = (names(true), names(false));
    match has.len() <= lacks.len() {
        _ if lacks.is_empty() => None,
        true => Some(format!("on {}", has.join(" "))),
        false => Some(format!("not on {}", lacks.join(" "))),
    }
}

fn print(titles: &[String], matrix: &Matrix, limit: usize, output: &mut Output) {
    let limit = if limit == 0 { usize::MAX } else { limit };
    let mut table = Table::new(0);
    let is_wide = titles.len() <= COLUMNS;
    let devices: Vec<&str> = if is_wide { titles.iter().map(String::as_str).collect() } else { vec!["devices"] };
    let columns = devices.len();
    table.heading(["rule"].into_iter().chain(devices).chain(["finding"]));
    // Text below a finding.
    let below =
        |text: String| std::iter::repeat_n(Cell::default(), columns + 1).chain([Cell::new(text).style(Style::Dim)]);
    for rows in matrix.printed().chunk_by(|a, b| a.finding.rule == b.finding.rule) {
        for row in rows.iter().take(limit) {
            let mut cells = vec![Cell::new(&row.finding.rule).style(Style::Name)];
            if is_wide {
                cells.extend(row.devices.iter().map(|has| Cell::new(if *has { "x" } else { "-" })));
            } else {
                let has = row.devices.iter().filter(|has| **has).count();
                cells.push(Cell::new(format!("{has} of {}", titles.len())));
            }
            cells.push(Cell::new(row.finding.rest()));
            table.row(cells);
            if let Some(whose) = whose(titles, row).filter(|_| !is_wide) {
                table.row(below(whose));
            }
        }
        if rows.len() > limit {
            table.row(below(format!("… and {} more (--limit 0 shows all)", grouped((rows.len() - limit) as u64))));
        }
    }
    output.table(&table);
    output.line("");
    let mut table = Table::new(0);
    for (at, (title, losses)) in titles.iter().zip(&matrix.losses).enumerate() {
        let found = matrix.rows.iter().filter(|row| row.devices.get(at) == Some(&true)).count() as u64;
        table.row([
            Cell::new(title).style(Style::Heading),
            Cell::new(counted(found, "finding")),
            Cell::new(counted(losses.changes, "change")),
        ]);
    }
    output.table(&table);
}
