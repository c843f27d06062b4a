//! All records in order, read directly from the journal.

use std::iter::Peekable;
use std::ops::ControlFlow;

use super::{RecordReader, decode};
use crate::error::ReadError;
use crate::index::IndexError;
use crate::journal::{JournalEntry, Spot};
use callgate_audit::{CompiledFilter, Filter, Record, RecordBody, RecordOrder, StoredRecord, hex};

/// Whether a filter asks for every record after some sequence number, the oldest first.
pub(super) fn is_everything(filter: &Filter) -> bool {
    let Filter { after, limit, .. } = *filter;
    *filter == Filter { after, limit, order: RecordOrder::OldestFirst, ..Filter::default() }
}

impl RecordReader {
    /// Passes on every record that [such a filter](is_everything) asks for. Joined data is looked
    /// up in the index.
    pub(super) fn walk(
        &self,
        filter: &Filter,
        visit: &mut dyn FnMut(StoredRecord) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let oldest = self.log.extent()?.first;
        let mut after = filter.after.unwrap_or(0).max(oldest.saturating_sub(1));
        let mut near = None;
        loop {
            let chunk = self.chunk(after, near)?;
            let Some(last) = chunk.last() else { return Ok(()) };
            (after, near) = (last.seq, Some(last.spot));
            let mut entries = chunk.iter().peekable();
            let walked = self.retrying(|| self.pass_on(&mut entries, &mut left, visit))?;
            if walked.is_break() {
                return Ok(());
            }
        }
    }

    /// Passes on each record that passes the filter, the oldest first, until the callback returns
    /// `Break`. Its limit and order do not matter. Tokens and stop reasons of turns are not added.
    ///
    /// Reads the journal in order instead of looking up each record, which is much faster if most
    /// records pass.
    pub fn for_each_in_order(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(StoredRecord) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let compiled = CompiledFilter::new(filter)?;
        // The index knows where to begin.
        let first = Filter { limit: Some(1), order: RecordOrder::OldestFirst, ..filter.clone() };
        let Some(first) = self.records(&first)?.pop() else { return Ok(()) };
        let (mut after, mut near) = (first.seq.saturating_sub(1), None);
        loop {
            let chunk = self.chunk(after, near)?;
            let Some(last) = chunk.last() else { return Ok(()) };
            (after, near) = (last.seq, Some(last.spot));
            for entry in &chunk {
                let Some(body) = self.readable(entry)? else { continue };
                if body.record.completes.is_some() || !compiled.passes(&body.record) {
                    continue;
                }
                if visit(self.without_turn(entry, body)?)?.is_break() {
                    return Ok(());
                }
            }
        }
    }

    fn without_turn(
        &self,
        entry: &JournalEntry,
        body: RecordBody<Record>,
    ) -> Result<StoredRecord, ReadError> {
        let is_whole = body.input.is_some() || body.record.verdict.is_none();
        let RecordBody { record, input } = match is_whole {
            true => body,
            false => self.retrying(|| self.completed(&self.parts()?, decode(entry)?))?,
        };
        let (hash, prev_hash) = (hex(&entry.hash), hex(&entry.before));
        Ok(StoredRecord { seq: entry.seq, record, input, hash, prev_hash })
    }

    /// Passes on some records. A record stays the next one until its joined data was found.
    fn pass_on<'a>(
        &self,
        entries: &mut Peekable<impl Iterator<Item = &'a JournalEntry>>,
        left: &mut usize,
        visit: &mut dyn FnMut(StoredRecord) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<ControlFlow<()>, IndexError> {
        let parts = self.parts()?;
        while let Some(entry) = entries.peek() {
            if *left == 0 {
                return Ok(ControlFlow::Break(()));
            }
            let shown = match self.readable(entry)? {
                Some(body) if body.record.completes.is_none() => {
                    Some(self.join_body(&parts, entry, body)?)
                }
                _ => None,
            };
            entries.next();
            if let Some(stored) = shown {
                *left -= 1;
                if visit(stored)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next records, as many as fit in memory at a time: a slow consumer must not keep segments
    /// open.
    fn chunk(&self, after: u64, near: Option<Spot>) -> Result<Vec<JournalEntry>, ReadError> {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        self.log.walk(after, near, &mut |entry| {
            bytes += entry.body.len();
            chunk.push(entry);
            let full = chunk.len() >= CHUNK_RECORDS || bytes >= CHUNK_BYTES;
            Ok(if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(chunk)
    }
}

/// Records in memory at a time.
const CHUNK_RECORDS: usize = 500;
/// Bytes in memory at a time, plus one record.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
