//! Recorded calls, judged in two ways: which of them would be decided differently.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use anyhow::Result;
use callgate_audit::{CompiledFilter, Filter, RecordOrder, StoredRecord};
use callgate_store::RecordReader;
use serde::Serialize;

use crate::args::RecordFilterArgs;
use crate::recorded_call::{NotReplayable, RecordedCall, RuleDecision};
use crate::records;
use crate::render::{self, count, printable};
use crate::replay::{self, Replay};

/// What changes for recorded calls.
#[derive(Default)]
pub(super) struct Comparison {
    calls: u64,
    changes: BTreeMap<(RuleDecision, RuleDecision), Affected>,
    not_judged: BTreeMap<NotReplayable, u64>,
    /// Calls that were judged, but come after one of their session that could not be.
    incomplete: u64,
}

/// The calls of one change.
#[derive(Default)]
struct Affected {
    calls: u64,
    /// The newest of them, the newest first.
    examples: VecDeque<ChangedCall>,
}

#[derive(Serialize)]
struct ChangedCall {
    seq: u64,
    id: String,
    call: String,
}

/// How many examples a change has.
const EXAMPLES: usize = 3;

/// One of the two decisions about a call.
pub(super) enum ComparedDecision<'p> {
    /// The one on record.
    Recorded,
    /// The one of these policies.
    Judged(Replay<'p>),
}

impl ComparedDecision<'_> {
    fn decide(
        &mut self,
        stored: &StoredRecord,
        recorded: Result<&RecordedCall, NotReplayable>,
    ) -> Result<RuleDecision, NotReplayable> {
        match self {
            Self::Recorded => RuleDecision::recorded(stored),
            Self::Judged(replay) => replay.decide_next(stored, recorded),
        }
    }

    fn replay(&self) -> Option<&Replay<'_>> {
        match self {
            Self::Recorded => None,
            Self::Judged(replay) => Some(replay),
        }
    }
}

impl Comparison {
    /// Compares two decisions about each call.
    pub(super) fn over(
        reader: &RecordReader,
        filters: &RecordFilterArgs,
        mut before: ComparedDecision<'_>,
        mut after: ComparedDecision<'_>,
    ) -> Result<Self> {
        let mut comparison = Self::default();
        let replays = || [&before, &after].into_iter().filter_map(ComparedDecision::replay);
        let context = EarlierCalls::for_replays(replays());
        for_each_call(reader, filters, context, |stored, part| {
            let recorded = RecordedCall::of(stored);
            let recorded = recorded.as_ref().map_err(|why| *why);
            let is_incomplete = recorded.is_ok_and(|recorded| {
                let replays = [&before, &after].into_iter().filter_map(ComparedDecision::replay);
                replays.into_iter().any(|replay| replay.is_incomplete(stored, recorded))
            });
            // Both have to see the call, whatever comes of it.
            let (was, is) = (before.decide(stored, recorded), after.decide(stored, recorded));
            if part == VisitReason::Chosen {
                let decided = recorded.and_then(|_| Ok((was?, is?)));
                comparison.incomplete += u64::from(is_incomplete && decided.is_ok());
                comparison.add(stored, decided);
            }
        })?;
        Ok(comparison)
    }

    fn add(
        &mut self,
        stored: &StoredRecord,
        decided: Result<(RuleDecision, RuleDecision), NotReplayable>,
    ) {
        self.calls += 1;
        match decided {
            Err(why) => *self.not_judged.entry(why).or_default() += 1,
            Ok((before, after)) if before.is_same(&after) => {}
            Ok(changed) => {
                let affected = self.changes.entry(changed).or_default();
                affected.calls += 1;
                affected.examples.push_front(ChangedCall::of(stored));
                affected.examples.truncate(EXAMPLES);
            }
        }
    }

    fn changed(&self) -> u64 {
        self.changes.values().map(|affected| affected.calls).sum()
    }

    /// The changes, those of most calls first.
    fn sorted(&self) -> Vec<(&(RuleDecision, RuleDecision), &Affected)> {
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
            for ChangedCall { seq, call, .. } in &affected.examples {
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
        if self.incomplete > 0 {
            let calls = count(usize::try_from(self.incomplete).unwrap_or(usize::MAX), "call");
            let after = "in a session after one of these, so what that one wrote or did is missing";
            text.push_str(&format!("{calls} came {after}\n"));
        }
        text
    }

    pub(super) fn output(&self) -> ComparisonOutput<'_> {
        let changes =
            self.sorted().into_iter().map(|((before, after), affected)| ChangedVerdictOutput {
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
            incomplete: self.incomplete,
        }
    }
}

/// Which calls are read in addition to the chosen ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EarlierCalls {
    /// None.
    Alone,
    /// The others of their sessions, because a verdict may depend on them.
    Sessions,
}

impl EarlierCalls {
    pub(super) fn for_replays<'r, 'p: 'r>(replays: impl Iterator<Item = &'r Replay<'p>>) -> Self {
        let mut replays = replays;
        match replays.any(Replay::needs_earlier_calls) {
            true => Self::Sessions,
            false => Self::Alone,
        }
    }
}

/// Why a call is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VisitReason {
    /// The filters choose it.
    Chosen,
    /// Another call may depend on it.
    Context,
}

/// Passes on recorded calls, the oldest first, and shows the progress on a terminal.
pub(super) fn for_each_call(
    reader: &RecordReader,
    filters: &RecordFilterArgs,
    context: EarlierCalls,
    mut visit: impl FnMut(&StoredRecord, VisitReason),
) -> Result<()> {
    let mut chosen = Filter { kinds: replay::calls().kinds, ..filters.query() };
    chosen.after = first_of_limit(reader, &chosen)?;
    chosen.limit = None;
    let compiled = CompiledFilter::new(&chosen)?;
    let wanted = match context {
        EarlierCalls::Alone => chosen.clone(),
        EarlierCalls::Sessions => Filter {
            session: chosen.session.clone(),
            who: chosen.who.clone(),
            since: chosen.since.and_then(|since| since.checked_sub(replay::reach()).ok()),
            until: chosen.until,
            ..replay::calls()
        },
    };
    let (first, last) = reader.extent()?;
    let all = last.saturating_sub(first) + 1;
    let mut progress = render::progress("judged");
    let visit = |stored: StoredRecord| {
        let is_chosen =
            chosen.after.is_none_or(|after| stored.seq > after) && compiled.passes(&stored.record);
        visit(&stored, if is_chosen { VisitReason::Chosen } else { VisitReason::Context });
        progress(stored.seq.saturating_sub(first), all);
        Ok(ControlFlow::Continue(()))
    };
    match chooses_most(&wanted) {
        true => reader.for_each_in_order(&wanted, visit)?,
        false => reader.for_each(&Filter { order: RecordOrder::OldestFirst, ..wanted }, visit)?,
    }
    progress(all, all);
    Ok(())
}

/// Whether a filter asks for all calls, perhaps of some time: then reading them all in order is faster
/// than looking them up.
fn chooses_most(filter: &Filter) -> bool {
    let Filter { since, until, after, .. } = *filter;
    *filter == Filter { since, until, after, ..replay::calls() }
}

/// The record after which the newest calls begin that a limit chooses.
fn first_of_limit(reader: &RecordReader, filter: &Filter) -> Result<Option<u64>> {
    if filter.limit.is_none() {
        return Ok(None);
    }
    let mut first = None;
    reader.for_each(filter, |stored| {
        first = Some(stored.seq.saturating_sub(1));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(first)
}

impl ChangedCall {
    fn of(stored: &StoredRecord) -> Self {
        Self { seq: stored.seq, id: stored.record.id.to_string(), call: records::call(stored) }
    }
}

/// A comparison for programs.
#[derive(Serialize)]
pub(super) struct ComparisonOutput<'a> {
    calls: u64,
    changed: u64,
    changes: Vec<ChangedVerdictOutput<'a>>,
    not_judged: BTreeMap<&'static str, u64>,
    incomplete: u64,
}

#[derive(Serialize)]
struct ChangedVerdictOutput<'a> {
    before: DecisionOutput<'a>,
    after: DecisionOutput<'a>,
    calls: u64,
    examples: &'a VecDeque<ChangedCall>,
}

#[derive(Serialize)]
pub(crate) struct DecisionOutput<'a> {
    verdict: &'static str,
    rule: &'a str,
}

impl<'a> DecisionOutput<'a> {
    pub(crate) fn of(decision: &'a RuleDecision) -> Self {
        Self { verdict: decision.verdict.as_str(), rule: &decision.rule }
    }
}
