//! Unsigned numbers, which SQLite does not have.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// The number of a record, block, segment or byte. In practice none of them comes near SQLite's
/// largest integer; as a bound, a larger one means the same as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SqlNumber(pub(super) u64);

impl ToSql for SqlNumber {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(i64::try_from(self.0).unwrap_or(i64::MAX).into())
    }
}

impl FromSql for SqlNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        u64::try_from(number).map(Self).map_err(|_| FromSqlError::OutOfRange(number))
    }
}
