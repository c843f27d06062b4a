//! A set of records within one block.

use std::iter::successors;
use std::ops::{BitAndAssign, BitOrAssign};

/// How many consecutive records form a block. A set over a block then takes 512 bytes at most, and
/// a million records are 245 blocks.
pub(crate) const BLOCK: u64 = 4096;

const WORDS: usize = BLOCK as usize / 64;
const DENSE: usize = WORDS * 8;

/// A set of records within one block, by their position in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits([u64; WORDS]);

/// The block of a record.
pub(crate) fn block_of(seq: u64) -> u64 {
    seq / BLOCK
}

/// The position of a record in its block.
pub(crate) fn position_of(seq: u64) -> u16 {
    (seq % BLOCK) as u16
}

impl Bits {
    pub(crate) const NONE: Self = Self([0; WORDS]);

    /// The records of a block from `low` to `high`, both inclusive.
    pub(crate) fn between(block: u64, low: u64, high: u64) -> Self {
        let begin = block.saturating_mul(BLOCK);
        let end = begin.saturating_add(BLOCK - 1);
        let mut set = Self::NONE;
        for seq in low.max(begin)..=high.min(end) {
            set.insert(position_of(seq));
        }
        set
    }

    pub(crate) fn insert(&mut self, position: u16) {
        if let Some(word) = self.0.get_mut(usize::from(position) / 64) {
            *word |= 1 << (position % 64);
        }
    }

    pub(crate) fn remove_all(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = u16> {
        (0_u16..).step_by(64).zip(self.0).flat_map(|(begin, word)| {
            // Clears the lowest bit each time, until none is left.
            let left = successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let left = left.take_while(|word| *word != 0);
            left.map(move |word| begin + word.trailing_zeros() as u16)
        })
    }

    /// The stored form: a list of positions if there are few, a bitmap if there are many.
    pub(crate) fn encode(&self) -> Vec<u8> {
        if self.count() < (DENSE / 2) as u64 {
            self.positions().flat_map(u16::to_le_bytes).collect()
        } else {
            self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
        }
    }

    /// Adds a stored set. Returns `false` if the bytes are not a valid set.
    #[must_use]
    pub(crate) fn add_stored(&mut self, stored: &[u8]) -> bool {
        if stored.len() == DENSE {
            let (words, _) = stored.as_chunks::<8>();
            for (word, stored) in self.0.iter_mut().zip(words) {
                *word |= u64::from_le_bytes(*stored);
            }
            return true;
        }
        let (positions, rest) = stored.as_chunks::<2>();
        for position in positions {
            self.insert(u16::from_le_bytes(*position));
        }
        rest.is_empty()
    }
}

impl BitAndAssign<&Self> for Bits {
    fn bitand_assign(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
}

impl BitOrAssign<&Self> for Bits {
    fn bitor_assign(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(positions: &BTreeSet<u16>) -> Bits {
        let mut bits = Bits::NONE;
        positions.iter().for_each(|position| bits.insert(*position));
        bits
    }

    proptest! {
        #[test]
        fn a_stored_set_is_read_back(
            one in prop::collection::btree_set(0_u16..4096, 0..600),
            other in prop::collection::btree_set(0_u16..4096, 0..10),
        ) {
            let mut read = set(&other);
            prop_assert!(read.add_stored(&set(&one).encode()));
            let both: Vec<u16> = one.union(&other).copied().collect();
            prop_assert_eq!(read.positions().collect::<Vec<_>>(), both.clone());
            prop_assert_eq!(read.count(), both.len() as u64);
            let mut left = read.clone();
            left.remove_all(&set(&other));
            left &= &set(&one);
            let expected: Vec<u16> = one.difference(&other).copied().collect();
            prop_assert_eq!(left.positions().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_range_is_clipped_to_its_block() {
        let all = Bits::between(2, 0, u64::MAX);
        assert_eq!(all.count(), BLOCK);
        assert_eq!(Bits::between(2, 8193, 8194).positions().collect::<Vec<_>>(), [1, 2]);
        assert!(Bits::between(2, 1, 8191).is_empty());
        assert!(!Bits::NONE.clone().add_stored(&[1]));
    }
}
