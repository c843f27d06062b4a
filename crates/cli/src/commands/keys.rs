//! `callgate keys`: who may use a gateway that others can reach.

use std::path::Path;

use anyhow::{Result, bail};
use callgate_audit::{Audit, KeyInfo, Location};
use callgate_call::Who;
use serde_json::json;

use crate::args::Keys;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, hinted, printable, talk};
use crate::report;
use crate::table::Listing;
use crate::when;

pub(crate) fn run(args: &Keys, config: Option<&Path>) -> Result<Exit> {
    match args {
        Keys::Add { name, org, team, user } => {
            let who = Who { org: org.clone(), team: team.clone(), user: user.clone(), key: None };
            add(name, &who, config)
        }
        Keys::List { json } => list(*json, config),
        Keys::Revoke { name } => revoke(name, config),
    }
}

fn add(name: &str, who: &Who, config: Option<&Path>) -> Result<Exit> {
    let settings = callgate_config::audit_settings(config)?;
    if settings.store == Location::Memory {
        bail!(hinted(
            "a key in a store in memory is gone at once".to_owned(),
            "set `store: sqlite:PATH` in the config"
        ));
    }
    let key = Audit::open(&settings)?.add_key(name, who)?;
    talk(&format!(
        "the key `{}`, shown this once; clients send it in the header x-callgate-key:\n",
        printable(name)
    ));
    render::print(&format!("{}\n", key.expose()))?;
    Ok(Exit::Success)
}

fn list(json: bool, config: Option<&Path>) -> Result<Exit> {
    let keys = match records::is_new(config)? {
        // Listing makes no store.
        true => Vec::new(),
        false => Audit::open(&records::existing(config)?)?.list_keys()?,
    };
    if json {
        let lines = keys.iter().map(|key| report::line(&as_json(key)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if keys.is_empty() {
        talk("no keys yet; `callgate keys add NAME` makes one\n");
        return Ok(Exit::Success);
    }
    let mut table = Listing::new(["name", "org", "team", "user", "made", "revoked"]).whole(0);
    for key in &keys {
        let said = |field: &Option<String>| field.clone().unwrap_or_default();
        table.row([
            key.name.clone(),
            said(&key.who.org),
            said(&key.who.team),
            said(&key.who.user),
            when::shown(key.created),
            key.revoked.map(when::shown).unwrap_or_default(),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

fn as_json(key: &KeyInfo) -> serde_json::Value {
    json!({
        "name": key.name,
        "org": key.who.org,
        "team": key.who.team,
        "user": key.who.user,
        "created": key.created.to_string(),
        "revoked": key.revoked.map(|time| time.to_string()),
    })
}

fn revoke(name: &str, config: Option<&Path>) -> Result<Exit> {
    if Audit::open(&records::existing(config)?)?.revoke_key(name)? {
        talk(&format!("the key `{}` is revoked\n", printable(name)));
        return Ok(Exit::Success);
    }
    let message = format!("there is no key `{name}` in force");
    Err(hinted(message, "`callgate keys list` shows them all"))
}
