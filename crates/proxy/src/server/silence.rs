//! Clients that connect and ask for nothing.
//!
//! hyper's own timeout begins with HTTP/1.1. Before that, the first bytes are awaited that tell the
//! two protocols apart, and behind HTTP/2's greeting anything; neither has a timeout.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Told of each request.
pub(super) struct Speaks(Arc<AtomicBool>);

/// Knows whether there was one.
pub(super) struct Heard(Arc<AtomicBool>);

pub(super) fn watch() -> (Speaks, Heard) {
    let spoke = Arc::new(AtomicBool::new(false));
    (Speaks(Arc::clone(&spoke)), Heard(spoke))
}

impl Speaks {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Heard {
    /// The connection to its end; `None` if no request came in time. The timer is gone with the
    /// first request: streams do not pay for it.
    pub(super) async fn or_cut<T>(
        self,
        connection: impl Future<Output = T>,
        patience: Duration,
    ) -> Option<T> {
        let mut connection = pin!(connection);
        let mut timer = Some(Box::pin(tokio::time::sleep(patience)));
        poll_fn(|cx| {
            if let Poll::Ready(end) = connection.as_mut().poll(cx) {
                return Poll::Ready(Some(end));
            }
            if self.0.load(Ordering::Relaxed) {
                timer = None;
            }
            match &mut timer {
                Some(timer) => timer.as_mut().poll(cx).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }
}
