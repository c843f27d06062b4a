//! `callgate mcp calls`: calls of servers' tools, in models' answers and on their way.

use std::path::Path;

use anyhow::Result;
use callgate_audit::RecordKind;

use super::found::{self, find};
use crate::args;
use crate::commands::calls::print_json;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, talk};
use crate::table::{Fit, Listing};

pub(super) fn run(args: &args::McpCallsArgs, config: Option<&Path>) -> Result<Exit> {
    let kinds = match args.kinds.as_slice() {
        // Records of the other types repeat these calls.
        [] => vec![RecordKind::McpToolCallIntercepted, RecordKind::McpToolCalled],
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
    let fit = args.wide.fit();
    let head = ["record", "time", "verdict", "seen", "user", "rule", "id", "call", "input"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(2).least(7, 24).painted(2).fit(fit);
    for stored in &found {
        let input = match fit {
            Fit::Terminal => String::new(),
            Fit::Whole => records::input(stored),
        };
        table.row([
            records::number(stored),
            records::time(stored, fit),
            records::verdict(stored).to_owned(),
            seen(stored.record.kind).to_owned(),
            records::user(stored),
            records::rule_or_rewrite(stored),
            records::id(stored, fit),
            records::call(stored),
            input,
        ]);
    }
    render::print(&table.text())?;
    found::note_limit(&args.filters, found.len());
    Ok(Exit::Success)
}

/// Where the call was seen: in a model's response, or on its way to the server.
fn seen(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::McpToolCallIntercepted => "response",
        RecordKind::UncorrelatedExecution => "uncorrelated",
        _ => "server",
    }
}
