//! Marks of calls: durable, on record, and gone with the records.

use super::*;
use crate::database::Database;
use crate::state::sqlite::expire_marks;
use crate::{CallMark, Opinion, StoreError};
use callgate_audit::RecordedPrincipal;

fn by() -> RecordedPrincipal {
    RecordedPrincipal { user: Some("ann".into()), ..RecordedPrincipal::default() }
}

fn marks(place: &Place) -> Vec<(Opinion, Option<String>)> {
    place.reader().marks().unwrap().into_iter().map(|mark| (mark.opinion, mark.by)).collect()
}

/// A store with one call, which is marked wrong, and the record of the call.
fn marked() -> (Place, Store, callgate_audit::RecordId) {
    let place = Place::new();
    let store = place.open(Durability::Process);
    let record = call("Bash", "{}");
    let id = record.id;
    store.append(record).wait().unwrap();
    assert!(store.mark_call(id, Some(Opinion::Wrong), &by()).unwrap());
    (place, store, id)
}

#[test]
fn a_mark_survives_a_restart_and_can_be_changed_and_removed() {
    let (place, store, id) = marked();
    assert!(!store.mark_call(id, Some(Opinion::Wrong), &by()).unwrap(), "it is marked already");
    drop(store);
    assert_eq!(marks(&place), [(Opinion::Wrong, Some("ann".into()))]);
    let store = place.open(Durability::Process);
    assert!(store.mark_call(id, Some(Opinion::Right), &RecordedPrincipal::default()).unwrap());
    assert_eq!(marks(&place), [(Opinion::Right, None)]);
    assert!(store.mark_call(id, None, &by()).unwrap());
    assert!(!store.mark_call(id, None, &by()).unwrap());
    assert_eq!(marks(&place), []);
    let changes =
        all(&place.reader()).into_iter().filter(|it| it.record.kind == RecordKind::Change);
    assert_eq!(changes.count(), 3, "what changed nothing is not recorded");
}

#[test]
fn a_mark_that_cannot_be_recorded_is_not_set() {
    let (place, store, id) = marked();
    store.shared().records.faults.fail_after(0);
    let failed = store.mark_call(id, None, &by());
    assert!(matches!(failed, Err(StoreError::Failed(_))), "{failed:?}");
    heal(store.shared());
    assert_eq!(marks(&place).len(), 1);
}

#[test]
fn marks_expire_with_the_records_and_are_bounded() {
    let (place, store, _) = marked();
    drop(store);
    let expire = |age: Option<Duration>| {
        let retention = Retention { age, records: None, bytes: None };
        expire_marks(&Database::new(place.raw_state()), &retention, i64::MAX / 2).unwrap();
    };
    expire(None);
    assert_eq!(marks(&place).len(), 1);
    let insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) \
                  INSERT INTO marks SELECT 'x' || i, 'right', i, NULL FROM n";
    place.raw_state().execute(insert, [CallMark::MAX_KEPT]).unwrap();
    expire(None);
    let count = "SELECT count(*) FROM marks";
    let kept: i64 = place.raw_state().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(kept, CallMark::MAX_KEPT);
    assert_eq!(marks(&place).len(), 1, "the newest stays, and other rows are not ids");
    expire(Some(Duration::from_secs(60)));
    assert_eq!(marks(&place), []);
}

/// A reader may find the state of an older version, which it does not change.
#[test]
fn a_state_without_marks_has_none() {
    let (place, store, _) = marked();
    drop(store);
    place.raw_state().execute_batch("DROP TABLE marks; PRAGMA user_version = 2").unwrap();
    assert_eq!(marks(&place), []);
}
