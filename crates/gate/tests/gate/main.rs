//! The gate from outside: bytes in, verdicts asked for, bytes out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

mod holding;
mod properties;
mod release;
mod shape;
mod text;
mod text_beside;
mod usage;
