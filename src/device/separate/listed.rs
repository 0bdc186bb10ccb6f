//! What is known of descriptors that are in the arrays of sets, or too many for that.

use std::sync::atomic::Ordering;

use samplin_core::left::Left;
use samplin_spirv::Sampled;

use super::Separate;
use super::arrays::{Meaning, Sum};
use super::layouts::Binding;
use super::sets::SetEntry;
use crate::device::hot::Hot;
use crate::variant::Gate;

impl SetEntry {
    /// Why the descriptors of a binding are not known, if they are not.
    pub(super) fn unlisted(&self, binding: &Binding) -> Option<Left> {
        match () {
            () if binding.is_too_large() => Some(Left::TooLarge),
            () if self.arrays().is_some() || !self.shape.has_in_arrays(binding) => None,
            () if self.shape.slots_in_arrays(self.variable) > 0 => Some(Left::Memory),
            () => None,
        }
    }

    /// Calls `with` for what each descriptor in arrays stood for when it was written, and whether that is a sampler's.
    pub(super) fn each_word(&self, mut with: impl FnMut(bool, u32)) {
        let Some(arrays) = self.arrays() else { return };
        let few = self.slots().len();
        for binding in self.shape.bindings.iter().filter(|binding| self.shape.has_in_arrays(binding)) {
            let range = binding.slots().start - few..binding.slots().end - few;
            arrays.find(
                range,
                |sum| sum.all() != 0,
                |slot, _, word| {
                    with(binding.element_of(slot + few, true).is_some(), word);
                    None::<()>
                },
            );
        }
    }

    /// What the samplers of a binding need, and in the upper half what its images lack that may be read as this type; of arrays, what was
    /// ever written to this binding of any set.
    pub(super) fn seen(&self, gate: &Gate, binding: &Binding, sampled: Option<Sampled>) -> u64 {
        let own = Sum::default();
        let sum = match self.slots().get(binding.slots()) {
            None => binding.seen.as_deref().unwrap_or(&own),
            Some(slots) => {
                for (slot, word) in binding.slots().zip(slots) {
                    let is_sampler = binding.element_of(slot, true).is_some();
                    own.add_one(Meaning::of(gate, word.load(Ordering::Relaxed), is_sampler).bits);
                }
                &own
            }
        };
        u64::from(sum.needs()) | u64::from(sum.lacks(sampled)) << 32
    }

    /// What samplers need has changed. Another thread may be writing to the set, and then has what it writes summed up.
    fn look_again(&self, gate: &Gate) {
        for binding in self.shape.bindings.iter().filter(|binding| self.shape.has_in_arrays(binding)) {
            let Some(arrays) = self.arrays() else { continue };
            let few = self.slots().len();
            let range = binding.slots();
            arrays.find(
                range.start - few..range.end - few,
                |_| true,
                |slot, handle, word| {
                    let is_sampler = binding.element_of(slot + few, true).is_some();
                    let now = Meaning::of(gate, handle, is_sampler);
                    if is_sampler && now.word != word {
                        self.set_one_in_arrays(binding, slot + few, handle, now);
                    }
                    None::<()>
                },
            );
        }
        self.touch();
    }
}

impl Separate {
    /// What samplers of a state ask for has changed.
    pub fn look_again(&self, hot: &Hot) {
        self.sets.for_each(&mut |entry| entry.look_again(&hot.gate));
        self.tables.look_again();
        self.resolutions.look_again();
    }
}
