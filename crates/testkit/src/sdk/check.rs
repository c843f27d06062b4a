//! What the clients should see.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ClientResults, ResponseTreatment};
use crate::corpus::{Allow, Case};

/// Checks a case: `seen` has what the clients made of each treatment, `allowed` the calls (name and
/// arguments) that each let through, both by [`ResponseTreatment::id`]. Treatments that were not
/// run are left out. Gives what is wrong.
///
/// No client may see a denied call; where the clients agree on a response as the provider sent it,
/// they must see the same when all is allowed.
pub fn check(
    case: &Case,
    seen: &BTreeMap<String, ClientResults>,
    allowed: &BTreeMap<String, Vec<Value>>,
) -> Vec<String> {
    let direct = &seen[&ResponseTreatment::Direct.id(case)];
    let mut failures = Vec::new();
    for treatment in ResponseTreatment::of(case) {
        let id = treatment.id(case);
        let none = Vec::new();
        let judged = allowed.get(&id).unwrap_or(&none);
        for (client, result) in seen.get(&id).into_iter().flatten() {
            let look = ReadingCheck { case, treatment: &treatment, client, result, direct };
            for what in look.failures(judged) {
                failures.push(format!("{id} {client}: {what}: {result}"));
            }
        }
    }
    failures
}

/// One client's reading of one treatment.
struct ReadingCheck<'a> {
    case: &'a Case,
    treatment: &'a ResponseTreatment,
    client: &'a str,
    result: &'a Value,
    direct: &'a ClientResults,
}

impl ReadingCheck<'_> {
    fn failures(&self, judged: &[Value]) -> Vec<String> {
        let before = &self.direct[self.client];
        let mut failures = Vec::new();
        // A call allowed by its name may be cut off by an error; one that was held may not.
        if *self.treatment == ResponseTreatment::AllowHeld
            && !self.reports_pieces()
            && is_meant_for(self.client, self.case)
            && !was_judged(self.result, judged)
        {
            failures.push(format!("sees a call that was not judged; these were: {judged:?}"));
        }
        match self.treatment {
            ResponseTreatment::Direct => {}
            ResponseTreatment::DenyOne(name) => {
                let gone = |call: &Value| call[0].as_str() == Some(name);
                if calls(self.result).iter().any(gone) {
                    failures.push("sees a denied call".into());
                }
                let left: Vec<Value> =
                    calls(before).into_iter().filter(|call| !gone(call)).collect();
                if before["error"].is_null() && calls(self.result) != left {
                    failures.push("does not see the other calls as they were".into());
                }
            }
            _ if self.treatment.denies_all() => {
                if !calls(self.result).is_empty() {
                    failures.push("sees a denied call".into());
                }
            }
            _ => {
                if self.must_be_alike() && !self.is_alike(before) {
                    failures.push(format!("does not see what it sees directly: {before}"));
                }
            }
        }
        failures
    }

    /// Whether the client must see what it sees directly.
    fn must_be_alike(&self) -> bool {
        let case = self.case;
        // Normalised, the pieces are others.
        let pieces = self.reports_pieces() && case.about.allow == Allow::Normalised;
        // A rule that asks for arguments counts unreadable ones against the call, and a call that is
        // held when the stream breaks is dropped.
        let broke = !self.direct[self.client]["error"].is_null();
        let held_alike =
            *self.treatment == ResponseTreatment::Allow || !(broke || case.name.contains("args_"));
        is_meant_for(self.client, case)
            && all_agree(case, self.direct)
            && !pieces
            && held_alike
            && case.about.allow != Allow::Refused
    }

    /// Whether the client sees the same. Put in order, a response no longer makes it announce a call
    /// that is not whole yet.
    fn is_alike(&self, before: &Value) -> bool {
        let announces_nothing = self.result["early"].as_array().is_none_or(Vec::is_empty);
        if self.case.about.allow == Allow::Normalised && announces_nothing {
            let last = |result: &Value| ["calls", "text", "stop"].map(|key| result[key].clone());
            return last(self.result) == last(before);
        }
        message(self.result) == message(before)
    }

    fn reports_pieces(&self) -> bool {
        reports_pieces(self.client, self.case)
    }
}

/// Whether a client reports pieces, even of an honest stream.
fn reports_pieces(client: &str, case: &Case) -> bool {
    let in_parts = client.starts_with("google-genai") && case.name.contains("partial");
    client.contains("chat create(stream)") || in_parts
}

/// Whether a client is made for what a case holds. The others are only asked not to see denied
/// calls: they fail in the middle of honest responses.
fn is_meant_for(client: &str, case: &Case) -> bool {
    let is_of = |word: &str| case.name.contains(word);
    match client {
        client if client.starts_with("mistralai") => is_of("mistral"),
        // Only Anthropic's models speak Messages at Bedrock.
        client if client.starts_with("anthropic-python bedrock") => !is_of("nova"),
        // The clients of Gemini always ask for events.
        client if client.contains("google") => !is_of("array"),
        _ => true,
    }
}

/// What a client sees of a message.
fn message(result: &Value) -> (Vec<Value>, &Value, &Value) {
    (calls(result), &result["text"], &result["stop"])
}

/// The names and arguments of the calls a client saw.
fn calls(result: &Value) -> Vec<Value> {
    let all = |key: &str| result[key].as_array().cloned().unwrap_or_default();
    let mut calls = all("calls");
    calls.extend(all("early"));
    calls
}

/// Whether every call the client ended up with was judged and allowed, with these arguments. A call
/// may have been judged with the name of its server or namespace before its own.
fn was_judged(result: &Value, allowed: &[Value]) -> bool {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    result["calls"].as_array().into_iter().flatten().all(|call| {
        let name = text(&call[0]);
        allowed.iter().any(|judged| {
            let known = text(&judged[0]);
            let is_named = known == name || known.ends_with(&format!(".{name}"));
            let is_same = arguments(&judged[1]) == arguments(&call[1]);
            is_named && (is_same || BUILT_IN.contains(&name.as_str()))
        })
    })
}

/// Tools of Responses that have a type of their own, and two that nobody knows yet. Every client
/// hands over another part of such an item, so that arguments cannot be compared.
const BUILT_IN: [&str; 7] =
    ["apply_patch", "browser", "computer", "handoff", "local_shell", "shell", "tool_search"];

/// Arguments as a value; none are the empty object.
fn arguments(value: &Value) -> Value {
    let value = match value {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    };
    if value.is_null() { json!({}) } else { value }
}

/// Whether the clients agree on the calls of the response as it was sent.
fn all_agree(case: &Case, direct: &ClientResults) -> bool {
    let mut readings = direct
        .iter()
        .filter(|(client, _)| !reports_pieces(client, case) && is_meant_for(client, case))
        .map(|(_, result)| {
            let call = |call: &Value| {
                let arguments = match &call[1] {
                    Value::String(text) => serde_json::from_str(text).unwrap_or(call[1].clone()),
                    other => other.clone(),
                };
                (call[0].to_string(), arguments.to_string())
            };
            let calls: Vec<_> =
                result["calls"].as_array().into_iter().flatten().map(call).collect();
            (calls, result["error"].is_null())
        });
    let first = readings.next();
    let mut others = readings.peekable();
    // Where there is one client, nobody knows what others would make of what has to be normalised.
    if others.peek().is_none() && case.about.allow == Allow::Normalised {
        return false;
    }
    others.all(|reading| Some(&reading) == first.as_ref()) && !case.name.contains("error")
}
