//! All calls of a response.

use callgate_dialect::{Carrier, Lane, Slot};

use crate::slot::CallSlot;

/// The calls of a response so far.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    /// Sorted by slot.
    calls: Vec<CallSlot>,
    /// Bytes of stored arguments, of calls that are held or were removed.
    argument_bytes: usize,
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

    /// How many bytes of arguments are stored.
    pub(crate) fn argument_bytes(&self) -> usize {
        self.argument_bytes
    }

    /// More bytes of arguments are stored.
    pub(crate) fn store(&mut self, bytes: usize) {
        self.argument_bytes += bytes;
    }

    /// Frees the arguments of a call.
    pub(crate) fn forget_arguments(&mut self, slot: Slot) {
        let freed = self.get_mut(slot).map_or(0, |call| call.assembly.forget_arguments());
        self.argument_bytes = self.argument_bytes.saturating_sub(freed);
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
