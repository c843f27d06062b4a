//! The gate from the outside: bytes in, questions for verdicts, bytes out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

mod holding;
mod limits;
mod properties;
mod release;
mod rounds;
mod runs;
mod shape;
mod side_texts;
mod text;
mod usage;
