//! The socket of the API, held by one process at a time.
//!
//! The process that holds the lock file next to the socket owns the socket. The operating system
//! releases the lock when the process ends, however it ends, so a socket without a locked file
//! belongs to a dead process and is replaced. The lock file itself stays: if it were removed, two
//! processes could each lock a file of that name.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tokio::net::UnixListener;

/// A socket that this process owns. Dropping it removes it.
#[derive(Debug)]
pub struct OwnedSocket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    /// The device and inode of the socket file. On drop, a file that another process has put in its
    /// place stays.
    made: (u64, u64),
    _lock: File,
}

/// Why a socket cannot be taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// A running process has it.
    #[error("another gateway uses the socket `{}`", path.display())]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// Other users could put another socket in its place.
    #[error("other users can write the folder `{}` (mode {mode:o})\nhint: run `chmod go-w {}`, or choose another place with `api.listen`", folder.display(), folder.display())]
    Exposed {
        /// The folder.
        folder: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The owner of the folder could put another socket in its place.
    #[error("the folder `{}` belongs to another user (uid {owner})\nhint: choose another place with `api.listen`", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The owner's user id.
        owner: u32,
    },
    /// There is a file that is not a socket.
    #[error("`{}` is not a socket\nhint: remove it, or choose another place with `api.listen`", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot listen on the socket `{}`: {source}\nhint: choose another place with `api.listen`, or turn it off with `api.listen: off`", path.display())]
    Failed {
        /// The socket.
        path: PathBuf,
        /// Its error.
        source: io::Error,
    },
}

impl OwnedSocket {
    /// Takes the socket at this path. Call it inside a Tokio runtime.
    pub fn take(path: &Path) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Failed { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        check_folder(folder, failed)?;
        let lock = lock(path)?;
        match fs::symlink_metadata(path) {
            Ok(there) if !there.file_type().is_socket() => {
                return Err(SocketError::NotASocket { path: path.to_owned() });
            }
            _ => {}
        }
        let (listener, made) = listen(path).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), made, _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OwnedSocket {
    fn drop(&mut self) {
        let is_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|it| (it.dev(), it.ino()) == self.made);
        if is_ours {
            // An error does not matter, because the next process replaces the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn check_folder(
    folder: &Path,
    failed: impl Fn(io::Error) -> SocketError,
) -> Result<(), SocketError> {
    let about = folder.metadata().map_err(failed)?;
    let (owner, mode) = (about.uid(), about.mode() & 0o7777);
    let folder = folder.to_owned();
    if owner != geteuid().as_raw() && owner != ROOT {
        return Err(SocketError::Foreign { folder, owner });
    }
    if mode & 0o022 != 0 {
        return Err(SocketError::Exposed { folder, mode });
    }
    Ok(())
}

/// Root can do anything without a socket.
const ROOT: u32 = 0;

fn lock(path: &Path) -> Result<File, SocketError> {
    let failed = |source| SocketError::Failed { path: path.to_owned(), source };
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(sibling(path, ".lock"))
        .map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SocketError::Taken { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Listens under a temporary name, and renames the socket once its permissions are set. So there is
/// never a moment at which the socket has other permissions or is missing.
fn listen(path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
    let fresh = sibling(path, ".new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&fresh)?;
    fs::set_permissions(&fresh, Permissions::from_mode(0o600))?;
    let about = fs::symlink_metadata(&fresh)?;
    fs::rename(&fresh, path)?;
    Ok((listener, (about.dev(), about.ino())))
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode() & 0o777
    }

    #[tokio::test]
    async fn a_socket_has_one_owner_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("callgate/api.sock");
        let held = OwnedSocket::take(&path).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        assert!(matches!(OwnedSocket::take(&path), Err(SocketError::Taken { .. })));
        drop(held);
        assert!(!path.exists());
        let again = OwnedSocket::take(&path).unwrap();
        // Another process has put a different file there, which must not be removed.
        fs::remove_file(&path).unwrap();
        let other = UnixListener::bind(&path).unwrap();
        drop(again);
        assert!(path.exists());
        drop(other);
    }

    #[tokio::test]
    async fn the_socket_of_a_dead_process_is_replaced_and_a_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(tokio::net::UnixStream::connect(&path).await.is_err());
        let held = OwnedSocket::take(&path).unwrap();
        assert!(tokio::net::UnixStream::connect(&path).await.is_ok());
        drop(held);
        fs::write(&path, "notes").unwrap();
        assert!(matches!(OwnedSocket::take(&path), Err(SocketError::NotASocket { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"notes");
    }

    #[tokio::test]
    async fn a_folder_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o770, 0o707, 0o1777] {
            fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let refused = OwnedSocket::take(&folder.path().join("api.sock"));
            assert!(matches!(refused, Err(SocketError::Exposed { .. })), "{mode:o}");
        }
    }
}
