//! Appended records are complete and in order, from any number of handles.

use std::thread;

use proptest::prelude::*;

use super::*;
use crate::derived::AfterAdd;
use crate::shared::OpenStore;
use callgate_audit::{
    MatchedRule, ReasonCode, RecordId, RecordedCaller, RecordedPrincipal, RuleId, Timing, Tokens,
};

#[test]
fn records_come_back_in_order() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        let ids: Vec<RecordId> = (0..100)
            .map(|number| {
                let record = call("Bash", &format!(r#"{{"command":"echo {number}"}}"#));
                let id = record.id;
                audit.append(record).wait().unwrap();
                id
            })
            .collect();
        let found = all(&place.reader());
        assert_eq!(found.iter().map(|it| it.record.id).collect::<Vec<_>>(), ids);
        assert_eq!(
            found.iter().map(|it| it.seq).collect::<Vec<_>>(),
            (1..=100).collect::<Vec<_>>()
        );
        assert!(found.windows(2).all(|pair| pair[0].hash == pair[1].prev_hash));
        let verified = place.reader().verify(|_, _| {}).unwrap();
        assert_eq!((verified.records, verified.first, verified.last), (100, 1, 100));
        assert_eq!(verified.head, found[99].hash);
    }
}

#[test]
fn handles_go_anywhere() {
    fn anywhere<T: Send + Sync + 'static>() {}
    anywhere::<Store>();
    anywhere::<crate::Receipt>();
    fn to_another_thread<T: Send + 'static>() {}
    to_another_thread::<RecordReader>();
}

#[test]
fn a_store_in_memory_works_alike() {
    let settings = Settings::at(Location::Memory);
    let (audit, other) = (Store::open(&settings).unwrap(), Store::open(&settings).unwrap());
    audit.append(call("Bash", "{}")).wait().unwrap();
    audit.append(call("Read", "{}")).wait().unwrap();
    let reader = audit.reader().unwrap();
    assert_eq!(all(&reader).len(), 2);
    assert_eq!(reader.verify(|_, _| {}).unwrap().records, 2);
    assert!(all(&other.reader().unwrap()).is_empty(), "each has its own");
}

#[test]
fn many_handles_and_threads_keep_one_chain() {
    let place = Place::new();
    // Two separately opened handles behave like two processes.
    let handles = [Durability::Process, Durability::Disk].map(|durability| place.open(durability));
    thread::scope(|scope| {
        for audit in &handles {
            for worker in 0..3 {
                scope.spawn(move || {
                    for number in 0..200 {
                        let record = call("Bash", &format!("{worker} {number}"));
                        audit.append(record).wait().unwrap();
                    }
                });
            }
        }
        // Meanwhile another thread reads and verifies.
        scope.spawn(|| {
            for _ in 0..20 {
                place.reader().verify(|_, _| {}).unwrap();
                place.reader().records(&Filter::default()).unwrap();
            }
        });
    });
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 1200);
}

#[test]
fn the_last_handle_writes_the_queue() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    let other = audit.clone();
    let receipts: Vec<_> = (0..500).map(|_| other.append(call("Bash", "{}"))).collect();
    drop(audit);
    drop(other);
    assert!(receipts.into_iter().all(|receipt| receipt.wait().is_ok()));
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 500);
}

#[test]
fn the_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append(call("Bash", "{}")).wait().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = place.path().parent().unwrap().to_owned();
    let folders = [folder.clone(), place.journal(), place.path().with_extension("db.head")];
    folders.iter().for_each(|folder| assert_eq!(mode(folder), 0o700));
    let inside = |folder: &Path| -> Vec<_> {
        let paths = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        paths.filter(|path| path.is_file()).collect()
    };
    let files = folders.iter().flat_map(|folder| inside(folder)).collect::<Vec<_>>();
    for ending in [".db", ".head/last", ".state", ".key", ".log", "lock"] {
        assert!(
            files.iter().any(|it| it.to_str().unwrap().ends_with(ending)),
            "{ending}: {files:?}"
        );
    }
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn secrets_are_nowhere_in_the_files() {
    // Built from parts, so that this file does not contain a secret either.
    let aws = ["AKIA", "Q3EGRXBCDEFGHIJK"].concat();
    let github = ["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let place = Place::new();
    let audit = place.open(Durability::Process);
    let input =
        format!(r#"{{"command":"AWS_ACCESS_KEY_ID={aws} curl -H 'token: {github}' x.dev"}}"#);
    let mut record = call("Bash", &input);
    record.detail = Some(format!("withheld {github}"));
    record.who.session = Some(github.clone());
    let mut verdict = RecordedVerdict::new(CallOutcome::Deny);
    verdict.reason = Some(format!("matched {aws}"));
    verdict.shadows =
        vec![MatchedRule { policy: "p".into(), rule: None, reason: format!("matched {github}") }];
    record.verdict = Some(verdict);
    audit.append(record).wait().unwrap();
    audit.append(call("Bash", &github)).wait().unwrap();
    let mut found = all(&place.reader());
    assert_eq!(found.remove(0).record.kind, RecordKind::SessionStarted);
    let kept = found[0].record.tool.as_ref().unwrap().input.as_deref().unwrap();
    assert!(kept.contains("[REDACTED:") && kept.contains("curl -H"), "{kept}");
    assert_eq!(found[0].input.as_ref().unwrap().bytes, Some(input.len() as u64));
    for durable in [false, true] {
        if durable {
            // Moves everything from the log into the file itself.
            place.raw().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
        let bytes = place.bytes();
        assert!(contains(&bytes, "withheld"));
        for secret in [&aws, &github] {
            assert!(!contains(&bytes, secret), "{secret} is in the files");
        }
    }
}

#[test]
fn turns_without_calls_are_counted() {
    let place = Place::new();
    let audit = place.open(Durability::Disk);
    for number in 0..10 {
        let model = (number % 2 == 0).then(|| "claude".to_owned());
        let tokens = Tokens { input: Some(10), output: Some(number), ..Tokens::default() };
        audit.count_turn(crate::TurnCount {
            provider: "anthropic".into(),
            model,
            who: RecordedPrincipal::default(),
            tokens,
        });
    }
    audit.flush().wait().unwrap();
    let turns = place.reader().stats(&Filter::default()).unwrap().turns;
    assert_eq!(turns.without_calls, Some(10));
    assert_eq!((turns.tokens_input, turns.tokens_output), (100, 45));
    let filter = Filter { model: Some("cla*".into()), ..Filter::default() };
    assert_eq!(place.reader().stats(&filter).unwrap().turns.without_calls, Some(5));
    let filter = Filter { session: Some("s".into()), ..Filter::default() };
    assert_eq!(place.reader().stats(&filter).unwrap().turns.without_calls, None);

    audit.count_turn(crate::TurnCount::default());
    drop(audit);
    let turns = place.reader().stats(&Filter::default()).unwrap().turns;
    assert_eq!(turns.without_calls, Some(11), "the last ones are written at the end");
}

fn text() -> impl Strategy<Value = String> {
    // Short words, so that nothing looks like a secret and is redacted.
    proptest::collection::vec("[ -~]{0,3}|\\PC{0,2}|\n|\"|\\\\", 0..6)
        .prop_map(|parts| parts.join(" "))
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn server_caller(id: &Option<String>) -> Option<RecordedCaller> {
    Some(RecordedCaller { kind: "code".into(), id: id.clone() })
        .filter(|caller| caller.id.is_some())
}

fn calls_of(rule: &Option<String>) -> usize {
    rule.as_ref().map_or(0, String::len) % ReasonCode::ALL.len()
}

fn records() -> impl Strategy<Value = Record> {
    let who = (maybe(), maybe(), maybe(), any::<bool>());
    let tool = proptest::option::of((text(), maybe(), text(), maybe(), maybe()));
    let hits = proptest::collection::vec((text(), maybe(), text()), 0..3);
    let verdict = proptest::option::of((0..4_usize, maybe(), maybe(), any::<bool>(), hits));
    let numbers = (any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u64>>());
    let rest = (maybe(), maybe(), maybe(), 0..RecordKind::ALL.len(), 0..6_usize);
    (who, tool, verdict, numbers, rest).prop_map(|(who, tool, verdict, numbers, rest)| {
        let mut record = Record::new(RecordKind::ALL[rest.3]);
        let (agent, session, team, agent_proven) = who;
        record.who = RecordedPrincipal {
            agent,
            session,
            team,
            agent_proven,
            ..RecordedPrincipal::default()
        };
        record.tool = tool.map(|(name, server, call_id, input, definition_hash)| RecordedTool {
            name,
            server,
            call_id,
            input,
            caller: server_caller(&definition_hash),
            rpc_id: definition_hash.clone(),
            definition_hash,
            ..RecordedTool::default()
        });
        record.verdict = verdict.map(|(action, rule, reason, uncovered, hits)| {
            let hit = |(policy, rule, reason)| MatchedRule { policy, rule, reason };
            let shadows = hits.into_iter().map(hit).collect();
            let action = CallOutcome::ALL[action];
            let matched =
                rule.iter().map(|rule| RuleId { policy: rule.clone(), rule: rule.clone() });
            let (matched, code) = (matched.collect(), Some(ReasonCode::ALL[calls_of(&rule)]));
            RecordedVerdict {
                code,
                matched,
                rule,
                reason,
                uncovered,
                shadows,
                ..RecordedVerdict::new(action)
            }
        });
        (record.cwd, record.home) = (rest.0.clone(), rest.1.clone());
        let (judged_us, input, calls) = numbers;
        record.timing = Timing { judged_us, ..Timing::default() };
        record.tokens = Tokens { input, cached: judged_us, reasoning: input, output: None };
        record.calls = calls;
        (record.provider, record.model, record.detail) = (rest.0, rest.1, rest.2);
        record.surface = callgate_call::Surface::ALL.get(rest.4).copied();
        record
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_record_survives_the_round_trip(many in proptest::collection::vec(records(), 1..20)) {
        let audit = Store::open(&Settings::at(Location::Memory)).unwrap();
        for record in &many {
            audit.append(record.clone()).wait().unwrap();
        }
        let reader = audit.reader().unwrap();
        // There are also the records of the sessions that started.
        let mut found = all(&reader);
        found.retain(|stored| many.iter().any(|record| record.id == stored.record.id));
        prop_assert_eq!(found.len(), many.len());
        for (stored, record) in found.iter().zip(&many) {
            prop_assert_eq!(&stored.record, record);
            prop_assert_eq!(&reader.show(&record.id.to_string()).unwrap(), stored);
            let json = stored.to_json();
            prop_assert_eq!(json["type"].as_str(), Some(record.kind.as_str()));
        }
        reader.verify(|_, _| {}).unwrap();
    }
}

#[test]
fn derived_records_are_written_on_flush_and_at_the_end() {
    let place = Place::new();
    let audit = place.open(Durability::Process);
    audit.append_derived(call("derived", "{}"));
    audit.append(call("call", "{}")).wait().unwrap();
    audit.flush().wait().unwrap();
    let names = |place: &Place| -> Vec<String> {
        all(&place.reader()).into_iter().filter_map(|it| Some(it.record.tool?.name)).collect()
    };
    assert_eq!(names(&place), ["call", "derived"]);
    audit.append_derived(call("last", "{}"));
    drop(audit);
    assert_eq!(names(&place), ["call", "derived", "last"]);
    assert_eq!(place.reader().verify(|_, _| {}).unwrap().records, 3);
}

#[test]
fn many_derived_records_do_not_pile_up() {
    let shared = OpenStore::open(&Place::new().settings(Durability::Process)).unwrap();
    let mut given = 0;
    for _ in 0..3000 {
        if let AfterAdd::TooMany(many) = shared.derived.add(call("derived", "{}")) {
            given += many.len();
        }
    }
    assert_eq!(given, 2048);
}

#[test]
fn derived_records_are_written_without_a_flush() {
    for durability in [Durability::Disk, Durability::Process] {
        let place = Place::new();
        let audit = place.open(durability);
        for number in 1..=3 {
            audit.append_derived(call("derived", "{}"));
            while all(&place.reader()).len() < number {
                thread::sleep(std::time::Duration::from_millis(2));
            }
        }
    }
}
