//! The handle that doors and commands hold.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use callgate_call::Who;
use jiff::Timestamp;

use crate::beside::{self, Added};
use crate::database::{Fault, Item};
use crate::error::{OpenError, StoreError};
use crate::flows::{self, FlowName, FlowStep};
use crate::health::Health;
use crate::keeper::{Keeper, Stop};
use crate::keys::{self, KeyInfo, KeyRefusal, NewKey, Renewed, Secret, SecretChoice, Term};
use crate::known::View;
use crate::queue::Work;
use crate::reader::Reader;
use crate::receipt::{AppendError, Receipt};
use crate::removed::{self, FoundRemoved, RemovedEntry, SealedRemoved, SoughtRemoved};
use crate::settings::Settings;
use crate::shared::{Shared, now};
use crate::turns::TurnCount;
use crate::writer;
use callgate_audit::Sealed;
use callgate_audit::{Principal, Record};

/// An open store. A handle: clones share it, and the last one dropped writes what is queued and
/// closes it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Running>);

/// The store as it was a moment ago, for all that one decision asks of it: whether another process has
/// written is looked up once.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) view: Option<View>,
}

/// A store and its two threads.
#[derive(Debug)]
struct Running {
    shared: Arc<Shared>,
    stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

impl Store {
    /// Opens a store, and makes it if there is none.
    pub fn open(settings: &Settings) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::open(settings)?);
        let keeper = Keeper::new(Arc::clone(&shared))?;
        let stop = Arc::new(Stop::default());
        let mut running = Running { shared, stop, threads: Vec::new() };
        let shared = Arc::clone(&running.shared);
        running.start("callgate-audit", move || writer::run(&shared))?;
        let stop = Arc::clone(&running.stop);
        running.start("callgate-keeper", move || keeper.run(&stop))?;
        Ok(Self(Arc::new(running)))
    }

    /// Appends a record. The receipt says when it is durable. This never waits for the store.
    pub fn append(&self, record: Record) -> Receipt {
        self.0.shared.put(Item::Record(Sealed::new(record)))
    }

    /// Appends what belongs to one call, all of it or nothing: its steps, each with its session, then
    /// its record. One transaction costs little more than the record alone.
    pub fn append_together(
        &self,
        steps: impl IntoIterator<Item = (FlowName, FlowStep)>,
        record: Record,
    ) -> Receipt {
        let steps = steps.into_iter().map(|(session, step)| flows::sealed(&session, step));
        let record = Item::Record(Sealed::new(record));
        self.0.shared.put_all(steps.chain([record]).collect())
    }

    /// Appends a record that tells nothing that another does not tell: some milliseconds later, together
    /// with its like. What is not written when the process is killed is lost.
    pub fn append_beside(&self, record: Record) {
        let shared = &self.0.shared;
        match shared.beside.add(record) {
            Added::ToOthers => {}
            Added::First => shared.queue.nudge(),
            // Where the queue has no room, the records of the calls themselves say so.
            Added::TooMany(many) => drop(shared.queue.push(Work::Write(beside::sealed(many)))),
        }
    }

    /// Looks at the store once, for several questions.
    pub fn glance(&self) -> Glance<'_> {
        Glance { shared: &self.0.shared, view: self.0.shared.view() }
    }

    /// Counts a response without calls. Written about each second, and at the end.
    pub fn count_turn(&self, count: TurnCount) {
        self.0.shared.turns.count(count, now());
    }

    /// Whether records can be written.
    pub fn health(&self) -> Health {
        self.0.shared.pulse.health()
    }

    /// Ready when everything that was appended and counted before is written, or has failed. It
    /// fails if the counts could not be written; each record has a receipt of its own.
    pub fn flush(&self) -> Receipt {
        self.0.shared.queue.push(Work::Flush)
    }

    /// Reads this very store: the only way to read one in memory.
    pub fn reader(&self) -> Result<Reader, OpenError> {
        Reader::at(&self.0.shared.place)
    }

    /// Creates a gateway key and records who created it, in one transaction. The key itself is only in
    /// the answer; the store keeps its hash.
    pub fn add_key(
        &self,
        name: &str,
        who: &Who,
        expires: Option<Timestamp>,
        by: &Principal,
    ) -> Result<Secret, StoreError> {
        let key = NewKey { name, who, expires };
        self.change_keys(|store| keys::add(store, &key, by, now()))
    }

    /// Gives a key another expiry, another secret or both, and records who did so.
    pub fn renew_key(
        &self,
        name: &str,
        term: Term,
        secret: SecretChoice,
        by: &Principal,
    ) -> Result<Renewed, StoreError> {
        self.change_keys(|store| keys::renew(store, name, (term, secret), by, now()))
    }

    /// Every gateway key, expired and revoked ones too, in the order they were made.
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, StoreError> {
        self.0.shared.with_looking(keys::list)
    }

    /// Revokes a key, and records who did so. Returns `false` if no key of that name is left to
    /// revoke.
    pub fn revoke_key(&self, name: &str, by: &Principal) -> Result<bool, StoreError> {
        self.change_keys(|store| keys::revoke(store, name, by, now()))
    }

    /// The key that was presented, if it is active at that time. Answered from memory: a key that
    /// another process makes, renews or revokes is known about a second later, and an expiry holds
    /// to the moment.
    pub fn find_key(&self, presented: &str, now: Timestamp) -> Result<KeyInfo, KeyRefusal> {
        self.0.shared.keys.find(presented, now)
    }

    /// Keeps a removed call, encrypted.
    pub fn keep_removed(&self, removed: RemovedEntry) -> Receipt {
        match self.seal_removed(removed) {
            Ok(sealed) => self.0.shared.put(Item::Removed(sealed)),
            Err(error) => Receipt::ready(Err(error)),
        }
    }

    /// Whether anything is kept for this binding. From memory, so cheap enough for every request.
    pub fn has_removed(&self, binding: &[u8; 32]) -> bool {
        self.0.shared.bindings.has(binding)
    }

    /// What is kept for this binding under any of these signs and keys: decrypted, within the bounds
    /// of [`RemovedEntry`]. It reads the store, so it may take a while.
    pub fn find_removed(
        &self,
        binding: &[u8; 32],
        sought: &SoughtRemoved,
    ) -> Result<FoundRemoved, StoreError> {
        let shared = &self.0.shared;
        shared.with_looking(|store| removed::find(store, &shared.cipher, binding, sought))
    }

    /// Whether anything is kept for this binding under any of these signs.
    pub fn knows_removed(
        &self,
        binding: &[u8; 32],
        signs: &[[u8; 32]],
    ) -> Result<bool, StoreError> {
        self.0.shared.with_looking(|store| removed::knows(store, binding, signs))
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    fn seal_removed(&self, removed: RemovedEntry) -> Result<SealedRemoved, AppendError> {
        let too_large = |what, bytes, limit| match bytes > limit {
            true => Err(AppendError::TooLarge { what, bytes, limit }),
            false => Ok(()),
        };
        too_large("a removed call", removed.content.len(), RemovedEntry::MAX_CONTENT)?;
        let signs = (removed.signs.len() + removed.keys.len()) * 32;
        too_large("the signs of a removed call", signs, RemovedEntry::MAX_SIGNS * 32)?;
        SealedRemoved::new(removed, &self.0.shared.cipher)
            .map_err(|error| AppendError::Store(error.to_string()))
    }

    /// Changes keys in the store, then in memory, so that the change holds when this returns.
    fn change_keys<T>(
        &self,
        change: impl FnOnce(&crate::database::Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let shared = &self.0.shared;
        let changed = shared.with_appending(|store| match change(store) {
            Err(StoreError::Failed(why)) => Err(Fault::Failed(why)),
            // A refused name is no fault of the store: it goes through inside of the answer.
            changed => shared.keys.load(store).map(|()| changed),
        });
        changed.map_err(|fault| StoreError::Failed(fault.why()))?
    }
}

impl Running {
    fn start(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
        let started = thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(started.map_err(|error| OpenError::Thread(error.to_string()))?);
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.stop.stop();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so, and has answered all who waited.
            let _ = thread.join();
        }
    }
}
