//! `callgate calls`: the recorded tool calls with their verdicts.

mod mark;
mod story;

use std::path::Path;

use anyhow::Result;
use callgate_audit::{Filter, RecordKind, StoredRecord};

use crate::args::{self, CallsCommand};
use crate::exit::Exit;
use crate::marks::{CallMarks, rule_with_mark};
use crate::records::{self, DEFAULT_LIMIT};
use crate::render::{self, printable, talk};
use crate::report;
use crate::table::{Fit, Listing};
use crate::when;

pub(crate) fn run(args: &args::CallsArgs, config: Option<&Path>) -> Result<Exit> {
    match &args.command {
        Some(CallsCommand::Show { id, json }) => show(id, *json, config),
        Some(CallsCommand::Mark(args)) => mark::run(args, config),
        None => list(args, config),
    }
}

fn list(args: &args::CallsArgs, config: Option<&Path>) -> Result<Exit> {
    let limit = args.filters.part.limit.unwrap_or(DEFAULT_LIMIT);
    let kinds = RecordKind::ALL.iter().copied().filter(|kind| kind.is_call()).collect();
    let mut filter = Filter { kinds, limit: Some(limit), ..args.filters.query() };
    if let Some(request) = &args.request {
        filter = records::of_request(request, filter);
    }
    let reader = records::reader(config)?;
    let marks = CallMarks::of(&reader)?;
    let found = match args.marked {
        Some(opinion) => marks.calls(&reader, &filter, Some(opinion))?,
        None => reader.records(&filter)?,
    };
    if args.json {
        let lines = found.iter().map(|stored| report::line(&marks.json(stored)));
        render::print(&lines.collect::<Result<String, _>>()?)?;
        return Ok(Exit::Success);
    }
    if found.is_empty() {
        talk("no calls match\n");
        return Ok(Exit::Success);
    }
    let table = match args.wide.fit() {
        Fit::Terminal => short_table(&found, &marks),
        Fit::Whole => wide_table(&found, &marks),
    };
    render::print(&table.text())?;
    if args.filters.part.limit.is_none() && found.len() == limit {
        talk(&format!("the newest {limit}; use `--limit` for more\n"));
    }
    Ok(Exit::Success)
}

/// What fits into 80 columns and can still be read there.
fn short_table(found: &[StoredRecord], marks: &CallMarks) -> Listing {
    let head = ["record", "time", "verdict", "user", "rule", "call"];
    let mut table = Listing::new(head).whole(0).whole(1).whole(2).least(5, 30).painted(2);
    for stored in found {
        table.row([
            records::number(stored),
            records::time(stored, Fit::Terminal),
            records::verdict(stored).to_owned(),
            records::user(stored),
            rule_with_mark(stored, marks),
            records::call(stored),
        ]);
    }
    table
}

fn wide_table(found: &[StoredRecord], marks: &CallMarks) -> Listing {
    let head = ["record", "time", "verdict", "user", "rule", "model", "id", "tool", "input"];
    let mut table = Listing::new(head).painted(2).fit(Fit::Whole);
    for stored in found {
        table.row([
            records::number(stored),
            records::time(stored, Fit::Whole),
            records::verdict(stored).to_owned(),
            records::user(stored),
            rule_with_mark(stored, marks),
            stored.record.model.clone().unwrap_or_default(),
            stored.record.id.to_string(),
            records::tool(stored),
            records::input(stored),
        ]);
    }
    table
}

/// One JSON object a line.
pub(crate) fn print_json(found: &[StoredRecord]) -> Result<Exit> {
    let lines = found.iter().map(|stored| report::line(&stored.to_json()));
    render::print(&lines.collect::<Result<String, _>>()?)?;
    Ok(Exit::Success)
}

fn show(id: &str, json: bool, config: Option<&Path>) -> Result<Exit> {
    let reader = records::reader(config)?;
    let stored = records::find(&reader, id)?;
    let marks = CallMarks::of(&reader)?;
    if json {
        render::print(&report::line(&marks.json(&stored))?)?;
    } else {
        render::print(&described(&stored))?;
        if let Some(mark) = marks.described(&stored) {
            render::print(&format!("marked   {}\n", printable(&mark)))?;
        }
        render::print(&story::text(&reader, &stored)?)?;
    }
    Ok(Exit::Success)
}

/// Everything that is known, one line each; what is not known is left out.
pub(crate) fn described(stored: &StoredRecord) -> String {
    let record = &stored.record;
    let mut rows = LabelledLines::default();
    rows.add("record", Some(stored.seq));
    rows.add("id", Some(record.id));
    rows.add("time", Some(when::shown_exactly(record.time)));
    rows.add("type", Some(record.kind.as_str()));
    rows.add("surface", record.surface.map(|surface| surface.as_str()));
    let tool = record.tool.as_ref();
    rows.add("tool", tool.map(|tool| &tool.name));
    rows.add("server", tool.and_then(|tool| tool.server.as_ref()));
    rows.add("call", tool.map(|tool| &tool.call_id).filter(|id| !id.is_empty()));
    rows.add("rpc id", tool.and_then(|tool| tool.rpc_id.as_ref()));
    let caller = tool.and_then(|tool| tool.caller.as_ref());
    let caller = caller.map(|it| format!("{} {}", it.kind, it.id.as_deref().unwrap_or_default()));
    rows.add("caller", caller.map(|caller| caller.trim_end().to_owned()));
    rows.add("input", tool.and_then(|tool| tool.input.as_ref()));
    let proof = stored.input.as_ref().filter(|proof| proof.truncated);
    let truncated = proof.map(|proof| match proof.bytes {
        Some(bytes) => format!("(truncated; the whole input is {bytes} bytes)"),
        None => "(truncated; the whole input is larger than `limits.arguments`)".to_owned(),
    });
    rows.add("", truncated);
    verdict_rows(&mut rows, stored);
    let found = record.guardrail.as_ref();
    rows.add("text", found.map(|it| format!("{}: {} in the {}", it.action, it.kind, it.direction)));
    rows.add("detail", record.detail.as_ref());
    policy_rows(&mut rows, stored);
    rows.add("change", record.change.as_ref().map(|_| records::why(stored)));
    origin_rows(&mut rows, stored);
    mcp_rows(&mut rows, stored);
    who_rows(&mut rows, stored);
    rows.add("provider", record.provider.as_ref());
    rows.add("dialect", record.dialect.as_ref());
    rows.add("model", record.model.as_ref());
    rows.add("request", record.request.as_ref());
    rows.add("stopped", record.stop_reason.as_ref());
    rows.add("calls", record.calls);
    let tokens = &record.tokens;
    let count = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    if tokens.input.is_some() || tokens.output.is_some() {
        let part =
            |n: Option<u64>, what: &str| n.map_or(String::new(), |n| format!(" ({n} {what})"));
        let text = format!(
            "{} in{}, {} out{}",
            count(tokens.input),
            part(tokens.cached, "from a cache"),
            count(tokens.output),
            part(tokens.reasoning, "thinking")
        );
        rows.add("tokens", Some(text));
    }
    rows.add("judged", record.timing.judged_us.map(|us| format!("{us} µs")));
    rows.add("waited", record.timing.waited_ms.map(|ms| format!("{ms} ms")));
    rows.add("took", record.timing.total_ms.map(|ms| format!("{ms} ms")));

    rows.add("hash", Some(&stored.hash));
    rows.add("previous", Some(&stored.prev_hash));
    rows.0
}

fn verdict_rows(rows: &mut LabelledLines, stored: &StoredRecord) {
    let Some(verdict) = &stored.record.verdict else { return };
    rows.add("verdict", Some(verdict.action.as_str()));
    rows.add("rule", Some(records::rule(stored)).filter(|rule| !rule.is_empty()));
    rows.add("code", verdict.code.map(|code| code.as_str()));
    rows.add("reason", verdict.reason.as_ref());
    rows.add("hint", verdict.hint.as_ref());
    let replaced = Some(verdict.replaced.join(", ")).filter(|kinds| !kinds.is_empty());
    rows.add("replaced", replaced);
    let matched = verdict.matched.iter().map(|it| format!("{}/{}", it.policy, it.rule));
    let matched = matched.collect::<Vec<_>>().join(", ");
    rows.add("matched", Some(matched).filter(|matched| !matched.is_empty()));
    rows.add("policies", verdict.policy_digest.as_ref());
    let others =
        [("shadow", &verdict.shadows), ("audit", &verdict.audits), ("rewrote", &verdict.sanitized)];
    for (label, hits) in others {
        for hit in hits {
            let rule = render::rule_name(Some(&hit.policy), hit.rule.as_deref());
            rows.add(label, Some(format!("{rule}  {}", hit.reason)));
        }
    }
}

fn policy_rows(rows: &mut LabelledLines, stored: &StoredRecord) {
    let Some(facts) = &stored.record.policies else { return };
    rows.add("policies", facts.digest.as_ref());
    rows.add("before", facts.before.as_ref());
    for file in &facts.files {
        let owner = file.owner.as_ref().map(|owner| format!(", of {owner}")).unwrap_or_default();
        let modified = file.modified.map(|time| format!(", of {}", when::shown(time)));
        rows.add("file", Some(format!("{}{owner}{}", file.path, modified.unwrap_or_default())));
    }
    let lists = [
        ("added", &facts.added),
        ("removed", &facts.removed),
        ("changed", &facts.changed),
        ("weaker", &facts.weakened),
    ];
    for (label, names) in lists {
        names.iter().for_each(|name| rows.add(label, Some(name)));
    }
}

fn mcp_rows(rows: &mut LabelledLines, stored: &StoredRecord) {
    let hash = stored.record.tool.as_ref().and_then(|tool| tool.definition_hash.as_ref());
    rows.add("defined", hash);
    let Some(facts) = &stored.record.mcp else { return };
    rows.add("pin", facts.pin.as_ref());
    rows.add("type", facts.server_type.as_ref());
    rows.add("address", facts.address.as_ref());
    rows.add("place", facts.place.as_ref());
    rows.add("joined", facts.joined);
    for earlier in &facts.earlier {
        rows.add("earlier", Some(earlier));
    }
    for found in &facts.findings {
        let place =
            if found.path.is_empty() { String::new() } else { format!(" at {}", found.path) };
        let (class, severity, detail) = (&found.class, &found.severity, &found.detail);
        rows.add("found", Some(format!("{class} ({severity}){place}: {detail}")));
    }
}

fn origin_rows(rows: &mut LabelledLines, stored: &StoredRecord) {
    for origin in &stored.record.origins {
        let found = match origin.only_tool_result {
            Some(true) => "came only from a tool result",
            Some(false) => "did not come only from a tool result",
            None => "it is unknown where it came from",
        };
        rows.add("origin", Some(format!("{}: {found}", origin.arg)));
    }
}

fn who_rows(rows: &mut LabelledLines, stored: &StoredRecord) {
    let who = &stored.record.who;
    rows.add("org", who.org.as_ref());
    rows.add("team", who.team.as_ref());
    rows.add("user", who.user.as_ref());
    rows.add("key", who.key.as_ref());
    let claimed = if who.agent_proven { "" } else { " (claimed)" };
    rows.add("agent", who.agent.as_ref().map(|agent| format!("{agent}{claimed}")));
    rows.add("session", who.session.as_ref());
    rows.add("folder", stored.record.cwd.as_ref());
    rows.add("home", stored.record.home.as_ref());
}

/// Labelled lines.
#[derive(Debug, Default)]
struct LabelledLines(String);

impl LabelledLines {
    fn add(&mut self, label: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            let value = printable(&value.to_string());
            self.0.push_str(&format!("{label:<8} {value}\n"));
        }
    }
}
