//! Finds the file of a command, and checks it against a pin.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A program that was found.
#[derive(Debug, Clone)]
pub struct Program {
    /// The path with which it is started: some programs look at their own name.
    pub path: PathBuf,
    /// The file itself, with all links resolved.
    pub file: PathBuf,
}

/// Why a program is not started.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It was not found.
    #[error("there is no program `{0}`")]
    NotFound(String),
    /// Its file is unreadable.
    #[error("cannot read `{path}`: {source}")]
    Read {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It is not the pinned file.
    #[error("`{path}` is not the file that was pinned: its SHA-256 is {found}")]
    Other {
        /// The file.
        path: String,
        /// Its actual hash.
        found: String,
    },
}

impl Program {
    /// Finds a command like a shell does.
    pub fn find(command: &str, path: Option<&OsStr>) -> Result<Self, ProgramError> {
        let found = if command.contains('/') {
            Some(PathBuf::from(command)).filter(|place| is_program(place))
        } else {
            std::env::split_paths(path.unwrap_or_default())
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(command))
                .find(|place| is_program(place))
        };
        let path = found.ok_or_else(|| ProgramError::NotFound(command.to_owned()))?;
        let file = path.canonicalize().map_err(|source| read_error(&path, source))?;
        Ok(Self { path, file })
    }

    /// The SHA-256 of its file.
    pub fn sha256(&self) -> Result<String, ProgramError> {
        let mut hash = Sha256::new();
        let mut file = File::open(&self.file).map_err(|source| read_error(&self.file, source))?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = file.read(&mut buffer).map_err(|source| read_error(&self.file, source))?;
            if count == 0 {
                break;
            }
            hash.update(buffer.get(..count).unwrap_or(&[]));
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Checks that it is the pinned file.
    pub fn check(&self, pinned: &str) -> Result<(), ProgramError> {
        let found = self.sha256()?;
        let pinned = pinned.strip_prefix("sha256:").unwrap_or(pinned);
        match found.eq_ignore_ascii_case(pinned) {
            true => Ok(()),
            false => Err(ProgramError::Other { path: self.file.display().to_string(), found }),
        }
    }
}

fn is_program(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    place.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn read_error(path: &Path, source: io::Error) -> ProgramError {
    ProgramError::Read { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_as_a_shell_finds_it() {
        let path = OsStr::new("nowhere:/no/such/folder:/bin:/usr/bin");
        let found = Program::find("sh", Some(path)).unwrap();
        assert!(found.path.is_absolute() && found.file.is_file());
        assert_eq!(found.sha256().unwrap().len(), 64);
        assert!(found.check(&format!("sha256:{}", found.sha256().unwrap())).is_ok());
        assert!(matches!(found.check("00"), Err(ProgramError::Other { .. })));
        for command in ["no-such-program", "/no/such/program", "/etc/passwd", "/tmp"] {
            assert!(matches!(Program::find(command, Some(path)), Err(ProgramError::NotFound(_))));
        }
    }
}
