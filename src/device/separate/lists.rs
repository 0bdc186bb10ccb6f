//! What [`tables`](super::tables) are kept in.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::table::{FastMap, FlatTable, Reader};

/// Words of a row of the matrix.
pub(super) const COLUMNS: usize = 32;
/// Rows of the matrix.
pub(super) const ROWS: usize = 4096;
/// Samplers of a pool, at most.
pub(super) const PLACES: u32 = 4096;
/// The row of samplers that have no place.
pub(super) const OWN: u32 = (ROWS * COLUMNS) as u32;

/// The rows and columns that there are, for whoever writes descriptors.
pub(super) struct Numbers {
    /// The row of each sampler that has one, and 1.
    pub(super) rows: FlatTable,
    /// The column of each class that has one, and 1; by the word of [`Meaning`](super::arrays::Meaning).
    pub(super) columns: FlatTable,
    /// Moves when classes have got other columns, before words are written again.
    pub(super) parts: AtomicU64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { rows: FlatTable::new(8), columns: FlatTable::new(8), parts: AtomicU64::new(0) }
    }
}

impl Numbers {
    /// The rows as they are now.
    #[inline(always)]
    pub(super) fn rows(&self) -> Known<'_> {
        Known { of: self.rows.reader(), each: COLUMNS as u32 }
    }

    /// The columns as they are now.
    #[inline(always)]
    pub(super) fn columns(&self) -> Known<'_> {
        Known { of: self.columns.reader(), each: 1 }
    }

    /// Moves when classes have got other columns.
    #[inline(always)]
    pub(super) fn parts(&self) -> u64 {
        self.parts.load(Ordering::SeqCst)
    }
}

/// Words of what has any by now.
#[derive(Clone, Copy)]
pub(super) struct Known<'t> {
    of: Reader<'t>,
    each: u32,
}

impl Known<'_> {
    /// The word of a sampler, or of a class by the word of [`Meaning`](super::arrays::Meaning).
    #[inline(always)]
    pub(super) fn word(self, of: impl Into<u64>) -> Option<u32> {
        (self.of.get(of.into()) as u32).checked_sub(1).map(|number| number * self.each)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    /// 0 if it is free.
    pub(super) sampler: u64,
    pub(super) state: u32,
}

/// Where a pool has the samplers of a binding that may be written after the bind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// The number of the table of their set.
    pub(super) table: u64,
    /// The word of the first in it.
    pub(super) word: u32,
    pub(super) count: u32,
    /// Where the first is in the pool.
    pub(super) at: u32,
}

impl Own {
    /// Where the sampler with a word of a table is, if it is one of these.
    pub(super) fn place(self, table: u64, word: u32) -> Option<u32> {
        let element = word.checked_sub(self.word).filter(|element| table == self.table && *element < self.count)?;
        Some(self.at + element)
    }
}

/// What is in a pool.
#[derive(Debug)]
pub(super) struct PoolOf {
    pub(super) count: u32,
    /// Of these the first are places.
    pub(super) places: u32,
    /// And the others what is behind them.
    pub(super) own: Vec<Own>,
}

/// A hidden set whose pool is written while it is bound.
pub(super) struct LatePool {
    pub(super) set: u64,
    pub(super) binding: u32,
    pub(super) places: u32,
    pub(super) own: Vec<Own>,
}

/// What is listed under one lock.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) rows: Vec<Row>,
    /// The classes of each column. Those of the first suit every sampler that has a row.
    pub(super) columns: Vec<Vec<u32>>,
    /// The samplers of the pool, 0 where there is none.
    pub(super) pool: Vec<u64>,
    pub(super) late: Vec<LatePool>,
    /// Samplers whose word is [`OWN`], by the number of a table and their word.
    pub(super) own: FastMap<(u64, u32), u64>,
}

impl Lists {
    pub(super) fn row(&self, number: usize) -> Option<Row> {
        self.rows.get(number).copied().filter(|row| row.sampler != 0)
    }
}
