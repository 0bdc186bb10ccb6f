//! `samplin explain`: what a rule, a valid-usage id, a name of what is left, or a setting means, and what to do about it.

use samplin_core::decide::{Catalog, Rule, Source};
use samplin_wire::left::{LEFT, Left};
use serde::Serialize;

use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table};
use crate::settings::{self, Described};

/// The arguments of `samplin explain`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A rule, a valid-usage id, a name of what was left, or a setting; without it, all of them
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
}

macro_rules! pages {
    ($($name:literal)+) => {
        /// The page of each rule.
        const PAGES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../docs/rules/", $name, ".md"))),)+];
    };
}

pages! {
    "linear-filter" "linear-mipmap" "minmax" "cubic" "stencil" "anisotropy" "lod-bias" "lod-range" "unnormalized" "mirror-clamp"
    "address-mode" "compare" "reduction" "border-type" "border-value" "border-format" "border-swizzle" "border-custom"
    "border-budget" "ycbcr" "flags" "sampler-budget" "blit-filter" "heap" "view-usage" "unsupported-format" "image-usage" "storage-access"
    "storage-format" "sample-shading" "atomic-counters" "depth-compare" "gl-clamp" "override"
}

/// What is said of a rule.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// The rule's name.
    pub rule: &'static str,
    /// What it is about, in a sentence.
    pub summary: &'static str,
    /// Heading and text of each section.
    pub sections: Vec<Section>,
    /// The rows of the catalogue that share the name.
    pub rows: Vec<Row>,
}

/// A section of a rule's page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Section {
    /// Its heading.
    pub heading: &'static str,
    /// Its text, in Markdown.
    pub text: &'static str,
}

/// A row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Such as `B-1`.
    pub catalog: &'static str,
    /// The valid-usage id, or chapter and heading of the specification; `None` for rules that are the layer's own.
    pub source: Option<&'static str>,
    /// What the application loses.
    pub lost: &'static str,
}

impl Page {
    /// The page of a rule.
    pub fn of(rule: Rule) -> Option<Self> {
        let (_, text) = PAGES.iter().find(|(name, _)| *name == rule.name())?;
        let mut parts = text.split("\n## ");
        let (_, summary) = parts.next()?.split_once('\n')?;
        let sections = parts
            .filter_map(|part| part.split_once('\n'))
            .map(|(heading, text)| Section { heading, text: text.trim() });
        let mut rows: Vec<Row> = Vec::new();
        for row in Catalog::ALL.iter().filter(|row| row.rule() == rule) {
            let source = match row.source() {
                Source::Vuid(text) | Source::Text(text) => Some(text),
                Source::Layer => None,
            };
            let row = Row { catalog: row.id(), source, lost: row.lost() };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Some(Self { rule: rule.name(), summary: summary.trim(), sections: sections.collect(), rows })
    }

    /// The text of a section.
    pub fn section(&self, heading: &str) -> Option<&'static str> {
        self.sections.iter().find(|section| section.heading == heading).map(|section| section.text)
    }
}

/// What a word may mean.
#[derive(Debug, Serialize)]
struct Found {
    rules: Vec<Page>,
    left: Vec<Name>,
    settings: Vec<Described>,
}

/// A name of what is left.
#[derive(Clone, Copy, Debug, Serialize)]
struct Name {
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
}

impl From<&'static Left> for Name {
    fn from(left: &'static Left) -> Self {
        Self { name: left.name, meaning: left.meaning, advice: left.advice }
    }
}

/// Whether a rule's valid-usage id is meant: the id itself, that of another command, or its number.
fn is_meant(vuid: &str, word: &str) -> bool {
    let last = |text: &str| text.rsplit('-').next().unwrap_or_default().to_owned();
    let number = last(word);
    let is_number = number.len() == 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    vuid.eq_ignore_ascii_case(word) || is_number && last(vuid) == number
}

fn find(word: &str) -> Found {
    let meant = |rule: &Rule| {
        rule.name().eq_ignore_ascii_case(word)
            || Catalog::ALL
                .iter()
                .filter(|row| row.rule() == *rule)
                .any(|row| row.id().eq_ignore_ascii_case(word) || row.vuid().is_some_and(|vuid| is_meant(vuid, word)))
    };
    let spelled = |name: &str| name.replace(' ', "-").eq_ignore_ascii_case(&word.replace([' ', '_'], "-"));
    Found {
        rules: Rule::ALL.iter().filter(|rule| meant(rule)).filter_map(|rule| Page::of(*rule)).collect(),
        left: LEFT.iter().filter(|left| spelled(left.name)).map(Name::from).collect(),
        settings: settings::described(&settings::load()).into_iter().filter(|one| one.is_called(word)).collect(),
    }
}

/// Runs the command.
///
/// # Errors
///
/// When nothing has that name.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result {
    let Some(word) = &arguments.word else {
        list(output);
        return Ok(Outcome::Fine);
    };
    let found = find(word.trim());
    if found.rules.is_empty() && found.left.is_empty() && found.settings.is_empty() {
        return Err(unknown(word));
    }
    if output.json {
        output.json(&found);
        return Ok(Outcome::Fine);
    }
    let mut is_first = true;
    let mut part = |output: &mut Output| {
        if !std::mem::replace(&mut is_first, false) {
            output.line("");
        }
    };
    for page in &found.rules {
        part(output);
        tell_rule(page, output);
    }
    for name in &found.left {
        part(output);
        output.styled_line(Style::Heading, format!("{} (left as it is)", name.name));
        output.line(name.meaning);
        output.line(format!("To repair it: {}.", name.advice));
    }
    for setting in &found.settings {
        part(output);
        settings::tell(setting, output);
    }
    Ok(Outcome::Fine)
}

/// Every word that is explained, but for ids.
pub fn words() -> Vec<String> {
    let rules = Rule::ALL.iter().map(|rule| rule.name().to_owned());
    let settings = settings::described(&settings::load()).into_iter().map(|setting| setting.key);
    rules.chain(LEFT.iter().map(|left| left.name.to_owned())).chain(settings).collect()
}

fn unknown(word: &str) -> Failure {
    let words = words();
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    let failure = Failure::usage(format!("no rule, valid-usage id, name or setting is called {word}"));
    match samplin_config::settings::nearest(word, &names) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None if word.to_ascii_uppercase().starts_with("VUID-") => {
            failure.hint("samplin has no rule for that id; `samplin explain` lists the rules it has")
        }
        None => failure.hint("`samplin explain` lists all of them"),
    }
}

fn tell_rule(page: &Page, output: &mut Output) {
    output.styled_line(Style::Heading, format!("{} (rule)", page.rule));
    output.line(page.summary);
    for section in &page.sections {
        output.line("");
        output.styled_line(Style::Name, section.heading);
        let mut is_code = false;
        for line in section.text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            } else {
                output.line(format!("  {}{line}", if is_code { "    " } else { "" }).trim_end());
            }
        }
    }
    output.line("");
    output.styled_line(Style::Name, "In the catalogue");
    let mut table = Table::new(2);
    for row in &page.rows {
        let lost = if row.lost.is_empty() { String::new() } else { format!("lost: {}", row.lost) };
        table.row([
            Cell::new(row.catalog),
            Cell::new(row.source.unwrap_or("samplin")),
            Cell::new(lost).style(Style::Dim),
        ]);
    }
    output.table(&table);
}

/// What can be explained.
#[derive(Serialize)]
struct List {
    rules: Vec<Page>,
    left: Vec<Name>,
    settings: Vec<Described>,
}

fn list(output: &mut Output) {
    let list = List {
        rules: Rule::ALL.iter().filter_map(|rule| Page::of(*rule)).collect(),
        left: LEFT.iter().map(Name::from).collect(),
        settings: settings::described(&settings::load()),
    };
    if output.json {
        return output.json(&list);
    }
    let section = |heading: &str, rows: Vec<(&str, &str)>, output: &mut Output| {
        output.styled_line(Style::Heading, heading);
        let mut table = Table::new(2);
        for (name, text) in rows {
            table.row([Cell::new(name).style(Style::Name), Cell::new(text)]);
        }
        output.table(&table);
    };
    section("Rules", list.rules.iter().map(|page| (page.rule, page.summary)).collect(), output);
    output.line("");
    section("What is left as it is", list.left.iter().map(|name| (name.name, name.meaning)).collect(), output);
    output.line("");
    let rows = list.settings.iter().map(|one| (one.key.as_str(), one.description.as_str())).collect();
    section("Settings", rows, output);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADINGS: [&str; 5] =
        ["The specification", "Who trips over it", "What is lost", "In the application", "Settings"];

    #[test]
    fn every_rule_has_a_whole_page() {
        for rule in Rule::ALL {
            let page = Page::of(*rule).unwrap_or_else(|| panic!("{} has no page", rule.name()));
            let headings: Vec<&str> = page.sections.iter().map(|section| section.heading).collect();
            assert_eq!(headings, HEADINGS, "{}", page.rule);
            assert!(page.sections.iter().all(|section| section.text.len() > 4), "{}", page.rule);
            assert!(page.summary.ends_with('.'), "{}", page.rule);
            let text = PAGES.iter().find(|(name, _)| *name == page.rule).unwrap().1;
            assert!(text.starts_with(&format!("# {}\n", page.rule)));
            assert!(text.matches("```").count().is_multiple_of(2), "{}: a fence is open", page.rule);
        }
        assert_eq!(PAGES.len(), Rule::ALL.len());
    }

    #[test]
    fn every_row_every_id_and_every_name_is_found() {
        for row in Catalog::ALL {
            let is_of = |word: &str| find(word).rules.iter().any(|page| page.rule == row.rule().name());
            assert!(is_of(row.id()), "{}", row.id());
            if let Some(vuid) = row.vuid() {
                assert!(is_of(vuid), "{vuid}");
                assert!(!vuid.contains("-parameter") || find("parameter").rules.is_empty());
            }
        }
        for left in LEFT {
            assert!(find(left.name).left.iter().any(|found| found.name == left.name), "{}", left.name);
            assert!(left.meaning.ends_with('.') && !left.advice.ends_with('.'), "{}", left.name);
        }
        for setting in settings::described(&settings::load()) {
            assert_eq!(find(&setting.key).settings.len(), 1, "{}", setting.key);
        }
    }

    #[test]
    fn ids_of_other_commands_and_numbers_alone_are_found() {
        let rules = |word| find(word).rules.iter().map(|page| page.rule).collect::<Vec<_>>();
        assert_eq!(rules("VUID-vkCmdDispatch-magFilter-04553"), rules("VUID-vkCmdDraw-magFilter-04553"));
        assert!(rules("04553").contains(&"linear-filter"));
        assert!(rules("99999").is_empty() && rules("4553").is_empty());
    }

    /// A page that names a setting must name one that there is.
    #[test]
    fn pages_name_settings_that_there_are() {
        let described = settings::described(&settings::load());
        for (name, text) in PAGES {
            for word in text.split('`').skip(1).step_by(2) {
                let Some((key, value)) = word.split_once('=') else { continue };
                let Some(setting) = described.iter().find(|setting| setting.key == key) else { continue };
                let is_known = setting.values.is_empty() || setting.values.iter().any(|known| known.value == value);
                assert!(is_known, "{name}: {word}");
            }
        }
    }
}
