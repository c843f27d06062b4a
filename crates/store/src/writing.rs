//! The connection that writes to a SQLite file: opened anew after it was lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::health::Pulse;
use crate::place::{Patience, Place};
use crate::schema::Schema;
use crate::settings::Durability;

/// A SQLite file, and how safe what is committed to it must be.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) place: Place,
    pub(crate) schema: &'static Schema,
    pub(crate) durability: Durability,
}

impl File {
    /// Opens a connection that waits this long for locks of others.
    pub(crate) fn open(&self, patience: Patience) -> Result<Database, OpenError> {
        self.place.writer(self.schema, self.durability, patience).map(Database::new)
    }
}

/// The connection that writes to a file.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) file: File,
    /// `None` after it failed, until it is needed again.
    database: Mutex<Option<Database>>,
    /// Whether it waits for locks of other connections.
    patience: Patience,
    /// Somebody has the connection, and may have it for long.
    taken: AtomicBool,
    /// How often a connection was opened anew: what was known of the file may be of another one.
    opened: AtomicU64,
    pub(crate) pulse: Pulse,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

/// A file as far as others have made it what it is: see [`Writing::view`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    opened: u64,
    version: i64,
}

impl Writing {
    pub(crate) fn open(file: File) -> Result<Self, OpenError> {
        let writing = Self {
            file,
            database: Mutex::new(None),
            patience: Patience::new(),
            taken: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            pulse: Pulse::default(),
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        let opened = writing.connect()?;
        *writing.database.lock() = Some(opened);
        Ok(writing)
    }

    /// Runs something with the connection, which is opened anew if it was lost. Waits for locks, for up
    /// to two seconds.
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
            Ok(_) => self.pulse.succeed(),
            Err(Fault::NotRecorded(_)) => {}
            Err(fault) => self.pulse.fail(fault.why()),
        }
        done
    }

    /// The same in one transaction.
    pub(crate) fn transaction<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.with(|database| database.transaction(run))
    }

    /// Writes a little if the last time failed, to see whether it still does.
    pub(crate) fn try_again(&self) {
        if self.pulse.is_failing() {
            // How it went is seen in the pulse.
            let _ = self.with(Database::touch);
        }
    }

    /// The file as far as others have made it what it is. It is another view once another connection has
    /// written, and the same however much this one writes; `None` while this one is in use. Two system
    /// calls, where looking for something takes a dozen.
    pub(crate) fn view(&self) -> Option<View> {
        if self.taken.load(Ordering::Relaxed) {
            return None;
        }
        let database = self.database.try_lock()?;
        let database = database.as_ref()?;
        let version = self.patience.without(|| database.data_version()).ok()?;
        // The numbers of two connections have nothing to do with each other.
        Some(View { opened: self.opened(), version })
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Another connection to the file was opened anew too.
    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives up the connection: its file is no longer the one that others see.
    pub(crate) fn lose(&self, why: &str) {
        self.pulse.fail(why.to_owned());
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
