//! Marks of calls in SQLite.

use std::collections::BTreeMap;

use callgate_audit::{ChangeTarget, Record, RecordKind, RecordedChange};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use crate::database::{Database, Fault};
use crate::settings::Retention;
use crate::state::marks::{CallMark, MarkStore, Marking, Opinion};
use crate::state::{BeforeCommit, StateDb};

impl MarkStore for StateDb {
    fn mark(
        &self,
        marking: &Marking<'_>,
        record_change: BeforeCommit<'_, Record>,
    ) -> Result<bool, Fault> {
        self.change(|database| mark(database, marking, record_change))
    }
}

fn mark(
    database: &Database,
    marking: &Marking<'_>,
    record_change: BeforeCommit<'_, Record>,
) -> Result<bool, Fault> {
    let Marking { record, opinion, by, now } = marking;
    let id = record.to_string();
    let before = "SELECT mark FROM marks WHERE record = ?1";
    let before = database.one(before, [&id], |row| row.get::<_, String>(0))?;
    if before.as_deref() == opinion.map(Opinion::as_str) {
        return Ok(false);
    }
    match opinion {
        None => database.execute("DELETE FROM marks WHERE record = ?1", [&id])?,
        Some(opinion) => database.execute(
            "INSERT OR REPLACE INTO marks (record, mark, at, user) VALUES (?1, ?2, ?3, ?4)",
            params![id, opinion.as_str(), now, by.user],
        )?,
    };
    let fields = |word: Option<&str>| -> BTreeMap<String, String> {
        word.map(|word| ("verdict".to_owned(), word.to_owned())).into_iter().collect()
    };
    let change = RecordedChange {
        what: ChangeTarget::Call,
        name: id,
        action: if opinion.is_some() { "mark" } else { "unmark" }.to_owned(),
        before: fields(before.as_deref()),
        after: fields(opinion.map(Opinion::as_str)),
    };
    record_change(Record {
        who: (*by).clone(),
        change: Some(change),
        ..Record::new(RecordKind::Change)
    })?;
    Ok(true)
}

/// Every mark, the newest first. A file of an older version has none.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<CallMark>> {
    let known = "SELECT 1 FROM sqlite_schema WHERE name = 'marks'";
    if !connection.prepare_cached(known)?.exists([])? {
        return Ok(Vec::new());
    }
    let sql = "SELECT record, mark, at, user FROM marks ORDER BY at DESC, record LIMIT ?1";
    let mut query = connection.prepare_cached(sql)?;
    let rows = query.query_map([CallMark::MAX_KEPT], read)?;
    rows.filter_map(Result::transpose).collect()
}

/// A mark; `None` if a newer version has written it.
fn read(row: &Row<'_>) -> rusqlite::Result<Option<CallMark>> {
    let (record, word): (String, String) = (row.get(0)?, row.get(1)?);
    let (Ok(record), Some(opinion)) = (record.parse(), Opinion::from_word(&word)) else {
        return Ok(None);
    };
    let at = Timestamp::from_microsecond(row.get(2)?).unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(Some(CallMark { record, opinion, at, by: row.get(3)? }))
}

/// Removes marks that are older than any record, and the oldest if there are too many.
pub(crate) fn expire(database: &Database, retention: &Retention, now: i64) -> Result<(), Fault> {
    if let Some(age) = retention.age {
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        database.execute("DELETE FROM marks WHERE at < ?1", [now.saturating_sub(age)])?;
    }
    database.execute(
        "DELETE FROM marks WHERE record IN \
         (SELECT record FROM marks ORDER BY at DESC LIMIT -1 OFFSET ?1)",
        [CallMark::MAX_KEPT],
    )?;
    Ok(())
}
