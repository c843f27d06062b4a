//! Writes YAML that people read: short values on one line, long ones in blocks.

use serde_json::Value;

/// A value to be written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum YamlOutput {
    Text(String),
    /// JSON is YAML, too.
    Json(Value),
    List(Vec<YamlOutput>),
    Map(Vec<(&'static str, YamlOutput)>),
}

impl YamlOutput {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts; a single text stands for itself.
    pub(super) fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut items: Vec<Self> =
            texts.into_iter().map(|text| Self::Text(text.as_ref().to_owned())).collect();
        match items.pop() {
            Some(only) if items.is_empty() => only,
            last => Self::List(items.into_iter().chain(last).collect()),
        }
    }

    pub(super) fn map(key: &'static str, value: Self) -> Self {
        Self::Map(vec![(key, value)])
    }

    /// `{ KEY: [...] }`, or the only part by itself.
    pub(super) fn joined(key: &'static str, mut parts: Vec<Self>) -> Self {
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => Self::map(key, Self::List(parts.into_iter().chain(last).collect())),
        }
    }

    /// On one line.
    pub(super) fn flow(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Json(json) => json.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::flow).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(entries) => {
                let entry = |(key, value): &(&str, Self)| format!("{key}: {}", value.flow());
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }

    /// The value after `KEY:`, with its line end: on the same line if it fits.
    fn after_key(&self, indent: usize, used: usize) -> String {
        let flow = self.flow();
        match self {
            Self::List(_) | Self::Map(_) if used + flow.chars().count() > WIDTH => {
                format!("\n{}", self.block(indent))
            }
            _ => format!(" {flow}\n"),
        }
    }

    /// In lines, each with this indent.
    pub(super) fn block(&self, indent: usize) -> String {
        let pad = " ".repeat(indent);
        match self {
            Self::Map(entries) => entries
                .iter()
                .map(|(key, value)| {
                    let used = indent + key.len() + 2;
                    format!("{pad}{key}:{}", value.after_key(indent + 2, used))
                })
                .collect(),
            Self::List(items) => items
                .iter()
                .map(|item| {
                    let flow = item.flow();
                    let is_long = indent + 2 + flow.chars().count() > WIDTH;
                    match item {
                        Self::Map(_) if is_long => {
                            let block = item.block(indent + 2);
                            format!("{pad}- {}", block.trim_start())
                        }
                        _ => format!("{pad}- {flow}\n"),
                    }
                })
                .collect(),
            scalar => format!("{pad}{}\n", scalar.flow()),
        }
    }
}

/// Lines become at most about this long.
const WIDTH: usize = 100;

/// A text without quotes where YAML reads it as the same text.
fn quoted(text: &str) -> String {
    let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '/');
    let is_plain = |c: char| c.is_alphanumeric() || "_./ -".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_word = words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match first && text.chars().all(is_plain) && !text.ends_with(' ') && !is_word {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use callgate_document::{Problems, parse};
    use callgate_policy::Source;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        let texts =
            ["ls", "git push", "~/x", "true", "1", "a: b", "**", "ü ö", "x #y", "-rf", "a\nb"];
        let long: Vec<String> = (0..40).map(|at| format!("workspace/src/{at}")).collect();
        let value = YamlOutput::Map(vec![
            ("texts", YamlOutput::texts(texts)),
            ("one", YamlOutput::texts(["x"])),
            ("long", YamlOutput::texts(&long)),
            ("json", YamlOutput::Json(json!({ "a": [1, "b\n"] }))),
            (
                "rules",
                YamlOutput::List(vec![YamlOutput::Map(vec![
                    ("id", YamlOutput::text("a")),
                    ("in", YamlOutput::texts(&long)),
                ])]),
            ),
        ]);
        let source = Source { name: "x".into(), text: value.block(0) };
        let mut problems = Problems::new(&source);
        let read = parse(&source, &mut problems).unwrap().to_json();
        assert!(problems.into_list().is_empty());
        let expected = json!({
            "texts": texts, "one": "x", "long": long, "json": { "a": [1, "b\n"] },
            "rules": [{ "id": "a", "in": long }],
        });
        assert_eq!(serde_json::from_str::<Value>(&read).unwrap(), expected, "{}", source.text);
    }
}
