//! `callgate events`: what happened beside calls.

use std::path::Path;

use anyhow::Result;
use callgate_audit::{Filter, Kind};

use crate::args;
use crate::commands::calls::print_json;
use crate::exit::Exit;
use crate::records::{self, DEFAULT_LIMIT};
use crate::render::{self, talk};
use crate::table::Listing;
use crate::when;

pub(crate) fn run(args: &args::Events, config: Option<&Path>) -> Result<Exit> {
    let limit = args.filters.limit.unwrap_or(DEFAULT_LIMIT);
    let kinds = if args.kinds.is_empty() { events() } else { args.kinds.clone() };
    let filter = Filter { kinds, limit: Some(limit), ..args.filters.query() };
    let found = records::reader(config)?.records(&filter)?;
    if args.json {
        return print_json(&found);
    }
    if found.is_empty() {
        talk("no events match\n");
        return Ok(Exit::Success);
    }
    let mut table = Listing::new(["time", "kind", "tool", "what", "id"]).whole(0).whole(1).whole(4);
    for stored in &found {
        let what = match &stored.record.guardrail {
            Some(found) => format!("{} {}", found.action, records::why(stored)),
            None => records::why(stored),
        };
        table.row([
            when::shown(stored.record.time),
            stored.record.kind.as_str().to_owned(),
            records::tool(stored),
            what,
            records::id(stored),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

/// Neither calls, which have a command of their own, nor turns, of which there are as many.
fn events() -> Vec<Kind> {
    Kind::ALL.iter().copied().filter(|kind| !kind.is_call() && *kind != Kind::Turn).collect()
}
