//! Old records leave, and the chain stays whole.

use std::time::Duration;

use super::*;
use crate::database::Database;
use crate::records::{Progress, expire};
use crate::state::sqlite::expire_turns;

fn filled(records: usize) -> (Place, Store) {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    for number in 0..records {
        audit.append(call("Bash", &format!("{number}"))).wait().unwrap();
    }
    (place, audit)
}

fn expire_all(place: &Place, retention: &Retention, now: i64) -> usize {
    let store = Database::new(place.raw());
    let mut slices = 1;
    while expire(&store, retention, now).unwrap() == Progress::More {
        slices += 1;
    }
    expire_turns(&Database::new(place.raw_state()), retention, now).unwrap();
    slices
}

const NOTHING: Retention = Retention { age: None, records: None, bytes: None };

#[test]
fn too_many_leave_in_slices_from_the_oldest() {
    let (place, audit) = filled(1300);
    let before = place.reader().verify(|_, _| {}).unwrap();
    let retention = Retention { records: Some(100), ..NOTHING };
    assert!(expire_all(&place, &retention, crate::shared::now()) >= 3);
    let verified = place.reader().verify(|_, _| {}).unwrap();
    assert_eq!((verified.records, verified.first, verified.last), (100, 1201, 1300));
    assert_eq!((verified.expired, &verified.head), (1200, &before.head));
    let first = &all(&place.reader())[0];
    assert_ne!(first.prev_hash, "0".repeat(64), "the hash before it is still known");
    audit.append(call("Bash", "on")).wait().unwrap();
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().last, 1301);
}

#[test]
fn old_ones_leave_but_never_the_last() {
    let (place, audit) = filled(10);
    let retention = Retention { age: Some(Duration::from_secs(60)), ..NOTHING };
    expire_all(&place, &retention, crate::shared::now());
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 10);
    expire_all(&place, &retention, crate::shared::now() + 61_000_000);
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 1);
    audit.append(call("Bash", "on")).wait().unwrap();
    let verified = place.reader().verify(|_, _| {}).unwrap();
    assert_eq!((verified.first, verified.last, verified.expired), (10, 11, 9));
}

#[test]
fn too_large_leave() {
    let (place, _audit) = filled(100);
    let total: i64 = place
        .raw()
        .query_row("SELECT total FROM records WHERE seq = 100", [], |row| row.get(0))
        .unwrap();
    let retention = Retention { bytes: Some(total.unsigned_abs() / 2), ..NOTHING };
    expire_all(&place, &retention, crate::shared::now());
    let verified = place.reader().verify(|_, _| {}).unwrap();
    assert!((48..=51).contains(&verified.records), "{verified:?}");
}

#[test]
fn no_limit_keeps_all() {
    let (place, audit) = filled(10);
    audit.count_turn(crate::TurnCount::default());
    audit.flush().wait().unwrap();
    expire_all(&place, &NOTHING, i64::MAX / 2);
    let stats = place.reader().stats(&Filter::default()).unwrap();
    assert_eq!((stats.records, stats.turns.without_calls), (10, Some(1)));
    let retention = Retention { age: Some(Duration::from_secs(60)), ..NOTHING };
    expire_all(&place, &retention, i64::MAX / 2);
    let stats = place.reader().stats(&Filter::default()).unwrap();
    assert_eq!((stats.records, stats.turns.without_calls), (1, Some(0)));
}

#[test]
fn a_gap_behind_what_expired_is_still_found() {
    let (place, _audit) = filled(20);
    expire_all(&place, &Retention { records: Some(10), ..NOTHING }, crate::shared::now());
    place.raw().execute("DELETE FROM records WHERE seq = 11", []).unwrap();
    assert!(place.reader().verify(|_, _| {}).is_err());
}

#[test]
fn a_running_store_expires_by_itself_while_written_to() {
    let place = Place::new();
    let mut settings = place.settings(Durability::Process);
    settings.retention.records = Some(50);
    let audit = Store::open(&settings).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        audit.append(call("Bash", "{}")).wait().unwrap();
        let verified = place.reader().verify(|_, _| {}).unwrap();
        if verified.expired > 0 {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "nothing expired");
    }
}
