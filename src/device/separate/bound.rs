//! What is bound at a set number of a bind point, by the application or by the layer.

use std::sync::Arc;

use super::layouts::PipelineShape;
use super::recipe::Second;
use super::sets::{Brief, SetEntry};

/// What is bound at a set number.
#[derive(Default)]
pub(super) struct Bound {
    /// The application's set; 0 for pushed descriptors and for none.
    pub(super) set: u64,
    /// What is in it; none if nothing is bound, or nothing of interest.
    pub(super) entry: Option<Arc<SetEntry>>,
    /// The layout that it was bound with; none if nothing is bound.
    pub(super) layout: Option<Arc<PipelineShape>>,
    /// Dynamic offsets.
    pub(super) offsets: Vec<u32>,
    /// The set that is bound in truth.
    pub(super) actual: u64,
    /// Samplers that the layer has pushed in place of others: binding, element, handle.
    pub(super) pushed: Vec<(u32, u32, u64)>,
    /// The application has pushed since, perhaps over them.
    pub(super) repushed: bool,
    /// What is in the set, when it was bound.
    pub(super) brief: Brief,
    /// Of what is not looked at by leaves, `entry` to `repushed`, something may be there.
    pub(super) has_more: bool,
    /// The layout of a bind before: the next is often with the same one, and need not count it again.
    pub(super) spare: Option<Arc<PipelineShape>>,
}

impl Bound {
    /// The set that is bound from now on, without dynamic offsets. Its entry is looked up when it is needed.
    #[inline(always)]
    pub(super) fn hold(&mut self, set: u64, brief: Brief) {
        self.set = set;
        self.actual = set;
        self.brief = brief;
        if self.has_more {
            self.drop_more();
        }
    }

    /// [`Bound::hold`] for the set that is bound.
    #[inline(always)]
    pub(super) fn hold_again(&mut self) {
        self.actual = self.set;
        if self.has_more {
            self.drop_more();
        }
    }

    #[inline(never)]
    fn drop_more(&mut self) {
        self.has_more = false;
        self.entry = None;
        self.offsets.clear();
        self.pushed.clear();
        self.repushed = false;
    }

    /// Whether it is, or was before, bound with a layout that is at this address; then it is again.
    #[inline(always)]
    pub(super) fn is_with(&mut self, layout: *const PipelineShape) -> bool {
        let same = |own: &Option<Arc<PipelineShape>>| own.as_ref().is_some_and(|own| Arc::as_ptr(own) == layout);
        if same(&self.layout) {
            return true;
        }
        if same(&self.spare) {
            std::mem::swap(&mut self.layout, &mut self.spare);
            return true;
        }
        false
    }

    /// Nothing is bound any more; what was asked of the allocator stays.
    pub(super) fn clear(&mut self) {
        self.hold(0, Brief::default());
        if self.layout.is_some() {
            self.spare = self.layout.take();
        }
    }

    /// Whether something else is bound than the application has bound.
    pub(super) fn differs(&self) -> bool {
        self.actual != self.set || !self.pushed.is_empty()
    }
}

/// A hidden set that is bound.
pub(super) struct Hidden {
    pub(super) set: u64,
    /// The layout that it was bound with, whose last set it is.
    pub(super) layout: Arc<PipelineShape>,
}

impl Hidden {
    /// Its set number.
    pub(super) fn number(&self) -> usize {
        self.layout.sets.len() - 1
    }

    /// Whether it is this one, bound where the pipeline reads it.
    pub(super) fn is_of(&self, second: &Second, set: u64) -> bool {
        let number = second.number();
        self.set == set && self.number() == number && self.layout.is_compatible(&second.layout, number)
    }
}
