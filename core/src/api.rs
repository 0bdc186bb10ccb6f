//! What samplin decides, for programs that embed it: a [`Device`] is described once, and [`Device::decide`] says what a sampler and a view
//! come to on it.
//!
//! No second implementation: [`Device::decide`] asks [`outcome`], which the layer asks too.

mod device;
mod features;
mod view;

use alloc::{string::String, vec::Vec};
use core::fmt;

pub use self::device::{Device, FormatProperties, Limits, Settings};
pub use self::features::{FeatureStructure, Features};
pub use self::view::{Image, View};
use crate::decide::{self, Context, SamplerState};
use crate::outcome;

/// What a sampler comes to, alone or with a view.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What to create the sampler with. Nothing of it differs from what was asked for if there are no changes.
    pub state: SamplerState,
    /// Each difference to what was asked for, in order. A field may change twice, from CUBIC to LINEAR to NEAREST.
    pub changes: Vec<Change>,
    /// What is wrong and no sampler can repair.
    pub unresolved: Vec<Unresolved>,
}

impl Outcome {
    /// Whether what was asked for is legal on the device as it is.
    pub fn is_legal(&self) -> bool {
        self.changes.is_empty() && self.unresolved.is_empty()
    }
}

/// One member of a create info that had to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Vulkan's name of the member.
    pub field: &'static str,
    /// The value before.
    pub from: Value,
    /// The value after.
    pub to: Value,
    /// Why, in one clause with the facts of the case.
    pub because: String,
    /// The valid usage that the value before breaks, if a valid-usage id says so.
    pub vuid: Option<&'static str>,
    /// What the application does not get.
    pub lost: &'static str,
    /// The stable name of the rule, such as `linear-filter`. `samplin explain` tells more of it.
    pub rule: &'static str,
    /// The row of the catalogue of rules, such as `B-1`.
    pub catalog: &'static str,
}

impl Change {
    fn new(change: &decide::Change, context: &Context<'_>) -> Self {
        Self {
            field: change.field.name(),
            from: Value(change.from),
            to: Value(change.to),
            because: decide::because(change, context),
            vuid: change.catalog.vuid(),
            lost: decide::lost(change, context),
            rule: change.catalog.rule().name(),
            catalog: change.catalog.id(),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}: {}", self.field, self.from, self.to, self.because)
    }
}

/// The value of a member, which is printed as Vulkan spells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value(decide::Value);

impl Value {
    /// The number of an enumerant, the bits of flags, 0 or 1 of a boolean; `None` of everything else.
    pub fn number(&self) -> Option<i64> {
        self.0.number()
    }

    /// The value of a floating-point member.
    pub fn float(&self) -> Option<f32> {
        match self.0 {
            decide::Value::Float(value) => Some(value),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that stays wrong, because only another view or another device could repair it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The stable name of the rule.
    pub rule: &'static str,
    /// The valid usage that is broken, if a valid-usage id says so.
    pub vuid: Option<&'static str>,
    /// What is wrong, in a sentence.
    pub because: String,
}

impl From<outcome::Unresolved> for Unresolved {
    fn from(of: outcome::Unresolved) -> Self {
        Self { rule: of.rule.name(), vuid: of.vuid, because: of.why.into() }
    }
}
