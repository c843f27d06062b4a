//! The promise that a record is written, and its answer.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use callgate_policy::Written;
use parking_lot::{Condvar, Mutex};

/// Says when what was appended is as safe as [`Durability`](crate::Durability) promises, or that it
/// will not be. Await it, or [`wait`](Self::wait). It is always answered: also when the store
/// fails, and when the record is closed.
#[derive(Debug)]
#[must_use = "nothing is known to be written before the receipt says so"]
pub struct Receipt(State);

#[derive(Debug)]
enum State {
    Ready(Result<(), AppendError>),
    Waiting(Arc<Shared>),
}

/// Why something was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The queue is full: the disk is slower than the calls. Nothing was queued.
    #[error(
        "the audit queue is full; hint: the disk cannot keep up, move the store to a faster one"
    )]
    Full,
    /// One item is larger than the store takes.
    #[error("{what} of {bytes} bytes is larger than the store takes ({limit} bytes)")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The largest that is taken.
        limit: usize,
    },
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Store(String),
    /// The record was closed before it could be written.
    #[error("the audit store was closed")]
    Closed,
}

impl Receipt {
    pub(crate) fn ready(result: Result<(), AppendError>) -> Self {
        Self(State::Ready(result))
    }

    /// A receipt, and what answers it.
    pub(crate) fn waiting() -> (Self, Answer) {
        let shared = Arc::new(Shared::default());
        (Self(State::Waiting(Arc::clone(&shared))), Answer { shared, given: false })
    }

    /// Blocks until there is an answer. For code outside of async tasks.
    pub fn wait(self) -> Result<(), AppendError> {
        let shared = match self.0 {
            State::Ready(result) => return result,
            State::Waiting(shared) => shared,
        };
        let mut slot = shared.slot.lock();
        loop {
            match slot.result.take() {
                Some(result) => return result,
                None => shared.answered.wait(&mut slot),
            }
        }
    }

    /// Whether the answer is there already.
    pub fn is_ready(&self) -> bool {
        match &self.0 {
            State::Ready(_) => true,
            State::Waiting(shared) => shared.slot.lock().result.is_some(),
        }
    }
}

impl Future for Receipt {
    type Output = Result<Written, AppendError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let told = |result: &Result<(), AppendError>| {
            Poll::Ready(result.clone().map(|()| Written::by_the_store()))
        };
        match &self.0 {
            State::Ready(result) => told(result),
            State::Waiting(shared) => {
                let mut slot = shared.slot.lock();
                // Kept, not taken: a receipt that is polled again says the same again.
                if let Some(result) = &slot.result {
                    return told(result);
                }
                match &mut slot.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    None => slot.waker = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    slot: Mutex<Slot>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct Slot {
    result: Option<Result<(), AppendError>>,
    waker: Option<Waker>,
}

/// The other end of a receipt. Dropped without an answer it says [`AppendError::Closed`], so that
/// nobody waits for ever.
#[derive(Debug)]
pub(crate) struct Answer {
    shared: Arc<Shared>,
    given: bool,
}

impl Answer {
    pub(crate) fn give(mut self, result: Result<(), AppendError>) {
        self.put(result);
    }

    fn put(&mut self, result: Result<(), AppendError>) {
        self.given = true;
        let mut slot = self.shared.slot.lock();
        slot.result = Some(result);
        let waker = slot.waker.take();
        drop(slot);
        self.shared.answered.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if !self.given {
            self.put(Err(AppendError::Closed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reaches_who_waits() {
        let (receipt, answer) = Receipt::waiting();
        assert!(!receipt.is_ready());
        let waiting = std::thread::spawn(move || receipt.wait());
        answer.give(Err(AppendError::Full));
        assert_eq!(waiting.join().unwrap(), Err(AppendError::Full));
    }

    #[test]
    fn an_answer_wakes_a_task_and_stays() {
        let (mut receipt, answer) = Receipt::waiting();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut receipt).poll(&mut context).is_pending());
        answer.give(Ok(()));
        assert!(matches!(Pin::new(&mut receipt).poll(&mut context), Poll::Ready(Ok(_))));
        assert!(matches!(Pin::new(&mut receipt).poll(&mut context), Poll::Ready(Ok(_))));
    }

    #[test]
    fn a_lost_answer_is_an_answer() {
        let (receipt, answer) = Receipt::waiting();
        drop(answer);
        assert_eq!(receipt.wait(), Err(AppendError::Closed));
    }
}
