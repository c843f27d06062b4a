//! Files that are not what they should be.

use super::*;
use crate::error::OpenError;

#[test]
fn a_damaged_index_is_rebuilt() {
    let (folder, log) = (Folder::new(), sample());
    fill(&folder.index(), &log).unwrap();
    folder.raw().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let mut bytes = std::fs::read(folder.path()).unwrap();
    // The header is still that of an index; the rest is noise.
    bytes[100..].fill(0xa5);
    std::fs::write(folder.path(), bytes).unwrap();
    let index = folder.index();
    assert_eq!(fill(&index, &log).unwrap().seq, 4150);
}

#[test]
fn keeping_up_rebuilds_a_damaged_index() {
    let (folder, log) = (Folder::new(), sample());
    let index = folder.index();
    assert_eq!(index.keep_up(&log, 1).unwrap().seq, 4095, "one block at a time");
    let damage = "UPDATE filled SET seq = 'no number'";
    folder.raw().execute_batch(damage).unwrap();
    assert!(fill(&index, &log).unwrap_err().is_damage());
    assert_eq!(index.keep_up(&log, 10).unwrap().seq, 4150);
    let whole = Folder::new();
    fill(&whole.index(), &log).unwrap();
    assert_eq!(folder.content(), whole.content());
}

#[test]
fn a_file_that_is_not_an_index_is_not_changed() {
    type Make = fn(&Folder);
    let files: [(&str, Make); 4] = [
        ("another application", |folder| {
            folder.raw().execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
        }),
        ("file is not a database", |folder| {
            std::fs::write(folder.path(), "my diary, all of it, for years".repeat(100)).unwrap();
        }),
        ("schema 4", |folder| {
            crate::legacy::RECORDS.migrate(&mut folder.raw()).unwrap();
        }),
        ("schema 6", |folder| {
            folder.index();
            folder.raw().execute_batch("PRAGMA user_version = 6").unwrap();
        }),
    ];
    for (why, make) in files {
        let folder = Folder::new();
        make(&folder);
        let before = std::fs::read(folder.path()).unwrap();
        let error = Index::open(&folder.place()).unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. } | OpenError::Newer { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(std::fs::read(folder.path()).unwrap(), before, "{why}");
    }
}

#[test]
fn an_older_callgate_reports_that_it_is_too_old() {
    let folder = Folder::new();
    folder.index();
    // An older version looks at these.
    let found = crate::legacy::RECORDS.identify(&folder.raw()).unwrap();
    assert_eq!(found, crate::schema::FileKind::Store(5));
    assert_eq!(crate::legacy::RECORDS.version(), 4);
}
