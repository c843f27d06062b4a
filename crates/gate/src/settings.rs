//! The settings of a gate.

use std::sync::Arc;

use callgate_call::Origin;
use callgate_policy::{DenialText, TextGuard};

/// The settings of one gate.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What replaces a denied call.
    pub on_deny: OnDeny,
    /// How denials are worded.
    pub denial: Arc<DenialText>,
    /// What to do with unreadable frames.
    pub malformed: Malformed,
    /// The form of response that the client requested. The actual form is detected from the bytes;
    /// this decides the form of an error before anything has left, and whether a turn of one line of
    /// JSON may continue: one body must not become several lines.
    pub requested_form: RequestedForm,
    /// The text rules for the response.
    pub text: Option<TextGuard>,
    /// Whether a stream says which calls were denied, to programs that read its comments.
    pub announce: Announce,
    /// Every bound.
    pub limits: GateLimits,
    /// Where the response comes from; the gate adds the model if it is unknown.
    pub origin: Origin,
}

impl Settings {
    /// The defaults, for a response from `origin`.
    pub fn new(origin: Origin) -> Self {
        Self {
            on_deny: OnDeny::Explain,
            denial: DenialText::built_in(),
            malformed: Malformed::Withhold,
            requested_form: RequestedForm::Unknown,
            text: None,
            announce: Announce::Nothing,
            limits: GateLimits::default(),
            origin,
        }
    }
}

/// What replaces a denied call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDeny {
    /// The provider is asked again, if no other call is left for the client to run: the driver gets
    /// [`Step::OnlyDenied`](crate::Step::OnlyDenied). Otherwise the same as `Explain`.
    Continue,
    /// A text that explains what was denied and why.
    Explain,
    /// Nothing, except for a neutral text if the turn would otherwise be empty, because agents
    /// repeat the request after an empty turn.
    Silent,
}

/// What a stream says in comments, which clients skip and programs may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announce {
    /// Nothing.
    Nothing,
    /// `: callgate denied ID` for each denied call, in APIs whose clients accept comments.
    Denials,
}

/// How a denied call is shown in a turn that continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notice {
    /// As one line: the tool, the rule, the record.
    #[default]
    Line,
    /// Not at all.
    None,
}

/// The form of response that a client requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedForm {
    /// It is not known.
    Unknown,
    /// A stream of events.
    Stream,
    /// One body.
    Body,
}

/// What happens to a frame that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It is withheld with all it may belong to.
    Withhold,
    /// It passes: the operator trusts the upstream more than its JSON.
    Pass,
}

/// Every bound of a gate. At each of them what is held is dropped and the response ends with an
/// error in the dialect's form, except at `arguments`: those calls are judged by name, every argument
/// unknown.
#[derive(Debug, Clone)]
pub struct GateLimits {
    /// One frame. Recorded ones reach 100 KB; images in events are larger.
    pub frame: usize,
    /// A whole body.
    pub body: usize,
    /// All bytes held back at once. Arguments of 1 MiB that come five bytes a frame are 60 MB of
    /// frames.
    pub held: usize,
    /// The arguments of one call.
    pub arguments: usize,
    /// Calls of one response; in APIs of numbered blocks, blocks that are open at once.
    pub calls: usize,
    /// Texts of one response that are open at once, of which some may be held back by text rules.
    pub texts: usize,
}

impl Default for GateLimits {
    fn default() -> Self {
        let wire = callgate_wire::ReadLimits::default();
        Self {
            frame: wire.frame,
            body: wire.body,
            held: 64 << 20,
            arguments: 1 << 20,
            calls: callgate_dialect::Limits::default().max_calls,
            // Each choice and block has one. Recorded responses have a few.
            texts: 256,
        }
    }
}
