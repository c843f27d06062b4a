//! What is answered: a head, and steps that are played one after the other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::coding::BodyCoding;

/// How the peer can tell where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// By `content-length`.
    Length,
    /// By chunks; every step that sends is one or more of them.
    Chunked,
    /// By the end of the connection.
    Close,
    /// There is no head: the steps send all there is.
    Raw,
}

/// One step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStep {
    /// Sends these bytes in one piece.
    Send(Vec<u8>),
    /// Sends them one at a time.
    Dribble(Vec<u8>),
    /// Sends these bytes this many times, with a pause after each.
    Repeat(Vec<u8>, usize, Duration),
    /// Waits.
    Pause(Duration),
    /// Waits until it is released.
    Stall,
    /// Sends what it is fed, as it comes, until all scripts are released.
    Feed(AnswerFeed),
    /// Ends the connection without ending the body.
    Cut,
    /// Ends the connection with a reset.
    Reset,
}

/// Pieces that an answer sends while it is under way: what a stream says when something else
/// happens.
#[derive(Debug, Clone, Default)]
pub struct AnswerFeed(Arc<Mutex<VecDeque<Vec<u8>>>>);

impl AnswerFeed {
    /// Sends this next.
    pub fn say(&self, piece: impl Into<Vec<u8>>) {
        self.0.lock().unwrap().push_back(piece.into());
    }

    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap().pop_front()
    }
}

/// Only itself is the same.
impl PartialEq for AnswerFeed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AnswerFeed {}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) framing: BodyEnd,
    pub(crate) steps: Vec<AnswerStep>,
}

impl Answer {
    /// An answer without a body, so far.
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), framing: BodyEnd::Length, steps: Vec::new() }
    }

    /// A JSON document.
    pub fn json(status: u16, document: impl Into<Vec<u8>>) -> Self {
        Self::new(status).header("content-type", "application/json").send(document)
    }

    /// An event stream, in chunks.
    pub fn stream(body: impl Into<Vec<u8>>) -> Self {
        let stream = Self::new(200).header("content-type", "text/event-stream; charset=utf-8");
        stream.framed(BodyEnd::Chunked).send(body)
    }

    /// Exactly these bytes, head and all; then the connection ends.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(200).framed(BodyEnd::Raw).send(bytes)
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another framing.
    pub fn framed(mut self, framing: BodyEnd) -> Self {
        self.framing = framing;
        self
    }

    /// With one more step.
    pub fn step(mut self, step: AnswerStep) -> Self {
        self.steps.push(step);
        self
    }

    /// With more bytes. None is no step: an empty chunk would end the body.
    pub fn send(self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        if bytes.is_empty() { self } else { self.step(AnswerStep::Send(bytes)) }
    }

    /// With a pause.
    pub fn pause(self, milliseconds: u64) -> Self {
        self.step(AnswerStep::Pause(Duration::from_millis(milliseconds)))
    }

    /// The same, byte by byte.
    pub fn dribbled(mut self) -> Self {
        for step in &mut self.steps {
            if let AnswerStep::Send(bytes) = step {
                *step = AnswerStep::Dribble(std::mem::take(bytes));
            }
        }
        self
    }

    /// The same body in these codings, the first one innermost. The body becomes one piece.
    pub fn encoded(self, codings: &[BodyCoding]) -> Self {
        let names: Vec<&str> = codings.iter().map(|coding| coding.name()).collect();
        let encode =
            |body: &[u8]| codings.iter().fold(body.to_vec(), |body, coding| coding.encode(&body));
        self.map_body(encode).header("content-encoding", &names.join(", "))
    }

    /// The same with another body, in one piece.
    pub fn map_body(mut self, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Self {
        let body = change(&self.body());
        self.steps.clear();
        self.send(body)
    }

    /// All bytes of the body.
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for step in &self.steps {
            match step {
                AnswerStep::Send(bytes) | AnswerStep::Dribble(bytes) => body.extend(bytes),
                AnswerStep::Repeat(bytes, times, _) => {
                    (0..*times).for_each(|_| body.extend(bytes));
                }
                AnswerStep::Pause(_)
                | AnswerStep::Stall
                | AnswerStep::Feed(_)
                | AnswerStep::Cut
                | AnswerStep::Reset => {}
            }
        }
        body
    }

    fn is_cut_off(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, AnswerStep::Cut | AnswerStep::Reset))
    }

    /// The head as sent.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match self.framing {
            BodyEnd::Raw => return Vec::new(),
            // These never have a body, and so no length.
            BodyEnd::Length if matches!(self.status, 100..=199 | 204 | 304) => {}
            BodyEnd::Length if self.headers.iter().any(|(name, _)| name == "content-length") => {}
            BodyEnd::Length => {
                // An answer that is cut off announces more than it sends. Otherwise it would be
                // whole, and its connection fit for the next request until it closes.
                let length = self.body().len() + usize::from(self.is_cut_off());
                head.push_str(&format!("content-length: {length}\r\n"));
            }
            BodyEnd::Chunked => head.push_str("transfer-encoding: chunked\r\n"),
            BodyEnd::Close => head.push_str("connection: close\r\n"),
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}
