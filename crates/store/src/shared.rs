//! What the handles, the writer and the keeper share.

use std::sync::Arc;

use jiff::Timestamp;

use callgate_audit::{Record, Sealed};

use crate::beside::Beside;
use crate::cipher::Cipher;
use crate::database::Fault;
use crate::error::OpenError;
use crate::health::Health;
use crate::index::Index;
use crate::journal::Volume;
use crate::legacy;
use crate::place::Place;
use crate::queue::{Queue, Urgency, Work, Write};
use crate::receipt::Receipt;
use crate::records::{Records, file_volume};
use crate::settings::Settings;
use crate::state::keys::KnownKeys;
use crate::state::known::Known;
use crate::state::removed::Bindings;
use crate::state::sessions::KnownSessions;
use crate::state::turns::CountedTurns;
use crate::state::{Kept, StateDb};

/// An open store and what is known of it in memory.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) place: Place,
    pub(crate) settings: Settings,
    pub(crate) records: Records,
    pub(crate) state: StateDb,
    pub(crate) queue: Queue,
    pub(crate) keys: KnownKeys,
    pub(crate) bindings: Bindings,
    pub(crate) turns: CountedTurns,
    pub(crate) sessions: KnownSessions,
    pub(crate) beside: Beside,
    pub(crate) known: Known,
    pub(crate) cipher: Cipher,
}

impl Shared {
    pub(crate) fn open(settings: &Settings) -> Result<Self, OpenError> {
        let place = Place::new(&settings.store);
        bring_up_to_date(&place)?;
        // Made by whoever comes first, so that an older callgate sees that it is too old.
        drop(Index::open(&place)?);
        let records = Records::open(&place, settings)?;
        let state = StateDb::open(&place, settings.durability)?;
        let cipher = Cipher::of(&place)?;
        let shared = Self {
            records,
            state,
            queue: Queue::default(),
            keys: KnownKeys::default(),
            bindings: Bindings::default(),
            turns: CountedTurns::default(),
            sessions: KnownSessions::default(),
            beside: Beside::default(),
            known: Known::default(),
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

    /// Queues something for the writer thread: what is kept first, then the records. The caller never
    /// waits for the store.
    pub(crate) fn put(&self, kept: Vec<Kept>, records: Vec<Sealed>) -> Receipt {
        self.queue.push(Work::Write(Write { kept, records }), Urgency::Now)
    }

    /// Records what is about to be changed: see [`Then`](crate::state::Then).
    pub(crate) fn record(&self, told: impl IntoIterator<Item = Record>) -> Result<(), Fault> {
        self.append_first(told.into_iter().map(Sealed::new).collect())
    }

    /// Appends what must be on record before a change of the state holds. Whatever is wrong with the
    /// records, nothing is wrong with the state.
    pub(crate) fn append_first(&self, records: Vec<Sealed>) -> Result<(), Fault> {
        self.records.append(&records).map_err(|fault| Fault::NotRecorded(fault.why()))
    }

    /// Looks for keys and removed calls of other processes.
    pub(crate) fn look(&self) -> Result<(), Fault> {
        self.keys.load(&self.state)?;
        self.bindings.look(&self.state)
    }

    /// What is to be known in memory about something that was written, before anybody hears of it.
    pub(crate) fn written(&self, kept: &Kept) {
        match kept {
            Kept::Removed(removed) => self.bindings.add(removed.binding),
            Kept::Step(step) => self.known.add_flow(step.key()),
        }
    }

    pub(crate) fn health(&self) -> Health {
        match self.records.pulse.health() {
            Health::Ok => self.state.writing.pulse.health(),
            failing => failing,
        }
    }
}

/// Moves the content of a store of version 0.1, if one lies there, to where it belongs now.
pub(crate) fn bring_up_to_date(place: &Place) -> Result<(), OpenError> {
    let Place::File(path) = place else { return Ok(()) };
    if legacy::look(path)? == legacy::Found::Other {
        return Ok(());
    }
    place.check_private()?;
    let volume: Arc<dyn Volume> = Arc::new(file_volume(place)?);
    legacy::move_over(path, &volume, |older| {
        let state = StateDb::anew(place)?;
        state.take_over(older).map_err(|fault| OpenError::Unwritable {
            path: place.state().path().to_owned(),
            why: fault.why(),
        })
    })
}

/// Microseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
