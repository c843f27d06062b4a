//! Files as their systems have them, and what they turn into.

mod agentsh;
mod arfa;
mod claude_code;
mod codex;
mod cursor;
mod export;
mod gemini;
mod opencode;
mod properties;
mod round_trip;
mod sniff;
mod superego;

use callgate_call::{Arguments, CallId, Origin, OriginFields, Surface, ToolCall, ToolName};
use callgate_document::Source;
use callgate_effects::Catalogue;
use callgate_policy::{Moment, Policies, SpentLimits, Verdict, Weekday};

use crate::{DifferenceKind, Format, Imported, import};

/// A file of another system, imported.
struct Case {
    imported: Imported,
    policies: Policies,
}

impl Case {
    fn new(format: Format, text: &str) -> Self {
        let imported = imported(format, text);
        let policies = compiled(&imported.text);
        Self { imported, policies }
    }

    /// The verdict on a call of a tool in a known project.
    fn verdict(&self, tool: &str, input: &str) -> Verdict {
        judge(&self.policies, tool, input)
    }

    /// The verdict on a command of a shell.
    fn command(&self, tool: &str, command: &str) -> Verdict {
        let command = serde_json::Value::from(command);
        let key = if tool == "exec_command" { "cmd" } else { "command" };
        self.verdict(tool, &format!("{{\"{key}\":{command}}}"))
    }

    /// Whether a difference is reported for something in the file.
    fn reports(&self, kind: DifferenceKind, written: &str) -> bool {
        self.imported.changes.iter().any(|it| it.kind == kind && it.written == written)
    }

    fn line_of(&self, written: &str) -> usize {
        let change = self.imported.changes.iter().find(|change| change.written == written);
        change.unwrap_or_else(|| panic!("{:?}", self.imported.changes)).span.line
    }
}

fn source(text: &str) -> Source {
    Source { name: "file".into(), text: text.into() }
}

fn imported(format: Format, text: &str) -> Imported {
    import(&source(text), Some(format)).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The problems of a file, with their places.
fn refused(format: Format, text: &str) -> Vec<String> {
    let problems = import(&source(text), Some(format)).unwrap_err();
    let shown =
        problems.iter().map(|it| format!("{}:{}: {}", it.span.line, it.span.column, it.message));
    shown.collect()
}

fn compiled(text: &str) -> Policies {
    let compiled = Policies::compile(&[source(text)], &Catalogue::builtin());
    compiled.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}")).0
}

fn judge(policies: &Policies, tool: &str, input: &str) -> Verdict {
    let origin = Origin::new(OriginFields {
        cwd: Some("/home/dev/project".into()),
        home: Some("/home/dev".into()),
        ..OriginFields::at(Surface::Response)
    });
    let call = ToolCall {
        id: CallId::from("call_1"),
        name: ToolName::parse(tool).unwrap(),
        arguments: Arguments::json(input),
        origin,
        caller: None,
    };
    let noon = Moment::on(Weekday::Monday, 12);
    policies.judge(&call, &noon, &SpentLimits::none()).verdict
}
