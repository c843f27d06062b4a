//! Login names, from the password database: never from the environment, which an agent can set.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

/// The login name of the user who runs this process; `None` if the password database has none.
pub fn login_name() -> Option<String> {
    login_name_of(uid()?)
}

/// The login name of a user. Users who are not in the local file are looked up in the directory that
/// the system is set up with (LDAP, say), which may take a while.
pub fn login_name_of(uid: u32) -> Option<String> {
    in_passwd(uid).or_else(|| in_directory(uid))
}

/// The user who runs this process.
#[cfg(unix)]
pub fn uid() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

/// The user who runs this process.
#[cfg(not(unix))]
pub fn uid() -> Option<u32> {
    None
}

fn in_passwd(uid: u32) -> Option<String> {
    let file = File::open("/etc/passwd").ok()?;
    let lines = BufReader::new(file.take(MAX_PASSWD)).lines();
    lines.map_while(Result::ok).find_map(|line| name_in(&line, uid))
}

/// The name in a line of the password file, `name:password:uid:…`, if the line is of that user.
fn name_in(line: &str, uid: u32) -> Option<String> {
    let mut fields = line.split(':');
    let name = fields.next().filter(|name| is_name(name))?;
    let found: u32 = fields.nth(1)?.parse().ok()?;
    (found == uid).then(|| name.to_owned())
}

/// Asks `id`, which knows what the system's own library knows.
fn in_directory(uid: u32) -> Option<String> {
    let mut id = Command::new("/usr/bin/id");
    id.arg("-un").arg(uid.to_string()).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    let output = id.output().ok().filter(|output| output.status.success())?;
    let name = String::from_utf8(output.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| is_name(name))
}

/// Comments, and entries of NIS (`+`, `-`), are no names.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['#', '+', '-']) && !name.chars().any(char::is_control)
}

/// Room for a hundred thousand users.
const MAX_PASSWD: u64 = 16 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_their_uid() {
        let ann = "ann:x:1000:1000:Ann:/home/ann:/bin/sh";
        assert_eq!(name_in(ann, 1000).as_deref(), Some("ann"));
        assert_eq!(name_in(ann, 1001), None);
        for odd in ["", "#ann:x:1000:", "+:x:1000:", ":x:1000:", "ann", "ann:x", "ann:x:10x:"] {
            assert_eq!(name_in(odd, 1000), None, "{odd}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_first_user_has_a_name() {
        assert_eq!(login_name_of(0).as_deref(), Some("root"));
        assert_eq!(in_directory(u32::MAX - 7), None);
    }
}
