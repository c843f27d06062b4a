//! Puts removed calls back into an Ollama request.

use callgate_json::quote;

use crate::request::listed::{AddedMember, Emptied, Listed, function_of, is_call, read_message};
use crate::request::{NotRestored, RemovedCall};

/// How messages list their calls.
pub(super) static LISTED: Listed = Listed {
    read: read_message,
    call: function_of,
    refuse: |_, _, call| (!is_call(call)).then_some(NotRestored::Unreadable),
    is_legacy: |_| false,
    emptied: Emptied::Replaced("\"\""),
    added: AddedMember::First,
    plan: None,
    thinking: &[],
    result: |call| error_result(call),
};

/// The result of a call. It names the call by the name of the tool, and by its id if it has one.
pub(super) fn error_result(call: &RemovedCall) -> String {
    let name = call.at(&["function", "name"]);
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!("\"tool_call_id\":{},", quote(id)),
    };
    let why = quote(&call.why);
    format!("{{\"role\":\"tool\",\"tool_name\":{name},{id}\"content\":{why}}}")
}
