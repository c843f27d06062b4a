//! `callgate policy diff`: what changes from one policy to another, in their rules and for the
//! calls on record.

use std::path::{Path, PathBuf};

use anyhow::Result;
use callgate_policy::PolicyChanges;
use serde::Serialize;

use super::comparison::{ComparedDecision, Comparison, ComparisonOutput};
use crate::args::PolicyDiffArgs;
use crate::exit::Exit;
use crate::records;
use crate::render::{self, printable};
use crate::replay::Replay;
use crate::report;
use crate::sources;

pub(crate) fn run(args: &PolicyDiffArgs, config: Option<&Path>) -> Result<Exit> {
    let load = |file: &PathBuf| sources::load(std::slice::from_ref(file), config);
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let rules = after.changes_since(&before);
    let reader = records::reader_if_there(config)?;
    let calls = reader.map(|reader| {
        let side = |policies| ComparedDecision::Judged(Replay::new(policies));
        Comparison::over(&reader, &args.filters, side(&before), side(&after))
    });
    let calls = calls.transpose()?;
    render::print(&match args.json {
        true => report::line(&DiffOutput::of(&rules, calls.as_ref()))?,
        false => rules_text(&rules) + &calls_text(calls.as_ref()),
    })?;
    Ok(Exit::Success)
}

/// A difference for programs.
#[derive(Serialize)]
struct DiffOutput<'a> {
    added: &'a [String],
    removed: &'a [String],
    changed: &'a [String],
    weakened: &'a [String],
    /// Absent if nothing is on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<ComparisonOutput<'a>>,
}

impl<'a> DiffOutput<'a> {
    fn of(rules: &'a PolicyChanges, calls: Option<&'a Comparison>) -> Self {
        let PolicyChanges { added, removed, changed, weakened } = rules;
        Self { added, removed, changed, weakened, calls: calls.map(Comparison::output) }
    }
}

fn rules_text(rules: &PolicyChanges) -> String {
    let lists = [
        ("added", &rules.added),
        ("removed", &rules.removed),
        ("changed", &rules.changed),
        ("may stop less", &rules.weakened),
    ];
    let lines = lists.iter().flat_map(|(word, names)| {
        names.iter().map(move |name| format!("{word:<13}  {}\n", printable(name)))
    });
    match lines.collect::<String>() {
        lines if lines.is_empty() => "the rules are the same\n\n".to_owned(),
        lines => lines + "\n",
    }
}

fn calls_text(calls: Option<&Comparison>) -> String {
    calls.map_or_else(|| "no calls are on record yet\n".to_owned(), Comparison::text)
}
