//! The disk of the agent's machine, for commands that run on it.

mod extent;
mod git_index;

use std::borrow::Cow;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use callgate_effects::{Extent, Resolver, Scope};

/// Looks at files when a call is judged, and never changes one.
#[derive(Debug)]
pub(crate) struct AgentDisk;

/// A longer script is opaque, as it is without a disk.
const LONGEST_SCRIPT: u64 = 64 * 1024;

impl Resolver for AgentDisk {
    fn resolve(&self, path: &str) -> Option<String> {
        let (existing, rest) = existing_part(Path::new(path))?;
        let real = existing.canonicalize().ok()?.join(rest);
        let real = real.to_str()?.trim_end_matches('/');
        (real != path.trim_end_matches('/')).then(|| real.to_owned())
    }

    fn extent(&self, path: &str, scope: Scope, budget: &mut usize) -> Extent {
        extent::of(Path::new(path), scope, budget)
    }

    /// Compares a part of the path that exists with the same part in the other case.
    fn ignores_case(&self, path: &str) -> bool {
        let Some((existing, _)) = existing_part(Path::new(path)) else { return false };
        let Some(name) = existing.file_name().and_then(|name| name.to_str()) else { return false };
        let other: String = name.chars().map(other_case).collect();
        if other == name {
            return false;
        }
        let identity = |path: &Path| fs::symlink_metadata(path).ok().map(|it| (it.dev(), it.ino()));
        let here = identity(&existing);
        here.is_some() && here == identity(&existing.with_file_name(other))
    }

    fn script(&self, path: &str) -> Option<Cow<'_, str>> {
        let found = fs::metadata(path).ok()?;
        if !found.is_file() || found.len() > LONGEST_SCRIPT {
            return None;
        }
        fs::read_to_string(path).ok().map(Cow::Owned)
    }
}

/// The longest part of an absolute path that exists, and the rest.
fn existing_part(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let existing = path.ancestors().find(|part| part.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(existing).ok()?;
    Some((existing.to_owned(), rest.to_owned()))
}

fn other_case(letter: char) -> char {
    match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_far_as_the_path_exists() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir(folder.join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        assert_eq!(AgentDisk.resolve(&path("link/new/file")), Some(path("real/new/file")));
        assert_eq!(AgentDisk.resolve(&path("link")), Some(path("real")));
        assert_eq!(AgentDisk.resolve(&path("real/new")), None);
    }

    #[test]
    fn only_short_text_is_a_script() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("short"), "echo hi").unwrap();
        fs::write(path("long"), " ".repeat(70_000)).unwrap();
        fs::write(path("binary"), [0xff, 0]).unwrap();
        assert_eq!(AgentDisk.script(&path("short")).as_deref(), Some("echo hi"));
        for name in ["long", "binary", "missing", "."] {
            assert_eq!(AgentDisk.script(&path(name)), None, "{name}");
        }
    }
}
