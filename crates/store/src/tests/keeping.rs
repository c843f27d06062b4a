//! Removed calls.

use super::*;
use crate::database::Database;
use crate::shared::OpenStore;
use crate::state::removed::{Bindings, RemovedLimits};
use crate::state::sqlite::prune_removed;
use crate::{AppendError, RemovedEntry, RemovedQuery};

fn entry(binding: u8, signs: &[u8], content: &str) -> RemovedEntry {
    let signs = signs.iter().map(|sign| [*sign; 32]).collect();
    let (keys, alike) = (Vec::new(), None);
    RemovedEntry { binding: [binding; 32], signs, keys, alike, content: content.into() }
}

fn by_signs(signs: &[u8]) -> RemovedQuery {
    let signs = signs.iter().map(|sign| [*sign; 32]).collect();
    RemovedQuery { signs, ..RemovedQuery::default() }
}

#[test]
fn a_removed_call_comes_back_to_its_own() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        assert!(!audit.has_removed(&[1; 32]));
        audit.keep_removed(entry(1, &[10, 11, 10], "first plain text")).wait().unwrap();
        audit.keep_removed(entry(1, &[11], "second")).wait().unwrap();
        audit.keep_removed(entry(2, &[11], "of another")).wait().unwrap();
        assert!(audit.has_removed(&[1; 32]) && audit.has_removed(&[2; 32]));
        let found = |audit: &Store, binding: u8, signs: &[u8]| -> Vec<String> {
            let found = audit.find_removed(&[binding; 32], &by_signs(signs)).unwrap();
            found.contents.into_iter().map(|it| String::from_utf8(it).unwrap()).collect()
        };
        assert_eq!(found(&audit, 1, &[11, 10]), ["first plain text", "second"]);
        assert_eq!(found(&audit, 2, &[10, 11]), ["of another"]);
        assert!(found(&audit, 3, &[10, 11]).is_empty());
        assert!(found(&audit, 1, &[]).is_empty());
        assert!(!contains(&place.bytes(), "first plain text"), "it is encrypted");

        let later = place.open(durability);
        assert!(later.has_removed(&[1; 32]), "also after a restart");
        assert_eq!(found(&later, 1, &[10]), ["first plain text"]);
        later.keep_removed(entry(7, &[1], "x")).wait().unwrap();
        until("the other process knows it too", || audit.has_removed(&[7; 32]));
    }
}

#[test]
fn another_key_opens_nothing() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.keep_removed(entry(1, &[1], "x")).wait().unwrap();
    drop(audit);
    std::fs::write(place.path().with_extension("db.key"), [7; 32]).unwrap();
    let audit = place.open(Durability::Process);
    let found = audit.find_removed(&[1; 32], &by_signs(&[1])).unwrap();
    assert_eq!((found.contents.len(), found.unreadable), (0, 1));
    audit.keep_removed(entry(1, &[1], "y")).wait().unwrap();
    let found = audit.find_removed(&[1; 32], &by_signs(&[1])).unwrap();
    assert_eq!((found.contents, found.unreadable), (vec![b"y".to_vec()], 1));
    assert_eq!(audit.contains_removed(&[1; 32], &[[1; 32]]), Ok(true), "nothing is decrypted");
    assert_eq!(audit.contains_removed(&[2; 32], &[[1; 32]]), Ok(false));
}

#[test]
fn removed_calls_in_memory_work_alike() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    audit.keep_removed(entry(1, &[1], "x")).wait().unwrap();
    assert_eq!(audit.find_removed(&[1; 32], &by_signs(&[1])).unwrap().contents, [b"x"]);
}

/// However many turns look alike, few are read for a request: of interchangeable ones only the
/// newest can be found, and if there are too many others none is read.
#[test]
fn few_of_many_turns_that_look_alike_are_read() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    let turn = |alike: [u8; 32], number: usize| {
        let keys = vec![[1; 32], alike];
        RemovedEntry { keys, alike: Some(alike), ..entry(1, &[7], &number.to_string()) }
    };
    let keep = |alike: &dyn Fn(usize) -> [u8; 32], count: usize| {
        let kept: Vec<_> = (0..count).map(|n| audit.keep_removed(turn(alike(n), n))).collect();
        kept.into_iter().for_each(|receipt| receipt.wait().unwrap());
    };
    let find = |key: u8| {
        let sought = RemovedQuery { keys: vec![[key; 32]], ..RemovedQuery::default() };
        audit.find_removed(&[1; 32], &sought).unwrap()
    };
    const MOST: usize = RemovedEntry::MAX_ALIKE;
    keep(&|_| [2; 32], 10_000);
    let found = find(1);
    let newest: Vec<Vec<u8>> =
        (10_000 - MOST..10_000).map(|number| number.to_string().into_bytes()).collect();
    assert_eq!((found.contents, found.crowded), (newest, vec![]));
    // An entry that lost other calls: now not all are interchangeable, and none is read.
    keep(&|_| [3; 32], 1);
    let found = find(1);
    assert_eq!((found.contents.len(), found.crowded), (0, vec![[1; 32]]));
    assert_eq!(find(3).contents, [b"0"]);
    // They are still found by the provider's id, within the bound of one request.
    let found = audit.find_removed(&[1; 32], &by_signs(&[7])).unwrap();
    assert_eq!((found.contents.len(), found.crowded), (0, vec![[7; 32]]));
}

#[test]
fn what_is_too_large_is_refused() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    let mut large = entry(1, &[1], "");
    large.content = vec![0; RemovedEntry::MAX_CONTENT + 1];
    assert!(matches!(audit.keep_removed(large).wait(), Err(AppendError::TooLarge { .. })));
    let many = entry(1, &[1; RemovedEntry::MAX_SIGNS + 1], "");
    assert!(matches!(audit.keep_removed(many).wait(), Err(AppendError::TooLarge { .. })));
}

#[test]
fn removed_calls_are_bounded() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    for binding in 1..=9 {
        audit.keep_removed(entry(binding, &[binding], &"x".repeat(84))).wait().unwrap();
    }
    let shared = OpenStore::open(&place.settings(Durability::Process)).unwrap();
    let store = Database::new(place.raw_state());
    let bindings = Bindings::default();
    bindings.look(&shared.state).unwrap();
    let kept = |bounds: &RemovedLimits| -> Vec<u8> {
        prune_removed(&store, bounds, crate::shared::now()).unwrap();
        bindings.reload(&shared.state).unwrap();
        (1..=9).filter(|binding| bindings.has(&[*binding; 32])).collect()
    };
    assert_eq!(kept(&RemovedLimits::DEFAULT).len(), 9);
    let month = 30_i64 * 24 * 3_600_000_000;
    let old = "UPDATE removed SET created = created - ?1 WHERE id < 3";
    place.raw_state().execute(old, [month + 1]).unwrap();
    assert_eq!(kept(&RemovedLimits::DEFAULT), [3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(kept(&RemovedLimits { entries: 5, ..RemovedLimits::DEFAULT }), [5, 6, 7, 8, 9]);
    // Encrypted, each is a hundred bytes long.
    assert_eq!(kept(&RemovedLimits { bytes: 300, ..RemovedLimits::DEFAULT }), [7, 8, 9]);
    let signs = "SELECT count(*) FROM removed_signs";
    let signs: i64 = place.raw_state().query_row(signs, [], |row| row.get(0)).unwrap();
    assert_eq!(signs, 3, "signs leave with their entries");
}

/// The background thread closes the store then, and must not wait for itself.
#[test]
fn a_question_may_be_the_last_to_hold_the_store() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let log = place.path().with_extension("db.state-wal");
    let (go, goes) = std::sync::mpsc::channel::<()>();
    audit.do_later(move |_| _ = goes.recv()).unwrap();
    drop(audit);
    assert!(log.exists());
    drop(go);
    until("the store is closed", || !log.exists());
}
