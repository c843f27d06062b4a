//! The files of the workspace: all but what `.gitignore` leaves out.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that are built, installed or not ours. Kept in step with `.gitignore`.
const IGNORED: [&str; 6] = [".git", ".tools", "target", "node_modules", "__pycache__", "artifacts"];

/// A file with its text.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the root, with `/`.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Its text, if it is text.
    pub(crate) text: Option<String>,
}

impl File {
    pub(crate) fn new(name: &str, bytes: Vec<u8>) -> Self {
        let text = String::from_utf8(bytes.clone()).ok();
        Self { name: name.to_owned(), bytes, text }
    }

    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.name).extension().is_some_and(|it| it == extension)
    }

    /// The lines, numbered from 1. None if it is not text.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.iter().flat_map(|text| (1..).zip(text.lines()))
    }
}

/// Reads every file below `root`.
pub(crate) fn read(root: &Path) -> Result<Vec<File>> {
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        Ok(File::new(&name, bytes))
    };
    below(root)?.into_iter().map(read).collect()
}

/// Every file below `folder`, sorted.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let ignored = IGNORED.iter().any(|name| entry.file_name() == *name);
            match () {
                () if ignored => {}
                () if kind.is_dir() => folders.push(entry.path()),
                () if kind.is_file() => found.push(entry.path()),
                () => {}
            }
        }
    }
    found.sort();
    Ok(found)
}
