//! The `callgate` binary from the outside: stdin, stdout, stderr, exit code.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

mod advice;
mod check;
mod config;
mod dialects;
mod doctor;
mod effects;
mod exchange;
mod filter;
mod filters;
mod guardrails;
mod hook_input;
mod init;
mod keys;
mod marks;
mod mcp;
mod planted;
mod policy;
mod policy_test;
mod radius;
mod records;
mod relax;
mod replay;
mod roles;
mod shown_effects;
mod slips;
mod spellings;
mod store;
mod suggest;
mod support;
mod surroundings;
mod terminal;
mod values;
mod wrappers;
