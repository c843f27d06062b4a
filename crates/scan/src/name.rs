//! Names that say that their value is a secret: `DB_PASSWORD`, `apiKey`, `X-Auth-Token`.

/// What the value of a telling name would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Chosen by a person, so that it may be short and made of words.
    Password,
    /// Made by a machine.
    Key,
    /// Made by a machine too, but `token` is also what a parser or a model calls a word.
    Token,
}

/// What a name says about its value. Case, `-`, `_` and what else divides words do not matter;
/// the end of the name decides: `client_secret` is one, `secret_name` and `max_tokens` are not.
pub(crate) fn class(name: &str) -> Option<Class> {
    // No name of a field is longer, and a longer text costs no more than this.
    if name.len() > MAX_NAME {
        return None;
    }
    // On the stack: every key of every document comes here.
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
        Class::Token => NOT_TOKENS.iter().any(|word| before.ends_with(word)),
        Class::Password => NOT_PASSWORDS.iter().any(|word| before.ends_with(word)),
        Class::Key => false,
    };
    (!harmless).then_some(*class)
}

/// `api_key_prod` and `password2` are named like `api_key` and `password`.
fn without_qualifier(name: &str) -> &str {
    let digit = |letter: char| letter.is_ascii_digit();
    let core = name.trim_end_matches("base64").trim_end_matches("b64").trim_end_matches(digit);
    QUALIFIERS.iter().find_map(|word| core.strip_suffix(word)).unwrap_or(core)
}

pub(crate) const MAX_NAME: usize = 128;

/// How a telling name ends, in lower case and without what divides its words.
const ENDINGS: [(&str, Class); 34] = [
    ("password", Class::Password),
    ("passwords", Class::Password),
    ("passwd", Class::Password),
    ("passphrase", Class::Password),
    ("passcode", Class::Password),
    ("pwd", Class::Password),
    ("pgpass", Class::Password),
    ("secret", Class::Key),
    ("secrets", Class::Key),
    ("token", Class::Token),
    ("apikey", Class::Key),
    ("apikeys", Class::Key),
    ("accesskey", Class::Key),
    ("secretkey", Class::Key),
    ("privatekey", Class::Key),
    ("signingkey", Class::Key),
    ("encryptionkey", Class::Key),
    ("masterkey", Class::Key),
    ("accountkey", Class::Key),
    ("sharedkey", Class::Key),
    ("sessionkey", Class::Key),
    ("servicekey", Class::Key),
    ("storagekey", Class::Key),
    ("licensekey", Class::Key),
    ("deploykey", Class::Key),
    ("authkey", Class::Key),
    ("sshkey", Class::Key),
    ("authorization", Class::Key),
    ("credential", Class::Key),
    ("credentials", Class::Key),
    ("cookie", Class::Key),
    ("cookies", Class::Key),
    ("sessionid", Class::Key),
    ("connectionstring", Class::Key),
];

/// Words behind a telling name that do not change what it says.
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

/// Before `token`: places in a list, words of a model, and amounts.
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

/// Before `pwd`: the folder a shell was in (`OLDPWD`).
const NOT_PASSWORDS: [&str; 1] = ["old"];

#[cfg(test)]
mod tests {
    use super::{Class, class};

    #[test]
    fn telling_names() {
        for (name, expected) in [
            ("password", Class::Password),
            ("DB_PASSWORD", Class::Password),
            ("userPassword2", Class::Password),
            ("password_confirmation", Class::Password),
            ("MYSQL_PWD", Class::Password),
            ("client-secret", Class::Key),
            ("API_KEY", Class::Key),
            ("x-api-key", Class::Key),
            ("apikey", Class::Key),
            ("API_KEY_PROD", Class::Key),
            ("aws_secret_access_key", Class::Key),
            ("Proxy-Authorization", Class::Key),
            ("credentials", Class::Key),
            ("token", Class::Token),
            ("accessToken", Class::Token),
            ("X-Auth-Token", Class::Token),
            ("GITHUB_TOKEN_2", Class::Token),
            ("PRIVATE_KEY_BASE64", Class::Key),
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
