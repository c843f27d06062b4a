//! Files with keys and credentials, and whether a text asks to read them.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use crate::inspect::class::Severity;

/// What a text asks to do with such a file.
#[derive(Debug)]
pub(in crate::inspect) struct Handling {
    pub(in crate::inspect) severity: Severity,
    pub(in crate::inspect) span: Range<usize>,
}

/// How far before and after a path its verb is searched for.
const BEFORE: usize = 110;
const BEHIND: usize = 70;

/// The data of this file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PathData {
    paths: Vec<(String, Severity)>,
    before: String,
    after: String,
    denied: String,
}

struct PathPatterns {
    paths: Vec<(String, Severity)>,
    finder: AhoCorasick,
    before: Regex,
    after: Regex,
    denied: Regex,
}

static PATTERNS: LazyLock<PathPatterns> = LazyLock::new(|| {
    let data: PathData = super::data(include_str!("paths.toml"));
    #[expect(clippy::expect_used, reason = "fixed patterns that every test builds")]
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern).unicode(false).build().expect("a fixed pattern compiles")
    };
    #[expect(clippy::expect_used, reason = "fixed words that every test builds")]
    let finder = AhoCorasick::builder()
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(data.paths.iter().map(|(path, _)| path))
        .expect("fixed words");
    PathPatterns {
        paths: data.paths,
        finder,
        before: compile(&data.before),
        after: compile(&data.after),
        denied: compile(&data.denied),
    }
});

/// Reports the sensitive paths in a folded text that it asks to read or to send.
pub(in crate::inspect) fn handling(folded: &str, report: &mut dyn FnMut(Handling)) {
    let patterns = &*PATTERNS;
    let bytes = folded.as_bytes();
    let mut done = 0;
    for hit in patterns.finder.find_iter(folded) {
        if hit.start() < done {
            continue;
        }
        let Some((path, severity)) = patterns.paths.get(hit.pattern().as_usize()) else { continue };
        let behind = bytes.get(hit.end()..bytes.len().min(hit.end() + BEHIND)).unwrap_or(&[]);
        if is_something_else(path, bytes, hit.start(), behind) {
            continue;
        }
        let before = bytes.get(hit.start().saturating_sub(BEFORE)..hit.start()).unwrap_or(&[]);
        if patterns.denied.is_match(before) {
            continue;
        }
        if patterns.before.is_match(before) || patterns.after.is_match(behind) {
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
    let held = PATTERNS.paths.iter().filter(|(known, _)| path.contains(known.as_str()));
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
