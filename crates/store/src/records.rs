//! Appends records to the journal, and reopens it after it was lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callgate_audit::Sealed;
use parking_lot::Mutex;

use crate::database::Fault;
use crate::error::OpenError;
use crate::health::HealthStatus;
use crate::journal::{FileVolume, Journal, JournalLimits, JournalLog, MemoryVolume, Volume};
use crate::place::{self, StorePlace};
use crate::settings::{Durability, Location, Settings};
use crate::shared::now;

/// The records of a store, open for appending.
#[derive(Debug)]
pub(crate) struct Records {
    source: JournalSource,
    durability: Durability,
    limits: JournalLimits,
    /// `None` after the journal was lost, until it is needed again.
    journal: Mutex<Option<Journal>>,
    pub(crate) health_status: HealthStatus,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

/// Where the journal is.
#[derive(Debug)]
enum JournalSource {
    File(PathBuf),
    Memory(Arc<MemoryVolume>),
}

impl JournalSource {
    fn volume(&self) -> Result<Arc<dyn Volume>, OpenError> {
        match self {
            Self::File(store) => Ok(Arc::new(file_volume(store)?)),
            Self::Memory(volume) => Ok(Arc::clone(volume) as Arc<dyn Volume>),
        }
    }
}

/// The journal folder of the store with this path, open for writing.
pub(crate) fn file_volume(store: &Path) -> Result<FileVolume, OpenError> {
    FileVolume::open(place::journal(store), place::head(store))
}

impl Records {
    pub(crate) fn open(place: &StorePlace, settings: &Settings) -> Result<Self, OpenError> {
        let mut retention = settings.retention.clone();
        let source = match place {
            StorePlace::File(store) => JournalSource::File(store.clone()),
            StorePlace::Memory(_) => {
                let most = Location::MEMORY_BYTES;
                retention.bytes = Some(retention.bytes.map_or(most, |bytes| bytes.min(most)));
                JournalSource::Memory(Arc::default())
            }
        };
        let records = Self {
            source,
            durability: settings.durability,
            limits: JournalLimits::new(&retention),
            journal: Mutex::new(None),
            health_status: HealthStatus::default(),
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let journal = records.opened().map_err(|error| match error {
            OpenedError::Open(error) => error,
            OpenedError::Fault(Fault::Busy) => OpenError::Locked { path: place.path().to_owned() },
            OpenedError::Fault(fault) => OpenError::Unwritable {
                path: place.companion(".journal").unwrap_or_else(|| place.path().to_owned()),
                why: fault.why(),
            },
        })?;
        *records.journal.lock() = Some(journal);
        Ok(records)
    }

    /// Appends these in order, all of them or none. When it returns they are as safe as the
    /// durability setting promises. It may wait for the disk, and for other processes that append.
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

    /// Removes records that are too old.
    pub(crate) fn expire(&self) -> Result<(), Fault> {
        // The result does not affect the health: it does not show whether records can be written.
        let mut place = self.journal.lock();
        self.reopened(&mut place)?.expire(now())
    }

    /// Tests whether writing works again, if the last write failed.
    pub(crate) fn try_again(&self) {
        if self.health_status.is_failing() {
            // The result is in the health.
            let _ = self.with(Journal::check);
        }
    }

    /// The journal, for a reader.
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
            Ok(_) => self.health_status.succeed(),
            Err(fault) => self.health_status.fail(fault.why()),
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
