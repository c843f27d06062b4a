//! Keeps messages to the server in order: a call that is not judged yet delays the messages after
//! it.

use std::collections::VecDeque;

use crate::message::Id;

/// Maximum number of bytes that may wait after calls that are not judged yet: one message of the
/// largest size.
const MAX_QUEUED: usize = 64 << 20;

/// Lines that wait to be sent to the server.
#[derive(Debug, Default)]
pub(super) struct ServerQueue {
    lines: VecDeque<Queued>,
    /// The number of bytes in it.
    size: usize,
}

#[derive(Debug)]
enum Queued {
    Ready(Vec<u8>),
    /// A call that is not judged yet, and its size.
    Held(Id, usize),
}

impl ServerQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether it is empty and counts no bytes.
    #[cfg(test)]
    pub(super) fn is_spent(&self) -> bool {
        self.lines.is_empty() && self.size == 0
    }

    /// Whether a request must be refused.
    pub(super) fn is_full(&self) -> bool {
        self.size > MAX_QUEUED
    }

    /// Whether even a notification must be dropped.
    pub(super) fn is_overfull(&self) -> bool {
        self.size > 2 * MAX_QUEUED
    }

    /// Adds a line that waits for those before it.
    pub(super) fn push(&mut self, line: Vec<u8>) {
        self.size += line.len();
        self.lines.push_back(Queued::Ready(line));
    }

    /// Adds a call that waits for its verdict.
    pub(super) fn hold(&mut self, id: Id, size: usize) {
        self.size += size;
        self.lines.push_back(Queued::Held(id, size));
    }

    /// A call is decided: `line` takes its place, or nothing. Returns the lines that need not wait
    /// any more.
    pub(super) fn resolve(&mut self, id: &Id, line: Option<Vec<u8>>) -> Vec<Vec<u8>> {
        let is_it = |queued: &Queued| matches!(queued, Queued::Held(held, _) if held == id);
        if let Some(at) = self.lines.iter().position(is_it)
            && let Some(Queued::Held(_, size)) = self.lines.remove(at)
        {
            self.size = self.size.saturating_sub(size);
            if let Some(line) = line {
                self.size += line.len();
                self.lines.insert(at, Queued::Ready(line));
            }
        }
        let mut ready = Vec::new();
        while let Some(Queued::Ready(line)) =
            self.lines.pop_front_if(|queued| matches!(queued, Queued::Ready(_)))
        {
            self.size = self.size.saturating_sub(line.len());
            ready.push(line);
        }
        ready
    }
}
