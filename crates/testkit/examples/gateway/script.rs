//! What the upstream streams: frames shaped and sized like the real ones.

mod call;
mod others;

use std::ops::Range;

use bytes::Bytes;
use callgate_wire::Framing;

/// The API of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Api {
    Messages,
    Chat,
    Responses,
    Gemini,
    Ollama,
    Converse,
}

/// How long a text frame is, as real ones are on average.
const MESSAGES_FRAME: usize = 201;
const CHAT_FRAME: usize = 223;

/// How long a text is in the others.
const TEXT: usize = 100;

/// Different texts before they repeat, so that no two frames in a row are the same.
pub(crate) const TEXTS: usize = 64;

const PROSE: &str = "the answer goes on for a while with words that nobody reads at this hour, \
    and then it names the file in which the function lives and says what should change in it; ";

impl Api {
    pub(crate) const ALL: [Self; 6] =
        [Self::Messages, Self::Chat, Self::Responses, Self::Gemini, Self::Ollama, Self::Converse];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Converse => "converse",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Messages => "/v1/messages",
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Gemini => "/v1beta/models/bench:streamGenerateContent?alt=sse",
            Self::Ollama => "/api/chat",
            Self::Converse => "/model/bench/converse-stream",
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            Self::Converse => "application/vnd.amazon.eventstream",
            _ => "text/event-stream; charset=utf-8",
        }
    }

    pub(crate) fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::Converse => Framing::EventStream,
            _ => Framing::Sse,
        }
    }

    /// Where the text stands in an event.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Messages | Self::Converse => "/delta/text",
            Self::Chat => "/choices/0/delta/content",
            Self::Responses => "/delta",
            Self::Gemini => "/candidates/0/content/parts/0/text",
            Self::Ollama => "/message/content",
        }
    }
}

/// The frames of one stream: an opening, texts that repeat, an ending.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    opening: Vec<Bytes>,
    texts: Vec<Bytes>,
    repeated: usize,
    ending: Vec<Bytes>,
    /// The frames of the ending that carry the arguments of a call. The next one completes it.
    arguments: Option<Range<usize>>,
}

impl Script {
    /// A stream of `frames` text frames.
    pub(crate) fn text(api: Api, frames: usize) -> Self {
        let texts = (0..TEXTS.min(frames)).map(|at| text_frame(api, at)).collect();
        let (opening, ending) = match api {
            Api::Messages => (messages_opening(), messages_ending(0, "end_turn")),
            Api::Chat => (chat_opening(), chat_ending()),
            _ => others::around(api),
        };
        Self { opening, texts, repeated: frames, ending, arguments: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.opening.len() + self.repeated + self.ending.len()
    }

    /// The places of the text frames.
    pub(crate) fn texts(&self) -> Range<usize> {
        self.opening.len()..self.opening.len() + self.repeated
    }

    /// The place of the frame that completes the call.
    pub(crate) fn completing(&self) -> Option<usize> {
        self.arguments.as_ref().map(|arguments| self.texts().end + arguments.end)
    }

    /// The frames that a model sends together: each text and each piece of the arguments comes when
    /// the model has thought of it, and the frames between them come with the one before.
    pub(crate) fn groups(&self) -> Vec<Range<usize>> {
        let texts = self.texts();
        let arguments = self.arguments.clone().unwrap_or_default();
        let arguments = texts.end + arguments.start..texts.end + arguments.end;
        let starts: Vec<usize> = texts.chain(arguments).chain([self.len()]).collect();
        let mut begin = 0;
        let group = |end: usize| std::mem::replace(&mut begin, end)..end;
        starts.into_iter().map(group).collect()
    }

    /// The frame at a place; `None` after the last.
    pub(crate) fn frame(&self, at: usize) -> Option<&Bytes> {
        let texts = self.texts();
        match at {
            at if at < texts.start => self.opening.get(at),
            at if at < texts.end => self.texts.get((at - texts.start) % self.texts.len()),
            at => self.ending.get(at - texts.end),
        }
    }
}

/// A frame as one chunk of a chunked body.
pub(crate) fn chunk(frame: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", frame.len()).into_bytes();
    chunk.extend_from_slice(frame);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// A whole answer of about 2 KB, as a request without `stream` gets it.
pub(crate) fn json_answer() -> String {
    let text = PROSE.repeat(10);
    format!(
        r#"{{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":2095,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":503}}}}"#
    )
}

fn text_frame(api: Api, at: usize) -> Bytes {
    match api {
        Api::Messages => messages_text(&text(at, MESSAGES_FRAME - messages_text("").len())),
        Api::Chat => {
            let frame = |text: &str| {
                chat_frame(&format!(
                    r#"[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]"#
                ))
            };
            frame(&text(at, CHAT_FRAME - frame("").len()))
        }
        _ => others::text_frame(api, &text(at, TEXT)),
    }
}

/// Some text of exactly `len` bytes, as written in JSON: now and then with an escape.
fn text(at: usize, len: usize) -> String {
    let mut text = String::new();
    match at % 8 {
        2 => text.push_str("\\n\\n"),
        5 => text.push_str("\\\"so\\\" "),
        _ => {}
    }
    let left = len - text.len();
    text.extend(PROSE.chars().cycle().skip(at * 37 % PROSE.len()).take(left));
    text
}

fn messages_text(text: &str) -> Bytes {
    let data = format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
    );
    messages_frame("content_block_delta", &data)
}

fn messages_frame(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}

fn messages_opening() -> Vec<Bytes> {
    vec![
        messages_frame(
            "message_start",
            r#"{"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":2095,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}"#,
        ),
        messages_frame(
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ),
        messages_frame("ping", r#"{"type": "ping"}"#),
    ]
}

fn stop(block: usize) -> Bytes {
    let data = format!(r#"{{"type":"content_block_stop","index":{block}}}"#);
    messages_frame("content_block_stop", &data)
}

fn messages_ending(block: usize, reason: &str) -> Vec<Bytes> {
    let delta = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":503}}}}"#
    );
    vec![
        stop(block),
        messages_frame("message_delta", &delta),
        messages_frame("message_stop", r#"{"type":"message_stop"}"#),
    ]
}

fn chat_frame(choices: &str) -> Bytes {
    format!(
        "data: {{\"id\":\"chatcmpl-9xYbLwRcDLkGq2tQmJ3vH0pZ\",\"object\":\"chat.completion.chunk\",\"created\":1756221269,\"model\":\"gpt-4o-2024-08-06\",\"choices\":{choices}}}\n\n"
    )
    .into()
}

fn chat_opening() -> Vec<Bytes> {
    vec![chat_frame(
        r#"[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]"#,
    )]
}

fn chat_ending() -> Vec<Bytes> {
    vec![
        chat_frame(r#"[{"index":0,"delta":{},"finish_reason":"stop"}]"#),
        Bytes::from_static(b"data: [DONE]\n\n"),
    ]
}
