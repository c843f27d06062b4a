//! Whether records can be written.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use parking_lot::Mutex;

/// Whether records can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteHealth {
    /// The last commit succeeded.
    Ok,
    /// The last commit failed. Each later commit tries again, and so does the writer every second.
    Failing {
        /// Why it failed.
        why: String,
        /// When the first of these failures happened.
        since: Timestamp,
    },
}

/// The health of a store, shared by all its writers.
#[derive(Debug, Default)]
pub(crate) struct HealthStatus {
    /// Whether `failure` is set: the one thing that every append checks.
    failing: AtomicBool,
    failure: Mutex<Option<(String, Timestamp)>>,
}

impl HealthStatus {
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    pub(crate) fn health(&self) -> WriteHealth {
        match &*self.failure.lock() {
            None => WriteHealth::Ok,
            Some((why, since)) => WriteHealth::Failing { why: why.clone(), since: *since },
        }
    }

    pub(crate) fn succeed(&self) {
        if self.is_failing() {
            let mut failure = self.failure.lock();
            *failure = None;
            self.failing.store(false, Ordering::Release);
        }
    }

    /// Keeps the newest reason and the oldest time.
    pub(crate) fn fail(&self, why: String) {
        let mut failure = self.failure.lock();
        let since = failure.as_ref().map_or_else(Timestamp::now, |(_, since)| *since);
        *failure = Some((why, since));
        self.failing.store(true, Ordering::Release);
    }
}
