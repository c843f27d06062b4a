//! Calls that are not over with their answer: what comes of them later belongs to them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use callgate_decide::mcp::CallTicket;
use parking_lot::Mutex;

use super::owners::Owners;

/// The most that are remembered of each; past it all are forgotten, and what comes of them is judged
/// as any other text.
const MAX_KEPT: usize = 4096;

/// Names of tasks are UUIDs or tokens. What comes of one with a longer name is judged as any other text.
const MAX_TASK_ID: usize = 1024;

/// The calls of a client that go on.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// As tasks of the server.
    tasks: HashMap<String, CallTicket>,
    /// Once the client has answered what the server asked back, by tool and arguments.
    rounds: HashMap<u64, CallTicket>,
    /// What the server has given the client to bring back, by its hash.
    states: HashSet<u64>,
    /// Whose conversation it is, where others speak to the same server.
    owner: Option<Owner>,
}

/// One of those who speak to a server.
#[derive(Debug)]
struct Owner {
    who: u64,
    /// What the server has begun for each of them.
    tasks: Arc<Mutex<Owners>>,
}

impl Memory {
    /// What is remembered of a conversation of somebody, where others speak to the same server.
    pub(crate) fn of(who: u64, tasks: Arc<Mutex<Owners>>) -> Self {
        Self { owner: Some(Owner { who, tasks }), ..Self::default() }
    }

    /// The server has begun a task: nobody else may ask for it.
    pub(super) fn own_task(&self, id: &str) {
        if let Some(Owner { who, tasks }) = &self.owner {
            tasks.lock().add(*who, id);
        }
    }

    /// Whether a task was begun for somebody else.
    pub(super) fn is_anothers(&self, id: &str) -> bool {
        self.owner.as_ref().is_some_and(|Owner { who, tasks }| tasks.lock().is_anothers(*who, id))
    }

    pub(super) fn task(&self, id: &str) -> Option<CallTicket> {
        self.tasks.get(id).cloned()
    }

    pub(super) fn keep_task(&mut self, id: String, ticket: CallTicket) {
        if id.len() > MAX_TASK_ID {
            return;
        }
        if self.tasks.len() >= MAX_KEPT {
            self.tasks.clear();
        }
        self.tasks.insert(id, ticket);
    }

    pub(super) fn continues(&mut self, same: u64) -> Option<CallTicket> {
        self.rounds.remove(&same)
    }

    pub(super) fn keep_round(&mut self, same: u64, ticket: CallTicket) {
        if self.rounds.len() >= MAX_KEPT {
            self.rounds.clear();
        }
        self.rounds.insert(same, ticket);
    }

    pub(super) fn keep_state(&mut self, state: &str) {
        if self.states.len() >= MAX_KEPT {
            self.states.clear();
        }
        self.states.insert(hash(state));
    }

    /// Whether the server has given this state to the client.
    pub(super) fn has_given(&self, state: &str) -> bool {
        self.states.contains(&hash(state))
    }
}

fn hash(state: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    state.hash(&mut hash);
    hash.finish()
}
