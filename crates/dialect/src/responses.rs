//! OpenAI Responses.
//!
//! The output is one list of items. A call may be said up to five times: in the item as it is
//! added, in pieces, in all its pieces together, in the item as it is done, and in the whole
//! response that ends the stream. Clients differ in which of them they believe, so every copy is
//! read, all must say the same, and a call that is taken out is taken out of each.

mod copies;
mod event;
mod item;
mod message;
mod places;
mod read;
mod request;
mod texts;
mod write;

#[cfg(test)]
mod tests;

use callgate_call::json::quote;
use callgate_wire::Forms;

pub(crate) use request::{shown_as, states};

use crate::speaker::Speaker;
use crate::{Blame, OwnEvent};

/// How Responses are read, written and restored.
pub(crate) static SPEAKER: Speaker = Speaker {
    word: "openai-responses",
    forms: Forms::Events,
    reader: |max_calls| Box::new(read::Reader::new(max_calls)),
    writer: || Box::new(write::Writer::default()),
    notice_stands_alone: true,
    arguments_end_a_call: false,
    name_may_grow: false,
    counts_blocks: true,
    text_follows_calls: false,
    blocks_go_on: false,
    error_events,
    error_body: |blame, message| {
        let kind = error_kind(blame);
        let message = quote(message);
        format!(
            "{{\"error\":{{\"message\":{message},\"type\":\"{kind}\",\"param\":null,\
             \"code\":\"{kind}\"}}}}"
        )
    },
    blocked_body: |text| {
        format!(
            "{{\"id\":\"resp_callgate\",\"object\":\"response\",\"created_at\":0,\
             \"status\":\"incomplete\",\"incomplete_details\":{{\"reason\":\"content_filter\"}},\
             \"error\":null,\"model\":\"\",\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\
             \"tools\":[],\"output\":[{{\"id\":\"msg_callgate\",\"type\":\"message\",\
             \"role\":\"assistant\",\"status\":\"incomplete\",\"content\":[{{\
             \"type\":\"output_text\",\"text\":{},\"annotations\":[]}}]}}]}}",
            quote(text)
        )
    },
    original: |item, call| item::original(item.unwrap_or("{}"), call),
    restore: request::restore,
    seen: request::seen,
};

/// An `error`, at which the official clients raise, and the failed response behind it, which is
/// what others wait for. Some ask again by the code: those they do not know, and `invalid_prompt`
/// never.
fn error_events(blame: Blame, message: &str) -> Vec<OwnEvent> {
    let (kind, message) = (error_kind(blame), quote(message));
    let code = match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_prompt",
    };
    let error = format!(
        "{{\"type\":\"error\",\"code\":\"{code}\",\"message\":{message},\"param\":null,\
         \"error\":{{\"type\":\"{kind}\",\"code\":\"{code}\",\"message\":{message},\"param\":null}}}}"
    );
    let failed = format!(
        "{{\"type\":\"response.failed\",\"response\":{{\"id\":\"resp_callgate\",\
         \"object\":\"response\",\"status\":\"failed\",\"error\":{{\"code\":\"{code}\",\
         \"message\":{message}}},\"output\":[]}}}}"
    );
    vec![
        OwnEvent { name: Some("error"), data: error },
        OwnEvent { name: Some("response.failed"), data: failed },
    ]
}

/// The word for an error. Clients ask again by it.
fn error_kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Upstream => "server_error",
        Blame::Refused => "invalid_request_error",
    }
}
