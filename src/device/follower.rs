//! What the rooms below call and ask of whoever follows what only shaders join.

use super::driver::Driver;
use super::hot::Hot;

/// Who follows what only shaders join.
pub(super) trait Follower: Send + Sync {
    /// A variant is about to be destroyed.
    fn forget_variant(&self, driver: &Driver, variant: u64);
    /// A sampler of the application's is about to be destroyed.
    fn forget_sampler(&self, driver: &Driver, sampler: u64);
    /// What samplers need is another thing than before.
    fn look_again(&self, hot: &Hot);
    /// A sampler may need shaders that divide coordinates.
    fn follow_pairs(&self);
    /// There is an image that may have a view with both aspects.
    fn expect_wholes(&self);
    /// There is a view with both aspects.
    fn follow_wholes(&self, hot: &Hot);
    /// There is a combined descriptor that compares where its format cannot.
    fn follow_comparisons(&self, hot: &Hot);
    /// Whether what immutable samplers of combined descriptors come to is decided where they are bound, of some at least.
    fn follows_immutables(&self) -> bool;
    /// Whether shaders compare for combined descriptors as well.
    fn compares_combined(&self) -> bool;
}
