//! The APIs of providers with all their paths. A provider may support several dialects.

mod anthropic;
mod bedrock;
mod cohere;
mod google;
mod ollama;
mod openai;

use callgate_dialect::Dialect;

use super::table::PathGroup;
use crate::settings::Provider;

/// The API that a provider serves.
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

    /// The API of a provider, from its dialect. Mistral uses some of OpenAI's paths with other
    /// meanings and is recognized by its host.
    pub(super) fn of(provider: &Provider) -> Self {
        let host = provider.base_url.host_str().unwrap_or_default();
        match Self::of_dialect(provider.dialect) {
            Self::OpenAi if is_of(host, "mistral.ai") => Self::Mistral,
            api => api,
        }
    }

    /// The main dialect of the API.
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

/// Whether a host belongs to this domain.
pub(crate) fn is_of(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// All paths of an API.
pub(super) fn path_groups(api: Api) -> &'static [PathGroup] {
    match api {
        Api::Anthropic => anthropic::GROUPS,
        Api::OpenAi => openai::GROUPS,
        Api::Mistral => openai::MISTRAL,
        Api::Google => google::GROUPS,
        Api::Ollama => ollama::GROUPS,
        Api::Cohere => cohere::GROUPS,
        Api::Bedrock => bedrock::GROUPS,
    }
}

/// The API of a path without a provider prefix, and the usual name of its provider. `versioned`
/// distinguishes the few paths that Anthropic and OpenAI share.
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

/// Prefixes of paths that only one API has. The flag means that the path must also end with one of
/// Google's verbs.
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
    // Other APIs only look models up here, and some of their models have a colon in the name.
    ("/v1/models", true, Api::Google, "gemini"),
    ("/api/v1", false, Api::OpenAi, "openrouter"),
    ("/api", false, Api::Ollama, "ollama"),
    ("/v2", false, Api::Cohere, "cohere"),
    ("/model", false, Api::Bedrock, "bedrock"),
];

/// Why several APIs refuse a path.
const ANOTHER_API: &str = "it belongs to an API that callgate does not read";
pub(super) const BATCH_RESULTS: &str =
    "the results of a batch may hold tool calls, and callgate does not read them";
