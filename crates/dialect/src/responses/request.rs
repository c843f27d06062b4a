//! Puts removed calls back into a Responses request.
//!
//! If the client holds the history, a call replaces its notice, or goes to its old position among
//! the items of its turn, with a result directly after it. If the provider holds it, the call is
//! still there, and only its result is missing: it is inserted at the start of the input.

pub(super) mod answer;
mod history;

use std::collections::HashSet;

use callgate_json::{Error, Reader as Json, Span};

use crate::json::{Edits, document, elements, member, prepend_to, string_member};
use crate::request::{
    ClientMessage, MergedTurn, NotRestored, NoticePlaces, Placed, Plan, RemovedCall, RemovedTurn,
    Restored, fill_gaps, plan, refusal, results_of_kept, shown, whole_object,
};
use history::{Entry, Input, Request};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let read = Request::read(request)?;
    let mut out = Restored::default();
    let mut edits = Edits::default();
    let (kept, sent): (Vec<&RemovedTurn>, Vec<&RemovedTurn>) =
        turns.iter().partition(|turn| read.goes_on_from(turn));
    let mut known = read.known_ids();
    let mut added = read.continue_last(&kept, &mut edits);
    added.extend(results_of_kept(&kept, &mut known, refuse, answer::result, &mut out));
    let sent: Vec<RemovedTurn> = sent.into_iter().cloned().collect();
    let places = InputPlaces::find(request, &read, &sent, known, &mut out);
    places.edit(&read, &added, &mut edits);
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the assistant's turns.
pub(crate) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    Ok(Request::read(request)?.seen(request))
}

/// The ids in `request` from the provider's memory: of the response and the conversation that it
/// continues, and of items that it only refers to.
pub(super) fn states(request: &str) -> Result<Vec<String>, Error> {
    Ok(Request::read(request)?.states())
}

/// The id of the message that replaced a call.
pub(crate) fn shown_as(original: &str) -> Option<String> {
    let id = member(original, whole_object(original)?, "id")?;
    let id = Json::at(original, id).string().ok()?;
    super::message::id_of(id.raw())
}

/// Why a call cannot be put back.
fn refuse(call: &RemovedCall) -> Option<NotRestored> {
    refusal(call).or_else(|| answer::result(call).is_none().then_some(NotRestored::NoResult))
}

/// Where the calls go among the items of the input.
#[derive(Default)]
struct InputPlaces {
    /// The calls before each item, then those after the last.
    gaps: Vec<Vec<String>>,
    /// For each item, whether it contained only notices. Then there are calls before it.
    gone: Vec<bool>,
    /// The notices to be removed from texts that contain more.
    cuts: Vec<Span>,
    /// For each item, whether it is replaced by calls before an earlier one.
    removed: Vec<bool>,
}

impl InputPlaces {
    fn find(
        request: &str,
        read: &Request<'_>,
        turns: &[RemovedTurn],
        known: HashSet<String>,
        out: &mut Restored,
    ) -> Self {
        let Input::Items(_, items) = &read.input else {
            for call in turns.iter().flat_map(|turn| &turn.calls) {
                out.skip(call, NotRestored::NotFound);
            }
            return Self::default();
        };
        let mut places = Self {
            gaps: vec![Vec::new(); items.len() + 1],
            gone: vec![false; items.len()],
            cuts: Vec::new(),
            removed: vec![false; items.len()],
        };
        let seen = read.seen(request);
        let plans = plan(&seen, turns, known, |_, _, call| refuse(call), out);
        for plan in &plans {
            let placed = match (seen.get(plan.seen), &plan.turn.merged) {
                (Some(seen), Some(merged)) => places.unmerge(items, seen, plan, merged),
                (Some(seen), None) => {
                    places.put_back(items, seen, plan);
                    Placed::Yes
                }
                (None, _) => Placed::No,
            };
            plan.report(placed, out);
        }
        places
    }

    /// Replaces the items of a turn of several answers by the items of each. A client that has left
    /// out the thinking of the turn gets back none of it.
    fn unmerge(
        &mut self,
        items: &[Entry<'_>],
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        merged: &MergedTurn,
    ) -> Placed {
        let is_own = |place: &usize| items.get(*place).is_some_and(Entry::is_of_assistant);
        let own: Vec<usize> = (seen.message..seen.end).filter(is_own).collect();
        let Some((first, others)) = own.split_first() else { return Placed::No };
        let refers = seen.references.iter().any(|id| id.starts_with("rs_"));
        let drops_thinking = plan.turn.lost_thinking_in(seen) && !refers;
        let content = |content: &str| match drops_thinking {
            true => without_thinking(content),
            false => content.to_owned(),
        };
        let earlier = merged.earlier.iter();
        let earlier = earlier.flat_map(|answer| [content(&answer.content), answer.results.clone()]);
        let results = plan.calls.iter().filter_map(|call| answer::result(call));
        let all = earlier.chain([content(&merged.last)]).chain(results);
        let all: Vec<String> = all.filter(|items| !items.is_empty()).collect();
        if let (Some(gap), Some(gone)) = (self.gaps.get_mut(*first), self.gone.get_mut(*first)) {
            gap.push(all.join(","));
            *gone = true;
        }
        for place in others {
            if let Some(removed) = self.removed.get_mut(*place) {
                *removed = true;
            }
        }
        Placed::Yes
    }

    fn put_back(&mut self, items: &[Entry<'_>], seen: &ClientMessage<'_>, plan: &Plan<'_>) {
        let turn = seen.message..seen.end;
        let shown = shown(&seen.texts, &plan.calls);
        let notices = NoticePlaces::find(items.len(), seen, &shown, plan);
        let mut marked = notices.marked;
        self.cuts.extend(notices.cuts);
        for (place, item) in items.iter().enumerate().take(turn.end).skip(turn.start) {
            let referred = item.reference().and_then(|id| {
                plan.calls.iter().position(|call| shown_as(&call.original).as_deref() == Some(id))
            });
            if let Some(mark) = referred.and_then(|call| marked.get_mut(call)) {
                *mark = Some(place);
            }
            let is_gone = notices.gone.get(place) == Some(&true) || referred.is_some();
            if let Some(gone) = self.gone.get_mut(place) {
                *gone |= is_gone;
            }
        }
        for (call, gap) in plan.calls.iter().zip(self.choose(items, plan, &marked, &turn)) {
            if let (Some(gap), Some(result)) = (self.gaps.get_mut(gap), answer::result(call)) {
                gap.push(format!("{},{result}", call.original));
            }
        }
    }

    /// The gap for each call: where its notice was, else by its position, in the order of the
    /// calls.
    fn choose(
        &self,
        items: &[Entry<'_>],
        plan: &Plan<'_>,
        marked: &[Option<usize>],
        turn: &std::ops::Range<usize>,
    ) -> Vec<usize> {
        let is_gone = |place: usize| self.gone.get(place) == Some(&true);
        // Outputs may be between them.
        let is_own = |place: &usize| items.get(*place).is_some_and(Entry::is_of_assistant);
        let own: Vec<usize> = turn.clone().filter(is_own).collect();
        let (mut least, mut chosen) = (turn.start, Vec::with_capacity(plan.calls.len()));
        for (number, call) in plan.calls.iter().enumerate() {
            let gap = marked.get(number).copied().flatten().unwrap_or_else(|| {
                // Calls that were removed before it, and left no item in their place.
                let hidden = plan.turn.calls.iter().filter(|other| other.place < call.place);
                let shown = turn.clone().filter(|place| is_gone(*place)).count();
                let missing = hidden.count().saturating_sub(shown);
                let most = marked.get(number..).unwrap_or(&[]).iter().flatten().min();
                let most = most.copied().unwrap_or(turn.end);
                let behind = own.get(call.place.saturating_sub(missing)).copied();
                behind.unwrap_or(turn.end).clamp(least.min(most), most)
            });
            least = least.max(gap);
            chosen.push(gap);
        }
        chosen
    }

    fn edit(&self, read: &Request<'_>, results: &[String], edits: &mut Edits) {
        let results = results.join(",");
        match &read.input {
            Input::Items(span, items) => {
                for cut in &self.cuts {
                    edits.replace(*cut, "");
                }
                let spans: Vec<Span> = items.iter().map(|item| item.span).collect();
                edits.remove(&spans, |place| self.removed.get(place) == Some(&true));
                fill_gaps(&spans, &self.gone, &self.gaps, edits);
                if !results.is_empty() {
                    prepend_to(edits, *span, !items.is_empty(), &results);
                }
            }
            _ if results.is_empty() => {}
            Input::Text(span) => {
                edits.insert(span.start, format!("[{results},{{\"role\":\"user\",\"content\":"));
                edits.insert(span.end, "}]");
            }
            Input::Missing => {
                let comma = if read.is_empty { "" } else { "," };
                edits.insert(read.start + 1, format!("\"input\":[{results}]{comma}"));
            }
        }
    }
}

/// Items without the thinking among them.
fn without_thinking(items: &str) -> String {
    let list = format!("[{items}]");
    let all = elements(&list, document(&list));
    let is_thinking =
        |item: &Span| string_member(&list, *item, "type").is_some_and(|kind| kind.is("reasoning"));
    let left = all.iter().filter(|item| !is_thinking(item)).map(|item| item.of(&list));
    left.collect::<Vec<_>>().join(",")
}

/// The string at `key` of the object at `object`, or the `id` of the object there.
fn id_at(request: &str, value: Span) -> Option<String> {
    let id = |span: Span| {
        let text = Json::at(request, span).string().ok()?;
        text.decode().ok().map(|text| text.into_owned()).filter(|text| !text.is_empty())
    };
    id(value).or_else(|| member(request, value, "id").and_then(id))
}

#[cfg(test)]
mod tests;
