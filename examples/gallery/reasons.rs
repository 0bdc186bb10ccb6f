//! What was changed and why, in the words of a tile.

use samplin_testkit::trace;
use serde_json::Value;

/// Everything one rule changed.
pub(crate) struct Rule {
    name: String,
    catalog: Vec<String>,
    vuids: Vec<String>,
    pub(crate) reasons: Vec<Reason>,
}

/// Changes by one rule for one reason.
pub(crate) struct Reason {
    pub(crate) because: String,
    /// Fields changed from and to the same values.
    changes: Vec<(Vec<String>, String)>,
}

impl Rule {
    pub(crate) fn heading(&self) -> String {
        let vuids = if self.vuids.is_empty() { String::new() } else { format!(" ({})", vuid_list(&self.vuids)) };
        format!("{} {}{vuids}", self.name, self.catalog.join(" "))
    }
}

impl Reason {
    pub(crate) fn changes(&self) -> String {
        let list = self.changes.iter().map(|(fields, values)| format!("{} {values}", fields.join(", ")));
        list.collect::<Vec<_>>().join("; ")
    }
}

/// The changes by rule and reason, each once.
pub(crate) fn grouped(changes: &[trace::RecordedChange]) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for change in changes {
        let rule = find_or_push(
            &mut rules,
            |rule| rule.name == change.rule,
            || Rule { name: change.rule.clone(), catalog: Vec::new(), vuids: Vec::new(), reasons: Vec::new() },
        );
        find_or_push(&mut rule.catalog, |known| *known == change.catalog, || change.catalog.clone());
        if !change.vuid.is_empty() {
            find_or_push(&mut rule.vuids, |known| *known == change.vuid, || change.vuid.clone());
        }
        let reason = find_or_push(
            &mut rule.reasons,
            |reason| reason.because == change.because,
            || Reason { because: change.because.clone(), changes: Vec::new() },
        );
        let values = format!("{} → {}", short(&change.from), short(&change.to));
        let group = find_or_push(&mut reason.changes, |(_, known)| *known == values, || (Vec::new(), values.clone()));
        find_or_push(&mut group.0, |known| *known == change.field, || change.field.clone());
    }
    rules
}

/// The first item that fits, or a new one at the end.
fn find_or_push<T>(list: &mut Vec<T>, fits: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let index = list.iter().position(fits).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    });
    &mut list[index]
}

/// VUIDs in a row; one that differs from the one before in its number only shows the number.
pub(crate) fn vuid_list(ids: &[String]) -> String {
    let mut list: Vec<String> = Vec::new();
    let mut stem_before = "";
    for id in ids {
        let (stem, number) = short_vuid(id).rsplit_once('-').unwrap_or((short_vuid(id), ""));
        list.push(if stem == stem_before { format!("-{number}") } else { short_vuid(id).to_owned() });
        stem_before = stem;
    }
    list.join(", ")
}

/// A VUID without the words every one of its kind has.
fn short_vuid(id: &str) -> &str {
    let id = id.strip_prefix("VUID-").unwrap_or(id);
    ["VkSamplerCreateInfo-", "vkCmdDraw-", "vkCmdDispatch-"]
        .into_iter()
        .find_map(|prefix| id.strip_prefix(prefix))
        .unwrap_or(id)
}

/// A value of a change in few words: enums without the prefix that the field already says.
fn short(value: &str) -> String {
    let prefixes = [
        "VK_FILTER_",
        "VK_SAMPLER_MIPMAP_MODE_",
        "VK_SAMPLER_ADDRESS_MODE_",
        "VK_SAMPLER_REDUCTION_MODE_",
        "VK_BORDER_COLOR_",
        "VK_COMPARE_OP_",
    ];
    if value.is_empty() {
        return "absent".to_owned();
    }
    if let Ok(Value::Object(members)) = serde_json::from_str(value) {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let list = members.iter().map(|(key, value)| format!("{key} {}", plain(value)));
        return format!("({})", list.collect::<Vec<_>>().join(", "));
    }
    prefixes.into_iter().find_map(|prefix| value.strip_prefix(prefix)).unwrap_or(value).to_owned()
}
