//! Puts removed calls back into a Cohere request.

use callgate_json::{Error, quote};

use crate::object::{Raw, object};
use crate::request::listed::{Emptied, Listed};
use crate::request::{ClientMessage, RemovedCall, RemovedTurn, Restored};

const LISTED: Listed = Listed {
    needs_ids: true,
    emptied: Emptied::Gone,
    plan: Some("tool_plan"),
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
    let (id, why) = (quote(&call.id), quote(&call.why));
    object! { "role": "tool", "tool_call_id": Raw(&id), "content": Raw(&why) }
}
