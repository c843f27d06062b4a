//! Responses without calls: counted per hour, not recorded one by one.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::database::Fault;
use callgate_audit::seal_name;
use callgate_audit::{RecordedPrincipal, Tokens};

/// A response without calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnCount {
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// The model.
    pub model: Option<String>,
    /// The principal. Counts are not split by session.
    pub who: RecordedPrincipal,
    /// Its token usage.
    pub tokens: Tokens,
}

/// One hour in microseconds.
pub(crate) const HOUR: i64 = 3_600_000_000;

/// The counts that are not stored yet.
#[derive(Debug, Default)]
pub(crate) struct CountedTurns(Mutex<HashMap<TurnGroup, TurnCounts>>);

/// What counts are split by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TurnGroup {
    pub(crate) hour: i64,
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Organisation, team, user, key and agent. Not empty text if unknown: comparing that costs some
    /// processors hundreds of cycles.
    pub(crate) who: [Option<String>; 5],
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnCounts {
    pub(crate) turns: u64,
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
}

/// The store of counts.
pub(crate) trait TurnStore {
    /// Adds these to the stored counts, all of them or none. An hour has at most [`MAX_ROWS`]
    /// slots; beyond that a slot counts as [others](TurnGroup::into_others).
    fn add_counts(&self, counted: &HashMap<TurnGroup, TurnCounts>) -> Result<(), Fault>;
}

impl TurnCounts {
    fn add(&mut self, more: Self) {
        self.turns = self.turns.saturating_add(more.turns);
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
        self.output = self.output.saturating_add(more.output);
    }
}

impl CountedTurns {
    /// Counts one response. `now` is in microseconds since 1970.
    pub(crate) fn count(&self, turn: TurnCount, now: i64) {
        let model = turn.model.map(|model| seal_name(&model)).unwrap_or_default();
        let RecordedPrincipal { org, team, user, key, agent, .. } = turn.who;
        // Only the agent is claimed by the client itself.
        let agent = agent.map(|agent| seal_name(&agent));
        let who = [org, team, user, key, agent];
        let mut slot =
            TurnGroup { hour: now.div_euclid(HOUR), provider: turn.provider, model, who };
        let mut waiting = self.0.lock();
        if waiting.len() >= MAX_SLOTS && !waiting.contains_key(&slot) {
            slot = slot.into_others();
        }
        waiting.entry(slot).or_default().add(TurnCounts {
            turns: 1,
            input: turn.tokens.input.unwrap_or(0),
            cached: turn.tokens.cached.unwrap_or(0),
            output: turn.tokens.output.unwrap_or(0),
            reasoning: turn.tokens.reasoning.unwrap_or(0),
        });
    }

    /// Writes the counts. If that fails, they are kept for the next attempt.
    pub(crate) fn write(&self, kept: &dyn TurnStore) -> Result<(), Fault> {
        let taken = std::mem::take(&mut *self.0.lock());
        if taken.is_empty() {
            return Ok(());
        }
        let done = kept.add_counts(&taken);
        if done.is_err() {
            let mut waiting = self.0.lock();
            for (slot, counts) in taken {
                waiting.entry(slot).or_default().add(counts);
            }
        }
        done
    }
}

impl TurnGroup {
    /// The same slot without the names that clients choose.
    pub(crate) fn into_others(mut self) -> Self {
        self.model = OTHERS.to_owned();
        let [.., agent] = &mut self.who;
        *agent = Some(OTHERS.to_owned());
        self
    }
}

/// How many slots may wait to be written. Clients choose names, so there has to be a limit; beyond
/// it a model counts as [`OTHERS`].
const MAX_SLOTS: usize = 1000;
/// The same limit for the rows of one hour in the store.
pub(crate) const MAX_ROWS: i64 = 2000;
const OTHERS: &str = "(others)";
