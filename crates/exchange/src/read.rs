//! Reads the texts of other systems into trees in which every value has its span.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod starlark;
pub(crate) mod toml;

use callgate_document::{Node, SourceSpan, Yaml};

/// The place of a byte range in a text.
pub(crate) fn span(text: &str, start: usize, end: usize) -> SourceSpan {
    let start = floor(text, start);
    let end = floor(text, end).max(start);
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let marked = text.get(start..end).unwrap_or_default();
    let end = marked.find('\n').map_or(end, |at| start + at);
    SourceSpan { line: before.matches('\n').count() + 1, column, start, end }
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The value of a key of a mapping.
pub(crate) fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        Yaml::Map(entries) => {
            entries.iter().find(|(known, _)| known.name == key).map(|(_, node)| node)
        }
        _ => None,
    }
}

/// Whether a mapping has one of these keys.
pub(crate) fn has(node: &Node, keys: &[&str]) -> bool {
    keys.iter().any(|key| get(node, key).is_some())
}

/// The text of a node, if it is text.
pub(crate) fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Yaml::String(text) => Some(text),
        _ => None,
    }
}

/// The items of a list; a single value counts as a list of one.
pub(crate) fn items(node: &Node) -> &[Node] {
    match &node.value {
        Yaml::List(items) => items,
        Yaml::Null => &[],
        _ => std::slice::from_ref(node),
    }
}
