//! `callgate policy coverage`: which recorded calls no rule decides.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::comparison::{EarlierCalls, VisitReason, for_each_call};
use crate::args::PolicyOnRecordsArgs;
use crate::exit::Exit;
use crate::recorded_call::RecordedCall;
use crate::records;
use crate::render::{self, count};
use crate::replay::Replay;
use crate::report;
use crate::sources;
use crate::table::Listing;

/// How many calls there are, and how many of them only a default decides.
#[derive(Debug, Default, Serialize)]
struct Coverage {
    calls: u64,
    uncovered: u64,
    /// Calls whose arguments are not on record as they were.
    not_judged: u64,
    tools: BTreeMap<String, ToolCoverage>,
}

#[derive(Debug, Default, Serialize)]
struct ToolCoverage {
    calls: u64,
    uncovered: u64,
    /// The newest call that no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

pub(crate) fn run(args: &PolicyOnRecordsArgs, config: Option<&Path>) -> Result<Exit> {
    let policies = sources::load(&args.policies.files, config)?;
    let reader = records::reader(config)?;
    let mut coverage = Coverage::default();
    let mut replay = Replay::new(&policies);
    let context = EarlierCalls::for_replays(std::iter::once(&replay));
    for_each_call(&reader, &args.filters, context, |stored, part| {
        let recorded = RecordedCall::of(stored);
        let judged = replay.judge_next(stored, recorded.as_ref().map_err(|why| *why));
        match (part, judged) {
            (VisitReason::Context, _) => {}
            (VisitReason::Chosen, Err(_)) => coverage.not_judged += 1,
            (VisitReason::Chosen, Ok(judgement)) => {
                let call = judgement.uncovered.then(|| records::call(stored));
                coverage.add(&records::tool(stored), call);
            }
        }
    })?;
    render::print(&match args.json {
        true => report::line(&coverage)?,
        false => coverage.text(),
    })?;
    Ok(Exit::Success)
}

impl Coverage {
    /// Adds a call of a tool; `uncovered` is the call if no rule decides it.
    fn add(&mut self, tool: &str, uncovered: Option<String>) {
        let of_tool = self.tools.entry(tool.to_owned()).or_default();
        let (of_all, of_one) = (&mut self.uncovered, &mut of_tool.uncovered);
        self.calls += 1;
        of_tool.calls += 1;
        if let Some(call) = uncovered {
            *of_all += 1;
            *of_one += 1;
            of_tool.example = Some(call);
        }
    }

    fn text(&self) -> String {
        let calls = count(usize::try_from(self.calls).unwrap_or(usize::MAX), "call");
        let share = (self.uncovered * 100).checked_div(self.calls).unwrap_or_default();
        let mut text = format!("{calls}: {} ({share} %) decided by no rule\n", self.uncovered);
        if self.not_judged > 0 {
            let why = "their arguments are not on record as they were";
            text.push_str(&format!("not judged: {}, because {why}\n", self.not_judged));
        }
        let mut tools: Vec<_> = self.tools.iter().filter(|(_, tool)| tool.uncovered > 0).collect();
        tools.sort_by_key(|(_, tool)| std::cmp::Reverse(tool.uncovered));
        if tools.is_empty() {
            return text;
        }
        let mut table = Listing::new(["tool", "by no rule", "calls", "for example"]).whole(0);
        for (name, tool) in tools {
            table.row([
                name.clone(),
                tool.uncovered.to_string(),
                tool.calls.to_string(),
                tool.example.clone().unwrap_or_default(),
            ]);
        }
        text + "\n" + &table.text()
    }
}
