//! The thread that keeps the store in order: checkpoints, expiry, and what other processes changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::buckets::{self, Bucket};
use crate::database::{Database, Fault};
use crate::error::OpenError;
use crate::flows::{self, FlowStep};
use crate::place::{Patience, Place, identity_of};
use crate::removed::{self, Bounds};
use crate::retention::{self, Progress};
use crate::sessions;
use crate::settings::{Durability, Location, Retention};
use crate::shared::{Shared, now};

/// Keeps a store in order, with a connection of its own. What fails is tried again a second later:
/// nobody waits for any of it.
pub(crate) struct Keeper {
    shared: Arc<Shared>,
    store: Database,
    retention: Retention,
    /// The file as it was opened.
    file: Option<(u64, u64)>,
    /// Counts the commits of other connections, of this process and others.
    version: i64,
    checkpointed: Instant,
    /// When to begin the log anew.
    pub(crate) log_bounds: LogBounds,
    expired: Option<Instant>,
}

impl Keeper {
    pub(crate) fn new(shared: Arc<Shared>) -> Result<Self, OpenError> {
        let store = open(&shared)?;
        let mut retention = shared.settings.retention.clone();
        if let Place::Memory(_) = shared.place {
            let most = Location::MEMORY_BYTES;
            retention.bytes = Some(retention.bytes.map_or(most, |bytes| bytes.min(most)));
        }
        let file = identity_of(shared.place.path());
        let checkpointed = Instant::now();
        Ok(Self {
            shared,
            store,
            retention,
            file,
            version: 0,
            checkpointed,
            log_bounds: LogBounds { checkpoint: CHECKPOINT_AT, restart: RESTART_AT },
            expired: None,
        })
    }

    /// Runs until it is told to stop.
    pub(crate) fn run(mut self, stop: &Stop) {
        // The log of a store that nobody had open begins here, for the reason that `touch` has.
        let _ = self.touch();
        while !stop.wait(TICK) {
            self.tick(stop);
        }
    }

    fn tick(&mut self, stop: &Stop) {
        self.watch_file();
        // Each is of use without the others, and each comes again.
        let _ = self.look();
        let _ = self.checkpoint();
        let _ = sessions::end_idle(&self.store, self.shared.settings.session_idle, now());
        if self.expired.is_none_or(|last| last.elapsed() >= EXPIRE_EVERY) {
            self.expired = Some(Instant::now());
            let _ = self.expire(stop);
        }
    }

    /// A store that was removed or replaced would take records that nobody can read.
    fn watch_file(&mut self) {
        let Place::File(path) = &self.shared.place else { return };
        let found = identity_of(path);
        if found == self.file {
            return;
        }
        self.shared.lose("the store's file was removed or replaced");
        if let Ok(store) = open(&self.shared) {
            self.store = store;
            self.file = identity_of(path);
            let _ = self.shared.reopen_looking();
        }
    }

    fn look(&mut self) -> Result<(), Fault> {
        let version =
            self.store.connection().query_row("PRAGMA data_version", [], |row| row.get(0))?;
        if version != self.version {
            self.shared.look()?;
            self.version = version;
        }
        Ok(())
    }

    /// Moves the log into the file, so that the log can begin anew.
    pub(crate) fn checkpoint(&mut self) -> Result<(), Fault> {
        let log = self.log("NOOP")?;
        let due = log.pending >= self.log_bounds.checkpoint
            || log.pending > FEW && self.checkpointed.elapsed() >= CHECKPOINT_EVERY;
        if !due {
            return Ok(());
        }
        self.checkpointed = Instant::now();
        let log = self.log("PASSIVE")?;
        if log.frames >= self.log_bounds.restart {
            // There is always some reader, so the log never begins anew by itself. This holds up
            // those who append for a moment, and new readers for none.
            self.log("RESTART")?;
        }
        self.touch()
    }

    /// With `process` durability, writes a little. Whoever writes first to a log that begins anew
    /// has to sync it: better this thread than somebody's call.
    fn touch(&self) -> Result<(), Fault> {
        match self.shared.settings.durability {
            Durability::Disk => Ok(()),
            Durability::Process => {
                let touch = "UPDATE touched SET times = times + 1 WHERE one = 1";
                self.store.transaction(|store| store.execute(touch, [])).map(drop)
            }
        }
    }

    fn log(&self, mode: &str) -> Result<Log, Fault> {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        let read = |row: &rusqlite::Row<'_>| {
            let (frames, done): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(Log { frames, pending: frames - done })
        };
        Ok(self.store.connection().query_row(&sql, [], read)?)
    }

    /// Lets old records, counts, removed calls, buckets and steps of sessions leave.
    pub(crate) fn expire(&self, stop: &Stop) -> Result<(), Fault> {
        while retention::expire(&self.store, &self.retention, now())? == Progress::More {
            // Between slices others write.
            if stop.wait(Duration::from_millis(2)) {
                return Ok(());
            }
        }
        retention::expire_turns(&self.store, &self.retention, now())?;
        removed::prune(&self.store, &self.shared.bindings, &Bounds::USUAL, now())?;
        buckets::prune(&self.store, Bucket::MAX_KEPT, now())?;
        flows::prune(&self.store, FlowStep::MAX_KEPT, now())
    }
}

/// Lengths of the log, in pages.
pub(crate) struct LogBounds {
    /// So many that are not yet in the file are moved there.
    pub(crate) checkpoint: i64,
    /// A log of so many is made to begin anew, also if that makes others wait for a moment.
    pub(crate) restart: i64,
}

/// The write-ahead log, in pages.
struct Log {
    frames: i64,
    /// Not yet in the file.
    pending: i64,
}

fn open(shared: &Shared) -> Result<Database, OpenError> {
    shared.place.writer(shared.settings.durability, Patience::brief()).map(Database::new)
}

/// Tells the keeper to stop.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.changed.notify_all();
    }

    /// Waits, and says whether it is time to stop.
    fn wait(&self, timeout: Duration) -> bool {
        let mut stopped = self.stopped.lock();
        if !*stopped {
            self.changed.wait_for(&mut stopped, timeout);
        }
        *stopped
    }
}

/// How late a key that another process revoked is noticed.
const TICK: Duration = Duration::from_secs(1);
/// How often old records leave.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);
/// Pages in the log that make a checkpoint: 16 MiB. Each one costs syncs, so not too often.
const CHECKPOINT_AT: i64 = 4096;
/// With `process` durability, what is written reaches the disk about so late.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// Pages that are not worth a sync: the keeper's own.
const FEW: i64 = 2;
/// Pages in a log that some reader keeps from beginning anew: 256 MiB.
const RESTART_AT: i64 = 16 * CHECKPOINT_AT;
