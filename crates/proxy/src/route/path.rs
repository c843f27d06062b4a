//! Paths that mean one thing.

/// Whether every server reads this path alike. One that holds `..`, an empty segment or an encoded
/// slash may be one path to callgate and another to the provider.
pub(crate) fn is_plain(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let last = rest.split('/').count();
    rest.split('/').enumerate().all(|(at, segment)| {
        let may_be_empty = at + 1 == last;
        (!segment.is_empty() || may_be_empty) && is_plain_segment(segment)
    })
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

/// Escapes of letters, dots, slashes, percent signs and controls only hide something.
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
