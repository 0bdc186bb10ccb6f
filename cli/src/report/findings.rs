//! What was found, as rows: changes grouped by rule, format and reason, and what is left.

use std::collections::{BTreeSet, HashMap};

use samplin_core::left::Left;
use samplin_wire::record::Draw;
use serde::Serialize;

use super::repair;
use super::verdicts::Verdicts;
use crate::trace::analysis::{Analysis, Decision, Unresolved};
use crate::trace::links;
use crate::trace::record::{self, RecordedChange, counted, grouped, short};

/// Where a valid-usage id is explained.
const SPECIFICATION: &str = "https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#";

/// How many different things a group names in its own row.
const NAMED: usize = 3;

/// One change of one decision.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) count: u64,
    pub(super) rule: &'a str,
    pub(super) field: &'a str,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) because: &'a str,
    pub(super) lost: &'a str,
    pub(super) vuid: Option<&'a str>,
    pub(super) format: &'a str,
    pub(super) view: String,
    pub(super) sampler: &'a str,
    pub(super) sampler_name: Option<&'a str>,
    pub(super) view_name: Option<&'a str>,
    pub(super) path: &'a str,
    /// The shader, and where it finds image and sampler.
    pub(super) joined: Option<String>,
    pub(super) how: Option<&'a str>,
    /// The draw at which it was first met.
    pub(super) draw: Option<&'a Draw>,
    pub(super) applied: bool,
    line: u64,
    /// The decision's number.
    decision: usize,
}

/// A view in a few words: type, aspect, mapping.
fn view(kind: Option<&String>, aspect: Option<&String>, swizzle: Option<&String>) -> String {
    let kind = kind.map(|text| short(text).to_owned());
    let aspect = aspect.filter(|aspect| *aspect != "color").cloned();
    let swizzle = swizzle.filter(|swizzle| *swizzle != "rgba").map(|swizzle| format!(".{swizzle}"));
    [kind, aspect, swizzle].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn row<'a>(number: usize, decision: &'a Decision, change: &'a RecordedChange) -> Row<'a> {
    Row {
        count: decision.count,
        rule: &change.rule,
        field: &change.field,
        from: record::value(&change.from),
        to: record::value(&change.to),
        because: &change.because,
        lost: &change.lost,
        vuid: change.vuid.as_deref(),
        format: decision.format.as_deref().map_or("", short),
        view: view(decision.view_type.as_ref(), decision.aspect.as_ref(), decision.swizzle.as_ref()),
        sampler: decision.fingerprint.as_deref().unwrap_or_default(),
        sampler_name: decision.sampler_name.as_deref(),
        view_name: decision.view_name.as_deref(),
        path: decision.path.as_deref().unwrap_or(match decision.event {
            "sampler" | "conversion" | "image" | "view" => "creation",
            event => event,
        }),
        joined: decision.link.as_ref().map(links::describe),
        how: decision.how.as_deref(),
        draw: decision.draw.as_ref(),
        applied: decision.applied,
        line: decision.first.line,
        decision: number,
    }
}

/// Every change of every decision, the most frequent first.
pub(super) fn rows(analysis: &Analysis) -> Vec<Row<'_>> {
    let changes = |decision: &'_ Decision| decision.changes.len();
    let mut rows = Vec::with_capacity(analysis.decisions.iter().map(changes).sum());
    for (number, decision) in analysis.decisions.iter().enumerate() {
        rows.extend(decision.changes.iter().map(|change| row(number, decision, change)));
    }
    rows.sort_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (a.rule, a.format, a.line).cmp(&(b.rule, b.format, b.line)))
    });
    rows
}

/// A sampler and a view, or what else was decided about, with what was changed.
#[derive(Debug, Serialize)]
struct Member<'a> {
    /// The changes in all.
    total_text: String,
    /// One for each change.
    rows: Vec<Row<'a>>,
}

/// The changes of each decision together; they follow each other.
fn members(rows: Vec<Row<'_>>) -> Vec<Member<'_>> {
    let mut members: Vec<Member<'_>> = Vec::new();
    for row in rows {
        match members.last_mut() {
            Some(last) if last.rows.first().is_some_and(|first| first.decision == row.decision) => last.rows.push(row),
            _ => members.push(Member { total_text: String::new(), rows: vec![row] }),
        }
    }
    for member in &mut members {
        member.total_text = grouped(member.rows.iter().map(|row| row.count).sum::<u64>());
    }
    members
}

/// Changes of one rule to one format for one reason.
#[derive(Debug, Serialize)]
pub(super) struct Finding<'a> {
    count: u64,
    count_text: String,
    /// The heading of its rows: how many changes, of how many sampler states.
    heading: String,
    pub(super) rule: &'a str,
    pub(super) format: &'a str,
    because: &'a str,
    lost: &'a str,
    vuid: Option<&'a str>,
    link: Option<String>,
    /// What is changed, a few of it.
    changes: Vec<String>,
    /// Names, or else fingerprints, of samplers, a few of them.
    samplers: Vec<String>,
    samplers_count: usize,
    pub(super) paths: Vec<&'a str>,
    /// Labels of the draws, a few of them.
    labels: Vec<String>,
    members: Vec<Member<'a>>,
    /// What each driver was measured to make of its pairs.
    verdicts: Vec<String>,
    /// How many of them are left out.
    left_out: usize,
}

impl<'a> Finding<'a> {
    fn of(rows: Vec<Row<'a>>) -> Option<Self> {
        let first = rows.first()?;
        let mut changes = distinct(rows.iter().map(|row| format!("{} {} → {}", row.field, row.from, row.to)));
        name_a_few(&mut changes);
        let states: BTreeSet<&str> = rows.iter().map(|row| row.sampler).filter(|state| !state.is_empty()).collect();
        let mut samplers =
            distinct(rows.iter().filter(|row| !row.sampler.is_empty()).map(|row| match row.sampler_name {
                Some(name) => format!("“{name}”"),
                None => row.sampler.to_owned(),
            }));
        name_a_few(&mut samplers);
        let named = rows.iter().filter_map(|row| row.draw?.label.as_ref());
        let mut labels = distinct(named.map(|label| format!("“{label}”")));
        name_a_few(&mut labels);
        let count = rows.iter().map(|row| row.count).sum();
        let of = if states.is_empty() {
            String::new()
        } else {
            format!(" of {}", counted(states.len() as u64, "sampler state"))
        };
        Some(Self {
            count,
            count_text: grouped(count),
            heading: counted(count, "change") + &of,
            rule: first.rule,
            format: first.format,
            because: first.because,
            lost: first.lost,
            vuid: first.vuid,
            link: first.vuid.map(specification),
            changes,
            samplers,
            samplers_count: states.len(),
            paths: distinct(rows.iter().map(|row| row.path)),
            labels,
            members: members(rows),
            verdicts: Vec::new(),
            left_out: 0,
        })
    }
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut found, value| {
        if !found.contains(&value) {
            found.push(value);
        }
        found
    })
}

fn name_a_few(names: &mut Vec<String>) {
    let more = names.len().saturating_sub(NAMED);
    // "and 1 more" takes no less room than the one.
    if more > 1 {
        names.truncate(NAMED);
        names.push(format!("and {more} more"));
    }
}

fn specification(vuid: &str) -> String {
    format!("{SPECIFICATION}{vuid}")
}

/// Rows by rule, format and reason, the most frequent first.
pub(super) fn grouped_by_reason(rows: Vec<Row<'_>>) -> Vec<Finding<'_>> {
    let mut index = HashMap::new();
    let mut groups: Vec<Vec<Row<'_>>> = Vec::new();
    for row in rows {
        let key = (row.rule, row.format, row.because, row.lost, row.vuid);
        let place = *index.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let mut findings: Vec<Finding<'_>> = groups.into_iter().filter_map(Finding::of).collect();
    // Stable: what is alike in count stays as it was met.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.count));
    findings
}

/// Says of each finding what was measured of its pairs.
pub(super) fn judge(findings: &mut [Finding<'_>], analysis: &Analysis, verdicts: &[Verdicts]) {
    for finding in findings {
        let numbers: BTreeSet<usize> =
            finding.members.iter().filter_map(|member| Some(member.rows.first()?.decision)).collect();
        let of = |verdicts: &Verdicts| verdicts.of(numbers.iter().filter_map(|number| analysis.decisions.get(*number)));
        finding.verdicts = verdicts.iter().map(of).collect();
    }
}

/// Keeps the most frequent findings, and as many samplers inside of them in all.
pub(super) fn bound(findings: &mut Vec<Finding<'_>>, limit: usize) {
    findings.truncate(limit);
    let mut room = limit.saturating_sub(findings.len());
    for finding in findings {
        // One of each is kept whatever the others take.
        let kept = finding.members.len().min(1 + room);
        room -= kept.saturating_sub(1);
        finding.left_out = finding.members.len() - kept;
        finding.members.truncate(kept);
    }
}

/// Something that is left as it is.
#[derive(Debug, Serialize)]
pub(super) struct Unsolved<'a> {
    pub(super) count: u64,
    count_text: String,
    pub(super) what: &'a str,
    pub(super) why: &'a str,
    pub(super) rule: Option<&'a str>,
    pub(super) vuid: Option<&'a str>,
    link: Option<String>,
    pub(super) format: &'a str,
    pub(super) view: String,
    pub(super) sampler: &'a str,
    pub(super) sampler_name: Option<&'a str>,
    pub(super) view_name: Option<&'a str>,
    pub(super) joined: Option<String>,
    /// The draw at which it was first met.
    pub(super) draw: Option<&'a Draw>,
    meaning: Option<&'static str>,
    /// What to do about it, as HTML.
    advice: Option<String>,
}

/// Everything that is left as it is, the most frequent first.
pub(super) fn left(analysis: &Analysis) -> Vec<Unsolved<'_>> {
    fn row(item: &Unresolved) -> Unsolved<'_> {
        let words = Left::of(&item.what);
        Unsolved {
            count: item.count,
            count_text: grouped(item.count),
            what: &item.what,
            why: &item.why,
            rule: item.rule.as_deref(),
            vuid: item.vuid.as_deref(),
            link: item.vuid.as_deref().map(specification),
            format: item.format.as_deref().map_or("", short),
            view: view(item.view_type.as_ref(), item.aspect.as_ref(), None),
            sampler: item.fingerprint.as_deref().unwrap_or_default(),
            sampler_name: item.sampler_name.as_deref(),
            view_name: item.view_name.as_deref(),
            joined: item.link.as_ref().map(links::describe),
            draw: item.draw.as_ref(),
            // Links have it as their reason already.
            meaning: words.filter(|words| words.clause() != item.why).map(|words| words.meaning()),
            advice: words.map(|words| repair::words(words.advice_on(&item.why))),
        }
    }
    let mut rows: Vec<Unsolved<'_>> = analysis.unresolved.iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}
