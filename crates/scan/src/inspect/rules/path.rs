//! Files with keys and credentials, and whether a text asks to read them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use crate::inspect::class::Severity;

/// Paths with keys, and the severity of asking for them: some honest tools mention them.
const PATHS: &[(&str, Severity)] = &[
    (".ssh/", Severity::High),
    ("~/.ssh", Severity::High),
    (".ssh folder", Severity::High),
    (".ssh directory", Severity::High),
    ("id_rsa", Severity::High),
    ("id_ed25519", Severity::High),
    ("id_ecdsa", Severity::High),
    ("id_dsa", Severity::High),
    ("/etc/passwd", Severity::High),
    ("/etc/shadow", Severity::High),
    ("/etc/sudoers", Severity::High),
    (".aws/", Severity::High),
    (".netrc", Severity::High),
    (".git-credentials", Severity::High),
    (".gnupg", Severity::High),
    (".docker/config.json", Severity::High),
    (".kube/config", Severity::High),
    ("kubeconfig", Severity::Medium),
    (".pypirc", Severity::High),
    (".npmrc", Severity::Medium),
    (".config/gcloud", Severity::High),
    ("application_default_credentials", Severity::High),
    (".config/gh/hosts", Severity::High),
    (".azure/", Severity::High),
    (".vault-token", Severity::High),
    (".pgpass", Severity::High),
    ("credentials.json", Severity::Medium),
    ("service-account.json", Severity::Medium),
    ("secrets.yaml", Severity::Medium),
    ("secrets.json", Severity::Medium),
    (".env", Severity::Medium),
    ("mcp.json", Severity::High),
    ("claude_desktop_config", Severity::High),
    (".claude.json", Severity::High),
    (".claude/", Severity::Medium),
    (".cursor/", Severity::Medium),
    (".codex/", Severity::Medium),
    (".gemini/", Severity::Medium),
    ("mcp_config.json", Severity::High),
    (".bash_history", Severity::High),
    (".zsh_history", Severity::High),
    ("/proc/self/environ", Severity::High),
    ("login data", Severity::Medium),
    ("cookies.sqlite", Severity::High),
    ("wallet.dat", Severity::High),
    ("keychain", Severity::Medium),
    (".password-store", Severity::High),
    ("ssh key", Severity::Medium),
    ("ssh private key", Severity::High),
    ("private ssh key", Severity::High),
    ("169.254.169.254", Severity::High),
    ("metadata.google.internal", Severity::High),
    ("%userprofile%", Severity::Medium),
];

/// What a text asks to do with such a file.
#[derive(Debug)]
pub(in crate::inspect) struct Handling {
    pub(in crate::inspect) severity: Severity,
    pub(in crate::inspect) span: Range<usize>,
}

/// How far before and after a path its verb is searched for.
const BEFORE: usize = 110;
const BEHIND: usize = 70;

/// Verbs in the imperative; a tool that `reads` its own key describes itself.
const VERBS: &str = r"(?:^|[^a-z])(?:read|open|cat|access|include|attach|send|upload|copy|paste|pass|fetch|get|retrieve|print|dump|extract|append|output|provide|share|leak|post|forward|scan|grab|supply|put|submit|exfiltrate|collect|type|locate|look (?:in|at|for|into)|list|check|reading|sending|copying|attaching|passing|transmit|exfil|scp|tar|curl|insert|concatenate|display|inspect|harvest|steal|load|examine|review|gather|archive|base64)(?:[^a-z]|$)|contents? (?:of|from)|content_(?:of|from)|text (?:of|from)";

/// Verbs after the path.
const VERBS_AFTER: &str = r"^[^.!?]{0,50}?(?:must be (?:read|sent|included|passed|attached)|should be (?:read|sent|included|passed|attached)|(?:open|read|hand|send|take|use|pass) (?:these|them|it|this|that)(?:[^a-z]|$)|and (?:send|pass|include|put|attach|forward|upload|paste|return|place|add|post|store|give|use its|copy)|in(?:to)? (?:the|this) [`'a-z_]{0,20} ?(?:parameter|argument|field)|as (?:the|a|this) |goes here|belongs here|goes in)|^[^ ]{0,40}[:,;] ?(?:read|grab|open|copy|send|take|fetch|extract|upload|pass|put)[^a-z]";

/// A text that forbids it, and the public half of a key.
const DENIED: &str = r"(?:never|do not|don.?t|cannot|can.?t|refuses?|denied|deny|blocked|blocks|forbidden|must not|not allowed|not permitted|disallow|except|exclud|ignor|without|no access|protect|avoid|prevent|should not|won.t|are not|is not)[^.!?]{0,70}$";

struct Patterns {
    paths: AhoCorasick,
    before: Regex,
    behind: Regex,
    denied: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "fixed patterns that every test builds")]
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern).unicode(false).build().expect("a fixed pattern compiles")
    };
    #[expect(clippy::expect_used, reason = "fixed words that every test builds")]
    let paths = AhoCorasick::builder()
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(PATHS.iter().map(|(path, _)| path))
        .expect("fixed words");
    Patterns {
        paths,
        before: compile(VERBS),
        behind: compile(VERBS_AFTER),
        denied: compile(DENIED),
    }
});

/// Reports the sensitive paths in a folded text that it asks to read or to send.
pub(in crate::inspect) fn handling(folded: &str, report: &mut dyn FnMut(Handling)) {
    let patterns = &*PATTERNS;
    let bytes = folded.as_bytes();
    let mut done = 0;
    for hit in patterns.paths.find_iter(folded) {
        if hit.start() < done {
            continue;
        }
        let Some((path, severity)) = PATHS.get(hit.pattern().as_usize()) else { continue };
        let behind = bytes.get(hit.end()..bytes.len().min(hit.end() + BEHIND)).unwrap_or(&[]);
        if is_something_else(path, bytes, hit.start(), behind) {
            continue;
        }
        let before = bytes.get(hit.start().saturating_sub(BEFORE)..hit.start()).unwrap_or(&[]);
        if patterns.denied.is_match(before) {
            continue;
        }
        if patterns.before.is_match(before) || patterns.behind.is_match(behind) {
            let end = hit.end() + behind.iter().take_while(|byte| is_of_path(**byte)).count();
            done = end;
            let whole = folded.get(hit.start()..end).unwrap_or("");
            let severity = worst_in(whole).max(*severity);
            report(Handling { severity, span: hit.start()..end });
        }
    }
}

/// A folder that is harmless on its own may contain a file that is not.
fn worst_in(path: &str) -> Severity {
    let held = PATHS.iter().filter(|(known, _)| path.contains(known));
    held.map(|(_, severity)| *severity).max().unwrap_or(Severity::Low)
}

fn is_of_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'~')
}

/// `process.env`, `.env.example`, `id_rsa.pub`, and `.envelope` only look like sensitive paths.
fn is_something_else(path: &str, bytes: &[u8], start: usize, behind: &[u8]) -> bool {
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let inside_word = before.is_some_and(u8::is_ascii_alphanumeric);
    match path {
        ".env" => {
            inside_word
                || behind.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                || [&b".example"[..], b".sample", b".template", b".dist", b"["]
                    .into_iter()
                    .any(|harmless| behind.starts_with(harmless))
        }
        "keychain" | "kubeconfig" | "ssh key" => inside_word,
        _ => behind
            .iter()
            .take_while(|byte| is_of_path(**byte))
            .copied()
            .collect::<Vec<_>>()
            .ends_with(b".pub"),
    }
}
