//! Adds joined data to a record: its turn, and the records that complete it.

use super::{Parts, Reader, decode};
use crate::index::IndexError;
use crate::journal::Entry;
use callgate_audit::{Body, Record, RecordKind, Stored, completes, hex, turn_of};

impl Reader {
    pub(super) fn join(&self, parts: &Parts<'_>, entry: Entry) -> Result<Stored, IndexError> {
        let body = decode(&entry)?;
        self.join_body(parts, &entry, body)
    }

    /// Adds the joined data of a record: the previous hash, its turn, and the record that completes
    /// it.
    pub(super) fn join_body(
        &self,
        parts: &Parts<'_>,
        entry: &Entry,
        body: Body<Record>,
    ) -> Result<Stored, IndexError> {
        let Body { mut record, input } = self.completed(parts, body)?;
        if let Some(turn) = self.turn_of(parts, &record)? {
            record.tokens = turn.tokens;
            record.stop_reason = turn.stop_reason;
        }
        let (hash, prev_hash) = (hex(&entry.hash), hex(&entry.before));
        Ok(Stored { seq: entry.seq, record, input, hash, prev_hash })
    }

    /// A record with the input of the record that completes it, if there is one.
    pub(super) fn completed(
        &self,
        parts: &Parts<'_>,
        body: Body<Record>,
    ) -> Result<Body<Record>, IndexError> {
        let Body { mut record, mut input } = body;
        if input.is_none() && record.verdict.is_some() {
            let completing = self.joined(parts, &completes(&record.id.to_string()))?;
            if let Some(Body { record: rest, input: proof }) = completing {
                input = proof;
                if let (Some(tool), Some(rest)) = (&mut record.tool, rest.tool) {
                    tool.input = rest.input;
                }
            }
        }
        Ok(Body { record, input })
    }

    /// The turn of a record that is not one itself.
    fn turn_of(&self, parts: &Parts<'_>, record: &Record) -> Result<Option<Record>, IndexError> {
        match (record.kind, &record.request) {
            (RecordKind::Turn | RecordKind::Continued, _) | (_, None) => Ok(None),
            (_, Some(request)) => {
                Ok(self.joined(parts, &turn_of(request))?.map(|turn| turn.record))
            }
        }
    }

    fn joined(&self, parts: &Parts<'_>, joins: &str) -> Result<Option<Body<Record>>, IndexError> {
        let found = parts.joined(&*self.log, joins)?;
        Ok(match found {
            Some(entry) => self.readable(&entry)?,
            None => None,
        })
    }
}
