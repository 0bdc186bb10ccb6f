//! What a run was looked at for: how much there was, what is left as it is, what no rule covers. "Nothing was changed" alone reads as
//! "nothing is wrong".

use serde_json::{Value, json};

use crate::trace::analysis::{Analysis, Exempt};
use crate::trace::record::{counted, grouped, listed};

/// What samplin looked at: `16 samplers, 20 image views, 320 descriptors with an image and a sampler, 3 pairs that shaders join`.
pub fn at(analysis: &Analysis) -> String {
    let Some(census) = analysis.census() else {
        return "an unknown number of samplers: the trace has no summary, because no device was created, or none destroyed"
            .to_owned();
    };
    let seen: u64 = census.writes.values().map(|writes| writes.seen).sum();
    let mut parts = vec![
        counted(census.samplers_created, "sampler"),
        counted(census.views_created, "image view"),
        format!("{} with an image and a sampler", counted(seen, "descriptor")),
    ];
    if let Some(separate) = &census.separate {
        let pairs = if separate.links == 1 { "pair that shaders join" } else { "pairs that shaders join" };
        parts.push(format!("{} {pairs}", grouped(separate.links)));
    }
    parts.join(", ")
}

/// Whether anything could be found: a sampler that met a view.
pub fn is_anything(analysis: &Analysis) -> bool {
    !is_unrecorded(analysis)
        && analysis.census().is_some_and(|census| {
            let seen: u64 = census.writes.values().map(|writes| writes.seen).sum();
            seen > 0 || census.separate.is_some_and(|separate| separate.links > 0)
        })
}

/// Whether the summaries count what no record has.
pub fn is_unrecorded(analysis: &Analysis) -> bool {
    !analysis.missing().is_empty()
}

/// What is left as it is and named, if anything is.
pub fn left(analysis: &Analysis) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let total: u64 = analysis.unresolved.iter().map(|item| item.count).sum::<u64>() + analysis.unresolved_folded;
    for item in &analysis.unresolved {
        let name = match &item.rule {
            Some(rule) => format!("{} ({rule})", item.what),
            None => item.what.clone(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(4);
    names.truncate(4);
    let more = if more > 0 { format!(" and {}", counted(more as u64, "other kind")) } else { String::new() };
    (total > 0).then(|| format!("left as it is and named: {}: {}{more}", grouped(total), names.join(", ")))
}

/// What rules with `repair = "off"` leave as it is, with where they are, if anything is.
pub fn exempt(analysis: &Analysis) -> Option<String> {
    let total: u64 = analysis.exempt.iter().map(|item| item.count).sum::<u64>() + analysis.exempt_folded;
    let mut places: Vec<String> = analysis.exempt.iter().map(Exempt::places).collect();
    places.sort();
    places.dedup();
    let verb = if total == 1 { "is" } else { "are" };
    let what = match analysis.exempt.iter().all(|item| item.what == "pair") {
        true => counted(total, "pair"),
        false => counted(total, "sampler or pair").replace("sampler or pairs", "samplers or pairs"),
    };
    (total > 0).then(|| format!("{what} {verb} left alone by rules: {}", listed(&places, 4)))
}

/// What was not looked at in this run, and what no rule covers.
pub fn not_covered(analysis: &Analysis) -> String {
    let mut parts: Vec<&str> = Vec::new();
    if analysis.setting("mode") == Some("off") {
        parts.push("anything (mode = off)");
    }
    if analysis.setting("separate") == Some("base") {
        parts.push("pairs that only shaders join (separate = base)");
    }
    if analysis.setting("trace_level") == Some("summary") {
        parts.push("which samplers and views they are (trace_level = summary)");
    }
    if analysis.unresolved.iter().any(|item| item.rule.as_deref() == Some("heap")) {
        parts.push("which samplers and images of descriptor heaps meet");
    }
    parts.push("what no rule of samplin covers, such as synchronization, image layouts and shader logic");
    format!("not checked: {}", parts.join("; "))
}

/// `2 applied, 1 held back: max_anisotropy = 16 (one mip level)`, of overrides, if there is anything to say.
pub fn overrides(analysis: &Analysis) -> Option<String> {
    let held = analysis.held();
    if held.is_empty() {
        return None;
    }
    let total: u64 = held.iter().map(|(_, count)| count).sum();
    let made = |rule: &str| rule == "override";
    let applied: u64 = analysis.by_rule().iter().filter(|group| made(&group.rule)).map(|group| group.changes).sum();
    let wishes: Vec<&str> = held.iter().map(|(wish, _)| wish.as_str()).collect();
    Some(format!("{} applied, {} held back: {}", grouped(applied), grouped(total), listed(&wishes, 4)))
}

/// All of it as JSON.
pub fn json(analysis: &Analysis) -> Value {
    let held: Vec<Value> =
        analysis.held().into_iter().map(|(wish, count)| json!({ "wish": wish, "count": count })).collect();
    json!({
        "looked_at": at(analysis),
        "left": left(analysis),
        "exempt": exempt(analysis),
        "not_covered": not_covered(analysis),
        "held_back": held,
    })
}
