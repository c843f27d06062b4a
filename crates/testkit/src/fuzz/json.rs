//! The JSON reader against serde_json: both accept the same documents and read the same values,
//! except for the differences that `callgate_json` documents.

use callgate_json::{Error, Problem, Reader, Span, Value};
use serde_json::Value as Theirs;

/// Checks one input.
pub fn check(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        skip_agrees(text);
        values_agree(text);
    }
}

/// Skipping checks the grammar and no more, as serde_json does for a value nobody looks at.
fn skip_agrees(text: &str) {
    let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text);
    match skip(text) {
        Ok(span) => {
            assert!(theirs.is_ok(), "skipped what serde_json refuses: {theirs:?}");
            assert_eq!(span.of(text), text.trim_matches([' ', '\t', '\r', '\n']));
        }
        Err(Error { what: Problem::TooDeep, .. }) => {}
        Err(error) => assert!(theirs.is_err(), "refused what serde_json skips: {error}"),
    }
}

fn skip(text: &str) -> Result<Span, Error> {
    let mut reader = Reader::new(text);
    let span = reader.skip()?;
    reader.end()?;
    Ok(span)
}

fn values_agree(text: &str) {
    let theirs = serde_json::from_str::<Theirs>(text);
    match (Value::parse(text), theirs) {
        (Ok(ours), Ok(theirs)) => assert!(same(&ours, &theirs), "{ours:?} is not {theirs:?}"),
        // Numbers keep their text here, so none is too large.
        (Ok(_), Err(error)) => {
            assert!(error.to_string().contains("number out of range"), "{error}")
        }
        (Err(error), Ok(_)) => assert!(
            matches!(error.what, Problem::TooDeep | Problem::DuplicateKey),
            "refused what serde_json reads: {error}"
        ),
        (Err(_), Err(_)) => {}
    }
}

fn same(ours: &Value, theirs: &Theirs) -> bool {
    match (ours, theirs) {
        (Value::Null, Theirs::Null) => true,
        (Value::Bool(a), Theirs::Bool(b)) => a == b,
        (Value::String(a), Theirs::String(b)) => a == b,
        (Value::Number(a), Theirs::Number(b)) => serde_json::from_str(a).ok().as_ref() == Some(b),
        (Value::Array(a), Theirs::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Theirs::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => false,
    }
}
