//! What settings and rules files ask for.

use super::driver::Driver;
use crate::decide::{self, ConflictBits, Policy};
use crate::outcome::{Kept, Terms};
use crate::overrides::Overrides;

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
    /// The overrides in force.
    pub overrides: Overrides,
}

impl Wishes {
    /// What outcomes depend on.
    pub(super) fn terms<'a>(&'a self, driver: &'a Driver) -> Terms<'a> {
        Terms { caps: &driver.caps, policy: &self.policy, audit: self.audit }
    }

    /// What samplers of a state ask of a view on this device; `overrides` are those that match them.
    pub(super) fn needs(&self, driver: &Driver, kept: &Kept, overrides: u64) -> ConflictBits {
        let bits = driver.relevant(decide::needs(&kept.original, &kept.base, &driver.caps, &self.policy));
        if overrides == 0 { bits } else { ConflictBits(bits.0 | ConflictBits::OVERRIDE.0) }
    }
}
