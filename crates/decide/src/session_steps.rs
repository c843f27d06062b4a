//! Under which keys the store keeps the steps of sessions, and from which time on they count.

use std::time::Duration;

use callgate_audit::RecordId;
use callgate_call::{Identity, OriginFields, Principal};
use callgate_store::{FlowName, FlowStep};

/// A step with the key that it is stored under.
pub(crate) type KeyedStep = (FlowName, FlowStep);

/// What a list of steps is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StepKey<'a> {
    /// The execution of a call, by the provider's id of the call.
    Call { id: &'a str },
    /// The execution of calls of a tool.
    Intents { session: Option<&'a str>, server: &'a str, tool: &'a str },
    /// The calls of a session to servers. All calls without a session count as one session, which is
    /// stricter.
    Session(Option<&'a str>),
    /// What the calls of a session did, as far as rules ask.
    Events(Option<&'a str>),
    /// Where the values of the call with this record came from, as far as rules ask.
    Origins(RecordId),
}

impl StepKey<'_> {
    /// The key of this principal in the store. Sessions and call ids are unverified, so each
    /// principal has its own.
    pub(crate) fn of(self, who: &Principal) -> FlowName {
        let name = match self {
            Self::Call { id } => format!("call\0{id}"),
            Self::Intents { session, server, tool } => {
                format!("intent\0{}\0{server}\0{tool}", session.unwrap_or_default())
            }
            Self::Session(session) => format!("session\0{}", session.unwrap_or_default()),
            Self::Events(session) => format!("events\0{}", session.unwrap_or_default()),
            Self::Origins(record) => format!("origins\0{record}"),
        };
        FlowName { owner: owner(who), name }
    }
}

/// The key of the calls of a session to servers, and of the files that the session has written.
pub(crate) fn session_key(origin: &OriginFields) -> FlowName {
    StepKey::Session(origin.session.as_deref()).of(&origin.who)
}

fn owner(who: &Principal) -> String {
    match who.identity() {
        Some(Identity::Key(name)) => format!("key\0{name}"),
        Some(Identity::User(name)) => format!("user\0{name}"),
        None => String::new(),
    }
}

/// The time that long before another one, in microseconds since 1970.
pub(crate) fn before(at: i64, window: Duration) -> i64 {
    at.saturating_sub(i64::try_from(window.as_micros()).unwrap_or(i64::MAX))
}
