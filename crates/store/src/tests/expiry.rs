//! Old records expire, and the chain stays intact.

use std::time::Duration;

use super::*;
use crate::database::Database;
use crate::state::sqlite::expire_turns;

#[test]
fn a_store_never_holds_more_than_it_may() {
    let place = Place::new();
    let mut settings = place.settings(Durability::Process);
    settings.retention.records = Some(100);
    let store = Store::open(&settings).unwrap();
    for number in 1..=1300 {
        store.append(call("Bash", &format!("{number}"))).wait().unwrap();
        if number % 100 == 0 {
            let verified = place.reader().verify(|_, _| {}).unwrap();
            assert!(verified.records <= 100 && verified.records > 80, "{verified:?}");
            assert_eq!((verified.last, verified.expired), (number, number - verified.records));
            let found = all(&place.reader());
            assert_eq!(found.len() as u64, verified.records, "the index has forgotten them too");
            assert_eq!(found[0].seq, verified.first);
            assert!(verified.first == 1 || found[0].prev_hash != "0".repeat(64));
        }
    }
}

#[test]
fn counts_of_turns_leave_with_the_records_of_their_time() {
    let place = Place::new();
    let store = place.open(Durability::Process);
    store.count_turn(crate::TurnCount::default());
    store.flush().wait().unwrap();
    let turns = || place.reader().stats(&Filter::default()).unwrap().turns.without_calls;
    let expire = |age: Option<Duration>| {
        let retention = Retention { age, records: None, bytes: None };
        expire_turns(&Database::new(place.raw_state()), &retention, i64::MAX / 2).unwrap();
    };
    expire(None);
    assert_eq!(turns(), Some(1));
    expire(Some(Duration::from_secs(60)));
    assert_eq!(turns(), Some(0));
}
