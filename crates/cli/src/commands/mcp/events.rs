//! `callgate mcp events`: what else was recorded of servers.

use std::path::Path;

use anyhow::Result;
use callgate_audit::StoredRecord;

use super::found::{self, find, subject};
use crate::args;
use crate::commands::calls::print_json;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, talk};
use crate::table::Listing;

pub(super) fn run(args: &args::McpEventsArgs, config: Option<&Path>) -> Result<Exit> {
    let kinds = match args.kinds.as_slice() {
        [] => args::MCP_EVENTS.to_vec(),
        asked => asked.to_vec(),
    };
    let found = find(&args.filters, kinds, config, found::concerns_server)?;
    if args.json {
        return print_json(&found);
    }
    if found.is_empty() {
        talk("no events of MCP servers match; run `callgate events` for all other events\n");
        return Ok(Exit::Success);
    }
    let fit = args.wide.fit();
    let head = ["record", "time", "type", "verdict", "user", "server", "tool", "what", "id"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(3).least(7, 16).painted(3).fit(fit);
    for stored in &found {
        let (server, tool) = subject(stored);
        table.row([
            records::number(stored),
            records::time(stored, fit),
            stored.record.kind.as_str().to_owned(),
            records::verdict(stored).to_owned(),
            records::user(stored),
            server,
            tool,
            what(stored),
            records::id(stored, fit),
        ]);
    }
    render::print(&table.text())?;
    found::note_limit(&args.filters, found.len());
    Ok(Exit::Success)
}

/// What happened; why it was stopped, if it was.
fn what(stored: &StoredRecord) -> String {
    let detail = stored.record.detail.as_deref().and_then(|text| text.lines().next());
    match detail {
        Some(detail) if !found::is_denied(stored) => detail.to_owned(),
        _ => records::why(stored),
    }
}
