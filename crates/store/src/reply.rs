//! The answer to a question that the clerk asks the store.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::{Condvar, Mutex};

/// Why a question was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// Too many questions wait: the store is slower than the calls.
    #[error("too many questions to the store wait for an answer")]
    Full,
    /// The system gives us no thread to ask the store.
    #[error("there is no thread to ask the store")]
    NoThread,
    /// The question panicked.
    #[error("a question to the store panicked")]
    Panicked,
}

/// What the store will answer. Await it, or [`wait`](Self::wait). There is always an answer. Whoever drops
/// it does not want to know: then the question is not asked any more.
#[derive(Debug)]
#[must_use = "a question is not asked if nobody waits for the answer"]
pub struct Reply<T>(Where<T>);

#[derive(Debug)]
enum Where<T> {
    Refused(NoAnswer),
    Line(Arc<Line<T>>),
}

#[derive(Debug)]
struct Line<T> {
    slot: Mutex<Slot<T>>,
    answered: Condvar,
}

#[derive(Debug)]
enum Slot<T> {
    Waiting(Option<Waker>),
    Answered(Result<T, NoAnswer>),
    /// The answer was taken, or nobody wants it.
    Closed,
}

impl<T> Reply<T> {
    pub(crate) fn refused(why: NoAnswer) -> Self {
        Self(Where::Refused(why))
    }

    /// A reply, and what answers it.
    pub(crate) fn waiting() -> (Self, Speaker<T>) {
        let slot = Mutex::new(Slot::Waiting(None));
        let line = Arc::new(Line { slot, answered: Condvar::new() });
        (Self(Where::Line(Arc::clone(&line))), Speaker(line))
    }

    /// Blocks until there is an answer. For code outside of async tasks.
    pub fn wait(self) -> Result<T, NoAnswer> {
        let line = match &self.0 {
            Where::Refused(why) => return Err(*why),
            Where::Line(line) => line,
        };
        let mut slot = line.slot.lock();
        while matches!(*slot, Slot::Waiting(_)) {
            line.answered.wait(&mut slot);
        }
        slot.take()
    }
}

impl<T> Slot<T> {
    /// The answer, once.
    fn take(&mut self) -> Result<T, NoAnswer> {
        match std::mem::replace(self, Self::Closed) {
            Self::Answered(answer) => answer,
            // Nobody asks twice.
            Self::Waiting(_) | Self::Closed => Err(NoAnswer::Panicked),
        }
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T, NoAnswer>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let line = match &self.0 {
            Where::Refused(why) => return Poll::Ready(Err(*why)),
            Where::Line(line) => line,
        };
        let mut slot = line.slot.lock();
        match &mut *slot {
            Slot::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            Slot::Answered(_) | Slot::Closed => Poll::Ready(slot.take()),
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Where::Line(line) = &self.0 {
            // The answer is dropped outside of the lock.
            let _unheard = std::mem::replace(&mut *line.slot.lock(), Slot::Closed);
        }
    }
}

/// The other end of a reply. Dropped without an answer it says [`NoAnswer::Panicked`], so that nobody waits
/// for ever.
#[derive(Debug)]
pub(crate) struct Speaker<T>(Arc<Line<T>>);

impl<T> Speaker<T> {
    /// Whether anybody still waits.
    pub(crate) fn is_heard(&self) -> bool {
        matches!(*self.0.slot.lock(), Slot::Waiting(_))
    }

    /// Gives the answer; returns it if nobody waits for it any more.
    pub(crate) fn give(self, answer: T) -> Result<(), T> {
        match self.put(Ok(answer)) {
            Some(Ok(unheard)) => Err(unheard),
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn put(&self, answer: Result<T, NoAnswer>) -> Option<Result<T, NoAnswer>> {
        let mut slot = self.0.slot.lock();
        let Slot::Waiting(waker) = &mut *slot else { return Some(answer) };
        let waker = waker.take();
        *slot = Slot::Answered(answer);
        drop(slot);
        self.0.answered.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
        None
    }
}

impl<T> Drop for Speaker<T> {
    fn drop(&mut self) {
        // Of no use where there is an answer already.
        let _ = self.put(Err(NoAnswer::Panicked));
    }
}
