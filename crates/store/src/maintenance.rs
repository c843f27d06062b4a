//! The maintenance thread of a store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::OpenError;
use crate::shared::OpenStore;
use crate::state::StateMaintenance;

/// Runs the periodic maintenance of a store. Failures are retried a second later: no caller waits
/// for any of it.
#[derive(Debug)]
pub(crate) struct Maintenance {
    shared: Arc<OpenStore>,
    pub(crate) state: StateMaintenance,
    expired: Option<Instant>,
}

impl Maintenance {
    pub(crate) fn new(shared: &Arc<OpenStore>) -> Result<Self, OpenError> {
        let state = StateMaintenance::new(Arc::clone(shared))?;
        Ok(Self { shared: Arc::clone(shared), state, expired: None })
    }

    /// Runs until it is stopped.
    pub(crate) fn run(mut self, stop: &StopSignal) {
        self.state.begin();
        while !stop.wait(TICK) {
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.state.tick();
        if self.expired.is_none_or(|last| last.elapsed() >= EXPIRE_EVERY) {
            self.expired = Some(Instant::now());
            // Each of them works without the other.
            let _ = self.shared.records.expire();
            let _ = self.state.expire();
        }
    }
}

/// Signals the maintenance threads to stop.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl StopSignal {
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.changed.notify_all();
    }

    /// Waits, and returns whether it is time to stop.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let mut stopped = self.stopped.lock();
        if !*stopped {
            self.changed.wait_for(&mut stopped, timeout);
        }
        *stopped
    }
}

/// How late a key that another process revoked is noticed.
const TICK: Duration = Duration::from_secs(1);
/// How often expired data is removed.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);
