//! Removed calls, put back into a Responses request.

use callgate_call::json::Error;

use crate::request::{RemovedTurn, Restored, Seen};

/// Puts the removed calls of `turns` back into `request`.
pub(crate) fn restore(_: &str, _: &[RemovedTurn]) -> Result<Restored, Error> {
    Ok(Restored::default())
}

/// What can be told of each of the assistant's messages.
pub(crate) fn seen(_: &str) -> Result<Vec<Seen<'_>>, Error> {
    Ok(Vec::new())
}

/// The ids of responses and conversations that `request` goes on from.
pub(crate) fn states(_: &str) -> Result<Vec<String>, Error> {
    Ok(Vec::new())
}
