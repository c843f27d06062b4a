//! Names that a server may treat as one of its tools, though it lists that tool under another name.
//!
//! Some servers, and programs in front of them, strip a namespace from a name, trim it or ignore
//! its case. A call of `x__delete_note` is then a call of `delete_note`, whatever the rules for
//! that tool. So a name that the server does not list, but that reads like one it lists, is judged
//! as both.

use callgate_call::{ToolCall, ToolName};
use callgate_registry::{ItemIdentity, ItemKind};
use callgate_scan::inspect::ReadAs;

use super::flows::{self, NextCall, ToolRole};
use super::session::McpSession;
use super::settings::McpSettings;
use crate::checks::CheckFailures;

/// A tool of the server that a name may refer to.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) tool: String,
    name: ToolName,
}

impl Alias {
    /// The same call with the name of this tool.
    pub(crate) fn call(&self, call: &ToolCall) -> ToolCall {
        ToolCall { name: self.name.clone(), ..call.clone() }
    }

    /// The beginning of a denial reason that applies because of this alias.
    pub(crate) fn reason(&self) -> String {
        format!("as `{}`, which its name could mean", self.tool)
    }
}

/// The note in the record of a call whose name may refer to these tools.
pub(crate) fn alias_note(aliases: &[Alias]) -> Option<String> {
    let named: Vec<String> = aliases.iter().map(|alias| format!("`{}`", alias.tool)).collect();
    let named = (!named.is_empty()).then(|| named.join(" and "))?;
    Some(format!("the server lists no tool with this name; the call was also judged as {named}"))
}

impl McpSession {
    /// The tools of the server that an unlisted name may refer to. A listed name has no aliases,
    /// and finding that out is cheap.
    pub(crate) fn aliases(&self, tool: &str) -> Vec<Alias> {
        let listing = self.listing.lock();
        if listing.shows(tool) {
            return Vec::new();
        }
        let is_whole = listing.is_whole();
        let mut known = listing.names();
        drop(listing);
        let cache = self.cache();
        // Without a list in this session, only earlier lists are known. A list too large to be
        // remembered counts as missing.
        let is_known = is_whole && !known.is_empty();
        let was_listed =
            cache.registry.get(&ItemIdentity::tool(self.server.as_str(), tool)).is_some();
        if !is_known && was_listed {
            return Vec::new();
        }
        let pins = cache.registry.pins();
        let tools = pins.filter(|pin| {
            pin.identity.kind == ItemKind::Tool && pin.identity.server == self.server
        });
        known.extend(tools.map(|pin| pin.identity.name.clone()));
        drop(cache);
        let read_as = ReadAs::of(tool);
        known.retain(|listed| listed != tool && read_as.holds(listed));
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort_unstable();
        let alias =
            |tool: String| Some(Alias { name: ToolName::on(&self.server, &tool).ok()?, tool });
        known.into_iter().filter_map(alias).collect()
    }

    /// Checks a tool that a name may refer to against lists, pins, findings and first owners. Also
    /// returns the tool's role.
    pub(crate) fn check_alias(
        &self,
        settings: &McpSettings,
        alias: &Alias,
        failures: &mut CheckFailures,
    ) -> ToolRole {
        let (server, tool) = (self.server.as_str(), alias.tool.as_str());
        let mut cache = self.cache();
        let known = self.known_tool(&mut cache, tool);
        let owner = cache.first_owner(server, tool);
        drop(cache);
        self.check_tool(settings, tool, known.as_ref(), failures);
        let role = self.role(settings, tool, known.as_ref());
        let next = NextCall { at: 0, server, tool, role, first_owner: owner.as_deref() };
        failures.add(flows::take_over(&settings.flows, &[], next));
        role
    }
}
