//! A gateway's process, seen and bounded from outside.

use std::fs;
use std::process::{Command, Stdio};

use callgate_testkit::gateway::Gateway;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// One mebibyte.
pub(crate) const MIB: usize = 1 << 20;

/// How much memory a gateway has at the moment, in bytes.
pub(crate) fn memory(gateway: &Gateway) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", gateway.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kibibytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes << 10
}

/// Lets this process, which holds both ends of every connection, open as many files as it may.
pub(crate) fn raise_own_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).ok();
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Lets a gateway write files only up to this many bytes; `None` takes the bound away.
pub(crate) fn bound_files(gateway: &Gateway, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(gateway.id()).unwrap());
    // It has the bounds of this process.
    let limit = getrlimit(Resource::Fsize);
    let current = bytes.or(limit.current);
    prlimit(pid, Resource::Fsize, Rlimit { current, ..limit }).unwrap();
}

/// Whether a program runs here, and ends well.
pub(crate) fn works(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
