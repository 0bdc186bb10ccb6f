//! `samplin explain`: what a rule, a valid-usage id, a name of what is left, a word of records, or a setting means, and what to do about it.

pub(crate) mod terms;

use std::sync::LazyLock;

use samplin_core::decide::{Catalog, Rule, RuleSource};
use samplin_core::left::{Cause, Left};
use serde::Serialize;

use self::terms::Term;
use crate::failure::{Failure, Outcome, Result};
use crate::output::{Cell, Output, Style, Table, text_of};
use crate::settings::{self, Described};

/// The arguments of `samplin explain`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// A rule, a valid-usage id, a name of what is left, a word of records, or a setting; without it, list all
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
}

/// The page of each rule without its heading and the catalogue, in Markdown.
static PAGES: LazyLock<Vec<(Rule, String)>> = LazyLock::new(|| {
    let text = |rule: Rule| {
        let (mut text, mut is_code) = (String::new(), false);
        for line in rule.page().lines() {
            is_code ^= line.starts_with(" ```");
            match line.strip_prefix("   ").filter(|_| !is_code) {
                Some(more) => text.extend([" ", more]),
                None => text.extend(["\n", line.strip_prefix(' ').unwrap_or(line)]),
            }
        }
        text.split_off(1) + "\n"
    };
    Rule::ALL.iter().map(|rule| (*rule, text(*rule))).collect()
});

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

/// A line of the Markdown that the pages use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'t> {
    /// Of a paragraph.
    Text(&'t str),
    /// Of a list, without its mark.
    Item(&'t str),
    /// Between fences.
    Code(&'t str),
    /// Nothing: a paragraph or list ends.
    Blank,
}

/// The lines of a section; fences are none.
pub(crate) fn lines(markdown: &str) -> impl Iterator<Item = Line<'_>> {
    let mut is_code = false;
    markdown.lines().filter_map(move |line| {
        if line.starts_with("```") {
            is_code = !is_code;
            return None;
        }
        Some(match (is_code, line.strip_prefix("- ")) {
            (true, _) => Line::Code(line),
            (false, Some(item)) => Line::Item(item),
            (false, None) if line.is_empty() => Line::Blank,
            (false, None) => Line::Text(line),
        })
    })
}

impl Page {
    /// The page of a rule in Markdown, without its heading and the catalogue.
    pub(crate) fn markdown(rule: Rule) -> &'static str {
        PAGES.iter().find(|(of, _)| *of == rule).map_or("", |(_, text)| text)
    }

    /// The page of a rule.
    pub fn of(rule: Rule) -> Self {
        let mut parts = Page::markdown(rule).split("\n## ");
        let summary = parts.next().unwrap_or_default();
        let sections = parts
            .filter_map(|part| part.split_once('\n'))
            .map(|(heading, text)| Section { heading, text: text.trim() });
        let mut rows: Vec<Row> = Vec::new();
        for row in Catalog::ALL.iter().filter(|row| row.rule() == rule) {
            let source = match row.source() {
                RuleSource::Vuid(text) | RuleSource::Text(text) => Some(text),
                RuleSource::Layer => None,
            };
            let row = Row { catalog: row.id(), source, lost: row.lost() };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Self { rule: rule.name(), summary: summary.trim(), sections: sections.collect(), rows }
    }

    /// The text of a section.
    pub fn section(&self, heading: &str) -> Option<&'static str> {
        self.sections.iter().find(|section| section.heading == heading).map(|section| section.text)
    }
}

/// What a word may mean.
#[derive(Debug, Serialize)]
struct Meaning {
    rules: Vec<Page>,
    left: Vec<Name>,
    terms: Vec<Term>,
    settings: Vec<Described>,
}

impl Meaning {
    fn is_nothing(&self) -> bool {
        self.rules.is_empty() && self.left.is_empty() && self.terms.is_empty() && self.settings.is_empty()
    }
}

/// A name of what is left.
#[derive(Clone, Debug, Serialize)]
struct Name {
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
    /// What records say where the meaning says too little, and what to do then.
    reasons: Vec<Reason>,
}

#[derive(Clone, Debug, Serialize)]
struct Reason {
    why: String,
    advice: &'static str,
}

impl From<Left> for Name {
    fn from(left: Left) -> Self {
        let reason = |cause: Cause| Reason { why: cause.text().replace("{}", "…"), advice: cause.advice() };
        let reasons = left.causes().map(reason).collect();
        Self { name: left.name(), meaning: left.meaning(), advice: left.advice(), reasons }
    }
}

/// The number at the end of an id, or by itself: five digits.
fn number(word: &str) -> Option<&str> {
    let last = word.rsplit('-').next()?;
    (last.len() == 5 && last.bytes().all(|byte| byte.is_ascii_digit())).then_some(last)
}

/// Whether a rule's valid-usage id is meant: the id itself, that of another command, or its number.
fn is_meant(vuid: &str, word: &str) -> bool {
    vuid.eq_ignore_ascii_case(word) || number(word).is_some_and(|meant| number(vuid) == Some(meant))
}

/// Whether a rule's page names an id, in full or, after another one of the same structure, by its end (`-02002`).
fn is_named(page: &str, word: &str) -> bool {
    let mut words = page.split(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '-' | '_'));
    words.any(|named| named.contains('-') && is_meant(named, word))
}

fn find(word: &str) -> Meaning {
    let is_id = word.to_ascii_uppercase().starts_with("VUID-") || number(word) == Some(word);
    let meant = |rule: &Rule| {
        rule.name().eq_ignore_ascii_case(word)
            || Catalog::ALL
                .iter()
                .filter(|row| row.rule() == *rule)
                .any(|row| row.id().eq_ignore_ascii_case(word) || row.vuid().is_some_and(|vuid| is_meant(vuid, word)))
            || is_id && is_named(Page::markdown(*rule), word)
    };
    let loss = terms::loss(word);
    let spelled = |name: &str| name.replace([' ', '_'], "-").eq_ignore_ascii_case(&word.replace([' ', '_'], "-"));
    Meaning {
        rules: Rule::ALL.iter().filter(|rule| meant(rule)).map(|rule| Page::of(*rule)).collect(),
        left: Left::ALL.iter().copied().filter(|left| spelled(left.name())).map(Name::from).collect(),
        terms: terms::all()
            .into_iter()
            .filter(|term| {
                spelled(&term.name)
                    || loss == Some(&term.name) && term.of == "lost"
                    || is_id && (is_meant(&term.name, word) || is_named(&term.meaning, word))
            })
            .collect(),
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
    if found.is_nothing() {
        return Err(unknown(word));
    }
    if output.json {
        output.json(&found);
    } else {
        print(&found, output);
    }
    Ok(Outcome::Fine)
}

fn print(found: &Meaning, output: &mut Output) {
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
        if !name.reasons.is_empty() {
            output.line("Records give one of these reasons, or one of a rule:");
        }
        for Reason { why, advice } in &name.reasons {
            output.line(format!("  {why}"));
            if *advice != name.advice {
                output.line(format!("    to repair it: {advice}"));
            }
        }
    }
    for term in &found.terms {
        part(output);
        output.styled_line(Style::Heading, format!("{} ({})", term.name, term.of));
        output.line(&term.meaning);
    }
    for setting in &found.settings {
        part(output);
        settings::print(setting, output);
    }
}

/// What is said of a word, without colours; nothing if there is nothing to say.
pub(crate) fn text(word: &str) -> Option<String> {
    let found = find(word.trim());
    (!found.is_nothing()).then(|| text_of(|output| print(&found, output)))
}

/// Every word that is explained, but for ids.
pub fn words() -> Vec<String> {
    let rules = Rule::ALL.iter().map(|rule| rule.name().to_owned());
    let settings = settings::described(&settings::load()).into_iter().map(|setting| setting.key);
    let mut words: Vec<String> = rules
        .chain(Left::ALL.iter().copied().map(|left| left.name().to_owned()))
        .chain(terms::all().into_iter().map(|term| term.name))
        .chain(settings)
        .collect();
    // A few are of two kinds.
    let mut seen = std::collections::HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words
}

/// How many words are suggested at most.
const SUGGESTED: usize = 6;

fn unknown(word: &str) -> Failure {
    let words = words();
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    let failure = Failure::usage(format!("no rule, valid-usage id, name, word of records or setting is called {word}"));
    let part = word.trim().to_ascii_lowercase();
    let with = |fits: &dyn Fn(&str) -> bool| -> Vec<&str> {
        names.iter().copied().filter(|name| part.len() > 1 && fits(name)).take(SUGGESTED).collect()
    };
    let mut with_it = with(&|name| name.starts_with(&part));
    if with_it.is_empty() {
        with_it = with(&|name| name.split(['-', '_', ' ']).any(|of| of.starts_with(&part)));
    }
    if !with_it.is_empty() {
        return failure.hint(format!("did you mean {}?", with_it.join(", ")));
    }
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
        for line in lines(section.text) {
            match line {
                Line::Text(text) => output.line(format!("  {text}")),
                Line::Item(text) => output.line(format!("  - {text}")),
                Line::Code(text) => output.line(format!("      {text}").trim_end()),
                Line::Blank => output.line(""),
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
    terms: Vec<Term>,
    settings: Vec<Described>,
}

fn list(output: &mut Output) {
    let list = List {
        rules: Rule::ALL.iter().map(|rule| Page::of(*rule)).collect(),
        left: Left::ALL.iter().copied().map(Name::from).collect(),
        terms: terms::all(),
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
    section(
        "Words of records",
        list.terms.iter().map(|term| (term.name.as_str(), term.meaning.as_str())).collect(),
        output,
    );
    output.line("");
    let rows = list.settings.iter().map(|one| (one.key.as_str(), one.description.as_str())).collect();
    section("Settings", rows, output);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    const HEADINGS: [&str; 5] =
        ["The specification", "Who trips over it", "What is lost", "In the application", "Settings"];

    #[test]
    fn every_rule_has_a_whole_page() {
        for rule in Rule::ALL {
            let page = Page::of(*rule);
            let headings: Vec<&str> = page.sections.iter().map(|section| section.heading).collect();
            assert_eq!(headings, HEADINGS, "{}", page.rule);
            assert!(page.sections.iter().all(|section| section.text.len() > 4), "{}", page.rule);
            assert!(page.summary.ends_with('.'), "{}", page.rule);
            assert!(Page::markdown(*rule).matches("```").count().is_multiple_of(2), "{}: a fence is open", page.rule);
        }
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
        for left in Left::ALL {
            assert!(find(left.name()).left.iter().any(|found| found.name == left.name()), "{}", left.name());
            assert!(left.meaning().ends_with('.') && !left.advice().ends_with('.'), "{}", left.name());
        }
        for setting in settings::described(&settings::load()) {
            assert_eq!(find(&setting.key).settings.len(), 1, "{}", setting.key);
        }
    }

    /// Every id in what is not a comment and not a test.
    fn printed(path: &Path, ids: &mut BTreeSet<String>) {
        if path.is_dir() {
            std::fs::read_dir(path).unwrap().for_each(|entry| printed(&entry.unwrap().path(), ids));
            return;
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_text = path.extension().is_some_and(|extension| extension == "md" || extension == "json");
        if !is_rust && !is_text
            || path.ends_with("tests.rs")
            || path.components().any(|part| part.as_os_str() == "tests")
        {
            return;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let text = if is_rust { text.split("#[cfg(test)]").next().unwrap() } else { &text };
        for line in text.lines().map(|line| if is_rust { line.split("//").next().unwrap() } else { line }) {
            for (at, _) in line.match_indices("VUID-") {
                let id =
                    line[at..].split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').next().unwrap();
                // `VUID-` alone is the word that ids begin with.
                ids.extend((id.len() > 5).then(|| id.to_owned()));
            }
        }
    }

    #[test]
    fn every_id_that_is_printed_anywhere_is_explained() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut ids = BTreeSet::new();
        for part in [
            "src",
            "core/src",
            "wire/src",
            "config/src",
            "spirv/src",
            "cli/src",
            "README.md",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "docs",
            "manifest",
        ] {
            printed(&root.join(part), &mut ids);
        }
        assert!(ids.len() > 60 && ids.contains("VUID-VkBufferViewCreateInfo-format-08779"), "{ids:?}");
        let unknown: Vec<&String> = ids.iter().filter(|id| find(id).is_nothing()).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
        assert!(find("VUID-vkCmdDraw-None-99999").is_nothing() && find("VUID-").is_nothing());
    }

    #[test]
    fn every_word_of_records_is_explained() {
        for word in ["trilinear-offset", "seam", "nothing", "limit exceeded", "limit-exceeded"] {
            assert!(!find(word).is_nothing(), "{word}");
        }
        for word in samplin_wire::record::HOWS {
            assert_eq!(find(word).terms.len(), 1, "{word}");
        }
        let schema: serde_json::Value = serde_json::from_str(include_str!("../../manifest/trace.schema.json")).unwrap();
        for event in schema.pointer("/properties/event/enum").unwrap().as_array().unwrap() {
            assert_eq!(find(event.as_str().unwrap()).terms.len(), 1, "{event}");
        }
        assert!(terms::all().iter().all(|term| term.meaning.ends_with('.')));
        assert!(words().iter().all(|word| !find(word).is_nothing()));
    }

    /// Every text that `lost` can be.
    fn losses() -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/decide/rules");
        let mut all: Vec<String> = Catalog::ALL.iter().map(|row| row.lost().to_owned()).collect();
        for file in std::fs::read_dir(folder).unwrap() {
            let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let function = source.split("fn lost(").nth(1).and_then(|rest| rest.split("\n}\n").next());
            let function = function.unwrap_or_default().replace("\\\n", "");
            all.extend(function.split('"').skip(1).step_by(2).map(str::to_owned));
        }
        all.retain(|text| !text.is_empty());
        all
    }

    #[test]
    fn every_text_of_lost_is_explained() {
        let all = losses();
        assert!(all.len() > 100 && all.iter().any(|text| text == "anisotropic quality above the limit"));
        for text in &all {
            let terms = find(text).terms;
            assert!(terms.iter().any(|term| term.of == "lost"), "{text}");
            assert_eq!(terms.len(), 1, "{text}");
        }
        // No word stands for a text that there is not, and what is no text of `lost` is none.
        for term in terms::all().iter().filter(|term| term.of == "lost") {
            assert!(all.iter().any(|text| terms::loss(text) == Some(&term.name)), "{}", term.name);
        }
        for other in ["smooth", "smoothings", "seamless", "seam-less", "x smoothing"] {
            assert_eq!(terms::loss(other), None, "{other}");
        }
    }

    #[test]
    fn a_part_of_a_word_has_suggestions() {
        let hint = |word| unknown(word).hint.unwrap();
        assert_eq!(hint("linear"), "did you mean linear-filter, linear-mipmap?");
        assert_eq!(hint("budget"), "did you mean border-budget, sampler-budget?");
        assert_eq!(hint("linear-fliter"), "did you mean linear-filter?");
        assert_eq!(hint("zzzzzz"), "`samplin explain` lists all of them");
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
        for (rule, text) in PAGES.iter() {
            for word in text.split('`').skip(1).step_by(2) {
                let Some((key, value)) = word.split_once('=') else { continue };
                let Some(setting) = described.iter().find(|setting| setting.key == key) else { continue };
                let is_known = setting.values.is_empty() || setting.values.iter().any(|known| known.value == value);
                assert!(is_known, "{}: {word}", rule.name());
            }
        }
    }
}
