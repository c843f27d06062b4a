//! What provider frames mean, and how they are edited.
//!
//! A dialect is a [`Reader`] that turns a frame's data into a [`Reading`] (the parts of calls, the
//! end of a turn, the order a frame must keep) and a [`Writer`] that lets a frame leave as it came,
//! or with the splices its [`Fate`]s demand. The gate sits between the two and knows no provider.
//! [`Assembly`] makes a whole call of its pieces. [`request`] puts removed calls back into a later
//! request. [`clean_error`] takes calls out of an error body, which has no reader.
//!
//! ```
//! use callgate_dialect::{Dialect, Limits, What};
//!
//! let mut reader = Dialect::OpenAiChat.reader(&Limits::default());
//! let chunk = r#"{"choices":[{"index":0,"delta":{"tool\u005fcalls":[{"index":0,"id":"call_1",
//!     "function":{"name":"Bash","arguments":"{}"}}]}}]}"#;
//! let reading = reader.read(None, chunk).unwrap();
//! assert!(matches!(&reading.parts[0].what, What::Piece(piece) if piece.opens));
//! ```
//!
//! A dialect never sees a policy, and never another dialect.

pub mod anthropic;
mod assemble;
mod clean;
mod event;
mod json;
mod leave;
pub mod openai_chat;
pub mod request;
mod tally;
mod template;

use callgate_wire::Frame;

pub use assemble::{Added, Assembly};
pub use clean::clean_error;
pub use event::{
    ArgumentsPiece, Block, BlockStep, Canonical, Carrier, Fate, Finish, Host, Lane, Order, Part,
    Piece, Reading, Slot, Unreadable, What,
};
pub use tally::Tally;
use template::Template;

/// The dialects callgate speaks. To add one: a file beside these two, and a line in each `match`
/// below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat,
}

/// Bounds a reader keeps.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Calls of one response (Anthropic: blocks open at once). The most seen in recordings is 12.
    pub max_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_calls: 256 }
    }
}

/// Reads the frames of one response.
#[derive(Debug)]
pub struct Reader {
    template: Template,
    dialect: DialectReader,
}

#[derive(Debug)]
enum DialectReader {
    Anthropic(anthropic::Reader),
    OpenAiChat(openai_chat::Reader),
}

/// Writes the frames of one response.
#[derive(Debug)]
pub enum Writer {
    /// Of Anthropic Messages.
    Anthropic(anthropic::Writer),
    /// Of OpenAI Chat.
    OpenAiChat(openai_chat::Writer),
}

/// Why a stream is ended by the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The upstream cut or garbled it: asking again may help.
    Upstream,
    /// A limit or a rule: asking again will not.
    Refused,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAiChat];

    /// The word used on the command line and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
        }
    }

    /// The dialect of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == word)
    }

    /// A reader at the start of a response.
    pub fn reader(self, limits: &Limits) -> Reader {
        let calls = limits.max_calls;
        let dialect = match self {
            Self::Anthropic => DialectReader::Anthropic(anthropic::Reader::new(calls)),
            Self::OpenAiChat => DialectReader::OpenAiChat(openai_chat::Reader::new(calls)),
        };
        Reader { template: Template::default(), dialect }
    }

    /// A writer at the start of a response.
    pub fn writer(self) -> Writer {
        match self {
            Self::Anthropic => Writer::Anthropic(anthropic::Writer::default()),
            Self::OpenAiChat => Writer::OpenAiChat(openai_chat::Writer::default()),
        }
    }

    /// Whether a notice is a block of its own. Where it is not, it is set off from the text
    /// before it.
    pub fn notice_stands_alone(self) -> bool {
        self == Self::Anthropic
    }

    /// Whether a call is whole as soon as its arguments are, without an event that ends it.
    pub fn arguments_end_a_call(self) -> bool {
        self == Self::OpenAiChat
    }

    /// Whether a call's name may come in pieces.
    pub fn name_may_grow(self) -> bool {
        self == Self::OpenAiChat
    }

    /// The event that ends a stream with an error.
    pub fn error_event(self, blame: Blame, message: &str, line_end: &str) -> String {
        match self {
            Self::Anthropic => anthropic::error_event(self.error_kind(blame), message, line_end),
            Self::OpenAiChat => openai_chat::error_event(self.error_kind(blame), message, line_end),
        }
    }

    /// The body that answers with an error.
    pub fn error_body(self, blame: Blame, message: &str) -> String {
        match self {
            Self::Anthropic => anthropic::error_body(self.error_kind(blame), message),
            Self::OpenAiChat => openai_chat::error_body(self.error_kind(blame), message),
        }
    }

    /// The dialect's word for an error. Clients ask again by it.
    fn error_kind(self, blame: Blame) -> &'static str {
        match (self, blame) {
            (Self::Anthropic, Blame::Upstream) => "api_error",
            (Self::OpenAiChat, Blame::Upstream) => "server_error",
            (_, Blame::Refused) => "invalid_request_error",
        }
    }

    /// A removed call in the provider's own words, to be put back into a later request.
    pub fn original(self, opened: Option<&str>, call: &Canonical) -> String {
        match (self, opened) {
            (Self::Anthropic, Some(block)) => anthropic::original(block, &call.arguments),
            _ => openai_chat::original(call),
        }
    }
}

impl Reader {
    /// Reads the data of one event.
    #[inline]
    pub fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        match self.template.read(event, data) {
            Some(reading) => Ok(reading),
            None => self.read_in_full(event, data),
        }
    }

    fn read_in_full(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        self.template.forget();
        let reading = match &mut self.dialect {
            DialectReader::Anthropic(reader) => reader.read(event, data),
            DialectReader::OpenAiChat(reader) => reader.read(event, data),
        }?;
        self.template.remember(event, data, &reading);
        Ok(reading)
    }

    /// Reads a whole body.
    pub fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        match &mut self.dialect {
            DialectReader::Anthropic(reader) => reader.read_body(data),
            DialectReader::OpenAiChat(reader) => reader.read_body(data),
        }
    }

    /// Whether anything was read that is of this dialect.
    pub fn has_spoken(&self) -> bool {
        match &self.dialect {
            DialectReader::Anthropic(reader) => reader.has_spoken(),
            DialectReader::OpenAiChat(reader) => reader.has_spoken(),
        }
    }

    /// A frame could not be read. Answers whether the harm can be contained: then everything the
    /// frame may have belonged to is spoiled, and no frame of it is read again.
    pub fn contain(&mut self) -> bool {
        self.template.forget();
        match &mut self.dialect {
            DialectReader::Anthropic(reader) => {
                reader.spoil();
                reader.in_message()
            }
            DialectReader::OpenAiChat(_) => false,
        }
    }
}

impl Writer {
    /// Whether this text frame leaves exactly as it came.
    #[inline]
    pub fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        match self {
            Self::Anthropic(writer) => writer.leaves_as_it_came(reading, data),
            Self::OpenAiChat(_) => true,
        }
    }

    /// Whether the block's start has left and its end has not: then its frames may overtake
    /// what is held.
    pub fn is_out(&self, slot: Slot) -> bool {
        match self {
            Self::Anthropic(writer) => writer.is_out(slot),
            Self::OpenAiChat(_) => false,
        }
    }

    /// The call that must end before another block may begin.
    pub fn open_call(&self) -> Option<Slot> {
        match self {
            Self::Anthropic(writer) => writer.open_call(),
            Self::OpenAiChat(_) => None,
        }
    }

    /// Ends that call.
    pub fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Anthropic(writer) => writer.close_call(frame, out),
            Self::OpenAiChat(_) => {}
        }
    }

    /// Writes one frame, each part by its fate.
    pub fn write(
        &mut self,
        frame: &Frame<'_>,
        data: &str,
        reading: &Reading,
        fates: &[Fate],
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Anthropic(writer) => writer.write(frame, data, reading, fates, out),
            Self::OpenAiChat(writer) => writer.write(frame, data, reading, fates, out),
        }
    }

    /// The text of a frame that also holds calls, to leave ahead of them.
    pub fn text_ahead(&self, data: &str) -> Option<String> {
        match self {
            // A block is text or a call, never both.
            Self::Anthropic(_) => None,
            Self::OpenAiChat(writer) => writer.text_ahead(data),
        }
    }

    /// Writes a whole body; `None` if nothing of it may leave.
    pub fn write_body(&mut self, data: &str, reading: &Reading, fates: &[Fate]) -> Option<String> {
        match self {
            Self::Anthropic(writer) => writer.write_body(data, reading, fates),
            Self::OpenAiChat(writer) => writer.write_body(data, reading, fates),
        }
    }
}
