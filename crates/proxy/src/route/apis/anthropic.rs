//! Anthropic's paths, and those of everybody who speaks Messages.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, BATCH_RESULTS};
use crate::route::table::{Part, Row, Treatment, any, looked_up, posted};

pub(super) static PARTS: &[Part] =
    &[Part { roots: ROOTS, rows: ROWS }, Part { roots: ROOTS, rows: COMPATIBLE }];

/// What is Anthropic's where no provider is named.
pub(super) static OWN: Part = Part { roots: ROOTS, rows: ROWS };

const ROOTS: &[&str] = &["/v1", ""];

const ROWS: &[Row] = &[
    MESSAGES,
    COUNT_TOKENS,
    // The state of a batch names an address for its results that leads around callgate.
    BATCHES,
    any("/sessions/**", Treatment::Refuse(ANOTHER_API)),
    any("/environments/**", Treatment::Refuse(ANOTHER_API)),
    any("/agents/**", Treatment::Refuse(ANOTHER_API)),
    looked_up("/models"),
    looked_up("/models/*"),
    any("/files", Treatment::Pass),
    any("/files/*", Treatment::Pass),
    any("/skills/**", Treatment::Pass),
    any("/organizations/**", Treatment::Pass),
    any("/oauth/**", Treatment::Pass),
];

/// Anthropic serves Chat Completions beside its own API.
const COMPATIBLE: &[Row] = &[posted("/chat/completions", Treatment::Inspect(Dialect::OpenAiChat))];

const MESSAGES: Row = posted("/messages", Treatment::Inspect(Dialect::Anthropic));
const COUNT_TOKENS: Row =
    posted("/messages/count_tokens", Treatment::PassRestored(Dialect::Anthropic));
const BATCHES: Row = any("/messages/batches/**", Treatment::Refuse(BATCH_RESULTS));

/// Messages, as servers have it whose own API is another one.
pub(super) const MESSAGES_ROWS: &[Row] = &[MESSAGES, COUNT_TOKENS, BATCHES];
