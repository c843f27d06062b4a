//! What is known of the store without asking it again.
//!
//! Whoever judges a call asks whether somebody else has changed something. Nearly always nobody has:
//! then the answer of the last time is still right, and no page of the store is read for it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::database::Fault;
use crate::state::State;
use crate::state::history::{FlowKey, FlowStep};
use crate::writing::View;

/// What was found when the store was last asked.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The version of the pins, and when it was that.
    pins: Mutex<Option<(View, u64, u64)>>,
    /// How often this process has changed pins.
    own_pins: AtomicU64,
    flows: Mutex<FlowKeys>,
}

/// The sessions that have steps. One too many costs a look, one too few would hide a step: none ever
/// leaves, until all are read again.
#[derive(Debug, Default)]
struct FlowKeys {
    /// The ends of their keys, which are hashes.
    keys: HashSet<u64>,
    /// The last step that was read.
    last: i64,
    /// When that was.
    view: Option<View>,
    /// Of which file: see [`State::opened`].
    opened: u64,
}

/// Sessions in memory: twice as many as a store keeps steps. Past it all are read again.
const MAX_KEYS: usize = 2 * FlowStep::MAX_KEPT as usize;

impl Known {
    /// The version of the pins, which is read only if it may be another one. `view` is of before: what
    /// changes meanwhile is noticed the next time.
    pub(crate) fn pins_version(
        &self,
        view: Option<View>,
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

    /// This process has changed pins.
    pub(crate) fn pins_changed(&self) {
        self.own_pins.fetch_add(1, Ordering::Release);
    }

    /// This process has written a step.
    pub(crate) fn add_flow(&self, key: &FlowKey) {
        self.flows.lock().keys.insert(ending(key));
    }

    /// Whether a session may have steps. `view` is of before.
    pub(crate) fn may_have_flow(
        &self,
        state: &dyn State,
        view: Option<View>,
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
    /// Reads the steps that others have written since.
    fn read(&mut self, state: &dyn State) -> Result<(), Fault> {
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
    // The beginning is the same for all sessions of one owner.
    key.last_chunk().map_or(0, |last| u64::from_le_bytes(*last))
}
