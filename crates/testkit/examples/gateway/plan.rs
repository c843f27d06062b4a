//! What one request asks of the upstream. It travels as the model's name, which every proxy passes
//! on as it is.

use crate::script::{Api, Script};

/// One stream or answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// This many text frames, as fast as they go.
    Burst { api: Api, frames: usize },
    /// This many text frames, `gap_ms` apart, beginning `delay_us` after the request. The times at
    /// which they are sent are noted under `stream`.
    Live { api: Api, stream: usize, frames: usize, gap_ms: u64, delay_us: u64 },
    /// Text, then a call with this many bytes of arguments, each frame a little after the last.
    Call { stream: usize, bytes: usize, delay_us: u64 },
    /// Text and a call, as fast as they go.
    Mixed { mix: Mix },
    /// Text and a call, a piece of them every `gap_ms`, beginning `delay_us` after the request. The
    /// times at which they are sent are noted under `stream`.
    LiveMixed { mix: Mix, stream: usize, gap_ms: u64, delay_us: u64 },
    /// One frame of text, and then nothing until the client goes away.
    Idle,
    /// A whole answer at once.
    Json,
}

/// An answer with text and a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mix {
    /// Text frames.
    pub(crate) texts: usize,
    /// Frames in which the arguments of the call come.
    pub(crate) pieces: usize,
}

/// Text frames in front of a call.
const TEXT_BEFORE_CALL: usize = 5;

/// Precedes a plan in a request.
const MARK: &str = "\"model\":\"bench.";

const TOOLS: &str = r#","tools":[{"name":"Bash","description":"Runs a command","input_schema":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command"]}}]"#;

const INSTRUCTION: &str =
    "You are a coding agent: read the files, change what was asked for and run the tests. ";

impl Plan {
    pub(crate) fn api(self) -> Api {
        match self {
            Self::Burst { api, .. } | Self::Live { api, .. } => api,
            Self::Call { .. }
            | Self::Mixed { .. }
            | Self::LiveMixed { .. }
            | Self::Idle
            | Self::Json => Api::Messages,
        }
    }

    /// What is streamed.
    pub(crate) fn script(self) -> Script {
        match self {
            Self::Burst { api, frames } | Self::Live { api, frames, .. } => {
                Script::text(api, frames)
            }
            Self::Call { bytes, .. } => Script::call(TEXT_BEFORE_CALL, bytes),
            Self::Mixed { mix } | Self::LiveMixed { mix, .. } => {
                Script::mixed(mix.texts, mix.pieces)
            }
            Self::Idle | Self::Json => Script::text(Api::Messages, 1),
        }
    }

    /// The head and body of the request.
    pub(crate) fn request(self, host: &str) -> Vec<u8> {
        let stream = match self {
            Self::Json => "",
            _ => r#","stream":true"#,
        };
        let tools = match self {
            Self::Call { .. } => TOOLS.to_owned(),
            // An agent's instructions come with its tools: about 1 KB of them.
            Self::Mixed { .. } | Self::LiveMixed { .. } => {
                format!(r#","system":"{}"{TOOLS}"#, INSTRUCTION.repeat(12))
            }
            _ => String::new(),
        };
        let asked = "Which file has the function, and what should change in it?";
        let messages = match self.api() {
            Api::Responses => format!(r#""input":"{asked}""#),
            Api::Gemini => {
                format!(r#""contents":[{{"role":"user","parts":[{{"text":"{asked}"}}]}}]"#)
            }
            Api::Converse => {
                format!(r#""messages":[{{"role":"user","content":[{{"text":"{asked}"}}]}}]"#)
            }
            _ => format!(r#""max_tokens":4096,"messages":[{{"role":"user","content":"{asked}"}}]"#),
        };
        let body = format!(r#"{{{MARK}{}"{stream}{tools},{messages}}}"#, self.word());
        let key = match self.api() {
            Api::Messages => "x-api-key: bench-key\r\nanthropic-version: 2023-06-01",
            Api::Gemini => "x-goog-api-key: bench-key",
            _ => "authorization: Bearer bench-key",
        };
        format!(
            "POST {} HTTP/1.1\r\nhost: {host}\r\n{key}\r\ncontent-type: application/json\r\naccept: application/json\r\nuser-agent: bench/1\r\ncontent-length: {}\r\n\r\n{body}",
            self.api().path(),
            body.len()
        )
        .into_bytes()
    }

    fn word(self) -> String {
        match self {
            Self::Burst { api, frames } => format!("burst.{}.{frames}", api.word()),
            Self::Live { api, stream, frames, gap_ms, delay_us } => {
                format!("live.{}.{stream}.{frames}.{gap_ms}.{delay_us}", api.word())
            }
            Self::Call { stream, bytes, delay_us } => format!("call.{stream}.{bytes}.{delay_us}"),
            Self::Mixed { mix } => format!("mixed.{}.{}", mix.texts, mix.pieces),
            Self::LiveMixed { mix, stream, gap_ms, delay_us } => {
                format!("livemixed.{}.{}.{stream}.{gap_ms}.{delay_us}", mix.texts, mix.pieces)
            }
            Self::Idle => "idle".into(),
            Self::Json => "json".into(),
        }
    }

    /// Finds the plan in the body of a request.
    pub(crate) fn find(body: &[u8]) -> Option<Self> {
        let body = std::str::from_utf8(body).ok()?;
        let (word, _) = body.split_once(MARK)?.1.split_once('"')?;
        let parts: Vec<&str> = word.split('.').collect();
        let mix = |texts: &str, pieces: &str| {
            Some(Mix { texts: texts.parse().ok()?, pieces: pieces.parse().ok()? })
        };
        let api = |word: &str| Api::ALL.into_iter().find(|it| it.word() == word);
        Some(match parts.as_slice() {
            ["burst", kind, frames] => {
                Self::Burst { api: api(kind)?, frames: frames.parse().ok()? }
            }
            ["live", kind, stream, frames, gap_ms, delay_us] => Self::Live {
                api: api(kind)?,
                stream: stream.parse().ok()?,
                frames: frames.parse().ok()?,
                gap_ms: gap_ms.parse().ok()?,
                delay_us: delay_us.parse().ok()?,
            },
            ["call", stream, bytes, delay_us] => Self::Call {
                stream: stream.parse().ok()?,
                bytes: bytes.parse().ok()?,
                delay_us: delay_us.parse().ok()?,
            },
            ["mixed", texts, pieces] => Self::Mixed { mix: mix(texts, pieces)? },
            ["livemixed", texts, pieces, stream, gap_ms, delay_us] => Self::LiveMixed {
                mix: mix(texts, pieces)?,
                stream: stream.parse().ok()?,
                gap_ms: gap_ms.parse().ok()?,
                delay_us: delay_us.parse().ok()?,
            },
            ["idle"] => Self::Idle,
            ["json"] => Self::Json,
            _ => return None,
        })
    }
}
