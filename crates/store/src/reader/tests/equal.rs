//! The index gives the same answers as reading every record.

use callgate_audit::{
    CallOutcome, MatchedRule, RecordId, RecordKind, RecordedPrincipal, RecordedTool,
    RecordedVerdict, Tokens, WhoFilter,
};
use callgate_call::Surface;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;

/// Random numbers to choose by.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % sides
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }

    /// One of these, or `None`.
    fn maybe(&mut self, of: &[&str]) -> Option<String> {
        of.get(self.roll(of.len() + 1)).map(|text| (*text).to_owned())
    }

    /// One of these, mostly `None`.
    fn rarely(&mut self, of: &[&str]) -> Option<String> {
        of.get(self.roll(3 * of.len())).map(|text| (*text).to_owned())
    }
}

const KINDS: [RecordKind; 6] = [
    RecordKind::ToolCall,
    RecordKind::ToolCall,
    RecordKind::McpToolCalled,
    RecordKind::Turn,
    RecordKind::PolicyLoaded,
    RecordKind::ToolCallWarning,
];
const RULES: [&str; 3] = ["no", "No", "ask first"];

fn start() -> Timestamp {
    "2026-03-01T23:00:00Z".parse().unwrap()
}

fn record(dice: &mut Dice<'_>, number: usize) -> Record {
    let mut record = Record::new(dice.one(&KINDS));
    // Not in the order in which they are stored.
    let hours = dice.roll(5) as i64;
    record.time =
        start() + SignedDuration::from_hours(hours) + SignedDuration::from_nanos(number as i64);
    record.surface = [None, Some(Surface::Mcp), Some(Surface::Response)][dice.roll(3)];
    record.model = dice.maybe(&["claude-1", "Claude-1", "gpt"]);
    record.provider = dice.maybe(&["anthropic", "openai"]);
    record.request = dice.maybe(&["r1", "r2"]);
    record.who = RecordedPrincipal {
        user: dice.maybe(&["ann", "bob"]),
        team: dice.maybe(&["red", "blue"]),
        org: dice.maybe(&["acme"]),
        agent: dice.maybe(&["codex", "claude"]),
        session: dice.maybe(&["s1", "s2", "S1"]),
        key: dice.maybe(&["ci"]),
        ..RecordedPrincipal::default()
    };
    let server = dice.maybe(&["GitHub", "notes"]);
    let tool = |name| RecordedTool { name, server, ..RecordedTool::default() };
    record.tool = dice.maybe(&["Bash", "bash", "mcp__notes__add", "été"]).map(tool);
    if dice.roll(4) > 0 {
        record.verdict = Some(verdict(dice));
    }
    if record.kind == RecordKind::Turn {
        let (input, output) = (Some(dice.roll(100) as u64), Some(7));
        record.tokens = Tokens { input, output, ..Tokens::default() };
    }
    record.completes = (dice.roll(12) == 0).then(RecordId::new);
    record
}

fn verdict(dice: &mut Dice<'_>) -> RecordedVerdict {
    let mut verdict = RecordedVerdict::new(dice.one(&CallOutcome::ALL));
    verdict.rule = dice.maybe(&RULES);
    let mut hits = || {
        let rule = dice.rarely(&RULES);
        vec![MatchedRule { policy: "p".to_owned(), rule, reason: "why".to_owned() }]
    };
    (verdict.shadows, verdict.audits, verdict.sanitized) = (hits(), hits(), hits());
    verdict
}

fn filter(dice: &mut Dice<'_>, begin: u64) -> Filter {
    let time = |dice: &mut Dice<'_>| {
        (dice.roll(4) == 0).then(|| start() + SignedDuration::from_mins(dice.roll(300) as i64))
    };
    let who = WhoFilter {
        user: dice.rarely(&["ANN", "*"]),
        team: dice.rarely(&["red", "b*"]),
        org: dice.rarely(&["a?me", "none"]),
        agent: dice.rarely(&["c*", "codex"]),
        key: dice.rarely(&["ci"]),
    };
    Filter {
        kinds: (0..dice.roll(3)).map(|_| dice.one(&KINDS)).collect(),
        session: dice.rarely(&["s1", "none"]),
        // Counts ignore it.
        request: None,
        tool: dice.rarely(&["bash", "*", "mcp*", "ÉTÉ"]),
        server: dice.rarely(&["git???", "notes", "*"]),
        surface: [None, None, Some(Surface::Mcp)][dice.roll(3)],
        verdict: [None, None, Some(CallOutcome::Deny)][dice.roll(3)],
        rule: dice.rarely(&RULES),
        model: dice.rarely(&["claude*", "gpt"]),
        provider: dice.rarely(&["anthropic", "[ao]*"]),
        who,
        since: time(dice),
        until: time(dice),
        after: (dice.roll(4) == 0).then(|| begin + dice.roll(80) as u64),
        limit: (dice.roll(3) == 0).then(|| dice.roll(10)),
        order: [RecordOrder::OldestFirst, RecordOrder::NewestFirst][dice.roll(2)],
    }
}

/// The answer by reading every record.
fn read_all(log: &MemoryLog, filter: &Filter) -> (Vec<u64>, Stats) {
    let compiled = CompiledFilter::new(filter).unwrap();
    let mut tally = StatsCounter::new(&compiled);
    let mut found = Vec::new();
    let after = filter.after.unwrap_or(0);
    for entry in log.entries().iter().filter(|entry| entry.seq > after) {
        let record = decode(entry).unwrap().record;
        tally.add(&record);
        if record.completes.is_none() && compiled.passes(&record) {
            found.push(entry.seq);
        }
    }
    if filter.order == RecordOrder::NewestFirst {
        found.reverse();
    }
    found.truncate(filter.limit.unwrap_or(usize::MAX));
    if filter.session.is_none() && filter.after.is_none() {
        tally.stats.turns.without_calls = Some(0);
    }
    (found, tally.stats)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_filter_gives_the_same_as_reading_everything(
        begin in prop_oneof![Just(0_u64), 4030..4096_u64],
        rolls in prop::collection::vec(prop::collection::vec(any::<u8>(), 32), 2..80),
        filters in prop::collection::vec(prop::collection::vec(any::<u8>(), 48), 8),
        expired in 0..20_u64,
    ) {
        let (folder, log) = (Folder::new(), MemoryLog::starting_after(begin));
        let (early, late) = rolls.split_at(rolls.len() / 2);
        let append = |rolls: &[Vec<u8>]| {
            for (number, rolls) in rolls.iter().enumerate() {
                log.append(record(&mut Dice(rolls.iter()), number));
            }
        };
        append(early);
        let writing = reader(&folder, &log);
        writing.records(&Filter::default()).unwrap();
        append(late);
        log.expire(begin + 1 + expired.min(rolls.len() as u64));
        // This reader finds only half of the records in the shared index. It is asked first.
        let reading = read_only(&folder, &log);
        let filters: Vec<Filter> =
            filters.iter().map(|rolls| filter(&mut Dice(rolls.iter()), begin)).collect();
        for reader in [&reading, &writing] {
            for filter in &filters {
                let (found, counted) = read_all(&log, filter);
                prop_assert_eq!(seqs(&reader.records(filter).unwrap()), found, "{:?}", filter);
                prop_assert_eq!(stats(reader, filter).unwrap(), counted, "{:?}", filter);
                let all = Filter { limit: None, order: RecordOrder::OldestFirst, ..filter.clone() };
                let mut in_order = Vec::new();
                let visited = reader.for_each_in_order(&all, |stored| {
                    in_order.push(stored.seq);
                    Ok(ControlFlow::Continue(()))
                });
                visited.unwrap();
                prop_assert_eq!(in_order, read_all(&log, &all).0, "{:?}", all);
            }
        }
    }
}

#[test]
fn many_names_count_into_others_in_the_same_order() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    for number in 0..Stats::MAX_NAMES + 300 {
        // Each name twice, the second time in the other direction.
        let name = if number < 5000 { number } else { 15_000 - number };
        log.append(call(&format!("tool {name}")));
    }
    let reader = reader(&folder, &log);
    let filter = Filter::default();
    let (_, counted) = read_all(&log, &filter);
    assert_eq!(stats(&reader, &filter).unwrap(), counted);
}
