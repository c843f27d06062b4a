//! OpenAI Responses.
//!
//! The output is one list of items. A call may be sent up to five times: in the item when it is
//! added, in pieces, in all its pieces together, in the item when it is done, and in the whole
//! response that ends the stream. Clients differ in which of them they use, so every copy is read,
//! all must agree, and a removed call is removed from each.

mod continued;
mod copies;
mod event;
mod item;
mod later;
mod message;
mod places;
mod read;
mod request;
mod stored;
mod texts;
mod write;

#[cfg(test)]
mod tests;

use callgate_json::quote;
use callgate_wire::Framings;

pub(crate) use request::shown_as;
pub use stored::read_again;
pub(crate) use stored::{message_ids, shown_message_ids};

use crate::object::{Raw, object};
use crate::openai_chat;
use crate::request::{FeatureGroup, SERVERS, ToolPlaces, ToolWalk};
use crate::spec::{Comments, DialectSpec, HttpSpec, TurnFacts};
use crate::{AddedEvent, Blame};

/// The spec of the Responses API.
pub(crate) static SPEC: DialectSpec = DialectSpec {
    word: "openai-responses",
    framings: Framings::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    facts: TurnFacts { blocks_continue: false, ..TurnFacts::OF_BLOCKS },
    comments: Comments::Skipped,
    lines: None,
    error_events,
    error_body: |blame, message| {
        let kind = error_kind(blame);
        let message = quote(message);
        object! {
            "error": { "message": Raw(&message), "type": kind, "param": Raw("null"), "code": kind },
        }
    },
    blocked_body: |text| {
        object! {
            "id": "resp_callgate", "object": "response", "created_at": 0,
            "status": "incomplete", "incomplete_details": { "reason": "content_filter" },
            "error": Raw("null"), "model": "", "parallel_tool_calls": true, "tool_choice": "auto",
            "tools": [], "output": [
                {
                    "id": "msg_callgate", "type": "message", "role": "assistant",
                    "status": "incomplete",
                    "content": [{ "type": "output_text", "text": text, "annotations": [] }],
                },
            ],
        }
    },
    original: |item, call| item::original(item.unwrap_or("{}"), call),
    continues: Some(&continued::CONTINUES),
    restore: request::restore,
    seen: request::seen,
    states: request::states,
    tools: ToolPlaces {
        walks: &[
            ToolWalk::Lists(&["tools", SERVERS], &["tool_choice", "parallel_tool_calls"]),
            ToolWalk::LEGACY,
            ToolWalk::Input,
        ],
        features: &[FeatureGroup::Extensions, FeatureGroup::StoredPrompt, FeatureGroup::Models],
        calls_need_tools: false,
    },
    http: HttpSpec {
        asks_for_turn: |path| path.ends_with("/responses"),
        ..HttpSpec::bearer(openai_chat::refusal)
    },
};

/// An `error`, at which the official clients raise, and then the failed response, which others wait
/// for. Some decide by the code whether to retry: they retry unknown codes, and never
/// `invalid_prompt`.
fn error_events(blame: Blame, message: &str) -> Vec<AddedEvent> {
    let (kind, message) = (error_kind(blame), quote(message));
    let code = match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_prompt",
    };
    let error = object! {
        "type": "error", "code": code, "message": Raw(&message), "param": Raw("null"),
        "error": { "type": kind, "code": code, "message": Raw(&message), "param": Raw("null") },
    };
    let failed = object! {
        "type": "response.failed", "response": {
            "id": "resp_callgate", "object": "response", "status": "failed",
            "error": { "code": code, "message": Raw(&message) }, "output": [],
        },
    };
    vec![
        AddedEvent { name: Some("error"), data: error },
        AddedEvent { name: Some("response.failed"), data: failed },
    ]
}

/// The type of an error. Clients decide by it whether to retry.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_request_error",
    }
}
