//! `callgate policy suggest`: rules that allow what was seen, and exceptions for denials that were
//! wrong. Nothing is suggested that would also allow a call that was rightly denied: every suggestion
//! is tried on all recorded calls first.

mod allow_rules;
mod conditions;
mod exceptions;
mod yaml;

use std::path::Path;

use anyhow::Result;
use callgate_audit::{CallOutcome, StoredRecord};
use callgate_store::Opinion;
use serde::Serialize;

use crate::args::PolicySuggestArgs;
use crate::exit::Exit;
use crate::marks::CallMarks;
use crate::records;
use crate::render::{self, printable};
use crate::report;

pub(crate) fn run(args: &PolicySuggestArgs, config: Option<&Path>) -> Result<Exit> {
    let suggestion = match args.exceptions {
        true => exceptions::suggest(args, config)?,
        false => allow_rules::suggest(args, config)?,
    };
    render::print(&match args.json {
        true => report::line(&suggestion)?,
        false => suggestion.text(),
    })?;
    Ok(Exit::Success)
}

/// What is suggested, and how it was checked.
#[derive(Debug, Default, Serialize)]
struct Suggestion {
    /// A policy, or a part of a config; empty if there is nothing to suggest.
    yaml: String,
    /// What it was checked on, in words.
    checked: Vec<String>,
    /// The calls that it does not cover.
    left_out: Vec<LeftOut>,
}

/// A call that the suggestion does not cover.
#[derive(Debug, Serialize)]
struct LeftOut {
    seq: u64,
    call: String,
    why: String,
}

impl LeftOut {
    fn new(stored: &StoredRecord, why: impl Into<String>) -> Self {
        Self { seq: stored.seq, call: records::call(stored), why: why.into() }
    }
}

impl Suggestion {
    /// YAML that can be written to a file: everything else is in comments.
    fn text(&self) -> String {
        let mut text: String = self.checked.iter().map(|line| format!("# {line}\n")).collect();
        for LeftOut { seq, call, why } in self.left_out.iter().take(MAX_SHOWN) {
            text.push_str(&format!(
                "# not covered: record {seq}, {}: {}\n",
                short(call),
                printable(why)
            ));
        }
        let more = self.left_out.len().saturating_sub(MAX_SHOWN);
        if more > 0 {
            text.push_str(&format!("# not covered: {more} more, in `--json`\n"));
        }
        text + &self.yaml
    }
}

/// The most calls that are listed because they are not covered.
const MAX_SHOWN: usize = 10;

/// Why a call that self-protection denies is not covered.
const OF_CALLGATE: &str = "it would change callgate itself, which no rule or exception allows";

/// A call in a comment.
fn short(call: &str) -> String {
    let shown = printable(call);
    match shown.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", shown.get(..at).unwrap_or_default()),
        None => shown,
    }
}

/// Whether this call must not be allowed: it was denied, or it should have been.
fn must_stay_out(stored: &StoredRecord, marks: &CallMarks) -> bool {
    let is_wrong = marks.opinion(stored) == Some(Opinion::Wrong);
    let was_denied =
        stored.record.verdict.as_ref().is_some_and(|verdict| verdict.action == CallOutcome::Deny);
    was_denied != is_wrong
}
