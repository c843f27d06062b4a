//! Adds joined data to a record: its turn, and the records that complete it.

use super::{IndexedRanges, RecordReader, decode};
use crate::index::IndexError;
use crate::journal::JournalEntry;
use callgate_audit::{Record, RecordBody, RecordKind, StoredRecord, completes, hex, turn_of};

impl RecordReader {
    pub(super) fn join(
        &self,
        parts: &IndexedRanges<'_>,
        entry: JournalEntry,
    ) -> Result<StoredRecord, IndexError> {
        let body = decode(&entry)?;
        self.join_body(parts, &entry, body)
    }

    /// Adds the joined data of a record: the previous hash, its turn, and the record that completes
    /// it.
    pub(super) fn join_body(
        &self,
        parts: &IndexedRanges<'_>,
        entry: &JournalEntry,
        body: RecordBody<Record>,
    ) -> Result<StoredRecord, IndexError> {
        let RecordBody { mut record, input } = self.completed(parts, body)?;
        if let Some(turn) = self.turn_of(parts, &record)? {
            record.tokens = turn.tokens;
            record.stop_reason = turn.stop_reason;
        }
        let (hash, prev_hash) = (hex(&entry.hash), hex(&entry.before));
        Ok(StoredRecord { seq: entry.seq, record, input, hash, prev_hash })
    }

    /// A record with the input of the record that completes it, if there is one.
    pub(super) fn completed(
        &self,
        parts: &IndexedRanges<'_>,
        body: RecordBody<Record>,
    ) -> Result<RecordBody<Record>, IndexError> {
        let RecordBody { mut record, mut input } = body;
        if input.is_none() && record.verdict.is_some() {
            let completing = self.joined(parts, &completes(&record.id.to_string()))?;
            if let Some(RecordBody { record: rest, input: proof }) = completing {
                input = proof;
                if let (Some(tool), Some(rest)) = (&mut record.tool, rest.tool) {
                    tool.input = rest.input;
                }
            }
        }
        Ok(RecordBody { record, input })
    }

    /// The turn of a record that is not one itself.
    fn turn_of(
        &self,
        parts: &IndexedRanges<'_>,
        record: &Record,
    ) -> Result<Option<Record>, IndexError> {
        match (record.kind, &record.request) {
            (RecordKind::Turn | RecordKind::Continued, _) | (_, None) => Ok(None),
            (_, Some(request)) => {
                Ok(self.joined(parts, &turn_of(request))?.map(|turn| turn.record))
            }
        }
    }

    fn joined(
        &self,
        parts: &IndexedRanges<'_>,
        joins: &str,
    ) -> Result<Option<RecordBody<Record>>, IndexError> {
        let found = parts.joined(&*self.log, joins)?;
        Ok(match found {
            Some(entry) => self.readable(&entry)?,
            None => None,
        })
    }
}
