//! Puts removed calls back into a request for an interaction.
//!
//! If the provider stores the interaction that the request continues, it still has the call, and
//! only the result is missing: it is inserted at the start of the input. If the client holds the
//! history, the call replaces its notice, or goes after the steps of its turn, and its result goes
//! before the answer to the turn.

mod input;

use std::collections::HashSet;

use callgate_json::{Error, Span};

use self::input::{Input, Request, Step};
use crate::json::{Edits, prepend_to};
use crate::object::{Raw, object};
use crate::request::{
    ClientMessage, Decoded, ModelTurn, NotRestored, NoticePlaces, Placed, Plan, RemovedCall,
    RemovedTurn, Restored, SentCall, fill_gaps, meaning, plan, refusal, results_of_kept, shown,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let read = Request::read(request)?;
    let (kept, sent): (Vec<&RemovedTurn>, Vec<&RemovedTurn>) =
        turns.iter().partition(|turn| read.goes_on_from(turn.response.as_deref()));
    let mut out = Restored::default();
    let mut edits = Edits::default();
    let mut known = known(&read);
    let refuse = |call: &RemovedCall| match &read.input {
        Input::Missing => Some(NotRestored::Unanswered),
        _ => refusal(call),
    };
    let result = |call: &RemovedCall| Some(error_result(call));
    let results = results_of_kept(&kept, &mut known, refuse, result, &mut out);
    open_with(&read.input, &results, &mut edits);

    let said = read.model_turns();
    let seen: Vec<ClientMessage<'_>> = said.iter().map(|turn| look(request, turn)).collect();
    let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
        let is_answered = said.get(place).is_some_and(|turn| turn.answer.is_some());
        refusal(call).or((!is_answered).then_some(NotRestored::Unanswered))
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
fn look<'a>(request: &'a str, turn: &ModelTurn<'_, Step<'a>>) -> ClientMessage<'a> {
    let outputs = turn.items.iter().enumerate().filter(|(_, step)| step.is("model_output"));
    let texts = outputs
        .flat_map(|(place, step)| step.texts.iter().map(move |text| (place, Decoded::new(text))));
    let mut seen = ClientMessage::new(turn.first, texts.collect());
    for step in &turn.items {
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
            prepend_to(edits, *span, !steps.is_empty(), &results);
        }
    }
}

fn put_back(
    turn: &ModelTurn<'_, Step<'_>>,
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    let shown = shown(&seen.texts, &plan.calls);
    let notices = NoticePlaces::find(turn.items.len(), seen, &shown, plan);
    notices.cut(edits);
    let (mut gaps, mut least) = (vec![Vec::new(); turn.items.len() + 1], 0);
    for (call, marked) in plan.calls.iter().zip(&notices.marked) {
        least = marked.unwrap_or(turn.items.len()).max(least);
        if let Some(gap) = gaps.get_mut(least) {
            gap.push(call.original.clone());
        }
    }
    let steps: Vec<Span> = turn.items.iter().map(|step| step.span).collect();
    fill_gaps(&steps, &notices.gone, &gaps, edits);
    if let Some(answer) = turn.answer {
        let results: Vec<String> = plan.calls.iter().map(|call| error_result(call)).collect();
        edits.insert(answer.span.start, format!("{},", results.join(",")));
    }
}

fn error_result(call: &RemovedCall) -> String {
    let name = call.at(&["name"]);
    object! {
        "type": "function_result", "call_id": &call.id, "name": Raw(name), "is_error": true,
        "result": &call.why,
    }
}

#[cfg(test)]
mod tests;
