//! Writes to one peer, in its own task and within a limit.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

/// Lines that wait to be written to a peer.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// `None` once it is closed.
    queue: Mutex<Option<mpsc::UnboundedSender<QueuedLine>>>,
    /// Limits the number of queued bytes.
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct QueuedLine {
    line: Vec<u8>,
    /// Its share of the limit, released once it is written.
    _room: Option<OwnedSemaphorePermit>,
}

/// Messages sent without waiting are short. More than this is a peer that only sends and never
/// reads.
const MAX_UNAWAITED: usize = 4 << 20;

impl Pipe {
    /// A pipe with room for one message of the maximum size, and some more.
    pub(crate) fn start(
        mut writer: impl AsyncWrite + Unpin + Send + 'static,
        max_message: usize,
    ) -> (Self, JoinHandle<()>) {
        let (queue, mut lines) = mpsc::unbounded_channel::<QueuedLine>();
        let writing = tokio::spawn(async move {
            while let Some(queued) = lines.recv().await {
                if let Err(error) = writer.write_all(&queued.line).await {
                    tracing::debug!(%error, "a peer has stopped reading");
                    return;
                }
                writer.flush().await.ok();
            }
        });
        let room = (max_message + MAX_UNAWAITED).min(Semaphore::MAX_PERMITS >> 1);
        let room = Arc::new(Semaphore::new(room.min(u32::MAX as usize)));
        (Self { queue: Mutex::new(Some(queue)), room }, writing)
    }

    /// Queues a line, once there is room for it.
    pub(crate) async fn send(&self, line: Vec<u8>) {
        let size = u32::try_from(line.len()).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await.ok();
        self.put(QueuedLine { line, _room: room });
    }

    /// Queues a line without waiting. A peer that reads nothing while it makes us answer gets no
    /// more answers.
    pub(crate) fn send_without_waiting(&self, line: Vec<u8>) {
        let size = u32::try_from(line.len()).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).try_acquire_many_owned(size) {
            Ok(room) => self.put(QueuedLine { line, _room: Some(room) }),
            Err(_) => tracing::warn!("a peer is not reading; a message to it was dropped"),
        }
    }

    fn put(&self, queued: QueuedLine) {
        if let Some(queue) = &*self.queue.lock() {
            // The writer ends when the peer is gone.
            queue.send(queued).ok();
        }
    }

    /// Closes the pipe: what is queued is written, and then the peer sees the end.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
    }
}
