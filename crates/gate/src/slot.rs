//! The state of one call in the gate.

use callgate_call::ToolCall;
use callgate_dialect::request::call_digest;
use callgate_dialect::{Assembly, Canonical, Carrier, Host, Lane, Piece, Slot};
use callgate_policy::Denial;

/// A call on its way through the gate.
///
/// ```text
///              name complete              allowed by name
///   Naming ───────────────► NameAsked ──────────────────► Live ──┐ arguments complete, or the end
///      │                      │     │ arguments needed           │
///      │ whole at once        │     ▼                            ▼
///      └──────────────────────┼─► Held ───────────────────────► Asked ───────────► Allowed
///                             │    arguments complete, or        │ │                  ▲
///                             │    the end                       │ └──► Permitted ────┘
///                             └──────────► Denied ◄──────────────┘ held,       the end
///                                                                  end to come
/// ```
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what was odd about the call; its progress is `State`"
)]
pub(crate) struct CallSlot {
    pub(crate) slot: Slot,
    pub(crate) lane: Lane,
    pub(crate) carrier: Carrier,
    pub(crate) assembly: Assembly,
    pub(crate) state: State,
    /// How many frames of it are waiting.
    pub(crate) waiting: usize,
    /// Its own end or the turn's has arrived: no more pieces are expected.
    pub(crate) ended: bool,
    /// Its index in the turn: among the blocks, or among the calls of the choice.
    pub(crate) place: usize,
    /// Calls in another lane came first. It waits until none of them is streaming.
    pub(crate) second_lane: bool,
    /// There are calls in several lanes. Some clients do not distinguish lanes, so it leaves whole.
    pub(crate) in_several_lanes: bool,
    /// A piece of it came in a frame that some clients skip: it leaves whole.
    pub(crate) skipped_by_some_clients: bool,
    /// Its arguments without what a rule removed from them: it leaves with these.
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

/// What a call waits for.
#[derive(Debug)]
pub(crate) enum State {
    /// Its name may still grow.
    Naming,
    /// The question by name was handed out.
    NameAsked,
    /// A rule needs its arguments, or its form is irregular: it is held until it is complete.
    Held,
    /// Allowed by name: its pieces leave, except for the one that completes it.
    Live,
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

/// A call whose verdict is pending.
#[derive(Debug)]
pub(crate) struct PendingVerdict {
    pub(crate) call: ToolCall,
    /// Whether pieces of it have left: a denial can only end the stream.
    pub(crate) streaming: bool,
}

impl CallSlot {
    /// A call that begins with this piece.
    pub(crate) fn new(lane: Lane, piece: &Piece, place: usize, second_lane: bool) -> Self {
        Self {
            slot: piece.slot,
            lane,
            carrier: piece.carrier,
            assembly: Assembly::default(),
            state: match piece.host {
                Host::Client => State::Naming,
                Host::Provider => State::Provider,
            },
            waiting: 0,
            ended: false,
            place,
            second_lane,
            in_several_lanes: second_lane,
            skipped_by_some_clients: false,
            rewritten: None,
            digest: None,
            notice: None,
            incomplete: None,
        }
    }

    /// Whether its verdict is known, so that a frame with a piece of it may leave.
    pub(crate) fn is_settled(&self) -> bool {
        match self.state {
            State::Live | State::Allowed | State::Denied(_) | State::Dropped | State::Provider => {
                true
            }
            State::Naming | State::NameAsked | State::Held | State::Asked(_) | State::Permitted => {
                false
            }
        }
    }

    /// Whether it leaves in the dialect's canonical form instead of piece by piece.
    pub(crate) fn leaves_whole(&self) -> bool {
        self.rewritten.is_some() || self.is_irregular()
    }

    /// Whether clients would read its pieces differently.
    pub(crate) fn is_irregular(&self) -> bool {
        let odd = !self.assembly.is_canonical();
        odd || self.skipped_by_some_clients
            || (self.in_several_lanes && !self.assembly.is_one_piece())
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

    /// The call as it leaves, in the form that every client reads the same way.
    pub(crate) fn canonical(&self) -> Canonical {
        let mut call = self.assembly.canonical();
        if let Some(arguments) = &self.rewritten {
            call.arguments.clone_from(arguments);
        }
        call
    }
}
