//! What sessions have written and done so far, for calls that are judged one after the other outside
//! of a gateway: the lines of a file, or records.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_call::{Identity, OriginFields, PastEvent, SessionFiles, ToolCall};
use callgate_policy::Judgement;
use callgate_store::FlowStep;
use jiff::Timestamp;

/// The sessions that are known. When there are too many, those that were used least recently are
/// forgotten.
#[derive(Default)]
pub(crate) struct Sessions {
    known: HashMap<SessionName, ReplayedSession>,
}

/// The principal, and its name for the session.
type SessionName = (String, String);

#[derive(Default)]
struct ReplayedSession {
    files: Arc<SessionFiles>,
    events: Vec<(String, Timestamp)>,
    used: Timestamp,
    /// When a call of the session could not be judged, last.
    lost: Option<Timestamp>,
}

/// The session that a call belongs to. As in a gateway, the calls of a principal that name no session
/// count as one.
fn name(origin: &OriginFields) -> SessionName {
    let owner = match origin.who.identity() {
        Some(Identity::Key(name)) => format!("key {name}"),
        Some(Identity::User(name)) => format!("user {name}"),
        None => String::new(),
    };
    (owner, origin.session.clone().unwrap_or_default())
}

impl Sessions {
    /// Adds what earlier calls of its session did to a call at this time.
    pub(crate) fn add_past(&self, call: &mut ToolCall, now: Timestamp) {
        let Some(session) = self.known.get(&name(&call.origin)) else { return };
        if is_old(session.used, now) {
            return;
        }
        let past =
            |(what, at): &(String, Timestamp)| PastEvent { what: what.clone(), ago: age(*at, now) };
        let files = Some(Arc::clone(&session.files)).filter(|files| !files.is_empty());
        let past = session.events.iter().map(past).collect();
        call.origin = call.origin.clone().with_session_files(files).with_past(past);
    }

    /// Keeps what later calls of the session may depend on.
    pub(crate) fn keep(&mut self, call: &ToolCall, judgement: &Judgement, now: Timestamp) {
        let events = judgement.later_events();
        let passes = judgement.verdict.passes();
        let writes = passes && !judgement.files.is_empty();
        if events.is_empty() && !writes {
            return;
        }
        let session = self.session(&call.origin, now);
        session.events.extend(events.into_iter().map(|event| (event, now)));
        let surplus = session.events.len().saturating_sub(FlowStep::MAX_FOUND);
        session.events.drain(..surplus);
        if writes {
            let files = Arc::make_mut(&mut session.files);
            judgement.files.iter().cloned().for_each(|write| files.apply(write));
        }
    }

    /// Notes that a call of this session cannot be judged, so what it did is not known.
    pub(crate) fn lose(&mut self, origin: &OriginFields, now: Timestamp) {
        self.session(origin, now).lost = Some(now);
    }

    /// Whether something may be missing in what is known about a session.
    pub(crate) fn is_incomplete(&self, origin: &OriginFields, now: Timestamp) -> bool {
        let lost = self.known.get(&name(origin)).and_then(|session| session.lost);
        lost.is_some_and(|lost| !is_old(lost, now))
    }

    fn session(&mut self, origin: &OriginFields, now: Timestamp) -> &mut ReplayedSession {
        let name = name(origin);
        if self.known.len() >= MAX_SESSIONS && !self.known.contains_key(&name) {
            self.forget(now);
        }
        let session = self.known.entry(name).or_default();
        if is_old(session.used, now) {
            *session = ReplayedSession::default();
        }
        session.used = now;
        session
    }

    /// Forgets old sessions, and half of the others if that is not enough.
    fn forget(&mut self, now: Timestamp) {
        self.known.retain(|_, session| !is_old(session.used, now));
        if self.known.len() >= MAX_SESSIONS {
            let mut used: Vec<Timestamp> = self.known.values().map(|it| it.used).collect();
            used.sort_unstable();
            let limit = used.get(used.len() / 2).copied().unwrap_or(now);
            self.known.retain(|_, session| session.used > limit);
        }
    }
}

/// How long ago something was; nothing is in the future.
fn age(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(at)).unwrap_or_default()
}

/// Whether it was too long ago to matter: a gateway has forgotten it.
fn is_old(at: Timestamp, now: Timestamp) -> bool {
    age(at, now) > Duration::from_secs(FlowStep::MAX_HOURS.unsigned_abs() * 3600)
}

/// Each takes at most two megabytes, and nearly all take far less.
const MAX_SESSIONS: usize = 1000;
