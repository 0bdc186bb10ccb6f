//! Findings for their readers: people, CI services, code hosts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::json;

use super::{Finding, Report, sarif};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{Cell, Output, Style, Table, capital, visible};
use crate::trace::record::{counted, grouped};

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines for people and editors.
    #[default]
    Text,
    /// JSON.
    Json,
    /// JUnit's XML, one test case a rule.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
    /// A table for a job's summary.
    Markdown,
    /// SARIF 2.1.0, for code hosts.
    Sarif,
}

impl Format {
    const ALL: [(&'static str, Self); 6] = [
        ("text", Self::Text),
        ("json", Self::Json),
        ("junit", Self::Junit),
        ("github", Self::Github),
        ("markdown", Self::Markdown),
        ("sarif", Self::Sarif),
    ];
}

/// How many annotations of a level GitHub shows of a step.
const SHOWN: usize = 10;

/// A format, and the file that it goes to if not to standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    format: Format,
    file: Option<PathBuf>,
}

impl Target {
    /// Whether it goes to a file.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(file)),
            None => (text, None),
        };
        let names = || Format::ALL.map(|(name, _)| name).join(", ");
        let known = Format::ALL.iter().find(|(known, _)| *known == name);
        let (_, format) = known.ok_or_else(|| format!("there is no format {name}; there are {}", names()))?;
        match file {
            Some("") => Err(format!("write {name}=FILE, or {name} for standard output")),
            file => Ok(Self { format: *format, file: file.map(PathBuf::from) }),
        }
    }
}

/// Refuses formats that would be written over what is read, or over one another.
///
/// # Errors
///
/// When two are one file.
pub(crate) fn must_be_apart(targets: &[Target], inputs: &[(&str, &Path)]) -> Result<()> {
    let outputs: Vec<(&str, &Path)> =
        targets.iter().filter_map(|target| Some(("--format", target.file.as_deref()?))).collect();
    files::must_be_apart(&outputs, inputs)
}

/// Writes a report in each format where it belongs; as `plain` does to standard output if nothing else goes there.
///
/// # Errors
///
/// When several go to standard output, or a file cannot be written.
pub(crate) fn write(
    report: &Report<'_>,
    targets: &[Target],
    output: &mut Output,
    plain: impl FnOnce(&mut Output),
) -> Result<()> {
    let (files, mut printed): (Vec<_>, Vec<_>) = targets.iter().partition(|target| target.file.is_some());
    if output.json {
        printed.retain(|target| target.format != Format::Json);
    }
    if printed.len() + usize::from(output.json) > 1 {
        return Err(Failure::usage("only one format can go to standard output").hint("write --format FORMAT=FILE"));
    }
    for target in files {
        let Some(file) = &target.file else { continue };
        let mut text = report.text(target.format);
        // Steps of a job may share the file of its summary.
        let is_summary = std::env::var_os("GITHUB_STEP_SUMMARY").is_some_and(|path| path == file.as_os_str());
        if is_summary && target.format == Format::Markdown {
            text = std::fs::read_to_string(file).unwrap_or_default() + &text;
        }
        files::write_output(file, text.as_bytes())?;
    }
    match printed.first().map(|target| target.format) {
        None | Some(Format::Text) => plain(output),
        Some(Format::Json) => output.json(&report.json()),
        Some(Format::Sarif) => output.json(&sarif::log(report)),
        Some(format) => output.document(&report.text(format)),
    }
    Ok(())
}

impl Report<'_> {
    fn text(&self, format: Format) -> String {
        match format {
            Format::Text => self.plain(),
            Format::Json => pretty(&self.json()),
            Format::Junit => self.junit(),
            Format::Github => self.github(),
            Format::Markdown => self.markdown(),
            Format::Sarif => pretty(&sarif::log(self)),
        }
    }

    /// As JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        let allowed: Vec<_> =
            self.allowed.iter().map(|(finding, reason)| json!({ "finding": finding, "reason": reason })).collect();
        json!({
            "findings": self.findings,
            "allowed": allowed,
            "warnings": self.warnings,
            "traces": self.traces,
            "looked_at": self.looked_at,
        })
    }

    fn plain(&self) -> String {
        let mut out = String::new();
        for finding in self.findings {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", visible(&finding.line()));
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "warning: {}", visible(warning));
        }
        let _ = writeln!(out, "{}", self.verdict());
        out
    }

    /// The last line.
    fn verdict(&self) -> String {
        let allowed = match self.allowed.len() as u64 {
            0 => String::new(),
            allowed => format!(", {} allowed", counted(allowed, "finding")),
        };
        match self.findings.len() as u64 {
            0 => format!("no findings{allowed} in {}", self.looked_at),
            count => format!("{}{allowed}", counted(count, "finding")),
        }
    }

    /// For people.
    pub(crate) fn print(&self, output: &mut Output) {
        for finding in self.findings {
            let position = output.styled(Style::Heading, format!("{}:", finding.position()));
            let rule = output.styled(Style::Name, &finding.rule);
            output.line(format!("{position} {rule}: {}", finding.rest()));
        }
        for warning in &self.warnings {
            output.styled_line(Style::Warn, format!("warning: {warning}"));
        }
        if self.findings.is_empty() {
            output.styled_line(Style::Good, self.verdict());
            return;
        }
        let mut table = Table::new(2);
        for (rule, findings) in self.by_rule() {
            table.row([Cell::number(findings.len() as u64), Cell::new(rule).style(Style::Name)]);
        }
        output.line("");
        output.styled_line(Style::Bad, self.verdict());
        output.table(&table);
    }

    fn by_rule(&self) -> BTreeMap<&str, Vec<&Finding>> {
        let mut rules: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for finding in self.findings {
            rules.entry(&finding.rule).or_default().push(finding);
        }
        rules
    }

    /// One suite; each rule that is looked at is a test case, so that a green one shows too, and one that is allowed is skipped.
    fn junit(&self) -> String {
        let found = self.by_rule();
        let mut rules = self.rules.clone();
        rules.extend(self.ignored.iter());
        for rule in found.keys().copied().chain(self.allowed.iter().map(|(finding, _)| finding.rule.as_str())) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        let skipped = |rule: &str| -> Option<String> {
            let reasons: Vec<&str> = self
                .allowed
                .iter()
                .filter(|(finding, _)| finding.rule == rule)
                .map(|(_, reason)| reason.as_str())
                .collect();
            match (found.contains_key(rule), reasons.first()) {
                (true, _) => None,
                (false, Some(first)) => Some(format!("{} allowed: {first}", counted(reasons.len() as u64, "finding"))),
                (false, None) => self.ignored.contains(&rule).then(|| "this rule is allowed".to_owned()),
            }
        };
        let skips = rules.iter().filter(|rule| skipped(rule).is_some()).count();
        let (tests, failures) = (rules.len(), found.len());
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<testsuites tests=\"{tests}\" failures=\"{failures}\">");
        let name = xml(&format!("{} {}", self.command, self.traces.join(" ")));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skips}\">"
        );
        for rule in rules {
            let _ = write!(out, "    <testcase classname=\"samplin\" name=\"{}\"", xml(rule));
            if let Some(why) = skipped(rule) {
                let _ = writeln!(out, "><skipped message=\"{}\"/></testcase>", xml(&why));
                continue;
            }
            let Some(of) = found.get(rule) else {
                out += "/>\n";
                continue;
            };
            let count = counted(of.len() as u64, "finding");
            let _ = writeln!(out, ">\n      <failure message=\"{count}\" type=\"{}\">", xml(rule));
            for finding in of {
                let _ = writeln!(out, "{}", xml(&format!("{}: {}", finding.position(), finding.rest())));
            }
            out += "      </failure>\n    </testcase>\n";
        }
        if !self.warnings.is_empty() {
            out += "    <system-err>\n";
            for warning in &self.warnings {
                let _ = writeln!(out, "{}", xml(warning));
            }
            out += "    </system-err>\n";
        }
        out + "  </testsuite>\n</testsuites>\n"
    }

    /// One annotation a rule. GitHub shows ten of each level of a step, so the tenth says what others there are.
    fn github(&self) -> String {
        let mut out = String::new();
        let is_warning = |findings: &Vec<&Finding>| findings.iter().all(|finding| finding.unresolved);
        let (warnings, errors): (Vec<_>, Vec<_>) =
            self.by_rule().into_iter().partition(|(_, findings)| is_warning(findings));
        for (level, mut rules) in [("error", errors), ("warning", warnings)] {
            let rest = if rules.len() > SHOWN { rules.split_off(SHOWN - 1) } else { Vec::new() };
            for (rule, findings) in rules {
                out += &annotation(level, rule, &findings);
            }
            if !rest.is_empty() {
                let count = counted(rest.iter().map(|(_, findings)| findings.len() as u64).sum(), "finding");
                let rules: Vec<String> =
                    rest.iter().map(|(rule, findings)| format!("{rule} {}", findings.len())).collect();
                let text = format!("not shown: {count} of {} rules: {}", rest.len(), rules.join(", "));
                let _ = writeln!(out, "::{level} title=other rules::{}", escape(&text, false));
            }
        }
        let shown = if self.warnings.len() > SHOWN { SHOWN - 1 } else { SHOWN };
        for warning in self.warnings.iter().take(shown) {
            let _ = writeln!(out, "::notice title=samplin::{}", escape(warning, false));
        }
        // A step's log has what its annotations do not.
        let rest = self.warnings.get(shown..).unwrap_or_default();
        if !rest.is_empty() {
            let _ = writeln!(
                out,
                "::notice title=samplin::not shown: {}, which the log has",
                counted(rest.len() as u64, "notice")
            );
        }
        for warning in rest {
            let _ = writeln!(out, "warning: {}", visible(warning));
        }
        out + &visible(&self.verdict()) + "\n"
    }

    /// For the summary of a job.
    fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n{}.\n", self.command, cell(&capital(&self.verdict())));
        let _ = writeln!(out, "Traces: {}.\n", cell(&self.traces.join(", ")));
        if !self.findings.is_empty() {
            out += "| rule | findings | first | where |\n|---|---:|---|---|\n";
            for (rule, findings) in self.by_rule() {
                let Some(first) = findings.first() else { continue };
                let rule = match &first.vuid {
                    Some(vuid) => format!("[{}]({}{vuid})", cell(rule), super::SPECIFICATION),
                    None => cell(rule),
                };
                let (rest, position) = (cell(&first.rest()), cell(&first.position()));
                let _ = writeln!(out, "| {rule} | {} | {rest} | {position} |", findings.len());
            }
            out.push('\n');
        }
        if !self.allowed.is_empty() {
            out += "| allowed | because |\n|---|---|\n";
            for (finding, reason) in self.allowed {
                let _ = writeln!(out, "| {}: {} | {} |", cell(&finding.rule), cell(&finding.rest()), cell(reason));
            }
            out.push('\n');
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "- {}", cell(warning));
        }
        out
    }
}

/// An annotation of GitHub about the findings of a rule.
fn annotation(level: &str, rule: &str, findings: &[&Finding]) -> String {
    let Some(first) = findings.first() else { return String::new() };
    let title = match &first.vuid {
        Some(vuid) => format!("{rule} ({vuid})"),
        None => rule.to_owned(),
    };
    let place = match &first.source {
        Some(source) => format!("file={},line={},", escape(&source.file, true), source.line),
        None => String::new(),
    };
    // `%0A` is a line break of the message.
    let mut lines: Vec<String> = Vec::new();
    if findings.len() > 1 {
        lines.push(counted(findings.len() as u64, "finding"));
    }
    for finding in findings.iter().take(10) {
        lines.push(escape(&format!("{} — {}", finding.rest(), finding.position()), false));
    }
    if findings.len() > 10 {
        lines.push(format!("… and {} more", grouped(findings.len() - 10)));
    }
    format!("::{level} {place}title={}::{}\n", escape(&title, true), lines.join("%0A"))
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Text in a cell of a table in Markdown: nothing of it is markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '@' => {
                out.push('\\');
                out.push(character);
            }
            character => out.push(character),
        }
    }
    out
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

/// Source: GitHub's "Workflow commands": a message has `%`, CR and LF escaped, a property `:` and `,` as well. CR and LF are
/// [`visible`] already.
fn escape(text: &str, property: bool) -> String {
    let text = visible(text).replace('%', "%25");
    if property { text.replace(':', "%3A").replace(',', "%2C") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_its_reader() {
        assert_eq!(xml("a<b>&\"'\u{1}\n]]>\u{ffff}"), r"a&lt;b&gt;&amp;&quot;&apos;\u{1}\n]]&gt;\u{ffff}");
        assert_eq!(escape("50%: a,b\r\nc%0A", true), r"50%25%3A a%2Cb\r\nc%250A");
        assert_eq!(escape("50%: a,b\r\nc%0A", false), r"50%25: a,b\r\nc%250A");
        assert_eq!(cell("a|b<img src=x> [x](y) `c`\n"), r"a\|b&lt;img src=x> \[x\](y) \`c\`\\n");
    }

    #[test]
    fn targets_are_a_format_and_a_file() {
        assert_eq!("sarif=a=b.sarif".parse(), Ok(Target { format: Format::Sarif, file: Some("a=b.sarif".into()) }));
        assert_eq!("text".parse(), Ok(Target { format: Format::Text, file: None }));
        assert!("junit=".parse::<Target>().is_err() && "xml".parse::<Target>().is_err());
    }
}
