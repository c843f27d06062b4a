//! Stores of version 0.1, which kept everything in one SQLite file: how their records get into the journal
//! and the rest into the state.
//!
//! The old file is kept beside the new store, under the name that [`kept_path`] gives. It is never written
//! again: a process of the older version that still has it open, or opens it, is told so and fails.

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
use crate::schema::Identity;
pub(crate) use schema::RECORDS;

/// What lies where a store should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing, or something that is no store of version 0.1.
    Other,
    /// A store of version 0.1.
    Old,
    /// One whose content has been moved, and which only has to get out of the way.
    Moved,
}

/// Written into the header of a file whose content has been moved: higher than any version that 0.1 knows.
const MOVED: i64 = 1000;

/// How long a process waits while another one moves a store.
const PATIENCE: Duration = Duration::from_secs(600);

/// Says what lies there, without changing it.
pub(crate) fn look(path: &Path) -> Result<Found, OpenError> {
    if !path.try_exists().unwrap_or(false) {
        return Ok(Found::Other);
    }
    let unreadable = |error: rusqlite::Error| failed(path, &error.to_string());
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unreadable)?;
    // What cannot be read as a database is for whoever opens the index to tell.
    Ok(match RECORDS.identify(&connection) {
        Ok(Identity::Store(MOVED)) => Found::Moved,
        Ok(Identity::Store(version)) if (1..=RECORDS.version()).contains(&version) => Found::Old,
        _ => Found::Other,
    })
}

/// How many records a store of version 0.1 has; `None` if there is no such store.
pub(crate) fn count(path: &Path) -> Option<u64> {
    if look(path).ok()? != Found::Old {
        return None;
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let count = "SELECT coalesce(max(seq) - min(seq) + 1, 0) FROM records";
    let count: i64 = connection.query_row(count, [], |row| row.get(0)).ok()?;
    Some(count.unsigned_abs())
}

/// Moves a store of version 0.1, if one lies there. `make_state` makes a new
/// state of what this file holds.
///
/// It may be stopped at any time: as long as the old file is not marked, the next one begins anew.
pub(crate) fn move_over(
    path: &Path,
    volume: &Arc<dyn Volume>,
    make_state: impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let begun = Instant::now();
    loop {
        let done = match look(path)? {
            Found::Other => return Ok(()),
            Found::Moved => put_aside(path, volume),
            Found::Old => move_once(path, volume, &make_state),
        };
        match done {
            Err(MoveError::Busy) if begun.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(MoveError::Busy) => return Err(OpenError::Locked { path: path.to_owned() }),
            Err(MoveError::Open(error)) => return Err(error),
            Err(MoveError::Failed(why)) => return Err(failed(path, &why)),
            Ok(()) => {}
        }
    }
}

/// Why a store was not moved.
enum MoveError {
    /// Another process moves or uses it.
    Busy,
    Open(OpenError),
    Failed(String),
}

impl From<rusqlite::Error> for MoveError {
    fn from(error: rusqlite::Error) -> Self {
        Fault::from(error).into()
    }
}

impl From<Fault> for MoveError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::Busy,
            fault => Self::Failed(fault.why()),
        }
    }
}

impl From<std::io::Error> for MoveError {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

fn move_once(
    path: &Path,
    volume: &Arc<dyn Volume>,
    make_state: &impl Fn(&Path) -> Result<(), OpenError>,
) -> Result<(), MoveError> {
    let mut old = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    RECORDS.migrate(&mut old)?;
    // From here on nobody else writes to the old file.
    old.execute_batch("BEGIN IMMEDIATE")?;
    if version_of(&old)? != RECORDS.version() {
        // Another process was faster.
        return Ok(());
    }
    let expired = source::expired(&old)?;
    let mut import = Import::begin(volume, expired.seq, expired.hash, expired.total)?;
    let tail = source::copy_records(&old, &expired, &mut import)?;
    import.finish(tail)?;
    make_state(path).map_err(MoveError::Open)?;
    source::close(&old, MOVED)?;
    old.execute_batch("COMMIT")?;
    Ok(())
}

/// Gets a file whose content was moved out of the way of the index.
fn put_aside(path: &Path, volume: &Arc<dyn Volume>) -> Result<(), MoveError> {
    let _lock = volume.lock()?;
    let old = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // What is still in its log would be taken for the log of the index.
    let is_busy: i64 = old.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    // Another process may have been faster, and made an index here.
    if is_busy != 0 || version_of(&old)? != MOVED {
        return Err(MoveError::Busy);
    }
    drop(old);
    fs::rename(path, kept_path(path))?;
    for ending in ["-wal", "-shm"] {
        remove(&beside(path, ending))?;
    }
    Ok(())
}

/// Where the old file is kept until the operator deletes it.
fn kept_path(path: &Path) -> PathBuf {
    let names = (1..).map(|number| match number {
        1 => ".0.1".to_owned(),
        number => format!(".0.1-{number}"),
    });
    let mut paths = names.map(|name| beside(path, &name));
    paths.find(|path| !path.exists()).unwrap_or_else(|| beside(path, ".0.1"))
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    Ok(connection)
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
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
    let why = format!("it is a store of version 0.1, and its content cannot be moved: {why}");
    OpenError::Unwritable { path: path.to_owned(), why }
}
