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

pub use read::Reader;
pub(crate) use request::{restore, seen};
pub use write::{Writer, error_body, error_event, original};
