//! Where the items of a response stand in the lists that clients make of them.
//!
//! Some clients append each item that is added and then find it by `output_index`, that is by its
//! place. Others keep items under the index itself. They agree as long as an item's index is its
//! place, so items leave under their places, whatever index they came with.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Unreadable;

/// The places of the items that came, as if none of them were left out.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The place of the next item. Unknown until the response begins or, where a stream is
    /// resumed, until an item does.
    next: Option<i64>,
    /// The place of the first item: not 0 where a stream is resumed.
    first: i64,
    /// The places of items whose index is another number.
    moved: BTreeMap<i64, i64>,
    /// The places of items whose index is another number, or that have none.
    odd: BTreeSet<i64>,
    /// A list came that some clients replace their own with and others do not.
    blurred: bool,
}

/// Which list of items an event holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// The one the response begins with.
    First,
    /// The one it ends with.
    Last,
    /// Any other. Some clients replace theirs with it, and some do not look at it.
    Other,
}

/// The highest index at which a resumed stream may go on. Clients in JavaScript read numbers from
/// 2^53 on inexactly, and no response has nearly as many items as this.
const MAX_FIRST: i64 = 1_000_000;

const TWO_ITEMS: Unreadable = Unreadable::Ambiguous("two items on one index");
const BLURRED: Unreadable =
    Unreadable::Ambiguous("it comes behind a list of items that clients count differently");

impl Places {
    /// The place of the item that has, or had, this index.
    pub(super) fn of(&self, index: i64) -> Option<i64> {
        let next = self.next?;
        let plain = (self.first..next).contains(&index) && !self.odd.contains(&index);
        self.moved.get(&index).copied().or(plain.then_some(index))
    }

    /// The place under which an event leaves that belongs to no item that was seen to begin.
    /// `None` if that place is another item's.
    pub(super) fn of_unknown(&self, index: i64) -> Option<i64> {
        let taken = self.next.is_some_and(|next| (self.first..next).contains(&index));
        self.of(index).or((!taken).then_some(index))
    }

    /// The place under which an item leaves that is done and was never added: clients have none
    /// for it, unless it was added before the stream was resumed.
    pub(super) fn of_uncounted(&self, index: Option<i64>) -> Option<i64> {
        let before = index.filter(|index| *index < self.first);
        before.or(self.next).or(index)
    }

    /// An item is added. Answers its place. At most `limit` items may have odd indices.
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

    /// A call that is done and was not open may not have the index of another item.
    pub(super) fn check_unused(&self, index: Option<i64>) -> Result<(), Unreadable> {
        self.check()?;
        match index.and_then(|index| self.of(index)) {
            Some(_) => Err(TWO_ITEMS),
            None => Ok(()),
        }
    }

    /// A list of `length` items has come. `as_placed` says whether every call in it came before and
    /// stands at its place.
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

    /// Refuses what needs a place, if clients no longer agree on places.
    pub(super) fn check(&self) -> Result<(), Unreadable> {
        if self.blurred { Err(BLURRED) } else { Ok(()) }
    }
}
