//! Keys that case-insensitive readers treat as the same.

/// Whether two keys are equal or differ only in case. As in Go, `ſ` equals `s` and the Kelvin sign
/// equals `k`. In addition, any two spellings that some library may treat as the same are equal.
pub fn equal_ignoring_case(a: &str, b: &str) -> bool {
    if a.is_ascii() && b.is_ascii() {
        return a.eq_ignore_ascii_case(b);
    }
    folded(a).eq(folded(b))
}

/// Converts both ways, because some letters differ only in upper case and others only in lower
/// case.
fn folded(text: &str) -> impl Iterator<Item = char> {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_key() {
        for (a, b) in [
            ("command", "Command"),
            ("command", "command"),
            ("task", "ta\u{17f}\u{212a}"),
            ("stra\u{df}e", "STRA\u{1e9e}E"),
            ("\u{3c3}", "\u{3c2}"),
        ] {
            assert!(equal_ignoring_case(a, b), "{a} {b}");
        }
        for (a, b) in [("command", "commands"), ("file_path", "filePath"), ("a", "\u{e0}")] {
            assert!(!equal_ignoring_case(a, b), "{a} {b}");
        }
    }
}
