//! The data shared by the handles, the writer and the maintenance threads.

use std::sync::Arc;

use jiff::Timestamp;

use callgate_audit::{Record, Sealed};

use crate::cipher::Cipher;
use crate::database::Fault;
use crate::derived::DerivedRecords;
use crate::error::OpenError;
use crate::health::WriteHealth;
use crate::index::Index;
use crate::journal::Volume;
use crate::legacy;
use crate::place::StorePlace;
use crate::queue::{Urgency, WriteGroup, WriteQueue, WriterTask};
use crate::receipt::{AppendError, Receipt};
use crate::records::{Records, file_volume};
use crate::settings::Settings;
use crate::state::cache::StateCache;
use crate::state::files::KnownFiles;
use crate::state::keys::KnownKeys;
use crate::state::removed::Bindings;
use crate::state::sessions::KnownSessions;
use crate::state::turns::CountedTurns;
use crate::state::{StateDb, StateEntry};

/// An open store and its in-memory data.
#[derive(Debug)]
pub(crate) struct OpenStore {
    pub(crate) place: StorePlace,
    pub(crate) settings: Settings,
    pub(crate) records: Records,
    pub(crate) state: StateDb,
    pub(crate) queue: WriteQueue,
    pub(crate) keys: KnownKeys,
    pub(crate) bindings: Bindings,
    pub(crate) files: KnownFiles,
    pub(crate) turns: CountedTurns,
    pub(crate) sessions: KnownSessions,
    pub(crate) derived: DerivedRecords,
    pub(crate) cache: StateCache,
    pub(crate) cipher: Cipher,
}

impl OpenStore {
    pub(crate) fn open(settings: &Settings) -> Result<Self, OpenError> {
        let place = StorePlace::new(&settings.store);
        migrate_legacy_store(&place)?;
        // Created by the first process, so that an older callgate sees that it is too old.
        drop(Index::open(&place)?);
        let records = Records::open(&place, settings)?;
        let state = StateDb::open(&place, settings.durability)?;
        let cipher = Cipher::of(&place)?;
        let shared = Self {
            records,
            state,
            queue: WriteQueue::default(),
            keys: KnownKeys::default(),
            bindings: Bindings::default(),
            files: KnownFiles::default(),
            turns: CountedTurns::default(),
            sessions: KnownSessions::default(),
            derived: DerivedRecords::default(),
            cache: StateCache::default(),
            cipher,
            settings: settings.clone(),
            place,
        };
        shared.look().map_err(|fault| OpenError::Unreadable {
            path: shared.place.state().path().to_owned(),
            why: fault.why(),
        })?;
        Ok(shared)
    }

    /// Queues an entry for the writer thread: first the state entries, then the records. The caller
    /// never waits for the store.
    pub(crate) fn put(&self, entries: Vec<StateEntry>, records: Vec<Sealed>) -> Receipt {
        self.queue.push(WriterTask::Write(WriteGroup { entries, records }), Urgency::Now)
    }

    /// Records a change that is about to be made: see [`BeforeCommit`](crate::state::BeforeCommit).
    pub(crate) fn record(&self, records: impl IntoIterator<Item = Record>) -> Result<(), Fault> {
        self.append_first(records.into_iter().map(Sealed::new).collect())
    }

    /// Appends records that must be written before a change of the state is committed. A failure is
    /// the fault of the records, not of the state.
    pub(crate) fn append_first(&self, records: Vec<Sealed>) -> Result<(), Fault> {
        if !records.iter().all(Sealed::is_encoded) {
            return Err(Fault::NotRecorded(AppendError::Unencodable.to_string()));
        }
        self.records.append(&records).map_err(|fault| Fault::NotRecorded(fault.why()))
    }

    /// Loads keys, removed calls and written files of other processes.
    pub(crate) fn look(&self) -> Result<(), Fault> {
        self.keys.load(&self.state)?;
        self.bindings.look(&self.state)?;
        self.files.look(&self.state, &self.cipher)
    }

    /// Updates the in-memory data for an entry that was written, before its receipt completes.
    pub(crate) fn written(&self, entry: &StateEntry) {
        match entry {
            StateEntry::Removed(removed) => self.bindings.add(removed.binding),
            StateEntry::Step(step) => self.cache.add_flow(step.key()),
            // If this fails, the next tick of the maintenance tries again.
            StateEntry::File(_) => drop(self.files.look(&self.state, &self.cipher)),
        }
    }

    pub(crate) fn health(&self) -> WriteHealth {
        match self.records.health_status.health() {
            WriteHealth::Ok => self.state.writing.health_status.health(),
            failing => failing,
        }
    }
}

/// Migrates a store of version 0.1, if there is one.
pub(crate) fn migrate_legacy_store(place: &StorePlace) -> Result<(), OpenError> {
    let StorePlace::File(path) = place else { return Ok(()) };
    if legacy::look(path)? == legacy::LegacyFile::Other {
        return Ok(());
    }
    place.check_private()?;
    let volume: Arc<dyn Volume> = Arc::new(file_volume(path)?);
    legacy::migrate(path, &volume, |older| {
        let state = StateDb::create_new(place)?;
        state.copy_from(older).map_err(|fault| OpenError::Unwritable {
            path: place.state().path().to_owned(),
            why: fault.why(),
        })
    })
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
