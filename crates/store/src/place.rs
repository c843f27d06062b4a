//! The files of a store, and how connections to them are opened.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::OpenError;
use crate::schema::{FileKind, Schema};
use crate::settings::{Durability, Location};

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StorePlace {
    /// A file.
    File(PathBuf),
    /// A named database in the memory of this process, which lasts while a connection to it is
    /// open.
    Memory(String),
}

/// A companion file of a store: the path of the store with this suffix.
pub(crate) fn companion(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The folder of a store's journal.
pub(crate) fn journal(store: &Path) -> PathBuf {
    companion(store, ".journal")
}

/// The file with the head of a store's journal. It has a folder of its own: it is written with every
/// batch of records, and a program that watches the folder of the store must not wake up each time.
pub(crate) fn head(store: &Path) -> PathBuf {
    companion(store, ".head").join("last")
}

impl StorePlace {
    /// A new place for this location. Each store in memory gets its own.
    pub(crate) fn new(location: &Location) -> Self {
        static STORES: AtomicU64 = AtomicU64::new(0);
        match location {
            Location::Sqlite(path) => Self::File(path.clone()),
            Location::Memory => {
                let number = STORES.fetch_add(1, Ordering::Relaxed);
                Self::Memory(format!("file:/callgate-audit-{number}?vfs=memdb"))
            }
        }
    }

    /// The path of the file, or a display name for a store in memory.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Memory(_) => Path::new("memory"),
        }
    }

    /// A companion file: the path of the store with this suffix. A store in memory has none.
    pub(crate) fn companion(&self, ending: &str) -> Option<PathBuf> {
        match self {
            Self::File(path) => Some(companion(path, ending)),
            Self::Memory(_) => None,
        }
    }

    /// The place of the state.
    pub(crate) fn state(&self) -> Self {
        match self {
            Self::File(path) => Self::File(companion(path, ".state")),
            Self::Memory(uri) => Self::Memory(uri.replace("callgate-audit", "callgate-state")),
        }
    }

    /// Opens the file for writing. Creates it, and its folder, if it does not exist.
    pub(crate) fn writer(
        &self,
        schema: &Schema,
        durability: Durability,
        patience: Patience,
    ) -> Result<Connection, OpenError> {
        let mut connection = match self {
            Self::File(path) => {
                make_private(path).map_err(|error| self.unwritable(error))?;
                self.check_private()?;
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON)
            }
            Self::Memory(uri) => Connection::open_with_flags(
                uri,
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | COMMON,
            ),
        }
        .map_err(|error| self.failed(&error))?;
        let identity = self
            .set_up_with_retries(&mut connection, schema, durability, &patience)
            .map_err(|error| self.failed(&error))?;
        self.check(schema, &identity)?;
        if identity != FileKind::Store(schema.version()) {
            schema.migrate(&mut connection).map_err(|error| self.failed(&error))?;
        }
        Ok(connection)
    }

    /// If several processes open a new store at once, SQLite reports "busy" to some without waiting
    /// for the others, because the file is not yet in a mode in which it waits. Retries for a
    /// while.
    fn set_up_with_retries(
        &self,
        connection: &mut Connection,
        schema: &Schema,
        durability: Durability,
        patience: &Patience,
    ) -> rusqlite::Result<FileKind> {
        let begin = Instant::now();
        loop {
            match self.set_up(connection, schema, durability, patience.clone()) {
                Err(error) if is_busy(&error) && begin.elapsed() < SET_UP => {
                    thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    fn set_up(
        &self,
        connection: &mut Connection,
        schema: &Schema,
        durability: Durability,
        patience: Patience,
    ) -> rusqlite::Result<FileKind> {
        connection.busy_handler(Some(move |count| patience.wait(count)))?;
        let identity = schema.identify(connection)?;
        if identity == FileKind::Foreign {
            return Ok(identity);
        }
        let mode = match self {
            Self::File(_) => "wal",
            Self::Memory(_) => "memory",
        };
        let set: String =
            connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))?;
        if set != mode {
            let why = format!("the file system does not allow journal mode {mode}, only {set}");
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
                Some(why),
            ));
        }
        let synchronous = match durability {
            Durability::Disk => "FULL",
            // A commit is a write; only checkpoints sync, which keeps the file intact.
            Durability::Process => "NORMAL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // The maintenance thread runs the checkpoints, so that no call has to wait for one.
        connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
        connection.pragma_update_and_check(None, "journal_size_limit", WAL_KEPT, |_| Ok(()))?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        // Otherwise SQLite plans each query again for each compared value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(identity)
    }

    /// Opens a file that has no writer, without locks.
    pub(crate) fn immutable(&self) -> Option<Connection> {
        let uri = self.immutable_uri()?;
        Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON).ok()
    }

    /// The URI for reading a file that has no writer, without locks.
    pub(crate) fn immutable_uri(&self) -> Option<String> {
        let Self::File(path) = self else { return None };
        let log = self.companion("-wal")?;
        if fs::metadata(log).is_ok_and(|log| log.len() > 0) {
            return None;
        }
        let mut uri = String::from("file:");
        for byte in path.to_str()?.bytes() {
            match byte {
                b'/' | b'-' | b'_' | b'.' => uri.push(char::from(byte)),
                _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
                _ => uri.push_str(&format!("%{byte:02x}")),
            }
        }
        uri.push_str("?immutable=1");
        Some(uri)
    }

    /// Rejects a store that other users could write or replace: they could add gateway keys.
    #[cfg(unix)]
    pub(crate) fn check_private(&self) -> Result<(), OpenError> {
        let Self::File(path) = self else { return Ok(()) };
        let own = rustix::process::geteuid().as_raw();
        let files = ["", "-wal", "-shm"].iter().filter_map(|ending| self.companion(ending));
        for path in files.chain(folders(path)) {
            // A log that does not exist yet will get the permissions of the store.
            let Ok(found) = fs::metadata(&path) else { continue };
            check_private(path, &found, own)?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn check_private(&self) -> Result<(), OpenError> {
        Ok(())
    }

    pub(crate) fn check(&self, schema: &Schema, identity: &FileKind) -> Result<(), OpenError> {
        match identity {
            FileKind::Empty => Ok(()),
            FileKind::Store(found) if *found <= schema.version() => Ok(()),
            FileKind::Store(found) => Err(OpenError::Newer {
                path: self.path().to_owned(),
                found: *found,
                known: schema.version(),
            }),
            FileKind::Foreign => Err(OpenError::Foreign {
                path: self.path().to_owned(),
                why: "it is a SQLite database of another application".to_owned(),
            }),
        }
    }

    fn failed(&self, error: &rusqlite::Error) -> OpenError {
        self.sorted(error).unwrap_or_else(|| OpenError::Unwritable {
            path: self.path().to_owned(),
            why: error.to_string(),
        })
    }

    pub(crate) fn unreadable(&self, error: &rusqlite::Error) -> OpenError {
        self.sorted(error).unwrap_or_else(|| OpenError::Unreadable {
            path: self.path().to_owned(),
            why: error.to_string(),
        })
    }

    fn unwritable(&self, error: io::Error) -> OpenError {
        OpenError::Unwritable { path: self.path().to_owned(), why: error.to_string() }
    }

    fn sorted(&self, error: &rusqlite::Error) -> Option<OpenError> {
        let path = self.path().to_owned();
        match error.sqlite_error_code()? {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(OpenError::Locked { path }),
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
                Some(OpenError::Foreign { path, why: error.to_string() })
            }
            _ => None,
        }
    }
}

/// Checks that only this user, root and the group can write the file or folder. In a folder such as
/// `/tmp` only the owner of a file can replace it. Root can write everywhere, and is often given
/// folders of other users to work in.
#[cfg(unix)]
pub(crate) fn check_private(
    path: PathBuf,
    found: &fs::Metadata,
    own: u32,
) -> Result<(), OpenError> {
    use std::os::unix::fs::MetadataExt;
    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let mode = found.mode() & 0o7777;
    if mode & OTHERS_WRITE != 0 && !(found.is_dir() && mode & STICKY != 0) {
        return Err(OpenError::Exposed { path, mode });
    }
    let owner = found.uid();
    if own != 0 && owner != 0 && owner != own {
        return Err(OpenError::Owned { path, owner, own });
    }
    Ok(())
}

/// Every folder whose writers could replace this file: its own folder, and for a symbolic link also
/// the folders of each link and of the target.
#[cfg(unix)]
fn folders(path: &Path) -> Vec<PathBuf> {
    let folder_of = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or_else(|| PathBuf::from("."), Path::to_owned)
    };
    let mut folders = vec![folder_of(path)];
    let (mut ways, mut links) = (vec![path.to_owned()], 0);
    while let Some(way) = ways.pop().filter(|_| links < MAX_LINKS) {
        for link in way.ancestors() {
            let Ok(target) = fs::read_link(link) else { continue };
            let folder = folder_of(link);
            ways.push(folder.join(target));
            folders.push(folder);
            links += 1;
        }
    }
    folders.extend(fs::canonicalize(path).ok().as_deref().map(folder_of));
    folders
}

/// How many symbolic links are followed; the usual limit of operating systems.
#[cfg(unix)]
const MAX_LINKS: usize = 40;

/// How long a connection waits for another connection's lock. Shared with the connection's busy
/// handler, so that a single attempt can be made without waiting.
#[derive(Debug, Clone)]
pub(crate) struct Patience {
    waits: Arc<AtomicBool>,
    /// The number of waits of a millisecond each, after the first short ones.
    milliseconds: i32,
}

impl Patience {
    /// Waits up to two seconds.
    pub(crate) fn new() -> Self {
        Self { waits: Arc::new(AtomicBool::new(true)), milliseconds: 2000 }
    }

    /// Waits up to a fifth of a second: for work that can be done later.
    pub(crate) fn brief() -> Self {
        Self { milliseconds: 200, ..Self::new() }
    }

    /// Runs a closure without waiting for locks.
    pub(crate) fn without<T>(&self, run: impl FnOnce() -> T) -> T {
        self.waits.store(false, Ordering::Relaxed);
        let done = run();
        self.waits.store(true, Ordering::Relaxed);
        done
    }

    /// Another writer of this kind finishes within microseconds, so the first attempts are close
    /// together. Later ones are a millisecond apart.
    pub(crate) fn wait(&self, count: i32) -> bool {
        const CLOSE: i32 = 40;
        if !self.waits.load(Ordering::Relaxed) || count >= CLOSE + self.milliseconds {
            return false;
        }
        thread::sleep(Duration::from_micros(if count < CLOSE { 50 } else { 1000 }));
        true
    }
}

/// The device and inode of a file, to notice when it is removed or replaced.
pub(crate) fn identity_of(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        path.exists().then_some((0, 0))
    }
}

/// Creates the file and its folder, for this user only. Does not change what exists already.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    // An existing file must not even be opened: closing it would release the locks that SQLite
    // holds on it for other connections of this process.
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => give_to_owner(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a file that root has created to the owner of its folder. Only root can do that, and only
/// root has to: `sudo callgate keys add` must not leave files that the service, which runs as
/// another user, cannot write.
pub(crate) fn give_to_owner(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, lchown};
    if !rustix::process::geteuid().is_root() || fs::symlink_metadata(path)?.uid() != 0 {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let owner = fs::metadata(folder.unwrap_or(Path::new(".")))?;
    lchown(path, Some(owner.uid()), Some(owner.gid()))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on must stop")]
mod tests {
    use std::os::unix::fs::{MetadataExt, chown};

    use super::*;

    #[test]
    fn files_made_by_root_belong_to_the_owner_of_the_folder() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        chown(folder.path(), Some(1234), Some(1234)).unwrap();
        let path = folder.path().join("callgate.db");
        let store = crate::Settings::at(crate::Location::Sqlite(path.clone()));
        drop(crate::Store::open(&store).unwrap());
        let journal = folder.path().join("callgate.db.journal");
        for folder in [folder.path(), &journal] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let owner = fs::symlink_metadata(&path).unwrap().uid();
                assert_eq!(owner, 1234, "{}", path.display());
            }
        }
    }

    #[test]
    fn a_file_of_another_user_is_not_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        make_private(&path).unwrap();
        let own = fs::metadata(&path).unwrap().uid();
        let check = |own| check_private(path.clone(), &fs::metadata(&path).unwrap(), own);
        check(own).unwrap();
        if own == 0 {
            // A file that root created for another user is accepted.
            check(1000).unwrap();
            chown(&path, Some(1001), None).unwrap();
        }
        let owner = fs::metadata(&path).unwrap().uid();
        let error = check(owner + 1).unwrap_err().to_string();
        assert!(error.contains(&format!("belongs to another user (uid {owner})")), "{error}");
        assert!(
            error.contains("hint: run callgate as that user, or take the file over with `chown"),
            "{error}"
        );
        check(owner).unwrap();
        check(0).unwrap();
    }
}

/// How long to retry a busy store: as long as a connection waits for a lock.
const SET_UP: Duration = Duration::from_secs(2);

/// Only one thread uses a connection at a time, so SQLite need not lock. Stores in memory are named
/// by URIs.
pub(crate) const COMMON: OpenFlags =
    OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_URI);

/// A larger log is truncated to this size when it restarts: four times the size that triggers a
/// checkpoint.
const WAL_KEPT: i64 = 64 * 1024 * 1024;

/// The page cache of each connection. SQLite wants KiB as a negative number. Appending only touches
/// the end of a table.
const CACHE_KIB: i64 = -512;
