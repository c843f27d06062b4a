//! The escapes of `$'…'`, `echo -e` and `printf`.

/// The text of `$'…'` after the opening quote, and how many bytes it takes with the closing
/// one. Without a closing quote that is one more than there are.
pub(crate) fn decode(text: &str) -> (String, usize) {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\'' => return (lossy(out), at + 1),
            b'\\' => at += escape(bytes.get(at + 1..).unwrap_or_default(), &mut out) + 1,
            other => {
                out.push(*other);
                at += 1;
            }
        }
    }
    (lossy(out), bytes.len() + 1)
}

/// All escapes of a text, as `echo -e` and `printf` read them.
pub(crate) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' {
            at += escape(bytes.get(at + 1..).unwrap_or_default(), &mut out) + 1;
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    lossy(out)
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Decodes what follows a backslash; returns how many bytes it took.
fn escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(first) = rest.first() else {
        out.push(b'\\');
        return 0;
    };
    let simple = match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'v' => 11,
        b'\\' => b'\\',
        b'\'' => b'\'',
        b'"' => b'"',
        b'?' => b'?',
        b'x' => return number(rest, 1, 2, 16, out),
        b'u' => return number(rest, 1, 4, 16, out),
        b'U' => return number(rest, 1, 8, 16, out),
        b'0'..=b'7' => return number(rest, 0, if *first == b'0' { 4 } else { 3 }, 8, out),
        b'c' => {
            out.extend(rest.get(1).map(|byte| byte & 0x1f));
            return rest.len().min(2);
        }
        _ => {
            out.push(b'\\');
            out.push(*first);
            return 1;
        }
    };
    out.push(simple);
    1
}

/// Decodes up to that many digits after `skip` bytes; returns how many bytes it took.
fn number(rest: &[u8], skip: usize, most: usize, radix: u32, out: &mut Vec<u8>) -> usize {
    let digits = rest.get(skip..).unwrap_or_default();
    let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
    let value =
        digits.iter().take(most).take_while(is_digit).fold((0_u32, 0), |(value, n), byte| {
            let digit = char::from(*byte).to_digit(radix).unwrap_or(0);
            (value.wrapping_mul(radix).wrapping_add(digit), n + 1)
        });
    let (value, taken) = value;
    if taken == 0 {
        out.push(b'\\');
        out.extend(rest.first());
        return 1;
    }
    let is_byte = rest.first() == Some(&b'x') || radix == 8;
    if is_byte {
        out.push(u8::try_from(value & 0xff).unwrap_or(0));
    } else if let Some(character) = char::from_u32(value) {
        out.extend(character.to_string().as_bytes());
    }
    skip + taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_text() {
        assert_eq!(decode(r"\x72\x6d' x"), ("rm".into(), 9));
        assert_eq!(decode(r"\162\u006d\n'"), ("rm\n".into(), 13));
        assert_eq!(decode("open"), ("open".into(), 5));
        assert_eq!(unescape(r"a\tb\0101\z"), "a\tbA\\z");
        assert_eq!(unescape("\\"), "\\");
    }
}
