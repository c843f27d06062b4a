//! Faults on demand, for tests: the Nth statement from now fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::database::Fault;

/// Fails one statement. Shared by all who hold a clone.
#[derive(Debug, Clone)]
pub(crate) struct Faults(Arc<AtomicI64>);

impl Default for Faults {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MAX)))
    }
}

impl Faults {
    /// Lets the statement after so many others fail.
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
