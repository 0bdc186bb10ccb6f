//! Writes to sets that have a table, of samplers that have a row and of images whose class has a column: their words are written at once,
//! without a lock and a guard.
//!
//! Others write the words of a set as well: whoever makes its table, and whoever finds that a class has another column. They move the
//! version of the set before they look at a descriptor, as a write does behind its words. So either they see what was written here, or
//! here is seen that they are at it, and the write is taken over again the slow way.

use ash::vk;

use super::blocks::Table;
use super::lists::Numbers;
use super::sets::SetEntry;

/// What there was before a write.
#[derive(Clone, Copy)]
pub(super) struct Before<'e> {
    table: Option<&'e Table>,
    parts: u64,
}

impl SetEntry {
    /// To be called before anything is written.
    #[inline(always)]
    pub(super) fn before(&self, numbers: &Numbers) -> Before<'_> {
        match self.table() {
            Some(table) => Before { table: Some(table), parts: numbers.parts() },
            None => Before { table: None, parts: 0 },
        }
    }

    /// Writes the words of descriptors that were just written. False if one of them has no word so far.
    #[inline(always)]
    pub(super) fn follow(
        &self,
        numbers: &Numbers,
        Before { table, .. }: Before<'_>,
        written: (vk::DescriptorType, (u32, u32), u32),
    ) -> bool {
        table.is_none_or(|table| self.follow_in(numbers, table, written.0, written.1, written.2))
    }

    #[inline(never)]
    fn follow_in(
        &self,
        numbers: &Numbers,
        table: &Table,
        ty: vk::DescriptorType,
        target: (u32, u32),
        count: u32,
    ) -> bool {
        let run = self.shape.run(ty, target, count).map(|(_, run)| run).zip(self.arrays());
        let Some((run, arrays)) = run.filter(|(run, _)| run.start >= self.shape.slots) else {
            return self.shape.walk(target, count).all(|(binding, _)| !self.shape.has_in_arrays(binding));
        };
        let run = run.start - self.shape.slots..run.end - self.shape.slots;
        let mut all = table.slice.words(run.clone());
        if ty == vk::DescriptorType::SAMPLER {
            let rows = numbers.rows();
            arrays.handles(run).zip(&mut all).all(|(handle, word)| rows.word(handle).map(|row| word.set(row)).is_some())
        } else {
            let columns = numbers.columns();
            // What is no image that is known has none to be of.
            let column = |class| if class == 0 { Some(0) } else { columns.word(class) };
            arrays.words(run).zip(&mut all).all(|(class, word)| column(class).map(|own| word.set(own)).is_some())
        }
    }

    /// Whether nobody may have missed what was written. To be called when the version has moved.
    #[inline(always)]
    pub(super) fn is_followed(&self, numbers: &Numbers, before: Before<'_>) -> bool {
        match (self.table(), before.table) {
            (None, None) => true,
            (Some(_), Some(_)) => numbers.parts() == before.parts,
            _ => false,
        }
    }
}
