//! Copies a store while other processes keep writing to it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::database::Fault;
use crate::error::OpenError;
use crate::journal::{Snapshot, Volume, create_private};
use crate::place::{self, StorePlace, companion};
use crate::reader::RecordReader;
use crate::records::file_volume;
use crate::settings::Location;
use crate::shared::migrate_legacy_store;
use crate::state::StateLock;
use crate::verify::{Verified, VerifyError};

/// A finished backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// The result of verifying the copied journal.
    pub verified: Verified,
    /// The size of the copied journal.
    pub bytes: u64,
    /// The path of the store inside the backup. A config with `store: sqlite:PATH` reads it.
    pub store: PathBuf,
}

/// Why a backup failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A store in memory cannot be backed up: it ends with its process.
    #[error("a store in memory cannot be backed up\nhint: set `store: sqlite:PATH`")]
    InMemory,
    /// A backup never overwrites or mixes with other files.
    #[error("`{}` is not empty\nhint: name a folder that does not exist yet", .0.display())]
    NotEmpty(PathBuf),
    /// The copy could not be written.
    #[error("the backup cannot be written to `{}`: {why}", path.display())]
    Write {
        /// The folder of the backup.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// The copy was written, but its hash chain is broken.
    #[error(
        "the backup was written, but its records are not intact: {0}\nhint: `callgate audit verify` checks the store itself"
    )]
    Broken(#[from] VerifyError),
}

/// Copies the journal, the state and the key file of a store into a new folder, all as of one
/// moment, and verifies the copy. Other processes may keep writing: they only wait while that
/// moment is fixed, not while files are copied. The index is not copied, because it can be rebuilt
/// from the journal.
///
/// `progress` is called with the number of journal bytes copied, and their total.
pub fn backup(
    location: &Location,
    folder: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<BackedUp, BackupError> {
    let Location::Sqlite(path) = location else { return Err(BackupError::InMemory) };
    if !location.exists() {
        return Err(OpenError::Missing { path: path.clone() }.into());
    }
    let place = StorePlace::new(location);
    migrate_legacy_store(&place)?;
    let failed = |why: String| BackupError::Write { path: folder.to_owned(), why };
    let (journal, state) = moment(&place, path)?;
    make_folder(folder)?;
    let store = folder.join(path.file_name().unwrap_or(OsStr::new("callgate.db")));
    let copy = StorePlace::File(store.clone());
    let bytes = journal.bytes();
    journal
        .copy(&place::journal(&store), &place::head(&store), &mut |done| progress(done, bytes))
        .map_err(|error| failed(error.to_string()))?;
    if let Some(state) = state {
        state.copy(copy.state().path()).map_err(|fault| failed(fault.why()))?;
    }
    copy_key(&companion(path, ".key"), &companion(&store, ".key"))
        .map_err(|error| failed(error.to_string()))?;
    File::open(folder).and_then(|it| it.sync_all()).map_err(|error| failed(error.to_string()))?;
    let reader = RecordReader::of_journal(&store);
    let verified = reader.verify(|_, _| {})?;
    Ok(BackedUp { verified, bytes, store })
}

type BackupMoment = (Snapshot, Option<crate::state::StateSnapshot>);

/// Fixes one moment for the journal and the state. A change to the state is recorded in the journal
/// before it is committed, so no change may be in progress: this locks the state first, in the same
/// order as every change does.
fn moment(place: &StorePlace, store: &Path) -> Result<BackupMoment, BackupError> {
    let volume = file_volume(store)?;
    let unreadable = |fault: Fault| match fault {
        Fault::Busy => OpenError::Locked { path: place.path().to_owned() },
        fault => OpenError::Unreadable { path: place.path().to_owned(), why: fault.why() },
    };
    let state = StateLock::take(place)?;
    let _lock = volume.lock().map_err(unreadable)?;
    let journal = Snapshot::take(&volume).map_err(unreadable)?;
    let state = state.as_ref().map(StateLock::snapshot).transpose().map_err(unreadable)?;
    Ok((journal, state))
}

/// Creates the folder for this user only, or accepts an empty one.
fn make_folder(folder: &Path) -> Result<(), BackupError> {
    let failed =
        |error: io::Error| BackupError::Write { path: folder.to_owned(), why: error.to_string() };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    match fs::read_dir(folder).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(BackupError::NotEmpty(folder.to_owned())),
    }
}

/// Without the key, removed calls in the state cannot be decrypted. A store that was never opened
/// for writing has no key.
fn copy_key(from: &Path, to: &Path) -> io::Result<()> {
    let key = match fs::read(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        key => key?,
    };
    let mut file = create_private(to)?;
    io::Write::write_all(&mut file, &key)?;
    file.sync_all()
}
