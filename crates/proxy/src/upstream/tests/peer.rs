//! A provider that is scripted byte by byte.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{UpstreamTarget, target};

pub(super) struct Peer {
    listener: TcpListener,
}

pub(super) struct Caller {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Peer {
    pub(super) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(super) fn target(&self) -> UpstreamTarget {
        target(&format!("http://{}", self.listener.local_addr().unwrap()))
    }

    pub(super) async fn accept(&self) -> Caller {
        let (stream, _) = self.listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        Caller { stream, read: Vec::new() }
    }

    /// Whether another connection arrives within a moment.
    pub(super) async fn is_called(&self) -> bool {
        timeout(Duration::from_millis(50), self.listener.accept()).await.is_ok()
    }
}

impl Caller {
    /// One request: its head and, by its `content-length`, its body.
    pub(super) async fn request(&mut self) -> String {
        let head = self.read_through(b"\r\n\r\n").await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length {
            assert!(self.read_some().await > 0, "the request was cut off");
        }
        let body: Vec<u8> = self.read.drain(..length).collect();
        head + std::str::from_utf8(&body).unwrap()
    }

    pub(super) async fn read_through(&mut self, end: &[u8]) -> String {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                let bytes: Vec<u8> = self.read.drain(..at + end.len()).collect();
                return String::from_utf8(bytes).unwrap();
            }
            assert!(self.read_some().await > 0, "the request was cut off");
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(super) async fn chunk(&mut self, text: &str) {
        self.write(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await;
    }

    /// A request answered with these bytes.
    pub(super) async fn answer(&mut self, bytes: &[u8]) -> String {
        let request = self.request().await;
        self.write(bytes).await;
        request
    }

    /// Waits until the other side is gone, by a close or a reset.
    pub(super) async fn gone(&mut self) {
        let gone = async { while matches!(self.stream.read(&mut [0; 1024]).await, Ok(1..)) {} };
        timeout(Duration::from_secs(5), gone).await.expect("the connection is closed");
    }

    /// How much can be written until the other side stops reading.
    pub(super) async fn write_until_blocked(&mut self, piece: &[u8]) -> usize {
        let mut written = 0;
        while timeout(Duration::from_millis(300), self.stream.write_all(piece)).await.is_ok() {
            written += piece.len();
        }
        written
    }

    /// Closes with a reset: written bytes may be lost, and received ones are refused.
    pub(super) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    async fn read_some(&mut self) -> usize {
        self.stream.read_buf(&mut self.read).await.unwrap()
    }
}
