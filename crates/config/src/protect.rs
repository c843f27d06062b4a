//! Which files, which process and which port self-protection guards.

use std::path::{Path, PathBuf};

use callgate_control::Listen;
use callgate_policy::Protection;
use callgate_store::Location;

use crate::find;

/// Whether callgate protects itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protect {
    /// It does.
    On,
    /// The user's config says that it does not.
    Off,
}

/// What belongs to callgate on this machine.
pub(crate) fn protection(
    config: Option<&Path>,
    policies: &[PathBuf],
    store: &Location,
    api: &Listen,
    port: u16,
) -> Protection {
    let folders = [find::user_folder(), find::default_store().parent().map(Path::to_owned)];
    let files = config.into_iter().map(Path::to_owned).chain(policies.iter().cloned());
    let files = files.chain(api.path().map(Path::to_owned));
    let folders = folders.into_iter().flatten();
    let store = match store {
        Location::Sqlite(file) => Some(file.clone()),
        Location::Memory => None,
    };
    Protection {
        files: files.flat_map(|path| spellings(&path)).collect(),
        folders: folders.flat_map(|path| spellings(&path)).collect(),
        prefixes: store.iter().flat_map(|path| spellings(path)).collect(),
        programs: std::env::current_exe().into_iter().flat_map(|path| spellings(&path)).collect(),
        home: std::env::home_dir().filter(|home| home.is_absolute()),
        pid: std::process::id(),
        port,
    }
}

/// The absolute path, and where links lead.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // The file may not be there yet, its folder usually is.
    let real = whole.canonicalize().ok().or_else(|| {
        let folder = whole.parent()?.canonicalize().ok()?;
        Some(folder.join(whole.file_name()?))
    });
    let real = real.filter(|real| *real != whole);
    std::iter::once(whole).chain(real).collect()
}
