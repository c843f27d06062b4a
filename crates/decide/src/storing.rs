//! Waits until a turn with removed calls is stored.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use callgate_store::Receipt;

use crate::pipeline::durable;

/// Resolves when a turn is stored, or when it is known that it will not be restored: a response does
/// not wait longer for it than a call waits for its record. Poll it inside a Tokio runtime.
#[must_use = "the turn may not be stored before it resolves"]
pub struct Storing(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Storing {
    pub(crate) fn new(receipt: Receipt, timeout: Duration) -> Self {
        Self(Box::pin(async move {
            if let Err(why) = durable(receipt, timeout).await {
                tracing::error!(why, "removed calls cannot be stored, so they may not be restored");
            }
        }))
    }
}

impl std::fmt::Debug for Storing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Storing")
    }
}

impl Future for Storing {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}
