//! The future of a decision.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_policy::{Decision, Denial};
use tokio::runtime::Handle;

/// A decision that resolves once its record is durable. Poll it inside a Tokio runtime.
#[must_use = "nothing is decided before it is awaited"]
pub struct PendingDecision(Detached<Decision>);

impl PendingDecision {
    pub(crate) fn new(decision: impl Future<Output = Decision> + Send + 'static) -> Self {
        Self(Detached::new(decision))
    }
}

impl std::fmt::Debug for PendingDecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PendingDecision")
    }
}

impl Future for PendingDecision {
    type Output = Decision;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Decision> {
        // Polled again after it resolved: deny.
        let already_resolved =
            || Decision::Deny(Denial::refused("", "this call was already decided"));
        Pin::new(&mut self.0).poll(cx).map(|decision| decision.unwrap_or_else(already_resolved))
    }
}

/// A future that resolves once; `None` if it is polled again. If the caller drops it early, it
/// still runs to its end, so that the decision is recorded.
pub(crate) struct Detached<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> Drop for Detached<T> {
    fn drop(&mut self) {
        if let (Some(later), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(later);
        }
    }
}

impl<T: Send + 'static> Detached<T> {
    pub(crate) fn new(later: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(later)))
    }

    pub(crate) fn ready(value: T) -> Self {
        Self::new(std::future::ready(value))
    }
}

impl<T: Send + 'static> Future for Detached<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(later) = &mut self.0 else { return Poll::Ready(None) };
        let done = later.as_mut().poll(cx);
        if done.is_ready() {
            self.0 = None;
        }
        done.map(Some)
    }
}
