//! The lists of the page: what each tab shows of the traces, as rows of text that can be searched and sorted.

use std::collections::BTreeMap;

use super::model::{Model, describe, trouble};
use super::rules::{Entry, RulesFile};
use crate::output::visible;
use crate::trace::analysis::{Analysis, By, Decision};
use crate::trace::record::{bytes, grouped, short, value};

/// A list of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// Changes by rule.
    Rules,
    /// Changes by format.
    Formats,
    /// By debug label.
    Labels,
    /// Each decision.
    Pairs,
    /// What is left and why, and what rules switch off.
    Left,
    /// Headroom to each limit.
    Limits,
    /// The processes.
    Processes,
    /// The rules of the rules file.
    File,
}

impl Tab {
    /// All of them with the headings of their columns; the first one that is a number is sorted by at first.
    pub const ALL: [(Self, &'static str, &'static [&'static str]); 8] = [
        (Self::Rules, "Rules", &["changes", "rule", "repair", "most frequent change"]),
        (Self::Formats, "Formats", &["changes", "format", "repair", "rules"]),
        (Self::Labels, "Labels", &["records", "label", "first draw", "changed", "left"]),
        (Self::Pairs, "Pairs", &["records", "repair", "rule", "format", "change", "sampler"]),
        (Self::Left, "Left", &["records", "what", "rule", "format", "why"]),
        (Self::Limits, "Limits", &["left", "limit", "of", "used at the peak", "note"]),
        (Self::Processes, "Processes", &["records", "process", "frames", "a second", "trace"]),
        (Self::File, "Rules file", &["line", "rule", "is", "what"]),
    ];

    /// Its place among all.
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|(tab, ..)| *tab == self).unwrap_or(0)
    }

    /// The headings of its columns.
    pub fn columns(self) -> &'static [&'static str] {
        Self::ALL.get(self.index()).map_or(&[], |(.., columns)| columns)
    }
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A rule by its name.
    Rule(String),
    /// A format by its name.
    Format(String),
    /// Nothing that can be opened.
    Nothing,
    /// A decision of a process.
    Decision(usize, usize),
    /// Something left in a process.
    Left(usize, usize),
    /// Something that rules switch off in a process.
    Exempt(usize, usize),
    /// A process.
    Process(usize),
    /// A rule of the rules file by its name.
    Override(String),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is sorted by as a number.
    pub number: u64,
    /// Its cells, as many as its tab has columns.
    pub cells: Vec<String>,
    /// Whether it is something to look at.
    pub is_warning: bool,
    /// What it is about.
    pub about: About,
}

impl Row {
    pub(super) fn new(number: u64, about: About, cells: impl IntoIterator<Item = String>) -> Self {
        let cells = cells.into_iter().map(|cell| visible(&cell).into_owned()).collect();
        Self { number, cells, is_warning: false, about }
    }

    /// The same as something to look at.
    #[must_use]
    pub fn warning(self) -> Self {
        Self { is_warning: true, ..self }
    }

    /// Whether one of its cells has the text, in any case.
    pub fn has(&self, lower: &str) -> bool {
        lower.is_empty() || self.cells.iter().any(|cell| cell.to_lowercase().contains(lower))
    }
}

/// Whether the rules file switches a repair off: a rule by its name, and the format and fingerprint that it is about.
pub type IsOff<'f> = &'f dyn Fn(&str, Option<&str>, Option<&str>) -> bool;

/// The rows of a tab, but for [`Tab::File`], which no trace has.
pub fn rows(model: &Model, tab: Tab, is_off: IsOff<'_>) -> Vec<Row> {
    match tab {
        Tab::Rules => by_rule(model, is_off),
        Tab::Formats => by_format(model, is_off),
        Tab::Labels => by_label(model),
        Tab::Pairs => pairs(model, is_off),
        Tab::Left => left(model),
        Tab::Limits => limits(model),
        Tab::Processes => processes(model),
        Tab::File => Vec::new(),
    }
}

/// The rows of [`Tab::File`].
pub fn of_file(rules: Option<&RulesFile>) -> Vec<Row> {
    let row = |entry: &Entry| {
        let cells = [entry.line.to_string(), entry.name.clone(), on(!entry.is_on), entry.text.clone()];
        let row = Row::new(entry.line as u64, About::Override(entry.name.clone()), cells);
        if entry.is_on { row } else { row.warning() }
    };
    rules.iter().flat_map(|rules| &rules.entries).map(row).collect()
}

fn analyses(model: &Model) -> impl Iterator<Item = (usize, &Analysis)> {
    model.shown().map(|(index, process)| (index, &process.tail.analysis))
}

fn on(is_off: bool) -> String {
    if is_off { "off" } else { "on" }.to_owned()
}

fn listed(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<_> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    counts.iter().map(|(what, count)| format!("{what} {}", grouped(count))).collect::<Vec<_>>().join(", ")
}

fn by_rule(model: &Model, is_off: IsOff<'_>) -> Vec<Row> {
    // Changes, and the most frequent one with its count.
    let mut sums: BTreeMap<String, (u64, u64, String)> = BTreeMap::new();
    for (_, analysis) in analyses(model) {
        for group in analysis.by_rule() {
            let (changes, most, brief) = sums.entry(group.rule).or_default();
            *changes += group.changes;
            if let Some(kind) = group.kinds.first().filter(|kind| kind.count > *most) {
                (*most, *brief) = (kind.count, kind.change.brief());
            }
        }
        // A rule that is switched off has no changes, and can be switched on again.
        for change in analysis.exempt.iter().flat_map(|exempt| exempt.changes.iter()) {
            sums.entry(change.rule.clone()).or_default();
        }
    }
    let row = |(rule, (changes, _, brief)): (String, (u64, u64, String))| {
        let off = is_off(&rule, None, None);
        let row = Row::new(changes, About::Rule(rule.clone()), [grouped(changes), rule, on(off), brief]);
        if off { row.warning() } else { row }
    };
    sums.into_iter().map(row).collect()
}

fn by_format(model: &Model, is_off: IsOff<'_>) -> Vec<Row> {
    let mut sums: BTreeMap<String, (u64, BTreeMap<String, u64>)> = BTreeMap::new();
    for (_, analysis) in analyses(model) {
        for group in analysis.grouped(By::Format) {
            let (changes, rules) = sums.entry(group.key).or_default();
            *changes += group.changes;
            for (rule, count) in group.rules {
                *rules.entry(rule).or_insert(0) += count;
            }
        }
        for exempt in &analysis.exempt {
            sums.extend(
                exempt.format.clone().filter(|format| !sums.contains_key(format)).map(|of| (of, Default::default())),
            );
        }
    }
    let row = |(format, (changes, rules)): (String, (u64, BTreeMap<String, u64>))| {
        let off = is_off("", Some(&format), None);
        let cells = [grouped(changes), short(&format).to_owned(), on(off), listed(&rules)];
        let row = Row::new(changes, About::Format(format), cells);
        if off { row.warning() } else { row }
    };
    sums.into_iter().map(row).collect()
}

fn by_label(model: &Model) -> Vec<Row> {
    let mut rows = Vec::new();
    for (_, analysis) in analyses(model) {
        for group in analysis.by_label() {
            let label = group.label.map_or_else(|| "(no label)".to_owned(), |label| format!("\"{label}\""));
            let first = format!("frame {}, draw {}", group.first.frame, group.first.draw);
            let cells = [grouped(group.records), label, first, listed(&group.rules), listed(&group.left)];
            let row = Row::new(group.records, About::Nothing, cells);
            rows.push(if group.left.is_empty() { row } else { row.warning() });
        }
    }
    rows
}

/// The rules of a decision, each once.
pub fn rules_of(decision: &Decision) -> Vec<&str> {
    let mut rules: Vec<&str> = decision.changes.iter().map(|change| change.rule.as_str()).collect();
    rules.dedup();
    rules
}

/// What a sampler is called: its name, else its fingerprint.
fn called(name: Option<&String>, fingerprint: Option<&String>) -> String {
    name.map(|name| format!("\"{name}\"")).or_else(|| fingerprint.cloned()).unwrap_or_default()
}

fn pairs(model: &Model, is_off: IsOff<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (process, analysis) in analyses(model) {
        for (index, decision) in analysis.decisions.iter().enumerate().filter(|(_, one)| !one.changes.is_empty()) {
            let rules = rules_of(decision);
            let format = decision.format.as_deref();
            let off = rules.iter().any(|rule| is_off(rule, format, decision.fingerprint.as_deref()));
            let briefs: Vec<String> = decision.changes.iter().map(|change| change.brief()).collect();
            let repair = match decision.how.as_deref() {
                _ if off => "off",
                Some(how) => how,
                None if decision.applied => "on",
                None => "not made",
            };
            let cells = [
                grouped(decision.count),
                repair.to_owned(),
                rules.join(", "),
                format.map_or("", short).to_owned(),
                briefs.join("; "),
                called(decision.sampler_name.as_ref(), decision.fingerprint.as_ref()),
            ];
            let row = Row::new(decision.count, About::Decision(process, index), cells);
            rows.push(if off || !decision.applied { row.warning() } else { row });
        }
    }
    rows
}

fn left(model: &Model) -> Vec<Row> {
    let mut rows = Vec::new();
    for (process, analysis) in analyses(model) {
        for (index, item) in analysis.unresolved.iter().enumerate() {
            let format = item.format.as_deref().map_or("", short).to_owned();
            let rule = item.rule.clone().unwrap_or_default();
            let cells = [grouped(item.count), item.what.clone(), rule, format, item.why.clone()];
            rows.push(Row::new(item.count, About::Left(process, index), cells).warning());
        }
        for (index, item) in analysis.exempt.iter().enumerate() {
            let format = item.format.as_deref().map_or("", short).to_owned();
            let cells = [grouped(item.count), format!("exempt {}", item.what), item.repairs(), format, item.places()];
            rows.push(Row::new(item.count, About::Exempt(process, index), cells));
        }
    }
    rows
}

fn limits(model: &Model) -> Vec<Row> {
    let mut rows = Vec::new();
    for (process, analysis) in analyses(model) {
        let census = analysis.census();
        let mut known: BTreeMap<&str, Row> = BTreeMap::new();
        for (name, limit) in
            analysis.devices.iter().filter_map(|(_, device)| device.get("limits")?.as_object()).flatten()
        {
            // Until the device is destroyed, a trace has samplers of samplin's own at most.
            let own = analysis.variants_seen() as u64;
            let least = if name == "maxSamplerAllocationCount" && own > 0 {
                format!("at least {} of samplin's own", grouped(own))
            } else {
                String::new()
            };
            let note = if census.is_some() { String::new() } else { "counted when the device is destroyed".to_owned() };
            let cells = ["?".to_owned(), name.clone(), grouped(value(limit)), least, note];
            known.insert(name, Row::new(u64::MAX, About::Process(process), cells));
        }
        if let Some(census) = &census {
            // What no summary counts are limits of a value, such as that of anisotropy.
            known.retain(|name, _| census.headroom.contains_key(*name));
            for (name, headroom) in &census.headroom {
                let limit = headroom.limit.unwrap_or(0);
                let used = limit.saturating_sub(headroom.left);
                let percent = if limit > 0 { used as f64 * 100.0 / limit as f64 } else { 0.0 };
                let over = census.exceeded.get(name);
                let note = match over {
                    Some(over) => format!("the application asks for {}", grouped(over.asked)),
                    None if limit == 0 => "not available on this device".to_owned(),
                    None => String::new(),
                };
                let used = format!("{} ({percent:.1} %)", grouped(used));
                let cells = [grouped(headroom.left), name.clone(), grouped(limit), used, note];
                let row = Row::new(headroom.left, About::Process(process), cells);
                known.insert(name, if over.is_some() || percent >= 90.0 { row.warning() } else { row });
            }
        }
        rows.extend(known.into_values());
    }
    rows
}

fn processes(model: &Model) -> Vec<Row> {
    let row = |(index, process): (usize, &super::model::Process)| {
        let tail = &process.tail;
        let frames = tail.frames.at_least().map(|frames| format!("≥ {}", grouped(frames))).unwrap_or_default();
        let a_second = tail.frames.a_second().map(|rate| format!("{rate:.1}")).unwrap_or_default();
        let (_, length) = tail.progress();
        let trace = format!("{}, {}", tail.path.display(), bytes(length));
        let trouble = trouble(process);
        let trace = trouble.as_ref().map_or_else(|| trace.clone(), |trouble| format!("{trouble}: {trace}"));
        let cells = [grouped(tail.records()), describe(process), frames, a_second, trace];
        let row = Row::new(tail.records(), About::Process(index), cells);
        if trouble.is_some() { row.warning() } else { row }
    };
    // All of them, so that another one can be chosen.
    model.processes.iter().enumerate().map(row).collect()
}
