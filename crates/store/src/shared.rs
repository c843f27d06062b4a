//! What the handles, the writer and the keeper share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::beside::Beside;
use crate::cipher::Cipher;
use crate::database::{Database, Fault, Item};
use crate::error::{OpenError, StoreError};
use crate::health::Pulse;
use crate::keys::Keys;
use crate::known::{Known, View};
use crate::place::{Patience, Place};
use crate::queue::{Queue, Work};
use crate::receipt::Receipt;
use crate::removed::Bindings;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::turns::Turns;

/// An open store and what is known of it in memory.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) place: Place,
    pub(crate) settings: Settings,
    /// The connection that appends; `None` after it failed, until the writer opens another.
    appending: Mutex<Option<Database>>,
    /// Whether `appending` waits for locks of other connections.
    patience: Patience,
    /// The writer thread has `appending`, and may have it for long.
    taken: AtomicBool,
    /// How often a connection was opened anew: what was known of the store may be of another file.
    opened: AtomicU64,
    /// A connection to look things up, so that nobody who does waits for the disk.
    looking: Mutex<Database>,
    pub(crate) queue: Queue,
    pub(crate) pulse: Pulse,
    pub(crate) keys: Keys,
    pub(crate) bindings: Bindings,
    pub(crate) turns: Turns,
    pub(crate) sessions: Sessions,
    pub(crate) beside: Beside,
    pub(crate) known: Known,
    pub(crate) cipher: Cipher,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

impl Shared {
    pub(crate) fn open(settings: &Settings) -> Result<Self, OpenError> {
        let place = Place::new(&settings.store);
        let patience = Patience::new();
        let appending = place.writer(settings.durability, patience.clone())?;
        let looking = Database::new(place.writer(settings.durability, Patience::new())?);
        let cipher = Cipher::of(&place)?;
        let shared = Self {
            appending: Mutex::new(None),
            patience,
            taken: AtomicBool::new(false),
            opened: AtomicU64::new(0),
            looking: Mutex::new(looking),
            queue: Queue::default(),
            pulse: Pulse::default(),
            keys: Keys::default(),
            bindings: Bindings::default(),
            turns: Turns::default(),
            sessions: Sessions::default(),
            beside: Beside::default(),
            known: Known::default(),
            cipher,
            settings: settings.clone(),
            place,
            #[cfg(test)]
            faults: crate::faults::Faults::default(),
        };
        *shared.appending.lock() = Some(shared.store(appending));
        shared.look().map_err(|fault| OpenError::Unreadable {
            path: shared.place.path().to_owned(),
            why: fault.why(),
        })?;
        Ok(shared)
    }

    /// Queues something for the writer thread. The caller never waits for the store.
    pub(crate) fn put(&self, item: Item) -> Receipt {
        self.put_all(vec![item])
    }

    /// The same for what is written together or not at all.
    pub(crate) fn put_all(&self, items: Vec<Item>) -> Receipt {
        self.queue.push(Work::Write(items))
    }

    /// Runs something with the connection that appends, which is opened anew if it was lost. Waits
    /// for locks, for up to two seconds.
    pub(crate) fn with_appending<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.taken.store(true, Ordering::Relaxed);
        let mut appending = self.appending.lock();
        let done = self.reopened(&mut appending).and_then(run);
        if let Err(Fault::Lost(_)) = done {
            *appending = None;
        }
        drop(appending);
        self.taken.store(false, Ordering::Relaxed);
        match &done {
            Ok(_) => self.pulse.succeed(),
            Err(fault) => self.pulse.fail(fault.why()),
        }
        done
    }

    fn reopened<'a>(&self, appending: &'a mut Option<Database>) -> Result<&'a Database, Fault> {
        let store = match appending.take() {
            Some(store) => store,
            None => {
                let opened = self.place.writer(self.settings.durability, self.patience.clone());
                self.opened.fetch_add(1, Ordering::Relaxed);
                self.store(opened.map_err(|error| Fault::Lost(error.to_string()))?)
            }
        };
        Ok(appending.insert(store))
    }

    /// The state of the store as far as others have made it what it is. It is another one once
    /// another connection has written, and the same however much the one that appends writes; `None`
    /// while that one is in use. Two system calls, where looking for something takes a dozen.
    pub(crate) fn view(&self) -> Option<View> {
        if self.is_taken() {
            return None;
        }
        let appending = self.appending.try_lock()?;
        let store = appending.as_ref()?;
        let version = self.patience.without(|| {
            let mut ask = store.connection().prepare_cached("PRAGMA data_version").ok()?;
            ask.query_row([], |row| row.get(0)).ok()
        })?;
        // The numbers of two connections have nothing to do with each other.
        Some(View { opened: self.opened(), version })
    }

    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Gives up the connection that appends: its file is no longer the store.
    pub(crate) fn lose(&self, why: &str) {
        self.pulse.fail(why.to_owned());
        *self.appending.lock() = None;
    }

    /// Runs something with the connection that looks things up.
    pub(crate) fn with_looking<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        run(&self.looking.lock())
    }

    /// Opens the connection that looks things up anew.
    pub(crate) fn reopen_looking(&self) -> Result<(), OpenError> {
        let opened = self.place.writer(self.settings.durability, Patience::new())?;
        *self.looking.lock() = Database::new(opened);
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Looks for keys and removed calls of other processes.
    pub(crate) fn look(&self) -> Result<(), Fault> {
        let looking = self.looking.lock();
        self.keys.load(&looking)?;
        self.bindings.look(&looking)
    }

    /// What is to be known in memory about something that was written, before anybody hears of it.
    pub(crate) fn written(&self, item: &Item) {
        match item {
            Item::Removed(removed) => self.bindings.add(removed.binding),
            Item::Flow(step) => self.known.add_flow(step.key()),
            Item::Record(_) => {}
        }
    }

    fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    fn store(&self, connection: rusqlite::Connection) -> Database {
        #[allow(unused_mut, reason = "only tests change it")]
        let mut store = Database::new(connection);
        #[cfg(test)]
        {
            store.faults = self.faults.clone();
        }
        store
    }
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
