//! Unit tests of the store: what it stores, what it notices, what it survives.

mod appending;
mod backup;
mod expiry;
mod failing;
mod files;
mod keeping;
mod keys;
mod marks;
mod moving;
mod reading;
mod sessions;
mod sharing;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::settings::{Durability, Location, Retention, Settings};
use crate::{RecordReader, Store};
use callgate_audit::{CallOutcome, Record, RecordKind, RecordedTool, RecordedVerdict};
use callgate_audit::{Filter, RecordOrder, StoredRecord};

/// A folder with a store.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("state").join("callgate.db")
    }

    fn location(&self) -> Location {
        Location::Sqlite(self.path())
    }

    fn settings(&self, durability: Durability) -> Settings {
        let retention = Retention { age: None, records: None, bytes: None };
        Settings { durability, retention, ..Settings::at(self.location()) }
    }

    fn open(&self, durability: Durability) -> Store {
        Store::open(&self.settings(durability)).unwrap()
    }

    fn reader(&self) -> RecordReader {
        RecordReader::open(&self.location()).unwrap()
    }

    /// A raw connection to the file, to damage it.
    fn raw(&self) -> Connection {
        Self::raw_at(&self.path())
    }

    /// The folder of the journal.
    fn journal(&self) -> std::path::PathBuf {
        crate::place::StorePlace::new(&self.location()).companion(".journal").unwrap()
    }

    /// Keeps all other writers out until it is dropped.
    fn lock(&self) -> std::fs::File {
        let lock = std::fs::File::open(self.journal().join("lock")).unwrap();
        lock.lock().unwrap();
        lock
    }

    /// The same for the state file.
    fn raw_state(&self) -> Connection {
        Self::raw_at(&self.state_path())
    }

    fn state_path(&self) -> std::path::PathBuf {
        crate::place::StorePlace::new(&self.location()).state().path().to_owned()
    }

    fn raw_at(path: &Path) -> Connection {
        let raw = Connection::open(path).unwrap();
        raw.pragma_update(None, "synchronous", "OFF").unwrap();
        raw
    }

    /// Every byte of the store and its companion files.
    fn bytes(&self) -> Vec<u8> {
        let folder = self.path();
        let files = std::fs::read_dir(folder.parent().unwrap()).unwrap();
        let key = |path: &Path| path.extension().is_some_and(|it| it == "key");
        let paths = files.map(|file| file.unwrap().path()).filter(|path| !key(path));
        let inside = std::fs::read_dir(self.journal()).unwrap().map(|file| file.unwrap().path());
        let paths = paths.filter(|path| path.is_file()).chain(inside);
        paths.flat_map(|path| std::fs::read(path).unwrap()).collect()
    }
}

/// Ends the faults and lets the store notice, so that its threads do not retry during the next
/// fault.
fn heal(shared: &crate::shared::OpenStore) {
    shared.records.faults.fail_after(i64::MAX);
    shared.state.writing.faults.fail_after(i64::MAX);
    shared.records.try_again();
    shared.state.writing.try_again();
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Waits for something that another thread or process does.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A call of a tool, with this input.
fn call(name: &str, input: &str) -> Record {
    let tool = RecordedTool {
        name: name.to_owned(),
        call_id: "toolu_1".to_owned(),
        input: Some(input.to_owned()),
        ..RecordedTool::default()
    };
    let verdict = Some(RecordedVerdict::new(CallOutcome::Allow));
    Record { tool: Some(tool), verdict, ..Record::new(RecordKind::ToolCall) }
}

fn all(reader: &RecordReader) -> Vec<StoredRecord> {
    reader.records(&Filter { order: RecordOrder::OldestFirst, ..Filter::default() }).unwrap()
}
