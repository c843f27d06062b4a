//! A future that completes when a record is written.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use callgate_audit::RecordId;
use callgate_policy::WriteProof;
use parking_lot::{Condvar, Mutex};

/// Completes when the appended record is as safe as [`Durability`](crate::Durability) promises, or
/// fails. Await it, or call [`wait`](Self::wait). It always completes, even if the store fails or
/// is closed.
#[derive(Debug)]
#[must_use = "the record is not written until the receipt completes"]
pub struct Receipt {
    state: ReceiptState,
    /// The record that it is about, if it is about one.
    record: Option<RecordId>,
}

#[derive(Debug)]
enum ReceiptState {
    Ready(Result<(), AppendError>),
    Waiting(Arc<ReceiptCell>),
}

/// Why a record was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The queue is full: the disk is slower than the calls. Nothing was queued.
    #[error(
        "the audit queue is full; hint: the disk cannot keep up, move the store to a faster one"
    )]
    Full,
    /// One item is larger than the store accepts.
    #[error("{what} of {bytes} bytes is too large for the store (limit: {limit} bytes)")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The size limit.
        limit: usize,
    },
    /// JSON cannot express the record.
    #[error("the record cannot be encoded, so it was not written")]
    Unencodable,
    /// The store failed.
    #[error("the audit store failed: {0}")]
    Store(String),
    /// The store was closed before the record could be written.
    #[error("the audit store was closed")]
    Closed,
}

impl Receipt {
    pub(crate) fn ready(result: Result<(), AppendError>) -> Self {
        Self { state: ReceiptState::Ready(result), record: None }
    }

    /// A receipt, and the handle that completes it.
    pub(crate) fn waiting() -> (Self, ReceiptSender) {
        let shared = Arc::new(ReceiptCell::default());
        let state = ReceiptState::Waiting(Arc::clone(&shared));
        (Self { state, record: None }, ReceiptSender { shared, completed: false })
    }

    /// The receipt of this record.
    pub(crate) fn of(self, record: RecordId) -> Self {
        Self { record: Some(record), ..self }
    }

    /// Blocks until the receipt completes. For code outside of async tasks.
    pub fn wait(self) -> Result<(), AppendError> {
        let shared = match self.state {
            ReceiptState::Ready(result) => return result,
            ReceiptState::Waiting(shared) => shared,
        };
        let mut slot = shared.slot.lock();
        loop {
            match slot.result.take() {
                Some(result) => return result,
                None => shared.answered.wait(&mut slot),
            }
        }
    }

    /// Whether the receipt has completed.
    pub fn is_ready(&self) -> bool {
        match &self.state {
            ReceiptState::Ready(_) => true,
            ReceiptState::Waiting(shared) => shared.slot.lock().result.is_some(),
        }
    }
}

impl Future for Receipt {
    /// The proof that its record is written; `None` if it is not about one record.
    type Output = Result<Option<WriteProof>, AppendError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let output = |result: &Result<(), AppendError>| {
            let written = |()| self.record.map(|id| WriteProof::by_the_store(id.as_number()));
            Poll::Ready(result.clone().map(written))
        };
        match &self.state {
            ReceiptState::Ready(result) => output(result),
            ReceiptState::Waiting(shared) => {
                let mut slot = shared.slot.lock();
                // Not taken, so that polling it again gives the same result.
                if let Some(result) = &slot.result {
                    return output(result);
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
struct ReceiptCell {
    slot: Mutex<ReceiptSlot>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct ReceiptSlot {
    result: Option<Result<(), AppendError>>,
    waker: Option<Waker>,
}

/// Completes a receipt. If it is dropped before that, the receipt fails with
/// [`AppendError::Closed`], so that no caller waits for ever.
#[derive(Debug)]
pub(crate) struct ReceiptSender {
    shared: Arc<ReceiptCell>,
    completed: bool,
}

impl ReceiptSender {
    pub(crate) fn complete(mut self, result: Result<(), AppendError>) {
        self.put(result);
    }

    fn put(&mut self, result: Result<(), AppendError>) {
        self.completed = true;
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

impl Drop for ReceiptSender {
    fn drop(&mut self) {
        if !self.completed {
            self.put(Err(AppendError::Closed));
        }
    }
}

#[cfg(test)]
mod tests {
    use callgate_policy::Recorded;

    use super::*;

    #[test]
    fn a_result_reaches_the_waiting_thread() {
        let (receipt, answer) = Receipt::waiting();
        assert!(!receipt.is_ready());
        let waiting = std::thread::spawn(move || receipt.wait());
        answer.complete(Err(AppendError::Full));
        assert_eq!(waiting.join().unwrap(), Err(AppendError::Full));
    }

    #[test]
    fn a_result_wakes_a_task_and_stays() {
        let (mut receipt, answer) = Receipt::waiting();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut receipt).poll(&mut context).is_pending());
        answer.complete(Ok(()));
        assert!(matches!(Pin::new(&mut receipt).poll(&mut context), Poll::Ready(Ok(_))));
        assert!(matches!(Pin::new(&mut receipt).poll(&mut context), Poll::Ready(Ok(_))));
    }

    #[test]
    fn a_receipt_proves_only_its_own_record() {
        let record = RecordId::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut of = |receipt: &mut Receipt| match Pin::new(receipt).poll(&mut context) {
            Poll::Ready(Ok(written)) => written,
            other => panic!("{other:?}"),
        };
        let written = of(&mut Receipt::ready(Ok(())).of(record)).unwrap();
        assert!(Recorded::new((), record.as_number(), &written).is_some());
        assert!(Recorded::new((), RecordId::new().as_number(), &written).is_none());
        assert!(of(&mut Receipt::ready(Ok(()))).is_none(), "a flush is not about a record");
    }

    #[test]
    fn a_dropped_sender_closes_the_receipt() {
        let (receipt, answer) = Receipt::waiting();
        drop(answer);
        assert_eq!(receipt.wait(), Err(AppendError::Closed));
    }
}
