//! Replaces secrets in plain text.

use std::borrow::Cow;

use crate::find::{DetectedSecret, secrets};

/// The text with each secret replaced by `[REDACTED:detector]`. Without a secret it is the same
/// text, borrowed. A replacement is never taken for a secret itself.
pub fn redact(text: &str) -> Cow<'_, str> {
    let found = secrets(text);
    match found.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(replace(text, &found)),
    }
}

/// The replacement for a secret of that kind.
pub(crate) fn mark(detector: &str) -> String {
    format!("[REDACTED:{detector}]")
}

fn replace(text: &str, found: &[DetectedSecret]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for DetectedSecret { detector, span } in found {
        out.push_str(text.get(from..span.start).unwrap_or(""));
        out.push_str(&mark(detector));
        from = span.end;
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}
