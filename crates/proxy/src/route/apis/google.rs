//! Google's paths: the Gemini API, Vertex AI and Code Assist.

use callgate_dialect::Dialect;

use super::{ANOTHER_API, Api, BATCH_RESULTS};
use crate::route::table::{PathGroup, Row, TextFormat, Treatment, any, kept, looked_up, posted};

const GEMINI: Treatment = Treatment::Inspect(Dialect::Gemini);
const COUNTED: Treatment = Treatment::PassRestored(Dialect::Gemini);
const TEXT: Treatment = Treatment::PassText(TextFormat::Json);
const INTERACTIONS: Treatment = Treatment::Inspect(Dialect::Interactions);
const CHAT: Treatment = Treatment::Inspect(Dialect::OpenAiChat);
const MESSAGES: Treatment = Treatment::Inspect(Dialect::Anthropic);

pub(in crate::route) static API: Api =
    Api { name: "google", dialects: &[Dialect::Gemini, Dialect::Interactions], paths: PATHS };

static PATHS: &[PathGroup] = &[
    PathGroup { roots: VERSIONS, rows: MODELS },
    PathGroup { roots: VERSIONS, rows: STORED },
    PathGroup { roots: PUBLISHERS, rows: PUBLISHED },
    PathGroup { roots: LOCATIONS, rows: ENDPOINTS },
    PathGroup { roots: &[""], rows: CODE_ASSIST },
];

/// The methods of models.
pub(super) const VERBS: [&str; 6] = [
    "generateContent",
    "streamGenerateContent",
    "countTokens",
    "embedContent",
    "batchEmbedContents",
    "batchGenerateContent",
];

const VERSIONS: &[&str] = &["/v1beta", "/v1", "/v1alpha", "/v1beta1", "/upload/v1beta", ""];

/// The Gemini API.
const MODELS: &[Row] = &[
    posted("/models/*:generateContent", GEMINI),
    posted("/models/*:streamGenerateContent", GEMINI),
    posted("/tunedModels/*:generateContent", GEMINI),
    posted("/tunedModels/*:streamGenerateContent", GEMINI),
    posted("/models/*:countTokens", COUNTED),
    posted("/models/*:embedContent", TEXT),
    posted("/models/*:batchEmbedContents", TEXT),
    posted("/models/*:batchGenerateContent", Treatment::Refuse(BATCH_RESULTS)),
    posted("/openai/chat/completions", CHAT),
    posted("/openai/embeddings", TEXT),
    looked_up("/openai/models"),
    looked_up("/openai/models/**"),
    posted("/interactions", INTERACTIONS),
    kept("/interactions/*", Dialect::Interactions),
    any("/interactions/*/cancel", INTERACTIONS),
    any("/interactions/**", Treatment::Refuse(ANOTHER_API)),
];

const STORED: &[Row] = &[
    any("/batches/**", Treatment::Refuse(BATCH_RESULTS)),
    any("/files/*:download", Treatment::Refuse(BATCH_RESULTS)),
    any("/files", Treatment::Pass),
    any("/files/*", Treatment::Pass),
    // Content cached here becomes part of a later prompt.
    any("/cachedContents", COUNTED),
    any("/cachedContents/*", COUNTED),
    looked_up("/models"),
    looked_up("/models/*"),
    looked_up("/tunedModels"),
    looked_up("/tunedModels/*"),
];

/// Vertex AI names models by their publisher, with or without a project.
const PUBLISHERS: &[&str] = &[
    "/v1/projects/*/locations/*/publishers",
    "/v1beta1/projects/*/locations/*/publishers",
    "/projects/*/locations/*/publishers",
    "/v1/publishers",
    "/v1beta1/publishers",
    "/publishers",
];

const PUBLISHED: &[Row] = &[
    posted("/google/models/*:generateContent", GEMINI),
    posted("/google/models/*:streamGenerateContent", GEMINI),
    posted("/google/models/*:countTokens", COUNTED),
    posted("/google/models/*:computeTokens", COUNTED),
    posted("/google/models/*:embedContent", TEXT),
    posted("/anthropic/models/count-tokens:rawPredict", COUNTED_MESSAGES),
    posted("/anthropic/models/*:rawPredict", MESSAGES),
    posted("/anthropic/models/*:streamRawPredict", MESSAGES),
    posted("/mistralai/models/*:rawPredict", CHAT),
    posted("/mistralai/models/*:streamRawPredict", CHAT),
    looked_up("/*/models"),
    looked_up("/*/models/*"),
];

const COUNTED_MESSAGES: Treatment = Treatment::PassRestored(Dialect::Anthropic);

const LOCATIONS: &[&str] =
    &["/v1/projects/*/locations/*", "/v1beta1/projects/*/locations/*", "/projects/*/locations/*"];

/// Tuned models, and everything that Vertex AI serves as Chat Completions.
const ENDPOINTS: &[Row] = &[
    posted("/endpoints/*:generateContent", GEMINI),
    posted("/endpoints/*:streamGenerateContent", GEMINI),
    posted("/endpoints/*:countTokens", COUNTED),
    posted("/endpoints/*/chat/completions", CHAT),
    // Content cached here becomes part of a later prompt.
    any("/cachedContents", COUNTED),
    any("/cachedContents/*", COUNTED),
];

/// The paths of the Gemini CLI when it is logged in.
const CODE_ASSIST: &[Row] = &[
    posted("/v1internal:generateContent", GEMINI),
    posted("/v1internal:streamGenerateContent", GEMINI),
    posted("/v1internal:countTokens", COUNTED),
    posted("/v1internal:loadCodeAssist", Treatment::Pass),
    posted("/v1internal:onboardUser", Treatment::Pass),
    posted("/v1internal:listExperiments", Treatment::Pass),
    posted("/v1internal:retrieveUserQuota", Treatment::Pass),
    posted("/v1internal:fetchAdminControls", Treatment::Pass),
    posted("/v1internal:recordCodeAssistMetrics", Treatment::Pass),
    posted("/v1internal:recordClientEvent", Treatment::Pass),
    any("/v1internal:getCodeAssistGlobalUserSetting", Treatment::Pass),
    posted("/v1internal:setCodeAssistGlobalUserSetting", Treatment::Pass),
    looked_up("/v1internal/operations/*"),
];
