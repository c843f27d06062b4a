//! Fault injection for tests: makes the Nth statement from now fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::database::Fault;

/// Fails one statement. All clones share the same counter.
#[derive(Debug, Clone)]
pub(crate) struct Faults(Arc<AtomicI64>);

impl Default for Faults {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MAX)))
    }
}

impl Faults {
    /// Makes the statement after this many others fail.
    pub(crate) fn fail_after(&self, statements: i64) {
        self.0.store(statements, Ordering::SeqCst);
    }

    /// Whether the fault has happened.
    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::SeqCst) < 0
    }

    pub(crate) fn step(&self) -> Result<(), Fault> {
        match self.0.fetch_sub(1, Ordering::SeqCst) {
            0 => Err(Fault::Lost("an injected fault".to_owned())),
            _ => Ok(()),
        }
    }
}
