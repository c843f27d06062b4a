//! `explain`: the rules for a tool or a call, and what happened to a recorded one.

use callgate_audit::StoredRecord;
use callgate_call::ToolCall;
use callgate_decide::now;
use callgate_policy::{EffectReport, Judgement, NameJudgement, RuleExplanation, RuleInfo};
use callgate_store::RecordReader;
use serde::Serialize;
use serde_json::{Value, json};

use crate::call_description::{CallDefaults, CallDescription};
use crate::clean::cleaned;
use crate::evaluate::Rules;
use crate::explanation_output::ExplanationOutput;
use crate::judging;
use crate::problem::HintedError;

/// The subject of an explanation.
#[derive(Debug)]
pub enum Explanation {
    /// A record.
    Record(Box<StoredRecord>),
    /// A call with its arguments.
    Call(Box<CallExplanation>),
    /// A tool.
    Tool(Box<ToolExplanation>),
}

/// A call with its arguments: each matching rule, condition by condition.
#[derive(Debug)]
pub struct CallExplanation {
    /// The call, in the reading that is judged most strictly.
    pub call: ToolCall,
    /// Its judgement.
    pub judgement: Judgement,
    /// What it would do.
    pub effects: EffectReport,
    /// The rules that match.
    pub matched: Vec<RuleExplanation>,
    /// The other rules for this tool, by policy and rule. Their patterns would fill a model's
    /// context.
    pub others: Vec<(String, String)>,
}

/// A tool: the rules that may apply to its calls.
#[derive(Debug)]
pub struct ToolExplanation {
    /// A call of it, without arguments.
    pub call: ToolCall,
    /// The rules.
    pub rules: Vec<RuleInfo>,
    /// Its judgement, if the name alone decides.
    pub judgement: Option<Judgement>,
}

/// Explains the subject of a JSON object. `records` opens the store, if the subject is a record.
pub fn explain(
    rules: &Rules,
    query: &str,
    defaults: &CallDefaults,
    records: impl FnOnce() -> Result<RecordReader, HintedError>,
) -> Result<Explanation, HintedError> {
    if let Some(id) = record_of(query)? {
        let stored = records()?.show(&id).map_err(|error| HintedError::of(&error))?;
        return Ok(Explanation::Record(Box::new(stored)));
    }
    let given = CallDescription::parse_with(query, "arguments")?;
    let has_arguments = given.has_input();
    if has_arguments {
        let (call, _) = rules.strictest(given.into_calls(defaults)?)?;
        return Ok(Explanation::Call(Box::new(whole(rules, call))));
    }
    Ok(Explanation::Tool(Box::new(named(rules, given.into_call(defaults)?))))
}

/// The id of the requested record, if the subject is a record.
fn record_of(query: &str) -> Result<Option<String>, HintedError> {
    let query: Value = serde_json::from_str(query)
        .map_err(|error| HintedError::new(format!("this is not JSON: {error}")))?;
    match query.get("record") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if is_alone(&query) => Ok(Some(id.clone())),
        Some(Value::String(_)) => Err(HintedError::hinted(
            "the request names both a record and a call",
            "give `record` alone, or leave it out and describe the call",
        )),
        Some(_) => Err(HintedError::new("`record` is not a string")),
    }
}

/// Whether the object has no other member.
fn is_alone(query: &Value) -> bool {
    let present = |members: &serde_json::Map<String, Value>| {
        members.values().filter(|value| !value.is_null()).count()
    };
    query.as_object().map(present) == Some(1)
}

fn whole(rules: &Rules, call: ToolCall) -> CallExplanation {
    let (judgement, mut explanations) = judging::explained(&rules.policies, &call);
    explanations.retain(|rule| rule.mismatch.is_none());
    let (matched, others): (Vec<_>, Vec<_>) =
        explanations.into_iter().partition(|rule| rule.result.matches());
    let others = others.into_iter().map(|rule| (rule.policy, rule.rule)).collect();
    let effects = rules.policies.effects(&call, &now());
    CallExplanation { call, judgement, effects, matched, others }
}

fn named(rules: &Rules, call: ToolCall) -> ToolExplanation {
    let (_, explained) = judging::explained(&rules.policies, &call);
    let about = |rule: &RuleInfo| {
        let is_it = |it: &&RuleExplanation| it.policy == rule.policy && it.rule == rule.id;
        explained.iter().find(is_it).is_some_and(|it| it.mismatch.is_none())
    };
    let about: Vec<RuleInfo> = rules.policies.rules().filter(about).collect();
    let judgement = match judging::by_name(&rules.policies, &call) {
        NameJudgement::Allow(_, judgement) | NameJudgement::Deny(judgement) => Some(judgement),
        NameJudgement::NeedArguments => None,
    };
    ToolExplanation { call, rules: about, judgement }
}

impl Explanation {
    /// The answer for programs.
    pub fn to_json(&self) -> Result<String, HintedError> {
        match self {
            Self::Record(stored) => {
                cleaned(&json!({ "about": "record", "record": stored.to_json() }))
            }
            Self::Call(call) => call.to_json(),
            Self::Tool(tool) => tool.to_json(),
        }
    }
}

impl CallExplanation {
    fn to_json(&self) -> Result<String, HintedError> {
        #[derive(Serialize)]
        struct Whole<'a> {
            about: &'static str,
            call: ExplanationOutput<'a>,
            not_matched: Vec<String>,
        }
        let call = ExplanationOutput::of(&self.call, &self.judgement, &self.matched);
        let call = call.with_effects(&self.effects);
        let not_matched =
            self.others.iter().map(|(policy, rule)| format!("{policy}/{rule}")).collect();
        cleaned(&Whole { about: "call", call, not_matched })
    }
}

impl ToolExplanation {
    fn to_json(&self) -> Result<String, HintedError> {
        cleaned(&json!({
            "about": "tool",
            "tool": self.call.name.raw(),
            "decided": if self.judgement.is_some() { "by name" } else { "by arguments" },
            "verdict": self.judgement.as_ref().map(|judgement| judgement.verdict.as_str()),
            "rules": self.rules.iter().map(rule_json).collect::<Vec<_>>(),
        }))
    }
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
