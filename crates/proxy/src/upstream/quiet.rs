//! How long a body may be silent.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// Notices a silence longer than `limit`. The timer is set once and only moved when it rings too early, so that a
/// stream pays for a look at the clock, not for a timer per frame.
pub(super) struct Quiet {
    limit: Duration,
    /// When the present silence began. None while bytes come.
    since: Option<Instant>,
    /// Made at the first silence.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Quiet {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, since: None, timer: None }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// From now on a silence may be as long as this.
    pub(super) fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Bytes came. Answers how long there were none.
    pub(super) fn broken(&mut self) -> Duration {
        self.since.take().map(|since| since.elapsed()).unwrap_or_default()
    }

    /// No bytes now. Ready once the silence is too long.
    pub(super) fn poll_too_long(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // A limit too far for the clock is none.
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
