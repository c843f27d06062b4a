//! Puts removed calls back into conversations whose messages are lists of blocks: a call goes into
//! the message of its turn, its result into the message of the user that follows.

use std::collections::{BTreeMap, HashSet};

use callgate_json::{Error, Reader, Span};

use super::{
    ClientMessage, MergedTurn, NotRestored, Placed, Plan, RemovedCall, RemovedTurn, Restored,
    messages, plan, refusal,
};
use crate::json::{Edits, document, elements};
use crate::object::{Raw, object};

/// A message whose content is a list of blocks.
pub(crate) trait BlockMessage<'a>: Sized {
    /// Reads a message.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error>;

    fn span(&self) -> Span;

    /// Whether blocks can be put into it.
    fn has_room(&self) -> bool {
        true
    }

    /// Its recognisable traits, if it is the assistant's.
    fn look(&self, request: &'a str, place: usize) -> Option<ClientMessage<'a>>;

    /// Every id that the client mentions in it: of calls, and of results.
    fn ids(&self) -> Vec<String>;

    /// The user message that answers the assistant message at `place`.
    fn answer(messages: &[Self], place: usize) -> Option<usize>;

    /// Puts the calls into it.
    fn put_back(
        &self,
        request: &str,
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        edits: &mut Edits,
    ) -> Placed;

    /// Whether a block is thinking.
    fn is_thinking(content: &str, block: Span) -> bool;

    /// The blocks of its turn's last answer, with what the client wants to be cached up to them.
    fn with_cache(&self, request: &str, content: String) -> String;

    /// The messages that replace it, if it is a turn of several answers. A client that has left out
    /// the thinking of the turn gets back none of it.
    fn unmerge(
        &self,
        request: &str,
        seen: &ClientMessage<'_>,
        turn: &RemovedTurn,
        merged: &MergedTurn,
    ) -> String {
        let drops_thinking = turn.lost_thinking_in(seen);
        let content = |content: &str| {
            let blocks = elements(content, document(content));
            let is_gone = |block: &Span| drops_thinking && Self::is_thinking(content, *block);
            let mut edits = Edits::default();
            edits.remove(&blocks, |place| blocks.get(place).is_some_and(is_gone));
            edits.apply(content)
        };
        let assistant = |content: &str| object! { "role": "assistant", "content": Raw(content) };
        let mut messages = Vec::with_capacity(2 * merged.earlier.len() + 1);
        for answer in &merged.earlier {
            messages.push(assistant(&content(&answer.content)));
            messages.push(object! { "role": "user", "content": Raw(&answer.results) });
        }
        messages.push(assistant(&self.with_cache(request, content(&merged.last))));
        messages.join(",")
    }

    /// Inserts error results at its start.
    fn add_results(&self, request: &str, calls: &[&RemovedCall], edits: &mut Edits);
}

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore<'a, M: BlockMessage<'a>>(
    request: &'a str,
    turns: &[RemovedTurn],
) -> Result<Restored, Error> {
    let messages = messages(request, M::read)?;
    let seen = look_all(request, &messages);
    let answer_to = |place: usize| M::answer(&messages, seen.get(place)?.message);
    let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
        let is_answered = answer_to(place).is_some();
        refusal(call).or((!is_answered).then_some(NotRestored::Unanswered))
    };
    let mut out = Restored::default();
    let known: HashSet<String> = messages.iter().flat_map(M::ids).collect();
    let plans = plan(&seen, turns, known, refuse, &mut out);

    let mut edits = Edits::default();
    let mut results: BTreeMap<usize, Vec<&RemovedCall>> = BTreeMap::new();
    for plan in &plans {
        let message =
            seen.get(plan.seen).and_then(|seen| Some((seen, messages.get(seen.message)?)));
        let placed = match (message, &plan.turn.merged) {
            (Some((seen, message)), Some(merged)) if message.has_room() => {
                edits.replace(message.span(), message.unmerge(request, seen, plan.turn, merged));
                Placed::Yes
            }
            (Some((seen, message)), None) => message.put_back(request, seen, plan, &mut edits),
            (Some(_), Some(_)) | (None, _) => Placed::No,
        };
        plan.report(placed, &mut out);
        if placed == Placed::No {
            continue;
        }
        // The last of several answers may have lost no call.
        if let Some(user) = answer_to(plan.seen).filter(|_| !plan.calls.is_empty()) {
            results.entry(user).or_default().extend(&plan.calls);
        }
    }
    for (user, calls) in &results {
        if let Some(message) = messages.get(*user) {
            message.add_results(request, calls, &mut edits);
        }
    }
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the assistant's messages.
pub(crate) fn seen<'a, M: BlockMessage<'a>>(
    request: &'a str,
) -> Result<Vec<ClientMessage<'a>>, Error> {
    Ok(look_all(request, &messages(request, M::read)?))
}

fn look_all<'a, M: BlockMessage<'a>>(request: &'a str, messages: &[M]) -> Vec<ClientMessage<'a>> {
    let seen = |(place, message): (usize, &M)| message.look(request, place);
    messages.iter().enumerate().filter_map(seen).collect()
}
