//! A store that fails reports it, loses nothing that it confirmed, and recovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::maintenance::Maintenance;
use crate::shared::OpenStore;
use crate::state::removed::SealedRemoved;
use crate::state::{StateEntry, StateStore};
use crate::wal::LogBounds;
use crate::{AppendError, OpenError, RemovedEntry, WriteHealth};

fn shared(place: &Place, durability: Durability) -> OpenStore {
    OpenStore::open(&place.settings(durability)).unwrap()
}

/// Stores a removed call of this many bytes.
fn keep(store: &OpenStore, bytes: usize) {
    let (signs, keys) = (vec![[2; 32]], Vec::new());
    let entry =
        RemovedEntry { binding: [1; 32], signs, keys, alike: None, content: vec![7; bytes] };
    let sealed = SealedRemoved::new(entry, &store.cipher).unwrap();
    // Fails as busy if the maintenance thread is writing.
    let _ = store.state.store(&[&StateEntry::Removed(sealed)], crate::shared::now());
}

#[test]
fn a_locked_store_fails_in_bounded_time_and_recovers() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        audit.append(call("Bash", "{}")).wait().unwrap();
        let lock = place.lock();
        let receipts: Vec<_> = (0..3).map(|_| audit.append(call("Bash", "{}"))).collect();
        for receipt in receipts {
            let error = receipt.wait().unwrap_err();
            assert!(matches!(&error, AppendError::Store(why) if why.contains("locked")), "{error}");
        }
        assert!(matches!(audit.health(), WriteHealth::Failing { .. }));
        drop(lock);
        audit.append(call("Bash", "{}")).wait().unwrap();
        assert_eq!(audit.health(), WriteHealth::Ok);
    }
}

#[test]
fn a_lock_that_is_soon_gone_is_waited_for() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let lock = place.lock();
    let receipt = audit.append(call("Bash", "{}"));
    assert!(!receipt.is_ready(), "it is queued");
    std::thread::sleep(Duration::from_millis(100));
    drop(lock);
    receipt.wait().unwrap();
}

#[test]
fn health_comes_back_without_a_call() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let lock = place.lock();
    audit.append(call("Bash", "{}")).wait().unwrap_err();
    drop(lock);
    let deadline = Instant::now() + Duration::from_secs(120);
    while audit.health() != WriteHealth::Ok {
        assert!(Instant::now() < deadline, "{:?}", audit.health());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_removed_file_is_noticed_and_created_again() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(call("Bash", "{}")).wait().unwrap();
    std::fs::remove_dir_all(place.path().parent().unwrap()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let _ = audit.append(call("Bash", "{}")).wait();
        let found = RecordReader::open(&place.location());
        if found.is_ok_and(|reader| reader.verify(|_, _| {}).is_ok_and(|it| it.records > 0)) {
            break;
        }
        assert!(Instant::now() < deadline, "{:?}", audit.health());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_that_cannot_be_opened_reports_why() {
    let folder = tempfile::tempdir().unwrap();
    let settings = |name: &str| Settings::at(Location::Sqlite(folder.path().join(name)));
    let open = |name: &str| Store::open(&settings(name)).unwrap_err();
    let read = |name: &str| RecordReader::open(&settings(name).store).unwrap_err();

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
    assert!(matches!(RecordReader::open(&Location::Memory), Err(OpenError::InMemory)));

    drop(Store::open(&settings("newer")).unwrap());
    let newer = Connection::open(folder.path().join("newer")).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(open("newer"), OpenError::Newer { found: 99, .. }), "{}", open("newer"));
    assert!(matches!(read("newer"), OpenError::Newer { found: 99, .. }), "{}", read("newer"));

    drop(Store::open(&settings("locked")).unwrap());
    let lock = std::fs::File::open(folder.path().join("locked.journal/lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(open("locked"), OpenError::Locked { .. }), "{}", open("locked"));
}

#[test]
fn a_read_only_store_can_be_read() {
    let place = Place::new();
    drop({
        let audit = place.open(Durability::Disk);
        audit.append(call("Bash", "{}")).wait().unwrap();
        audit
    });
    // Like a folder without write permission, which does not stop every user. The path becomes part
    // of a URI, so it has special characters.
    let odd = place.folder.path().join("é %3f?#&.db");
    std::fs::copy(place.path(), &odd).unwrap();
    let connection = crate::place::StorePlace::new(&Location::Sqlite(odd)).immutable().unwrap();
    connection.query_row("SELECT seq FROM filled", [], |_| Ok(())).unwrap();
    // Without an index, everything is read from the journal.
    std::fs::remove_file(place.path()).unwrap();
    std::fs::create_dir(place.path()).unwrap();
    let log =
        crate::journal::ReadOnlyVolume::new(place.journal(), crate::place::head(&place.path()));
    let log = crate::journal::JournalLog::new(Arc::new(log));
    let reader = RecordReader::without_index(log);
    assert_eq!((all(&reader).len(), reader.verify(|_, _| {}).unwrap().records), (1, 1));
}

#[test]
fn the_log_of_the_state_does_not_grow_for_ever() {
    let place = Place::new();
    let store = Arc::new(shared(&place, Durability::Process));
    let mut maintenance = Maintenance::new(&store).unwrap();
    let log = || std::fs::metadata(place.path().with_extension("db.state-wal")).unwrap().len();
    let mut longest = 0;
    for number in 0..1200 {
        keep(&store, 60_000);
        if number % 100 == 0 {
            maintenance.state.checkpoint().unwrap();
            longest = longest.max(log());
        }
    }
    // 72 MB were written.
    assert!(longest < 40 * 1024 * 1024, "{longest}");
}

#[test]
fn the_log_restarts_under_constant_readers() {
    let place = Place::new();
    let store = Arc::new(shared(&place, Durability::Process));
    let mut maintenance = Maintenance::new(&store).unwrap();
    maintenance.state.checkpoints.bounds = LogBounds { checkpoint: 64, restart: 512 };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Three readers, so that there is always at least one.
        for delay in [0, 3, 6] {
            let done = &done;
            let place = &place;
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(delay));
                let raw = place.raw_state();
                while !done.load(Ordering::Relaxed) {
                    raw.execute_batch("BEGIN; SELECT count(*) FROM keys").unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                    raw.execute_batch("COMMIT").unwrap();
                }
            });
        }
        for number in 0..10_000 {
            // Fails as busy if the maintenance thread is writing.
            keep(&store, 100);
            if number % 50 == 0 {
                // Readers may get in its way; then it is tried again.
                let _ = maintenance.state.checkpoint();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let log = std::fs::metadata(place.path().with_extension("db.state-wal")).unwrap().len();
    // Without a restart, the log would have more than ten thousand pages: 40 MB.
    assert!(log < 10 * 1024 * 1024, "{log}");
}

#[test]
fn derived_records_wait_for_a_failing_store() {
    let place = Place::new();
    let store = shared(&place, Durability::Process);
    store.derived.add(call("first", "{}"));
    let lock = place.lock();
    store.derived.write(&store.records).unwrap_err();
    // Not at once: a failing store must not be retried all the time.
    assert!(store.derived.due() > Some(Duration::from_millis(100)));
    store.derived.add(call("second", "{}"));
    drop(lock);
    store.derived.write(&store.records).unwrap();
    assert_eq!(store.derived.due(), None);
    let names: Vec<_> =
        all(&place.reader()).into_iter().map(|it| it.record.tool.unwrap().name).collect();
    assert_eq!(names, ["first", "second"]);
}
