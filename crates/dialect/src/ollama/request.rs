//! Puts removed calls back into an Ollama request.

use callgate_json::{Error, quote};

use crate::json::at_path;
use crate::request::listed::{AddedMember, Emptied, Listed, function_of, is_call, read_message};
use crate::request::{ClientMessage, RemovedCall, RemovedTurn, Restored, whole_object};

const LISTED: Listed = Listed {
    read: read_message,
    call: function_of,
    refuse: |_, _, call| (!is_call(call)).then_some(Restored::UNREADABLE),
    is_legacy: |_| false,
    emptied: Emptied::Replaced("\"\""),
    added: AddedMember::First,
    plan: None,
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

/// The result of a call. It names the call by the name of the tool, and by its id if it has one.
pub(super) fn error_result(call: &RemovedCall) -> String {
    let original = call.original.as_str();
    let name = whole_object(original)
        .and_then(|object| at_path(original, object, &["function", "name"]))
        .map_or("\"\"", |name| name.of(original));
    let id = match call.id.as_str() {
        "" => String::new(),
        id => format!("\"tool_call_id\":{},", quote(id)),
    };
    let why = quote(&call.why);
    format!("{{\"role\":\"tool\",\"tool_name\":{name},{id}\"content\":{why}}}")
}
