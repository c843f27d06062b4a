//! What heads repeat of bodies. Whoever stands between may route by a header, so both must say the
//! same: what is judged is the body.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use callgate_call::json::{Span, Value};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::message::{Kind, Message};
use crate::params::{self, NameKey, Named};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const PARAMETER: &str = "mcp-param-";

/// The key by which a definition asks for an argument to be repeated.
const DECLARED: &str = "x-mcp-header";

/// The header that does not say what the body says, if there is one.
pub(super) fn disagreement(headers: &HeaderMap, message: &Message<'_>) -> Option<HeaderName> {
    let (method, params) = match &message.kind {
        Kind::Request { method, params, .. } | Kind::Notification { method, params } => {
            (Some(method.as_ref()), *params)
        }
        Kind::Answer { .. } => (None, None),
    };
    let text = message.text;
    let name = method.and_then(|method| named(method, text, params?));
    let meta = params::meta(text, params);
    let revision = meta.and_then(|meta| params::text_member(text, meta, params::REVISION));
    // A revision is said in the head alone by the older ones, and a name of what has none by nobody.
    differs(headers, &METHOD, method, Absent::Differs)
        .or_else(|| differs(headers, &NAME, name.as_deref(), Absent::Passes))
        .or_else(|| differs(headers, &REVISION, revision.as_deref(), Absent::Passes))
}

/// What a header means whose counterpart is not in the body.
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
    // Of two values every reader takes another one.
    let is_same = is_same && values.next().is_none();
    (!is_same).then(|| header.clone())
}

/// What a request is about, as the head repeats it.
fn named(method: &str, text: &str, params: Span) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => NameKey::Name,
        "resources/read" => NameKey::Uri,
        _ => return None,
    };
    Named::read(text, params, key).ok().map(|named| named.name.into_owned())
}

/// Which arguments of one tool are repeated, and in which header.
#[derive(Default)]
pub(super) struct Repeated(Vec<(HeaderName, Vec<String>)>);

impl Repeated {
    /// As the tool's definition says.
    pub(super) fn of(definition: &str) -> Self {
        let mut found = Vec::new();
        if let Some(schema) =
            Value::parse(definition).ok().as_ref().and_then(|it| it.get("inputSchema"))
        {
            collect(schema, &mut Vec::new(), &mut found);
        }
        Self(found)
    }

    /// The header that does not say what the arguments say, if there is one.
    pub(super) fn disagreement(&self, headers: &HeaderMap, arguments: &str) -> Option<HeaderName> {
        let arguments = Value::parse(arguments).unwrap_or(Value::Null);
        self.0.iter().find_map(|(header, path)| {
            let mut values = headers.get_all(header).iter();
            let said = values.next()?;
            let is_same = at(&arguments, path).is_some_and(|value| is_said(value, said));
            (!is_same || values.next().is_some()).then(|| header.clone())
        })
    }

    /// Makes the headers that are there say what other arguments say. One of which nobody knows what
    /// it repeats is left out: it may hold what the arguments must not hold any more.
    pub(super) fn rewrite(&self, headers: &mut HeaderMap, arguments: &str) {
        let arguments = Value::parse(arguments).unwrap_or(Value::Null);
        let is_said = |name: &&HeaderName| name.as_str().starts_with(PARAMETER);
        let said: Vec<HeaderName> = headers.keys().filter(is_said).cloned().collect();
        for header in said {
            headers.remove(&header);
            let path = self.0.iter().find(|(known, _)| *known == header).map(|(_, path)| path);
            let value = path.and_then(|path| at(&arguments, path)).and_then(written);
            if let Some(value) = value {
                headers.insert(header, value);
            }
        }
    }
}

/// Headers that are declared by properties, and by properties of those.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<(HeaderName, Vec<String>)>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        if found.len() >= MAX_REPEATED || path.len() >= MAX_DEPTH {
            return;
        }
        path.push(name.clone());
        let declared = property.get(DECLARED).and_then(Value::as_str);
        let header = declared.and_then(|said| format!("{PARAMETER}{said}").parse().ok());
        found.extend(header.map(|header| (header, path.clone())));
        collect(property, path, found);
        path.pop();
    }
}

/// Tools repeat one or two. What is beyond is left for the server to check.
const MAX_REPEATED: usize = 64;
const MAX_DEPTH: usize = 16;

fn at<'v>(arguments: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(arguments, |value, key| value.get(key))
}

/// Whether a header says a value. Numbers may be written in several ways.
fn is_said(value: &Value, said: &HeaderValue) -> bool {
    let Some(said) = decode(said) else { return false };
    match value {
        Value::String(text) => *text == said,
        Value::Bool(flag) => said == flag.to_string(),
        Value::Number(number) => {
            *number == said
                || number.parse::<f64>().ok().zip(said.parse::<f64>().ok()).is_some_and(
                    // Beyond that, two integers may be one and the same number.
                    |(body, head)| body == head && body.abs() < 9_007_199_254_740_992.0,
                )
        }
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// A value as a header says it.
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

/// What a header says; `None` if it cannot be read.
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
        let message = Message::of_body(body.as_bytes()).unwrap();
        disagreement(&headers(pairs), &message).is_none()
    }

    #[test]
    fn heads_say_what_bodies_say() {
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
    fn arguments_that_are_repeated() {
        let repeated = Repeated::of(DEFINITION);
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
    fn other_arguments_are_repeated_anew() {
        let repeated = Repeated::of(DEFINITION);
        let said = [("mcp-param-region", "eu"), ("mcp-param-n", "1"), ("mcp-param-other", "eu")];
        let mut headers = headers(&[&said[..], &[("x", "y")]].concat());
        repeated.rewrite(&mut headers, r#"{"region":"grün"}"#);
        assert_eq!(headers["mcp-param-region"], "=?base64?Z3LDvG4=?=");
        assert!(repeated.disagreement(&headers, r#"{"region":"grün"}"#).is_none());
        assert!(!headers.contains_key("mcp-param-n") && headers.contains_key("x"));
        assert!(!headers.contains_key("mcp-param-other"), "nobody knows what it repeats");
    }
}
