//! Cohere's paths.

use callgate_dialect::Dialect;

use crate::route::table::{Part, Row, Said, Treatment, any, looked_up, posted};

pub(super) static PARTS: &[Part] = &[
    Part { roots: &["/v2", ""], rows: SECOND },
    Part { roots: &["/v1", ""], rows: FIRST },
    Part { roots: &["/compatibility/v1"], rows: COMPATIBLE },
];

const SAID: Treatment = Treatment::PassSaid(Said::Json);

const SECOND: &[Row] = &[
    posted("/chat", Treatment::Inspect(Dialect::Cohere)),
    posted("/embed", SAID),
    posted("/rerank", SAID),
];

const FIRST: &[Row] = &[
    any(
        "/chat/**",
        Treatment::Refuse("callgate does not read version 1 of Cohere's chat; use /v2/chat"),
    ),
    posted("/embed", SAID),
    posted("/rerank", SAID),
    posted("/classify", SAID),
    posted("/tokenize", SAID),
    posted("/detokenize", Treatment::Pass),
    posted("/check-api-key", Treatment::Pass),
    looked_up("/models"),
    looked_up("/models/*"),
];

const COMPATIBLE: &[Row] = &[
    posted("/chat/completions", Treatment::Inspect(Dialect::OpenAiChat)),
    posted("/embeddings", SAID),
];
