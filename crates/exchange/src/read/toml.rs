//! TOML as the same tree that YAML is read into.

use callgate_document::{Key, Node, Problems, Source, Yaml};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::span;

/// Reads a TOML document, or reports the first error.
pub(crate) fn read(source: &Source, problems: &mut Problems<'_>) -> Option<Node> {
    let text = &source.text;
    match DeTable::parse(text) {
        Ok(table) => {
            let whole = table.span();
            Some(Node {
                span: span(text, whole.start, whole.end),
                value: map(table.get_ref(), text),
            })
        }
        Err(error) => {
            let at = error.span().unwrap_or_default();
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            problems.add(span(text, at.start, at.end), format!("cannot read this TOML: {message}"));
            None
        }
    }
}

fn map(table: &DeTable<'_>, text: &str) -> Yaml {
    let mut entries: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| {
            let at = key.span();
            let name = key.get_ref().clone().into_owned();
            (Key { name, span: span(text, at.start, at.end) }, node(value, text))
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    Yaml::Map(entries)
}

/// Recursion is bounded: the parser limits the depth.
fn node(value: &Spanned<DeValue<'_>>, text: &str) -> Node {
    let at = value.span();
    let written = text.get(at.clone()).unwrap_or_default().to_owned();
    let value = match value.get_ref() {
        DeValue::String(text) => Yaml::String(text.clone().into_owned()),
        DeValue::Integer(_) | DeValue::Float(_) => number(written),
        DeValue::Boolean(value) => Yaml::Bool(*value),
        DeValue::Datetime(_) => Yaml::String(written),
        DeValue::Array(items) => Yaml::List(items.iter().map(|item| node(item, text)).collect()),
        DeValue::Table(table) => map(table, text),
    };
    Node { span: span(text, at.start, at.end), value }
}

/// A number that JSON can write too; any other stays text.
fn number(written: String) -> Yaml {
    let plain = written.replace('_', "");
    let json = plain.strip_prefix('+').unwrap_or(&plain).to_owned();
    match serde_json::from_str::<serde_json::Number>(&json) {
        Ok(_) => Yaml::Number { json, written },
        Err(_) => Yaml::String(written),
    }
}
