//! Removed calls, put back into a Messages request.
//!
//! A call goes where its notice stands; without one, to its old place among the blocks. Its result
//! opens the user message behind it.

use std::collections::{BTreeMap, HashSet};

use callgate_call::json::{Error, Kind, Reader as Json, Span, Text, quote};

use crate::json::{Edits, Fields, member};
use crate::request::{
    Decoded, Plan, RemovedCall, RemovedTurn, Restored, Seen, Shown, meaning, messages, plan, rest,
    shown, text_or_skip, whole_object,
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    let messages = messages(request, read_message)?;
    let seen: Vec<Seen<'_>> = messages.iter().enumerate().filter_map(look).collect();
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
        put_back(request, message, seen, plan, &mut edits);
        if let Some(user) = answer_to(plan.seen) {
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

/// What can be told of each of the assistant's messages.
pub(crate) fn seen(request: &str) -> Result<Vec<Seen<'_>>, Error> {
    let messages = messages(request, read_message)?;
    Ok(messages.iter().enumerate().filter_map(look).collect())
}

#[derive(Default)]
struct Message<'a> {
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

/// A content block; a member of another type than every client sends is not there.
#[derive(Default)]
struct Block<'a> {
    span: Span,
    kind: Option<Text<'a>>,
    text: Option<Text<'a>>,
    id: Option<Text<'a>>,
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
    fn is(&self, kind: &str) -> bool {
        self.kind.is_some_and(|text| text.is(kind))
    }
}

fn read_message<'a>(reader: &mut Json<'a>) -> Result<Message<'a>, Error> {
    let mut message = Message::default();
    let mut fields = Fields::new(&["role", "content"]);
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

fn read_block<'a>(reader: &mut Json<'a>) -> Result<Block<'a>, Error> {
    let mut block = Block::default();
    if reader.kind()? != Kind::Object {
        block.span = reader.skip()?;
        return Ok(block);
    }
    let start = reader.position();
    let mut fields =
        Fields::new(&["type", "text", "id", "signature", "tool_use_id", "cache_control"]);
    let mut object = reader.object()?;
    while let Some(key) = object.next(reader)? {
        match fields.find(&key)? {
            Some(0) => block.kind = text_or_skip(reader)?,
            Some(1) => block.text = text_or_skip(reader)?,
            Some(2) => block.id = text_or_skip(reader)?,
            Some(3) => block.signature = text_or_skip(reader)?,
            Some(4) => block.tool_use_id = text_or_skip(reader)?,
            Some(_) => block.cache_control = Some(reader.skip()?),
            None => {
                reader.skip()?;
            }
        }
    }
    block.span = Span { start, end: reader.position() };
    Ok(block)
}

/// What can be told of a message, if it is the assistant's.
fn look<'a>((place, message): (usize, &Message<'a>)) -> Option<Seen<'a>> {
    if !message.is("assistant") {
        return None;
    }
    let (mut texts, mut ids, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
    match &message.content {
        Content::Missing => {}
        Content::Text(text) => texts.push((0, Decoded::new(text))),
        Content::Blocks(_, blocks) => {
            for (place, block) in blocks.iter().enumerate() {
                if let (true, Some(text)) = (block.is("text"), &block.text) {
                    texts.push((place, Decoded::new(text)));
                } else if block.is("tool_use") {
                    ids.extend(meaning(block.id));
                } else if block.is("thinking") {
                    signatures.extend(meaning(block.signature));
                }
            }
        }
    }
    Some(Seen { message: place, texts, ids, signatures })
}

/// Every id the client speaks of: its calls, and its results.
fn known(messages: &[Message<'_>]) -> HashSet<String> {
    let blocks = messages.iter().flat_map(|message| match &message.content {
        Content::Blocks(_, blocks) => blocks.as_slice(),
        _ => &[],
    });
    blocks.flat_map(|block| [meaning(block.id), meaning(block.tool_use_id)]).flatten().collect()
}

/// The user message that answers the assistant message at `place`. The provider takes assistant
/// messages in a row for one.
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
    seen: &Seen<'_>,
    plan: &Plan<'_>,
    edits: &mut Edits,
) {
    match &message.content {
        Content::Missing => {}
        Content::Text(text) => {
            let block = Block { span: text.span(), text: Some(*text), ..Block::default() };
            let places = Places::find(request, &[block], seen, plan);
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
            let places = Places::find(request, blocks, seen, plan);
            places.cut_notices(seen, edits);
            for ((block, gone), calls) in blocks.iter().zip(&places.gone).zip(&places.gaps) {
                match (gone, calls.join(",")) {
                    (_, calls) if calls.is_empty() => {}
                    (true, calls) => edits.replace(block.span, calls),
                    (false, calls) => edits.insert(block.span.start, format!("{calls},")),
                }
            }
            match (blocks.last(), places.gaps.last()) {
                (_, None) => {}
                (_, Some(calls)) if calls.is_empty() => {}
                (Some(last), Some(calls)) => {
                    edits.insert(last.span.end, format!(",{}", calls.join(",")));
                }
                (None, Some(calls)) => edits.insert(span.end - 1, calls.join(",")),
            }
        }
    }
}

/// Where the calls go in one message.
struct Places {
    /// The calls before each block, then those behind the last.
    gaps: Vec<Vec<String>>,
    /// For each block, whether it held nothing but notices. Then there are calls before it.
    gone: Vec<bool>,
    /// The notices in each of the message's texts.
    shown: Vec<Vec<Shown>>,
}

impl Places {
    fn find(request: &str, blocks: &[Block<'_>], seen: &Seen<'_>, plan: &Plan<'_>) -> Self {
        let len = blocks.len();
        let shown = shown(&seen.texts, &plan.calls);
        let mut gone = vec![false; len];
        let mut marked: Vec<Option<usize>> = vec![None; plan.calls.len()];
        // The calls that have no block in the message. Without them the blocks behind have moved
        // up.
        let mut hidden = hidden(seen, plan.turn);
        for ((block, text), shown) in seen.texts.iter().zip(&shown) {
            // A text of nothing but white space is refused.
            let is_gone = !shown.is_empty() && rest(&text.text, shown).trim().is_empty();
            if let Some(gone) = gone.get_mut(*block) {
                *gone = is_gone;
            }
            for (number, notice) in shown.iter().enumerate() {
                if let Some(gap) = marked.get_mut(notice.call) {
                    *gap = Some(if is_gone || notice.leads { *block } else { block + 1 });
                }
                if let (true, 0, Some(call)) = (is_gone, number, plan.calls.get(notice.call)) {
                    hidden.retain(|place| *place != call.place);
                }
            }
        }
        let mut chosen = choose(plan, &marked, &hidden, len);
        leave_no_text_behind(&mut chosen, &marked, blocks);
        let mut gaps: Vec<Vec<String>> = vec![Vec::new(); len + 1];
        for (call, gap) in plan.calls.iter().zip(chosen) {
            if let Some(gap) = gaps.get_mut(gap) {
                gap.push(call.original.clone());
            }
        }
        // What a notice's block says of the cache holds for the call in its place.
        for ((block, gone), calls) in blocks.iter().zip(&gone).zip(&mut gaps) {
            if let (true, Some(cache), Some(call)) = (gone, block.cache_control, calls.last_mut()) {
                *call = with_cache_control(call, cache.of(request));
            }
        }
        Self { gaps, gone, shown }
    }

    /// Cuts the notices out of the blocks that hold more than notices.
    fn cut_notices(&self, seen: &Seen<'_>, edits: &mut Edits) {
        for ((block, text), shown) in seen.texts.iter().zip(&self.shown) {
            if self.gone.get(*block) == Some(&false) {
                for notice in shown {
                    edits.replace(text.span(&notice.cut), "");
                }
            }
        }
    }
}

/// The gap each call goes to: where its notice stood, else by its place, in the order of the
/// calls.
fn choose(plan: &Plan<'_>, marked: &[Option<usize>], hidden: &[usize], len: usize) -> Vec<usize> {
    let mut least = 0;
    let mut chosen = Vec::with_capacity(plan.calls.len());
    for (number, call) in plan.calls.iter().enumerate() {
        let gap = marked.get(number).copied().flatten().unwrap_or_else(|| {
            let missing = hidden.iter().filter(|place| **place < call.place).count();
            let later = marked.get(number..).unwrap_or(&[]).iter().flatten().min();
            let most = later.copied().unwrap_or(len).min(len);
            call.place.saturating_sub(missing).clamp(least.min(most), most)
        });
        least = least.max(gap);
        chosen.push(gap);
    }
    chosen
}

/// A text at the end is moved before the calls that left no notice: it is what a silent denial
/// put into an empty turn, and the provider is reported to refuse text behind a call.
fn leave_no_text_behind(chosen: &mut [usize], marked: &[Option<usize>], blocks: &[Block<'_>]) {
    let Some(last) = chosen.last().copied() else { return };
    let is_text = |block: &Block<'_>| block.text.is_some();
    if !blocks.get(last..).is_some_and(|behind| behind.iter().all(is_text)) {
        return;
    }
    for (gap, marked) in chosen.iter_mut().zip(marked).rev() {
        if *gap != last || marked.is_some() {
            return;
        }
        *gap = blocks.len();
    }
}

/// The places of those calls of the turn that the message does not hold.
fn hidden(seen: &Seen<'_>, turn: &RemovedTurn) -> Vec<usize> {
    turn.calls.iter().filter(|call| !seen.ids.contains(&call.id)).map(|call| call.place).collect()
}

fn with_cache_control(original: &str, cache: &str) -> String {
    let Some(span) = whole_object(original) else { return original.to_owned() };
    let mut edits = Edits::default();
    edits.insert(span.end - 1, format!(",\"cache_control\":{cache}"));
    edits.apply(original)
}

/// Opens the user message with the error results. Where a call came from code that still runs, the
/// message may hold nothing but results, so what the user says goes inside the last one.
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

fn error_result(call: &RemovedCall, said: &[&str]) -> String {
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
fn is_programmatic(original: &str) -> bool {
    let caller = whole_object(original).and_then(|call| member(original, call, "caller"));
    let kind = caller.and_then(|caller| member(original, caller, "type"));
    let kind = kind.and_then(|kind| Json::at(original, kind).string().ok());
    kind.is_some_and(|kind| !kind.is("direct"))
}

/// The blocks of a user message that a result may hold as well.
const MOVABLE: [&str; 4] = ["text", "image", "document", "search_result"];

#[cfg(test)]
mod tests;
