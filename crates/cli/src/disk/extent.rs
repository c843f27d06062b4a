//! Counts what a deletion would touch.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use callgate_effects::{Count, Extent, Scope, Truth};

use super::git_index::GitIndex;

/// What deleting this absolute path touches. `budget` is the number of entries that may still be
/// looked at; beyond it, and for a folder that cannot be read, there may be more than was counted.
pub(super) fn of(path: &Path, scope: Scope, budget: &mut usize) -> Extent {
    // A link is removed itself, and what it leads to is not.
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Extent::NOTHING,
        Err(_) => return Extent::UNKNOWN,
    };
    // The root folder has no parent, and nothing is above it.
    let (parent, path) = match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(parent)), Some(name)) => (Some(parent.clone()), parent.join(name)),
        (None, _) => (None, path.to_owned()),
        _ => return Extent::UNKNOWN,
    };
    let above = parent.as_ref().and_then(|parent| parent.metadata().ok());
    let mut walk = DiskWalk::new(found.dev());
    walk.crosses |= above.is_some_and(|above| above.dev() != found.dev());
    let repository = parent.as_deref().and_then(Repository::around);
    if !found.is_dir() {
        walk.file(&path, &found, repository.as_deref());
    } else if scope == Scope::Tree {
        walk.tree(path, repository, budget);
    }
    walk.extent()
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// A folder with a `.git`.
struct Repository {
    root: PathBuf,
    /// `None` if it cannot be read.
    index: Option<GitIndex>,
}

impl Repository {
    /// The repository that a folder is in.
    fn around(folder: &Path) -> Option<Rc<Self>> {
        folder.ancestors().find_map(Self::at)
    }

    fn at(root: &Path) -> Option<Rc<Self>> {
        root.join(".git").symlink_metadata().ok()?;
        Some(Rc::new(Self { root: root.to_owned(), index: GitIndex::of(root) }))
    }

    /// Whether git has a file; unknown if its index cannot be read.
    fn tracks(&self, file: &Path) -> Truth {
        match (&self.index, file.strip_prefix(&self.root)) {
            (Some(index), Ok(path)) if index.contains(path) => Truth::Yes,
            (Some(_), _) => Truth::No,
            (None, _) => Truth::Unknown,
        }
    }
}

struct DiskWalk {
    device: u64,
    files: u64,
    bytes: u64,
    untracked: u64,
    perhaps_untracked: u64,
    crosses: bool,
    is_complete: bool,
}

impl DiskWalk {
    fn new(device: u64) -> Self {
        Self {
            device,
            files: 0,
            bytes: 0,
            untracked: 0,
            perhaps_untracked: 0,
            crosses: false,
            is_complete: true,
        }
    }

    fn file(&mut self, path: &Path, found: &Metadata, repository: Option<&Repository>) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(found.len());
        match repository.map_or(Truth::No, |repository| repository.tracks(path)) {
            Truth::Yes => {}
            Truth::No => self.untracked += 1,
            Truth::Unknown => self.perhaps_untracked += 1,
        }
    }

    fn tree(&mut self, root: PathBuf, around: Option<Rc<Repository>>, budget: &mut usize) {
        let mut folders = vec![(root, around)];
        while let Some((folder, around)) = folders.pop() {
            let around = Repository::at(&folder).or(around);
            let Ok(entries) = fs::read_dir(&folder) else {
                self.is_complete = false;
                continue;
            };
            for entry in entries {
                let Some(left) = budget.checked_sub(1) else {
                    self.is_complete = false;
                    return;
                };
                *budget = left;
                let found = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)));
                let Ok((path, found)) = found else {
                    self.is_complete = false;
                    continue;
                };
                self.crosses |= found.dev() != self.device;
                match found.is_dir() {
                    true => folders.push((path, around.clone())),
                    false => self.file(&path, &found, around.as_deref()),
                }
            }
        }
    }

    fn extent(self) -> Extent {
        let count =
            |low: u64, more: u64| Count { low, high: self.is_complete.then_some(low + more) };
        Extent {
            files: count(self.files, 0),
            bytes: count(self.bytes, 0),
            untracked: count(self.untracked, self.perhaps_untracked),
            crosses_mounts: match (self.crosses, self.is_complete) {
                (true, _) => Truth::Yes,
                (false, true) => Truth::No,
                (false, false) => Truth::Unknown,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(path: &Path) -> Extent {
        of(path, Scope::Tree, &mut 100)
    }

    #[test]
    fn files_are_counted_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("tree/inner")).unwrap();
        fs::write(root.join("tree/a"), "12345").unwrap();
        fs::write(root.join("tree/inner/b"), "123").unwrap();
        std::os::unix::fs::symlink("/", root.join("tree/link")).unwrap();
        let tree = counted(&root.join("tree"));
        assert_eq!(tree.files, Count::exactly(3));
        assert!(tree.bytes.low >= 8 && tree.crosses_mounts == Truth::No);
        assert_eq!(tree.untracked, Count::exactly(3), "no repository has them");
        assert_eq!(counted(&root.join("tree/link")).files, Count::exactly(1));
        assert_eq!(counted(&root.join("missing")), Extent::NOTHING);
        assert_eq!(of(&root.join("tree"), Scope::One, &mut 100).files, Count::exactly(0));
    }

    #[test]
    fn a_walk_ends_with_its_budget() {
        let folder = tempfile::tempdir().unwrap();
        for name in 0..20 {
            fs::write(folder.path().join(name.to_string()), "").unwrap();
        }
        let mut budget = 10;
        let found = of(folder.path(), Scope::Tree, &mut budget);
        assert_eq!((found.files, budget), (Count { low: 10, high: None }, 0));
        assert_eq!(found.crosses_mounts, Truth::Unknown);
    }

    /// `/proc` is a file system of its own on every Linux.
    #[cfg(target_os = "linux")]
    #[test]
    fn another_file_system_is_a_mount() {
        assert_eq!(of(Path::new("/proc"), Scope::Tree, &mut 5).crosses_mounts, Truth::Yes);
    }
}
