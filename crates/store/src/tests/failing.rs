//! A store that fails says so, loses nothing it promised, and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use callgate_audit::Sealed;

use super::*;
use crate::database::Fault;
use crate::keeper::Keeper;
use crate::records::Records;
use crate::shared::Shared;
use crate::wal::LogBounds;
use crate::{AppendError, Health, OpenError};

fn shared(place: &Place, durability: Durability) -> Shared {
    Shared::open(&place.settings(durability)).unwrap()
}

fn item(name: &str) -> Sealed {
    Sealed::new(call(name, "{}"))
}

/// What the writer does with an item.
fn write(store: &Shared, item: Sealed) -> Result<(), Fault> {
    store.records.append(vec![item])
}

#[test]
fn each_statement_may_fail_and_nothing_is_half_written() {
    let mut statement = 0;
    loop {
        let place = Place::new();
        let store = shared(&place, Durability::Process);
        write(&store, item("before")).unwrap();
        store.records.0.faults.fail_after(statement);
        let items = vec![item("failing"), item("failing")];
        let failed = store.records.append(items).is_err();
        let happened = store.records.0.faults.happened();
        assert_eq!(failed, happened, "statement {statement}");
        let expected = if failed { 1 } else { 3 };
        assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, expected);
        if !happened {
            assert!(statement >= 4, "a commit has more statements than {statement}");
            break;
        }
        assert!(matches!(store.records.0.pulse.health(), Health::Failing { .. }));
        store.records.0.faults.fail_after(i64::MAX);
        write(&store, item("after")).unwrap();
        assert_eq!(store.records.0.pulse.health(), Health::Ok);
        assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 2);
        statement += 1;
    }
}

/// Whatever limits this test sets are the connection's own, so it is done to that one.
#[test]
fn a_full_disk_fails_and_recovers() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let store = shared(&place, durability);
        let limit = |pages: i64| {
            let set = store.records.0.with(|it| {
                it.connection().pragma_update(None, "max_page_count", pages)?;
                Ok(())
            });
            set.unwrap();
        };
        let commit = |many: usize| store.records.append((0..many).map(|_| item("Bash")).collect());
        commit(10).unwrap();
        limit(30);
        let fault = commit(1000).unwrap_err();
        assert_eq!(fault.why(), "the disk is full");
        let Health::Failing { why, since } = store.records.0.pulse.health() else {
            panic!("it fails")
        };
        assert_eq!(why, "the disk is full");
        let _ = commit(1000);
        let Health::Failing { since: again, .. } = store.records.0.pulse.health() else {
            panic!("it fails")
        };
        assert_eq!(since, again);
        limit(1_000_000);
        commit(1000).unwrap();
        assert_eq!(store.records.0.pulse.health(), Health::Ok);
        assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 1010);
    }
}

#[test]
fn a_locked_store_fails_in_bounded_time_and_recovers() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        audit.append(call("Bash", "{}")).wait().unwrap();
        let other = place.raw();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let receipts: Vec<_> = (0..3).map(|_| audit.append(call("Bash", "{}"))).collect();
        for receipt in receipts {
            let error = receipt.wait().unwrap_err();
            assert!(matches!(&error, AppendError::Store(why) if why.contains("locked")), "{error}");
        }
        assert!(matches!(audit.health(), Health::Failing { .. }));
        other.execute_batch("ROLLBACK").unwrap();
        audit.append(call("Bash", "{}")).wait().unwrap();
        assert_eq!(audit.health(), Health::Ok);
    }
}

#[test]
fn a_lock_that_is_soon_gone_is_waited_for() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let other = place.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let receipt = audit.append(call("Bash", "{}"));
    assert!(!receipt.is_ready(), "it is queued");
    std::thread::sleep(Duration::from_millis(100));
    other.execute_batch("ROLLBACK").unwrap();
    receipt.wait().unwrap();
}

#[test]
fn health_comes_back_without_a_call() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let other = place.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    audit.append(call("Bash", "{}")).wait().unwrap_err();
    other.execute_batch("ROLLBACK").unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while audit.health() != Health::Ok {
        assert!(Instant::now() < deadline, "{:?}", audit.health());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_removed_file_is_noticed_and_made_anew() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(call("Bash", "{}")).wait().unwrap();
    std::fs::remove_dir_all(place.path().parent().unwrap()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let _ = audit.append(call("Bash", "{}")).wait();
        let found = Reader::open(&place.location());
        if found.is_ok_and(|reader| reader.verify(|_, _| {}).is_ok_and(|it| it.records > 0)) {
            break;
        }
        assert!(Instant::now() < deadline, "{:?}", audit.health());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |name: &str| Settings::at(Location::Sqlite(folder.path().join(name)));
    let open = |name: &str| Store::open(&settings(name)).unwrap_err();
    let read = |name: &str| Reader::open(&settings(name).store).unwrap_err();

    std::fs::write(folder.path().join("text"), "not a database, but long enough to be one")
        .unwrap();
    assert!(matches!(open("text"), OpenError::Foreign { .. }), "{}", open("text"));
    assert!(matches!(read("text"), OpenError::Foreign { .. }), "{}", read("text"));
    let content = std::fs::read_to_string(folder.path().join("text")).unwrap();
    assert!(content.starts_with("not a database"), "it was left as it is");

    let other = Connection::open(folder.path().join("songs")).unwrap();
    other.execute_batch("CREATE TABLE songs (name TEXT)").unwrap();
    assert!(matches!(open("songs"), OpenError::Foreign { .. }), "{}", open("songs"));
    let tables: i64 =
        other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1, "it was left as it is");

    assert!(matches!(open("text/below"), OpenError::Unwritable { .. }), "{}", open("text/below"));
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    assert!(matches!(open("folder"), OpenError::Unwritable { .. }), "{}", open("folder"));
    assert!(matches!(read("nothing"), OpenError::Missing { .. }));
    assert!(!folder.path().join("nothing").exists(), "reading makes nothing");
    assert!(matches!(Reader::open(&Location::Memory), Err(OpenError::InMemory)));

    drop(Store::open(&settings("newer")).unwrap());
    let newer = Connection::open(folder.path().join("newer")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(open("newer"), OpenError::Newer { found: 99, .. }), "{}", open("newer"));
    assert!(matches!(read("newer"), OpenError::Newer { found: 99, .. }), "{}", read("newer"));

    drop(Store::open(&settings("locked")).unwrap());
    let lock = Connection::open(folder.path().join("locked")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE").unwrap();
    assert!(matches!(open("locked"), OpenError::Locked { .. }), "{}", open("locked"));
}

#[test]
fn a_store_that_nobody_may_write_can_be_read() {
    let place = Place::new();
    drop({
        let audit = place.open(Durability::Disk);
        audit.append(call("Bash", "{}")).wait().unwrap();
        audit
    });
    // As it is in a folder without write permission, which does not bind every user. Its name is
    // part of an address, so it is an odd one.
    let odd = place.folder.path().join("é %3f?#&.db");
    std::fs::copy(place.path(), &odd).unwrap();
    let location = Location::Sqlite(odd);
    let connection = crate::place::Place::new(&location).immutable().unwrap();
    let many: i64 =
        connection.query_row("SELECT count(*) FROM records", [], |row| row.get(0)).unwrap();
    assert_eq!(many, 1);
}

#[test]
fn the_log_does_not_grow_for_ever() {
    let place = Place::new();
    let store = Arc::new(shared(&place, Durability::Process));
    let mut keeper = Keeper::new(&store).unwrap();
    let log = || std::fs::metadata(place.path().with_extension("db-wal")).unwrap().len();
    let large = "x".repeat(60_000);
    let mut longest = 0;
    for number in 0..1200 {
        write(&store, Sealed::new(call("Bash", &large))).unwrap();
        if number % 100 == 0 {
            keeper.records.checkpoint().unwrap();
            longest = longest.max(log());
        }
    }
    // 72 MB were written.
    assert!(longest < 40 * 1024 * 1024, "{longest}");
    place.reader().verify(|_, _| {}).unwrap();
}

#[test]
fn the_log_begins_anew_under_constant_readers() {
    let place = Place::new();
    let store = Arc::new(shared(&place, Durability::Process));
    let mut keeper = Keeper::new(&store).unwrap();
    keeper.records.checkpoints.bounds = LogBounds { checkpoint: 64, restart: 512 };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Three readers, so that there is never a moment without one.
        for delay in [0, 3, 6] {
            let done = &done;
            let place = &place;
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(delay));
                let raw = place.raw();
                while !done.load(Ordering::Relaxed) {
                    raw.execute_batch("BEGIN; SELECT count(*) FROM chain").unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                    raw.execute_batch("COMMIT").unwrap();
                }
            });
        }
        for number in 0..10_000 {
            // Busy where it is the keeper's turn.
            let _ = write(&store, item("Bash"));
            if number % 50 == 0 {
                // Readers may be faster than it; then it is tried again.
                let _ = keeper.records.checkpoint();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let log = std::fs::metadata(place.path().with_extension("db-wal")).unwrap().len();
    // Without beginning anew it would hold ten thousand pages and more: 40 MB.
    assert!(log < 10 * 1024 * 1024, "{log}");
    place.reader().verify(|_, _| {}).unwrap();
}

#[test]
fn a_store_that_became_read_only_fails_and_recovers() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let store = shared(&place, durability);
        let commit = || write(&store, item("Bash"));
        commit().unwrap();
        store
            .records
            .0
            .with(|it| Ok(it.connection().pragma_update(None, "query_only", true)?))
            .unwrap();
        let why = commit().unwrap_err().why();
        assert!(why.contains("readonly"), "{why}");
        assert!(matches!(store.records.0.pulse.health(), Health::Failing { .. }));
        commit().unwrap();
        assert_eq!(store.records.0.pulse.health(), Health::Ok, "with a new connection");
        assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 2);
    }
}

#[test]
fn what_stands_beside_others_waits_for_a_store_that_fails() {
    let place = Place::new();
    let store = shared(&place, Durability::Process);
    store.beside.add(call("first", "{}"));
    store.records.0.faults.fail_after(1);
    store.beside.write(&store.records).unwrap_err();
    // Not at once: a store that fails is not to be asked all the time.
    assert!(store.beside.due() > Some(Duration::from_millis(100)));
    store.beside.add(call("second", "{}"));
    store.records.0.faults.fail_after(i64::MAX);
    store.beside.write(&store.records).unwrap();
    assert_eq!(store.beside.due(), None);
    let names: Vec<_> =
        all(&place.reader()).into_iter().map(|it| it.record.tool.unwrap().name).collect();
    assert_eq!(names, ["first", "second"]);
}
