//! Puts removed calls back into a request for an interaction.
//!
//! If the provider stores the interaction that the request continues, it still has the call, and
//! only the result is missing: it is inserted at the start of the input. If the client holds the
//! history, the call replaces its notice, or goes after the steps of its turn, and its result goes
//! before the answer to the turn.

mod input;

use std::collections::{BTreeMap, HashSet};

use callgate_json::Error;

use self::input::{Input, Request, Turn};
use crate::json::{Edits, member};
use crate::object::{Raw, object};
use crate::request::{
    ClientMessage, Decoded, Placed, Plan, RemovedCall, RemovedTurn, Restored, SentCall, meaning,
    plan, rest, shown, whole_object,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let read = Request::read(request)?;
    let (kept, sent): (Vec<&RemovedTurn>, Vec<&RemovedTurn>) =
        turns.iter().partition(|turn| read.goes_on_from(turn.response.as_deref()));
    let mut out = Restored::default();
    let mut edits = Edits::default();
    let mut known = known(&read);
    let results = results(&read, &kept, &mut known, &mut out);
    open_with(&read.input, &results, &mut edits);

    let said = read.model_turns();
    let seen: Vec<ClientMessage<'_>> = said.iter().map(|turn| look(request, turn)).collect();
    let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
        let is_answered = said.get(place).is_some_and(|turn| turn.answer.is_some());
        refusal(call).or((!is_answered).then_some(Restored::UNANSWERED))
    };
    let sent: Vec<RemovedTurn> = sent.into_iter().cloned().collect();
    for plan in &plan(&seen, &sent, known, refuse, &mut out) {
        let placed = match (said.get(plan.seen), seen.get(plan.seen)) {
            (Some(turn), Some(seen)) => {
                put_back(turn, seen, plan, &mut edits);
                Placed::Yes
            }
            _ => Placed::No,
        };
        plan.report(placed, &mut out);
    }
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the model's turns.
pub(crate) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    let read = Request::read(request)?;
    Ok(read.model_turns().iter().map(|turn| look(request, turn)).collect())
}

/// The interaction that `request` continues.
pub(super) fn states(request: &str) -> Result<Vec<String>, Error> {
    Ok(meaning(Request::read(request)?.previous).filter(|id| !id.is_empty()).into_iter().collect())
}

/// The recognisable traits of a turn.
fn look<'a>(request: &'a str, turn: &Turn<'_, 'a>) -> ClientMessage<'a> {
    let outputs = turn.steps.iter().enumerate().filter(|(_, step)| step.is("model_output"));
    let texts = outputs
        .flat_map(|(place, step)| step.texts.iter().map(move |text| (place, Decoded::new(text))));
    let mut seen = ClientMessage::new(turn.first, texts.collect());
    for step in &turn.steps {
        if step.is("function_call") {
            let call = SentCall::read(request, step.span, "arguments");
            seen.add_call(request, SentCall { id: step.id, ..call });
        } else if step.is("thought") {
            seen.add_signature(step.signature);
        }
    }
    seen
}

/// Every id that the client mentions: in its calls, and in its results.
fn known(read: &Request<'_>) -> HashSet<String> {
    let ids = read.steps().iter().flat_map(|step| {
        let inside = step.results.iter().map(|id| meaning(Some(*id)));
        [meaning(step.id), meaning(step.call_id)].into_iter().chain(inside)
    });
    ids.flatten().filter(|id| !id.is_empty()).collect()
}

/// Why a call cannot be put back.
fn refusal(call: &RemovedCall) -> Option<&'static str> {
    if call.id.is_empty() {
        return Some(Restored::NO_ID);
    }
    whole_object(&call.original).is_none().then_some(Restored::UNREADABLE)
}

/// The results of calls that the provider still has.
fn results(
    read: &Request<'_>,
    turns: &[&RemovedTurn],
    known: &mut HashSet<String>,
    out: &mut Restored,
) -> Vec<String> {
    let mut results = Vec::new();
    for call in turns.iter().flat_map(|turn| &turn.calls) {
        let why = match &read.input {
            _ if known.contains(&call.id) => Some(Restored::PRESENT),
            Input::Missing => Some(Restored::UNANSWERED),
            _ => refusal(call),
        };
        match why {
            Some(why) => out.skipped.push((call.id.clone(), why)),
            None => {
                results.push(error_result(call));
                known.insert(call.id.clone());
                out.restored.push(call.id.clone());
            }
        }
    }
    results
}

/// Inserts the results at the start of the input.
fn open_with(input: &Input<'_>, results: &[String], edits: &mut Edits) {
    if results.is_empty() {
        return;
    }
    let results = results.join(",");
    match input {
        Input::Missing => {}
        Input::Text(text) => {
            let open = "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":";
            edits.insert(text.span().start, format!("[{results},{open}"));
            edits.insert(text.span().end, "}]}]");
        }
        Input::One(span) => {
            edits.insert(span.start, format!("[{results},"));
            edits.insert(span.end, "]");
        }
        Input::Steps(span, steps) => {
            let comma = if steps.is_empty() { "" } else { "," };
            edits.insert(span.start + 1, format!("{results}{comma}"));
        }
    }
}

fn put_back(turn: &Turn<'_, '_>, seen: &ClientMessage<'_>, plan: &Plan<'_>, edits: &mut Edits) {
    let shown = shown(&seen.texts, &plan.calls);
    let mut by_gap: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut gone = vec![false; turn.steps.len()];
    let mut marked: Vec<Option<usize>> = vec![None; plan.calls.len()];
    for (place, gone) in gone.iter_mut().enumerate() {
        let texts = || seen.texts.iter().zip(&shown).filter(|((step, _), _)| *step == place);
        let is_empty = |text: &Decoded<'_>, shown: &[_]| rest(&text.text, shown).trim().is_empty();
        *gone = texts().any(|(_, shown)| !shown.is_empty())
            && texts().all(|((_, text), shown)| is_empty(text, shown));
        for ((_, text), shown) in texts() {
            for notice in shown {
                if let Some(mark) = marked.get_mut(notice.call) {
                    *mark = Some(if *gone || notice.leads { place } else { place + 1 });
                }
                if !*gone {
                    edits.replace(text.span(&notice.cut), "");
                }
            }
        }
    }
    let mut least = 0;
    for (call, marked) in plan.calls.iter().zip(&marked) {
        least = marked.unwrap_or(turn.steps.len()).max(least);
        by_gap.entry(least).or_default().push(&call.original);
    }
    for (gap, calls) in by_gap {
        let calls = calls.join(",");
        match (turn.steps.get(gap), gone.get(gap), turn.steps.last()) {
            (Some(step), Some(true), _) => edits.replace(step.span, calls),
            (Some(step), _, _) => edits.insert(step.span.start, format!("{calls},")),
            (None, _, Some(last)) => edits.insert(last.span.end, format!(",{calls}")),
            (None, _, None) => {}
        }
    }
    if let Some(answer) = turn.answer {
        let results: Vec<String> = plan.calls.iter().map(|call| error_result(call)).collect();
        edits.insert(answer.span.start, format!("{},", results.join(",")));
    }
}

fn error_result(call: &RemovedCall) -> String {
    let name = whole_object(&call.original)
        .and_then(|step| member(&call.original, step, "name"))
        .map_or("\"\"", |name| name.of(&call.original));
    object! {
        "type": "function_result", "call_id": &call.id, "name": Raw(name), "is_error": true,
        "result": &call.why,
    }
}

#[cfg(test)]
mod tests;
