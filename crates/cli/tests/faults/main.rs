//! What breaks, broken on purpose: the real binary under load while it is killed, its store fails,
//! its upstream misbehaves, or its clients do.
//!
//! Everything stays on this machine and ends by itself. Times are checked only against hanging. A
//! test whose fault cannot be made here (no namespaces, say) says so and passes; another one always
//! makes a fault of the same kind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

mod blocking;
mod clients;
mod concurrency;
mod frames;
mod kill;
mod load;
mod log;
mod process;
mod readonly;
mod reload;
mod sharing;
mod stopping;
mod stores;
#[path = "../gateway/support.rs"]
#[allow(dead_code, reason = "what the tests of the gateway need, and more than is needed here")]
mod support;
mod upstreams;
