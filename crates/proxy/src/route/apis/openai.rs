//! The paths of OpenAI, and of the many providers who serve its APIs below other roots.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, Api, BATCH_RESULTS, anthropic};
use crate::route::table::{PathGroup, Row, TextFormat, Treatment, any, kept, looked_up, posted};

const CHAT: Treatment = Treatment::Inspect(Dialect::OpenAiChat);
const RESPONSES: Treatment = Treatment::Inspect(Dialect::Responses);
const TEXT: Treatment = Treatment::PassText(TextFormat::Json);
const UPLOADED: Treatment = Treatment::PassText(TextFormat::JsonOrForm);

pub(in crate::route) static API: Api =
    Api { name: "openai", dialects: &[Dialect::OpenAiChat, Dialect::Responses], paths: PATHS };

static PATHS: &[PathGroup] = &[
    PathGroup { roots: ROOTS, rows: CHAT_ROWS },
    PathGroup { roots: ROOTS, rows: RESPONSES_ROWS },
    PathGroup { roots: ROOTS, rows: CONVERSATIONS },
    PathGroup { roots: ROOTS, rows: OTHERS },
    PathGroup { roots: MESSAGES_ROOTS, rows: anthropic::MESSAGES_ROWS },
];

/// Mistral's conversations run models and have a dialect of their own.
pub(in crate::route) static MISTRAL: Api =
    Api { name: "mistral", dialects: &[], paths: MISTRAL_PATHS };

static MISTRAL_PATHS: &[PathGroup] = &[
    PathGroup { roots: ROOTS, rows: CHAT_ROWS },
    PathGroup { roots: ROOTS, rows: RESPONSES_ROWS },
    PathGroup { roots: ROOTS, rows: &[any("/conversations/**", Treatment::Refuse(ANOTHER_API))] },
    PathGroup { roots: ROOTS, rows: OTHERS },
];

/// The paths that are OpenAI's if no provider is named, which servers such as Ollama also have.
pub(super) static OWN: [PathGroup; 4] = [
    PathGroup { roots: &["/v1"], rows: CHAT_ROWS },
    PathGroup { roots: &["/v1"], rows: RESPONSES_ROWS },
    PathGroup { roots: &["/v1"], rows: CONVERSATIONS },
    PathGroup { roots: &["/v1"], rows: OTHERS },
];

/// Azure, Groq, OpenRouter, Z.ai, and everyone else.
const ROOTS: &[&str] =
    &["/openai/deployments/*", "/openai/v1", "/openai", "/api/v1", "/api/paas/v4", "/v1", ""];

/// DeepSeek, Azure, OpenRouter, vLLM.
const MESSAGES_ROOTS: &[&str] = &["/anthropic/v1", "/anthropic", "/api/v1", "/v1", ""];

pub(super) const CHAT_ROWS: &[Row] = &[
    any("/chat/completions", CHAT),
    kept("/chat/completions/*", Dialect::OpenAiChat),
    any(
        "/chat/completions/*/messages",
        Treatment::Refuse(
            "stored messages may hold tool calls, and callgate does not read them yet",
        ),
    ),
    any("/chat/deferred-completion/*", CHAT),
    posted("/models/chat/completions", CHAT),
    posted("/fim/completions", CHAT),
    posted("/agents/completions", CHAT),
];

pub(super) const RESPONSES_ROWS: &[Row] = &[
    posted("/responses", RESPONSES),
    posted("/responses/input_tokens", Treatment::PassRestored(Dialect::Responses)),
    posted("/responses/compact", RESPONSES),
    kept("/responses/*", Dialect::Responses),
    any("/responses/*/cancel", RESPONSES),
    any("/responses/*/input_items", RESPONSES),
    any("/responses/**", Treatment::Refuse(ANOTHER_API)),
];

const CONVERSATIONS: &[Row] = &[
    any("/conversations", RESPONSES),
    kept("/conversations/*", Dialect::Responses),
    any("/conversations/*/items", RESPONSES),
    any("/conversations/*/items/*", RESPONSES),
    any("/conversations/**", Treatment::Refuse(ANOTHER_API)),
];

pub(super) const OTHERS: &[Row] = &[
    any("/threads/**", Treatment::Refuse(ANOTHER_API)),
    any("/assistants/**", Treatment::Refuse(ANOTHER_API)),
    any("/agents/**", Treatment::Refuse(ANOTHER_API)),
    any("/realtime/**", Treatment::Refuse(ANOTHER_API)),
    any("/live/**", Treatment::Refuse(ANOTHER_API)),
    looked_up("/models"),
    looked_up("/models/**"),
    posted("/embeddings", TEXT),
    any(
        "/files/*/content",
        Treatment::Refuse(
            "a downloaded file may be the result of a batch with tool calls, and callgate does not read it yet",
        ),
    ),
    any("/files", Treatment::Pass),
    any("/files/*", Treatment::Pass),
    any("/uploads", Treatment::Pass),
    any("/uploads/**", Treatment::Pass),
    // They would run requests that callgate cannot read.
    any("/batches/**", Treatment::Refuse(BATCH_RESULTS)),
    any("/audio/speech", TEXT),
    any("/audio/**", UPLOADED),
    any("/images/generations", TEXT),
    any("/images/**", UPLOADED),
    posted("/moderations", TEXT),
    any("/vector_stores", TEXT),
    any("/vector_stores/**", TEXT),
    looked_up("/organization/**"),
];
