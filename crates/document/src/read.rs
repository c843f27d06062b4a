//! Small functions that read a node. Each reports what is wrong and continues.

use crate::diagnostic::{Problems, SourceSpan, did_you_mean};
use crate::node::{Key, Node, Yaml};

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it is.
    pub span: SourceSpan,
}

/// The entries of a mapping.
#[derive(Debug)]
pub struct Mapping<'n> {
    /// The entries, in the order of the text.
    pub entries: &'n [(Key, Node)],
    /// Where the mapping is.
    pub span: SourceSpan,
}

impl<'n> Mapping<'n> {
    /// The mapping, if it is one. `what` names it in messages.
    pub fn of(node: &'n Node, what: &str, problems: &mut Problems<'_>) -> Option<Self> {
        match &node.value {
            Yaml::Map(entries) => Some(Self { entries, span: node.span }),
            _ => {
                wrong(node, what, "a mapping", problems);
                None
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(k, _)| k.name == key).map(|(_, node)| node)
    }

    /// The span of the first key, to mark a problem with the mapping as a whole.
    pub fn start(&self) -> SourceSpan {
        self.entries.first().map_or(self.span, |(key, _)| key.span)
    }

    /// Reports every unknown key, and every key that a later version will know.
    pub fn check(&self, known: &[&str], later: &[&str], problems: &mut Problems<'_>) {
        for (key, _) in self.entries {
            let name = key.name.as_str();
            if later.contains(&name) {
                not_yet(key.span, name, problems);
            } else if !known.contains(&name) {
                let hint = did_you_mean(name, known.iter().copied());
                let hint = hint.or_else(|| Some(format!("known here: {}", known.join(", "))));
                problems.add(key.span, format!("unknown key `{name}`")).maybe_hint(hint);
            }
        }
    }
}

/// Reads text. Accepts a number or a boolean as text.
pub fn text(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<At<String>> {
    let value = match &node.value {
        Yaml::String(value) => value.clone(),
        Yaml::Number { written, .. } => written.clone(),
        Yaml::Bool(value) => value.to_string(),
        _ => {
            wrong(node, what, "text", problems);
            return None;
        }
    };
    if value.trim().is_empty() {
        problems.add(node.span, format!("{what} is empty"));
        return None;
    }
    Some(At { value, span: node.span })
}

/// Reads one text or a list of texts.
pub fn texts(node: &Node, what: &str, problems: &mut Problems<'_>) -> Vec<At<String>> {
    let Yaml::List(items) = &node.value else {
        return text(node, what, problems).into_iter().collect();
    };
    if items.is_empty() {
        problems.add(node.span, format!("{what} is an empty list, which nothing can match"));
    }
    items.iter().filter_map(|item| text(item, what, problems)).collect()
}

/// Reads a list of nodes.
pub fn list<'n>(node: &'n Node, what: &str, problems: &mut Problems<'_>) -> &'n [Node] {
    match &node.value {
        Yaml::List(items) => items,
        _ => {
            wrong(node, what, "a list", problems);
            &[]
        }
    }
}

/// Reads one of a few words.
pub fn word<T: Copy>(
    text: &At<String>,
    what: &str,
    known: &[(&str, T)],
    later: &[&str],
    problems: &mut Problems<'_>,
) -> Option<At<T>> {
    let written = text.value.as_str();
    if let Some((_, value)) = known.iter().find(|(word, _)| *word == written) {
        return Some(At { value: *value, span: text.span });
    }
    if later.contains(&written) {
        not_yet(text.span, written, problems);
        return None;
    }
    let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
    let hint = did_you_mean(written, words.iter().copied());
    let hint = hint.or_else(|| Some(format!("one of: {}", words.join(", "))));
    problems.add(text.span, format!("unknown {what} `{written}`")).maybe_hint(hint);
    None
}

/// Reads a whole number within a range.
pub fn integer(
    node: &Node,
    what: &str,
    range: std::ops::RangeInclusive<i64>,
    problems: &mut Problems<'_>,
) -> Option<i64> {
    let value = match &node.value {
        Yaml::Number { json, .. } => json.parse().ok().filter(|value| range.contains(value)),
        _ => None,
    };
    if value.is_none() {
        let (low, high) = range.into_inner();
        let message = format!("{what} must be a whole number from {low} to {high}");
        problems.add(node.span, message);
    }
    value
}

/// Reads `true` or `false`.
pub fn boolean(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<bool> {
    match &node.value {
        Yaml::Bool(value) => Some(*value),
        _ => {
            wrong(node, what, "true or false", problems);
            None
        }
    }
}

/// Reports a value of the wrong kind.
pub fn wrong(node: &Node, what: &str, expected: &str, problems: &mut Problems<'_>) {
    problems.add(node.span, format!("{what} must be {expected}, not {}", node.kind()));
}

fn not_yet(span: SourceSpan, word: &str, problems: &mut Problems<'_>) {
    problems
        .add(span, format!("`{word}` is not available in this version"))
        .hint("remove it: as long as it is here, no part of this file takes effect");
}
