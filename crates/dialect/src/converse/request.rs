//! Puts removed calls back into a Converse request.

use std::collections::{BTreeMap, HashSet};

use callgate_json::{Error, Kind, Reader as Json, Span, Text, quote};

use super::continued::is_thinking;
use super::view::Keys;
use crate::json::{Edits, document, elements, member};
use crate::request::{
    Decoded, MergedTurn, MessageTraits, PlacedBlock, RemovedCall, RemovedTurn, Restored, SentCall,
    meaning, messages, plan, put_back_blocks, text_or_skip, whole_object,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let messages = messages(request, read_message)?;
    let seen = look_all(request, &messages);
    let answer_to = |place: usize| answer(&messages, seen.get(place)?.message);
    let refuse = |place: usize, _: &RemovedTurn, call: &RemovedCall| {
        if call.id.is_empty() {
            return Some(Restored::NO_ID);
        }
        if whole_object(&call.original).is_none() {
            return Some(Restored::UNREADABLE);
        }
        answer_to(place).is_none().then_some(Restored::UNANSWERED)
    };
    let mut out = Restored::default();
    let plans = plan(&seen, turns, known(&messages), refuse, &mut out);

    let mut edits = Edits::default();
    let mut results: BTreeMap<usize, Vec<&RemovedCall>> = BTreeMap::new();
    for plan in &plans {
        let Some(seen) = seen.get(plan.seen) else { continue };
        let Some(message) = messages.get(seen.message) else { continue };
        let Some(list) = message.content else { continue };
        match &plan.turn.merged {
            Some(merged) => {
                edits.replace(message.span, unmerge(request, message, seen, plan.turn, merged));
            }
            None => {
                let blocks: Vec<PlacedBlock> = message.blocks.iter().map(Block::standing).collect();
                put_back_blocks(request, list, &blocks, seen, plan, &mut edits);
            }
        }
        // The last of several answers may have lost no call.
        if let Some(user) = answer_to(plan.seen).filter(|_| !plan.calls.is_empty()) {
            results.entry(user).or_default().extend(&plan.calls);
        }
    }
    for (user, calls) in &results {
        if let Some(message) = messages.get(*user) {
            add_results(message, calls, &mut edits);
        }
    }
    out.body = (!edits.is_empty()).then(|| edits.apply(request));
    Ok(out)
}

/// The recognisable traits of each of the assistant's messages.
pub(crate) fn seen(request: &str) -> Result<Vec<MessageTraits<'_>>, Error> {
    Ok(look_all(request, &messages(request, read_message)?))
}

#[derive(Default)]
struct Message<'a> {
    span: Span,
    role: Option<Text<'a>>,
    /// The span of its list of blocks.
    content: Option<Span>,
    blocks: Vec<Block<'a>>,
}

/// A content block. A member of an unexpected type is treated as missing.
#[derive(Default)]
struct Block<'a> {
    span: Span,
    text: Option<Text<'a>>,
    /// The span of the call in it.
    tool_use: Option<Span>,
    /// The id of that call.
    call: Option<Text<'a>>,
    /// The id of the call whose result it is.
    result: Option<Text<'a>>,
    signature: Option<Text<'a>>,
}

impl Message<'_> {
    fn is(&self, role: &str) -> bool {
        self.role.is_some_and(|text| text.is(role))
    }
}

impl Block<'_> {
    fn standing(&self) -> PlacedBlock {
        PlacedBlock { span: self.span, is_text: self.text.is_some(), cache_control: None }
    }
}

fn read_message<'a>(json: &mut Json<'a>) -> Result<Message<'a>, Error> {
    const KEYS: Keys<2> = Keys(["role", "content"]);
    let mut message = Message::default();
    json.kind()?;
    let start = json.position();
    let mut seen = 0;
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match KEYS.find(&key, &mut seen)? {
            Some(0) => message.role = text_or_skip(json)?,
            Some(_) if json.kind()? == Kind::Array => {
                let start = json.position();
                let mut array = json.array()?;
                while array.next(json)? {
                    message.blocks.push(read_block(json)?);
                }
                message.content = Some(Span { start, end: json.position() });
            }
            _ => {
                json.skip()?;
            }
        }
    }
    message.span = Span { start, end: json.position() };
    Ok(message)
}

/// The messages of a turn of several answers. A client that has left out the thinking of the turn
/// gets back none of it.
fn unmerge(
    request: &str,
    message: &Message<'_>,
    seen: &MessageTraits<'_>,
    turn: &RemovedTurn,
    merged: &MergedTurn,
) -> String {
    let had_thinking = turn.client.as_ref().is_some_and(|client| !client.signatures.is_empty());
    let drops_thinking = had_thinking && seen.client.signatures.is_empty();
    let blocks = |content: &str| -> Vec<String> {
        let blocks = elements(content, document(content)).into_iter();
        let is_left = |block: &Span| !drops_thinking || !is_thinking(content, *block);
        blocks.filter(is_left).map(|block| block.of(content).to_owned()).collect()
    };
    let assistant = |blocks: Vec<String>| {
        format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(","))
    };
    let mut messages = Vec::with_capacity(2 * merged.earlier.len() + 1);
    for answer in &merged.earlier {
        messages.push(assistant(blocks(&answer.content)));
        messages.push(format!("{{\"role\":\"user\",\"content\":{}}}", answer.results));
    }
    let mut last = blocks(&merged.last);
    // What the client wants to be cached up to this turn.
    let is_cached = |block: &&Block<'_>| member(request, block.span, "cachePoint").is_some();
    let cached = message.blocks.iter().rev().find(is_cached);
    last.extend(cached.map(|block| block.span.of(request).to_owned()));
    messages.push(assistant(last));
    messages.join(",")
}

fn read_block<'a>(json: &mut Json<'a>) -> Result<Block<'a>, Error> {
    const KEYS: Keys<4> = Keys(["text", "toolUse", "toolResult", "reasoningContent"]);
    let mut block = Block::default();
    if json.kind()? != Kind::Object {
        block.span = json.skip()?;
        return Ok(block);
    }
    let start = json.position();
    let mut seen = 0;
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match KEYS.find(&key, &mut seen)? {
            Some(0) => block.text = text_or_skip(json)?,
            Some(1) => {
                let mut call = json.clone();
                block.tool_use = Some(json.skip()?);
                block.call = text_under(&mut call, &["toolUseId"])?;
            }
            Some(2) => block.result = text_under(json, &["toolUseId"])?,
            Some(_) => block.signature = text_under(json, &["reasoningText", "signature"])?,
            None => {
                json.skip()?;
            }
        }
    }
    block.span = Span { start, end: json.position() };
    Ok(block)
}

/// The text at a path of keys, if there is one. Reads the whole value.
fn text_under<'a>(json: &mut Json<'a>, path: &[&str]) -> Result<Option<Text<'a>>, Error> {
    let Some((first, rest)) = path.split_first() else { return text_or_skip(json) };
    if json.kind()? != Kind::Object {
        return json.skip().map(|_| None);
    }
    let mut found = None;
    let mut object = json.object()?;
    while let Some(key) = object.next(json)? {
        match key.is(first) {
            true => found = text_under(json, rest)?,
            false => {
                json.skip()?;
            }
        }
    }
    Ok(found)
}

fn look_all<'a>(request: &'a str, messages: &[Message<'a>]) -> Vec<MessageTraits<'a>> {
    let seen = |(place, message)| look(request, place, message);
    messages.iter().enumerate().filter_map(seen).collect()
}

/// The recognisable traits of a message, if it is the assistant's.
fn look<'a>(request: &'a str, place: usize, message: &Message<'a>) -> Option<MessageTraits<'a>> {
    if !message.is("assistant") {
        return None;
    }
    let text =
        |(place, block): (usize, &Block<'a>)| block.text.map(|text| (place, Decoded::new(&text)));
    let mut seen =
        MessageTraits::new(place, message.blocks.iter().enumerate().filter_map(text).collect());
    for block in &message.blocks {
        if let Some(span) = block.tool_use {
            let call = SentCall::read(request, span, "input");
            seen.add_call(request, SentCall { id: block.call, ..call });
        }
        seen.add_signature(block.signature);
    }
    Some(seen)
}

/// Every id that the client mentions: in its calls, and in its results.
fn known(messages: &[Message<'_>]) -> HashSet<String> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    blocks.flat_map(|block| [meaning(block.call), meaning(block.result)]).flatten().collect()
}

/// The user message that answers the assistant message at `place`.
fn answer(messages: &[Message<'_>], place: usize) -> Option<usize> {
    let next = messages.get(place + 1)?;
    (next.is("user") && next.content.is_some()).then_some(place + 1)
}

/// Inserts the error results at the start of the user message.
fn add_results(message: &Message<'_>, calls: &[&RemovedCall], edits: &mut Edits) {
    let Some(list) = message.content else { return };
    let results: Vec<String> = calls.iter().map(|call| error_result(call)).collect();
    let comma = if message.blocks.is_empty() { "" } else { "," };
    edits.insert(list.start + 1, format!("{}{comma}", results.join(",")));
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    format!(
        "{{\"toolResult\":{{\"toolUseId\":{},\"content\":[{{\"text\":{}}}],\"status\":\"error\"}}}}",
        quote(&call.id),
        quote(&call.why)
    )
}

#[cfg(test)]
mod tests;
