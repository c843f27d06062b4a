//! `callgate mcp pins list`.

use std::path::Path;

use anyhow::Result;
use callgate_registry::{ItemKind, Pin, PinState, PinStatus};
use serde_json::{Value, json};

use super::super::store;
use crate::args::PinsListArgs;
use crate::exit::Exit;
use crate::render::{self, talk};
use crate::report;
use crate::table::Listing;

pub(super) fn run(args: &PinsListArgs, config: Option<&Path>) -> Result<Exit> {
    let mut pins = store::pins(config)?;
    pins.retain(|pin| {
        store::fits(args.server.as_deref(), &pin.identity.server)
            && args.pick.fits(&pin.identity)
            && args.state.is_none_or(|state| pin.status() == state)
    });
    if args.json {
        let lines = pins.iter().map(|pin| report::line(&as_json(pin)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if pins.is_empty() {
        talk("no pins match\n");
        return Ok(Exit::Success);
    }
    let head = ["server", "kind", "name", "state", "hash", "first seen", "last seen", "from"];
    let mut table = Listing::new(head).least(2, 16).whole(3).whole(4).fit(args.wide.fit());
    for pin in &pins {
        table.row([
            pin.identity.server.clone(),
            pin.identity.kind.as_str().to_owned(),
            pin.identity.name.clone(),
            pin.status().to_string(),
            pin.seen().hash.short().to_owned(),
            store::shown(pin.first_seen),
            store::shown(pin.last_seen),
            pin.seen().launch.shown().to_owned(),
        ]);
    }
    render::print(&table.text())?;
    note_waiting(&pins);
    Ok(Exit::Success)
}

/// Points out definitions that wait for approval.
fn note_waiting(pins: &[Pin]) {
    let waiting = pins.iter().filter(|pin| pin.status() != PinStatus::Trusted).count();
    if waiting > 0 {
        let them = if waiting == 1 {
            "1 definition is waiting"
        } else {
            &format!("{waiting} definitions are waiting")
        };
        talk(&format!("{them} for approval: run `callgate mcp pins diff` to see what is new\n"));
    }
}

fn as_json(pin: &Pin) -> Value {
    let seen = match &pin.state {
        PinState::Changed(seen) => Some(seen),
        PinState::Trusted | PinState::Quarantined => None,
    };
    json!({
        "server": pin.identity.server,
        "kind": pin.identity.kind.as_str(),
        "name": Some(&pin.identity.name).filter(|_| pin.identity.kind != ItemKind::Instructions),
        "state": pin.status().as_str(),
        "hash": pin.version.hash.as_str(),
        "seen_hash": seen.map(|seen| seen.hash.as_str()),
        "from": pin.version.launch.shown(),
        "seen_from": seen.map(|seen| seen.launch.shown()),
        "first_seen": store::exact(pin.first_seen),
        "last_seen": store::exact(pin.last_seen),
    })
}
