//! The write-ahead log of a SQLite file: moved into the file now and then, so that it can begin anew.

use std::time::{Duration, Instant};

use crate::database::{Database, Fault};
use crate::settings::Durability;

/// When the log of a file was last moved, and when it is to be moved again.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    durability: Durability,
    last: Instant,
    pub(crate) bounds: LogBounds,
}

/// Lengths of the log, in pages.
#[derive(Debug)]
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

impl Checkpoints {
    pub(crate) fn new(durability: Durability) -> Self {
        let bounds = LogBounds { checkpoint: CHECKPOINT_AT, restart: RESTART_AT };
        Self { durability, last: Instant::now(), bounds }
    }

    /// Moves the log into the file if it is time to, so that the log can begin anew.
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
            // There is always some reader, so the log never begins anew by itself. This holds up
            // those who write for a moment, and new readers for none.
            self::log(database, "RESTART")?;
        }
        self.touch(database)
    }

    /// With `process` durability, writes a little. Whoever writes first to a log that begins anew
    /// has to sync it: better the keeper's thread than somebody's call.
    pub(crate) fn touch(&self, database: &Database) -> Result<(), Fault> {
        match self.durability {
            Durability::Disk => Ok(()),
            Durability::Process => database.touch(),
        }
    }
}

fn log(database: &Database, mode: &str) -> Result<Log, Fault> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let read = |row: &rusqlite::Row<'_>| {
        let (frames, done): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(Log { frames, pending: frames - done })
    };
    Ok(database.connection().query_row(&sql, [], read)?)
}

/// Pages in the log that make a checkpoint: 16 MiB. Each one costs syncs, so not too often.
const CHECKPOINT_AT: i64 = 4096;
/// With `process` durability, what is written reaches the disk about so late.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);
/// Pages that are not worth a sync: the keeper's own.
const FEW: i64 = 2;
/// Pages in a log that some reader keeps from beginning anew: 256 MiB.
const RESTART_AT: i64 = 16 * CHECKPOINT_AT;
