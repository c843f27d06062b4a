//! What rules want to know about earlier calls of a session: kept in the history of the store, which
//! checks of MCP servers use too.

use std::time::Duration;

use callgate_audit::RecordId;
use callgate_call::{OriginFields, PastEvent};
use callgate_store::{FlowName, FlowStep};
use sha2::{Digest, Sha256};

use crate::decider::DeciderState;
use crate::session_steps::{KeyedStep, StepKey, before};

/// How far rules can look back.
const MAX_AGE: Duration = Duration::from_secs(FlowStep::MAX_HOURS as u64 * 3600);

/// The steps to store for what a call did. The text is kept for denials, whose rules have names; of
/// other events a hash is enough, and nothing in it looks like a secret.
pub(crate) fn steps(
    origin: &OriginFields,
    at: i64,
    record: RecordId,
    events: &[String],
) -> Vec<KeyedStep> {
    let step = |event: &String| {
        let (role, rest) = event.split_once(' ').unwrap_or((event, ""));
        let named = if role == DENIED { rest } else { "" };
        let step = FlowStep {
            at,
            server: String::new(),
            tool: named.to_owned(),
            role: role.to_owned(),
            record,
            arguments: Sha256::digest(event).into(),
        };
        (key(origin), step)
    };
    events.iter().map(step).collect()
}

/// What earlier calls did, as far as one of these conditions may ask for it.
pub(crate) fn read(
    inner: &DeciderState,
    origin: &OriginFields,
    at: i64,
    asked: &[String],
) -> Result<Vec<PastEvent>, callgate_store::StoreError> {
    let since = before(at, MAX_AGE);
    let known: Vec<([u8; 32], &String)> =
        asked.iter().map(|event| (Sha256::digest(event).into(), event)).collect();
    let event = |step: FlowStep| {
        let what = match step.role == DENIED {
            true => format!("{DENIED} {}", step.tool),
            false => known.iter().find(|(hash, _)| *hash == step.arguments)?.1.clone(),
        };
        let ago = u64::try_from(at.saturating_sub(step.at)).unwrap_or(0);
        Some(PastEvent { what, ago: Duration::from_micros(ago) })
    };
    Ok(inner.audit.flows(&key(origin), since)?.into_iter().filter_map(event).collect())
}

const DENIED: &str = "denied";

fn key(origin: &OriginFields) -> FlowName {
    StepKey::Events(origin.session.as_deref()).of(&origin.who)
}
