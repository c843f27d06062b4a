//! Questions to the store: asked by its own thread, so that no thread that carries streams ever waits for it.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decider::Inner;

/// What a process has the store's thread do besides questions.
#[derive(Debug, Default)]
pub(crate) struct Clerk {
    /// Whether the thread looks now and then what other processes did. It begins with the first question.
    looks: OnceLock<()>,
    /// When a refresh was last asked for that is not done yet.
    refresh: Mutex<Option<Instant>>,
}

/// The store did not answer: it is too busy, too slow, or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoAnswer;

/// How often the clerk looks what other processes have pinned, trusted or reset.
const TICK: Duration = Duration::from_secs(1);

impl Inner {
    /// Has the clerk do something that may wait for the store, and awaits it. Each question waits no
    /// longer than a record.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.ask_or(question, |_, _| {}).await
    }

    /// The same, with what is to be done about an answer that nobody waits for any more.
    pub(crate) async fn ask_or<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
        undo: impl FnOnce(T, &Self) + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.look_now_and_then();
        let (asking, undoing) = (Arc::clone(self), Arc::clone(self));
        let reply = self
            .audit
            .ask_or(move |_| question(&asking), move |unheard, _| undo(unheard, &undoing));
        let patience = self.in_force().settings.record_timeout;
        match tokio::time::timeout(patience, reply).await {
            Ok(Ok(answer)) => return Ok(answer),
            // Whoever is too busy to answer is not kept busy with telling so.
            Err(_) | Ok(Err(callgate_store::NoAnswer::Full)) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, "the store did not answer in time for a call")
            }
        }
        Err(NoAnswer)
    }

    /// Has the clerk look what other processes did to the pins; nobody waits for it. However often it is
    /// asked for, it is done once, and not at all if somebody else has looked since.
    pub(crate) fn ask_to_refresh(self: &Arc<Self>) {
        self.look_now_and_then();
        if self.clerk.refresh.lock().replace(Instant::now()).is_some() {
            return;
        }
        let inner = Arc::clone(self);
        let asked = self.audit.do_later(move |_| {
            let asked = inner.clerk.refresh.lock().take();
            inner.refresh_books_since(asked.unwrap_or_else(Instant::now));
        });
        if asked.is_err() {
            *self.clerk.refresh.lock() = None;
        }
    }

    /// Whether a refresh that was asked for is not done yet.
    #[cfg(test)]
    pub(crate) fn waits_to_refresh(&self) -> bool {
        self.clerk.refresh.lock().is_some()
    }

    fn look_now_and_then(self: &Arc<Self>) {
        self.clerk.looks.get_or_init(|| {
            let inner = Arc::downgrade(self);
            let look = move || match inner.upgrade() {
                Some(inner) => {
                    inner.refresh_books();
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            };
            if let Err(error) = self.audit.do_each(TICK, look) {
                tracing::error!(%error, "changes to pins by other processes are noticed late");
            }
        });
    }
}
