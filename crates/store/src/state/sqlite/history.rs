//! Steps of sessions in SQLite.

use rusqlite::{Row, params};

use callgate_audit::RecordId;

use crate::database::{Database, Fault};
use crate::state::StateDb;
use crate::state::history::{FlowKey, FlowStep, HistoryStore, SealedStep};

impl HistoryStore for StateDb {
    fn steps(&self, session: &FlowKey, since: i64) -> Result<Vec<FlowStep>, Fault> {
        self.look(|database| find(database, session, since))
    }

    fn add_unless(
        &self,
        step: &SealedStep,
        since: i64,
        speaks_against: &mut dyn FnMut(Vec<FlowStep>) -> bool,
    ) -> Result<bool, Fault> {
        self.change(|database| {
            let added = !speaks_against(find(database, step.key(), since)?);
            if added {
                insert(database, step)?;
            }
            Ok(added)
        })
    }

    fn remove_step(&self, session: &FlowKey, record: RecordId) -> Result<(), Fault> {
        let remove = "DELETE FROM flows WHERE session = ?1 AND record = ?2";
        let record = record.to_string();
        self.change(|database| database.execute(remove, params![session, record])).map(drop)
    }

    fn sessions_after(&self, step: i64) -> Result<(Vec<FlowKey>, i64), Fault> {
        self.look(|database| sessions_after(database, step))
    }
}

fn sessions_after(database: &Database, step: i64) -> Result<(Vec<FlowKey>, i64), Fault> {
    let sql = "SELECT id, session FROM flows WHERE id > ?1 ORDER BY id";
    let mut query = database.connection().prepare_cached(sql)?;
    let mut rows = query.query([step])?;
    let (mut sessions, mut last) = (Vec::new(), step);
    while let Some(row) = rows.next()? {
        last = row.get(0)?;
        sessions.push(row.get(1)?);
    }
    Ok((sessions, last))
}

pub(crate) fn insert(database: &Database, sealed: &SealedStep) -> Result<(), Fault> {
    let step = &sealed.step;
    database.execute(
        "INSERT INTO flows (session, at, server, tool, role, record, arguments) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            sealed.key(),
            step.at,
            step.server,
            step.tool,
            step.role,
            step.record.to_string(),
            step.arguments
        ],
    )?;
    Ok(())
}

fn find(database: &Database, session: &FlowKey, since: i64) -> Result<Vec<FlowStep>, Fault> {
    let mut query = database.connection().prepare_cached(
        "SELECT at, server, tool, role, record, arguments FROM flows \
         WHERE session = ?1 AND at >= ?2 ORDER BY at DESC, id DESC LIMIT ?3",
    )?;
    let most = FlowStep::MAX_FOUND as i64;
    let mut steps = Vec::new();
    for step in query.query_map(params![session, since, most], read)? {
        // An unreadable row is skipped.
        steps.extend(step?);
    }
    steps.reverse();
    Ok(steps)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Option<FlowStep>> {
    let record: String = row.get(4)?;
    let Ok(record) = record.parse() else { return Ok(None) };
    Ok(Some(FlowStep {
        at: row.get(0)?,
        server: row.get(1)?,
        tool: row.get(2)?,
        role: row.get(3)?,
        record,
        arguments: row.get(5)?,
    }))
}

/// Removes steps that are too old or too many. `now` is in microseconds.
pub(crate) fn prune(database: &Database, most: i64, now: i64) -> Result<(), Fault> {
    const HOUR: i64 = 60 * 60 * 1_000_000;
    let oldest = now.saturating_sub(FlowStep::MAX_HOURS * HOUR);
    let old = "SELECT 1 FROM flows WHERE at < ?1 LIMIT 1";
    if database.one(old, [oldest], |_| Ok(()))?.is_some() {
        database.execute("DELETE FROM flows WHERE at < ?1", [oldest])?;
    }
    let many = database.one("SELECT count(*) FROM flows", [], |row| row.get::<_, i64>(0))?;
    let surplus = many.unwrap_or(0).saturating_sub(most);
    if surplus > 0 {
        // Ranks the steps of each owner from the newest, so that owners with the most steps lose
        // the most. Ids are in order of insertion: the oldest have the smallest.
        database.execute(
            "DELETE FROM flows WHERE id IN (SELECT id FROM (SELECT id, \
             row_number() OVER (PARTITION BY substr(session, 1, 16) ORDER BY id DESC) AS place \
             FROM flows) ORDER BY place DESC, id LIMIT ?1)",
            [surplus],
        )?;
    }
    Ok(())
}
