//! The APIs of providers with all their paths. A provider may support several dialects.

pub(super) mod anthropic;
pub(super) mod bedrock;
pub(super) mod cohere;
pub(super) mod google;
pub(super) mod ollama;
pub(super) mod openai;

use callgate_dialect::Dialect;

use super::table::PathGroup;
use crate::settings::ProviderSettings;

/// The API that a provider serves.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) name: &'static str,
    /// The dialects of its own paths, the main one first.
    pub(super) dialects: &'static [Dialect],
    /// All its paths.
    pub(super) paths: &'static [PathGroup],
}

/// Every API.
pub(super) static ALL: [&Api; 7] = [
    &anthropic::API,
    &openai::API,
    &openai::MISTRAL,
    &google::API,
    &ollama::API,
    &cohere::API,
    &bedrock::API,
];

/// For a dialect that no API has: none of its paths is known, so every request is refused.
static NONE: Api = Api { name: "none", dialects: &[], paths: &[] };

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Api {
    /// The API of a provider, from its dialect. Mistral uses some of OpenAI's paths with other
    /// meanings and is recognized by its host.
    pub(super) fn of(provider: &ProviderSettings) -> &'static Self {
        let host = provider.base_url.host_str().unwrap_or_default();
        let api = Self::of_dialect(provider.dialect);
        if *api == openai::API && is_of(host, "mistral.ai") { &openai::MISTRAL } else { api }
    }

    pub(super) fn of_dialect(dialect: Dialect) -> &'static Self {
        ALL.into_iter().find(|api| api.dialects.contains(&dialect)).unwrap_or(&NONE)
    }

    /// The main dialect.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        self.dialects.first().copied()
    }
}

/// Whether a host belongs to this domain.
pub(crate) fn is_of(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The API of a path without a provider prefix, and the usual name of its provider. `versioned`
/// distinguishes the few paths that Anthropic and OpenAI share.
pub(super) fn usual(path: &str, versioned: bool) -> Option<(&'static Api, &'static str)> {
    let verb = path.rsplit_once(':').is_some_and(|(_, verb)| google::VERBS.contains(&verb));
    let found = PREFIXES.iter().find(|(prefix, with_verb, ..)| {
        (verb || !with_verb) && path.strip_prefix(prefix).is_some_and(ends_a_segment(prefix))
    });
    if let Some((_, _, api, name)) = found {
        return Some((api, name));
    }
    let anthropic = anthropic::OWN.has(path);
    match openai::OWN.iter().any(|part| part.has(path)) {
        true if anthropic && versioned => Some((&anthropic::API, "anthropic")),
        true => Some((&openai::API, "openai")),
        false => anthropic.then_some((&anthropic::API, "anthropic")),
    }
}

fn ends_a_segment(prefix: &str) -> impl Fn(&str) -> bool {
    let whole = prefix.ends_with(['/', ':']);
    move |rest| whole || rest.is_empty() || rest.starts_with('/')
}

/// Prefixes of paths that only one API has. The flag means that the path must also end with one of
/// Google's verbs.
static PREFIXES: [(&str, bool, &Api, &str); 16] = [
    ("/v1internal:", false, &google::API, "code-assist"),
    ("/v1internal", false, &google::API, "code-assist"),
    ("/v1/projects", false, &google::API, "vertex"),
    ("/v1/publishers", false, &google::API, "vertex"),
    ("/v1beta1", false, &google::API, "vertex"),
    ("/v1beta", false, &google::API, "gemini"),
    ("/v1alpha", false, &google::API, "gemini"),
    ("/upload/v1beta", false, &google::API, "gemini"),
    ("/v1/interactions", false, &google::API, "gemini"),
    ("/v1/cachedContents", false, &google::API, "gemini"),
    ("/v1/tunedModels", false, &google::API, "gemini"),
    // Other APIs only look models up here, and some of their models have a colon in the name.
    ("/v1/models", true, &google::API, "gemini"),
    ("/api/v1", false, &openai::API, "openrouter"),
    ("/api", false, &ollama::API, "ollama"),
    ("/v2", false, &cohere::API, "cohere"),
    ("/model", false, &bedrock::API, "bedrock"),
];

/// Why several APIs refuse a path.
const ANOTHER_API: &str = "it belongs to an API that callgate does not read";
pub(super) const BATCH_RESULTS: &str =
    "the results of a batch may hold tool calls, and callgate does not read them";
