//! Why a config cannot be used.

use std::fmt;
use std::path::PathBuf;

use callgate_document::{Diagnostic, Source, render};

use crate::exposed::Exposed;
use crate::watch::Watched;

/// A config or a policy that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that is missing or cannot be read.
    #[error("cannot read {what} `{}`: {why}", path.display())]
    Unreadable {
        /// What it should have been.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// A built-in policy that does not exist.
    #[error("unknown policy `{0}`")]
    NoSuchPolicy(String),
    /// An environment variable with an invalid value.
    #[error("the variable {name} is `{value}`, which is not {expected}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Files that other users can change, although `--strict` was given.
    #[error("{}", exposed_files(.files))]
    Exposed {
        /// The files and folders.
        files: Vec<Exposed>,
        /// What to watch, to notice when it is fixed.
        watched: Vec<Watched>,
    },
    /// Files with problems.
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

impl ConfigError {
    /// What to do about it, if the message does not say it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoSuchPolicy(_) => Some(
                "the built-in policies are `builtin:starter`, `builtin:strict`, `builtin:read-only`, \
                 `builtin:ci`, `builtin:data` and `builtin:quiet`",
            ),
            Self::Variable { .. } => Some("set a valid value, or unset the variable"),
            Self::Exposed { .. } => Some("without --strict this is only a warning"),
            Self::Unreadable { .. } | Self::Rejected(_) => None,
        }
    }

    /// The files that a rejected config names. A change of one may fix it.
    pub fn watched(&self) -> &[Watched] {
        match self {
            Self::Exposed { watched, .. } | Self::Rejected(Rejected { watched, .. }) => watched,
            Self::Unreadable { .. } | Self::NoSuchPolicy(_) | Self::Variable { .. } => &[],
        }
    }
}

fn exposed_files(files: &[Exposed]) -> String {
    let lines = files.iter().map(|it| format!("{it}; run `{}`", it.fix()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Files with problems. It shows every problem with its place.
#[derive(Debug)]
pub struct Rejected {
    /// What is rejected: the config, or only a policy.
    pub what: &'static str,
    /// The files.
    pub sources: Vec<Source>,
    /// Every problem in them.
    pub problems: Vec<Diagnostic>,
    /// The files that it names, read or not.
    pub watched: Vec<Watched>,
}

impl Rejected {
    /// Every problem, drawn with its place in the text.
    pub fn rendered(&self, color: bool) -> Vec<String> {
        let drawn = self.problems.iter().filter_map(|problem| {
            let source = self.sources.iter().find(|source| source.name == problem.source)?;
            Some(render(problem, source, color))
        });
        drawn.collect()
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() {
            1 => write!(f, "the {} is rejected: 1 problem", self.what),
            n => write!(f, "the {} is rejected: {n} problems", self.what),
        }
    }
}

impl std::error::Error for Rejected {}
