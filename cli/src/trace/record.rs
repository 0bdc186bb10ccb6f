//! The parts of records that are kept, as the trace spells them.

use std::fmt::Display;

use samplin_core::decide::{self, Catalog, Change, Context, DeviceCaps, Field, Repairer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One change, as `manifest/trace.schema.json` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordedChange {
    /// Family of rules.
    pub rule: String,
    /// Row of the catalogue.
    #[serde(default)]
    pub catalog: String,
    /// The valid usage that the application's state breaks.
    #[serde(default)]
    pub vuid: Option<String>,
    /// The member.
    pub field: String,
    /// What it was.
    #[serde(default)]
    pub from: Value,
    /// What it is.
    #[serde(default)]
    pub to: Value,
    /// Why.
    #[serde(default)]
    pub because: String,
    /// What is lost.
    #[serde(default)]
    pub lost: String,
    /// Who else gives the application what it asked for, as [`Repairer`] has the words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_by: Option<String>,
}

impl RecordedChange {
    /// Whether both change the same thing by the same rule into the same value. The wording of the reason does not matter.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.rule, &self.catalog, &self.field, &self.from, &self.to)
            == (&other.rule, &other.catalog, &other.field, &other.from, &other.to)
    }

    /// Whether this is who repairs.
    pub fn is_repaired_by(&self, repairer: Repairer) -> bool {
        match &self.repaired_by {
            Some(word) => Some(word.as_str()) == repairer.word(),
            // Traces before this member: the row says it where every shader does.
            None => repairer == self.repairer_by_row(),
        }
    }

    fn repairer_by_row(&self) -> Repairer {
        let row = Catalog::ALL.iter().find(|row| row.id() == self.catalog);
        row.map_or(Repairer::Sampler, |row| {
            let change = Change {
                catalog: *row,
                field: Field::CompareEnable,
                from: decide::Value::Absent,
                to: decide::Value::Absent,
            };
            decide::repairer(&change, &Context::new(&DeviceCaps::default()))
        })
    }

    /// Whether it is a wish of an override that a guard held back: nothing was changed, `from` is what was wished and `to` what stays.
    pub fn is_held(&self) -> bool {
        self.catalog == "O-2"
    }

    /// A wish that was held back, as a rules file spells it, with the reason: `max_anisotropy = 16 (one mip level)`.
    pub fn held(&self) -> String {
        let mut key = String::new();
        for character in self.field.chars() {
            if character.is_ascii_uppercase() {
                key.push('_');
            }
            key.push(character.to_ascii_lowercase());
        }
        let why = self.because.strip_prefix("held back: ").unwrap_or(&self.because);
        let why = why.rsplit_once(" (guard ").map_or(why, |(why, _)| why);
        // "the view has one mip level" and its like.
        let why = why.strip_prefix("the ").and_then(|why| why.split_once(" has ")).map_or(why, |(_, what)| what);
        format!("{key} = {} ({why})", value(&self.from).to_ascii_lowercase())
    }

    /// `magFilter LINEAR → NEAREST`.
    pub fn brief(&self) -> String {
        format!("{} {} → {}", self.field, value(&self.from), value(&self.to))
    }
}

/// The prefixes of enumerants that say nothing beside the name of their member.
const PREFIXES: [&str; 12] = [
    "VK_FILTER_",
    "VK_SAMPLER_MIPMAP_MODE_",
    "VK_SAMPLER_ADDRESS_MODE_",
    "VK_SAMPLER_REDUCTION_MODE_",
    "VK_SAMPLER_CREATE_",
    "VK_COMPARE_OP_",
    "VK_BORDER_COLOR_",
    "VK_CHROMA_LOCATION_",
    "VK_COMPONENT_SWIZZLE_",
    "VK_IMAGE_VIEW_TYPE_",
    "VK_SHADER_STAGE_",
    "VK_FORMAT_",
];

/// An enumerant without the prefix that its kind has.
pub fn short(name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// The value of a member as short text.
pub fn value(of: &Value) -> String {
    match of {
        Value::String(text) => short(text).to_owned(),
        Value::Null => "none".to_owned(),
        Value::Bool(on) => if *on { "on" } else { "off" }.to_owned(),
        Value::Number(number) => match number.as_f64() {
            // 1000.0 is written 1000.
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Value::Array(parts) if parts.is_empty() => "none".to_owned(),
        Value::Array(parts) => format!("[{}]", parts.iter().map(value).collect::<Vec<_>>().join(", ")),
        Value::Object(_) => of.to_string(),
    }
}

/// An application or engine: `name` or `name version`. Older traces hold the name alone.
pub fn named_version(of: Option<&Value>) -> Option<String> {
    match of? {
        Value::String(name) => Some(name.clone()),
        Value::Object(members) => {
            let name = members.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
            match members.get("version").and_then(Value::as_u64) {
                None | Some(0) => Some(name.to_owned()),
                Some(version) => Some(format!("{name} {version}")),
            }
        }
        _ => None,
    }
}

/// `… and 3 more`, of a list of which `limit` are shown, if there are more.
pub fn more(count: usize, limit: usize) -> Option<String> {
    (count > limit).then(|| format!("… and {} more", grouped(count - limit)))
}

/// `a, b and 3 more`, of which `limit` are named.
pub fn listed<S: AsRef<str>>(names: &[S], limit: usize) -> String {
    let shown = names.iter().take(limit).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(limit) {
        0 => shown,
        rest => format!("{shown} and {} more", grouped(rest)),
    }
}

/// `1 change`, `2 changes`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A number with thin groups of three digits: `12 345`. Four digits stay together.
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    if digits.len() <= 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A number of bytes for people: `131 kB`.
pub fn bytes(count: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 10.0);
    format!("{value:.digits$} {}", units.get(unit).unwrap_or(&""))
}

/// A stretch of nanoseconds for people: `1.5 s`.
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_short() {
        assert_eq!(value(&json!("VK_FILTER_LINEAR")), "LINEAR");
        assert_eq!(value(&json!(1000.0)), "1000");
        assert_eq!(value(&json!(0.5)), "0.5");
        assert_eq!(value(&json!("Infinity")), "Infinity");
        assert_eq!(value(&json!(true)), "on");
        assert_eq!(value(&json!([1.0, 0.25])), "[1, 0.25]");
        assert_eq!(value(&json!([])), "none");
        assert_eq!(value(&Value::Null), "none");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(1234), "1234");
        assert_eq!(grouped(12345), "12 345");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(counted(1, "change"), "1 change");
        assert_eq!(counted(0, "change"), "0 changes");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_500_000), "1.5 MB");
        assert_eq!(duration(1_500_000_000), "1.5 s");
    }

    #[test]
    fn both_spellings_of_an_application_are_read() {
        assert_eq!(named_version(Some(&json!("vkcube"))).as_deref(), Some("vkcube"));
        assert_eq!(named_version(Some(&json!({"name": "vkcube", "version": 0}))).as_deref(), Some("vkcube"));
        assert_eq!(named_version(Some(&json!({"name": "vkcube", "version": 3}))).as_deref(), Some("vkcube 3"));
        assert_eq!(named_version(Some(&json!({"name": null, "version": 3}))), None);
        assert_eq!(named_version(Some(&Value::Null)), None);
    }
}
