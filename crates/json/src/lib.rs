//! Strict JSON, read in place: the project's only JSON reader, so that no two parts of callgate read
//! the same text differently.
//!
//! [`Reader`] walks a document by pulling keys and values and hands out spans of the original text,
//! so that a caller finds the few fields it needs without building a tree, and an edit can be a
//! splice. [`Value`] is a small tree, for when all of a document is needed: the arguments of a
//! call.
//!
//! Strict means RFC 8259 and nothing more: no trailing comma, no `NaN`, no comment, one document.
//! Nesting is bounded by [`MAX_DEPTH`]. Escaped keys are decoded before they are compared. Where
//! RFC 8259 leaves the meaning open and clients differ, the reader reports it: a duplicate key in a
//! [`Value`] is an error, and a lone surrogate is an error if its text is needed.
//!
//! This crate knows no provider and does no I/O.

mod case;
mod edit;
mod escape;
mod fields;
mod reader;
mod spelling;
mod value;

pub use case::equal_ignoring_case;
pub use edit::{Edits, Member, document, elements, member, members};
pub use escape::{decode_into, escape_into, has_escape, quote};
pub use fields::{Fields, Object};
pub use reader::{Elements, Kind, Members, Reader, Span, Text, string_end};
pub use spelling::{each_spelling, printed};
pub use value::Value;

/// The deepest nesting that is read. Real frames stay below 20, and parsers of clients overflow
/// their stacks somewhere above 500.
pub const MAX_DEPTH: u32 = 96;

/// What is wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct Error {
    /// What is wrong.
    pub what: Problem,
    /// The byte at which it was noticed.
    pub at: u32,
}

impl Error {
    /// A problem at a byte.
    pub fn new(what: Problem, at: usize) -> Self {
        Self { what, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }
}

/// The ways a document can be unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text ends inside a value.
    #[error("the document is cut off")]
    Truncated,
    /// A byte that is not allowed there.
    #[error("unexpected character")]
    Unexpected,
    /// More text after the document.
    #[error("text after the document")]
    Trailing,
    /// Deeper than [`MAX_DEPTH`].
    #[error("nested too deeply")]
    TooDeep,
    /// An object has the same key twice, or two spellings of a key that some clients treat as the
    /// same.
    #[error("ambiguous key")]
    DuplicateKey,
    /// A lone surrogate in a string whose text is needed.
    #[error("lone surrogate")]
    LoneSurrogate,
    /// A value of a type that no client expects there.
    #[error("unexpected type")]
    WrongType,
}
