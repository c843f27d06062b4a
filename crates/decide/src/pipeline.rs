//! The one way from a call to its answer, whichever door it came through.
//!
//! ```text
//! Subject   the call, as a door saw it
//!    │ resolve   what its name means; lists, pins, rates
//! Resolved
//!    │ effects   what it would do
//! Analysed
//!    │ meter     limits, and what was called before
//! Metered
//!    │ judge     the rules, and everything above
//! Judged
//!    │ wait      for whoever must agree
//! Answered
//!    │ record    durable before anybody hears of it
//! Decided       Recorded<Permit>, or a denial
//! ```
//!
//! Each stage takes the result of the one before by value, so none can be left out. It is a future
//! that never waits for the store on the thread that polls it: see [`clerk`](crate::clerk).

mod effects;
mod judge;
mod meter;
mod record;
mod resolve;
mod subject;
mod wait;

use std::sync::Arc;

pub(crate) use self::judge::Judged;
pub(crate) use self::meter::Metered;
pub use self::record::Decision;
pub(crate) use self::record::{Decided, STORE};
pub(crate) use self::resolve::{Resolved, Target, unfit_along};
pub(crate) use self::subject::{AtServer, Seen, Subject};
pub use self::wait::NO_APPROVER;
use crate::clerk::NoAnswer;
use crate::decider::Inner;

/// Decides one call.
pub(crate) async fn decide(inner: Arc<Inner>, subject: Subject) -> Decided {
    let subject = Arc::new(subject);
    match answer(&inner, Arc::clone(&subject)).await {
        Ok(answered) => record::record(&inner, answered).await,
        Err(NoAnswer) => record::refuse(&inner, &subject),
    }
}

async fn answer(inner: &Arc<Inner>, subject: Arc<Subject>) -> Result<wait::Answered, NoAnswer> {
    let resolved = resolve::resolve(inner, subject).await?;
    let analysed = effects::analyse(resolved);
    let metered = meter::meter(inner, analysed).await?;
    let judged = judge::judge(metered);
    Ok(wait::wait(judged).await)
}
