//! The positions of a response's items in the lists that clients build.
//!
//! Some clients append each item that is added and then find it by `output_index`, which means by
//! its position. Others store items under the index itself. They agree as long as an item's index
//! is its position, so items leave with their positions, whatever index they came with.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Unreadable;

/// The positions of the items that came, as if none of them were left out.
#[derive(Debug, Default)]
pub(super) struct ItemPlaces {
    /// The position of the next item. Unknown until the response begins or, in a resumed stream,
    /// until an item does.
    next: Option<i64>,
    /// The position of the first item: not 0 in a resumed stream.
    first: i64,
    /// The positions of items with a different index.
    moved: BTreeMap<i64, i64>,
    /// The positions of items with a different index, or without one.
    odd: BTreeSet<i64>,
    /// A list came with which only some clients replace their own.
    blurred: bool,
}

/// Which list of items an event contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// The one the response begins with.
    First,
    /// The one it ends with.
    Last,
    /// Any other. Some clients replace theirs with it, and some ignore it.
    Other,
}

/// The highest index at which a resumed stream may continue. JavaScript clients read numbers from
/// 2^53 on inexactly, and no response has nearly this many items.
const MAX_FIRST: i64 = 1_000_000;

const TWO_ITEMS: Unreadable = Unreadable::Ambiguous("two items on one index");
const BLURRED: Unreadable =
    Unreadable::Ambiguous("it follows a list of items that clients count differently");

impl ItemPlaces {
    /// The position of the item that has, or had, this index.
    pub(super) fn of(&self, index: i64) -> Option<i64> {
        let next = self.next?;
        let plain = (self.first..next).contains(&index) && !self.odd.contains(&index);
        self.moved.get(&index).copied().or(plain.then_some(index))
    }

    /// The position for an event of an item whose beginning was not seen. `None` if that position
    /// belongs to another item.
    pub(super) fn of_unknown(&self, index: i64) -> Option<i64> {
        let taken = self.next.is_some_and(|next| (self.first..next).contains(&index));
        self.of(index).or((!taken).then_some(index))
    }

    /// The position for an item that is done and was never added: clients have none for it, unless
    /// it was added before the stream was resumed.
    pub(super) fn of_uncounted(&self, index: Option<i64>) -> Option<i64> {
        let before = index.filter(|index| *index < self.first);
        before.or(self.next).or(index)
    }

    /// Adds an item. Returns its position. At most `limit` items may have irregular indices.
    pub(super) fn add(&mut self, index: Option<i64>, limit: usize) -> Result<i64, Unreadable> {
        self.check()?;
        if index.is_some_and(|index| self.of(index).is_some()) {
            return Err(TWO_ITEMS);
        }
        let resumed = index.filter(|index| (0..MAX_FIRST).contains(index)).unwrap_or(0);
        if self.next.is_none() {
            self.first = resumed;
        }
        let place = self.next.unwrap_or(resumed);
        if index != Some(place) {
            if self.odd.len() >= limit {
                return Err(Unreadable::TooManyCalls);
            }
            self.odd.insert(place);
            self.moved.extend(index.map(|index| (index, place)));
        }
        self.next = Some(place.saturating_add(1));
        Ok(place)
    }

    /// Checks that a call that is done and was not open does not have the index of another item.
    pub(super) fn check_unused(&self, index: Option<i64>) -> Result<(), Unreadable> {
        self.check()?;
        match index.and_then(|index| self.of(index)) {
            Some(_) => Err(TWO_ITEMS),
            None => Ok(()),
        }
    }

    /// Notes a list of `length` items. `as_placed` is whether every call in it came before and is
    /// at its position.
    pub(super) fn list(&mut self, list: List, length: usize, as_placed: bool) {
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let begins = match list {
            List::First => self.next.is_none(),
            List::Last => self.next.unwrap_or(0) == 0,
            List::Other => false,
        };
        if begins {
            self.next = Some(length);
        } else if !as_placed || self.next.unwrap_or(0) != length {
            self.blurred = true;
        }
    }

    /// Refuses what needs a position, if clients no longer agree on positions.
    pub(super) fn check(&self) -> Result<(), Unreadable> {
        if self.blurred { Err(BLURRED) } else { Ok(()) }
    }
}
