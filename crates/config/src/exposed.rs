//! Files that other users can change: anyone who can write a policy decides what it allows.

use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

/// A file that callgate obeys, or the folder of one, that other users can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The file or folder.
    pub path: PathBuf,
    what: ExposedKind,
    how: ExposedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExposedKind {
    File,
    /// Anyone who can write to it can replace this file.
    Folder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExposedBy {
    /// The mode lets its group or everybody write.
    Mode(u32),
    /// It belongs to a user other than the one this process runs as, and other than root.
    Owner(u32),
}

/// Write permission for the group and for everybody.
const OTHERS_WRITE: u32 = 0o022;

/// In such a folder only the owner of a file can remove or rename it.
const STICKY: u32 = 0o1000;

/// What is wrong with these files and their folders, each once.
pub(crate) fn among(files: &[PathBuf]) -> Vec<Exposed> {
    let mut found: Vec<Exposed> = Vec::new();
    for exposed in files.iter().flat_map(|file| check(file)) {
        if !found.contains(&exposed) {
            found.push(exposed);
        }
    }
    found
}

fn check(file: &Path) -> Vec<Exposed> {
    // A relative path has no folder that could be checked.
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let target = file.canonicalize().unwrap_or_else(|_| file.clone());
    let mut found: Vec<Exposed> = Vec::new();
    if target != file {
        // The owner of a link can point it elsewhere. A link has no mode of its own.
        let link = fs::symlink_metadata(&file).ok();
        found.extend(link.and_then(|link| owner(&file, ExposedKind::File, &link)));
        found.extend(file.parent().and_then(|folder| exposed(folder, ExposedKind::Folder)));
    }
    found.extend(exposed(&target, ExposedKind::File));
    found.extend(target.parent().and_then(|folder| exposed(folder, ExposedKind::Folder)));
    found
}

fn exposed(path: &Path, what: ExposedKind) -> Option<Exposed> {
    // A file that is missing or cannot be examined cannot be loaded either.
    let metadata = fs::metadata(path).ok()?;
    if is_read_only(path) {
        return None;
    }
    owner(path, what, &metadata).or_else(|| mode(path, what, &metadata))
}

fn owner(path: &Path, what: ExposedKind, metadata: &Metadata) -> Option<Exposed> {
    let owner = metadata.uid();
    let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    (!is_ours).then(|| Exposed { path: path.to_owned(), what, how: ExposedBy::Owner(owner) })
}

fn mode(path: &Path, what: ExposedKind, metadata: &Metadata) -> Option<Exposed> {
    let mode = metadata.mode() & 0o7777;
    let is_protected = what == ExposedKind::Folder && mode & STICKY != 0;
    let is_open = mode & OTHERS_WRITE != 0 && !is_protected;
    is_open.then(|| Exposed { path: path.to_owned(), what, how: ExposedBy::Mode(mode) })
}

/// On a read-only file system, such as a mounted Kubernetes secret, modes mean nothing.
fn is_read_only(path: &Path) -> bool {
    rustix::fs::statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

impl Exposed {
    /// The command that fixes it.
    pub fn fix(&self) -> String {
        let path = quoted(&self.path.to_string_lossy());
        match self.how {
            ExposedBy::Mode(_) => format!("chmod go-w {path}"),
            ExposedBy::Owner(_) => format!("chown {} {path}", rustix::process::geteuid().as_raw()),
        }
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.what {
            ExposedKind::File => write!(f, "other users can change `{path}`: ")?,
            ExposedKind::Folder => write!(f, "other users can replace the files in `{path}`: ")?,
        }
        match self.how {
            ExposedBy::Mode(mode) => write!(f, "its mode is {mode:04o}"),
            ExposedBy::Owner(owner) => write!(f, "it belongs to the user with the id {owner}"),
        }
    }
}

/// A path, quoted for a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tempfile::TempDir;

    use super::*;

    fn place() -> (TempDir, PathBuf) {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("callgate.yaml");
        fs::write(&file, "{}").unwrap();
        set(dir.path(), 0o755);
        set(&file, 0o644);
        (dir, file)
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn found(file: &Path) -> Vec<String> {
        check(file).iter().map(|it| format!("{it}; {}", it.fix())).collect()
    }

    #[test]
    fn modes_of_files_and_folders() {
        let (dir, file) = place();
        let (folder, shown) = (dir.path().display(), file.display());
        assert_eq!(found(&file), [""; 0]);
        for mode in [0o664, 0o646, 0o666] {
            set(&file, mode);
            let expected = format!(
                "other users can change `{shown}`: its mode is {mode:04o}; chmod go-w {shown}"
            );
            assert_eq!(found(&file), [expected]);
        }
        set(&file, 0o600);
        set(dir.path(), 0o777);
        let expected = format!(
            "other users can replace the files in `{folder}`: its mode is 0777; chmod go-w {folder}"
        );
        assert_eq!(found(&file), [expected]);
        set(dir.path(), 0o1777);
        assert_eq!(found(&file), [""; 0], "in a sticky folder nobody else can replace it");
    }

    #[test]
    fn a_link_is_as_safe_as_what_it_leads_to() {
        let (_elsewhere, target) = place();
        let (dir, _) = place();
        let link = dir.path().join("link.yaml");
        symlink(&target, &link).unwrap();
        assert_eq!(found(&link), [""; 0]);
        set(&target, 0o666);
        assert_eq!(check(&link).first().map(|it| it.path.clone()), Some(target.clone()));
        set(&target, 0o644);
        set(dir.path(), 0o777);
        assert_eq!(check(&link).first().map(|it| it.path.clone()), Some(dir.path().to_owned()));
        assert_eq!(among(&[link.clone(), link]).len(), 1, "each is reported once");
    }

    #[test]
    fn a_path_is_quoted_for_the_shell() {
        assert_eq!(quoted("/etc/callgate.yaml"), "/etc/callgate.yaml");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
