//! The pipeline from a call to its decision, the same for every door.
//!
//! ```text
//! Subject   the call, as a door saw it
//!    │ resolve   find its tool; check lists, pins, rates
//! Resolved
//!    │ recall    what earlier calls have written and done, where values came from
//! Recalled
//!    │ judge     ask the rules
//! Judged
//!    │ meter     count limits, check the history
//! Metered
//!    │ combine   what the rules and all checks say together
//! Combined
//!    │ wait      for an approver
//! Answered
//!    │ record    durable before the caller gets the decision
//! Decided       Recorded<Permit>, or a denial
//! ```
//!
//! Each stage consumes the result of the one before, so none can be skipped. The future never waits
//! for the store on the thread that polls it: see [`store_query`](crate::store_query).

mod combine;
mod judge;
mod meter;
mod recall;
mod resolve;
mod subject;
mod wait;
mod write_record;

use std::sync::Arc;

use tokio::sync::oneshot;

pub(crate) use self::combine::Combined;
pub(crate) use self::meter::Metered;
pub(crate) use self::resolve::{CallTarget, HistoryEntry, Resolved, unfit_extra_input};
pub(crate) use self::subject::{CallSource, ServerCall, Subject};
pub use self::wait::NO_APPROVER;
pub(crate) use self::write_record::{Decided, STORE, durable};
use crate::decider::DeciderState;
use crate::store_query::StoreUnavailable;

/// Decides one call, and waits until what it does is part of its session's history: the next call
/// may be made as soon as this one is answered.
pub(crate) async fn decide(inner: Arc<DeciderState>, subject: Subject) -> Decided {
    let (turn, next) = oneshot::channel();
    let decided = decide_in_turn(inner, subject, turn).await;
    // Nothing is ever sent: the turn is dropped.
    next.await.ok();
    decided
}

/// Decides one call of several. The next one has its turn when `turn` is dropped: as soon as this
/// one is judged or, if the next one may depend on what this one writes and does, when that is stored.
pub(crate) async fn decide_in_turn(
    inner: Arc<DeciderState>,
    subject: Subject,
    turn: oneshot::Sender<()>,
) -> Decided {
    let subject = Arc::new(subject);
    match answer(&inner, Arc::clone(&subject)).await {
        Ok(answered) => {
            let held = Some(turn).filter(|_| answered.matters_later());
            write_record::record(&inner, answered, held).await
        }
        Err(StoreUnavailable) => write_record::refuse(&inner, &subject),
    }
}

async fn answer(
    inner: &Arc<DeciderState>,
    subject: Arc<Subject>,
) -> Result<wait::Answered, StoreUnavailable> {
    let resolved = resolve::resolve(inner, subject).await?;
    let recalled = recall::recall(inner, resolved).await?;
    let judged = judge::judge(recalled);
    let metered = meter::meter(inner, judged).await?;
    let combined = combine::combine(metered);
    Ok(wait::wait(combined).await)
}
