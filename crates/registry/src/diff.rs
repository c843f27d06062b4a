//! What changed between two definitions, for people who decide whether to trust it.

mod words;

use std::collections::HashMap;
use std::fmt;

use callgate_json::{Value, quote};

use crate::path::{DefinitionPath, visible};
use crate::pin::{Pin, PinState, Version};

pub use words::DiffPiece;

/// One difference. Invisible characters are replaced by their codes, so that a terminal shows
/// everything and interprets nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, such as `inputSchema.properties.path.description`; empty for the whole definition.
    pub path: String,
    /// The old value; `None` if it was added.
    pub was: Option<String>,
    /// The new value; `None` if it was removed.
    pub is: Option<String>,
    /// For two texts, a comparison by words, so that a small change in a long text is visible.
    pub pieces: Vec<DiffPiece>,
}

/// The most differences that are returned. With more, the definition is a completely different one,
/// and a last entry says that there are more.
pub const MAX_DIFFERENCES: usize = 500;
/// The most characters of a value that are shown.
const MAX_SHOWN: usize = 4000;

/// The differences between two JSON definitions, in the order of the old one; additions come last.
pub fn diff(was: &str, is: &str) -> Vec<Difference> {
    let mut differ = Differ::default();
    match (Value::parse(was), Value::parse(is)) {
        (Ok(was), Ok(is)) => differ.values(&was, &is),
        // A stored definition may not be valid JSON; then both are compared as text.
        _ if was != is => differ.texts(was, is),
        _ => {}
    }
    differ.found
}

impl Version {
    /// What is different in another version: how its server is started, and its definition.
    pub fn diff(&self, is: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        if self.launch.fingerprint() != is.launch.fingerprint() {
            let shown = |version: &Self| Some(visible(version.launch.shown()));
            let path = "(how the server is started)".to_owned();
            found.push(Difference { path, was: shown(self), is: shown(is), pieces: Vec::new() });
        }
        found.extend(diff(&self.definition, &is.definition));
        found
    }
}

impl Pin {
    /// What is different between the pinned version and the one seen last. Empty unless it changed.
    pub fn diff(&self) -> Vec<Difference> {
        match &self.state {
            PinState::Changed(seen) => self.version.diff(seen),
            PinState::Trusted | PinState::Quarantined => Vec::new(),
        }
    }
}

#[derive(Default)]
struct Differ {
    path: DefinitionPath,
    found: Vec<Difference>,
}

impl Differ {
    fn values(&mut self, was: &Value, is: &Value) {
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => self.objects(was, is),
            (Value::Array(was), Value::Array(is)) => self.arrays(was, is),
            (Value::String(was), Value::String(is)) if was != is => self.texts(was, is),
            _ if was != is => self.add(Some(was), Some(is)),
            _ => {}
        }
    }

    fn objects(&mut self, was: &[(String, Value)], is: &[(String, Value)]) {
        let (older, newer) = (by_key(was), by_key(is));
        for (key, before) in was {
            self.path.enter_key(key);
            match newer.get(key.as_str()) {
                Some(after) => self.values(before, after),
                None => self.add(Some(before), None),
            }
            self.path.leave();
        }
        for (key, after) in is.iter().filter(|(key, _)| !older.contains_key(key.as_str())) {
            self.path.enter_key(key);
            self.add(None, Some(after));
            self.path.leave();
        }
    }

    /// Skips the elements that both begin and end with, and compares the rest one by one.
    fn arrays(&mut self, was: &[Value], is: &[Value]) {
        let begin = was.iter().zip(is).take_while(|(a, b)| a == b).count();
        let (was, is) = (was.get(begin..).unwrap_or(&[]), is.get(begin..).unwrap_or(&[]));
        let end = was.iter().rev().zip(is.iter().rev()).take_while(|(a, b)| a == b).count();
        let (was_left, is_left) = (was.len() - end, is.len() - end);
        for at in 0..was_left.max(is_left) {
            self.path.enter_index(begin + at);
            let before = was.get(at).filter(|_| at < was_left);
            let after = is.get(at).filter(|_| at < is_left);
            match (before, after) {
                (Some(before), Some(after)) => self.values(before, after),
                (before, after) => self.add(before, after),
            }
            self.path.leave();
        }
    }

    fn texts(&mut self, was: &str, is: &str) {
        let pieces = words::compare(was, is);
        self.push(Some(shown_text(was)), Some(shown_text(is)), pieces);
    }

    fn add(&mut self, was: Option<&Value>, is: Option<&Value>) {
        self.push(was.map(shown), is.map(shown), Vec::new());
    }

    fn push(&mut self, was: Option<String>, is: Option<String>, pieces: Vec<DiffPiece>) {
        let path = self.path.as_str().to_owned();
        match self.found.len() {
            0..MAX_DIFFERENCES => self.found.push(Difference { path, was, is, pieces }),
            MAX_DIFFERENCES => self.found.push(Difference {
                path: "(more)".to_owned(),
                was: None,
                is: Some("there are more differences, which are not shown".to_owned()),
                pieces: Vec::new(),
            }),
            _ => {}
        }
    }
}

fn by_key(members: &[(String, Value)]) -> HashMap<&str, &Value> {
    members.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shown_text(text),
        other => {
            let mut json = String::new();
            compact(other, &mut json);
            cut(&json)
        }
    }
}

fn shown_text(text: &str) -> String {
    cut(&visible(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// JSON on one line with invisible characters replaced by their codes: for people, not for
/// programs.
fn compact(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) => out.push_str(text),
        Value::String(text) => compact_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                compact(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                compact_text(key, out);
                out.push_str(": ");
                compact(value, out);
            }
            out.push('}');
        }
    }
}

fn compact_text(text: &str, out: &mut String) {
    let visible = visible(text);
    // A text without invisible characters is quoted as in JSON.
    match visible == text {
        true => out.push_str(&quote(text)),
        false => out.extend(["\"", &visible, "\""]),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "(all of it)" } else { &self.path };
        match (&self.was, &self.is) {
            (None, Some(is)) => write!(f, "+ {path}: {is}"),
            (Some(was), None) => write!(f, "- {path}: {was}"),
            _ if !self.pieces.is_empty() => {
                write!(f, "~ {path}: ")?;
                self.pieces.iter().try_for_each(|piece| write!(f, "{piece}"))
            }
            (was, is) => {
                let text = |it: &Option<String>| it.clone().unwrap_or_default();
                write!(f, "~ {path}: {} → {}", text(was), text(is))
            }
        }
    }
}
