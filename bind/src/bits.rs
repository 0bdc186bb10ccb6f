//! Set numbers as bits.

/// Numbers, as the bits of a word; yields them in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct NumberSet(pub u32);

impl Iterator for NumberSet {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let number = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (number < u32::BITS).then_some(number as usize)
    }
}
