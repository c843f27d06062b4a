//! Our own standard input and output, without a thread for each if possible.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::time::Duration;

use rustix::fs::{FileType, Stat, fstat};
use tokio::io::{AsyncRead, AsyncWrite, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

pub(crate) type InputStream = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type OutputStream = Box<dyn AsyncWrite + Send + Unpin>;

/// Both streams. Agents use pipes or sockets (Node does). A terminal or a file is read by a thread:
/// making those non-blocking would affect other processes that have them open.
pub(crate) fn own() -> io::Result<(InputStream, OutputStream)> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let output: OutputStream = match kind(stdout.as_fd())? {
        // The server writes to the same file, and may not expect it to be non-blocking.
        _ if is_same(stdout.as_fd(), stderr.as_fd())? => Box::new(tokio::io::stdout()),
        FileType::Fifo => Box::new(Sender::from_owned_fd(stdout.as_fd().try_clone_to_owned()?)?),
        FileType::Socket => Box::new(socket(stdout.as_fd())?),
        _ => Box::new(tokio::io::stdout()),
    };
    let input: InputStream = match kind(stdin.as_fd())? {
        _ if is_same(stdin.as_fd(), stderr.as_fd())? => Box::new(tokio::io::stdin()),
        FileType::Fifo => Box::new(Receiver::from_owned_fd(stdin.as_fd().try_clone_to_owned()?)?),
        FileType::Socket => Box::new(socket(stdin.as_fd())?),
        _ => Box::new(tokio::io::stdin()),
    };
    Ok((input, output))
}

/// Resolves when the writer of our standard input is gone, even if its last output has not been
/// read. Never for a terminal or a file.
pub(super) async fn client_gone() {
    let gone = async || -> io::Result<()> {
        let stdin = io::stdin();
        let end = stdin.as_fd();
        match kind(end)? {
            FileType::Fifo => {
                let pipe = Receiver::from_owned_fd(end.try_clone_to_owned()?)?;
                while !pipe.ready(Interest::READABLE).await?.is_read_closed() {
                    tokio::time::sleep(LOOK).await;
                }
            }
            FileType::Socket => {
                let stream = socket(end)?;
                while !stream.ready(Interest::READABLE).await?.is_read_closed() {
                    tokio::time::sleep(LOOK).await;
                }
            }
            _ => std::future::pending().await,
        }
        Ok(())
    };
    if gone().await.is_err() {
        std::future::pending().await
    }
}

/// How often it is checked.
const LOOK: Duration = Duration::from_secs(1);

fn socket(end: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let stream = StdStream::from(end.try_clone_to_owned()?);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn kind(end: BorrowedFd<'_>) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(end)?.st_mode))
}

fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> io::Result<bool> {
    let place = |stat: Stat| (stat.st_dev, stat.st_ino);
    match (fstat(one), fstat(other)) {
        (Ok(one), Ok(other)) => Ok(place(one) == place(other)),
        // A closed descriptor equals no other.
        _ => Ok(false),
    }
}
