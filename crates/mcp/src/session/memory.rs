//! Calls that are not over with their answer: what comes of them later belongs to them.

use std::collections::HashMap;

use callgate_decide::mcp::CallTicket;

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
}

impl Memory {
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

    pub(super) fn goes_on(&mut self, same: u64) -> Option<CallTicket> {
        self.rounds.remove(&same)
    }

    pub(super) fn keep_round(&mut self, same: u64, ticket: CallTicket) {
        if self.rounds.len() >= MAX_KEPT {
            self.rounds.clear();
        }
        self.rounds.insert(same, ticket);
    }
}
