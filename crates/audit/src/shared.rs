//! What the handles, the writer and the keeper share.

use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::cipher::Cipher;
use crate::error::{OpenError, StoreError};
use crate::health::Pulse;
use crate::keys::Keys;
use crate::place::{Patience, Place};
use crate::queue::{Queue, Work};
use crate::receipt::{AppendError, Receipt};
use crate::removed::Bindings;
use crate::settings::{Durability, Settings};
use crate::store::{Fault, Item, Store};
use crate::turns::Turns;

/// An open store and what is known of it in memory.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) place: Place,
    pub(crate) settings: Settings,
    /// The connection that appends; `None` after it failed, until the writer opens another.
    appending: Mutex<Option<Store>>,
    /// Whether `appending` waits for locks of other connections.
    patience: Patience,
    /// The writer thread has `appending`, and may have it for long.
    taken: AtomicBool,
    /// A connection to look things up, so that nobody who does waits for the disk.
    looking: Mutex<Store>,
    pub(crate) queue: Queue,
    pub(crate) pulse: Pulse,
    pub(crate) keys: Keys,
    pub(crate) bindings: Bindings,
    pub(crate) turns: Turns,
    pub(crate) cipher: Cipher,
    #[cfg(test)]
    pub(crate) faults: crate::faults::Faults,
}

impl Shared {
    pub(crate) fn open(settings: &Settings) -> Result<Self, OpenError> {
        let place = Place::new(&settings.store);
        let patience = Patience::new();
        let appending = place.writer(settings.durability, patience.clone())?;
        let looking = Store::new(place.writer(settings.durability, Patience::new())?);
        let cipher = Cipher::of(&place)?;
        let shared = Self {
            appending: Mutex::new(None),
            patience,
            taken: AtomicBool::new(false),
            looking: Mutex::new(looking),
            queue: Queue::default(),
            pulse: Pulse::default(),
            keys: Keys::default(),
            bindings: Bindings::default(),
            turns: Turns::default(),
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

    /// Writes at once if that takes microseconds and nobody else is at it; queues it otherwise.
    pub(crate) fn put(&self, item: Item) -> Receipt {
        match self.put_now(&item) {
            Some(result) => Receipt::ready(result),
            None => self.queue.push(Work::Write(item)),
        }
    }

    fn put_now(&self, item: &Item) -> Option<Result<(), AppendError>> {
        let slow = match (self.settings.durability, &self.place) {
            (Durability::Process, _) | (_, Place::Memory(_)) => false,
            (Durability::Disk, Place::File(_)) => true,
        };
        if slow || self.pulse.is_failing() || self.is_taken() || !self.queue.is_empty() {
            return None;
        }
        let mut appending = self.appending.try_lock_for(ONE_APPEND)?;
        let store = appending.as_ref()?;
        match self.patience.without(|| store.commit(iter::once(item), now())) {
            Ok(()) => {
                self.written(item);
                Some(Ok(()))
            }
            Err(Fault::Busy) => None,
            Err(fault) => {
                if let Fault::Lost(_) = fault {
                    *appending = None;
                }
                self.pulse.fail(fault.why());
                Some(Err(AppendError::Store(fault.why())))
            }
        }
    }

    /// Runs something with the connection that appends, which is opened anew if it was lost. Waits
    /// for locks, for up to two seconds.
    pub(crate) fn with_appending<T>(
        &self,
        run: impl FnOnce(&Store) -> Result<T, Fault>,
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

    fn reopened<'a>(&self, appending: &'a mut Option<Store>) -> Result<&'a Store, Fault> {
        let store = match appending.take() {
            Some(store) => store,
            None => {
                let opened = self.place.writer(self.settings.durability, self.patience.clone());
                self.store(opened.map_err(|error| Fault::Lost(error.to_string()))?)
            }
        };
        Ok(appending.insert(store))
    }

    /// Gives up the connection that appends: its file is no longer the store.
    pub(crate) fn lose(&self, why: &str) {
        self.pulse.fail(why.to_owned());
        *self.appending.lock() = None;
    }

    /// Runs something with the connection that looks things up.
    pub(crate) fn with_looking<T>(
        &self,
        run: impl FnOnce(&Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        run(&self.looking.lock())
    }

    /// Opens the connection that looks things up anew.
    pub(crate) fn reopen_looking(&self) -> Result<(), OpenError> {
        let opened = self.place.writer(self.settings.durability, Patience::new())?;
        *self.looking.lock() = Store::new(opened);
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
        if let Item::Removed(removed) = item {
            self.bindings.add(removed.binding);
        }
    }

    fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Relaxed)
    }

    fn store(&self, connection: rusqlite::Connection) -> Store {
        #[allow(unused_mut, reason = "only tests change it")]
        let mut store = Store::new(connection);
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

/// How long an append waits for another one in this process before it queues: a few of them.
const ONE_APPEND: Duration = Duration::from_micros(100);
