//! The write connection of a SQLite file, which is reopened after it was lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::health::HealthStatus;
use crate::place::{Patience, StorePlace};
use crate::schema::Schema;
use crate::settings::Durability;

/// A SQLite file, and how durable its commits must be.
#[derive(Debug, Clone)]
pub(crate) struct SqliteFile {
    pub(crate) place: StorePlace,
    pub(crate) schema: &'static Schema,
    pub(crate) durability: Durability,
}

impl SqliteFile {
    /// Opens a connection that waits this long for other connections' locks.
    pub(crate) fn open(&self, patience: Patience) -> Result<Database, OpenError> {
        self.place.writer(self.schema, self.durability, patience).map(Database::new)
    }
}

/// The write connection of a file.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    pub(crate) file: SqliteFile,
    /// `None` after it failed, until it is needed again.
    database: Mutex<Option<Database>>,
    /// Whether it waits for locks of other connections.
    patience: Patience,
    /// Some thread is using the connection, perhaps for long.
    taken: AtomicBool,
    /// How often the connection was reopened: after that, cached data may be from another file.
    opened: AtomicU64,
    pub(crate) health_status: HealthStatus,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

/// Identifies the last change of the file by another connection: see [`WriteConnection::view`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateVersion {
    opened: u64,
    version: i64,
}

impl WriteConnection {
    pub(crate) fn open(file: SqliteFile) -> Result<Self, OpenError> {
        let writing = Self {
            file,
            database: Mutex::new(None),
            patience: Patience::new(),
            taken: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            health_status: HealthStatus::default(),
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let opened = writing.connect()?;
        *writing.database.lock() = Some(opened);
        Ok(writing)
    }

    /// Runs a closure with the connection, which is reopened if it was lost. Waits up to two
    /// seconds for locks.
    pub(crate) fn with<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.taken.store(true, Ordering::Relaxed);
        let mut database = self.database.lock();
        let done = self.reopened(&mut database).and_then(run);
        if let Err(Fault::Lost(_)) = done {
            *database = None;
        }
        drop(database);
        self.taken.store(false, Ordering::Relaxed);
        match &done {
            Ok(_) => self.health_status.succeed(),
            Err(Fault::NotRecorded(_)) => {}
            Err(fault) => self.health_status.fail(fault.why()),
        }
        done
    }

    /// Like [`Self::with`], in one transaction.
    pub(crate) fn transaction<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.with(|database| database.transaction(run))
    }

    /// Tests whether writing works again, if the last write failed.
    pub(crate) fn try_again(&self) {
        if self.health_status.is_failing() {
            // The result is in the health.
            let _ = self.with(Database::touch);
        }
    }

    /// Changes whenever another connection has written to the file, however much this one writes;
    /// `None` while this one is in use. Takes two system calls, where a query takes a dozen.
    pub(crate) fn view(&self) -> Option<StateVersion> {
        if self.taken.load(Ordering::Relaxed) {
            return None;
        }
        let database = self.database.try_lock()?;
        let database = database.as_ref()?;
        let version = self.patience.without(|| database.data_version()).ok()?;
        // Version numbers of two connections cannot be compared.
        Some(StateVersion { opened: self.opened(), version })
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Another connection to the file was reopened too.
    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives up the connection: other processes no longer see its file.
    pub(crate) fn lose(&self, why: &str) {
        self.health_status.fail(why.to_owned());
        *self.database.lock() = None;
    }

    fn reopened<'a>(&self, database: &'a mut Option<Database>) -> Result<&'a Database, Fault> {
        let open = match database.take() {
            Some(open) => open,
            None => {
                self.count_opened();
                self.connect().map_err(|error| Fault::Lost(error.to_string()))?
            }
        };
        Ok(database.insert(open))
    }

    fn connect(&self) -> Result<Database, OpenError> {
        #[allow(unused_mut, reason = "only tests change it")]
        let mut database = self.file.open(self.patience.clone())?;
        #[cfg(test)]
        {
            database.faults = self.faults.clone();
        }
        Ok(database)
    }
}
