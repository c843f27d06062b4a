//! Where the config is.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use callgate_document::Source;

use crate::env;
use crate::error::ConfigError;

/// The name of the one config file.
pub const FILE: &str = "callgate.yaml";

/// The config of the whole machine.
const SYSTEM_FOLDER: &str = "/etc/callgate";

/// Where the store goes without a home folder, as in a service without a user.
const SYSTEM_STATE: &str = "/var/lib";

/// Ten thousand rules with examples stay below this; past it the file is refused.
const MAX_FILE: u64 = 16 << 20;

/// The config file that applies, if there is one: the named one, the one of the environment, the
/// user's, the machine's. Never one of the working tree: an agent may have written that.
pub fn find(named: Option<&Path>) -> Option<PathBuf> {
    let named = named.map(Path::to_owned).or_else(|| env::CONFIG.get().map(PathBuf::from));
    if named.is_some() {
        return named;
    }
    // A file that is there but cannot be read must fail, not be skipped.
    candidates().into_iter().find(|path| path.symlink_metadata().is_ok())
}

/// Where to look for a config if none is named.
pub(crate) fn candidates() -> Vec<PathBuf> {
    let folders = user_folder().into_iter().chain([SYSTEM_FOLDER.into()]);
    folders.map(|folder| folder.join(FILE)).collect()
}

/// The user's config folder for callgate; `None` if no home is known.
pub fn user_folder() -> Option<PathBuf> {
    user_base(env::XDG_CONFIG_HOME, ".config").map(|base| base.join("callgate"))
}

/// The store of records, if the config does not name one.
pub(crate) fn default_store() -> PathBuf {
    let base = user_base(env::XDG_STATE_HOME, ".local/state");
    base.unwrap_or_else(|| SYSTEM_STATE.into()).join("callgate/callgate.db")
}

fn user_base(variable: env::EnvVariable, in_home: &str) -> Option<PathBuf> {
    // A relative folder is invalid there and, worse, would name the working tree.
    let set = variable.get().map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        home.map(|home| home.join(in_home))
    })
}

/// Reads a file that is `what`.
pub fn read(path: &Path, what: &'static str) -> Result<Source, ConfigError> {
    let text = read_text(path);
    let text = text.map_err(|why| ConfigError::Unreadable { what, path: path.to_owned(), why })?;
    Ok(Source { name: path.to_string_lossy().into_owned(), text })
}

/// The text of a file, or why it cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("it is larger than {} MiB", MAX_FILE >> 20));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 (byte {})", error.utf8_error().valid_up_to()))
}
