//! Paths: from what is written to the file it names.

use std::fmt;

use crate::word::Word;

/// A path, as written and as resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// As it was written, after quotes and variables.
    pub written: Word,
    /// Without `.`, `..` and doubled slashes, and absolute if the ground allows it. With an unknown
    /// home directory it begins with `~`; with an unknown working directory it is relative.
    pub resolved: Word,
    /// Where it leads through symbolic links, if a resolver found another place.
    pub real: Option<String>,
    /// How names are compared there.
    pub case: Case,
}

/// How a file system compares names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    /// `A` and `a` are two files, or nobody knows.
    #[default]
    Sensitive,
    /// `A` and `a` are one file.
    Ignored,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resolved.fmt(f)
    }
}
