//! Puts removed calls back into a Cohere request.

use crate::object::object;
use crate::request::listed::{AddedMember, Emptied, Listed, function_of, is_call, read_message};
use crate::request::{NotRestored, RemovedCall};

/// How messages list their calls.
pub(super) static LISTED: Listed = Listed {
    read: read_message,
    call: function_of,
    refuse: |_, _, call| {
        if !is_call(call) {
            return Some(NotRestored::Unreadable);
        }
        call.id.is_empty().then_some(NotRestored::NoId)
    },
    is_legacy: |_| false,
    emptied: Emptied::Gone,
    added: AddedMember::First,
    plan: Some("tool_plan"),
    thinking: &[],
    result: |call| error_result(call),
};

pub(super) fn error_result(call: &RemovedCall) -> String {
    object! { "role": "tool", "tool_call_id": &call.id, "content": &call.why }
}
