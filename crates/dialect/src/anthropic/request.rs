//! Puts removed calls back into a Messages request.
//!
//! A call replaces its notice, or goes to its old position among the blocks if there is no notice.
//! Its result is inserted at the start of the user message that follows.

use callgate_json::{Error, Kind, Reader as Json, Span, Text, quote};

use super::continued::is_thinking;
use crate::json::{Edits, Fields, document, elements, prepend_to, text_or_skip};
use crate::object::{Raw, object};
use crate::request::block_lists::BlockMessage;
use crate::request::{
    CallPlaces, ClientMessage, Decoded, Placed, PlacedBlock, Plan, RemovedCall, SentCall, meaning,
    put_back_blocks,
};

/// A message of the conversation.
#[derive(Default)]
pub(super) struct Message<'a> {
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

impl<'a> BlockMessage<'a> for Message<'a> {
    fn read(reader: &mut Json<'a>) -> Result<Self, Error> {
        let mut message = Self::default();
        let mut object = Fields::new(&["role", "content"]).enter(reader)?;
        while let Some(place) = object.next(reader)? {
            match place {
                0 => message.role = text_or_skip(reader)?,
                _ => message.content = read_content(reader)?,
            }
        }
        message.span = object.span(reader);
        Ok(message)
    }

    fn span(&self) -> Span {
        self.span
    }

    fn look(&self, request: &'a str, place: usize) -> Option<ClientMessage<'a>> {
        if !self.is("assistant") {
            return None;
        }
        let blocks = match &self.content {
            Content::Missing => [].as_slice(),
            Content::Text(text) => {
                return Some(ClientMessage::new(place, vec![(0, Decoded::new(text))]));
            }
            Content::Blocks(_, blocks) => blocks,
        };
        let text = |(place, block): (usize, &Block<'a>)| {
            block.text.filter(|_| block.is("text")).map(|text| (place, Decoded::new(&text)))
        };
        let mut seen =
            ClientMessage::new(place, blocks.iter().enumerate().filter_map(text).collect());
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

    fn ids(&self) -> Vec<String> {
        let Content::Blocks(_, blocks) = &self.content else { return Vec::new() };
        blocks.iter().flat_map(|it| [meaning(it.id), meaning(it.tool_use_id)]).flatten().collect()
    }

    /// The provider treats consecutive assistant messages as one.
    fn answer(messages: &[Self], place: usize) -> Option<usize> {
        let behind = place + 1;
        let skipped =
            messages.get(behind..)?.iter().position(|message| !message.is("assistant"))?;
        let next = messages.get(behind + skipped)?;
        let holds = next.is("user") && !matches!(next.content, Content::Missing);
        holds.then_some(behind + skipped)
    }

    fn put_back(
        &self,
        request: &str,
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        edits: &mut Edits,
    ) -> Placed {
        match &self.content {
            Content::Missing => return Placed::No,
            Content::Text(text) => {
                let block = PlacedBlock { span: text.span(), is_text: true, cache_control: None };
                let places = CallPlaces::find(request, &[block], seen, plan);
                let [before, behind] = places.gaps.as_slice() else { return Placed::No };
                if places.notices.gone.first() == Some(&true) {
                    let calls = [before.as_slice(), behind].concat().join(",");
                    edits.replace(text.span(), format!("[{calls}]"));
                    return Placed::Yes;
                }
                let before: String = before.iter().map(|call| format!("{call},")).collect();
                let behind: String = behind.iter().map(|call| format!(",{call}")).collect();
                edits.insert(text.span().start, format!("[{before}{{\"type\":\"text\",\"text\":"));
                places.notices.cut(edits);
                edits.insert(text.span().end, format!("}}{behind}]"));
            }
            Content::Blocks(span, blocks) => {
                let blocks: Vec<PlacedBlock> = blocks.iter().map(Block::standing).collect();
                put_back_blocks(request, *span, &blocks, seen, plan, edits);
            }
        }
        Placed::Yes
    }

    fn is_thinking(content: &str, block: Span) -> bool {
        is_thinking(content, block)
    }

    /// A `cache_control` moves to the last block, unless that is thinking, which cannot have one.
    fn with_cache(&self, request: &str, content: String) -> String {
        let Content::Blocks(_, blocks) = &self.content else { return content };
        let cache = blocks.iter().rev().find_map(|block| block.cache_control);
        let last = elements(&content, document(&content)).last().copied();
        match (last, cache) {
            (Some(last), Some(cache)) if !is_thinking(&content, last) => {
                let mut edits = Edits::default();
                edits.insert(last.end - 1, format!(",\"cache_control\":{}", cache.of(request)));
                edits.apply(&content)
            }
            _ => content,
        }
    }

    /// If a call came from code that still runs, the message may contain only results, so the
    /// user's text goes inside the last one.
    fn add_results(&self, request: &str, calls: &[&RemovedCall], edits: &mut Edits) {
        let host = calls.iter().rposition(|call| call.is_programmatic());
        let results = |said: &[&str]| -> String {
            let result = |(number, call): (usize, &&RemovedCall)| {
                error_result(call, if host == Some(number) { said } else { &[] })
            };
            let results: Vec<String> = calls.iter().enumerate().map(result).collect();
            results.join(",")
        };
        match &self.content {
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
                let moves =
                    |block: &Block<'_>| host.is_some() && MOVABLE.iter().any(|k| block.is(k));
                let moved: Vec<&str> = blocks
                    .iter()
                    .filter(|b| moves(b))
                    .map(|block| block.span.of(request))
                    .collect();
                prepend_to(edits, *span, moved.len() < blocks.len(), &results(&moved));
                let spans: Vec<Span> = blocks.iter().map(|block| block.span).collect();
                edits.remove(&spans, |place| blocks.get(place).is_some_and(moves));
            }
        }
    }
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

fn read_content<'a>(reader: &mut Json<'a>) -> Result<Content<'a>, Error> {
    match reader.kind()? {
        Kind::String => reader.string().map(Content::Text),
        Kind::Array => reader.list(read_block).map(|(span, blocks)| Content::Blocks(span, blocks)),
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
    let mut object = Fields::new(&BLOCK).enter(reader)?;
    while let Some(place) = object.next(reader)? {
        match place {
            0 => block.kind = text_or_skip(reader)?,
            1 => block.text = text_or_skip(reader)?,
            2 => block.id = text_or_skip(reader)?,
            3 => block.signature = text_or_skip(reader)?,
            4 => block.tool_use_id = text_or_skip(reader)?,
            5 => block.name = text_or_skip(reader)?,
            6 => block.input = Some(reader.skip()?),
            _ => block.cache_control = Some(reader.skip()?),
        }
    }
    block.span = object.span(reader);
    Ok(block)
}

pub(super) fn error_result(call: &RemovedCall, said: &[&str]) -> String {
    let why = quote(&call.why);
    let content = match said {
        [] => why,
        said => format!("[{{\"type\":\"text\",\"text\":{why}}},{}]", said.join(",")),
    };
    object! {
        "type": "tool_result", "tool_use_id": &call.id, "is_error": true, "content": Raw(&content),
    }
}

/// The blocks of a user message that a result may contain as well.
const MOVABLE: [&str; 4] = ["text", "image", "document", "search_result"];

#[cfg(test)]
mod tests;
