//! `callgate mcp calls`: calls of servers' tools, in models' answers and on their way.

use std::path::Path;

use anyhow::Result;
use callgate_audit::Kind;

use super::found::{self, find, subject};
use crate::args;
use crate::commands::calls::print_json;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, talk};
use crate::table::Listing;
use crate::when;

pub(super) fn run(args: &args::McpCalls, config: Option<&Path>) -> Result<Exit> {
    let kinds = match args.kinds.as_slice() {
        // The others are calls again: once more as what nobody had judged before.
        [] => vec![Kind::McpToolCallIntercepted, Kind::McpToolCalled],
        asked => asked.to_vec(),
    };
    let found = find(&args.filters, kinds, config, |_| true)?;
    if args.json {
        return print_json(&found);
    }
    if found.is_empty() {
        talk("no calls match\n");
        return Ok(Exit::Success);
    }
    let head = ["time", "verdict", "seen", "user", "server", "tool", "rule", "input", "id"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(2).whole(8).painted(1);
    for stored in &found {
        let (server, tool) = subject(stored);
        table.row([
            when::shown(stored.record.time),
            records::verdict(stored).to_owned(),
            seen(stored.record.kind).to_owned(),
            records::user(stored),
            server,
            tool,
            records::rule(stored),
            records::input(stored),
            records::id(stored),
        ]);
    }
    render::print(&table.text())?;
    found::tell_limit(&args.filters, found.len());
    Ok(Exit::Success)
}

/// Where the call was.
fn seen(kind: Kind) -> &'static str {
    match kind {
        Kind::McpToolCallIntercepted => "in an answer",
        Kind::UncorrelatedExecution => "uncorrelated",
        _ => "at the server",
    }
}
