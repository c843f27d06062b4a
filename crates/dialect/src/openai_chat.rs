//! OpenAI Chat Completions, and the many that speak it.
//!
//! A response has choices, each with one list of calls. Clients disagree about nearly every odd
//! shape of a call: which index a piece belongs to, what two pieces of a name mean, whether a
//! second id is a second call. So the reader settles each question once, and the writer sends
//! whatever is not plainly canonical in the one form they all read alike.

mod read;
mod request;
mod view;
mod write;

use callgate_wire::Forms;

use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Chat Completions are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "openai-chat",
    forms: Forms::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    notice_stands_alone: false,
    arguments_end_a_call: true,
    name_may_grow: true,
    counts_blocks: false,
    text_follows_calls: false,
    blocks_go_on: false,
    error_events: |blame, message| {
        let data = write::error_body(error_kind(blame), message);
        let done = OwnEvent { name: None, data: "[DONE]".to_owned() };
        vec![OwnEvent { name: None, data }, done]
    },
    error_body: |blame, message| write::error_body(error_kind(blame), message),
    blocked_body: write::blocked_body,
    original: |_, call| write::original(call),
    restore: request::restore,
    seen: request::seen,
};

/// The word for an error. Clients ask again by it.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_request_error",
    }
}
