//! A response as frames of JSON, to be changed and written again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use callgate_dialect::Dialect;
use callgate_wire::{Framing, Style};

use super::tree::Tree;
use crate::shapes;

/// Whether a client asks for a stream or for one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestMode {
    /// A stream.
    Stream,
    /// One body.
    Whole,
}

impl RequestMode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Stream, Self::Whole];

    /// The word that the drivers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Whole => "whole",
        }
    }
}

/// A response.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) dialect: Dialect,
    pub(super) mode: RequestMode,
    /// The frames of a stream. A whole body is one frame.
    pub(super) frames: Vec<BodyFrame>,
}

/// One event, line or message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BodyFrame {
    /// The event's name, where the stream names its events.
    pub(super) name: Option<String>,
    pub(super) data: Data,
}

/// What a frame carries.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Json(Tree),
    /// Anything that is not JSON, as text.
    Raw(String),
}

impl BodyFrame {
    /// A frame of text, which is JSON or not.
    pub(super) fn new(name: Option<&str>, data: &str) -> Self {
        let json = Tree::parse(data).map(Data::Json);
        let data = json.unwrap_or_else(|| Data::Raw(data.to_owned()));
        Self { name: name.map(str::to_owned), data }
    }

    pub(super) fn json(&self) -> Option<&Tree> {
        match &self.data {
            Data::Json(tree) => Some(tree),
            Data::Raw(_) => None,
        }
    }

    pub(super) fn json_mut(&mut self) -> Option<&mut Tree> {
        match &mut self.data {
            Data::Json(tree) => Some(tree),
            Data::Raw(_) => None,
        }
    }

    pub(super) fn text(&self) -> String {
        match &self.data {
            Data::Json(tree) => tree.to_string(),
            Data::Raw(text) => text.clone(),
        }
    }
}

impl Body {
    /// Takes bytes apart. `None` if they are not framed as the clients ask for it.
    pub(super) fn parse(dialect: Dialect, mode: RequestMode, bytes: &[u8]) -> Option<Self> {
        let framing = shapes::framing(dialect, bytes)?;
        let frames = match mode {
            RequestMode::Whole => vec![BodyFrame::new(None, std::str::from_utf8(bytes).ok()?)],
            RequestMode::Stream if framing == framing_of(dialect) => {
                let mut frames = Vec::new();
                shapes::each_frame(framing, bytes, |frame| {
                    if let Some(data) = frame.data() {
                        let name = frame.event().map(String::from_utf8_lossy);
                        let data = String::from_utf8_lossy(data);
                        frames.push(BodyFrame::new(name.as_deref(), &data));
                    }
                })?;
                frames
            }
            RequestMode::Stream => return None,
        };
        Some(Self { dialect, mode, frames })
    }

    /// The bytes on the wire.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.chunks().concat()
    }

    /// The bytes of each frame.
    pub(super) fn chunks(&self) -> Vec<Vec<u8>> {
        self.frames.iter().map(|frame| self.chunk(frame)).collect()
    }

    fn chunk(&self, frame: &BodyFrame) -> Vec<u8> {
        let text = frame.text();
        if self.mode == RequestMode::Whole {
            return text.into_bytes();
        }
        let style = Style::default_of(framing_of(self.dialect));
        let mut out = Vec::new();
        let data = match self.dialect {
            Dialect::Invoke => format!("{{\"bytes\":\"{}\"}}", STANDARD.encode(text)),
            _ => text,
        };
        style.event(frame.name.as_deref(), &data, &mut out);
        out
    }

    pub(super) fn content_type(&self) -> &'static str {
        match (self.mode, framing_of(self.dialect)) {
            (RequestMode::Whole, _) => "application/json",
            (RequestMode::Stream, Framing::Lines) => "application/x-ndjson",
            (RequestMode::Stream, Framing::EventStream) => "application/vnd.amazon.eventstream",
            (RequestMode::Stream, _) => "text/event-stream; charset=utf-8",
        }
    }
}

fn framing_of(dialect: Dialect) -> Framing {
    match dialect {
        Dialect::Ollama => Framing::Lines,
        Dialect::Converse | Dialect::Invoke => Framing::EventStream,
        _ => Framing::Sse,
    }
}
