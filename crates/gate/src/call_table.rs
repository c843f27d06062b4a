//! All calls of a response.

use callgate_dialect::{Carrier, Lane, Slot};

use crate::slot::CallSlot;

/// How many bytes of calls are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StoredBytes {
    /// Of arguments.
    pub(crate) arguments: usize,
    /// Of the calls as they opened.
    pub(crate) originals: usize,
}

impl StoredBytes {
    /// The sum, after one part of it has changed.
    fn replace(self, before: Self, after: Self) -> Self {
        Self {
            arguments: self.arguments - before.arguments + after.arguments,
            originals: self.originals - before.originals + after.originals,
        }
    }
}

/// The calls of a response so far.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    /// Sorted by slot.
    calls: Vec<CallSlot>,
    /// What is stored of all calls.
    stored: StoredBytes,
    /// The lane of the first call.
    first_lane: Option<Lane>,
    /// There are calls in more than one lane, in an API in which some clients mix them up.
    several_lanes: bool,
}

impl CallTable {
    pub(crate) fn get(&self, slot: Slot) -> Option<&CallSlot> {
        let place = self.calls.binary_search_by_key(&slot, |call| call.slot).ok()?;
        self.calls.get(place)
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut CallSlot> {
        let place = self.calls.binary_search_by_key(&slot, |call| call.slot).ok()?;
        self.calls.get_mut(place)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &CallSlot> {
        self.calls.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut CallSlot> {
        self.calls.iter_mut()
    }

    /// The slots of the calls for which this holds.
    pub(crate) fn slots_where(&self, is_wanted: impl Fn(&CallSlot) -> bool) -> Vec<Slot> {
        self.calls.iter().filter(|call| is_wanted(call)).map(|call| call.slot).collect()
    }

    /// Adds a call, which is later than all others.
    pub(crate) fn push(&mut self, call: CallSlot) {
        self.several_lanes |= call.is_behind_other_lanes();
        self.calls.push(call);
    }

    /// The lane of the first call: this one, if there is none before.
    pub(crate) fn first_lane(&mut self, lane: Lane) -> Lane {
        *self.first_lane.get_or_insert(lane)
    }

    /// Whether there are calls in more than one lane.
    pub(crate) fn are_in_several_lanes(&self) -> bool {
        self.several_lanes
    }

    /// Whether a part of a call has left, and the rest has not.
    pub(crate) fn any_streams(&self) -> bool {
        self.calls.iter().any(CallSlot::streams)
    }

    /// How much is stored of all calls.
    pub(crate) fn stored(&self) -> StoredBytes {
        self.stored
    }

    /// Changes what is stored of a call. All changes of that go through here, so that the sum is
    /// always right.
    #[inline]
    pub(crate) fn change<R>(
        &mut self,
        slot: Slot,
        change: impl FnOnce(&mut CallSlot) -> R,
    ) -> Option<R> {
        let call = self.get_mut(slot)?;
        let before = call.stored();
        let result = change(call);
        let after = call.stored();
        self.stored = self.stored.replace(before, after);
        Some(result)
    }

    /// How many calls in unexpected places came before this one.
    pub(crate) fn strays_before(&self, slot: Slot) -> usize {
        let is_stray = |call: &&CallSlot| call.carrier == Carrier::Stray && call.slot < slot;
        self.calls.iter().filter(is_stray).count()
    }

    /// Another answer begins, with calls of its own.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
