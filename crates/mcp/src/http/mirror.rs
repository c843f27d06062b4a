//! Headers that repeat values of the body. Programs in between may route by a header, so both must
//! agree: only the body is judged.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use callgate_json::{Span, Value};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::message::{RpcMessage, RpcMessageKind};
use crate::params::{self, NameKey, NamedParams};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const PARAMETER: &str = "mcp-param-";

/// The key with which a definition requests that an argument is repeated in a header.
const DECLARED: &str = "x-mcp-header";

/// The first header that contradicts the body, if any.
pub(super) fn disagreement(headers: &HeaderMap, message: &RpcMessage<'_>) -> Option<HeaderName> {
    let (method, params) = match &message.kind {
        RpcMessageKind::Request { method, params, .. }
        | RpcMessageKind::Notification { method, params } => (Some(method.as_ref()), *params),
        RpcMessageKind::Answer { .. } => (None, None),
    };
    let text = message.text;
    let name = method.and_then(|method| named(method, text, params?));
    let meta = params::meta(text, params);
    let revision = meta.and_then(|meta| params::text_member(text, meta, params::REVISION));
    // The older revisions have the revision only in the header, and `Mcp-Name` means nothing for a
    // request that names nothing.
    differs(headers, &METHOD, method, Absent::Differs)
        .or_else(|| differs(headers, &NAME, name.as_deref(), Absent::Passes))
        .or_else(|| differs(headers, &REVISION, revision.as_deref(), Absent::Passes))
}

/// The meaning of a header without a counterpart in the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Differs,
    Passes,
}

fn differs(
    headers: &HeaderMap,
    header: &HeaderName,
    body: Option<&str>,
    absent: Absent,
) -> Option<HeaderName> {
    let mut values = headers.get_all(header).iter();
    let value = values.next()?;
    let is_same = match body {
        Some(body) => decode(value).as_deref() == Some(body),
        None => absent == Absent::Passes,
    };
    // With two values, readers differ in which one they use.
    let is_same = is_same && values.next().is_none();
    (!is_same).then(|| header.clone())
}

/// The name or URI in a request, as the header repeats it.
fn named(method: &str, text: &str, params: Span) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => NameKey::Name,
        "resources/read" => NameKey::Uri,
        _ => return None,
    };
    NamedParams::read(text, params, key).ok().map(|named| named.name.into_owned())
}

/// The arguments of a tool that are repeated, with their headers.
#[derive(Default)]
pub(super) struct MirroredArguments(Vec<(HeaderName, Vec<String>)>);

impl MirroredArguments {
    /// Reads them from the tool's definition.
    pub(super) fn of(definition: &str) -> Self {
        let mut found = Vec::new();
        if let Some(schema) =
            Value::parse(definition).ok().as_ref().and_then(|it| it.get("inputSchema"))
        {
            collect(schema, &mut Vec::new(), &mut found);
        }
        Self(found)
    }

    /// The first header that contradicts the arguments, if any.
    pub(super) fn disagreement(&self, headers: &HeaderMap, arguments: &str) -> Option<HeaderName> {
        let arguments = Value::parse(arguments).unwrap_or(Value::Null);
        self.0.iter().find_map(|(header, path)| {
            let mut values = headers.get_all(header).iter();
            let header_value = values.next()?;
            let is_same =
                at(&arguments, path).is_some_and(|value| matches_header(value, header_value));
            (!is_same || values.next().is_some()).then(|| header.clone())
        })
    }

    /// Updates the headers to match changed arguments. A header without a known argument is
    /// removed, because it may contain what was removed from the arguments.
    pub(super) fn rewrite(&self, headers: &mut HeaderMap, arguments: &str) {
        let arguments = Value::parse(arguments).unwrap_or(Value::Null);
        let is_mirrored = |name: &&HeaderName| name.as_str().starts_with(PARAMETER);
        let header_value: Vec<HeaderName> = headers.keys().filter(is_mirrored).cloned().collect();
        for header in header_value {
            headers.remove(&header);
            let path = self.0.iter().find(|(known, _)| *known == header).map(|(_, path)| path);
            let value = path.and_then(|path| at(&arguments, path)).and_then(written);
            if let Some(value) = value {
                headers.insert(header, value);
            }
        }
    }
}

/// Collects the headers that properties declare, at any level.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<(HeaderName, Vec<String>)>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        if found.len() >= MAX_REPEATED || path.len() >= MAX_DEPTH {
            return;
        }
        path.push(name.clone());
        let declared = property.get(DECLARED).and_then(Value::as_str);
        let header = declared.and_then(|name| format!("{PARAMETER}{name}").parse().ok());
        found.extend(header.map(|header| (header, path.clone())));
        collect(property, path, found);
        path.pop();
    }
}

/// Tools repeat one or two. The server checks any others.
const MAX_REPEATED: usize = 64;
const MAX_DEPTH: usize = 16;

fn at<'v>(arguments: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(arguments, |value, key| value.get(key))
}

/// Whether a header matches a value. Numbers have several spellings.
fn matches_header(value: &Value, header_value: &HeaderValue) -> bool {
    let Some(header_value) = decode(header_value) else { return false };
    match value {
        Value::String(text) => *text == header_value,
        Value::Bool(flag) => header_value == flag.to_string(),
        Value::Number(number) => {
            *number == header_value
                || number.parse::<f64>().ok().zip(header_value.parse::<f64>().ok()).is_some_and(
                    // Beyond this, two different integers may be equal as floating-point numbers.
                    |(body, head)| body == head && body.abs() < 9_007_199_254_740_992.0,
                )
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The header value for a JSON value.
fn written(value: &Value) -> Option<HeaderValue> {
    let text = match value {
        Value::String(text) => encode(text),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.clone(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    HeaderValue::from_str(&text).ok()
}

const BEGIN: &str = "=?base64?";
const END: &str = "?=";

fn encode(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !text.starts_with(BEGIN);
    match is_plain {
        true => text.to_owned(),
        false => format!("{BEGIN}{}{END}", BASE64_STANDARD.encode(text)),
    }
}

/// The decoded value of a header; `None` if it is invalid.
pub(crate) fn decode(value: &HeaderValue) -> Option<String> {
    let text = value.to_str().ok()?.trim();
    match text.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END)) {
        None => Some(text.to_owned()),
        Some(coded) => String::from_utf8(BASE64_STANDARD.decode(coded).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn agrees(pairs: &[(&'static str, &str)], body: &str) -> bool {
        let message = RpcMessage::of_body(body.as_bytes()).unwrap();
        disagreement(&headers(pairs), &message).is_none()
    }

    #[test]
    fn headers_must_agree_with_the_body() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"n\u0061me":"größe","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        for (pairs, expected) in [
            (&[][..], true),
            (&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDtsOfZQ==?=")], true),
            (&[("mcp-method", "tools/list")], false),
            (&[("mcp-name", "other")], false),
            (&[("mcp-name", "=?base64?***?=")], false),
            (&[("mcp-method", "tools/call"), ("mcp-method", "ping")], false),
            (&[("mcp-protocol-version", "2026-07-28")], true),
            (&[("mcp-protocol-version", "2025-11-25")], false),
        ] {
            assert_eq!(agrees(pairs, call), expected, "{pairs:?}");
        }
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert!(!agrees(&[("mcp-method", "tools/call")], answer));
        assert!(agrees(&[("mcp-protocol-version", "2025-06-18")], answer));
    }

    const DEFINITION: &str = r#"{"name":"q","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"at":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"bad":{"x-mcp-header":"a b"}}}}"#;

    #[test]
    fn repeated_arguments_must_agree() {
        let repeated = MirroredArguments::of(DEFINITION);
        let agrees = |pairs: &[(&'static str, &str)], arguments: &str| {
            repeated.disagreement(&headers(pairs), arguments).is_none()
        };
        let arguments = r#"{"region":"eu","at":{"n":42.0}}"#;
        assert!(agrees(&[("mcp-param-region", "eu"), ("mcp-param-n", "42")], arguments));
        assert!(agrees(&[("mcp-param-other", "x")], arguments));
        assert!(!agrees(&[("mcp-param-region", "us")], arguments));
        assert!(!agrees(&[("mcp-param-region", "eu")], "{}"));
        assert!(!agrees(
            &[("mcp-param-n", "9007199254740993")],
            r#"{"at":{"n":9007199254740992}}"#
        ));
    }

    #[test]
    fn headers_follow_changed_arguments() {
        let repeated = MirroredArguments::of(DEFINITION);
        let header_value =
            [("mcp-param-region", "eu"), ("mcp-param-n", "1"), ("mcp-param-other", "eu")];
        let mut headers = headers(&[&header_value[..], &[("x", "y")]].concat());
        repeated.rewrite(&mut headers, r#"{"region":"grün"}"#);
        assert_eq!(headers["mcp-param-region"], "=?base64?Z3LDvG4=?=");
        assert!(repeated.disagreement(&headers, r#"{"region":"grün"}"#).is_none());
        assert!(!headers.contains_key("mcp-param-n") && headers.contains_key("x"));
        assert!(!headers.contains_key("mcp-param-other"), "nobody knows what it repeats");
    }
}
