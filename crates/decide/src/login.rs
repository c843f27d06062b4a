//! Login names from the system's password database. A person is the same principal at every local
//! door.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use nix::unistd::{Uid, User};
use parking_lot::Mutex;

/// Maximum number of cached names. No machine has more users that run agents.
const MAX_KNOWN: usize = 1024;
/// How long a name is cached: a user id may be given to another person.
const FRESH: Duration = Duration::from_secs(60);

static KNOWN: Mutex<Option<HashMap<u32, (String, Instant)>>> = Mutex::new(None);

/// The login name of the user who runs this process; `None` if the password database has no entry.
pub fn own() -> Option<String> {
    of(Uid::current().as_raw())
}

/// The cached login name of a user. Never waits.
pub fn known(user: u32) -> Option<String> {
    let known = KNOWN.lock();
    let (name, found) = known.as_ref()?.get(&user)?;
    (found.elapsed() < FRESH).then(|| name.clone())
}

/// The login name of a user; `None` if there is no entry, or if the password database does not
/// answer. A bare user id is not used as a name, because it may belong to anyone. May wait for the
/// database.
pub fn of(user: u32) -> Option<String> {
    if let Some(name) = known(user) {
        return Some(name);
    }
    if is_stand_in(user) {
        return None;
    }
    let found = User::from_uid(Uid::from_raw(user));
    let found = found.inspect_err(|error| {
        tracing::warn!(user, %error, "the password database does not answer");
    });
    let name = found.ok().flatten()?.name;
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_with(HashMap::new);
    if known.len() >= MAX_KNOWN {
        known.clear();
    }
    known.insert(user, (name.clone(), Instant::now()));
    Some(name)
}

/// Whether this id represents all users without an id in this process's user namespace: the kernel
/// shows all of them as one.
fn is_stand_in(user: u32) -> bool {
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid");
    let overflow = overflow.ok().and_then(|text| text.trim().parse::<u32>().ok());
    overflow == Some(user) && !has_every_user()
}

fn has_every_user() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let words: Vec<&str> = map.split_whitespace().collect();
    words == ["0", "0", "4294967295"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_name_is_not_known() {
        assert_eq!(of(0).as_deref(), Some("root"));
        assert_eq!(known(0).as_deref(), Some("root"));
        assert_eq!(of(4_000_000_001), None, "nobody has that number");
        assert_eq!(known(4_000_000_001), None);
    }
}
