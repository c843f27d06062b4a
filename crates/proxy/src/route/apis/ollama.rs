//! Ollama's paths: its own, and those of other APIs on the same port.

use callgate_dialect::Dialect;

use super::{Api, anthropic, openai};
use crate::route::table::{PathGroup, Row, TextFormat, Treatment, any, looked_up, posted};

pub(in crate::route) static API: Api =
    Api { name: "ollama", dialects: &[Dialect::Ollama], paths: PATHS };

static PATHS: &[PathGroup] = &[
    PathGroup { roots: &["/api"], rows: ROWS },
    PathGroup { roots: ROOTS, rows: openai::CHAT_ROWS },
    PathGroup { roots: ROOTS, rows: openai::RESPONSES_ROWS },
    PathGroup { roots: ROOTS, rows: openai::OTHERS },
    PathGroup { roots: ROOTS, rows: anthropic::MESSAGES_ROWS },
];

/// The APIs of others, on the same port.
const ROOTS: &[&str] = &["/v1"];

const TEXT: Treatment = Treatment::PassText(TextFormat::Json);

const ROWS: &[Row] = &[
    posted("/chat", Treatment::Inspect(Dialect::Ollama)),
    posted("/generate", Treatment::Inspect(Dialect::Ollama)),
    looked_up("/tags"),
    looked_up("/ps"),
    looked_up("/version"),
    looked_up("/delete"),
    posted("/show", Treatment::Pass),
    posted("/embed", TEXT),
    posted("/embeddings", TEXT),
    posted("/pull", Treatment::Pass),
    posted("/push", Treatment::Pass),
    posted("/create", TEXT),
    posted("/copy", Treatment::Pass),
    any("/blobs/*", Treatment::Pass),
];
