//! Checkpoints of the write-ahead log of a SQLite file, so that the log can restart.

use std::time::{Duration, Instant};

use crate::database::{Database, Fault};
use crate::settings::Durability;

/// When the last checkpoint was, and when the next one is due.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    durability: Durability,
    last: Instant,
    pub(crate) bounds: LogBounds,
}

/// Lengths of the log, in pages.
#[derive(Debug)]
pub(crate) struct LogBounds {
    /// With this many pages that are not in the file yet, a checkpoint runs.
    pub(crate) checkpoint: i64,
    /// A log with this many pages is forced to restart, even if writers have to wait for a moment.
    pub(crate) restart: i64,
}

/// The write-ahead log, in pages.
struct WalPages {
    frames: i64,
    /// Pages that are not in the file yet.
    pending: i64,
}

impl Checkpoints {
    pub(crate) fn new(durability: Durability) -> Self {
        let bounds = LogBounds { checkpoint: CHECKPOINT_AT, restart: RESTART_AT };
        Self { durability, last: Instant::now(), bounds }
    }

    /// Runs a checkpoint if one is due, so that the log can restart.
    pub(crate) fn run(&mut self, database: &Database) -> Result<(), Fault> {
        let log = log(database, "NOOP")?;
        let due = log.pending >= self.bounds.checkpoint
            || log.pending > FEW && self.last.elapsed() >= CHECKPOINT_EVERY;
        if !due {
            return Ok(());
        }
        self.last = Instant::now();
        let log = self::log(database, "PASSIVE")?;
        if log.frames >= self.bounds.restart {
            // There is always some reader, so the log never restarts by itself. This delays writers
            // for a moment, and new readers not at all.
            self::log(database, "RESTART")?;
        }
        self.touch(database)
    }

    /// With `process` durability, writes a few bytes. The first write to a restarted log has to
    /// sync it: better in the maintenance thread than in a call.
    pub(crate) fn touch(&self, database: &Database) -> Result<(), Fault> {
        match self.durability {
            Durability::Disk => Ok(()),
            Durability::Process => database.touch(),
        }
    }
}

fn log(database: &Database, mode: &str) -> Result<WalPages, Fault> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let read = |row: &rusqlite::Row<'_>| {
        let (frames, done): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(WalPages { frames, pending: frames - done })
    };
    Ok(database.connection().query_row(&sql, [], read)?)
}

/// Pages in the log that trigger a checkpoint: 16 MiB. Each checkpoint costs syncs, so not too
/// often.
const CHECKPOINT_AT: i64 = 4096;
/// With `process` durability, how late a write reaches the disk.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// This many pages are not worth a sync: the maintenance thread writes them itself.
const FEW: i64 = 2;
/// Pages in a log that some reader keeps from restarting: 256 MiB.
const RESTART_AT: i64 = 16 * CHECKPOINT_AT;
