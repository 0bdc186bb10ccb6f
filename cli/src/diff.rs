//! `samplin diff`: what two runs decided differently.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use samplin_wire::record::Link;
use serde::Serialize;
use serde_json::json;

use crate::check::{Finding, Report, Target, formats};
use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table};
use crate::trace::analysis::{Analysis, Decision, Exempt, Unresolved};
use crate::trace::links;
use crate::trace::reader::TraceSource;
use crate::trace::record::{self, RecordedChange, counted, grouped, short};
use crate::{check, inspect, judged, looked};

/// The arguments of `samplin diff`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The trace of one run, or a folder of tables (`samplin export`)
    #[arg(value_name = "A")]
    pub first: PathBuf,
    /// The trace of the other run, or a folder of tables, which may be the same
    #[arg(value_name = "B")]
    pub second: PathBuf,
    /// Use only the runs of this build, in the tables A
    #[arg(long, value_name = "NAME")]
    pub build_a: Option<String>,
    /// Use only the runs of this build, in the tables B
    #[arg(long, value_name = "NAME")]
    pub build_b: Option<String>,
    /// Report only changes by these rules that B adds; `unresolved` means everything that passed through
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = check::rule_names())]
    pub deny: Vec<String>,
    /// With --deny, ignore changes by these rules that a rules file prevents in B (repair = "off") and not in A
    #[arg(long)]
    pub allow_exempt: bool,
    /// With --deny, accept a trace without the end of its run (the program was killed or still runs); without this, that is exit status 3
    #[arg(long)]
    pub allow_unfinished: bool,
    /// The format of differences, and a file for them instead of standard output; may be given several times [text, json, junit, github, markdown,
    /// sarif]
    #[arg(long, value_name = "FORMAT[=FILE]")]
    pub format: Vec<Target>,
    /// How many differences of a kind to show; 0 for all
    #[arg(long, default_value_t = 20)]
    pub limit: usize,
}

/// The kind of record of what rules leave alone.
const EXEMPT: &str = "exempt";

/// What makes a decision the same one in two runs: handles differ, fingerprints do not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Subject {
    /// The device, in tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Kind of record; `unresolved` for what was passed through, `exempt` for what rules leave alone.
    pub event: String,
    /// What was seen, of an unresolved thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Fingerprint of the sampler.
    pub fingerprint: Option<String>,
    /// Format of the view or image.
    pub format: Option<String>,
    /// Aspect of the view.
    pub aspect: Option<String>,
    /// Type of the view.
    pub view_type: Option<String>,
    /// Swizzle of the view.
    pub swizzle: Option<String>,
    /// Where a shader finds image and sampler, if only it joins them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
}

impl Subject {
    /// Of a decision.
    pub fn of(decision: &Decision) -> Self {
        Self {
            device: decision.device.clone(),
            event: decision.event.to_owned(),
            what: None,
            fingerprint: decision.fingerprint.clone(),
            format: decision.format.clone(),
            aspect: decision.aspect.clone(),
            view_type: decision.view_type.clone(),
            swizzle: decision.swizzle.clone(),
            link: decision.link.clone(),
        }
    }

    fn of_unresolved(item: &Unresolved) -> Self {
        Self {
            device: item.device.clone(),
            event: "unresolved".to_owned(),
            what: Some(match &item.rule {
                Some(rule) => format!("{} ({rule})", item.what),
                None => item.what.clone(),
            }),
            fingerprint: item.fingerprint.clone(),
            format: item.format.clone(),
            aspect: item.aspect.clone(),
            view_type: item.view_type.clone(),
            swizzle: None,
            link: item.link.clone(),
        }
    }

    fn of_exempt(item: &Exempt) -> Self {
        Self {
            device: item.device.clone(),
            event: EXEMPT.to_owned(),
            what: None,
            fingerprint: item.fingerprint.clone(),
            format: item.format.clone(),
            aspect: None,
            view_type: None,
            swizzle: None,
            link: None,
        }
    }

    /// One line.
    pub fn describe(&self) -> String {
        let mut text = self.what.clone().unwrap_or_else(|| self.event.clone());
        if let Some(fingerprint) = &self.fingerprint {
            text += &format!(" {fingerprint}");
        }
        if let Some(format) = &self.format {
            text += &format!(" on {}", short(format));
        }
        if let Some(view_type) = &self.view_type {
            text += &format!(" {}", short(view_type));
        }
        if let Some(aspect) = self.aspect.as_deref().filter(|aspect| *aspect == "stencil") {
            text += &format!(" {aspect}");
        }
        if let Some(swizzle) = self.swizzle.as_deref().filter(|swizzle| *swizzle != "rgba") {
            text += &format!(" .{swizzle}");
        }
        if let Some(link) = &self.link {
            text += &format!(", {}", links::describe(link));
        }
        match &self.device {
            Some(device) => format!("{device}: {text}"),
            None => text,
        }
    }
}

/// The decisions of a run by their subject. One subject may have several decisions, if a run has several devices.
#[derive(Clone, Debug, Default)]
struct Decided {
    changes: Vec<Arc<[RecordedChange]>>,
    /// Rules of unresolved things.
    rules: BTreeSet<String>,
    /// What shaders were given another sampler by.
    hows: BTreeSet<String>,
    name: Option<String>,
    /// Where it is first met.
    line: u64,
}

impl Decided {
    fn note_line(&mut self, line: u64) {
        self.line = if self.line == 0 { line } else { self.line.min(line) };
    }
}

/// `exempt`: whether what rules leave alone counts, by the changes that would have been made.
fn decided(analysis: &Analysis, exempt: bool) -> BTreeMap<Subject, Decided> {
    let mut out: BTreeMap<Subject, Decided> = BTreeMap::new();
    for decision in analysis.decisions.iter().filter(|decision| !decision.changes.is_empty()) {
        let entry = out.entry(Subject::of(decision)).or_default();
        if entry.name.is_none() {
            entry.name.clone_from(&decision.sampler_name);
        }
        entry.note_line(decision.first.line);
        entry.hows.extend(decision.how.clone());
        if !entry.changes.iter().any(|earlier| same(earlier, &decision.changes)) {
            entry.changes.push(decision.changes.clone());
        }
    }
    for item in &analysis.unresolved {
        let entry = out.entry(Subject::of_unresolved(item)).or_default();
        entry.name.clone_from(&item.sampler_name);
        entry.note_line(item.first.line);
        entry.rules.extend([check::UNRESOLVED.to_owned()].into_iter().chain(item.rule.clone()));
    }
    for item in analysis.exempt.iter().filter(|_| exempt) {
        let entry = out.entry(Subject::of_exempt(item)).or_default();
        entry.name.clone_from(&item.sampler_name);
        entry.note_line(item.first.line);
        if !entry.changes.iter().any(|earlier| same(earlier, &item.changes)) {
            entry.changes.push(item.changes.clone());
        }
    }
    out
}

/// Whether two lists change the same, in whatever order.
fn same(a: &[RecordedChange], b: &[RecordedChange]) -> bool {
    a.len() == b.len() && a.iter().all(|change| b.iter().any(|other| change.is_same(other)))
}

fn same_sets(a: &Decided, b: &Decided) -> bool {
    a.hows == b.hows
        && a.changes.len() == b.changes.len()
        && a.changes.iter().all(|list| b.changes.iter().any(|other| same(list, other)))
}

#[derive(Clone, Debug, Serialize)]
struct Difference {
    #[serde(flatten)]
    subject: Subject,
    name: Option<String>,
    before: Vec<Vec<RecordedChange>>,
    after: Vec<Vec<RecordedChange>>,
    /// Where it is first met, in B unless it is in A alone.
    line: u64,
    /// The rules of changes that are in B alone, and of what B alone passes through.
    added: BTreeSet<String>,
    /// What shaders were given another sampler by, in either run.
    #[serde(skip_serializing_if = "no_hows")]
    how: [BTreeSet<String>; 2],
}

fn no_hows(hows: &[BTreeSet<String>; 2]) -> bool {
    hows.iter().all(BTreeSet::is_empty)
}

impl Difference {
    fn new(subject: &Subject, before: Option<&Decided>, after: Option<&Decided>) -> Self {
        let lists = |decided: Option<&Decided>| {
            decided.map(|decided| decided.changes.iter().map(|list| list.to_vec()).collect()).unwrap_or_default()
        };
        let earlier = |change: &RecordedChange| {
            before.is_some_and(|of| of.changes.iter().flat_map(|list| list.iter()).any(|old| old.is_same(change)))
        };
        let made = after.iter().flat_map(|of| of.changes.iter().flat_map(|list| list.iter()));
        let mut added: BTreeSet<String> =
            made.filter(|change| !earlier(change)).map(|change| change.rule.clone()).collect();
        added.extend(after.iter().filter(|_| before.is_none()).flat_map(|of| of.rules.iter().cloned()));
        if subject.event == EXEMPT && !added.is_empty() {
            added.insert(check::UNRESOLVED.to_owned());
        }
        Self {
            added,
            subject: subject.clone(),
            line: after.or(before).map_or(1, |decided| decided.line),
            name: after.or(before).and_then(|decided| decided.name.clone()),
            before: lists(before),
            after: lists(after),
            how: [before, after].map(|decided| decided.map(|decided| decided.hows.clone()).unwrap_or_default()),
        }
    }
}

/// The differences between two runs.
#[derive(Clone, Debug, Default, Serialize)]
struct Differences {
    /// Only in B.
    new: Vec<Difference>,
    /// Only in A.
    gone: Vec<Difference>,
    /// In both, but otherwise.
    changed: Vec<Difference>,
    /// In both alike.
    same: usize,
    /// Devices that are in the tables of one only.
    not_compared: Vec<String>,
}

impl Differences {
    fn between(a: &Analysis, b: &Analysis, exempt: bool) -> Self {
        let mut out = Self::default();
        let fleets = [&a.fleet, &b.fleet];
        let (mut a, mut b) = (decided(a, exempt), decided(b, exempt));
        if fleets.iter().all(|fleet| !fleet.is_empty()) {
            // What a device decides that only one of them has is no news of a build.
            let is_shared = |device: &String| fleets.iter().all(|fleet| fleet.contains(device));
            for all in [&mut a, &mut b] {
                all.retain(|subject, _| subject.device.as_ref().is_some_and(is_shared));
            }
            out.not_compared = fleets[0].symmetric_difference(fleets[1]).cloned().collect();
        }
        for (subject, before) in &a {
            match b.get(subject) {
                None => out.gone.push(Difference::new(subject, Some(before), None)),
                Some(after) if same_sets(before, after) => out.same += 1,
                Some(after) => out.changed.push(Difference::new(subject, Some(before), Some(after))),
            }
        }
        out.new.extend(
            b.iter()
                .filter(|(subject, _)| !a.contains_key(subject))
                .map(|(subject, after)| Difference::new(subject, None, Some(after))),
        );
        out
    }

    /// As findings of B: what it adds or decides otherwise, and as warnings what it no longer does.
    fn findings(&self, trace: &str) -> Vec<Finding> {
        let lists = [
            ("only in A", &self.gone, true),
            ("only in B", &self.new, false),
            ("decided otherwise", &self.changed, false),
        ];
        let mut out = Vec::new();
        for (title, list, is_gone) in lists {
            for difference in list {
                let changes: Vec<&RecordedChange> = match is_gone {
                    true => difference.before.iter().flatten().collect(),
                    false => difference.after.iter().flatten().collect(),
                };
                let mut rules: BTreeSet<String> = match is_gone {
                    true => changes.iter().map(|change| change.rule.clone()).collect(),
                    false => difference.added.clone(),
                };
                if rules.len() > 1 {
                    rules.remove(check::UNRESOLVED);
                }
                if rules.is_empty() {
                    rules.insert(check::UNRESOLVED.to_owned());
                }
                for rule in rules {
                    let of: Vec<&&RecordedChange> = changes.iter().filter(|change| change.rule == rule).collect();
                    let briefs: Vec<String> = of.iter().map(|change| change.brief()).collect();
                    let briefs = if briefs.is_empty() { String::new() } else { format!(": {}", briefs.join(", ")) };
                    let subject = &difference.subject;
                    out.push(Finding {
                        trace: trace.to_owned(),
                        line: difference.line,
                        rule,
                        device: subject.device.clone(),
                        unresolved: is_gone || of.is_empty() || subject.event == EXEMPT,
                        message: format!("{title}: {}{briefs}", subject.describe()),
                        what: subject.what.clone(),
                        vuid: of.first().and_then(|change| change.vuid.clone()),
                        sampler: difference.name.clone(),
                        count: 1,
                        ..Finding::default()
                    });
                }
            }
        }
        out
    }

    fn any(&self) -> bool {
        !(self.new.is_empty() && self.gone.is_empty() && self.changed.is_empty())
    }

    /// Leaves only what adds a change by one of these rules.
    fn keep_added(&mut self, rules: &[String]) {
        self.gone.clear();
        for list in [&mut self.new, &mut self.changed] {
            list.retain(|difference| difference.added.iter().any(|rule| rules.contains(rule)));
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let paths = [&arguments.first, &arguments.second];
    if paths.iter().all(|path| TraceSource::from_argument(path) == TraceSource::Stdin) {
        return Err(Failure::usage("only one of the two traces can be standard input"));
    }
    formats::must_be_apart(&arguments.format, &[("A", &arguments.first), ("B", &arguments.second)])?;
    let [a, b] = paths;
    let a = judged::read(std::slice::from_ref(a), arguments.build_a.as_deref())?;
    let b = judged::read(std::slice::from_ref(b), arguments.build_b.as_deref())?;
    if a.fleet.is_empty() != b.fleet.is_empty() {
        return Err(Failure::usage("a trace and a folder of tables cannot be compared: export the trace as well"));
    }
    if !a.fleet.is_empty() && a.fleet.is_disjoint(&b.fleet) {
        return Err(Failure::input("the two have no device in common"));
    }
    // As in `check`: who denies a rule by name is not to be overruled by a rules file.
    let mut differences = Differences::between(&a, &b, !arguments.deny.is_empty() && !arguments.allow_exempt);
    if !arguments.deny.is_empty() {
        differences.keep_added(&arguments.deny);
    }
    let names = [(&arguments.first, &arguments.build_a), (&arguments.second, &arguments.build_b)];
    let [name_a, name_b] = names.map(|(path, build)| {
        let build = build.as_ref().map(|build| format!(", build {build}")).unwrap_or_default();
        format!("{}{build}", TraceSource::from_argument(path).name())
    });
    let mut findings = differences.findings(&name_b);
    let missing: Vec<Finding> = [&a, &b].iter().flat_map(|run| check::missing(run, &arguments.deny, &[])).collect();
    let is_found = differences.any() || !missing.is_empty();
    findings.extend(missing.iter().cloned());
    if !arguments.deny.is_empty() && !is_found && !arguments.allow_unfinished {
        judged::must_be_finished(&[&a, &b])?;
    }
    let report = Report {
        command: "samplin diff",
        traces: vec![name_a.clone(), name_b.clone()],
        findings: &findings,
        allowed: &[],
        ignored: Vec::new(),
        rules: check::rule_names()
            .into_iter()
            .filter(|rule| arguments.deny.is_empty() || check::is_named(&arguments.deny, rule))
            .collect(),
        warnings: [&a, &b].iter().flat_map(|analysis| warnings(analysis)).collect(),
        looked_at: counted((differences.same + findings.len()) as u64, "decision"),
    };
    formats::write(&report, &arguments.format, output, |output| {
        if output.json {
            output.json(&json!({
                "a": run_json(&name_a, &a),
                "b": run_json(&name_b, &b),
                "differences": differences,
                "not_in_records": missing,
            }));
        } else {
            let limit = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
            text([("A", &name_a, &a), ("B", &name_b, &b)], &differences, limit, output);
        }
    })?;
    Ok(Outcome::from_findings(is_found))
}

/// What the reader has to know of a run.
fn warnings(analysis: &Analysis) -> Vec<String> {
    inspect::warnings(analysis).into_iter().chain(looked::exempt(analysis)).collect()
}

fn run_json(name: &str, analysis: &Analysis) -> serde_json::Value {
    json!({
        "trace": name,
        "processes": analysis.processes(),
        "devices": inspect::devices(analysis),
        "settings": analysis.settings(),
        "changes": analysis.change_count(),
        "warnings": warnings(analysis),
    })
}

fn text(runs: [(&str, &str, &Analysis); 2], differences: &Differences, limit: usize, output: &mut Output) {
    for (label, name, analysis) in runs {
        let name = output.styled(Style::Heading, name);
        output.line(format!("{label}  {name}: {}", counted(analysis.change_count(), "change")));
        let mut table = Table::new(3);
        for device in inspect::devices(analysis) {
            table.row([Cell::new(device).style(Style::Dim)]);
        }
        for setting in analysis.settings() {
            table.row([Cell::new(setting).style(Style::Dim)]);
        }
        output.table(&table);
        for warning in warnings(analysis) {
            output.styled_line(Style::Warn, format!("   {warning}"));
        }
    }
    if !differences.not_compared.is_empty() {
        let devices = differences.not_compared.join(", ");
        output.styled_line(Style::Warn, format!("not compared, because only one has runs of it: {devices}"));
    }
    output.line("");
    for (title, style, list) in [
        ("only in A", Style::Good, &differences.gone),
        ("only in B", Style::Bad, &differences.new),
        ("decided otherwise", Style::Warn, &differences.changed),
    ] {
        if list.is_empty() {
            continue;
        }
        output.styled_line(style, format!("{title}: {}", grouped(list.len())));
        for difference in list.iter().take(limit) {
            let name = difference.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
            output.line(format!("  {}{name}", difference.subject.describe()));
            let mut table = Table::new(4);
            let [before, after] = &difference.how;
            for (sign, lists, hows) in [("-", &difference.before, before), ("+", &difference.after, after)] {
                for change in lists.iter().flatten() {
                    table.row([
                        Cell::new(sign),
                        Cell::new(&change.rule).style(Style::Name),
                        Cell::new(change.brief()),
                        Cell::new(&change.because).style(Style::Dim),
                    ]);
                }
                for how in hows {
                    table.row([Cell::new(sign), Cell::new(how), Cell::new(links::how(how).unwrap_or(""))]);
                }
            }
            output.table(&table);
        }
        if let Some(more) = record::more(list.len(), limit) {
            output.styled_line(Style::Dim, format!("  {more} (--limit 0 shows all)"));
        }
    }
    if differences.any() {
        output.line(format!("the same in both: {}", grouped(differences.same)));
    } else {
        let style = if runs.iter().any(|(_, _, run)| looked::is_unrecorded(run)) { Style::Warn } else { Style::Good };
        output.styled_line(style, format!("No difference in {}.", counted(differences.same as u64, "decision")));
    }
}
