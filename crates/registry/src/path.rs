//! Paths into a definition, as text for people.

use std::fmt::Write as _;

/// The path from the root of a document to a value: `inputSchema.properties["a b"].enum[3]`.
#[derive(Debug, Clone, Default)]
pub(crate) struct DefinitionPath {
    text: String,
    /// The length of the text before each step.
    steps: Vec<usize>,
}

impl DefinitionPath {
    pub(crate) fn enter_key(&mut self, key: &str) {
        self.steps.push(self.text.len());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        if !key.is_empty() && key.len() <= MAX_KEY && key.chars().all(plain) {
            if !self.text.is_empty() {
                self.text.push('.');
            }
            self.text.push_str(key);
        } else {
            let cut: String = key.chars().take(MAX_KEY).collect();
            let _ = write!(self.text, "[\"{}\"]", visible(&cut));
        }
    }

    pub(crate) fn enter_index(&mut self, index: usize) {
        self.steps.push(self.text.len());
        let _ = write!(self.text, "[{index}]");
    }

    pub(crate) fn leave(&mut self) {
        self.text.truncate(self.steps.pop().unwrap_or(0));
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

/// A text that hides nothing and cannot move a terminal's cursor: every invisible character is
/// replaced by its code.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if hides(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Control, format, filler and private characters, and variation selectors, which can encode hidden
/// bytes.
fn hides(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{e000}'..='\u{f8ff}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

/// The most characters of one key in a path. Longer keys are truncated: they only need to show the
/// place.
const MAX_KEY: usize = 64;
