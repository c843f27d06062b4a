//! A reader with an index gives the same answers as reading every record, in whatever state the
//! index is.

mod answers;
mod equal;
mod without;

use callgate_audit::{Filter, RecordOrder, StoredRecord};

use super::*;
use crate::index::tests::log::MemoryLog;
use crate::index::tests::{Folder, call};

fn reader(folder: &Folder, log: &MemoryLog) -> RecordReader {
    RecordReader::new(Box::new(log.clone()), &folder.place()).unwrap()
}

/// A reader that can read the shared index, but not write it.
fn read_only(folder: &Folder, log: &MemoryLog) -> RecordReader {
    let shared = Index::read_only(&folder.place()).unwrap();
    assert!(shared.is_some());
    RecordReader { shared, ..reader(&Folder::new(), log) }
}

fn seqs(found: &[StoredRecord]) -> Vec<u64> {
    found.iter().map(|stored| stored.seq).collect()
}

fn oldest_first() -> Filter {
    Filter { order: RecordOrder::OldestFirst, ..Filter::default() }
}

fn stats(reader: &RecordReader, filter: &Filter) -> Result<Stats, ReadError> {
    reader.stats(filter)
}
