//! How a gate behaves where the operator has a choice.

use std::sync::Arc;

use callgate_call::Origin;
use callgate_policy::{DenialText, TextGuard};

/// The settings of one gate.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What takes the place of a denied call.
    pub on_deny: OnDeny,
    /// How denials are worded.
    pub denial: Arc<DenialText>,
    /// What becomes of frames that cannot be read.
    pub malformed: Malformed,
    /// What the client asked for. The form of the response comes from its bytes; this decides only
    /// how to say that there was none.
    pub asked: Asked,
    /// What the response may say.
    pub text: Option<TextGuard>,
    /// Every bound.
    pub limits: Limits,
    /// Where the response comes from; the gate adds the model if it is not known.
    pub origin: Origin,
}

impl Settings {
    /// The defaults, for a response from `origin`.
    pub fn new(origin: Origin) -> Self {
        Self {
            on_deny: OnDeny::Explain,
            denial: DenialText::built_in(),
            malformed: Malformed::Withhold,
            asked: Asked::Unknown,
            text: None,
            limits: Limits::default(),
            origin,
        }
    }
}

/// What takes the place of a denied call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDeny {
    /// A text that says what was denied and why.
    Explain,
    /// Nothing; a neutral text only where the turn would otherwise be empty, for agents ask again
    /// after an empty turn.
    Silent,
}

/// The form of response a client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nobody told.
    Unknown,
    /// A stream of events.
    Stream,
    /// One body.
    Body,
}

/// What becomes of a frame that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It is withheld with all it may belong to.
    Withhold,
    /// It passes: the operator trusts the upstream more than its JSON.
    Pass,
}

/// Every bound of a gate. At each of them the call is denied and the stream ends in the dialect's
/// error form, except `arguments`: those calls are judged by name, every argument unknown.
#[derive(Debug, Clone)]
pub struct Limits {
    /// One frame. Recorded ones reach 100 KB; images in events are larger.
    pub frame: usize,
    /// A whole body.
    pub body: usize,
    /// All bytes held back at once. Arguments of 1 MiB that come five bytes a frame are 60 MB of
    /// frames.
    pub held: usize,
    /// The arguments of one call.
    pub arguments: usize,
    /// Calls of one response.
    pub calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let wire = callgate_wire::Limits::default();
        Self {
            frame: wire.frame,
            body: wire.body,
            held: 64 << 20,
            arguments: 1 << 20,
            calls: callgate_dialect::Limits::default().max_calls,
        }
    }
}
