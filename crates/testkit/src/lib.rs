//! Helpers for tests. Nothing here ships.
//!
//! [`drive`] runs a response through the gate in any chunking; [`clients`] reads what came out the
//! way the official clients do, with code of its own, so that a mistake in callgate's readers is
//! not repeated in its tests; [`corpus`] finds the recorded and the hostile responses, [`shapes`]
//! tells them in other ways, [`made`] makes more; [`sdk`] runs the official clients,
//! [`differential`] compares what they read with what was judged; [`fuzz`] is what fuzzing checks;
//! [`table`] keeps what tests found in the documentation; [`values`] are arguments that programs
//! read in different ways.
//!
//! With the feature `servers`: `gateway` runs the binary, `upstream` is a scripted server behind
//! it, `provider` a scripted model that checks what a real one checks, `http` a plain client, `socket` one
//! of the gateway's API, `port` a port that nothing uses.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test helper that cannot go on must stop the test"
)]

pub mod clients;
pub mod corpus;
pub mod differential;
pub mod drive;
pub mod fuzz;
#[cfg(feature = "servers")]
pub mod gateway;
#[cfg(feature = "servers")]
pub mod http;
pub mod made;
#[cfg(feature = "servers")]
pub mod port;
#[cfg(feature = "servers")]
pub mod provider;
mod rng;
pub mod sdk;
pub mod shapes;
#[cfg(feature = "servers")]
pub mod socket;
pub mod table;
#[cfg(feature = "servers")]
pub mod upstream;
pub mod values;

/// Says that a test cannot run here, because something is missing that `cargo xtask test` sets up. There
/// it fails instead.
pub fn skipped(why: &str) {
    assert!(std::env::var_os("CALLGATE_REQUIRE_PEERS").is_none(), "must not be skipped: {why}");
    eprintln!("skipped: {why}");
}
