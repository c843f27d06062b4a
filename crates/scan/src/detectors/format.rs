//! Secrets with a standard format, whatever created them.

use std::ops::Range;

use callgate_json::Reader;

use crate::base64;
#[cfg(test)]
use crate::detector::Sample;
use crate::detector::{Detector, DetectorMatch, Edge, Openness, SECRET};

pub(super) static DETECTORS: &[Detector] = &[
    // A private key in PEM or PGP armour, from its first line to its last, or to the end of the
    // text if it is truncated.
    Detector {
        name: "private_key",
        what: "a private key in PEM or PGP armour",
        keywords: ARMOUR,
        pattern: "-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----",
        edge: Edge::Free,
        check: armour,
        open: Some(armour_so_far),
        #[cfg(test)]
        hits: &[
            Sample {
                before: "cat id_rsa\n",
                secret: &[
                    "-----BEGIN RSA PRIV",
                    "ATE KEY-----\nMIIEpAIBAAKCAQEA7x0vYqz1vJ8mQyZrK3nT5wLdS2hGfPcXeUbR9oVt",
                    "\n-----END RSA PRIVATE KEY-----",
                ],
                after: "\n$ ",
            },
            Sample {
                before: "key: ",
                secret: &[
                    "-----BEGIN OPENSSH PRIV",
                    "ATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAA\\nAAB",
                ],
                after: "",
            },
        ],
        #[cfg(test)]
        misses: &[
            &["grep -l '-----BEGIN PRIVATE KEY-----' *.pem"],
            &["-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"],
            &["-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7x0v"],
        ],
        ..SECRET
    },
    // A signed or encrypted token, RFC 7519: the first part decodes to an object with `alg`.
    Detector {
        name: "jwt",
        what: "a signed or encrypted JSON web token",
        keywords: &["eyj"],
        pattern: "eyJ[A-Za-z0-9_-]{8,}",
        edge: Edge::Run,
        check: jwt,
        open: Some(jwt_so_far),
        #[cfg(test)]
        hits: &[Sample {
            before: "session=",
            secret: &[
                "eyJhbGciOiJIUzI1NiIs",
                "InR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NSJ9.",
                "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
            ],
            after: ";",
        }],
        #[cfg(test)]
        misses: &[
            &["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NSJ9"],
            &["eyJuYW1lIjoiSm9obiBEb2UifQ.eyJzdWIiOiIxMjM0NSJ9.SflKxwRJSMeKKF2QT4fw"],
        ],
        ..SECRET
    },
];

/// The beginning of an armoured key.
pub(crate) const ARMOUR: &[&str] = &["-----begin"];

/// How far after the first line the key itself begins: armour may have a few header lines.
const MAX_HEADERS: usize = 1024;

/// Shorter than a line of any armour (64), longer than a word.
const MIN_LINE: usize = 32;

fn armour(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    let start = candidate.whole.start;
    let behind = candidate.text.get(candidate.whole.end..)?;
    let body = first_line_of_key(behind)?;
    // If it is an example without a key, only the lines around the key are left.
    if behind.get(..body)?.contains(ENDING) {
        return None;
    }
    Some(match closing(behind) {
        Closing::At(end) => start..candidate.whole.end + end,
        Closing::NotYet { .. } | Closing::Never => start..candidate.text.len(),
    })
}

/// The beginning of the last line.
const ENDING: &str = "-----END";

/// The longest label between the hyphens of the last line.
const MAX_LABEL: usize = 64;

/// Where a key ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    /// After the second group of hyphens of its last line.
    At(usize),
    /// Not in this text; the part from `from` on may be the beginning of its last line.
    NotYet { from: usize },
    /// It has no valid last line, so everything that follows belongs to it.
    Never,
}

/// Where the key that contains `text` ends.
pub(crate) fn closing(text: &str) -> Closing {
    let Some(ending) = text.find(ENDING) else {
        let from = text.floor_char_boundary(text.len().saturating_sub(ENDING.len() - 1));
        return Closing::NotYet { from };
    };
    let inside = ending + ENDING.len();
    let label = text.get(inside..).unwrap_or("");
    match label.find("-----") {
        Some(length) if length < MAX_LABEL => Closing::At(inside + length + "-----".len()),
        None if label.len() < MAX_LABEL + "-----".len() - 1 => Closing::NotYet { from: ending },
        _ => Closing::Never,
    }
}

fn armour_so_far(candidate: &DetectorMatch<'_>) -> Openness {
    let behind = candidate.text.get(candidate.whole.end..).unwrap_or("");
    if armour(candidate).is_some() {
        return match closing(behind) {
            Closing::At(_) => Openness::Settled,
            Closing::NotYet { .. } | Closing::Never => Openness::Inside,
        };
    }
    match behind.len() < MAX_HEADERS && !behind.contains(ENDING) {
        true => Openness::Waiting,
        false => Openness::Settled,
    }
}

/// Where the first line of base64 begins.
fn first_line_of_key(text: &str) -> Option<usize> {
    let head = text.get(..text.floor_char_boundary(MAX_HEADERS))?;
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    let line = head.split(|c| !is_base64(c)).find(|line| {
        let has = |kind: fn(&u8) -> bool| line.as_bytes().iter().any(kind);
        line.len() >= MIN_LINE
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_digit)
    })?;
    Some(line.as_ptr() as usize - text.as_ptr() as usize)
}

fn jwt(candidate: &DetectorMatch<'_>) -> Option<Range<usize>> {
    // Each part may be longer than the match. A signed token has three, an encrypted one five.
    let start = candidate.secret.start;
    let mut end = parts(candidate.text, start, 3)?;
    let header = candidate.text.get(start..end)?.split('.').next()?;
    if !jwt_header(header) {
        return None;
    }
    if candidate.text.get(end..)?.starts_with('.') {
        end = parts(candidate.text, end + 1, 2).unwrap_or(end);
    }
    Some(start..end)
}

/// The longest header: without this bound any long text without spaces might be one.
const MAX_HEADER: usize = 2048;

fn jwt_so_far(candidate: &DetectorMatch<'_>) -> Openness {
    let rest = candidate.text.get(candidate.secret.start..).unwrap_or("");
    let in_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = rest.bytes().position(|byte| !in_part(&byte) && byte != b'.').unwrap_or(rest.len());
    let token = rest.get(..end).unwrap_or("");
    let header = token.split('.').next().unwrap_or("");
    // With more than five parts, or anything after them, it has ended.
    let ended = end < rest.len() || token.matches('.').count() > 4;
    let possible = match header.len() == token.len() {
        true => header.len() <= MAX_HEADER,
        false => jwt_header(header),
    };
    if possible && !ended { Openness::Waiting } else { Openness::Settled }
}

fn jwt_header(header: &str) -> bool {
    let decoded = base64::decode(header).and_then(|bytes| String::from_utf8(bytes).ok());
    header.len() <= MAX_HEADER && decoded.is_some_and(|header| has_alg(&header))
}

/// Where `count` parts with dots between them end. The last one must not be short.
fn parts(text: &str, start: usize, count: usize) -> Option<usize> {
    let in_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let mut at = start;
    for part in 1..=count {
        let rest = text.as_bytes().get(at..)?;
        let length = rest.iter().take_while(in_part).count();
        at += length;
        match part == count {
            true if length < MIN_SIGNATURE => return None,
            true => {}
            false if rest.get(length) != Some(&b'.') => return None,
            false => at += 1,
        }
    }
    Some(at)
}

/// Real ones have 43 characters or more, but a token may be truncated for display.
const MIN_SIGNATURE: usize = 8;

fn has_alg(header: &str) -> bool {
    let mut reader = Reader::new(header);
    let Ok(mut members) = reader.object() else { return false };
    while let Ok(Some(key)) = members.next(&mut reader) {
        if key.is("alg") {
            return true;
        }
        if reader.skip().is_err() {
            return false;
        }
    }
    false
}
