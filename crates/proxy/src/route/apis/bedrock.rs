//! Amazon Bedrock's paths.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, Api, openai};
use crate::route::table::{PathGroup, Row, TextFormat, Treatment, any, posted};

pub(in crate::route) static API: Api =
    Api { name: "bedrock", dialects: &[Dialect::Converse, Dialect::Invoke], paths: PATHS };

static PATHS: &[PathGroup] = &[
    PathGroup { roots: &[""], rows: ROWS },
    PathGroup { roots: &["/openai/v1"], rows: openai::CHAT_ROWS },
    PathGroup { roots: &["/openai/v1"], rows: openai::RESPONSES_ROWS },
];

const CONVERSE: Treatment = Treatment::Inspect(Dialect::Converse);
const INVOKE: Treatment = Treatment::Inspect(Dialect::Invoke);

const ROWS: &[Row] = &[
    posted("/model/*/converse", CONVERSE),
    posted("/model/*/converse-stream", CONVERSE),
    posted("/model/*/invoke", INVOKE),
    posted("/model/*/invoke-with-response-stream", INVOKE),
    posted("/model/*/count-tokens", Treatment::PassRestored(Dialect::Converse)),
    // A bidirectional stream, and results that are written to a bucket.
    any("/model/*/invoke-with-bidirectional-stream", Treatment::Refuse(ANOTHER_API)),
    any("/async-invoke/**", Treatment::Refuse(ANOTHER_API)),
    posted("/guardrail/*/version/*/apply", Treatment::PassText(TextFormat::Json)),
];
