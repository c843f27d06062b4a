//! `explain`: which rules there are about a tool or a call, and what became of a recorded one.

use callgate_audit::Stored;
use callgate_call::ToolCall;
use callgate_policy::{Judgement, NameJudgement, RuleExplanation, RuleInfo};
use callgate_store::Reader;
use serde::Serialize;
use serde_json::{Value, json};

use crate::clean::cleaned;
use crate::evaluate::Rules;
use crate::explained::Explained;
use crate::given::{Given, Unsaid};
use crate::judging;
use crate::problem::Problem;

/// What was asked about.
#[derive(Debug)]
pub enum Explanation {
    /// A record.
    Record(Box<Stored>),
    /// A call with its arguments.
    Call(Box<CallExplanation>),
    /// A tool.
    Tool(Box<ToolExplanation>),
}

/// A call with its arguments: each rule that matches, condition by condition.
#[derive(Debug)]
pub struct CallExplanation {
    /// The call, in the reading of it that is judged most strictly.
    pub call: ToolCall,
    /// Its judgement.
    pub judgement: Judgement,
    /// The rules that match.
    pub matched: Vec<RuleExplanation>,
    /// The others about this tool, by policy and rule: their patterns would fill a model's context.
    pub others: Vec<(String, String)>,
}

/// A tool: the rules that may have something to say about its calls.
#[derive(Debug)]
pub struct ToolExplanation {
    /// A call of it.
    pub call: ToolCall,
    /// The rules.
    pub rules: Vec<RuleInfo>,
    /// Its judgement, if the name alone decides.
    pub judgement: Option<Judgement>,
}

/// Explains what a JSON object asks about. `records` opens the store, where a record is asked for.
pub fn explain(
    rules: &Rules,
    asked: &str,
    unsaid: &Unsaid,
    records: impl FnOnce() -> Result<Reader, Problem>,
) -> Result<Explanation, Problem> {
    if let Some(id) = record_of(asked)? {
        let stored = records()?.show(&id).map_err(|error| Problem::of(&error))?;
        return Ok(Explanation::Record(Box::new(stored)));
    }
    let given = Given::parse_with(asked, "arguments")?;
    let has_arguments = given.has_input();
    let call = given.into_call(unsaid)?;
    Ok(match has_arguments {
        true => Explanation::Call(Box::new(whole(rules, rules.as_a_door_reads(call)?))),
        false => Explanation::Tool(Box::new(named(rules, call))),
    })
}

/// The id of the record that is asked for, if one is.
fn record_of(asked: &str) -> Result<Option<String>, Problem> {
    let asked: Value = serde_json::from_str(asked)
        .map_err(|error| Problem::new(format!("this is not JSON: {error}")))?;
    match asked.get("record") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if is_alone(&asked) => Ok(Some(id.clone())),
        Some(Value::String(_)) => Err(Problem::hinted(
            "a record and a call are asked for at once",
            "give `record` alone, or leave it out and describe the call",
        )),
        Some(_) => Err(Problem::new("`record` is not a string")),
    }
}

/// Whether nothing is said beside one thing.
fn is_alone(asked: &Value) -> bool {
    let said = |members: &serde_json::Map<String, Value>| {
        members.values().filter(|value| !value.is_null()).count()
    };
    asked.as_object().map(said) == Some(1)
}

fn whole(rules: &Rules, call: ToolCall) -> CallExplanation {
    let (judgement, mut told) = judging::explained(&rules.policies, &call);
    told.retain(|rule| rule.mismatch.is_none());
    let (matched, others): (Vec<_>, Vec<_>) =
        told.into_iter().partition(|rule| rule.result.matches());
    let others = others.into_iter().map(|rule| (rule.policy, rule.rule)).collect();
    CallExplanation { call, judgement, matched, others }
}

fn named(rules: &Rules, call: ToolCall) -> ToolExplanation {
    let (_, explained) = judging::explained(&rules.policies, &call);
    let about = |rule: &RuleInfo| {
        let is_it = |told: &&RuleExplanation| told.policy == rule.policy && told.rule == rule.id;
        explained.iter().find(is_it).is_some_and(|told| told.mismatch.is_none())
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
    pub fn to_json(&self) -> Result<String, Problem> {
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
    fn to_json(&self) -> Result<String, Problem> {
        #[derive(Serialize)]
        struct Whole<'a> {
            about: &'static str,
            call: Explained<'a>,
            not_matched: Vec<String>,
        }
        let call = Explained::of(&self.call, &self.judgement, &self.matched);
        let not_matched =
            self.others.iter().map(|(policy, rule)| format!("{policy}/{rule}")).collect();
        cleaned(&Whole { about: "call", call, not_matched })
    }
}

impl ToolExplanation {
    fn to_json(&self) -> Result<String, Problem> {
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
