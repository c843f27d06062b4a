//! The parts of events and whole responses that the gate acts on.

use callgate_json::{Error, Kind, Problem, Reader as Json, Span, Text};

use super::item::{Item, read_item};
use crate::json::{Fields, index, is_set, string_member, text_or_null, text_or_skip};
use crate::tally::{Tally, counts_within};

/// One event.
#[derive(Default)]
pub(super) struct Event<'a> {
    pub(super) kind: Option<Text<'a>>,
    pub(super) index: Option<(Span, Option<i64>)>,
    pub(super) item_id: Option<Text<'a>>,
    pub(super) name: Option<Text<'a>>,
    /// A piece of a text or of arguments.
    pub(super) delta: Option<Text<'a>>,
    /// It has a `delta`, of any type.
    pub(super) has_delta: bool,
    /// All of the arguments, or of one command or patch.
    pub(super) whole: Option<Text<'a>>,
    pub(super) command_index: Option<i64>,
    // These two are rare and boxed, so that the common events stay small.
    pub(super) item: Option<Box<Item<'a>>>,
    pub(super) response: Option<Box<Response<'a>>>,
}

/// A response, or a list of items.
#[derive(Default)]
pub(super) struct Response<'a> {
    pub(super) object: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) items: Vec<Item<'a>>,
    /// The span of the list of items, if there is one.
    pub(super) output: Option<Span>,
    /// The list is in `data`, not in `output`.
    pub(super) is_list: bool,
    /// It has an `error` that is not `null`.
    pub(super) has_error: bool,
    id: Option<Text<'a>>,
    status: Option<Text<'a>>,
    usage: Option<Span>,
    incomplete: Option<Span>,
    conversation: Option<Span>,
}

const EVENT: [&str; 12] = [
    "type",
    "output_index",
    "item_id",
    "name",
    "delta",
    "arguments",
    "input",
    "command",
    "diff",
    "command_index",
    "item",
    "response",
];

/// Reads an event's data.
pub(super) fn read_event(data: &str) -> Result<Event<'_>, Error> {
    let mut json = Json::new(data);
    let mut event = Event::default();
    let mut object = Fields::new(&EVENT).enter(&mut json)?;
    while let Some((key, place)) = object.next_key(&mut json)? {
        match place {
            Some(0) => event.kind = text_or_null(&mut json)?,
            Some(1) => event.index = Some(index(&mut json, data)?),
            Some(2) => event.item_id = text_or_null(&mut json)?,
            Some(3) => event.name = text_or_skip(&mut json)?,
            Some(4) => {
                event.has_delta = true;
                event.delta = text_or_skip(&mut json)?;
            }
            Some(5..=8) => {
                let whole = text_or_skip(&mut json)?;
                if whole.is_some() && event.whole.is_some() {
                    // Clients differ in which of them they read.
                    return Err(Error::new(Problem::DuplicateKey, key.span().start));
                }
                event.whole = whole.or(event.whole);
            }
            Some(9) => event.command_index = index(&mut json, data)?.1,
            Some(10) => event.item = Some(Box::new(read_item(&mut json)?)),
            Some(11) if json.kind()? == Kind::Object => {
                event.response = Some(Box::new(read_response(&mut json)?));
            }
            _ => json.ignore()?,
        }
    }
    json.end()?;
    Ok(event)
}

const RESPONSE: [&str; 10] = [
    "object",
    "model",
    "output",
    "data",
    "error",
    "id",
    "status",
    "usage",
    "incomplete_details",
    "conversation",
];

/// Members that repeat the request: its tools, its texts.
pub(super) const ECHOES: [&str; 8] =
    ["tools", "instructions", "input", "metadata", "text", "prompt", "reasoning", "toolchoice"];

/// A response or a list.
pub(super) fn read_response<'a>(json: &mut Json<'a>) -> Result<Response<'a>, Error> {
    let mut response = Response::default();
    let mut object = Fields::new(&RESPONSE).enter(json)?;
    while let Some((key, place)) = object.next_key(json)? {
        match place {
            Some(0) => response.object = text_or_skip(json)?,
            Some(1) => response.model = text_or_skip(json)?,
            Some(2 | 3) if json.kind()? == Kind::Array => {
                if response.output.is_some() {
                    // Two lists: no client reads both.
                    return Err(Error::new(callgate_json::Problem::DuplicateKey, key.span().start));
                }
                response.is_list = place == Some(3);
                let (span, items) = json.list(read_item)?;
                (response.output, response.items) = (Some(span), items);
            }
            Some(4) => response.has_error = is_set(json)?,
            Some(5) => response.id = text_or_skip(json)?,
            Some(6) => response.status = text_or_skip(json)?,
            Some(7) => response.usage = Some(json.skip()?),
            Some(8) => response.incomplete = Some(json.skip()?),
            Some(9) => response.conversation = Some(json.skip()?),
            _ => json.ignore()?,
        }
    }
    Ok(response)
}

impl Response<'_> {
    /// Its metadata. The stop reason only counts at its end.
    pub(super) fn tally(&self, data: &str, ended: bool) -> Option<Box<Tally>> {
        let mut tally = Tally::default();
        if let Some(usage) = self.usage {
            let within = [
                ("input_tokens_details", "cached_tokens"),
                ("output_tokens_details", "reasoning_tokens"),
            ];
            ([tally.input, tally.output], [tally.cached, tally.reasoning]) =
                counts_within(data, usage, ["input_tokens", "output_tokens"], within);
        }
        if ended {
            tally.stopped(self.incomplete.and_then(|span| string_member(data, span, "reason")));
            tally.stopped(self.status);
        }
        if !self.is_list {
            let decoded = |text: Option<Text<'_>>| {
                let text = text.and_then(|text| text.decode().ok().map(|text| text.into_owned()));
                text.filter(|text| !text.is_empty())
            };
            tally.response = decoded(self.id);
            tally.conversation =
                decoded(self.conversation.and_then(|span| string_member(data, span, "id")));
        }
        tally.boxed()
    }

    /// Whether the model has ended it by itself.
    pub(super) fn is_completed(&self) -> bool {
        self.status.is_some_and(|status| status.is("completed"))
    }

    /// Whether a body of this form is of this API.
    pub(super) fn is_ours(&self) -> bool {
        let object = self.object.and_then(|object| object.decode().ok()).unwrap_or_default();
        let of_api = object.starts_with("response") || object.starts_with("conversation");
        match self.output {
            Some(_) => of_api || object == "list",
            None => of_api,
        }
    }
}
