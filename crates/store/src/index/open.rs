//! Opening an index, and making one.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::schema::{self, Identity};
use super::{Access, Index, IndexError, NameCache};
use crate::error::OpenError;
use crate::place::{Place, make_private};
use crate::schema::APPLICATION;

impl Index {
    /// Opens the index at this place, and makes it if there is none. `None` if there is none and none can
    /// be made. One that is damaged is made anew; a file of something else is refused and left as it is.
    pub(crate) fn open(place: &Place) -> Result<Option<Self>, OpenError> {
        match place {
            Place::Memory(uri) => Self::in_memory(place, uri).map(Some),
            Place::File(path) => match place.check_private() {
                Ok(()) => Self::at(place, path),
                // Whoever it belongs to fills it.
                Err(OpenError::Owned { .. }) => Self::read_only(place),
                Err(error) => Err(error),
            },
        }
    }

    /// An index that nobody else sees, and that is gone when it is closed. SQLite keeps it in memory while
    /// it is small, and in a temporary file without a name otherwise.
    pub(crate) fn temporary() -> Result<Self, IndexError> {
        let connection = Connection::open("")?;
        set_up(&connection, "memory")?;
        let index = Self::new(connection, Access::Write);
        index.create()?;
        Ok(index)
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Makes a damaged index anew, also while others have it open.
    pub(crate) fn recreate(&self) -> Result<(), IndexError> {
        self.names.borrow_mut().clear();
        self.connection.flush_prepared_statement_cache();
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        let emptied = self.connection.execute_batch("VACUUM");
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        emptied?;
        self.create()
    }

    fn new(connection: Connection, access: Access) -> Self {
        Self { connection, access, names: RefCell::new(NameCache::default()) }
    }

    fn create(&self) -> Result<(), IndexError> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
        schema::create(&transaction)?;
        Ok(transaction.commit()?)
    }

    fn in_memory(place: &Place, uri: &str) -> Result<Self, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | COMMON;
        let opened = Connection::open_with_flags(uri, flags).map_err(IndexError::from);
        let opened = opened.and_then(|connection| {
            set_up(&connection, "memory")?;
            let index = Self::new(connection, Access::Write);
            index.create()?;
            Ok(index)
        });
        opened.map_err(|error| unreadable(place, &error))
    }

    fn at(place: &Place, path: &Path) -> Result<Option<Self>, OpenError> {
        if make_private(path).is_err() {
            return Self::read_only(place);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON;
        let opened = Connection::open_with_flags(path, flags);
        let Ok(connection) = opened else { return Self::read_only(place) };
        // SQLite opens a file that cannot be written without complaint.
        if connection.is_readonly("main").unwrap_or(true) {
            return Self::read_only(place);
        }
        let index = Self::new(connection, Access::Write);
        match index.prepare_in_time(place) {
            Ok(()) => Ok(Some(index)),
            Err(Refusal::Open(error)) => Err(error),
            Err(Refusal::Index(error)) if error.is_damage() && was_index(path) => {
                index.recreate().map_err(|error| unreadable(place, &error))?;
                Ok(Some(index))
            }
            Err(Refusal::Index(error)) if error.is_damage() => {
                Err(OpenError::Foreign { path: path.to_owned(), why: error.to_string() })
            }
            // Locked, or in a folder where its log cannot be made.
            Err(Refusal::Index(_)) => Self::read_only(place),
        }
    }

    /// Where several processes make an index at once, SQLite says to some that it is busy without waiting
    /// for the others: it is not yet in the mode in which it would.
    fn prepare_in_time(&self, place: &Place) -> Result<(), Refusal> {
        let begin = Instant::now();
        loop {
            match self.prepare(place) {
                Err(Refusal::Index(error)) if error.is_lock() && begin.elapsed() < SET_UP => {
                    thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    /// Checks what the file is before anything in it is changed.
    fn prepare(&self, place: &Place) -> Result<(), Refusal> {
        self.connection.busy_timeout(PATIENCE).map_err(IndexError::from)?;
        let identity = schema::identify(&self.connection).map_err(IndexError::from)?;
        check(place, &identity)?;
        // Not a write-ahead log: a process of version 0.1 that had an older file open under this name removes
        // such a log by its name when it ends.
        set_up(&self.connection, "truncate")?;
        if identity == Identity::Empty {
            self.create()?;
        }
        self.filled()?;
        Ok(())
    }

    pub(crate) fn read_only(place: &Place) -> Result<Option<Self>, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON;
        let opened = Connection::open_with_flags(place.path(), flags);
        let Ok(mut connection) = opened else { return Ok(None) };
        let identity = match schema::identify(&connection) {
            Ok(identity) => identity,
            // Without the right to write into the folder SQLite cannot make the index of its log. If
            // there is no log, nobody writes and none is needed.
            Err(_) => {
                let Some(immutable) = place.immutable() else { return Ok(None) };
                connection = immutable;
                let Ok(identity) = schema::identify(&connection) else { return Ok(None) };
                identity
            }
        };
        check(place, &identity)?;
        if identity == Identity::Empty || connection.busy_timeout(PATIENCE).is_err() {
            return Ok(None);
        }
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Some(Self::new(connection, Access::Read)))
    }
}

/// Why a file was not opened.
enum Refusal {
    Open(OpenError),
    Index(IndexError),
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

fn set_up(connection: &Connection, mode: &str) -> Result<(), IndexError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))?;
    // After a power loss the index is old, not wrong.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // Otherwise each query that compares with a value is planned again for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

fn check(place: &Place, identity: &Identity) -> Result<(), OpenError> {
    let path = place.path().to_owned();
    let foreign = |path, why: String| Err(OpenError::Foreign { path, why });
    match identity {
        Identity::Empty | Identity::Index => Ok(()),
        Identity::Newer(found) => {
            Err(OpenError::Newer { path, found: *found, known: schema::VERSION })
        }
        // Its records would be lost.
        Identity::OldStore(version) => {
            foreign(path, format!("it is a store with schema {version} that was not migrated"))
        }
        Identity::Foreign => foreign(path, "it is a SQLite database of something else".to_owned()),
    }
}

/// Whether a file that SQLite cannot read says in its header that it is an index of this version. Only
/// then may it be overwritten.
fn was_index(path: &Path) -> bool {
    let mut header = [0; 72];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let number = |at: usize| {
        let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(|bytes| i64::from(u32::from_be_bytes(bytes)))
    };
    read.is_ok()
        && header.starts_with(b"SQLite format 3\0")
        && number(60) == Some(schema::VERSION)
        && number(68) == Some(APPLICATION)
}

fn unreadable(place: &Place, error: &IndexError) -> OpenError {
    OpenError::Unreadable { path: place.path().to_owned(), why: error.to_string() }
}

/// How long another connection's lock is waited for. A transaction that fills takes some ten milliseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// For how long a file that is being made by another process is tried again.
const SET_UP: Duration = Duration::from_secs(2);

/// Statements that are kept prepared: all of them.
const STATEMENTS: usize = 48;

/// One thread uses a connection at a time, so SQLite need not lock; names of stores in memory are
/// addresses.
const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_URI);
