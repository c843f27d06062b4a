//! Records of servers, by the filters of `callgate mcp`.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use callgate_audit::{CallOutcome, Filter, RecordKind, StoredRecord};

use super::store;
use crate::args::{self, McpFilterArgs};
use crate::records::DEFAULT_LIMIT;
use crate::render::talk;

/// The newest records of these kinds that fit, and that `keep` wants.
pub(super) fn find(
    filters: &McpFilterArgs,
    kinds: Vec<RecordKind>,
    config: Option<&Path>,
    keep: impl Fn(&StoredRecord) -> bool,
) -> Result<Vec<StoredRecord>> {
    let limit = filters.part.limit.unwrap_or(DEFAULT_LIMIT);
    let filter = Filter {
        kinds,
        session: filters.session.clone(),
        server: filters.server.clone(),
        tool: filters.tool.clone(),
        provider: filters.by.provider.clone(),
        who: filters.by.who(),
        since: filters.part.since,
        until: filters.part.until,
        ..Filter::default()
    };
    let mut found = Vec::new();
    if limit == 0 {
        return Ok(found);
    }
    store::reader(config)?.for_each(&filter, |stored| {
        if has_verdict(filters.verdict, &stored) && keep(&stored) {
            found.push(stored);
        }
        let enough = found.len() >= limit;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(found)
}

/// Points out that there may be more, unless the user chose how many to list.
pub(super) fn note_limit(filters: &McpFilterArgs, shown: usize) {
    if filters.part.limit.is_none() && shown == DEFAULT_LIMIT {
        talk(&format!("the newest {shown}; use `--limit` for more\n"));
    }
}

fn has_verdict(wanted: Option<args::Passed>, stored: &StoredRecord) -> bool {
    wanted.is_none_or(|wanted| (wanted == args::Passed::Deny) == is_denied(stored))
}

/// Whether it was stopped.
pub(super) fn is_denied(stored: &StoredRecord) -> bool {
    let text = stored.record.guardrail.as_ref();
    stored.record.verdict.as_ref().is_some_and(|verdict| verdict.action == CallOutcome::Deny)
        || text.is_some_and(|found| found.action == "block")
}

/// Whether it is about an MCP server: the gateway writes records of the same types.
pub(super) fn concerns_server(stored: &StoredRecord) -> bool {
    let record = &stored.record;
    let server = record.tool.as_ref().and_then(|tool| tool.server.as_ref());
    record.mcp.is_some() || server.is_some()
}

/// Which server, and what of it.
pub(super) fn subject(stored: &StoredRecord) -> (String, String) {
    let tool = stored.record.tool.as_ref();
    let server = tool.and_then(|tool| tool.server.clone()).unwrap_or_default();
    (server, tool.map(|tool| tool.name.clone()).unwrap_or_default())
}
