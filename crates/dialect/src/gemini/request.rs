//! Puts removed calls back into a Gemini request.
//!
//! A call replaces its notice, or goes to its old position among the calls if there is no notice.
//! Its result goes into the next content, in the order of the calls, because only the order
//! distinguishes results without an id.

mod contents;
mod unmerge;

use std::collections::{BTreeMap, HashSet};

use callgate_json::{Error, Reader as Json, Span, quote};

use self::contents::{Content, Part, contents};
use self::unmerge::unmerge;
use crate::json::{Edits, member, remove_members};
use crate::request::{
    ClientMessage, Decoded, ModelTurn, NotRestored, NoticePlaces, Placed, Plan, RemovedCall,
    RemovedTurn, Restored, SentCall, meaning, model_turns, plan, shown, whole_object,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let contents = contents(request)?;
    let said = turns_of(&contents);
    let seen: Vec<ClientMessage<'_>> = said.iter().map(|turn| look(request, turn)).collect();
    let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
        if whole_object(&call.original).is_none() {
            return Some(NotRestored::Unreadable);
        }
        said.get(place).and_then(|turn| turn.answer).is_none().then_some(NotRestored::Unanswered)
    };
    let mut out = Restored::default();
    let plans = plan(&seen, turns, known(&contents), refuse, &mut out);

    let mut edits = Edits::default();
    for plan in &plans {
        let (Some(turn), Some(seen)) = (said.get(plan.seen), seen.get(plan.seen)) else {
            plan.report(Placed::No, &mut out);
            continue;
        };
        plan.report(Placed::Yes, &mut out);
        let answered = match &plan.turn.merged {
            Some(merged) => unmerge(&contents, turn, plan, merged, &mut edits),
            None => put_back(request, turn, seen, plan, &mut edits),
        };
        if let Some(answer) = turn.answer {
            add_results(answer, &answered, &mut edits);
        }
    }
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the model's turns.
pub(crate) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    Ok(turns_of(&contents(request)?).iter().map(|turn| look(request, turn)).collect())
}

/// Consecutive contents of the model. Some clients store every chunk as a separate content.
struct Turn<'c, 'a> {
    first: usize,
    parts: Vec<&'c Part<'a>>,
    /// How many of the parts are in each content.
    counts: Vec<usize>,
    /// The content that answers it.
    answer: Option<&'c Content<'a>>,
}

fn turns_of<'c, 'a>(contents: &'c [Content<'a>]) -> Vec<Turn<'c, 'a>> {
    let turns = model_turns(contents, |content| content.role.is_some_and(|it| it.is("model")));
    let of_contents = |turn: ModelTurn<'c, Content<'a>>| Turn {
        first: turn.first,
        parts: turn.items.iter().flat_map(|content| &content.parts).collect(),
        counts: turn.items.iter().map(|content| content.parts.len()).collect(),
        answer: turn.answer.filter(|content| content.list.is_some()),
    };
    turns.into_iter().map(of_contents).collect()
}

/// The recognisable traits of a turn.
fn look<'a>(request: &'a str, turn: &Turn<'_, 'a>) -> ClientMessage<'a> {
    let text = |(place, part): (usize, &&Part<'a>)| {
        part.text.filter(|_| !part.is_thought).map(|text| (place, Decoded::new(&text)))
    };
    let mut seen =
        ClientMessage::new(turn.first, turn.parts.iter().enumerate().filter_map(text).collect());
    for part in &turn.parts {
        if let Some(call) = part.call {
            seen.add_call(
                request,
                SentCall { id: part.call_id, ..SentCall::read(request, call, "args") },
            );
        }
        seen.add_signature(part.signature.as_ref().map(|signature| signature.text));
    }
    seen
}

/// Every id that the client mentions: in its calls, and in its results.
fn known(contents: &[Content<'_>]) -> HashSet<String> {
    let parts = contents.iter().flat_map(|content| &content.parts);
    parts
        .flat_map(|part| [meaning(part.call_id), meaning(part.result_id)])
        .flatten()
        .filter(|id| !id.is_empty())
        .collect()
}

/// Puts the calls into the turn. Returns how many of the client's calls come before each.
fn put_back<'t>(
    request: &str,
    turn: &Turn<'_, '_>,
    seen: &ClientMessage<'_>,
    plan: &Plan<'t>,
    edits: &mut Edits,
) -> Vec<(usize, &'t RemovedCall)> {
    let shown = shown(&seen.texts, &plan.calls);
    let notices = NoticePlaces::find(turn.parts.len(), seen, &shown, plan);
    notices.cut(edits);
    let NoticePlaces { mut gone, marked, .. } = notices;
    spare(turn, plan, &mut gone);
    let gaps = choose(turn, seen, plan, &marked);
    insert(turn, plan, &gaps, &gone, edits);
    remove_spare(turn, &gaps, &gone, edits);
    give_back_signatures(request, turn, plan, &gone, edits);
    let calls_before =
        |gap: usize| turn.parts.iter().take(gap).filter(|part| part.call.is_some()).count();
    plan.calls.iter().zip(&gaps).map(|(call, gap)| (calls_before(*gap), *call)).collect()
}

/// Marks the parts that only carry the signature of a restored call: without it they would be
/// empty, and the provider rejects an empty part.
fn spare(turn: &Turn<'_, '_>, plan: &Plan<'_>, gone: &mut [bool]) {
    let back: Vec<String> = plan.calls.iter().filter_map(|call| signature(call)).collect();
    for (part, gone) in turn.parts.iter().zip(gone) {
        let carried = part.signature.as_ref().and_then(|it| meaning(Some(it.text)));
        *gone |= part.only_signs() && carried.is_some_and(|text| back.contains(&text));
    }
}

/// The part before which each call goes: where its notice was, else by its position among the
/// calls.
fn choose(
    turn: &Turn<'_, '_>,
    seen: &ClientMessage<'_>,
    plan: &Plan<'_>,
    marked: &[Option<usize>],
) -> Vec<usize> {
    let calls: Vec<usize> = turn
        .parts
        .iter()
        .enumerate()
        .filter(|(_, part)| part.call.is_some())
        .map(|(place, _)| place)
        .collect();
    let is_hidden = |call: &&RemovedCall| !seen.has_id(&call.id);
    let mut least = 0;
    let mut gaps = Vec::with_capacity(plan.calls.len());
    for (call, marked) in plan.calls.iter().zip(marked) {
        let hidden = plan.turn.calls.iter().filter(is_hidden);
        let missing = hidden.filter(|other| other.place < call.place).count();
        let by_place = || match calls.get(call.place.saturating_sub(missing)) {
            Some(next) => *next,
            None => calls.last().map_or(turn.parts.len(), |last| last + 1),
        };
        let gap = marked.unwrap_or_else(by_place).max(least);
        least = gap;
        gaps.push(gap);
    }
    gaps
}

fn insert(turn: &Turn<'_, '_>, plan: &Plan<'_>, gaps: &[usize], gone: &[bool], edits: &mut Edits) {
    let mut by_gap: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (call, gap) in plan.calls.iter().zip(gaps) {
        by_gap.entry(*gap).or_default().push(&call.original);
    }
    for (gap, calls) in &by_gap {
        let calls = calls.join(",");
        match (turn.parts.get(*gap), gone.get(*gap), turn.parts.last()) {
            (Some(part), Some(true), _) => edits.replace(part.span, calls),
            (Some(part), _, _) => edits.insert(part.span.start, format!("{calls},")),
            (None, _, Some(last)) if gone.last() == Some(&true) => edits.replace(last.span, calls),
            (None, _, Some(last)) => edits.insert(last.span.end, format!(",{calls}")),
            (None, _, None) => {}
        }
    }
}

/// Removes the marked parts that no call replaces.
fn remove_spare(turn: &Turn<'_, '_>, gaps: &[usize], gone: &[bool], edits: &mut Edits) {
    let at_end = gaps.contains(&turn.parts.len());
    let is_last = |place: usize| place + 1 == turn.parts.len();
    let is_spare = |place: usize| {
        let is_taken = gaps.contains(&place) || (at_end && is_last(place));
        gone.get(place) == Some(&true) && !is_taken
    };
    let mut first = 0;
    for count in &turn.counts {
        let places = first..first + count;
        let spans: Vec<Span> =
            turn.parts.get(places.clone()).into_iter().flatten().map(|part| part.span).collect();
        // The provider rejects an empty content as well: then everything stays as the client sent
        // it.
        if !places.clone().all(is_spare) {
            edits.remove(&spans, |at| is_spare(first + at));
        }
        first = places.end;
    }
}

/// Moves a signature that another part carried back to its call.
fn give_back_signatures(
    request: &str,
    turn: &Turn<'_, '_>,
    plan: &Plan<'_>,
    gone: &[bool],
    edits: &mut Edits,
) {
    let back: Vec<String> = plan.calls.iter().filter_map(|call| signature(call)).collect();
    for (part, gone) in turn.parts.iter().zip(gone) {
        let Some(signature) = &part.signature else { continue };
        let is_carried = meaning(Some(signature.text)).is_some_and(|text| back.contains(&text));
        if *gone || !is_carried {
            continue;
        }
        remove_members(edits, request, part.span, |member| member.key.span() == signature.key);
    }
}

/// The signature of a call.
fn signature(call: &RemovedCall) -> Option<String> {
    let span = member(&call.original, whole_object(&call.original)?, "thoughtSignature")?;
    meaning(Json::at(&call.original, span).string().ok())
}

/// Inserts the error results among those that the client sent.
fn add_results(answer: &Content<'_>, calls: &[(usize, &RemovedCall)], edits: &mut Edits) {
    let Some(list) = answer.list else { return };
    let results: Vec<Span> =
        answer.parts.iter().filter(|part| part.is_result).map(|part| part.span).collect();
    for (before, call) in calls {
        let result = error_result(call);
        match (results.get(*before), results.last(), answer.parts.is_empty()) {
            (Some(next), _, _) => edits.insert(next.start, format!("{result},")),
            (None, Some(last), _) => edits.insert(last.end, format!(",{result}")),
            (None, None, true) => edits.insert(list.start + 1, result),
            (None, None, false) => edits.insert(list.start + 1, format!("{result},")),
        }
    }
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    let name = call.at(&["functionCall", "name"]);
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!("\"id\":{},", quote(id)),
    };
    let why = quote(&call.why);
    format!("{{\"functionResponse\":{{{id}\"name\":{name},\"response\":{{\"error\":{why}}}}}}}")
}

#[cfg(test)]
mod tests;
