//! Where the values of a call came from, for its execution. The gateway sees the conversation and a
//! door of MCP servers does not, so what was found for a call of the model is kept under its record.

use std::time::Duration;

use callgate_audit::RecordId;
use callgate_call::{FoundOrigin, Principal, ValueOrigins};
use callgate_store::{FlowName, FlowStep, StoreError};

use crate::decider::DeciderState;
use crate::session_steps::{KeyedStep, StepKey, before};

/// As long as a call of the model can be found by its id.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

const YES: &str = "yes";
const NO: &str = "no";
const UNKNOWN: &str = "unknown";

/// The steps to store for a call that is allowed.
pub(crate) fn steps(
    who: &Principal,
    at: i64,
    record: RecordId,
    found: &[FoundOrigin],
) -> Vec<KeyedStep> {
    let step = |found: &FoundOrigin| {
        let role = match found.holds {
            Some(true) => YES,
            Some(false) => NO,
            None => UNKNOWN,
        };
        let step = FlowStep {
            at,
            server: String::new(),
            tool: found.condition.clone(),
            role: role.to_owned(),
            record,
            arguments: [0; 32],
        };
        (key(who, record), step)
    };
    found.iter().map(step).collect()
}

/// What was found for the call with this record.
pub(crate) fn read(
    inner: &DeciderState,
    who: &Principal,
    at: i64,
    record: RecordId,
) -> Result<ValueOrigins, StoreError> {
    let steps = inner.audit.flows(&key(who, record), before(at, MAX_AGE))?;
    let found = |step: FlowStep| FoundOrigin {
        holds: match step.role.as_str() {
            YES => Some(true),
            NO => Some(false),
            _ => None,
        },
        condition: step.tool,
    };
    Ok(ValueOrigins::Found(steps.into_iter().map(found).collect()))
}

fn key(who: &Principal, record: RecordId) -> FlowName {
    StepKey::Origins(record).of(who)
}
