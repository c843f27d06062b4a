//! `callgate events`: the records of everything but calls.

use std::path::Path;

use anyhow::Result;
use callgate_audit::{Filter, Record, RecordKind};

use crate::args;
use crate::commands::calls::print_json;
use crate::exit::Exit;
use crate::records::{self, DEFAULT_LIMIT};
use crate::render::{self, talk};
use crate::table::Listing;

pub(crate) fn run(args: &args::EventsArgs, config: Option<&Path>) -> Result<Exit> {
    let limit = args.filters.part.limit.unwrap_or(DEFAULT_LIMIT);
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
    let fit = args.wide.fit();
    let head = ["record", "time", "type", "user", "tool", "what", "id"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(2).least(5, 24).fit(fit);
    for stored in &found {
        let what = match &stored.record.guardrail {
            Some(found) => format!("{} {}", found.action, records::why(stored)),
            None if is_answer(stored.record.kind) => answer(&stored.record),
            None => records::why(stored),
        };
        table.row([
            records::number(stored),
            records::time(stored, fit),
            stored.record.kind.as_str().to_owned(),
            records::user(stored),
            records::tool(stored),
            what,
            records::id(stored, fit),
        ]);
    }
    render::print(&table.text())?;
    Ok(Exit::Success)
}

/// A response in a few words: its model, its number of calls, its tokens and why it ended.
pub(crate) fn answer(record: &Record) -> String {
    let calls = record.calls.map(|calls| match calls {
        1 => "1 call".to_owned(),
        calls => format!("{calls} calls"),
    });
    let tokens = match (record.tokens.input, record.tokens.output) {
        (None, None) => None,
        (read, written) => {
            let shown = |tokens: Option<u64>| tokens.map_or("?".to_owned(), |n| n.to_string());
            Some(format!("{} tokens in, {} out", shown(read), shown(written)))
        }
    };
    let ended = record.stop_reason.as_ref().map(|reason| format!("ended with {reason}"));
    let detail = record.detail.as_deref().and_then(|detail| detail.lines().next());
    let parts = [record.model.clone(), calls, tokens, ended, detail.map(str::to_owned)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "a response".to_owned() } else { parts.join("; ") }
}

fn is_answer(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::Turn | RecordKind::Continued)
}

/// All but calls, which have their own command, and turns, of which there are as many.
fn events() -> Vec<RecordKind> {
    RecordKind::ALL
        .iter()
        .copied()
        .filter(|kind| !kind.is_call() && *kind != RecordKind::Turn)
        .collect()
}
