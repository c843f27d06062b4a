//! Escapes: from JSON text to text and back.

/// Decodes the raw text of a JSON string and appends it to `out`. The reader has already checked
/// that every escape is well formed.
///
/// Providers split strings anywhere, so a surrogate pair may arrive in two pieces: `half` carries a
/// high surrogate from one piece to the next. Returns `false` for a lone surrogate, which is not
/// text. If a half is still pending at the end, the caller decides what that means.
pub fn decode_into(raw: &str, half: &mut Option<u16>, out: &mut String) -> bool {
    let mut whole = true;
    let mut rest = raw;
    while let Some((plain, escape)) = next_escape(rest).and_then(|at| rest.split_at_checked(at)) {
        whole &= push_plain(plain, half, out);
        let mut chars = escape.chars();
        // The backslash.
        chars.next();
        let kind = chars.next();
        rest = chars.as_str();
        if kind == Some('u') {
            let (hex, after) = rest.split_at_checked(4).unwrap_or((rest, ""));
            rest = after;
            whole &= push_unit(u16::from_str_radix(hex, 16).unwrap_or(0xFFFD), half, out);
        } else {
            whole &= half.take().is_none();
            out.push(match kind {
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            });
        }
    }
    whole & push_plain(rest, half, out)
}

/// Decodes the raw text of a whole JSON string, with U+FFFD for each lone surrogate.
pub(crate) fn decode_lossy(raw: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escape)) = next_escape(rest).and_then(|at| rest.split_at_checked(at)) {
        units.extend(plain.encode_utf16());
        let length = if escape.starts_with("\\u") { 6 } else { 2 };
        let (escape, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        rest = after;
        match escape.strip_prefix("\\u") {
            Some(hex) => units.push(u16::from_str_radix(hex, 16).unwrap_or(0xFFFD)),
            None => {
                let mut one = String::new();
                decode_into(escape, &mut None, &mut one);
                units.extend(one.encode_utf16());
            }
        }
    }
    units.extend(rest.encode_utf16());
    String::from_utf16_lossy(&units)
}

/// Whether the raw text of a JSON string contains an escape, so that it differs from the decoded
/// text.
#[inline]
pub fn has_escape(raw: &str) -> bool {
    next_escape(raw).is_some()
}

#[inline]
fn next_escape(raw: &str) -> Option<usize> {
    memchr::memchr(b'\\', raw.as_bytes())
}

/// Appends `text` to `out` as the inside of a JSON string. Also escapes the line separators at
/// which some clients split lines, which JSON does not require.
pub fn escape_into(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
}

/// `text` as a JSON string, quotes included.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape_into(text, &mut out);
    out.push('"');
    out
}

fn push_plain(text: &str, half: &mut Option<u16>, out: &mut String) -> bool {
    if text.is_empty() {
        return true;
    }
    out.push_str(text);
    half.take().is_none()
}

fn push_unit(unit: u16, half: &mut Option<u16>, out: &mut String) -> bool {
    match (half.take(), unit) {
        (Some(high), 0xDC00..=0xDFFF) => {
            let code = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            true
        }
        (pending, 0xD800..=0xDBFF) => {
            *half = Some(unit);
            pending.is_none()
        }
        (_, 0xDC00..=0xDFFF) => false,
        (pending, _) => {
            out.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
            pending.is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(raw: &str) -> Option<String> {
        let (mut half, mut out) = (None, String::new());
        (decode_into(raw, &mut half, &mut out) && half.is_none()).then_some(out)
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_nothing_else() {
        for (raw, text) in [
            (r"é\n\ud83d\\", "é\n\u{FFFD}\\"),
            (r"\ud83d\ud83d\ude00", "\u{FFFD}\u{1F600}"),
            (r#"\ude00\"\ud83d😀"#, "\u{FFFD}\"\u{FFFD}😀"),
        ] {
            assert_eq!(decode(raw), None, "{raw}");
            assert_eq!(decode_lossy(raw), text, "{raw}");
        }
    }

    #[test]
    fn escapes_decode() {
        assert_eq!(decode(r#"a\"\\\/\b\f\n\r\t\u0041"#).unwrap(), "a\"\\/\u{8}\u{c}\n\r\tA");
        assert_eq!(decode(r"\ud83d\ude00!").unwrap(), "\u{1F600}!");
    }

    #[test]
    fn lone_surrogates_have_no_text() {
        for raw in [r"\ud83d", r"\ude00", r"\ud83dx", r"\ud83d\n", r"\ud83d\ud83d\ude00"] {
            assert_eq!(decode(raw), None, "{raw}");
        }
    }

    #[test]
    fn a_pair_may_come_in_two_pieces() {
        let (mut half, mut out) = (None, String::new());
        assert!(decode_into(r"x\ud83d", &mut half, &mut out));
        assert!(decode_into(r"\ude00", &mut half, &mut out));
        assert_eq!((out.as_str(), half), ("x\u{1F600}", None));
    }

    #[test]
    fn quoted_text_reads_back() {
        let text = "a\"\\\n\u{1}\u{85}\u{2028}\u{1F600}";
        let quoted = quote(text);
        assert!(!quoted.contains(['\n', '\u{85}', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}
