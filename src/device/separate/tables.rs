//! Which sampler each image of an array gets, as tables that a shader looks up (`bindless=resolve`).
//!
//! ```text
//! table    of a set: a word for each descriptor in its arrays, the row of a sampler or the column of an image
//! matrix   row + column: a place in the pool
//! pool     samplers: the application's own and those that stand in for them
//! ```
//!
//! A row belongs to a sampler, so it goes with that. A column belongs to classes of views that ask for the same of every sampler that has a
//! row, so it stays. A word is written inside the call that writes its descriptor, which no shader that may run then reads: a set is not in
//! use, or this descriptor of it is not (VUID-vkUpdateDescriptorSets-None-03047, UPDATE_UNUSED_WHILE_PENDING), or what reads it is
//! submitted later (UPDATE_AFTER_BIND; Host Write Ordering Guarantees). Two descriptors never share a word.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock};

use ash::vk::{self, Handle};
use samplin_hot::Pair;
use samplin_hot::memory::{self, Room};

use super::Separate;
use super::arrays::Meaning;
use super::blocks::{Blocks, BufferKind, Looked, Slice, Statics, Table};
use super::layouts::{Binding, SlotKind};
use super::sets::SetEntry;
use crate::counters::Path;
use crate::device::driver::Driver;
use crate::device::ground::Ground;
use crate::device::resolve::Pairs;
use crate::table::{FlatTable, lock};

/// Words of a row of the matrix.
const COLUMNS: usize = 32;
/// Rows of the matrix.
const ROWS: usize = 4096;
/// Samplers of a pool, at most.
pub(super) const PLACES: u32 = 4096;

#[derive(Clone, Copy)]
struct Row {
    /// 0 if it is free.
    sampler: u64,
    state: u32,
}

/// A hidden set whose pool is written while it is bound.
struct LatePool {
    set: u64,
    binding: u32,
    count: u32,
}

#[derive(Default)]
struct Lists {
    rows: Vec<Row>,
    free_rows: Vec<u32>,
    /// The classes of each column. Those of the first suit every sampler that has a row.
    columns: Vec<Vec<u32>>,
    /// The samplers of the pool, 0 where there is none.
    pool: Vec<u64>,
    free_places: Vec<u32>,
    late: Vec<LatePool>,
}

impl Lists {
    fn row(&self, number: usize) -> Option<Row> {
        self.rows.get(number).copied().filter(|row| row.sampler != 0)
    }

    /// Any sampler that lives.
    fn any_sampler(&self) -> u64 {
        self.pool.iter().copied().find(|sampler| *sampler != 0).unwrap_or(0)
    }
}

/// The rows, columns and places of a device.
pub(super) struct Tables {
    /// The row of each sampler that has one, and 1.
    rows: FlatTable,
    /// The column of each class that has one, and 1; by the word of [`Meaning`].
    columns: FlatTable,
    /// The place of each sampler of the pool, and 1.
    places: FlatTable,
    lists: Mutex<Lists>,
    matrix: OnceLock<Slice>,
    pub(super) blocks: Blocks,
    /// Moves with the samplers of the pool.
    turn: AtomicU64,
    /// Moves when classes get other columns.
    parts: AtomicU64,
    /// What samplers of a state ask for has changed since rows were filled.
    is_stale: AtomicBool,
    /// There are pipelines whose sets may be written to after the bind.
    has_late: AtomicBool,
    /// Classes that there was no column for.
    pub(super) crowded: AtomicU64,
    /// There was no room for a row or in the pool, so that some word leads nowhere.
    is_full: AtomicBool,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            rows: FlatTable::new(8),
            columns: FlatTable::new(8),
            places: FlatTable::new(8),
            lists: Mutex::default(),
            matrix: OnceLock::new(),
            blocks: Blocks::of(BufferKind::Storage),
            turn: AtomicU64::new(0),
            parts: AtomicU64::new(0),
            is_stale: AtomicBool::new(false),
            has_late: AtomicBool::new(false),
            crowded: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
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
        self.is_stale.store(true, Ordering::Release);
    }

    /// Moves when the samplers of the pool do.
    pub(super) fn turn(&self) -> u64 {
        self.turn.load(Ordering::Acquire)
    }

    /// Moves when classes get other columns.
    pub(super) fn parts(&self) -> u64 {
        self.parts.load(Ordering::Acquire)
    }

    /// The matrix, once it is there.
    pub(super) fn matrix(&self) -> Option<&Slice> {
        self.matrix.get()
    }

    /// How many samplers and how many rows there are.
    pub(super) fn count(&self) -> usize {
        self.rows.len() + self.places.len()
    }

    /// Whether a pool of so many samplers has all that words lead to.
    pub(super) fn fits(&self, count: u32) -> bool {
        !self.is_full.load(Ordering::Acquire) && lock(&self.lists).pool.len() <= count as usize
    }

    /// The samplers of a pool with so many places, all of which live as long as nobody forgets them: `with` is called before that may be.
    /// `late`: its binding in a set that is written when the pool changes.
    pub(super) fn with_pool<R>(
        &self,
        count: u32,
        late: Option<(vk::DescriptorSet, u32)>,
        with: impl FnOnce(&[u64]) -> R,
    ) -> R {
        let mut lists = lock(&self.lists);
        let any = lists.any_sampler();
        let own = |at: usize| lists.pool.get(at).copied().filter(|sampler| *sampler != 0).unwrap_or(any);
        let done = with(&memory::collect((0..count as usize).map(own)));
        if let Some((set, binding)) = late {
            lists.late.with_room().push(LatePool { set: set.as_raw(), binding, count });
        }
        done
    }

    /// A hidden set is about to be destroyed.
    pub(super) fn leave_pool(&self, set: u64) {
        lock(&self.lists).late.retain(|pool| pool.set != set);
    }

    /// Where a sampler is in the pool.
    fn place(&self, driver: &Driver, lists: &mut Lists, sampler: u64) -> Option<u32> {
        if let Some(place) = (self.places.get(sampler) as u32).checked_sub(1) {
            return Some(place);
        }
        let place = match lists.free_places.pop() {
            Some(place) => place,
            None if lists.pool.len() < PLACES as usize => {
                lists.pool.with_room().push(0);
                lists.pool.len() as u32 - 1
            }
            None => return None,
        };
        *lists.pool.get_mut(place as usize)? = sampler;
        self.places.insert(sampler, u64::from(place) + 1);
        self.turn.fetch_add(1, Ordering::AcqRel);
        driver.write_pools(&lists.late, place, sampler);
        Some(place)
    }

    /// A sampler is about to go.
    pub(super) fn forget(&self, driver: &Driver, sampler: u64) {
        let (row, place) = (self.rows.get(sampler), self.places.get(sampler));
        if row == 0 && place == 0 {
            return;
        }
        let mut lists = lock(&self.lists);
        if let Some(row) = (self.rows.remove(sampler) as u32).checked_sub(1) {
            lists.rows.get_mut(row as usize).into_iter().for_each(|row| row.sampler = 0);
            lists.free_rows.with_room().push(row);
        }
        if let Some(place) = (self.places.remove(sampler) as u32).checked_sub(1) {
            lists.pool.get_mut(place as usize).into_iter().for_each(|own| *own = 0);
            lists.free_places.with_room().push(place);
            self.turn.fetch_add(1, Ordering::AcqRel);
            let any = lists.any_sampler();
            if any != 0 {
                driver.write_pools(&lists.late, place, any);
            }
        }
    }
}

impl Driver {
    /// Writes a sampler to a place of pools.
    fn write_pools(&self, pools: &[LatePool], place: u32, sampler: u64) {
        let Some(update) = self.fns.update_descriptor_sets else { return };
        let info = vk::DescriptorImageInfo { sampler: vk::Sampler::from_raw(sampler), ..Default::default() };
        for pool in pools.iter().filter(|pool| place < pool.count) {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(vk::DescriptorSet::from_raw(pool.set))
                .dst_binding(pool.binding)
                .dst_array_element(place)
                .descriptor_type(vk::DescriptorType::SAMPLER)
                .image_info(std::slice::from_ref(&info));
            // SAFETY: the set lives until it leaves the list, under whose lock this is; its binding has UPDATE_AFTER_BIND, so it may be bound
            // or pending (VUID-vkUpdateDescriptorSets-None-03047), and no shader reads a place that no live sampler had so far.
            unsafe { update(self.handle, 1, &write, 0, std::ptr::null()) };
        }
    }
}

/// What rows and columns are made of.
type On<'a> = (&'a Ground, &'a Pairs);

impl Tables {
    /// The sampler that a row's sampler becomes with a class.
    fn chosen((ground, pairs): On<'_>, row: Row, class: u32) -> u64 {
        let of = |state| pairs.samplers.rows(&ground.hot).state(state).zip(pairs.images.class(class));
        let Some((shared, view)) = of(row.state) else { return row.sampler };
        if ground.driver.relevant(shared.needs).0 & view.lacks.0 == 0 {
            return row.sampler;
        }
        pairs.choose(ground, Pair { sampler: row.sampler, view: 0, state: row.state, class }, Path::Draw)
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
                parted = true;
                self.give_column(on, lists, *class);
            }
            self.fill(on, lists, (number, column), first);
            column += 1;
        }
        parted
    }

    fn fill(&self, (ground, _): On<'_>, lists: &mut Lists, (row, column): (usize, usize), chosen: u64) {
        let Some(place) = self.place(&ground.driver, lists, chosen) else {
            self.is_full.store(true, Ordering::Release);
            return;
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
                    self.fill(on, lists, (*number, column), *chosen);
                }
                column
            }
            None => {
                self.crowded.fetch_add(1, Ordering::Relaxed);
                0
            }
        };
        if let Some(classes) = lists.columns.get_mut(column) {
            classes.with_room().push(class);
        }
        self.columns.insert(u64::from(class) + 1, column as u64 + 1);
        column as u32
    }
}

impl Separate {
    /// The word of a sampler: where its row starts. Columns may have been parted for it.
    fn row_word(&self, on: On<'_>, sampler: u64) -> (u32, bool) {
        let tables = &self.tables;
        let word = |row: u64| (row as u32 - 1) * COLUMNS as u32;
        match tables.rows.get(sampler) {
            0 => {}
            row => return (word(row), false),
        }
        let mut lists = lock(&tables.lists);
        if let row @ 1.. = tables.rows.get(sampler) {
            return (word(row), false);
        }
        let Some(state) = (on.0.hot.gate.sampler(sampler) as u32).checked_sub(1) else { return (0, false) };
        let number = match lists.free_rows.pop() {
            Some(number) => number as usize,
            None if lists.rows.len() < ROWS => lists.rows.len(),
            None => {
                tables.is_full.store(true, Ordering::Release);
                return (0, false);
            }
        };
        let row = Row { sampler, state };
        match lists.rows.get_mut(number) {
            Some(own) => *own = row,
            None => lists.rows.with_room().push(row),
        }
        let parted = tables.fill_row(on, &mut lists, number);
        tables.rows.insert(sampler, number as u64 + 1);
        (number as u32 * COLUMNS as u32, parted)
    }

    /// The word of an image: its column.
    fn column_word(&self, on: On<'_>, meaning: u32) -> u32 {
        let Some(class) = meaning.checked_sub(1) else { return 0 };
        if let Some(column) = (self.tables.columns.get(u64::from(meaning)) as u32).checked_sub(1) {
            return column;
        }
        let mut lists = lock(&self.tables.lists);
        if let Some(column) = (self.tables.columns.get(u64::from(meaning)) as u32).checked_sub(1) {
            return column;
        }
        self.tables.give_column(on, &mut lists, class)
    }

    /// The word of a handle, by what it stood for when it was written if that is known.
    fn word_of(&self, on: On<'_>, (handle, is_sampler): (u64, bool), written: Option<u32>) -> (u32, bool) {
        let meaning = Meaning::of(&on.0.hot.gate, handle, is_sampler);
        // What has gone, so that it has no meaning or another one, is behind a descriptor that nobody may use.
        let is_gone = meaning.word == 0 || written.is_some_and(|written| written != meaning.word);
        match (is_gone, is_sampler) {
            (true, _) => (0, false),
            (_, true) => self.row_word(on, handle),
            (_, false) => (self.column_word(on, meaning.word), false),
        }
    }

    /// The samplers or images that are in slots near their set, for words that stand for them.
    pub(super) fn looked(
        on: On<'_>,
        entry: &SetEntry,
        (binding, is_sampler): (&Binding, bool),
        elements: impl Iterator<Item = u32>,
    ) -> Vec<Looked> {
        let slot = |element| if is_sampler { binding.sampler_slot(element) } else { binding.image_slot(element) };
        memory::collect(elements.map(|element| {
            let handle = slot(element).map_or(0, |slot| entry.get(slot));
            Looked { handle, is_sampler, meaning: Meaning::of(&on.0.hot.gate, handle, is_sampler).word }
        }))
    }

    /// Their words.
    pub(super) fn words_of(&self, on: On<'_>, all: &[Looked]) -> Vec<u32> {
        let mut words = memory::vec(all.len());
        loop {
            let mut parted = false;
            words.clear();
            for looked in all {
                let (word, parts) = self.word_of(on, (looked.handle, looked.is_sampler), Some(looked.meaning));
                words.push(word);
                parted |= parts;
            }
            if !parted {
                return words;
            }
            self.write_all_tables(on);
        }
    }

    /// Writes them again.
    pub(super) fn write_statics(&self, on: On<'_>, statics: &Statics) {
        for (at, looked) in statics.of.iter().enumerate() {
            statics.slice.set(at, self.word_of(on, (looked.handle, looked.is_sampler), Some(looked.meaning)).0);
        }
    }

    /// The matrix, made if there is none.
    pub(super) fn make_matrix(&self, on: On<'_>) -> Option<()> {
        let driver = &on.0.driver;
        if self.tables.matrix().is_none() {
            let words = ROWS * COLUMNS;
            let fits = size_of::<u32>() * words <= self.limits.storage_range as usize;
            let made = self.take_slice(driver, &self.tables.blocks, words).filter(|_| fits)?;
            if let Err(made) = self.tables.matrix.set(made) {
                // Another thread was faster.
                self.tables.blocks.give_slice_back(driver, &made);
            }
        }
        if self.tables.is_stale.swap(false, Ordering::AcqRel) {
            self.fill_again(on);
        }
        Some(())
    }

    /// The table of a set, made and filled if it has none; none if there is no memory.
    pub(super) fn table_of<'e>(&self, on: On<'_>, entry: &'e SetEntry) -> Option<&'e Arc<Table>> {
        let driver = &on.0.driver;
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
        let made = Arc::new(Table { number: self.number(), slice });
        if let Err(made) = arrays.table.set(made) {
            self.tables.blocks.give_slice_back(driver, &made.slice);
            return arrays.table.get();
        }
        // Whoever writes from here on writes to the table as well, or had moved the version before, and then what it wrote is seen.
        entry.touch();
        if self.write_table(on, entry) {
            self.write_all_tables(on);
        }
        arrays.table.get()
    }

    /// Writes all words of a set's table. Whether columns were parted meanwhile.
    fn write_table(&self, on: On<'_>, entry: &SetEntry) -> bool {
        let mut parted = false;
        for binding in entry.shape.bindings.iter().filter(|binding| entry.shape.has_in_arrays(binding)) {
            let last = entry.shape.variable == Some(binding.binding);
            let count = if last { entry.variable.min(binding.count) } else { binding.count };
            parted |= self.write_some(on, entry, (0..count).map(|element| (binding, element)));
        }
        parted
    }

    /// Writes the words of descriptors that were just written, if their set has a table.
    pub(super) fn write_words<'e>(
        &self,
        on: On<'_>,
        entry: &'e SetEntry,
        written: impl Iterator<Item = (&'e Binding, u32)>,
    ) {
        if self.write_some(on, entry, written) {
            self.write_all_tables(on);
        }
    }

    fn write_some<'e>(
        &self,
        on: On<'_>,
        entry: &'e SetEntry,
        written: impl Iterator<Item = (&'e Binding, u32)>,
    ) -> bool {
        let Some(table) = entry.table() else { return false };
        let mut parted = false;
        for (binding, element) in written.filter(|(binding, _)| entry.shape.has_in_arrays(binding)) {
            for (slot, is_sampler) in [(binding.sampler_slot(element), true), (binding.image_slot(element), false)] {
                let at = entry.shape.first_in_table(binding, is_sampler) + element as usize;
                let Some(slot) = slot else { continue };
                loop {
                    let (handle, written) = (entry.get(slot), entry.word(slot));
                    let (word, parts) = self.word_of(on, (handle, is_sampler), written);
                    table.slice.set(at, word);
                    parted |= parts;
                    // Another thread may write this descriptor while all words of the set are.
                    fence(Ordering::SeqCst);
                    if (handle, written) == (entry.get(slot), entry.word(slot)) {
                        break;
                    }
                }
            }
        }
        parted
    }

    /// Classes have other columns than before: writes all words of all tables. Until each is written its old column serves what was bound
    /// before, as that is the same in both.
    #[cold]
    #[inline(never)]
    fn write_all_tables(&self, on: On<'_>) {
        self.tables.parts.fetch_add(1, Ordering::AcqRel);
        self.resolutions.clear();
        loop {
            let mut parted = false;
            let hidden = self.with_statics();
            hidden.iter().filter_map(|hidden| hidden.statics.as_ref()).for_each(|own| self.write_statics(on, own));
            let all = self.sets.shares_of(&mut |entry| entry.table().is_some());
            all.iter().for_each(|entry| parted |= self.write_table(on, entry));
            if !parted {
                return;
            }
        }
    }

    /// Fills all rows by what their samplers ask for now.
    #[cold]
    #[inline(never)]
    fn fill_again(&self, on: On<'_>) {
        let mut parted = false;
        {
            let mut lists = lock(&self.tables.lists);
            for number in 0..lists.rows.len() {
                let state = |row: &Row| (on.0.hot.gate.sampler(row.sampler) as u32).checked_sub(1);
                if let Some(row) = lists.rows.get_mut(number).filter(|row| row.sampler != 0) {
                    row.state = state(row).unwrap_or(row.state);
                }
            }
            for number in 0..lists.rows.len() {
                parted |= self.tables.fill_row(on, &mut lists, number);
            }
        }
        if parted {
            self.write_all_tables(on);
        }
    }

    /// A set is about to go, with its table.
    pub(super) fn forget_table(&self, driver: &Driver, entry: &SetEntry) {
        if let Some(table) = entry.table() {
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
