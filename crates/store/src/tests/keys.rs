//! Gateway keys: created, found, expired, renewed and revoked, with a record of each change.

use callgate_call::Principal;
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::state::keys::hash_of;
use crate::{KeyRefusal, KeyState, KeyTerm, SecretChoice, StoreError};
use callgate_audit::{ChangeTarget, RecordedChange, RecordedPrincipal};

fn by() -> RecordedPrincipal {
    RecordedPrincipal { user: Some("root".into()), ..RecordedPrincipal::default() }
}

fn nobody() -> Principal {
    Principal::default()
}

fn hours(n: i64) -> SignedDuration {
    SignedDuration::from_hours(n)
}

fn found(audit: &Store, presented: &str) -> Result<Principal, KeyRefusal> {
    audit.find_key(presented, Timestamp::now()).map(|key| key.who)
}

/// The recorded changes, the oldest first.
fn changes(place: &Place) -> Vec<(Option<String>, RecordedChange)> {
    let records = all(&place.reader()).into_iter().map(|stored| stored.record);
    let of_change = |record: Record| record.change.map(|change| (record.who.user, change));
    records.filter(|record| record.kind == RecordKind::Change).filter_map(of_change).collect()
}

#[test]
fn a_key_is_found_until_it_is_revoked() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    let who = Principal { team: Some("payments".into()), user: Some("ann".into()), ..nobody() };
    let key = audit.add_key("laptop", &who, None, &by()).unwrap();
    let other = audit.add_key("ci", &nobody(), None, &by()).unwrap();
    assert_eq!(found(&audit, key.expose()), Ok(Principal { key: Some("laptop".into()), ..who }));
    for wrong in ["", "cg_", &key.expose()[1..], &key.expose().to_lowercase(), &"x".repeat(10_000)]
    {
        assert_eq!(found(&audit, wrong), Err(KeyRefusal::Unknown), "{wrong}");
    }
    let again = audit.add_key("laptop", &nobody(), None, &by());
    assert_eq!(again, Err(StoreError::NameTaken("laptop".into())));
    let odd = audit.add_key("a b", &nobody(), None, &by());
    assert!(matches!(odd, Err(StoreError::BadName(_))));

    assert_eq!(audit.revoke_key("laptop", &by()), Ok(true));
    assert_eq!(audit.revoke_key("laptop", &by()), Ok(false));
    assert_eq!(audit.revoke_key("nobody", &by()), Ok(false));
    assert_eq!(found(&audit, key.expose()), Err(KeyRefusal::Unknown));
    assert!(found(&audit, other.expose()).is_ok());
    let again = audit.add_key("laptop", &nobody(), None, &by());
    assert!(matches!(again, Err(StoreError::NameTaken(_))));
    let listed = audit.list_keys().unwrap();
    assert_eq!(listed.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["laptop", "ci"]);
    assert!(listed[0].revoked.is_some() && listed[1].revoked.is_none());
    assert!(!contains(&place.bytes(), &key.expose()[3..]), "keys are kept as hashes");
}

#[test]
fn keys_of_another_process_are_noticed() {
    let place = Place::new();
    let (gateway, command) = (place.open(Durability::Process), place.open(Durability::Disk));
    let key = command.add_key("laptop", &nobody(), None, &by()).unwrap();
    until("the new key is known", || found(&gateway, key.expose()).is_ok());
    let new = command.renew_key("laptop", KeyTerm::Forever, SecretChoice::Replace, &by()).unwrap();
    let new = new.secret.unwrap();
    until("the new secret is known", || found(&gateway, new.expose()).is_ok());
    assert_eq!(found(&gateway, key.expose()), Err(KeyRefusal::Unknown), "and the old one is not");
    command.revoke_key("laptop", &by()).unwrap();
    until("the revoked key is refused", || found(&gateway, new.expose()).is_err());
}

#[test]
fn an_expiry_holds_to_the_moment_without_a_look_at_the_store() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    let expires = Timestamp::from_second(Timestamp::now().as_second() + 3600).unwrap();
    let key = audit.add_key("ci", &nobody(), Some(expires), &by()).unwrap();
    let before = expires - SignedDuration::from_nanos(1);
    assert!(audit.find_key(key.expose(), before).is_ok());
    for now in [expires, expires + hours(1)] {
        let found = audit.find_key(key.expose(), now);
        assert_eq!(found, Err(KeyRefusal::Expired("ci".into())));
    }
    let listed = &audit.list_keys().unwrap()[0];
    assert_eq!(
        (listed.state(before), listed.state(expires)),
        (KeyState::Active, KeyState::Expired)
    );
}

#[test]
fn a_key_is_renewed_for_as_long_as_before() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let soon = Timestamp::now() + hours(2);
    let key = audit.add_key("ci", &nobody(), Some(soon), &by()).unwrap();
    place.raw_state().execute("UPDATE keys SET expires = 1", []).unwrap();
    let renewed = audit.renew_key("ci", KeyTerm::Same, SecretChoice::Keep, &by()).unwrap();
    assert_eq!(renewed.secret, None);
    let left = renewed.key.expires.unwrap().duration_since(Timestamp::now());
    assert!(left > hours(1) && left <= hours(2), "{left}");
    assert!(found(&audit, key.expose()).is_ok());

    let later = KeyTerm::Until(Timestamp::now() + hours(100));
    let renewed = audit.renew_key("ci", later, SecretChoice::Replace, &by()).unwrap();
    assert!(found(&audit, renewed.secret.unwrap().expose()).is_ok());
    assert_eq!(found(&audit, key.expose()), Err(KeyRefusal::Unknown), "the old secret is gone");
    let renewed = audit.renew_key("ci", KeyTerm::Forever, SecretChoice::Keep, &by()).unwrap();
    assert_eq!(renewed.key.expires, None);

    let renew = |name| audit.renew_key(name, KeyTerm::Same, SecretChoice::Keep, &by());
    assert_eq!(renew("ci"), Err(StoreError::NeverExpires("ci".into())));
    assert_eq!(renew("nobody"), Err(StoreError::NoKey("nobody".into())));
    audit.revoke_key("ci", &by()).unwrap();
    assert_eq!(renew("ci"), Err(StoreError::KeyRevoked("ci".into())));
}

#[test]
fn who_changed_a_key_is_on_record() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let who = Principal { user: Some("ann".into()), ..nobody() };
    let key = audit.add_key("ci", &who, None, &by()).unwrap();
    let until: Timestamp = "2090-01-31T12:00:00Z".parse().unwrap();
    let term = KeyTerm::Until(until);
    let new = audit.renew_key("ci", term, SecretChoice::Replace, &by()).unwrap().secret.unwrap();
    audit.revoke_key("ci", &by()).unwrap();
    // A call that changes nothing is not recorded.
    audit.add_key("ci", &who, None, &by()).unwrap_err();
    audit.revoke_key("ci", &by()).unwrap();
    audit.renew_key("ci", term, SecretChoice::Keep, &by()).unwrap_err();

    let changes = changes(&place);
    assert!(changes.iter().all(|(by, change)| {
        by.as_deref() == Some("root")
            && (change.what, change.name.as_str()) == (ChangeTarget::Key, "ci")
    }));
    let recorded: Vec<_> = changes
        .iter()
        .map(|(_, change)| (change.action.as_str(), change.differences().collect::<Vec<_>>()))
        .collect();
    let shown = until.to_string();
    let add = vec![
        ("expires", None, Some("never")),
        ("state", None, Some("active")),
        ("user", None, Some("ann")),
    ];
    let renew =
        vec![("expires", Some("never"), Some(shown.as_str())), ("secret", None, Some("new"))];
    let revoke = vec![("state", Some("active"), Some("revoked"))];
    assert_eq!(recorded, [("add", add), ("renew", renew), ("revoke", revoke)]);
    for secret in [key, new] {
        let hash = callgate_audit::hex(&hash_of(secret.expose()));
        let exported: String =
            all(&place.reader()).iter().map(|stored| stored.to_json().to_string()).collect();
        assert!(!exported.contains(&secret.expose()[3..]) && !exported.contains(&hash));
    }
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 3);
}

/// There is no change without its record. There is a record without its change only if the final
/// commit failed.
#[test]
fn each_statement_may_fail_and_nothing_is_changed_without_a_record() {
    let mut only_recorded = 0;
    for statement in 0.. {
        let place = Place::new();
        let audit = place.open(Durability::Process);
        audit.add_key("old", &nobody(), None, &by()).unwrap();
        let faults = &audit.shared().state.writing.faults;
        faults.fail_after(statement);
        let added = audit.add_key("new", &nobody(), None, &by());
        let revoked = audit.revoke_key("old", &by());
        let happened = faults.happened();
        heal(audit.shared());
        assert_eq!(added.is_err() || revoked.is_err(), happened, "statement {statement}");
        let listed = audit.list_keys().unwrap();
        let recorded = changes(&place);
        let of =
            |action: &str| recorded.iter().filter(|(_, change)| change.action == action).count();
        assert_eq!(listed.len(), 1 + usize::from(added.is_ok()), "statement {statement}");
        let gone = listed.iter().filter(|key| key.revoked.is_some()).count();
        assert_eq!(gone, usize::from(revoked.is_ok()), "statement {statement}");
        assert!(of("add") >= listed.len() && of("revoke") >= gone, "statement {statement}");
        only_recorded += of("add") - listed.len() + of("revoke") - gone;
        if !happened {
            assert!(statement >= 7, "two changes have more statements than {statement}");
            break;
        }
    }
    assert_eq!(only_recorded, 2, "the last statement of each of the two changes");
}

#[test]
fn a_change_that_cannot_be_recorded_does_not_happen() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let key = audit.add_key("ci", &nobody(), None, &by()).unwrap();
    audit.shared().records.faults.fail_after(0);
    assert!(matches!(audit.revoke_key("ci", &by()), Err(StoreError::Failed(_))));
    heal(audit.shared());
    assert!(found(&audit, key.expose()).is_ok());
    assert_eq!(audit.list_keys().unwrap()[0].revoked, None);
    assert_eq!(changes(&place).len(), 1, "that it was added");
    assert_eq!(
        audit.shared().state.writing.health_status.health(),
        crate::WriteHealth::Ok,
        "it is no fault of the state"
    );
    assert_eq!(audit.revoke_key("ci", &by()), Ok(true));
}
