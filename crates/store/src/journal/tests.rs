//! The journal on a disk that fails.

mod crashing;
mod files;
mod sim;
mod tampering;

use std::ops::ControlFlow;
use std::sync::Arc;

use callgate_audit::{Record, RecordKind, Sealed};

use super::{Import, ImportEnd, Journal, JournalLimits, JournalLog, Log, MemoryVolume, Volume};
use crate::database::Fault;
use crate::settings::{Durability, Retention};
use crate::verify::{Verified, VerifyError};

const NONE: Retention = Retention { age: None, records: None, bytes: None };

fn open(volume: &Arc<impl Volume + 'static>, retention: &Retention) -> Result<Journal, Fault> {
    let volume = Arc::clone(volume) as Arc<dyn Volume>;
    Journal::open(volume, Durability::Disk, JournalLimits::new(retention))
}

fn sealed(text: &str) -> Sealed {
    Sealed::new(Record { detail: Some(text.to_owned()), ..Record::new(RecordKind::ToolCall) })
}

fn append(journal: &mut Journal, texts: &[&str], now: i64) -> Result<u64, Fault> {
    let records: Vec<Sealed> = texts.iter().map(|text| sealed(text)).collect();
    journal.append(&records, now)
}

/// The texts of all records, in order.
fn details(volume: &Arc<impl Volume + 'static>) -> Vec<String> {
    let mut details = Vec::new();
    log(volume)
        .walk(0, None, &mut |entry| {
            let body: serde_json::Value = serde_json::from_str(&entry.body).unwrap();
            details.push(body["record"]["detail"].as_str().unwrap().to_owned());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    details
}

fn log(volume: &Arc<impl Volume + 'static>) -> JournalLog {
    JournalLog::new(Arc::clone(volume) as Arc<dyn Volume>)
}

fn verify(volume: &Arc<impl Volume + 'static>) -> Result<Verified, VerifyError> {
    log(volume).verify(&mut |_, _| {})
}

#[test]
fn records_are_found_in_order_and_by_their_place() {
    let volume = Arc::<MemoryVolume>::default();
    let mut journal = open(&volume, &NONE).unwrap();
    assert_eq!(append(&mut journal, &["a", "b"], 10).unwrap(), 2);
    assert_eq!(append(&mut journal, &["c"], 5).unwrap(), 3);
    assert_eq!(details(&volume), ["a", "b", "c"]);
    let log = log(&volume);
    let mut entries = Vec::new();
    log.walk(1, None, &mut |entry| {
        entries.push(entry);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(entries.iter().map(|it| it.seq).collect::<Vec<_>>(), [2, 3]);
    assert!(entries[1].at >= entries[0].at, "times never go back");
    assert_eq!(entries[1].before, entries[0].hash);
    assert_eq!(log.entry(entries[1].spot).unwrap().as_ref(), Some(&entries[1]));
    let mut behind = Vec::new();
    log.walk(2, Some(entries[0].spot), &mut |entry| {
        behind.push(entry.seq);
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(behind, [3]);
    let verified = verify(&volume).unwrap();
    assert_eq!((verified.records, verified.first, verified.last), (3, 1, 3));
}

#[test]
fn several_writers_make_one_chain() {
    let volume = Arc::<MemoryVolume>::default();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let volume = &volume;
            scope.spawn(move || {
                let few = Retention { bytes: Some(1 << 20), ..NONE };
                let mut journal = open(volume, &few).unwrap();
                for n in 0..50 {
                    append(&mut journal, &[&format!("{writer}-{n}"), "x"], n).unwrap();
                }
            });
        }
    });
    assert_eq!(verify(&volume).unwrap().records, 400);
    for writer in 0..4 {
        let own: Vec<String> = details(&volume)
            .into_iter()
            .filter(|it| it.starts_with(&format!("{writer}-")))
            .collect();
        assert_eq!(own, (0..50).map(|n| format!("{writer}-{n}")).collect::<Vec<_>>());
    }
}

#[test]
fn a_journal_never_exceeds_its_limits() {
    for (retention, most) in [
        (Retention { records: Some(1), ..NONE }, 1),
        (Retention { records: Some(100), ..NONE }, 100),
        (Retention { bytes: Some(20_000), ..NONE }, u64::MAX),
    ] {
        let volume = Arc::<MemoryVolume>::default();
        let mut journal = open(&volume, &retention).unwrap();
        for n in 0..300_i64 {
            let many = usize::try_from(n % 7 + 1).unwrap();
            append(&mut journal, &vec!["some text"; many], n).unwrap();
            let verified = verify(&volume).unwrap();
            assert!((1..=most).contains(&verified.records), "{}", verified.records);
            assert_eq!(verified.last, verified.expired + verified.records);
            let bytes: u64 = volume
                .numbers()
                .unwrap()
                .iter()
                .map(|it| volume.open(*it).unwrap().unwrap().size().unwrap().unwrap())
                .sum();
            assert!(retention.bytes.is_none_or(|most| bytes <= most), "{bytes}");
        }
        assert!(verify(&volume).unwrap().expired > 0);
        // At most a sixteenth less than the limit.
        if most == 100 {
            assert!(verify(&volume).unwrap().records >= 100 - 2 * (100 / 16 + 1));
        }
    }
}

#[test]
fn old_records_leave_when_their_time_has_come() {
    let volume = Arc::<MemoryVolume>::default();
    let second = 1_000_000;
    let retention = Retention { age: Some(std::time::Duration::from_secs(160)), ..NONE };
    let mut journal = open(&volume, &retention).unwrap();
    let begin = crate::shared::now();
    for n in 0..400 {
        let now = begin + n * second;
        append(&mut journal, &["x"], now).unwrap();
        journal.expire(now).unwrap();
        let mut oldest = None;
        log(&volume)
            .walk(0, None, &mut |entry| {
                oldest.get_or_insert(entry.at);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        assert!(oldest.unwrap() >= now - 160 * second);
    }
    let verified = verify(&volume).unwrap();
    assert!(verified.records >= 149 && verified.expired >= 200, "{verified:?}");
    journal.expire(begin + 10_000 * second).unwrap();
    assert_eq!(verify(&volume).unwrap().records, 0);
    append(&mut journal, &["again"], begin + 10_001 * second).unwrap();
    assert_eq!((verify(&volume).unwrap().last, details(&volume)), (401, vec!["again".to_owned()]));
}

#[test]
fn records_that_are_brought_in_keep_their_hashes() {
    for tail in [ImportEnd::Whole, ImportEnd::Truncated] {
        let volume = Arc::<MemoryVolume>::default();
        append(&mut open(&volume, &NONE).unwrap(), &["left from an attempt"], 1).unwrap();
        let shared = Arc::clone(&volume) as Arc<dyn Volume>;
        let mut import = Import::begin(&shared, 7, [9; 32], 100).unwrap();
        let (mut before, mut total) = ([9; 32], 100);
        for seq in 8..=20 {
            let body = sealed(&format!("{seq}")).body;
            total += i64::try_from(body.len()).unwrap();
            let link = callgate_audit::ChainLink { seq, at: seq, total, joins: None, body: &body };
            let hash = link.hash(&before);
            import.add(&link, &hash).unwrap();
            before = hash;
        }
        import.finish(tail).unwrap();
        let mut journal = open(&volume, &NONE).unwrap();
        append(&mut journal, &["new"], 5).unwrap();
        assert_eq!(details(&volume).len(), 14);
        match (tail, verify(&volume)) {
            (ImportEnd::Whole, Ok(verified)) => {
                assert_eq!((verified.first, verified.last, verified.expired), (8, 21, 7));
            }
            (ImportEnd::Truncated, Err(VerifyError::Broken(broken))) => assert_eq!(broken.seq, 21),
            (tail, found) => panic!("{tail:?}: {found:?}"),
        }
    }
}
