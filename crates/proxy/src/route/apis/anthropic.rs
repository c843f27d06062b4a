//! The paths of Anthropic, and of everyone who serves the Messages API.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, Api, BATCH_RESULTS};
use crate::route::table::{PathGroup, Row, Treatment, any, looked_up, posted};

pub(in crate::route) static API: Api =
    Api { name: "anthropic", dialects: &[Dialect::Anthropic], paths: PATHS };

static PATHS: &[PathGroup] =
    &[PathGroup { roots: ROOTS, rows: ROWS }, PathGroup { roots: ROOTS, rows: COMPATIBLE }];

/// The paths that are Anthropic's if no provider is named.
pub(super) static OWN: PathGroup = PathGroup { roots: ROOTS, rows: ROWS };

const ROOTS: &[&str] = &["/v1", ""];

const ROWS: &[Row] = &[
    MESSAGES,
    COUNT_TOKENS,
    // The state of a batch contains an address for its results that bypasses callgate.
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

/// Anthropic serves Chat Completions in addition to its own API.
const COMPATIBLE: &[Row] = &[posted("/chat/completions", Treatment::Inspect(Dialect::OpenAiChat))];

const MESSAGES: Row = posted("/messages", Treatment::Inspect(Dialect::Anthropic));
const COUNT_TOKENS: Row =
    posted("/messages/count_tokens", Treatment::PassRestored(Dialect::Anthropic));
const BATCHES: Row = any("/messages/batches/**", Treatment::Refuse(BATCH_RESULTS));

/// The Messages API at servers whose own API is a different one.
pub(super) const MESSAGES_ROWS: &[Row] = &[MESSAGES, COUNT_TOKENS, BATCHES];
