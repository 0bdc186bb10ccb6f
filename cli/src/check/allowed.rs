//! Findings that are allowed: `samplin-check.toml`, and baselines, which have the same form.
//!
//! Each entry says what it allows, why, and until when. One that is over allows nothing more, and one that nothing meets is named.

use std::path::{Path, PathBuf};

use samplin_config::settings;
use samplin_core::names;
use samplin_platform::{date, days_of};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Finding, is_named};
use crate::failure::{Failure, Result};
use crate::files;
use crate::trace::record::short;

/// The file that is read from the working directory without being named.
pub(super) const FILE: &str = "samplin-check.toml";

/// A file, whose entries are understood one by one, so that each says what is wrong with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    allow: Vec<Spanned<toml::Table>>,
}

/// The same to be written.
#[derive(Serialize)]
struct Written<'a> {
    allow: Vec<&'a Entry>,
}

/// What is allowed: all that an entry names has to be met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The key of one finding, which a baseline has.
    finding: Option<String>,
    rule: Option<String>,
    /// Of the sampler.
    fingerprint: Option<String>,
    /// With or without `VK_FORMAT_`.
    format: Option<String>,
    /// The application's name of the sampler or the view.
    name: Option<String>,
    /// The stable name of what is unresolved.
    what: Option<String>,
    reason: String,
    /// The last day on which it holds.
    #[serde(default, deserialize_with = "day")]
    expires: Option<String>,
}

/// A date of TOML, with quotes or without.
fn day<'d, D: serde::Deserializer<'d>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    match toml::Value::deserialize(deserializer)? {
        toml::Value::String(text) => Ok(Some(text)),
        toml::Value::Datetime(date) => Ok(Some(date.to_string())),
        other => Err(serde::de::Error::custom(format!("expires is a day, not of the type {}", other.type_str()))),
    }
}

/// An entry of a file.
#[derive(Debug)]
struct Allowed {
    entry: Entry,
    at: String,
    /// Its line, from 1.
    line: usize,
    is_baseline: bool,
    is_over: bool,
    /// What it is about was not looked at, so that nothing is known of it.
    is_outside: bool,
    met: u64,
}

/// All entries that hold for a check.
#[derive(Debug, Default)]
pub(super) struct Entries {
    entries: Vec<Allowed>,
    /// The baseline as it was read.
    baseline: Option<String>,
}

/// What a new baseline begins with.
const HEADER: &str = "# What `samplin check --baseline` accepts. Give an entry that stays a reason of its own, and a day on which it ends:\n# expires = \"2027-06-30\"\n";

/// A baseline without the entries of these lines, each with the comment right above it; all else stays to the letter.
///
/// `None` if one does not begin with a line of its own (`allow = [{ … }]`).
fn without(text: &str, all: &[usize], gone: &[usize]) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is = |at: usize, fits: fn(&str) -> bool| lines.get(at).is_some_and(|line| fits(line.trim()));
    let is_comment = |at: usize| is(at, |line| line.starts_with('#'));
    let is_blank = |at: usize| is(at, str::is_empty);
    let mut out = String::new();
    let mut from = 0;
    for (number, line) in all.iter().enumerate() {
        let mut start = line.checked_sub(1)?;
        is(start, |line| line.starts_with("[[")).then_some(())?;
        if !gone.contains(line) {
            continue;
        }
        let mut end = all.get(number + 1).map_or(lines.len(), |next| next - 1);
        while end > start + 1 && (is_comment(end - 1) || is_blank(end - 1)) {
            end -= 1;
        }
        while end < lines.len() && is_blank(end) {
            end += 1;
        }
        while start > from && is_comment(start - 1) {
            start -= 1;
        }
        out.extend(lines.get(from..start)?.iter().copied());
        from = end;
    }
    out.extend(lines.get(from..)?.iter().copied());
    Some(if gone.is_empty() { out } else { out.trim_end().to_owned() + "\n" })
}

/// A format's name with its prefix.
fn full(format: &str) -> String {
    if format.starts_with("VK_FORMAT_") { format.to_owned() } else { format!("VK_FORMAT_{format}") }
}

impl Entry {
    fn names_something(&self) -> bool {
        let members = [&self.finding, &self.rule, &self.fingerprint, &self.format, &self.name, &self.what];
        members.iter().any(|member| member.is_some())
    }

    /// Everything that is wrong with it.
    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        if !self.names_something() {
            mistakes.push("an entry needs a finding, rule, fingerprint, format, name or what".to_owned());
        }
        if self.reason.trim().is_empty() {
            mistakes.push("an entry needs a reason".to_owned());
        }
        let suggested = |mistake: String, word: &str, known: &[&str]| match settings::nearest(word, known) {
            Some(near) => format!("{mistake}; did you mean {near}?"),
            None => mistake,
        };
        let rules = super::rule_names();
        if let Some(rule) = self.rule.as_deref().filter(|rule| !rules.contains(rule)) {
            mistakes.push(suggested(format!("there is no rule {rule}"), rule, &rules));
        }
        for (key, value, digits) in [("finding", &self.finding, 32), ("fingerprint", &self.fingerprint, 16)] {
            let is_one =
                |text: &str| text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if let Some(text) = value.as_deref().filter(|text| !is_one(text)) {
                mistakes
                    .push(format!("{key} = \"{text}\" is none: one has {digits} hexadecimal digits, in lower case"));
            }
        }
        if let Some(format) = self.format.as_deref().filter(|format| names::format_by_name(&full(format)).is_none()) {
            let known: Vec<String> = names::formats().map(names::format).collect();
            let known: Vec<&str> = known.iter().map(|known| short(known)).collect();
            mistakes.push(suggested(format!("there is no format {format}"), short(format), &known));
        }
        if let Some(day) = self.expires.as_deref().filter(|day| days_of(day).is_none()) {
            mistakes.push(format!("expires = \"{day}\" is no day; write \"2026-12-31\""));
        }
        mistakes
    }

    /// Whether it allows a finding with this key.
    fn fits(&self, finding: &Finding, key: &str) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found.is_some_and(|found| found == wanted))
        };
        let format = self.format.as_deref().map(full);
        let named = self.name.is_none()
            || is(&self.name, finding.sampler.as_deref())
            || is(&self.name, finding.view.as_deref());
        is(&self.finding, Some(key))
            && is(&self.rule, Some(&finding.rule))
            && is(&self.fingerprint, finding.fingerprint.as_deref())
            && is(&format, finding.format.as_deref())
            && is(&self.what, finding.what.as_deref())
            && named
    }

    /// The entry for one finding. The key says which; the rest is for readers.
    fn of(finding: &Finding, key: String) -> Self {
        Self {
            finding: Some(key),
            rule: Some(finding.rule.clone()),
            fingerprint: finding.fingerprint.clone(),
            format: finding.format.clone(),
            // Another run may name the sampler otherwise.
            name: None,
            what: finding.what.clone(),
            reason: format!("accepted on {}", date()),
            expires: None,
        }
    }
}

/// Entries as they stand in a file, after what is there.
fn written(allow: Vec<&Entry>) -> Result<String> {
    if allow.is_empty() {
        return Ok(String::new());
    }
    let text = toml::to_string(&Written { allow }).map_err(|error| Failure::input(format!("an entry: {error}")))?;
    Ok(format!("\n{text}"))
}

impl Entries {
    /// Reads what is named, and `samplin-check.toml` of the working directory if no other is.
    ///
    /// # Errors
    ///
    /// When one cannot be read or understood. A baseline that is to be written need not be there.
    pub(super) fn read(config: Option<&Path>, baseline: Option<&Path>, is_update: bool) -> Result<Self> {
        let mut entries = Self::default();
        match config {
            Some(path) => entries.add(path, false)?,
            None if Path::new(FILE).exists() => entries.add(Path::new(FILE), false)?,
            None => {}
        }
        if let Some(path) = baseline.filter(|path| !is_update || path.exists()) {
            entries.add(path, true)?;
        }
        Ok(entries)
    }

    fn add(&mut self, path: &Path, is_baseline: bool) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
        let line = |at: usize| text.get(..at).unwrap_or(&text).matches('\n').count() + 1;
        let document: Document = toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| format!(":{}", line(span.start))).unwrap_or_default();
            Failure::input(format!("{}{line}: {}", path.display(), error.message()))
        })?;
        let today = date();
        let mut mistakes: Vec<String> = Vec::new();
        for spanned in document.allow {
            let line = line(spanned.span().start);
            let at = format!("{}:{line}", path.display());
            let entry = match Entry::deserialize(spanned.into_inner()) {
                Ok(entry) => entry,
                Err(error) => {
                    mistakes.push(format!("{at}: {}", error.message()));
                    continue;
                }
            };
            mistakes.extend(entry.mistakes().into_iter().map(|mistake| format!("{at}: {mistake}")));
            let is_over = entry.expires.as_deref().is_some_and(|day| day < today.as_str());
            self.entries.push(Allowed { entry, at, line, is_baseline, is_over, is_outside: false, met: 0 });
        }
        if is_baseline {
            self.baseline = Some(text);
        }
        Failure::mistakes(mistakes)
    }

    /// Says what is looked at: entries about anything else are neither stale nor taken out.
    pub(super) fn narrow(&mut self, deny: &[String], allow: &[String]) {
        for Allowed { entry, is_outside, .. } in &mut self.entries {
            let hit = |list: &[String], rule: &str| {
                is_named(list, rule) || (entry.what.is_some() && is_named(list, super::UNRESOLVED))
            };
            *is_outside = match entry.rule.as_deref() {
                // It may be about any rule.
                None => !deny.is_empty() || !allow.is_empty(),
                Some(rule) if hit(allow, rule) => true,
                Some(rule) if deny.is_empty() => super::NO_FAULT.contains(&rule),
                Some(rule) => !hit(deny, rule),
            };
        }
    }

    /// Takes out of the findings what is allowed, with the reason of each.
    pub(super) fn take(&mut self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<(Finding, String)>) {
        let (mut left, mut allowed) = (Vec::new(), Vec::new());
        for finding in findings {
            let (key, mut reason) = (finding.key(), None);
            // Each that fits is met, so that none of two is called stale.
            for entry in self.entries.iter_mut().filter(|entry| entry.entry.fits(&finding, &key)) {
                entry.met += 1;
                if !entry.is_over && reason.is_none() {
                    reason = Some(format!("{} ({})", entry.entry.reason, entry.at));
                }
            }
            match reason {
                Some(reason) => allowed.push((finding, reason)),
                None => left.push(finding),
            }
        }
        (left, allowed)
    }

    /// What is wrong with entries: those that are over, and those that nothing met.
    pub(super) fn notes(&self) -> Vec<String> {
        let listed = |entry: &Allowed| {
            let reason = &entry.entry.reason;
            match (&entry.entry.expires, entry.met) {
                (_, 0) if entry.is_outside => None,
                (_, 0) => Some(format!("{}: stale: nothing is found that this entry allows ({reason})", entry.at)),
                (Some(day), _) if entry.is_over => {
                    Some(format!("{}: expired on {day}: this entry allows nothing more ({reason})", entry.at))
                }
                _ => None,
            }
        };
        self.entries.iter().filter_map(listed).collect()
    }

    /// Writes a baseline: its text without the entries that nothing met, unless they are about what was not looked at, and an entry for
    /// each finding that none allows. Those that are over stay so; nobody has looked at them again.
    pub(super) fn update(&self, path: &Path, findings: &[Finding]) -> Result<String> {
        let of_baseline = self.entries.iter().filter(|entry| entry.is_baseline);
        let (kept, gone): (Vec<_>, Vec<_>) = of_baseline.partition(|entry| entry.met > 0 || entry.is_outside);
        let all: Vec<usize> = self.entries.iter().filter(|entry| entry.is_baseline).map(|entry| entry.line).collect();
        let gone: Vec<usize> = gone.into_iter().map(|entry| entry.line).collect();
        let text = self.baseline.as_deref().and_then(|text| without(text, &all, &gone));
        let mut text = match text {
            Some(text) => text,
            None => HEADER.to_owned() + &written(kept.iter().map(|entry| &entry.entry).collect())?,
        };
        let over: Vec<&Allowed> = self.entries.iter().filter(|entry| entry.is_over).collect();
        let mut added: Vec<Entry> = Vec::new();
        for finding in findings {
            let key = finding.key();
            let is_there = added.iter().any(|entry| entry.finding.as_deref() == Some(&key));
            if !is_there && !over.iter().any(|entry| entry.entry.fits(finding, &key)) {
                added.push(Entry::of(finding, key));
            }
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &written(added.iter().collect())?;
        files::write_output(path, text.as_bytes())?;
        Ok(format!("{}: {} kept, {} added, {} taken out", path.display(), kept.len(), added.len(), gone.len()))
    }
}

/// The path of a baseline that is to be written.
pub(super) fn baseline(path: Option<&PathBuf>, is_update: bool) -> Result<Option<&Path>> {
    match path {
        None if is_update => Err(Failure::usage("--update-baseline needs --baseline FILE")),
        path => Ok(path.map(PathBuf::as_path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_of_a_baseline_leaves_the_rest_to_the_letter() {
        let text = "# of us all\n\n# Ada\n[[allow]]\nrule  = 'a' # why\n\n# alone\n\n# Bob\n[[allow]]\nrule='b'\n\n[[allow]]\nrule='c'\n# end\n";
        let of = |gone: &[usize]| without(text, &[4, 10, 13], gone).unwrap();
        assert_eq!(of(&[]), text);
        assert_eq!(of(&[4]), "# of us all\n\n# alone\n\n# Bob\n[[allow]]\nrule='b'\n\n[[allow]]\nrule='c'\n# end\n");
        assert_eq!(
            of(&[10]),
            "# of us all\n\n# Ada\n[[allow]]\nrule  = 'a' # why\n\n# alone\n\n[[allow]]\nrule='c'\n# end\n"
        );
        assert_eq!(of(&[4, 10, 13]), "# of us all\n\n# alone\n\n# end\n");
        assert_eq!(without("allow = [{ rule = 'a' }]\n", &[1], &[]), None);
    }
}
