//! What an append costs: `cargo run --release --package callgate-audit --example latency`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic ends the measurement")]

use std::thread;
use std::time::{Duration, Instant};

use callgate_audit::{CallOutcome, Record, RecordKind, RecordedTool, RecordedVerdict};
use callgate_store::{Durability, Location, Receipt, Settings, Store};

fn main() {
    one_append();
    many_appends();
    open_append_close();
}

/// A record as the gateway writes one for an allowed call.
fn call() -> Record {
    let mut record = Record::new(RecordKind::ToolCall);
    record.surface = Some(callgate_call::Surface::Response);
    record.who.session = Some("7b1f4e52-5c36-4be6-9f0f-2d7b4b2f6a11".into());
    record.who.agent = Some("claude-code".into());
    record.request = Some("req_011CSHoEeqs5C35K2UUqR7Fy".into());
    record.provider = Some("anthropic".into());
    record.dialect = Some("anthropic".into());
    record.model = Some("claude-sonnet-4-5-20250929".into());
    let input = r#"{"command":"cargo test --package callgate-audit -- --nocapture","description":"Run the tests of one crate"}"#;
    record.tool = Some(RecordedTool {
        name: "Bash".into(),
        call_id: "toolu_01A09q90qw90lq917835lq9".into(),
        input: Some(input.into()),
        ..RecordedTool::default()
    });
    let mut verdict = RecordedVerdict::new(CallOutcome::Allow);
    verdict.policy = Some("starter".into());
    verdict.uncovered = true;
    verdict.reason = Some("no rule matched, the default allows".into());
    record.verdict = Some(verdict);
    record.timing.judged_us = Some(12);
    record
}

fn open(durability: Durability) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("callgate.db"));
    let audit = Store::open(&Settings { durability, ..Settings::at(store) }).unwrap();
    (folder, audit)
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_nanos();
    let (p50, p90, p99) = (at(0.5), at(0.9), at(0.99));
    println!("{what:45} p50 {p50:>9} ns   p90 {p90:>9} ns   p99 {p99:>9} ns");
}

fn one_append() {
    for (what, durability, many, pause) in [
        ("process, one after another", Durability::Process, 20_000, 0),
        ("process, one each millisecond", Durability::Process, 2_000, 1),
        ("disk, one after another", Durability::Disk, 500, 0),
    ] {
        let (_folder, audit) = open(durability);
        let (mut calling, mut whole) = (Vec::new(), Vec::new());
        for _ in 0..many {
            let record = call();
            let begin = Instant::now();
            let receipt = audit.append(record);
            calling.push(begin.elapsed());
            receipt.wait().unwrap();
            whole.push(begin.elapsed());
            if pause > 0 {
                thread::sleep(Duration::from_millis(pause));
            }
        }
        report(&format!("{what}: the call"), calling);
        report(&format!("{what}: until durable"), whole);
    }
}

fn many_appends() {
    for (what, durability) in [("process", Durability::Process), ("disk", Durability::Disk)] {
        let (_folder, audit) = open(durability);
        let (threads, each) = (4, 10_000);
        let begin = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let receipts: Vec<Receipt> = (0..each).map(|_| audit.append(call())).collect();
                    receipts.into_iter().for_each(|it| it.wait().unwrap());
                });
            }
        });
        let rate = f64::from(threads * each) / begin.elapsed().as_secs_f64();
        println!("{what}, {threads} threads: {rate:.0} records per second");
    }
}

fn open_append_close() {
    for running in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = Location::Sqlite(folder.path().join("callgate.db"));
        let settings = Settings { durability: Durability::Process, ..Settings::at(store) };
        let gateway = Store::open(&settings).unwrap();
        let gateway = running.then_some(gateway);
        let mut times = Vec::new();
        for _ in 0..100 {
            let begin = Instant::now();
            Store::open(&settings).unwrap().append(call()).wait().unwrap();
            times.push(begin.elapsed());
        }
        drop(gateway);
        report(
            if running { "with a gateway running: open to close" } else { "alone: open to close" },
            times,
        );
    }
}
