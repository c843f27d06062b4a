//! Gemini `generateContent`, streamed or not, and its Code Assist envelope.
//!
//! A response has candidates, each with one list of parts. A call is a part like a text is, mostly
//! whole; only where a client asked for it does it come in pieces, which some clients put together
//! and others hand on. Every chunk is a document of its own, so nothing is numbered; but a call may
//! carry the signature of the thinking before it, which must not be lost with it.
//!
//! What leaves as an event is `data: `, one line, and a blank line. Some clients fail at anything
//! else: comments, names, several data lines, separators that only Python takes for line ends.

mod form;
mod keys;
mod partial;
mod read;
mod request;
mod view;
mod write;

use callgate_wire::Forms;

pub(crate) use form::{is_bare_error, reads_alike};

use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Gemini is read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "gemini",
    forms: Forms::EventsOrArray,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    // Clients join the texts of a turn.
    notice_stands_alone: false,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: false,
    text_follows_calls: true,
    blocks_go_on: false,
    error_events: |blame, message| {
        vec![OwnEvent { name: None, data: write::error_body(blame, message) }]
    },
    error_body: write::error_body,
    blocked_body: |text| write::blocked(text, 0),
    original: |part, call| write::original(part, call),
    restore: request::restore,
    seen: request::seen,
};

/// The code and the word for an error. Clients ask again by them.
fn error_kind(blame: Blame) -> (u16, &'static str) {
    match blame {
        Blame::Upstream => (502, "UNAVAILABLE"),
        Blame::Refused => (400, "INVALID_ARGUMENT"),
    }
}
