//! Avoids polls that cannot bring anything.
//!
//! hyper polls a body up to three times for each wake of its connection, and wakes of the connection may have
//! other causes. A response that waits, and that nothing has woken since, still waits: it takes a flag
//! to find that out, instead of asking the gate, the socket and the timer again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Whether something that a response waits for has happened since its last poll.
pub(super) struct Wakeups {
    flag: Arc<WakeFlag>,
    /// Sets the flag, then wakes the task.
    waker: Waker,
}

struct WakeFlag {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl Wakeups {
    /// The first poll is due.
    pub(super) fn new() -> Self {
        let flag = Arc::new(WakeFlag { woken: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { waker: Waker::from(Arc::clone(&flag)), flag }
    }

    /// The waker to poll with; `None` if nothing has happened since the last poll. In either case the task
    /// is woken when something happens.
    pub(super) fn take(&self, cx: &Context<'_>) -> Option<Waker> {
        // In this order: a wake in between reaches the task.
        self.flag.task.register(cx.waker());
        self.flag.woken.swap(false, Ordering::AcqRel).then(|| self.waker.clone())
    }

    /// Makes the next poll due, for a caller that polls again anyway.
    pub(super) fn poll_again(&self) {
        self.flag.woken.store(true, Ordering::Release);
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct CountedWakes(AtomicUsize);

    impl Wake for CountedWakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_the_first_poll_and_those_after_a_wake_are_due() {
        let task = Arc::new(CountedWakes::default());
        let waker = Waker::from(Arc::clone(&task));
        let cx = Context::from_waker(&waker);
        let wakeups = Wakeups::new();
        let inner = wakeups.take(&cx).expect("the first poll is due");
        assert!(wakeups.take(&cx).is_none());
        inner.wake_by_ref();
        assert_eq!(task.0.load(Ordering::Relaxed), 1);
        assert!(wakeups.take(&cx).is_some());
        assert!(wakeups.take(&cx).is_none());
        wakeups.poll_again();
        assert!(wakeups.take(&cx).is_some());
    }

    #[test]
    fn a_poll_that_is_not_due_moves_the_wake_to_the_new_task() {
        let (old, new) = (Arc::new(CountedWakes::default()), Arc::new(CountedWakes::default()));
        let (old_waker, new_waker) = (Waker::from(Arc::clone(&old)), Waker::from(Arc::clone(&new)));
        let wakeups = Wakeups::new();
        let inner = wakeups.take(&Context::from_waker(&old_waker)).expect("the first poll is due");
        assert!(wakeups.take(&Context::from_waker(&new_waker)).is_none());
        inner.wake();
        assert_eq!(old.0.load(Ordering::Relaxed), 0);
        assert_eq!(new.0.load(Ordering::Relaxed), 1);
    }
}
