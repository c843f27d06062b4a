//! Tests of one API each: what its clients receive after a call was removed, and how their next request
//! is restored.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

mod gemini;
mod interactions;
mod responses;
