//! The pages of the documentation that tables in the code decide. Each test compares one; `UPDATE_DOCS=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use samplin_core::decide::Rule;
use serde_json::Value;

use crate::explain::{Page, terms};
use crate::manual;
use crate::preset::table::PRESETS;

const TRACE: &str = include_str!("../../manifest/trace.schema.json");
const RULES: &str = include_str!("../../manifest/samplin.schema.json");

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// Compares a page with the text that it should have.
#[track_caller]
fn hold(name: &str, text: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path(name), text).unwrap();
    }
    let written = std::fs::read_to_string(path(name)).unwrap_or_default();
    let differ = written.lines().zip(text.lines()).position(|(a, b)| a != b).map_or(0, |line| line + 1);
    assert!(written == text, "docs/{name} differs from its table, first at line {differ}; UPDATE_DOCS=1 writes it");
}

/// Compares what a page has behind a mark, up to the next `<!-- end -->` or its end.
#[track_caller]
fn hold_part(name: &str, mark: &str, part: &str) {
    let written = std::fs::read_to_string(path(name)).unwrap();
    let (before, after) = written.split_once(mark).unwrap_or_else(|| panic!("docs/{name} has no {mark}"));
    let rest = after.find("<!-- end -->").map_or("", |end| &after[end..]);
    hold(name, &format!("{before}{mark}\n\n{part}{rest}"));
}

/// A text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text with a full stop.
fn sentence(text: &str) -> String {
    let text = cell(text);
    if text.is_empty() || text.ends_with(['.', ':', '?']) { text } else { format!("{text}.") }
}

/// What one argument is written like.
fn spelling(argument: &clap::Arg) -> String {
    let value = argument.get_value_names().filter(|_| argument.get_action().takes_values());
    let value = value.and_then(|names| names.first()).map(|name| format!("{name}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let name = [short, long].into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (name.is_empty(), value) {
        (true, value) => value.unwrap_or_else(|| argument.get_id().to_string().to_uppercase()),
        (false, Some(value)) => format!("{name} {value}"),
        (false, None) => name,
    }
}

fn arguments(command: &clap::Command, is_global: bool, text: &mut String) {
    let wanted = |argument: &&clap::Arg| {
        !argument.is_hide_set()
            && argument.is_global_set() == is_global
            && !["help", "version"].contains(&argument.get_id().as_str())
    };
    let mut is_first = true;
    let (positional, named): (Vec<_>, Vec<_>) =
        command.get_arguments().filter(wanted).partition(|one| one.is_positional());
    for argument in positional.into_iter().chain(named) {
        if std::mem::take(&mut is_first) {
            text.push_str("\n| argument | meaning |\n|---|---|\n");
        }
        let mut meaning = argument
            .get_long_help()
            .or(argument.get_help())
            .map_or_else(String::new, |help| sentence(&help.to_string()));
        let values = argument.get_possible_values();
        if values.iter().any(|value| value.get_name() == "linear-filter") {
            meaning += " A name of a [rule](rules.md), or several with commas.";
        } else if !values.is_empty() && argument.get_action().takes_values() {
            let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
            let _ = write!(meaning, " One of {}.", names.join(", "));
            for (name, help) in values.iter().filter_map(|value| Some((value.get_name(), value.get_help()?))) {
                let _ = write!(meaning, "<br>`{name}`: {}", sentence(&help.to_string()));
            }
        }
        let default = argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
        let default: Vec<String> = default.collect();
        if !default.is_empty() && argument.get_action().takes_values() {
            let _ = write!(meaning, " Default: `{}`.", default.join(" "));
        }
        let _ = writeln!(text, "| `{}` | {} |", cell(&spelling(argument)), meaning.trim());
    }
}

#[test]
fn commands() {
    let mut root = crate::command();
    root.build();
    let mut text = String::from(
        "# Commands\n\nThis page is generated from the arguments of the program. `samplin COMMAND --help` prints the same, and \
         `samplin man` has it as manual pages.\nEach command also takes these:\n",
    );
    arguments(&root, true, &mut text);
    text += "\n| exit status | means |\n|---|---|\n";
    for (status, meaning) in manual::STATUS.into_iter().chain([manual::RUN_STATUS]) {
        let _ = writeln!(text, "| {status} | {} |", sentence(meaning));
    }
    let mut all = Vec::new();
    manual::walk(&root, "", &mut |command, name| all.push((command, name.to_owned())));
    // In the order of the examples, which is that of use.
    all.sort_by_key(|(_, name)| manual::EXAMPLES.iter().position(|(of, _)| of == name));
    for (command, name) in &all {
        let about = command.get_about().map_or_else(String::new, |about| sentence(&about.to_string()));
        let _ = write!(text, "\n## samplin {name}\n\n{about}\n");
        arguments(command, false, &mut text);
        let examples = manual::examples(name);
        if !examples.is_empty() {
            text += "\n```sh\n";
            for (line, what) in examples {
                let _ = writeln!(text, "{line}    # {what}");
            }
            text += "```\n";
        }
    }
    hold("reference/commands.md", &text);
}

#[test]
fn rules() {
    let mut text = String::from(
        "# Rules\n\nA rule says what samplin changes, and why. Each has a page; `samplin explain RULE` prints the same page.\nThe member \
         `rule` of a record's change is one of these names. This table is generated from `core/src/decide/rules/`, where each rule is one file.\n\n\
         | rule | applies when |\n|---|---|\n",
    );
    let pages: Vec<(Rule, Page)> = Rule::ALL.iter().map(|rule| (*rule, Page::of(*rule))).collect();
    for (_, page) in &pages {
        let _ = writeln!(text, "| [`{0}`](rules/{0}.md) | {1} |", page.rule, cell(page.summary));
    }
    hold("reference/rules.md", &text);
    for (rule, page) in &pages {
        let mut text = format!("# {}\n\n{}\n", page.rule, Page::markdown(*rule));
        text += "<!-- generated from core/src/decide/rules -->\n\n## In the catalogue\n\n| row | source | lost |\n|---|---|---|\n";
        for row in &page.rows {
            let lost = if row.lost.is_empty() { "nothing" } else { row.lost };
            let _ = writeln!(text, "| {} | {} | {} |", row.catalog, cell(row.source.unwrap_or("samplin")), cell(lost));
        }
        hold(&format!("reference/rules/{}.md", page.rule), &text);
    }
    let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let list: String = names.iter().map(|name| format!("  - [{name}](reference/rules/{name}.md)\n")).collect();
    let written = std::fs::read_to_string(path("SUMMARY.md")).unwrap();
    let (before, rest) = written.split_once("- [Rules](reference/rules.md)\n").unwrap();
    let after = rest.find("\n- ").map_or("", |at| &rest[at + 1..]);
    hold("SUMMARY.md", &format!("{before}- [Rules](reference/rules.md)\n{list}{after}"));
}

/// The description of a member, its own or that of what it refers to.
fn description<'s>(schema: &'s Value, member: &'s Value) -> &'s str {
    let own = member.get("description").and_then(Value::as_str);
    let referred = || {
        let name = member.get("$ref")?.as_str()?.trim_start_matches('#');
        schema.pointer(name)?.get("description")?.as_str()
    };
    own.or_else(referred).unwrap_or_default()
}

#[test]
fn records() {
    let schema: Value = serde_json::from_str(TRACE).unwrap();
    let mut text = String::from("| `event` | when |\n|---|---|\n");
    let events = schema.pointer("/properties/event/enum").and_then(Value::as_array).unwrap();
    for event in events.iter().filter_map(Value::as_str) {
        let described = description(&schema, &schema["$defs"][event]);
        let _ = writeln!(text, "| [`{event}`](#members-of-{event}) | {} |", sentence(described));
    }
    text += "\n### Members of every record\n\n| member | is |\n|---|---|\n";
    for (name, member) in schema["properties"].as_object().unwrap() {
        let _ = writeln!(text, "| `{name}` | {} |", sentence(description(&schema, member)));
    }
    let parts = ["change", "link", "slot"];
    for event in events.iter().filter_map(Value::as_str).chain(parts) {
        let _ = write!(text, "\n### Members of {event}\n\n| member | is |\n|---|---|\n");
        for (name, member) in schema["$defs"][event]["properties"].as_object().unwrap() {
            let _ = writeln!(text, "| `{name}` | {} |", sentence(description(&schema, member)));
        }
    }
    hold_part("reference/trace.md", "<!-- generated from manifest/trace.schema.json -->", &text);
}

#[test]
fn presets() {
    let mut text = String::new();
    for preset in PRESETS {
        let _ = writeln!(text, "**`{}`**: {}\n", preset.name, sentence(preset.about));
        for one in preset.settings {
            let _ = writeln!(text, "- `{}={}`: {}", one.key, one.value, sentence(one.does));
        }
        for rule in preset.rules {
            let _ = writeln!(text, "- *{}*: {} {}", rule.name, sentence(rule.does), sentence(rule.spares));
        }
        text.push('\n');
    }
    hold_part("start/player.md", "<!-- generated from cli/src/preset/table.rs -->", &text);
}

#[test]
fn keys_of_rules_files() {
    let schema: Value = serde_json::from_str(RULES).unwrap();
    let mut text = String::new();
    for (part, heading) in [("rule", "Keys of a rule"), ("when", "Keys of `when`"), ("set", "Keys of `set`")] {
        let _ = write!(text, "## {heading}\n\n| key | means | values |\n|---|---|---|\n");
        for (name, key) in schema["$defs"][part]["properties"].as_object().unwrap() {
            let mut values = BTreeSet::new();
            words(key, &mut values);
            let values: Vec<String> = values.into_iter().map(|word| format!("`{word}`")).collect();
            let _ = writeln!(text, "| `{name}` | {} | {} |", sentence(description(&schema, key)), values.join(", "));
        }
        text.push('\n');
    }
    hold_part(
        "reference/rules-file.md",
        "<!-- generated from manifest/samplin.schema.json -->",
        &format!("{}\n", text.trim_end()),
    );
}

/// The words that a key may have as its value, without the long spellings of Vulkan.
fn words(key: &Value, out: &mut BTreeSet<String>) {
    match key {
        Value::Object(members) => {
            let listed = members.get("enum").and_then(Value::as_array).into_iter().flatten();
            let fixed = members.get("const");
            out.extend(
                listed
                    .chain(fixed)
                    .filter_map(Value::as_str)
                    .filter(|word| !word.starts_with("VK_"))
                    .map(str::to_owned),
            );
            members.values().for_each(|value| words(value, out));
        }
        Value::Array(values) => values.iter().for_each(|value| words(value, out)),
        _ => {}
    }
}

#[test]
fn words_of_records() {
    let mut text = String::from(
        "# Words of records\n\nRecords, summaries and reports use these words besides the names of [rules](rules.md) and of \
         [what is left](left.md). `samplin explain WORD` prints the same. This page is generated from `cli/src/explain/terms.rs`.\n",
    );
    let mut of = "";
    for term in terms::all().iter().filter(|term| term.of != "event of a trace") {
        if of != term.of {
            of = term.of;
            let _ = write!(text, "\n## {}\n\n| word | means |\n|---|---|\n", crate::output::capital(of));
        }
        let _ = writeln!(text, "| `{}` | {} |", term.name, sentence(&term.meaning));
    }
    hold("reference/words.md", &text);
}

/// What `samplin doctor` can find wrong is in the page about troubleshooting.
#[test]
fn findings_of_doctor() {
    let source = include_str!("doctor/checks.rs");
    let page = std::fs::read_to_string(path("troubleshooting.md")).unwrap();
    let ids = source.split("Finding::new(").skip(1).filter_map(|rest| {
        let (id, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
        let level = rest.split_once("Level::")?.1;
        (!level.starts_with("Good")).then_some(id)
    });
    let pairs = source
        .split("[\"")
        .skip(1)
        .filter_map(|rest| rest.split_once("\"]"))
        .flat_map(|(pair, _)| pair.split("\", \""));
    let pairs = pairs.filter(|id| id.ends_with("-stale") || id.ends_with("-class"));
    let ids: BTreeSet<&str> = ids.chain(pairs).collect();
    assert!(ids.len() > 25 && ids.contains("layer-stale") && !ids.contains("loader"), "{ids:?}");
    let missing: Vec<&&str> = ids.iter().filter(|id| !page.contains(&format!("`{id}`"))).collect();
    assert!(missing.is_empty(), "docs/troubleshooting.md does not explain {missing:?}");
}

#[test]
fn tables_of_export() {
    let tables: Value = serde_json::from_str(include_str!("../../manifest/tables.json")).unwrap();
    let mut text = String::from(
        "# Tables\n\n`samplin export` writes these tables, and the SQL views over JSON lines have the same columns. \
         [Many machines](../fleet.md) asks ten questions of them.\nThis page is generated from `manifest/tables.json`, by which the \
         tool writes.\n",
    );
    let word = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    for table in tables["tables"].as_array().unwrap() {
        let _ = write!(text, "\n## {}\n\n{}\n\n", word(table, "name"), sentence(&word(table, "description")));
        text += "| column | type | is |\n|---|---|---|\n";
        for column in table["columns"].as_array().unwrap() {
            let null = if column["null"] == true { ", may be null" } else { "" };
            let described = sentence(&word(column, "description"));
            let _ = writeln!(text, "| `{}` | {}{null} | {described} |", word(column, "name"), word(column, "type"));
        }
    }
    hold("reference/tables.md", &text);
}
