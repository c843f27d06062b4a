//! The tables of an index.

use rusqlite::Connection;

use crate::schema::APPLICATION;

/// The version of an index. Up to 4, the file at this path held the records themselves; an older
/// callgate that finds a 5 reports that it is too old.
pub(crate) const VERSION: i64 = 5;

/// The tables can be rebuilt from the journal at any time.
const TABLES: &str = "
-- Up to where the journal was indexed: one row. `first` is the first record that is in the index, `seq`
-- the last, with its spot and its hash. `generation` counts how often it was rebuilt, `pruned` how
-- often names were removed.
CREATE TABLE filled (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    first INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    segment INTEGER,
    offset INTEGER,
    hash BLOB,
    generation INTEGER NOT NULL,
    pruned INTEGER NOT NULL
);
INSERT INTO filled VALUES (1, 1, 0, NULL, NULL, NULL, 0, 0);

-- Where each record lies. `time` is when it happened, in nanoseconds. `joins` is a hash.
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    time INTEGER NOT NULL,
    id BLOB,
    joins INTEGER
);
CREATE INDEX entries_joins ON entries (joins) WHERE joins IS NOT NULL;

-- The tokens of turns.
CREATE TABLE turns (
    seq INTEGER PRIMARY KEY,
    tokens_input INTEGER NOT NULL,
    tokens_output INTEGER NOT NULL
);

-- The names that records have in a field. `block` is the last block that has the name. Ids are not used
-- twice: a reader may still look for one that was removed.
CREATE TABLE names (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    field INTEGER NOT NULL,
    text TEXT NOT NULL,
    block INTEGER NOT NULL,
    UNIQUE (field, text)
);

-- Which records of a block have a value in a field.
CREATE TABLE marks (
    block INTEGER NOT NULL,
    field INTEGER NOT NULL,
    value INTEGER NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (block, field, value)
) WITHOUT ROWID;

-- The times and the ids of the records of each block. Ids are in the order of time, so few blocks can have
-- an id, and an index over all ids, which would cost each record a third more, is not needed.
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY,
    earliest INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    first_id BLOB,
    last_id BLOB
);
";

/// What kind of file it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IndexIdentity {
    /// It is empty.
    Empty,
    /// An index of this version.
    Index,
    /// A store of this older version, which contains the records.
    OldStore(i64),
    /// Written by a newer callgate.
    Newer(i64),
    /// A database of another application.
    Foreign,
}

/// Identifies a file without changing it. Reads in one transaction, because another process may be
/// creating the index.
pub(crate) fn identify(connection: &Connection) -> rusqlite::Result<IndexIdentity> {
    let view = connection.unchecked_transaction()?;
    let number = |sql: &str| view.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match (application, version, tables) {
        (APPLICATION, VERSION, _) => IndexIdentity::Index,
        (APPLICATION, version, _) if version < VERSION => IndexIdentity::OldStore(version),
        (APPLICATION, version, _) => IndexIdentity::Newer(version),
        (0, 0, 0) => IndexIdentity::Empty,
        _ => IndexIdentity::Foreign,
    })
}

/// Creates the tables in an empty file, inside a write transaction. Does nothing if another process
/// was faster.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == VERSION {
        return Ok(());
    }
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Empties every table inside a transaction, so that filling starts after the record `begin`.
pub(crate) fn clear(connection: &Connection, begin: u64) -> rusqlite::Result<()> {
    connection.execute_batch(
        "DELETE FROM entries; DELETE FROM turns; DELETE FROM names; DELETE FROM marks; \
         DELETE FROM blocks;",
    )?;
    connection.execute(
        "UPDATE filled SET first = ?1 + 1, seq = ?1, segment = NULL, offset = NULL, hash = NULL, \
         generation = generation + 1, pruned = pruned + 1",
        [begin.cast_signed()],
    )?;
    Ok(())
}
