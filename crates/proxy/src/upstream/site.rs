//! The connections of one target.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::connect::Protocol;
use super::h1::Line;
use super::h2::{Seat, Trunk};

/// What is known of a target, and what is open to it.
pub(super) struct Site {
    /// HTTP/1.1 connections without work, the latest at the back.
    idle: Mutex<VecDeque<Idle>>,
    /// HTTP/2 connections, at most `MAX_TRUNKS`.
    trunks: Mutex<Vec<Trunk>>,
    /// Taken while a connection is opened that others may share.
    pub(super) dialing: tokio::sync::Mutex<()>,
    spoken: AtomicU8,
}

struct Idle {
    line: Box<Line>,
    since: Instant,
}

const UNKNOWN: u8 = 0;
const H1: u8 = 1;
const H2: u8 = 2;

impl Site {
    pub(super) fn new() -> Self {
        Self {
            idle: Mutex::default(),
            trunks: Mutex::default(),
            dialing: tokio::sync::Mutex::default(),
            spoken: AtomicU8::new(UNKNOWN),
        }
    }

    /// What the target chose last.
    pub(super) fn spoken(&self) -> Option<Protocol> {
        match self.spoken.load(Ordering::Relaxed) {
            H1 => Some(Protocol::H1),
            H2 => Some(Protocol::H2),
            _ => None,
        }
    }

    pub(super) fn note_spoken(&self, protocol: Protocol) {
        let code = match protocol {
            Protocol::H1 => H1,
            Protocol::H2 => H2,
        };
        self.spoken.store(code, Ordering::Relaxed);
    }

    /// An idle HTTP/1.1 connection that still works. The latest first: it is the least likely to be closed.
    pub(super) fn take_idle(&self) -> Option<Box<Line>> {
        loop {
            // The lock is not held while the connection is looked at.
            let Idle { mut line, since } = self.idle.lock().pop_back()?;
            if since.elapsed() < MAX_IDLE && line.is_free() {
                return Some(line);
            }
        }
    }

    /// Keeps a connection for the next exchange, if there can be one. Otherwise it is closed.
    pub(super) fn put_back(&self, mut line: Box<Line>) {
        if !line.is_free() {
            return;
        }
        line.rest();
        let mut idle = self.idle.lock();
        if idle.len() >= MAX_IDLE_LINES {
            idle.pop_front();
        }
        idle.push_back(Idle { line, since: Instant::now() });
    }

    /// A place on an HTTP/2 connection. `None` if a new connection should be opened.
    pub(super) fn seat(&self) -> Option<Seat> {
        let mut trunks = self.trunks.lock();
        trunks.retain(Trunk::is_alive);
        let free = trunks.iter().find_map(Trunk::seat);
        if free.is_none() && trunks.len() >= MAX_TRUNKS {
            return trunks.iter().min_by_key(|trunk| trunk.exchanges()).map(Trunk::queue);
        }
        free
    }

    /// Keeps a new HTTP/2 connection and takes a place on it.
    pub(super) fn add_trunk(&self, trunk: Trunk) -> Seat {
        let seat = trunk.queue();
        self.trunks.lock().push(trunk);
        seat
    }

    /// The connection below `seat` takes no requests any more.
    pub(super) fn retire(&self, seat: &Seat) {
        self.trunks.lock().retain(|trunk| !trunk.is(seat));
    }

    /// Closes what has been idle for too long, and what the target closed.
    pub(super) fn sweep(&self) {
        self.idle.lock().retain_mut(|idle| idle.since.elapsed() < MAX_IDLE && idle.line.is_free());
        self.trunks.lock().retain(Trunk::is_alive);
    }

    #[cfg(test)]
    pub(super) fn idle_lines(&self) -> usize {
        self.idle.lock().len()
    }
}

/// A connection used within this time is tried again. Below the 60 seconds after which many servers close.
const MAX_IDLE: Duration = Duration::from_secs(50);
/// Idle connections to one target. When there are more, the oldest is closed.
const MAX_IDLE_LINES: usize = 64;
/// HTTP/2 connections to one target: a hundred exchanges each. Further exchanges wait for a place.
const MAX_TRUNKS: usize = 32;
