//! Conditions in words.

use callgate_policy::{ConditionExplanation, ConditionKind, TestExplanation};
use serde_json::Value;

/// What a condition is about, in a few words.
pub(super) fn of(condition: &ConditionExplanation) -> String {
    match &condition.kind {
        ConditionKind::Test(test) => of_test(test),
        ConditionKind::Any(parts) => joined(parts, ", or "),
        ConditionKind::All(parts) => joined(parts, " and "),
        ConditionKind::Not(part) => format!("not {}", of(part)),
    }
}

/// What a rule leaves over if it stops everything but what its only condition names: `writing only in
/// workspace/**`.
pub(super) fn of_restriction(condition: &ConditionExplanation) -> Option<String> {
    let ConditionKind::Test(test) = &condition.kind else { return None };
    let operand: Value = serde_json::from_str(&test.operand).ok()?;
    let rest = operand.get("not")?;
    let (verb, place) = match test.path.as_str() {
        "reads" => ("reading", "in"),
        "writes" => ("writing", "in"),
        "deletes" => ("deleting", "in"),
        "connects" => ("connecting", "to"),
        _ => return None,
    };
    Some(format!("{verb} only {place} {}", inside(rest)))
}

fn joined(parts: &[ConditionExplanation], between: &str) -> String {
    let mut texts: Vec<String> = parts.iter().take(MAX_PARTS).map(of).collect();
    if parts.len() > MAX_PARTS {
        texts.push("…".to_owned());
    }
    texts.join(between)
}

/// The most parts of a condition that are named.
const MAX_PARTS: usize = 4;

fn of_test(test: &TestExplanation) -> String {
    let operand: Value = serde_json::from_str(&test.operand).unwrap_or(Value::Null);
    let verb = match test.path.as_str() {
        "runs" => "running",
        "reads" => "reading",
        "writes" => "writing",
        "deletes" => "deleting",
        "connects" => "connecting to",
        "sets" => "setting",
        "sql" => "database statements:",
        "marked" => "commands that mean",
        "opaque" => return "what cannot be read from the call".to_owned(),
        "secret" => "secrets:",
        "after" | "denied" => return format!("{} {}", test.path, test.operand),
        path => return format!("{path} {} {}", test.operator, plain(&operand)),
    };
    match operand.get("not") {
        Some(rest) => format!("{verb} anything but {}", inside(rest)),
        None => format!("{verb} {}", plain(&operand)),
    }
}

/// `the project, /tmp`: patterns for everything in a folder are shown as the folder.
fn inside(patterns: &Value) -> String {
    let name = |text: &str| match text.trim_end_matches("/**") {
        "workspace" => "the project".to_owned(),
        folder => folder.to_owned(),
    };
    match patterns {
        Value::String(text) => name(text),
        Value::Array(items) => {
            let names: Vec<String> = items.iter().filter_map(Value::as_str).map(name).collect();
            shortened(&names)
        }
        other => plain(other),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => shortened(&items.iter().map(plain).collect::<Vec<_>>()),
        Value::Object(fields) => {
            let names = ["paths", "hosts", "program", "names", "verbs"];
            let main = names.iter().find_map(|name| fields.get(*name));
            let more = ["args", "flags"].iter().filter_map(|name| fields.get(*name));
            match main {
                Some(main) => {
                    std::iter::once(main).chain(more).map(plain).collect::<Vec<_>>().join(" ")
                }
                None => value.to_string(),
            }
        }
        other => other.to_string(),
    }
}

/// The first few of a list.
fn shortened(names: &[String]) -> String {
    let shown = names.get(..MAX_NAMES).unwrap_or(names).join(", ");
    match names.len() > MAX_NAMES {
        true => format!("{shown}, …"),
        false => shown,
    }
}

const MAX_NAMES: usize = 6;
