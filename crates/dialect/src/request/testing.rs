//! For tests about a turn after it is recognised.

use super::recognise::shows_notices;
use super::{ClientMessage, ClientTurn, RemovedCall, RemovedTurn, Restored};
use crate::Dialect;

/// Puts removed calls back; see [`as_sent`].
pub(crate) fn restore(
    dialect: Dialect,
    request: &str,
    turns: &[RemovedTurn],
) -> Result<Restored, super::Error> {
    super::restore(dialect, request, &as_sent(dialect, request, turns))
}

/// The turns, with the client's version of each taken from the request: the first message that no
/// other turn has and that contains the turn's notices. A turn that already has one keeps it.
pub(crate) fn as_sent(dialect: Dialect, request: &str, turns: &[RemovedTurn]) -> Vec<RemovedTurn> {
    let mut seen = (dialect.spec().seen)(request).unwrap_or_default();
    let mut turns = turns.to_vec();
    for turn in turns.iter_mut().filter(|turn| turn.client.is_none()) {
        let place = seen.iter().position(|seen: &ClientMessage<'_>| shows_notices(seen, turn));
        turn.client = place.map(|place| seen.remove(place).client);
    }
    turns
}

/// The client's version of the only assistant message of a request.
pub(crate) fn client_turn(dialect: Dialect, request: &str) -> Option<ClientTurn> {
    let seen = (dialect.spec().seen)(request).unwrap_or_default();
    seen.into_iter().next().map(|seen| seen.client)
}

/// A removed call whose result names `rm`.
pub(crate) fn denied(id: &str, original: &str) -> RemovedCall {
    RemovedCall {
        id: id.to_owned(),
        original: original.to_owned(),
        place: 0,
        notice: None,
        why: "no \"rm\"".to_owned(),
    }
}
