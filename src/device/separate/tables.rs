//! Which sampler each image of an array gets, as tables that a shader looks up (`bindless=resolve`).
//!
//! ```text
//! table    of a set: a word for each descriptor in its arrays, the row of a sampler or the column of an image
//! matrix   row + column: a place in the pool
//! pool     samplers: the application's own and those that stand in for them, and behind all places those of bindings that may be written
//!          after the bind, in their order
//! ```
//!
//! Where no place is left for what stands in, the application's own sampler is read. Where there is none for that either, the word of its
//! descriptor is [`OWN`] and the shader reads it behind the places; or, where nothing is written after the bind, nothing is looked up.
//!
//! A row belongs to a sampler, so it goes with that. A column belongs to classes of views that ask for the same of every sampler that has a
//! row, so it stays. A word is written inside the call that writes its descriptor, which no shader that may run then reads: a set is not in
//! use, or this descriptor of it is not (VUID-vkUpdateDescriptorSets-None-03047, UPDATE_UNUSED_WHILE_PENDING), or what reads it is
//! submitted later (UPDATE_AFTER_BIND; Host Write Ordering Guarantees). Two descriptors never share a word.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};
use samplin_spirv::Uses;

use super::Separate;
use super::arrays::Meaning;
use super::blocks::{Blocks, BufferKind, Looked, Slice, Statics, Table};
use super::layouts::{Binding, SlotKind};
use super::lists::{COLUMNS, Lists, Numbers, OWN, ROWS, Row};
use super::sets::SetEntry;
use crate::counters::Path;
use crate::device::driver::Driver;
use crate::device::resolve::On;
use crate::table::{FlatTable, lock};

/// The rows, columns and places of a device.
pub(super) struct Tables {
    pub(super) numbers: Numbers,
    /// The place of each sampler of the pool, and 1.
    pub(super) places: FlatTable,
    pub(super) lists: Mutex<Lists>,
    matrix: OnceLock<Slice>,
    pub(super) blocks: Blocks,
    /// Held while words of other sets than the caller's are written, and by whoever takes a set's table from it.
    walk: Mutex<()>,
    /// How often what samplers ask for has changed, and how often it had when all rows were last filled.
    changes: AtomicU64,
    filled: AtomicU64,
    /// There are pipelines whose sets may be written to after the bind.
    has_late: AtomicBool,
    /// Classes that there was no column for, by the word of [`Meaning`].
    crowded: FlatTable,
    /// Pairs that there was no place for what stands in for their samplers, see [`Tables::unplaced`].
    pub(super) unplaced: FlatTable,
    /// What samplers need that were left without a place, or what stands in for them.
    pub(super) lost: AtomicU32,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            numbers: Numbers::default(),
            places: FlatTable::new(8),
            lists: Mutex::default(),
            matrix: OnceLock::new(),
            blocks: Blocks::of(BufferKind::Storage),
            walk: Mutex::default(),
            changes: AtomicU64::new(0),
            filled: AtomicU64::new(0),
            has_late: AtomicBool::new(false),
            crowded: FlatTable::new(8),
            unplaced: FlatTable::new(8),
            lost: AtomicU32::new(0),
        }
    }
}

impl Tables {
    /// Whether there are pipelines that look up what may be written after the bind.
    #[inline(always)]
    pub(super) fn has_late(&self) -> bool {
        self.has_late.load(Ordering::Relaxed)
    }

    /// There is one from now on.
    pub(super) fn expect_late(&self) {
        self.has_late.store(true, Ordering::Release);
    }

    /// What samplers ask for has changed: rows are filled again before they are next of use.
    pub(super) fn look_again(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// The matrix, once it is there.
    pub(super) fn matrix(&self) -> Option<&Slice> {
        self.matrix.get()
    }

    /// How many samplers and how many rows there are.
    pub(super) fn count(&self) -> usize {
        self.numbers.rows.len() + self.places.len()
    }

    /// The column of a class, by the word of [`Meaning`].
    pub(super) fn column(&self, meaning: u32) -> Option<u32> {
        (self.numbers.columns.get(u64::from(meaning)) as u32).checked_sub(1)
    }

    /// Keeps words of other sets than the caller's from being written.
    pub(super) fn walk(&self) -> MutexGuard<'_, ()> {
        lock(&self.walk)
    }

    /// Whether there was no column for a class, so that its views keep the application's samplers.
    pub(super) fn is_crowded(&self, class: u32) -> bool {
        self.crowded.get(u64::from(class) + 1) != 0
    }

    /// Whether there was none for any.
    pub(super) fn has_crowded(&self) -> bool {
        !self.crowded.is_empty()
    }
}

impl Tables {
    /// The sampler that a row's sampler becomes with a class.
    fn chosen(On { ground, pairs }: On<'_>, row: Row, class: u32) -> u64 {
        // Links that compare look nothing up where a comparison conflicts, so the words are for those that do not.
        let pair = Pair { sampler: row.sampler, view: 0, state: row.state, class };
        let pair = pairs.images.as_read(&ground.hot, &ground.driver, pair, Uses::IMPLICIT);
        let pair = Pair { class: pairs.looked_up_class(ground, pair.class), ..pair };
        let of = |state| pairs.samplers.rows(&ground.hot).state(state).zip(pairs.images.class(pair.class));
        let Some((shared, view)) = of(row.state) else { return row.sampler };
        if ground.driver.relevant(shared.needs).0 & view.lacks.0 == 0 {
            return row.sampler;
        }
        pairs.choose(ground, pair, Path::Draw)
    }

    /// Fills a row, and parts columns whose classes ask for different samplers of it. Whether any was parted, so that words change.
    fn fill_row(&self, on: On<'_>, lists: &mut Lists, number: usize) -> bool {
        let Some(row) = lists.row(number) else { return false };
        let (mut parted, mut column) = (false, 0);
        if lists.columns.is_empty() {
            lists.columns.with_room().push(Vec::new());
        }
        while let Some(classes) = lists.columns.get(column).cloned() {
            let chosen = memory::collect(classes.iter().map(|class| Self::chosen(on, row, *class)));
            let first = if column == 0 { row.sampler } else { chosen.first().copied().unwrap_or(row.sampler) };
            for (class, _) in classes.iter().zip(&chosen).filter(|(_, chosen)| **chosen != first) {
                if let Some(own) = lists.columns.get_mut(column) {
                    own.retain(|other| other != class);
                }
                parted |= self.give_column(on, lists, *class) as usize != column;
            }
            self.fill(on, lists, number, column, first);
            column += 1;
        }
        parted
    }

    fn fill(&self, on: On<'_>, lists: &mut Lists, row: usize, column: usize, chosen: u64) {
        let Some(own) = lists.row(row) else { return };
        let key = Self::unplaced(own.state, column as u32);
        let place = match self.place(&on.ground.driver, lists, chosen) {
            Some(place) => {
                if self.has_unplaced() {
                    self.unplaced.remove(key);
                }
                place
            }
            None => {
                self.unplaced.insert(key, 1);
                self.lose(on, own.state);
                // Each row has a place for the application's own.
                (self.places.get(own.sampler) as u32).saturating_sub(1)
            }
        };
        if let Some(matrix) = self.matrix() {
            matrix.set(row * COLUMNS + column, place);
        }
    }

    /// Gives a class the column of those that ask for the same of every row, or one of its own.
    fn give_column(&self, on: On<'_>, lists: &mut Lists, class: u32) -> u32 {
        if lists.columns.is_empty() {
            lists.columns.with_room().push(Vec::new());
        }
        let rows = memory::collect((0..lists.rows.len()).filter_map(|number| Some((number, lists.row(number)?))));
        let chosen = memory::collect(rows.iter().map(|(_, row)| Self::chosen(on, *row, class)));
        let suits = |(column, classes): (usize, &Vec<u32>)| {
            let first = classes.first().copied();
            rows.iter().zip(&chosen).all(|((_, row), chosen)| match first {
                _ if column == 0 => *chosen == row.sampler,
                Some(first) => *chosen == Self::chosen(on, *row, first),
                None => false,
            })
        };
        let found = lists.columns.iter().enumerate().position(suits);
        let column = match found {
            Some(column) => column,
            None if lists.columns.len() < COLUMNS => {
                lists.columns.with_room().push(Vec::new());
                let column = lists.columns.len() - 1;
                for ((number, _), chosen) in rows.iter().zip(&chosen) {
                    self.fill(on, lists, *number, column, *chosen);
                }
                column
            }
            None => {
                self.crowded.insert(u64::from(class) + 1, 1);
                0
            }
        };
        if let Some(classes) = lists.columns.get_mut(column) {
            classes.with_room().push(class);
        }
        self.numbers.columns.insert(u64::from(class) + 1, column as u64 + 1);
        column as u32
    }
}

impl Separate {
    /// The word of a sampler: where its row starts. None if it has none and there is no place for it.
    fn row_word(&self, on: On<'_>, sampler: u64) -> Option<u32> {
        match self.tables.numbers.rows.get(sampler) {
            0 => self.new_row_word(on, sampler),
            row => Some(Self::word_of_row(row)),
        }
    }

    fn word_of_row(row: u64) -> u32 {
        (row as u32 - 1) * COLUMNS as u32
    }

    /// The same of one that had no row so far. Nobody knows its row before all words lead to the columns that were parted for it.
    #[cold]
    #[inline(never)]
    fn new_row_word(&self, on: On<'_>, sampler: u64) -> Option<u32> {
        let tables = &self.tables;
        let walk = tables.walk();
        if let row @ 1.. = tables.numbers.rows.get(sampler) {
            return Some(Self::word_of_row(row));
        }
        let mut lists = lock(&tables.lists);
        let Some(state) = (on.ground.hot.gate.sampler(sampler) as u32).checked_sub(1) else { return Some(0) };
        let free = lists.rows.iter().position(|row| row.sampler == 0);
        let number = free.unwrap_or(lists.rows.len());
        // Its own place comes first: without a row the application's sampler is read all the same.
        if number >= ROWS || tables.place(&on.ground.driver, &mut lists, sampler).is_none() {
            tables.lose(on, state);
            self.has_late.store(true, Ordering::Release);
            return None;
        }
        let row = Row { sampler, state };
        match lists.rows.get_mut(number) {
            Some(own) => *own = row,
            None => lists.rows.with_room().push(row),
        }
        if tables.fill_row(on, &mut lists, number) {
            drop(lists);
            self.write_all_columns(on, &walk);
            lists = lock(&tables.lists);
        }
        tables.numbers.rows.insert(sampler, number as u64 + 1);
        drop(lists);
        if tables.lost() != 0 {
            self.has_late.store(true, Ordering::Release);
        }
        Some(number as u32 * COLUMNS as u32)
    }

    /// The word of an image: its column.
    fn column_word(&self, on: On<'_>, meaning: u32) -> u32 {
        let Some(class) = meaning.checked_sub(1) else { return 0 };
        if let Some(column) = self.tables.column(meaning) {
            return column;
        }
        let mut lists = lock(&self.tables.lists);
        if let Some(column) = self.tables.column(meaning) {
            return column;
        }
        let column = self.tables.give_column(on, &mut lists, class);
        if self.tables.lost() != 0 {
            self.has_late.store(true, Ordering::Release);
        }
        column
    }

    /// The word of a handle, by what it stood for when it was written if that is known. None for a sampler that there is no place for.
    fn word_of(&self, on: On<'_>, handle: u64, is_sampler: bool, written: Option<u32>) -> Option<u32> {
        let meaning = Meaning::of(&on.ground.hot.gate, handle, is_sampler);
        // What has gone, so that it has no meaning or another one, is behind a descriptor that nobody may use.
        let is_gone = meaning.word == 0 || written.is_some_and(|written| written != meaning.word);
        match (is_gone, is_sampler) {
            (true, _) => Some(0),
            (_, true) => self.row_word(on, handle),
            (_, false) => Some(self.column_word(on, meaning.word)),
        }
    }

    /// The samplers or images that are in slots near their set, for words that stand for them.
    pub(super) fn looked(
        on: On<'_>,
        entry: &SetEntry,
        binding: &Binding,
        is_sampler: bool,
        elements: impl Iterator<Item = u32>,
    ) -> Vec<Looked> {
        let slot = |element| if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
        memory::collect(elements.map(|element| {
            let handle = slot(element).map_or(0, |slot| entry.get(slot));
            Looked { handle, is_sampler, meaning: Meaning::of(&on.ground.hot.gate, handle, is_sampler).word }
        }))
    }

    /// Their words; none if there is no place for one of them.
    pub(super) fn words_of(&self, on: On<'_>, all: &[Looked]) -> Option<Vec<u32>> {
        let mut words = memory::vec(all.len());
        for looked in all {
            words.push(self.word_of(on, looked.handle, looked.is_sampler, Some(looked.meaning))?);
        }
        Some(words)
    }

    /// Writes the columns of those that are images again.
    pub(super) fn write_statics(&self, statics: &Statics) {
        for (at, looked) in statics.of.iter().enumerate().filter(|(_, looked)| !looked.is_sampler) {
            if let Some(column) = self.tables.column(looked.meaning) {
                statics.slice.set(at, column);
            }
        }
    }

    /// The matrix, made if there is none.
    pub(super) fn make_matrix(&self, on: On<'_>) -> Option<()> {
        let driver = &on.ground.driver;
        if self.tables.matrix().is_none() {
            let words = (ROWS + 1) * COLUMNS;
            if size_of::<u32>() * words > self.limits.storage_range as usize {
                return None;
            }
            let made = self.take_slice(driver, &self.tables.blocks, words)?;
            (OWN as usize..words).for_each(|at| made.set(at, u32::MAX));
            if let Err(made) = self.tables.matrix.set(made) {
                // Another thread was faster.
                self.tables.blocks.give_slice_back(driver, &made);
            }
        }
        if self.tables.changes.load(Ordering::Acquire) != self.tables.filled.load(Ordering::Acquire) {
            self.fill_again(on);
        }
        Some(())
    }

    /// The table of a set, made and filled if it has none; none if there is no memory.
    pub(super) fn table_of<'e>(&self, on: On<'_>, entry: &'e SetEntry) -> Option<&'e Arc<Table>> {
        let driver = &on.ground.driver;
        self.make_matrix(on)?;
        let arrays = entry.arrays()?;
        if let Some(table) = arrays.table.get() {
            return Some(table);
        }
        let words = entry.shape.words_of_table(entry.variable);
        if words * size_of::<u32>() > self.limits.storage_range as usize {
            return None;
        }
        let slice = self.take_slice(driver, &self.tables.blocks, words.max(1))?;
        let made = Arc::new(Table { number: self.number(), slice, is_short: AtomicBool::new(false) });
        let set = {
            // Whoever lets columns part meanwhile writes this table as well, or whoever sees the table sees that they did.
            let _walk = self.tables.walk();
            arrays.table.set(made)
        };
        if let Err(made) = set {
            self.tables.blocks.give_slice_back(driver, &made.slice);
            return arrays.table.get();
        }
        // Whoever writes from here on writes to the table as well, or had moved the version before, and then what it wrote is seen.
        entry.touch();
        self.write_table(on, entry, &[true, false]);
        arrays.table.get()
    }

    /// Writes all words of a set's table, of samplers or images or both.
    fn write_table(&self, on: On<'_>, entry: &SetEntry, which: &[bool]) {
        for binding in entry.shape.bindings.iter().filter(|binding| entry.shape.has_in_arrays(binding)) {
            let last = entry.shape.variable == Some(binding.binding);
            let count = if last { entry.variable.min(binding.count) } else { binding.count };
            self.write_some(on, entry, (0..count).map(|element| (binding, element)), which);
        }
    }

    /// Writes the words of a set's samplers once more, as some led nowhere. Whether none does now.
    pub(super) fn write_samplers(&self, on: On<'_>, entry: &SetEntry) -> bool {
        let Some(table) = entry.table() else { return false };
        table.is_short.store(false, Ordering::Release);
        self.write_table(on, entry, &[true]);
        !table.is_short.load(Ordering::Acquire)
    }

    /// Writes the words of descriptors that were just written, if their set has a table.
    pub(super) fn write_words<'e>(
        &self,
        on: On<'_>,
        entry: &'e SetEntry,
        written: impl Iterator<Item = (&'e Binding, u32)>,
    ) {
        self.write_some(on, entry, written, &[true, false]);
    }

    fn write_some<'e>(
        &self,
        on: On<'_>,
        entry: &'e SetEntry,
        written: impl Iterator<Item = (&'e Binding, u32)>,
        which: &[bool],
    ) {
        let Some(table) = entry.table() else { return };
        for (binding, element) in written.filter(|(binding, _)| entry.shape.has_in_arrays(binding)) {
            for is_sampler in which.iter().copied() {
                let slot = if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
                let at = entry.shape.first_in_table(binding, is_sampler) + element as usize;
                let Some(slot) = slot else { continue };
                let now = || (entry.get(slot), entry.word(slot), self.tables.numbers.parts());
                loop {
                    let made_of = now();
                    let word = self.word_of(on, made_of.0, is_sampler, made_of.1).unwrap_or_else(|| {
                        if binding.after_bind {
                            self.tables.write_own(&on.ground.driver, (table.number, at as u32), made_of.0);
                            return OWN;
                        }
                        table.is_short.store(true, Ordering::Release);
                        0
                    });
                    // Another thread may write this descriptor, or find that its class has another column.
                    table.slice.exchange(at, word);
                    if made_of == now() {
                        break;
                    }
                }
            }
        }
    }

    /// Classes have other columns than before: writes those of all images. Until each is written its old column serves what was bound
    /// before, as that is the same in both.
    #[cold]
    #[inline(never)]
    fn write_all_columns(&self, on: On<'_>, _walk: &MutexGuard<'_, ()>) {
        self.tables.numbers.parts.fetch_add(1, Ordering::SeqCst);
        self.resolutions.clear();
        let all = self.sets.shares_of(&mut |entry| entry.table().is_some());
        for entry in &all {
            // As in `table_of`.
            entry.touch();
            self.write_table(on, entry, &[false]);
        }
        let hidden = self.with_statics();
        hidden.iter().filter_map(|hidden| hidden.statics.as_ref()).for_each(|own| self.write_statics(own));
    }

    /// Fills all rows by what their samplers ask for now.
    #[cold]
    #[inline(never)]
    fn fill_again(&self, on: On<'_>) {
        let mut parted = false;
        let walk = self.tables.walk();
        let changes = self.tables.changes.load(Ordering::Acquire);
        {
            let mut lists = lock(&self.tables.lists);
            for number in 0..lists.rows.len() {
                let state = |row: &Row| (on.ground.hot.gate.sampler(row.sampler) as u32).checked_sub(1);
                if let Some(row) = lists.rows.get_mut(number).filter(|row| row.sampler != 0) {
                    row.state = state(row).unwrap_or(row.state);
                }
            }
            for number in 0..lists.rows.len() {
                parted |= self.tables.fill_row(on, &mut lists, number);
            }
        }
        if parted {
            self.write_all_columns(on, &walk);
        }
        self.tables.filled.store(changes, Ordering::Release);
    }

    /// A set is about to go, with its table. It is not found any more.
    pub(super) fn forget_table(&self, driver: &Driver, entry: &SetEntry) {
        if let Some(table) = entry.table() {
            let _walk = self.tables.walk();
            self.tables.forget_own(table.number);
            self.retire_hidden_of(table.number);
            self.tables.blocks.give_slice_back(driver, &table.slice);
        }
    }
}

impl super::layouts::SetShape {
    /// Words of a set's table; `variable`: descriptors of its last binding, if that varies.
    pub(super) fn words_of_table(&self, variable: u32) -> usize {
        let is_either = |binding: &Binding| self.variable == Some(binding.binding) && binding.kind == SlotKind::Either;
        // Where the last binding has two words for each descriptor the second ones are behind all first ones there may be.
        let varies = !self.bindings.last().is_some_and(is_either);
        self.slots_in_arrays(if varies { variable } else { u32::MAX })
    }

    /// The first word of a binding's samplers or images in the table of a set.
    pub(super) fn first_in_table(&self, binding: &Binding, is_sampler: bool) -> usize {
        let behind = if binding.kind == SlotKind::Either && !is_sampler { binding.count as usize } else { 0 };
        binding.slots().start - self.slots + behind
    }
}
