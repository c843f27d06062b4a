//! Cached facts about the state.
//!
//! Every decision asks whether another process has changed something. Nearly always no process has:
//! then the cached answer is still right, and no page of the file is read.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::database::Fault;
use crate::state::StateStore;
use crate::state::history::{FlowKey, FlowStep};
use crate::write_connection::StateVersion;

/// The results of the last queries.
#[derive(Debug, Default)]
pub(crate) struct StateCache {
    /// The view in which the version of the pins was read, the value of `own_pins` then, and the
    /// version.
    pins: Mutex<Option<(StateVersion, u64, u64)>>,
    /// How often this process has changed pins.
    own_pins: AtomicU64,
    flows: Mutex<FlowKeys>,
}

/// The sessions that have steps. A session too many only costs a query, a missing one would hide a
/// step: so no session is removed until all are read again.
#[derive(Debug, Default)]
struct FlowKeys {
    /// The last eight bytes of their keys, which are hashes.
    keys: HashSet<u64>,
    /// The last step that was read.
    last: i64,
    /// The view in which it was read.
    view: Option<StateVersion>,
    /// The file it was read from: see [`StateStore::opened`].
    opened: u64,
}

/// How many sessions are cached: twice as many as a store keeps steps. Beyond that, all are read
/// again.
const MAX_KEYS: usize = 2 * FlowStep::MAX_KEPT as usize;

impl StateCache {
    /// The version of the pins. It is read only if it may have changed. `view` was taken before: a
    /// change that happens meanwhile is noticed the next time.
    pub(crate) fn pins_version(
        &self,
        view: Option<StateVersion>,
        read: impl FnOnce() -> Result<u64, Fault>,
    ) -> Result<u64, Fault> {
        let own = self.own_pins.load(Ordering::Acquire);
        let mut pins = self.pins.lock();
        if let (Some(view), Some((then, own_then, version))) = (view, *pins)
            && (view, own) == (then, own_then)
        {
            return Ok(version);
        }
        let version = read()?;
        *pins = view.map(|view| (view, own, version));
        Ok(version)
    }

    /// Called when this process has changed pins.
    pub(crate) fn pins_changed(&self) {
        self.own_pins.fetch_add(1, Ordering::Release);
    }

    /// Called when this process has written a step.
    pub(crate) fn add_flow(&self, key: &FlowKey) {
        self.flows.lock().keys.insert(ending(key));
    }

    /// Whether a session may have steps. `view` was taken before.
    pub(crate) fn may_have_flow(
        &self,
        state: &dyn StateStore,
        view: Option<StateVersion>,
        key: &FlowKey,
    ) -> Result<bool, Fault> {
        let opened = state.opened();
        let mut flows = self.flows.lock();
        if flows.opened != opened {
            *flows = FlowKeys { opened, ..FlowKeys::default() };
        }
        if view.is_none() || flows.view != view {
            flows.read(state)?;
            flows.view = view;
        }
        Ok(flows.keys.contains(&ending(key)))
    }
}

impl FlowKeys {
    /// Reads the steps that other processes have written since.
    fn read(&mut self, state: &dyn StateStore) -> Result<(), Fault> {
        if self.keys.len() > MAX_KEYS {
            *self = Self { opened: self.opened, ..Self::default() };
        }
        let (sessions, last) = state.sessions_after(self.last)?;
        self.keys.extend(sessions.iter().map(ending));
        self.last = last;
        Ok(())
    }
}

fn ending(key: &FlowKey) -> u64 {
    // The first bytes are the same for all sessions of one owner.
    key.last_chunk().map_or(0, |last| u64::from_le_bytes(*last))
}
