//! Puts removed calls back into a Converse request.

use callgate_json::{Error, Kind, Reader as Json, Span, Text};

use super::continued::is_thinking;
use crate::json::{Edits, Fields, append_to, document, elements, member, prepend_to, text_or_skip};
use crate::object::object;
use crate::request::block_lists::BlockMessage;
use crate::request::{
    ClientMessage, Decoded, Placed, PlacedBlock, Plan, RemovedCall, SentCall, meaning,
    put_back_blocks,
};

/// A message of the conversation.
#[derive(Default)]
pub(super) struct Message<'a> {
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

impl<'a> BlockMessage<'a> for Message<'a> {
    fn read(json: &mut Json<'a>) -> Result<Self, Error> {
        let mut message = Self::default();
        let mut object = Fields::mixed(&["role", "content"]).enter(json)?;
        while let Some(place) = object.next(json)? {
            match place {
                0 => message.role = text_or_skip(json)?,
                _ if json.kind()? == Kind::Array => {
                    let (span, list) = json.list(read_block)?;
                    (message.content, message.blocks) = (Some(span), list);
                }
                _ => json.ignore()?,
            }
        }
        message.span = object.span(json);
        Ok(message)
    }

    fn span(&self) -> Span {
        self.span
    }

    fn has_room(&self) -> bool {
        self.content.is_some()
    }

    fn look(&self, request: &'a str, place: usize) -> Option<ClientMessage<'a>> {
        if !self.is("assistant") {
            return None;
        }
        let text = |(place, block): (usize, &Block<'a>)| {
            block.text.map(|text| (place, Decoded::new(&text)))
        };
        let mut seen =
            ClientMessage::new(place, self.blocks.iter().enumerate().filter_map(text).collect());
        for block in &self.blocks {
            if let Some(span) = block.tool_use {
                let call = SentCall::read(request, span, "input");
                seen.add_call(request, SentCall { id: block.call, ..call });
            }
            seen.add_signature(block.signature);
        }
        Some(seen)
    }

    fn ids(&self) -> Vec<String> {
        self.blocks.iter().flat_map(|it| [meaning(it.call), meaning(it.result)]).flatten().collect()
    }

    fn answer(messages: &[Self], place: usize) -> Option<usize> {
        let next = messages.get(place + 1)?;
        (next.is("user") && next.content.is_some()).then_some(place + 1)
    }

    fn put_back(
        &self,
        request: &str,
        seen: &ClientMessage<'_>,
        plan: &Plan<'_>,
        edits: &mut Edits,
    ) -> Placed {
        let Some(list) = self.content else { return Placed::No };
        let blocks: Vec<PlacedBlock> = self.blocks.iter().map(Block::standing).collect();
        put_back_blocks(request, list, &blocks, seen, plan, edits);
        Placed::Yes
    }

    fn is_thinking(content: &str, block: Span) -> bool {
        is_thinking(content, block)
    }

    fn with_cache(&self, request: &str, content: String) -> String {
        let is_cached = |block: &&Block<'_>| member(request, block.span, "cachePoint").is_some();
        let Some(cached) = self.blocks.iter().rev().find(is_cached) else { return content };
        let (list, mut edits) = (document(&content), Edits::default());
        let has_others = !elements(&content, list).is_empty();
        append_to(&mut edits, list, has_others, cached.span.of(request));
        edits.apply(&content)
    }

    fn add_results(&self, _: &str, calls: &[&RemovedCall], edits: &mut Edits) {
        let Some(list) = self.content else { return };
        let results: Vec<String> = calls.iter().map(|call| error_result(call)).collect();
        prepend_to(edits, list, !self.blocks.is_empty(), &results.join(","));
    }
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

fn read_block<'a>(json: &mut Json<'a>) -> Result<Block<'a>, Error> {
    let mut block = Block::default();
    if json.kind()? != Kind::Object {
        block.span = json.skip()?;
        return Ok(block);
    }
    let mut object =
        Fields::mixed(&["text", "toolUse", "toolResult", "reasoningContent"]).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => block.text = text_or_skip(json)?,
            1 => {
                let mut call = json.clone();
                block.tool_use = Some(json.skip()?);
                block.call = text_under(&mut call, &["toolUseId"])?;
            }
            2 => block.result = text_under(json, &["toolUseId"])?,
            _ => block.signature = text_under(json, &["reasoningText", "signature"])?,
        }
    }
    block.span = object.span(json);
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
            false => json.ignore()?,
        }
    }
    Ok(found)
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    object! {
        "toolResult": {
            "toolUseId": &call.id, "content": [{ "text": &call.why }], "status": "error",
        },
    }
}

#[cfg(test)]
mod tests;
