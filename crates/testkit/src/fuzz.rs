//! What fuzzing checks, what it starts from, and how it changes that.
//!
//! The targets in `fuzz/targets` hand these functions what a coverage-guided engine comes up with:
//! `cargo xtask fuzz`. `crates/testkit/tests/fuzz.rs` hands them [`changed`] seeds, the same ones
//! on every machine, so that `cargo xtask test` fails for what a change broke and not by luck.

mod changed;
pub mod coding;
pub mod effects;
pub mod exchange;
pub mod gate;
pub mod inspect;
pub mod json;
pub mod policy;
pub mod seeds;
pub mod sse;

use callgate_dialect::Dialect;

pub use changed::changed;

/// The longest input. Longer ones take more time and find nothing new.
pub const MAX_LEN: usize = 8 * 1024;

/// A target: its name, and what checks one input.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every target that needs no store and no runtime.
pub const TARGETS: [FuzzTarget; 16] = [
    ("json", json::check),
    ("sse", sse::check),
    ("coding", coding::check),
    ("policy", policy::check),
    ("inspect", inspect::check),
    ("effects", effects::check),
    ("exchange", exchange::check),
    ("anthropic", |data| gate::check(Dialect::Anthropic, data)),
    ("openai_chat", |data| gate::check(Dialect::OpenAiChat, data)),
    ("openai_responses", |data| gate::check(Dialect::Responses, data)),
    ("cohere", |data| gate::check(Dialect::Cohere, data)),
    ("ollama", |data| gate::check(Dialect::Ollama, data)),
    ("gemini", |data| gate::check(Dialect::Gemini, data)),
    ("interactions", |data| gate::check(Dialect::Interactions, data)),
    ("bedrock_converse", |data| gate::check(Dialect::Converse, data)),
    ("bedrock_invoke", |data| gate::check(Dialect::Invoke, data)),
];
