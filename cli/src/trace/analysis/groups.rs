//! Changes by rule, format, sampler and path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use samplin_wire::record::{Draw, Link};
use serde::Serialize;

use super::{Analysis, Position};
use crate::trace::record::RecordedChange;

/// One group of changes and how many there are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// What the group has in common.
    pub key: String,
    /// A longer name, for a sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Changes.
    pub changes: u64,
    /// Records that hold them.
    pub records: u64,
    /// Changes by rule.
    pub rules: BTreeMap<String, u64>,
}

/// What one rule did.
#[derive(Clone, Debug, Serialize)]
pub struct RuleGroup {
    /// The rule.
    pub rule: String,
    /// Changes.
    pub changes: u64,
    /// The different changes, the most frequent first.
    pub kinds: Vec<ChangeKind>,
}

/// One change and how often it was made.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeKind {
    /// How often.
    pub count: u64,
    /// The change.
    #[serde(flatten)]
    pub change: RecordedChange,
}

/// What became of one link, for one format and rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LinkGroup {
    /// Where image and sampler are, and the stages that join them.
    pub link: Link,
    /// Format of the view; unknown for a link that is not followed.
    pub format: Option<String>,
    /// The rule; none for a link that is not followed.
    pub rule: Option<String>,
    /// How it was repaired, or the name of what kept it from that; none in audit mode and where no sampler repairs it.
    pub outcome: Option<String>,
    /// Whether it was repaired.
    pub repaired: bool,
    /// How many records say so.
    pub count: u64,
}

/// What was first met at draws in one debug label region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelGroup {
    /// The label; none for draws in no region.
    pub label: Option<String>,
    /// The first of the draws, by the order of the records.
    pub first: Draw,
    /// How many records say so.
    pub records: u64,
    /// Changes by rule.
    pub rules: BTreeMap<String, u64>,
    /// What is left, by name.
    pub left: BTreeMap<String, u64>,
}

/// By what to group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// By rule.
    Rule,
    /// By the format of the view.
    Format,
    /// By sampler.
    Sampler,
    /// By the path of the pair.
    Path,
    /// By set and binding of image and sampler, if only a shader joins them.
    Link,
    /// By the debug label region of the draw that first met the pair, if only a shader joins it.
    Label,
}

impl Analysis {
    /// What each rule did, the busiest first.
    pub fn by_rule(&self) -> Vec<RuleGroup> {
        let mut kinds: HashMap<&RecordedChange, u64> = HashMap::new();
        for decision in &self.decisions {
            for change in decision.changes.iter() {
                *kinds.entry(change).or_insert(0) += decision.count;
            }
        }
        let mut groups: BTreeMap<&str, Vec<ChangeKind>> = BTreeMap::new();
        for (change, count) in kinds {
            groups.entry(&change.rule).or_default().push(ChangeKind { count, change: change.clone() });
        }
        let mut groups: Vec<RuleGroup> = groups
            .into_iter()
            .map(|(rule, mut kinds)| {
                kinds.sort_by(|a, b| {
                    let order = |kind: &ChangeKind| {
                        let of = &kind.change;
                        (of.catalog.clone(), of.brief(), of.because.clone(), of.lost.clone())
                    };
                    b.count.cmp(&a.count).then_with(|| order(a).cmp(&order(b)))
                });
                RuleGroup { rule: rule.to_owned(), changes: kinds.iter().map(|kind| kind.count).sum(), kinds }
            })
            .collect();
        groups.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.rule.cmp(&b.rule)));
        groups
    }

    /// Wishes of overrides that were held back, each with its count, the most frequent first.
    pub fn held(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for decision in &self.decisions {
            for wish in decision.held.iter() {
                *counts.entry(wish.held()).or_insert(0) += decision.count;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// What became of each link, the most frequent first.
    pub fn by_link(&self) -> Vec<LinkGroup> {
        // Without their counts.
        let mut groups: BTreeMap<LinkGroup, u64> = BTreeMap::new();
        let mut add = |group: LinkGroup, count: u64| *groups.entry(group).or_insert(0) += count;
        for decision in &self.decisions {
            let Some(link) = &decision.link else { continue };
            let rules: BTreeSet<&String> = decision.changes.iter().map(|change| &change.rule).collect();
            for rule in rules {
                let group = LinkGroup {
                    link: link.clone(),
                    format: decision.format.clone(),
                    rule: Some(rule.clone()),
                    outcome: decision.how.clone(),
                    repaired: decision.how.is_some(),
                    count: 0,
                };
                add(group, decision.count);
            }
        }
        for item in &self.unresolved {
            let Some(link) = &item.link else { continue };
            let group = LinkGroup {
                link: link.clone(),
                format: item.format.clone(),
                rule: item.rule.clone(),
                outcome: Some(item.what.clone()),
                repaired: false,
                count: 0,
            };
            add(group, item.count);
        }
        let mut groups: Vec<_> = groups.into_iter().map(|(group, count)| LinkGroup { count, ..group }).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        groups
    }

    /// What was first met in each debug label region, the most frequent first.
    pub fn by_label(&self) -> Vec<LabelGroup> {
        let mut groups: BTreeMap<Option<String>, (Position, LabelGroup)> = BTreeMap::new();
        let mut add =
            |draw: &Option<Draw>, at: Position, count: u64, rules: &[RecordedChange], left: Option<&String>| {
                let Some(draw) = draw else { return };
                let new = || LabelGroup {
                    label: draw.label.clone(),
                    first: draw.clone(),
                    records: 0,
                    rules: BTreeMap::new(),
                    left: BTreeMap::new(),
                };
                let (first, group) = groups.entry(draw.label.clone()).or_insert_with(|| (at, new()));
                if (at.trace, at.line) < (first.trace, first.line) {
                    (*first, group.first) = (at, draw.clone());
                }
                group.records += count;
                for rule in rules {
                    *group.rules.entry(rule.rule.clone()).or_insert(0) += count;
                }
                if let Some(what) = left {
                    *group.left.entry(what.clone()).or_insert(0) += count;
                }
            };
        for decision in self.decisions.iter().filter(|decision| !decision.changes.is_empty()) {
            add(&decision.draw, decision.first, decision.count, &decision.changes, None);
        }
        for item in &self.unresolved {
            add(&item.draw, item.first, item.count, &[], Some(&item.what));
        }
        let mut groups: Vec<LabelGroup> = groups.into_values().map(|(_, group)| group).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.records));
        groups
    }

    /// Changes grouped by format, sampler or path, the busiest first.
    pub fn grouped(&self, by: By) -> Vec<Group> {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for decision in self.decisions.iter().filter(|decision| !decision.changes.is_empty()) {
            let key = match by {
                By::Rule | By::Link | By::Label => continue,
                By::Format => decision.format.clone(),
                By::Sampler => decision.fingerprint.clone(),
                By::Path => Some(decision.path.clone().unwrap_or_else(|| match decision.event {
                    "pair" => "(several)".to_owned(),
                    "sampler" | "conversion" | "image" | "view" => "creation".to_owned(),
                    event => event.to_owned(),
                })),
            };
            let Some(key) = key else { continue };
            let group = groups.entry(key.clone()).or_insert_with(|| Group { key, ..Group::default() });
            if by == By::Sampler && group.name.is_none() {
                group.name.clone_from(&decision.sampler_name);
            }
            group.records += decision.count;
            group.changes += decision.count * decision.changes.len() as u64;
            for change in decision.changes.iter() {
                *group.rules.entry(change.rule.clone()).or_insert(0) += decision.count;
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by(|a, b| b.changes.cmp(&a.changes).then_with(|| a.key.cmp(&b.key)));
        groups
    }
}
