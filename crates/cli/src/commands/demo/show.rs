//! What the demo prints: two columns, the records, and what to try next.

use std::fmt::Write as _;
use std::io;

use anyhow::Result;
use callgate_audit::StoredRecord;
use serde_json::Value;

use crate::records::{call, rule, verdict, why};
use crate::render::{self, Color, paint_word, printable};

/// The widest line: a terminal as it opens.
const WIDTH: usize = 80;
/// The width of the left column.
const LEFT: usize = 34;
/// The width of the right column; a bar and two spaces are between them.
const RIGHT: usize = WIDTH - LEFT - 3;

pub(crate) const OPENING: &str = "\
A scripted model answers a client through callgate, all in this process.
";

pub(crate) fn closing(policy: &str) -> String {
    let mut text = String::from(
        "
The denied calls never reached the client. In their place it got a text that
tells the model what happened and what it may do instead. Everything else
arrived as it was sent. The policies were `builtin:starter` and this one:

",
    );
    for line in policy.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str(
        "
Next:
  callgate check --tool Bash --input '{\"command\":\"rm -rf ~\"}'
                   ask whether a call would pass
  callgate init    write a config with a rule of your own
  callgate serve   start the gateway; it prints what to set for your agent
  callgate tail    watch the calls, in another terminal
",
    );
    text
}

/// Two columns that grow.
pub(crate) struct DemoTable {
    color: Color,
}

impl DemoTable {
    pub(crate) fn begin() -> Result<Self> {
        let color = Color::of(&io::stdout());
        let (left, right) = ("─".repeat(LEFT), "─".repeat(RIGHT + 1));
        render::print(&format!(
            "\n{:<LEFT$} │ the client gets\n{left}─┼{right}\n",
            "the model sends"
        ))?;
        Ok(Self { color })
    }

    /// What the model sent, and all the client got by then.
    pub(crate) fn row(&mut self, sent: Option<&str>, got: &[String]) -> Result<()> {
        let left: Vec<String> =
            sent.map(|data| summary(data, LEFT)).into_iter().flatten().collect();
        let right: Vec<String> = got.iter().flat_map(|data| summary(data, RIGHT)).collect();
        for at in 0..left.len().max(right.len()) {
            let left = left.get(at).map(String::as_str).unwrap_or_default();
            let right = right.get(at).map(String::as_str).unwrap_or_default();
            let pad = " ".repeat(LEFT.saturating_sub(left.chars().count()));
            let blocked = right.starts_with("text   callgate blocked");
            let right = if blocked { self.color.denied(right) } else { right.to_owned() };
            let line = format!("{left}{pad} │ {right}");
            render::print(&format!("{}\n", line.trim_end()))?;
        }
        Ok(())
    }
}

/// The type of an event.
pub(crate) fn kind(data: &str) -> String {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    text(&event, "/type")
}

/// An event on lines of at most this width.
fn summary(data: &str, width: usize) -> Vec<String> {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    match (text(&event, "/type").as_str(), text(&event, "/content_block/type").as_str()) {
        ("content_block_start", "tool_use") => {
            vec![format!("call   {}", text(&event, "/content_block/name"))]
        }
        ("message_start" | "content_block_start" | "content_block_stop" | "ping", _) => Vec::new(),
        ("content_block_delta", _) => match text(&event, "/delta/partial_json").as_str() {
            "" => labelled("text", &text(&event, "/delta/text"), width),
            piece => labelled("args", piece, width),
        },
        ("message_delta", _) => vec![format!("stop   {}", text(&event, "/delta/stop_reason"))],
        ("message_stop", _) => vec!["done".to_owned()],
        (other, _) => vec![other.to_owned()],
    }
}

/// A text with a label in front of its first line.
fn labelled(label: &str, text: &str, width: usize) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines = lines.flat_map(|line| wrapped(line, width.saturating_sub(7)));
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    lines.zip(labels).map(|(line, label)| format!("{label:<7}{line}")).collect()
}

/// A text broken at its spaces. A word that is too long keeps its line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && line.chars().count() + word.trim_end().chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The text at a place; nothing if there is none.
fn text(event: &Value, place: &str) -> String {
    event.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Each record: the verdict and the call, then the rule and its reason.
pub(crate) fn records(records: &[StoredRecord]) -> String {
    let color = Color::of(&io::stdout());
    let mut text = String::from("\nthe records\n");
    for stored in records {
        let (word, call) = (verdict(stored), printable(&call(stored)));
        let _ = writeln!(text, "  {}  {call}", paint_word(&format!("{word:<5}"), word, color));
        let why = format!("{}: {}", rule(stored), printable(&why(stored)));
        for line in wrapped(&why, WIDTH - 9) {
            let _ = writeln!(text, "         {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(
            wrapped("incomprehensibilities are long", 8),
            ["incomprehensibilities", "are long"]
        );
        assert_eq!(
            labelled("text", "one two\n\nthree", 11),
            ["text   one", "       two", "       three"]
        );
    }
}
