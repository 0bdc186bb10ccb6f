//! `samplin inspect`: what traces add up to, as text or JSON.

mod joined;

use std::path::PathBuf;

use serde_json::json;

use self::joined::{by_label, by_link, more};
use crate::failure::{Failure, Outcome, Result};
use crate::folders;
use crate::looked;
use crate::os;
use crate::output::{Cell, ColorChoice, Output, Style, Table};
use crate::story;
use crate::trace::analysis::{Analysis, By, Census};
use crate::trace::reader::{Counts, TraceSource};
use crate::trace::record::{self, counted, grouped, short};
use samplin_wire::kinds::Separate;

/// The arguments of `samplin inspect`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The traces, also compressed (gzip, Zstandard); `-` is standard input. Without one, what is piped in, else the newest
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Show everything about one object: a handle (0x…), a debug name or a fingerprint
    #[arg(long, value_name = "OBJECT")]
    pub object: Option<String>,
    /// Show only these groups
    #[arg(long, value_enum, value_delimiter = ',')]
    pub by: Vec<By>,
    /// How many rows of a group to show; 0 for all
    #[arg(long, default_value_t = 10)]
    pub limit: usize,
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let sources = sources(&arguments.traces)?;
    if let Some(object) = &arguments.object {
        return story::run(&sources, object, output);
    }
    let analysis = Analysis::of(&sources, true)?;
    if output.json {
        output.json(&json(&analysis));
    } else {
        let limit = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
        text(&analysis, &arguments.by, limit, output);
    }
    Ok(Outcome::Fine)
}

/// The traces that the arguments name; without one what is piped in, else the newest one, which is named on standard error.
///
/// # Errors
///
/// When no trace is named and there is none.
pub fn sources(named: &[PathBuf]) -> Result<Vec<TraceSource>> {
    if let Some(given) = given(named) {
        return Ok(given);
    }
    let folder = folders::traces()
        .ok_or_else(|| Failure::input("there is no trace: neither XDG_STATE_HOME nor HOME is an absolute path"))?;
    let newest = folders::newest_trace(&folder).ok_or_else(|| {
        Failure::input(format!("{}: there is no trace", folder.display()))
            .hint("make one with `samplin run -- PROGRAM`, or name a file")
    })?;
    let mut errors = Output::stderr(ColorChoice::Auto);
    let prefix = errors.styled(Style::Dim, "samplin:");
    errors.line(format!("{prefix} the newest trace is {}", newest.display()));
    errors.finish()?;
    Ok(vec![TraceSource::File(newest)])
}

/// The traces that the arguments name; without one, standard input if something is piped in.
pub fn given(named: &[PathBuf]) -> Option<Vec<TraceSource>> {
    if !named.is_empty() {
        return Some(named.iter().map(|path| TraceSource::from_argument(path)).collect());
    }
    os::is_piped(std::io::stdin()).then(|| vec![TraceSource::Stdin])
}

/// The analysis as JSON.
pub fn json(analysis: &Analysis) -> serde_json::Value {
    let traces: Vec<_> = analysis
        .traces
        .iter()
        .map(|read| {
            let examples: Vec<_> = read
                .counts
                .examples
                .iter()
                .map(|(line, damage)| json!({ "line": line, "what": damage.to_string() }))
                .collect();
            json!({
                "trace": read.source.name(),
                "bytes": read.counts.bytes,
                "records": read.counts.records,
                "unknown_records": read.counts.unknown,
                "damaged_lines": read.counts.damaged,
                "damaged_examples": examples,
                "cut_off": read.counts.is_cut_off,
            })
        })
        .collect();
    let events: serde_json::Map<_, _> =
        analysis.events.iter().map(|(event, count)| (event.name().to_owned(), (*count).into())).collect();
    json!({
        "traces": traces,
        "events": events,
        "processes": analysis.layers.iter().map(|(_, layer)| layer).collect::<Vec<_>>(),
        "devices": analysis.devices.iter().map(|(_, device)| device).collect::<Vec<_>>(),
        "changes": analysis.change_count(),
        "scope": looked::json(analysis),
        "legal": analysis.legal,
        "by_rule": analysis.by_rule(),
        "by_format": analysis.grouped(By::Format),
        "by_sampler": analysis.grouped(By::Sampler),
        "by_path": analysis.grouped(By::Path),
        "by_link": analysis.by_link(),
        "by_label": analysis.by_label(),
        "decisions": analysis.decisions,
        "decisions_folded": analysis.folded,
        "unresolved": analysis.unresolved,
        "unresolved_folded": analysis.unresolved_folded,
        "exempt": analysis.exempt,
        "exempt_folded": analysis.exempt_folded,
        "census": analysis.census(),
        "problems": analysis.problems,
        "dropped": analysis.dropped,
        "not_in_records": analysis.missing(),
        "left_out": { "records": analysis.left_out.0, "bytes": analysis.left_out.1 },
    })
}

/// The analysis as text.
pub fn text(analysis: &Analysis, by: &[By], limit: usize, output: &mut Output) {
    let all = by.is_empty();
    if all {
        head(analysis, output);
    }
    if !by.iter().all(|by| matches!(by, By::Link | By::Label)) || all {
        changes(analysis, by, limit, output);
    }
    if all || by.contains(&By::Link) {
        by_link(analysis, !all, limit, output);
    }
    if all || by.contains(&By::Label) {
        by_label(analysis, !all, limit, output);
    }
    if all {
        unresolved(analysis, limit, output);
        exempt(analysis, limit, output);
        census(analysis, output);
        notes(analysis, output);
    }
}

fn head(analysis: &Analysis, output: &mut Output) {
    for read in &analysis.traces {
        let counts = &read.counts;
        let name = output.styled(Style::Heading, read.source.name());
        output.line(format!("{name}: {}, {}", counted(counts.records, "record"), record::bytes(counts.bytes)));
    }
    let mut table = Table::new(2);
    let mut add = |key: &str, value: String| table.row([Cell::new(key).style(Style::Dim), Cell::new(value)]);
    for process in analysis.processes() {
        add("process", process);
    }
    for setting in analysis.settings() {
        add("setting", setting);
    }
    for device in devices(analysis) {
        add("device", device);
    }
    output.table(&table);
    let empty = analysis.traces.iter().all(|read| read.counts.records == 0);
    if empty {
        output.line("There is no record.");
    }
}

/// A line for each device; one for all that are alike.
pub fn devices(analysis: &Analysis) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for (_, device) in &analysis.devices {
        let line = describe_device(device);
        match found.iter_mut().find(|(earlier, _)| *earlier == line) {
            Some((_, times)) => *times += 1,
            None => found.push((line, 1)),
        }
    }
    let line = |(line, times): (String, usize)| if times > 1 { format!("{times} × {line}") } else { line };
    found.into_iter().map(line).collect()
}

/// A device record as one line.
pub fn describe_device(device: &serde_json::Value) -> String {
    let text = |key: &str| device.get(key).and_then(serde_json::Value::as_str);
    let mut line = text("device").unwrap_or("?").to_owned();
    if let Some(version) = device.pointer("/driver/api_version").and_then(serde_json::Value::as_str) {
        line += &format!(", Vulkan {version}");
    }
    if let Some(simulated) = text("simulated") {
        line += &format!(", as weak as {simulated}");
    }
    let augmented = device.get("augmented").map(record::value).filter(|value| value != "none");
    if let Some(augmented) = augmented {
        line += &format!(", augmented with {augmented}");
    }
    line
}

fn changes(analysis: &Analysis, by: &[By], limit: usize, output: &mut Output) {
    let wants = |group: By| by.is_empty() || by.contains(&group);
    let count = analysis.change_count();
    let records = analysis.record_count();
    let audit = analysis.setting("mode") == Some("audit");
    output.line("");
    let legal = match analysis.legal {
        0 => String::new(),
        legal => format!("; {} of legal pairs and samplers", counted(legal, "record")),
    };
    if count == 0 {
        let style = if looked::is_anything(analysis) { Style::Good } else { Style::Warn };
        let what = if looked::is_unrecorded(analysis) { "No record has a change" } else { "Nothing had to be changed" };
        output.styled_line(style, format!("{what} in {}{legal}.", looked::at(analysis)));
        for line in looked::left(analysis).into_iter().chain([looked::not_covered(analysis)]) {
            output.line(format!("  {line}"));
        }
        held(analysis, output);
        return;
    }
    let verb = if audit { "would be changed (mode audit changes nothing)" } else { "was changed" };
    output.styled_line(
        Style::Heading,
        format!("What {verb}: {} in {}{legal}", counted(count, "change"), counted(records, "record")),
    );
    if wants(By::Rule) {
        by_rule(analysis, limit, output);
        held(analysis, output);
    }
    for (group, title) in [(By::Format, "by format"), (By::Sampler, "by sampler"), (By::Path, "by path")] {
        if wants(group) {
            by_group(analysis, group, title, limit, output);
        }
    }
}

/// What guards of overrides held back, which is no change.
fn held(analysis: &Analysis, output: &mut Output) {
    if let Some(overrides) = looked::overrides(analysis) {
        output.line("");
        let name = output.styled(Style::Name, "override");
        output.line(format!("  {name}  {overrides}"));
    }
}

fn by_rule(analysis: &Analysis, limit: usize, output: &mut Output) {
    for group in analysis.by_rule() {
        output.line("");
        let name = output.styled(Style::Name, &group.rule);
        output.line(format!("  {name}  {}", counted(group.changes, "change")));
        let mut table = Table::new(4);
        for kind in group.kinds.iter().take(limit) {
            table.row([
                Cell::number(kind.count),
                Cell::new(kind.change.brief()),
                Cell::new(&kind.change.because).style(Style::Dim),
            ]);
        }
        output.table(&table);
        more(group.kinds.len(), limit, 4, output);
        let mut lost: Vec<&str> =
            group.kinds.iter().map(|kind| kind.change.lost.as_str()).filter(|lost| !lost.is_empty()).collect();
        lost.sort_unstable();
        lost.dedup();
        // "nothing" is worth a word only where it is all there is to say.
        if lost.iter().any(|lost| !lost.starts_with("nothing")) {
            lost.retain(|lost| !lost.starts_with("nothing"));
        }
        let mut vuids: Vec<&str> = group.kinds.iter().filter_map(|kind| kind.change.vuid.as_deref()).collect();
        vuids.sort_unstable();
        vuids.dedup();
        let mut table = Table::new(4);
        if !lost.is_empty() {
            table.row([Cell::new("lost").style(Style::Dim), Cell::new(lost.join("; "))]);
        }
        for vuid in vuids {
            table.row([Cell::new("breaks").style(Style::Dim), Cell::new(vuid)]);
        }
        output.table(&table);
    }
}

fn by_group(analysis: &Analysis, group: By, title: &str, limit: usize, output: &mut Output) {
    let groups = analysis.grouped(group);
    if groups.is_empty() {
        return;
    }
    output.line("");
    output.styled_line(Style::Heading, title);
    let mut table = Table::new(2);
    for group in groups.iter().take(limit) {
        let mut name = short(&group.key).to_owned();
        if let Some(label) = &group.name {
            name += &format!(" \"{label}\"");
        }
        let mut rules: Vec<_> = group.rules.iter().collect();
        rules.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let rules: Vec<_> = rules.iter().map(|(rule, count)| format!("{rule} {}", grouped(count))).collect();
        table.row([Cell::number(group.changes), Cell::new(name), Cell::new(rules.join(", ")).style(Style::Dim)]);
    }
    output.table(&table);
    more(groups.len(), limit, 2, output);
}

/// What is left, on which format, of which objects.
fn about(what: &str, format: Option<&str>, names: [&Option<String>; 2]) -> String {
    let format = format.map(|format| format!(" on {}", short(format))).unwrap_or_default();
    let names: Vec<String> = names.into_iter().flatten().map(|name| format!("\"{name}\"")).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    format!("{what}{format}{names}")
}

fn unresolved(analysis: &Analysis, limit: usize, output: &mut Output) {
    if analysis.unresolved.is_empty() {
        return;
    }
    let total: u64 = analysis.unresolved.iter().map(|item| item.count).sum::<u64>() + analysis.unresolved_folded;
    output.line("");
    output.styled_line(Style::Warn, format!("Seen and passed through unresolved: {}", grouped(total)));
    let mut items: Vec<_> = analysis.unresolved.iter().collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.count));
    let mut table = Table::new(2);
    for item in items.iter().take(limit) {
        table.row([
            Cell::number(item.count),
            Cell::new(item.rule.as_deref().unwrap_or("")).style(Style::Name),
            Cell::new(about(&item.what, item.format.as_deref(), [&item.sampler_name, &item.view_name])),
            Cell::new(&item.why).style(Style::Dim),
        ]);
    }
    output.table(&table);
    more(items.len(), limit, 2, output);
}

fn exempt(analysis: &Analysis, limit: usize, output: &mut Output) {
    if analysis.exempt.is_empty() {
        return;
    }
    let total: u64 = analysis.exempt.iter().map(|item| item.count).sum::<u64>() + analysis.exempt_folded;
    output.line("");
    output.styled_line(Style::Heading, format!("Repairs that rules switch off: {}", grouped(total)));
    let mut table = Table::new(2);
    for item in analysis.exempt.iter().take(limit) {
        table.row([
            Cell::number(item.count),
            Cell::new(item.repairs()).style(Style::Name),
            Cell::new(about(&item.what, item.format.as_deref(), [&item.sampler_name, &item.view_name])),
            Cell::new(format!("rule {}", item.places())).style(Style::Dim),
        ]);
    }
    output.table(&table);
    more(analysis.exempt.len(), limit, 2, output);
}

fn census(analysis: &Analysis, output: &mut Output) {
    let Some(census) = analysis.census() else { return };
    output.line("");
    let of = if census.devices > 1 { format!(" of {} devices", census.devices) } else { String::new() };
    output.styled_line(Style::Heading, format!("Census{of}"));
    let mut table = Table::new(2);
    for (key, value) in census_rows(&census) {
        table.row([Cell::new(key).style(Style::Dim), Cell::new(value)]);
    }
    output.table(&table);
}

/// The census as rows of text.
pub fn census_rows(census: &Census) -> Vec<(String, String)> {
    // Older traces do not say, and have a record for each.
    let changed = match census.samplers_changed {
        0 => String::new(),
        changed => format!(", {} of them changed", grouped(changed)),
    };
    let shared = match census.samplers_shared {
        0 => String::new(),
        shared => format!(", {} of them another one again", grouped(shared)),
    };
    let mut rows = vec![
        (
            "samplers".to_owned(),
            format!(
                "{} created{changed}{shared}, {} alive at once, {} at the end; {} different states at once",
                grouped(census.samplers_created),
                grouped(census.samplers_peak),
                grouped(census.samplers_live),
                grouped(census.states_peak)
            ),
        ),
        (
            "views".to_owned(),
            format!("{} created, of {} classes", grouped(census.views_created), grouped(census.view_classes)),
        ),
        (
            "variants".to_owned(),
            format!("{} created, {} alive at once", grouped(census.variants_created), grouped(census.variants_peak)),
        ),
    ];
    let writes: Vec<_> = census
        .writes
        .iter()
        .filter(|(_, writes)| writes.seen > 0)
        .map(|(path, writes)| format!("{path} {} ({} rewritten)", grouped(writes.seen), grouped(writes.rewritten)))
        .collect();
    let writes = if writes.is_empty() { "none".to_owned() } else { writes.join(", ") };
    rows.push(("descriptors".to_owned(), writes));
    if let Some(separate) = census.separate.as_ref().filter(|separate| separate.links > 0) {
        rows.push(("links in shaders".to_owned(), separate_row(separate)));
    }
    if census.blits_rewritten > 0 {
        rows.push(("blits".to_owned(), format!("{} with another filter", grouped(census.blits_rewritten))));
    }
    for (limit, headroom) in &census.headroom {
        if let Some(over) = census.exceeded.get(limit) {
            let (asked, limit_of) = (grouped(over.asked), grouped(over.limit));
            let beyond = grouped(over.asked.saturating_sub(over.limit));
            rows.push((limit.clone(), format!("{asked} of {limit_of}: the application asks for {beyond} too many")));
            continue;
        }
        let left = grouped(headroom.left);
        let value = match headroom.limit {
            Some(0) if headroom.devices == 1 => "not available on this device".to_owned(),
            Some(0) => format!("not available on any of {} devices", grouped(headroom.devices)),
            Some(limit) => {
                let used = limit.saturating_sub(headroom.left);
                let percent = used as f64 * 100.0 / limit as f64;
                format!("{} of {} used at the peak ({percent:.1} %), {left} left", grouped(used), grouped(limit))
            }
            None => format!("{left} left at the peak"),
        };
        let lacking = match headroom.without {
            without if without == 0 || without == headroom.devices => String::new(),
            without => format!("; not available on {} of {} devices", grouped(without), grouped(headroom.devices)),
        };
        rows.push((limit.clone(), value + &lacking));
    }
    rows
}

/// What became of the pairs that only shaders join, in a line.
fn separate_row(separate: &Separate) -> String {
    let mut row = grouped(separate.links);
    if separate.shadows.peak > 0 {
        row += &format!(", {} at once", counted(separate.shadows.peak, "copied set"));
    }
    if separate.splits > 0 {
        let pipelines = counted(separate.splits, "pipeline");
        row += &format!(", {pipelines} recompiled in {:.1} ms", separate.compile_ms);
    }
    if separate.learned > 0 {
        row += &format!(", {} learned", grouped(separate.learned));
    }
    let left: u64 = separate.unresolved.0.iter().map(|(_, count)| count).sum();
    if left > 0 {
        row += &format!("; {} left as they are", grouped(left));
    }
    row
}

/// What reading a trace of this name came to, if it is not whole.
pub fn damage(name: &str, counts: &Counts) -> Vec<String> {
    let mut found = Vec::new();
    for (line, damage) in &counts.examples {
        let cut = counts.is_cut_off && counts.damaged == 1;
        let hint = if cut { " (the program was stopped while it wrote, or still runs)" } else { "" };
        found.push(format!("{name}:{line}: {damage}{hint}"));
    }
    let named = counts.examples.len() as u64;
    if counts.damaged > named {
        found.push(format!("{name}: {} in all", counted(counts.damaged, "damaged line")));
    }
    if counts.unknown > 0 {
        found.push(format!(
            "{name}: {} of kinds that this version does not know; a newer samplin wrote them",
            counted(counts.unknown, "record")
        ));
    }
    found
}

/// What the reader has to know about how far the trace can be trusted.
pub fn warnings(analysis: &Analysis) -> Vec<String> {
    let mut found = Vec::new();
    for read in &analysis.traces {
        found.extend(damage(&read.source.name(), &read.counts));
    }
    found.extend(analysis.missing().into_iter().map(|missing| missing.message));
    for problem in &analysis.problems {
        let text = |key: &str| problem.get(key).and_then(serde_json::Value::as_str).unwrap_or("");
        let position = match (text("file"), problem.get("line").and_then(serde_json::Value::as_u64)) {
            ("", _) => String::new(),
            (file, None) => format!("{file}: "),
            (file, Some(line)) => format!("{file}:{line}: "),
        };
        found.push(format!("{position}{}: {}: {}", text("level"), text("key"), text("message")));
    }
    if analysis.dropped > 0 {
        found.push(format!("the layer could not write {}", counted(analysis.dropped, "record")));
    }
    if let (records @ 1.., bytes) = analysis.left_out {
        found.push(format!(
            "the trace is not complete: {} ({}) did not fit its limit; see the setting trace_limit",
            counted(records, "record"),
            record::bytes(bytes)
        ));
    }
    if analysis.folded > 0 {
        found.push(format!(
            "there are too many different decisions: {} are not separated by sampler",
            grouped(analysis.folded)
        ));
    }
    if analysis.uncounted > 0 {
        found.push(format!("{} are in no sum, because they all differ", counted(analysis.uncounted, "decision")));
    }
    for (kind, count) in [("unresolved", analysis.unresolved_folded), ("exempt", analysis.exempt_folded)] {
        found.extend((count > 0).then(|| format!("{} more {kind} records are not shown", grouped(count))));
    }
    if analysis.started > analysis.ended && !analysis.traces.is_empty() {
        found.push(format!(
            "{} without an end: the program did not destroy it, crashed or still runs",
            counted(analysis.started - analysis.ended, "instance")
        ));
    }
    if analysis.summaries.iter().any(|summary| summary.get("passed_through") == Some(&true.into())) {
        found.push("the layer failed and passed everything through from then on".to_owned());
    }
    found
}

fn notes(analysis: &Analysis, output: &mut Output) {
    let found = warnings(analysis);
    if found.is_empty() {
        return;
    }
    output.line("");
    output.styled_line(Style::Warn, "Mind");
    for text in found {
        output.line(format!("  {text}"));
    }
}
