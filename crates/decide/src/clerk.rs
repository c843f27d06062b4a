//! A thread that asks the store, so that no thread that carries streams ever waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::decider::Inner;

/// The clerk of a process. It begins with the first question.
#[derive(Debug, Default)]
pub(crate) struct Clerk(OnceLock<Option<SyncSender<Job>>>);

type Job = Box<dyn FnOnce() + Send>;

/// The store did not answer: it is too busy, too slow, or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoAnswer;

/// Questions that may wait. Each belongs to a call that waits for it.
const MAX_WAITING: usize = 16_384;

/// What other processes have pinned, trusted or reset counts after this long at the latest.
const TICK: Duration = Duration::from_secs(1);

impl Inner {
    /// Has the clerk do something that may wait for the store, and awaits it. It waits no longer than
    /// for a record.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (sender, answer) = oneshot::channel();
        let inner = Arc::clone(self);
        self.queue(Box::new(move || {
            // Whoever asked may have gone.
            sender.send(question(&inner)).ok();
        }))?;
        let answer = tokio::time::timeout(self.settings.record_timeout, answer).await;
        answer.ok().and_then(Result::ok).ok_or(NoAnswer)
    }

    /// Has the clerk look what other processes did to the pins; nobody waits for it.
    pub(crate) fn ask_to_refresh(self: &Arc<Self>) {
        let inner = Arc::clone(self);
        // A queue that is full will bring the clerk to it.
        self.queue(Box::new(move || inner.refresh_books())).ok();
    }

    fn queue(self: &Arc<Self>, job: Job) -> Result<(), NoAnswer> {
        let clerk = self.clerk.0.get_or_init(|| start(Arc::downgrade(self)));
        clerk.as_ref().ok_or(NoAnswer)?.try_send(job).map_err(|_| NoAnswer)
    }
}

/// `None` if the system gives us no thread: then nothing that needs the store is let through.
fn start(inner: Weak<Inner>) -> Option<SyncSender<Job>> {
    let (sender, jobs) = sync_channel::<Job>(MAX_WAITING);
    let work = move || loop {
        match jobs.recv_timeout(TICK) {
            // One that panics leaves its own call without an answer, and no other.
            Ok(job) => drop(catch_unwind(AssertUnwindSafe(job))),
            Err(RecvTimeoutError::Timeout) => match inner.upgrade() {
                Some(inner) => inner.refresh_books(),
                None => return,
            },
            Err(RecvTimeoutError::Disconnected) => return,
        }
    };
    let started = thread::Builder::new().name("callgate-clerk".to_owned()).spawn(work);
    started.inspect_err(|error| tracing::error!(%error, "no thread to ask the store")).ok()?;
    Some(sender)
}
