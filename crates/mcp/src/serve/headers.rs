//! The headers of HTTP requests, which repeat parts of the body. Programs in between may have
//! routed by them, so they must agree.

use callgate_json::{Span, member};
use http::{HeaderMap, HeaderValue};

use crate::http::mirror::decode;
use crate::params::{self, REVISION};

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The revision in the headers, if it is readable.
pub(crate) fn revision(headers: &HeaderMap) -> Option<String> {
    one(headers, VERSION, as_it_is).ok().flatten()
}

/// The parts of a request's body that headers repeat.
#[derive(Debug)]
pub(crate) struct RepeatedParts<'a> {
    pub(crate) method: &'a str,
    /// The message.
    pub(crate) text: &'a str,
    pub(crate) params: Option<Span>,
}

/// Whether the headers agree with the body; otherwise which one does not. The older revisions
/// repeat nothing.
pub(crate) fn check(headers: &HeaderMap, body: &RepeatedParts<'_>) -> Result<(), String> {
    let meta = params::meta(body.text, body.params);
    let Some(revision) = meta.and_then(|meta| member(body.text, meta, REVISION)) else {
        return Ok(());
    };
    // An invalid one is reported with the rest of the metadata.
    let revision = params::string(body.text, revision).unwrap_or_default();
    agrees("MCP-Protocol-Version", one(headers, VERSION, as_it_is)?, &revision)?;
    agrees("Mcp-Method", one(headers, METHOD, as_it_is)?, body.method)?;
    let key = match body.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let named = body.params.and_then(|at| params::text_member(body.text, at, key));
    let Some(named) = named else { return Ok(()) };
    agrees("Mcp-Name", one(headers, NAME, decode)?, &named)
}

fn agrees(header: &str, value: Option<String>, body: &str) -> Result<(), String> {
    match value {
        Some(value) if value == body => Ok(()),
        Some(_) => Err(format!("the header `{header}` contradicts the body")),
        None => Err(format!("the header `{header}` is missing")),
    }
}

/// The value of a header that may occur only once.
fn one(headers: &HeaderMap, name: &str, read: HeaderParser) -> Result<Option<String>, String> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(format!("the header `{name}` appears twice"));
    }
    let unreadable = || format!("the header `{name}` cannot be read");
    first.map(|value| read(value).ok_or_else(unreadable)).transpose()
}

type HeaderParser = fn(&HeaderValue) -> Option<String>;

/// The value, unchanged.
fn as_it_is(value: &HeaderValue) -> Option<String> {
    value.to_str().ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use callgate_json::document;

    use super::*;

    fn problem(value: &[(&'static str, &str)], method: &str, params: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in value {
            headers.append(*name, value.parse().unwrap());
        }
        let body = RepeatedParts { method, text: params, params: Some(document(params)) };
        check(&headers, &body).err()
    }

    const MODERN: (&str, &str) = (VERSION, "2026-07-28");

    fn meta(rest: &str) -> String {
        format!(r#"{{"_meta":{{"{REVISION}":"2026-07-28"}}{rest}}}"#)
    }

    #[test]
    fn matching_headers_pass() {
        let named = meta(r#","name":"evaluate""#);
        let call = (METHOD, "tools/call");
        for name in ["evaluate", "  evaluate ", "=?base64?ZXZhbHVhdGU=?="] {
            assert_eq!(
                problem(&[MODERN, call, (NAME, name)], "tools/call", &named),
                None,
                "{name}"
            );
        }
        let list = [MODERN, (METHOD, "tools/list"), (NAME, "anything")];
        assert_eq!(problem(&list, "tools/list", &meta("")), None);
        // The older revisions have at most one of these headers, and no metadata.
        assert_eq!(problem(&[(METHOD, "tools/list")], "tools/call", "{}"), None);
    }

    #[test]
    fn contradicting_headers_are_refused() {
        let named = meta(r#","name":"evaluate""#);
        let call = (METHOD, "tools/call");
        let table: [&[(&'static str, &str)]; 10] = [
            &[call, (NAME, "evaluate")],
            &[(VERSION, "2025-11-25"), call, (NAME, "evaluate")],
            &[MODERN, (NAME, "evaluate")],
            &[MODERN, (METHOD, "TOOLS/CALL"), (NAME, "evaluate")],
            &[MODERN, call],
            &[MODERN, call, (NAME, "explain")],
            &[MODERN, call, (NAME, "=?base64?ZXZhbHVhdGU?=")],
            &[MODERN, call, (NAME, "=?base64?ZXZh!HVhdGU=?=")],
            &[MODERN, call, call, (NAME, "evaluate")],
            &[MODERN, call, (NAME, "evalu\u{e9}te")],
        ];
        for value in table {
            assert!(problem(value, "tools/call", &named).is_some(), "{value:?}");
        }
    }
}
