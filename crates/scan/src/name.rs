//! Names that mark their value as a secret: `DB_PASSWORD`, `apiKey`, `X-Auth-Token`.

/// The kind of value that a telling name has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Chosen by a person, so it may be short and consist of words.
    Password,
    /// Generated.
    Key,
    /// Generated too, but `token` is also what a parser or a model calls a word.
    Token,
}

/// What a name reveals about its value. Case, `-`, `_` and other separators do not matter; the end
/// of the name decides: `client_secret` counts, `secret_name` and `max_tokens` do not.
pub(crate) fn class(name: &str) -> Option<ValueKind> {
    // No field name is longer, and a longer text costs no more than this.
    if name.len() > MAX_NAME {
        return None;
    }
    // On the stack: this runs for every key of every document.
    let mut plain = [0; MAX_NAME];
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    let length = plain
        .iter_mut()
        .zip(letters)
        .map(|(place, letter)| *place = letter.to_ascii_lowercase())
        .count();
    let core = without_qualifier(std::str::from_utf8(plain.get(..length)?).ok()?);
    let (ending, class) = ENDINGS.iter().find(|(ending, _)| core.ends_with(ending))?;
    let before = core.strip_suffix(ending).unwrap_or("");
    let harmless = match class {
        ValueKind::Token => NOT_TOKENS.iter().any(|word| before.ends_with(word)),
        ValueKind::Password => NOT_PASSWORDS.iter().any(|word| before.ends_with(word)),
        ValueKind::Key => false,
    };
    (!harmless).then_some(*class)
}

/// `api_key_prod` and `password2` count like `api_key` and `password`.
fn without_qualifier(name: &str) -> &str {
    let digit = |letter: char| letter.is_ascii_digit();
    let core = name.trim_end_matches("base64").trim_end_matches("b64").trim_end_matches(digit);
    QUALIFIERS.iter().find_map(|word| core.strip_suffix(word)).unwrap_or(core)
}

pub(crate) const MAX_NAME: usize = 128;

/// The endings of telling names, in lower case and without separators.
const ENDINGS: [(&str, ValueKind); 34] = [
    ("password", ValueKind::Password),
    ("passwords", ValueKind::Password),
    ("passwd", ValueKind::Password),
    ("passphrase", ValueKind::Password),
    ("passcode", ValueKind::Password),
    ("pwd", ValueKind::Password),
    ("pgpass", ValueKind::Password),
    ("secret", ValueKind::Key),
    ("secrets", ValueKind::Key),
    ("token", ValueKind::Token),
    ("apikey", ValueKind::Key),
    ("apikeys", ValueKind::Key),
    ("accesskey", ValueKind::Key),
    ("secretkey", ValueKind::Key),
    ("privatekey", ValueKind::Key),
    ("signingkey", ValueKind::Key),
    ("encryptionkey", ValueKind::Key),
    ("masterkey", ValueKind::Key),
    ("accountkey", ValueKind::Key),
    ("sharedkey", ValueKind::Key),
    ("sessionkey", ValueKind::Key),
    ("servicekey", ValueKind::Key),
    ("storagekey", ValueKind::Key),
    ("licensekey", ValueKind::Key),
    ("deploykey", ValueKind::Key),
    ("authkey", ValueKind::Key),
    ("sshkey", ValueKind::Key),
    ("authorization", ValueKind::Key),
    ("credential", ValueKind::Key),
    ("credentials", ValueKind::Key),
    ("cookie", ValueKind::Key),
    ("cookies", ValueKind::Key),
    ("sessionid", ValueKind::Key),
    ("connectionstring", ValueKind::Key),
];

/// Words after a telling name that do not change its meaning.
const QUALIFIERS: [&str; 13] = [
    "production",
    "prod",
    "staging",
    "development",
    "dev",
    "test",
    "live",
    "value",
    "plaintext",
    "confirmation",
    "confirm",
    "primary",
    "secondary",
];

/// Before `token`: positions in a list, words of a model, and amounts.
const NOT_TOKENS: [&str; 20] = [
    "next",
    "page",
    "continuation",
    "cursor",
    "sync",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "special",
    "stop",
    "first",
    "last",
    "per",
    "max",
    "min",
    "cancellation",
];

/// Before `pwd`: the previous folder of a shell (`OLDPWD`).
const NOT_PASSWORDS: [&str; 1] = ["old"];

#[cfg(test)]
mod tests {
    use super::{ValueKind, class};

    #[test]
    fn telling_names() {
        for (name, expected) in [
            ("password", ValueKind::Password),
            ("DB_PASSWORD", ValueKind::Password),
            ("userPassword2", ValueKind::Password),
            ("password_confirmation", ValueKind::Password),
            ("MYSQL_PWD", ValueKind::Password),
            ("client-secret", ValueKind::Key),
            ("API_KEY", ValueKind::Key),
            ("x-api-key", ValueKind::Key),
            ("apikey", ValueKind::Key),
            ("API_KEY_PROD", ValueKind::Key),
            ("aws_secret_access_key", ValueKind::Key),
            ("Proxy-Authorization", ValueKind::Key),
            ("credentials", ValueKind::Key),
            ("token", ValueKind::Token),
            ("accessToken", ValueKind::Token),
            ("X-Auth-Token", ValueKind::Token),
            ("GITHUB_TOKEN_2", ValueKind::Token),
            ("PRIVATE_KEY_BASE64", ValueKind::Key),
        ] {
            assert_eq!(class(name), Some(expected), "{name}");
        }
    }

    #[test]
    fn harmless_names() {
        for name in [
            "",
            "tokens",
            "max_tokens",
            "token_count",
            "max_token",
            "tokenizer",
            "nextPageToken",
            "eos_token",
            "cost_per_token",
            "secret_name",
            "secretKeyRef",
            "password_file",
            "password_hash",
            "key",
            "public_key",
            "primary_key",
            "key_id",
            "api_key_id",
            "OLDPWD",
            "author",
            "keyboard",
        ] {
            assert_eq!(class(name), None, "{name}");
        }
        assert_eq!(class(&"password".repeat(100)), None);
    }
}
