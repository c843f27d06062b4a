//! Adds what earlier calls of the session have written and done, and where the values of a call came
//! from: a script that this call runs may come from an earlier one.

use std::sync::Arc;

use callgate_call::{Origin, ValueOrigins};

use super::{Resolved, Subject};
use crate::decider::DeciderState;
use crate::session_steps::session_key;
use crate::store_query::StoreUnavailable;
use crate::{origins, past};

/// A call with what its session has written and done.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub(crate) resolved: Resolved,
}

pub(crate) async fn recall(
    inner: &Arc<DeciderState>,
    mut resolved: Resolved,
) -> Result<Recalled, StoreUnavailable> {
    let origin = &resolved.subject.call.origin;
    let files = inner.audit.session_files(&session_key(origin));
    let mut known = origin.clone().with_session_files(files);
    if resolved.subject.policies.looks_at_history() {
        known = with_past(inner, &resolved.subject, known).await?;
    }
    if let Some(values) = joined_values(inner, &resolved).await? {
        known = known.with_values(values);
    }
    if *known != **origin {
        let subject = Arc::make_mut(&mut resolved.subject);
        let others = subject.readings.iter_mut().map(|other| &mut other.call);
        for call in std::iter::once(&mut subject.call).chain(others) {
            let (files, past) = (known.session_files.clone(), known.past.to_vec());
            let origin = call.origin.clone().with_session_files(files).with_past(past);
            call.origin = origin.with_values(known.values.clone());
        }
    }
    Ok(Recalled { resolved })
}

/// What was found for the call of the model that this call executes; `None` if no rule asks, or if
/// there is no such call.
async fn joined_values(
    inner: &Arc<DeciderState>,
    resolved: &Resolved,
) -> Result<Option<ValueOrigins>, StoreUnavailable> {
    let subject = &resolved.subject;
    let asks = subject.server_call().is_some() && subject.policies.looks_at_conversation();
    let Some(record) = resolved.joined().filter(|_| asks) else { return Ok(None) };
    let (who, at) = (subject.call.origin.who.clone(), subject.seen_at);
    let found = inner.query_store(move |inner| origins::read(inner, &who, at, record)).await?;
    let found = found.map_err(|error| {
        tracing::error!(%error, "what the gateway found about a call cannot be read");
        StoreUnavailable
    })?;
    Ok(Some(found))
}

/// Without its history, a call that a rule would compare with it cannot be judged.
async fn with_past(
    inner: &Arc<DeciderState>,
    subject: &Subject,
    origin: Origin,
) -> Result<Origin, StoreUnavailable> {
    let (asked, at) = (subject.policies.events_asked_for(), subject.seen_at);
    let own = origin.clone();
    let past = inner.query_store(move |inner| past::read(inner, &own, at, &asked)).await?;
    let past = past.map_err(|error| {
        tracing::error!(%error, "the earlier calls of a session cannot be read");
        StoreUnavailable
    })?;
    Ok(origin.with_past(past))
}
