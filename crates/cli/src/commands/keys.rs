//! `callgate keys`: who may use a gateway that others can reach.

use std::path::Path;

use anyhow::{Result, bail};
use callgate_call::Principal;
use callgate_store::{
    KeyInfo, KeySecret, KeyState, KeyTerm, Location, RenewedKey, SecretChoice, Store,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::args::{AddKeyArgs, KeysCommand, RenewKeyArgs};
use crate::exit::Exit;
use crate::operator::operator;
use crate::records;
use crate::render::{self, count, hinted, printable, talk};
use crate::report;
use crate::table::Listing;
use crate::when::{self, Expiry};

pub(crate) fn run(args: &KeysCommand, config: Option<&Path>) -> Result<Exit> {
    match args {
        KeysCommand::Add(args) => add(args, config),
        KeysCommand::List { json } => list(*json, config),
        KeysCommand::Renew(args) => renew(args, config),
        KeysCommand::Revoke { name, json } => revoke(name, *json, config),
    }
}

fn add(args: &AddKeyArgs, config: Option<&Path>) -> Result<Exit> {
    let AddKeyArgs { name, org, team, user, expires, json } = args;
    let settings = callgate_config::audit_settings(config)?;
    if settings.store == Location::Memory {
        bail!(hinted(
            "a store in memory cannot keep a key".to_owned(),
            "set `store: sqlite:PATH` in the config"
        ));
    }
    let who = Principal { org: org.clone(), team: team.clone(), user: user.clone(), key: None };
    let expires = expires.and_then(Expiry::time);
    let audit = Store::open(&settings)?;
    let secret = audit.add_key(name, &who, expires, &operator())?;
    if *json {
        let key = find(&audit, name)?;
        return print_json(&key, Some(&secret));
    }
    talk(&format!(
        "created the key `{}`; it is shown only this once. Clients send it in the header x-callgate-key:\n",
        printable(name)
    ));
    render::print(&format!("{}\n", secret.expose()))?;
    if let Some(expires) = expires {
        talk(&format!("it expires on {}\n", when::shown(expires)));
    }
    Ok(Exit::Success)
}

fn find(audit: &Store, name: &str) -> Result<KeyInfo> {
    let key = audit.list_keys()?.into_iter().find(|key| key.name == name);
    key.ok_or_else(|| {
        hinted(
            format!("the key `{name}` no longer exists"),
            "run `callgate keys list` to see all keys",
        )
    })
}

fn list(json: bool, config: Option<&Path>) -> Result<Exit> {
    let keys = match records::is_new(config)? {
        // Listing makes no store.
        true => Vec::new(),
        false => Store::open(&records::existing(config)?)?.list_keys()?,
    };
    let now = Timestamp::now();
    if json {
        let lines = keys.iter().map(|key| report::line(&as_json(key, now)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if keys.is_empty() {
        talk("no keys yet; create one with `callgate keys add NAME`\n");
        return Ok(Exit::Success);
    }
    let head = ["name", "org", "team", "user", "state", "made", "expires", "revoked"];
    let mut table = Listing::new(head).least(0, 12).whole(4);
    for key in &keys {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        table.row([
            key.name.clone(),
            text(&key.who.org),
            text(&key.who.team),
            text(&key.who.user),
            state(key, now),
            when::shown(key.created),
            key.expires.map(when::shown).unwrap_or_default(),
            key.revoked.map(when::shown).unwrap_or_default(),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

/// The state for people, who should see in time that a key is about to expire.
fn state(key: &KeyInfo, now: Timestamp) -> String {
    let left = key.expires.map(|expires| expires.duration_since(now));
    match (key.state(now), left) {
        (KeyState::Active, Some(left)) if left < SOON => format!("expires in {}", about(left)),
        (state, _) => state.as_str().to_owned(),
    }
}

/// From this time before its expiry on, a list shows how much time is left.
const SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// How long something is, in its largest unit.
fn about(left: SignedDuration) -> String {
    let units = [("day", 86_400), ("hour", 3_600), ("minute", 60)];
    let seconds = left.as_secs();
    let fit = units.into_iter().find(|(_, length)| seconds >= *length);
    match fit {
        Some((unit, length)) => count(usize::try_from(seconds / length).unwrap_or(0), unit),
        None => "less than a minute".to_owned(),
    }
}

fn as_json(key: &KeyInfo, now: Timestamp) -> Value {
    json!({
        "name": key.name,
        "org": key.who.org,
        "team": key.who.team,
        "user": key.who.user,
        "state": key.state(now).as_str(),
        "created": key.created.to_string(),
        "expires": key.expires.map(|time| time.to_string()),
        "revoked": key.revoked.map(|time| time.to_string()),
    })
}

/// The key that was made or changed, with its secret if it has a new one.
fn print_json(key: &KeyInfo, secret: Option<&KeySecret>) -> Result<Exit> {
    let mut line = as_json(key, Timestamp::now());
    if let (Value::Object(fields), Some(secret)) = (&mut line, secret) {
        fields.insert("key".to_owned(), json!(secret.expose()));
    }
    render::print(&report::line(&line)?)?;
    Ok(Exit::Success)
}

fn renew(args: &RenewKeyArgs, config: Option<&Path>) -> Result<Exit> {
    let term = match args.expires {
        None => KeyTerm::Same,
        Some(Expiry::Never) => KeyTerm::Forever,
        Some(Expiry::At(time)) => KeyTerm::Until(time),
    };
    let choice = if args.new_secret { SecretChoice::Replace } else { SecretChoice::Keep };
    let audit = Store::open(&records::existing(config)?)?;
    let RenewedKey { key, secret } = audit.renew_key(&args.name, term, choice, &operator())?;
    if args.json {
        return print_json(&key, secret.as_ref());
    }
    let name = printable(&key.name);
    match key.expires {
        Some(expires) => {
            talk(&format!("the key `{name}` is renewed: it expires on {}\n", when::shown(expires)));
        }
        None => talk(&format!("the key `{name}` is renewed: it does not expire\n")),
    }
    if let Some(secret) = secret {
        talk(
            "its new secret, shown only this once. A running gateway refuses the old one after about a second:\n",
        );
        render::print(&format!("{}\n", secret.expose()))?;
    }
    Ok(Exit::Success)
}

fn no_active_key(name: &str) -> anyhow::Error {
    let message = format!("there is no active key `{name}`");
    hinted(message, "run `callgate keys list` to see all keys")
}

fn revoke(name: &str, json: bool, config: Option<&Path>) -> Result<Exit> {
    if records::is_new(config)? {
        return Err(no_active_key(name));
    }
    let audit = Store::open(&records::existing(config)?)?;
    if !audit.revoke_key(name, &operator())? {
        return Err(no_active_key(name));
    }
    if json {
        return print_json(&find(&audit, name)?, None);
    }
    talk(&format!("the key `{}` is revoked\n", printable(name)));
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_said_in_its_largest_unit() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let table = [
            ("2026-03-10T12:00:00Z", "expired"),
            ("2026-03-10T12:00:30Z", "expires in less than a minute"),
            ("2026-03-10T13:30:00Z", "expires in 1 hour"),
            ("2026-03-15T12:00:00Z", "expires in 5 days"),
            ("2026-03-24T12:00:00Z", "active"),
        ];
        for (expires, expected) in table {
            let key = KeyInfo {
                name: "ci".into(),
                who: Principal::default(),
                created: Timestamp::UNIX_EPOCH,
                expires: Some(expires.parse().unwrap()),
                revoked: None,
            };
            assert_eq!(state(&key, now), expected, "{expires}");
        }
    }
}
