//! The folders in which a change may happen, and the system's notices about them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::{WatchTarget, Watched};

/// The longest chain of links. A longer one is probably a cycle.
const MAX_LINKS: usize = 16;

/// The folders that are watched.
#[derive(Debug)]
pub(super) struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeMap<PathBuf, RecursiveMode>,
}

impl Folders {
    pub(super) fn new(watcher: RecommendedWatcher) -> Self {
        Self { watcher, watched: BTreeMap::new() }
    }

    /// Watches the current location of `watched`. A folder that was replaced is watched again.
    pub(super) fn follow(&mut self, watched: &[Watched]) {
        let mut wanted = BTreeMap::new();
        for watched in watched {
            match &watched.0 {
                WatchTarget::File(path) => folders_of(path, &mut wanted),
                WatchTarget::Glob(glob) => {
                    folders_of(&glob.base().join("any"), &mut wanted);
                    if glob.is_deep() {
                        wanted.insert(glob.base().to_owned(), RecursiveMode::Recursive);
                    }
                }
            }
        }
        for folder in self.watched.keys().filter(|folder| !wanted.contains_key(*folder)) {
            let _ = self.watcher.unwatch(folder);
        }
        for (folder, mode) in &wanted {
            if let Err(error) = self.watcher.watch(folder, *mode) {
                tracing::debug!(%error, folder = %folder.display(), "cannot watch this folder for changes");
            }
        }
        self.watched = wanted;
    }
}

/// The folders in which a change would make `path` another file: its own, that of every link on
/// the way to it, and where they lead.
fn folders_of(path: &Path, found: &mut BTreeMap<PathBuf, RecursiveMode>) {
    let mut paths = vec![path.to_owned()];
    let mut links = 0;
    while let Some(path) = paths.pop() {
        add(path.parent(), found);
        for part in path.ancestors() {
            let Ok(target) = fs::read_link(part) else { continue };
            links += 1;
            if links > MAX_LINKS {
                return;
            }
            let Some(folder) = part.parent() else { continue };
            add(Some(folder), found);
            let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
            let target = folder.join(target);
            paths.push(if rest.as_os_str().is_empty() { target } else { target.join(rest) });
        }
    }
}

/// The folder, or its nearest ancestor that exists.
fn add(folder: Option<&Path>, found: &mut BTreeMap<PathBuf, RecursiveMode>) {
    let there = folder.and_then(|folder| folder.ancestors().find(|folder| folder.is_dir()));
    if let Some(folder) = there {
        found.insert(folder.to_owned(), RecursiveMode::NonRecursive);
    }
}
