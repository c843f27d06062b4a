//! Every state with every event.

use super::*;
use crate::{
    FirstUse, ItemIdentity, Launch, Observation, Observed, Pin, PinRegistry, PinState, PinStatus,
    RegistryFull, TrustError,
};

const HOUR: i64 = Pin::SEEN_EVERY;

fn a() -> Definition {
    tool(r#"{"name":"t","description":"a"}"#)
}

fn b() -> Definition {
    tool(r#"{"name":"t","description":"b"}"#)
}

fn c() -> Definition {
    tool(r#"{"name":"t","description":"c"}"#)
}

fn here() -> Launch {
    Launch::command("server", &["--root", "/srv"], Some("/usr/bin/server"))
}

fn id() -> ItemIdentity {
    ItemIdentity::tool("s", "t")
}

fn see(registry: &mut PinRegistry, definition: &Definition) -> Observed {
    registry.observe(&id(), &here(), definition, FirstUse::Trust, 0).unwrap()
}

/// A registry in which definition `a` has this state.
fn in_state(state: PinStatus) -> PinRegistry {
    let mut registry = PinRegistry::default();
    match state {
        PinStatus::Unseen => {}
        PinStatus::Trusted => drop(see(&mut registry, &a())),
        PinStatus::Changed => {
            see(&mut registry, &a());
            see(&mut registry, &b());
        }
        PinStatus::Quarantined => {
            registry.observe(&id(), &here(), &a(), FirstUse::Quarantine, 0).unwrap();
        }
    }
    assert_eq!(registry.status_of(&id()), state);
    registry
}

#[test]
fn the_table_of_states() {
    use PinStatus::{Changed, Quarantined, Trusted, Unseen};
    for (before, seen, what, after, dirty) in [
        (Unseen, a(), "new", Trusted, true),
        (Trusted, a(), "same", Trusted, false),
        (Trusted, b(), "changed, news", Changed, true),
        (Changed, a(), "reverted", Trusted, true),
        (Changed, b(), "changed", Changed, false),
        (Changed, c(), "changed, news", Changed, true),
        (Quarantined, a(), "same", Quarantined, false),
        (Quarantined, b(), "changed, news", Quarantined, true),
    ] {
        let mut registry = in_state(before);
        let observed = see(&mut registry, &seen);
        let name = match &observed.what {
            Observation::New => "new",
            Observation::Same => "same",
            Observation::MetadataChanged => "meta",
            Observation::Reverted => "reverted",
            Observation::Changed(change) if change.is_first_seen => "changed, news",
            Observation::Changed(_) => "changed",
        };
        assert_eq!((name, observed.state, observed.is_dirty), (what, after, dirty), "{before}");
        assert_eq!(registry.status_of(&id()), after);
    }
}

#[test]
fn trust_is_for_what_was_seen_last() {
    let mut registry = in_state(PinStatus::Changed);
    let stale = registry.trust(&id(), Some(a().hash())).unwrap_err();
    assert!(
        matches!(&stale, TrustError::ChangedSinceReview(moved) if moved.found == *b().hash()),
        "{stale}"
    );
    assert_eq!(registry.status_of(&id()), PinStatus::Changed);
    assert_eq!(registry.trust(&id(), Some(b().hash())), Ok(true));
    assert_eq!(registry.trust(&id(), None), Ok(false));
    assert_eq!(see(&mut registry, &b()).what, Observation::Same);
    assert!(matches!(see(&mut registry, &a()).what, Observation::Changed(_)));

    let mut registry = in_state(PinStatus::Quarantined);
    assert_eq!(registry.trust(&id(), None), Ok(true));
    assert_eq!(registry.status_of(&id()), PinStatus::Trusted);

    let unseen = PinRegistry::default().trust(&id(), None).unwrap_err();
    assert!(unseen.to_string().starts_with("`s/t` is unknown"), "{unseen}");
}

#[test]
fn a_reset_leads_back_to_unseen() {
    for state in [PinStatus::Trusted, PinStatus::Changed, PinStatus::Quarantined] {
        let mut registry = in_state(state);
        assert_eq!(registry.reset(&id()).map(|pin| pin.status()), Some(state));
        assert_eq!(registry.status_of(&id()), PinStatus::Unseen);
        assert_eq!(registry.reset(&id()), None);
        assert_eq!(registry.names().find("mcp__s__t"), crate::NameLookup::Nothing);
        assert_eq!(see(&mut registry, &b()).what, Observation::New);
    }
}

#[test]
fn quarantine_keeps_what_was_seen_last() {
    let mut pin = in_state(PinStatus::Changed).get(&id()).unwrap().clone();
    assert!(pin.quarantine());
    assert!(!pin.quarantine());
    assert_eq!((pin.status(), &pin.version.hash), (PinStatus::Quarantined, b().hash()));
}

#[test]
fn a_server_that_is_started_differently_is_another_server() {
    for other in [
        Launch::command("server", &["--root", "/"], Some("/usr/bin/server")),
        Launch::command("server", &["--root", "/srv"], Some("/tmp/server")),
        Launch::command("server", &["--root", "/srv", ""], Some("/usr/bin/server")),
        Launch::command("server", &["--root/srv"], Some("/usr/bin/server")),
        Launch::origin("https://server.example"),
    ] {
        let mut registry = in_state(PinStatus::Trusted);
        let seen = registry.observe(&id(), &other, &a(), FirstUse::Trust, 0).unwrap();
        let Observation::Changed(change) = seen.what else { panic!("{other:?}") };
        assert_eq!(change.launch, Some((here(), other.clone())));
        assert_eq!((change.was, change.is), (a().hash().clone(), a().hash().clone()));
        let differences = registry.get(&id()).unwrap().diff();
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].is.as_deref(), Some(other.shown()));
        assert_eq!(see(&mut registry, &a()).what, Observation::Reverted);
    }
    let loud = Launch::origin("HTTPS://Server.example/");
    assert_eq!(loud, Launch::origin("https://server.example"));
    let secret = Launch::command("server", &["--token", "hunter2"], None);
    assert_eq!(secret.shown(), "server with 2 arguments");
}

#[test]
fn a_change_outside_the_pinned_part_is_reported_once() {
    let mut registry = in_state(PinStatus::Trusted);
    let moved = tool(r#"{"name":"t","description":"a","_meta":{"n":1}}"#);
    let observed = see(&mut registry, &moved);
    assert_eq!((observed.what, observed.is_dirty), (Observation::MetadataChanged, true));
    let again = see(&mut registry, &moved);
    assert_eq!((again.what, again.is_dirty), (Observation::Same, false));
}

#[test]
fn the_time_last_seen_is_saved_once_an_hour() {
    let mut registry = in_state(PinStatus::Trusted);
    let mut at = |now| {
        let seen = registry.observe(&id(), &here(), &a(), FirstUse::Trust, now).unwrap();
        (seen.is_dirty, registry.get(&id()).unwrap().last_seen)
    };
    assert_eq!(at(HOUR - 1), (false, 0));
    assert_eq!(at(HOUR), (true, HOUR));
    assert_eq!(at(HOUR + 1), (false, HOUR));
    assert_eq!(at(0), (false, HOUR), "a clock that was set back");
    assert_eq!(registry.get(&id()).unwrap().first_seen, 0);
}

#[test]
fn tools_of_one_name_on_two_servers_are_two_items() {
    let mut registry = in_state(PinStatus::Trusted);
    let other = ItemIdentity::tool("other", "t");
    let seen = registry.observe(&other, &here(), &b(), FirstUse::Trust, 0).unwrap();
    assert_eq!(seen.what, Observation::New);
    assert_eq!(registry.status_of(&id()), PinStatus::Trusted);
    assert_eq!(see(&mut registry, &a()).what, Observation::Same);
    assert_eq!(registry.servers().collect::<Vec<_>>(), ["other", "s"]);
    assert_eq!(registry.of_server("s").count(), 1);
    assert_eq!(registry.pins().count(), 2);
    let case = ItemIdentity::tool("s", "T");
    assert_eq!(registry.status_of(&case), PinStatus::Unseen, "names are exact");
}

#[test]
fn a_server_cannot_fill_memory() {
    let mut registry = PinRegistry::default();
    let definition = |number: usize, length: usize| {
        tool(&format!(r#"{{"name":"t{number}","title":"{}"}}"#, "x".repeat(length)))
    };
    let mut see = |number: usize, length: usize| {
        let definition = definition(number, length);
        let identity = ItemIdentity::of("s", &definition);
        registry.observe(&identity, &here(), &definition, FirstUse::Trust, 0).map(|it| it.what)
    };
    let large = 250_000;
    let many = (0..1000).take_while(|number| see(*number, large).is_ok()).count();
    assert!((200..=PinRegistry::MAX_BYTES / large).contains(&many), "{many}");
    assert_eq!(see(2000, large), Err(RegistryFull { server: "s".into() }));
    assert_eq!(see(0, large), Ok(Observation::Same), "what is known stays known");
    assert!(matches!(see(0, large + 1), Ok(Observation::Changed(_))), "a change is always noticed");
    let changed = registry.get(&ItemIdentity::tool("s", "t0")).unwrap();
    assert!(changed.seen().definition.contains("was not kept"));
    assert_eq!(changed.seen().hash, *definition(0, large + 1).hash());

    let mut registry = PinRegistry::default();
    for number in 0..=PinRegistry::MAX_PINS {
        let small = definition(number, 1);
        let seen =
            registry.observe(&ItemIdentity::of("s", &small), &here(), &small, FirstUse::Trust, 0);
        assert_eq!(seen.is_err(), number == PinRegistry::MAX_PINS);
    }
}

#[test]
fn what_is_stored_comes_back() {
    let registry = in_state(PinStatus::Changed);
    let mut again = PinRegistry::new(registry.pins().cloned());
    assert_eq!(again.status_of(&id()), PinStatus::Changed);
    assert!(matches!(&again.get(&id()).unwrap().state, PinState::Changed(_)));
    assert_eq!(see(&mut again, &b()).what, see(&mut in_state(PinStatus::Changed), &b()).what);
    for state in PinStatus::ALL {
        assert_eq!(PinStatus::parse(state.as_str()), Some(state));
    }
    for kind in ItemKind::ALL {
        assert_eq!(ItemKind::parse(kind.as_str()), Some(kind));
    }
}
