//! The waker of a connection that is polled inside the body it feeds.
//!
//! The connection and the body wake each other all the time, though one task polls both in turn.
//! These wakes would put the task into the queue again after each frame. So both get this waker,
//! which forwards a wake only if the task is not polling, and otherwise notes that there is more to
//! do.
//!
//! ```text
//!            finish              wake: the task is woken
//! Polling ───────────► Quiet ─────────────────────────────► Woken
//!    │                   ▲                                    │
//!    │ wake: noted       └──────────── finish ─── Polling ◄───┘ begin
//!    └──────────────────────────────────────────► Woken
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// Shared by a connection and the task that polls it.
pub(super) struct PollWaker {
    state: AtomicU8,
    task: AtomicWaker,
}

/// No progress is possible until a wake, which will wake the task.
const QUIET: u8 = 0;
/// The task is polling, or has received something and will poll again.
const POLLING: u8 = 1;
/// A wake came since the last `begin`.
const WOKEN: u8 = 2;

impl PollWaker {
    /// Starts woken, because a new connection has work to do.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(WOKEN), task: AtomicWaker::new() })
    }

    /// Registers `task` to be woken. True if there was no wake since `finish`: then there is
    /// nothing to poll.
    pub(super) fn is_idle(&self, task: &Waker) -> bool {
        self.task.register(task);
        self.state.load(Ordering::Acquire) == QUIET
    }

    /// Called before each poll of the connection. A swap and not a store, so that this poll sees
    /// what the last wake was about.
    pub(super) fn begin(&self) {
        self.state.swap(POLLING, Ordering::AcqRel);
    }

    /// Called after all polls were pending. False if a wake came in the meantime: poll again.
    pub(super) fn finish(&self) -> bool {
        self.state.compare_exchange(POLLING, QUIET, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Forgets the task, because the connection goes to the idle list.
    pub(super) fn forget(&self) {
        self.task.take();
    }
}

impl Wake for PollWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == QUIET {
            self.task.wake();
        }
    }
}
