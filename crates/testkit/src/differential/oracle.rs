//! Compares the calls that clients hand to a program with those that were judged.

mod exceptions;

use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
use callgate_policy::{Policies, SpentLimits};
use serde_json::{Value, json};

use super::gated::Gated;
use crate::drive;
use crate::sdk::ClientResults;

pub use exceptions::EXCEPTIONS;
use exceptions::UnjudgedCall;

/// A call that a client should not have ended up with.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// The client.
    pub client: String,
    /// What is wrong.
    pub kind: ViolationKind,
    /// The call: name and arguments.
    pub call: Value,
}

/// What is wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationKind {
    /// The policy denies it.
    Denied,
    /// The policy replaces something in its arguments, and it was not replaced.
    NotReplaced,
    /// The policy would allow it, but no such call was judged.
    Unjudged,
}

/// What the clients made of one body.
#[derive(Debug, Default)]
pub(super) struct Violations {
    pub(super) violations: Vec<Violation>,
    /// How many calls were looked at.
    pub(super) calls: usize,
    /// The names of the exceptions that were made.
    pub(super) excepted: Vec<&'static str>,
}

/// Every call that a client hands over must have been judged and allowed, with equal arguments.
pub(super) fn check(gated: &Gated, policies: &Policies, seen: &ClientResults) -> Violations {
    let mut findings = Violations::default();
    for (client, result) in seen {
        for call in calls(result) {
            findings.calls += 1;
            let name = call[0].as_str().unwrap_or_default();
            if was_allowed(gated, name, &call[1]) {
                continue;
            }
            let look = UnjudgedCall { client, call, name, result, gated, policies };
            match EXCEPTIONS.iter().find(|exception| (exception.holds)(&look)) {
                Some(exception) => findings.excepted.push(exception.name),
                None => findings.violations.push(Violation {
                    client: client.clone(),
                    kind: kind(policies, call),
                    call: call.clone(),
                }),
            }
        }
    }
    findings
}

/// Whether any client hands over a call that the policy denies or would change.
pub(super) fn is_dangerous(policies: &Policies, seen: &ClientResults) -> bool {
    let mut all = seen.values().flat_map(calls);
    all.any(|call| kind(policies, call) != ViolationKind::Unjudged)
}

fn calls(result: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["calls", "early"].into_iter();
    lists.filter_map(|list| result[list].as_array()).flatten()
}

fn was_allowed(gated: &Gated, name: &str, arguments: &Value) -> bool {
    gated.judged.iter().any(|judged| {
        judged.allowed && is_named(&judged.name, name) && are_those(&judged.arguments, arguments)
    })
}

/// Whether a client's arguments are those that were judged.
fn are_those(judged: &str, arguments: &Value) -> bool {
    // Where arguments are a value, they may be a text instead of an object.
    let as_value = serde_json::from_str(judged).is_ok_and(|value: Value| same(&value, arguments));
    as_value || same(&value_of(&Value::String(judged.to_owned())), &value_of(arguments))
}

/// A call may have been judged with its server or namespace in front of its name.
fn is_named(judged: &str, name: &str) -> bool {
    judged == name || judged.strip_suffix(name).is_some_and(|front| front.ends_with('.'))
}

/// Arguments as a value: some clients hand over text. None are the empty object.
fn value_of(arguments: &Value) -> Value {
    let value = match arguments {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    };
    if value.is_null() { json!({}) } else { value }
}

/// Whether values are equal. `1.0` is `1` in JavaScript.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in = |(key, value): (&String, &Value)| {
                other.get(key).is_some_and(|found| same(value, found))
            };
            one.len() == other.len() && one.iter().all(is_in)
        }
        _ => one == other,
    }
}

/// What the policy says of a call that a client ended up with.
fn kind(policies: &Policies, call: &Value) -> ViolationKind {
    let Ok(name) = ToolName::parse(call[0].as_str().unwrap_or_default()) else {
        return ViolationKind::Denied;
    };
    let arguments = match &call[1] {
        Value::String(text) => Arguments::json(text.as_str()),
        other => Arguments::json(value_of(other).to_string()),
    };
    let origin = Origin::at(Surface::Response);
    let call = ToolCall { id: CallId::from("c"), name, arguments, origin, caller: None };
    let judgement = policies.judge(&call, &drive::moment(), &SpentLimits::default());
    match (judgement.verdict.passes(), judgement.rewritten()) {
        (false, _) => ViolationKind::Denied,
        (true, Some(_)) => ViolationKind::NotReplaced,
        (true, None) => ViolationKind::Unjudged,
    }
}

#[cfg(test)]
mod tests {
    use super::super::gated::GatedCall;
    use super::*;

    const POLICY: &str = "policy: p\nrules:\n  - { id: a, tool: run, when: { arg: command, contains: EVIL }, verdict: deny, reason: no }\n  - { id: b, tool: mail, verdict: sanitize, sanitize: { detectors: [email] } }\n";

    fn look(judged: &[(&str, &str, bool)], calls: Value) -> Vec<(ViolationKind, Value)> {
        let judged = judged.iter().map(|&(name, arguments, allowed)| GatedCall {
            name: name.into(),
            arguments: arguments.into(),
            allowed,
        });
        let gated = Gated { judged: judged.collect(), ..Gated::default() };
        let seen =
            ClientResults::from([("client".into(), json!({ "calls": calls, "error": null }))]);
        let found = check(&gated, &drive::policies(POLICY), &seen);
        found.violations.into_iter().map(|it| (it.kind, it.call)).collect()
    }

    #[test]
    fn judged_calls_are_fine_in_every_spelling() {
        let judged = [
            ("run", r#"{"command":"ls","n":1.0}"#, true),
            ("note", "", true),
            ("open", r#"" ""#, true),
        ];
        let calls = json!([
            ["run", { "n": 1, "command": "ls" }],
            ["run", "{ \"command\": \"ls\", \"n\": 1 }"],
            ["note", {}],
            ["note", ""],
            ["note", null],
            ["open", " "],
        ]);
        assert_eq!(look(&judged, calls), []);
    }

    #[test]
    fn anything_else_is_a_violation() {
        let judged = [
            ("run", r#"{"command":"ls"}"#, true),
            ("run", r#"{"command":"EVIL"}"#, false),
            ("note", r#"{"command":"EVIL"}"#, true),
            ("mail", r#"{"to":"[EMAIL]"}"#, true),
        ];
        let table = [
            (json!(["run", { "command": "EVIL" }]), ViolationKind::Denied),
            (json!(["run", {}]), ViolationKind::Unjudged),
            (json!(["other", { "command": "ls" }]), ViolationKind::Unjudged),
            (json!(["note", { "command": "ls" }]), ViolationKind::Unjudged),
            (json!(["mail", { "to": "a.b@example.com" }]), ViolationKind::NotReplaced),
        ];
        for (call, kind) in table {
            assert_eq!(look(&judged, json!([call])), [(kind, call)]);
        }
    }

    #[test]
    fn calls_announced_early_count() {
        let gated = Gated::default();
        let reading = json!({ "calls": [], "early": [["run", {}]], "error": null });
        let seen = ClientResults::from([("client".into(), reading)]);
        assert_eq!(check(&gated, &drive::policies(POLICY), &seen).violations.len(), 1);
    }
}
