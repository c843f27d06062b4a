//! Puts removed calls back into a Cohere request.

use callgate_json::Error;

use crate::object::object;
use crate::request::listed::{AddedMember, Emptied, Listed, function_of, is_call, read_message};
use crate::request::{ClientMessage, RemovedCall, RemovedTurn, Restored};

const LISTED: Listed = Listed {
    read: read_message,
    call: function_of,
    refuse: |_, _, call| {
        if !is_call(call) {
            return Some(Restored::UNREADABLE);
        }
        call.id.is_empty().then_some(Restored::NO_ID)
    },
    is_legacy: |_| false,
    emptied: Emptied::Gone,
    added: AddedMember::First,
    plan: Some("tool_plan"),
    thinking: &[],
    result: |call| error_result(call),
};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, Error> {
    LISTED.restore(request, turns)
}

/// The recognisable traits of each of the assistant's messages.
pub(crate) fn seen(request: &str) -> Result<Vec<ClientMessage<'_>>, Error> {
    LISTED.seen(request)
}

pub(super) fn error_result(call: &RemovedCall) -> String {
    object! { "role": "tool", "tool_call_id": &call.id, "content": &call.why }
}
