//! Unit tests of the index: filling it, losing it, and how much a query touches.

mod damage;
mod filling;
pub(crate) mod log;
mod million;

use std::ops::ControlFlow;

use callgate_audit::{CallOutcome, Record, RecordKind, RecordedTool, RecordedVerdict};
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::{FillStart, Filled, Index, IndexError};
use crate::journal::Log;
use crate::place::StorePlace;
use log::MemoryLog;

/// A folder with an index.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("callgate.db")
    }

    pub(crate) fn place(&self) -> StorePlace {
        StorePlace::File(self.path())
    }

    pub(crate) fn index(&self) -> Index {
        Index::open(&self.place()).unwrap().unwrap()
    }

    /// The file itself.
    pub(crate) fn raw(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Everything that was indexed.
    fn content(&self) -> Vec<Vec<Value>> {
        let raw = self.raw();
        let tables = [
            ("first, seq, segment, offset, hash", "filled"),
            ("*", "entries"),
            ("*", "turns"),
            ("*", "names"),
            ("*", "marks"),
            ("*", "blocks"),
        ];
        let mut content = Vec::new();
        for (columns, table) in tables {
            let mut query = raw.prepare(&format!("SELECT {columns} FROM {table}")).unwrap();
            let width = query.column_count();
            let rows = query.query_map([], |row| (0..width).map(|at| row.get(at)).collect());
            content.extend(rows.unwrap().map(Result::unwrap));
        }
        content.sort_by_key(|row: &Vec<Value>| format!("{row:?}"));
        content
    }
}

pub(crate) fn fill(index: &Index, log: &dyn Log) -> Result<Filled, IndexError> {
    index.fill(log, FillStart::Oldest, &mut |_| ControlFlow::Continue(()))
}

/// A call of a tool.
pub(crate) fn call(name: &str) -> Record {
    let input = Some("{}".to_owned());
    let tool = RecordedTool { name: name.to_owned(), input, ..RecordedTool::default() };
    let verdict = Some(RecordedVerdict::new(CallOutcome::Allow));
    Record { tool: Some(tool), verdict, ..Record::new(RecordKind::ToolCall) }
}

/// A journal of calls that crosses from one block to the next.
fn sample() -> MemoryLog {
    let log = MemoryLog::starting_after(4050);
    for number in 0..100 {
        let mut record = call(["Bash", "Read", "Write"][number % 3]);
        record.who.session = Some(format!("session {}", number / 10));
        record.request = Some(format!("request {number}"));
        log.append(record);
    }
    log
}
