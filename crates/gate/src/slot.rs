//! The state of one call in the gate.

use callgate_call::ToolCall;
use callgate_dialect::request::call_digest;
use callgate_dialect::{Assembly, CallKind, Canonical, Carrier, Host, Lane, Piece, Slot};
use callgate_policy::Denial;

use crate::call_table::StoredBytes;

/// A call on its way through the gate.
///
/// ```text
///           name complete               allowed by name
///   Naming ───────────────► NameAsked ──────────────────► Streaming
///     │                      │     │                        │ arguments complete, or the end
///     │ whole at once        │     │ arguments needed       ▼
///     │        whole at once │     └──────────► Held ────► Asked ───────────► Allowed
///     └──────────────────────┴─────────────────────────────►│ │ permit          ▲
///                                                           │ │                 │ the end
///                                                           │ └► Permitted ─────┘
///                                                           ▼    held, end to come
///                                                         Denied
/// ```
///
/// - Any state before `Allowed` can become `Denied`: by a rule, by its name alone, or because its
///   form is refused.
/// - Any state can become `Dropped`: the stream has ended or failed before the call has left.
/// - A call that the provider runs is `Provider` from its first piece to its end.
#[derive(Debug)]
pub(crate) struct CallSlot {
    pub(crate) slot: Slot,
    pub(crate) lane: Lane,
    pub(crate) carrier: Carrier,
    pub(crate) assembly: Assembly,
    state: CallState,
    /// How many frames of it are waiting.
    pub(crate) waiting: usize,
    arrival: CallArrival,
    /// Its index in the turn: among the blocks, or among the calls of the choice.
    pub(crate) place: usize,
    position: LanePosition,
    read_by: ReadBy,
    /// The arguments it is sent with, after a rule removed parts of them.
    pub(crate) rewritten: Option<String>,
    /// The digest of its name and arguments as they leave, if those were freed before the digest
    /// was needed.
    digest: Option<[u8; 32]>,
    /// The notice that replaced it.
    pub(crate) notice: Option<String>,
    /// The call as it was denied by its name, until its arguments are reported. Boxed, because few
    /// calls are denied this way.
    pub(crate) incomplete: Option<Box<ToolCall>>,
}

/// Whether more of a call is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallArrival {
    /// More pieces, or its end.
    Open,
    /// Nothing: its own end or the turn's has arrived.
    Ended,
}

/// Where a call is among the calls of other lanes. Some clients do not distinguish lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LanePosition {
    /// There are no others, or none that matter to it.
    Only,
    /// There are others, so it leaves whole.
    Mixed,
    /// Others came first: it leaves whole, and waits until none of them is streaming.
    Behind,
}

/// Which clients read every piece of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadBy {
    All,
    /// A piece of it came in a frame that some clients skip: it leaves whole.
    Some,
}

/// What a call waits for.
#[derive(Debug)]
pub(crate) enum CallState {
    /// Its name may still grow.
    Naming,
    /// The question by name was handed out.
    NameAsked,
    /// A rule needs its arguments, or its form is irregular: it is held until it is complete.
    Held,
    /// Allowed by name: its pieces leave, except for the one that completes it.
    Streaming,
    /// It is complete, and the verdict is pending.
    Asked(PendingVerdict),
    /// A permit was given before the call's end has arrived: all of it is held until then.
    Permitted,
    /// A permit was given.
    Allowed,
    /// It is removed.
    Denied(Denial),
    /// It was unfinished when the stream ended or failed, and is removed.
    Dropped,
    /// The provider runs it.
    Provider,
}

/// What is known about a call, for what arrives of it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallPhase {
    /// Its arguments may grow.
    Open,
    /// A verdict on all of it was asked for, or a permit given.
    Judged,
    Denied,
    Dropped,
    Provider,
}

/// Whether a permit has let a call pass.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    Yes,
    /// It was in a state in which no permit counts.
    No,
}

/// A call whose verdict is pending.
#[derive(Debug)]
pub(crate) struct PendingVerdict {
    pub(crate) call: ToolCall,
    /// Whether pieces of it have left: a denial can only end the stream.
    pub(crate) streaming: bool,
}

impl CallSlot {
    /// A call that begins with this piece.
    pub(crate) fn new(
        lane: Lane,
        kind: CallKind,
        piece: &Piece,
        place: usize,
        position: LanePosition,
    ) -> Self {
        Self {
            slot: piece.slot,
            lane,
            carrier: piece.carrier,
            assembly: Assembly::new(kind),
            state: match piece.host {
                Host::Client => CallState::Naming,
                Host::Provider => CallState::Provider,
            },
            waiting: 0,
            arrival: CallArrival::Open,
            place,
            position,
            read_by: ReadBy::All,
            rewritten: None,
            digest: None,
            notice: None,
            incomplete: None,
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> &CallState {
        &self.state
    }

    /// What is known about it.
    #[inline]
    pub(crate) fn phase(&self) -> CallPhase {
        match self.state {
            CallState::Naming | CallState::NameAsked | CallState::Held | CallState::Streaming => {
                CallPhase::Open
            }
            CallState::Asked(_) | CallState::Permitted | CallState::Allowed => CallPhase::Judged,
            CallState::Denied(_) => CallPhase::Denied,
            CallState::Dropped => CallPhase::Dropped,
            CallState::Provider => CallPhase::Provider,
        }
    }

    /// The question by name is handed out.
    pub(crate) fn ask_by_name(&mut self) {
        if matches!(self.state, CallState::Naming) {
            self.state = CallState::NameAsked;
        }
    }

    /// A rule needs its arguments.
    pub(crate) fn hold(&mut self) {
        if matches!(self.state, CallState::NameAsked) {
            self.state = CallState::Held;
        }
    }

    /// Allowed by name: its pieces leave from now on.
    pub(crate) fn stream(&mut self) {
        if matches!(self.state, CallState::NameAsked) {
            self.state = CallState::Streaming;
        }
    }

    /// It is complete: the question about the whole call is handed out.
    pub(crate) fn ask(&mut self, call: ToolCall) {
        let streaming = self.streams();
        if matches!(
            self.state,
            CallState::Naming | CallState::NameAsked | CallState::Held | CallState::Streaming
        ) {
            self.state = CallState::Asked(PendingVerdict { call, streaming });
        }
    }

    /// A permit was given, and its end is still to come.
    pub(crate) fn permit(&mut self) {
        if matches!(self.state, CallState::Asked(_)) {
            self.state = CallState::Permitted;
        }
    }

    /// A permit was given and the call is complete. No other state leads here: whatever else happens
    /// to a call, it stays where it is, and does not leave.
    pub(crate) fn allow(&mut self) -> Allowed {
        match self.state {
            CallState::Asked(_) | CallState::Permitted => {
                self.state = CallState::Allowed;
                Allowed::Yes
            }
            _ => Allowed::No,
        }
    }

    /// It is removed.
    pub(crate) fn deny(&mut self, denial: Denial) {
        self.state = CallState::Denied(denial);
    }

    /// It is removed, because the stream has ended or failed inside it.
    pub(crate) fn drop_out(&mut self) {
        self.state = CallState::Dropped;
        self.end();
    }

    /// Whether its verdict is known, so that a frame with a piece of it may leave.
    pub(crate) fn is_settled(&self) -> bool {
        match self.state {
            CallState::Streaming
            | CallState::Allowed
            | CallState::Denied(_)
            | CallState::Dropped
            | CallState::Provider => true,
            CallState::Naming
            | CallState::NameAsked
            | CallState::Held
            | CallState::Asked(_)
            | CallState::Permitted => false,
        }
    }

    /// Whether no more pieces of it are expected.
    pub(crate) fn has_ended(&self) -> bool {
        self.arrival == CallArrival::Ended
    }

    /// Its own end or the turn's has arrived.
    pub(crate) fn end(&mut self) {
        self.arrival = CallArrival::Ended;
    }

    /// Whether some of it has left, and its verdict is pending.
    pub(crate) fn streams(&self) -> bool {
        match &self.state {
            CallState::Asked(asked) => asked.streaming,
            state => matches!(state, CallState::Streaming),
        }
    }

    /// Whether calls of another lane came before it.
    pub(crate) fn is_behind_other_lanes(&self) -> bool {
        self.position == LanePosition::Behind
    }

    /// There are calls in other lanes, and nothing of this one has left.
    pub(crate) fn mix_with_other_lanes(&mut self) {
        if self.position == LanePosition::Only {
            self.position = LanePosition::Mixed;
        }
    }

    /// Some clients skip a piece of it.
    pub(crate) fn skip_for_some_clients(&mut self) {
        self.read_by = ReadBy::Some;
    }

    /// Whether it leaves in the dialect's canonical form instead of piece by piece.
    pub(crate) fn leaves_whole(&self) -> bool {
        self.rewritten.is_some() || self.is_irregular()
    }

    /// Whether clients would read its pieces differently.
    pub(crate) fn is_irregular(&self) -> bool {
        let odd = !self.assembly.is_canonical();
        let is_mixed = self.position != LanePosition::Only && !self.assembly.is_one_piece();
        odd || is_mixed || self.read_by == ReadBy::Some
    }

    /// Computes the digest of the call as it leaves, before its arguments are freed.
    pub(crate) fn take_digest(&mut self) {
        self.digest = self.digest();
    }

    /// The digest of the name and arguments of an allowed call, as they leave; `None` if its
    /// arguments were too large to be stored.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        let (name, arguments) = (self.assembly.name(), self.assembly.arguments_text());
        let arguments = self.rewritten.as_deref().unwrap_or(arguments);
        let compute = || (!self.assembly.is_oversize()).then(|| call_digest(name, arguments));
        self.digest.or_else(compute)
    }

    /// How much is stored of it.
    #[inline]
    pub(crate) fn stored(&self) -> StoredBytes {
        let rewritten = self.rewritten.as_ref().map_or(0, String::len);
        StoredBytes {
            arguments: self.assembly.kept() + rewritten,
            originals: self.assembly.original().map_or(0, str::len),
        }
    }

    /// The call as it leaves, in the form that every client reads the same way.
    pub(crate) fn canonical(&self) -> Canonical {
        let mut call = self.assembly.canonical();
        if let Some(arguments) = &self.rewritten {
            call.arguments.clone_from(arguments);
        }
        call
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use callgate_call::{Arguments, CallId, Origin, Surface, ToolName};

    use super::*;

    #[test]
    fn a_denied_call_stays_denied() {
        let (lane, kind, position) = (Lane(0), CallKind::default(), LanePosition::Only);
        let mut slot = CallSlot::new(lane, kind, &Piece::default(), 0, position);
        slot.ask_by_name();
        slot.deny(Denial::refused("rm", "no"));
        let call = ToolCall {
            id: CallId::from("call_1"),
            name: ToolName::parse("rm").unwrap(),
            arguments: Arguments::json("{}"),
            origin: Origin::at(Surface::Response),
            caller: None,
        };
        let later: [&dyn Fn(&mut CallSlot); 6] = [
            &CallSlot::ask_by_name,
            &CallSlot::hold,
            &CallSlot::stream,
            &|slot| slot.ask(call.clone()),
            &CallSlot::permit,
            &|slot| assert_eq!(slot.allow(), Allowed::No),
        ];
        for step in later {
            step(&mut slot);
            assert!(matches!(slot.state(), CallState::Denied(_)), "{:?}", slot.state());
        }
    }
}
