//! `callgate mcp pins trust`.

use std::path::Path;

use anyhow::Result;
use callgate_audit::Record;
use callgate_decide::mcp::{load_registry, stored_pin};
use callgate_registry::{Pin, PinHash};
use callgate_store::PutPin;

use super::super::store;
use super::{change, flags, unknown};
use crate::args::DefinitionArgs;
use crate::exit::Exit;
use crate::render::{self, count, hinted, printable};

pub(super) fn run(
    server: &str,
    pick: &DefinitionArgs,
    hash: Option<&str>,
    config: Option<&Path>,
) -> Result<Exit> {
    let audit = store::audit(config)?;
    let registry = load_registry(&audit)?;
    let pins: Vec<Pin> =
        registry.of_server(server).filter(|pin| pick.fits(&pin.identity)).cloned().collect();
    if pins.is_empty() {
        return Err(unknown(pick, server));
    }
    let mut changed = Vec::new();
    for before in pins {
        let expected = hash.map(|hash| expected(&before, hash)).transpose()?;
        let mut pin = before.clone();
        if pin.trust(expected.as_ref())? {
            let record = change("trust", &before, Some(&pin));
            changed.push((pin, record));
        }
    }
    if changed.is_empty() {
        render::print(&format!(
            "nothing to do: `{}` is trusted\n",
            printable(&pick.shown_name(server))
        ))?;
        return Ok(Exit::Success);
    }
    let (pins, records): (Vec<Pin>, Vec<Record>) = changed.into_iter().unzip();
    let put = audit.put_pins_recorded(pins.iter().map(stored_pin).zip(records).collect())?;
    let (mut text, mut moved) = (String::new(), Vec::new());
    for (pin, put) in pins.iter().zip(put) {
        let (identity, hash) = (printable(&pin.identity.to_string()), pin.version.hash.short());
        match put {
            PutPin::Stored(_) => {
                text.push_str(&format!("trusted `{identity}` as {hash}\n"));
            }
            PutPin::Stale(_) => moved.push(identity),
        }
    }
    if !text.is_empty() {
        text.push_str("it can be listed and called from the next request on; a client may have to list its tools again\n");
    }
    render::print(&text)?;
    match moved.as_slice() {
        [] => Ok(Exit::Success),
        moved => Err(hinted(
            format!(
                "{} changed while this ran, and nothing was trusted there: {}",
                count(moved.len(), "definition"),
                moved.join(", ")
            ),
            "review them again with `callgate mcp pins diff`",
        )),
    }
}

/// The fewest digits of a hash that are taken for it: what `diff` and `list` show.
const SHORTEST: usize = 12;

/// The full hash for the given one, if it is the current hash.
fn expected(pin: &Pin, given: &str) -> Result<PinHash> {
    let found = &pin.seen().hash;
    let digits = |hash: &str| hash.trim().trim_start_matches(PinHash::VERSION).to_ascii_lowercase();
    let (given_digits, all) = (digits(given), digits(found.as_str()));
    if given_digits.len() < SHORTEST {
        return Err(hinted(
            format!("`{given}` is too short for the hash of a definition"),
            "give the hash as `callgate mcp pins diff` shows it",
        ));
    }
    if all.starts_with(&given_digits) {
        return Ok(found.clone());
    }
    let (identity, short) = (&pin.identity, found.short());
    Err(hinted(
        format!(
            "`{identity}` no longer has the hash {given}: it is now {short}; nothing was trusted"
        ),
        format!("review it again with `callgate mcp pins diff {}`", flags(identity)),
    ))
}
