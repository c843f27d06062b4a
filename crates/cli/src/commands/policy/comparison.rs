//! Recorded calls, judged in two ways: which of them would be decided differently.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use anyhow::Result;
use callgate_audit::{Filter, Kind, Stored};
use callgate_store::Reader;
use serde::Serialize;

use crate::args::Filters;
use crate::recorded_call::{Decision, NotReplayable, RecordedCall};
use crate::records;
use crate::render::{self, count, printable};

/// What changes for recorded calls.
#[derive(Default)]
pub(super) struct Comparison {
    calls: u64,
    changes: BTreeMap<(Decision, Decision), Affected>,
    not_judged: BTreeMap<NotReplayable, u64>,
}

/// The calls of one change.
#[derive(Default)]
struct Affected {
    calls: u64,
    /// The newest of them.
    examples: Vec<Example>,
}

#[derive(Serialize)]
struct Example {
    seq: u64,
    id: String,
    call: String,
}

/// How many examples a change has.
const EXAMPLES: usize = 3;

impl Comparison {
    /// Compares what `decide` returns for each call: its decision before and after.
    pub(super) fn over(
        reader: &Reader,
        filters: &Filters,
        decide: impl Fn(&Stored, &RecordedCall) -> Result<(Decision, Decision), NotReplayable>,
    ) -> Result<Self> {
        let mut comparison = Self::default();
        for_each_call(reader, filters, |stored| {
            let decided = RecordedCall::of(stored).and_then(|call| decide(stored, &call));
            comparison.add(stored, decided);
        })?;
        Ok(comparison)
    }

    fn add(&mut self, stored: &Stored, decided: Result<(Decision, Decision), NotReplayable>) {
        self.calls += 1;
        match decided {
            Err(why) => *self.not_judged.entry(why).or_default() += 1,
            Ok((before, after)) if before.is_same(&after) => {}
            Ok(changed) => {
                let affected = self.changes.entry(changed).or_default();
                affected.calls += 1;
                if affected.examples.len() < EXAMPLES {
                    affected.examples.push(Example::of(stored));
                }
            }
        }
    }

    fn changed(&self) -> u64 {
        self.changes.values().map(|affected| affected.calls).sum()
    }

    /// The changes, those of most calls first.
    fn sorted(&self) -> Vec<(&(Decision, Decision), &Affected)> {
        let mut changes: Vec<_> = self.changes.iter().collect();
        changes.sort_by_key(|(_, affected)| std::cmp::Reverse(affected.calls));
        changes
    }

    pub(super) fn text(&self) -> String {
        let calls = count(usize::try_from(self.calls).unwrap_or(usize::MAX), "call");
        let mut text = match self.changed() {
            0 => format!("{calls}: none would be decided differently\n"),
            changed => format!("{calls}: {changed} would be decided differently\n"),
        };
        for ((before, after), affected) in self.sorted() {
            text.push_str(&format!(
                "\n{} -> {}: {}\n  was {}, now {}\n",
                before.verdict, after.verdict, affected.calls, before.rule, after.rule
            ));
            for Example { seq, call, .. } in &affected.examples {
                text.push_str(&format!("  {seq:>6}  {}\n", printable(call)));
            }
            let more = affected.calls.saturating_sub(EXAMPLES as u64);
            if more > 0 {
                text.push_str(&format!("          and {more} more\n"));
            }
        }
        if !self.not_judged.is_empty() {
            text.push_str("\nnot judged again:\n");
        }
        for (why, calls) in &self.not_judged {
            text.push_str(&format!("  {calls:>6}  {}\n", why.reason()));
        }
        text
    }

    pub(super) fn output(&self) -> ComparisonOutput<'_> {
        let changes = self.sorted().into_iter().map(|((before, after), affected)| ChangeOutput {
            before: DecisionOutput::of(before),
            after: DecisionOutput::of(after),
            calls: affected.calls,
            examples: &affected.examples,
        });
        let not_judged = self.not_judged.iter().map(|(why, calls)| (why.word(), *calls));
        ComparisonOutput {
            calls: self.calls,
            changed: self.changed(),
            changes: changes.collect(),
            not_judged: not_judged.collect(),
        }
    }
}

/// Passes on every recorded call, the newest first, and shows the progress on a terminal.
pub(super) fn for_each_call(
    reader: &Reader,
    filters: &Filters,
    mut visit: impl FnMut(&Stored),
) -> Result<()> {
    let kinds = Kind::ALL.iter().copied().filter(|kind| kind.is_call()).collect();
    let filter = Filter { kinds, ..filters.query() };
    let (first, last) = reader.extent()?;
    let all = last.saturating_sub(first) + 1;
    let mut progress = render::progress("judged");
    reader.for_each(&filter, |stored| {
        visit(&stored);
        progress(last.saturating_sub(stored.seq), all);
        Ok(ControlFlow::Continue(()))
    })?;
    progress(all, all);
    Ok(())
}

impl Example {
    fn of(stored: &Stored) -> Self {
        Self { seq: stored.seq, id: stored.record.id.to_string(), call: records::call(stored) }
    }
}

/// A comparison for programs.
#[derive(Serialize)]
pub(super) struct ComparisonOutput<'a> {
    calls: u64,
    changed: u64,
    changes: Vec<ChangeOutput<'a>>,
    not_judged: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct ChangeOutput<'a> {
    before: DecisionOutput<'a>,
    after: DecisionOutput<'a>,
    calls: u64,
    examples: &'a [Example],
}

#[derive(Serialize)]
pub(crate) struct DecisionOutput<'a> {
    verdict: &'static str,
    rule: &'a str,
}

impl<'a> DecisionOutput<'a> {
    pub(crate) fn of(decision: &'a Decision) -> Self {
        Self { verdict: decision.verdict.as_str(), rule: &decision.rule }
    }
}
