//! A background thread for calls to the store that may block, so that no thread that carries
//! streams waits for it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::reply::{NoAnswer, StoreReply};
use crate::store::Store;

/// The background thread of a store. It starts with the first job and ends with the store.
#[derive(Debug, Default)]
pub(crate) struct BackgroundThread(OnceLock<Option<SyncSender<Job>>>);

enum Job {
    Once(Box<dyn FnOnce() + Send>),
    Each(PeriodicJob),
}

/// A job that runs periodically.
struct PeriodicJob {
    every: Duration,
    last: Instant,
    run: Box<dyn FnMut() -> ControlFlow<()> + Send>,
}

impl Store {
    /// Runs `question` on the background thread, for calls that may block such as
    /// [`take_tokens`](Self::take_tokens), and returns its answer as a future. Jobs run one after
    /// the other. If too many are waiting, there is no answer.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> StoreReply<T> {
        self.ask_or(question, |_, _| {})
    }

    /// Like [`Self::ask`], with an `undo` for an answer that arrives after the caller stopped
    /// waiting. A job whose caller has stopped waiting by its turn is skipped.
    pub fn ask_or<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> T + Send + 'static,
        undo: impl FnOnce(T, &Self) + Send + 'static,
    ) -> StoreReply<T> {
        let (reply, sender) = StoreReply::waiting();
        let queued = self.do_later(move |store| {
            if sender.is_awaited()
                && let Err(unwanted) = sender.complete(question(store))
            {
                undo(unwanted, store);
            }
        });
        queued.map_or_else(StoreReply::refused, |()| reply)
    }

    /// Runs a job on the same thread without an answer.
    pub fn do_later(&self, job: impl FnOnce(&Self) + Send + 'static) -> Result<(), NoAnswer> {
        let store = self.clone();
        self.background().put(Job::Once(Box::new(move || job(&store))))
    }

    /// Runs a job on the same thread about this often, until it returns `Break`. The job must not
    /// keep the store open: if it needs the store, it holds a weak pointer to its owner.
    pub fn do_each(
        &self,
        every: Duration,
        run: impl FnMut() -> ControlFlow<()> + Send + 'static,
    ) -> Result<(), NoAnswer> {
        let job = PeriodicJob { every, last: Instant::now(), run: Box::new(run) };
        self.background().put(Job::Each(job))
    }
}

impl BackgroundThread {
    fn put(&self, job: Job) -> Result<(), NoAnswer> {
        let jobs = self.0.get_or_init(start).as_ref().ok_or(NoAnswer::NoThread)?;
        jobs.try_send(job).map_err(|_| NoAnswer::Full)
    }
}

/// `None` if the system cannot start a thread: then no job is answered.
fn start() -> Option<SyncSender<Job>> {
    let (sender, jobs) = sync_channel::<Job>(MAX_WAITING);
    let started = thread::Builder::new().name("callgate-store".to_owned()).spawn(|| work(jobs));
    started.ok().map(|_| sender)
}

/// Works until the store is gone. No other thread joins this one: a job may hold the last reference
/// to the store, and then this thread closes it.
fn work(jobs: Receiver<Job>) {
    let mut periodic: Vec<PeriodicJob> = Vec::new();
    loop {
        let due = periodic.iter().map(|job| job.every.saturating_sub(job.last.elapsed())).min();
        match jobs.recv_timeout(due.unwrap_or(IDLE_SLEEP)) {
            Ok(Job::Once(job)) => catching_panics(job),
            Ok(Job::Each(job)) => periodic.push(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        periodic.retain_mut(PeriodicJob::run_if_due);
    }
}

impl PeriodicJob {
    /// Runs the job if it is due. Returns whether it has to run again.
    fn run_if_due(&mut self) -> bool {
        if self.last.elapsed() < self.every {
            return true;
        }
        let mut continues = true;
        catching_panics(|| continues = (self.run)().is_continue());
        self.last = Instant::now();
        continues
    }
}

/// Catches a panic, so that only its own call gets no answer. The panic hook has already printed
/// it.
fn catching_panics(job: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}

/// How many jobs may wait. Each one belongs to a call that waits for its answer.
const MAX_WAITING: usize = 16_384;

/// How long the thread sleeps while there are no periodic jobs. Any new job wakes it.
const IDLE_SLEEP: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::task::{Context, Waker};
    use std::{future::Future, pin::Pin};

    use super::*;
    use crate::{Location, Settings};

    fn store() -> Store {
        Store::open(&Settings::at(Location::Memory)).unwrap()
    }

    /// Keeps the background thread busy until the sender is dropped.
    fn busy(store: &Store) -> std::sync::mpsc::Sender<()> {
        let (sender, done) = channel::<()>();
        let (begun, has_begun) = channel();
        let wait = move |_: &Store| {
            begun.send(()).unwrap();
            let _ = done.recv();
        };
        store.do_later(wait).unwrap();
        has_begun.recv().unwrap();
        sender
    }

    #[test]
    fn a_job_is_answered() {
        let store = store();
        assert_eq!(store.ask(|store| store.pins_version()).wait(), Ok(Ok(0)));
        let mut reply = store.ask(|_| 7);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let std::task::Poll::Ready(answer) = Pin::new(&mut reply).poll(&mut context) {
                break assert_eq!(answer, Ok(7));
            }
            thread::yield_now();
        }
    }

    #[test]
    fn a_job_that_panics_does_not_affect_the_others() {
        let store = store();
        let panics = store.ask(|_| -> () { panic!("on purpose") });
        let next = store.ask(|_| 1);
        assert_eq!(panics.wait(), Err(NoAnswer::Panicked));
        assert_eq!(next.wait(), Ok(1));
    }

    #[test]
    fn an_answer_after_the_caller_left_is_undone() {
        let store = store();
        let taken = Arc::new(AtomicUsize::new(0));
        let (begun, has_begun) = channel();
        let (go, goes) = channel::<()>();
        let (one, other) = (Arc::clone(&taken), Arc::clone(&taken));
        let reply = store.ask_or(
            move |_| {
                begun.send(()).unwrap();
                let _ = goes.recv();
                one.fetch_add(1, Ordering::SeqCst)
            },
            move |_, _| _ = other.fetch_sub(1, Ordering::SeqCst),
        );
        has_begun.recv().unwrap();
        drop(reply);
        drop(go);
        store.ask(|_| ()).wait().unwrap();
        assert_eq!(taken.load(Ordering::SeqCst), 0);
        assert_eq!(Arc::strong_count(&taken), 1, "and both were dropped");
    }

    #[test]
    fn a_job_whose_caller_left_is_skipped() {
        let store = store();
        let blocked = busy(&store);
        let queued = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&queued);
        drop(store.ask(move |_| count.fetch_add(1, Ordering::SeqCst)));
        drop(blocked);
        store.ask(|_| ()).wait().unwrap();
        assert_eq!(queued.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn waiting_jobs_are_bounded() {
        let store = store();
        let blocked = busy(&store);
        let replies: Vec<_> =
            (0..MAX_WAITING + 2).map(|number| store.ask(move |_| number)).collect();
        drop(blocked);
        let answers: Vec<_> = replies.into_iter().map(StoreReply::wait).collect();
        assert!(answers.iter().take(MAX_WAITING).enumerate().all(|(n, it)| *it == Ok(n)));
        assert_eq!(answers.last(), Some(&Err(NoAnswer::Full)));
    }

    #[test]
    fn a_periodic_job_runs_until_it_breaks() {
        let store = store();
        let (did, has_done) = channel();
        let mut left = 3;
        let job = move || {
            left -= 1;
            did.send(left).unwrap();
            match left {
                0 => ControlFlow::Break(()),
                2 => panic!("on purpose"),
                _ => ControlFlow::Continue(()),
            }
        };
        store.do_each(Duration::from_millis(1), job).unwrap();
        assert_eq!(has_done.iter().collect::<Vec<_>>(), [2, 1, 0]);
    }
}
