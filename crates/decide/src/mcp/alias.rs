//! Names that a server may take for one of its tools though it lists them differently.
//!
//! Some servers, and programs before them, take a namespace off a name, trim it or ignore its case. A
//! call of `x__delete_note` is then one of `delete_note`, whatever rules say of that. So a name that
//! the server does not list, and that reads as one that it does, is judged as both.

use callgate_call::{ToolCall, ToolName};
use callgate_registry::{ItemIdentity, ItemKind};
use callgate_scan::inspect::ReadAs;

use super::check::Objections;
use super::flows::{self, Next, Role};
use super::session::McpSession;
use super::settings::McpSettings;

/// A tool of the server that a name may be read as.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub(crate) tool: String,
    name: ToolName,
}

impl Alias {
    /// The call under this name.
    pub(crate) fn call(&self, call: &ToolCall) -> ToolCall {
        ToolCall { name: self.name.clone(), ..call.clone() }
    }

    /// How a reason begins that comes of it.
    pub(crate) fn reason(&self) -> String {
        format!("as `{}`, which its name may be read as", self.tool)
    }
}

/// What the record says of a call under a name that may mean these.
pub(crate) fn told(aliases: &[Alias]) -> Option<String> {
    let named: Vec<String> = aliases.iter().map(|alias| format!("`{}`", alias.tool)).collect();
    let named = (!named.is_empty()).then(|| named.join(" and "))?;
    Some(format!("the server lists no tool of this name; it was judged as {named} as well"))
}

impl McpSession {
    /// The tools of the server that a name may be read as, if it is none of them: one that the server
    /// lists is that one, and costs no more than to find it.
    pub(crate) fn aliases(&self, tool: &str) -> Vec<Alias> {
        let listing = self.listing.lock();
        if listing.shows(tool) {
            return Vec::new();
        }
        let is_whole = listing.is_whole();
        let mut known = listing.names();
        drop(listing);
        let books = self.known_books();
        // Without a list of this conversation, what was listed before is all that is known. One that is
        // too large to be remembered is none.
        let is_known = is_whole && !known.is_empty();
        let was_listed =
            books.registry.get(&ItemIdentity::tool(self.server.as_str(), tool)).is_some();
        if !is_known && was_listed {
            return Vec::new();
        }
        let pins = books.registry.pins();
        let tools = pins.filter(|pin| {
            pin.identity.kind == ItemKind::Tool && pin.identity.server == self.server
        });
        known.extend(tools.map(|pin| pin.identity.name.clone()));
        drop(books);
        let read_as = ReadAs::of(tool);
        known.retain(|listed| listed != tool && read_as.holds(listed));
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort_unstable();
        let alias =
            |tool: String| Some(Alias { name: ToolName::on(&self.server, &tool).ok()?, tool });
        known.into_iter().filter_map(alias).collect()
    }

    /// What lists, pins and findings have against a tool that a name may be read as, and who had its
    /// name first; and what it does.
    pub(crate) fn check_alias(
        &self,
        settings: &McpSettings,
        alias: &Alias,
        objections: &mut Objections,
    ) -> Role {
        let (server, tool) = (self.server.as_str(), alias.tool.as_str());
        let mut books = self.known_books();
        let known = self.known_tool(&mut books, tool);
        let owner = books.first_owner(server, tool);
        drop(books);
        self.check_tool(settings, tool, known.as_ref(), objections);
        let role = self.role(settings, tool, known.as_ref());
        let next = Next { at: 0, server, tool, role, first_owner: owner.as_deref() };
        objections.add(flows::take_over(&settings.flows, &[], next));
        role
    }
}
