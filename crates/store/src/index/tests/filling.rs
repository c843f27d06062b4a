//! Filling: once, twice, by several processes at once, interrupted, and from another journal.

use super::*;
use crate::journal::JournalEntry;

#[test]
fn a_second_time_changes_nothing() {
    let (folder, log) = (Folder::new(), sample());
    fill(&folder.index(), &log).unwrap();
    let once = folder.content();
    let forget = "UPDATE filled SET seq = 4050, segment = NULL, offset = NULL, hash = NULL";
    folder.raw().execute_batch(forget).unwrap();
    let filled = fill(&folder.index(), &log).unwrap();
    assert_eq!((filled.first, filled.seq), (4051, 4150));
    assert_eq!(folder.content(), once);
}

#[test]
fn one_by_one_is_the_same_as_at_once() {
    let (slow, fast, all) = (Folder::new(), Folder::new(), sample());
    let log = MemoryLog::starting_after(4050);
    let index = slow.index();
    for entry in all.entries() {
        let time = entry.at;
        let JournalEntry { joins, body, .. } = entry;
        log.append_sealed(callgate_audit::Sealed { time, joins, session: None, body });
        fill(&index, &log).unwrap();
    }
    fill(&fast.index(), &log).unwrap();
    assert_eq!(slow.content(), fast.content());
}

#[test]
fn several_may_fill_at_once() {
    let (folder, log) = (Folder::new(), sample());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (log, folder) = (log.clone(), &folder);
            scope.spawn(move || {
                let index = folder.index();
                for number in 0..60 {
                    log.append(call(&format!("tool {}", number % 7)));
                    match fill(&index, &log) {
                        Ok(_) => {}
                        // Another connection held the lock for longer than this one waits.
                        Err(error) => assert!(error.is_lock(), "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(fill(&folder.index(), &log).unwrap().seq, 4050 + 100 + 180);
    let alone = Folder::new();
    fill(&alone.index(), &log).unwrap();
    assert_eq!(folder.content(), alone.content());
}

#[test]
fn an_interrupted_fill_is_resumed() {
    let (folder, whole, log) = (Folder::new(), Folder::new(), sample());
    let index = folder.index();
    // In the middle of the second block: the first stays, nothing of the second does.
    log.fail_at(Some(4120));
    let failed = fill(&index, &log).unwrap_err();
    assert!(matches!(failed, IndexError::Journal(_)), "{failed}");
    assert_eq!(index.filled().unwrap().seq, 4095);
    let raw = folder.raw();
    let begun: i64 = raw
        .query_row("SELECT count(*) FROM entries WHERE seq > 4095", [], |row| row.get(0))
        .unwrap();
    assert_eq!(begun, 0);
    log.fail_at(None);
    fill(&index, &log).unwrap();
    fill(&whole.index(), &log).unwrap();
    assert_eq!(folder.content(), whole.content());
}

#[test]
fn filling_can_be_stopped_between_blocks() {
    let (folder, log) = (Folder::new(), sample());
    let mut seen = Vec::new();
    let filled = folder.index().fill(&log, FillStart::Oldest, &mut |progress| {
        seen.push((progress.done, progress.last));
        ControlFlow::Break(())
    });
    assert_eq!(filled.unwrap().seq, 4095);
    assert_eq!(seen, [(4095, 4150)]);
}

#[test]
fn another_journal_is_indexed_from_its_beginning() {
    let (folder, fresh, log) = (Folder::new(), Folder::new(), sample());
    let index = folder.index();
    fill(&index, &log).unwrap();
    for records in [20, 200] {
        // A shorter and a longer journal than the indexed one.
        let other = MemoryLog::starting_after(4050);
        (0..records).for_each(|_| {
            other.append(call("Other"));
        });
        let filled = fill(&index, &other).unwrap();
        assert_eq!(filled.seq, 4050 + records);
        let fresh = Folder::new();
        fill(&fresh.index(), &other).unwrap();
        assert_eq!(without_ids(&folder), without_ids(&fresh));
    }
    drop(fresh);
}

/// The names. Their ids continue after a rebuild.
fn without_ids(folder: &Folder) -> Vec<(i64, String)> {
    let raw = folder.raw();
    let sql = "SELECT field, text FROM names ORDER BY field, text";
    let mut query = raw.prepare(sql).unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn expired_records_leave_a_block_at_a_time() {
    let (folder, log) = (Folder::new(), sample());
    log.append(call("Late"));
    let index = folder.index();
    fill(&index, &log).unwrap();
    let count = |sql: &str| -> i64 { folder.raw().query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM entries"), 101);
    log.expire(4090);
    fill(&index, &log).unwrap();
    assert_eq!(count("SELECT count(*) FROM entries"), 101, "not a whole block yet");
    log.expire(4098);
    fill(&index, &log).unwrap();
    assert_eq!(count("SELECT min(seq) FROM entries"), 4096);
    assert_eq!(count("SELECT min(block) FROM marks"), 1);
    assert_eq!(count("SELECT min(block) FROM blocks"), 1);
    assert_eq!(count("SELECT count(*) FROM names WHERE text = 'session 1'"), 0);
    assert_eq!(count("SELECT count(*) FROM names WHERE text = 'session 9'"), 1);
    // A removed name comes back with another id.
    let mut record = call("Bash");
    record.who.session = Some("session 1".to_owned());
    log.append(record);
    fill(&index, &log).unwrap();
    assert_eq!(count("SELECT count(*) FROM names WHERE text = 'session 1'"), 1);
    let unused = "SELECT count(*) FROM marks WHERE field NOT IN (8, 20) \
                  AND value NOT IN (SELECT id FROM names)";
    assert_eq!(count(unused), 0);
}

#[test]
fn all_that_was_indexed_may_expire() {
    let (folder, log) = (Folder::new(), sample());
    let index = folder.index();
    fill(&index, &log).unwrap();
    (0..50).for_each(|_| {
        log.append(call("Late"));
    });
    log.expire(4180);
    let filled = fill(&index, &log).unwrap();
    assert_eq!((filled.first, filled.seq), (4180, 4200));
}

#[test]
fn an_empty_journal_is_indexed() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    let index = folder.index();
    let filled = fill(&index, &log).unwrap();
    assert_eq!((filled.first, filled.seq), (1, 0));
    assert_eq!(fill(&index, &log).unwrap(), filled, "and then there is nothing to do");
    assert_eq!(log.append(call("Bash")), 1);
    assert_eq!(fill(&index, &log).unwrap().seq, 1);
}
