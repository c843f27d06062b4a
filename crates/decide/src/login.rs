//! Login names, from the system's password database. One person is one principal at every local door.

use std::collections::HashMap;

use nix::unistd::{Uid, User};
use parking_lot::Mutex;

/// So many names are remembered. More users than that do not run agents on one machine.
const MAX_KNOWN: usize = 1024;

static KNOWN: Mutex<Option<HashMap<u32, String>>> = Mutex::new(None);

/// The login name of whoever runs this process; `None` if the password database does not answer.
pub fn own() -> Option<String> {
    of(Uid::current().as_raw())
}

/// The login name of a user, if it was asked for before. Never waits.
pub fn known(user: u32) -> Option<String> {
    KNOWN.lock().as_ref()?.get(&user).cloned()
}

/// The login name of a user; the number, as `ls` shows it, for one who has none; `None` if the password
/// database does not answer. May wait for it.
pub fn of(user: u32) -> Option<String> {
    if let Some(name) = known(user) {
        return Some(name);
    }
    let name = match User::from_uid(Uid::from_raw(user)) {
        Ok(Some(user)) => user.name,
        Ok(None) => user.to_string(),
        Err(error) => {
            tracing::warn!(user, %error, "the password database does not answer");
            return None;
        }
    };
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_with(HashMap::new);
    if known.len() < MAX_KNOWN {
        known.insert(user, name.clone());
    }
    Some(name)
}
