//! Calls that carry other calls. Models emit `multi_tool_use.parallel` with a list of calls in
//! its input, and some clients unpack and run them: every one is judged as if it came alone.

use callgate_call::json::{Value, equal_ignoring_case, quote};
use callgate_call::{Arguments, ToolCall, ToolName};

use crate::policies::Policies;
use crate::rule::Question;
use crate::verdict::{Judgement, RuleError, RuleHit, Verdict};

/// A wrapper inside a wrapper is already odd. Behind this many nobody reads on.
const MAX_DEPTH: usize = 4;

/// Whether a call of this name may carry other calls.
pub(crate) fn is_wrapper(name: &ToolName) -> bool {
    let folded = name.folded();
    folded == "parallel"
        || (folded.ends_with("parallel")
            && name.readings().iter().any(|reading| {
                reading.tool == "parallel"
                    && (reading.server == "multi_tool_use"
                        || reading.server.ends_with(".multi_tool_use"))
            }))
}

/// The judgement of a wrapper and all it carries: the strictest wins.
pub(crate) fn judge(
    policies: &Policies,
    outer: Judgement,
    outer_question: &Question<'_>,
) -> Judgement {
    let mut judgement = outer;
    let Question { call, moment, limits, findings, .. } = *outer_question;
    match inner(call) {
        Err(why) => refuse(policies, &mut judgement, call, &why),
        Ok(inner) => {
            for inner in inner {
                let question =
                    Question::new(&inner, moment, limits, policies.servers()).with(findings);
                let told = format!("inside a wrapper, `{}`", inner.name.raw().trim());
                judgement.absorb(policies.judge_one(&question), &told);
            }
        }
    }
    judgement
}

/// Every call inside, by each name a client may run it under; or why that cannot be told.
pub(crate) fn inner(call: &ToolCall) -> Result<Vec<ToolCall>, String> {
    unwrap(call, 0)
}

fn unwrap(call: &ToolCall, depth: usize) -> Result<Vec<ToolCall>, String> {
    if depth >= MAX_DEPTH {
        return Err("wrapped too deeply".to_owned());
    }
    let root = call.arguments.value().map_err(ToString::to_string)?;
    let uses = match member(root, "tool_uses")? {
        None => return Ok(Vec::new()),
        Some(Value::Array(uses)) => uses,
        Some(_) => return Err("`tool_uses` is not a list".to_owned()),
    };
    let mut calls = Vec::new();
    for (at, item) in uses.iter().enumerate() {
        for inner in calls_of(call, item).map_err(|why| format!("`tool_uses[{at}]`: {why}"))? {
            if is_wrapper(&inner.name) {
                calls.extend(unwrap(&inner, depth + 1)?);
            }
            calls.push(inner);
        }
    }
    Ok(calls)
}

/// A member that every program reads under this key.
fn member<'v>(value: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    let Value::Object(members) = value else { return Ok(None) };
    let other = |name: &str| name != key && equal_ignoring_case(name, key);
    match members.iter().any(|(name, _)| other(name)) {
        true => Err(format!("a key differs from `{key}` only in case")),
        false => Ok(value.get(key)),
    }
}

fn calls_of(call: &ToolCall, item: &Value) -> Result<Vec<ToolCall>, String> {
    let name = member(item, "recipient_name")?.and_then(Value::as_str);
    let name = name.ok_or("no `recipient_name`")?;
    let arguments = match member(item, "parameters")? {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => {
            let mut text = String::new();
            write(value, &mut text);
            text
        }
    };
    let prefix = "functions.";
    let stripped = name.trim().split_at_checked(prefix.len());
    let stripped = stripped.filter(|(start, _)| start.eq_ignore_ascii_case(prefix));
    let mut calls = Vec::new();
    for name in [Some(name), stripped.map(|(_, rest)| rest)].into_iter().flatten() {
        calls.push(ToolCall {
            id: call.id.clone(),
            name: ToolName::parse(name).map_err(|error| error.to_string())?,
            arguments: Arguments::json(arguments.as_str()),
            origin: call.origin.clone(),
        });
    }
    Ok(calls)
}

impl Judgement {
    /// Adds another judgement that counts for the same call: the strictest decides. `told` says what
    /// it is about.
    pub(crate) fn absorb(&mut self, inner: Self, told: &str) {
        if inner.verdict > self.verdict {
            let hit = RuleHit {
                policy: inner.policy.unwrap_or_default(),
                rule: inner.rule,
                verdict: inner.verdict,
                reason: format!("{told}: {}", inner.reason),
                hint: inner.hint,
                unknown: false,
            };
            self.decide(hit, inner.uncovered);
            self.matched = inner.matched;
        }
        extend_new(&mut self.deciding, inner.deciding);
        extend_new(&mut self.audits, inner.audits);
        // What is replaced inside of one is replaced in all of the wrapper: they are one document.
        extend_new(&mut self.sanitizers, inner.sanitizers);
        extend_new(&mut self.cleaners, inner.cleaners);
        extend_new(&mut self.shadows, inner.shadows);
        extend_new(&mut self.errors, inner.errors);
        extend_new(&mut self.limits, inner.limits);
        self.deciding.sort_by_key(|hit| std::cmp::Reverse(hit.verdict));
    }
}

pub(crate) fn extend_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// What a wrapper carries cannot be told: every rule that restricts is unknown, so one that denies
/// is enough to refuse it.
fn refuse(policies: &Policies, judgement: &mut Judgement, call: &ToolCall, why: &str) {
    if judgement.verdict == Verdict::Deny {
        return;
    }
    let enforcing = policies.policies().iter().filter(|policy| !policy.shadow);
    let denial = enforcing
        .filter_map(|policy| Some((policy, policy.first_denial(call.origin.surface)?)))
        .max_by_key(|(_, rule)| rule.is_some());
    let Some((policy, rule)) = denial else { return };
    let reason = format!("the calls inside this wrapper cannot be read: {why}");
    let hit = RuleHit {
        policy: policy.name.clone(),
        rule: rule.map(|rule| rule.id.clone()),
        verdict: Verdict::Deny,
        reason,
        hint: Some("make the calls one by one".to_owned()),
        unknown: true,
    };
    if let Some(rule) = rule {
        let (policy, rule) = (rule.policy.clone(), rule.id.clone());
        judgement.errors.push(RuleError { policy, rule, why: why.to_owned() });
        judgement.deciding.insert(0, hit.clone());
    }
    judgement.decide(hit, rule.is_none());
}

/// A value as JSON text. Depth is bounded by the reader.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(text) => out.push_str(text),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&quote(key));
                out.push(':');
                write(member, out);
            }
            out.push('}');
        }
    }
}
