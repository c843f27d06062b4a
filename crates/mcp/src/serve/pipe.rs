//! A server on our own standard input and output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use super::changes::Changed;
use super::connection::PipeSubscriptions;
use super::{Changes, MAX_MESSAGE, Reaction, ServerContent, Service, broken_reply, unfit_reply};
use crate::lines::{LineSplitter, SplitLine};
use crate::message::Unfit;
use crate::stdio::{Pipe, own_ends};

/// Serves one client on standard input and output, until it is gone.
pub async fn serve_pipe<H: ServerContent>(
    service: Arc<Service<H>>,
    changes: &Changes,
) -> io::Result<()> {
    let (mut input, output) = own_ends()?;
    let (to_client, writes) = Pipe::start(output, MAX_ANSWER);
    let mut change_listener = changes.listen();
    let (mut lines, mut connection) =
        (LineSplitter::new(MAX_MESSAGE), PipeSubscriptions::default());
    let mut buffer = vec![0; READ];
    loop {
        tokio::select! {
            read = input.read(&mut buffer) => {
                let count = read?;
                if count == 0 {
                    break;
                }
                lines.push(buffer.get(..count).unwrap_or(&[]));
                while let Some(line) = lines.next_line() {
                    let reply = reply(&service, line).await;
                    send(&to_client, connection.take(reply)).await;
                }
            }
            changed = change_listener.next() => {
                let uris = match changed {
                    Changed::These(uris) => uris,
                    Changed::Anything => service.all_uris(),
                    Changed::End => break,
                };
                for message in connection.changed(&uris) {
                    send(&to_client, Some(message)).await;
                }
            }
        }
    }
    if let Some(line) = lines.finish() {
        let reply = reply(&service, line).await;
        send(&to_client, connection.take(reply)).await;
    }
    for last in connection.ended() {
        send(&to_client, Some(last)).await;
    }
    to_client.close();
    // A client that no longer reads is not waited for.
    tokio::time::timeout(FINAL_ANSWERS, writes).await.ok();
    Ok(())
}

/// Runs on a blocking thread, because reading a store waits for its disk.
async fn reply<H: ServerContent>(service: &Arc<Service<H>>, line: SplitLine) -> Reaction {
    let line = match line {
        SplitLine::Whole(line) => line,
        SplitLine::TooLarge(head) => return unfit_reply(&Unfit::too_large(&head, MAX_MESSAGE)),
    };
    let (line, service) = (Arc::new(line), Arc::clone(service));
    let of_line = Arc::clone(&line);
    let replied = tokio::task::spawn_blocking(move || service.line(&of_line)).await;
    replied.unwrap_or_else(|error| {
        tracing::error!(%error, "a message could not be answered");
        broken_reply(&line)
    })
}

async fn send(to_client: &Pipe, text: Option<String>) {
    if let Some(mut text) = text {
        text.push('\n');
        to_client.put(text.into_bytes());
        to_client.room().await;
    }
}

/// The maximum size of an answer: the largest text with every character escaped, and its envelope.
const MAX_ANSWER: usize = 32 << 20;

/// The capacity of a pipe.
const READ: usize = 64 * 1024;

/// How long the client may take to read the last answers.
const FINAL_ANSWERS: Duration = Duration::from_secs(2);
