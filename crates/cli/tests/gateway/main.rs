//! The gateway from outside: the real binary between a client and a scripted provider.
//!
//! `official`, `conversations` and `http2` run the official clients and are skipped, loudly, where these
//! are not set up; the others speak plain HTTP.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must stop"
)]

mod access;
mod actors;
mod api;
mod bedrock;
mod bodies;
mod continuing;
mod continuing_chat;
mod continuing_cohere;
mod continuing_converse;
mod continuing_failures;
mod continuing_gemini;
mod continuing_ollama;
mod continuing_responses;
mod continuing_scenarios;
mod continuing_stored;
mod conversations;
mod denials;
mod dialects;
mod effects;
mod exposed;
mod failures;
mod framing;
mod google;
mod guardrails;
mod guardrails_dialects;
mod guardrails_requests;
mod headers;
mod history;
mod hosted;
mod http2;
mod inbound;
mod kept;
mod limits;
mod listed;
mod live;
mod official;
mod operation;
mod origin;
mod policies;
mod protect;
mod recorded;
mod records;
mod reload;
mod replayed;
mod restoring;
mod rewritten;
mod routes;
mod servers;
mod session_files;
mod strangers;
mod support;
mod tools;
