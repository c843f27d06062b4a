//! OpenAI's paths, and those of the many who speak its APIs below other roots.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, BATCH_RESULTS, anthropic};
use crate::route::table::{Part, Row, Said, Treatment, any, kept, looked_up, posted};

const CHAT: Treatment = Treatment::Inspect(Dialect::OpenAiChat);
const RESPONSES: Treatment = Treatment::Inspect(Dialect::Responses);
const SAID: Treatment = Treatment::PassSaid(Said::Json);
const UPLOADED: Treatment = Treatment::PassSaid(Said::JsonOrForm);

pub(super) static PARTS: &[Part] = &[
    Part { roots: ROOTS, rows: CHAT_ROWS },
    Part { roots: ROOTS, rows: RESPONSES_ROWS },
    Part { roots: ROOTS, rows: CONVERSATIONS },
    Part { roots: ROOTS, rows: OTHERS },
    Part { roots: MESSAGES_ROOTS, rows: anthropic::MESSAGES_ROWS },
];

/// Mistral's conversations run models, and answer in a dialect of their own.
pub(super) static MISTRAL: &[Part] = &[
    Part { roots: ROOTS, rows: CHAT_ROWS },
    Part { roots: ROOTS, rows: RESPONSES_ROWS },
    Part { roots: ROOTS, rows: &[any("/conversations/**", Treatment::Refuse(ANOTHER_API))] },
    Part { roots: ROOTS, rows: OTHERS },
];

/// What is OpenAI's where no provider is named, and what servers such as Ollama have of it.
pub(super) static OWN: [Part; 4] = [
    Part { roots: &["/v1"], rows: CHAT_ROWS },
    Part { roots: &["/v1"], rows: RESPONSES_ROWS },
    Part { roots: &["/v1"], rows: CONVERSATIONS },
    Part { roots: &["/v1"], rows: OTHERS },
];

/// Azure, Groq, OpenRouter, Z.ai, and everybody else.
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
    posted("/embeddings", SAID),
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
    // Requests that nobody reads would run in them.
    any("/batches/**", Treatment::Refuse(BATCH_RESULTS)),
    any("/audio/speech", SAID),
    any("/audio/**", UPLOADED),
    any("/images/generations", SAID),
    any("/images/**", UPLOADED),
    posted("/moderations", SAID),
    any("/vector_stores", SAID),
    any("/vector_stores/**", SAID),
    looked_up("/organization/**"),
];
