//! Checks that paths are unambiguous.

use std::borrow::Cow;

/// Whether every server reads this path the same way. A path with `..`, an empty segment or an
/// encoded slash may mean one thing to callgate and another to the provider.
pub(crate) fn is_plain(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let last = rest.split('/').count();
    let mut before = "";
    rest.split('/').enumerate().all(|(at, segment)| {
        let may_be_empty = at + 1 == last;
        let of_model = before == "model";
        before = segment;
        if of_model && is_resource_name(segment) {
            return resource_parts(segment).all(|part| !part.is_empty() && is_plain_segment(part));
        }
        (!segment.is_empty() || may_be_empty) && is_plain_segment(segment)
    })
}

/// Amazon uses paths as names of some models, and reads the encoded slashes in them as part of the
/// name.
fn is_resource_name(segment: &str) -> bool {
    let start = segment.get(..6).unwrap_or_default();
    segment.starts_with("arn:") || start.eq_ignore_ascii_case("arn%3a")
}

fn resource_parts(name: &str) -> impl Iterator<Item = &str> {
    name.split("%2F").flat_map(|part| part.split("%2f"))
}

fn is_plain_segment(segment: &str) -> bool {
    if segment.starts_with('.') && segment.trim_matches('.').is_empty() {
        return false;
    }
    let bytes = segment.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => bytes.get(at + 1..at + 3).is_some_and(is_harmless_escape),
        b'\\' | b';' | b'?' | b'#' => false,
        _ => byte.is_ascii_graphic(),
    })
}

/// Escapes of letters, dots, slashes, percent signs and control characters only serve to hide
/// something.
fn is_harmless_escape(digits: &[u8]) -> bool {
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match u8::from_str_radix(text, 16) {
        Ok(byte) if digits.iter().all(u8::is_ascii_hexdigit) => {
            !byte.is_ascii_alphanumeric()
                && !byte.is_ascii_control()
                && !matches!(
                    byte,
                    b'.' | b'/' | b'\\' | b'%' | b';' | b'?' | b'#' | b'-' | b'_' | b'~'
                )
        }
        _ => false,
    }
}

/// A plain path with its colons decoded: some servers treat an encoded colon as the start of a
/// verb. No other character that may be encoded in a plain path occurs in a table.
pub(super) fn with_colons(path: &str) -> Cow<'_, str> {
    if !path.contains("%3") {
        return path.into();
    }
    path.replace("%3A", ":").replace("%3a", ":").into()
}

/// The part of a path to append to a base. For some SDKs the base ends with the version and for
/// others it does not, so an overlap between the two is used only once.
pub(super) fn below_base<'p>(base: &str, path: &'p str) -> &'p str {
    let borders = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
    let mut repeated = borders.filter(|at| {
        let Some(start) = path.get(..*at) else { return false };
        base.ends_with(start)
    });
    repeated.next_back().and_then(|at| path.get(at..)).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_of_path_and_base_is_used_once() {
        let table = [
            ("/v1", "/v1/chat/completions", "/chat/completions"),
            ("/v1", "/chat/completions", "/chat/completions"),
            ("/openai/v1", "/openai/v1/chat/completions", "/chat/completions"),
            ("/openai/v1", "/v1/chat/completions", "/chat/completions"),
            ("", "/v1/messages", "/v1/messages"),
            ("/av1", "/v1/messages", "/v1/messages"),
            ("/v1", "/v1", "/v1"),
        ];
        for (base, path, left) in table {
            assert_eq!(below_base(base, path), left, "{base} {path}");
        }
    }

    #[test]
    fn only_models_of_amazon_have_slashes_in_their_names() {
        assert!(is_plain(
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fus.a.b-v1%3A0/converse"
        ));
        for path in [
            "/model/x%2Finvoke/count-tokens",
            "/model/arn%3Aaws%2F..%2Finvoke/converse",
            "/model/arn%3Aaws%2F%2Fx/converse",
            "/models/arn%3Aaws%2Fx",
            "/model/arn%3Aaws%252Fx/converse",
        ] {
            assert!(!is_plain(path), "{path}");
        }
    }
}
