//! What create infos seen lately came to, so that creating an object like one before costs little.

use crate::memory;
use crate::table::fold;

/// A create info as plain words. What differs must differ here.
pub type Words = [u64; 8];

#[derive(Clone, Copy)]
struct Entry {
    words: Words,
    /// 0 when empty.
    value: u64,
}

/// A cache of a fixed size: a new entry goes to the front of a set of four, and the last of these is gone.
pub struct Recent {
    /// Empty until the first entry.
    sets: Vec<[Entry; 4]>,
}

impl Recent {
    const SETS: usize = 256;

    /// An empty cache.
    pub fn new() -> Self {
        Self { sets: Vec::new() }
    }

    #[inline(always)]
    fn set_of(words: &Words) -> usize {
        // Pairs first, so that the multiplications do not wait for each other.
        let [a, b, c, d, e, f, g, h] = *words;
        let pair = |x: u64, y: u64| fold(x ^ y.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15);
        let half = |x: u64, y: u64| fold(x.wrapping_add(y.rotate_left(23)));
        fold(half(pair(a, b), pair(c, d)) ^ half(pair(e, f), pair(g, h)).rotate_left(41)) as usize & (Self::SETS - 1)
    }

    /// The value kept for these words, 0 if there is none.
    #[inline(never)]
    pub fn get(&self, words: &Words) -> u64 {
        let Some(set) = self.sets.get(Self::set_of(words)) else { return 0 };
        set.iter().find(|entry| entry.words == *words).map_or(0, |entry| entry.value)
    }

    /// Keeps a value, which is not 0.
    pub fn set(&mut self, words: &Words, value: u64) {
        if self.sets.is_empty() {
            let mut sets = memory::vec(Self::SETS);
            sets.resize(Self::SETS, [Entry { words: [0; 8], value: 0 }; 4]);
            self.sets = sets;
        }
        if let Some(set) = self.sets.get_mut(Self::set_of(words)) {
            let at = set.iter().position(|entry| entry.words == *words).unwrap_or(set.len() - 1);
            set[..=at].rotate_right(1);
            set[0] = Entry { words: *words, value };
        }
    }
}

impl Default for Recent {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_until_its_set_is_full() {
        let mut recent = Recent::new();
        let words = |n: u64| std::array::from_fn(|at| if at as u64 == n % 8 { n / 8 + 1 } else { 0 });
        assert_eq!(recent.get(&[0; 8]), 0);
        let mut found = 0;
        for n in 0..256 {
            recent.set(&words(n), n + 1);
            assert_eq!(recent.get(&words(n)), n + 1);
        }
        for n in 0..256 {
            let value = recent.get(&words(n));
            assert!(value == 0 || value == n + 1, "another one's value");
            found += usize::from(value != 0);
        }
        assert!(found > 250, "create infos that differ in one word mostly have sets of their own: {found} of 256");
    }
}
