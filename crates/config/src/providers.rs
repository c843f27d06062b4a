//! The providers behind the gateway: the built-in ones, and the checks of others.

use callgate_dialect::Dialect;
use callgate_document::{Problems, SourceSpan};
use url::Url;

/// A built-in provider.
#[derive(Debug)]
pub(crate) struct KnownProvider {
    pub(crate) name: &'static str,
    pub(crate) base_url: &'static str,
    pub(crate) dialect: Dialect,
}

/// Every provider with the same address for all users, and the usual ones on this machine. Azure
/// and Bedrock have an address for each resource and region.
pub(crate) const KNOWN: [KnownProvider; 13] = [
    known("anthropic", "https://api.anthropic.com", Dialect::Anthropic),
    known("openai", "https://api.openai.com/v1", Dialect::OpenAiChat),
    known("gemini", "https://generativelanguage.googleapis.com", Dialect::Gemini),
    known("vertex", "https://aiplatform.googleapis.com", Dialect::Gemini),
    known("code-assist", "https://cloudcode-pa.googleapis.com", Dialect::Gemini),
    known("mistral", "https://api.mistral.ai/v1", Dialect::OpenAiChat),
    known("cohere", "https://api.cohere.com", Dialect::Cohere),
    known("xai", "https://api.x.ai/v1", Dialect::OpenAiChat),
    known("deepseek", "https://api.deepseek.com", Dialect::OpenAiChat),
    known("groq", "https://api.groq.com/openai/v1", Dialect::OpenAiChat),
    known("openrouter", "https://openrouter.ai/api/v1", Dialect::OpenAiChat),
    known("ollama", "http://127.0.0.1:11434", Dialect::Ollama),
    known("vllm", "http://127.0.0.1:8000/v1", Dialect::OpenAiChat),
];

const fn known(name: &'static str, base_url: &'static str, dialect: Dialect) -> KnownProvider {
    KnownProvider { name, base_url, dialect }
}

/// The names of the built-in providers.
pub(crate) fn known_names() -> String {
    KNOWN.iter().map(|known| format!("`{}`", known.name)).collect::<Vec<_>>().join(", ")
}

/// The first parts of paths that the gateway serves itself. A provider's name is the first part
/// of its own paths.
const SERVED: [&str; 13] = [
    "v1",
    "v1beta",
    "v1beta1",
    "v1alpha",
    "v1internal",
    "v2",
    "upload",
    "model",
    "api",
    "healthz",
    "readyz",
    "metrics",
    "mcp",
];

/// What is wrong with a provider's name.
pub(crate) fn check_name(name: &str, span: SourceSpan, problems: &mut Problems<'_>) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(plain) {
        problems
            .add(span, format!("`{name}` is not a valid provider name"))
            .hint("it becomes part of URL paths: use a-z, 0-9, `_` and `-`");
    } else if SERVED.contains(&name) {
        problems
            .add(
                span,
                format!(
                    "`{name}` cannot be the name of a provider: the gateway serves that path itself"
                ),
            )
            .hint("choose another name");
    }
}

/// The URL under which an API is reached, or what is wrong with it.
pub(crate) fn base_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "it is not a URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("it is neither http nor https");
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("it has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name or a password");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it contains a `?` or `#`");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        for text in ["https://api.openai.com/v1", "http://127.0.0.1:80/", "https://[::1]/a/b/"] {
            assert!(base_url(text).is_ok(), "{text}");
        }
        let table = [
            ("api.openai.com", "it is not a URL"),
            ("ftp://x.com", "it is neither http nor https"),
            ("https://", "it is not a URL"),
            ("https://me@x.com", "it contains a user name or a password"),
            ("https://:pw@x.com", "it contains a user name or a password"),
            ("https://x.com/?a=1", "it contains a `?` or `#`"),
            ("https://x.com/#a", "it contains a `?` or `#`"),
        ];
        for (text, why) in table {
            assert_eq!(base_url(text), Err(why), "{text}");
        }
    }
}
