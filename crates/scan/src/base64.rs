//! Decodes base64, in both alphabets, with or without padding.

/// The decoded bytes of `text`.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4 + 2);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            bits = bits << 6 | u32::from(value(digit)?);
        }
        // A group of n digits has n - 1 bytes; its bits are the leftmost of 24.
        bits <<= 6 * (4 - group.len());
        let [_, bytes @ ..] = bits.to_be_bytes();
        match group.len() {
            1 => return None,
            count => out.extend(bytes.iter().take(count - 1)),
        }
    }
    Some(out)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn both_alphabets_and_all_lengths() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYmFy", b"foobar"),
            ("-_8", &[0xfb, 0xff]),
            ("+/8=", &[0xfb, 0xff]),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_base64() {
        for text in ["Z", "Zm9vY", "Zm 9v", "Zm9v!", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
