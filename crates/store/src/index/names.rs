//! Names and their ids.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::field::IndexField;
use super::number::SqlNumber;
use callgate_audit::FilterPattern;

/// The ids of recently used names.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    ids: HashMap<IndexField, HashMap<String, CachedName>>,
    len: usize,
    /// The prune count of the file when these names were read.
    pruned: i64,
}

/// A name in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedName {
    pub(super) id: i64,
    /// The last block known to use it.
    block: u64,
}

impl NameCache {
    /// Clears the cache if names were removed from the file since it was filled.
    pub(super) fn check(&mut self, pruned: i64) {
        if self.pruned != pruned || self.len > MAX_CACHED {
            *self = Self { pruned, ..Self::default() };
        }
    }

    /// Clears the cache: some names in it may have been rolled back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The id of a name. Adds the name to the file if it is new, and marks it as used in this
    /// block.
    pub(super) fn id(
        &mut self,
        connection: &Connection,
        field: IndexField,
        text: &str,
        block: u64,
    ) -> rusqlite::Result<i64> {
        let cached = self.ids.get_mut(&field).and_then(|names| names.get_mut(text));
        if let Some(name) = cached {
            if name.block < block {
                name.block = block;
                use_in(connection, name.id, block)?;
            }
            return Ok(name.id);
        }
        let name = find_or_add(connection, field, text, block)?;
        self.ids.entry(field).or_default().insert(text.to_owned(), name);
        self.len += 1;
        Ok(name.id)
    }
}

fn find_or_add(
    connection: &Connection,
    field: IndexField,
    text: &str,
    block: u64,
) -> rusqlite::Result<CachedName> {
    if let Some(id) = find(connection, field, text)? {
        use_in(connection, id, block)?;
        return Ok(CachedName { id, block });
    }
    let mut add =
        connection.prepare_cached("INSERT INTO names (field, text, block) VALUES (?1, ?2, ?3)")?;
    let id = add.insert(params![field.number(), text, SqlNumber(block)])?;
    Ok(CachedName { id, block })
}

fn use_in(connection: &Connection, id: i64, block: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE names SET block = ?2 WHERE id = ?1 AND block < ?2";
    connection.prepare_cached(sql)?.execute(params![id, SqlNumber(block)]).map(|_| ())
}

/// The id of exactly this name.
pub(super) fn find(
    connection: &Connection,
    field: IndexField,
    text: &str,
) -> rusqlite::Result<Option<i64>> {
    let mut query = connection.prepare_cached(FIND)?;
    query.query_row(params![field.number(), text], |row| row.get(0)).optional()
}

/// The ids of all names of a field that match.
pub(super) fn matching(
    connection: &Connection,
    field: IndexField,
    pattern: &FilterPattern,
) -> rusqlite::Result<Vec<i64>> {
    let mut query = connection.prepare_cached(OF_FIELD)?;
    let mut rows = query.query([field.number()])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let text: String = row.get(1)?;
        if pattern.matches(&text) {
            ids.push(row.get(0)?);
        }
    }
    Ok(ids)
}

/// The name with this id.
pub(super) fn text(connection: &Connection, id: i64) -> rusqlite::Result<Option<String>> {
    connection.prepare_cached(TEXT)?.query_row([id], |row| row.get(0)).optional()
}

/// Removes the names that no block from this one on uses. Returns whether there were any.
pub(super) fn prune(connection: &Connection, block: u64) -> rusqlite::Result<bool> {
    let removed = connection
        .prepare_cached("DELETE FROM names WHERE block < ?1")?
        .execute([SqlNumber(block)])?;
    if removed > 0 {
        connection.prepare_cached("UPDATE filled SET pruned = pruned + 1")?.execute([])?;
    }
    Ok(removed > 0)
}

pub(super) const FIND: &str = "SELECT id FROM names WHERE field = ?1 AND text = ?2";
pub(super) const OF_FIELD: &str = "SELECT id, text FROM names WHERE field = ?1";
pub(super) const TEXT: &str = "SELECT text FROM names WHERE id = ?1";

/// How many names are cached. Clients choose some of them, so there has to be a limit; at the limit
/// the cache is cleared.
const MAX_CACHED: usize = 20_000;
