//! The future answer of a job on the background thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::{Condvar, Mutex};

/// Why a job gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// Too many jobs are waiting: the store is slower than the calls.
    #[error("too many calls are waiting for the store")]
    Full,
    /// The system cannot start a thread for the store.
    #[error("the background thread of the store could not be started")]
    NoThread,
    /// The job panicked.
    #[error("a job in the background thread of the store panicked")]
    Panicked,
}

/// The future answer of a job. Await it, or call [`wait`](Self::wait). It always completes. If it
/// is dropped before the job starts, the job is skipped.
#[derive(Debug)]
#[must_use = "the job is skipped if the reply is dropped"]
pub struct StoreReply<T>(ReplyState<T>);

#[derive(Debug)]
enum ReplyState<T> {
    Refused(NoAnswer),
    Pending(Arc<ReplyCell<T>>),
}

#[derive(Debug)]
struct ReplyCell<T> {
    slot: Mutex<ReplySlot<T>>,
    answered: Condvar,
}

#[derive(Debug)]
enum ReplySlot<T> {
    Waiting(Option<Waker>),
    Answered(Result<T, NoAnswer>),
    /// The answer was taken, or the reply was dropped.
    Closed,
}

impl<T> StoreReply<T> {
    pub(crate) fn refused(why: NoAnswer) -> Self {
        Self(ReplyState::Refused(why))
    }

    /// A reply, and the handle that completes it.
    pub(crate) fn waiting() -> (Self, ReplySender<T>) {
        let slot = Mutex::new(ReplySlot::Waiting(None));
        let pending = Arc::new(ReplyCell { slot, answered: Condvar::new() });
        (Self(ReplyState::Pending(Arc::clone(&pending))), ReplySender(pending))
    }

    /// Blocks until the answer arrives. For code outside of async tasks.
    pub fn wait(self) -> Result<T, NoAnswer> {
        let pending = match &self.0 {
            ReplyState::Refused(why) => return Err(*why),
            ReplyState::Pending(pending) => pending,
        };
        let mut slot = pending.slot.lock();
        while matches!(*slot, ReplySlot::Waiting(_)) {
            pending.answered.wait(&mut slot);
        }
        slot.take()
    }
}

impl<T> ReplySlot<T> {
    /// Takes the answer, once.
    fn take(&mut self) -> Result<T, NoAnswer> {
        match std::mem::replace(self, Self::Closed) {
            Self::Answered(answer) => answer,
            // The reply cannot be polled again after its answer.
            Self::Waiting(_) | Self::Closed => Err(NoAnswer::Panicked),
        }
    }
}

impl<T> Future for StoreReply<T> {
    type Output = Result<T, NoAnswer>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let pending = match &self.0 {
            ReplyState::Refused(why) => return Poll::Ready(Err(*why)),
            ReplyState::Pending(pending) => pending,
        };
        let mut slot = pending.slot.lock();
        match &mut *slot {
            ReplySlot::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            ReplySlot::Answered(_) | ReplySlot::Closed => Poll::Ready(slot.take()),
        }
    }
}

impl<T> Drop for StoreReply<T> {
    fn drop(&mut self) {
        if let ReplyState::Pending(pending) = &self.0 {
            // The answer is dropped outside of the lock.
            let _unwanted = std::mem::replace(&mut *pending.slot.lock(), ReplySlot::Closed);
        }
    }
}

/// Completes a reply. If it is dropped before that, the reply fails with [`NoAnswer::Panicked`], so
/// that no caller waits for ever.
#[derive(Debug)]
pub(crate) struct ReplySender<T>(Arc<ReplyCell<T>>);

impl<T> ReplySender<T> {
    /// Whether the caller still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(*self.0.slot.lock(), ReplySlot::Waiting(_))
    }

    /// Completes the reply. Returns the answer if the caller has stopped waiting.
    pub(crate) fn complete(self, answer: T) -> Result<(), T> {
        match self.put(Ok(answer)) {
            Some(Ok(unwanted)) => Err(unwanted),
            Some(Err(_)) | None => Ok(()),
        }
    }

    fn put(&self, answer: Result<T, NoAnswer>) -> Option<Result<T, NoAnswer>> {
        let mut slot = self.0.slot.lock();
        let ReplySlot::Waiting(waker) = &mut *slot else { return Some(answer) };
        let waker = waker.take();
        *slot = ReplySlot::Answered(answer);
        drop(slot);
        self.0.answered.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
        None
    }
}

impl<T> Drop for ReplySender<T> {
    fn drop(&mut self) {
        // Has no effect if there is an answer already.
        let _ = self.put(Err(NoAnswer::Panicked));
    }
}
