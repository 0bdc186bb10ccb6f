//! Pipeline layouts, as far as binds go by them.

/// A pipeline layout: which others it is compatible with, and how many dynamic offsets its sets take.
#[derive(Debug)]
pub struct Layout {
    compatible: Box<[u64]>,
    dynamic: Box<[u32]>,
}

impl Layout {
    /// A layout of as many sets as there are words. Two layouts are compatible for the set of a number if the words of that number are
    /// equal (Pipeline Layout Compatibility); then all words before it have to be equal too. `dynamic`: dynamic offsets of each set.
    pub fn new(compatible: Box<[u64]>, dynamic: Box<[u32]>) -> Self {
        Self { compatible, dynamic }
    }

    /// How many sets it has.
    #[inline(always)]
    pub fn sets(&self) -> usize {
        self.compatible.len()
    }

    /// Dynamic offsets that a bind of the set of a number takes.
    pub fn dynamic(&self, set: usize) -> usize {
        self.dynamic.get(set).map_or(0, |count| *count as usize)
    }

    /// The same of a set that may be null, which has no descriptors.
    pub(crate) fn dynamic_of(&self, number: usize, set: u64) -> usize {
        if set == 0 { 0 } else { self.dynamic(number) }
    }

    /// Whether a set that was bound with this layout at number `set` stays bound for a pipeline of `other`.
    #[inline(always)]
    pub fn is_compatible(&self, other: &Self, set: usize) -> bool {
        matches!((self.compatible.get(set), other.compatible.get(set)), (Some(one), Some(two)) if one == two)
    }
}
