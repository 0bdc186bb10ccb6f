//! `samplin check`: a check for continuous integration.

mod allowed;
pub(crate) mod formats;
mod sarif;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use samplin_core::decide::Rule;
use samplin_wire::record::{Draw, Link, SourceLine};
use serde::Serialize;

use self::allowed::Entries;
pub use self::formats::Target;
use crate::failure::{Failure, Outcome, Result};
use crate::output::Output;
use crate::trace::analysis::{Analysis, Decision, Exempt, Missing, Unresolved};
use crate::trace::key::Key;
use crate::trace::links;
use crate::trace::record::{RecordedChange, grouped, short};
use crate::{files, inspect, judged, looked};

/// Where a valid-usage id is explained.
pub(crate) const SPECIFICATION: &str = "https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#";

/// The word for unresolved things without a rule.
pub(crate) const UNRESOLVED: &str = "unresolved";

/// The arguments of `samplin check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The traces, also compressed (gzip, Zstandard), or folders of tables (`samplin export`); `-` is standard input, which is read
    /// without a trace as well if something is piped in
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Use only the runs of this build, in folders of tables
    #[arg(long, value_name = "NAME")]
    pub build: Option<String>,
    /// Report only changes by these rules; `unresolved` means everything that passed through
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_names())]
    pub deny: Vec<String>,
    /// With --deny, ignore changes by these rules that a rules file prevents (repair = "off"); without --deny they are printed and are
    /// no findings
    #[arg(long)]
    pub allow_exempt: bool,
    /// Ignore changes by these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_names())]
    pub allow: Vec<String>,
    /// What is allowed: a file of `[[allow]]` entries [default: samplin-check.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Findings that are known: a file of the same form
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings of this check into the baseline
    #[arg(long)]
    pub update_baseline: bool,
    /// Accept a trace without the end of its run (the program was killed or still runs); without this, that is exit status 3
    #[arg(long)]
    pub allow_unfinished: bool,
    /// The format of findings, and a file for them instead of standard output; may be given several times [text, json, junit, github, markdown,
    /// sarif]
    #[arg(long, value_name = "FORMAT[=FILE]")]
    pub format: Vec<Target>,
}

/// What there is to print.
pub(crate) struct Report<'a> {
    /// `samplin check`.
    pub(crate) command: &'static str,
    /// The traces.
    pub(crate) traces: Vec<String>,
    pub(crate) findings: &'a [Finding],
    /// Findings that are allowed, each with the reason.
    pub(crate) allowed: &'a [(Finding, String)],
    /// Rules that nothing is found for because they were not looked at.
    pub(crate) ignored: Vec<&'static str>,
    /// Rules that were looked at.
    pub(crate) rules: Vec<&'static str>,
    /// What the reader has to know.
    pub(crate) warnings: Vec<String>,
    /// What was looked at.
    pub(crate) looked_at: String,
}

/// What can be denied and allowed by name.
pub(crate) fn rule_names() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.name()).chain([UNRESOLVED]).collect()
}

/// Whether a list of rules, of `--deny` or `--allow`, has this one.
pub(crate) fn is_named(list: &[String], rule: &str) -> bool {
    list.iter().any(|name| name == rule)
}

/// Something that is not as it should be.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// The stable name of what is unresolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Where the shader reads the image through the sampler, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
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
    /// Aspect of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aspect: Option<String>,
    /// Type of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_type: Option<String>,
    /// Component mapping of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swizzle: Option<String>,
    /// Where a shader finds image and sampler, if only it joins them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The draw at which it was first met, if it was met at one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// How often.
    pub count: u64,
    /// Whether the message holds counts, which are others in each run.
    #[serde(skip)]
    pub is_counted: bool,
}

impl Finding {
    /// The changes of a decision by one rule, for one reason: both filters of a pair are one finding.
    fn of(analysis: &Analysis, decision: &Decision, changes: &[&RecordedChange]) -> Option<Self> {
        let first = changes.first()?;
        let briefs: Vec<String> = changes.iter().map(|change| change.brief()).collect();
        Some(Self {
            trace: trace_name(analysis, decision.first.trace),
            line: decision.first.line,
            rule: first.rule.clone(),
            device: decision.device.clone(),
            message: format!("{}: {}", briefs.join(", "), first.because),
            source: decision.source.clone(),
            vuid: first.vuid.clone(),
            fingerprint: decision.fingerprint.clone(),
            sampler: decision.sampler_name.clone(),
            view: decision.view_name.clone(),
            format: decision.format.clone(),
            aspect: decision.aspect.clone(),
            view_type: decision.view_type.clone(),
            swizzle: decision.swizzle.clone(),
            link: decision.link.clone(),
            draw: decision.draw.clone(),
            count: decision.count,
            ..Self::default()
        })
    }

    /// All findings of a decision.
    pub(crate) fn of_decision(analysis: &Analysis, decision: &Decision) -> Vec<Self> {
        let mut groups: Vec<Vec<&RecordedChange>> = Vec::new();
        for change in decision.changes.iter() {
            let same = |group: &&mut Vec<&RecordedChange>| {
                group.first().is_some_and(|of| {
                    (&of.rule, &of.vuid, &of.because) == (&change.rule, &change.vuid, &change.because)
                })
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
        groups.iter().filter_map(|group| Self::of(analysis, decision, group)).collect()
    }

    pub(crate) fn of_unresolved(analysis: &Analysis, item: &Unresolved) -> Self {
        let why = if item.why.is_empty() { String::new() } else { format!(": {}", item.why) };
        Self {
            trace: trace_name(analysis, item.first.trace),
            line: item.first.line,
            rule: item.rule.clone().unwrap_or_else(|| UNRESOLVED.to_owned()),
            device: item.device.clone(),
            unresolved: true,
            message: format!("{}{why}", item.what),
            what: Some(item.what.clone()),
            source: item.source.clone(),
            vuid: item.vuid.clone(),
            fingerprint: item.fingerprint.clone(),
            sampler: item.sampler_name.clone(),
            view: item.view_name.clone(),
            format: item.format.clone(),
            aspect: item.aspect.clone(),
            view_type: item.view_type.clone(),
            link: item.link.clone(),
            draw: item.draw.clone(),
            count: item.count,
            ..Self::default()
        }
    }

    /// Of what a rules file leaves alone, by each rule that would have changed it.
    fn of_exempt(analysis: &Analysis, item: &Exempt) -> Vec<Self> {
        let mut rules: Vec<&str> = item.changes.iter().map(|change| change.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        let of = |rule: &str| {
            let changes: Vec<&RecordedChange> = item.changes.iter().filter(|change| change.rule == rule).collect();
            let first = changes.first()?;
            let briefs: Vec<String> = changes.iter().map(|change| change.brief()).collect();
            let (briefs, places) = (briefs.join(", "), item.places());
            Some(Self {
                trace: trace_name(analysis, item.first.trace),
                line: item.first.line,
                rule: rule.to_owned(),
                device: item.device.clone(),
                unresolved: true,
                message: format!("left alone by {places}: {briefs}: {}", first.because),
                what: Some("exempt".to_owned()),
                vuid: first.vuid.clone(),
                fingerprint: item.fingerprint.clone(),
                sampler: item.sampler_name.clone(),
                view: item.view_name.clone(),
                format: item.format.clone(),
                count: item.count,
                ..Self::default()
            })
        };
        rules.into_iter().filter_map(of).collect()
    }

    /// What a summary counts and no record has. Records that were left out may be of any rule, so whoever looks at one finds them.
    pub(crate) fn of_missing(analysis: &Analysis, missing: &Missing) -> Self {
        Self {
            trace: trace_name(analysis, missing.trace),
            line: missing.line,
            rule: missing.rule.clone().unwrap_or_else(|| UNRESOLVED.to_owned()),
            unresolved: missing.unresolved,
            message: missing.message.clone(),
            // An entry that allows it must not allow what records have.
            what: missing.what.clone().or_else(|| Some("not in the records".to_owned())),
            count: 1,
            is_counted: true,
            ..Self::default()
        }
    }

    /// Where it is: in the shader if that is known, else in the trace.
    pub(crate) fn position(&self) -> String {
        match &self.source {
            Some(source) => format!("{}:{}", source.file, source.line),
            None => format!("{}:{}", self.trace, self.line),
        }
    }

    /// What is wrong with what, and how often.
    pub(crate) fn rest(&self) -> String {
        let vuid = self.vuid.as_ref().map(|vuid| format!(" ({vuid})")).unwrap_or_default();
        let times = if self.count > 1 { format!(" ×{}", grouped(self.count)) } else { String::new() };
        format!("{}{}{vuid}{times}", self.message, self.objects())
    }

    /// In a line.
    pub(crate) fn line(&self) -> String {
        format!("{}: {}: {}", self.position(), self.rule, self.rest())
    }

    /// The same for the same finding in another run.
    ///
    /// A name is part of it only where nothing else says which object it is: of several that are alike, another may come first.
    pub(crate) fn key(&self) -> String {
        let link = self.link.as_ref().map(links::describe);
        let file = self.source.as_ref().map(|source| source.file.clone());
        let sampler = self.sampler.as_ref().filter(|_| self.fingerprint.is_none());
        let view = self.view.as_ref().filter(|_| self.format.is_none());
        let message = if self.is_counted { "" } else { &self.message };
        let members = [
            self.device.as_ref(),
            self.what.as_ref(),
            self.vuid.as_ref(),
            self.fingerprint.as_ref(),
            sampler,
            view,
            self.format.as_ref(),
            self.aspect.as_ref(),
            self.view_type.as_ref(),
            self.swizzle.as_ref(),
            link.as_ref(),
            file.as_ref(),
        ];
        let mut key = Key::new().text(self.rule.as_bytes()).text(message.as_bytes());
        for member in members {
            key = key.text(member.map_or("", String::as_str).as_bytes());
        }
        format!("{:032x}", key.finish())
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
        parts.extend(self.draw.as_ref().map(links::draw));
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
fn findings(analysis: &Analysis, deny: &[String], allow: &[String], allow_exempt: bool) -> Vec<Finding> {
    let wanted = |finding: &Finding| {
        let hit = |list: &[String]| is_named(list, &finding.rule) || (finding.unresolved && is_named(list, UNRESOLVED));
        if hit(allow) {
            return false;
        }
        if deny.is_empty() { !finding.unresolved || !NO_FAULT.contains(&finding.rule.as_str()) } else { hit(deny) }
    };
    let mut found: Vec<Finding> = Vec::new();
    for decision in &analysis.decisions {
        found.extend(Finding::of_decision(analysis, decision));
    }
    found.extend(analysis.unresolved.iter().map(|item| Finding::of_unresolved(analysis, item)));
    // Who denies a rule by name is not to be overruled by a rules file.
    if !deny.is_empty() && !allow_exempt {
        found.extend(analysis.exempt.iter().flat_map(|item| Finding::of_exempt(analysis, item)));
    }
    found.retain(wanted);
    let mut found = folded(found);
    found.extend(missing(analysis, deny, allow));
    found.sort_by(|a, b| (&a.trace, a.line, &a.rule, &a.message).cmp(&(&b.trace, b.line, &b.rule, &b.message)));
    found
}

/// Each finding once, with its first place and the sum of its counts: a pair may come on several paths, and in several lines of a shader.
pub(crate) fn folded(findings: Vec<Finding>) -> Vec<Finding> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<Finding> = Vec::new();
    for finding in findings {
        let place = *places.entry(finding.key()).or_insert(out.len());
        match out.get_mut(place) {
            Some(first) => first.count += finding.count,
            None => out.push(finding),
        }
    }
    out
}

/// What the summaries count and no record has, of these rules. What has no rule may be of any, so it is found unless `unresolved` is
/// allowed.
pub(crate) fn missing(analysis: &Analysis, deny: &[String], allow: &[String]) -> Vec<Finding> {
    let wanted = |missing: &Missing| {
        let is_unresolved = |list: &[String]| missing.unresolved && is_named(list, UNRESOLVED);
        match &missing.rule {
            _ if is_unresolved(allow) => false,
            Some(rule) => !is_named(allow, rule) && (deny.is_empty() || is_named(deny, rule) || is_unresolved(deny)),
            None => true,
        }
    };
    let found = analysis.missing();
    found.iter().filter(|missing| wanted(missing)).map(|missing| Finding::of_missing(analysis, missing)).collect()
}

/// Runs the command.
///
/// # Errors
///
/// When a trace cannot be read.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let traces = match arguments.traces.as_slice() {
        [] if inspect::given(&[]).is_none() => return Err(Failure::usage("name a trace, or pipe one in")),
        [] => &[PathBuf::from("-")],
        traces => traces,
    };
    let mut inputs: Vec<(&str, &Path)> = traces.iter().map(|trace| ("the trace", trace.as_path())).collect();
    inputs.extend(arguments.config.as_deref().or(Some(Path::new(allowed::FILE))).map(|path| ("what is allowed", path)));
    if arguments.update_baseline
        && let Some(path) = &arguments.baseline
    {
        files::must_be_apart(&[("--baseline", path)], &inputs)?;
    }
    inputs.extend(arguments.baseline.as_deref().map(|path| ("the baseline", path)));
    formats::must_be_apart(&arguments.format, &inputs)?;
    let analysis = judged::read(traces, arguments.build.as_deref())?;
    let baseline = allowed::baseline(arguments.baseline.as_ref(), arguments.update_baseline)?;
    let mut entries = Entries::read(arguments.config.as_deref(), baseline, arguments.update_baseline)?;
    entries.narrow(&arguments.deny, &arguments.allow);
    let found = findings(&analysis, &arguments.deny, &arguments.allow, arguments.allow_exempt);
    let (mut found, mut allowed) = entries.take(found);
    let mut warnings = inspect::warnings(&analysis);
    warnings.extend(looked::exempt(&analysis));
    if !arguments.allow_unfinished && (found.is_empty() || arguments.update_baseline) {
        judged::must_be_finished(&[&analysis])?;
    }
    if let (Some(path), true) = (baseline, arguments.update_baseline) {
        warnings.extend(entries.notes());
        warnings.push(entries.update(path, &found)?);
        // As the next check will have it.
        entries = Entries::read(arguments.config.as_deref(), baseline, false)?;
        entries.narrow(&arguments.deny, &arguments.allow);
        let again: Vec<Finding> = found.into_iter().chain(allowed.into_iter().map(|(finding, _)| finding)).collect();
        (found, allowed) = entries.take(again);
    } else {
        warnings.extend(entries.notes());
    }
    let is_ignored = |rule: &&str| is_named(&arguments.allow, rule);
    let is_looked_at =
        |rule: &&str| !is_ignored(rule) && (arguments.deny.is_empty() || is_named(&arguments.deny, rule));
    let report = Report {
        command: "samplin check",
        traces: analysis.traces.iter().map(|read| read.source.name()).collect(),
        findings: &found,
        allowed: &allowed,
        ignored: rule_names().into_iter().filter(is_ignored).collect(),
        rules: rule_names().into_iter().filter(is_looked_at).collect(),
        warnings,
        looked_at: looked::at(&analysis),
    };
    formats::write(&report, &arguments.format, output, |output| match output.json {
        true => output.json(&report.json()),
        false => report.print(output),
    })?;
    Ok(Outcome::from_findings(!found.is_empty()))
}
