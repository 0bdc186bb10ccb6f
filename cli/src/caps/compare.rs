//! The differences between two devices.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::abilities::{Abilities, EFFECTIVE, FormatAbilities, LIMITS};
use crate::failure::{Outcome, Result};
use crate::output::{Cell, Output, Style, Table};
use crate::trace::record::{self, counted, short};

type Has = fn(&FormatAbilities) -> bool;

/// The abilities that are compared for each format.
const ABILITIES: [(&str, Has); 7] = [
    ("sampled", FormatAbilities::sampled),
    ("linear", FormatAbilities::linear),
    ("min/max", FormatAbilities::minmax),
    ("cubic", FormatAbilities::cubic),
    ("compare", FormatAbilities::compare),
    ("blit from", FormatAbilities::blit_source),
    ("store", FormatAbilities::storage),
];

/// How many formats of one difference are listed.
const LISTED: usize = 12;

pub(super) fn run(a: &Abilities, b: &Abilities, output: &mut Output) -> Result {
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for (key, name) in EFFECTIVE {
        if a.has(key) != b.has(key) {
            rows.push((name.to_owned(), yes(a.has(key)), yes(b.has(key))));
        }
    }
    for key in LIMITS {
        if a.limit(key) != b.limit(key) {
            rows.push((key.to_owned(), a.limit_text(key), b.limit_text(key)));
        }
    }
    let of = |abilities: &Abilities| -> BTreeMap<String, FormatAbilities> {
        abilities.formats.iter().map(|format| (format.name.clone(), format.clone())).collect()
    };
    let (formats_a, formats_b) = (of(a), of(b));
    let names: BTreeSet<&String> = formats_a.keys().chain(formats_b.keys()).collect();
    let mut only: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for (ability, has) in ABILITIES {
        if ability == "compare" && !(a.knows_compare && b.knows_compare) {
            continue;
        }
        let can = |formats: &BTreeMap<String, FormatAbilities>, name: &str| formats.get(name).is_some_and(has);
        // That a format is not sampled at all explains the rest; the report says so once.
        let both = |name: &str| {
            let sampled =
                |formats: &BTreeMap<String, FormatAbilities>| formats.get(name).is_some_and(FormatAbilities::sampled);
            ability == "sampled" || (sampled(&formats_a) && sampled(&formats_b))
        };
        let pick = |own: &BTreeMap<String, FormatAbilities>, other: &BTreeMap<String, FormatAbilities>| -> Vec<&str> {
            names
                .iter()
                .filter(|name| both(name) && can(own, name) && !can(other, name))
                .map(|name| short(name))
                .collect()
        };
        let (only_a, only_b) = (pick(&formats_a, &formats_b), pick(&formats_b, &formats_a));
        if !(only_a.is_empty() && only_b.is_empty()) {
            only.push((ability, only_a, only_b));
        }
    }
    let differs = !(rows.is_empty() && only.is_empty());
    if output.json {
        output.json(&json!({
            "a": a.name,
            "b": b.name,
            "differences": rows.iter().map(|(name, a, b)| json!({ "what": name, "a": a, "b": b })).collect::<Vec<_>>(),
            "formats": only.iter().map(|(ability, a, b)| json!({ "ability": ability, "only_a": a, "only_b": b })).collect::<Vec<_>>(),
        }));
        return Ok(Outcome::Fine);
    }
    let label = |abilities: &Abilities| {
        let name = output.styled(Style::Name, &abilities.name);
        format!("{name} {}, Vulkan {}", abilities.title, abilities.api_version)
    };
    let (first, second) = (label(a), label(b));
    output.line(format!("A  {first}"));
    output.line(format!("B  {second}"));
    output.line("");
    if !differs {
        output.styled_line(Style::Good, "They can do the same.");
        return Ok(Outcome::Fine);
    }
    if !rows.is_empty() {
        let mut table = Table::new(2);
        table.heading(["", "A", "B"]);
        for (name, a, b) in &rows {
            table.row([Cell::new(name), Cell::new(a), Cell::new(b)]);
        }
        output.table(&table);
        output.line("");
    }
    for (ability, only_a, only_b) in &only {
        for (who, formats) in [("A", only_a), ("B", only_b)] {
            if formats.is_empty() {
                continue;
            }
            let head = output.styled(Style::Heading, format!("{ability}: only {who}"));
            output.line(format!("  {head}, {}", counted(formats.len() as u64, "format")));
            for chunk in formats.iter().take(LISTED).collect::<Vec<_>>().chunks(4) {
                output.line(format!("    {}", chunk.iter().map(|name| **name).collect::<Vec<_>>().join(", ")));
            }
            if let Some(more) = record::more(formats.len(), LISTED) {
                output.styled_line(Style::Dim, format!("    {more} (--json has all)"));
            }
        }
    }
    Ok(Outcome::Fine)
}
