//! Where the API listens.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use callgate_store::Location;
use rustix::process::geteuid;

/// Where the API listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere: the operator switched it off.
    Off,
    /// Nowhere: there is no folder that only this user can access.
    NoPlace,
    /// At the default path. A gateway that cannot take it runs without.
    Usual(PathBuf),
    /// At the operator's path. A gateway that cannot take it does not start.
    Chosen(PathBuf),
}

impl Listen {
    /// The default path: in the user's runtime directory (`$XDG_RUNTIME_DIR`), otherwise in the
    /// system's, otherwise next to the store.
    pub fn usual(runtime: Option<&Path>, store: &Location) -> Self {
        let system = PathBuf::from(format!("/run/user/{}", geteuid().as_raw()));
        let runtime = runtime.map(Path::to_owned).into_iter().chain([system]);
        let own = runtime.filter(|folder| folder.is_absolute()).find(|folder| is_own(folder));
        match (own, store) {
            (Some(folder), _) => Self::Usual(folder.join("callgate").join(FILE)),
            (None, Location::Sqlite(store)) => Self::Usual(store.with_file_name(FILE)),
            (None, Location::Memory) => Self::NoPlace,
        }
    }

    /// The path of the socket, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Off | Self::NoPlace => None,
            Self::Usual(path) | Self::Chosen(path) => Some(path),
        }
    }
}

/// The file name of the socket.
const FILE: &str = "api.sock";

/// Whether the folder belongs to this user.
fn is_own(folder: &Path) -> bool {
    let is_own = |it: std::fs::Metadata| it.is_dir() && it.uid() == geteuid().as_raw();
    folder.metadata().is_ok_and(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_is_this_users_alone() {
        let runtime = tempfile::tempdir().unwrap();
        let store = Location::Sqlite("/somewhere/callgate.db".into());
        let there = Listen::usual(Some(runtime.path()), &store);
        assert_eq!(there.path(), Some(runtime.path().join("callgate/api.sock").as_path()));
        let has_session = is_own(Path::new(&format!("/run/user/{}", geteuid().as_raw())));
        if has_session {
            return;
        }
        for other in [None, Some(Path::new("relative")), Some(Path::new("/not/there"))] {
            let next_to_store = Listen::usual(other, &store);
            assert_eq!(next_to_store.path(), Some(Path::new("/somewhere/api.sock")), "{other:?}");
            assert_eq!(Listen::usual(other, &Location::Memory), Listen::NoPlace);
        }
    }
}
