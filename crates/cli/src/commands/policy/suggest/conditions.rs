//! Conditions that hold for certain calls, and for as few others as they can say.

use std::collections::BTreeSet;

use callgate_call::{ArgumentsForm, ToolCall};
use callgate_json::Value;
use callgate_policy::EffectTerms;
use serde_json::json;

use super::yaml::YamlOutput;

/// The kinds of effects that such calls must not have if the known ones do not.
const CHANGES: [(&str, &str); 4] =
    [("writes", "**"), ("deletes", "**"), ("connects", "*"), ("sets", "*")];

/// A condition that the effects of a call be among these, and no others.
pub(super) fn of_effects(terms: &EffectTerms, runs: CommandDetail) -> YamlOutput {
    let mut all = Vec::new();
    for (kind, values) in &terms.values {
        all.push(match (*kind, runs) {
            ("runs", CommandDetail::Whole) => {
                YamlOutput::map(kind, YamlOutput::texts(&terms.commands))
            }
            _ => YamlOutput::map(kind, YamlOutput::texts(values)),
        });
    }
    let absent = CHANGES.iter().filter(|(kind, _)| !terms.values.contains_key(kind));
    let mut none: Vec<YamlOutput> =
        absent.map(|(kind, every)| YamlOutput::map(kind, YamlOutput::text(*every))).collect();
    if terms.values.contains_key("runs") && runs == CommandDetail::Short {
        let marks = match terms.marks.is_empty() {
            true => YamlOutput::text("any"),
            false => YamlOutput::texts(terms.other_marks()),
        };
        none.push(YamlOutput::map("marked", marks));
    }
    if terms.values.contains_key("runs") && !none.is_empty() {
        all.push(YamlOutput::map("not", YamlOutput::joined("any", none)));
    }
    YamlOutput::joined("all", all)
}

/// How much of a command a condition names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandDetail {
    /// The program and its sub-command.
    Short,
    /// Its flags and operands, too.
    Whole,
}

/// A condition that the arguments be exactly these; `None` if they are too long or too deep to be
/// listed.
pub(super) fn of_arguments(call: &ToolCall) -> Option<YamlOutput> {
    let equals = |arg: &str, value: YamlOutput| {
        YamlOutput::Map(vec![("arg", YamlOutput::text(arg)), ("equals", value)])
    };
    if let ArgumentsForm::Text(text) = call.arguments.form() {
        return (text.len() <= MAX_TEXT).then(|| equals("$", YamlOutput::text(text)));
    }
    let Ok(Value::Object(members)) = call.arguments.value() else { return None };
    let one = |(key, value): &(String, Value)| {
        let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let value = scalar(value)?;
        (is_plain && !key.is_empty()).then(|| equals(key, YamlOutput::Json(value)))
    };
    let all: Option<Vec<YamlOutput>> = members.iter().map(one).collect();
    all.filter(|all| !all.is_empty()).map(|all| YamlOutput::joined("all", all))
}

/// A value that `equals` compares as a whole.
pub(super) fn scalar(value: &Value) -> Option<serde_json::Value> {
    match value {
        Value::String(text) => (text.len() <= MAX_TEXT).then(|| json!(text)),
        Value::Bool(value) => Some(json!(value)),
        Value::Number(text) => serde_json::from_str(text).ok(),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The longest argument that a rule repeats.
const MAX_TEXT: usize = 500;

/// Which kinds of effects a call has.
pub(super) fn signature(terms: &EffectTerms) -> Vec<&'static str> {
    terms.values.keys().copied().collect()
}

/// Folders instead of paths, until the list is short enough to be read.
pub(super) fn in_folders(paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = paths.clone();
    for depth in [usize::MAX, 4, 3, 2] {
        if found.len() <= MAX_PATHS {
            break;
        }
        found = paths.iter().map(|path| folder(path, depth)).collect();
    }
    found
}

/// Everything in the folder of a path, cut to at most `depth` names.
fn folder(path: &str, depth: usize) -> String {
    let Some((folder, _)) = path.rsplit_once('/') else { return path.to_owned() };
    let names: Vec<&str> = folder.split('/').collect();
    match names.get(..depth) {
        Some(first) => format!("{}/**", first.join("/")),
        None => format!("{folder}/*"),
    }
}

/// The most paths that a rule lists one by one.
const MAX_PATHS: usize = 6;
