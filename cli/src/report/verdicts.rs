//! What `samplin prove --json` found, for the page to show beside each finding.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::prove::verdict::Verdict;
use crate::trace::analysis::Decision;

/// What was measured on one driver.
#[derive(Debug)]
pub struct Verdicts {
    /// The driver with its version.
    pub(super) driver: String,
    pairs: HashMap<Key, Verdict>,
}

/// A pair as records name it: fingerprint, format, aspect, view type and swizzle, path.
type Key = [String; 6];

/// What the command writes, as far as the page needs it.
#[derive(Deserialize)]
struct Written {
    driver: String,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    fingerprint: String,
    view: View,
    path: String,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct View {
    format: String,
    aspect: String,
    view_type: String,
    swizzle: String,
}

impl Verdicts {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is another file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
        let written: Written = serde_json::from_str(&text).map_err(|error| {
            Failure::input(format!("{}: {error}", path.display()))
                .hint("write it with `samplin prove --json TRACE > FILE`")
        })?;
        let mut pairs: HashMap<Key, Verdict> = HashMap::new();
        for pair in written.pairs {
            let View { format, aspect, view_type, swizzle } = pair.view;
            let worst =
                pairs.entry([pair.fingerprint, format, aspect, view_type, swizzle, pair.path]).or_insert(pair.verdict);
            // The weightiest is the least.
            *worst = pair.verdict.min(*worst);
        }
        Ok(Self { driver: written.driver, pairs })
    }

    /// How many pairs of these decisions have which verdict, the weightiest first: of a sampler's creation all that it is in.
    pub(super) fn of<'a>(&self, decisions: impl Iterator<Item = &'a Decision>) -> String {
        let mut seen: HashSet<&Key> = HashSet::new();
        for decision in decisions {
            let Some(fingerprint) = &decision.fingerprint else { continue };
            let fits = |key: &&Key| {
                let [of, format, aspect, view_type, swizzle, path] = *key;
                let is = |member: &Option<String>, value: &String| member.as_ref().is_none_or(|member| member == value);
                of == fingerprint
                    && is(&decision.format, format)
                    && is(&decision.aspect, aspect)
                    && is(&decision.view_type, view_type)
                    && is(&decision.swizzle, swizzle)
                    && is(&decision.path, path)
            };
            seen.extend(self.pairs.keys().filter(fits));
        }
        let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
        for verdict in seen.iter().filter_map(|key| self.pairs.get(*key)) {
            *counts.entry(*verdict).or_default() += 1;
        }
        let parts: Vec<String> = counts
            .iter()
            .map(
                |(verdict, count)| {
                    if *count == 1 { verdict.words().to_owned() } else { format!("{} × {count}", verdict.words()) }
                },
            )
            .collect();
        parts.join(", ")
    }
}
