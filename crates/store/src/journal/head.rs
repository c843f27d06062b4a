//! The head: the first and the last record, stored outside of the segments. Without it, a truncated
//! journal could not be detected.

use callgate_audit::{ChainHash, GENESIS};
use sha2::{Digest, Sha256};

use super::header::Previous;

/// The first and the last record that must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalHead {
    /// Grows by one with each write.
    pub(super) turn: u64,
    /// The sequence number of the oldest record that has not expired.
    pub(super) first: u64,
    /// The hash of the record before that.
    pub(super) before_first: ChainHash,
    /// The last confirmed record: its receipt may have been given.
    pub(super) last: Previous,
    /// The segment that contains it.
    pub(super) segment: u64,
    /// Its first and last byte there.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The size of a slot. Two slots are written in turn, so that one is complete whatever happens
/// while the other is written.
pub(super) const SLOT: usize = 512;
const SLOTS: usize = 2;

const MAGIC: &[u8; 8] = b"CGHEAD01";
const LONG: usize = MAGIC.len() + 8 * 8 + 2 * 32;

impl JournalHead {
    /// The head of a journal that was never written to.
    pub(super) const NEW: Self = Self {
        turn: 0,
        first: 1,
        before_first: GENESIS,
        last: Previous::NOTHING,
        segment: 0,
        start: 0,
        end: 0,
    };

    /// The next head, with the offset and the bytes to write.
    pub(super) fn next(mut self) -> (Self, u64, Vec<u8>) {
        self.turn += 1;
        let place = self.turn % SLOTS as u64 * SLOT as u64;
        (self, place, self.to_bytes())
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SLOT);
        bytes.extend_from_slice(MAGIC);
        let Previous { seq, total, .. } = self.last;
        let numbers = [self.turn, self.first, seq, total, self.segment, self.start, self.end];
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes.extend_from_slice(&self.last.at.to_le_bytes());
        bytes.extend_from_slice(&self.before_first);
        bytes.extend_from_slice(&self.last.hash);
        let check = Sha256::digest(&bytes);
        bytes.extend_from_slice(&check);
        bytes.resize(SLOT, 0);
        bytes
    }

    /// The newest head that was written completely; `None` if there is none.
    pub(super) fn newest(bytes: &[u8]) -> Option<Self> {
        bytes.chunks(SLOT).filter_map(Self::read).max_by_key(|head| head.turn)
    }

    fn read(slot: &[u8]) -> Option<Self> {
        let (content, rest) = slot.split_at_checked(LONG)?;
        let check: ChainHash = Sha256::digest(content).into();
        let mut rest_of = content.strip_prefix(MAGIC)?;
        if rest.first_chunk::<32>()? != &check {
            return None;
        }
        let rest = &mut rest_of;
        let (turn, first, seq) = (number(rest)?, number(rest)?, number(rest)?);
        let (total, segment) = (number(rest)?, number(rest)?);
        let (start, end) = (number(rest)?, number(rest)?);
        let at = i64::from_le_bytes(take(rest)?);
        let (before_first, hash) = (take(rest)?, take(rest)?);
        let last = Previous { seq, hash, at, total };
        Some(Self { turn, first, before_first, last, segment, start, end })
    }
}

fn number(from: &mut &[u8]) -> Option<u64> {
    take(from).map(u64::from_le_bytes)
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk::<N>()?;
    *from = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> JournalHead {
        let last = Previous { seq, hash: [7; 32], at: -5, total: 44 };
        JournalHead {
            turn: seq,
            first: 3,
            before_first: [1; 32],
            last,
            segment: 9,
            start: 1000,
            end: 1234,
        }
    }

    #[test]
    fn the_newest_counts_and_a_torn_one_does_not() {
        let mut file = vec![0; SLOTS * SLOT];
        assert_eq!(JournalHead::newest(&file), None);
        let mut put = |head: JournalHead, upto: usize| {
            let (head, place, bytes) = head.next();
            let place = usize::try_from(place).unwrap();
            file[place..place + upto].copy_from_slice(&bytes[..upto]);
            (head, JournalHead::newest(&file))
        };
        let (first, found) = put(head(4), SLOT);
        assert_eq!(found, Some(first));
        let (second, found) = put(head(5), SLOT);
        assert_eq!(found, Some(second));
        let (_, found) = put(head(6), 100);
        assert_eq!(found, Some(second), "the slot that was being written is not whole");
    }
}
