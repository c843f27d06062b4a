//! A decision on its way: it waits for its record.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use callgate_audit::Receipt;
use callgate_policy::{Denial, Permit};
use tokio::time::Sleep;

use crate::settings::OnFailure;

/// What becomes of a call.
#[derive(Debug)]
pub enum Decision {
    /// It may leave.
    Allow(Permit),
    /// It may not.
    Deny(Denial),
}

/// A decision that is told once its record is durable. Must be polled inside a runtime.
#[derive(Debug)]
pub struct Pending {
    waiting: Option<Waiting>,
    /// Set until it is told.
    decision: Option<Decision>,
}

#[derive(Debug)]
struct Waiting {
    receipt: Receipt,
    /// The tool's name, for the denial if the record fails.
    tool: String,
    on_failure: OnFailure,
    timeout: Duration,
    /// Made at the first wait: most records are written by then.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Pending {
    /// A decision that need not wait: denials lose nothing if their record does.
    pub(crate) fn ready(decision: Decision) -> Self {
        Self { waiting: None, decision: Some(decision) }
    }

    pub(crate) fn after(
        receipt: Receipt,
        tool: &str,
        permit: Permit,
        on_failure: OnFailure,
        timeout: Duration,
    ) -> Self {
        let tool = tool.to_owned();
        let waiting = Waiting { receipt, tool, on_failure, timeout, deadline: None };
        Self { waiting: Some(waiting), decision: Some(Decision::Allow(permit)) }
    }
}

impl Future for Pending {
    type Output = Decision;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Decision> {
        let this = &mut *self;
        let failed = match &mut this.waiting {
            None => None,
            Some(waiting) => match waiting.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => None,
                Poll::Ready(Err(why)) => {
                    tracing::error!(
                        tool = waiting.tool,
                        why,
                        "the record of a call is not written"
                    );
                    let deny = waiting.on_failure == OnFailure::Deny;
                    deny.then(|| unrecorded(&waiting.tool))
                }
            },
        };
        this.waiting = None;
        let decision = this.decision.take();
        match (failed, decision) {
            (None, Some(decision)) => Poll::Ready(decision),
            (Some(denial), _) => Poll::Ready(Decision::Deny(denial)),
            // Polled again after it was told: closed.
            (None, None) => Poll::Ready(Decision::Deny(Denial::refused("", "it was decided"))),
        }
    }
}

impl Waiting {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), String>> {
        if let Poll::Ready(done) = Pin::new(&mut self.receipt).poll(cx) {
            return Poll::Ready(done.map_err(|error| error.to_string()));
        }
        let timeout = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Err(format!("it was not written within {} s", timeout.as_secs())))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// In the place of a rule: the store, without which nothing is decided.
pub(crate) const STORE: &str = "audit.store";

/// The cause may name files: it is for the operator's log, not for the model.
fn unrecorded(tool: &str) -> Denial {
    let mut denial = Denial::refused(tool, "The record of this call could not be written.");
    denial.rule = Some(STORE.to_owned());
    denial.hint = Some("Tell the operator: callgate's store does not take records.".to_owned());
    denial
}
