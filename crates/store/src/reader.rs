//! Finding records, also while a gateway writes.

mod join;
mod parts;
mod walk;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::{OpenError, ReadError};
use crate::index::{Bounds, IdRange, Index, IndexError};
use crate::journal::{Entry, Extent, JournalLog, Log, ReadOnlyVolume};
use crate::place::Place;
use crate::settings::Location;
use crate::shared::bring_up_to_date;
use crate::state::StateReader;
use crate::state::pins::StoredPin;
use crate::verify::{Verified, VerifyError};
use callgate_audit::{Body, Compiled, Filter, Order, Record, Stats, Stored, Tally};
use parts::Parts;

/// Reads the records of a store. It never writes to the journal; the index it brings up to date where it
/// can, and otherwise makes up for what is missing by itself.
pub struct Reader {
    log: Box<dyn Log>,
    /// The index that all processes share.
    shared: Option<Index>,
    /// Whether the shared index turned out to be of no use.
    shared_is_broken: Cell<bool>,
    /// An index of what the shared one does not have, where that cannot be written.
    own: OnceCell<Index>,
    progress: Option<Box<ShowProgress>>,
    /// What is not in records.
    state: Option<StateReader>,
}

/// Is told how many records are indexed, and how many there are.
type ShowProgress = dyn Fn(u64, u64) + Send;

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Reader {
    /// How many records [`records`](Self::records) gives at most. [`for_each`](Self::for_each) and
    /// [`export`](Self::export) have no such bound.
    pub const MAX_RECORDS: usize = 10_000;

    /// Opens a store to read it. A gateway may write to it meanwhile.
    pub fn open(location: &Location) -> Result<Self, OpenError> {
        let place = match location {
            Location::Memory => return Err(OpenError::InMemory),
            Location::Sqlite(_) => Place::new(location),
        };
        bring_up_to_date(&place)?;
        if !location.exists() {
            return Err(OpenError::Missing { path: place.path().to_owned() });
        }
        Self::over(JournalLog::new(read_only(&place)), &place)
    }

    /// Reads this journal, and whatever else belongs to the store at this place.
    pub(crate) fn over(log: JournalLog, place: &Place) -> Result<Self, OpenError> {
        let state = StateReader::open(place)?;
        Ok(Self { state, ..Self::new(Box::new(log), place)? })
    }

    /// Reads this journal with the index at this place.
    pub(crate) fn new(log: Box<dyn Log>, place: &Place) -> Result<Self, OpenError> {
        let shared = Index::open(place)?;
        let (own, progress, state) = (OnceCell::new(), None, None);
        Ok(Self { log, shared, shared_is_broken: Cell::new(false), own, progress, state })
    }

    /// Reads only the journal at this place, and writes nothing there: there is no shared index.
    pub(crate) fn of_journal(place: &Place) -> Self {
        Self::without_index(JournalLog::new(read_only(place)))
    }

    /// Reads this journal as if there were no place for an index.
    pub(crate) fn without_index(log: JournalLog) -> Self {
        let (own, progress, state) = (OnceCell::new(), None, None);
        let shared_is_broken = Cell::new(false);
        Self { log: Box::new(log), shared: None, shared_is_broken, own, progress, state }
    }

    /// Shows how far indexing has come, where a query has to index many records first: how many are done,
    /// and how many there are.
    #[must_use]
    pub fn with_progress(self, show: impl Fn(u64, u64) + Send + 'static) -> Self {
        Self { progress: Some(Box::new(show)), ..self }
    }

    /// The records that pass the filter; at most [`MAX_RECORDS`](Self::MAX_RECORDS).
    pub fn records(&self, filter: &Filter) -> Result<Vec<Stored>, ReadError> {
        let limit = filter.limit.unwrap_or(usize::MAX).min(Self::MAX_RECORDS);
        let filter = Filter { limit: Some(limit), ..filter.clone() };
        let mut records = Vec::new();
        self.for_each(&filter, |stored| {
            records.push(stored);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(records)
    }

    /// Hands over each record that passes the filter, until told to stop. Memory does not grow with
    /// their number, and a slow consumer holds up nobody.
    pub fn for_each(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(Stored) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let compiled = Compiled::new(filter)?;
        let mut left = filter.limit.unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(());
        }
        let low = filter.after.unwrap_or(0).saturating_add(1);
        let mut bounds = Bounds { low, high: self.last()? };
        self.insist(|| {
            self.search(&compiled, &mut bounds, &mut |stored| {
                left -= 1;
                match visit(stored)? {
                    ControlFlow::Continue(()) if left > 0 => Ok(ControlFlow::Continue(())),
                    _ => Ok(ControlFlow::Break(())),
                }
            })
        })
    }

    /// The number of the newest record; 0 where there is none.
    pub fn last(&self) -> Result<u64, ReadError> {
        Ok(self.log.extent()?.last)
    }

    /// The numbers of the oldest record that has not expired and of the newest one. The first is one more
    /// than the last if there is no record.
    pub fn extent(&self) -> Result<(u64, u64), ReadError> {
        let Extent { first, last } = self.log.extent()?;
        Ok((first, last))
    }

    /// The record with this id, or with the only id that begins like this.
    pub fn show(&self, id: &str) -> Result<Stored, ReadError> {
        let prefix = id.trim().to_ascii_lowercase();
        let Some(ids) = IdRange::beginning_with(&prefix) else {
            return Err(ReadError::NoRecord(id.chars().take(80).collect()));
        };
        let mut found = self.insist(|| {
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

    /// Every pin of what MCP servers offer, by server, kind and name.
    pub fn pins(&self) -> Result<Vec<StoredPin>, ReadError> {
        self.state.as_ref().map_or_else(|| Ok(Vec::new()), StateReader::pins)
    }

    /// Checks the whole chain and both of its ends, and tells how far it is: records checked, records in
    /// all. Records that are appended meanwhile are left for the next time.
    pub fn verify(&self, mut progress: impl FnMut(u64, u64)) -> Result<Verified, VerifyError> {
        self.log.verify(&mut progress)
    }

    /// Counts over the records that pass the filter. Its limit and order do not matter.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, ReadError> {
        let compiled = Compiled::new(filter)?;
        let mut tally = Tally::new(&compiled);
        self.insist(|| {
            tally = Tally::new(&compiled);
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

    /// Writes each record that passes the filter as one line of JSON, and says how many.
    pub fn export(&self, filter: &Filter, mut out: impl Write) -> Result<u64, ReadError> {
        let mut records = 0;
        let mut write = |stored: Stored| {
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

    /// Makes the shared index anew, and says how many records are in it. `show` is told how many are done,
    /// and how many there are.
    pub fn reindex(&self, show: impl Fn(u64, u64)) -> Result<u64, ReadError> {
        self.rebuild_shared(&show)
    }

    /// Hands over the records within the bounds that pass, and moves the bounds behind each: after an error
    /// the search can be taken up again.
    fn search(
        &self,
        compiled: &Compiled<'_>,
        bounds: &mut Bounds,
        visit: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), IndexError> {
        let order = compiled.filter.order;
        let parts = self.parts()?;
        for part in parts.in_order(order) {
            let wanted = part.index.wanted(compiled.filter)?;
            let mut next = Some(part.bounds.and(*bounds));
            while let Some(here) = next {
                let page = part.index.page(&wanted, here, order)?;
                for seq in page.seqs {
                    let found = match part.entry(&*self.log, seq, &wanted)? {
                        Some(entry) => self.passing(&parts, compiled, &entry)?,
                        None => None,
                    };
                    *bounds = bounds.behind(seq, order);
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

    /// A record with what belongs to it, if it passes and is shown by itself.
    fn passing(
        &self,
        parts: &Parts<'_>,
        compiled: &Compiled<'_>,
        entry: &Entry,
    ) -> Result<Option<Stored>, IndexError> {
        let body = decode(entry)?;
        if body.record.completes.is_some() || !compiled.passes(&body.record) {
            return Ok(None);
        }
        self.join_body(parts, entry, body).map(Some)
    }

    fn count(&self, filter: &Filter, tally: &mut Tally<'_>) -> Result<(), IndexError> {
        let low = filter.after.unwrap_or(0).saturating_add(1);
        let parts = self.parts()?;
        for part in parts.in_order(Order::OldestFirst) {
            let wanted = part.index.wanted(filter)?;
            let mut next = Some(part.bounds.and(Bounds { low, high: u64::MAX }));
            while let Some(here) = next {
                let counted = part.index.count(&wanted, here, &mut tally.stats)?;
                // Perhaps this version can read it.
                for seq in counted.unreadable {
                    if let Some(entry) = part.entry(&*self.log, seq, &wanted)? {
                        tally.add(&decode(&entry)?.record);
                    }
                }
                next = counted.rest;
            }
        }
        Ok(())
    }

    /// Tries again where the index was begun anew meanwhile, or has to be.
    fn insist<T>(&self, mut run: impl FnMut() -> Result<T, IndexError>) -> Result<T, ReadError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match run() {
                Err(IndexError::BegunAnew) if tries < TRIES => {}
                Err(error) if error.is_damage() && tries < TRIES => self.mend(),
                done => return Ok(done?),
            }
        }
    }
}

fn read_only(place: &Place) -> Arc<ReadOnlyVolume> {
    let beside = |ending| place.beside(ending).unwrap_or_default();
    Arc::new(ReadOnlyVolume::new(beside(".journal"), beside(".head")))
}

fn decode(entry: &Entry) -> Result<Body<Record>, ReadError> {
    serde_json::from_str(&entry.body)
        .map_err(|error| ReadError::Unreadable { seq: entry.seq, why: error.to_string() })
}

/// How often a query begins again. Nobody makes an index anew all the time.
const TRIES: usize = 5;
