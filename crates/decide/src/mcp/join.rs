//! Connects an execution to the model call that caused it, and keeps the history of a session. Both
//! are in the store, because a gateway and many shims each see only parts of a session.

use std::time::Duration;

use callgate_audit::RecordId;
use callgate_call::{Arguments, OriginFields, Principal, canonical_arguments};
use callgate_store::{FlowName, FlowStep, Glance, Store, StoreError};
use sha2::{Digest, Sha256};

use super::flows::{PastCall, ToolRole};
use crate::session_steps::{KeyedStep, StepKey, before, session_key};

/// A hash of the arguments of a call.
pub(crate) type ArgumentHash = [u8; 32];

/// A call in a model's response that was allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intent<'a> {
    /// The time in microseconds since 1970.
    pub(crate) at: i64,
    /// The provider's id of the call; empty if there is none.
    pub(crate) call_id: &'a str,
    /// Who made the call. Only executions of the same principal match.
    pub(crate) who: &'a Principal,
    pub(crate) session: Option<&'a str>,
    /// The server and the tool; `None` if the name does not determine them.
    pub(crate) target: Option<(&'a str, &'a str)>,
    pub(crate) arguments: ArgumentHash,
    pub(crate) record: RecordId,
}

/// An execution, to be matched with its intent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Execution<'a> {
    pub(crate) at: i64,
    pub(crate) call_id: &'a str,
    pub(crate) who: &'a Principal,
    pub(crate) session: Option<&'a str>,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: ArgumentHash,
}

/// The intent of an execution. Each intent matches only one execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatchedIntent {
    pub(crate) record: RecordId,
    /// The server that the model named; empty if the name did not determine it.
    pub(crate) server: String,
    key: FlowName,
}

const INTENT: &str = "intent";
const DONE: &str = "done";

/// How long an intent can be found by its id. Long, because agents ask people for approval in
/// between.
const ID_WINDOW: Duration = Duration::from_secs(24 * 3600);

/// The steps to store for an intent: under its id, and under its server and tool.
pub(crate) fn intended(intent: Intent<'_>) -> Vec<KeyedStep> {
    let (server, tool) = intent.target.unwrap_or_default();
    let mut keys = Vec::new();
    if !intent.call_id.is_empty() {
        keys.push(StepKey::Call { id: intent.call_id }.of(intent.who));
    }
    if intent.target.is_some() {
        // Not every agent sends its session to servers.
        keys.push(StepKey::Intents { session: None, server, tool }.of(intent.who));
        if intent.session.is_some() {
            keys.push(StepKey::Intents { session: intent.session, server, tool }.of(intent.who));
        }
    }
    let step = || step(intent.at, server, tool, INTENT, intent.record, intent.arguments);
    keys.into_iter().map(|key| (key, step())).collect()
}

/// The intent of an execution: by its id if there is one, otherwise by a recent call of the same
/// session with the same tool and arguments.
pub(crate) fn find(
    glance: Glance<'_>,
    execution: Execution<'_>,
    window: Duration,
) -> Result<Option<MatchedIntent>, StoreError> {
    if !execution.call_id.is_empty() {
        let key = StepKey::Call { id: execution.call_id }.of(execution.who);
        if let Some(intent) = open(glance, key, before(execution.at, ID_WINDOW), |_| true)? {
            return Ok(Some(intent));
        }
    }
    // Not every agent sends its session to servers.
    let Execution { who, session, server, tool, .. } = execution;
    let key = StepKey::Intents { session, server, tool }.of(who);
    let since = before(execution.at, window);
    open(glance, key, since, |step| step.arguments == execution.arguments)
}

/// The steps to store when the execution of an intent begins, so that the intent is not found
/// again.
pub(crate) fn done(intent: &MatchedIntent, execution: Execution<'_>) -> Vec<KeyedStep> {
    let Execution { at, who, session, server, tool, arguments, .. } = execution;
    let mut keys =
        vec![intent.key.clone(), StepKey::Intents { session: None, server, tool }.of(who)];
    if session.is_some() {
        keys.push(StepKey::Intents { session, server, tool }.of(who));
    }
    keys.dedup();
    let done = || step(at, server, tool, DONE, intent.record, arguments);
    keys.into_iter().map(|key| (key, done())).collect()
}

/// The first intent under a key that has not been executed.
fn open(
    glance: Glance<'_>,
    key: FlowName,
    since: i64,
    fits: impl Fn(&FlowStep) -> bool,
) -> Result<Option<MatchedIntent>, StoreError> {
    let steps = glance.flows(&key, since)?;
    let is_done = |record: RecordId| steps.iter().any(|it| it.role == DONE && it.record == record);
    let open = steps.iter().find(|it| it.role == INTENT && fits(it) && !is_done(it.record));
    Ok(open.map(|step| MatchedIntent { record: step.record, server: step.server.clone(), key }))
}

/// The step to store for a call that is allowed.
pub(crate) fn remembered(
    origin: &OriginFields,
    past: &PastCall,
    arguments: ArgumentHash,
) -> KeyedStep {
    let role = past.role.word();
    let step = step(past.at, &past.server, &past.tool, role, past.record, arguments);
    (session_key(origin), step)
}

/// Stores a call, unless later calls of its session contradict it.
pub(crate) fn remember_unless<T>(
    audit: &Store,
    (key, step): KeyedStep,
    since: i64,
    against: impl FnOnce(&[PastCall]) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    audit.add_flow_unless(&key, since, step, |steps| against(&past(steps)))
}

/// Removes a call that was stopped.
pub(crate) fn forget(
    audit: &Store,
    origin: &OriginFields,
    record: RecordId,
) -> Result<(), StoreError> {
    audit.remove_flow(&session_key(origin), record)
}

/// The calls of a session since then, in order of time.
pub(crate) fn history(
    glance: Glance<'_>,
    origin: &OriginFields,
    since: i64,
) -> Result<Vec<PastCall>, StoreError> {
    Ok(past(glance.flows(&session_key(origin), since)?))
}

fn past(steps: Vec<FlowStep>) -> Vec<PastCall> {
    let past = |step: FlowStep| PastCall {
        at: step.at,
        server: step.server,
        tool: step.tool,
        role: ToolRole::from_word(&step.role),
        record: step.record,
    };
    steps.into_iter().map(past).collect()
}

fn step(
    at: i64,
    server: &str,
    tool: &str,
    role: &str,
    record: RecordId,
    arguments: ArgumentHash,
) -> FlowStep {
    let (server, tool, role) = (server.to_owned(), tool.to_owned(), role.to_owned());
    FlowStep { at, server, tool, role, record, arguments }
}

/// Equal arguments have equal hashes, however they are formatted: clients reformat them between
/// model and server.
pub(crate) fn hash(arguments: &Arguments) -> ArgumentHash {
    Sha256::digest(canonical_arguments(arguments.raw())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_arguments_have_one_hash() {
        let of = |text: &str| hash(&Arguments::json(text));
        let same = of(r#"{"a":1,"b":["é",null]}"#);
        assert_eq!(of(r#"{ "b" : ["\u00e9", null], "a": 1.0 }"#), same);
        assert_eq!(of(""), of("{}"));
        assert_eq!(of(r#"{"n":-0.0}"#), of(r#"{"n":0}"#));
        for other in [r#"{"a":1,"b":["é"]}"#, r#"{"a":"1","b":["é",null]}"#, r#"{"a":1}"#] {
            assert_ne!(of(other), same, "{other}");
        }
        assert_ne!(of(r#"{"a":["b","c"]}"#), of(r#"{"a":["b"],"c":[]}"#));
    }
}
