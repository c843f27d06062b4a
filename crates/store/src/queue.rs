//! The bounded queue of records to be written.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use callgate_audit::Sealed;

use crate::journal::{MAX_RECORD, size_of_record};
use crate::receipt::{AppendError, Receipt, ReceiptSender};
use crate::state::StateEntry;

/// An entry that waits for the writer.
#[derive(Debug)]
pub(crate) struct QueueEntry {
    pub(crate) work: WriterTask,
    pub(crate) answer: ReceiptSender,
    urgency: Urgency,
}

impl QueueEntry {
    /// Whether a caller waits for it.
    pub(crate) fn is_urgent(&self) -> bool {
        self.urgency == Urgency::Now
    }
}

/// What the writer has to do.
#[derive(Debug)]
pub(crate) enum WriterTask {
    /// Write these records.
    Write(WriteGroup),
    /// Answer when everything before it is written, including the counted turns.
    Flush,
}

/// Records and state entries that belong together: the state entries are written before any of the
/// records.
#[derive(Debug, Default)]
pub(crate) struct WriteGroup {
    pub(crate) entries: Vec<StateEntry>,
    pub(crate) records: Vec<Sealed>,
}

impl WriterTask {
    /// The state entries to write with the records.
    pub(crate) fn entries(&self) -> &[StateEntry] {
        match self {
            Self::Write(write) => &write.entries,
            Self::Flush => &[],
        }
    }

    /// Refuses records that cannot be written, before others of their batch would fail with them.
    fn check(&self) -> Result<(), AppendError> {
        let Self::Write(WriteGroup { records, .. }) = self else { return Ok(()) };
        if !records.iter().all(Sealed::is_encoded) {
            return Err(AppendError::Unencodable);
        }
        let largest = records.iter().map(size_of_record).max().unwrap_or(0);
        match largest > MAX_RECORD {
            true => {
                let (what, bytes, limit) = ("a record", largest, MAX_RECORD);
                Err(AppendError::TooLarge { what, bytes, limit })
            }
            false => Ok(()),
        }
    }

    fn size(&self) -> usize {
        let Self::Write(WriteGroup { entries, records }) = self else { return 0 };
        let records: usize = records.iter().map(|sealed| sealed.body.len() + 256).sum();
        records + entries.iter().map(StateEntry::size).sum::<usize>()
    }
}

/// The queue between appending threads and the writer.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    entries: VecDeque<QueueEntry>,
    bytes: usize,
    /// How many of the entries are [urgent](Urgency::Now).
    urgent: usize,
    /// The latest time to write the others; `None` if there are no others.
    due: Option<Instant>,
    closed: bool,
    /// The writer has work that is not in the queue.
    nudged: bool,
}

/// When an entry must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// At once, because a call waits for it.
    Now,
    /// Together with the next urgent entry, or after [`GATHER`]. No caller waits for it, so it should
    /// not cost a separate sync.
    Soon,
}

impl QueueState {
    /// Whether the writer has work.
    fn is_ready(&self) -> bool {
        let is_due = |due: Instant| due <= Instant::now();
        self.urgent > 0 || self.closed || self.nudged || self.due.is_some_and(is_due)
    }
}

/// The result of [`WriteQueue::take`].
#[derive(Debug)]
pub(crate) enum NextBatch {
    /// Entries, in order.
    Batch(Vec<QueueEntry>),
    /// Nothing came in time, or the writer was nudged.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

impl WriteQueue {
    /// Adds an entry, or refuses it at once if the queue is full.
    pub(crate) fn push(&self, work: WriterTask, urgency: Urgency) -> Receipt {
        if let Err(error) = work.check() {
            return Receipt::ready(Err(error));
        }
        let size = work.size();
        let mut state = self.state.lock();
        if state.closed {
            return Receipt::ready(Err(AppendError::Closed));
        }
        if state.entries.len() >= MAX_ENTRIES || state.bytes + size > MAX_BYTES {
            return Receipt::ready(Err(AppendError::Full));
        }
        let (receipt, answer) = Receipt::waiting();
        state.entries.push_back(QueueEntry { work, answer, urgency });
        state.bytes += size;
        let wakes = match urgency {
            Urgency::Now => true,
            // The writer only has to know when to look.
            Urgency::Soon => state.due.is_none() && state.urgent == 0,
        };
        match urgency {
            Urgency::Now => state.urgent += 1,
            Urgency::Soon => _ = state.due.get_or_insert_with(|| Instant::now() + GATHER),
        }
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
        receipt
    }

    /// Waits for entries, and takes a batch of them.
    pub(crate) fn take(&self, timeout: Duration) -> NextBatch {
        self.wait(timeout);
        let mut state = self.state.lock();
        let is_ready = state.is_ready();
        state.nudged = false;
        if !is_ready || state.entries.is_empty() {
            return if state.closed { NextBatch::Closed } else { NextBatch::Nothing };
        }
        let many = state.entries.len().min(MAX_BATCH);
        let batch: Vec<QueueEntry> = state.entries.drain(..many).collect();
        let taken: usize = batch.iter().map(|entry| entry.work.size()).sum();
        state.urgent -= batch.iter().filter(|entry| entry.is_urgent()).count();
        if state.entries.len() == state.urgent {
            state.due = None;
        }
        state.bytes = state.bytes.saturating_sub(taken);
        NextBatch::Batch(batch)
    }

    /// Whether a caller waits for an entry.
    pub(crate) fn is_urgent(&self) -> bool {
        self.state.lock().urgent > 0
    }

    /// Waits until there are entries to take, at most this long.
    pub(crate) fn wait(&self, timeout: Duration) {
        let mut state = self.state.lock();
        let end = Instant::now() + timeout;
        while !state.is_ready() {
            let until = state.due.map_or(end, |due| due.min(end));
            if self.changed.wait_until(&mut state, until).timed_out() && until == end {
                return;
            }
        }
    }

    /// Ends the wait of the writer.
    pub(crate) fn nudge(&self) {
        self.state.lock().nudged = true;
        self.changed.notify_one();
    }

    /// Accepts no more entries. Queued entries are still handed out.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Closes the queue and answers all waiting entries: there will be no writer.
    pub(crate) fn abandon(&self) {
        self.close();
        let left = std::mem::take(&mut self.state.lock().entries);
        drop(left);
    }
}

/// How many records may wait: a few seconds of them on a slow disk. More would only hide that the
/// disk is slower than the calls.
const MAX_ENTRIES: usize = 65_536;
/// How many bytes may wait, for the same reason.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// How long an entry that no caller waits for may wait for others. It is short, so that a process
/// that ends right after it does not lose it.
pub(crate) const GATHER: Duration = Duration::from_millis(5);
/// Records in one write: the first of them waits for the last.
const MAX_BATCH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_audit::{Record, RecordKind};

    fn records(sealed: Sealed) -> WriterTask {
        WriterTask::Write(WriteGroup { entries: Vec::new(), records: vec![sealed] })
    }

    fn item() -> WriterTask {
        records(Sealed::new(Record::new(RecordKind::Turn)))
    }

    #[test]
    fn a_full_queue_refuses_at_once() {
        let queue = WriteQueue::default();
        let receipts: Vec<_> = (0..MAX_ENTRIES).map(|_| queue.push(item(), Urgency::Now)).collect();
        assert_eq!(queue.push(item(), Urgency::Now).wait(), Err(AppendError::Full));
        let NextBatch::Batch(batch) = queue.take(Duration::ZERO) else { panic!("a batch") };
        assert_eq!(batch.len(), MAX_BATCH);
        drop(batch);
        assert!(!queue.push(item(), Urgency::Now).is_ready(), "there is room again");
        queue.abandon();
        for receipt in receipts {
            assert_eq!(receipt.wait(), Err(AppendError::Closed));
        }
        assert_eq!(queue.push(item(), Urgency::Now).wait(), Err(AppendError::Closed));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let queue = WriteQueue::default();
        let of = |bytes| {
            let body = "x".repeat(bytes);
            records(Sealed { time: 0, joins: None, session: None, body })
        };
        let (mut left, mut receipts) = (MAX_BYTES, Vec::new());
        while left > 256 {
            let bytes = MAX_RECORD.min(left - 256);
            receipts.push(queue.push(of(bytes), Urgency::Now));
            left -= bytes + 256;
        }
        assert!(!receipts.iter().any(Receipt::is_ready));
        assert_eq!(queue.push(item(), Urgency::Now).wait(), Err(AppendError::Full));
    }

    #[test]
    fn a_record_that_recovery_would_not_read_is_refused() {
        let queue = WriteQueue::default();
        let of = |bytes| {
            let body = "x".repeat(bytes);
            records(Sealed { time: 0, joins: None, session: None, body })
        };
        assert!(!queue.push(of(MAX_RECORD), Urgency::Now).is_ready());
        let refused = queue.push(of(MAX_RECORD + 1), Urgency::Now).wait();
        assert!(matches!(refused, Err(AppendError::TooLarge { .. })), "{refused:?}");
    }

    #[test]
    fn a_nudge_ends_a_wait_also_before_it_has_begun() {
        let queue = WriteQueue::default();
        queue.nudge();
        assert!(matches!(queue.take(Duration::from_secs(3600)), NextBatch::Nothing));
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| queue.take(Duration::from_secs(3600)));
            queue.nudge();
            assert!(matches!(taken.join().unwrap(), NextBatch::Nothing));
        });
        assert!(matches!(queue.take(Duration::ZERO), NextBatch::Nothing));
    }

    #[test]
    fn an_entry_that_is_not_urgent_waits_for_others_but_not_forever() {
        let queue = WriteQueue::default();
        let _soon = queue.push(item(), Urgency::Soon);
        assert!(matches!(queue.take(Duration::ZERO), NextBatch::Nothing));
        let _now = queue.push(item(), Urgency::Now);
        let NextBatch::Batch(batch) = queue.take(Duration::from_secs(3600)) else {
            panic!("a batch")
        };
        assert_eq!(batch.len(), 2, "one write for both");
        let _alone = queue.push(item(), Urgency::Soon);
        let NextBatch::Batch(batch) = queue.take(Duration::from_secs(3600)) else {
            panic!("a batch")
        };
        assert_eq!(batch.len(), 1);
        assert!(matches!(queue.take(Duration::ZERO), NextBatch::Nothing));
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        let queue = WriteQueue::default();
        let _receipt = queue.push(item(), Urgency::Now);
        queue.close();
        assert!(matches!(queue.take(Duration::from_secs(60)), NextBatch::Batch(_)));
        assert!(matches!(queue.take(Duration::from_secs(60)), NextBatch::Closed));
    }
}
