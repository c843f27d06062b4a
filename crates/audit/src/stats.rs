//! Counts over records.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::query::CompiledFilter;
use crate::record::{CallOutcome, Record, RecordKind};

/// Counts over records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of records, without those that only complete another one.
    pub records: u64,
    /// Records by kind.
    pub kinds: BTreeMap<RecordKind, u64>,
    /// Calls by outcome.
    pub verdicts: BTreeMap<CallOutcome, u64>,
    /// Calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls by the rule that decided.
    pub rules: BTreeMap<String, u64>,
    /// Calls by model.
    pub models: BTreeMap<String, u64>,
    /// Calls by provider.
    pub providers: BTreeMap<String, u64>,
    /// Calls by user.
    pub users: BTreeMap<String, u64>,
    /// Calls by day, in UTC.
    pub days: BTreeMap<Date, u64>,
    /// Responses.
    pub turns: TurnStats,
}

impl Stats {
    /// How many different tools, rules, models, providers and users are counted separately: models
    /// and clients choose the names, and could invent any number. Further ones count as
    /// [`OTHERS`](Self::OTHERS).
    pub const MAX_NAMES: usize = 10_000;
    /// The name for everything beyond [`MAX_NAMES`](Self::MAX_NAMES).
    pub const OTHERS: &str = "(others)";
}

/// Counts of responses. The conditions of the filter that apply to a response are used: time,
/// model, provider, session and principal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnStats {
    /// Responses that have their own record: with calls, or not judged.
    pub recorded: u64,
    /// Responses without calls. `None` if the filter selects a session or records after a sequence
    /// number: these responses are only counted, by hour, provider, model and principal.
    pub without_calls: Option<u64>,
    /// Input tokens of all responses.
    pub tokens_input: u64,
    /// Output tokens of all responses.
    pub tokens_output: u64,
    /// The answers that were asked for after a denial. Their tokens are among those of all
    /// responses.
    pub continued: Continued,
}

/// Counts of the answers that were asked for after a denial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Continued {
    /// How many.
    pub answers: u64,
    /// Their input tokens.
    pub tokens_input: u64,
    /// Their output tokens.
    pub tokens_output: u64,
}

impl TurnStats {
    /// Adds the tokens of a response, or of an answer that was asked for after a denial.
    pub fn add_tokens(&mut self, kind: RecordKind, tokens_input: u64, tokens_output: u64) {
        add(&mut self.tokens_input, tokens_input);
        add(&mut self.tokens_output, tokens_output);
        if kind == RecordKind::Continued {
            add(&mut self.continued.tokens_input, tokens_input);
            add(&mut self.continued.tokens_output, tokens_output);
        }
    }

    /// Counts responses, or answers that were asked for after a denial.
    pub fn add_records(&mut self, kind: RecordKind, records: u64) {
        match kind {
            RecordKind::Continued => add(&mut self.continued.answers, records),
            _ => add(&mut self.recorded, records),
        }
    }
}

/// Counts in progress.
pub struct StatsCounter<'a> {
    /// The counts so far.
    pub stats: Stats,
    filter: &'a CompiledFilter<'a>,
}

impl<'a> StatsCounter<'a> {
    /// Starts with zero counts.
    pub fn new(filter: &'a CompiledFilter<'a>) -> Self {
        Self { stats: Stats::default(), filter }
    }

    /// Counts a record, if it passes.
    pub fn add(&mut self, record: &Record) {
        if record.completes.is_some() {
            return;
        }
        let is_answer = matches!(record.kind, RecordKind::Turn | RecordKind::Continued);
        if is_answer && self.filter.passes_turn(record) {
            let (turns, tokens) = (&mut self.stats.turns, &record.tokens);
            turns.add_records(record.kind, 1);
            turns.add_tokens(record.kind, tokens.input.unwrap_or(0), tokens.output.unwrap_or(0));
        }
        if !self.filter.passes(record) {
            return;
        }
        self.stats.records += 1;
        *self.stats.kinds.entry(record.kind).or_default() += 1;
        if record.kind.is_call() {
            self.add_call(record);
        }
    }

    fn add_call(&mut self, record: &Record) {
        let stats = &mut self.stats;
        if let Some(verdict) = &record.verdict {
            *stats.verdicts.entry(verdict.action).or_default() += 1;
            count(&mut stats.rules, verdict.rule.as_deref());
        }
        count(&mut stats.tools, record.tool.as_ref().map(|tool| tool.name.as_str()));
        count(&mut stats.models, record.model.as_deref());
        count(&mut stats.providers, record.provider.as_deref());
        count(&mut stats.users, record.who.user.as_deref());
        let day = TimeZone::UTC.to_datetime(record.time).date();
        *stats.days.entry(day).or_default() += 1;
    }

    /// Adds responses that were only counted.
    pub fn add_turns(&mut self, turns: u64, tokens_input: u64, tokens_output: u64) {
        let all = &mut self.stats.turns;
        add(all.without_calls.get_or_insert(0), turns);
        add(&mut all.tokens_input, tokens_input);
        add(&mut all.tokens_output, tokens_output);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn count(names: &mut BTreeMap<String, u64>, name: Option<&str>) {
    let Some(name) = name else { return };
    if let Some(count) = names.get_mut(name) {
        *count += 1;
    } else {
        let full = names.len() >= Stats::MAX_NAMES;
        let name = if full { Stats::OTHERS } else { name };
        *names.entry(name.to_owned()).or_default() += 1;
    }
}
