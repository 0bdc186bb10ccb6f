//! How records name shader modules.

use samplin_wire::record::Descriptor;
use serde_json::{Value as Json, json};

use crate::decide::fnv1a;

/// Identifies a module in records; the same in every run.
pub(super) fn fingerprint(words: &[u32]) -> u64 {
    fnv1a(words.iter().flat_map(|word| word.to_le_bytes()))
}

/// Adds which module a record is about, and which of its descriptors.
#[inline(never)]
pub(super) fn add_module(members: &mut Json, module: u64, at: Option<Descriptor>) {
    members["module"] = format!("{module:016x}").into();
    if let Some(at) = at {
        members["descriptor"] = json!(at);
    }
}
