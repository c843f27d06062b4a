//! What clients of single APIs get after a call was taken out, and what becomes of their next request.

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
