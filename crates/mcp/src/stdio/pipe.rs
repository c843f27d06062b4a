//! Writes to one peer, in its own task and within a limit.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Lines that wait to be written to a peer.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// `None` once it is closed.
    queue: Mutex<Option<mpsc::UnboundedSender<Vec<u8>>>>,
    /// How many bytes wait.
    waiting: Arc<watch::Sender<usize>>,
    /// With more, the sender waits.
    capacity: usize,
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
        let (queue, mut lines) = mpsc::unbounded_channel::<Vec<u8>>();
        let waiting = Arc::new(watch::Sender::new(0));
        let written = UnwrittenBytes(Arc::clone(&waiting));
        let writing = tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if let Err(error) = writer.write_all(&line).await {
                    tracing::debug!(%error, "a peer has stopped reading");
                    return;
                }
                writer.flush().await.ok();
                written.less(line.len());
            }
        });
        let capacity = max_message.saturating_add(MAX_UNAWAITED);
        (Self { queue: Mutex::new(Some(queue)), waiting, capacity }, writing)
    }

    /// Queues a line at once, behind those before it. Who queues lines then waits for
    /// [`room`](Self::room), before it takes in more.
    pub(crate) fn put(&self, line: Vec<u8>) {
        let size = line.len();
        self.waiting.send_modify(|waiting| *waiting = waiting.saturating_add(size));
        let queued = self.queue.lock().as_ref().is_some_and(|queue| queue.send(line).is_ok());
        // Otherwise it is closed, or the peer is gone.
        if !queued {
            self.waiting.send_modify(|waiting| *waiting = waiting.saturating_sub(size));
        }
    }

    /// Waits until no more bytes wait than the limit. A line that is longer than that has to be
    /// written first.
    pub(crate) async fn room(&self) {
        let mut waiting = self.waiting.subscribe();
        waiting.wait_for(|waiting| *waiting <= self.capacity).await.ok();
    }

    /// Queues a line without waiting. If a peer keeps sending requests without reading the answers,
    /// further answers are dropped.
    pub(crate) fn put_or_drop(&self, line: Vec<u8>) {
        let waiting = *self.waiting.borrow();
        if waiting.saturating_add(line.len()) > self.capacity {
            tracing::warn!("a peer is not reading; a message to it was dropped");
            return;
        }
        self.put(line);
    }

    /// Closes the pipe: what is queued is written, and then the peer sees the end.
    pub(crate) fn close(&self) {
        self.queue.lock().take();
    }
}

/// Counts what is written. Once the writer has ended, nothing waits any more.
struct UnwrittenBytes(Arc<watch::Sender<usize>>);

impl UnwrittenBytes {
    fn less(&self, bytes: usize) {
        self.0.send_modify(|waiting| *waiting = waiting.saturating_sub(bytes));
    }
}

impl Drop for UnwrittenBytes {
    fn drop(&mut self) {
        self.0.send_replace(0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_longer_than_the_limit_is_written() {
        let (reader, writer) = tokio::io::duplex(1 << 16);
        let (pipe, _writing) = Pipe::start(writer, 1);
        let long = MAX_UNAWAITED + 100;
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            reader.take(long as u64).read_to_end(&mut read).await.unwrap();
            read.len()
        });
        let sent = async {
            pipe.put(vec![b'x'; long]);
            pipe.room().await;
        };
        tokio::time::timeout(Duration::from_secs(10), sent).await.expect("it waits for ever");
        assert_eq!(reading.await.unwrap(), long);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_peer_that_is_gone() {
        let (reader, writer) = tokio::io::duplex(16);
        let (pipe, writing) = Pipe::start(writer, 1);
        pipe.put(vec![b'x'; 2 * MAX_UNAWAITED]);
        pipe.put_or_drop(b"dropped".to_vec());
        drop(reader);
        tokio::time::timeout(Duration::from_secs(10), pipe.room())
            .await
            .expect("it waits for ever");
        writing.await.unwrap();
        pipe.put(vec![b'x'; 2 * MAX_UNAWAITED]);
        tokio::time::timeout(Duration::from_secs(10), pipe.room())
            .await
            .expect("it waits for ever");
    }
}
