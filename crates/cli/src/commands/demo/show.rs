//! What the demo prints: two columns, the records, and how to go on.

use std::fmt::Write as _;
use std::io;

use anyhow::Result;
use callgate_audit::Stored;
use serde_json::Value;

use crate::render::{self, Color};

pub(crate) fn opening(policy: &str) -> String {
    let mut text = String::from(
        "A scripted model answers through a callgate gateway in this process. The policy is the \
         built-in\none (`builtin:starter`) and this:\n\n",
    );
    for line in policy.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

pub(crate) const CLOSING: &str = "
The text and the harmless call left as they came. The two denied calls never reached the client: in
their place it got a text that tells the model what happened and what it may do instead.

Go on:
  callgate serve        run the gateway; it prints what to set for your agent or SDK
  callgate init         write a config with a policy of your own
  callgate calls        read the records
";

/// The width of the left column.
const LEFT: usize = 46;

/// Two columns that grow.
pub(crate) struct Table {
    color: Color,
}

impl Table {
    pub(crate) fn begin() -> Result<Self> {
        let color = Color::of(&io::stdout());
        let line = "─".repeat(LEFT);
        render::print(&format!(
            "\n{:<LEFT$} │ the client gets\n{line}─┼{line}\n",
            "the model sends"
        ))?;
        Ok(Self { color })
    }

    /// What the model sent, and all the client got by then.
    pub(crate) fn row(&mut self, sent: Option<&str>, got: &[String]) -> Result<()> {
        let left: Vec<String> = sent.map(summary).into_iter().flatten().collect();
        let right: Vec<String> = got.iter().flat_map(|data| summary(data)).collect();
        for at in 0..left.len().max(right.len()) {
            let left = left.get(at).map(String::as_str).unwrap_or_default();
            let right = right.get(at).map(String::as_str).unwrap_or_default();
            let pad = " ".repeat(LEFT.saturating_sub(left.chars().count()));
            let blocked = right.starts_with("text   callgate blocked");
            let right = if blocked { self.color.denied(right) } else { right.to_owned() };
            render::print(&format!("{left}{pad} │ {right}\n"))?;
        }
        Ok(())
    }
}

/// The word of an event.
pub(crate) fn kind(data: &str) -> String {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    text(&event, "/type")
}

/// An event in a line, or in as many as its text has.
fn summary(data: &str) -> Vec<String> {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    match (text(&event, "/type").as_str(), text(&event, "/content_block/type").as_str()) {
        ("message_start", _) => vec!["begin".to_owned()],
        ("content_block_start", "tool_use") => {
            vec![format!("call   {}", text(&event, "/content_block/name"))]
        }
        ("content_block_start" | "ping", _) => Vec::new(),
        ("content_block_delta", _) => match text(&event, "/delta/partial_json").as_str() {
            "" => said(&text(&event, "/delta/text")),
            piece => vec![format!("args   {piece}")],
        },
        ("content_block_stop", _) => vec!["end".to_owned()],
        ("message_delta", _) => vec![format!("stop   {}", text(&event, "/delta/stop_reason"))],
        ("message_stop", _) => vec!["done".to_owned()],
        (other, _) => vec![other.to_owned()],
    }
}

fn said(text: &str) -> Vec<String> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let first = lines.next().map(|line| format!("text   {line}"));
    first.into_iter().chain(lines.map(|line| format!("       {line}"))).collect()
}

/// The text at a place; nothing if there is none.
fn text(event: &Value, place: &str) -> String {
    event.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// One line for each record.
pub(crate) fn records(records: &[Stored]) -> String {
    let color = Color::of(&io::stdout());
    let mut text = String::from("\nthe records\n");
    for stored in records {
        let record = &stored.record;
        let (Some(tool), Some(verdict)) = (&record.tool, &record.verdict) else { continue };
        let rule = render::rule_name(verdict.policy.as_deref(), verdict.rule.as_deref());
        let reason = verdict.reason.as_deref().unwrap_or_default();
        let line = render::verdict_words(verdict.action.as_str(), &tool.name, &rule, reason, color);
        text.push_str("  ");
        text.push_str(&line);
        if let Some(input) = &tool.input {
            let _ = writeln!(text, "         {input}");
        }
    }
    text
}
