//! Calls back when the config, a policy, or its permissions have really changed.
//!
//! The system's notices come from the folders, not the files: an editor renames a new file over the
//! old one, and a mounted config is swapped by changing a link. A notice only triggers a check;
//! what counts is whether the contents differ. For disks without notices (some network disks),
//! there is a check every few seconds.

mod folders;

use std::collections::BTreeMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher};

use crate::glob::FileGlob;
use folders::Folders;

/// Something to watch.
#[derive(Debug, Clone)]
pub struct Watched(WatchTarget);

#[derive(Debug, Clone)]
enum WatchTarget {
    File(PathBuf),
    /// Every file that matches, now or later.
    Glob(FileGlob),
}

impl Watched {
    /// One file, whether it exists or not.
    pub fn file(path: &Path) -> Self {
        // A relative path must not depend on later changes of the working directory.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self(WatchTarget::File(path))
    }

    pub(crate) fn glob(glob: FileGlob) -> Self {
        Self(WatchTarget::Glob(glob))
    }
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watch {
    sender: Sender<Nudge>,
    thread: Option<JoinHandle<()>>,
}

/// A reason to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nudge {
    /// Something happened in one of the folders.
    Seen,
    /// Requested explicitly.
    Asked,
    Stop,
}

/// The delays of a watch.
#[derive(Debug, Clone, Copy)]
struct WatchDelays {
    /// A file is written in several steps: it is read after this long without a change.
    quiet: Duration,
    /// Files that keep changing are read after this long.
    patience: Duration,
    /// The interval of checks without a notice.
    poll: Duration,
}

const PACE: WatchDelays = WatchDelays {
    quiet: Duration::from_millis(200),
    patience: Duration::from_secs(2),
    poll: Duration::from_secs(5),
};

impl Watch {
    /// Calls `on_change`, on a thread of its own, whenever the content of one of `watched` is
    /// different from before. It may return what to watch from then on.
    pub fn start(
        watched: Vec<Watched>,
        on_change: impl FnMut() -> Option<Vec<Watched>> + Send + 'static,
    ) -> std::io::Result<Self> {
        Self::start_with(watched, PACE, Notices::On, on_change)
    }

    /// Checks now, and calls `on_change` even if nothing has changed, because the operator asked
    /// for it.
    pub fn trigger(&self) {
        let _ = self.sender.send(Nudge::Asked);
    }

    fn start_with(
        watched: Vec<Watched>,
        pace: WatchDelays,
        notices: Notices,
        on_change: impl FnMut() -> Option<Vec<Watched>> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let noticed = Arc::new(AtomicBool::new(false));
        let folders = match notices {
            Notices::On => notifier(sender.clone(), Arc::clone(&noticed)).map(Folders::new),
            Notices::Off => None,
        };
        let mut looker = Looker {
            receiver,
            noticed,
            pace,
            folders,
            hasher: RandomState::new(),
            seen: BTreeMap::new(),
            watched,
            on_change,
        };
        // The current contents are known when this returns, so no later change is missed.
        looker.follow();
        looker.seen = looker.look();
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || looker.run())?;
        Ok(Self { sender, thread: Some(thread) })
    }
}

/// Whether notices of the system are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notices {
    On,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests look at polling alone"))]
    Off,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.sender.send(Nudge::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A source of change notifications. Without one, periodic checks still find changes.
///
/// Only the first notice since the last check wakes the thread: a store in the same folder is written
/// thousands of times a second.
fn notifier(sender: Sender<Nudge>, noticed: Arc<AtomicBool>) -> Option<RecommendedWatcher> {
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_change = event.map_or(true, |event| is_change(event.kind));
        if is_change && !noticed.swap(true, Ordering::AcqRel) {
            let _ = sender.send(Nudge::Seen);
        }
    });
    watcher.inspect_err(|error| tracing::warn!(%error, "cannot watch files for changes")).ok()
}

/// Reading is not a change; every check of ours reads the files.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// For each file a hash of its content and of who can change it; `None` if it cannot be read.
type SeenFiles = BTreeMap<PathBuf, Option<u64>>;

/// The thread that checks.
struct Looker<F> {
    receiver: Receiver<Nudge>,
    /// Whether a notice has arrived since this was last cleared.
    noticed: Arc<AtomicBool>,
    pace: WatchDelays,
    folders: Option<Folders>,
    hasher: RandomState,
    seen: SeenFiles,
    watched: Vec<Watched>,
    on_change: F,
}

impl<F: FnMut() -> Option<Vec<Watched>>> Looker<F> {
    fn run(mut self) {
        let mut unsure = false;
        while let Some(nudge) = if unsure { Some(None) } else { self.wait() } {
            unsure = false;
            // A change from here on wakes the thread again.
            self.noticed.store(false, Ordering::Release);
            if nudge.is_some() {
                // First the folders, then the files: a change between the two is noticed.
                self.follow();
            }
            let now = self.look();
            if nudge == Some(Nudge::Asked) || now != self.seen {
                self.seen = now;
                let began = SystemTime::now();
                if let Some(watched) = (self.on_change)() {
                    unsure = self.take_over(watched, began);
                }
            }
        }
    }

    /// Waits for a reason to check: `Some(None)` is a regular check, `None` the end.
    fn wait(&self) -> Option<Option<Nudge>> {
        let first = match self.receiver.recv_timeout(self.pace.poll) {
            Err(RecvTimeoutError::Timeout) => return Some(None),
            Err(RecvTimeoutError::Disconnected) | Ok(Nudge::Stop) => return None,
            Ok(Nudge::Asked) => return Some(Some(Nudge::Asked)),
            Ok(Nudge::Seen) => Nudge::Seen,
        };
        let latest = Instant::now() + self.pace.patience;
        while Instant::now() < latest && self.has_noticed() {
            let quiet = Instant::now() + self.pace.quiet;
            while let Some(left) = quiet.checked_duration_since(Instant::now()) {
                match self.receiver.recv_timeout(left) {
                    Ok(Nudge::Seen) | Err(RecvTimeoutError::Timeout) => {}
                    Ok(Nudge::Asked) => return Some(Some(Nudge::Asked)),
                    Err(RecvTimeoutError::Disconnected) | Ok(Nudge::Stop) => return None,
                }
            }
        }
        Some(Some(first))
    }

    /// Whether a notice has arrived since the last question.
    fn has_noticed(&self) -> bool {
        self.noticed.swap(false, Ordering::AcqRel)
    }

    /// Watches something else. For files that were watched before, the old hash is kept, so that a
    /// change since then is noticed. A new file may have changed after it was read (at `began`):
    /// returns whether there is such a file, which counts as changed.
    fn take_over(&mut self, watched: Vec<Watched>, began: SystemTime) -> bool {
        self.watched = watched;
        self.follow();
        let before = std::mem::take(&mut self.seen);
        self.seen = self.look();
        let mut unsure = false;
        for (path, content) in &mut self.seen {
            match before.get(path) {
                Some(before) => *content = *before,
                None if content.is_some() && changed_since(path, began) => {
                    *content = None;
                    unsure = true;
                }
                None => {}
            }
        }
        unsure
    }

    fn follow(&mut self) {
        if let Some(folders) = &mut self.folders {
            folders.follow(&self.watched);
        }
    }

    fn look(&self) -> SeenFiles {
        let mut seen = SeenFiles::new();
        for watched in &self.watched {
            let files = match &watched.0 {
                WatchTarget::File(path) => vec![path.clone()],
                WatchTarget::Glob(glob) => glob.expand(),
            };
            for path in files {
                // Reading a named pipe would block until something writes to it.
                let bytes = path.is_file().then(|| fs::read(&path).ok()).flatten();
                let content = bytes.map(|bytes| self.hasher.hash_one((bytes, rights(&path))));
                seen.insert(path, content);
            }
        }
        seen
    }
}

/// Whether a file was changed since then, or about then: clocks of files are coarse.
fn changed_since(path: &Path, then: SystemTime) -> bool {
    let Ok(found) = fs::metadata(path) else { return true };
    // Not the modification time, which anyone can set.
    let changed = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or(0));
    let coarse = Duration::from_secs(2);
    SystemTime::UNIX_EPOCH + changed + coarse > then
}

/// Who may write a file, and who may replace it: with `--strict` that decides whether it is loaded.
fn rights(path: &Path) -> [Option<(u32, u32)>; 2] {
    let of = |path: &Path| fs::metadata(path).ok().map(|it| (it.mode(), it.uid()));
    [of(path), path.parent().and_then(of)]
}

#[cfg(test)]
mod tests;
