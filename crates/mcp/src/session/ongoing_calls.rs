//! Calls that continue after their answer: what follows later belongs to them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use callgate_decide::mcp::AllowedCall;
use parking_lot::Mutex;

use super::task_owners::TaskOwners;

/// Maximum number of each kind that is remembered. At this number all are forgotten, and later
/// results are judged like any other text.
const MAX_REMEMBERED: usize = 4096;

/// Ids of tasks are UUIDs or tokens. The result of a task with a longer id is judged like any other
/// text.
const MAX_TASK_ID: usize = 1024;

/// The calls of a client that continue.
#[derive(Debug, Default)]
pub(crate) struct OngoingCalls {
    /// As tasks of the server.
    tasks: HashMap<String, AllowedCall>,
    /// After the client has answered a question of the server, by tool and arguments.
    rounds: HashMap<u64, AllowedCall>,
    /// Hashes of the states that the server gave to the client.
    states: HashSet<u64>,
    /// The owner of the conversation, if others use the same server.
    owner: Option<TaskOwner>,
}

/// One of the principals that use a server.
#[derive(Debug)]
struct TaskOwner {
    who: u64,
    /// The tasks of all of them.
    tasks: Arc<Mutex<TaskOwners>>,
}

impl OngoingCalls {
    /// The calls of a principal, where others use the same server.
    pub(crate) fn of(who: u64, tasks: Arc<Mutex<TaskOwners>>) -> Self {
        Self { owner: Some(TaskOwner { who, tasks }), ..Self::default() }
    }

    /// Notes a task that the server has started, so that nobody else may access it.
    pub(super) fn own_task(&self, id: &str) {
        if let Some(TaskOwner { who, tasks }) = &self.owner {
            tasks.lock().add(*who, id);
        }
    }

    /// Whether a task was started for another principal.
    pub(super) fn belongs_to_another(&self, id: &str) -> bool {
        self.owner
            .as_ref()
            .is_some_and(|TaskOwner { who, tasks }| tasks.lock().belongs_to_another(*who, id))
    }

    pub(super) fn task(&self, id: &str) -> Option<AllowedCall> {
        self.tasks.get(id).cloned()
    }

    pub(super) fn keep_task(&mut self, id: String, call: AllowedCall) {
        if id.len() > MAX_TASK_ID {
            return;
        }
        if self.tasks.len() >= MAX_REMEMBERED {
            self.tasks.clear();
        }
        self.tasks.insert(id, call);
    }

    pub(super) fn take_round(&mut self, call_key: u64) -> Option<AllowedCall> {
        self.rounds.remove(&call_key)
    }

    pub(super) fn keep_round(&mut self, call_key: u64, call: AllowedCall) {
        if self.rounds.len() >= MAX_REMEMBERED {
            self.rounds.clear();
        }
        self.rounds.insert(call_key, call);
    }

    pub(super) fn keep_state(&mut self, state: &str) {
        if self.states.len() >= MAX_REMEMBERED {
            self.states.clear();
        }
        self.states.insert(hash(state));
    }

    /// Whether the server gave this state to the client.
    pub(super) fn was_given(&self, state: &str) -> bool {
        self.states.contains(&hash(state))
    }
}

fn hash(state: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    state.hash(&mut hash);
    hash.finish()
}
