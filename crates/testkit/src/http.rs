//! A client that sends exactly what the test asks for: HTTP/1.1 over plain TCP.
//!
//! It sends what a test wrote, byte for byte, and gives back what came, with the framing taken off
//! and nothing else. It follows nothing, decodes nothing and retries nothing.

use std::io::{BufReader, Error, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::upstream::request::{bad, line, read_chunk};

/// Longer than any answer may take: a test that hangs must end by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// A larger head than any answer has.
const HEAD: usize = 256 << 10;

/// A request to send.
#[derive(Debug, Clone)]
pub struct Ask {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    /// A request without a body.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A request with a JSON body.
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let ask = Self::new("POST", path).header("content-type", "application/json");
        Self { body: body.into(), ..ask }
    }

    /// A request of any method.
    pub fn new(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, headers: Vec::new(), body: Vec::new() }
    }

    /// With one more header. `host` replaces the usual one.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this body, of any type.
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// The request as bytes.
    pub fn to_bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.has("host") {
            text.push_str(&format!("host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let is_framed = self.has("content-length") || self.has("transfer-encoding");
        let has_body = !self.body.is_empty() || self.method != "GET";
        if has_body && !is_framed {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend(&self.body);
        bytes
    }

    /// Sends it on a connection of its own and reads the whole answer.
    #[track_caller]
    pub fn send(&self, address: SocketAddr) -> Reply {
        let exchange = Exchange::open(address, self);
        exchange.and_then(Exchange::finish).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }
}

/// An answer, whole.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// Whether the body came to the end its framing promised.
    pub is_whole: bool,
}

impl Reply {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name)?;
        Some(header.1.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A request that was sent, and its answer as it comes.
#[derive(Debug)]
pub struct Exchange {
    reader: BufReader<TcpStream>,
    reply: Reply,
    body: Body,
}

/// What is still to come of a body.
#[derive(Debug, Clone, Copy)]
enum Body {
    Length(usize),
    Chunked,
    UntilClosed,
    Done,
}

impl Exchange {
    /// Sends a request and reads the head of the answer.
    pub fn open(address: SocketAddr, ask: &Ask) -> Result<Self, Error> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.write_all(&ask.to_bytes(address))?;
        Self::on(stream, &ask.method)
    }

    /// Reads the head of the answer to what was already sent on a connection.
    pub fn on(stream: TcpStream, method: &str) -> Result<Self, Error> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream);
        let (status, headers) = loop {
            let (status, headers) = head(&mut reader)?;
            // An interim response is not the answer.
            if !(100..200).contains(&status) {
                break (status, headers);
            }
        };
        let reply = Reply { status, headers, body: Vec::new(), is_whole: false };
        let body = framing(&reply, method)?;
        Ok(Self { reader, reply, body })
    }

    /// The head, with what came of the body so far.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// Reads on until the body so far holds this text. False if it ended before.
    pub fn read_until(&mut self, text: &str) -> bool {
        let holds = |body: &[u8]| String::from_utf8_lossy(body).contains(text);
        while !holds(&self.reply.body) {
            if !self.more() {
                return false;
            }
        }
        true
    }

    /// Hands over what came of the body so far, and forgets it: for bodies larger than memory.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.reply.body)
    }

    /// Reads the rest.
    pub fn finish(mut self) -> Result<Reply, Error> {
        while self.more() {}
        Ok(self.reply)
    }

    /// Takes no more from here on.
    pub fn leave(self) {
        self.reader.get_ref().shutdown(Shutdown::Both).ok();
    }

    /// Reads a piece. False at the end, whether it was the one that was meant or not.
    pub fn more(&mut self) -> bool {
        let piece = match self.body {
            Body::Done => return false,
            Body::Chunked => read_chunk(&mut self.reader),
            Body::Length(left) => self.some(left).map(Some),
            Body::UntilClosed => {
                self.some(64 << 10).map(|piece| Some(piece).filter(|piece| !piece.is_empty()))
            }
        };
        match (piece, self.body) {
            (Ok(None), _) => self.ended(true),
            (Err(_), _) => self.ended(false),
            (Ok(Some(piece)), Body::Length(_)) if piece.is_empty() => self.ended(false),
            (Ok(Some(piece)), Body::Length(left)) => {
                let left = left - piece.len();
                self.reply.body.extend(piece);
                self.body = Body::Length(left);
                left > 0 || self.ended(true)
            }
            (Ok(Some(piece)), _) => {
                self.reply.body.extend(piece);
                true
            }
        }
    }

    fn ended(&mut self, is_whole: bool) -> bool {
        self.reply.is_whole = is_whole;
        self.body = Body::Done;
        false
    }

    fn some(&mut self, at_most: usize) -> Result<Vec<u8>, Error> {
        let mut piece = vec![0; at_most.min(64 << 10)];
        let read = self.reader.read(&mut piece)?;
        piece.truncate(read);
        Ok(piece)
    }
}

type Head = (u16, Vec<(String, String)>);

fn head(reader: &mut BufReader<TcpStream>) -> Result<Head, Error> {
    let mut left = HEAD;
    let first = line(reader, &mut left)?.ok_or_else(|| bad("no answer"))?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| bad("no status"))?;
    let mut headers = Vec::new();
    while let Some(line) = line(reader, &mut left)?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header without colon"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok((status, headers))
}

fn framing(reply: &Reply, method: &str) -> Result<Body, Error> {
    if method == "HEAD" || matches!(reply.status, 204 | 304) {
        return Ok(Body::Done);
    }
    if reply.header("transfer-encoding").is_some() {
        return Ok(Body::Chunked);
    }
    match reply.header("content-length") {
        None => Ok(Body::UntilClosed),
        Some("0") => Ok(Body::Done),
        Some(length) => length.parse().map(Body::Length).map_err(|_| bad("no length")),
    }
}
