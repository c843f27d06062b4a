//! Going through records a page at a time.

use std::ops::ControlFlow;

use rusqlite::{Connection, Row, params};

use crate::error::ReadError;
use callgate_audit::Hash;
use callgate_audit::Order;

/// A row that was found.
pub(super) struct Found {
    pub(super) seq: i64,
    pub(super) hash: Hash,
    pub(super) body: String,
}

impl Found {
    /// Reads `seq, hash, body`.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { seq: row.get(0)?, hash: row.get(1)?, body: row.get(2)? })
    }
}

/// Goes through records, a page at a time. Between pages no lock and no view is held: a reader whose
/// output somebody pages through would keep the store's log from ever beginning anew. Records never
/// change and only the oldest leave, so pages fit together without one.
pub(super) struct Scan<'a> {
    connection: &'a Connection,
    from: i64,
    order: Order,
}

impl<'a> Scan<'a> {
    /// All records from this number on.
    pub(super) fn new(connection: &'a Connection, from: i64, order: Order) -> Self {
        Self { connection, from, order }
    }

    pub(super) fn run(
        &self,
        mut visit: impl FnMut(Found) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let (mut low, mut high) = (self.from, i64::MAX);
        loop {
            let page = self.page(low, high)?;
            let Some(last) = page.last().map(|found| found.seq) else { return Ok(()) };
            match self.order {
                Order::OldestFirst => low = last.saturating_add(1),
                Order::NewestFirst => high = last.saturating_sub(1),
            }
            for found in page {
                if visit(found)?.is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// The next rows between these two, both included.
    fn page(&self, low: i64, high: i64) -> Result<Vec<Found>, ReadError> {
        let mut query = self.connection.prepare_cached(match self.order {
            Order::OldestFirst => {
                "SELECT seq, hash, body FROM records WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq"
            }
            Order::NewestFirst => {
                "SELECT seq, hash, body FROM records WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC"
            }
        })?;
        let mut rows = query.query(params![low, high])?;
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let found = Found::read(row)?;
            bytes += found.body.len();
            page.push(found);
            if page.len() >= PAGE_ROWS || bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }
}

/// Rows in memory at a time.
const PAGE_ROWS: usize = 500;
/// Bytes in memory at a time, and one row more.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
