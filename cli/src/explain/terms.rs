//! Words of records, findings and messages that are no rule, no name of what is left and no setting.

use serde::Serialize;

use crate::trace::links;

/// The schema of a trace describes its events.
const SCHEMA: &str = include_str!("../../../manifest/trace.schema.json");

/// Words of the member `lost`, which begin a text that depends on the case.
const LOSSES: [(&str, &str); 3] = [
    ("nothing", "The change loses nothing: what is shown is the same."),
    (
        "seam",
        "A shader filters in place of the sampler, on a cube face by face, so the texels beside edges are approximate.",
    ),
    (
        "trilinear-offset",
        "GL_CLAMP or GL_MIRROR_CLAMP_EXT blends two mip levels, and one shift of the coordinates suits the nearer level only.",
    ),
];

/// A word of records.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Term {
    /// The word.
    pub name: String,
    /// Where it stands.
    pub of: &'static str,
    /// What it means, as a sentence.
    pub meaning: String,
}

/// All of them.
pub(super) fn all() -> Vec<Term> {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let events = schema.pointer("/properties/event/enum").and_then(|names| names.as_array()).cloned();
    let events = events.unwrap_or_default().into_iter().filter_map(|name| {
        let name = name.as_str()?.to_owned();
        let meaning = schema.pointer(&format!("/$defs/{name}/description"))?.as_str()?.to_owned();
        Some(Term { name, of: "event of a trace", meaning })
    });
    let hows = links::HOWS.iter().map(|(name, meaning)| Term {
        name: (*name).to_owned(),
        of: "how a pipeline was given a sampler",
        meaning: sentence(meaning),
    });
    let losses = LOSSES.iter().map(|(name, meaning)| Term {
        name: (*name).to_owned(),
        of: "lost",
        meaning: (*meaning).to_owned(),
    });
    events.chain(hows).chain(losses).collect()
}

/// A text with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
