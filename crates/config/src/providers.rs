//! The APIs behind the gateway: the known ones, and what may be said of others.

use callgate_dialect::Dialect;
use callgate_policy::Span;
use callgate_policy::yaml::Problems;
use url::Url;

/// A provider everybody knows.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) base_url: &'static str,
    pub(crate) dialect: Dialect,
}

pub(crate) const KNOWN: [Known; 2] = [
    Known { name: "anthropic", base_url: "https://api.anthropic.com", dialect: Dialect::Anthropic },
    Known { name: "openai", base_url: "https://api.openai.com/v1", dialect: Dialect::OpenAiChat },
];

/// The first parts of paths that the gateway serves itself. A provider's name is the first part
/// of its own paths.
const SERVED: [&str; 7] = ["v1", "v1beta", "healthz", "readyz", "metrics", "mcp", "api"];

/// What is wrong with a provider's name.
pub(crate) fn check_name(name: &str, span: Span, problems: &mut Problems<'_>) {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(plain) {
        problems
            .add(span, format!("`{name}` cannot name a provider"))
            .hint("it is a part of paths: use a-z, 0-9, `_` and `-`");
    } else if SERVED.contains(&name) {
        problems
            .add(span, format!("`{name}` cannot name a provider: the gateway serves that path"))
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
        return Err("it has a user or a password in it");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a `?` or `#` in it");
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
            ("https://me@x.com", "it has a user or a password in it"),
            ("https://:pw@x.com", "it has a user or a password in it"),
            ("https://x.com/?a=1", "it has a `?` or `#` in it"),
            ("https://x.com/#a", "it has a `?` or `#` in it"),
        ];
        for (text, why) in table {
            assert_eq!(base_url(text), Err(why), "{text}");
        }
    }
}
