//! Signals: to stop, to stop at once, and to reload the policies.

use std::io;

use callgate_config::Watch;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::logging;

/// The signals of a gateway. Created before the gateway announces that it runs, because a signal
/// without a handler ends the process.
pub(crate) struct Signals {
    pub(crate) stop: Stop,
    pub(crate) hangup: Signal,
}

impl Signals {
    /// Must be called inside a runtime.
    pub(crate) fn new() -> io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { stop: Stop { terminate, interrupt }, hangup: signal(SignalKind::hangup())? })
    }
}

/// The signals that ask to stop.
pub(crate) struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    /// Sends `stopping` at the first signal and returns at the second: an operator who asks twice
    /// does not want to wait for streams.
    pub(crate) async fn asked_twice(mut self, stopping: oneshot::Sender<()>) {
        self.asked().await;
        logging::notice("stopping: running streams may finish, new requests are refused");
        // Without a receiver the gateway has already stopped.
        let _ = stopping.send(());
        self.asked().await;
        logging::notice("stopping now: running streams are cut off");
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Reloads the policies at each SIGHUP, whether a change was seen or not.
pub(crate) async fn reload_on_hangup(mut hangup: Signal, watch: Watch) {
    while hangup.recv().await.is_some() {
        watch.trigger();
    }
}
