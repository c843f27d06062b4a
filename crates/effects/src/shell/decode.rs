//! Filters whose output follows from their input: decoders, `tr`, `rev`, `printf`.

use crate::shell::ansi;

/// Text that is longer is not followed.
const MAX_TEXT: usize = 1 << 16;

/// Whether a program passes its input on in another form.
pub(crate) fn is_decoder(name: &str) -> bool {
    matches!(
        name,
        "base64"
            | "base32"
            | "gbase64"
            | "xxd"
            | "rev"
            | "tr"
            | "gunzip"
            | "zcat"
            | "gzip"
            | "bunzip2"
            | "bzcat"
            | "xz"
            | "xzcat"
            | "unxz"
            | "zstd"
            | "zstdcat"
            | "openssl"
            | "sed"
            | "awk"
            | "cut"
            | "grep"
            | "jq"
            | "iconv"
            | "dos2unix"
            | "uudecode"
            | "tar"
            | "funzip"
            | "gpg"
            | "envsubst"
            | "tac"
            | "fold"
            | "column"
            | "perl"
            | "python"
            | "python3"
    )
}

/// What a filter makes of a text. `None` if it is not followed.
pub(crate) fn filter(name: &str, arguments: &[&str], input: Option<&str>) -> Option<String> {
    let input = input.filter(|input| input.len() <= MAX_TEXT)?;
    let has = |flags: &[&str]| arguments.iter().any(|argument| flags.contains(argument));
    match name {
        "base64" | "gbase64" if has(&["-d", "-D", "--decode", "-di", "-id"]) => base64(input),
        "base32" if has(&["-d", "-D", "--decode"]) => base32(input),
        "openssl" if has(&["-d"]) && has(&["base64", "-base64", "-a"]) => base64(input),
        "xxd"
            if arguments
                .iter()
                .any(|argument| argument.starts_with('-') && argument.contains('r')) =>
        {
            hex(input)
        }
        "rev" => Some(
            input
                .split('\n')
                .map(|line| line.chars().rev().collect::<String>())
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        "tr" => translate(arguments, input),
        "head" | "cut" => first_characters(name == "head", arguments, input),
        _ => None,
    }
}

/// `head -c1`, `cut -c1` and `cut -c1-4`
fn first_characters(is_head: bool, arguments: &[&str], input: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument.starts_with("-c"))?;
    let value = match arguments.get(at)?.strip_prefix("-c")? {
        "" => arguments.get(at + 1)?,
        value => value,
    };
    let count = value.strip_prefix("1-").unwrap_or(value).parse::<usize>().ok()?;
    // `cut -c3` is the third one only.
    let is_first = is_head || count == 1 || value.starts_with("1-");
    let is_one_line = is_head || input.trim_end().lines().count() < 2;
    (is_one_line && is_first).then(|| input.chars().take(count).collect())
}

/// `basename` and `dirname` of a known path.
pub(crate) fn path_part(name: &str, arguments: &[&str]) -> Option<String> {
    let path =
        arguments.first().filter(|path| !path.starts_with('-') && !path.contains('\u{fffd}'))?;
    let path = path.trim_end_matches('/');
    let (folder, last) = path.rsplit_once('/').unwrap_or((".", path));
    if name == "dirname" {
        return Some(if folder.is_empty() { "/".to_owned() } else { folder.to_owned() });
    }
    let suffix = arguments.get(1).copied().unwrap_or_default();
    Some(last.strip_suffix(suffix).unwrap_or(last).to_owned())
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

pub(crate) fn base64(input: &str) -> Option<String> {
    bits(input, 6, |byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

fn base32(input: &str) -> Option<String> {
    bits(input, 5, |byte| match byte.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => Some(upper - b'A'),
        digit @ b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    })
}

fn bits(input: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<String> {
    let mut out = Vec::new();
    let (mut buffer, mut count) = (0_u32, 0);
    for byte in input.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            break;
        }
        buffer = buffer << width | u32::from(value(byte)?);
        count += width;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(buffer >> count & 0xff).ok()?);
            buffer &= (1 << count) - 1;
        }
    }
    text_of(out)
}

pub(crate) fn hex(input: &str) -> Option<String> {
    let digits: Vec<u32> = input
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    let bytes = digits.chunks_exact(2).map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).unwrap_or(0),
        _ => 0,
    });
    text_of(bytes.collect())
}

fn translate(arguments: &[&str], input: &str) -> Option<String> {
    let is_flag = |argument: &&&str| argument.starts_with('-') && argument.len() > 1;
    let deletes = arguments.iter().filter(is_flag).any(|flag| flag.contains('d'));
    let mut sets =
        arguments.iter().filter(|argument| !is_flag(argument)).map(|set| characters(set));
    let from = sets.next()?;
    if deletes {
        return Some(input.chars().filter(|c| !from.contains(c)).collect());
    }
    let to = sets.next()?;
    let last = *to.last()?;
    let change = |c: char| match from.iter().position(|known| *known == c) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => c,
    };
    Some(input.chars().map(change).collect())
}

/// The characters of a set of `tr`: ranges, classes and escapes.
fn characters(set: &str) -> Vec<char> {
    let set = match set {
        "[:lower:]" => "a-z".to_owned(),
        "[:upper:]" => "A-Z".to_owned(),
        "[:digit:]" => "0-9".to_owned(),
        "[:space:]" => " \t\n".to_owned(),
        other => ansi::unescape(other),
    };
    let source: Vec<char> = set.chars().take(512).collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = source.get(at) {
        match (source.get(at + 1), source.get(at + 2)) {
            (Some('-'), Some(last)) if first <= last => {
                all.extend((*first..=*last).take(512));
                at += 3;
            }
            _ => {
                all.push(*first);
                at += 1;
            }
        }
    }
    all
}

/// `printf FORMAT VALUES…`, with `%s`, `%b`, `%d`, `%x`, `%c` and `%%`.
pub(crate) fn printf(format: &str, values: &[&str]) -> Option<String> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut left = values.len();
    loop {
        let before = left;
        let mut rest = format;
        while let Some(percent) = rest.find('%') {
            out.push_str(&ansi::unescape(rest.get(..percent)?));
            rest = rest.get(percent + 1..)?;
            let skip = rest
                .bytes()
                .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'#' | b'+' | b' '))
                .count();
            let verb = rest.get(skip..)?.chars().next()?;
            rest = rest.get(skip + verb.len_utf8()..)?;
            if verb == '%' {
                out.push('%');
                continue;
            }
            let value = values.next().copied().unwrap_or_default();
            left = left.saturating_sub(1);
            match verb {
                's' | 'd' | 'i' => out.push_str(value),
                'b' => out.push_str(&ansi::unescape(value)),
                'c' => out.extend(value.chars().next()),
                'x' | 'X' | 'o' => {
                    let number: u64 = value.parse().ok()?;
                    out.push_str(&if verb == 'o' {
                        format!("{number:o}")
                    } else {
                        format!("{number:x}")
                    });
                }
                _ => return None,
            }
        }
        out.push_str(&ansi::unescape(rest));
        if left == 0 || left == before || out.len() > MAX_TEXT {
            return Some(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_followed() {
        assert_eq!(filter("base64", &["-d"], Some("cm0gLXJmIC8K")).as_deref(), Some("rm -rf /\n"));
        assert_eq!(filter("base32", &["--decode"], Some("OJWSA6A=")).as_deref(), Some("rm x"));
        assert_eq!(filter("xxd", &["-r", "-p"], Some("726d2078")).as_deref(), Some("rm x"));
        assert_eq!(filter("rev", &[], Some("x mr\n")).as_deref(), Some("rm x\n"));
        assert_eq!(filter("tr", &["a-z", "b-za"], Some("ql w")).as_deref(), Some("rm x"));
        assert_eq!(filter("tr", &["-d", "."], Some("r.m")).as_deref(), Some("rm"));
        assert_eq!(filter("base64", &["-d"], Some("!!!")), None);
        assert_eq!(filter("base64", &[], Some("x")), None);
    }

    #[test]
    fn printf_fills_its_format() {
        assert_eq!(printf("%s %s\\n", &["rm", "x"]).as_deref(), Some("rm x\n"));
        assert_eq!(printf("\\x72m", &[]).as_deref(), Some("rm"));
        assert_eq!(printf("%s", &["r", "m"]).as_deref(), Some("rm"));
        assert_eq!(printf("%%", &["a"]).as_deref(), Some("%"));
    }
}
