//! A process that is killed loses no record whose receipt it had.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic is a failed test")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use callgate_audit::{Filter, Record, RecordKind, StoredRecord};
use callgate_store::{Durability, Location, RecordReader, Settings, Store};

/// Set in the process that is to be killed: the store, and its durability.
const STORE: &str = "CALLGATE_TEST_KILLED_STORE";
const DURABILITY: &str = "CALLGATE_TEST_KILLED_DURABILITY";

/// Not a test by itself: what the killed process runs. Appends for ever, and prints the id of each
/// record whose receipt is there.
#[test]
fn killed_process() {
    let Ok(store) = std::env::var(STORE) else { return };
    let durability = match std::env::var(DURABILITY).as_deref() {
        Ok("disk") => Durability::Disk,
        _ => Durability::Process,
    };
    let settings = Settings { durability, ..Settings::at(Location::Sqlite(store.into())) };
    let audit = Store::open(&settings).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let record = Record::new(RecordKind::ToolCall);
                    let id = record.id;
                    audit.append(record).wait().unwrap();
                    // One write for each line: lines of several threads do not mix.
                    let _ = std::io::stdout().lock().write_all(format!("id {id}\n").as_bytes());
                }
            });
        }
    });
}

fn acknowledged(store: &Path, durability: &str, many: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed_process", "--nocapture"])
        .env(STORE, store)
        .env(DURABILITY, durability)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ids = lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("id ").filter(|id| id.len() == 36).map(str::to_owned));
    let mut seen: Vec<String> = ids.by_ref().take(many).collect();
    child.kill().unwrap();
    seen.extend(ids);
    child.wait().unwrap();
    seen
}

#[test]
fn kill_nine_loses_no_acknowledged_record() {
    for durability in ["process", "disk"] {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("callgate.db");
        let mut all = Vec::new();
        // Again and again on one store, so that each begins with what the last one left behind.
        for many in [1, 50, 500, 2000] {
            all.extend(acknowledged(&store, durability, many));
        }
        assert!(all.len() >= 2551, "{}", all.len());
        assert_none_lost(&store, &all, durability);
    }
}

/// Several processes append to one journal. Each is killed at another moment, while others
/// continue.
#[test]
fn writers_that_are_killed_while_others_write_lose_nothing() {
    for durability in ["process", "disk"] {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("callgate.db");
        let all: Vec<String> = thread::scope(|scope| {
            let writers = [[1, 700, 3], [90, 11, 400], [300, 2, 60]].map(|kills| {
                let store = &store;
                scope.spawn(move || kills.map(|many| acknowledged(store, durability, many)))
            });
            writers.into_iter().flat_map(|it| it.join().unwrap()).flatten().collect()
        });
        assert!(all.len() >= 1567, "{}", all.len());
        assert_none_lost(&store, &all, durability);
    }
}

fn assert_none_lost(store: &Path, acknowledged: &[String], durability: &str) {
    let reader = RecordReader::open(&Location::Sqlite(store.to_owned())).unwrap();
    let verified = reader.verify(|_, _| {}).unwrap();
    assert!(verified.records >= acknowledged.len() as u64);
    let mut found = HashSet::new();
    let keep = |stored: StoredRecord| {
        found.insert(stored.record.id.to_string());
        Ok(ControlFlow::Continue(()))
    };
    reader.for_each(&Filter::default(), keep).unwrap();
    let lost = acknowledged.iter().filter(|id| !found.contains(*id)).count();
    assert_eq!(lost, 0, "{durability}: of {} records", acknowledged.len());
}
