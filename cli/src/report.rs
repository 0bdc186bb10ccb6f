//! `samplin report`: one self-contained page about a run.

mod charts;
#[cfg(test)]
mod contrast;
mod csv;
mod findings;
pub mod interactive;
mod origin;
mod repair;
mod verdicts;

use std::collections::BTreeSet;
use std::path::PathBuf;

use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use serde_json::Value;

use self::interactive::Interactive;
use self::verdicts::Verdicts;
use crate::devices;
use crate::failure::{Failure, Outcome, Result};
use crate::files;
use crate::inspect;
use crate::looked;
use crate::output::{Output, visible_lines};
use crate::predict::table;
use crate::trace::analysis::{Analysis, By, Exempt};
use crate::trace::reader::TraceSource;
use crate::trace::record::{self, counted, grouped, short};

const PAGE: &str = include_str!("report/page.html");
const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/script.js");

/// The arguments of `samplin report`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The traces, also compressed (gzip, Zstandard); `-` is standard input. Without one, what is piped in, else the newest
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// The page to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// For a trace of the level all, say which of these devices would have each finding, and what the run would lose on each; `all` are
    /// those that come with samplin
    #[arg(long, visible_alias = "devices", value_name = "NAME", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Another spelling of `--device all`
    #[arg(long)]
    pub all_devices: bool,
    /// What `samplin prove --json` wrote of the trace on a driver, to show its verdicts beside each finding; may be given several times
    #[arg(long, value_name = "FILE")]
    pub verdicts: Vec<PathBuf>,
    /// For a trace of the level all, let the reader of the page choose a device, or drop a capability file, and see what the run would
    /// be there
    #[arg(long)]
    pub interactive: bool,
    /// The heading of the page
    #[arg(long)]
    pub title: Option<String>,
    /// How many findings the page holds at most, and how many samplers inside of them
    #[arg(long, default_value_t = 5000)]
    pub rows: usize,
    /// Also write all changes and what is left, one a line, as comma-separated values; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read or the page cannot be written.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let sources = inspect::sources(&arguments.traces)?;
    let is_stdout = files::is_stdout(&arguments.output);
    let csv_is_stdout = arguments.csv.as_deref().is_some_and(files::is_stdout);
    if is_stdout && csv_is_stdout {
        return Err(Failure::usage("the page and the table cannot both go to standard output"));
    }
    let mut outputs = vec![("the page", arguments.output.as_path())];
    outputs.extend(arguments.csv.as_deref().map(|path| ("--csv", path)));
    files::must_not_replace(&outputs, &sources, &devices::inputs(&arguments.device))?;
    let verdict_files: Vec<_> = arguments.verdicts.iter().map(|path| ("the verdicts", path.as_path())).collect();
    files::must_be_apart(&outputs, &verdict_files)?;
    let verdicts = arguments.verdicts.iter().map(|path| Verdicts::read(path)).collect::<Result<Vec<_>>>()?;
    let analysis = Analysis::of(&sources, true)?;
    let (all, mut names): (Vec<_>, Vec<_>) = arguments.device.iter().cloned().partition(|name| name == "all");
    if arguments.all_devices || !all.is_empty() {
        names.extend(devices::SHIPPED.iter().map(|shipped| shipped.short.to_owned()));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let matrix = match (names.is_empty(), sources.as_slice()) {
        (true, _) => None,
        (false, [source @ TraceSource::File(_)]) => Some(Matrix::of(&names, table::matrix(&names, false, source)?)),
        (false, _) => return Err(Failure::usage("the devices need one trace, which is a file")),
    };
    let interactive = match sources.as_slice() {
        _ if !arguments.interactive => None,
        [source @ TraceSource::File(_)] => Some(Interactive::of(source, &analysis)?),
        _ => return Err(Failure::usage("--interactive needs one trace, which is a file")),
    };
    let page = page(&analysis, arguments.title.as_deref(), arguments.rows, matrix, &verdicts, interactive)?;
    if let Some(path) = &arguments.csv {
        let table = csv::of(&findings::rows(&analysis), &findings::left(&analysis))?;
        if csv_is_stdout {
            output.document(&String::from_utf8_lossy(&table));
        } else {
            files::write_output(path, &table)?;
        }
    }
    if is_stdout {
        output.document(&page);
        return Ok(Outcome::Fine);
    }
    files::write_output(&arguments.output, page.as_bytes())?;
    if csv_is_stdout {
        return Ok(Outcome::Fine);
    }
    if output.json {
        let (page, bytes, changes) = (&arguments.output, page.len(), analysis.change_count());
        let mut written = serde_json::json!({ "page": page, "bytes": bytes, "changes": changes });
        if let Some(csv) = &arguments.csv {
            written["csv"] = csv.to_string_lossy().into();
        }
        output.json(&written);
    } else {
        let path = arguments.output.display();
        output.line(format!(
            "{path}: {}, {}",
            counted(analysis.change_count(), "change"),
            record::bytes(page.len() as u64)
        ));
    }
    Ok(Outcome::Fine)
}

/// Findings, each beside the devices that would have it.
#[derive(Default, Serialize)]
pub struct Matrix {
    devices: Vec<String>,
    rows: Vec<MatrixRow>,
    losses: Vec<table::Losses>,
}

#[derive(Serialize)]
struct MatrixRow {
    rule: String,
    finding: String,
    has: Vec<bool>,
}

impl Matrix {
    fn of(names: &[String], matrix: table::Matrix) -> Self {
        let row = |row: &table::Row| MatrixRow {
            rule: row.finding.rule.clone(),
            finding: row.finding.rest(),
            has: row.devices.clone(),
        };
        let rows = matrix.printed().iter().map(row).collect();
        Self { devices: names.to_vec(), rows, losses: matrix.losses }
    }
}

/// The page about an analysis.
///
/// # Errors
///
/// When the template is at fault, which the tests exclude.
pub fn page(
    analysis: &Analysis,
    title: Option<&str>,
    limit: usize,
    matrix: Option<Matrix>,
    verdicts: &[Verdicts],
    interactive: Option<Interactive>,
) -> Result<String> {
    let mut found = findings::grouped_by_reason(findings::rows(analysis));
    findings::judge(&mut found, analysis, verdicts);
    let total = found.len();
    findings::bound(&mut found, limit);
    let rules = choices(found.iter().map(|finding| finding.rule));
    let formats = choices(found.iter().map(|finding| finding.format));
    let paths = choices(found.iter().flat_map(|finding| finding.paths.iter().copied()));
    let left = findings::left(analysis);
    let repairs = repair::all(analysis);
    let left_rules = choices(left.iter().filter_map(|item| item.rule));
    let left_names = choices(left.iter().map(|item| item.what));
    let left_formats = choices(left.iter().map(|item| item.format));

    let program = analysis.layers.first().and_then(|(_, layer)| layer.get("exe")).and_then(Value::as_str);
    let trace = analysis.traces.first().map(|read| read.source.name()).unwrap_or_default();
    let heading = title.map_or_else(|| program.unwrap_or(&trace).to_owned(), str::to_owned);
    let census = analysis.census();
    let samplers = samplers(analysis);
    let by_rule: Vec<(String, u64)> = analysis.by_rule().into_iter().map(|group| (group.rule, group.changes)).collect();
    let by_format: Vec<(String, u64)> =
        analysis.grouped(By::Format).into_iter().map(|group| (short(&group.key).to_owned(), group.changes)).collect();
    let records = analysis.record_count();
    let unresolved_count: u64 = analysis.unresolved.iter().map(|item| item.count).sum();
    let cards = cards(analysis, records, unresolved_count);

    let mut environment = Environment::new();
    environment.add_filter("breakable", breakable);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let trouble = |error: minijinja::Error| Failure::environment(format!("the page cannot be made: {error:#}"));
    environment.add_template("page", PAGE).map_err(trouble)?;
    let template = environment.get_template("page").map_err(trouble)?;
    let page = template
        .render(context! {
            style => STYLE,
            script => SCRIPT,
            columns => csv::COLUMNS,
            origin => origin::of(analysis),
            heading,
            version => env!("SAMPLIN_VERSION"),
            traces => analysis.traces.iter().map(|read| {
                format!("{}: {}, {}", read.source.name(), counted(read.counts.records, "record"), record::bytes(read.counts.bytes))
            }).collect::<Vec<_>>(),
            processes => analysis.processes(),
            settings => analysis.settings(),
            audit => analysis.setting("mode") == Some("audit"),
            cards,
            unrecorded => looked::is_unrecorded(analysis),
            looked_at => looked::at(analysis),
            left_words => looked::left(analysis),
            not_covered => looked::not_covered(analysis),
            overrides => looked::overrides(analysis),
            warnings => inspect::warnings(analysis),
            chart_rules => charts::bars("Changes by rule", &by_rule, 14),
            chart_formats => charts::bars("Changes by format", &by_format, 14),
            chart_time => charts::over_time(&analysis.timeline),
            chart_variants => charts::variants(&analysis.timeline),
            chart_limits => census.as_ref().map(charts::limits),
            census => census.as_ref().map(inspect::census_rows),
            findings => found,
            drivers => verdicts.iter().map(|verdicts| &verdicts.driver).collect::<Vec<_>>(),
            total,
            total_text => grouped(total),
            rules,
            formats,
            paths,
            unresolved => left,
            left_rules,
            left_names,
            left_formats,
            repaired => repairs.iter().map(|repair| repair.rule).collect::<Vec<_>>(),
            repairs,
            exempt => exempt(analysis),
            exempt_more => record::more(analysis.exempt.len(), SAMPLERS),
            samplers_more => record::more(samplers.1, SAMPLERS),
            samplers => samplers.0,
            matrix,
            interactive,
            devices => device_blocks(analysis),
        })
        .map_err(trouble)?;
    // Names reach the page in many places, and nothing of the page itself is escaped here.
    Ok(visible_lines(&page).into_owned())
}

/// The different values that a filter offers.
fn choices<'a>(values: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    values.filter(|value| !value.is_empty()).collect()
}

/// What rules leave alone: count, what, name, repairs, format, rules.
fn exempt(analysis: &Analysis) -> Vec<[String; 6]> {
    let row = |item: &Exempt| {
        let name = item.sampler_name.as_ref().or(item.view_name.as_ref()).cloned().unwrap_or_default();
        let format = item.format.as_deref().map_or_else(String::new, |format| short(format).to_owned());
        [grouped(item.count), item.what.clone(), name, item.repairs(), format, item.places()]
    };
    analysis.exempt.iter().take(SAMPLERS).map(row).collect()
}

/// Text that may be broken after underscores, of which Vulkan names are full.
fn breakable(text: &str) -> minijinja::Value {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '_' => out += "_<wbr>",
            character => out.push(character),
        }
    }
    minijinja::Value::from_safe_string(out)
}

/// A number at the top of the page.
#[derive(Serialize)]
struct Card {
    value: String,
    label: String,
    kind: &'static str,
}

fn cards(analysis: &Analysis, records: u64, unresolved: u64) -> Vec<Card> {
    let card = |value: u64, one: &str, many: &str, kind: &'static str| Card {
        value: grouped(value),
        label: if value == 1 { one } else { many }.to_owned(),
        kind,
    };
    let changes = analysis.change_count();
    let samplers = analysis.grouped(By::Sampler).len() as u64;
    let formats = analysis.grouped(By::Format).len() as u64;
    let mut cards = vec![
        card(changes, "change", "changes", if changes > 0 { "warn" } else { "good" }),
        card(records, "record with changes", "records with changes", ""),
        card(samplers, "sampler state concerned", "sampler states concerned", ""),
        card(formats, "format concerned", "formats concerned", ""),
        card(unresolved, "unresolved", "unresolved", if unresolved > 0 { "bad" } else { "good" }),
    ];
    if let Some(census) = analysis.census() {
        cards.push(card(census.variants_peak, "variant at once", "variants at once", ""));
    }
    if analysis.legal > 0 {
        cards.push(card(analysis.legal, "legal record", "legal records", "good"));
    }
    cards
}

/// A sampler that was changed.
#[derive(Serialize)]
struct SamplerRow {
    fingerprint: String,
    name: Option<String>,
    changes: u64,
    changes_text: String,
    rules: String,
    state: Vec<(String, String)>,
}

/// How many samplers are listed.
const SAMPLERS: usize = 500;

/// The first of them, and how many there are.
fn samplers(analysis: &Analysis) -> (Vec<SamplerRow>, usize) {
    let groups = analysis.grouped(By::Sampler);
    let count = groups.len();
    let rows = groups
        .into_iter()
        .take(SAMPLERS)
        .map(|group| {
            let state: Option<serde_json::Map<String, Value>> =
                analysis.states.get(&group.key).and_then(|state| serde_json::from_slice(state).ok());
            SamplerRow {
                name: group.name,
                changes: group.changes,
                changes_text: grouped(group.changes),
                rules: group.rules.keys().cloned().collect::<Vec<_>>().join(", "),
                state: state.into_iter().flatten().map(|(key, value)| (key, record::value(&value))).collect(),
                fingerprint: group.key,
            }
        })
        .collect();
    (rows, count)
}

/// What a device record has.
#[derive(Serialize)]
struct DeviceBlock {
    title: String,
    limits: Vec<(String, String)>,
    features: Vec<(String, bool)>,
    augmented: String,
    intercepts: usize,
}

fn device_blocks(analysis: &Analysis) -> Vec<DeviceBlock> {
    let mut blocks: Vec<DeviceBlock> = Vec::new();
    for (_, device) in &analysis.devices {
        let members = |key: &str| device.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let block = DeviceBlock {
            title: inspect::describe_device(device),
            limits: members("limits").into_iter().map(|(key, value)| (key, record::value(&value))).collect(),
            features: members("features")
                .into_iter()
                .map(|(key, value)| (key, value.as_bool().unwrap_or(false)))
                .collect(),
            augmented: device.get("augmented").map(record::value).filter(|text| text != "none").unwrap_or_default(),
            intercepts: device.get("intercepts").and_then(Value::as_array).map_or(0, Vec::len),
        };
        let is_known = blocks
            .iter()
            .any(|seen| (&seen.title, &seen.limits, &seen.features) == (&block.title, &block.limits, &block.features));
        if !is_known {
            blocks.push(block);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::analysis::Position;

    #[test]
    fn an_empty_trace_makes_a_page() {
        let page = page(&Analysis::default(), Some("<b>&\"title"), 10, None, &[], None).unwrap();
        assert!(page.contains("&lt;b&gt;&amp;&quot;title"), "the title is escaped");
        assert!(page.contains("Nothing had to be changed in an unknown number of samplers"));
    }

    #[test]
    fn what_the_page_leaves_out_is_counted() {
        for (count, is_cut) in [(SAMPLERS, false), (SAMPLERS + 1, true)] {
            let mut analysis = Analysis::default();
            let item = serde_json::from_value::<record::RecordedChange>(
                serde_json::json!({ "rule": "linear-filter", "field": "magFilter" }),
            );
            let item = Exempt {
                device: None,
                what: "pair".into(),
                rules: Vec::new(),
                fingerprint: None,
                format: None,
                changes: [item.unwrap()].into(),
                sampler_name: None,
                view_name: None,
                first: Position { trace: 0, line: 1, t_ns: 0 },
                count: 1,
            };
            analysis.exempt = vec![item; count];
            let page = page(&analysis, None, 10, None, &[], None).unwrap();
            assert_eq!(page.contains("… and 1 more"), is_cut, "{count}");
        }
    }

    #[test]
    fn the_page_asks_for_nothing_from_elsewhere() {
        let page = page(&Analysis::default(), None, 10, None, &[], None).unwrap();
        for word in ["src=\"http", "@import", "url(http", "fetch(", "XMLHttpRequest"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}
