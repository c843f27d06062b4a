//! One direction of writing, in a task of its own and within a bound.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

/// Lines on their way to one peer.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// `None` once it is closed.
    queue: Mutex<Option<mpsc::UnboundedSender<Queued>>>,
    /// Bytes that may be queued.
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct Queued {
    line: Vec<u8>,
    /// Its room, given back when it is written.
    _room: Option<OwnedSemaphorePermit>,
}

/// What is said aside is short; more than this is a peer that only asks and never reads.
const ASIDE: usize = 4 << 20;

impl Pipe {
    /// A pipe with room for one message of the largest size, and some beside it.
    pub(crate) fn start(
        mut writer: impl AsyncWrite + Unpin + Send + 'static,
        max_message: usize,
    ) -> (Self, JoinHandle<()>) {
        let (queue, mut lines) = mpsc::unbounded_channel::<Queued>();
        let writing = tokio::spawn(async move {
            while let Some(queued) = lines.recv().await {
                if let Err(error) = writer.write_all(&queued.line).await {
                    tracing::debug!(%error, "a peer does not read any more");
                    return;
                }
                writer.flush().await.ok();
            }
        });
        let room = (max_message + ASIDE).min(Semaphore::MAX_PERMITS >> 1);
        let room = Arc::new(Semaphore::new(room.min(u32::MAX as usize)));
        (Self { queue: Mutex::new(Some(queue)), room }, writing)
    }

    /// Queues a line, once there is room for it.
    pub(crate) async fn send(&self, line: Vec<u8>) {
        let size = u32::try_from(line.len()).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(size).await.ok();
        self.put(Queued { line, _room: room });
    }

    /// Queues a line without waiting. A peer that reads nothing while it makes us answer gets no
    /// more answers.
    pub(crate) fn send_aside(&self, line: Vec<u8>) {
        let size = u32::try_from(line.len()).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).try_acquire_many_owned(size) {
            Ok(room) => self.put(Queued { line, _room: Some(room) }),
            Err(_) => tracing::warn!("a peer is not reading; a message to it was dropped"),
        }
    }

    fn put(&self, queued: Queued) {
        if let Some(queue) = &*self.queue.lock() {
            // The writer is gone when the peer is.
            queue.send(queued).ok();
        }
    }

    /// Nothing more follows: what is queued is written, and the peer sees the end.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
    }
}
