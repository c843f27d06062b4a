//! The thread that keeps the store in order: what its files need now and then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::OpenError;
use crate::shared::Shared;
use crate::state::StateKeeper;

/// Keeps a store in order. What fails is tried again a second later: nobody waits for any of it.
#[derive(Debug)]
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    pub(crate) state: StateKeeper,
    expired: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(shared: &Arc<Shared>) -> Result<Self, OpenError> {
        let state = StateKeeper::new(Arc::clone(shared))?;
        Ok(Self { shared: Arc::clone(shared), state, expired: None })
    }

    /// Runs until it is told to stop.
    pub(crate) fn run(mut self, stop: &Stop) {
        self.state.begin();
        while !stop.wait(TICK) {
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.state.tick();
        if self.expired.is_none_or(|last| last.elapsed() >= EXPIRE_EVERY) {
            self.expired = Some(Instant::now());
            // Each is of use without the other.
            let _ = self.shared.records.expire();
            let _ = self.state.expire();
        }
    }
}

/// Tells the keeper to stop.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.changed.notify_all();
    }

    /// Waits, and says whether it is time to stop.
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
/// How often what is old leaves.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);
