//! The files that git tracks, read from its index. Git itself is never run: the configuration of a
//! repository can make it run programs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The tracked files of a repository, relative to its root.
#[derive(Debug, Default)]
pub(super) struct GitIndex(HashSet<Vec<u8>>);

/// That of a repository with a million files is about this size.
const LARGEST: u64 = 128 << 20;

impl GitIndex {
    /// The index of the repository at this folder, which has an entry `.git`. `None` if it is in a
    /// form that is not read.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let folder = git_folder(root)?;
        let common = fs::read_to_string(folder.join("commondir")).ok();
        let common = common.map_or_else(|| folder.clone(), |path| folder.join(path.trim()));
        let config = fs::read_to_string(common.join("config")).unwrap_or_default();
        if config.to_ascii_lowercase().contains("sha256") {
            return None;
        }
        let file = folder.join("index");
        match fs::metadata(&file) {
            // Nothing was ever added.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(Self::default()),
            Ok(found) if found.len() <= LARGEST => parse(&fs::read(file).ok()?).map(Self),
            Ok(_) | Err(_) => None,
        }
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        use std::os::unix::ffi::OsStrExt as _;
        self.0.contains(path.as_os_str().as_bytes())
    }
}

/// The folder of a repository: `.git`, or where that file says, in a worktree and a submodule.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Reads versions 2 to 4 of the format; `None` for anything else, for an index in two files and for one
/// with folders in it.
fn parse(bytes: &[u8]) -> Option<HashSet<Vec<u8>>> {
    let mut rest = Bytes(bytes);
    let (magic, version, count) = (rest.take(4)?, rest.u32()?, rest.u32()?);
    if magic != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut paths = HashSet::new();
    let mut last = Vec::new();
    for _ in 0..count {
        let (path, has_content) = entry(&mut rest, version, last)?;
        if has_content {
            paths.insert(path.clone());
        }
        last = path;
    }
    // The extensions, then a checksum.
    while rest.0.len() > HASH {
        let (name, size) = (rest.take(4)?, rest.u32()?);
        if name == b"link" || name == b"sdir" {
            return None;
        }
        rest.take(usize::try_from(size).ok()?)?;
    }
    Some(paths)
}

const HASH: usize = 20;

/// Ten numbers about the file, its hash, and flags.
const FIXED: usize = 10 * 4 + HASH + 2;

/// The flag of an entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;

/// Among those: the file is to be added later, and git does not have it yet.
const TO_BE_ADDED: u16 = 0x2000;

/// The path of the next entry, and whether git has the file.
fn entry(rest: &mut Bytes<'_>, version: u32, last: Vec<u8>) -> Option<(Vec<u8>, bool)> {
    let whole = rest.0.len();
    let fixed = rest.take(FIXED)?;
    let flags = u16::from_be_bytes(fixed.last_chunk::<2>().copied()?);
    let mut has_content = true;
    if flags & EXTENDED != 0 {
        let more = u16::from_be_bytes(rest.take(2)?.first_chunk::<2>().copied()?);
        has_content = more & TO_BE_ADDED == 0;
    }
    if version == 4 {
        let mut path = last;
        let removed = rest.offset()?;
        path.truncate(path.len().checked_sub(removed)?);
        path.extend_from_slice(rest.until_zero()?);
        return Some((path, has_content));
    }
    let path = rest.until_zero()?.to_vec();
    // Each entry is padded to a multiple of eight bytes; one zero was read.
    let length = whole - rest.0.len();
    rest.take((8 - length % 8) % 8)?;
    Some((path, has_content))
}

/// What is left of the index.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes))
    }

    fn until_zero(&mut self) -> Option<&'b [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A number as git writes offsets: seven bits a byte, the highest first.
    fn offset(&mut self) -> Option<usize> {
        let mut number = 0usize;
        loop {
            let byte = *self.take(1)?.first()?;
            number = number.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            number = number.checked_add(1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, args: &[&str]) -> bool {
        let mut command = Command::new("git");
        command.current_dir(folder).args(args).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().is_ok_and(|ran| ran.status.success())
    }

    /// Compared with git itself, in each version of the format.
    #[test]
    fn the_index_is_read_as_git_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        if !git(root, &["init", "-q"]) {
            assert!(std::env::var_os("CALLGATE_REQUIRE_PEERS").is_none(), "git is missing");
            return eprintln!("skipped: there is no git");
        }
        assert!(GitIndex::of(root).is_some_and(|index| index.0.is_empty()));
        let names = ["a", "a.txt", "dir/long name that is shared", "dir/long name that", "x/y/z/é"];
        for name in names {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), name).unwrap();
        }
        assert!(git(root, &["add", "."]));
        fs::write(root.join("later"), "").unwrap();
        assert!(git(root, &["add", "-N", "later"]), "an entry with more flags: version 3");
        for version in ["2", "4"] {
            assert!(git(root, &["update-index", "--index-version", version]));
            let index = GitIndex::of(root).unwrap();
            assert!(names.iter().all(|name| index.contains(Path::new(name))), "{version}");
            assert_eq!(index.0.len(), names.len(), "{version}: git does not have the last one yet");
        }
        assert!(git(root, &["update-index", "--split-index"]));
        assert!(GitIndex::of(root).is_none(), "an index in two files");
    }

    #[test]
    fn what_is_no_index_is_unknown() {
        for bytes in
            [&b""[..], b"DIRC", b"DIRC\0\0\0\x05\0\0\0\0", b"DIRC\0\0\0\x02\xff\xff\xff\xff"]
        {
            assert_eq!(parse(bytes), None);
        }
    }
}
