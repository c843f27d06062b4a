//! Sessions: the records of their starts and ends.

use std::time::Duration;

use super::*;
use crate::database::Database;
use crate::state::sqlite::end_idle;
use callgate_audit::RecordedPrincipal;

const IDLE: Duration = Duration::from_secs(30 * 60);
const MINUTE: i64 = 60_000_000;

fn of(session: &str, user: &str) -> Record {
    let who = RecordedPrincipal {
        session: Some(session.to_owned()),
        user: Some(user.to_owned()),
        agent: Some("claude-code".to_owned()),
        ..RecordedPrincipal::default()
    };
    Record { who, ..call("Bash", "{}") }
}

/// The kinds of all records with their sessions and users, oldest first.
fn kinds(place: &Place) -> Vec<(RecordKind, String)> {
    let name = |who: &RecordedPrincipal| {
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
        (RecordKind::SessionStarted, "s1 ann"),
        (RecordKind::ToolCall, "s1 ann"),
        (RecordKind::ToolCall, "s1 ann"),
        (RecordKind::ToolCall, "s1 ann"),
        (RecordKind::SessionStarted, "s1 bob"),
        (RecordKind::ToolCall, "s1 bob"),
        (RecordKind::ToolCall, " "),
    ];
    assert_eq!(kinds(&place), expected.map(|(kind, who)| (kind, who.to_owned())));
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
    let store = Database::new(place.raw_state());
    let end_idle = |now| {
        let mut record = |ended| audit.shared().record(ended);
        end_idle(&store, IDLE, now, &mut record).unwrap();
    };
    let ended =
        || kinds(&place).iter().filter(|(kind, _)| *kind == RecordKind::SessionEnded).count();
    end_idle(now + 29 * MINUTE);
    assert_eq!(ended(), 0);
    end_idle(now + 31 * MINUTE);
    end_idle(now + 32 * MINUTE);
    assert_eq!(ended(), 1);
    let last = all(&place.reader()).pop().unwrap().record;
    assert_eq!(last.who.session.as_deref(), Some("s1"));
    assert!(last.detail.unwrap().starts_with("nothing was recorded for 1800 s"));
    // A session that comes back is a new one.
    let back = place.open(Durability::Process);
    back.append(of("s1", "ann")).wait().unwrap();
    let begun =
        kinds(&place).iter().filter(|(kind, _)| *kind == RecordKind::SessionStarted).count();
    assert_eq!(begun, 2);
    place.reader().verify(|_, _| {}).unwrap();
}

/// Whichever statement fails, of the state or of the records: a written record comes after the
/// start of its session.
#[test]
fn no_record_comes_before_the_begin_of_its_session() {
    for of_state in [true, false] {
        let place = Place::new();
        let audit = place.open(Durability::Process);
        audit.append(call("Bash", "{}")).wait().unwrap();
        let shared = audit.shared();
        let faults = if of_state { &shared.state.writing.faults } else { &shared.records.faults };
        let mut failures = 0;
        for failing in 0..8 {
            let session = format!("s{failing}");
            let kinds = || -> Vec<RecordKind> {
                let kinds = kinds(&place).into_iter();
                kinds.filter(|(_, who)| *who == format!("{session} ann")).map(|it| it.0).collect()
            };
            faults.fail_after(failing);
            let written = audit.append(of(&session, "ann")).wait().is_ok();
            heal(shared);
            let both = [RecordKind::SessionStarted, RecordKind::ToolCall];
            assert_eq!(kinds(), both[..if written { 2 } else { 0 }], "{of_state} {failing}");
            failures += usize::from(!written);
            audit.append(of(&session, "ann")).wait().unwrap();
            let last = kinds();
            assert_eq!(last.last(), Some(&RecordKind::ToolCall));
            let begun = last.iter().filter(|kind| **kind == RecordKind::SessionStarted).count();
            // If the commit of the state failed, the records were written, and the start is
            // recorded again.
            let again = written && of_state && failing == 3;
            assert_eq!(begun, 1 + usize::from(again), "{of_state} {failing}");
        }
        // Begin, touch and insert; and the append of the records.
        assert_eq!(failures, if of_state { 3 } else { 1 });
        place.reader().verify(|_, _| {}).unwrap();
    }
}

#[test]
fn records_of_sessions_that_are_known_need_no_state() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(of("s1", "ann")).wait().unwrap();
    let other = place.raw_state();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    audit.append(of("s1", "ann")).wait().unwrap();
    audit.append(call("Bash", "{}")).wait().unwrap();
    audit.append(of("s2", "ann")).wait().unwrap_err();
    other.execute_batch("ROLLBACK").unwrap();
    audit.append(of("s2", "ann")).wait().unwrap();
    assert_eq!(kinds(&place).len(), 6, "two begins and four calls");
}

#[test]
fn a_running_store_ends_idle_sessions() {
    let place = Place::new();
    let settings =
        Settings { session_idle: Duration::from_millis(1), ..place.settings(Durability::Process) };
    let audit = Store::open(&settings).unwrap();
    audit.append(of("s1", "ann")).wait().unwrap();
    let ended = || kinds(&place).iter().any(|(kind, _)| *kind == RecordKind::SessionEnded);
    until("its end is on record", ended);
}

#[test]
fn looking_for_idle_sessions_takes_no_lock() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(of("s1", "ann")).wait().unwrap();
    let (other, store) = (place.raw_state(), Database::new(place.raw_state()));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let now = crate::shared::now();
    end_idle(&store, IDLE, now, &mut |_| Ok(())).unwrap();
    end_idle(&store, IDLE, now + 31 * MINUTE, &mut |_| Ok(())).unwrap_err();
}

/// A session whose end cannot be recorded has not ended: the end is tried again.
#[test]
fn a_session_ends_only_on_record() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(of("s1", "ann")).wait().unwrap();
    let store = Database::new(place.raw_state());
    let later = crate::shared::now() + 31 * MINUTE;
    let mut fail = |_| Err(crate::database::Fault::NotRecorded("on purpose".to_owned()));
    end_idle(&store, IDLE, later, &mut fail).unwrap_err();
    let mut ended = 0;
    let mut count = |records: Vec<Record>| {
        ended += records.len();
        Ok(())
    };
    end_idle(&store, IDLE, later, &mut count).unwrap();
    end_idle(&store, IDLE, later, &mut count).unwrap();
    assert_eq!(ended, 1);
}
