//! Responses without calls: counted by the hour, not recorded one by one.

use std::collections::HashMap;

use parking_lot::Mutex;
use rusqlite::params;

use crate::database::{Database, Fault};
use callgate_audit::word;
use callgate_audit::{Principal, Tokens};

/// A response without calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnCount {
    /// The provider, by its name in the configuration.
    pub provider: String,
    /// The model.
    pub model: Option<String>,
    /// Who asked. The session is not counted by.
    pub who: Principal,
    /// What it cost.
    pub tokens: Tokens,
}

/// One hour in microseconds.
pub(crate) const HOUR: i64 = 3_600_000_000;

/// What has been counted and is not yet in the store.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Slot, Counts>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Slot {
    hour: i64,
    provider: String,
    model: String,
    /// Organisation, team, user, key and agent; empty where there is none.
    who: [String; 5],
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    turns: u64,
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.turns = self.turns.saturating_add(more.turns);
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
        self.output = self.output.saturating_add(more.output);
    }
}

impl Turns {
    /// Counts one. `now` is in microseconds since 1970.
    pub(crate) fn count(&self, turn: TurnCount, now: i64) {
        let model = turn.model.map(|model| word(&model)).unwrap_or_default();
        let Principal { org, team, user, key, agent, .. } = turn.who;
        // Only the agent is what somebody says of itself.
        let agent = agent.map(|agent| word(&agent));
        let who = [org, team, user, key, agent].map(Option::unwrap_or_default);
        let mut slot = Slot { hour: now.div_euclid(HOUR), provider: turn.provider, model, who };
        let mut waiting = self.0.lock();
        if waiting.len() >= MAX_SLOTS && !waiting.contains_key(&slot) {
            slot = slot.among_others();
        }
        waiting.entry(slot).or_default().add(Counts {
            turns: 1,
            input: turn.tokens.input.unwrap_or(0),
            cached: turn.tokens.cached.unwrap_or(0),
            output: turn.tokens.output.unwrap_or(0),
            reasoning: turn.tokens.reasoning.unwrap_or(0),
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Writes what was counted. What could not be written is kept for the next time.
    pub(crate) fn write(&self, store: &Database) -> Result<(), Fault> {
        let taken = std::mem::take(&mut *self.0.lock());
        if taken.is_empty() {
            return Ok(());
        }
        let done = store.transaction(|store| {
            taken.iter().try_for_each(|(slot, counts)| add_bounded(store, slot, *counts))
        });
        if done.is_err() {
            let mut waiting = self.0.lock();
            for (slot, counts) in taken {
                waiting.entry(slot).or_default().add(counts);
            }
        }
        done
    }
}

/// A client chooses the names of agents and models, so an hour has an end of them.
fn add_bounded(store: &Database, slot: &Slot, counts: Counts) -> Result<(), Fault> {
    let rows = "SELECT count(*) FROM turns WHERE hour = ?1";
    let rows = store.one(rows, [slot.hour], |row| row.get::<_, i64>(0))?.unwrap_or(0);
    if rows < MAX_ROWS {
        return add(store, slot, counts);
    }
    add(store, &slot.clone().among_others(), counts)
}

impl Slot {
    /// The same where names that clients choose no longer count.
    fn among_others(mut self) -> Self {
        self.model = OTHERS.to_owned();
        let [.., agent] = &mut self.who;
        *agent = OTHERS.to_owned();
        self
    }
}

fn add(store: &Database, slot: &Slot, counts: Counts) -> Result<(), Fault> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let [org, team, user, key, agent] = &slot.who;
    store.execute(
        "INSERT INTO turns VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
         ON CONFLICT DO UPDATE SET turns = turns + excluded.turns, \
         tokens_input = tokens_input + excluded.tokens_input, \
         tokens_cached = tokens_cached + excluded.tokens_cached, \
         tokens_output = tokens_output + excluded.tokens_output, \
         tokens_reasoning = tokens_reasoning + excluded.tokens_reasoning",
        params![
            slot.hour,
            slot.provider,
            slot.model,
            org,
            team,
            user,
            key,
            agent,
            number(counts.turns),
            number(counts.input),
            number(counts.cached),
            number(counts.output),
            number(counts.reasoning)
        ],
    )?;
    Ok(())
}

/// Models that wait to be written, in one second. Clients choose names, so there must be an end;
/// behind it a model counts as [`OTHERS`].
const MAX_SLOTS: usize = 1000;
/// Rows of one hour in the store, likewise.
const MAX_ROWS: i64 = 2000;
const OTHERS: &str = "(others)";
