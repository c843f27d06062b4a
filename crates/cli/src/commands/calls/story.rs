//! What happened in a turn that continued after a denial.

use anyhow::Result;
use callgate_audit::{Filter, RecordKind, RecordOrder, StoredRecord};
use callgate_store::RecordReader;

use crate::commands::events;
use crate::records;
use crate::table::Listing;

/// The calls and the answers of the turn that a record belongs to, oldest first; empty if the turn
/// had one answer.
pub(super) fn text(reader: &RecordReader, stored: &StoredRecord) -> Result<String> {
    let Some(request) = &stored.record.request else { return Ok(String::new()) };
    let calls = RecordKind::ALL.iter().copied().filter(|kind| kind.is_call());
    let kinds = calls.chain([RecordKind::Continued]).collect();
    let filter =
        Filter { kinds, order: RecordOrder::OldestFirst, limit: Some(MAX), ..Filter::default() };
    let found = reader.records(&records::of_request(request, filter))?;
    if !found.iter().any(|stored| stored.record.kind == RecordKind::Continued) {
        return Ok(String::new());
    }
    let mut table = Listing::new(["record", "in the same turn", "what"]);
    for stored in &found {
        let (what, detail) = match stored.record.kind {
            RecordKind::Continued => ("asked again".to_owned(), events::answer(&stored.record)),
            _ => (records::tool(stored), records::verdict(stored).to_owned()),
        };
        table.row([records::number(stored), what, detail]);
    }
    Ok(format!("\n{}", table.text()))
}

/// More than any turn has.
const MAX: usize = 1_000;
