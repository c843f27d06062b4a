//! Cohere's paths.

use callgate_dialect::Dialect;

use super::Api;
use crate::route::table::{PathGroup, Row, TextFormat, Treatment, any, looked_up, posted};

pub(in crate::route) static API: Api =
    Api { name: "cohere", dialects: &[Dialect::Cohere], paths: PATHS };

static PATHS: &[PathGroup] = &[
    PathGroup { roots: &["/v2", ""], rows: SECOND },
    PathGroup { roots: &["/v1", ""], rows: FIRST },
    PathGroup { roots: &["/compatibility/v1"], rows: COMPATIBLE },
];

const TEXT: Treatment = Treatment::PassText(TextFormat::Json);

const SECOND: &[Row] = &[
    posted("/chat", Treatment::Inspect(Dialect::Cohere)),
    posted("/embed", TEXT),
    posted("/rerank", TEXT),
];

const FIRST: &[Row] = &[
    any(
        "/chat/**",
        Treatment::Refuse("callgate does not read version 1 of Cohere's chat; use /v2/chat"),
    ),
    posted("/embed", TEXT),
    posted("/rerank", TEXT),
    posted("/classify", TEXT),
    posted("/tokenize", TEXT),
    posted("/detokenize", Treatment::Pass),
    posted("/check-api-key", Treatment::Pass),
    looked_up("/models"),
    looked_up("/models/*"),
];

const COMPATIBLE: &[Row] = &[
    posted("/chat/completions", Treatment::Inspect(Dialect::OpenAiChat)),
    posted("/embeddings", TEXT),
];
