//! How long `callgate policy replay` takes for many records: the calls of `corpus/calls`, in sessions,
//! with a policy of effects and one of histories.
//!
//! `cargo xtask bench replay` builds and runs it; `--records` sets their number.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a panic ends the measurement"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use callgate_audit::{CallOutcome, Record, RecordKind, RecordedTool, RecordedVerdict};
use callgate_call::Surface;
use callgate_store::{Durability, Location, Store};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// How many records there are if the command line does not say.
const RECORDS: usize = 100_000;

/// A session of an agent has about this many calls.
const SESSION: usize = 50;

const HISTORY: &str = "\
policy: history
rules:
  - id: no-sending-of-secrets
    when: { all: [{ connects: '*' }, { after: { reads: '@secrets', within: 1h } }] }
    verdict: deny
    reason: A secret was read before.
  - id: enough
    when: { denied: { times: 5, within: 10m } }
    verdict: deny
    reason: Several calls were denied.
";

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let after = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1);
    let callgate = PathBuf::from(after("--callgate").expect("--callgate PATH"));
    let records = after("--records").map_or(RECORDS, |number| number.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("callgate.yaml");
    let store = folder.path().join("callgate.db");
    fs::write(&config, format!("store: sqlite:{}\n", store.display())).unwrap();
    fs::write(folder.path().join("history.yaml"), HISTORY).unwrap();
    let calls = corpus();
    let made = Instant::now();
    fill(&store, &calls, records);
    println!("{records} records of {} calls, written in {:.1?}", calls.len(), made.elapsed());
    println!(
        "\n{:<40}{:>9}{:>9}{:>15}{:>9}",
        "policy replay", "seconds", "CPU", "CPU µs a call", "peak MB"
    );
    let name_only = folder.path().join("names.yaml");
    let names = "policy: names\nrules: [{ id: a, tool: x, verdict: deny, reason: no }]\n";
    fs::write(&name_only, names).unwrap();
    let history = folder.path().join("history.yaml");
    let rows: [(&str, Vec<&Path>); 4] = [
        ("first, with the index", vec![name_only.as_path()]),
        ("a rule on a name", vec![name_only.as_path()]),
        ("builtin:starter, with sessions", vec![Path::new("builtin:starter")]),
        ("and rules on histories", vec![Path::new("builtin:starter"), history.as_path()]),
    ];
    for (what, policies) in rows {
        let Measured { took, cpu, peak } = replay(&callgate, &config, &policies);
        let each = cpu.as_micros() as f64 / records as f64;
        let (took, cpu) = (took.as_secs_f64(), cpu.as_secs_f64());
        println!("{what:<40}{took:>9.1}{cpu:>9.1}{each:>15.1}{peak:>9}");
    }
}

struct Call {
    tool: String,
    server: Option<String>,
    input: String,
    cwd: Option<String>,
    home: Option<String>,
}

/// The calls of the corpus, harmless ones nine times as often as hostile ones.
fn corpus() -> Vec<Call> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/calls");
    let read = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (harmless, hostile) = (read("harmless.jsonl"), read("hostile.jsonl"));
    let hostile = hostile.into_iter().step_by(11);
    harmless.into_iter().chain(hostile).map(|call| Call::of(&call)).collect()
}

impl Call {
    fn of(json: &Value) -> Self {
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        let input = match &json["input"] {
            Value::String(text) => text.clone(),
            input => input.to_string(),
        };
        let (tool, server) = (text("tool").unwrap_or_default(), text("server"));
        Self { tool, server, input, cwd: text("cwd"), home: text("home") }
    }

    fn record(&self, session: usize, time: Timestamp) -> Record {
        let mut record = Record::new(RecordKind::ToolCall);
        record.time = time;
        record.surface = Some(Surface::Response);
        record.who.user = Some("dev".into());
        record.who.agent = Some("claude-code".into());
        record.who.session = Some(format!("session-{session}"));
        record.request = Some(format!("request-{}", time.as_second() / 2));
        record.provider = Some("anthropic".into());
        record.model = Some("claude-sonnet-5-5".into());
        (record.cwd, record.home) = (self.cwd.clone(), self.home.clone());
        let name = match &self.server {
            Some(server) => format!("mcp__{server}__{}", self.tool),
            None => self.tool.clone(),
        };
        let input = Some(self.input.clone());
        record.tool = Some(RecordedTool {
            name,
            call_id: "toolu_1".into(),
            input,
            ..RecordedTool::default()
        });
        let mut verdict = RecordedVerdict::new(CallOutcome::Allow);
        (verdict.policy, verdict.uncovered) = (Some("starter".into()), true);
        record.verdict = Some(verdict);
        record
    }
}

/// Two sessions at a time, a call every second.
fn fill(store: &Path, calls: &[Call], records: usize) {
    let location = Location::Sqlite(store.to_owned());
    let settings = callgate_store::Settings {
        durability: Durability::Process,
        ..callgate_store::Settings::at(location)
    };
    let store = Store::open(&settings).unwrap();
    let begin = Timestamp::now() - SignedDuration::from_secs(records as i64);
    for at in 0..records {
        // A step that shares no factor with the number of calls mixes them.
        let call = &calls[at * 7919 % calls.len()];
        let session = at / (2 * SESSION) * 2 + at % 2;
        let time = begin + SignedDuration::from_secs(at as i64);
        let receipt = store.append(call.record(session, time));
        if at % 1000 == 999 {
            receipt.wait().unwrap();
        }
    }
    store.flush().wait().unwrap();
}

/// What a replay costs.
struct Measured {
    took: Duration,
    /// Of all threads.
    cpu: Duration,
    /// The most memory in use, in megabytes.
    peak: u64,
}

fn replay(callgate: &Path, config: &Path, policies: &[&Path]) -> Measured {
    let mut command = Command::new(callgate);
    command.arg("--config").arg(config).args(["policy", "replay", "--json"]);
    policies.iter().for_each(|policy| {
        command.arg("--policy").arg(policy);
    });
    command.stdout(Stdio::null());
    let begin = Instant::now();
    let mut child = command.spawn().unwrap();
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let (mut peak, mut cpu) = (0, Duration::ZERO);
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success());
            return Measured { took: begin.elapsed(), cpu, peak: peak / 1024 };
        }
        cpu = cpu.max(cpu_time(&process));
        let text = fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The time that a process has spent on a processor; none if it has ended.
fn cpu_time(process: &Path) -> Duration {
    let text = fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields = text.rsplit_once(") ").map(|(_, rest)| rest.split(' ')).into_iter().flatten();
    // The 14th and 15th field, in hundredths of a second.
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
