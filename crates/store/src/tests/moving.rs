//! Migration of a store of version 0.1.

use callgate_audit::{ChainHash, ChainLink, GENESIS, Sealed};
use callgate_call::Principal;
use jiff::Timestamp;
use rusqlite::params;

use super::*;
use crate::legacy::RECORDS;
use crate::{OpenError, VerifyError};

/// A store as version 0.1 left it, with records 3 to 8: two have expired.
fn old(version: i64) -> Place {
    old_with(version, |seq| seq)
}

/// The same with these times of storing.
fn old_with(version: i64, at: impl Fn(i64) -> i64) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    let mut raw = place.raw();
    raw.pragma_update(None, "journal_mode", "wal").unwrap();
    RECORDS.migrate_to(&mut raw, version).unwrap();
    let (mut before, mut total): (ChainHash, i64) = ([5; 32], 900);
    raw.execute(
        "UPDATE chain SET begun = 1, seq = 2, hash = ?1, total = 900, expired = 2",
        [before],
    )
    .unwrap();
    for seq in 3..=8_i64 {
        let sealed = Sealed::new(call("Bash", &format!("{{\"command\":\"{seq}\"}}")));
        total += i64::try_from(sealed.body.len()).unwrap();
        let link = ChainLink { seq, at: at(seq), total, joins: None, body: &sealed.body };
        before = link.hash(&before);
        raw.execute(
            "INSERT INTO records (seq, tail, at, total, hash, joins, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, NULL, ?6)",
            params![seq, i64::from(seq == 8), at(seq), total, before, sealed.body],
        )
        .unwrap();
    }
    raw.execute("INSERT INTO keys (name, hash, created) VALUES ('ci', zeroblob(32), 1)", [])
        .unwrap();
    place
}

fn head_of(place: &Place) -> String {
    let last = "SELECT hash FROM records ORDER BY seq DESC LIMIT 1";
    let hash: ChainHash = place.raw().query_row(last, [], |row| row.get(0)).unwrap();
    callgate_audit::hex(&hash)
}

#[test]
fn records_keys_and_the_chain_are_migrated() {
    for version in [1, 2, 3, 4] {
        let place = old(version);
        let head = head_of(&place);
        let store = place.open(Durability::Disk);
        let verified = place.reader().verify(|_, _| {}).unwrap();
        assert_eq!((verified.first, verified.last, verified.expired), (3, 8, 2));
        assert_eq!(verified.head, head, "the hashes are the old ones");
        store.append(call("Bash", "new")).wait().unwrap();
        let found = all(&place.reader());
        assert_eq!(found.len(), 7);
        assert_eq!(found[6].prev_hash, head, "the first new record names the last old one");
        assert_eq!(store.list_keys().unwrap()[0].name, "ci");
        place.reader().verify(|_, _| {}).unwrap();

        let kept = place.path().with_extension("db.0.1");
        let kept = Connection::open(kept).unwrap();
        let many: i64 =
            kept.query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap();
        assert_eq!(many, 6, "the old file is kept as it was");
    }
}

#[test]
fn a_reader_migrates_an_old_store_too() {
    let place = old(4);
    assert_eq!(all(&place.reader()).len(), 6);
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 6);
}

#[test]
fn several_processes_at_once_move_it_once() {
    let place = old(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                place.open(Durability::Process).append(call("Bash", "{}")).wait().unwrap()
            });
        }
    });
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 10);
}

#[test]
fn an_older_callgate_fails_with_a_reason() {
    let place = old(4);
    // A process that still has the store open, and writes as version 0.1 did.
    let running = place.raw();
    let store = place.open(Durability::Disk);
    let insert = "INSERT INTO records VALUES (9, 1, 9, 0, zeroblob(32), NULL, '{}')";
    let said = running.execute(insert, []).unwrap_err().to_string();
    assert!(said.contains("migrated by a newer callgate"), "{said}");
    let said = running.execute("UPDATE touched SET times = 1", []).unwrap_err().to_string();
    assert!(said.contains("migrated by a newer callgate"), "{said}");
    // A process that opens it: at its old path, and where the old file is kept.
    for path in [place.path(), place.path().with_extension("db.0.1")] {
        let found = RECORDS.identify(&Connection::open(path).unwrap()).unwrap();
        assert!(
            matches!(found, crate::schema::FileKind::Store(version) if version > RECORDS.version()),
            "{found:?}"
        );
    }
    drop(running);
    store.append(call("Bash", "{}")).wait().unwrap();
    assert_eq!(all(&place.reader()).len(), 7, "its end disturbs nobody");
}

#[test]
fn broken_old_records_stay_broken() {
    for (change, at) in [
        ("UPDATE records SET body = replace(body, '5', '6') WHERE seq = 5", 5),
        ("DELETE FROM records WHERE seq = 6", 6),
        ("DELETE FROM records WHERE seq = 8", 8),
        ("DELETE FROM records", 3),
        ("UPDATE records SET hash = 'no hash' WHERE seq = 4", 4),
    ] {
        let place = old(4);
        place.raw().execute(change, []).unwrap();
        for _ in 0..2 {
            let store = place.open(Durability::Process);
            let Err(VerifyError::Broken(broken)) = place.reader().verify(|_, _| {}) else {
                panic!("{change}: not found")
            };
            assert_eq!(broken.seq, at, "{change}: {broken}");
            store.append(call("Bash", "{}")).wait().unwrap();
        }
    }
}

#[test]
fn a_move_that_was_interrupted_is_done_again() {
    // Interrupted while records were copied.
    let place = old(4);
    let aside = place.path().with_extension("aside");
    std::fs::copy(place.path(), &aside).unwrap();
    drop(place.open(Durability::Disk));
    let segment = std::fs::read_dir(place.journal()).unwrap();
    let segment = segment.map(|it| it.unwrap().path()).find(|it| it.extension().is_some()).unwrap();
    let whole = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, &whole[..whole.len() / 2]).unwrap();
    std::fs::rename(&aside, place.path()).unwrap();
    let store = place.open(Durability::Disk);
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 6);
    assert_eq!(store.list_keys().unwrap().len(), 1);
    drop(store);

    // Interrupted after everything was copied, before the old file was moved.
    let place = old(4);
    drop(place.open(Durability::Disk));
    std::fs::remove_file(place.path()).unwrap();
    std::fs::rename(place.path().with_extension("db.0.1"), place.path()).unwrap();
    let store = place.open(Durability::Disk);
    store.append(call("Bash", "{}")).wait().unwrap();
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 7);
    assert!(place.path().with_extension("db.0.1").exists());
}

#[test]
fn an_empty_store_of_an_older_version_is_moved_too() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    RECORDS.migrate(&mut place.raw()).unwrap();
    let store = place.open(Durability::Disk);
    store
        .add_key("k", &Principal::default(), None, &callgate_audit::RecordedPrincipal::default())
        .unwrap();
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 1);
    assert_eq!(all(&place.reader())[0].prev_hash, callgate_audit::hex(&GENESIS));
    assert!(store.list_keys().unwrap()[0].created <= Timestamp::now());
    assert!(!matches!(
        Store::open(&place.settings(Durability::Disk)),
        Err(OpenError::Newer { .. })
    ));
}

#[test]
fn moved_records_expire_by_their_own_age() {
    let days = |days: i64| days * 24 * 60 * 60 * 1_000_000;
    let now = Timestamp::now().as_microsecond();
    // Records 3 to 8 are 100, 80, 60, 40, 20 and 0 days old.
    let place = old_with(4, |seq| now - days(20 * (8 - seq)));
    let mut settings = place.settings(Durability::Disk);
    settings.retention.age = Some(Duration::from_secs(90 * 24 * 60 * 60));
    let store = Store::open(&settings).unwrap();
    store.append(call("Bash", "new")).wait().unwrap();
    let found: Vec<u64> = all(&place.reader()).iter().map(|stored| stored.seq).collect();
    assert_eq!(found, [4, 5, 6, 7, 8, 9]);
    place.reader().verify(|_, _| {}).unwrap();
}
