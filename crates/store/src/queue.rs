//! What waits to be written, within bounds.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use callgate_audit::Sealed;

use crate::receipt::{Answer, AppendError, Receipt};
use crate::state::Kept;

/// Something that waits for the writer.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) work: Work,
    pub(crate) answer: Answer,
}

/// What the writer is to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// Write these.
    Write(Write),
    /// Answer when everything before it is written, and what was counted too.
    Flush,
}

/// What belongs together: no record is written before what is kept with it is.
#[derive(Debug, Default)]
pub(crate) struct Write {
    pub(crate) kept: Vec<Kept>,
    pub(crate) records: Vec<Sealed>,
}

impl Work {
    /// What is to be kept beside the records.
    pub(crate) fn kept(&self) -> &[Kept] {
        match self {
            Self::Write(write) => &write.kept,
            Self::Flush => &[],
        }
    }

    fn size(&self) -> usize {
        let Self::Write(Write { kept, records }) = self else { return 0 };
        let records: usize = records.iter().map(|sealed| sealed.body.len() + 256).sum();
        records + kept.iter().map(Kept::size).sum::<usize>()
    }
}

/// The queue between those who append and the one who writes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: VecDeque<Entry>,
    bytes: usize,
    closed: bool,
    /// There is something to do that is not queued.
    nudged: bool,
}

/// What the writer took.
#[derive(Debug)]
pub(crate) enum Taken {
    /// Entries, in order.
    Batch(Vec<Entry>),
    /// Nothing came in time, or there is something else to do.
    Nothing,
    /// The queue is closed, and empty.
    Closed,
}

impl Queue {
    /// Queues something, or says at once that there is no room.
    pub(crate) fn push(&self, work: Work) -> Receipt {
        let size = work.size();
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Receipt::ready(Err(AppendError::Closed));
        }
        if waiting.entries.len() >= MAX_ENTRIES || waiting.bytes + size > MAX_BYTES {
            return Receipt::ready(Err(AppendError::Full));
        }
        let (receipt, answer) = Receipt::waiting();
        waiting.entries.push_back(Entry { work, answer });
        waiting.bytes += size;
        drop(waiting);
        self.changed.notify_one();
        receipt
    }

    /// Waits for entries, and takes a batch of them.
    pub(crate) fn take(&self, timeout: Duration) -> Taken {
        let mut waiting = self.waiting.lock();
        if waiting.entries.is_empty() && !waiting.closed && !waiting.nudged {
            self.changed.wait_for(&mut waiting, timeout);
        }
        waiting.nudged = false;
        if waiting.entries.is_empty() {
            return if waiting.closed { Taken::Closed } else { Taken::Nothing };
        }
        let many = waiting.entries.len().min(MAX_BATCH);
        let batch: Vec<Entry> = waiting.entries.drain(..many).collect();
        let taken: usize = batch.iter().map(|entry| entry.work.size()).sum();
        waiting.bytes = waiting.bytes.saturating_sub(taken);
        Taken::Batch(batch)
    }

    /// Ends the wait of whoever takes.
    pub(crate) fn nudge(&self) {
        self.waiting.lock().nudged = true;
        self.changed.notify_one();
    }

    /// Takes nothing more in. What is queued is still given out.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_all();
    }

    /// Closes, and answers all who still wait: for when nobody will write.
    pub(crate) fn abandon(&self) {
        self.close();
        let left = std::mem::take(&mut self.waiting.lock().entries);
        drop(left);
    }
}

/// Records that may wait: seconds of them, at the rate of a slow disk. More would only hide that
/// the disk is slower than the calls.
const MAX_ENTRIES: usize = 65_536;
/// Bytes that may wait, for the same reason.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// Records in one transaction: the first of them waits for the last.
const MAX_BATCH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use callgate_audit::{Kind, Record};

    fn records(sealed: Sealed) -> Work {
        Work::Write(Write { kept: Vec::new(), records: vec![sealed] })
    }

    fn item() -> Work {
        records(Sealed::new(Record::new(Kind::Turn)))
    }

    #[test]
    fn a_full_queue_says_so_at_once() {
        let queue = Queue::default();
        let receipts: Vec<_> = (0..MAX_ENTRIES).map(|_| queue.push(item())).collect();
        assert_eq!(queue.push(item()).wait(), Err(AppendError::Full));
        let Taken::Batch(batch) = queue.take(Duration::ZERO) else { panic!("a batch") };
        assert_eq!(batch.len(), MAX_BATCH);
        drop(batch);
        assert!(!queue.push(item()).is_ready(), "there is room again");
        queue.abandon();
        for receipt in receipts {
            assert_eq!(receipt.wait(), Err(AppendError::Closed));
        }
        assert_eq!(queue.push(item()).wait(), Err(AppendError::Closed));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let queue = Queue::default();
        let large = || {
            let body = "x".repeat(MAX_BYTES / 2 - 256);
            records(Sealed { time: 0, joins: None, session: None, body })
        };
        let _first = queue.push(large());
        let _second = queue.push(large());
        assert_eq!(queue.push(item()).wait(), Err(AppendError::Full));
    }

    #[test]
    fn a_nudge_ends_a_wait_also_before_it_has_begun() {
        let queue = Queue::default();
        queue.nudge();
        assert!(matches!(queue.take(Duration::from_secs(3600)), Taken::Nothing));
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| queue.take(Duration::from_secs(3600)));
            queue.nudge();
            assert!(matches!(taken.join().unwrap(), Taken::Nothing));
        });
        assert!(matches!(queue.take(Duration::ZERO), Taken::Nothing));
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        let queue = Queue::default();
        let _receipt = queue.push(item());
        queue.close();
        assert!(matches!(queue.take(Duration::from_secs(60)), Taken::Batch(_)));
        assert!(matches!(queue.take(Duration::from_secs(60)), Taken::Closed));
    }
}
