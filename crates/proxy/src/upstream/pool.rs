//! The connections to one target.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::connect::Protocol;
use super::h1::H1Connection;
use super::h2::{H2Connection, H2Slot};

/// The open connections to a target, and its protocol.
pub(super) struct ConnectionPool {
    /// Idle HTTP/1.1 connections, the latest at the back.
    idle: Mutex<VecDeque<Idle>>,
    /// HTTP/2 connections, at most `MAX_H2_CONNECTIONS`.
    h2_connections: Mutex<Vec<H2Connection>>,
    /// Locked while opening a connection that others may share.
    pub(super) dialing: tokio::sync::Mutex<()>,
    protocol: AtomicU8,
}

struct Idle {
    connection: Box<H1Connection>,
    since: Instant,
}

const UNKNOWN: u8 = 0;
const H1: u8 = 1;
const H2: u8 = 2;

impl ConnectionPool {
    pub(super) fn new() -> Self {
        Self {
            idle: Mutex::default(),
            h2_connections: Mutex::default(),
            dialing: tokio::sync::Mutex::default(),
            protocol: AtomicU8::new(UNKNOWN),
        }
    }

    /// The protocol that the target last chose.
    pub(super) fn protocol(&self) -> Option<Protocol> {
        match self.protocol.load(Ordering::Relaxed) {
            H1 => Some(Protocol::H1),
            H2 => Some(Protocol::H2),
            _ => None,
        }
    }

    pub(super) fn set_protocol(&self, protocol: Protocol) {
        let code = match protocol {
            Protocol::H1 => H1,
            Protocol::H2 => H2,
        };
        self.protocol.store(code, Ordering::Relaxed);
    }

    /// An idle HTTP/1.1 connection that still works. The latest first, which is the least likely to
    /// be closed.
    pub(super) fn take_idle(&self) -> Option<Box<H1Connection>> {
        loop {
            // The lock is not held while the connection is checked.
            let Idle { mut connection, since } = self.idle.lock().pop_back()?;
            if since.elapsed() < MAX_IDLE && connection.is_free() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for the next exchange if it is still usable. Otherwise it is closed.
    pub(super) fn put_back(&self, mut connection: Box<H1Connection>) {
        if !connection.is_free() {
            return;
        }
        let mut idle = self.idle.lock();
        if idle.len() >= MAX_IDLE_CONNECTIONS {
            idle.pop_front();
        }
        idle.push_back(Idle { connection, since: Instant::now() });
    }

    /// A slot on an HTTP/2 connection; `None` if a new connection should be opened.
    pub(super) fn slot(&self) -> Option<H2Slot> {
        let mut h2_connections = self.h2_connections.lock();
        h2_connections.retain(H2Connection::is_alive);
        let free = h2_connections.iter().find_map(H2Connection::slot);
        if free.is_none() && h2_connections.len() >= MAX_H2_CONNECTIONS {
            return h2_connections
                .iter()
                .min_by_key(|connection| connection.exchanges())
                .map(H2Connection::queue);
        }
        free
    }

    /// Adds a new HTTP/2 connection and takes a slot on it.
    pub(super) fn add_h2_connection(&self, connection: H2Connection) -> H2Slot {
        let slot = connection.queue();
        self.h2_connections.lock().push(connection);
        slot
    }

    /// Removes the connection of `slot`, which accepts no more requests.
    pub(super) fn retire(&self, slot: &H2Slot) {
        self.h2_connections.lock().retain(|connection| !connection.is(slot));
    }

    /// Closes connections that have been idle for too long, and those that the target closed.
    pub(super) fn sweep(&self) {
        self.idle
            .lock()
            .retain_mut(|idle| idle.since.elapsed() < MAX_IDLE && idle.connection.is_free());
        self.h2_connections.lock().retain(H2Connection::is_alive);
    }

    #[cfg(test)]
    pub(super) fn idle_connections(&self) -> usize {
        self.idle.lock().len()
    }
}

/// A connection is reused within this time. Below the 60 seconds after which many servers close it.
const MAX_IDLE: Duration = Duration::from_secs(50);
/// Maximum number of idle connections per target. Beyond that, the oldest is closed. Agents that work side by
/// side end their turns together: a smaller number made hundreds of them open new connections for each turn.
pub(super) const MAX_IDLE_CONNECTIONS: usize = 256;
/// Maximum number of HTTP/2 connections per target, with a hundred exchanges each. Further
/// exchanges wait for a slot.
const MAX_H2_CONNECTIONS: usize = 32;
