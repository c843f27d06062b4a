//! Pins, token buckets and steps of sessions: shared by every process that uses the store.

use super::*;
use crate::Bucket;
use crate::database::Fault;
use crate::shared::{OpenStore, now};
use crate::state::history::SealedStep;
use crate::state::meters::MeterStore;
use crate::state::pins::{PinName, PinStore};
use crate::state::sqlite::{prune_history, prune_meters};
use crate::state::{StateEntry, StateStore};
use crate::{FlowName, FlowStep, PinnedVersion, PutPin, StoreError, StoredPin, WriteHealth};
use callgate_audit::RecordId;

const SECOND: i64 = 1_000_000;
/// No bucket was empty.
const NONE: [usize; 0] = [];

fn version(hash: &str) -> PinnedVersion {
    PinnedVersion {
        launch: "v1:launch".into(),
        launch_shown: "/usr/bin/server".into(),
        hash: hash.into(),
        whole: format!("{hash} whole"),
        definition: format!(r#"{{"name":"t","description":"{hash}"}}"#),
    }
}

fn pin(server: &str, name: &str, revision: u64) -> StoredPin {
    StoredPin {
        server: server.into(),
        kind: "tool".into(),
        name: name.into(),
        state: "trusted".into(),
        pinned: version("a"),
        seen: None,
        first_seen: 1,
        last_seen: 2,
        revision,
    }
}

#[test]
fn a_pin_comes_back_as_it_was() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        assert_eq!(audit.pins(), Ok(vec![]));
        let plain = pin("s", "b", 0);
        let changed =
            StoredPin { state: "changed".into(), seen: Some(version("b")), ..pin("s", "a", 0) };
        let put = audit.put_pins(&[plain.clone(), changed.clone()]).unwrap();
        assert_eq!(put, [PutPin::Stored(1), PutPin::Stored(1)]);
        let expected = [StoredPin { revision: 1, ..changed }, StoredPin { revision: 1, ..plain }];
        assert_eq!(audit.pins().unwrap(), expected);
        assert_eq!(audit.reader().unwrap().pins().unwrap(), expected);
        drop(audit);
        assert_eq!(place.reader().pins().unwrap(), expected);
        assert_eq!(place.open(durability).pins().unwrap(), expected);
    }
}

/// Changes by a person are recorded, and nothing else is.
#[test]
fn a_persons_change_of_a_pin_is_recorded_with_it() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    let record =
        |name: &str| Record { detail: Some(name.to_owned()), ..Record::new(RecordKind::Change) };
    let recorded = || -> Vec<String> {
        let records = all(&audit.reader().unwrap()).into_iter();
        records.filter_map(|stored| stored.record.detail).collect()
    };
    let changes = vec![(pin("s", "a", 0), record("a")), (pin("s", "b", 7), record("b"))];
    let put = audit.put_pins_recorded(changes).unwrap();
    assert_eq!(put, [PutPin::Stored(1), PutPin::Stale(None)]);
    assert_eq!(recorded(), ["a"], "the other one was not changed");
    let remove = |name: &str| {
        let forgotten = |pin: StoredPin| record(&format!("{} at {}", pin.name, pin.revision));
        audit.remove_pin_recorded("s", "tool", name, forgotten)
    };
    assert_eq!((remove("a"), remove("a")), (Ok(true), Ok(false)));
    assert_eq!(recorded(), ["a", "a at 1"]);
    let version = audit.pins_version().unwrap();
    assert_eq!((audit.pins(), version), (Ok(vec![]), 2), "other processes notice");
}

#[test]
fn a_stale_pin_changes_nothing() {
    let place = Place::new();
    let (one, two) = (place.open(Durability::Process), place.open(Durability::Process));
    assert_eq!(one.put_pin(&pin("s", "t", 0)), Ok(PutPin::Stored(1)));
    let late = StoredPin { pinned: version("other"), ..pin("s", "t", 0) };
    let kept = StoredPin { revision: 1, ..pin("s", "t", 0) };
    assert_eq!(two.put_pin(&late), Ok(PutPin::Stale(Some(Box::new(kept.clone())))));
    assert_eq!(one.pins().unwrap(), std::slice::from_ref(&kept));
    assert_eq!(two.put_pin(&StoredPin { revision: 1, ..late.clone() }), Ok(PutPin::Stored(2)));
    assert!(matches!(one.put_pin(&kept), Ok(PutPin::Stale(Some(_)))));

    assert_eq!(one.remove_pin("s", "tool", "t"), Ok(true));
    assert_eq!(one.remove_pin("s", "tool", "t"), Ok(false));
    let removed = two.put_pin(&StoredPin { revision: 2, ..late.clone() });
    assert_eq!(removed, Ok(PutPin::Stale(None)), "a reset is not undone by who did not see it");
    assert_eq!(two.put_pin(&late), Ok(PutPin::Stored(1)));
}

#[test]
fn a_change_by_another_process_is_noticed_at_once() {
    let place = Place::new();
    let (shim, command) = (place.open(Durability::Process), place.open(Durability::Disk));
    let mut last = shim.pins_version().unwrap();
    let mut moved = |shim: &Store| {
        let version = shim.pins_version().unwrap();
        std::mem::replace(&mut last, version) != version
    };
    assert!(!moved(&shim));
    command.put_pin(&pin("s", "t", 0)).unwrap();
    assert!(moved(&shim));
    command.put_pin(&pin("s", "t", 0)).unwrap();
    assert!(!moved(&shim), "it was stale, so nothing changed");
    command.append(call("Bash", "{}")).wait().unwrap();
    assert!(!moved(&shim), "records are no pins");
    command.remove_pin("s", "tool", "t").unwrap();
    assert!(moved(&shim));
    command.remove_pin("s", "tool", "t").unwrap();
    assert!(!moved(&shim));
}

#[test]
fn a_secret_in_a_definition_is_not_written() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    let secret = format!("ghp_{}", "1234567890abcdefghijABCDEFGHIJ123456");
    let mut pinned = version("a");
    pinned.definition = format!(r#"{{"name":"t","description":"Use {secret} here."}}"#);
    let seen = Some(pinned.clone());
    audit.put_pin(&StoredPin { pinned, seen, ..pin("s", "t", 0) }).unwrap();
    let kept = audit.pins().unwrap().remove(0);
    assert!(kept.pinned.definition.starts_with(r#"{"name":"t","description":"Use "#));
    drop(audit);
    assert!(!contains(&place.bytes(), &secret));
}

#[test]
fn a_pin_that_is_too_large_is_refused() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    let mut large = pin("s", "t", 0);
    large.pinned.definition = "x".repeat(StoredPin::MAX_DEFINITION + 1);
    let with_word = pin("s", &"x".repeat(StoredPin::MAX_WORD + 1), 0);
    for pin in [large, with_word] {
        let put = audit.put_pins(&[self::pin("s", "small", 0), pin]);
        assert!(matches!(put, Err(StoreError::PinTooLarge(_))), "{put:?}");
    }
    assert_eq!(audit.pins(), Ok(vec![]), "all or none");
    assert_eq!(audit.health(), WriteHealth::Ok, "it is no fault of the store");
}

fn bucket(key: u8, burst: u32, calls: u32, seconds: u32) -> Bucket {
    Bucket { key: [key; 32], burst, calls, seconds }
}

/// A store whose statements can be made to fail.
fn shared(place: &Place) -> OpenStore {
    OpenStore::open(&place.settings(Durability::Process)).unwrap()
}

fn take(shared: &OpenStore, buckets: &[Bucket], now: i64) -> Vec<usize> {
    shared.state.take(buckets, now).unwrap()
}

#[test]
fn a_bucket_empties_and_fills() {
    let place = Place::new();
    let shared = shared(&place);
    let bucket = bucket(1, 2, 60, 60);
    for _ in 0..2 {
        assert_eq!(take(&shared, &[bucket], 0), NONE);
    }
    assert_eq!(take(&shared, &[bucket], 0), [0]);
    assert_eq!(take(&shared, &[bucket], SECOND - 1), [0]);
    assert_eq!(take(&shared, &[bucket], SECOND), NONE);
    assert_eq!(take(&shared, &[bucket], SECOND), [0]);
    for _ in 0..2 {
        assert_eq!(take(&shared, &[bucket], 1000 * SECOND), NONE, "never more than its burst");
    }
    assert_eq!(take(&shared, &[bucket], 1000 * SECOND), [0]);
    // A clock that was set back refills nothing, and refills from there.
    assert_eq!(take(&shared, &[bucket], 0), [0]);
}

#[test]
fn one_empty_bucket_leaves_the_others_full() {
    let place = Place::new();
    let shared = shared(&place);
    let (small, large) = (bucket(1, 1, 1, 60), bucket(2, 2, 1, 60));
    assert_eq!(take(&shared, &[large, small], 0), NONE);
    for _ in 0..5 {
        assert_eq!(take(&shared, &[large, small], 0), [1]);
    }
    assert_eq!(take(&shared, &[large], 0), NONE, "nothing was taken from it");
    assert_eq!(take(&shared, &[large, small], 0), [0, 1]);
    let twice = bucket(3, 1, 1, 60);
    assert_eq!(take(&shared, &[twice, twice], 0), [1], "two tokens are asked for");
}

#[test]
fn full_buckets_are_forgotten_and_empty_ones_kept() {
    let place = Place::new();
    let shared = shared(&place);
    for key in 0..10 {
        take(&shared, &[bucket(key, 10, 60, 60)], 0);
    }
    let empty = bucket(100, 1, 1, 3600);
    take(&shared, &[empty], 0);
    let prune =
        |most, now| shared.state.writing.with(|store| prune_meters(store, most, now)).unwrap();
    let kept = || -> i64 {
        place.raw_state().query_row("SELECT count(*) FROM buckets", [], |row| row.get(0)).unwrap()
    };
    prune(1000, SECOND - 1);
    assert_eq!(kept(), 11);
    prune(5, SECOND - 1);
    assert_eq!(kept(), 5);
    prune(5, SECOND);
    assert_eq!(kept(), 1);
    assert_eq!(take(&shared, &[empty], SECOND), [0], "the one that is used up stays");
}

fn flow(session: &str) -> FlowName {
    FlowName { owner: "someuser".to_owned(), name: session.to_owned() }
}

fn step(at: i64, tool: &str) -> FlowStep {
    FlowStep {
        at,
        server: "files".into(),
        tool: tool.into(),
        role: "reads".into(),
        record: RecordId::new(),
        arguments: [7; 32],
    }
}

#[test]
fn the_steps_of_a_session_come_back_in_order() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let (one, two) = (place.open(durability), place.open(durability));
        let steps = [step(10, "read"), step(20, "send"), step(20, "again")];
        for (step, audit) in steps.iter().zip([&one, &two, &one]) {
            audit.add_flow(&flow("session"), step.clone()).wait().unwrap();
        }
        one.add_flow(&flow("another"), step(15, "read")).wait().unwrap();
        assert_eq!(two.flows(&flow("session"), 0).unwrap(), steps);
        assert_eq!(two.flows(&flow("session"), 11).unwrap(), steps[1..]);
        assert_eq!(two.flows(&flow("nobody"), 0).unwrap(), []);
        drop((one, two));
        assert!(!contains(&place.bytes(), "another"), "sessions are kept as hashes");
    }
}

#[test]
fn a_session_of_which_nothing_was_known_is_noticed() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let (one, two) = (place.open(durability), place.open(durability));
        for round in 0..3 {
            let session = format!("session {round}");
            assert_eq!(one.flows(&flow(&session), 0).unwrap(), [], "and that is remembered");
            one.append(call("Bash", "{}")).wait().unwrap();
            assert_eq!(one.flows(&flow(&session), 0).unwrap(), []);
            two.add_flow(&flow(&session), step(10, "read")).wait().unwrap();
            assert_eq!(one.flows(&flow(&session), 0).unwrap().len(), 1);
            one.add_flow(&flow(&session), step(11, "read")).wait().unwrap();
            assert_eq!(one.flows(&flow(&session), 0).unwrap().len(), 2);
        }
    }
}

#[test]
fn a_step_is_kept_unless_something_speaks_against_it() {
    let place = Place::new();
    let (one, two) = (place.open(Durability::Process), place.open(Durability::Process));
    let second = |steps: Vec<FlowStep>| (!steps.is_empty()).then_some(steps.len());
    let (first, late) = (step(10, "first"), step(20, "late"));
    assert_eq!(one.add_flow_unless(&flow("s"), 0, first.clone(), second), Ok(None));
    assert_eq!(two.add_flow_unless(&flow("s"), 0, late.clone(), second), Ok(Some(1)));
    assert_eq!(two.add_flow_unless(&flow("s"), 11, late.clone(), second), Ok(None), "long ago");
    assert_eq!(one.flows(&flow("s"), 0).unwrap(), [first.clone(), late]);
    two.remove_flow(&flow("s"), first.record).unwrap();
    assert_eq!(one.flows(&flow("s"), 0).unwrap().len(), 1);
}

#[test]
fn an_owner_with_too_many_rows_loses_their_own() {
    let place = Place::new();
    let shared = shared(&place);
    let audit = place.open(Durability::Process);
    let of = |owner: &str, name: &str| FlowName { owner: owner.into(), name: name.into() };
    audit.add_flow(&of("mine", "s"), step(1, "read")).wait().unwrap();
    let key = |family: u8, number: u8| Bucket::key(&[family; 32], &[number; 32]);
    let mine = Bucket { key: key(1, 0), burst: 2, calls: 1, seconds: 60 };
    take(&shared, &[mine], 0);
    for number in 0..100 {
        audit.add_flow(&of("hostile", &number.to_string()), step(2, "read")).wait().unwrap();
        // It would be full later than mine.
        let bucket = Bucket { key: key(2, number), burst: 2, calls: 1, seconds: 3600 };
        take(&shared, &[bucket], 0);
    }
    shared.state.writing.with(|store| prune_history(store, 10, 3)).unwrap();
    shared.state.writing.with(|store| prune_meters(store, 10, 3)).unwrap();
    let kept = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        place.raw_state().query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((kept("flows"), kept("buckets")), (10, 10));
    assert_eq!(audit.flows(&of("mine", "s"), 0).unwrap().len(), 1);
    assert_eq!(audit.flows(&of("hostile", "s"), 0).unwrap(), [], "the session is another's");
    assert_eq!(take(&shared, &[mine, mine], 0), [1], "a token of mine is still gone");
}

#[test]
fn steps_are_bounded_by_age_and_number() {
    let place = Place::new();
    let shared = shared(&place);
    let audit = place.open(Durability::Process);
    let many = FlowStep::MAX_FOUND as i64 + 10;
    for at in 0..many {
        audit.add_flow(&flow("s"), step(at, "read")).wait().unwrap();
    }
    let found = audit.flows(&flow("s"), 0).unwrap();
    assert_eq!(found.len(), FlowStep::MAX_FOUND);
    assert_eq!(found.last().unwrap().at, many - 1, "the newest");
    let prune =
        |most, now| shared.state.writing.with(|store| prune_history(store, most, now)).unwrap();
    prune(100, many);
    assert_eq!(audit.flows(&flow("s"), 0).unwrap().len(), 100);
    prune(100, FlowStep::MAX_HOURS * 3600 * SECOND + many - 10);
    assert_eq!(audit.flows(&flow("s"), 0).unwrap().len(), 10);
}

/// Runs an operation with each of its statements failing in turn: it must report the failure,
/// change nothing, and work afterwards.
fn each_statement_fails<T: std::fmt::Debug>(
    least: i64,
    mut run: impl FnMut(&OpenStore) -> Result<T, Fault>,
    state: impl Fn(&Place) -> String,
    prepare: impl Fn(&OpenStore),
) {
    for statement in 0.. {
        let place = Place::new();
        let shared = shared(&place);
        prepare(&shared);
        let before = state(&place);
        shared.state.writing.faults.fail_after(statement);
        let done = run(&shared);
        if !shared.state.writing.faults.happened() {
            done.unwrap();
            assert_ne!(state(&place), before, "it did something");
            assert!(statement >= least, "it has more statements than {statement}");
            return;
        }
        done.unwrap_err();
        assert_eq!(state(&place), before, "statement {statement}");
        assert!(matches!(shared.state.writing.health_status.health(), WriteHealth::Failing { .. }));
        shared.state.writing.faults.fail_after(i64::MAX);
        run(&shared).unwrap();
        assert_eq!(shared.state.writing.health_status.health(), WriteHealth::Ok);
    }
}

fn rows(place: &Place, sql: &str) -> String {
    let raw = place.raw_state();
    let mut query = raw.prepare(sql).unwrap();
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

fn pin_rows(place: &Place) -> String {
    rows(
        place,
        "SELECT name || hash || revision FROM pins UNION ALL SELECT 'v' || pins FROM versions",
    )
}

#[test]
fn each_statement_of_a_pin_may_fail() {
    let both = [pin("s", "a", 0), pin("s", "b", 1)];
    let prepare = |shared: &OpenStore| {
        shared.state.put(&[pin("s", "b", 0)], &mut |_| Ok(())).unwrap();
    };
    // Begin, two to find, two to write, one to record, commit.
    let put = |shared: &OpenStore| shared.state.put(&both, &mut |_| Ok(()));
    each_statement_fails(7, put, pin_rows, prepare);
    let name = PinName { server: "s", kind: "tool", name: "b" };
    let remove = |shared: &OpenStore| shared.state.remove(name, &mut |_| Ok(()));
    each_statement_fails(5, remove, pin_rows, prepare);
}

#[test]
fn each_statement_of_a_token_may_fail() {
    let state = |place: &Place| rows(place, "SELECT hex(key) || tokens || '@' || at FROM buckets");
    let two = [bucket(1, 5, 1, 1), bucket(2, 5, 1, 1)];
    let at = std::cell::Cell::new(0);
    let run = |shared: &OpenStore| {
        at.set(at.get() + 1);
        shared.state.take(&two, at.get())
    };
    let prepare = |shared: &OpenStore| drop(take(shared, &two[..1], 0));
    each_statement_fails(6, run, state, prepare);
}

#[test]
fn each_statement_of_a_step_may_fail() {
    let place = Place::new();
    let store = shared(&place);
    let count = || rows(&place, "SELECT count(*) || '' FROM flows");
    let audit = place.open(Durability::Process);
    for statement in 0..3 {
        store.state.writing.faults.fail_after(statement);
        let kept = StateEntry::Step(SealedStep::new(&flow("s"), step(statement, "read")));
        store.state.store(&[&kept], 1).unwrap_err();
        assert_eq!(count(), "0", "statement {statement}");
        store.state.writing.faults.fail_after(i64::MAX);
        store.state.writing.try_again();
    }
    let last = StateEntry::Step(SealedStep::new(&flow("s"), step(9, "read")));
    store.state.store(&[&last], 1).unwrap();
    assert_eq!(audit.flows(&flow("s"), 0).unwrap().len(), 1);
}

#[test]
fn a_locked_store_is_an_answer() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let other = place.raw_state();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let failed =
        |error: StoreError| matches!(error, StoreError::Failed(why) if why.contains("locked"));
    assert!(failed(audit.put_pin(&pin("s", "t", 0)).unwrap_err()));
    assert!(failed(audit.take_tokens(&[bucket(1, 1, 1, 1)]).unwrap_err()));
    assert!(audit.add_flow(&flow("s"), step(now(), "read")).wait().is_err());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(audit.put_pin(&pin("s", "t", 0)), Ok(PutPin::Stored(1)));
    assert_eq!(audit.take_tokens(&[bucket(1, 1, 1, 60)]), Ok(vec![]));
    assert_eq!(audit.take_tokens(&[bucket(1, 1, 1, 60)]), Ok(vec![0]));
}

#[test]
fn an_older_store_is_made_newer_when_it_is_opened() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    {
        let mut old = place.raw();
        crate::legacy::RECORDS.migrate_to(&mut old, 1).unwrap();
        old.pragma_update(None, "journal_mode", "wal").unwrap();
        old.execute("INSERT INTO keys VALUES ('k', zeroblob(32), NULL, NULL, NULL, 1, NULL)", [])
            .unwrap();
    }
    // Several threads migrate it once.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drop(place.open(Durability::Process)));
        }
    });
    let audit = place.open(Durability::Process);
    assert_eq!(audit.put_pin(&pin("s", "t", 0)), Ok(PutPin::Stored(1)));
    assert_eq!(audit.pins_version(), Ok(1));
}
