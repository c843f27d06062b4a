//! YAML or JSON text as a tree in which every node has its span.
//!
//! A tree and not typed structs: serde stops at the first wrong type, but a rule file should get
//! all of its problems reported at once.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::Source;
use crate::diagnostic::{Problems, SourceSpan};
use crate::slip;

/// A value with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it is.
    pub span: SourceSpan,
    /// The value.
    pub value: Yaml,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub enum Yaml {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`, and no other word.
    Bool(bool),
    /// A number.
    Number {
        /// Its JSON text.
        json: String,
        /// As written, such as `0x10` for 16.
        written: String,
    },
    /// Text.
    String(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text. Each key occurs once.
    Map(Vec<(Key, Node)>),
}

/// A key with its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where it is.
    pub span: SourceSpan,
}

impl Node {
    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Yaml::Null => "null",
            Yaml::Bool(_) => "true or false",
            Yaml::Number { .. } => "a number",
            Yaml::String(_) => "text",
            Yaml::List(_) => "a list",
            Yaml::Map(_) => "a mapping",
        }
    }

    /// The node as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// Recursion is bounded: the parser's budget limits the depth.
    fn write_json(&self, out: &mut String) {
        use callgate_json::quote;
        let (open, close) = match &self.value {
            Yaml::List(_) => ('[', ']'),
            Yaml::Map(_) => ('{', '}'),
            Yaml::Null => return out.push_str("null"),
            Yaml::Bool(value) => return out.push_str(if *value { "true" } else { "false" }),
            Yaml::Number { json, .. } => return out.push_str(json),
            Yaml::String(text) => return out.push_str(&quote(text)),
        };
        out.push(open);
        let (items, entries): (&[Node], &[(Key, Node)]) = match &self.value {
            Yaml::List(items) => (items, &[]),
            Yaml::Map(entries) => (&[], entries),
            _ => (&[], &[]),
        };
        let keyed = entries.iter().map(|(key, node)| (Some(key), node));
        for (at, (key, node)) in items.iter().map(|node| (None, node)).chain(keyed).enumerate() {
            if at > 0 {
                out.push(',');
            }
            if let Some(key) = key {
                out.push_str(&quote(&key.name));
                out.push(':');
            }
            node.write_json(out);
        }
        out.push(close);
    }
}

/// Parses a file. Reports only the first syntax error: nothing after it can be trusted.
pub fn parse(source: &Source, problems: &mut Problems<'_>) -> Option<Node> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_events: 4_000_000, max_nodes: 2_000_000 },
    };
    match serde_saphyr::from_str_with_options::<Spanned<RawNode>>(&source.text, options) {
        Ok(raw) => Some(place(raw, &source.text)),
        Err(error) => {
            let span = error.location().map(|at| span_of(&at, &source.text)).unwrap_or_default();
            let message = plain(&error);
            let hint = slip::hint(&message, span.line, &source.text);
            problems.add(span, format!("cannot read this file: {message}")).maybe_hint(hint);
            None
        }
    }
}

/// The error in one line, without its place, which is in the span.
fn plain(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    let line = line.split(", set DuplicateKeyPolicy").next().unwrap_or(line);
    line.trim_start_matches("error: ").to_owned()
}

/// A value as serde sees it, before its span is computed.
#[derive(Debug)]
enum RawNode {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    List(Vec<Spanned<RawNode>>),
    Map(Vec<(Spanned<String>, Spanned<RawNode>)>),
}

fn place(raw: Spanned<RawNode>, text: &str) -> Node {
    let span = span_of(&raw.referenced, text);
    let value = match raw.value {
        RawNode::Null => Yaml::Null,
        RawNode::Bool(value) => Yaml::Bool(value),
        RawNode::Number(value) => number(value, span_of(&raw.defined, text), text),
        RawNode::String(value) => Yaml::String(value),
        RawNode::List(items) => {
            Yaml::List(items.into_iter().map(|item| place(item, text)).collect())
        }
        RawNode::Map(entries) => {
            let keyed = |(key, value): (Spanned<String>, _)| {
                let span = span_of(&key.referenced, text);
                (Key { name: key.value, span }, place(value, text))
            };
            Yaml::Map(entries.into_iter().map(keyed).collect())
        }
    };
    Node { span, value }
}

/// A number keeps its text if that is valid JSON: 64 bits are not enough for every integer.
fn number(value: String, span: SourceSpan, text: &str) -> Yaml {
    let written = text.get(span.start..span.end).map_or("", str::trim).to_owned();
    let is_json =
        matches!(callgate_json::Value::parse(&written), Ok(callgate_json::Value::Number(_)));
    let json = if is_json { written.clone() } else { value };
    Yaml::Number { json, written }
}

fn span_of(at: &Location, text: &str) -> SourceSpan {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let span = at.span();
    let (start, end) = match (span.byte_offset(), span.byte_len()) {
        (Some(offset), Some(len)) => (number(offset), number(offset.saturating_add(len))),
        // A syntax error has its place in characters.
        _ => {
            let mut places = text.char_indices().map(|(at, _)| at).skip(number(span.offset()));
            (places.next().unwrap_or(text.len()), places.next().unwrap_or(text.len()))
        }
    };
    let (start, end) = (start.min(text.len()), end.min(text.len()));
    // Of a block collection only the first line is marked, not all of it.
    let first_line = text.get(start..end).and_then(|part| part.find('\n'));
    let end = first_line.map_or(end, |newline| start + newline);
    SourceSpan { line: number(at.line()), column: number(at.column()), start, end }
}

impl<'de> Deserialize<'de> for RawNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawNodeVisitor)
    }
}

struct RawNodeVisitor;

impl<'de> Visitor<'de> for RawNodeVisitor {
    type Value = RawNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<RawNode, E> {
        Ok(RawNode::Null)
    }

    fn visit_none<E>(self) -> Result<RawNode, E> {
        Ok(RawNode::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RawNode, E> {
        Ok(RawNode::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<RawNode, E> {
        Ok(RawNode::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<RawNode, E> {
        Ok(RawNode::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<RawNode, E> {
        Ok(RawNode::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<RawNode, E> {
        Ok(RawNode::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<RawNode, E> {
        Ok(RawNode::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawNode::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawNode, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawNode::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        let source = Source { name: "test".into(), text: text.into() };
        let mut problems = Problems::new(&source);
        let node = parse(&source, &mut problems);
        assert_eq!(problems.into_list(), []);
        node.unwrap()
    }

    #[test]
    fn words_stay_words_and_numbers_keep_their_text() {
        let node =
            tree("a: no\nb: 123456789012345678901234567890\nc: 1.0\nd: '5'\ne: true\nf: 0x10");
        let json =
            r#"{"a":"no","b":123456789012345678901234567890,"c":1.0,"d":"5","e":true,"f":16}"#;
        assert_eq!(node.to_json(), json);
    }

    #[test]
    fn nodes_know_their_place() {
        let text = "rules:\n  - id: é\n    tool: [Bash, Read]\n";
        let Yaml::Map(entries) = tree(text).value else { panic!() };
        let Yaml::List(rules) = &entries[0].1.value else { panic!() };
        let Yaml::Map(rule) = &rules[0].value else { panic!() };
        let (key, list) = &rule[1];
        assert_eq!(&text[key.span.start..key.span.end], "tool");
        assert_eq!((key.span.line, key.span.column), (3, 5));
        let Yaml::List(tools) = &list.value else { panic!() };
        assert_eq!(&text[tools[1].span.start..tools[1].span.end], "Read");
    }

    #[test]
    fn json_is_yaml() {
        assert_eq!(tree(r#"{"a": ["x\u0041", 1, null]}"#).to_json(), r#"{"a":["xA",1,null]}"#);
    }
}
