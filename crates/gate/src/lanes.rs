//! The turns of a response, one per lane.

use callgate_dialect::request::TextDigest;
use callgate_dialect::{Lane, Slot};

use crate::core::Core;
use crate::rounds::Shown;

/// The turns of a response, in the order in which they began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lanes(Vec<LaneState>);

/// One turn.
#[derive(Debug, Clone)]
pub(crate) struct LaneState {
    pub(crate) lane: Lane,
    /// Text that the user sees has left.
    pub(crate) text: bool,
    /// The digest of the text that has left, including notices: it identifies the turn later.
    pub(crate) digest: TextDigest,
    /// The calls that have left.
    pub(crate) survivors: Vec<Slot>,
    /// How many calls, or frames that may have been calls, were removed.
    pub(crate) removed: usize,
    /// How many were removed in earlier answers of the turn.
    pub(crate) earlier: usize,
    /// The removed calls that can be put back.
    pub(crate) removed_calls: Vec<Slot>,
    /// Hashes of the signatures that have left.
    pub(crate) signatures: Vec<[u8; 32]>,
    pub(crate) finished: bool,
}

impl Lanes {
    /// The turn of a lane; begins it if it is new.
    pub(crate) fn get(&mut self, lane: Lane) -> &mut LaneState {
        let place = match self.0.iter().position(|state| state.lane == lane) {
            Some(place) => place,
            None => {
                if self.0.is_empty() {
                    // Nearly every response has one turn.
                    self.0.reserve_exact(1);
                }
                self.0.push(LaneState::new(lane));
                self.0.len() - 1
            }
        };
        #[expect(clippy::indexing_slicing, reason = "the place was found or made above")]
        &mut self.0[place]
    }

    /// The lanes that have begun.
    pub(crate) fn all(&self) -> Vec<Lane> {
        self.0.iter().map(|state| state.lane).collect()
    }

    /// Whether every turn has ended, and there is one.
    pub(crate) fn have_all_finished(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|state| state.finished)
    }

    /// Whether a call, or a frame that may have been one, was removed from a turn.
    pub(crate) fn lack_a_call(&self) -> bool {
        self.0.iter().any(|state| state.removed + state.earlier > 0)
    }
}

impl Core {
    pub(crate) fn lane(&mut self, lane: Lane) -> &mut LaneState {
        self.lanes.get(lane)
    }

    /// Notes text that leaves in a frame.
    #[inline]
    pub(crate) fn note_text(&mut self, lane: Lane, raw: &str) {
        self.note_text_in(lane, raw, Shown::Events);
    }

    /// Notes text that leaves.
    pub(crate) fn note_text_in(&mut self, lane: Lane, raw: &str, shown: Shown) {
        if raw.is_empty() {
            return;
        }
        let identifies = self.may_lose_a_call(shown);
        let lane = self.lane(lane);
        lane.text = true;
        if identifies {
            lane.digest.add_raw(raw);
        }
    }

    /// Whether the client may receive a turn that lacks a call, so that its text must be known later.
    /// A whole body shows at once that it has no calls.
    fn may_lose_a_call(&self, shown: Shown) -> bool {
        shown != Shown::Body || !self.calls.is_empty() || self.is_later_answer()
    }
}

impl LaneState {
    fn new(lane: Lane) -> Self {
        Self {
            lane,
            text: false,
            digest: TextDigest::new(),
            survivors: Vec::new(),
            removed: 0,
            earlier: 0,
            removed_calls: Vec::new(),
            signatures: Vec::new(),
            finished: false,
        }
    }
}
