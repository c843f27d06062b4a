//! Judgements for programs: one JSON object a line, with the keys of callgate's records.

use std::borrow::Cow;

use callgate_call::{ArgumentsForm, ToolCall};
use callgate_config::Exposed;
use callgate_control::{JudgementOutput, id, one_line};
use callgate_document::Diagnostic;
use callgate_gate::RemovedCall;
use callgate_policy::TextHit;
use serde::Serialize;
use serde_json::value::RawValue;

/// One line of `filter --json`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct FilterEvent<'a> {
    pub(crate) event: &'static str,
    #[serde(flatten)]
    pub(crate) call: Option<CallFields<'a>>,
    #[serde(flatten)]
    pub(crate) judged: Option<JudgementOutput<'a>>,
    /// The reason, if there is no judgement that gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<&'a str>,
}

/// The call of an event.
#[derive(Debug, Serialize)]
pub(crate) struct CallFields<'a> {
    tool_name: &'a str,
    tool_id: Option<&'a str>,
    tool_input: Option<Box<RawValue>>,
}

impl<'a> CallFields<'a> {
    pub(crate) fn of(call: &'a ToolCall) -> Self {
        Self { tool_name: call.name.raw(), tool_id: id(call), tool_input: input(call) }
    }

    /// A call of which only the name is known.
    pub(crate) fn named(tool_name: &'a str) -> Self {
        Self { tool_name, tool_id: None, tool_input: None }
    }
}

/// A line of `filter --json` about a call that was taken out.
#[derive(Debug, Serialize)]
pub(crate) struct Removed<'a> {
    event: &'static str,
    tool_id: Option<&'a str>,
    /// The call in the provider's words.
    original: Option<Box<RawValue>>,
}

impl<'a> Removed<'a> {
    pub(crate) fn of(call: &'a RemovedCall) -> Self {
        let tool_id = Some(call.id.as_str()).filter(|id| !id.is_empty());
        Self { event: "removed", tool_id, original: one_line(&call.original) }
    }
}

/// A line of `filter --json` about what a text rule found.
#[derive(Debug, Serialize)]
pub(crate) struct TextRuleEvent<'a> {
    event: &'static str,
    action: &'static str,
    kind: &'a str,
    policy: &'a str,
    rule: &'a str,
    reason: &'a str,
    hint: Option<&'a str>,
}

impl<'a> TextRuleEvent<'a> {
    pub(crate) fn of(hit: &'a TextHit) -> Self {
        Self {
            event: "guardrail",
            action: hit.action.as_str(),
            kind: &hit.kind,
            policy: &hit.policy,
            rule: &hit.rule,
            reason: &hit.reason,
            hint: hit.hint.as_deref(),
        }
    }
}

/// A line of `check --jsonl` that could not be judged.
#[derive(Debug, Serialize)]
pub(crate) struct Unjudged {
    pub(crate) line: usize,
    pub(crate) error: String,
}

/// What `policy check --json` found.
#[derive(Debug, Serialize)]
pub(crate) struct PolicyCheckOutput<'a> {
    pub(crate) ok: bool,
    pub(crate) problems: Vec<ProblemOutput<'a>>,
    pub(crate) warnings: Vec<ProblemOutput<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProblemOutput<'a> {
    file: Cow<'a, str>,
    /// Absent if it is about the file, not about its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    message: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    hint: Option<Cow<'a, str>>,
}

impl<'a> ProblemOutput<'a> {
    pub(crate) fn of(diagnostic: &'a Diagnostic) -> Self {
        Self {
            file: Cow::Borrowed(&diagnostic.source),
            line: Some(diagnostic.span.line),
            column: Some(diagnostic.span.column),
            message: Cow::Borrowed(&diagnostic.message),
            label: &diagnostic.label,
            hint: diagnostic.hint.as_deref().map(Cow::Borrowed),
        }
    }

    /// A file that other users can change.
    pub(crate) fn exposed(exposed: &'a Exposed) -> Self {
        Self {
            file: exposed.path.to_string_lossy(),
            line: None,
            column: None,
            message: Cow::Owned(exposed.to_string()),
            label: "",
            hint: Some(Cow::Owned(format!("run `{}`", exposed.fix()))),
        }
    }
}

/// One JSON line.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}

/// The arguments as JSON: as they came where they have one reading, else their text as a string.
fn input(call: &ToolCall) -> Option<Box<RawValue>> {
    let arguments = &call.arguments;
    let json = match (arguments.form(), arguments.value()) {
        (ArgumentsForm::Pending, _) => return None,
        (ArgumentsForm::Json(text), Ok(_)) if text.trim_ascii().is_empty() => "{}".to_owned(),
        (ArgumentsForm::Json(text), Ok(_)) => return one_line(text),
        (
            ArgumentsForm::Json(text) | ArgumentsForm::Text(text) | ArgumentsForm::Oversize(text),
            _,
        ) => callgate_json::quote(text),
    };
    RawValue::from_string(json).ok()
}

#[cfg(test)]
mod tests {
    use callgate_call::{Arguments, CallId, Origin, Surface, ToolName};

    use super::*;

    fn shown(arguments: Arguments) -> String {
        let call = ToolCall {
            id: CallId::from("c1"),
            name: ToolName::parse("Bash").unwrap(),
            arguments,
            origin: Origin::at(Surface::Response),
            caller: None,
        };
        let call = Some(CallFields::of(&call));
        line(&FilterEvent { event: "tool_call", call, ..FilterEvent::default() }).unwrap()
    }

    #[test]
    fn one_line_whatever_the_arguments_are() {
        let table = [
            (Arguments::json("{\"n\":\r\n 1e999}"), r#"{"n":   1e999}"#),
            (Arguments::json(""), "{}"),
            (Arguments::json("{\"a\":\n"), r#""{\"a\":\n""#),
            (Arguments::json(r#"{"a":1,"a":2}"#), r#""{\"a\":1,\"a\":2}""#),
            (Arguments::text("x\ny"), r#""x\ny""#),
            (Arguments::pending(), "null"),
        ];
        for (arguments, input) in table {
            let line = format!(
                "{{\"event\":\"tool_call\",\"tool_name\":\"Bash\",\"tool_id\":\"c1\",\
                 \"tool_input\":{input}}}\n"
            );
            assert_eq!(shown(arguments), line);
        }
    }
}
