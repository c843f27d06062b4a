//! File descriptors. Each stream takes two, one to its client and one to its provider, and the
//! usual limit of a process is 1024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as this process may, and answers how many clients fit.
pub(crate) fn raise() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Some(limit.maximum.unwrap_or(MOST).min(MOST));
    if limit.current.is_some() && limit.current < wanted {
        // If this is not permitted, the gateway still runs, with room for fewer clients.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: wanted, ..limit });
    }
    let files = getrlimit(Resource::Nofile).current.unwrap_or(MOST);
    usize::try_from(clients(files)).unwrap_or(usize::MAX)
}

fn clients(files: u64) -> u64 {
    (files.saturating_sub(OTHERS) / 2).max(1)
}

/// The store, the log, the watched folders, the runtime: a few dozen.
const OTHERS: u64 = 64;
/// More than any setting asks for. Some systems answer with numbers in the billions.
const MOST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_room_for_its_provider() {
        assert_eq!(clients(1024), 480);
        assert_eq!(clients(20), 1);
        assert!(raise() >= 1);
    }
}
