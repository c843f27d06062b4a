//! Credentials in URLs, headers and the options of HTTP clients.

use std::ops::Range;

use crate::base64;
#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, SECRET};
use crate::name::ValueKind;
use crate::value;

pub(super) static DETECTORS: &[Detector] = &[
    // `scheme://user:password@host`. The place is enough: every password except a placeholder.
    Detector {
        name: "url_password",
        what: "the password in an address",
        keywords: &["://"],
        lead: r#"://[^\s/?#@:"'<>\\]{0,128}:"#,
        // Up to the last `@` before the path: a password may contain one.
        pattern: r#"[^\s/?#"'<>\\]{3,}@"#,
        edge: Edge::Free,
        check: before_the_host,
        #[cfg(test)]
        hits: &[
            Sample { before: "psql postgres://app:", secret: &["hun", "ter2"], after: "@db/x" },
            Sample { before: "redis://:", secret: &["p@ss", "w0rd"], after: "@cache:6379" },
        ],
        #[cfg(test)]
        misses: &[
            &["https://user:${PASSWORD}@host/"],
            &["https://user:password@host/"],
            &["http://localhost:8080/@scope/package"],
            &["ssh://git@github.com:22/a"],
        ],
        ..SECRET
    },
    Detector {
        name: "basic_auth",
        what: "user and password of HTTP basic authentication",
        keywords: &["basic"],
        lead: "(?i)basic(?:[ \t]{1,4}|%20)",
        pattern: "[A-Za-z0-9+/]{8,}={0,2}",
        edge: Edge::Word,
        check: user_and_password,
        #[cfg(test)]
        hits: &[Sample {
            before: "-H 'Authorization: Basic ",
            secret: &["YWRtaW46", "aHVudGVyMg=="],
            after: "'",
        }],
        #[cfg(test)]
        misses: &[&["basic authentication is off"], &["Basic SGVsbG8gd29ybGQ="]],
        ..SECRET
    },
    Detector {
        name: "bearer_token",
        what: "a token after the word Bearer",
        keywords: &["bearer"],
        lead: "(?i)bearer(?:[ \t]{1,4}|%20)",
        pattern: "[A-Za-z0-9._~+/=-]{16,}",
        edge: Edge::Word,
        check: made_by_a_machine,
        #[cfg(test)]
        hits: &[Sample {
            before: "Authorization: Bearer ",
            secret: &["4f9a0c1e7b", "2d8365af01"],
            after: "\r\n",
        }],
        #[cfg(test)]
        misses: &[
            &["a bearer authentication-scheme"],
            &["Bearer YOUR_API_KEY_0123456789"],
            &["Bearer $ACCESS_TOKEN"],
        ],
        ..SECRET
    },
    // Any other scheme, or none.
    Detector {
        name: "authorization",
        what: "the value of an Authorization header",
        keywords: &["authorization"],
        lead: concat!(
            r#"(?i)authorization\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,3}["'])?"#,
            "(?:(?:bearer|basic|token|api-?key|key|bot|digest|negotiate|ntlm|oauth|splunk|jwt",
            "|aws4-hmac-sha256)[ \t]{1,4})?",
        ),
        pattern: r#"[^\s"'\\,;<>(){}]{8,}"#,
        edge: Edge::Free,
        check: made_by_a_machine,
        #[cfg(test)]
        hits: &[
            Sample {
                before: "Authorization: ApiKey ",
                secret: &["VnVhQ2ZHY0JDZGJrU", "W0xMjM0NTY3ODkw"],
                after: "\n",
            },
            Sample {
                before: "{\\\"authorization\\\": \\\"",
                secret: &["4f9a0c1e7b", "2d8365af01"],
                after: "\\\"}",
            },
        ],
        #[cfg(test)]
        misses: &[
            &["authorization: AWS4-HMAC-SHA256 is a scheme"],
            &["authorization: required for this"],
            &["authorization: user-permissions"],
        ],
        ..SECRET
    },
    // `curl -u user:password`. Words without a digit or symbol are a group: `docker run -u a:b`.
    Detector {
        name: "user_option",
        what: "the password after the option -u or --user",
        keywords: &["-u", "--user"],
        lead: r#"-(?:u|-user)[ =]{0,2}["']?[A-Za-z0-9._@+-]{1,64}:"#,
        pattern: r#"[^\s"'\\]{8,}"#,
        edge: Edge::Word,
        check: chosen_by_a_person,
        #[cfg(test)]
        hits: &[
            Sample { before: "curl -u admin:", secret: &["s3cr3t-", "pass!"], after: " http://x" },
            Sample { before: "curl --user 'a@b.c:", secret: &["s3cr3t-", "pass!"], after: "'" },
        ],
        #[cfg(test)]
        misses: &[
            &["docker run -u 1000:1000 x"],
            &["chown -u build:developers x"],
            &["curl -u $U:$PASSWORD x"],
        ],
        ..SECRET
    },
];

fn before_the_host(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let secret = candidate.secret().strip_suffix('@')?;
    let variable = secret.starts_with(['$', '{']);
    let end = candidate.secret.end - 1;
    (!variable && !value::is_placeholder(secret)).then_some(candidate.secret.start..end)
}

fn made_by_a_machine(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(value::is_secret(candidate.secret(), ValueKind::Key))
}

fn chosen_by_a_person(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    candidate.when(value::is_secret(candidate.secret(), ValueKind::Password))
}

/// The value decodes to text with a colon, RFC 7617.
fn user_and_password(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let decoded = String::from_utf8(base64::decode(candidate.secret())?).ok()?;
    let text = !decoded.contains(char::is_control);
    candidate.when(text && decoded.contains(':'))
}
