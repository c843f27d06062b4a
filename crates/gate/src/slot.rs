//! One call on its way through the gate.

use callgate_call::ToolCall;
use callgate_dialect::request::call_digest;
use callgate_dialect::{Assembly, Canonical, Carrier, Lane, Slot};
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
    /// How many frames of it wait.
    pub(crate) waiting: usize,
    /// Its own end or the turn's has come: no piece of it is expected any more.
    pub(crate) ended: bool,
    /// Its place in the turn: among the blocks, or among the calls of the choice.
    pub(crate) place: usize,
    /// Calls stood in another lane before. It waits until none of those streams.
    pub(crate) second_lane: bool,
    /// Calls stand in several lanes. Some clients do not tell lanes apart, so it leaves whole.
    pub(crate) apart: bool,
    /// A piece of it came in a frame that some clients skip: it leaves whole.
    pub(crate) uneven: bool,
    /// Its arguments without what a rule took out of them: it leaves with these.
    pub(crate) rewritten: Option<String>,
    /// Its name and arguments as they leave; `None` until it is allowed, and if its arguments were
    /// too large to be kept.
    pub(crate) digest: Option<[u8; 32]>,
    /// The notice that took its place.
    pub(crate) notice: Option<String>,
    /// It was denied by its name, and its arguments are still to be told: the call as it was
    /// denied. Boxed, for few calls are.
    pub(crate) incomplete: Option<Box<ToolCall>>,
}

/// What a call waits for.
#[derive(Debug)]
pub(crate) enum State {
    /// Its name may still grow.
    Naming,
    /// The question by name is out.
    NameAsked,
    /// A rule needs its arguments, or its shape is odd: it is held until it is whole.
    Held,
    /// Allowed by name: its pieces leave, but not the one that completes it.
    Live,
    /// It is whole, and the verdict is awaited.
    Asked(Asked),
    /// A permit was given before the call's end has come: all of it is kept until then.
    Permitted,
    /// A permit was given.
    Allowed,
    /// It is taken out.
    Denied(Denial),
    /// It was unfinished when the stream ended or failed. It is taken out.
    Dropped,
    /// The provider runs it.
    Provider,
}

/// A call whose verdict is awaited.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) call: ToolCall,
    /// Pieces of it have left: a denial can only end the stream.
    pub(crate) streaming: bool,
}

impl CallSlot {
    /// Whether its fate is known, so that a frame with a piece of it may leave.
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
        self.rewritten.is_some() || self.is_odd()
    }

    /// Whether clients would read its pieces differently.
    pub(crate) fn is_odd(&self) -> bool {
        let odd = !self.assembly.is_canonical();
        odd || self.uneven || (self.apart && !self.assembly.is_one_piece())
    }

    /// Takes the digest of the call as it leaves, before its arguments are given up.
    pub(crate) fn take_digest(&mut self) {
        let (name, arguments) = (self.assembly.name(), self.assembly.arguments_text());
        let arguments = self.rewritten.as_deref().unwrap_or(arguments);
        self.digest = (!self.assembly.is_oversize()).then(|| call_digest(name, arguments));
    }

    /// The call as it leaves, in the form every client reads alike.
    pub(crate) fn canonical(&self) -> Canonical {
        let mut call = self.assembly.canonical();
        if let Some(arguments) = &self.rewritten {
            call.arguments.clone_from(arguments);
        }
        call
    }
}
