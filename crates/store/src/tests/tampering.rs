//! Whatever is done to stored records, the check finds it.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::types::Value;
use rusqlite::{ToSql, params};

use super::*;
use crate::VerifyError;

/// A store with records of several kinds that nobody has open.
fn filled(records: usize) -> Place {
    static STORES: Mutex<BTreeMap<usize, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let bytes = STORES.lock().entry(records).or_insert_with(|| written(records)).clone();
    let place = Place::new();
    std::fs::create_dir(place.path().parent().unwrap()).unwrap();
    std::fs::write(place.path(), bytes).unwrap();
    place
}

/// The file of such a store: without a log, for it was closed.
fn written(records: usize) -> Vec<u8> {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    for number in 0..records {
        let record = match number % 3 {
            2 => Record { request: Some(format!("r{number}")), ..Record::new(Kind::Turn) },
            _ => call("Bash", &format!(r#"{{"command":"echo {number}"}}"#)),
        };
        audit.append(record).wait().unwrap();
    }
    drop(audit);
    std::fs::read(place.path()).unwrap()
}

/// Does this to the store, and gives what the check says was broken.
fn broken_by(place: &Place, change: &str, values: &[&dyn ToSql]) -> crate::Broken {
    let changed = place.raw().execute(change, values).unwrap();
    assert!(changed > 0, "`{change}` changed nothing");
    broken(place).unwrap_or_else(|| panic!("`{change}` was not found"))
}

fn broken(place: &Place) -> Option<crate::Broken> {
    match place.reader().verify(|_, _| {}) {
        Ok(_) => None,
        Err(VerifyError::Broken(broken)) => Some(broken),
        Err(VerifyError::Read(error)) => panic!("{error}"),
    }
}

#[test]
fn an_edit_is_found() {
    let edit = "UPDATE records SET body = replace(body, 'echo 4', 'echo 5') WHERE seq = 5";
    let broken = broken_by(&filled(10), edit, &[]);
    assert_eq!(broken.seq, 5);
    assert_eq!(broken.what, "it was edited, or stands in another record's place");
}

#[test]
fn a_gap_is_found() {
    for seq in 1..10_u32 {
        let broken = broken_by(&filled(10), "DELETE FROM records WHERE seq = ?1", &[&seq]);
        assert_eq!(broken.seq, u64::from(seq));
        assert_eq!(broken.what, format!("1 record(s) missing before {}", seq + 1));
    }
}

#[test]
fn a_truncated_tail_is_found_and_stays_found() {
    for left in 1..10_u32 {
        let place = filled(10);
        let broken = broken_by(&place, "DELETE FROM records WHERE seq > ?1", &[&left]);
        assert_eq!(broken.seq, u64::from(left) + 1);
        assert_eq!(broken.what, "the end of the chain was cut off");
        let audit = place.open(Durability::Process);
        for _ in 0..3 {
            audit.append(call("Bash", "{}")).wait().unwrap();
        }
        assert_eq!(
            self::broken(&place).unwrap().seq,
            u64::from(left) + 1,
            "later records hide nothing"
        );
    }
}

#[test]
fn an_emptied_store_is_found_and_stays_found() {
    let place = filled(10);
    assert_eq!(broken_by(&place, "DELETE FROM records", &[]).seq, 1);
    place.open(Durability::Process).append(call("Bash", "{}")).wait().unwrap();
    assert_eq!(broken(&place).unwrap().seq, 1);
}

#[test]
fn an_empty_store_is_whole() {
    let place = filled(0);
    assert_eq!(
        place.reader().verify(|_, _| {}).unwrap(),
        crate::Verified { head: "0".repeat(64), ..crate::Verified::default() }
    );
}

#[test]
fn the_row_that_begins_the_chain_is_watched() {
    for change in [
        "DELETE FROM chain",
        "UPDATE chain SET begun = 0",
        "UPDATE chain SET seq = 1",
        "UPDATE chain SET seq = -1",
        "UPDATE chain SET seq = 'x'",
        "UPDATE chain SET hash = zeroblob(31)",
        "UPDATE chain SET hash = randomblob(32)",
        "UPDATE chain SET total = 1",
    ] {
        broken_by(&filled(3), change, &[]);
    }
}

#[test]
fn an_inserted_record_is_found() {
    let columns = "tail, at, total, hash, joins, body";
    let insert = format!("INSERT INTO records SELECT 11, {columns} FROM records WHERE seq = 10");
    assert_eq!(broken_by(&filled(10), &insert, &[]).seq, 10);
    let insert = format!("INSERT INTO records SELECT 0, {columns} FROM records WHERE seq = 1");
    assert_eq!(broken_by(&filled(10), &insert, &[]).seq, 0);
}

/// Changes one byte of a value, or its type.
fn altered(value: Value, byte: &Index, flip: u8) -> Option<Value> {
    Some(match value {
        Value::Integer(number) => Value::Integer(number ^ i64::from(flip) << (8 * byte.index(8))),
        Value::Text(text) => {
            let mut bytes = text.into_bytes();
            let at = byte.index(bytes.len());
            bytes[at] ^= flip;
            match String::from_utf8(bytes) {
                Ok(text) => Value::Text(text),
                Err(error) => Value::Blob(error.into_bytes()),
            }
        }
        Value::Blob(mut bytes) => {
            let at = byte.index(bytes.len());
            bytes[at] ^= flip;
            Value::Blob(bytes)
        }
        Value::Null => Value::Text(String::new()),
        Value::Real(_) => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_byte_of_any_row_counts(
        seq in 1..=6_i64,
        column in proptest::sample::select(vec!["seq", "tail", "at", "total", "hash", "joins", "body"]),
        byte in any::<Index>(),
        flip in 1..=255_u8,
    ) {
        let place = filled(6);
        let raw = place.raw();
        let read = format!("SELECT {column} FROM records WHERE seq = ?1");
        let value: Value = raw.query_row(&read, [seq], |row| row.get(0)).unwrap();
        let Some(value) = altered(value, &byte, flip) else { return Ok(()) };
        let write = format!("UPDATE OR REPLACE records SET {column} = ?1 WHERE seq = ?2");
        prop_assert_eq!(raw.execute(&write, params![value, seq]).unwrap(), 1);
        drop(raw);
        prop_assert!(broken(&place).is_some());
    }

    #[test]
    fn any_two_rows_that_change_places_are_found(one in 1..=8_i64, other in 1..=8_i64) {
        prop_assume!(one != other);
        let place = filled(8);
        let raw = place.raw();
        for (from, to) in [(one, -1), (other, one), (-1, other)] {
            raw.execute("UPDATE records SET seq = ?2 WHERE seq = ?1", [from, to]).unwrap();
        }
        drop(raw);
        let broken = broken(&place).unwrap();
        prop_assert_eq!(broken.seq, one.min(other).unsigned_abs());
    }

    #[test]
    fn any_rows_that_are_missing_are_found(gone in proptest::collection::btree_set(1..=8_i64, 1..8)) {
        let place = filled(8);
        for seq in &gone {
            place.raw().execute("DELETE FROM records WHERE seq = ?1", [seq]).unwrap();
        }
        prop_assert_eq!(broken(&place).unwrap().seq, gone.first().unwrap().unsigned_abs());
    }
}
