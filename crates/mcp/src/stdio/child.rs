//! The server's process.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::time::timeout;

use super::WrapError;

/// The command that starts a server.
#[derive(Debug, Clone)]
pub struct ServerCommand {
    /// The resolved program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its complete environment.
    pub env: Vec<(OsString, OsString)>,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; if a signal ended it, the code that a shell would show.
    pub code: u8,
}

impl Ended {
    fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Self { code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX) }
    }
}

/// A running server, in its own process group, so that everything it starts ends with it.
pub(super) struct RunningServer {
    child: Child,
    group: Option<Pid>,
    signals: ReceivedSignals,
}

/// The signals that we receive and forward.
struct ReceivedSignals {
    terminate: Stream,
    interrupt: Stream,
    hangup: Stream,
}

impl RunningServer {
    pub(super) fn start(command: &ServerCommand) -> Result<Self, WrapError> {
        let start_error =
            |source| WrapError::Start { command: command.program.display().to_string(), source };
        let signals = ReceivedSignals::new().map_err(WrapError::Ends)?;
        let child = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(start_error)?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { child, group, signals })
    }

    pub(super) fn take_pipes(&mut self) -> io::Result<(ChildStdin, ChildStdout)> {
        let pipes = self.child.stdin.take().zip(self.child.stdout.take());
        pipes.ok_or_else(|| io::Error::other("the server has no pipes"))
    }

    /// Waits for its end. Our own signals are forwarded to it. After a signal to end, it must do so
    /// within `grace`.
    pub(super) async fn wait(&mut self, grace: Duration) -> io::Result<Ended> {
        loop {
            let received = tokio::select! {
                status = self.child.wait() => return status.map(Ended::of),
                received = self.signals.next() => received,
            };
            self.send_signal(received);
            if received != Signal::INT {
                if let Ok(status) = timeout(grace, self.child.wait()).await {
                    return status.map(Ended::of);
                }
                self.send_signal(Signal::KILL);
            }
        }
    }

    /// Its client is gone and its input closed: waits for it to exit, then asks it to, then kills
    /// it.
    pub(super) async fn end(&mut self, grace: Duration) -> io::Result<Ended> {
        for received in [Signal::TERM, Signal::KILL] {
            if let Ok(ended) = timeout(grace, self.wait(grace)).await {
                return ended;
            }
            self.send_signal(received);
        }
        self.wait(grace).await
    }

    fn send_signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may just have ended.
            kill_process_group(group, signal).ok();
        }
    }
}

impl Drop for RunningServer {
    /// Ends everything that it has started.
    fn drop(&mut self) {
        self.send_signal(Signal::KILL);
    }
}

impl ReceivedSignals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hangup.recv() => Signal::HUP,
        }
    }
}
