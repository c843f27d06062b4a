//! Shows the decisions of a gateway as they are made.

use std::io::{self, IsTerminal as _};

use callgate_audit::{Record, RecordKind, RecordedVerdict};
use callgate_decide::{Decider, ObservedDecisions};
use unicode_width::UnicodeWidthStr as _;

use super::logging;
use crate::args::LogFormat;
use crate::call_text;
use crate::render::{self, Color, printable, rule_name};
use crate::table::{self, truncated};
use crate::when;

/// Prints or logs each denied call; a log for programs has a line for each decision.
pub(super) fn show(decider: &Decider, format: LogFormat) {
    match (format, io::stderr().is_terminal()) {
        (LogFormat::Text, true) => {
            let color = Color::of(&io::stderr());
            decider.observe(ObservedDecisions::Denied, move |record| print_denied(record, color));
        }
        (LogFormat::Text, false) => decider.observe(ObservedDecisions::Denied, log),
        (LogFormat::Json, _) => decider.observe(ObservedDecisions::All, log),
    }
}

/// Records of other kinds repeat a decision, or are not about a call.
fn decided(record: &Record) -> Option<&RecordedVerdict> {
    let is_decision = record.kind.is_call() || record.kind == RecordKind::ToolCallWarning;
    record.verdict.as_ref().filter(|_| is_decision)
}

fn print_denied(record: &Record, color: Color) {
    let Some(verdict) = decided(record) else { return };
    let width = table::width_of(&io::stderr()).unwrap_or(usize::MAX);
    logging::talk(&denied_line(record, verdict, width, color));
}

/// `10:15:02  deny   Bash: git push --force  mine/no-force-push`, as wide as the terminal at most.
fn denied_line(record: &Record, verdict: &RecordedVerdict, width: usize, color: Color) -> String {
    let (time, word) = (when::brief(record.time), verdict.action.as_str());
    let tool = record.tool.as_ref();
    let call = tool.map(|tool| {
        let argument = call_text::argument(&tool.name, tool.input.as_deref());
        printable(&call_text::joined(&tool.name, &argument))
    });
    let rule = match (&verdict.rule, &verdict.reason) {
        (None, Some(reason)) => printable(reason),
        _ => rule_name(verdict.policy.as_deref(), verdict.rule.as_deref()),
    };
    let room = width.saturating_sub(time.width() + word.width() + 6);
    // The rule explains the decision, so it gets half of the line, or more if the call is short.
    let call = call.unwrap_or_default();
    let least = rule.width().min(room / 2);
    let call = truncated(&call, room.saturating_sub(least));
    let rule = truncated(&rule, room.saturating_sub(call.width()));
    format!("{time}  {}  {call}  {rule}\n", render::paint_word(word, word, color))
}

/// One line per decision, without arguments: they are in the records.
fn log(record: &Record) {
    let Some(verdict) = decided(record) else { return };
    let tool = record.tool.as_ref();
    let record_id = record.id.to_string();
    tracing::info!(
        target: "callgate::decision",
        verdict = verdict.action.as_str(),
        tool = tool.map(|tool| tool.name.as_str()),
        server = tool.and_then(|tool| tool.server.as_deref()),
        policy = verdict.policy.as_deref(),
        rule = verdict.rule.as_deref(),
        code = verdict.code.map(|code| code.as_str()),
        r#type = record.kind.as_str(),
        surface = record.surface.map(|surface| surface.as_str()),
        record = record_id.as_str(),
        request = record.request.as_deref(),
        session = record.who.session.as_deref(),
        agent = record.who.agent.as_deref(),
        user = record.who.user.as_deref(),
        team = record.who.team.as_deref(),
        key = record.who.key.as_deref(),
        provider = record.provider.as_deref(),
        model = record.model.as_deref(),
        "decision"
    );
}

#[cfg(test)]
mod tests {
    use callgate_audit::{CallOutcome, RecordedTool};

    use super::*;

    fn denied(command: &str) -> Record {
        let mut record = Record::new(RecordKind::ToolCall);
        let input = serde_json::json!({ "command": command }).to_string();
        record.tool = Some(RecordedTool {
            name: "Bash".into(),
            input: Some(input),
            ..RecordedTool::default()
        });
        let mut verdict = RecordedVerdict::new(CallOutcome::Deny);
        (verdict.policy, verdict.rule) = (Some("mine".into()), Some("no-force-push".into()));
        record.verdict = Some(verdict);
        record
    }

    #[test]
    fn a_denied_call_is_one_line_that_fits() {
        let record = denied(&format!("git push --force\n\u{1b}[2J{}", "x".repeat(400)));
        let verdict = record.verdict.clone().unwrap();
        for width in [40, 80, 120] {
            let line = denied_line(&record, &verdict, width, Color::Off);
            assert_eq!(line.lines().count(), 1, "{line:?}");
            assert!(line.trim_end().width() <= width, "{width}: {line:?}");
            assert!(line.contains("deny  Bash: git "), "{line:?}");
        }
        let line = denied_line(&record, &verdict, 80, Color::Off);
        assert!(line.ends_with("  mine/no-force-push\n"), "{line:?}");
        assert!(line.contains(r"--force\n\u{1b}[2Jxxx"), "{line:?}");
    }
}
