//! Finds records, even while a gateway writes.

mod join;
mod parts;
mod walk;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::error::{OpenError, ReadError};
use crate::index::{Bounds, IdRange, Index, IndexError};
use crate::journal::{JournalEntry, JournalLog, Log, ReadOnlyVolume, RecordRange};
use crate::place::{self, StorePlace};
use crate::settings::Location;
use crate::shared::migrate_legacy_store;
use crate::state::StateReader;
use crate::state::pins::StoredPin;
use crate::verify::{Verified, VerifyError};
use callgate_audit::{
    CompiledFilter, Filter, Record, RecordBody, RecordOrder, Stats, StatsCounter, StoredRecord,
};
use parts::IndexedRanges;

/// Reads the records of a store. It never writes to the journal. It updates the shared index if it
/// can, and otherwise indexes the missing records in a private index.
pub struct RecordReader {
    log: Box<dyn Log>,
    /// The index that all processes share.
    shared: Option<Index>,
    /// Whether the shared index turned out to be unusable.
    shared_is_broken: Cell<bool>,
    /// A private index of the records that the shared one lacks, if the shared one cannot be
    /// written.
    own: OnceCell<Index>,
    progress: Option<Box<ShowProgress>>,
    unreadable: OnUnreadable,
    /// The data that is not in records.
    state: Option<StateReader>,
}

/// What happens to a record that this version cannot read, as one that a newer version wrote.
enum OnUnreadable {
    /// A query that comes across it fails.
    Fail,
    /// It is reported, once, and left out.
    Report { reported: RefCell<BTreeSet<u64>>, report: Box<ReportUnreadable> },
}

/// Called with the number of a record that cannot be read, and why.
type ReportUnreadable = dyn Fn(u64, &str) + Send;

/// Called with the number of indexed records, and their total.
type ShowProgress = dyn Fn(u64, u64) + Send;

impl fmt::Debug for RecordReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordReader").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl RecordReader {
    /// The most records that [`records`](Self::records) returns. [`for_each`](Self::for_each) and
    /// [`export`](Self::export) have no such limit.
    pub const MAX_RECORDS: usize = 10_000;

    /// Opens a store for reading. A gateway may be writing to it.
    pub fn open(location: &Location) -> Result<Self, OpenError> {
        let Location::Sqlite(store) = location else { return Err(OpenError::InMemory) };
        let place = StorePlace::File(store.clone());
        migrate_legacy_store(&place)?;
        if !location.exists() {
            return Err(OpenError::Missing { path: place.path().to_owned() });
        }
        Self::over(JournalLog::new(read_only(store)), &place)
    }

    /// Reads this journal, with the index and the state of the store at this place.
    pub(crate) fn over(log: JournalLog, place: &StorePlace) -> Result<Self, OpenError> {
        let state = StateReader::open(place)?;
        Ok(Self { state, ..Self::new(Box::new(log), place)? })
    }

    /// Reads this journal with the index at this place.
    pub(crate) fn new(log: Box<dyn Log>, place: &StorePlace) -> Result<Self, OpenError> {
        let shared = Index::open(place)?;
        let (own, progress, state) = (OnceCell::new(), None, None);
        let (shared_is_broken, unreadable) = (Cell::new(false), OnUnreadable::Fail);
        Ok(Self { log, shared, shared_is_broken, own, progress, unreadable, state })
    }

    /// Reads only the journal of the store with this path, and writes nothing there: there is no
    /// shared index.
    pub(crate) fn of_journal(store: &Path) -> Self {
        Self::without_index(JournalLog::new(read_only(store)))
    }

    /// Reads this journal as if there were no place for an index.
    pub(crate) fn without_index(log: JournalLog) -> Self {
        let (own, progress, state) = (OnceCell::new(), None, None);
        let (shared_is_broken, unreadable) = (Cell::new(false), OnUnreadable::Fail);
        let log = Box::new(log);
        Self { log, shared: None, shared_is_broken, own, progress, unreadable, state }
    }

    /// Sets a callback for the progress of indexing, for queries that have to index many records
    /// first: it gets the number of indexed records, and their total.
    #[must_use]
    pub fn with_progress(self, show: impl Fn(u64, u64) + Send + 'static) -> Self {
        Self { progress: Some(Box::new(show)), ..self }
    }

    /// Leaves out records that this version cannot read, and reports each of them once, with its
    /// number and the reason. Without this, a query that comes across one fails.
    #[must_use]
    pub fn with_unreadable(self, report: impl Fn(u64, &str) + Send + 'static) -> Self {
        let report = Box::new(report);
        Self { unreadable: OnUnreadable::Report { reported: RefCell::default(), report }, ..self }
    }

    /// The records that pass the filter; at most [`MAX_RECORDS`](Self::MAX_RECORDS).
    pub fn records(&self, filter: &Filter) -> Result<Vec<StoredRecord>, ReadError> {
        let limit = filter.limit.unwrap_or(usize::MAX).min(Self::MAX_RECORDS);
        let filter = Filter { limit: Some(limit), ..filter.clone() };
        let mut records = Vec::new();
        self.for_each(&filter, |stored| {
            records.push(stored);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(records)
    }

    /// Passes on each record that passes the filter, until the callback returns `Break`. Memory
    /// does not grow with their number, and a slow consumer delays no other process.
    pub fn for_each(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(StoredRecord) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let compiled = CompiledFilter::new(filter)?;
        let mut left = filter.limit.unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(());
        }
        let low = filter.after.unwrap_or(0).saturating_add(1);
        let mut bounds = Bounds { low, high: self.last()? };
        self.retrying(|| {
            self.search(&compiled, &mut bounds, &mut |stored| {
                left -= 1;
                match visit(stored)? {
                    ControlFlow::Continue(()) if left > 0 => Ok(ControlFlow::Continue(())),
                    _ => Ok(ControlFlow::Break(())),
                }
            })
        })
    }

    /// The sequence number of the newest record; 0 if there are no records.
    pub fn last(&self) -> Result<u64, ReadError> {
        Ok(self.log.extent()?.last)
    }

    /// The sequence numbers of the oldest record that has not expired and of the newest record. If
    /// there are no records, the first is one more than the last.
    pub fn extent(&self) -> Result<(u64, u64), ReadError> {
        let RecordRange { first, last } = self.log.extent()?;
        Ok((first, last))
    }

    /// The record with this id, or with the only id that begins with this text.
    pub fn show(&self, id: &str) -> Result<StoredRecord, ReadError> {
        let prefix = id.trim().to_ascii_lowercase();
        let Some(ids) = IdRange::beginning_with(&prefix) else {
            return Err(ReadError::NoRecord(id.chars().take(80).collect()));
        };
        let mut found = self.retrying(|| {
            let parts = self.parts()?;
            let entries = parts.with_id(&*self.log, &ids)?;
            entries.into_iter().map(|entry| self.join(&parts, entry)).collect::<Result<Vec<_>, _>>()
        })?;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(ReadError::NoRecord(prefix)),
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                let several = found.iter().chain([&last]);
                let some = several.map(|stored| stored.record.id.to_string()).collect();
                Err(ReadError::Ambiguous { prefix, some })
            }
        }
    }

    /// The state, if there is one.
    pub(crate) fn state(&self) -> Option<&StateReader> {
        self.state.as_ref()
    }

    /// Every pin of what MCP servers offer, by server, kind and name.
    pub fn pins(&self) -> Result<Vec<StoredPin>, ReadError> {
        self.state.as_ref().map_or_else(|| Ok(Vec::new()), StateReader::pins)
    }

    /// Verifies the whole chain and both of its ends. Calls `progress` with the number of records
    /// checked, and their total. Does not check records that are appended meanwhile.
    pub fn verify(&self, mut progress: impl FnMut(u64, u64)) -> Result<Verified, VerifyError> {
        self.log.verify(&mut progress)
    }

    /// Counts the records that pass the filter. Its limit and order do not matter.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, ReadError> {
        let compiled = CompiledFilter::new(filter)?;
        let mut tally = StatsCounter::new(&compiled);
        self.retrying(|| {
            tally = StatsCounter::new(&compiled);
            self.count(filter, &mut tally)
        })?;
        if filter.session.is_none() && filter.after.is_none() {
            // Responses without calls have no records of their own.
            tally.stats.turns.without_calls = Some(0);
            if let Some(state) = &self.state {
                state.count_turns(&compiled, &mut tally)?;
            }
        }
        Ok(tally.stats)
    }

    /// Writes each record that passes the filter as one line of JSON. Returns how many.
    pub fn export(&self, filter: &Filter, mut out: impl Write) -> Result<u64, ReadError> {
        let mut records = 0;
        let mut write = |stored: StoredRecord| {
            serde_json::to_writer(&mut out, &stored.to_json()).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            records += 1;
            Ok(ControlFlow::Continue(()))
        };
        if walk::is_everything(filter) {
            self.walk(filter, &mut write)?;
        } else {
            self.for_each(filter, write)?;
        }
        out.flush()?;
        Ok(records)
    }

    /// Rebuilds the shared index and returns the number of records in it. Calls `show` with the
    /// number of indexed records, and their total.
    pub fn reindex(&self, show: impl Fn(u64, u64)) -> Result<u64, ReadError> {
        self.rebuild_shared(&show)
    }

    /// Passes on the records within the bounds that pass the filter, and moves the bounds past each
    /// of them, so that the search can be resumed after an error.
    fn search(
        &self,
        compiled: &CompiledFilter<'_>,
        bounds: &mut Bounds,
        visit: &mut dyn FnMut(StoredRecord) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), IndexError> {
        let order = compiled.filter.order;
        let parts = self.parts()?;
        for part in parts.in_order(order) {
            let wanted = part.index.translate(compiled.filter)?;
            let mut next = Some(part.bounds.and(*bounds));
            while let Some(here) = next {
                let page = part.index.page(&wanted, here, order)?;
                for seq in page.seqs {
                    let found = match part.entry(&*self.log, seq, &wanted)? {
                        Some(entry) => self.passing(&parts, compiled, &entry)?,
                        None => None,
                    };
                    *bounds = bounds.after(seq, order);
                    if let Some(stored) = found
                        && visit(stored)?.is_break()
                    {
                        return Ok(());
                    }
                }
                next = page.rest;
            }
        }
        Ok(())
    }

    /// A record with its joined data, if it passes the filter and is shown on its own.
    fn passing(
        &self,
        parts: &IndexedRanges<'_>,
        compiled: &CompiledFilter<'_>,
        entry: &JournalEntry,
    ) -> Result<Option<StoredRecord>, IndexError> {
        let Some(body) = self.readable(entry)? else { return Ok(None) };
        if body.record.completes.is_some() || !compiled.passes(&body.record) {
            return Ok(None);
        }
        self.join_body(parts, entry, body).map(Some)
    }

    fn count(&self, filter: &Filter, tally: &mut StatsCounter<'_>) -> Result<(), IndexError> {
        let low = filter.after.unwrap_or(0).saturating_add(1);
        let parts = self.parts()?;
        for part in parts.in_order(RecordOrder::OldestFirst) {
            let wanted = part.index.translate(filter)?;
            let mut next = Some(part.bounds.and(Bounds { low, high: u64::MAX }));
            while let Some(here) = next {
                let counted = part.index.count(&wanted, here, &mut tally.stats)?;
                // Perhaps this version can read it.
                for seq in counted.unreadable {
                    if let Some(entry) = part.entry(&*self.log, seq, &wanted)?
                        && let Some(body) = self.readable(&entry)?
                    {
                        tally.add(&body.record);
                    }
                }
                next = counted.rest;
            }
        }
        Ok(())
    }

    /// The content of a record; `None` if it is left out, because this version cannot read it.
    fn readable(&self, entry: &JournalEntry) -> Result<Option<RecordBody<Record>>, ReadError> {
        match (parse(entry), &self.unreadable) {
            (Ok(body), _) => Ok(Some(body)),
            (Err(why), OnUnreadable::Fail) => Err(ReadError::Unreadable { seq: entry.seq, why }),
            (Err(why), OnUnreadable::Report { reported, report }) => {
                if reported.borrow_mut().insert(entry.seq) {
                    report(entry.seq, &why);
                }
                Ok(None)
            }
        }
    }

    /// Tries again if the index was rebuilt meanwhile, or has to be.
    fn retrying<T>(&self, mut run: impl FnMut() -> Result<T, IndexError>) -> Result<T, ReadError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match run() {
                Err(IndexError::BegunAnew) if tries < TRIES => {}
                Err(error) if error.is_damage() && tries < TRIES => self.repair(),
                done => return Ok(done?),
            }
        }
    }
}

fn read_only(store: &Path) -> Arc<ReadOnlyVolume> {
    Arc::new(ReadOnlyVolume::new(place::journal(store), place::head(store)))
}

fn decode(entry: &JournalEntry) -> Result<RecordBody<Record>, ReadError> {
    parse(entry).map_err(|why| ReadError::Unreadable { seq: entry.seq, why })
}

fn parse(entry: &JournalEntry) -> Result<RecordBody<Record>, String> {
    serde_json::from_str(&entry.body).map_err(|error| error.to_string())
}

/// How often a query starts over. An index is not rebuilt all the time.
const TRIES: usize = 5;
