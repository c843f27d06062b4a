//! Whether a value is a secret, or only in a place where one could be.

use crate::name::ValueKind;

/// The shortest value that counts as a secret because of the name before it. Shorter ones are words
/// and numbers far more often.
pub(crate) const MIN_VALUE: usize = 8;

/// Whether a token with a known form is more than its prefix with filler after it
/// (`sk-ant-xxxxxxxx`, `sk-ant-your-key-here`): it has letters, a digit, and many different
/// characters.
pub(crate) fn is_random(body: &str) -> bool {
    let count = CharCounts::of(body);
    count.digits > 0 && count.letters() > 0 && count.distinct >= 8
}

/// Whether a value in free text, after a telling name, is a secret. These are not:
///
/// - less than [`MIN_VALUE`] bytes, or text with spaces;
/// - a [placeholder](is_placeholder), a path, a URL;
/// - fewer than five different characters;
/// - a plain word, or words: letters with at most two digits, separated by `-`, `_`, `.` and
///   similar characters, with numbers of up to four digits between. A password may be words if
///   there is a digit or a symbol in it, or be a number. So may a key, if there are three symbols
///   in it.
pub(crate) fn is_secret(value: &str, class: ValueKind) -> bool {
    if value.len() < MIN_VALUE || value.contains(char::is_whitespace) {
        return false;
    }
    let count = CharCounts::of(value);
    let made = match class {
        ValueKind::Password => {
            count.digits > 0 || count.symbols > 0 || value.split(divides).any(is_mixed)
        }
        ValueKind::Key | ValueKind::Token => {
            let mixed = count.symbols >= 3 && count.digits >= 2;
            count.letters() > 0 && (mixed || !value.split(divides).all(is_plain))
        }
    };
    made && count.distinct >= 5 && !is_placeholder(value) && !is_location(value)
}

/// Whether the value of a field with a telling name is plainly not a secret. The name has more
/// weight than in free text: everything else is one.
pub(crate) fn is_harmless_field(value: &str, class: ValueKind) -> bool {
    let text = value.trim();
    let word = text.len() < MIN_VALUE && CharCounts::of(text).digits == 0;
    text.is_empty()
        || THROWAWAY.contains(&text)
        || is_placeholder(text)
        || (class == ValueKind::Token && word)
}

/// Passwords of databases that are started for a test, and that protect nothing.
const THROWAWAY: &[&str] = &[
    "dev",
    "guest",
    "local",
    "minioadmin",
    "mysql",
    "password",
    "postgres",
    "root",
    "test",
    "testing",
];

/// Whether a value is a placeholder for a secret that is elsewhere: `${TOKEN}`, `<your key>`,
/// `****`, `changeme`, `process.env.KEY`, `[REDACTED:...]`.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let wrapped = |open: char, close: char| lower.starts_with(open) && lower.ends_with(close);
    let word = lower.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    is_variable(&lower)
        || wrapped('<', '>')
        || wrapped('%', '%')
        || wrapped('{', '}')
        || (lower.len() > 2 && CharCounts::of(&lower).distinct == 1)
        || WORDS.contains(&word)
        || PARTS.iter().any(|part| lower.contains(part))
}

/// `$TOKEN`, `$(pass show x)`, `${{ secrets.X }}`. A password may also contain a `$`, but not at
/// the start of a name in it.
fn is_variable(value: &str) -> bool {
    let name = |rest: &str| {
        let name = rest.trim_start_matches("env:");
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    };
    value.contains("${") || value.contains("$(") || value.strip_prefix('$').is_some_and(name)
}

/// A path or a URL: `/run/secrets/db`, `./key.pem`, `https://vault/x`, `a::b`. Base64 may begin
/// with a slash too, but does not consist of plain words.
fn is_location(value: &str) -> bool {
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| value.starts_with(root));
    value.contains("://") || value.contains("::") || (rooted && value.split(divides).all(is_plain))
}

/// Whether the character separates words in names, paths and versions.
fn divides(letter: char) -> bool {
    matches!(letter, '-' | '_' | '.' | '/' | ':' | ',' | '~' | '@' | '+' | '=' | '#' | '*' | '|')
}

/// Letters with at most two digits among them, or up to four digits: a word, a version, a year.
fn is_plain(piece: &str) -> bool {
    let count = CharCounts::of(piece);
    match count.letters() {
        0 => count.digits <= 4,
        _ => count.digits <= 2 && !is_mixed(piece),
    }
}

/// At least sixteen letters, and upper and lower case change too often for words in camel case: at
/// two of five places, where chance gives one of two.
fn is_mixed(piece: &str) -> bool {
    if piece.len() < 16 {
        return false;
    }
    let letters: Vec<u8> = piece.bytes().filter(u8::is_ascii_alphabetic).collect();
    let changes = letters
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() != b.is_ascii_lowercase()))
        .count();
    letters.len() >= 16 && changes * 5 >= letters.len() * 2
}

/// What a text consists of.
struct CharCounts {
    lower: usize,
    upper: usize,
    digits: usize,
    /// ASCII characters that are neither letters nor digits nor separators. Other scripts are
    /// words.
    symbols: usize,
    distinct: usize,
}

impl CharCounts {
    fn of(text: &str) -> Self {
        let mut count = Self { lower: 0, upper: 0, digits: 0, symbols: 0, distinct: 0 };
        let mut seen = [false; 256];
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' => count.lower += 1,
                b'A'..=b'Z' => count.upper += 1,
                b'0'..=b'9' => count.digits += 1,
                _ if byte.is_ascii() && !divides(char::from(byte)) => count.symbols += 1,
                _ => {}
            }
            if let Some(seen) = seen.get_mut(usize::from(byte)) {
                count.distinct += usize::from(!*seen);
                *seen = true;
            }
        }
        count
    }

    fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Whole values that are not secrets.
const WORDS: [&str; 38] = [
    "any",
    "all",
    "auto",
    "basic",
    "bearer",
    "default",
    "deny",
    "disabled",
    "empty",
    "enabled",
    "false",
    "hidden",
    "invalid",
    "key",
    "masked",
    "missing",
    "my_password",
    "my-password",
    "mypassword",
    "nil",
    "no",
    "none",
    "null",
    "optional",
    "pass",
    "passwd",
    "password",
    "pwd",
    "required",
    "secret",
    "str",
    "string",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "yes",
];

/// Words that occur in placeholders, but not in secrets.
const PARTS: [&str; 22] = [
    "...",
    "***",
    "{{",
    "<your",
    "changeme",
    "change_me",
    "change-me",
    "environ[",
    "environ.",
    "example",
    "getenv",
    "import.meta",
    "placeholder",
    "process.env",
    "redacted",
    "secrets.",
    "xxxx",
    "your-",
    "your_",
    "yourkey",
    "yourpass",
    "yourtoken",
];

#[cfg(test)]
mod tests;
