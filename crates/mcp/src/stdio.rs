//! Runs a server behind pipes: starts it, exchanges lines, and ends it as its client would.

mod child;
mod environment;
mod pipe;
mod program;
mod standard_streams;

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use callgate_decide::mcp::{McpDecision, McpPending, McpSession};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::Notify;

pub use child::{Ended, ServerCommand};
pub use environment::environment;
pub use program::{Program, ProgramError};

use self::child::RunningServer;
pub(crate) use self::pipe::Pipe;
pub(crate) use self::standard_streams::own as own_ends;
use crate::lines::{LineSplitter, SplitLine};
use crate::session::{CallToJudge, OutgoingLine, RpcSession, SessionStep};

/// The limits and timeouts of a wrapped server.
#[derive(Debug, Clone)]
pub struct StdioSettings {
    /// The maximum size of a message.
    pub max_message: usize,
    /// How long a server may take to list its tools before a call.
    pub list_timeout: Duration,
    /// How long a server may take to exit by itself after its client is gone, and again after it
    /// was asked to exit.
    pub grace: Duration,
}

impl Default for StdioSettings {
    fn default() -> Self {
        Self {
            max_message: 64 << 20,
            list_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(5),
        }
    }
}

/// Why a server cannot be wrapped.
#[derive(Debug, thiserror::Error)]
pub enum WrapError {
    /// It cannot be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Our own standard input or output is unusable.
    #[error("cannot use standard input or output: {0}")]
    Ends(io::Error),
    /// Waiting for the server failed.
    #[error("cannot wait for the server: {0}")]
    Wait(io::Error),
}

/// Runs a server behind our own standard input and output until it ends.
pub async fn wrap(
    mcp_session: McpSession,
    command: ServerCommand,
    settings: StdioSettings,
) -> Result<Ended, WrapError> {
    let (input, output) = standard_streams::own().map_err(WrapError::Ends)?;
    let grace = settings.grace;
    // While the server reads nothing, the client is not read either, so the end of its output would
    // go unnoticed. The grace period leaves time to read what the client sent before it left.
    let client_leaves = async {
        standard_streams::client_gone().await;
        tokio::time::sleep(grace).await;
    };
    let mut running = RunningServer::start(&command)?;
    let (stdin, stdout) = running.take_pipes().map_err(WrapError::Ends)?;
    let (to_server, server_writes) = Pipe::start(stdin, settings.max_message);
    let (to_client, client_writes) = Pipe::start(output, settings.max_message);
    let state = Arc::new(WrapState {
        session: Mutex::new(RpcSession::new(mcp_session.clone())),
        mcp_session,
        settings,
        to_server,
        to_client,
        call_decided: Notify::new(),
    });
    let mut server_task = tokio::spawn(pump(Arc::clone(&state), stdout, Peer::Server));
    // In its own task, so that its reads do not wake everything that is awaited below.
    let mut client_task = tokio::spawn(pump(Arc::clone(&state), input, Peer::Client));
    let ended = tokio::select! {
        ended = running.wait(grace) => ended,
        _ = &mut client_task => {
            state.wait_until_decided(grace).await;
            state.to_server.close();
            running.end(grace).await
        }
        () = client_leaves => {
            state.to_server.close();
            running.end(grace).await
        }
        // A server that has closed its output is of no use.
        _ = &mut server_task => {
            state.to_server.close();
            running.end(grace).await
        }
    };
    client_task.abort();
    let ended = ended.map_err(WrapError::Wait)?;
    // Its last output is still on its way. A program that it started may keep the pipe open.
    let final_output = async {
        if !server_task.is_finished() {
            server_task.await.ok();
        }
        state.to_client.close();
        client_writes.await.ok();
    };
    tokio::time::timeout(FINAL_OUTPUT, final_output).await.ok();
    server_writes.abort();
    Ok(ended)
}

/// How long the last output of a server may take to arrive.
const FINAL_OUTPUT: Duration = Duration::from_secs(2);

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Client,
    Server,
}

/// The task that sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The reader of this side.
    Reader(Peer),
    /// The task of one call.
    Task,
}

/// State that both directions share.
struct WrapState {
    session: Mutex<RpcSession>,
    mcp_session: McpSession,
    settings: StdioSettings,
    to_server: Pipe,
    to_client: Pipe,
    /// Notified when a call was decided.
    call_decided: Notify,
}

/// Reads one side to its end.
async fn pump(state: Arc<WrapState>, mut from: impl AsyncRead + Unpin, side: Peer) {
    let mut lines = LineSplitter::new(state.settings.max_message);
    let mut buffer = vec![0; READ];
    loop {
        let count = match from.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => {
                tracing::debug!(%error, ?side, "a peer has disconnected");
                break;
            }
        };
        lines.push(buffer.get(..count).unwrap_or(&[]));
        while let Some(line) = lines.next_line() {
            state.line(line, side).await;
        }
    }
    if let Some(line) = lines.finish() {
        state.line(line, side).await;
    }
}

/// The capacity of a pipe.
const READ: usize = 64 * 1024;

impl WrapState {
    /// Handles a line of one side, then waits until the other side has read enough of what was sent
    /// before.
    async fn line(self: &Arc<Self>, line: SplitLine, side: Peer) {
        for question in self.take_line(line, side) {
            self.ask(question, side).await;
        }
        match side {
            Peer::Client => self.to_server.room().await,
            Peer::Server => self.to_client.room().await,
        }
    }

    /// Sends what a line leads to at once. Returns the calls to judge. The messages are queued while
    /// the session is locked: whichever task comes next, its messages come after them.
    fn take_line(self: &Arc<Self>, line: SplitLine, side: Peer) -> Vec<CallToJudge> {
        let limit = self.settings.max_message;
        let mut session = self.session.lock();
        let steps = match (side, line) {
            (Peer::Client, SplitLine::Whole(line)) => session.client_line(&line),
            (Peer::Client, SplitLine::TooLarge(head)) => {
                vec![session.client_too_large(&head, limit)]
            }
            (Peer::Server, SplitLine::Whole(line)) => session.server_line(&line),
            (Peer::Server, SplitLine::TooLarge(head)) => session.server_too_large(&head, limit),
        };
        let mut questions = Vec::new();
        for step in steps {
            match step {
                SessionStep::Send(message) => self.put(message, Sender::Reader(side)),
                SessionStep::Judge(question) => questions.push(*question),
                SessionStep::Listing(number) => {
                    tokio::spawn(Arc::clone(self).watch_listing(number));
                }
            }
        }
        questions
    }

    /// Queues a message. The reader of one side must never wait for that side to read, or both would
    /// wait forever: what it answers is dropped if nobody reads.
    fn put(&self, message: OutgoingLine, sender: Sender) {
        match (message, sender) {
            (OutgoingLine::ToClient(line), Sender::Reader(Peer::Client)) => {
                self.to_client.put_or_drop(line);
            }
            (OutgoingLine::ToServer(line), Sender::Reader(Peer::Server)) => {
                self.to_server.put_or_drop(line);
            }
            (OutgoingLine::ToClient(line), _) => self.to_client.put(line),
            (OutgoingLine::ToServer(line), _) => self.to_server.put(line),
        }
    }

    /// Some refusals are available at once. Every other verdict waits for its record in its own
    /// task, so that further messages are read. The same holds for a call that waited for the
    /// server's list, because the reader of the server's output must not wait for the server to
    /// read.
    async fn ask(self: &Arc<Self>, mut question: CallToJudge, side: Peer) {
        let mut pending = question.ask(&self.mcp_session, None);
        if side == Peer::Client
            && let Poll::Ready(decision) = poll_once(&mut pending).await
        {
            return self.decided(question, decision, Sender::Reader(side));
        }
        tokio::spawn(Arc::clone(self).judge(question, pending));
    }

    /// Runs in its own task. Nobody waits for it, so it need not drop an answer.
    async fn judge(self: Arc<Self>, question: CallToJudge, pending: McpPending) {
        let decision = pending.await;
        self.decided(question, decision, Sender::Task);
    }

    fn decided(&self, question: CallToJudge, decision: McpDecision, sender: Sender) {
        let mut session = self.session.lock();
        for message in session.decided(question, decision) {
            self.put(message, sender);
        }
        drop(session);
        self.call_decided.notify_waiters();
    }

    /// A server that does not list its tools must not delay calls forever.
    async fn watch_listing(self: Arc<Self>, number: u64) {
        tokio::time::sleep(self.settings.list_timeout).await;
        let questions = self.session.lock().listing_late(number);
        for question in questions {
            self.ask(question, Peer::Server).await;
        }
    }

    /// Waits until all calls are decided, so that they are forwarded before the server's input
    /// ends.
    async fn wait_until_decided(&self, at_most: Duration) {
        let all_decided = async {
            loop {
                let decided = self.call_decided.notified();
                if self.session.lock().is_all_decided() {
                    return;
                }
                decided.await;
            }
        };
        tokio::time::timeout(at_most, all_decided).await.ok();
    }
}

/// The decision, if it is available at once.
async fn poll_once(pending: &mut McpPending) -> Poll<McpDecision> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *pending).poll(context))).await
}

#[cfg(test)]
mod tests;
