//! Counts of turns in SQLite.

use std::collections::HashMap;

use rusqlite::params;

use crate::database::{Database, Fault};
use crate::settings::Retention;
use crate::state::StateDb;
use crate::state::turns::{HOUR, MAX_ROWS, TurnCounts, TurnGroup, TurnStore};

impl TurnStore for StateDb {
    fn add_counts(&self, counted: &HashMap<TurnGroup, TurnCounts>) -> Result<(), Fault> {
        self.change(|database| {
            counted.iter().try_for_each(|(slot, counts)| add_bounded(database, slot, *counts))
        })
    }
}

/// Clients choose the names of agents and models, so the number of rows per hour is limited.
fn add_bounded(database: &Database, slot: &TurnGroup, counts: TurnCounts) -> Result<(), Fault> {
    let rows = "SELECT count(*) FROM turns WHERE hour = ?1";
    let rows = database.one(rows, [slot.hour], |row| row.get::<_, i64>(0))?.unwrap_or(0);
    if rows < MAX_ROWS {
        return add(database, slot, counts);
    }
    add(database, &slot.clone().into_others(), counts)
}

fn add(database: &Database, slot: &TurnGroup, counts: TurnCounts) -> Result<(), Fault> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let [org, team, user, key, agent] =
        slot.who.each_ref().map(|it| it.as_deref().unwrap_or_default());
    database.execute(
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

/// Removes counts that are as old as records that expire.
pub(crate) fn expire(database: &Database, retention: &Retention, now: i64) -> Result<(), Fault> {
    let Some(age) = retention.age else { return Ok(()) };
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    let hour = now.saturating_sub(age).div_euclid(HOUR);
    let mut old = database.connection().prepare_cached("SELECT 1 FROM turns WHERE hour < ?1")?;
    if old.exists([hour])? {
        database.execute("DELETE FROM turns WHERE hour < ?1", [hour])?;
    }
    Ok(())
}
