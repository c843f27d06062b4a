//! What waits to be written, within bounds.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use callgate_audit::Sealed;

use crate::receipt::{Answer, AppendError, Receipt};
use crate::state::Kept;

/// Something that waits for the writer.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) work: Work,
    pub(crate) answer: Answer,
    urgency: Urgency,
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
    /// How many of the entries are [urgent](Urgency::Now).
    urgent: usize,
    /// When the others must be written at the latest; `None` while there are none.
    due: Option<Instant>,
    closed: bool,
    /// There is something to do that is not queued.
    nudged: bool,
}

/// When an entry must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// At once: a call waits for it.
    Now,
    /// Together with the next entry that is urgent, or after [`GATHER`]. Nobody waits for it, so it should
    /// not cost a sync of its own.
    Soon,
}

impl Waiting {
    /// Whether the writer has something to do.
    fn is_ready(&self) -> bool {
        let is_due = |due: Instant| due <= Instant::now();
        self.urgent > 0 || self.closed || self.nudged || self.due.is_some_and(is_due)
    }
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
    pub(crate) fn push(&self, work: Work, urgency: Urgency) -> Receipt {
        let size = work.size();
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Receipt::ready(Err(AppendError::Closed));
        }
        if waiting.entries.len() >= MAX_ENTRIES || waiting.bytes + size > MAX_BYTES {
            return Receipt::ready(Err(AppendError::Full));
        }
        let (receipt, answer) = Receipt::waiting();
        waiting.entries.push_back(Entry { work, answer, urgency });
        waiting.bytes += size;
        let wakes = match urgency {
            Urgency::Now => true,
            // The writer only has to learn when to look.
            Urgency::Soon => waiting.due.is_none() && waiting.urgent == 0,
        };
        match urgency {
            Urgency::Now => waiting.urgent += 1,
            Urgency::Soon => _ = waiting.due.get_or_insert_with(|| Instant::now() + GATHER),
        }
        drop(waiting);
        if wakes {
            self.changed.notify_one();
        }
        receipt
    }

    /// Waits for entries, and takes a batch of them.
    pub(crate) fn take(&self, timeout: Duration) -> Taken {
        self.wait(timeout);
        let mut waiting = self.waiting.lock();
        let is_ready = waiting.is_ready();
        waiting.nudged = false;
        if !is_ready || waiting.entries.is_empty() {
            return if waiting.closed { Taken::Closed } else { Taken::Nothing };
        }
        let many = waiting.entries.len().min(MAX_BATCH);
        let batch: Vec<Entry> = waiting.entries.drain(..many).collect();
        let taken: usize = batch.iter().map(|entry| entry.work.size()).sum();
        waiting.urgent -= batch.iter().filter(|entry| entry.urgency == Urgency::Now).count();
        if waiting.entries.len() == waiting.urgent {
            waiting.due = None;
        }
        waiting.bytes = waiting.bytes.saturating_sub(taken);
        Taken::Batch(batch)
    }

    /// Whether somebody waits for an entry.
    pub(crate) fn is_urgent(&self) -> bool {
        self.waiting.lock().urgent > 0
    }

    /// Waits until there is something to take, but no longer than this.
    pub(crate) fn wait(&self, timeout: Duration) {
        let mut waiting = self.waiting.lock();
        let end = Instant::now() + timeout;
        while !waiting.is_ready() {
            let until = waiting.due.map_or(end, |due| due.min(end));
            if self.changed.wait_until(&mut waiting, until).timed_out() && until == end {
                return;
            }
        }
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
/// How long an entry that nobody waits for may wait for others: not long enough that a process that ends
/// right after it would lose it.
pub(crate) const GATHER: Duration = Duration::from_millis(5);
/// Records in one write: the first of them waits for the last.
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
        let receipts: Vec<_> = (0..MAX_ENTRIES).map(|_| queue.push(item(), Urgency::Now)).collect();
        assert_eq!(queue.push(item(), Urgency::Now).wait(), Err(AppendError::Full));
        let Taken::Batch(batch) = queue.take(Duration::ZERO) else { panic!("a batch") };
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
        let queue = Queue::default();
        let large = || {
            let body = "x".repeat(MAX_BYTES / 2 - 256);
            records(Sealed { time: 0, joins: None, session: None, body })
        };
        let _first = queue.push(large(), Urgency::Now);
        let _second = queue.push(large(), Urgency::Now);
        assert_eq!(queue.push(item(), Urgency::Now).wait(), Err(AppendError::Full));
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
    fn what_is_not_urgent_waits_for_others_but_not_for_ever() {
        let queue = Queue::default();
        let _soon = queue.push(item(), Urgency::Soon);
        assert!(matches!(queue.take(Duration::ZERO), Taken::Nothing));
        let _now = queue.push(item(), Urgency::Now);
        let Taken::Batch(batch) = queue.take(Duration::from_secs(3600)) else { panic!("a batch") };
        assert_eq!(batch.len(), 2, "one write for both");
        let _alone = queue.push(item(), Urgency::Soon);
        let Taken::Batch(batch) = queue.take(Duration::from_secs(3600)) else { panic!("a batch") };
        assert_eq!(batch.len(), 1);
        assert!(matches!(queue.take(Duration::ZERO), Taken::Nothing));
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        let queue = Queue::default();
        let _receipt = queue.push(item(), Urgency::Now);
        queue.close();
        assert!(matches!(queue.take(Duration::from_secs(60)), Taken::Batch(_)));
        assert!(matches!(queue.take(Duration::from_secs(60)), Taken::Closed));
    }
}
