//! A journal in a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::head::SLOT;
use super::volume::{Locked, Segment, Volume};
use crate::database::Fault;
use crate::error::OpenError;
use crate::place::{check_private, give_to_owner};

/// Segment files in a folder, and the head file in another one.
#[derive(Debug)]
pub(crate) struct FileVolume {
    folder: PathBuf,
    head_path: PathBuf,
    lock: File,
    head: File,
    patience: Duration,
}

/// A volume that is only read.
#[derive(Debug)]
pub(crate) struct ReadOnlyVolume {
    folder: PathBuf,
    head_path: PathBuf,
}

#[derive(Debug)]
struct FileSegment {
    file: File,
    path: PathBuf,
    identity: (u64, u64),
}

/// How long a writer waits for the lock: each holder needs a few microseconds.
const PATIENCE: Duration = Duration::from_secs(2);

impl FileVolume {
    /// Opens the journal of a store. Creates it, for this user only, if it does not exist.
    pub(crate) fn open(folder: PathBuf, head_path: PathBuf) -> Result<Self, OpenError> {
        let unwritable = |error: io::Error| OpenError::Unwritable {
            path: folder.clone(),
            why: error.to_string(),
        };
        let head_folder = head_path.parent().unwrap_or(&head_path);
        for folder in [&folder, head_folder] {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
            check(folder)?;
        }
        let lock = private(&folder.join("lock")).map_err(unwritable)?;
        let head = private(&head_path).map_err(unwritable)?;
        for path in [&folder, &folder.join("lock"), head_folder, &head_path] {
            give_to_owner(path).map_err(unwritable)?;
        }
        Ok(Self { folder, head_path, lock, head, patience: PATIENCE })
    }

    fn try_lock(&self) -> Result<Option<FileLock<'_>>, Fault> {
        match self.lock.try_lock() {
            Ok(()) => Ok(Some(FileLock(&self.lock))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Fault::Lost(error.to_string())),
        }
    }
}

/// Rejects a journal that other users can write: they could add records, and remove some.
fn check(folder: &Path) -> Result<(), OpenError> {
    let own = rustix::process::geteuid().as_raw();
    let unreadable = |error: io::Error| OpenError::Unreadable {
        path: folder.to_owned(),
        why: error.to_string(),
    };
    let mut paths = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    for path in paths {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let mode = found.mode() & 0o7777;
        if mode & OTHERS_WRITE != 0 {
            return Err(OpenError::Exposed { path, mode });
        }
        check_private(path, &found, own)?;
    }
    Ok(())
}

/// Includes the group: callgate never makes these files writable for it.
const OTHERS_WRITE: u32 = 0o022;

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

pub(super) fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:012}.log"))
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok());
        numbers.extend(number.filter(|number| path_of(folder, *number).ends_with(&name)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn open(folder: &Path, number: u64, write: bool) -> io::Result<Option<Arc<dyn Segment>>> {
    let path = path_of(folder, number);
    let Some(file) = found(OpenOptions::new().read(true).write(write).open(&path))? else {
        return Ok(None);
    };
    Ok(Some(Arc::new(FileSegment::new(file, path)?)))
}

impl Volume for FileVolume {
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault> {
        let begun = Instant::now();
        let mut looks = 0_u32;
        loop {
            if let Some(lock) = self.try_lock()? {
                return Ok(Box::new(lock));
            }
            if begun.elapsed() >= self.patience {
                return Err(Fault::Busy);
            }
            // Other writers finish within microseconds, so the first attempts are close together.
            thread::sleep(Duration::from_micros(if looks < 40 { 50 } else { 1000 }));
            looks += 1;
        }
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        numbers(&self.folder)
    }

    fn exists(&self, number: u64) -> io::Result<bool> {
        path_of(&self.folder, number).try_exists()
    }

    fn create(&self, number: u64) -> io::Result<Arc<dyn Segment>> {
        let path = path_of(&self.folder, number);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        give_to_owner(&path)?;
        Ok(Arc::new(FileSegment::new(file, path)?))
    }

    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>> {
        open(&self.folder, number, true)
    }

    fn remove(&self, number: u64) -> io::Result<()> {
        found(fs::remove_file(path_of(&self.folder, number))).map(drop)
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }

    fn read_head(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; 2 * SLOT];
        let long = self.head.read_at(&mut bytes, 0)?;
        bytes.truncate(long);
        Ok(bytes)
    }

    fn write_head(&self, place: u64, bytes: &[u8]) -> io::Result<()> {
        // A head file that was removed would never be read again.
        if self.head.metadata()?.nlink() == 0 {
            let name = self.head_path.display();
            return Err(io::Error::other(format!("`{name}` was removed")));
        }
        self.head.write_all_at(bytes, place)
    }
}

impl ReadOnlyVolume {
    pub(crate) fn new(folder: PathBuf, head_path: PathBuf) -> Self {
        Self { folder, head_path }
    }
}

impl Volume for ReadOnlyVolume {
    fn lock(&self) -> Result<Box<dyn Locked + '_>, Fault> {
        Err(Fault::Failed("this journal is open for reading only".to_owned()))
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        found(numbers(&self.folder)).map(Option::unwrap_or_default)
    }

    fn exists(&self, number: u64) -> io::Result<bool> {
        path_of(&self.folder, number).try_exists()
    }

    fn create(&self, _: u64) -> io::Result<Arc<dyn Segment>> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn open(&self, number: u64) -> io::Result<Option<Arc<dyn Segment>>> {
        open(&self.folder, number, false)
    }

    fn remove(&self, _: u64) -> io::Result<()> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }

    fn read_head(&self) -> io::Result<Vec<u8>> {
        found(fs::read(&self.head_path)).map(Option::unwrap_or_default)
    }

    fn write_head(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(ErrorKind::PermissionDenied.into())
    }
}

impl FileSegment {
    fn new(file: File, path: PathBuf) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self { identity: (found.dev(), found.ino()), file, path })
    }
}

impl Segment for FileSegment {
    fn size(&self) -> io::Result<Option<u64>> {
        // Compares by name: a segment that was moved away would still accept records that no reader
        // finds.
        let found = found(fs::symlink_metadata(&self.path))?;
        let same = found.filter(|found| (found.dev(), found.ino()) == self.identity);
        Ok(same.map(|found| found.len()))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.file.set_len(size)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[derive(Debug)]
struct FileLock<'a>(&'a File);

impl Locked for FileLock<'_> {}

impl Drop for FileLock<'_> {
    fn drop(&mut self) {
        // If it fails, the system releases the lock with the file.
        let _ = self.0.unlock();
    }
}
