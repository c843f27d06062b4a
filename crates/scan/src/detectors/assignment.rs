//! Values after a name that marks them as secret.

use std::ops::Range;

#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, SECRET};
use crate::{name, value};

pub(super) static DETECTORS: &[Detector] = &[
    // `PASSWORD=...`, `"api_key": "..."`, `export TOKEN='...'`, `--password ...`, `X-Api-Key: ...`,
    // also with escaped quotes. `name.rs` decides which names count, and `value.rs` which values
    // are secrets.
    Detector {
        name: "secret_assignment",
        what: "a value after a name that says it is secret",
        keywords: &[
            "passw",
            "passphrase",
            "passcode",
            "pwd",
            "secret",
            "token",
            "api_key",
            "api-key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "private-key",
            "privatekey",
            "signing_key",
            "encryption_key",
            "master_key",
            "auth_key",
            "authkey",
            "credential",
        ],
        lead: concat!(
            // The rest of the name, and what closes it.
            r#"(?i)[a-z0-9_-]{3,64}\\{0,3}["'`]?\]?"#,
            // An operator in between, perhaps with a type before it; or only spaces, after an
            // option.
            r"(?:[ \t]{0,8}(?::[ \t]{0,4}[a-z&][a-z&<>]{0,20}[ \t]{1,4})?",
            r"(?:=>|:=|={1,3}|:)[ \t]{0,8}|[ \t]{1,4})",
        ),
        form: Some(concat!(
            r#"(?i)KEYWORD[a-z0-9_-]{0,64}\\{0,3}["'`]?\]?"#,
            r"(?:[ \t]{0,8}(?::[ \t]{0,4}[a-z&][a-z&<>]{0,20}[ \t]{1,4})?",
            r"(?:=>|:=|={1,3}|:)[ \t]{0,8}|[ \t]{1,4})",
            // A value with a space does not count, so there is nothing to wait for after a space.
            r#"(?:\\{1,3}"[^"\\\s]*|\\{1,3}'[^'\\\s]*|"(?:[^"\\\s]|\\[^\s])*|'[^'\s]*|`[^`\s]*"#,
            r#"|[^\s"'`,;&|<>(){}\[\]\\]*)"#,
        )),
        // In escaped quotes, in quotes, or bare; see `unquoted`.
        pattern: concat!(
            r#"\\{1,3}"[^"\\\r\n]{8,}|\\{1,3}'[^'\\\r\n]{8,}"#,
            r#"|"(?:[^"\\\r\n]|\\[^\r\n]){8,}|'[^'\r\n]{8,}|`[^`\r\n]{8,}"#,
            r#"|[^\s"'`,;&|<>(){}\[\]\\:=][^\s"'`,;&|<>(){}\[\]\\=]{7,}={0,2}"#,
        ),
        edge: Edge::Free,
        check: assignment,
        #[cfg(test)]
        hits: &[
            Sample { before: "PASSWORD=", secret: &["hunt", "er22"], after: " ./run" },
            Sample { before: "{'api_key': '", secret: &["4f9a0c1e", "7b2d8365"], after: "'}" },
            Sample { before: "export DB_TOKEN=\"", secret: &["4f9a0c1e", "7b2d"], after: "\"" },
            Sample { before: "mysql --password ", secret: &["Tr0ub4", "dor!3"], after: " x" },
            Sample { before: "{\\\"pwd\\\":\\\"", secret: &["hunt", "er22"], after: "\\\"}" },
            Sample { before: "let secret: &str = \"", secret: &["4f9a0c1e", "7b2d"], after: "\"" },
            Sample { before: "os.environ['API_KEY'] = '", secret: &["4f9a", "0c1e7b"], after: "'" },
            Sample {
                before: "https://x/?access_token=",
                secret: &["4f9a", "0c1e7b"],
                after: "&a=b",
            },
        ],
        #[cfg(test)]
        misses: &[
            &["password=${DB_PASSWORD}"],
            &["password = <your password here>"],
            &["password: changeme"],
            &["PASSWORD=xxxxxxxxxx"],
            &["password: required"],
            &["token = response.json()[\"token1\"]"],
            &["api_key = settings.API_KEY_2"],
            &["secret: projects/example-1/secrets/db"],
            &["secret_name = \"4f9a0c1e7b2d8365\""],
            &["max_tokens: 4096000000, token_count=12345678abc"],
            &["The token 4f9a0c1e7b2d is a word of the text"],
            &["--password-file /run/secrets/db1"],
            &["password: /run/secrets/db_password1"],
            &["export TOKEN=$GITHUB_TOKEN2"],
            &["a new password policy of 2024 applies"],
        ],
        ..SECRET
    },
];

fn assignment(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let name = full_name(candidate);
    let class = name::class(candidate.text.get(name.clone())?)?;
    // An opening bracket follows, so it is not a value: `token = decode(...)`.
    let opens = matches!(candidate.next_byte(), Some(b'(' | b'[' | b'{' | b'<'));
    let separated = is_separated(candidate, &name);
    let value = unquoted(candidate);
    let secret = value::is_secret(candidate.text.get(value.clone())?, class);
    (!opens && separated && secret).then_some(value)
}

/// The value without its opening quote; the closing one is not part of the match.
fn unquoted(candidate: &DetectorMatch<'_>) -> Range<usize> {
    let secret = candidate.secret();
    let quoted = secret.trim_start_matches('\\');
    let inside = quoted.strip_prefix(['"', '\'', '`']).unwrap_or(secret);
    candidate.secret.end - inside.len()..candidate.secret.end
}

/// The whole name that contains the keyword.
fn full_name(candidate: &DetectorMatch<'_>) -> Range<usize> {
    let bytes = candidate.text.as_bytes();
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let start = candidate.whole.start;
    let before = bytes.get(..start).unwrap_or(&[]);
    let behind = bytes.get(start..).unwrap_or(&[]);
    let left = before.iter().rev().take(name::MAX_NAME).take_while(in_name).count();
    let right = behind.iter().take(name::MAX_NAME).take_while(in_name).count();
    start - left..start + right
}

/// Spaces alone separate a value only from an option of a command.
fn is_separated(candidate: &DetectorMatch<'_>, name: &Range<usize>) -> bool {
    let option = candidate.text.get(name.start..).is_some_and(|text| text.starts_with('-'));
    let between = candidate.text.get(name.end..candidate.secret.start).unwrap_or("");
    option || between.contains(['=', ':'])
}
