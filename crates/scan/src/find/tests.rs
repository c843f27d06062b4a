//! Overlaps, borders, and texts that are meant to be slow.

use std::time::Instant;

use super::{WINDOW, machine, secrets};
use crate::redact;

fn named(text: &str) -> Vec<(&'static str, &str)> {
    secrets(text).into_iter().map(|found| (found.detector, &text[found.span])).collect()
}

#[test]
fn every_pattern_compiles() {
    for loaded in &machine().detectors {
        loaded.lead();
        loaded.pattern();
    }
}

#[test]
fn the_special_name_wins() {
    let token = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    for text in [
        format!("https://me:{token}@github.com/a/b"),
        format!("Authorization: Bearer {token}"),
        format!("export GITHUB_TOKEN={token}"),
        format!("Authorization: token {token}"),
    ] {
        assert_eq!(named(&text), [("github_token", token.as_str())], "{text}");
    }
}

#[test]
fn overlapping_secrets_are_one_finding() {
    let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
    let text = format!("password=\"one {key} two\" password='1{}'", "éabcd".repeat(8));
    let shown = redact(&text);
    assert_eq!(
        shown,
        "password=\"one [REDACTED:aws_access_key_id] two\" password='[REDACTED:secret_assignment]'"
    );
    let text = format!("password=a1-{key}/z");
    assert_eq!(redact(&text), "password=[REDACTED:aws_access_key_id]");
}

#[test]
fn a_name_after_a_refused_name_is_found() {
    assert_eq!(named("token: password=hunter22"), [("secret_assignment", "hunter22")]);
}

#[test]
fn a_long_secret_is_found_whole() {
    let random = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF";
    for length in [WINDOW - 3, WINDOW - 2, WINDOW, 3 * WINDOW] {
        let key = format!("c{}{}", "g_", &random.repeat(length / 32 + 1)[..length]);
        for text in [format!("x {key} y"), format!("x \"{key}\" y"), format!("x={key}")] {
            assert_eq!(named(&text), [("callgate_key", key.as_str())]);
        }
    }
    let jwt = format!(
        "{}{}.{}.{}",
        "eyJhbGciOiJIUzI1NiIs",
        "InR5cCI6IkpXVCJ9",
        random.repeat(300),
        random
    );
    assert_eq!(named(&format!("a {jwt}, b")), [("jwt", jwt.as_str())]);
}

#[test]
fn plain_text_has_none() {
    for text in [
        "",
        "é",
        "The quick brown fox asks for a token, a password and a secret: none is given.",
        "fn token(&self) -> Option<Token> { self.tokens.next() }",
        "if password == other.password { return Err(Error::WrongPassword) }",
        "let api_key = std::env::var(\"API_KEY\")?;",
        "password: String, secret: Option<SecretString>, token_type: \"Bearer\"",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "curl https://example.com:8443/a@b?c=d:e@f",
    ] {
        assert_eq!(named(text), [], "{text}");
    }
}

/// A megabyte of each costs about as much as a megabyte of anything else. There is no time limit
/// here, because machines differ; a search that is not linear would take hours and be noticed.
#[test]
fn a_megabyte_of_hostile_text_comes_to_an_end() {
    for piece in [
        "sk-",
        "sk-ant-",
        "sk-proj-",
        "eyJ",
        "eyJ.",
        "_eyJ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY----------END",
        "password=",
        "password:",
        "password=\"",
        "password:1example:",
        "token:a12345example!",
        "\"password\":\"\\\"",
        "token ",
        "token_",
        "secret",
        "://",
        "://a:",
        "://a:b@",
        "://:::::",
        "bearer ",
        "basic AAAA",
        "authorization:",
        "authorization: a",
        "ghp_",
        "github_pat_",
        "xoxb-",
        "xoxb-1",
        "ya29.",
        "cg_",
        "-u a:",
        "-u",
        ":AA",
        "1:AA",
        "sig=%2F",
        "AKIA",
        "\\",
        "\"",
        "glpat-",
        "a",
        " ",
        "é",
        "passwords passwords=",
        "--token ",
        "--token a1",
        "SK",
        "npm_a",
    ] {
        let text = piece.repeat(MEGABYTE / piece.len());
        let start = Instant::now();
        let found = secrets(&text).len();
        println!("{:>8.1?} {found:>7} findings: {piece}", start.elapsed());
    }
}

const MEGABYTE: usize = 1 << 20;
