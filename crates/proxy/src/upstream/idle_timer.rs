//! Limits how long a body may be silent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Detects a silence longer than `limit`. The timer is set once and only moved when it fires too
/// early, so that a stream pays for reading the clock and not for a timer per frame.
pub(super) struct IdleTimer {
    limit: Duration,
    /// When the current silence began. `None` while bytes arrive.
    since: Option<Instant>,
    /// Created at the first silence.
    timer: Option<Pin<Box<Sleep>>>,
}

impl IdleTimer {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, since: None, timer: None }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Changes the limit.
    pub(super) fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Notes that bytes arrived. Returns how long the silence was.
    pub(super) fn reset(&mut self) -> Duration {
        self.since.take().map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Notes that there are no bytes now. Ready once the silence is too long.
    pub(super) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // A limit beyond the range of the clock never expires.
        let Some(end) = since.checked_add(self.limit) else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}
