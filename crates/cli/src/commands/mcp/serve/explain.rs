//! The tool `explain`: the rules for a tool or a call, and the verdict on a recorded one.

use anyhow::Result;
use callgate_control::{CallDefaults, CallExplanation, Explanation, ToolExplanation};
use callgate_mcp::CallResult;

use super::evaluate;
use super::known::{LoadedRules, answered};
use crate::commands::calls;
use crate::commands::policy::explain::text;
use crate::render::{printable, rule_name};

pub(super) fn call(now: &LoadedRules, arguments: &str) -> Result<CallResult> {
    let records = || now.records();
    let explanation =
        callgate_control::explain(&now.rules, arguments, &CallDefaults::here(), records)?;
    let text = match &explanation {
        Explanation::Record(stored) => calls::described(stored),
        Explanation::Call(call) => call_text(call),
        Explanation::Tool(tool) => tool_text(tool),
    };
    Ok(answered(explanation.to_json()?, &text))
}

/// The same text as `callgate policy explain`.
fn call_text(explanation: &CallExplanation) -> String {
    let mut text = text::rules(&explanation.matched, false);
    let others: Vec<String> = explanation
        .others
        .iter()
        .map(|(policy, rule)| rule_name(Some(policy), Some(rule)))
        .collect();
    if !others.is_empty() {
        let list = others.join(", ");
        text.push_str(&format!("rules about this tool that do not match: {list}\n\n"));
    }
    text.push_str(&evaluate::text(&explanation.call, &explanation.judgement));
    text
}

fn tool_text(explanation: &ToolExplanation) -> String {
    let ToolExplanation { call, rules, judgement } = explanation;
    let tool = printable(call.name.raw());
    let mut text = match judgement {
        Some(judgement) => {
            format!("With any arguments: {}", evaluate::text(call, judgement))
        }
        None => format!(
            "The verdict on a call to `{tool}` depends on its arguments: pass them to `evaluate`.\n"
        ),
    };
    text.push_str(match rules.as_slice() {
        [] => "No rule applies to this tool.\n",
        _ => "Rules about this tool:\n",
    });
    for rule in rules {
        let name = rule_name(Some(&rule.policy), Some(&rule.id));
        let shadow = if rule.shadow { " (shadow: recorded only)" } else { "" };
        let when = if rule.needs_arguments { ", depending on the arguments" } else { "" };
        let reason = printable(&rule.reason);
        text.push_str(&format!("- {name}: {}{shadow}{when}. {reason}\n", rule.verdict));
    }
    text
}
