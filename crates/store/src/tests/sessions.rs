//! Sessions: the record of their first record, and of their end.

use std::time::Duration;

use super::*;
use crate::database::Database;
use crate::sessions::end_idle;
use callgate_audit::Principal;

const IDLE: Duration = Duration::from_secs(30 * 60);
const MINUTE: i64 = 60_000_000;

fn of(session: &str, user: &str) -> Record {
    let who = Principal {
        session: Some(session.to_owned()),
        user: Some(user.to_owned()),
        agent: Some("claude-code".to_owned()),
        ..Principal::default()
    };
    Record { who, ..call("Bash", "{}") }
}

/// The kinds of all records with their sessions and users, oldest first.
fn told(place: &Place) -> Vec<(Kind, String)> {
    let name = |who: &Principal| {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        format!("{} {}", part(&who.session), part(&who.user))
    };
    all(&place.reader()).iter().map(|it| (it.record.kind, name(&it.record.who))).collect()
}

#[test]
fn a_session_begins_in_front_of_its_first_record_and_once() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let other = place.open(Durability::Process);
    audit.append(of("s1", "ann")).wait().unwrap();
    audit.append(of("s1", "ann")).wait().unwrap();
    other.append(of("s1", "ann")).wait().unwrap();
    other.append(of("s1", "bob")).wait().unwrap();
    audit.append(call("Bash", "{}")).wait().unwrap();
    let expected = [
        (Kind::SessionStarted, "s1 ann"),
        (Kind::ToolCall, "s1 ann"),
        (Kind::ToolCall, "s1 ann"),
        (Kind::ToolCall, "s1 ann"),
        (Kind::SessionStarted, "s1 bob"),
        (Kind::ToolCall, "s1 bob"),
        (Kind::ToolCall, " "),
    ];
    assert_eq!(told(&place), expected.map(|(kind, who)| (kind, who.to_owned())));
    let of_session = Filter { session: Some("s1".to_owned()), ..Filter::default() };
    assert_eq!(place.reader().records(&of_session).unwrap().len(), 6);
    let first = &all(&place.reader())[0].record;
    assert_eq!(first.who.agent.as_deref(), Some("claude-code"));
    place.reader().verify(|_, _| {}).unwrap();
}

#[test]
fn a_session_of_which_nothing_more_comes_has_ended() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(of("s1", "ann")).wait().unwrap();
    let now = crate::shared::now();
    let store = Database::new(place.raw());
    let ended = || told(&place).iter().filter(|(kind, _)| *kind == Kind::SessionEnded).count();
    end_idle(&store, IDLE, now + 29 * MINUTE).unwrap();
    assert_eq!(ended(), 0);
    end_idle(&store, IDLE, now + 31 * MINUTE).unwrap();
    end_idle(&store, IDLE, now + 32 * MINUTE).unwrap();
    assert_eq!(ended(), 1);
    let last = all(&place.reader()).pop().unwrap().record;
    assert_eq!(last.who.session.as_deref(), Some("s1"));
    assert!(last.detail.unwrap().starts_with("nothing was recorded for 1800 s"));
    // Whoever comes back begins another one.
    let back = place.open(Durability::Process);
    back.append(of("s1", "ann")).wait().unwrap();
    let begun = told(&place).iter().filter(|(kind, _)| *kind == Kind::SessionStarted).count();
    assert_eq!(begun, 2);
    place.reader().verify(|_, _| {}).unwrap();
}

#[test]
fn a_store_that_fails_begins_no_session() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(call("Bash", "{}")).wait().unwrap();
    for failing in 0..12 {
        audit.shared().faults.fail_after(failing);
        let session = format!("s{failing}");
        let written = audit.append(of(&session, "ann")).wait().is_ok();
        audit.shared().faults.fail_after(i64::MAX);
        let told = told(&place);
        let of_it = told.iter().filter(|(_, who)| *who == format!("{session} ann")).count();
        assert_eq!(of_it, if written { 2 } else { 0 }, "{failing}");
        if !written {
            audit.append(of(&session, "ann")).wait().unwrap();
        }
    }
    place.reader().verify(|_, _| {}).unwrap();
}

#[test]
fn an_older_store_keeps_its_counts() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().parent().unwrap()).unwrap();
    let mut old = Connection::open(place.path()).unwrap();
    crate::schema::migrate_to(&mut old, 2).unwrap();
    old.execute_batch("INSERT INTO turns VALUES (1, 'anthropic', 'm', 7, 100, 50)").unwrap();
    drop(old);
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    drop(place.open(Durability::Process));
    let turns = place.reader().stats(&Filter::default()).unwrap().turns;
    assert_eq!((turns.without_calls, turns.tokens_input, turns.tokens_output), (Some(7), 100, 50));
}
