//! Links with what their operands are bound to.

use super::layouts::Binding;
use super::programs::ProgramLink;
use super::sets::SetEntry;

/// A link of a program, with its number.
#[derive(Clone, Copy)]
pub(super) struct LinkOf<'p> {
    pub(super) index: usize,
    pub(super) link: &'p ProgramLink,
}

/// A binding of a set that is bound.
#[derive(Clone, Copy)]
pub(super) struct BoundBinding<'s> {
    pub(super) set: &'s SetEntry,
    pub(super) binding: &'s Binding,
}

/// A link by its number, with what its operands are bound to.
pub(super) struct BoundLink<'s> {
    pub(super) index: usize,
    pub(super) image: BoundBinding<'s>,
    pub(super) sampler: BoundBinding<'s>,
}
