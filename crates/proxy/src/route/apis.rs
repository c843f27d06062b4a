//! The APIs that providers have, each with all its paths. One provider may speak several dialects.

mod anthropic;
mod bedrock;
mod cohere;
mod google;
mod ollama;
mod openai;

use callgate_dialect::Dialect;

use super::table::Part;
use crate::settings::Provider;

/// What a provider serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Anthropic,
    OpenAi,
    Mistral,
    Google,
    Ollama,
    Cohere,
    Bedrock,
}

impl Api {
    pub(super) const ALL: [Self; 7] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::Mistral,
        Self::Google,
        Self::Ollama,
        Self::Cohere,
        Self::Bedrock,
    ];

    /// The API of a provider: that of its dialect. Mistral has paths of OpenAI's names that mean
    /// something else, and is known by its host.
    pub(super) fn of(provider: &Provider) -> Self {
        let host = provider.base_url.host_str().unwrap_or_default();
        match Self::of_dialect(provider.dialect) {
            Self::OpenAi if is_of(host, "mistral.ai") => Self::Mistral,
            api => api,
        }
    }

    /// The dialect it is known for.
    pub(super) fn dialect(self) -> Dialect {
        match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::OpenAi | Self::Mistral => Dialect::OpenAiChat,
            Self::Google => Dialect::Gemini,
            Self::Ollama => Dialect::Ollama,
            Self::Cohere => Dialect::Cohere,
            Self::Bedrock => Dialect::Converse,
        }
    }

    pub(super) fn of_dialect(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Anthropic => Self::Anthropic,
            Dialect::OpenAiChat | Dialect::Responses => Self::OpenAi,
            Dialect::Gemini | Dialect::Interactions => Self::Google,
            Dialect::Ollama => Self::Ollama,
            Dialect::Cohere => Self::Cohere,
            Dialect::Converse | Dialect::Invoke => Self::Bedrock,
        }
    }
}

/// Whether a host is this domain's.
pub(crate) fn is_of(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// All the paths of an API.
pub(super) fn parts(api: Api) -> &'static [Part] {
    match api {
        Api::Anthropic => anthropic::PARTS,
        Api::OpenAi => openai::PARTS,
        Api::Mistral => openai::MISTRAL,
        Api::Google => google::PARTS,
        Api::Ollama => ollama::PARTS,
        Api::Cohere => cohere::PARTS,
        Api::Bedrock => bedrock::PARTS,
    }
}

/// Whose path it is, when no provider is named in it: the API, and the usual name of the provider.
/// `versioned` tells apart the few paths that Anthropic and OpenAI share.
pub(super) fn usual(path: &str, versioned: bool) -> Option<(Api, &'static str)> {
    let verb = path.rsplit_once(':').is_some_and(|(_, verb)| google::VERBS.contains(&verb));
    let found = PREFIXES.iter().find(|(prefix, with_verb, ..)| {
        (verb || !with_verb) && path.strip_prefix(prefix).is_some_and(ends_a_segment(prefix))
    });
    if let Some((_, _, api, name)) = found {
        return Some((*api, name));
    }
    let anthropic = anthropic::OWN.has(path);
    match openai::OWN.iter().any(|part| part.has(path)) {
        true if anthropic && versioned => Some((Api::Anthropic, "anthropic")),
        true => Some((Api::OpenAi, "openai")),
        false => anthropic.then_some((Api::Anthropic, "anthropic")),
    }
}

fn ends_a_segment(prefix: &str) -> impl Fn(&str) -> bool {
    let whole = prefix.ends_with(['/', ':']);
    move |rest| whole || rest.is_empty() || rest.starts_with('/')
}

/// How paths begin that only one API has; the flag says that they must end with a verb of Google's.
const PREFIXES: [(&str, bool, Api, &str); 16] = [
    ("/v1internal:", false, Api::Google, "code-assist"),
    ("/v1internal", false, Api::Google, "code-assist"),
    ("/v1/projects", false, Api::Google, "vertex"),
    ("/v1/publishers", false, Api::Google, "vertex"),
    ("/v1beta1", false, Api::Google, "vertex"),
    ("/v1beta", false, Api::Google, "gemini"),
    ("/v1alpha", false, Api::Google, "gemini"),
    ("/upload/v1beta", false, Api::Google, "gemini"),
    ("/v1/interactions", false, Api::Google, "gemini"),
    ("/v1/cachedContents", false, Api::Google, "gemini"),
    ("/v1/tunedModels", false, Api::Google, "gemini"),
    // Others only look models up here, and some of those have a colon in their names.
    ("/v1/models", true, Api::Google, "gemini"),
    ("/api/v1", false, Api::OpenAi, "openrouter"),
    ("/api", false, Api::Ollama, "ollama"),
    ("/v2", false, Api::Cohere, "cohere"),
    ("/model", false, Api::Bedrock, "bedrock"),
];

/// What several APIs refuse.
const ANOTHER_API: &str = "it belongs to an API that callgate does not read";
pub(super) const BATCH_RESULTS: &str =
    "the results of a batch may hold tool calls, and callgate does not read them";
