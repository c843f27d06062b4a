//! The waker of a connection that is polled inside the body it feeds.
//!
//! The connection and the body wake each other all the time, though one task polls both in turn. These wakes would
//! put the task into the queue again after each frame. So both get this waker, which passes a wake on only if nobody
//! is polling, and otherwise notes that there is more to do.
//!
//! ```text
//!            settle              wake: the task is woken
//! Polling ───────────► Quiet ─────────────────────────────► Woken
//!    │                   ▲                                    │
//!    │ wake: noted       └──────────── settle ─── Polling ◄───┘ begin
//!    └──────────────────────────────────────────► Woken
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// Shared by a connection and whoever polls it.
pub(super) struct Drive {
    state: AtomicU8,
    task: AtomicWaker,
}

/// Nothing can move until a wake comes, and the task will be told of it.
const QUIET: u8 = 0;
/// The task is in the middle of its polls, or was handed something and will come back.
const POLLING: u8 = 1;
/// A wake came since the last `begin`.
const WOKEN: u8 = 2;

impl Drive {
    /// A new drive has something to do.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(WOKEN), task: AtomicWaker::new() })
    }

    /// Makes `task` the one that is woken. True if nothing has moved since `settle`: then there is nothing to poll.
    pub(super) fn rests(&self, task: &Waker) -> bool {
        self.task.register(task);
        self.state.load(Ordering::Acquire) == QUIET
    }

    /// Before each poll of the connection. What the last wake was about is visible to that poll: hence a swap, not a
    /// store.
    pub(super) fn begin(&self) {
        self.state.swap(POLLING, Ordering::AcqRel);
    }

    /// After polls that all were pending. False if a wake came meanwhile: poll again.
    pub(super) fn settle(&self) -> bool {
        self.state.compare_exchange(POLLING, QUIET, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Nobody waits any more: the connection goes to the idle list.
    pub(super) fn forget(&self) {
        self.task.take();
    }
}

impl Wake for Drive {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == QUIET {
            self.task.wake();
        }
    }
}
