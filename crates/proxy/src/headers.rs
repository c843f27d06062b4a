//! Selects the headers to forward. Headers about a single connection, a changed body or callgate
//! itself are removed.

use callgate_dialect::Dialect;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LOCATION, CONTENT_TYPE,
    LOCATION,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::access::KEY_HEADERS;
use crate::route::{ProviderRoute, is_of};
use crate::settings::{ApiKey, ProviderSettings};

/// Whether a header is about a single connection (RFC 9110, section 7.6.1).
fn is_of_connection(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
    )
}

/// Whether a header is about the exact bytes of a body, which may have changed.
fn is_of_body(name: &str) -> bool {
    matches!(
        name,
        "content-length"
            | "content-encoding"
            | "etag"
            | "accept-ranges"
            | "content-md5"
            | "digest"
            | "content-digest"
            | "repr-digest"
    )
}

/// Some servers take the method from these headers instead of the request line that was routed.
fn is_other_method(name: &str) -> bool {
    matches!(name, "x-http-method-override" | "x-http-method" | "x-method-override")
}

/// Removes the headers for whose names this holds. Messages have few headers, so they are gone through
/// once instead of looking up each name.
fn remove(headers: &mut HeaderMap, is_removed: impl Fn(&str) -> bool) {
    while let Some(name) = headers.keys().find(|name| is_removed(name.as_str())).cloned() {
        headers.remove(name);
    }
}

/// What happens to the body of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyUse {
    /// It is read.
    Read,
    /// It is only copied.
    Copied,
}

/// Prepares request headers for the provider.
pub(crate) fn for_provider(headers: &mut HeaderMap, body: BodyUse) {
    let is_read = body == BodyUse::Read;
    remove_named_by_connection(headers);
    remove(headers, |name| {
        // callgate handles these itself or sets new values.
        let is_own = matches!(name, "host" | "expect") || name.starts_with("x-callgate-");
        // A partial body cannot be judged.
        let is_partial = is_read && matches!(name, "range" | "if-range");
        is_of_connection(name) || is_own || is_other_method(name) || is_partial
    });
    if is_read {
        // An encoded body would have to be decoded here anyway.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
}

/// Prepares response headers for the client. No header may direct the client around the gate.
pub(crate) fn for_client(headers: &mut HeaderMap) {
    remove_named_by_connection(headers);
    remove(headers, |name| is_of_connection(name) || matches!(name, "alt-svc" | "refresh"));
    for name in [LOCATION, CONTENT_LOCATION] {
        if headers.get_all(&name).iter().any(|value| !stays_here(value.as_bytes())) {
            headers.remove(&name);
        }
    }
}

/// Whether an address is a path, so that the client returns to the gateway. Clients drop tabs from
/// addresses, which can join two slashes.
fn stays_here(address: &[u8]) -> bool {
    let is_path = matches!(address, [b'/', rest @ ..] if !matches!(rest, [b'/' | b'\\', ..]));
    is_path && !address.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

/// Removes headers that describe the provider's body, because the body may change.
pub(crate) fn body_changes(headers: &mut HeaderMap) {
    remove(headers, is_of_body);
}

/// Adds headers that name the denied calls of a whole answer, for programs.
pub(crate) fn announce_denials(headers: &mut HeaderMap, records: &[String]) {
    if records.is_empty() {
        return;
    }
    headers.insert(DENIED, HeaderValue::from(records.len()));
    let shown = records.get(..MAX_ANNOUNCED).unwrap_or(records).join(",");
    if let Ok(ids) = HeaderValue::from_str(&shown) {
        headers.insert(RECORDS, ids);
    }
}

/// How many calls were denied.
const DENIED: HeaderName = HeaderName::from_static("x-callgate-denied");

/// The ids of their records, separated by commas.
const RECORDS: HeaderName = HeaderName::from_static("x-callgate-records");

/// Clients bound the size of a header.
const MAX_ANNOUNCED: usize = 64;

/// Removes the headers that `Connection` names: they are about this connection too.
fn remove_named_by_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
}

/// Removes the key that the client sent to the provider.
pub(crate) fn drop_keys(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    for name in KEY_HEADERS {
        headers.remove(name);
    }
}

/// Adds the provider's key in the header that the provider expects.
pub(crate) fn swap_key(headers: &mut HeaderMap, route: &ProviderRoute, key: &ApiKey) -> Option<()> {
    // Signing keys are not sent.
    let Some(key) = key.reveal() else { return Some(()) };
    let name = key_header(&route.site.provider, route.dialect);
    let text = match name {
        "authorization" => format!("Bearer {key}"),
        _ => key.to_owned(),
    };
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Some(())
}

/// The header for the key. It depends on the provider and not on the path, because a provider that
/// serves the API of another uses its own kind of key.
fn key_header(provider: &ProviderSettings, dialect: Dialect) -> &'static str {
    let own = provider.dialect.http();
    match provider.base_url.host_str() {
        Some(host) if is_of(host, "azure.com") => "api-key",
        _ if provider.supports(dialect) => own.key_header,
        _ => own.compatible_key_header,
    }
}

/// All credentials of the client. Responses are bound to them.
pub(crate) fn credentials(headers: &HeaderMap) -> Vec<&[u8]> {
    let of = |name: &str| headers.get_all(name).iter().map(HeaderValue::as_bytes);
    [AUTHORIZATION.as_str()].into_iter().chain(KEY_HEADERS).flat_map(of).collect()
}

/// All values of the header, as one list.
pub(crate) fn content_encoding(headers: &HeaderMap) -> Result<String, http::header::ToStrError> {
    let values = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::to_str);
    Ok(values.collect::<Result<Vec<_>, _>>()?.join(","))
}

/// Whether the headers announce a stream. The body is still recognized by its bytes.
pub(crate) fn announces_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|value| {
        let value = value.trim_start();
        let begins_with =
            |kind: &&str| value.get(..kind.len()).is_some_and(|it| it.eq_ignore_ascii_case(kind));
        STREAMS.iter().any(begins_with)
    })
}

/// Server-sent events, JSON lines, and Amazon's event stream.
const STREAMS: [&str; 3] =
    ["text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"];

/// A character set other than UTF-8: some clients would read different text than callgate.
pub(crate) fn foreign_charset(headers: &HeaderMap) -> Option<String> {
    let has_parameters = |value: &&HeaderValue| value.as_bytes().contains(&b';');
    headers.get_all(CONTENT_TYPE).iter().filter(has_parameters).find_map(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        value.split(';').skip(1).find_map(|parameter| {
            let (name, charset) = parameter.split_once('=')?;
            let charset = charset.trim().trim_matches('"');
            let foreign = name.trim().starts_with("charset")
                && !["utf-8", "utf8", "us-ascii"].contains(&charset);
            foreign.then(|| charset.to_owned())
        })
    })
}

/// Whether the content type is a multipart form.
pub(crate) fn is_form(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(http::header::CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else { return false };
    let start = only.as_bytes().get(..10).unwrap_or_default();
    start.eq_ignore_ascii_case(b"multipart/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn hop_by_hop_headers_and_those_they_name_are_removed() {
        let mut headers = map(&[
            ("connection", "close, x-secret-hop"),
            ("x-secret-hop", "1"),
            ("keep-alive", "5"),
            ("te", "trailers"),
            ("x-callgate-key", "cg_x"),
            ("x-callgate-user", "root"),
            ("range", "bytes=0-1"),
            ("x-http-method-override", "GET"),
            ("accept-encoding", "br"),
            ("x-api-key", "k"),
            ("anthropic-beta", "b"),
        ]);
        for_provider(&mut headers, BodyUse::Read);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept-encoding", "anthropic-beta", "x-api-key"]);
        assert_eq!(headers[ACCEPT_ENCODING], "identity");
    }

    #[test]
    fn each_provider_gets_its_key_in_the_header_it_expects() {
        use Dialect::{Anthropic, Converse, Gemini, Interactions, OpenAiChat, Responses};
        for (base_url, own, dialect, header) in [
            ("https://api.anthropic.com", Anthropic, Anthropic, "x-api-key"),
            ("https://api.openai.com/v1", OpenAiChat, Responses, "authorization"),
            ("https://r.openai.azure.com", OpenAiChat, OpenAiChat, "api-key"),
            ("https://r.services.ai.azure.com/anthropic", Anthropic, Anthropic, "api-key"),
            ("https://notazure.com", OpenAiChat, OpenAiChat, "authorization"),
            ("https://g.example", Gemini, Interactions, "x-goog-api-key"),
            ("https://g.example", Gemini, OpenAiChat, "authorization"),
            ("https://g.example", Gemini, Anthropic, "authorization"),
            ("https://api.deepseek.com", OpenAiChat, Anthropic, "authorization"),
            ("https://aws.example", Converse, Converse, "authorization"),
        ] {
            let (name, base_url) = ("x".to_owned(), base_url.parse().unwrap());
            let provider = ProviderSettings { name, base_url, dialect: own, api_key: None };
            assert_eq!(key_header(&provider, dialect), header, "{own:?} {dialect:?}");
        }
    }

    #[test]
    fn a_changed_body_loses_the_headers_that_described_it() {
        let mut headers = map(&[
            ("content-length", "3"),
            ("etag", "x"),
            ("content-digest", "x"),
            ("request-id", "r"),
            ("alt-svc", "h3=\":443\""),
            ("refresh", "0; url=https://elsewhere.example"),
            ("location", "https://elsewhere.example/v1/x"),
            ("content-location", "//elsewhere.example"),
        ]);
        for_client(&mut headers);
        body_changes(&mut headers);
        let left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["request-id"]);
    }

    #[test]
    fn only_paths_lead_to_the_gateway_again() {
        for (address, stays) in [
            ("/v1/x", true),
            ("/v1/x?y=%09/z#a", true),
            ("//elsewhere.example", false),
            ("/\\elsewhere.example", false),
            ("/\t/elsewhere.example", false),
            ("/\t\\elsewhere.example", false),
            ("\t//elsewhere.example", false),
            ("https://elsewhere.example", false),
        ] {
            assert_eq!(stays_here(address.as_bytes()), stays, "{address:?}");
        }
    }

    #[test]
    fn other_character_sets_are_seen() {
        let set = |value| foreign_charset(&map(&[("content-type", value)]));
        assert_eq!(set("application/json"), None);
        assert_eq!(set("application/json; charset=UTF-8"), None);
        assert_eq!(set("text/event-stream;charset=\"utf-16\""), Some("utf-16".to_owned()));
        assert!(set("application/json; charset*=us-ascii''utf-7").is_some());
    }
}
