//! Opens an index, or creates it.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::schema::{self, IndexIdentity};
use super::{Index, IndexAccess, IndexError, NameCache};
use crate::error::OpenError;
use crate::place::{StorePlace, make_private};
use crate::schema::APPLICATION;

impl Index {
    /// Opens the index at this place, or creates it. `None` if it does not exist and cannot be
    /// created. A damaged index is rebuilt; a file that is not an index is rejected and not
    /// changed.
    pub(crate) fn open(place: &StorePlace) -> Result<Option<Self>, OpenError> {
        match place {
            StorePlace::Memory(uri) => Self::in_memory(place, uri).map(Some),
            StorePlace::File(path) => match place.check_private() {
                Ok(()) => Self::at(place, path),
                // Its owner fills it.
                Err(OpenError::Owned { .. }) => Self::read_only(place),
                Err(error) => Err(error),
            },
        }
    }

    /// A private index that is gone when it is closed. SQLite keeps it in memory while it is small,
    /// and otherwise in a temporary file without a name.
    pub(crate) fn temporary() -> Result<Self, IndexError> {
        let connection = Connection::open("")?;
        set_up(&connection, "memory")?;
        let index = Self::new(connection, IndexAccess::Write);
        index.create()?;
        Ok(index)
    }

    pub(crate) fn access(&self) -> IndexAccess {
        self.access
    }

    /// Rebuilds a damaged index, even while other connections have it open.
    pub(crate) fn recreate(&self) -> Result<(), IndexError> {
        self.names.borrow_mut().clear();
        self.connection.flush_prepared_statement_cache();
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        let emptied = self.connection.execute_batch("VACUUM");
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        emptied?;
        self.create()
    }

    fn new(connection: Connection, access: IndexAccess) -> Self {
        Self { connection, access, names: RefCell::new(NameCache::default()) }
    }

    fn create(&self) -> Result<(), IndexError> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
        schema::create(&transaction)?;
        Ok(transaction.commit()?)
    }

    fn in_memory(place: &StorePlace, uri: &str) -> Result<Self, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | COMMON;
        let opened = Connection::open_with_flags(uri, flags).map_err(IndexError::from);
        let opened = opened.and_then(|connection| {
            set_up(&connection, "memory")?;
            let index = Self::new(connection, IndexAccess::Write);
            index.create()?;
            Ok(index)
        });
        opened.map_err(|error| unreadable(place, &error))
    }

    fn at(place: &StorePlace, path: &Path) -> Result<Option<Self>, OpenError> {
        if make_private(path).is_err() {
            return Self::read_only(place);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON;
        let opened = Connection::open_with_flags(path, flags);
        let Ok(connection) = opened else { return Self::read_only(place) };
        // SQLite opens a file that it cannot write without an error.
        if connection.is_readonly("main").unwrap_or(true) {
            return Self::read_only(place);
        }
        let index = Self::new(connection, IndexAccess::Write);
        match index.prepare_with_retries(place) {
            Ok(()) => Ok(Some(index)),
            Err(IndexOpenError::Open(error)) => Err(error),
            Err(IndexOpenError::Index(error)) if error.is_damage() && was_index(path) => {
                index.recreate().map_err(|error| unreadable(place, &error))?;
                Ok(Some(index))
            }
            Err(IndexOpenError::Index(error)) if error.is_damage() => {
                Err(OpenError::Foreign { path: path.to_owned(), why: error.to_string() })
            }
            // It is locked, or its folder does not allow creating the log.
            Err(IndexOpenError::Index(_)) => Self::read_only(place),
        }
    }

    /// If several processes create an index at once, SQLite reports "busy" to some without waiting
    /// for the others, because the file is not yet in a mode in which it waits. Retries for a
    /// while.
    fn prepare_with_retries(&self, place: &StorePlace) -> Result<(), IndexOpenError> {
        let begin = Instant::now();
        loop {
            match self.prepare(place) {
                Err(IndexOpenError::Index(error))
                    if error.is_lock() && begin.elapsed() < SET_UP =>
                {
                    thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    /// Checks what the file is before changing anything in it.
    fn prepare(&self, place: &StorePlace) -> Result<(), IndexOpenError> {
        self.connection.busy_timeout(PATIENCE).map_err(IndexError::from)?;
        let identity = schema::identify(&self.connection).map_err(IndexError::from)?;
        check(place, &identity)?;
        // Not a write-ahead log: a process of version 0.1 that had an older file open under this
        // name removes such a log by its name when it ends.
        set_up(&self.connection, "truncate")?;
        if identity == IndexIdentity::Empty {
            self.create()?;
        }
        self.filled()?;
        Ok(())
    }

    pub(crate) fn read_only(place: &StorePlace) -> Result<Option<Self>, OpenError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON;
        let opened = Connection::open_with_flags(place.path(), flags);
        let Ok(mut connection) = opened else { return Ok(None) };
        let identity = match schema::identify(&connection) {
            Ok(identity) => identity,
            // Without write access to the folder, SQLite cannot create the index of its log. If
            // there is no log, there is no writer and no index is needed.
            Err(_) => {
                let Some(immutable) = place.immutable() else { return Ok(None) };
                connection = immutable;
                let Ok(identity) = schema::identify(&connection) else { return Ok(None) };
                identity
            }
        };
        check(place, &identity)?;
        if identity == IndexIdentity::Empty || connection.busy_timeout(PATIENCE).is_err() {
            return Ok(None);
        }
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Some(Self::new(connection, IndexAccess::Read)))
    }
}

/// Why a file was not opened.
enum IndexOpenError {
    Open(OpenError),
    Index(IndexError),
}

impl From<OpenError> for IndexOpenError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<IndexError> for IndexOpenError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

fn set_up(connection: &Connection, mode: &str) -> Result<(), IndexError> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))?;
    // After a power loss the index is outdated, but not wrong.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // Otherwise SQLite plans each query again for each compared value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

fn check(place: &StorePlace, identity: &IndexIdentity) -> Result<(), OpenError> {
    let path = place.path().to_owned();
    let foreign = |path, why: String| Err(OpenError::Foreign { path, why });
    match identity {
        IndexIdentity::Empty | IndexIdentity::Index => Ok(()),
        IndexIdentity::Newer(found) => {
            Err(OpenError::Newer { path, found: *found, known: schema::VERSION })
        }
        // Its records would be lost.
        IndexIdentity::OldStore(version) => {
            foreign(path, format!("it is a store with schema {version} that was not migrated"))
        }
        IndexIdentity::Foreign => {
            foreign(path, "it is a SQLite database of another application".to_owned())
        }
    }
}

/// Whether the header of a file that SQLite cannot read is that of an index of this version. Only
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

fn unreadable(place: &StorePlace, error: &IndexError) -> OpenError {
    OpenError::Unreadable { path: place.path().to_owned(), why: error.to_string() }
}

/// How long to wait for the lock of another connection. A transaction that fills takes about ten
/// milliseconds.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long to retry while another process is creating the file.
const SET_UP: Duration = Duration::from_secs(2);

/// The number of cached prepared statements: enough for all of them.
const STATEMENTS: usize = 48;

/// Only one thread uses a connection at a time, so SQLite need not lock. Stores in memory are named
/// by URIs.
const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_URI);
