//! What settings and rules files ask for.

use super::driver::Driver;
use super::rules::{InForce, Rules};
use crate::decide::{self, ConflictBits, Policy};
use crate::outcome::{Kept, Terms};

/// What decisions on a device depend on beside the device.
pub struct Wishes {
    /// Settings that decisions depend on.
    pub(super) policy: Policy,
    /// Whether decisions are only written down.
    pub audit: bool,
    /// Whether it is followed what only shaders join.
    pub follows: bool,
    /// Whether what all immutable samplers come to is decided where they are bound.
    pub(super) joins_immutables: bool,
    /// Whether rules look at samplers, or may come to.
    pub looks_at_samplers: bool,
    /// Whether they look at the names of samplers, or may come to.
    pub looks_at_names: bool,
    /// Whether they look at the number of mip levels, or may come to.
    pub looks_at_levels: bool,
    /// Overrides.
    pub(super) rules: Rules,
}

impl Wishes {
    /// The overrides in force.
    #[inline(always)]
    pub fn rules(&self) -> InForce<'_> {
        self.rules.in_force()
    }

    /// Keeps other rules from coming into force, if they may, so that what is decided and what reaches the driver agree.
    pub fn hold_rules(&self) -> Option<impl Sized + '_> {
        self.rules.turn()
    }

    /// What outcomes depend on.
    pub(super) fn terms<'a>(&'a self, driver: &'a Driver) -> Terms<'a> {
        Terms { caps: &driver.caps, policy: &self.policy, audit: self.audit }
    }

    /// What samplers of a state ask of a view on this device; `overrides` are those that match them.
    pub(super) fn needs(&self, driver: &Driver, kept: &Kept, overrides: u64) -> ConflictBits {
        let bits = driver.relevant(decide::needs(&kept.original, &kept.base, &driver.caps, &self.policy));
        // Only such rules match any.
        if self.looks_at_samplers && (overrides != 0 || self.rules.are_live()) {
            ConflictBits(bits.0 | ConflictBits::OVERRIDE.0)
        } else {
            bits
        }
    }
}
