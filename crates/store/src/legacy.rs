//! Migrates stores of version 0.1, which kept everything in one SQLite file: their records go into
//! the journal and the rest into the state.
//!
//! The old file is kept next to the new store, at [`kept_path`]. It is never written again: a
//! process of the older version that still has it open, or opens it, gets an error that says so.

mod schema;
mod source;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::database::Fault;
use crate::error::OpenError;
use crate::journal::{Import, Volume};
use crate::schema::FileKind;
pub(crate) use schema::RECORDS;

/// What is at the path of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegacyFile {
    /// Nothing, or a file that is not a store of version 0.1.
    Other,
    /// A store of version 0.1.
    Old,
    /// A store of version 0.1 whose content was migrated, and which only has to be moved out of the
    /// way.
    Migrated,
}

/// The version in the header of a migrated file: higher than any version that 0.1 knows.
const MIGRATED: i64 = 1000;

/// How often a process tries again after a failure.
const RETRIES: u32 = 3;

/// How long a process waits while another one migrates a store.
const PATIENCE: Duration = Duration::from_secs(600);

/// Looks at the file without changing it.
pub(crate) fn look(path: &Path) -> Result<LegacyFile, OpenError> {
    if !path.try_exists().unwrap_or(false) {
        return Ok(LegacyFile::Other);
    }
    let unreadable = |error: rusqlite::Error| failed(path, &error.to_string());
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unreadable)?;
    // If it is not a readable database, opening the index reports that.
    Ok(match RECORDS.identify(&connection) {
        Ok(FileKind::Store(MIGRATED)) => LegacyFile::Migrated,
        Ok(FileKind::Store(version)) if (1..=RECORDS.version()).contains(&version) => {
            LegacyFile::Old
        }
        _ => LegacyFile::Other,
    })
}

/// The number of records in a store of version 0.1; `None` if there is no such store.
pub(crate) fn count(path: &Path) -> Option<u64> {
    if look(path).ok()? != LegacyFile::Old {
        return None;
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let count = "SELECT coalesce(max(seq) - min(seq) + 1, 0) FROM records";
    let count: i64 = connection.query_row(count, [], |row| row.get(0)).ok()?;
    Some(count.unsigned_abs())
}

/// Migrates a store of version 0.1, if there is one. `make_state` creates the new state from the
/// content of the old file.
///
/// It may be interrupted at any time: until the old file is marked, the next attempt starts over.
pub(crate) fn migrate(
    path: &Path,
    volume: &Arc<dyn Volume>,
    make_state: impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let begun = Instant::now();
    let mut failures = 0;
    loop {
        let done = match look(path) {
            Ok(LegacyFile::Other) => return Ok(()),
            Ok(LegacyFile::Migrated) => move_away(path, volume),
            Ok(LegacyFile::Old) => migrate_once(path, volume, &make_state),
            Err(error) => Err(MigrateError::Open(error)),
        };
        // Another process may be moving the file out of the way, and creating the index there.
        let is_failure = matches!(done, Err(MigrateError::Open(_) | MigrateError::Failed(_)));
        if is_failure && failures < RETRIES {
            failures += 1;
            thread::sleep(Duration::from_millis(50));
            continue;
        }
        match done {
            Err(MigrateError::Busy) if begun.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(MigrateError::Busy) => return Err(OpenError::Locked { path: path.to_owned() }),
            Err(MigrateError::Open(error)) => return Err(error),
            Err(MigrateError::Failed(why)) => return Err(failed(path, &why)),
            Ok(()) => {}
        }
    }
}

/// Why a store was not migrated.
enum MigrateError {
    /// Another process is migrating or using it.
    Busy,
    Open(OpenError),
    Failed(String),
}

impl From<rusqlite::Error> for MigrateError {
    fn from(error: rusqlite::Error) -> Self {
        Fault::from(error).into()
    }
}

impl From<Fault> for MigrateError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::Busy,
            fault => Self::Failed(fault.why()),
        }
    }
}

impl From<std::io::Error> for MigrateError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

fn migrate_once(
    path: &Path,
    volume: &Arc<dyn Volume>,
    make_state: &impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<(), MigrateError> {
    let mut old = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    RECORDS.migrate(&mut old)?;
    // From here on, no other process can write to the old file.
    old.execute_batch("BEGIN IMMEDIATE")?;
    if version_of(&old)? != RECORDS.version() {
        // Another process was faster.
        return Ok(());
    }
    let expired = source::expired(&old)?;
    let mut import = Import::begin(volume, expired.seq, expired.hash, expired.total)?;
    let tail = source::copy_records(&old, &expired, &mut import)?;
    import.finish(tail)?;
    make_state(path).map_err(MigrateError::Open)?;
    source::close(&old, MIGRATED)?;
    old.execute_batch("COMMIT")?;
    Ok(())
}

/// Moves a migrated file out of the way of the index.
fn move_away(path: &Path, volume: &Arc<dyn Volume>) -> Result<(), MigrateError> {
    let _lock = volume.lock()?;
    let old = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Otherwise the content of its log would be taken for the log of the index.
    let is_busy: i64 = old.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    // Another process may have been faster, and created an index here.
    if is_busy != 0 || version_of(&old)? != MIGRATED {
        return Err(MigrateError::Busy);
    }
    drop(old);
    fs::rename(path, kept_path(path))?;
    for ending in ["-wal", "-shm"] {
        remove(&with_suffix(path, ending))?;
    }
    Ok(())
}

/// Where the old file is kept until the operator deletes it.
fn kept_path(path: &Path) -> PathBuf {
    let names = (1..).map(|number| match number {
        1 => ".0.1".to_owned(),
        number => format!(".0.1-{number}"),
    });
    let mut paths = names.map(|name| with_suffix(path, &name));
    paths.find(|path| !path.exists()).unwrap_or_else(|| with_suffix(path, ".0.1"))
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    Ok(connection)
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(path: &Path, why: &str) -> OpenError {
    let why = format!("it is a store of version 0.1 that cannot be migrated: {why}");
    OpenError::Unwritable { path: path.to_owned(), why }
}
