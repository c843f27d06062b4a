//! For tests about what becomes of a turn once it is recognised.

use super::recognise::shows_notices;
use super::{ClientTurn, RemovedTurn, Restored, Seen};
use crate::Dialect;

/// Puts removed calls back; see [`as_sent`].
pub(crate) fn restore(
    dialect: Dialect,
    request: &str,
    turns: &[RemovedTurn],
) -> Result<Restored, super::Error> {
    super::restore(dialect, request, &as_sent(dialect, request, turns))
}

/// The turns with what the client got of each taken from the request: the first message that no
/// other turn has and that shows the turn's notices. Where a turn says what it was, that stays.
pub(crate) fn as_sent(dialect: Dialect, request: &str, turns: &[RemovedTurn]) -> Vec<RemovedTurn> {
    let mut seen = (dialect.speaker().seen)(request).unwrap_or_default();
    let mut turns = turns.to_vec();
    for turn in turns.iter_mut().filter(|turn| turn.client.is_none()) {
        let place = seen.iter().position(|seen: &Seen<'_>| shows_notices(seen, turn));
        turn.client = place.map(|place| seen.remove(place).client);
    }
    turns
}

/// What the client has of the only assistant message of a request.
pub(crate) fn client_turn(dialect: Dialect, request: &str) -> Option<ClientTurn> {
    let seen = (dialect.speaker().seen)(request).unwrap_or_default();
    seen.into_iter().next().map(|seen| seen.client)
}
