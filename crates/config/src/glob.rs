//! Files by a glob, as `policies` names them.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

/// A glob over paths.
#[derive(Debug, Clone)]
pub(crate) struct FileGlob {
    /// The folder all matches are below: the parts before the first wildcard.
    base: PathBuf,
    /// How many folders below that.
    depth: usize,
    matcher: GlobMatcher,
    /// Whether files with a leading dot match. Editors and mounts have files of their own there.
    hidden: bool,
}

/// The most folders that are searched. A glob over a whole disk would only take long.
const MAX_FOLDERS: usize = 10_000;

/// How deep `**` reaches.
const MAX_DEPTH: usize = 16;

/// Whether a path has wildcards in it.
pub(crate) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

impl FileGlob {
    /// A glob, or why it is invalid.
    pub(crate) fn new(pattern: &Path) -> Result<Self, String> {
        let text = pattern.to_str().ok_or("it is not UTF-8")?;
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let matcher = glob.map_err(|error| error.kind().to_string())?.compile_matcher();
        let parts: Vec<Component<'_>> = pattern.components().collect();
        let wild = |part: &Component<'_>| part.as_os_str().to_str().is_none_or(is_glob);
        let fixed = parts.iter().take_while(|part| !wild(part)).count();
        let base: PathBuf = parts.iter().take(fixed).collect();
        let rest = parts.get(fixed..).unwrap_or_default();
        let deep = rest.iter().any(|part| part.as_os_str() == "**");
        let depth = if deep { MAX_DEPTH } else { rest.len() };
        let hidden = rest.iter().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        Ok(Self { base, depth, matcher, hidden })
    }

    /// The folder to watch.
    pub(crate) fn base(&self) -> &Path {
        if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base }
    }

    /// Whether matches may be deeper than in that folder.
    pub(crate) fn is_deep(&self) -> bool {
        self.depth > 1
    }

    /// The current matches, sorted by name: files, and also things that only have the name of a
    /// file (a dangling link, a pipe). Such a match, or a folder that cannot be read, is an error
    /// for the caller to report, because a policy must not disappear silently.
    pub(crate) fn expand(&self) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![(self.base.clone(), 1)];
        let mut looked = 0;
        while let Some((folder, depth)) = folders.pop() {
            looked += 1;
            if looked > MAX_FOLDERS {
                break;
            }
            let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
            let entries = match fs::read_dir(here) {
                Ok(entries) => entries.flatten(),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_) => {
                    found.insert(folder);
                    continue;
                }
            };
            for name in entries.map(|entry| entry.file_name()) {
                if name.as_encoded_bytes().starts_with(b".") && !self.hidden {
                    continue;
                }
                let path = folder.join(name);
                let is_folder = fs::metadata(&path).is_ok_and(|about| about.is_dir());
                if is_folder && depth < self.depth {
                    folders.push((path, depth + 1));
                } else if self.matcher.is_match(&path) {
                    found.insert(path);
                }
            }
        }
        found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_in_order_and_not_what_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["b.yaml", "a.yaml", ".c.yaml", "d.txt", "sub/e.yaml", "sub/deep/f.yaml"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let glob = FileGlob::new(&dir.path().join(pattern)).unwrap();
            let paths = glob.expand().into_iter();
            let short = paths.map(|path| path.strip_prefix(dir.path()).unwrap().to_owned());
            short.map(|path| path.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(found("*.yaml"), ["a.yaml", "b.yaml"]);
        assert_eq!(found("*/*.yaml"), ["sub/e.yaml"]);
        assert_eq!(found("**/*.yaml"), ["a.yaml", "b.yaml", "sub/deep/f.yaml", "sub/e.yaml"]);
        assert_eq!(found("[ab].yaml"), ["a.yaml", "b.yaml"]);
        assert_eq!(found(".*.yaml"), [".c.yaml"]);
        assert!(found("nothing/*.yaml").is_empty());
        std::os::unix::fs::symlink("nowhere", dir.path().join("z.yaml")).unwrap();
        fs::create_dir(dir.path().join("y.yaml")).unwrap();
        assert_eq!(found("[yz].yaml"), ["y.yaml", "z.yaml"]);
    }
}
