//! The state has its own file: private, with its own application id, and independent of the
//! records.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use callgate_call::Principal;
use jiff::Timestamp;

use super::*;
use crate::legacy::RECORDS;
use crate::maintenance::Maintenance;
use crate::shared::OpenStore;
use crate::state::history::SealedStep;
use crate::state::keys::hash_of;
use crate::state::removed::{RemovedCallStore, SealedRemoved};
use crate::state::{StateEntry, StateStore};
use crate::wal::LogBounds;
use crate::{
    Bucket, FlowName, FlowStep, OpenError, PinnedVersion, RemovedEntry, RemovedQuery, StoredPin,
    TurnCount, WriteHealth,
};
use callgate_audit::{RecordId, RecordedPrincipal};

fn by() -> RecordedPrincipal {
    RecordedPrincipal { user: Some("root".into()), ..RecordedPrincipal::default() }
}

fn session() -> FlowName {
    FlowName { owner: "ann".into(), name: "s".into() }
}

fn step() -> FlowStep {
    FlowStep {
        at: 10,
        server: "files".into(),
        tool: "read".into(),
        role: "reads".into(),
        record: RecordId::new(),
        arguments: [7; 32],
    }
}

fn entry() -> RemovedEntry {
    let (signs, keys) = (vec![[2; 32]], vec![[3; 32]]);
    RemovedEntry { binding: [1; 32], signs, keys, alike: Some([4; 32]), content: b"x".into() }
}

fn pin() -> StoredPin {
    let word = String::new;
    let pinned = PinnedVersion {
        launch: word(),
        launch_shown: word(),
        hash: word(),
        whole: word(),
        definition: "{}".into(),
    };
    StoredPin {
        server: "s".into(),
        kind: "tool".into(),
        name: "t".into(),
        state: "trusted".into(),
        pinned,
        seen: None,
        first_seen: 1,
        last_seen: 1,
        revision: 0,
    }
}

const BUCKET: Bucket = Bucket { key: [9; 32], burst: 1, calls: 1, seconds: 3600 };

#[test]
fn the_state_survives_the_loss_of_the_records() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    let key = audit.add_key("ci", &Principal::default(), None, &by()).unwrap();
    audit.put_pin(&pin()).unwrap();
    audit.keep_removed(entry()).wait().unwrap();
    audit.take_tokens(&[BUCKET]).unwrap();
    audit.append_together([(session(), step())], [], call("Bash", "{}")).wait().unwrap();
    audit.count_turn(TurnCount::default());
    audit.flush().wait().unwrap();
    assert_eq!(audit.reader().unwrap().stats(&Filter::default()).unwrap().records, 2);
    drop(audit);
    std::fs::remove_file(place.path()).unwrap();
    std::fs::remove_dir_all(place.journal()).unwrap();
    std::fs::remove_file(place.path().with_extension("db.head").join("last")).unwrap();

    let audit = place.open(Durability::Disk);
    assert!(audit.find_key(key.expose(), Timestamp::now()).is_ok());
    assert_eq!(audit.pins().unwrap().len(), 1);
    assert!(audit.has_removed(&[1; 32]));
    let sought = RemovedQuery { signs: vec![[2; 32]], ..RemovedQuery::default() };
    assert_eq!(audit.find_removed(&[1; 32], &sought).unwrap().contents, [b"x"]);
    assert_eq!(audit.take_tokens(&[BUCKET]), Ok(vec![0]), "its token is still gone");
    assert_eq!(audit.flows(&session(), 0).unwrap().len(), 1);
    let stats = audit.reader().unwrap().stats(&Filter::default()).unwrap();
    assert_eq!((stats.records, stats.turns.without_calls), (0, Some(1)));
    assert_eq!(audit.reader().unwrap().pins().unwrap().len(), 1);
}

#[test]
fn the_file_is_private_and_of_its_own_kind() {
    let place = Place::new();
    drop(place.open(Durability::Disk));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(place.state_path(), place.path().with_extension("db.state"));
    assert_eq!(mode(&place.state_path()), 0o600);
    let open = || Store::open(&place.settings(Durability::Disk)).unwrap_err();

    std::fs::set_permissions(place.state_path(), PermissionsExt::from_mode(0o602)).unwrap();
    assert!(matches!(open(), OpenError::Exposed { path, .. } if path == place.state_path()));
    std::fs::set_permissions(place.state_path(), PermissionsExt::from_mode(0o600)).unwrap();

    place.raw_state().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(open(), OpenError::Newer { found: 99, known: 3, .. }));
    // The other file is not a state file, although callgate wrote it.
    std::fs::copy(place.path(), place.state_path()).unwrap();
    assert!(matches!(open(), OpenError::Foreign { path, .. } if path == place.state_path()));
}

#[test]
fn a_removed_state_is_noticed_and_created_again() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let key = audit.add_key("ci", &Principal::default(), None, &by()).unwrap();
    audit.keep_removed(entry()).wait().unwrap();
    for ending in ["", "-wal", "-shm"] {
        let mut path = place.state_path().into_os_string();
        path.push(ending);
        std::fs::remove_file(path).unwrap();
    }
    until("the key is gone", || audit.find_key(key.expose(), Timestamp::now()).is_err());
    until("it is healthy", || audit.health() == WriteHealth::Ok);
    assert!(!audit.has_removed(&[1; 32]));
    let key = audit.add_key("ci", &Principal::default(), None, &by()).unwrap();
    let other = place.open(Durability::Process);
    assert!(other.find_key(key.expose(), Timestamp::now()).is_ok());
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 2, "both on record");
}

/// Everything in the tables, as text.
fn content(place: &Place) -> Vec<String> {
    let raw = place.raw_state();
    let counts =
        ["keys", "pins", "removed", "removed_signs", "buckets", "flows", "turns", "sessions"];
    let mut content: Vec<String> = counts
        .iter()
        .map(|table| {
            let sql = format!("SELECT count(*) FROM {table}");
            format!("{table} {}", raw.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap())
        })
        .collect();
    content
        .push(raw.query_row("SELECT 'pins ' || pins FROM versions", [], |row| row.get(0)).unwrap());
    content
}

#[test]
fn each_statement_may_fail_and_the_state_is_as_it_was() {
    type Change = fn(&Store) -> bool;
    let changes: [(i64, Change); 6] = [
        (5, |audit| audit.put_pin(&pin()).is_ok()),
        (4, |audit| audit.take_tokens(&[BUCKET]).is_ok()),
        // Begin, one for the call and four for its signs, commit.
        (6, |audit| audit.keep_removed(entry()).wait().is_ok()),
        (3, |audit| audit.add_flow(&session(), step()).wait().is_ok()),
        (3, |audit| audit.add_flow_unless(&session(), 0, step(), |_| None::<()>).is_ok()),
        (4, |audit| audit.add_key("ci", &Principal::default(), None, &by()).is_ok()),
    ];
    for (number, (statements, change)) in changes.into_iter().enumerate() {
        let place = Place::new();
        let audit = place.open(Durability::Process);
        let faults = &audit.shared().state.writing.faults;
        let before = content(&place);
        for statement in 0..statements {
            faults.fail_after(statement);
            assert!(!change(&audit), "change {number}, statement {statement}");
            heal(audit.shared());
            assert_eq!(content(&place), before, "change {number}, statement {statement}");
        }
        faults.fail_after(statements);
        assert!(change(&audit), "change {number} has no more statements");
        heal(audit.shared());
        assert_ne!(content(&place), before, "change {number}");
    }
}

#[test]
fn counts_that_could_not_be_written_are_written_later() {
    let place = Place::new();
    let shared = OpenStore::open(&place.settings(Durability::Process)).unwrap();
    shared.turns.count(TurnCount::default(), 1);
    for statement in 0..4 {
        shared.state.writing.faults.fail_after(statement);
        shared.turns.write(&shared.state).unwrap_err();
    }
    shared.state.writing.faults.fail_after(i64::MAX);
    shared.turns.write(&shared.state).unwrap();
    shared.turns.write(&shared.state).unwrap();
    let turns = place.reader().stats(&Filter::default()).unwrap().turns;
    assert_eq!(turns.without_calls, Some(1));
}

#[test]
fn a_record_fails_with_its_step_and_no_other_does() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let other = place.raw_state();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let with_step = audit.append_together([(session(), step())], [], call("Stepped", "{}"));
    let alone = audit.append(call("Bash", "{}"));
    assert!(with_step.wait().is_err());
    alone.wait().unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    let names = |audit: &Store| -> Vec<String> {
        let found = all(&audit.reader().unwrap()).into_iter();
        found.map(|stored| stored.record.tool.unwrap().name).collect()
    };
    assert_eq!(names(&audit), ["Bash"]);
    assert_eq!(audit.flows(&session(), 0).unwrap(), []);
    audit.append_together([(session(), step())], [], call("Stepped", "{}")).wait().unwrap();
    assert_eq!(names(&audit), ["Bash", "Stepped"]);
    // The other way round: the step comes first and stays.
    audit.shared().records.faults.fail_after(0);
    assert!(audit.append_together([(session(), step())], [], call("Late", "{}")).wait().is_err());
    heal(audit.shared());
    assert_eq!(names(&audit), ["Bash", "Stepped"]);
    assert_eq!(audit.flows(&session(), 0).unwrap().len(), 2);
}

#[test]
fn a_batch_is_kept_whole_or_not_at_all() {
    let place = Place::new();
    let shared = OpenStore::open(&place.settings(Durability::Process)).unwrap();
    let kept = [
        StateEntry::Removed(SealedRemoved::new(entry(), &shared.cipher).unwrap()),
        StateEntry::Step(SealedStep::new(&session(), step())),
    ];
    let kept: Vec<&StateEntry> = kept.iter().collect();
    let before = content(&place);
    for statement in 0.. {
        shared.state.writing.faults.fail_after(statement);
        let done = shared.state.store(&kept, 1);
        if !shared.state.writing.faults.happened() {
            assert!(done.is_ok() && statement >= 7, "{statement}");
            break;
        }
        done.unwrap_err();
        assert_eq!(content(&place), before, "statement {statement}");
    }
    assert!(shared.state.contains(&[1; 32], &[[2; 32]]).unwrap());
}

#[test]
fn the_state_of_an_older_store_is_copied_once() {
    let secret = "cg_0123456789012345678901234567890123456789012";
    let older = Place::new();
    std::fs::create_dir_all(older.path().parent().unwrap()).unwrap();
    let mut raw = older.raw();
    RECORDS.migrate_to(&mut raw, 2).unwrap();
    let add = "INSERT INTO keys VALUES ('k', ?1, 'acme', 'web', 'ann', 1, NULL)";
    raw.execute(add, [hash_of(secret)]).unwrap();
    raw.execute_batch(
        "INSERT INTO turns VALUES (1, 'anthropic', 'm', 7, 100, 50);
         INSERT INTO pins SELECT 1, 's', 'tool', 't', 'trusted', 1, 1, 1, 'l', 'l', 'h', 'w', '{}',
             NULL, NULL, NULL, NULL, NULL;
         UPDATE versions SET pins = 5;
         INSERT INTO removed VALUES (7, zeroblob(32), zeroblob(12), zeroblob(9), 1);
         INSERT INTO removed_signs VALUES (zeroblob(32), 7);
         INSERT INTO buckets VALUES (zeroblob(32), 0.0, 1, 9000000000000000000);
         INSERT INTO flows VALUES (3, zeroblob(32), 1, 's', 't', 'reads', 'r', zeroblob(32));",
    )
    .unwrap();
    RECORDS.migrate(&mut raw).unwrap();
    raw.execute("INSERT INTO sessions VALUES (zeroblob(32), 1, 2, '{}')", []).unwrap();

    let place = Place::new();
    let audit = place.open(Durability::Process);
    let empty = content(&place);
    let state = &audit.shared().state;
    for statement in 0..20 {
        state.writing.faults.fail_after(statement);
        state.copy_from(&older.path()).unwrap_err();
        assert_eq!(content(&place), empty, "statement {statement}");
        heal(audit.shared());
    }
    state.copy_from(&older.path()).unwrap();
    let taken = content(&place);
    let all_have_one =
        |content: &[String]| content.iter().filter(|it| it.ends_with(" 1")).count() == 8;
    assert!(all_have_one(&taken) && taken.contains(&"pins 5".to_owned()), "{taken:?}");
    until("the key is known", || audit.find_key(secret, Timestamp::MAX).is_ok());
    let key = audit.find_key(secret, Timestamp::MAX).unwrap();
    assert_eq!((key.who.team.as_deref(), key.expires), (Some("web"), None));
    let turns = place.reader().stats(&Filter::default()).unwrap().turns;
    assert_eq!((turns.without_calls, turns.tokens_input, turns.tokens_output), (Some(7), 100, 50));

    audit.revoke_key("k", &by()).unwrap();
    state.copy_from(&older.path()).unwrap();
    assert!(audit.list_keys().unwrap()[0].revoked.is_some(), "nothing comes back");
}

#[test]
fn the_log_of_the_state_does_not_grow_for_ever() {
    let place = Place::new();
    let shared = Arc::new(OpenStore::open(&place.settings(Durability::Process)).unwrap());
    let mut maintenance = Maintenance::new(&shared).unwrap();
    maintenance.state.checkpoints.bounds = LogBounds { checkpoint: 64, restart: 512 };
    for number in 0..2000 {
        let kept = StateEntry::Step(SealedStep::new(&session(), FlowStep { at: number, ..step() }));
        shared.state.store(&[&kept], 1).unwrap();
        if number % 20 == 0 {
            maintenance.state.tick();
        }
    }
    let log = std::fs::metadata(place.state_path().with_extension("state-wal")).unwrap().len();
    // Without a restart, the log would have at least two pages for each step: 16 MB.
    assert!(log < 4 * 1024 * 1024, "{log}");
}
