//! Expressions and templates that can read files: `terraform console`, Jsonnet, Nix, Dhall, `yq`.
//!
//! What they read is written as a literal or as a bare path.

use crate::bound::Bound;
use crate::effect::{Access, Purpose, Why};
use crate::host;
use crate::shell::eval::Shell;
use crate::shell::expand::Field;
use crate::word::Word;

/// Literals of one text that are looked at.
const MAX_LITERALS: usize = 128;

/// Functions that run what they get, or hide what they read.
const RUNS: &[&str] = &["builtins.exec", "builtins.getFlake", "exec(", "derivation"];

pub(super) fn scan(shell: &mut Shell<'_, '_>, text: &str, field: &Field) {
    let imports = text.contains("import");
    if RUNS.iter().any(|name| text.contains(name)) {
        shell.opaque(Why::Language, Bound::ALL, field.span.clone());
    }
    let ends = |letter: char| {
        letter.is_whitespace()
            || matches!(
                letter,
                '"' | '\''
                    | '`'
                    | '('
                    | ')'
                    | '{'
                    | '}'
                    | '['
                    | ']'
                    | ','
                    | ';'
                    | '<'
                    | '>'
                    | '|'
                    | '='
            )
    };
    let is_path = |part: &&str| {
        part.len() > 1
            && (part.starts_with(['/', '~']) || part.starts_with("./") || part.starts_with("../"))
            && !part.starts_with("//")
            || part.contains("://")
            // `file(".env")`
            || text.contains(&format!("\"{part}\"")) && part.contains('.') && !part.starts_with('$')
    };
    for part in text.split(ends).filter(is_path).take(MAX_LITERALS) {
        let word = Field::new(Word::known(part), field.span.clone());
        match host::parse_url(&word.word) {
            Some(address) => {
                let purpose = if imports { Purpose::Execute } else { Purpose::Fetch };
                shell.connect(address, purpose, Some(&word.word), field.span.clone());
            }
            None => shell.read_file(&word, Access::Content),
        }
    }
}
