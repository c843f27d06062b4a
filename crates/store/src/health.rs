//! Whether records can be written.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use parking_lot::Mutex;

/// Whether records can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The last commit went well.
    Ok,
    /// The last commit failed. Each later one tries again, and so does the writer each second.
    Failing {
        /// Why.
        why: String,
        /// When it began.
        since: Timestamp,
    },
}

/// The health of a store, shared by all who write to it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Whether `failure` holds something: the one question that every append asks.
    failing: AtomicBool,
    failure: Mutex<Option<(String, Timestamp)>>,
}

impl Pulse {
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    pub(crate) fn health(&self) -> Health {
        match &*self.failure.lock() {
            None => Health::Ok,
            Some((why, since)) => Health::Failing { why: why.clone(), since: *since },
        }
    }

    pub(crate) fn succeed(&self) {
        if self.is_failing() {
            let mut failure = self.failure.lock();
            *failure = None;
            self.failing.store(false, Ordering::Release);
        }
    }

    /// The newest reason counts, and the oldest time.
    pub(crate) fn fail(&self, why: String) {
        let mut failure = self.failure.lock();
        let since = failure.as_ref().map_or_else(Timestamp::now, |(_, since)| *since);
        *failure = Some((why, since));
        self.failing.store(true, Ordering::Release);
    }
}
