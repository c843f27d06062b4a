//! Information about other processes on this machine, from `/proc`.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// Whether a process runs the same program file as this one. False if unknown.
pub(crate) fn is_this_program(pid: i32) -> bool {
    let program = |of: &str| fs::metadata(format!("/proc/{of}/exe")).ok();
    match (program(&pid.to_string()), program("self")) {
        (Some(other), Some(own)) => (other.dev(), other.ino()) == (own.dev(), own.ino()),
        _ => false,
    }
}

/// Whether a process is `ancestor` or one of its descendants. True if unknown. A process that was
/// deliberately orphaned has lost its parents, and escapes this check.
pub(crate) fn descends_from(pid: i32, ancestor: i32) -> bool {
    let mut pid = pid;
    for _ in 0..MAX_DEPTH {
        if pid == ancestor {
            return true;
        }
        match parent(pid) {
            Some(0) => return false,
            Some(parent) => pid = parent,
            None => return true,
        }
    }
    true
}

/// Processes are never nested this deeply.
const MAX_DEPTH: usize = 1_000;

/// The parent of a process; 0 means none.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // A name may contain brackets and spaces. After the last bracket the format is fixed.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn own() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn processes_are_distinguished() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(is_this_program(own()));
        assert!(descends_from(pid, own()) && descends_from(pid, pid));
        assert!(!descends_from(own(), pid));
        assert!(!is_this_program(pid));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(descends_from(pid, own()), "nothing is known about it any more");
        assert!(!is_this_program(pid));
    }
}
