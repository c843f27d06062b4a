//! An index that is read-only, locked, damaged or removed during a query.

use super::*;

fn journal() -> MemoryLog {
    let log = MemoryLog::starting_after(4000);
    for number in 0..200 {
        log.append(call(["Bash", "Read"][number % 2]));
    }
    log
}

fn bash() -> Filter {
    Filter { tool: Some("Bash".to_owned()), ..oldest_first() }
}

fn expected() -> Vec<u64> {
    (4001..4200).step_by(2).collect()
}

#[test]
fn a_locked_index_delays_no_reader() {
    let (folder, log) = (Folder::new(), journal());
    let reader = reader(&folder, &log);
    let lock = folder.raw();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(seqs(&reader.records(&bash()).unwrap()), expected());
    let count = |sql: &str| -> i64 { lock.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM entries"), 0, "it is in the reader's own index");
    lock.execute_batch("ROLLBACK").unwrap();
    log.append(call("Bash"));
    assert_eq!(reader.records(&bash()).unwrap().len(), 101);
    assert_eq!(count("SELECT count(*) FROM entries"), 201, "and now in the shared one");
}

#[test]
fn a_reader_needs_no_index_of_its_own_while_records_are_appended() {
    fn sent<T: Send>(it: T) -> T {
        it
    }
    let (folder, log) = (Folder::new(), journal());
    let reader = sent(reader(&folder, &log));
    std::thread::scope(|scope| {
        let log = log.clone();
        let writer = scope.spawn(move || (0..500).for_each(|_| _ = log.append(call("Bash"))));
        let mut found = 0;
        while !writer.is_finished() {
            let now = reader.records(&bash()).unwrap().len();
            assert!(now >= found.max(100));
            found = now;
        }
    });
    assert_eq!(reader.records(&bash()).unwrap().len(), 600);
    assert!(reader.own.get().is_none());
}

#[test]
fn no_index_at_all_is_enough() {
    let (folder, log) = (Folder::new(), journal());
    let reader = RecordReader { shared: None, ..reader(&folder, &log) };
    assert_eq!(seqs(&reader.records(&bash()).unwrap()), expected());
    assert_eq!(stats(&reader, &bash()).unwrap().tools["Bash"], 100);
    log.expire(4101);
    assert_eq!(reader.records(&bash()).unwrap().len(), 50);
    assert!(matches!(reader.reindex(|_, _| {}), Err(ReadError::Failed(_))));
}

#[test]
fn an_index_of_another_journal_is_not_believed() {
    let folder = Folder::new();
    let other = MemoryLog::starting_after(4000);
    (0..300).for_each(|_| {
        other.append(call("Bash"));
    });
    reader(&folder, &other).records(&bash()).unwrap();
    let log = journal();
    assert_eq!(seqs(&read_only(&folder, &log).records(&bash()).unwrap()), expected());
    assert_eq!(seqs(&reader(&folder, &log).records(&bash()).unwrap()), expected());
}

#[test]
fn an_index_may_be_rebuilt_during_a_query() {
    for order in [RecordOrder::OldestFirst, RecordOrder::NewestFirst] {
        let (folder, log) = (Folder::new(), journal());
        let (reader, other) = (reader(&folder, &log), reader(&folder, &log));
        let mut found = Vec::new();
        let filter = Filter { order, ..bash() };
        reader
            .for_each(&filter, |stored| {
                found.push(stored.seq);
                if found.len() == 10 {
                    assert_eq!(other.reindex(|_, _| {}).unwrap(), 200);
                }
                if found.len() == 20 {
                    // Rebuilt, but not filled.
                    let raw = folder.raw();
                    raw.execute_batch(
                        "DELETE FROM entries; DELETE FROM marks; DELETE FROM names; \
                         DELETE FROM blocks; UPDATE filled SET seq = 4000, segment = NULL, \
                         offset = NULL, hash = NULL, generation = generation + 1, \
                         pruned = pruned + 1",
                    )
                    .unwrap();
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        if order == RecordOrder::NewestFirst {
            found.reverse();
        }
        assert_eq!(found, expected());
    }
}

#[test]
fn a_wrong_spot_is_noticed_and_mended() {
    let (folder, log) = (Folder::new(), journal());
    let reader = reader(&folder, &log);
    reader.records(&bash()).unwrap();
    let wrong = "UPDATE entries SET segment = 410, offset = 100 WHERE seq = 4051";
    folder.raw().execute_batch(wrong).unwrap();
    assert_eq!(seqs(&read_only(&folder, &log).records(&bash()).unwrap()), expected());
    assert_eq!(seqs(&reader.records(&bash()).unwrap()), expected());
    let spot = "SELECT segment FROM entries WHERE seq = 4051";
    let segment: i64 = folder.raw().query_row(spot, [], |row| row.get(0)).unwrap();
    assert_eq!(segment, 405);
}

#[test]
fn progress_is_shown_while_much_is_indexed() {
    let (folder, log) = (Folder::new(), journal());
    let shown = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let list = shown.clone();
    let show = move |done, all| list.lock().push((done, all));
    let reader = reader(&folder, &log).with_progress(show);
    reader.records(&bash()).unwrap();
    assert_eq!(*shown.lock(), [(4095, 4200), (4200, 4200)]);
}

#[test]
fn a_store_in_memory_has_an_index_that_its_readers_share() {
    let log = journal();
    let place = StorePlace::new(&crate::settings::Location::Memory);
    let one = RecordReader::new(Box::new(log.clone()), &place).unwrap();
    let two = RecordReader::new(Box::new(log.clone()), &place).unwrap();
    assert_eq!(seqs(&one.records(&bash()).unwrap()), expected());
    log.append(call("Bash"));
    assert_eq!(two.records(&bash()).unwrap().len(), 101);
    assert_eq!(one.records(&bash()).unwrap().len(), 101);
}
