//! `callgate mcp pins reset`.

use std::path::Path;

use anyhow::Result;
use callgate_decide::mcp::load_registry;
use callgate_registry::{Pin, State};

use super::super::store;
use super::{record, unknown};
use crate::args::Pick;
use crate::exit::Exit;
use crate::render::{self, printable};

pub(super) fn run(server: &str, pick: &Pick, config: Option<&Path>) -> Result<Exit> {
    let (settings, _) = callgate_config::mcp_settings(config)?;
    let audit = store::audit(config)?;
    let registry = load_registry(&audit)?;
    let pins: Vec<Pin> =
        registry.of_server(server).filter(|pin| pick.fits(&pin.identity)).cloned().collect();
    let mut text = String::new();
    for pin in &pins {
        let identity = &pin.identity;
        if audit.remove_pin(&identity.server, identity.kind.as_str(), &identity.name)? {
            record(&audit, pin, State::Unseen, "a person had it forgotten")?;
            text.push_str(&format!("forgot `{}`\n", printable(&identity.to_string())));
        }
    }
    if text.is_empty() {
        return Err(unknown(pick, server));
    }
    text.push_str(match settings.pins.auto_trust_first {
        true => "the next definition that is seen is trusted\n",
        false => "the next definition that is seen waits for `callgate mcp pins trust`\n",
    });
    render::print(&text)?;
    Ok(Exit::Success)
}
