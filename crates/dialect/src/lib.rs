//! Reads and edits the frames of provider APIs.
//!
//! A dialect is a [`Reader`] that turns a frame's data into a [`Reading`] (the parts of calls, the
//! end of a turn, the order that a frame must keep) and a [`Writer`] that writes a frame unchanged,
//! or with the splices that its [`Fate`]s require. The gate is between the two and knows no provider.
//! [`Assembly`] assembles a call from its pieces. [`request`] puts removed calls back into a later
//! request. [`clean_error`] removes calls from an error body, which has no reader.
//!
//! ```
//! use callgate_dialect::{Dialect, Limits, What};
//!
//! let mut reader = Dialect::OpenAiChat.reader(&Limits::default());
//! let chunk = r#"{"choices":[{"index":0,"delta":{"tool\u005fcalls":[{"index":0,"id":"call_1",
//!     "function":{"name":"Bash","arguments":"{}"}}]}}]}"#;
//! let reading = reader.read(None, chunk).unwrap();
//! assert!(matches!(&reading.parts[0].what, What::Piece(piece) if piece.opens()));
//! ```
//!
//! A dialect does not know policies. It uses another dialect only where its API does.

mod anthropic;
mod assemble;
mod block_writer;
mod blocks;
mod clean;
mod cohere;
mod continued;
mod converse;
mod departure;
mod echo;
mod event;
mod gemini;
mod interactions;
mod invoke;
mod json;
mod leave;
mod object;
mod ollama;
mod openai_chat;
pub mod request;
mod responses;
mod side_text;
mod spec;
mod stray;
mod tally;
mod template;
mod usage;
mod vocabulary;

use callgate_wire::{Frame, Framings};

pub use assemble::{Added, Assembly, COPIES_DIFFER};
pub use clean::clean_error;
pub use continued::{Continuing, DeniedTurn, NotContinued, ProvidedTurn, StoredTurn};
pub use departure::{Departure, Leaving, Orders, Rest};
pub use echo::{echoes, may_echo};
pub use event::{
    After, ArgumentsPiece, Block, BlockStep, CallKind, Canonical, Carrier, Fate, Finish,
    FollowedBy, FrameForm, Host, Lane, Order, Part, Piece, PieceRole, Reading, Slot, Unreadable,
    What,
};
pub use responses::read_again;
pub use side_text::{Channel, Delivery, SideText};
pub use spec::{ApiError, ErrorHeader, HttpSpec, Signing, TurnFacts, Write};
use spec::{Comments, DialectSpec, Read};
use stray::DocumentKind;
pub use tally::Tally;
pub use template::PieceFrame;
use template::Template;

/// Defines [`Dialect`]: each row is a dialect and the module with its `SPEC`.
macro_rules! dialects {
    ($($(#[$doc:meta])+ $name:ident: $module:ident,)+) => {
        /// The dialects that callgate supports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Dialect {
            $($(#[$doc])+ $name,)+
        }

        impl Dialect {
            /// Every dialect.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];

            fn spec(self) -> &'static DialectSpec {
                match self {
                    $(Self::$name => &$module::SPEC,)+
                }
            }
        }
    };
}

dialects! {
    /// Anthropic Messages.
    Anthropic: anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat: openai_chat,
    /// OpenAI Responses.
    Responses: responses,
    /// Gemini `generateContent`, streamed or not, and its Code Assist envelope.
    Gemini: gemini,
    /// Gemini Interactions.
    Interactions: interactions,
    /// Ollama's own chat.
    Ollama: ollama,
    /// Cohere, version 2.
    Cohere: cohere,
    /// Bedrock `Converse` and `ConverseStream`.
    Converse: converse,
    /// Bedrock `InvokeModel` and `InvokeModelWithResponseStream`: a model's own API in an envelope.
    Invoke: invoke,
}

/// The bounds of a reader.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most calls of one response (Anthropic: open blocks). The most in recordings is 12.
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
pub type Writer = Box<dyn Write>;

/// Why the gate ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The upstream broke it off or garbled it: a retry may help.
    Upstream,
    /// A limit or a rule: a retry will not help.
    Refused,
}

/// An event that the gate adds, to be written in the style of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedEvent {
    /// Its name, if events have names.
    pub name: Option<&'static str>,
    /// Its data.
    pub data: String,
}

impl Dialect {
    /// The word used on the command line and in records.
    pub fn as_str(self) -> &'static str {
        self.spec().word
    }

    /// The dialect with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == word)
    }

    /// The framings that responses may have.
    pub fn framings(self) -> Framings {
        self.spec().framings
    }

    /// A reader at the start of a response.
    pub fn reader(self, limits: &Limits) -> Reader {
        let dialect = (self.spec().reader)(limits.max_calls);
        Reader { template: Template::default(), looks_beside: false, dialect }
    }

    /// A writer at the start of a response.
    pub fn writer(self) -> Writer {
        (self.spec().writer)()
    }

    /// How its turns are built.
    pub fn facts(self) -> &'static TurnFacts {
        &self.spec().facts
    }

    /// Whether all clients skip comments in a stream. Some of the others fail on them.
    pub fn accepts_comments(self) -> bool {
        self.spec().comments == Comments::Skipped
    }

    /// Whether a comment keeps a stream alive. Records are announced in fewer APIs.
    pub fn comments_keep_alive(self) -> bool {
        self.spec().comments != Comments::Fail
    }

    /// Whether every client reads the lines of the frame the same way, so that it may leave
    /// unchanged.
    #[inline]
    pub fn reads_alike(self, frame: &Frame<'_>) -> bool {
        match &self.spec().lines {
            None => frame.clean(),
            Some(rules) => (rules.reads_alike)(frame),
        }
    }

    /// Whether lines that are not an event report a failure nevertheless.
    pub fn is_bare_error(self, lines: &[u8]) -> bool {
        self.spec().lines.as_ref().is_some_and(|rules| (rules.is_bare_error)(lines))
    }

    /// The HTTP side of the API.
    pub fn http(self) -> &'static HttpSpec {
        &self.spec().http
    }

    /// The events that end a stream with an error.
    pub fn error_events(self, blame: Blame, message: &str) -> Vec<AddedEvent> {
        (self.spec().error_events)(blame, message)
    }

    /// The error body.
    pub fn error_body(self, blame: Blame, message: &str) -> String {
        (self.spec().error_body)(blame, message)
    }

    /// The body, with this text, that replaces one that a text rule stopped.
    pub fn blocked_body(self, text: &str) -> String {
        (self.spec().blocked_body)(text)
    }

    /// A removed call in the provider's own form, to be put back into a later request.
    pub fn original(self, opened: Option<&str>, call: &Canonical) -> String {
        (self.spec().original)(opened, call)
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

    /// The piece of arguments in the frame, if the frame differs from the one before only in that.
    /// It is not read yet: [`Self::read`] reads it if the piece alone is not enough.
    #[inline]
    pub fn read_piece<'a>(&self, event: Option<&[u8]>, data: &'a str) -> Option<PieceFrame<'a>> {
        self.template.read_piece(event, data)
    }

    fn read_in_full(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        self.template.forget();
        let mut reading = self.dialect.read(event, data)?;
        stray::judge(self.dialect.as_mut(), data, DocumentKind::Frame, &mut reading)?;
        if self.looks_beside {
            reading.side_texts = self.side_texts(data);
        }
        self.template.remember(event, data, &reading, self.dialect.pieces());
        Ok(reading)
    }

    /// Reads a whole body.
    pub fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        let mut reading = self.dialect.read_body(data)?;
        stray::judge(self.dialect.as_mut(), data, DocumentKind::Body, &mut reading)?;
        Ok(reading)
    }

    /// The whole texts that a user sees in a frame or a body, raw between their quotes.
    pub fn texts(&self, data: &str) -> Vec<callgate_json::Span> {
        self.dialect.texts(data)
    }

    /// Makes later readings include texts that are not part of the answer, because some rules need
    /// them.
    pub fn include_side_texts(&mut self) {
        self.looks_beside = true;
    }

    /// The texts in a frame or a body that are not part of the answer.
    pub fn side_texts(&self, data: &str) -> Vec<SideText> {
        side_text::side_texts(data, self.dialect.names())
    }

    /// Whether anything of this dialect was read.
    pub fn has_read_any(&self) -> bool {
        self.dialect.has_read_any()
    }

    /// The API of the response's calls, if the dialect wraps another API and enough has arrived to
    /// detect it.
    pub fn api(&self) -> Option<Dialect> {
        self.dialect.api()
    }

    /// Handles an unreadable frame. Returns whether the damage can be contained: then everything
    /// that the frame may have belonged to is spoiled, and no more frames of it are read.
    pub fn contain(&mut self) -> bool {
        self.template.forget();
        self.dialect.contain()
    }
}
