//! What must last and is not a record: gateway keys, pins, removed calls, token buckets, steps of
//! sessions, sessions under way and counts of turns. It has a place of its own, so that whatever happens to
//! the place that records are found in, none of it is lost.
//!
//! There is one trait for each concern, and SQLite behind them all. No trait knows of records: what must be
//! on record before a change holds is done by the function that the change is given ([`Then`]).

pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod meters;
pub(crate) mod pins;
pub(crate) mod removed;
pub(crate) mod sessions;
pub(crate) mod sqlite;
pub(crate) mod turns;

use crate::database::Fault;
use crate::writing::View;
use history::{History, SealedStep};
use keys::Keys;
use meters::Meters;
use pins::Pins;
use removed::{RemovedCalls, SealedRemoved};
use sessions::Sessions;
use turns::Turns;

pub(crate) use sqlite::{StateDb, StateKeeper, StateLock, StateReader, StateSnapshot};

/// What is to be done once a change is ready and before it holds. If it fails, nothing is changed.
pub(crate) type Then<'a, T> = &'a mut dyn FnMut(T) -> Result<(), Fault>;

/// Everything that is kept beside the records.
pub(crate) trait State:
    Keys + Pins + RemovedCalls + Meters + History + Sessions + Turns
{
    /// Keeps all of these, or none. `now` is in microseconds since 1970.
    fn keep(&self, kept: &[&Kept], now: i64) -> Result<(), Fault>;

    /// The state as far as others have made it what it is: the same as long as no other process has
    /// changed anything. `None` if that cannot be told at once.
    fn view(&self) -> Option<View>;

    /// How often it was opened anew. What was known of it before may be of another state.
    fn opened(&self) -> u64;
}

/// What the writer thread keeps.
#[derive(Debug)]
pub(crate) enum Kept {
    /// A removed call.
    Removed(SealedRemoved),
    /// A step of a session.
    Step(SealedStep),
}

impl Kept {
    /// About how many bytes it takes in memory.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Removed(removed) => removed.content.len() + 32 * removed.signs.len() + 256,
            Self::Step(step) => step.size(),
        }
    }
}
