//! Backups: made during writes, consistent, and usable as a store.

use std::os::unix::fs::MetadataExt;

use callgate_call::Principal;

use super::*;
use crate::{BackupError, backup};
use callgate_audit::RecordedPrincipal;

fn by() -> RecordedPrincipal {
    RecordedPrincipal { user: Some("root".into()), ..RecordedPrincipal::default() }
}

/// A backup of the store in a folder next to it.
fn copied(place: &Place, name: &str) -> (crate::BackedUp, Location) {
    let folder = place.folder.path().join(name);
    let done = backup(&place.location(), &folder, |_, _| {}).unwrap();
    let location = Location::Sqlite(done.store.clone());
    (done, location)
}

#[test]
fn a_backup_is_a_store_to_go_on_with() {
    let place = Place::new();
    let store = place.open(Durability::Disk);
    let key = store.add_key("laptop", &Principal::default(), None, &by()).unwrap();
    for number in 0..50 {
        store.append(call("Bash", &format!("{number}"))).wait().unwrap();
    }
    let before = place.reader().verify(|_, _| {}).unwrap();
    let (done, location) = copied(&place, "copy");
    assert_eq!(done.verified, before);
    let restored = Store::open(&Settings { store: location, ..place.settings(Durability::Disk) });
    let restored = restored.unwrap();
    assert!(restored.find_key(key.expose(), jiff::Timestamp::now()).is_ok());
    restored.append(call("Bash", "after")).wait().unwrap();
    let found = all(&restored.reader().unwrap());
    assert_eq!(found.last().unwrap().prev_hash, before.head, "the chain goes on");
    assert_eq!(found.len() as u64, before.records + 1);
}

#[test]
fn only_this_user_can_read_a_backup() {
    let place = Place::new();
    place.open(Durability::Disk).append(call("Bash", "x")).wait().unwrap();
    let (done, _) = copied(&place, "copy");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
    let folder = done.store.parent().unwrap();
    assert_eq!(mode(folder), 0o700);
    let (mut files, mut folders) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700);
            let inside = std::fs::read_dir(&path).unwrap();
            inside.for_each(|entry| assert_eq!(mode(&entry.unwrap().path()), 0o600));
            folders += 1;
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            files += 1;
        }
    }
    assert_eq!((files, folders), (2, 2), "the state and the key; the journal and its head");
}

#[test]
fn a_backup_overwrites_nothing() {
    let place = Place::new();
    place.open(Durability::Disk).append(call("Bash", "x")).wait().unwrap();
    let folder = place.folder.path().join("full");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("mine"), "text").unwrap();
    let refused = backup(&place.location(), &folder, |_, _| {});
    assert!(matches!(refused, Err(BackupError::NotEmpty(_))), "{refused:?}");
    assert_eq!(std::fs::read(folder.join("mine")).unwrap(), b"text");
    let missing = Location::Sqlite(place.folder.path().join("none"));
    let refused = backup(&missing, &place.folder.path().join("copy"), |_, _| {});
    assert!(matches!(refused, Err(BackupError::Open(crate::OpenError::Missing { .. }))));
    assert!(!place.folder.path().join("copy").exists());
}

/// A key is in the backup if and only if its change is recorded there, whenever the backup is made.
#[test]
fn state_and_journal_are_of_the_same_moment() {
    let place = Place::new();
    let store = place.open(Durability::Process);
    let made = std::thread::scope(|scope| {
        let keys = scope.spawn(|| {
            for number in 0..300 {
                store.add_key(&format!("k{number}"), &Principal::default(), None, &by()).unwrap();
            }
        });
        let records = scope.spawn(|| {
            for _ in 0..3000 {
                store.append(call("Bash", "x")).wait().unwrap();
            }
        });
        let mut made = 0;
        while made < 20 && !(keys.is_finished() && records.is_finished()) {
            let (done, location) = copied(&place, &format!("copy{made}"));
            let settings = Settings { store: location, ..place.settings(Durability::Process) };
            let copy = Store::open(&settings).unwrap();
            let keys = copy.list_keys().unwrap().len();
            let is_change = |stored: &&StoredRecord| stored.record.kind == RecordKind::Change;
            let changes = all(&copy.reader().unwrap()).iter().filter(is_change).count();
            assert_eq!(keys, changes, "in a backup of {} records", done.verified.records);
            made += 1;
        }
        made
    });
    assert!(made > 0, "no backup was made while others wrote");
}

#[test]
fn segments_that_expire_meanwhile_are_copied_all_the_same() {
    let place = Place::new();
    let mut settings = place.settings(Durability::Process);
    settings.retention.records = Some(100);
    let store = Store::open(&settings).unwrap();
    let append = |many: usize| {
        let receipts: Vec<_> = (0..many).map(|_| store.append(call("Bash", "x"))).collect();
        receipts.into_iter().for_each(|receipt| receipt.wait().unwrap());
    };
    append(90);
    let before = place.reader().verify(|_, _| {}).unwrap();
    let folder = place.folder.path().join("copy");
    let mut is_first = true;
    let done = backup(&place.location(), &folder, |_, _| {
        if std::mem::take(&mut is_first) {
            append(300);
        }
    });
    assert_eq!(done.unwrap().verified, before);
    let now = place.reader().verify(|_, _| {}).unwrap();
    assert!(now.first > before.last, "what was copied has expired: {now:?}");
}
