//! The tool `explain`: which rules there are about a tool or a call, and what became of a recorded one.

use anyhow::{Result, bail};
use callgate_call::ToolCall;
use callgate_mcp::Called;
use callgate_policy::{Judgement, NameJudgement, RuleExplanation, RuleInfo};
use serde::Serialize;
use serde_json::{Value, json};

use super::evaluate;
use super::known::{Loaded, answered, unsaid};
use crate::commands::calls;
use crate::commands::policy::explain::{json::Explained, text};
use crate::given::Given;
use crate::render::{hinted, printable, rule_name};

pub(super) fn call(now: &Loaded, arguments: &str) -> Result<Called> {
    let asked: Value = serde_json::from_str(arguments)?;
    match asked.get("record") {
        None | Some(Value::Null) => {}
        Some(Value::String(id)) if is_alone(&asked) => return record(now, id),
        Some(Value::String(_)) => {
            let hint = "give `record` alone, or leave it out and describe the call";
            return Err(hinted("a record and a call are asked for at once".to_owned(), hint));
        }
        Some(_) => bail!("`record` is not a string"),
    }
    let given = Given::parse_with(arguments, "arguments")?;
    let has_arguments = given.has_input();
    let call = given.into_call(&unsaid())?;
    match has_arguments {
        true => whole(now, &evaluate::as_a_door_reads(now, call)?),
        false => named(now, &call),
    }
}

/// Whether nothing is said beside one thing.
fn is_alone(asked: &Value) -> bool {
    let said = |members: &serde_json::Map<String, Value>| {
        members.values().filter(|value| !value.is_null()).count()
    };
    asked.as_object().map(said) == Some(1)
}

/// A record, as `callgate calls show` tells it.
fn record(now: &Loaded, id: &str) -> Result<Called> {
    let stored = now.records()?.show(id)?;
    answered(&json!({ "about": "record", "record": stored.to_json() }), &calls::described(&stored))
}

/// A call with its arguments, as `callgate policy explain` tells it: each rule that matches, condition by
/// condition. The others about this tool are only named: their patterns would fill a model's context.
fn whole(now: &Loaded, call: &ToolCall) -> Result<Called> {
    #[derive(Serialize)]
    struct Whole<'a> {
        about: &'static str,
        call: Explained<'a>,
        not_matched: Vec<String>,
    }
    let (judgement, mut rules) = now.judge.explained(call);
    rules.retain(|rule| rule.misfit.is_none());
    let (matched, others): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|rule| rule.result.matches());
    let name = |rule: &RuleExplanation| rule_name(Some(&rule.policy), Some(&rule.rule));
    let not_matched: Vec<String> = others.iter().map(name).collect();
    let mut said = text::rules(&matched, false);
    if !not_matched.is_empty() {
        let list = not_matched.join(", ");
        said.push_str(&format!("rules about this tool that do not match: {list}\n\n"));
    }
    said.push_str(&evaluate::text(call, &judgement));
    let explained = Explained::of(call, &judgement, &matched);
    answered(&Whole { about: "call", call: explained, not_matched }, &said)
}

/// A tool: the rules that may have something to say about its calls.
fn named(now: &Loaded, call: &ToolCall) -> Result<Called> {
    let (_, explained) = now.judge.explained(call);
    let about = |rule: &RuleInfo| {
        let is_it = |told: &&RuleExplanation| told.policy == rule.policy && told.rule == rule.id;
        explained.iter().find(is_it).is_some_and(|told| told.misfit.is_none())
    };
    let rules: Vec<RuleInfo> = now.judge.policies().rules().filter(about).collect();
    let (decided, judgement) = match now.judge.name(call) {
        NameJudgement::Allow(_, judgement) => ("by name", Some(judgement)),
        NameJudgement::Deny(judgement) => ("by name", Some(judgement)),
        NameJudgement::NeedArguments => ("by arguments", None),
    };
    let told = json!({
        "about": "tool",
        "tool": call.name.raw(),
        "decided": decided,
        "verdict": judgement.as_ref().map(|judgement| judgement.verdict.as_str()),
        "rules": rules.iter().map(rule_json).collect::<Vec<_>>(),
    });
    answered(&told, &named_text(call, &rules, judgement.as_ref()))
}

fn rule_json(rule: &RuleInfo) -> Value {
    json!({
        "policy": rule.policy,
        "rule": rule.id,
        "verdict": rule.verdict.as_str(),
        "priority": rule.priority,
        "shadow": rule.shadow,
        "needs_arguments": rule.needs_arguments,
        "reason": rule.reason,
        "hint": rule.hint,
    })
}

fn named_text(call: &ToolCall, rules: &[RuleInfo], judgement: Option<&Judgement>) -> String {
    let tool = printable(call.name.raw());
    let mut text = match judgement {
        Some(judgement) => {
            format!("Whatever its arguments are: {}", evaluate::text(call, judgement))
        }
        None => format!(
            "What becomes of a call of `{tool}` depends on its arguments: ask `evaluate` with them.\n"
        ),
    };
    text.push_str(match rules {
        [] => "No rule is about this tool.\n",
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
