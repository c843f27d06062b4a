//! Writes the log on a thread of its own. A terminal that is paused or a pipe that nobody reads then
//! costs log lines, and never holds a call.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

/// How many lines may wait to be written. Further lines are lost.
const LINES: usize = 8192;

/// How long the thread rests between two writes: lines of a busy moment are written together.
const REST: Duration = Duration::from_millis(1);

/// How long the end of the program waits for the last lines.
const PATIENCE: Duration = Duration::from_secs(1);

static QUEUE: OnceLock<LogQueue> = OnceLock::new();

enum LogMessage {
    Text(Vec<u8>),
    /// Answered once everything before it is written.
    Flush(SyncSender<()>),
}

/// The way to the thread that writes; without one, lines are written at once.
#[derive(Clone)]
pub(crate) struct LogQueue(Option<SyncSender<LogMessage>>);

/// The queue of this process.
pub(super) fn get() -> LogQueue {
    QUEUE.get_or_init(LogQueue::start).clone()
}

/// Waits until the lines so far are written.
pub(super) fn finish() {
    let Some(LogQueue(Some(sender))) = QUEUE.get() else { return };
    let (done, written) = sync_channel(1);
    if sender.try_send(LogMessage::Flush(done)).is_ok() {
        let _ = written.recv_timeout(PATIENCE);
    }
}

impl LogQueue {
    fn start() -> Self {
        let (sender, receiver) = sync_channel(LINES);
        let thread = thread::Builder::new().name("log".to_owned()).spawn(move || work(&receiver));
        Self(thread.is_ok().then_some(sender))
    }
}

impl Write for LogQueue {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match &self.0 {
            // A full queue means that nobody reads the log: the line is lost.
            Some(sender) => drop(sender.try_send(LogMessage::Text(text.to_vec()))),
            None => io::stderr().write_all(text)?,
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn work(messages: &Receiver<LogMessage>) {
    while let Ok(first) = messages.recv() {
        write_waiting(first, messages);
        thread::sleep(REST);
    }
}

/// Writes this message and all that wait after it. A closed stderr is no reason to stop.
fn write_waiting(first: LogMessage, messages: &Receiver<LogMessage>) {
    let mut text = Vec::new();
    let mut flushed = Vec::new();
    let mut next = Ok(first);
    loop {
        match next {
            Ok(LogMessage::Text(line)) => text.extend(line),
            Ok(LogMessage::Flush(done)) => flushed.push(done),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
        }
        next = messages.try_recv();
    }
    let _ = io::stderr().write_all(&text);
    for done in flushed {
        let _ = done.try_send(());
    }
}
