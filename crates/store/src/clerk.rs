//! A thread that asks the store, so that no thread that carries streams ever waits for it.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::reply::{NoAnswer, Reply};
use crate::store::Store;

/// The clerk of a store. It begins with the first question, and ends with the store.
#[derive(Debug, Default)]
pub(crate) struct Clerk(OnceLock<Option<SyncSender<Job>>>);

enum Job {
    Once(Box<dyn FnOnce() + Send>),
    Each(Chore),
}

/// Something that is done again and again.
struct Chore {
    every: Duration,
    last: Instant,
    run: Box<dyn FnMut() -> ControlFlow<()> + Send>,
}

impl Store {
    /// Has a thread ask the store something that may wait for it, such as
    /// [`take_tokens`](Self::take_tokens), and gives the answer when it is there. Questions are asked one
    /// after the other. If too many wait already, there is no answer.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Reply<T> {
        self.ask_or(question, |_, _| {})
    }

    /// The same, with what is to be done about an answer that nobody waits for any more. A question that
    /// nobody waits for when its turn comes is not asked.
    pub fn ask_or<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Self) -> T + Send + 'static,
        undo: impl FnOnce(T, &Self) + Send + 'static,
    ) -> Reply<T> {
        let (reply, speaker) = Reply::waiting();
        let asked = self.do_later(move |store| {
            if speaker.is_heard()
                && let Err(unheard) = speaker.give(question(store))
            {
                undo(unheard, store);
            }
        });
        asked.map_or_else(Reply::refused, |()| reply)
    }

    /// Has the same thread do something for which nobody waits.
    pub fn do_later(&self, job: impl FnOnce(&Self) + Send + 'static) -> Result<(), NoAnswer> {
        let store = self.clone();
        self.clerk().put(Job::Once(Box::new(move || job(&store))))
    }

    /// Has the same thread do something about this often, until it says to stop. It must not keep the
    /// store open: whoever needs the store for it keeps a weak pointer to its owner.
    pub fn do_each(
        &self,
        every: Duration,
        run: impl FnMut() -> ControlFlow<()> + Send + 'static,
    ) -> Result<(), NoAnswer> {
        let chore = Chore { every, last: Instant::now(), run: Box::new(run) };
        self.clerk().put(Job::Each(chore))
    }
}

impl Clerk {
    fn put(&self, job: Job) -> Result<(), NoAnswer> {
        let jobs = self.0.get_or_init(start).as_ref().ok_or(NoAnswer::NoThread)?;
        jobs.try_send(job).map_err(|_| NoAnswer::Full)
    }
}

/// `None` if the system gives us no thread: then no question is answered.
fn start() -> Option<SyncSender<Job>> {
    let (sender, jobs) = sync_channel::<Job>(MAX_WAITING);
    let started = thread::Builder::new().name("callgate-clerk".to_owned()).spawn(|| work(jobs));
    started.ok().map(|_| sender)
}

/// Works until the store is gone. Nobody joins this thread: a job may be the last to hold the store, and
/// then it is this thread that closes it.
fn work(jobs: Receiver<Job>) {
    let mut chores: Vec<Chore> = Vec::new();
    loop {
        let due = chores.iter().map(|chore| chore.every.saturating_sub(chore.last.elapsed())).min();
        match jobs.recv_timeout(due.unwrap_or(LONG)) {
            Ok(Job::Once(job)) => sheltered(job),
            Ok(Job::Each(chore)) => chores.push(chore),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        chores.retain_mut(Chore::go_on);
    }
}

impl Chore {
    /// Does it if it is time to, and says whether it is to be done again.
    fn go_on(&mut self) -> bool {
        if self.last.elapsed() < self.every {
            return true;
        }
        let mut goes_on = true;
        sheltered(|| goes_on = (self.run)().is_continue());
        self.last = Instant::now();
        goes_on
    }
}

/// One that panics leaves its own call without an answer, and no other. The panic has said so itself.
fn sheltered(job: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}

/// Questions that may wait. Each belongs to a call that waits for it.
const MAX_WAITING: usize = 16_384;

/// How long the thread sleeps while there is nothing to do again and again. Any question wakes it.
const LONG: Duration = Duration::from_secs(3600);

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

    /// Keeps the clerk busy until the sender is dropped.
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
    fn a_question_is_answered() {
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
    fn a_question_that_panics_leaves_the_others_alone() {
        let store = store();
        let panics = store.ask(|_| -> () { panic!("on purpose") });
        let next = store.ask(|_| 1);
        assert_eq!(panics.wait(), Err(NoAnswer::Panicked));
        assert_eq!(next.wait(), Ok(1));
    }

    #[test]
    fn an_answer_that_nobody_hears_is_undone() {
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
    fn what_nobody_waits_for_is_not_asked() {
        let store = store();
        let blocked = busy(&store);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        drop(store.ask(move |_| count.fetch_add(1, Ordering::SeqCst)));
        drop(blocked);
        store.ask(|_| ()).wait().unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn questions_that_wait_are_bounded() {
        let store = store();
        let blocked = busy(&store);
        let replies: Vec<_> =
            (0..MAX_WAITING + 2).map(|number| store.ask(move |_| number)).collect();
        drop(blocked);
        let answers: Vec<_> = replies.into_iter().map(Reply::wait).collect();
        assert!(answers.iter().take(MAX_WAITING).enumerate().all(|(n, it)| *it == Ok(n)));
        assert_eq!(answers.last(), Some(&Err(NoAnswer::Full)));
    }

    #[test]
    fn a_chore_is_done_until_it_says_to_stop() {
        let store = store();
        let (did, has_done) = channel();
        let mut left = 3;
        let chore = move || {
            left -= 1;
            did.send(left).unwrap();
            match left {
                0 => ControlFlow::Break(()),
                2 => panic!("on purpose"),
                _ => ControlFlow::Continue(()),
            }
        };
        store.do_each(Duration::from_millis(1), chore).unwrap();
        assert_eq!(has_done.iter().collect::<Vec<_>>(), [2, 1, 0]);
    }
}
