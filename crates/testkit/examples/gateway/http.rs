//! Just enough of HTTP/1.1 for two ends that trust each other: by hand, so that what is measured is
//! the proxy between them.

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One read takes this much: many frames in a burst.
const READ: usize = 64 * 1024;

/// Longer heads and lines are refused.
const HEAD: usize = 16 * 1024;

/// A connection, and what was read ahead.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: TcpStream,
    buffer: BytesMut,
}

/// What a head says about itself and the body.
#[derive(Debug)]
pub(crate) struct Head {
    /// The request or status line.
    pub(crate) first: String,
    body: Body,
}

#[derive(Debug, Clone, Copy)]
enum Body {
    Length(usize),
    Chunked,
}

impl Wire {
    pub(crate) fn new(socket: TcpStream) -> Result<Self> {
        socket.set_nodelay(true)?;
        Ok(Self { socket, buffer: BytesMut::new() })
    }

    pub(crate) async fn connect(address: std::net::SocketAddr) -> Result<Self> {
        Self::new(TcpStream::connect(address).await.context("cannot connect")?)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.socket.write_all(bytes).await?)
    }

    /// Reads more; false at the end.
    async fn fill(&mut self) -> Result<bool> {
        self.buffer.reserve(READ);
        Ok(self.socket.read_buf(&mut self.buffer).await? > 0)
    }

    /// Waits until the other end closes. Gives the memory back first: many of these wait at once.
    pub(crate) async fn closed(&mut self) {
        self.buffer = BytesMut::new();
        let mut byte = [0; 1];
        let _ = self.socket.read(&mut byte).await;
    }

    /// The next head; `None` if the other end closed in front of it.
    pub(crate) async fn head(&mut self) -> Result<Option<Head>> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = self.buffer.split_to(end + 4);
                return Head::read(&String::from_utf8_lossy(&head)).map(Some);
            }
            ensure!(self.buffer.len() < HEAD, "a head that does not end");
            if !self.fill().await? {
                ensure!(self.buffer.is_empty(), "the connection ended within a head");
                return Ok(None);
            }
        }
    }

    /// Hands a body out as it comes, without its framing. After each read, `each` is given the
    /// pieces; it stops the reading with false.
    pub(crate) async fn body(
        &mut self,
        head: &Head,
        mut each: impl FnMut(&[u8]) -> Result<Flow>,
    ) -> Result<()> {
        let mut reader = match head.body {
            Body::Length(left) => Chunks::Data { left, last: true },
            Body::Chunked => Chunks::Size,
        };
        loop {
            if let Flow::Stop = reader.feed(&mut self.buffer, &mut each)? {
                return Ok(());
            }
            ensure!(self.fill().await?, "the connection ended within a body");
        }
    }
}

/// Whether to continue.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flow {
    Continue,
    Stop,
}

impl Head {
    fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        let mut body = Body::Length(0);
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                body = Body::Length(value.trim().parse().context("content-length")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                body = Body::Chunked;
            }
        }
        Ok(Self { first, body })
    }

    /// An error unless this is the head of an answer that went well.
    pub(crate) fn expect_ok(&self) -> Result<()> {
        let status = self.first.split(' ').nth(1);
        ensure!(status == Some("200"), "answered with `{}`", self.first);
        Ok(())
    }
}

/// Where a reader of a body is.
#[derive(Debug)]
enum Chunks {
    Size,
    Data { left: usize, last: bool },
    DataEnd,
    Trailer,
}

impl Chunks {
    /// Takes what there is; `Stop` at the end of the body.
    fn feed(
        &mut self,
        buffer: &mut BytesMut,
        each: &mut impl FnMut(&[u8]) -> Result<Flow>,
    ) -> Result<Flow> {
        loop {
            match self {
                Self::Data { left: 0, last: true } => return Ok(Flow::Stop),
                Self::Data { left: 0, last: false } => *self = Self::DataEnd,
                Self::Data { left, .. } => {
                    let taken = (*left).min(buffer.len());
                    if taken == 0 {
                        return Ok(Flow::Continue);
                    }
                    let flow = each(buffer.get(..taken).unwrap_or_default())?;
                    buffer.advance(taken);
                    *left -= taken;
                    if let Flow::Stop = flow {
                        return Ok(flow);
                    }
                }
                Self::Size | Self::DataEnd | Self::Trailer => {
                    let Some(end) = find(buffer, b"\r\n") else {
                        ensure!(buffer.len() < HEAD, "a line that does not end");
                        return Ok(Flow::Continue);
                    };
                    let line = buffer.get(..end).unwrap_or_default();
                    let next = self.line(line)?;
                    buffer.advance(end + 2);
                    match next {
                        Some(next) => *self = next,
                        None => return Ok(Flow::Stop),
                    }
                }
            }
        }
    }

    /// What follows a line; `None` at the end of the body.
    fn line(&self, line: &[u8]) -> Result<Option<Self>> {
        Ok(match self {
            Self::Size => {
                let size = std::str::from_utf8(line)?;
                let size = size.split(';').next().unwrap_or_default().trim();
                match usize::from_str_radix(size, 16).context("the size of a chunk")? {
                    0 => Some(Self::Trailer),
                    left => Some(Self::Data { left, last: false }),
                }
            }
            Self::DataEnd if line.is_empty() => Some(Self::Size),
            Self::DataEnd | Self::Data { .. } => bail!("a chunk is longer than it says"),
            Self::Trailer if line.is_empty() => None,
            Self::Trailer => Some(Self::Trailer),
        })
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
