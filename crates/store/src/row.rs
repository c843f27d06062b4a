//! A row of the table of records, read without trust.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use callgate_audit::{Hash, Link};

/// The columns, in the order [`read`] expects them.
pub(crate) const COLUMNS: &str = "seq, tail, at, total, hash, joins, body";

/// A row as it lies there. It borrows from the statement, so that checking a store copies nothing.
pub(crate) struct StoredRow<'a> {
    pub(crate) link: Link<'a>,
    pub(crate) tail: i64,
    pub(crate) hash: Hash,
}

/// Reads a row, or says which of its columns was never written like this: SQLite keeps any type in
/// any column.
pub(crate) fn read<'a>(row: &'a Row<'_>) -> Result<StoredRow<'a>, &'static str> {
    let number = |index, what| match row.get_ref(index) {
        Ok(ValueRef::Integer(number)) => Ok(number),
        _ => Err(what),
    };
    let text = |index, what| match row.get_ref(index) {
        Ok(ValueRef::Text(text)) => std::str::from_utf8(text).map(Some).map_err(|_| what),
        Ok(ValueRef::Null) => Ok(None),
        _ => Err(what),
    };
    let hash = match row.get_ref(4) {
        Ok(ValueRef::Blob(hash)) => Hash::try_from(hash).map_err(|_| "its hash is none")?,
        _ => return Err("its hash is none"),
    };
    let link = Link {
        seq: number(0, "its number is none")?,
        at: number(2, "its time is none")?,
        total: number(3, "its size is none")?,
        joins: text(5, "what it belongs to is no text")?,
        body: text(6, "its content is no text")?.ok_or("its content is no text")?,
    };
    Ok(StoredRow { link, tail: number(1, "its place is none")?, hash })
}
