//! A server behind pipes: started, spoken to line by line, and ended as its client would end it.

mod child;
mod ends;
mod environment;
mod pipe;
mod program;

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

use self::child::Running;
pub(crate) use self::ends::own as own_ends;
pub(crate) use self::pipe::Pipe;
use crate::lines::{Line, Lines};
use crate::session::{Question, Session, Step};

/// The bounds and waits of a wrapped server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The largest message that is read.
    pub max_message: usize,
    /// How long a server may take to list its tools before a call.
    pub list_timeout: Duration,
    /// How long a server may take to end by itself once its client is gone, and again once it was
    /// asked to.
    pub grace: Duration,
}

impl Default for Settings {
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
        /// What the system says.
        source: io::Error,
    },
    /// Our own ends cannot be used.
    #[error("cannot use standard input or output: {0}")]
    Ends(io::Error),
    /// The server cannot be waited for.
    #[error("cannot wait for the server: {0}")]
    Wait(io::Error),
}

/// Runs a server behind our own standard input and output until it ends.
pub async fn wrap(
    desk: Arc<McpSession>,
    command: ServerCommand,
    settings: Settings,
) -> Result<Ended, WrapError> {
    let (input, output) = ends::own().map_err(WrapError::Ends)?;
    let grace = settings.grace;
    // The client is gone while the server reads nothing, so that nobody sees the end of what it said.
    // What it said before is read meanwhile.
    let client_leaves = async {
        ends::left().await;
        tokio::time::sleep(grace).await;
    };
    let mut running = Running::start(&command)?;
    let (stdin, stdout) = running.take_pipes().map_err(WrapError::Ends)?;
    let (to_server, server_writes) = Pipe::start(stdin, settings.max_message);
    let (to_client, client_writes) = Pipe::start(output, settings.max_message);
    let shared = Arc::new(Shared {
        session: Mutex::new(Session::new(Arc::clone(&desk))),
        desk,
        settings,
        to_server,
        to_client,
        settled: Notify::new(),
    });
    let mut server_speaks = tokio::spawn(pump(Arc::clone(&shared), stdout, Side::Server));
    // A task of its own: what it reads need not wake all that is waited for below.
    let mut client_speaks = tokio::spawn(pump(Arc::clone(&shared), input, Side::Client));
    let ended = tokio::select! {
        ended = running.wait(grace) => ended,
        _ = &mut client_speaks => {
            shared.settle(grace).await;
            shared.to_server.close();
            running.end(grace).await
        }
        () = client_leaves => {
            shared.to_server.close();
            running.end(grace).await
        }
        // A server that says nothing more is of no use.
        _ = &mut server_speaks => {
            shared.to_server.close();
            running.end(grace).await
        }
    };
    client_speaks.abort();
    let ended = ended.map_err(WrapError::Wait)?;
    // What it said last is still on its way. Somebody it started may keep the pipe open.
    let last_words = async {
        if !server_speaks.is_finished() {
            server_speaks.await.ok();
        }
        shared.to_client.close();
        client_writes.await.ok();
    };
    tokio::time::timeout(LAST_WORDS, last_words).await.ok();
    server_writes.abort();
    Ok(ended)
}

/// How long what a server said last may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// What both directions work on.
struct Shared {
    session: Mutex<Session>,
    desk: Arc<McpSession>,
    settings: Settings,
    to_server: Pipe,
    to_client: Pipe,
    /// A call was decided.
    settled: Notify,
}

/// Reads one side to its end.
async fn pump(shared: Arc<Shared>, mut from: impl AsyncRead + Unpin, side: Side) {
    let mut lines = Lines::new(shared.settings.max_message);
    let mut buffer = vec![0; READ];
    loop {
        let count = match from.read(&mut buffer).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => {
                tracing::debug!(%error, ?side, "a side is gone");
                break;
            }
        };
        lines.push(buffer.get(..count).unwrap_or(&[]));
        while let Some(line) = lines.next_line() {
            shared.line(line, side).await;
        }
    }
    if let Some(line) = lines.finish() {
        shared.line(line, side).await;
    }
}

/// As much as a pipe holds.
const READ: usize = 64 * 1024;

impl Shared {
    async fn line(self: &Arc<Self>, line: Line, side: Side) {
        let limit = self.settings.max_message;
        let steps = {
            let mut session = self.session.lock();
            match (side, line) {
                (Side::Client, Line::Whole(line)) => session.client_line(&line),
                (Side::Client, Line::TooLarge(head)) => {
                    vec![session.client_too_large(&head, limit)]
                }
                (Side::Server, Line::Whole(line)) => session.server_line(&line),
                (Side::Server, Line::TooLarge(head)) => session.server_too_large(&head, limit),
            }
        };
        self.take(steps, side).await;
    }

    async fn take(self: &Arc<Self>, steps: Vec<Step>, side: Side) {
        for step in steps {
            match step {
                Step::Judge(question) => self.ask(*question, side).await,
                Step::Listing(number) => {
                    tokio::spawn(Arc::clone(self).watch_listing(number));
                }
                said => self.send(said, side).await,
            }
        }
    }

    /// Sends what was said. Whoever reads one side must never wait for the other to be read, or both
    /// would wait for ever: only what goes on in the same direction may wait.
    async fn send(&self, step: Step, side: Side) {
        match step {
            Step::ToServer(line) if side == Side::Client => self.to_server.send(line).await,
            Step::ToServer(line) => self.to_server.send_aside(line),
            Step::ToClient(line) if side == Side::Server => self.to_client.send(line).await,
            Step::ToClient(line) => self.to_client.send_aside(line),
            Step::Judge(_) | Step::Listing(_) => {}
        }
    }

    /// Some refusals are there at once. Every other verdict waits for its record in a task of its own, so
    /// that what comes meanwhile is read; and for a call that waited for the server's list, since whoever
    /// reads the server must not wait for it to read.
    async fn ask(self: &Arc<Self>, mut question: Question, side: Side) {
        let mut pending = question.ask(&self.desk, None);
        if side == Side::Client
            && let Poll::Ready(decision) = poll_once(&mut pending).await
        {
            return self.decided(question, decision).await;
        }
        tokio::spawn(Arc::clone(self).judge(question, pending));
    }

    /// In a task of its own, so it may wait for the server to read.
    async fn judge(self: Arc<Self>, question: Question, pending: McpPending) {
        let decision = pending.await;
        self.decided(question, decision).await;
    }

    async fn decided(&self, question: Question, decision: McpDecision) {
        let steps = self.session.lock().decided(question, decision);
        for step in steps {
            self.send(step, Side::Client).await;
        }
        self.settled.notify_waiters();
    }

    /// A server that does not list its tools must not hold calls up for ever.
    async fn watch_listing(self: Arc<Self>, number: u64) {
        tokio::time::sleep(self.settings.list_timeout).await;
        let steps = self.session.lock().listing_late(number);
        for step in steps {
            if let Step::Judge(question) = step {
                self.ask(*question, Side::Server).await;
            }
        }
    }

    /// Waits until every call that has come is decided, so that it is handed on before the server's
    /// input ends.
    async fn settle(&self, at_most: Duration) {
        let settled = async {
            loop {
                let decided = self.settled.notified();
                if self.session.lock().is_settled() {
                    return;
                }
                decided.await;
            }
        };
        tokio::time::timeout(at_most, settled).await.ok();
    }
}

/// What is there already.
async fn poll_once(pending: &mut McpPending) -> Poll<McpDecision> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *pending).poll(context))).await
}
