//! Filters, joins, ids and counts.

use callgate_call::Surface;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::ReadError;
use callgate_audit::InputProof;
use callgate_audit::{MatchedRule, RecordId, Tokens};

/// Records of several kinds, and the reader of their store.
fn sample() -> (Store, RecordReader) {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    let start: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    for number in 0..10_i64 {
        let mut record = call(if number % 2 == 0 { "Bash" } else { "mcp__GitHub__push" }, "{}");
        record.time = start + SignedDuration::from_hours(number * 6);
        record.surface = Some(if number < 5 { Surface::Response } else { Surface::Mcp });
        record.model = Some(format!("claude-{}", number % 3));
        record.provider = Some("anthropic".into());
        if let Some(tool) = &mut record.tool {
            tool.server = (number % 2 == 1).then(|| "GitHub".into());
        }
        if let Some(verdict) = &mut record.verdict {
            if number % 5 == 0 {
                verdict.action = CallOutcome::Deny;
                verdict.rule = Some("no".into());
                verdict.reason = Some("because".into());
            }
            if number == 1 {
                let hit =
                    MatchedRule { policy: "p".into(), rule: Some("no".into()), reason: "r".into() };
                verdict.shadows.push(hit);
            }
        }
        audit.append(record).wait().unwrap();
    }
    audit.append(Record::new(RecordKind::PolicyLoaded)).wait().unwrap();
    let reader = audit.reader().unwrap();
    (audit, reader)
}

#[test]
fn each_filter_filters() {
    let (_audit, reader) = sample();
    let seqs = |filter: Filter| -> Vec<u64> {
        let filter = Filter { order: RecordOrder::OldestFirst, ..filter };
        reader.records(&filter).unwrap().iter().map(|it| it.seq).collect()
    };
    let text = |it: &str| Some(it.to_owned());
    let time = |it: &str| Some(it.parse::<Timestamp>().unwrap());
    let none = Filter::default;
    assert_eq!(seqs(Filter { kinds: vec![RecordKind::PolicyLoaded], ..none() }), [11]);
    assert_eq!(seqs(Filter { tool: text("bash"), ..none() }), [1, 3, 5, 7, 9]);
    assert_eq!(seqs(Filter { tool: text("*github*"), ..none() }), [2, 4, 6, 8, 10]);
    assert_eq!(seqs(Filter { server: text("git???"), ..none() }), [2, 4, 6, 8, 10]);
    assert_eq!(seqs(Filter { surface: Some(Surface::Mcp), ..none() }), [6, 7, 8, 9, 10]);
    assert_eq!(seqs(Filter { verdict: Some(CallOutcome::Deny), ..none() }), [1, 6]);
    assert_eq!(seqs(Filter { rule: text("no"), ..none() }), [1, 2, 6]);
    assert_eq!(seqs(Filter { model: text("*-2"), ..none() }), [3, 6, 9]);
    assert_eq!(seqs(Filter { after: Some(9), ..none() }), [10, 11]);
    assert_eq!(seqs(Filter { after: Some(u64::MAX), ..none() }), [0; 0]);
    assert_eq!(seqs(Filter { until: time("2026-03-01T18:00:00Z"), ..none() }), [1]);
    let day = Filter {
        since: time("2026-03-02T00:00:00Z"),
        until: time("2026-03-03T00:00:00Z"),
        ..none()
    };
    assert_eq!(seqs(day), [3, 4, 5, 6]);
    assert_eq!(seqs(Filter { limit: Some(2), ..none() }), [1, 2]);
    assert_eq!(seqs(Filter { limit: Some(0), ..none() }), [0; 0]);
    let newest = reader.records(&Filter { limit: Some(2), ..none() }).unwrap();
    assert_eq!(newest.iter().map(|it| it.seq).collect::<Vec<_>>(), [11, 10]);
    assert_eq!(reader.last().unwrap(), 11);
    let broken = reader.records(&Filter { tool: text("[a"), ..none() });
    assert!(matches!(broken, Err(ReadError::Pattern { .. })));
}

#[test]
fn counts_follow_the_filter() {
    let (audit, reader) = sample();
    let mut turn = Record::new(RecordKind::Turn);
    turn.model = Some("claude-1".into());
    turn.tokens = Tokens { input: Some(100), output: Some(7), ..Tokens::default() };
    audit.append(turn).wait().unwrap();
    let stats = reader.stats(&Filter::default()).unwrap();
    assert_eq!(stats.records, 12);
    assert_eq!(stats.kinds[&RecordKind::ToolCall], 10);
    assert_eq!((stats.verdicts[&CallOutcome::Deny], stats.verdicts[&CallOutcome::Allow]), (2, 8));
    assert_eq!(stats.tools["Bash"], 5);
    assert_eq!(stats.rules["no"], 2);
    assert_eq!((stats.models["claude-0"], stats.providers["anthropic"]), (4, 10));
    assert_eq!(stats.days[&jiff::civil::date(2026, 3, 2)], 4);
    assert_eq!(
        (stats.turns.recorded, stats.turns.tokens_input, stats.turns.tokens_output),
        (1, 100, 7)
    );
    let filter =
        Filter { tool: Some("Bash".into()), model: Some("claude-1".into()), ..Filter::default() };
    let stats = reader.stats(&filter).unwrap();
    assert_eq!((stats.records, stats.turns.recorded), (1, 1));
}

#[test]
fn a_call_has_the_tokens_of_its_turn() {
    let (audit, reader) = sample();
    let mut record = call("Bash", "{}");
    record.request = Some("req_1".into());
    audit.append(record.clone()).wait().unwrap();
    let mut turn = Record::new(RecordKind::Turn);
    turn.request = Some("req_1".into());
    turn.tokens = Tokens { input: Some(3), output: Some(4), ..Tokens::default() };
    turn.stop_reason = Some("tool_use".into());
    audit.append(turn.clone()).wait().unwrap();
    let shown = reader.show(&record.id.to_string()).unwrap();
    assert_eq!(shown.record.tokens, turn.tokens);
    assert_eq!(shown.record.stop_reason, turn.stop_reason);
    assert_eq!(shown.to_json()["payload"]["tokens_input"], 3);
}

#[test]
fn a_denial_by_name_is_completed() {
    let (audit, reader) = sample();
    let mut denied = call("Bash", "{}");
    denied.tool.as_mut().unwrap().input = None;
    audit.append(denied.clone()).wait().unwrap();
    let before = reader.show(&denied.id.to_string()).unwrap();
    assert_eq!(before.input, None);
    let mut rest = call("Bash", r#"{"command":"rm"}"#);
    rest.completes = Some(denied.id);
    audit.append(rest).wait().unwrap();
    let shown = reader.show(&denied.id.to_string()).unwrap();
    assert_eq!(shown.record.tool.unwrap().input.as_deref(), Some(r#"{"command":"rm"}"#));
    assert!(matches!(shown.input, Some(InputProof { bytes: Some(16), truncated: false, .. })));
    let newest = &reader.records(&Filter { limit: Some(1), ..Filter::default() }).unwrap()[0];
    assert_eq!(newest.record.id, denied.id, "the completion is not shown by itself");
    let stats = reader.stats(&Filter::default()).unwrap();
    assert_eq!(stats.records, 12, "and not counted");
    reader.verify(|_, _| {}).unwrap();
}

#[test]
fn a_record_is_found_by_the_begin_of_its_id() {
    let (_audit, reader) = sample();
    let every = all(&reader);
    let id = every[4].record.id.to_string();
    assert_eq!(reader.show(&id).unwrap(), every[4]);
    assert_eq!(reader.show(&id.to_uppercase()).unwrap(), every[4]);
    assert_eq!(reader.show(&id[..30]).unwrap(), every[4]);
    assert!(
        matches!(reader.show(&id[..8]), Err(ReadError::Ambiguous { some, .. }) if some.len() == 5)
    );
    for wrong in ["", "zzz", "ffffffff", &RecordId::new().to_string(), "' OR 1=1"] {
        assert!(matches!(reader.show(wrong), Err(ReadError::NoRecord(_))), "{wrong}");
    }
}

#[test]
fn the_json_has_the_keys_that_scripts_read() {
    let (_audit, reader) = sample();
    let json = all(&reader)[0].to_json();
    for key in [
        "id",
        "seq",
        "time",
        "type",
        "surface",
        "provider",
        "model",
        "tool",
        "verdict",
        "hash",
        "prev_hash",
    ] {
        assert!(!json[key].is_null(), "{key}: {json}");
    }
    assert_eq!(json["time"], "2026-03-01T12:00:00Z");
    let expected = json!({
        "tool_name": "Bash", "tool_id": "toolu_1", "tool_input": {}, "model": "claude-0",
        "provider": "anthropic", "tokens_input": null, "tokens_output": null, "blocked": true,
        "reason": "because", "event_category": "tool",
    });
    assert_eq!(json["payload"], expected);
}

#[test]
fn an_input_that_reads_in_two_ways_stays_text() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    for input in [r#"{"a":1,"a":2}"#, "ls -l", r#"{"a":"#] {
        audit.append(call("Bash", input)).wait().unwrap();
    }
    for (stored, input) in
        all(&audit.reader().unwrap()).iter().zip([r#"{"a":1,"a":2}"#, "ls -l", r#"{"a":"#])
    {
        assert_eq!(stored.to_json()["tool"]["input"], input);
    }
}

#[test]
fn export_writes_a_line_each() {
    let (_audit, reader) = sample();
    let mut out = Vec::new();
    let filter = Filter { order: RecordOrder::OldestFirst, ..Filter::default() };
    assert_eq!(reader.export(&filter, &mut out).unwrap(), 11);
    let lines: Vec<serde_json::Value> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 11);
    assert!(lines.windows(2).all(|pair| pair[0]["hash"] == pair[1]["prev_hash"]));
}

#[test]
fn many_records_come_page_by_page() {
    let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
    for _ in 0..1700 {
        audit.append(call("Bash", "{}")).wait().unwrap();
    }
    let reader = audit.reader().unwrap();
    for order in [RecordOrder::OldestFirst, RecordOrder::NewestFirst] {
        let found = reader.records(&Filter { order, ..Filter::default() }).unwrap();
        let mut seqs: Vec<u64> = found.iter().map(|it| it.seq).collect();
        if order == RecordOrder::NewestFirst {
            seqs.reverse();
        }
        assert_eq!(seqs, (1..=1700).collect::<Vec<_>>());
    }
}
