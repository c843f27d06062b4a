//! Where records are appended: the journal, opened anew after it was lost.

use std::sync::Arc;

use callgate_audit::Sealed;
use parking_lot::Mutex;

use crate::database::Fault;
use crate::error::OpenError;
use crate::health::Pulse;
use crate::journal::{FileVolume, Journal, JournalLog, Limits, MemoryVolume, Volume};
use crate::place::Place;
use crate::settings::{Durability, Location, Settings};
use crate::shared::now;

/// The records of a store, open to append.
#[derive(Debug)]
pub(crate) struct Records {
    source: Source,
    durability: Durability,
    limits: Limits,
    /// `None` after it was lost, until it is needed again.
    journal: Mutex<Option<Journal>>,
    pub(crate) pulse: Pulse,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

/// Where the journal is.
#[derive(Debug)]
enum Source {
    File(Place),
    Memory(Arc<MemoryVolume>),
}

impl Source {
    fn volume(&self) -> Result<Arc<dyn Volume>, OpenError> {
        match self {
            Self::File(place) => Ok(Arc::new(file_volume(place)?)),
            Self::Memory(volume) => Ok(Arc::clone(volume) as Arc<dyn Volume>),
        }
    }
}

/// The folder of the journal at this place, open to write.
pub(crate) fn file_volume(place: &Place) -> Result<FileVolume, OpenError> {
    FileVolume::open(
        place.beside(".journal").unwrap_or_default(),
        place.beside(".head").unwrap_or_default(),
    )
}

impl Records {
    pub(crate) fn open(place: &Place, settings: &Settings) -> Result<Self, OpenError> {
        let mut retention = settings.retention.clone();
        let source = match place {
            Place::File(_) => Source::File(place.clone()),
            Place::Memory(_) => {
                let most = Location::MEMORY_BYTES;
                retention.bytes = Some(retention.bytes.map_or(most, |bytes| bytes.min(most)));
                Source::Memory(Arc::default())
            }
        };
        let records = Self {
            source,
            durability: settings.durability,
            limits: Limits::new(&retention),
            journal: Mutex::new(None),
            pulse: Pulse::default(),
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let journal = records.opened().map_err(|error| match error {
            OpenedError::Open(error) => error,
            OpenedError::Fault(Fault::Busy) => OpenError::Locked { path: place.path().to_owned() },
            OpenedError::Fault(fault) => OpenError::Unwritable {
                path: place.beside(".journal").unwrap_or_default(),
                why: fault.why(),
            },
        })?;
        *records.journal.lock() = Some(journal);
        Ok(records)
    }

    /// Appends these in their order, all of them or none. When it returns they are as safe as was
    /// promised. It may wait for the disk, and for others who append.
    pub(crate) fn append(&self, records: &[Sealed]) -> Result<(), Fault> {
        if records.is_empty() {
            return Ok(());
        }
        self.with(|journal| {
            #[cfg(test)]
            self.faults.step()?;
            journal.append(records, now()).map(drop)
        })
    }

    /// Lets records leave that are too old.
    pub(crate) fn expire(&self) -> Result<(), Fault> {
        // Nobody learns from it whether records can be written.
        let mut place = self.journal.lock();
        self.reopened(&mut place)?.expire(now())
    }

    /// Writes a little if the last time failed, to see whether it still does.
    pub(crate) fn try_again(&self) {
        if self.pulse.is_failing() {
            // How it went is seen in the pulse.
            let _ = self.with(Journal::check);
        }
    }

    /// The journal for a reader.
    pub(crate) fn log(&self) -> Result<JournalLog, OpenError> {
        self.source.volume().map(JournalLog::new)
    }

    fn with<T>(&self, run: impl FnOnce(&mut Journal) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut place = self.journal.lock();
        let done = self.reopened(&mut place).and_then(run);
        if let Err(Fault::Lost(_)) = done {
            *place = None;
        }
        drop(place);
        match &done {
            Ok(_) => self.pulse.succeed(),
            Err(fault) => self.pulse.fail(fault.why()),
        }
        done
    }

    fn reopened<'a>(&self, place: &'a mut Option<Journal>) -> Result<&'a mut Journal, Fault> {
        let journal = match place.take() {
            Some(journal) => journal,
            None => self.opened().map_err(|error| match error {
                OpenedError::Open(error) => Fault::Lost(error.to_string()),
                OpenedError::Fault(fault) => fault,
            })?,
        };
        Ok(place.insert(journal))
    }

    fn opened(&self) -> Result<Journal, OpenedError> {
        let volume = self.source.volume().map_err(OpenedError::Open)?;
        Journal::open(volume, self.durability, self.limits.clone()).map_err(OpenedError::Fault)
    }
}

/// Why a journal could not be opened.
enum OpenedError {
    Open(OpenError),
    Fault(Fault),
}
