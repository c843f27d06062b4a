//! Wrappers: calls that contain other calls. Models emit them, and some clients unpack and run the
//! calls inside. Each of those is judged like a call of its own.

mod layout;

use std::sync::Arc;

use callgate_call::{FileWrite, ToolCall, ToolName};
use callgate_json::{Value, quote};

use crate::denial::DenialScope;
use crate::judgement::{Judgement, RuleError, RuleHit};
use crate::limit::LimitKey;
use crate::policies::Policies;
use crate::rule::{Question, Rule};

/// A wrapper inside a wrapper is already odd. Deeper nesting is refused.
const MAX_DEPTH: usize = 4;

/// The most calls in one wrapper. opencode runs at most 25.
const MAX_CALLS: usize = 256;

/// A call inside a wrapper.
#[derive(Debug)]
pub(crate) struct WrappedCall {
    /// The call under each name by which a client may run it. All are judged, and the strictest
    /// counts.
    pub(crate) calls: Vec<ToolCall>,
    /// The call under other names that may mean it. Rules that restrict apply to these too, rules
    /// that allow do not.
    pub(crate) others: Vec<ToolCall>,
}

/// The calls inside a call.
#[derive(Debug, Default)]
pub(crate) struct WrappedCalls {
    pub(crate) calls: Vec<WrappedCall>,
    /// Why there may be others that cannot be seen.
    pub(crate) hidden: Option<String>,
}

/// Whether a call of this name may contain other calls.
pub(crate) fn is_wrapper(name: &ToolName) -> bool {
    layout::of(name).is_some()
}

/// Whether a call of this name may contain other calls. If so, its name says nothing about them.
pub fn may_wrap_calls(name: &ToolName) -> bool {
    is_wrapper(name)
}

/// Every call inside a call, each under every name that it may have; or why they are not all known.
pub fn wrapped_calls(call: &ToolCall) -> Result<Vec<Vec<ToolCall>>, String> {
    let names = |it: WrappedCall| it.calls.into_iter().chain(it.others).collect();
    let WrappedCalls { calls, hidden } = inner(call)?;
    match hidden {
        Some(why) => Err(why),
        None => Ok(calls.into_iter().map(names).collect()),
    }
}

/// Judges a wrapper and every call in it. The strictest judgement counts.
pub(crate) fn judge(
    policies: &Policies,
    outer: Judgement,
    outer_question: &Question<'_>,
) -> Judgement {
    let mut judgement = outer;
    match inner(outer_question.call) {
        Err(why) => refuse(policies, &mut judgement, outer_question.call, &why, |_| true),
        Ok(WrappedCalls { calls: inner, hidden }) => {
            let mut tokens = Vec::new();
            for mut inner in inner {
                inner.comes_after(&judgement.files);
                tokens.extend(judge_inner(policies, &mut judgement, &inner, outer_question));
            }
            // A limit that counts the calls inside does not count the wrapper too.
            tokens.extend(
                judgement
                    .limits
                    .iter()
                    .filter(|key| !tokens.contains(key))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            judgement.details.limits = tokens;
            if let Some(why) = hidden {
                // What a hidden call could do makes the wrapper opaque; which tool it is, does not.
                refuse(policies, &mut judgement, outer_question.call, &why, Rule::names_tools);
            }
        }
    }
    judgement
}

impl WrappedCall {
    /// Adds what the calls before it in the same wrapper have written.
    fn comes_after(&mut self, files: &[FileWrite]) {
        let Some(first) = self.calls.first().filter(|_| !files.is_empty()) else { return };
        let mut known = first.origin.session_files.as_deref().cloned().unwrap_or_default();
        files.iter().cloned().for_each(|write| known.apply(write));
        let known = Arc::new(known);
        for call in self.calls.iter_mut().chain(&mut self.others) {
            call.origin = call.origin.clone().with_session_files(Some(Arc::clone(&known)));
        }
    }
}

/// Adds the judgement of one call inside. Returns the limits that it draws from.
fn judge_inner(
    policies: &Policies,
    judgement: &mut Judgement,
    inner: &WrappedCall,
    outer: &Question<'_>,
) -> Vec<LimitKey> {
    let Question { moment, limits, findings, .. } = *outer;
    let ask = |call| policies.question(call, moment, limits).with(findings);
    let others: Vec<Question<'_>> = inner.others.iter().map(ask).collect();
    let mut tokens = Vec::new();
    for call in &inner.calls {
        let mut judged = policies.combine_outcomes(&ask(call), |policy, question| {
            policy.outcome_with_names(question, &others)
        });
        extend_new(&mut tokens, std::mem::take(&mut judged.details.limits));
        judgement.absorb(judged, &format!("inside a wrapper, `{}`", call.name.raw().trim()));
    }
    tokens
}

/// Every call inside a call; or why they cannot be read.
pub(crate) fn inner(call: &ToolCall) -> Result<WrappedCalls, String> {
    let mut found = WrappedCalls::default();
    unwrap(call, 0, &mut found)?;
    Ok(found)
}

fn unwrap(call: &ToolCall, depth: usize, found: &mut WrappedCalls) -> Result<(), String> {
    let Some(layout) = layout::of(&call.name) else { return Ok(()) };
    if depth >= MAX_DEPTH {
        return Err("wrapped too deeply".to_owned());
    }
    let root = call.arguments.value().map_err(ToString::to_string)?;
    let WrappedCalls { calls, hidden } = layout.calls_in(call, root)?;
    found.hidden = found.hidden.take().or(hidden);
    for inner in calls {
        if found.calls.len() >= MAX_CALLS {
            return Err(format!("more than {MAX_CALLS} calls"));
        }
        for call in &inner.calls {
            unwrap(call, depth + 1, found)?;
        }
        found.calls.push(inner);
    }
    Ok(())
}

impl Judgement {
    /// Adds another judgement of the same call. The strictest decides. `label` says in the reason
    /// what the other one is about.
    pub(crate) fn absorb(&mut self, inner: Self, label: &str) {
        let Self { details: inner, cleaners, .. } = inner;
        if inner.verdict > self.verdict {
            let hit = RuleHit {
                policy: inner.policy.unwrap_or_default(),
                rule: inner.rule,
                verdict: inner.verdict,
                reason: format!("{label}: {}", inner.reason),
                hint: inner.hint,
                blocks: inner.blocks,
                limited: inner.scope == DenialScope::Rate,
                unknown: false,
                terms: inner.terms,
            };
            self.decide(hit);
            self.details.matched = inner.matched;
        }
        extend_new(&mut self.details.deciding, inner.deciding);
        extend_new(&mut self.details.audits, inner.audits);
        // The wrapper is one document: what is replaced for one call is replaced in all of it.
        extend_new(&mut self.details.sanitizers, inner.sanitizers);
        extend_new(&mut self.cleaners, cleaners);
        extend_new(&mut self.details.shadows, inner.shadows);
        extend_new(&mut self.details.rules, inner.rules);
        extend_new(&mut self.details.errors, inner.errors);
        extend_new(&mut self.details.limits, inner.limits);
        extend_new(&mut self.details.files, inner.files);
        extend_new(&mut self.details.events, inner.events);
        extend_new(&mut self.details.origins, inner.origins);
        self.details.deciding.sort_by_key(|hit| std::cmp::Reverse(hit.verdict));
    }
}

pub(crate) fn extend_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// The calls inside cannot be read, so every rule that restricts and `counts` is unknown, and the
/// strictest of them decides.
fn refuse(
    policies: &Policies,
    judgement: &mut Judgement,
    call: &ToolCall,
    why: &str,
    counts: fn(&Rule) -> bool,
) {
    let strictest = policies
        .enforcing(&call.origin)
        .filter_map(|policy| {
            Some((policy, policy.first_restriction_of(call.origin.surface, counts)?))
        })
        .max_by_key(|(_, (verdict, rule))| (*verdict, rule.is_some()));
    let Some((policy, (verdict, rule))) = strictest else { return };
    if judgement.verdict >= verdict {
        return;
    }
    let reason = format!("the calls inside this wrapper cannot be read: {why}");
    let hit = RuleHit {
        policy: policy.name.clone(),
        rule: rule.map(|rule| rule.id.clone()),
        verdict,
        reason,
        hint: Some("make the calls one by one".to_owned()),
        blocks: None,
        limited: false,
        unknown: true,
        terms: rule.and_then(|rule| rule.terms.clone()),
    };
    if let Some(rule) = rule {
        let (policy, rule) = (rule.policy.clone(), rule.id.clone());
        judgement.details.errors.push(RuleError { policy, rule, why: why.to_owned() });
        judgement.details.deciding.insert(0, hit.clone());
    }
    judgement.decide(hit);
}

/// Writes a value as JSON. Recursion is bounded: the reader limits the depth.
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
