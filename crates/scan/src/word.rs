//! Where words begin: letters and digits behind anything else.

/// The places from `from` on where a word, or a sign right before a number, begins.
pub(crate) fn starts(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let mut inside = from
        .checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = bytes.get(from..).unwrap_or(&[]);
    rest.iter().enumerate().filter_map(move |(at, byte)| {
        let alphanumeric = byte.is_ascii_alphanumeric();
        let begins = (alphanumeric && !inside) || matches!(byte, b'+' | b'(');
        inside = alphanumeric;
        begins.then_some(from + at)
    })
}

/// Whether `bytes` begins as `head` says: `A` is a letter, `9` a digit, anything else itself.
pub(crate) fn begins(bytes: &[u8], head: &str) -> bool {
    bytes.len() >= head.len()
        && bytes.iter().zip(head.bytes()).all(|(byte, wanted)| match wanted {
            b'A' => byte.is_ascii_alphabetic(),
            b'9' => byte.is_ascii_digit(),
            _ => *byte == wanted,
        })
}

#[cfg(test)]
mod tests {
    use super::{begins, starts};

    #[test]
    fn words_and_signs() {
        let text = "ab 12-c é4 +49 (030)".as_bytes();
        let found: Vec<usize> = starts(text, 0).collect();
        assert_eq!(found, [0, 3, 6, 10, 12, 13, 16, 17]);
        assert_eq!(starts(text, 1).next(), Some(3));
    }

    #[test]
    fn heads() {
        assert!(begins(b"DE89 x", "AA99"));
        assert!(begins(b"+49", "+9"));
        assert!(!begins(b"DE", "AA9"));
        assert!(!begins(b"D189", "AA9"));
    }
}
