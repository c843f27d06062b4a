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

mod anthropic;
mod aside;
mod assemble;
mod clean;
mod cohere;
mod converse;
mod echo;
mod event;
mod gemini;
mod interactions;
mod invoke;
mod json;
mod leave;
mod ollama;
mod openai_chat;
pub mod request;
mod responses;
mod speaker;
mod stray;
mod tally;
mod template;
mod vocabulary;

use callgate_wire::{Forms, Frame};

pub use aside::{Aside, Comes, Voice};
pub use assemble::{Added, Assembly, COPIES_DIFFER};
pub use clean::clean_error;
pub use echo::{echoes, may_echo};
pub use event::{
    ArgumentsPiece, Block, BlockStep, Canonical, Carrier, Fate, Finish, Host, Lane, Order, Part,
    Piece, Reading, Slot, Unreadable, What,
};
use speaker::{Read, Speaker, Write};
use stray::Form;
pub use tally::Tally;
use template::Template;

/// The dialects callgate speaks. To add one: a folder beside these with its `SPEAKER`, and a line
/// in `Dialect::speaker`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Responses.
    Responses,
    /// Gemini `generateContent`, streamed or not, and its Code Assist envelope.
    Gemini,
    /// Gemini Interactions.
    Interactions,
    /// Ollama's own chat.
    Ollama,
    /// Cohere, version 2.
    Cohere,
    /// Bedrock `Converse` and `ConverseStream`.
    Converse,
    /// Bedrock `InvokeModel` and `InvokeModelWithResponseStream`: a model's own API in an envelope.
    Invoke,
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
    looks_beside: bool,
    dialect: Box<dyn Read>,
}

/// Writes the frames of one response.
#[derive(Debug)]
pub struct Writer {
    dialect: Box<dyn Write>,
}

/// Why a stream is ended by the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The upstream cut or garbled it: asking again may help.
    Upstream,
    /// A limit or a rule: asking again will not.
    Refused,
}

/// An event of our own, to be written as the stream writes its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnEvent {
    /// Its name, where events have names.
    pub name: Option<&'static str>,
    /// Its data.
    pub data: String,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 9] = [
        Self::Anthropic,
        Self::OpenAiChat,
        Self::Responses,
        Self::Gemini,
        Self::Interactions,
        Self::Ollama,
        Self::Cohere,
        Self::Converse,
        Self::Invoke,
    ];

    fn speaker(self) -> &'static Speaker {
        match self {
            Self::Anthropic => &anthropic::SPEAKER,
            Self::OpenAiChat => &openai_chat::SPEAKER,
            Self::Responses => &responses::SPEAKER,
            Self::Gemini => &gemini::SPEAKER,
            Self::Interactions => &interactions::SPEAKER,
            Self::Ollama => &ollama::SPEAKER,
            Self::Cohere => &cohere::SPEAKER,
            Self::Converse => &converse::SPEAKER,
            Self::Invoke => &invoke::SPEAKER,
        }
    }

    /// The word used on the command line and in records.
    pub fn as_str(self) -> &'static str {
        self.speaker().word
    }

    /// The dialect of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == word)
    }

    /// The forms in which responses come.
    pub fn forms(self) -> Forms {
        self.speaker().forms
    }

    /// A reader at the start of a response.
    pub fn reader(self, limits: &Limits) -> Reader {
        let dialect = (self.speaker().reader)(limits.max_calls);
        Reader { template: Template::default(), looks_beside: false, dialect }
    }

    /// A writer at the start of a response.
    pub fn writer(self) -> Writer {
        Writer { dialect: (self.speaker().writer)() }
    }

    /// Whether a notice is a block of its own. Where it is not, it is set off from the text
    /// before it.
    pub fn notice_stands_alone(self) -> bool {
        self.speaker().notice_stands_alone
    }

    /// Whether a call is whole as soon as its arguments are, without an event that ends it.
    pub fn arguments_end_a_call(self) -> bool {
        self.speaker().arguments_end_a_call
    }

    /// Whether a call's name may come in pieces.
    pub fn name_may_grow(self) -> bool {
        self.speaker().name_may_grow
    }

    /// Whether a call's slot is its place among all blocks of the turn, and not only among calls.
    pub fn counts_blocks(self) -> bool {
        self.speaker().counts_blocks
    }

    /// Whether the API takes a turn back in which a text follows a call, so that a notice may do so. The
    /// official clients show it: `crates/cli/tests/gateway/conversations.rs`.
    pub fn text_follows_calls(self) -> bool {
        self.speaker().text_follows_calls
    }

    /// Whether the frames of a block that has begun to leave overtake what is held, so that a
    /// call which has begun to leave is never cut off by another.
    pub fn blocks_go_on(self) -> bool {
        self.speaker().blocks_go_on
    }

    /// The lane of the plan that the model has for the calls of a turn, in APIs that keep it apart from
    /// the text.
    pub fn plan_lane(self) -> Option<Lane> {
        (self == Self::Cohere).then_some(cohere::PLAN)
    }

    /// Whether some clients take the calls of all lanes for one list.
    pub fn mixes_lanes(self) -> bool {
        self == Self::OpenAiChat
    }

    /// Whether every client reads the lines of the frame alike, so that it may leave as it came.
    #[inline]
    pub fn reads_alike(self, frame: &Frame<'_>) -> bool {
        match self {
            Self::Gemini => gemini::reads_alike(frame),
            _ => frame.clean(),
        }
    }

    /// Whether lines that are no event tell of a failure nevertheless.
    pub fn is_bare_error(self, lines: &[u8]) -> bool {
        self == Self::Gemini && gemini::is_bare_error(lines)
    }

    /// The events that end a stream with an error.
    pub fn error_events(self, blame: Blame, message: &str) -> Vec<OwnEvent> {
        (self.speaker().error_events)(blame, message)
    }

    /// The body that answers with an error.
    pub fn error_body(self, blame: Blame, message: &str) -> String {
        (self.speaker().error_body)(blame, message)
    }

    /// The body that answers instead of one a guardrail stopped, with this text.
    pub fn blocked_body(self, text: &str) -> String {
        (self.speaker().blocked_body)(text)
    }

    /// A removed call in the provider's own words, to be put back into a later request.
    pub fn original(self, opened: Option<&str>, call: &Canonical) -> String {
        (self.speaker().original)(opened, call)
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
        let mut reading = self.dialect.read(event, data)?;
        stray::judge(self.dialect.as_mut(), data, Form::Frame, &mut reading)?;
        if self.looks_beside {
            reading.asides = self.asides(data);
        }
        self.template.remember(event, data, &reading, self.dialect.pieces());
        Ok(reading)
    }

    /// Reads a whole body.
    pub fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        let mut reading = self.dialect.read_body(data)?;
        stray::judge(self.dialect.as_mut(), data, Form::Body, &mut reading)?;
        Ok(reading)
    }

    /// The texts a user sees that stand whole in a frame or a body, raw between their quotes.
    pub fn texts(&self, data: &str) -> Vec<callgate_call::json::Span> {
        self.dialect.texts(data)
    }

    /// From now on readings tell of texts beside the answer: there are rules that want them.
    pub fn look_beside(&mut self) {
        self.looks_beside = true;
    }

    /// The texts beside the answer in a frame or a body.
    pub fn asides(&self, data: &str) -> Vec<Aside> {
        aside::asides(data, self.dialect.names())
    }

    /// Whether anything was read that is of this dialect.
    pub fn has_spoken(&self) -> bool {
        self.dialect.has_spoken()
    }

    /// The API that the calls of the response follow, where the dialect is an envelope around
    /// another one and enough has come to tell which.
    pub fn api(&self) -> Option<Dialect> {
        self.dialect.api()
    }

    /// A frame could not be read. Answers whether the harm can be contained: then everything the
    /// frame may have belonged to is spoiled, and no frame of it is read again.
    pub fn contain(&mut self) -> bool {
        self.template.forget();
        self.dialect.contain()
    }
}

impl Writer {
    /// Whether this text frame leaves exactly as it came.
    #[inline]
    pub fn leaves_as_it_came(&self, reading: &Reading, data: &str) -> bool {
        self.dialect.leaves_as_it_came(reading, data)
    }

    /// Whether the block's start has left and its end has not: then its frames may overtake
    /// what is held.
    pub fn is_out(&self, slot: Slot) -> bool {
        self.dialect.is_out(slot)
    }

    /// The call that must end before another block may begin.
    pub fn open_call(&self) -> Option<Slot> {
        self.dialect.open_call()
    }

    /// Ends that call.
    pub fn close_call(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.dialect.close_call(frame, out);
    }

    /// Whether a block that is no call has left and has not ended, and a call must wait for that.
    pub fn has_open_block(&self) -> bool {
        self.dialect.has_open_block()
    }

    /// Ends the blocks that a call would have to wait for.
    pub fn close_blocks(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) {
        self.dialect.close_blocks(frame, out);
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
        self.dialect.write(frame, data, reading, fates, out);
    }

    /// The text of a frame that also holds calls, to leave ahead of them.
    pub fn text_ahead(&self, data: &str) -> Option<String> {
        self.dialect.text_ahead(data)
    }

    /// What takes the place of other things in a frame of text that leaves once more with another
    /// text.
    pub fn text_alone(&self, data: &str) -> Vec<(callgate_call::json::Span, String)> {
        self.dialect.text_alone(data)
    }

    /// A guardrail stops the response at this frame: ends it with `text`, as the API does where a
    /// filter stopped it. Writes nothing where the API has no such ending.
    pub fn cut_short(&mut self, frame: &Frame<'_>, text: &str, out: &mut Vec<u8>) {
        self.dialect.cut_short(frame, text, out);
    }

    /// Writes a whole body; `None` if nothing of it may leave.
    pub fn write_body(&mut self, data: &str, reading: &Reading, fates: &[Fate]) -> Option<String> {
        self.dialect.write_body(data, reading, fates)
    }
}
