//! Disconnects clients that connect and send no request.
//!
//! hyper's own timeout starts with HTTP/1.1. There is no timeout while waiting for the first bytes,
//! which distinguish the two protocols, nor after the HTTP/2 preface.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

/// Notes each request.
pub(super) struct RequestMarker(Arc<AtomicBool>);

/// Waits for the first request.
pub(super) struct FirstRequest(Arc<AtomicBool>);

pub(super) fn watch() -> (RequestMarker, FirstRequest) {
    let seen = Arc::new(AtomicBool::new(false));
    (RequestMarker(Arc::clone(&seen)), FirstRequest(seen))
}

impl RequestMarker {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl FirstRequest {
    /// Runs the connection to its end; `None` if no request came in time. The timer is dropped with
    /// the first request, so that streams do not pay for it.
    pub(super) async fn or_disconnect<T>(
        self,
        connection: impl Future<Output = T>,
        request_timeout: Duration,
    ) -> Option<T> {
        let mut connection = pin!(connection);
        let mut timer = Some(Box::pin(tokio::time::sleep(request_timeout)));
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
