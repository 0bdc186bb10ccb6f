//! Everything about a row: the record, and what `samplin explain` says of its rules.

use std::collections::BTreeMap;

use super::model::{Model, Process, describe, trouble};
use super::rows::{About, Row, rules_of};
use super::rules::RulesFile;
use crate::explain;
use crate::inspect;
use crate::output::visible;
use crate::trace::links;
use crate::trace::record::{RecordedChange, counted, duration, value};

/// The lines about a row.
pub fn lines(model: &Model, rules: Option<&RulesFile>, row: &Row) -> Vec<String> {
    let mut text = Text::default();
    match &row.about {
        About::Rule(rule) => of_rule(model, rule, &mut text),
        About::Format(format) => text.pair("format", format),
        About::Decision(process, index) => of_decision(model.processes.get(*process), *index, &mut text),
        About::Left(process, index) => of_left(model.processes.get(*process), *index, &mut text),
        About::Exempt(process, index) => of_exempt(model.processes.get(*process), *index, &mut text),
        About::Process(process) => of_process(model.processes.get(*process), &mut text),
        About::Override(name) => {
            let entry = rules.and_then(|rules| rules.entries.iter().find(|entry| entry.name == *name));
            entry.iter().for_each(|entry| text.pair(name, &entry.text));
        }
        About::Nothing => {}
    }
    if text.lines.is_empty() || matches!(row.about, About::Format(_)) {
        row.cells.iter().for_each(|cell| text.line(cell));
    }
    text.lines
}

#[derive(Default)]
struct Text {
    lines: Vec<String>,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.lines.push(visible(line).into_owned());
    }

    fn pair(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.line(&format!("{key}: {value}"));
        }
    }

    fn maybe(&mut self, key: &str, value: Option<&String>) {
        self.pair(key, value.map_or("", String::as_str));
    }

    /// What `samplin explain` says of a word.
    fn explain(&mut self, word: &str) {
        if let Some(meaning) = explain::text(word) {
            self.line("");
            meaning.lines().for_each(|line| self.line(line));
        }
    }

    fn change(&mut self, change: &RecordedChange) {
        self.line(&format!(
            "{} {}: {} {} → {}",
            change.rule,
            change.catalog,
            change.field,
            value(&change.from),
            value(&change.to)
        ));
        self.pair("  because", &change.because);
        self.pair("  lost", &change.lost);
        self.maybe("  breaks", change.vuid.as_ref());
    }
}

fn of_rule(model: &Model, rule: &str, text: &mut Text) {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for (_, process) in model.shown() {
        for group in process.tail.analysis.by_rule().into_iter().filter(|group| group.rule == rule) {
            for kind in group.kinds {
                *kinds.entry(format!("{}: {}", kind.change.brief(), kind.change.because)).or_insert(0) += kind.count;
            }
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    kinds.iter().for_each(|(kind, count)| text.line(&format!("{count} × {kind}")));
    text.explain(rule);
}

fn of_decision(process: Option<&Process>, index: usize, text: &mut Text) {
    let Some((process, one)) = process.and_then(|of| Some((of, of.tail.analysis.decisions.get(index)?))) else {
        return;
    };
    text.line(&format!("{}, {} of {}", one.event, counted(one.count, "record"), describe(process)));
    for (key, value) in [
        ("sampler", &one.sampler_name),
        ("handle of the sampler", &one.sampler),
        ("fingerprint", &one.fingerprint),
        ("view", &one.view_name),
        ("handle of the view", &one.view),
        ("format", &one.format),
        ("aspect", &one.aspect),
        ("type", &one.view_type),
        ("path", &one.path),
        ("how", &one.how),
    ] {
        text.maybe(key, value.as_ref());
    }
    text.pair("link", &one.link.as_ref().map(links::describe).unwrap_or_default());
    text.pair("first draw", &one.draw.as_ref().map(links::draw).unwrap_or_default());
    text.pair("first record", &format!("line {}, after {}", one.first.line, duration(one.first.t_ns)));
    one.changes.iter().for_each(|change| text.change(change));
    one.held.iter().for_each(|held| text.pair("held back", &held.held()));
    rules_of(one).into_iter().for_each(|rule| text.explain(rule));
}

fn of_left(process: Option<&Process>, index: usize, text: &mut Text) {
    let Some((process, one)) = process.and_then(|of| Some((of, of.tail.analysis.unresolved.get(index)?))) else {
        return;
    };
    text.line(&format!("{}, {} of {}", one.what, counted(one.count, "record"), describe(process)));
    text.pair("why", &one.why);
    for (key, value) in [
        ("rule", &one.rule),
        ("breaks", &one.vuid),
        ("sampler", &one.sampler_name),
        ("fingerprint", &one.fingerprint),
        ("view", &one.view_name),
        ("format", &one.format),
        ("aspect", &one.aspect),
        ("type", &one.view_type),
    ] {
        text.maybe(key, value.as_ref());
    }
    text.pair("link", &one.link.as_ref().map(links::describe).unwrap_or_default());
    text.pair("first draw", &one.draw.as_ref().map(links::draw).unwrap_or_default());
    text.explain(&one.what);
    one.rule.iter().for_each(|rule| text.explain(rule));
}

fn of_exempt(process: Option<&Process>, index: usize, text: &mut Text) {
    let Some((process, one)) = process.and_then(|of| Some((of, of.tail.analysis.exempt.get(index)?))) else { return };
    text.line(&format!(
        "{} that a rule leaves alone, {} of {}",
        one.what,
        counted(one.count, "record"),
        describe(process)
    ));
    text.pair("rules", &one.places());
    text.maybe("sampler", one.sampler_name.as_ref());
    text.maybe("fingerprint", one.fingerprint.as_ref());
    text.maybe("format", one.format.as_ref());
    one.changes.iter().for_each(|change| text.change(change));
}

fn of_process(process: Option<&Process>, text: &mut Text) {
    let Some(process) = process else { return };
    let analysis = &process.tail.analysis;
    text.line(&describe(process));
    text.pair("trace", &process.tail.path.display().to_string());
    text.pair("trouble", &trouble(process).unwrap_or_default());
    analysis.processes().iter().for_each(|line| text.pair("process", line));
    inspect::devices(analysis).iter().for_each(|line| text.pair("device", line));
    analysis.settings().iter().for_each(|line| text.pair("setting", line));
    for (kind, record) in &process.tail.last {
        let members = record.as_object().into_iter().flatten();
        let parts = members.filter(|(key, _)| !["event", "pid", "seq", "t_ns", "tid"].contains(&key.as_str()));
        let parts: Vec<String> = parts.map(|(key, member)| format!("{key} {}", value(member))).collect();
        text.pair(&format!("last {kind}"), &parts.join(", "));
    }
    for (key, value) in analysis.census().iter().flat_map(inspect::census_rows) {
        text.pair(&key, &value);
    }
    inspect::warnings(analysis).iter().for_each(|line| text.pair("mind", line));
}
