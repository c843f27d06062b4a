//! Puts removed calls back into a Messages request.
//!
//! A call replaces its notice, or goes to its old position among the blocks if there is no notice.
//! Its result is inserted at the start of the user message that follows.

mod unmerge;

use std::collections::{BTreeMap, HashSet};

use callgate_json::{Error, Kind, Reader as Json, Span, Text, quote};

use unmerge::unmerge;

use crate::json::{Edits, Fields, member};
use crate::request::{
    CallPlaces, Decoded, MessageTraits, PlacedBlock, Plan, RemovedCall, RemovedTurn, Restored,
    SentCall, meaning, messages, plan, put_back_blocks, text_or_skip, whole_object,
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
        match &plan.turn.merged {
            Some(merged) => {
                let restored = unmerge(request, message, seen, plan.turn, merged);
                edits.replace(message.span, restored);
            }
            None => put_back(request, message, seen, plan, &mut edits),
        }
        // The last of several answers may have lost no call.
        if let Some(user) = answer_to(plan.seen).filter(|_| !plan.calls.is_empty()) {
            results.entry(user).or_default().extend(&plan.calls);
        }
    }
    for (user, calls) in &results {
        if let Some(message) = messages.get(*user) {
            add_results(request, message, calls, &mut edits);
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
    content: Content<'a>,
}

#[derive(Default)]
enum Content<'a> {
    #[default]
    Missing,
    Text(Text<'a>),
    Blocks(Span, Vec<Block<'a>>),
}

/// A content block. A member of an unexpected type is treated as missing.
#[derive(Default)]
struct Block<'a> {
    span: Span,
    kind: Option<Text<'a>>,
    text: Option<Text<'a>>,
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    input: Option<Span>,
    signature: Option<Text<'a>>,
    tool_use_id: Option<Text<'a>>,
    cache_control: Option<Span>,
}

impl Message<'_> {
    fn is(&self, role: &str) -> bool {
        self.role.is_some_and(|text| text.is(role))
    }
}

impl Block<'_> {
    fn standing(&self) -> PlacedBlock {
        let (span, cache_control) = (self.span, self.cache_control);
        PlacedBlock { span, is_text: self.text.is_some(), cache_control }
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }
}

fn read_message<'a>(reader: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut fields = Fields::new(&["role", "content"]);
    reader.kind()?;
    let start = reader.position();
    let mut object = reader.object()?;
    while let Some(key) = object.next(reader)? {
        match fields.find(&key)? {
            Some(0) => message.role = text_or_skip(reader)?,
            Some(_) => message.content = read_content(reader)?,
            None => {
                reader.skip()?;
            }
        }
    }
    message.span = Span { start, end: reader.position() };
    Ok(message)
}

fn read_content<'a>(reader: &mut Json<'a>) -> Result<Content<'a>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(Content::Text),
        Kind::Array => {
            let start = reader.position();
            let mut blocks = Vec::new();
            let mut array = reader.array()?;
            while array.next(reader)? {
                blocks.push(read_block(reader)?);
            }
            Ok(Content::Blocks(Span { start, end: reader.position() }, blocks))
        }
        _ => reader.skip().map(|_| Content::Missing),
    }
}

const BLOCK: [&str; 8] =
    ["type", "text", "id", "signature", "tool_use_id", "name", "input", "cache_control"];

fn read_block<'a>(reader: &mut Json<'a>) -> Result<Block<'a>, Error> {
    let mut block = Block::default();
    if reader.kind()? != Kind::Object {
        block.span = reader.skip()?;
        return Ok(block);
    }
    let start = reader.position();
    let mut fields = Fields::new(&BLOCK);
    let mut object = reader.object()?;
    while let Some(key) = object.next(reader)? {
        match fields.find(&key)? {
            Some(0) => block.kind = text_or_skip(reader)?,
            Some(1) => block.text = text_or_skip(reader)?,
            Some(2) => block.id = text_or_skip(reader)?,
            Some(3) => block.signature = text_or_skip(reader)?,
            Some(4) => block.tool_use_id = text_or_skip(reader)?,
            Some(5) => block.name = text_or_skip(reader)?,
            Some(6) => block.input = Some(reader.skip()?),
            Some(_) => block.cache_control = Some(reader.skip()?),
            None => {
                reader.skip()?;
            }
        }
    }
    block.span = Span { start, end: reader.position() };
    Ok(block)
}

fn look_all<'a>(request: &'a str, messages: &[Message<'a>]) -> Vec<MessageTraits<'a>> {
    let seen = |(place, message)| look(request, place, message);
    messages.iter().enumerate().filter_map(seen).collect()
}

/// The recognisable traits of a message, if it is the assistant's.
fn look<'a>(request: &str, place: usize, message: &Message<'a>) -> Option<MessageTraits<'a>> {
    if !message.is("assistant") {
        return None;
    }
    let blocks = match &message.content {
        Content::Missing => [].as_slice(),
        Content::Text(text) => {
            return Some(MessageTraits::new(place, vec![(0, Decoded::new(text))]));
        }
        Content::Blocks(_, blocks) => blocks,
    };
    let text = |(place, block): (usize, &Block<'a>)| {
        block.text.filter(|_| block.is("text")).map(|text| (place, Decoded::new(&text)))
    };
    let mut seen = MessageTraits::new(place, blocks.iter().enumerate().filter_map(text).collect());
    for block in blocks {
        if block.is("tool_use") {
            let (id, name, arguments) = (block.id, block.name, block.input);
            seen.add_call(request, SentCall { id, name, arguments });
        } else if block.is("thinking") {
            seen.add_signature(block.signature);
        }
    }
    Some(seen)
}

/// Every id that the client mentions: in its calls, and in its results.
fn known(messages: &[Message<'_>]) -> HashSet<String> {
    let blocks = messages.iter().flat_map(|message| match &message.content {
        Content::Blocks(_, blocks) => blocks.as_slice(),
        _ => &[],
    });
    blocks.flat_map(|block| [meaning(block.id), meaning(block.tool_use_id)]).flatten().collect()
}

/// The user message that answers the assistant message at `place`. The provider takes consecutive
/// assistant messages for one.
fn answer(messages: &[Message<'_>], place: usize) -> Option<usize> {
    let behind = place + 1;
    let skipped = messages.get(behind..)?.iter().position(|message| !message.is("assistant"))?;
    let next = messages.get(behind + skipped)?;
    let holds = next.is("user") && !matches!(next.content, Content::Missing);
    holds.then_some(behind + skipped)
}

fn put_back(
    request: &str,
    message: &Message<'_>,
    seen: &MessageTraits<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    match &message.content {
        Content::Missing => {}
        Content::Text(text) => {
            let block = PlacedBlock { span: text.span(), is_text: true, cache_control: None };
            let places = CallPlaces::find(request, &[block], seen, plan);
            let [before, behind] = places.gaps.as_slice() else { return };
            if places.gone.first() == Some(&true) {
                let calls = [before.as_slice(), behind].concat().join(",");
                return edits.replace(text.span(), format!("[{calls}]"));
            }
            let before: String = before.iter().map(|call| format!("{call},")).collect();
            let behind: String = behind.iter().map(|call| format!(",{call}")).collect();
            edits.insert(text.span().start, format!("[{before}{{\"type\":\"text\",\"text\":"));
            places.cut_notices(seen, edits);
            edits.insert(text.span().end, format!("}}{behind}]"));
        }
        Content::Blocks(span, blocks) => {
            let blocks: Vec<PlacedBlock> = blocks.iter().map(Block::standing).collect();
            put_back_blocks(request, *span, &blocks, seen, plan, edits);
        }
    }
}

/// Inserts the error results at the start of the user message. If a call came from code that still
/// runs, the message may contain only results, so the user's text goes inside the last one.
fn add_results(request: &str, message: &Message<'_>, calls: &[&RemovedCall], edits: &mut Edits) {
    let host = calls.iter().rposition(|call| is_programmatic(&call.original));
    let results = |said: &[&str]| -> String {
        let result = |(number, call): (usize, &&RemovedCall)| {
            error_result(call, if host == Some(number) { said } else { &[] })
        };
        let results: Vec<String> = calls.iter().enumerate().map(result).collect();
        results.join(",")
    };
    match &message.content {
        Content::Missing => {}
        Content::Text(text) => {
            let is_blank = Decoded::new(text).text.trim().is_empty();
            let block = format!("{{\"type\":\"text\",\"text\":{}}}", text.span().of(request));
            match host {
                _ if is_blank => edits.replace(text.span(), format!("[{}]", results(&[]))),
                Some(_) => edits.replace(text.span(), format!("[{}]", results(&[&block]))),
                None => {
                    let open = format!("[{},{{\"type\":\"text\",\"text\":", results(&[]));
                    edits.insert(text.span().start, open);
                    edits.insert(text.span().end, "}]");
                }
            }
        }
        Content::Blocks(span, blocks) => {
            let moves = |block: &Block<'_>| host.is_some() && MOVABLE.iter().any(|k| block.is(k));
            let moved: Vec<&str> =
                blocks.iter().filter(|b| moves(b)).map(|block| block.span.of(request)).collect();
            let comma = if moved.len() < blocks.len() { "," } else { "" };
            edits.insert(span.start + 1, format!("{}{comma}", results(&moved)));
            let spans: Vec<Span> = blocks.iter().map(|block| block.span).collect();
            edits.remove(&spans, |place| blocks.get(place).is_some_and(moves));
        }
    }
}

pub(super) fn error_result(call: &RemovedCall, said: &[&str]) -> String {
    let why = quote(&call.why);
    let content = match said {
        [] => why,
        said => format!("[{{\"type\":\"text\",\"text\":{why}}},{}]", said.join(",")),
    };
    format!(
        "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"is_error\":true,\"content\":{content}}}",
        quote(&call.id)
    )
}

/// Whether code that the provider runs made the call, and waits for its result.
pub(super) fn is_programmatic(original: &str) -> bool {
    let caller = whole_object(original).and_then(|call| member(original, call, "caller"));
    let kind = caller.and_then(|caller| member(original, caller, "type"));
    let kind = kind.and_then(|kind| Json::at(original, kind).string().ok());
    kind.is_some_and(|kind| !kind.is("direct"))
}

/// The blocks of a user message that a result may contain as well.
const MOVABLE: [&str; 4] = ["text", "image", "document", "search_result"];

#[cfg(test)]
mod tests;
