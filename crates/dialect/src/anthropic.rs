//! Anthropic Messages.
//!
//! A message is one list of content blocks. Clients append a block when it starts and address it
//! by its place from then on, whatever index the start claims; so the reader counts places itself
//! and the writer numbers what leaves, and the two agree with the wire as long as it is honest.

mod read;
mod request;
mod write;

pub use read::Reader;
pub(crate) use request::{restore, seen};
pub use write::{Writer, error_body, error_event, original};

/// The names of events that carry data in every client. `ping` and `error` are not among them:
/// some clients drop the one and stop at the other, whatever the data says.
const EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];
