//! A client that sends one request and shows what it receives.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

const BODY: &str = r#"{"model":"scripted-model","max_tokens":1024,"stream":true,"messages":[{"role":"user","content":"Set up the project and tell the team."}]}"#;

/// The client's end of the connection.
pub(crate) struct Client {
    stream: TcpStream,
    seen: Vec<u8>,
    in_body: bool,
}

impl Client {
    /// Asks the gateway. HTTP/1.0, so that the answer comes without chunks around it.
    pub(crate) async fn ask(gateway: SocketAddr) -> Result<Self> {
        let mut stream =
            TcpStream::connect(gateway).await.context("cannot connect to the gateway")?;
        let head = format!(
            "POST /v1/messages HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             user-agent: callgate-demo/1\r\ncontent-length: {}\r\n\r\n{BODY}",
            BODY.len()
        );
        stream.write_all(head.as_bytes()).await?;
        Ok(Self { stream, seen: Vec::new(), in_body: false })
    }

    /// The data of every event that arrives within `pause`.
    pub(crate) async fn gets(&mut self, pause: Duration) -> Result<Vec<String>> {
        let until = Instant::now() + pause;
        while let Ok(read) = timeout_at(until, self.stream.read_buf(&mut self.seen)).await {
            if read? == 0 {
                break;
            }
        }
        self.events()
    }

    /// The data of every event up to the end.
    pub(crate) async fn rest(&mut self) -> Result<Vec<String>> {
        self.stream.read_to_end(&mut self.seen).await?;
        self.events()
    }

    /// Takes the whole events out of what was seen.
    fn events(&mut self) -> Result<Vec<String>> {
        if !self.in_body {
            let text = String::from_utf8_lossy(&self.seen);
            let Some((head, _)) = text.split_once("\r\n\r\n") else { return Ok(Vec::new()) };
            ensure!(head.contains(" 200 "), "the gateway answered: {head}");
            let length = head.len() + 4;
            self.seen.drain(..length);
            self.in_body = true;
        }
        let text = String::from_utf8_lossy(&self.seen).into_owned();
        let whole = text.rfind("\n\n").map_or(0, |end| end + 2);
        self.seen.drain(..whole);
        let lines = text.get(..whole).unwrap_or_default().lines();
        Ok(lines.filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect())
    }
}
