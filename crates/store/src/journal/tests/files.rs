//! The journal in a folder: its permissions, and what happens when it is taken away.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::{NONE, append, details, open, verify};
use crate::database::Fault;
use crate::error::OpenError;
use crate::journal::{FileVolume, Journal, ReadOnlyVolume, Volume};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn journal(&self) -> PathBuf {
        self.0.path().join("a.db.journal")
    }

    fn head(&self) -> PathBuf {
        self.0.path().join("a.db.head/last")
    }

    fn open(&self) -> Result<Arc<FileVolume>, OpenError> {
        FileVolume::open(self.journal(), self.head()).map(Arc::new)
    }

    fn written(&self) -> (Arc<FileVolume>, Journal) {
        let volume = self.open().unwrap();
        let mut journal = open(&volume, &NONE).unwrap();
        append(&mut journal, &["a", "b"], 1).unwrap();
        (volume, journal)
    }
}

#[test]
fn only_its_owner_can_read_it() {
    let folder = Folder::new();
    let _written = folder.written();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.journal()), 0o700);
    assert_eq!(mode(folder.head()), 0o600);
    for entry in fs::read_dir(folder.journal()).unwrap() {
        assert_eq!(mode(entry.unwrap().path()), 0o600);
    }
}

#[test]
fn one_that_others_can_write_is_refused() {
    let folder = Folder::new();
    drop(folder.written());
    let segment = folder.journal().join("000000000001.log");
    for path in [folder.journal(), folder.head(), segment, folder.journal().join("lock")] {
        let kept = fs::metadata(&path).unwrap().permissions();
        for others in [0o020, 0o002] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept.mode() | others)).unwrap();
            let Err(OpenError::Exposed { path: named, .. }) = folder.open() else {
                panic!("{} {others:o}", path.display())
            };
            assert_eq!(named, path);
        }
        fs::set_permissions(&path, kept).unwrap();
    }
    folder.open().unwrap();
}

#[test]
fn it_is_read_without_being_written() {
    let folder = Folder::new();
    drop(folder.written());
    let reading = Arc::new(ReadOnlyVolume::new(folder.journal(), folder.head()));
    assert_eq!(details(&reading), ["a", "b"]);
    assert_eq!(verify(&reading).unwrap().records, 2);
    let nothing = folder.0.path().join("nothing");
    let none = Arc::new(ReadOnlyVolume::new(nothing.clone(), nothing));
    assert_eq!(verify(&none).unwrap().records, 0);
}

#[test]
fn waiting_too_long_for_another_writer_fails() {
    let folder = Folder::new();
    let (_volume, mut journal) = folder.written();
    let other = folder.open().unwrap();
    let lock = other.lock().unwrap();
    assert_eq!(append(&mut journal, &["c"], 2), Err(Fault::Busy));
    drop(lock);
    append(&mut journal, &["c"], 2).unwrap();
}

#[test]
fn a_journal_that_was_taken_away_takes_no_records() {
    let folder = Folder::new();
    let (_volume, mut journal) = folder.written();
    fs::rename(folder.journal(), folder.0.path().join("elsewhere")).unwrap();
    assert!(matches!(append(&mut journal, &["c"], 2), Err(Fault::Lost(_))));
    // A new journal continues after the missing records, and reports the gap.
    let volume = folder.open().unwrap();
    append(&mut open(&volume, &NONE).unwrap(), &["d"], 3).unwrap();
    assert_eq!(
        verify(&volume).unwrap_err().to_string(),
        "the chain is broken at record 1: 2 record(s) missing"
    );
    assert_eq!(details(&volume), ["d"]);
}

#[test]
fn a_head_that_was_taken_away_is_missed() {
    let folder = Folder::new();
    let (_volume, mut journal) = folder.written();
    fs::remove_file(folder.head()).unwrap();
    append(&mut journal, &["c"], 2).unwrap_err();
    let volume = folder.open().unwrap();
    append(&mut open(&volume, &NONE).unwrap(), &["d"], 3).unwrap();
    verify(&volume).unwrap_err();
    assert_eq!(details(&volume).last().map(String::as_str), Some("d"));
}
