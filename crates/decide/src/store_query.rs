//! Queries to the store run on the store's own thread, so that no thread that carries streams ever
//! waits for the disk.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decider::DeciderState;

/// The refreshing of pins on the store's thread.
#[derive(Debug, Default)]
pub(crate) struct PinRefresh {
    /// Set once the periodic refresh has been started, which happens with the first query.
    started: OnceLock<()>,
    /// When a refresh that has not run yet was last requested.
    requested: Mutex<Option<Instant>>,
}

/// The store did not answer: it is too busy, too slow, closed, or cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreUnavailable;

/// How often pins are refreshed with what other processes have pinned, trusted or reset.
const TICK: Duration = Duration::from_secs(1);

impl DeciderState {
    /// Runs a query on the store's thread and awaits its result, for no longer than a record may
    /// take.
    pub(crate) async fn query_store<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, StoreUnavailable> {
        self.query_store_or_undo(query, |_, _| {}).await
    }

    /// Like [`Self::query_store`]. `undo` gets the result if no caller waits for it any more.
    pub(crate) async fn query_store_or_undo<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
        undo: impl FnOnce(T, &Self) + Send + 'static,
    ) -> Result<T, StoreUnavailable> {
        self.start_periodic_refresh();
        let (asking, undoing) = (Arc::clone(self), Arc::clone(self));
        let reply = self
            .audit
            .ask_or(move |_| query(&asking), move |abandoned, _| undo(abandoned, &undoing));
        let timeout = self.in_force().settings.record_timeout;
        match tokio::time::timeout(timeout, reply).await {
            Ok(Ok(answer)) => return Ok(answer),
            // The store is too busy to answer; logging each failure would only add load.
            Err(_) | Ok(Err(callgate_store::NoAnswer::Full)) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, "the store did not answer in time for a call")
            }
        }
        Err(StoreUnavailable)
    }

    /// Requests a refresh of the pins without waiting for it. Requests that pile up run once, and
    /// not at all if the pins were refreshed in the meantime.
    pub(crate) fn request_refresh(self: &Arc<Self>) {
        self.start_periodic_refresh();
        if self.pin_refresh.requested.lock().replace(Instant::now()).is_some() {
            return;
        }
        let inner = Arc::clone(self);
        let queued = self.audit.do_later(move |_| {
            let requested = inner.pin_refresh.requested.lock().take();
            inner.refresh_cache_since(requested.unwrap_or_else(Instant::now));
        });
        if queued.is_err() {
            *self.pin_refresh.requested.lock() = None;
        }
    }

    /// Whether a requested refresh has not run yet.
    #[cfg(test)]
    pub(crate) fn is_refresh_pending(&self) -> bool {
        self.pin_refresh.requested.lock().is_some()
    }

    fn start_periodic_refresh(self: &Arc<Self>) {
        self.pin_refresh.started.get_or_init(|| {
            let inner = Arc::downgrade(self);
            let look = move || match inner.upgrade() {
                Some(inner) => {
                    inner.refresh_cache();
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            };
            if let Err(error) = self.audit.do_each(TICK, look) {
                tracing::error!(%error, "changes to pins by other processes are noticed late");
            }
        });
    }
}
