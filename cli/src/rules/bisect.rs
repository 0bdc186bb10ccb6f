//! Finding the override or the repair that breaks a picture, by halving.
//!
//! A run in which some samplers keep no override uses the rules file with one rule in front that matches their fingerprints and
//! stops, so that no later rule looks at them. One in which some repairs are not made has rules in front that switch them off.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use samplin_config::overrides::{MAX_OVERRIDES, Overrides};
use samplin_core::decide::{Exempt, Rule};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, Result};
use crate::files::Scratch;
use crate::output::{ColorChoice, Output, Style};
use crate::run;
use crate::trace::reader::{Event, TraceSource};
use crate::trace::record::{counted, short};

/// The arguments of `samplin rules bisect`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The rules file [default: the user's for the program]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Search among samplin's own repairs instead of the overrides of a rules file
    #[arg(long)]
    pub repairs: bool,
    /// Instead of asking: a shell command that succeeds when the picture is good; the program's exit status is in $STATUS
    #[arg(long, value_name = "COMMAND")]
    pub good_if: Option<String>,
    /// Without a display start Xvfb, without a GPU use lavapipe
    #[arg(long)]
    pub headless: bool,
    /// The layer's library, its manifest or the folder of either
    #[arg(long, value_name = "PATH")]
    pub layer: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// What a run can do without: the overrides of a sampler, or a repair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Candidate {
    /// The rule of the repair; none for overrides.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    /// The format that it is repaired with, if it depends on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    /// The fingerprint of the sampler; none for a blit or a conversion.
    fingerprint: Option<String>,
}

impl Candidate {
    fn describe(&self) -> String {
        let rule = self.rule.iter().map(|rule| format!("{rule} of "));
        let what = self.fingerprint.clone().unwrap_or_else(|| "what has no sampler".to_owned());
        let format = self.format.iter().map(|format| format!(" on {}", short(format)));
        rule.chain([what]).chain(format).collect()
    }
}

/// With the sampler's name, if it has one.
type Candidates = BTreeMap<Candidate, Option<String>>;

/// What stays the same in every run.
struct Trials<'a> {
    arguments: &'a Arguments,
    stage: run::Stage,
    rules: String,
    folder: Scratch,
    said: Output,
    runs: u32,
    all: Candidates,
}

/// What one rule can switch off: the rule of the repair, the format, and whether there is a sampler.
type Group<'a> = (Option<&'a String>, Option<&'a String>, bool);

/// Rules that leave these alone: samplers by one that keeps all later ones away from them, repairs by those that switch them off.
fn exemption(left: &[&Candidate]) -> String {
    let mut groups: BTreeMap<Group<'_>, Vec<&String>> = BTreeMap::new();
    for Candidate { rule, format, fingerprint } in left {
        let group = groups.entry((rule.as_ref(), format.as_ref(), fingerprint.is_some())).or_default();
        group.extend(fingerprint.as_ref());
    }
    let mut text = String::new();
    for ((rule, format, _), fingerprints) in groups {
        let quoted = |word: &String| toml::Value::from(word.as_str()).to_string();
        let mut when: Vec<String> = Vec::new();
        when.extend(rule.map(|rule| format!("rule = {}", quoted(rule))));
        when.extend(format.map(|format| format!("format = {}", quoted(format))));
        if !fingerprints.is_empty() {
            let list = fingerprints.into_iter().map(quoted).collect::<Vec<_>>().join(", ");
            when.push(format!("fingerprint = [{list}]"));
        }
        let then = if rule.is_some() { "set = { repair = \"off\" }" } else { "stop = true" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[[rule]]\nname = \"left alone\"\nwhen = {{ {} }}\n{then}", when.join(", "));
    }
    text
}

impl Trials<'_> {
    fn say(&mut self, text: &str) {
        let prefix = self.said.styled(Style::Dim, "samplin:");
        self.said.line(format!("{prefix} {text}"));
        self.said.flush();
    }

    /// Runs the program with overrides or repairs for `touched` alone; whether the picture was good.
    fn is_good(&mut self, touched: &[&Candidate]) -> Result<bool> {
        self.runs += 1;
        let left: Vec<&Candidate> = self.all.keys().filter(|one| !touched.contains(one)).collect();
        let text = exemption(&left) + &self.rules;
        let (number, count) = (self.runs, touched.len() as u64);
        let what = if self.arguments.repairs {
            format!("run {number}: {}", counted(count, "repair"))
        } else {
            format!("run {number}: overrides for {}", counted(count, "sampler state"))
        };
        self.say(&what);
        let status = self.start(&text, None)?;
        let good = match self.arguments.good_if.as_deref() {
            Some(command) => judge(command, status)?,
            None => self.ask()?,
        };
        self.say(if good { "good" } else { "bad" });
        Ok(good)
    }

    /// Runs the program with these rules.
    fn start(&mut self, rules: &str, trace: Option<&Path>) -> Result<u8> {
        let path = self.folder.path().join("samplin.toml");
        std::fs::write(&path, rules).map_err(|error| Failure::file(&path, error))?;
        let mut environment = self.stage.environment.clone();
        environment.set("SAMPLIN_CONFIG", &path);
        match trace {
            Some(trace) => {
                environment.set("SAMPLIN_TRACE", trace);
                environment.set("SAMPLIN_TRACE_LEVEL", "all");
            }
            None => environment.set("SAMPLIN_TRACE", "off"),
        }
        let (program, rest) = self.arguments.program.split_first().ok_or_else(|| Failure::usage("name a program"))?;
        let mut command = Command::new(program);
        // Answers come by standard input.
        command.args(rest).stdin(Stdio::null());
        environment.apply(&mut command);
        run::start(command, &program.to_string_lossy())
    }

    fn ask(&mut self) -> Result<bool> {
        loop {
            let mut errors = std::io::stderr().lock();
            // Nobody to ask is found out by reading.
            let _ = write!(errors, "samplin: was the picture good? [g]ood, [b]ad, [q]uit: ");
            let _ = errors.flush();
            let mut answer = String::new();
            let read = std::io::stdin()
                .lock()
                .read_line(&mut answer)
                .map_err(|error| Failure::input(format!("(standard input): {error}")))?;
            if read == 0 {
                return Err(Failure::usage("no answer: standard input has ended")
                    .hint("answer on a terminal, or judge by a command with --good-if"));
            }
            match answer.trim().to_ascii_lowercase().as_str() {
                "g" | "good" | "y" | "yes" => return Ok(true),
                "b" | "bad" | "n" | "no" => return Ok(false),
                "q" | "quit" => return Err(Failure::usage("given up")),
                _ => {}
            }
        }
    }
}

fn judge(command: &str, status: u8) -> Result<bool> {
    let ended = Command::new("sh")
        .args(["-c", command])
        .env("STATUS", status.to_string())
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::environment(format!("sh: {error}")))?;
    match ended.code() {
        Some(126 | 127) => Err(Failure::usage(format!("--good-if {command}: the shell cannot run it"))),
        _ => Ok(ended.success()),
    }
}

/// The samplers that rules applied to, by a trace.
fn overridden(trace: &Path) -> Result<Candidates> {
    let mut found = Candidates::new();
    let finder = memchr::memmem::Finder::new(b"\"rules\":[\"");
    TraceSource::File(trace.to_path_buf()).read(false, |record| {
        if record.event == Event::Pair && finder.find(record.text).is_some() {
            let value: Value = serde_json::from_slice(record.text).unwrap_or_default();
            let is_changed = value.get("changes").and_then(Value::as_array).is_some_and(|changes| !changes.is_empty());
            if let (true, Some(fingerprint)) = (is_changed, text_at(&value, "/fingerprint")) {
                let one = Candidate { rule: None, format: None, fingerprint: Some(fingerprint) };
                name(&mut found, one, text_at(&value, "/names/sampler"));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// The repairs in a trace, and the rules of those that no rules file can switch off. `most`: how many rules may name them.
fn repaired(trace: &Path, most: usize) -> Result<(Candidates, BTreeSet<String>)> {
    let (mut found, mut fixed) = (Candidates::new(), BTreeSet::new());
    TraceSource::File(trace.to_path_buf()).read(false, |record| {
        if record.fields.changes.is_empty_array()
            || !record.fields.changes.is_present()
            || record.event == Event::Exempt
        {
            return Ok(());
        }
        let value: Value = serde_json::from_slice(record.text).unwrap_or_default();
        // What is left has changes too, which were not made.
        let may_be_off = matches!(record.event, Event::Sampler | Event::Pair | Event::Blit | Event::Conversion);
        if !may_be_off && record.event == Event::Unresolved {
            return Ok(());
        }
        for rule in value.get("changes").and_then(Value::as_array).into_iter().flatten() {
            let Some(rule) = text_at(rule, "/rule").filter(|rule| rule != Rule::Override.name()) else { continue };
            if !may_be_off || Exempt::named(&rule).is_none() {
                fixed.insert(rule);
                continue;
            }
            let format = text_at(&value, "/format").or_else(|| text_at(&value, "/src_format"));
            let one = Candidate { rule: Some(rule), format, fingerprint: text_at(&value, "/fingerprint") };
            name(&mut found, one, text_at(&value, "/name").or_else(|| text_at(&value, "/names/sampler")));
        }
        Ok(())
    })?;
    let groups: BTreeSet<_> = found.keys().map(|one| (&one.rule, &one.format, one.fingerprint.is_some())).collect();
    if groups.len() > most {
        // More than a file may hold: formats are not distinguished.
        found = found.into_iter().map(|(one, name)| (Candidate { format: None, ..one }, name)).collect();
    }
    Ok((found, fixed))
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

/// Adds a candidate, whose name may come later.
fn name(all: &mut Candidates, one: Candidate, name: Option<String>) {
    let label = all.entry(one).or_default();
    if label.is_none() {
        *label = name;
    }
}

pub(super) fn run(arguments: &Arguments, color: ColorChoice, output: &mut Output) -> Result {
    let program = arguments.program.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    let path = match &arguments.rules {
        Some(path) => Some(path.clone()),
        None => {
            let exe = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
            Overrides::find(None, &exe).0.path
        }
    };
    let (mut text, mut given) = (String::new(), 0);
    if let Some(path) = &path {
        let (content, overrides) = super::load_sound(path)?;
        (text, given) = (content, overrides.iter().count());
    }
    let file = path.as_deref().map(|path| path.display().to_string());
    if !arguments.repairs {
        let Some(file) = &file else {
            return Err(
                Failure::usage("there is no rules file, so nothing is overridden").hint("name one with --rules")
            );
        };
        if given == 0 {
            return Err(Failure::input(format!("{file}: there is no rule in it")));
        }
    }
    if given >= MAX_OVERRIDES {
        let file = file.unwrap_or_default();
        return Err(Failure::input(format!(
            "{file}: the file has {MAX_OVERRIDES} rules, and the search needs one more"
        )));
    }
    let stage = run::Stage::prepare(&program, arguments.layer.as_deref(), false, arguments.headless)?;
    let mut trials = Trials {
        arguments,
        stage,
        rules: text,
        folder: Scratch::new("samplin-bisect-")?,
        said: Output::stderr(color),
        runs: 1,
        all: Candidates::new(),
    };
    for note in trials.stage.environment.notes.clone() {
        trials.say(&note);
    }

    let trace = trials.folder.path().join("trace.jsonl");
    let repairs = arguments.repairs;
    trials.say(if repairs {
        "run 1: every repair, to see which there are"
    } else {
        "run 1: every override, to see which samplers they touch"
    });
    let rules = trials.rules.clone();
    trials.start(&rules, Some(&trace))?;
    if !trace.exists() {
        return Err(Failure::environment(
            "the program left no trace: it created no Vulkan instance, or the loader left the layer out",
        )
        .hint("`samplin doctor` looks for the reason"));
    }
    let mut fixed = BTreeSet::new();
    if repairs {
        (trials.all, fixed) = repaired(&trace, MAX_OVERRIDES - given)?;
    } else {
        trials.all = overridden(&trace)?;
    }
    if !fixed.is_empty() {
        let fixed = fixed.into_iter().collect::<Vec<_>>().join(", ");
        trials.say(&format!("no rule can switch off {fixed}: see their settings"));
    }
    if trials.all.is_empty() {
        if let Some(file) = file.filter(|_| !repairs) {
            return Err(Failure::input(format!("{file}: its rules change no sampler of this program")));
        }
        let text = "samplin repairs nothing of this program that a rule could switch off, so no repair is to blame.";
        nobody(trials.runs, Style::Plain, text, output);
        return Ok(Outcome::Fine);
    }
    let count = trials.all.len() as u64;
    trials.say(&if repairs {
        format!("there are {}", counted(count, "repair"))
    } else {
        format!("the rules change {}", counted(count, "sampler state"))
    });

    let all = trials.all.clone();
    let every: Vec<&Candidate> = all.keys().collect();
    let (one, blamed) = if repairs { ("repair", "repair") } else { ("override", "rule") };
    if !trials.is_good(&[])? {
        let text = format!("The picture is bad without any {one}, so no {blamed} is to blame.");
        nobody(trials.runs, Style::Warn, &text, output);
        return Ok(Outcome::Findings);
    }
    if trials.is_good(&every)? {
        nobody(trials.runs, Style::Good, &format!("The picture is good with every {one}."), output);
        return Ok(Outcome::Fine);
    }
    let guilty = halve(&mut trials, every)?;
    let runs = trials.runs;
    report(&all, &guilty, runs, repairs, file.as_deref(), output);
    Ok(Outcome::Findings)
}

/// The smallest set found that breaks the picture: one sampler, or several that only do so together.
fn halve<'c>(trials: &mut Trials<'_>, mut bad: Vec<&'c Candidate>) -> Result<Vec<&'c Candidate>> {
    let mut pieces = 2;
    // Zeller's ddmin: first each part alone, then each part left out, then smaller parts.
    while bad.len() > 1 {
        let size = bad.len().div_ceil(pieces);
        let parts: Vec<Vec<&'c Candidate>> = bad.chunks(size).map(<[_]>::to_vec).collect();
        let mut smaller = None;
        for part in &parts {
            // Of two parts the second is to blame if the first is not, unless both are needed: that shows next.
            if !trials.is_good(part)? {
                smaller = Some((part.clone(), 2));
                break;
            }
        }
        if smaller.is_none() && parts.len() > 2 {
            for part in &parts {
                let rest: Vec<&'c Candidate> = bad.iter().copied().filter(|name| !part.contains(name)).collect();
                if !trials.is_good(&rest)? {
                    smaller = Some((rest, pieces - 1));
                    break;
                }
            }
        }
        match smaller {
            Some((set, next)) => (bad, pieces) = (set, next.max(2)),
            None if pieces < bad.len() => pieces = (pieces * 2).min(bad.len()),
            None => break,
        }
    }
    Ok(bad)
}

/// Says that nothing is to blame, and why.
fn nobody(runs: u32, style: Style, text: &str, output: &mut Output) {
    if output.json {
        output.json(&json!({ "guilty": [], "runs": runs, "exemption": "" }));
    } else {
        output.styled_line(style, text);
    }
}

fn report(all: &Candidates, guilty: &[&Candidate], runs: u32, repairs: bool, file: Option<&str>, output: &mut Output) {
    let list: Vec<(&Candidate, Option<&String>)> =
        guilty.iter().map(|one| (*one, all.get(*one).and_then(Option::as_ref))).collect();
    let snippet = exemption(guilty);
    if output.json {
        let members = |(one, name): &(&Candidate, Option<&String>)| {
            let mut members = json!(one);
            members["name"] = json!(name);
            members
        };
        output.json(&json!({
            "guilty": list.iter().map(members).collect::<Vec<_>>(),
            "runs": runs,
            "exemption": snippet,
        }));
        return;
    }
    let mut text = String::new();
    for (one, name) in &list {
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", one.describe());
        if let Some(name) = name {
            let _ = write!(text, " \"{name}\"");
        }
    }
    let what = match (guilty.len(), repairs) {
        (1, false) => "The override of this sampler breaks the picture:",
        (_, false) => "The overrides of these samplers break the picture together:",
        (1, true) => "This repair breaks the picture:",
        (_, true) => "These repairs break the picture together:",
    };
    let what = output.styled(Style::Bad, what);
    output.line(format!("{what}{text}"));
    let put = match file {
        Some(file) => format!("in front of {file}"),
        None => "into a rules file".to_owned(),
    };
    let runs = counted(u64::from(runs), "run");
    output.line(format!("Found in {runs}. To leave it alone, put this {put}:"));
    output.line("");
    output.document(&snippet);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a trace says is quoted, whatever it is.
    #[test]
    fn exemptions_are_rules_whatever_names_hold() {
        let one = |rule: Option<&str>, format: Option<&str>, fingerprint: Option<&str>| Candidate {
            rule: rule.map(str::to_owned),
            format: format.map(str::to_owned),
            fingerprint: fingerprint.map(str::to_owned),
        };
        let nasty = "x\"]\nset = { max_anisotropy = 16 } # \u{7f}'";
        let all = [
            one(None, None, Some("0123456789abcdef")),
            one(None, None, Some("fedcba9876543210")),
            one(Some("linear-filter"), Some("VK_FORMAT_D32_SFLOAT"), Some("0123456789abcdef")),
            one(Some("blit-filter"), Some(nasty), None),
        ];
        let text = exemption(&all.iter().collect::<Vec<_>>());
        let file: Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let alone = "left alone";
        let expected = json!({ "rule": [
            { "name": alone, "stop": true, "when": { "fingerprint": ["0123456789abcdef", "fedcba9876543210"] } },
            { "name": alone, "when": { "rule": "blit-filter", "format": nasty }, "set": { "repair": "off" } },
            {
                "name": alone,
                "when": {
                    "rule": "linear-filter",
                    "format": "VK_FORMAT_D32_SFLOAT",
                    "fingerprint": ["0123456789abcdef"],
                },
                "set": { "repair": "off" },
            },
        ] });
        assert_eq!(file, expected);
        assert_eq!(exemption(&[]), "");
    }
}
