//! Ollama's paths: its own, and those of others on the same port.

use callgate_dialect::Dialect;

use super::{anthropic, openai};
use crate::route::table::{Part, Row, Said, Treatment, any, looked_up, posted};

pub(super) static PARTS: &[Part] = &[
    Part { roots: &["/api"], rows: ROWS },
    Part { roots: ROOTS, rows: openai::CHAT_ROWS },
    Part { roots: ROOTS, rows: openai::RESPONSES_ROWS },
    Part { roots: ROOTS, rows: openai::OTHERS },
    Part { roots: ROOTS, rows: anthropic::MESSAGES_ROWS },
];

/// The APIs of others, on the same port.
const ROOTS: &[&str] = &["/v1"];

const SAID: Treatment = Treatment::PassSaid(Said::Json);

const ROWS: &[Row] = &[
    posted("/chat", Treatment::Inspect(Dialect::Ollama)),
    posted("/generate", Treatment::Inspect(Dialect::Ollama)),
    looked_up("/tags"),
    looked_up("/ps"),
    looked_up("/version"),
    looked_up("/delete"),
    posted("/show", Treatment::Pass),
    posted("/embed", SAID),
    posted("/embeddings", SAID),
    posted("/pull", Treatment::Pass),
    posted("/push", Treatment::Pass),
    posted("/create", SAID),
    posted("/copy", Treatment::Pass),
    any("/blobs/*", Treatment::Pass),
];
