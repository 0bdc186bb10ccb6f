//! `samplin check`: a check for continuous integration.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use samplin_core::decide::Rule;
use samplin_wire::record::Link;
use serde::Serialize;
use serde_json::json;

use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table, visible};
use crate::trace::analysis::{Analysis, Decision, Unresolved};
use crate::trace::links;
use crate::trace::record::{counted, grouped, short};
use crate::{inspect, judged};

/// The word for unresolved things without a rule.
pub(crate) const UNRESOLVED: &str = "unresolved";

/// The arguments of `samplin check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The traces, or folders of tables (`samplin export`); `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Look at the runs of this build only, in folders of tables
    #[arg(long, value_name = "NAME")]
    pub build: Option<String>,
    /// Find fault only with these rules; `unresolved` stands for everything passed through
    #[arg(long, value_name = "RULE", value_delimiter = ',', num_args = 1.., value_parser = rule_names())]
    pub deny: Vec<String>,
    /// Find no fault with these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', num_args = 1.., value_parser = rule_names())]
    pub allow: Vec<String>,
    /// How to print findings
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Lines for people and editors.
    #[default]
    Text,
    /// JSON.
    Json,
    /// JUnit's XML, one test case a rule.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}

/// What can be denied and allowed by name.
pub(crate) fn rule_names() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.name()).chain([UNRESOLVED]).collect()
}

/// Something that is not as it should be.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The trace.
    pub trace: String,
    /// The line where it was first met.
    pub line: u64,
    /// The rule.
    pub rule: String,
    /// The device, in tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Whether the layer could not mend it.
    pub unresolved: bool,
    /// What is wrong, in one line.
    pub message: String,
    /// The valid usage that is broken.
    pub vuid: Option<String>,
    /// Fingerprint of the sampler.
    pub fingerprint: Option<String>,
    /// Name of the sampler.
    pub sampler: Option<String>,
    /// Name of the view.
    pub view: Option<String>,
    /// Format of the view or image.
    pub format: Option<String>,
    /// Where a shader finds image and sampler, if only it joins them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// How often.
    pub count: u64,
}

impl Finding {
    fn of(analysis: &Analysis, decision: &Decision, index: usize) -> Option<Self> {
        let change = decision.changes.get(index)?;
        let message = format!("{}: {}", change.brief(), change.because);
        Some(Self {
            trace: trace_name(analysis, decision.first.trace),
            line: decision.first.line,
            rule: change.rule.clone(),
            device: decision.device.clone(),
            unresolved: false,
            message,
            vuid: change.vuid.clone(),
            fingerprint: decision.fingerprint.clone(),
            sampler: decision.sampler_name.clone(),
            view: decision.view_name.clone(),
            format: decision.format.clone(),
            link: decision.link.clone(),
            count: decision.count,
        })
    }

    fn of_unresolved(analysis: &Analysis, item: &Unresolved) -> Self {
        let why = if item.why.is_empty() { String::new() } else { format!(": {}", item.why) };
        Self {
            trace: trace_name(analysis, item.first.trace),
            line: item.first.line,
            rule: item.rule.clone().unwrap_or_else(|| UNRESOLVED.to_owned()),
            device: item.device.clone(),
            unresolved: true,
            message: format!("{}{why}", item.what),
            vuid: item.vuid.clone(),
            fingerprint: item.fingerprint.clone(),
            sampler: item.sampler_name.clone(),
            view: item.view_name.clone(),
            format: item.format.clone(),
            link: item.link.clone(),
            count: item.count,
        }
    }

    /// Which objects it is about, in brackets, or nothing.
    fn objects(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(device) = &self.device {
            parts.push(device.clone());
        }
        if let Some(format) = &self.format {
            parts.push(short(format).to_owned());
        }
        match (&self.sampler, &self.fingerprint) {
            (Some(name), _) => parts.push(format!("sampler \"{name}\"")),
            (None, Some(fingerprint)) => parts.push(format!("sampler {fingerprint}")),
            (None, None) => {}
        }
        if let Some(view) = &self.view {
            parts.push(format!("view \"{view}\""));
        }
        parts.extend(self.link.as_ref().map(links::describe));
        if parts.is_empty() { String::new() } else { format!(" [{}]", parts.join(", ")) }
    }
}

fn trace_name(analysis: &Analysis, index: usize) -> String {
    analysis.traces.get(index).map(|read| read.source.name()).unwrap_or_default()
}

/// Rules of unresolved things that are no faults of the program: what has none, and what the layer does not look at.
const NO_FAULT: [&str; 2] = [UNRESOLVED, Rule::Heap.name()];

/// Everything that the arguments find fault with. Things passed through without a rule or a valid usage that is broken, and those
/// that the layer does not look at, are no faults of the program, unless they are denied by name.
fn findings(analysis: &Analysis, deny: &[String], allow: &[String]) -> Vec<Finding> {
    let names = |list: &[String], rule: &str| list.iter().any(|name| name == rule);
    let wanted = |finding: &Finding| {
        let hit = |list: &[String]| names(list, &finding.rule) || (finding.unresolved && names(list, UNRESOLVED));
        if hit(allow) {
            return false;
        }
        if deny.is_empty() { !finding.unresolved || !NO_FAULT.contains(&finding.rule.as_str()) } else { hit(deny) }
    };
    let mut found: Vec<Finding> = Vec::new();
    for decision in &analysis.decisions {
        found.extend((0..decision.changes.len()).filter_map(|index| Finding::of(analysis, decision, index)));
    }
    found.extend(analysis.unresolved.iter().map(|item| Finding::of_unresolved(analysis, item)));
    found.retain(wanted);
    found.sort_by(|a, b| (&a.trace, a.line, &a.rule, &a.message).cmp(&(&b.trace, b.line, &b.rule, &b.message)));
    found
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let analysis = judged::read(&arguments.traces, arguments.build.as_deref())?;
    // A check that saw nothing must not be green.
    for read in &analysis.traces {
        if read.counts.records == 0 {
            let name = read.source.name();
            let why = if read.counts.bytes == 0 { "the trace is empty" } else { "there is no record in it" };
            return Err(Failure::input(format!("{name}: {why}"))
                .hint("did the program run under the layer? `samplin run -- PROGRAM` says why not"));
        }
    }
    let found = findings(&analysis, &arguments.deny, &arguments.allow);
    let warnings = inspect::warnings(&analysis);
    let format = if output.json { Format::Json } else { arguments.format };
    match format {
        Format::Text => text(&found, &warnings, output),
        Format::Json => output.json(&json!({
            "findings": found,
            "warnings": warnings,
            "traces": analysis.traces.iter().map(|read| read.source.name()).collect::<Vec<_>>(),
        })),
        Format::Junit => output.document(&junit(&analysis, &found, &warnings, arguments)),
        Format::Github => github(&found, &warnings, output),
    }
    Ok(Outcome::from_findings(!found.is_empty()))
}

fn text(found: &[Finding], warnings: &[String], output: &mut Output) {
    for finding in found {
        let position = output.styled(Style::Heading, format!("{}:{}:", finding.trace, finding.line));
        let rule = output.styled(Style::Name, &finding.rule);
        let vuid = finding.vuid.as_ref().map(|vuid| format!(" ({vuid})")).unwrap_or_default();
        let times = if finding.count > 1 { format!(" ×{}", grouped(finding.count)) } else { String::new() };
        output.line(format!("{position} {rule}: {}{}{vuid}{times}", finding.message, finding.objects()));
    }
    for warning in warnings {
        output.styled_line(Style::Warn, format!("warning: {warning}"));
    }
    if found.is_empty() {
        output.styled_line(Style::Good, "no findings");
        return;
    }
    let mut rules: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in found {
        *rules.entry(&finding.rule).or_insert(0) += 1;
    }
    let mut table = Table::new(2);
    for (rule, count) in rules {
        table.row([Cell::number(count), Cell::new(rule).style(Style::Name)]);
    }
    output.line("");
    output.styled_line(Style::Bad, counted(found.len() as u64, "finding"));
    output.table(&table);
}

fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            c => out.push(c),
        }
    }
    out
}

/// One suite; each rule that is looked at is a test case, so that a green one shows too.
fn junit(analysis: &Analysis, found: &[Finding], warnings: &[String], arguments: &Arguments) -> String {
    let name = analysis.traces.iter().map(|read| read.source.name()).collect::<Vec<_>>().join(" ");
    let mut rules: Vec<&str> = rule_names();
    rules.retain(|rule| {
        let denied = arguments.deny.is_empty() || arguments.deny.iter().any(|name| name == rule);
        (denied && !arguments.allow.iter().any(|name| name == rule))
            || found.iter().any(|finding| finding.rule == *rule)
    });
    for finding in found {
        if !rules.contains(&finding.rule.as_str()) {
            rules.push(&finding.rule);
        }
    }
    let failing = rules.iter().filter(|rule| found.iter().any(|finding| finding.rule == **rule)).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites tests=\"{}\" failures=\"{failing}\">", rules.len());
    let _ = writeln!(
        out,
        "  <testsuite name=\"samplin check {}\" tests=\"{}\" failures=\"{failing}\" errors=\"0\" skipped=\"0\">",
        xml(&name),
        rules.len()
    );
    for rule in rules {
        let of: Vec<&Finding> = found.iter().filter(|finding| finding.rule == rule).collect();
        let _ = write!(out, "    <testcase classname=\"samplin\" name=\"{}\"", xml(rule));
        if of.is_empty() {
            out += "/>\n";
            continue;
        }
        out += ">\n";
        let _ =
            writeln!(out, "      <failure message=\"{}\" type=\"{}\">", counted(of.len() as u64, "finding"), xml(rule));
        for finding in of {
            let vuid = finding.vuid.as_ref().map(|vuid| format!(" ({vuid})")).unwrap_or_default();
            let line = format!("{}:{}: {}{}{vuid}", finding.trace, finding.line, finding.message, finding.objects());
            let _ = writeln!(out, "{}", xml(&line));
        }
        out += "      </failure>\n    </testcase>\n";
    }
    if !warnings.is_empty() {
        out += "    <system-err>\n";
        for warning in warnings {
            let _ = writeln!(out, "{}", xml(warning));
        }
        out += "    </system-err>\n";
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Source: GitHub's "Workflow commands": a message has `%`, CR and LF escaped, a property `:` and `,` as well. CR and LF are
/// [`visible`] already.
fn escape(text: &str, property: bool) -> String {
    let text = visible(text).replace('%', "%25");
    if property { text.replace(':', "%3A").replace(',', "%2C") } else { text }
}

fn github(found: &[Finding], warnings: &[String], output: &mut Output) {
    for finding in found {
        let title = match &finding.vuid {
            Some(vuid) => format!("{} ({vuid})", finding.rule),
            None => finding.rule.clone(),
        };
        let level = if finding.unresolved { "warning" } else { "error" };
        let message = format!("{}{} — {}:{}", finding.message, finding.objects(), finding.trace, finding.line);
        output.line(format!("::{level} title={}::{}", escape(&title, true), escape(&message, false)));
    }
    for warning in warnings {
        output.line(format!("::notice title=samplin::{}", escape(warning, false)));
    }
    output.line(if found.is_empty() { "no findings".to_owned() } else { counted(found.len() as u64, "finding") });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_its_reader() {
        assert_eq!(xml("a<b>&\"'\u{1}\n]]>\u{ffff}"), r"a&lt;b&gt;&amp;&quot;&apos;\u{1}\n]]&gt;\u{ffff}");
        assert_eq!(escape("50%: a,b\r\nc%0A", true), r"50%25%3A a%2Cb\r\nc%250A");
        assert_eq!(escape("50%: a,b\r\nc%0A", false), r"50%25: a,b\r\nc%250A");
    }
}
