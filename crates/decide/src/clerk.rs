//! A thread that asks the store, so that no thread that carries streams ever waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::decider::Inner;

/// The clerk of a process. It begins with the first question.
#[derive(Debug, Default)]
pub(crate) struct Clerk {
    jobs: OnceLock<Option<SyncSender<Job>>>,
    /// A refresh waits to be done.
    refreshes: AtomicBool,
}

type Job = Box<dyn FnOnce() + Send>;

/// The store did not answer: it is too busy, too slow, or gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoAnswer;

/// Questions that may wait. Each belongs to a call that waits for it.
const MAX_WAITING: usize = 16_384;

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
        let (sender, answer) = oneshot::channel();
        let inner = Arc::clone(self);
        self.queue(Box::new(move || {
            if sender.is_closed() {
                return;
            }
            if let Err(unheard) = sender.send(question(&inner)) {
                undo(unheard, &inner);
            }
        }))?;
        let patience = self.in_force().settings.record_timeout;
        let answer = tokio::time::timeout(patience, answer).await;
        answer.ok().and_then(Result::ok).ok_or(NoAnswer)
    }

    /// Has the clerk look what other processes did to the pins; nobody waits for it. However often it is
    /// asked for, it is done once.
    pub(crate) fn ask_to_refresh(self: &Arc<Self>) {
        if self.clerk.refreshes.swap(true, Ordering::AcqRel) {
            return;
        }
        let inner = Arc::clone(self);
        let refresh = move || {
            inner.clerk.refreshes.store(false, Ordering::Release);
            inner.refresh_books();
        };
        if self.queue(Box::new(refresh)).is_err() {
            self.clerk.refreshes.store(false, Ordering::Release);
        }
    }

    fn queue(self: &Arc<Self>, job: Job) -> Result<(), NoAnswer> {
        let clerk = self.clerk.jobs.get_or_init(|| start(Arc::downgrade(self)));
        clerk.as_ref().ok_or(NoAnswer)?.try_send(job).map_err(|_| NoAnswer)
    }
}

/// `None` if the system gives us no thread: then nothing that needs the store is let through.
fn start(inner: Weak<Inner>) -> Option<SyncSender<Job>> {
    let (sender, jobs) = sync_channel::<Job>(MAX_WAITING);
    let work = move || {
        let mut refreshed = Instant::now();
        loop {
            match jobs.recv_timeout(TICK) {
                // One that panics leaves its own call without an answer, and no other.
                Ok(job) => {
                    if catch_unwind(AssertUnwindSafe(job)).is_err() {
                        tracing::error!("a question to the store panicked");
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if refreshed.elapsed() >= TICK {
                let Some(inner) = inner.upgrade() else { return };
                inner.refresh_books();
                refreshed = Instant::now();
            }
        }
    };
    let started = thread::Builder::new().name("callgate-clerk".to_owned()).spawn(work);
    started.inspect_err(|error| tracing::error!(%error, "no thread to ask the store")).ok()?;
    Some(sender)
}
