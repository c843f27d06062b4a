//! `callgate mcp pins reset`.

use std::path::Path;

use anyhow::Result;
use callgate_decide::mcp::{load_registry, pin_of};
use callgate_registry::Pin;

use super::super::store;
use super::{change, unknown};
use crate::args::DefinitionArgs;
use crate::exit::Exit;
use crate::render::{self, printable};

pub(super) fn run(server: &str, pick: &DefinitionArgs, config: Option<&Path>) -> Result<Exit> {
    let (settings, _) = callgate_config::mcp_settings(config)?;
    let audit = store::audit(config)?;
    let registry = load_registry(&audit)?;
    let pins: Vec<Pin> =
        registry.of_server(server).filter(|pin| pick.fits(&pin.identity)).cloned().collect();
    let mut text = String::new();
    for pin in &pins {
        let identity = &pin.identity;
        // It may have changed since; the record holds what is forgotten now.
        let forgotten =
            |stored| change("reset", &pin_of(stored).unwrap_or_else(|| pin.clone()), None);
        let kind = identity.kind.as_str();
        if audit.remove_pin_recorded(&identity.server, kind, &identity.name, forgotten)? {
            text.push_str(&format!("forgot `{}`\n", printable(&identity.to_string())));
        }
    }
    if text.is_empty() {
        return Err(unknown(pick, server));
    }
    text.push_str(match settings.pins.auto_trust_first {
        true => "the next definition is trusted automatically\n",
        false => "the next definition waits for `callgate mcp pins trust`\n",
    });
    render::print(&text)?;
    Ok(Exit::Success)
}
