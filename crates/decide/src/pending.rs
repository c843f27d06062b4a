//! A decision on its way.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use callgate_policy::Denial;
use tokio::runtime::Handle;

pub use crate::pipeline::Decision;

/// A decision that is told once its record is durable. Must be polled inside a runtime.
#[must_use = "nothing is decided before it is awaited"]
pub struct Pending(Later<Decision>);

impl Pending {
    pub(crate) fn new(decision: impl Future<Output = Decision> + Send + 'static) -> Self {
        Self(Later::new(decision))
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pending")
    }
}

impl Future for Pending {
    type Output = Decision;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Decision> {
        // Asked again after it was told: closed.
        let told = || Decision::Deny(Denial::refused("", "it was decided"));
        Pin::new(&mut self.0).poll(cx).map(|decision| decision.unwrap_or_else(told))
    }
}

/// Something that comes later, and only once: `None` when it is asked for again. Whoever asked may go
/// before it comes: it comes to its end all the same, so that what was asked is on record.
pub(crate) struct Later<T: Send + 'static>(Option<Pin<Box<dyn Future<Output = T> + Send>>>);

impl<T: Send + 'static> Drop for Later<T> {
    fn drop(&mut self) {
        if let (Some(later), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(later);
        }
    }
}

impl<T: Send + 'static> Later<T> {
    pub(crate) fn new(later: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(later)))
    }

    pub(crate) fn ready(value: T) -> Self {
        Self::new(std::future::ready(value))
    }
}

impl<T: Send + 'static> Future for Later<T> {
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
