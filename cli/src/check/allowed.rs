//! Findings that are allowed: `samplin-check.toml`, and baselines, which have the same form.
//!
//! Each entry says what it allows, why, and until when. One that is over allows nothing more, and one that nothing meets is named.

use std::path::{Path, PathBuf};

use samplin_platform::date;
use serde::Deserialize;
use toml::Spanned;

use super::Finding;
use crate::failure::{Failure, Result};
use crate::files;

/// The file that is read from the working directory without being named.
pub(super) const FILE: &str = "samplin-check.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    allow: Vec<Spanned<Entry>>,
}

/// What is allowed: all that an entry names has to be met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
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
    expires: Option<String>,
}

/// An entry of a file.
#[derive(Debug)]
struct Allowed {
    entry: Entry,
    at: String,
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
}

impl Entry {
    fn names_something(&self) -> bool {
        [&self.rule, &self.fingerprint, &self.format, &self.name, &self.what].iter().any(|member| member.is_some())
    }

    fn fits(&self, finding: &Finding) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found.is_some_and(|found| found == wanted))
        };
        let format = self.format.as_deref().map(|format| {
            if format.starts_with("VK_FORMAT_") { format.to_owned() } else { format!("VK_FORMAT_{format}") }
        });
        let named = self.name.is_none()
            || is(&self.name, finding.sampler.as_deref())
            || is(&self.name, finding.view.as_deref());
        is(&self.rule, Some(&finding.rule))
            && is(&self.fingerprint, finding.fingerprint.as_deref())
            && is(&format, finding.format.as_deref())
            && is(&self.what, finding.what.as_deref())
            && named
    }

    /// The narrowest entry for a finding.
    fn of(finding: &Finding) -> Self {
        Self {
            rule: Some(finding.rule.clone()),
            fingerprint: finding.fingerprint.clone(),
            format: finding.format.clone(),
            name: finding.sampler.clone(),
            what: finding.what.clone(),
            reason: format!("accepted on {}", date()),
            expires: None,
        }
    }

    fn write(&self, out: &mut String) {
        *out += "\n[[allow]]\n";
        let members = [
            ("rule", &self.rule),
            ("fingerprint", &self.fingerprint),
            ("format", &self.format),
            ("name", &self.name),
            ("what", &self.what),
            ("reason", &Some(self.reason.clone())),
            ("expires", &self.expires),
        ];
        for (key, value) in members {
            if let Some(value) = value {
                // A JSON string is a basic string of TOML, but for one character that has to be escaped there.
                let text = serde_json::Value::from(value.as_str()).to_string().replace('\u{7f}', "\\u007f");
                *out += &format!("{key} = {text}\n");
            }
        }
    }
}

/// Whether a text is a day, `2026-01-31`.
fn is_day(text: &str) -> bool {
    let digits = |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text.split('-').collect::<Vec<_>>().as_slice(), [year, month, day]
        if digits(year, 4) && digits(month, 2) && digits(day, 2) && ("01"..="12").contains(month) && ("01"..="31").contains(day))
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
        for spanned in document.allow {
            let at = format!("{}:{}", path.display(), line(spanned.span().start));
            let entry = spanned.into_inner();
            let trouble = |what: &str| Err(Failure::input(format!("{at}: {what}")));
            if !entry.names_something() {
                return trouble("an entry needs a rule, fingerprint, format, name or what");
            }
            if entry.reason.trim().is_empty() {
                return trouble("an entry needs a reason");
            }
            let known = super::rule_names();
            if let Some(rule) = entry.rule.as_deref().filter(|rule| !known.contains(rule)) {
                return trouble(&format!("there is no rule {rule}"));
            }
            if let Some(day) = entry.expires.as_deref().filter(|day| !is_day(day)) {
                return trouble(&format!("expires = \"{day}\" is no day; write \"2026-12-31\""));
            }
            let is_over = entry.expires.as_deref().is_some_and(|day| day < today.as_str());
            self.entries.push(Allowed { entry, at, is_baseline, is_over, is_outside: false, met: 0 });
        }
        Ok(())
    }

    /// Says what is looked at: entries about anything else are neither stale nor taken out.
    pub(super) fn narrow(&mut self, deny: &[String], allow: &[String]) {
        let named = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        for Allowed { entry, is_outside, .. } in &mut self.entries {
            let hit = |list: &[String], rule: &str| {
                named(list, rule) || (entry.what.is_some() && named(list, super::UNRESOLVED))
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
            let mut reason = None;
            // Each that fits is met, so that none of two is called stale.
            for entry in self.entries.iter_mut().filter(|entry| entry.entry.fits(&finding)) {
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
        let told = |entry: &Allowed| {
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
        self.entries.iter().filter_map(told).collect()
    }

    /// Writes a baseline: its entries that were met or are about what was not looked at, as they are, and one for each finding that none allows. Those that are over stay
    /// so; nobody has looked at them again.
    pub(super) fn update(&self, path: &Path, findings: &[Finding]) -> Result<String> {
        let mut kept: Vec<Entry> = Vec::new();
        let of_baseline = || self.entries.iter().filter(|entry| entry.is_baseline);
        kept.extend(of_baseline().filter(|entry| entry.met > 0 || entry.is_outside).map(|entry| entry.entry.clone()));
        let before = kept.len();
        let over: Vec<&Allowed> = self.entries.iter().filter(|entry| entry.is_over).collect();
        for finding in findings.iter().filter(|finding| !over.iter().any(|entry| entry.entry.fits(finding))) {
            let entry = Entry::of(finding);
            if !kept.contains(&entry) {
                kept.push(entry);
            }
        }
        let mut text = String::from(
            "# What `samplin check --baseline` lets pass. Give an entry that stays a reason of its own, and a day on which it ends:\n# expires = \"2027-06-30\"\n",
        );
        kept.iter().for_each(|entry| entry.write(&mut text));
        files::write_output(path, text.as_bytes())?;
        let gone = of_baseline().filter(|entry| entry.met == 0 && !entry.is_outside).count();
        Ok(format!("{}: {} kept, {} added, {gone} taken out", path.display(), before, kept.len() - before))
    }
}

/// The path of a baseline that is to be written.
pub(super) fn baseline(path: Option<&PathBuf>, is_update: bool) -> Result<Option<&Path>> {
    match path {
        None if is_update => Err(Failure::usage("--update-baseline needs --baseline FILE")),
        path => Ok(path.map(PathBuf::as_path)),
    }
}
