//! Reads a store of version 0.1.

use callgate_audit::{ChainHash, ChainLink, GENESIS};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::database::Fault;
use crate::journal::{Import, ImportEnd};

/// The last expired record, which the others follow.
#[derive(Debug)]
pub(super) struct Expired {
    pub(super) seq: u64,
    pub(super) hash: ChainHash,
    pub(super) total: u64,
    /// Whether there has ever been a record.
    begun: bool,
}

pub(super) fn expired(old: &Connection) -> rusqlite::Result<Expired> {
    old.query_row("SELECT seq, hash, total, begun FROM chain WHERE one = 1", [], |row| {
        Ok(Expired {
            seq: row.get::<_, i64>(0)?.unsigned_abs(),
            hash: row.get::<_, Option<ChainHash>>(1)?.unwrap_or(GENESIS),
            total: row.get::<_, i64>(2)?.unsigned_abs(),
            begun: row.get::<_, i64>(3)? != 0,
        })
    })
}

/// Copies every record unchanged. A record that callgate cannot have written leaves a gap, which
/// stays visible.
pub(super) fn copy_records(
    old: &Connection,
    expired: &Expired,
    import: &mut Import<'_>,
) -> Result<ImportEnd, Fault> {
    let mut query = old.prepare(
        "SELECT seq, at, total, hash, joins, body, tail FROM records WHERE seq > ?1 ORDER BY seq",
    )?;
    let mut rows = query.query([expired.seq.cast_signed()])?;
    let mut is_last = !expired.begun;
    while let Some(row) = rows.next()? {
        is_last = matches!(row.get_ref(6), Ok(ValueRef::Integer(1)));
        if let Some((link, hash)) = read(row) {
            import.add(&link, &hash)?;
        }
    }
    Ok(if is_last { ImportEnd::Whole } else { ImportEnd::Truncated })
}

fn read<'a>(row: &'a Row<'_>) -> Option<(ChainLink<'a>, ChainHash)> {
    let number = |index| match row.get_ref(index) {
        Ok(ValueRef::Integer(number)) => Some(number),
        _ => None,
    };
    let joins = match row.get_ref(4).ok()? {
        ValueRef::Null => None,
        ValueRef::Text(text) => Some(std::str::from_utf8(text).ok()?),
        _ => return None,
    };
    let ValueRef::Text(body) = row.get_ref(5).ok()? else { return None };
    let body = std::str::from_utf8(body).ok()?;
    let ValueRef::Blob(hash) = row.get_ref(3).ok()? else { return None };
    let link = ChainLink { seq: number(0)?, at: number(1)?, total: number(2)?, joins, body };
    Some((link, hash.try_into().ok()?))
}

/// Makes the old file read-only and marks it. A process of version 0.1 that still has it open gets
/// an error from the trigger, one that opens it gets an error from the version.
pub(super) fn close(old: &Connection, version: i64) -> rusqlite::Result<()> {
    let mut tables = old.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))?
        .filter(|name| !name.as_ref().is_ok_and(|name: &String| name.starts_with("sqlite_")))
        .collect::<rusqlite::Result<_>>()?;
    for table in tables {
        for change in ["INSERT", "UPDATE", "DELETE"] {
            old.execute_batch(&format!(
                "CREATE TRIGGER closed_{table}_{change} BEFORE {change} ON {table} \
                 BEGIN SELECT RAISE(ABORT, '{CLOSED}'); END"
            ))?;
        }
    }
    old.pragma_update(None, "user_version", version)
}

/// The error that a process of version 0.1 shows when it records something.
const CLOSED: &str =
    "this store was migrated by a newer callgate: stop this process and start the newer one";
