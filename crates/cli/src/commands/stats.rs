//! `callgate stats`: counts over calls.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use callgate_audit::Stats;
use serde_json::{Map, Value, json};

use crate::args;
use crate::exit::Exit;
use crate::marks::{self, FalseAlarms};
use crate::records;
use crate::render;
use crate::report;
use crate::table::Listing;

/// As many as one looks at; `--json` has all.
const TOP: usize = 10;

pub(crate) fn run(args: &args::StatsArgs, config: Option<&Path>) -> Result<Exit> {
    let (reader, filter) = (records::reader(config)?, args.filters.query());
    let stats = reader.stats(&filter)?;
    let alarms = marks::false_alarms(&reader, &filter)?;
    let text = match args.json {
        true => report::line(&as_json(&stats, &alarms))?,
        false => shown(&stats) + &alarms_shown(&alarms),
    };
    render::print(&text)?;
    Ok(Exit::Success)
}

fn as_json(stats: &Stats, alarms: &BTreeMap<String, FalseAlarms>) -> Value {
    let turns = &stats.turns;
    json!({
        "records": stats.records,
        "kinds": words(stats.kinds.iter().map(|(kind, n)| (kind.as_str().to_owned(), *n))),
        "verdicts": words(stats.verdicts.iter().map(|(action, n)| (action.as_str().to_owned(), *n))),
        "tools": stats.tools,
        "rules": stats.rules,
        "false_alarms": alarms,
        "models": stats.models,
        "providers": stats.providers,
        "users": stats.users,
        "days": words(stats.days.iter().map(|(day, n)| (day.to_string(), *n))),
        "turns": {
            "recorded": turns.recorded,
            "without_calls": turns.without_calls,
            "tokens_input": turns.tokens_input,
            "tokens_output": turns.tokens_output,
            "continued": {
                "answers": turns.continued.answers,
                "tokens_input": turns.continued.tokens_input,
                "tokens_output": turns.continued.tokens_output,
            },
        },
    })
}

fn words(counts: impl Iterator<Item = (String, u64)>) -> Map<String, Value> {
    counts.map(|(word, n)| (word, n.into())).collect()
}

fn shown(stats: &Stats) -> String {
    let turns = &stats.turns;
    let calls: u64 = stats.verdicts.values().sum();
    let mut totals = Listing::new(["", "count"]);
    let mut total = |name: &str, n: u64| totals.row([name.to_owned(), n.to_string()]);
    total("calls", calls);
    for (action, n) in &stats.verdicts {
        total(&format!("  {}", action.as_str()), *n);
    }
    // Those without calls are only counted, so some filters cannot be applied to them.
    match turns.without_calls {
        Some(without) => total("responses", turns.recorded + without),
        None => total("responses with a record", turns.recorded),
    }
    total("tokens in", turns.tokens_input);
    total("tokens out", turns.tokens_output);
    let continued = &turns.continued;
    if continued.answers > 0 {
        total("answers after a denial", continued.answers);
        total("  tokens in", continued.tokens_input);
        total("  tokens out", continued.tokens_output);
    }
    let mut text = totals.text();
    top(&mut text, "tool", &stats.tools);
    top(&mut text, "rule", &stats.rules);
    top(&mut text, "model", &stats.models);
    top(&mut text, "provider", &stats.providers);
    top(&mut text, "user", &stats.users);
    let days: BTreeMap<String, u64> =
        stats.days.iter().map(|(day, n)| (day.to_string(), *n)).collect();
    if days.len() > 1 {
        list(&mut text, "day (UTC)", &mut days.iter().rev().take(TOP), days.len());
    }
    text
}

/// The rules with marked denials, those with the highest share of wrong ones first.
fn alarms_shown(alarms: &BTreeMap<String, FalseAlarms>) -> String {
    let mut sorted: Vec<_> = alarms.iter().collect();
    sorted.sort_by(|(_, one), (_, other)| other.rate.total_cmp(&one.rate));
    if sorted.is_empty() {
        return String::new();
    }
    let head = ["rule", "denied", "marked wrong", "marked right", "false alarms"];
    let mut table = Listing::new(head);
    for (rule, FalseAlarms { denied, wrong, right, rate }) in sorted.iter().take(TOP) {
        let counts = [denied, wrong, right].map(|count| count.to_string());
        let [denied, wrong, right] = counts;
        table.row([(*rule).clone(), denied, wrong, right, format!("{:.1} %", rate * 100.0)]);
    }
    let more = sorted.len().saturating_sub(TOP);
    let more = match more {
        0 => String::new(),
        more => format!("and {more} more, in `callgate stats --json`\n"),
    };
    format!("\n{}{more}", table.text())
}

/// The names with the most calls.
fn top(text: &mut String, head: &str, counts: &BTreeMap<String, u64>) {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    if !sorted.is_empty() {
        let all = sorted.len();
        list(text, head, &mut sorted.into_iter().take(TOP), all);
    }
}

/// A table of the first of `all` rows, and how many more there are.
fn list<'a>(
    text: &mut String,
    head: &str,
    rows: &mut dyn Iterator<Item = (&'a String, &'a u64)>,
    all: usize,
) {
    let mut table = Listing::new([head, "calls"]);
    for (name, n) in rows {
        table.row([name.clone(), n.to_string()]);
    }
    text.push('\n');
    text.push_str(&table.text());
    if all > TOP {
        text.push_str(&format!("and {} more, in `callgate stats --json`\n", all - TOP));
    }
}
