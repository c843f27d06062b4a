//! Joins, ids, counts and exports.

use callgate_audit::{InputProof, RecordId, RecordKind, Sealed, Tokens};

use super::*;

fn turn(request: &str) -> Record {
    let mut turn = Record::new(RecordKind::Turn);
    turn.request = Some(request.to_owned());
    turn.tokens = Tokens { input: Some(3), output: Some(4), ..Tokens::default() };
    turn.stop_reason = Some("tool_use".to_owned());
    turn
}

#[test]
fn a_call_has_the_tokens_of_its_turn() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    let mut record = call("Bash");
    record.request = Some("r1".to_owned());
    log.append(record.clone());
    let writing = reader(&folder, &log);
    assert_eq!(writing.show(&record.id.to_string()).unwrap().record.tokens, Tokens::default());
    // The call is in the shared index, and its turn only in the private one.
    log.append(turn("r1"));
    for reader in [read_only(&folder, &log), writing] {
        let shown = reader.show(&record.id.to_string()).unwrap();
        assert_eq!(shown.record.tokens, turn("r1").tokens);
        assert_eq!(shown.record.stop_reason.as_deref(), Some("tool_use"));
        assert_eq!(reader.records(&oldest_first()).unwrap()[0], shown);
        assert_eq!(reader.records(&oldest_first()).unwrap()[1].record.tokens.input, Some(3));
    }
}

#[test]
fn two_texts_with_one_hash_are_distinguished() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    let mut record = call("Bash");
    record.request = Some("r1".to_owned());
    log.append(record.clone());
    log.append(turn("r1"));
    log.append(Record { tokens: Tokens::default(), ..turn("r2") });
    let reader = reader(&folder, &log);
    reader.records(&Filter::default()).unwrap();
    let same = "UPDATE entries SET joins = (SELECT joins FROM entries WHERE seq = 2) WHERE seq = 3";
    folder.raw().execute_batch(same).unwrap();
    assert_eq!(reader.show(&record.id.to_string()).unwrap().record.tokens.input, Some(3));
}

#[test]
fn a_denial_by_name_is_completed() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    let mut denied = call("Bash");
    denied.tool.as_mut().unwrap().input = None;
    log.append(denied.clone());
    let reader = reader(&folder, &log);
    assert_eq!(reader.show(&denied.id.to_string()).unwrap().input, None);
    let mut rest = call("Bash");
    rest.tool.as_mut().unwrap().input = Some(r#"{"command":"rm"}"#.to_owned());
    rest.completes = Some(denied.id);
    log.append(rest);
    let shown = reader.show(&denied.id.to_string()).unwrap();
    assert_eq!(shown.record.tool.unwrap().input.as_deref(), Some(r#"{"command":"rm"}"#));
    assert!(matches!(shown.input, Some(InputProof { bytes: Some(16), truncated: false, .. })));
    assert_eq!(seqs(&reader.records(&Filter::default()).unwrap()), [1], "not by itself");
    assert_eq!(stats(&reader, &Filter::default()).unwrap().records, 1);
}

#[test]
fn a_record_is_found_by_the_beginning_of_its_id() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    (0..10).for_each(|_| {
        log.append(call("Bash"));
    });
    let reader = reader(&folder, &log);
    let every = reader.records(&oldest_first()).unwrap();
    let id = every[4].record.id.to_string();
    for text in [id.clone(), id.to_uppercase(), format!(" {id} "), id[..30].to_owned()] {
        assert_eq!(reader.show(&text).unwrap(), every[4]);
    }
    let several = reader.show(&id[..8]);
    assert!(matches!(several, Err(ReadError::Ambiguous { some, .. }) if some.len() == 5));
    for wrong in
        ["", "zzz", "ffffffff", &RecordId::new().to_string(), "' OR 1=1", &id.replace('-', "")]
    {
        assert!(matches!(reader.show(wrong), Err(ReadError::NoRecord(_))), "{wrong}");
    }
    log.expire(6);
    assert!(matches!(reader.show(&id), Err(ReadError::NoRecord(_))), "expired");
}

#[test]
fn records_after_a_sequence_number_are_found_at_once() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(4090));
    let reader = reader(&folder, &log);
    let mut after = 0;
    for _ in 0..20 {
        let seq = log.append(call("Bash"));
        let filter = Filter { after: Some(after), ..oldest_first() };
        assert_eq!(seqs(&reader.records(&filter).unwrap()), [seq]);
        assert_eq!(reader.last().unwrap(), seq);
        after = seq;
    }
    let none = Filter { after: Some(u64::MAX), ..oldest_first() };
    assert_eq!(reader.records(&none).unwrap(), []);
}

#[test]
fn counting_reads_no_record() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(4000));
    for number in 0..200 {
        log.append(call(["Bash", "Read"][number % 2]));
    }
    let reader = reader(&folder, &log);
    reader.records(&Filter { limit: Some(1), ..Filter::default() }).unwrap();
    let before = log.reads();
    let filter = Filter { tool: Some("bash".to_owned()), ..Filter::default() };
    assert_eq!(stats(&reader, &filter).unwrap().records, 100);
    // One read to check that the index matches this journal.
    assert!(log.reads() - before <= 2, "{}", log.reads() - before);
}

#[test]
fn export_writes_a_line_each() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    for number in 0..1100 {
        log.append(call(["Bash", "Read"][number % 2]));
    }
    let reader = reader(&folder, &log);
    let lines = |filter: &Filter| -> Vec<serde_json::Value> {
        let mut out = Vec::new();
        let written = reader.export(filter, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        assert_eq!(lines.len() as u64, written);
        lines
    };
    let all = lines(&oldest_first());
    assert_eq!(all.len(), 1100);
    assert!(all.windows(2).all(|pair| pair[0]["hash"] == pair[1]["prev_hash"]));
    let (after, limit) = (Some(700), Some(3));
    assert_eq!(lines(&Filter { after, limit, ..oldest_first() }), all[700..703]);
    let bash = Filter { tool: Some("Bash".to_owned()), limit: Some(2), ..oldest_first() };
    assert_eq!(lines(&bash), [all[0].clone(), all[2].clone()]);
    assert_eq!(lines(&Filter::default())[0], all[1099]);
}

#[test]
fn a_record_that_cannot_be_read_is_reported_and_the_others_are_found() {
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    let good = call("Bash");
    log.append(good.clone());
    let mut broken = Sealed::new(call("Read"));
    broken.body = broken.body.replace("\"tool_call\"", "\"unheard_of\"");
    log.append_sealed(broken);
    log.append(call("Bash"));
    let reader = reader(&folder, &log);
    assert_eq!(reader.show(&good.id.to_string()).unwrap().seq, 1);
    let filter = Filter { tool: Some("Bash".to_owned()), ..oldest_first() };
    let unreadable = |error| matches!(error, ReadError::Unreadable { seq: 2, .. });
    assert!(unreadable(reader.records(&filter).unwrap_err()));
    assert!(unreadable(stats(&reader, &filter).unwrap_err()));
    let starting_after = Filter { after: Some(2), ..filter.clone() };
    assert_eq!(seqs(&reader.records(&starting_after).unwrap()), [3]);
    let (report, reports) = std::sync::mpsc::channel();
    let reader =
        reader.with_unreadable(move |seq, why| report.send((seq, why.to_owned())).unwrap());
    assert_eq!(seqs(&reader.records(&filter).unwrap()), [1, 3]);
    let mut exported = Vec::new();
    assert_eq!(reader.export(&oldest_first(), &mut exported).unwrap(), 2);
    let mut in_order = Vec::new();
    let visit = |stored: StoredRecord| {
        in_order.push(stored.seq);
        Ok(std::ops::ControlFlow::Continue(()))
    };
    reader.for_each_in_order(&filter, visit).unwrap();
    assert_eq!(in_order, [1, 3]);
    assert_eq!(stats(&reader, &filter).unwrap().records, 2);
    let reports: Vec<(u64, String)> = reports.try_iter().collect();
    assert!(matches!(reports.as_slice(), [(2, why)] if why.contains("unheard_of")), "{reports:?}");
}

#[test]
fn a_broken_pattern_is_reported() {
    let reader = reader(&Folder::new(), &MemoryLog::starting_after(0));
    let broken = Filter { tool: Some("[a".to_owned()), ..Filter::default() };
    assert!(matches!(reader.records(&broken), Err(ReadError::Pattern(_))));
    assert!(matches!(stats(&reader, &broken), Err(ReadError::Pattern(_))));
}
