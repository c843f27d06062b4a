//! How much a query over a million records touches.

use std::collections::HashMap;
use std::time::Instant;

use callgate_audit::{Filter, RecordOrder};
use rusqlite::{StatementStatus, params};

use super::super::bits::{BLOCK, Bits, block_of, position_of};
use super::super::field::IndexField;
use super::super::{Bounds, IdRange, count, names, page, seek};
use super::*;

const RECORDS: u64 = 1_000_000;

/// Every statement of a query, and how it must find its rows.
const STATEMENTS: [(&str, &str); 13] = [
    (names::FIND, "SEARCH names USING COVERING INDEX"),
    (names::OF_FIELD, "SEARCH names USING COVERING INDEX"),
    (names::TEXT, "SEARCH names USING INTEGER PRIMARY KEY"),
    (page::MARK, "SEARCH marks USING PRIMARY KEY (block=? AND field=? AND value=?)"),
    (page::MARKS_OF_FIELD, "SEARCH marks USING PRIMARY KEY (block=? AND field=?)"),
    (page::NEXT_BLOCK, "SEARCH blocks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (page::BLOCK_BEFORE, "SEARCH blocks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (seek::SPOT, "SEARCH entries USING INTEGER PRIMARY KEY (rowid=?)"),
    (seek::JOINED, "SEARCH entries USING INDEX entries_joins (joins=? AND rowid>? AND rowid<?)"),
    (seek::BLOCKS_WITH_ID, "SEARCH blocks USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (seek::WITH_ID, "SEARCH entries USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (count::TOKENS, "SEARCH turns USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (count::COUNTED_MARKS, "SEARCH marks USING PRIMARY KEY (block=? AND field>? AND field<?)"),
];

#[test]
fn every_statement_searches() {
    let index = Index::temporary().unwrap();
    for (sql, expected) in STATEMENTS {
        let mut plan = index.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let values = vec![None::<i64>; plan.parameter_count()];
        let values = rusqlite::params_from_iter(values);
        let steps = plan.query_map(values, |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert_eq!(steps.len(), 1, "{sql}: {steps:?}");
        assert!(steps[0].starts_with(expected), "{sql}: {steps:?}");
    }
}

/// The virtual machine steps of all queries so far.
fn steps(index: &Index) -> i32 {
    let taken = |sql| {
        let statement = index.connection.prepare_cached(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::FullscanStep), 0, "{sql}");
        statement.get_status(StatementStatus::VmStep)
    };
    STATEMENTS.iter().map(|(sql, _)| taken(sql)).sum()
}

/// An index of a million records, written straight into the tables.
fn million() -> Index {
    let index = Index::temporary().unwrap();
    let raw = &index.connection;
    raw.execute_batch("BEGIN; DROP INDEX entries_joins").unwrap();
    raw.execute(
        "WITH RECURSIVE seqs (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM seqs WHERE seq < ?1) \
         INSERT INTO entries SELECT seq, seq / 10000, seq % 10000, seq * 1000000000, \
         CAST(printf('%016d', seq) AS BLOB), iif(seq % 10 = 0, seq, NULL) FROM seqs",
        [RECORDS.cast_signed()],
    )
    .unwrap();
    raw.execute_batch("CREATE INDEX entries_joins ON entries (joins) WHERE joins IS NOT NULL")
        .unwrap();
    let mut cache = names::NameCache::default();
    let mut id = |field, text: &str| cache.id(raw, field, text, 0).unwrap();
    let tools: Vec<i64> = (0..40).map(|it| id(IndexField::Tool, &format!("tool {it}"))).collect();
    let users: Vec<i64> = (0..30).map(|it| id(IndexField::User, &format!("user {it}"))).collect();
    let (rare, deny) = (id(IndexField::Tool, "Rare"), id(IndexField::Action, "deny"));
    let (call, session) = (id(IndexField::Kind, "tool_call"), id(IndexField::Session, "mine"));
    for block in 0..=block_of(RECORDS) {
        let mut marks: HashMap<(IndexField, i64), Bits> = HashMap::new();
        for seq in (block * BLOCK).max(1)..((block + 1) * BLOCK).min(RECORDS + 1) {
            let tool = if seq % 100_000 == 7 { rare } else { tools[(seq % 40) as usize] };
            let user = users[(seq / 7 % 30) as usize];
            let mut values =
                vec![(IndexField::Kind, call), (IndexField::Tool, tool), (IndexField::User, user)];
            values.extend((seq % 5000 == 0).then_some((IndexField::Action, deny)));
            values.extend((seq / 100 == 3333).then_some((IndexField::Session, session)));
            for value in values {
                marks.entry(value).or_insert(Bits::NONE).insert(position_of(seq));
            }
        }
        let (first, last) = (block * BLOCK, (block + 1) * BLOCK - 1);
        let times = [first, last].map(|seq| (seq * 1_000_000_000).cast_signed());
        let ids = [first.max(1), last.min(RECORDS)].map(|seq| format!("{seq:016}").into_bytes());
        raw.prepare_cached("INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5)")
            .unwrap()
            .execute(params![block.cast_signed(), times[0], times[1], ids[0], ids[1]])
            .unwrap();
        let mut mark = raw.prepare_cached("INSERT INTO marks VALUES (?1, ?2, ?3, ?4)").unwrap();
        for ((field, value), bits) in marks {
            let block = block.cast_signed();
            mark.execute(params![block, field.number(), value, bits.encode()]).unwrap();
        }
    }
    let filled = "UPDATE filled SET seq = ?1";
    raw.execute(filled, [RECORDS.cast_signed()]).unwrap();
    raw.execute_batch("COMMIT").unwrap();
    index
}

/// Everything a filter finds, page by page.
fn find(index: &Index, filter: &Filter) -> Vec<u64> {
    let wanted = index.translate(filter).unwrap();
    let mut next = Some(Bounds { low: 1, high: RECORDS });
    let mut found = Vec::new();
    while let Some(bounds) = next {
        let page = index.page(&wanted, bounds, filter.order).unwrap();
        for seq in page.seqs {
            let (_, time) = index.spot(seq).unwrap().unwrap();
            found.extend(wanted.is_in_time(time).then_some(seq));
            if Some(found.len()) == filter.limit {
                return found;
            }
        }
        next = page.rest;
    }
    found
}

#[test]
fn a_million_records_are_not_gone_through() {
    let index = million();
    let text = |it: &str| Some(it.to_owned());
    let rare = Filter { tool: text("rare"), ..Filter::default() };
    let session =
        Filter { session: text("mine"), order: RecordOrder::OldestFirst, ..Filter::default() };
    let both = Filter {
        verdict: Some(CallOutcome::Deny),
        who: callgate_audit::WhoFilter { user: text("User 1*"), ..Default::default() },
        ..Filter::default()
    };
    let newest = Filter { limit: Some(20), ..Filter::default() };
    let time = |second| Some(jiff::Timestamp::from_second(second).unwrap());
    let early = Filter { since: time(1000), until: time(1020), ..Filter::default() };
    let denied = |seq: &u64| {
        seq.is_multiple_of(5000)
            && [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].contains(&(seq / 7 % 30))
    };
    let cases: [(&Filter, Vec<u64>); 5] = [
        (&rare, (0..10).rev().map(|it| it * 100_000 + 7).collect()),
        (&session, (333_300..333_400).collect()),
        (&both, (1..=RECORDS).rev().filter(denied).collect()),
        (&newest, (RECORDS - 19..=RECORDS).rev().collect()),
        (&early, (1000..1020).rev().collect()),
    ];
    let mut before = steps(&index);
    for (filter, expected) in cases {
        assert_eq!(find(&index, filter), expected, "{filter:?}");
        let taken = steps(&index) - before;
        // A step is a fraction of the work for one row, and there are 245 blocks.
        assert!(taken < 60_000, "{taken} steps for {filter:?}");
        println!("{taken} steps: {} found", expected.len());
        before += taken;
    }
    let all = Bounds { low: 1, high: RECORDS };
    // The id of record 777777 as bytes is its number in ASCII.
    let id = "30303030-3030-3030-3030-373737373737";
    let found = index.with_id(&IdRange::beginning_with(id).unwrap(), all).unwrap();
    assert_eq!(found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [777_777]);
    let taken = steps(&index) - before;
    assert!(taken < 60_000, "{taken} steps for an id");
    println!("{taken} steps: an id");
    counting_reads_a_few_rows_of_each_block(&index);
}

fn counting_reads_a_few_rows_of_each_block(index: &Index) {
    let before = steps(index);
    let filter = Filter { verdict: Some(CallOutcome::Deny), ..Filter::default() };
    let wanted = index.translate(&filter).unwrap();
    let mut stats = callgate_audit::Stats::default();
    let mut next = Some(Bounds { low: 1, high: RECORDS });
    while let Some(bounds) = next {
        next = index.count(&wanted, bounds, &mut stats).unwrap().rest;
    }
    assert_eq!(stats.records, RECORDS / 5000);
    assert_eq!(stats.users.values().sum::<u64>(), RECORDS / 5000);
    let taken = steps(index) - before;
    assert!(taken < 300_000, "{taken} steps");
    println!("{taken} steps: all counted");
}

/// Prints the cost of indexing a record, with `--nocapture`.
#[test]
fn an_indexed_record_takes_a_small_part_of_its_size() {
    const MEASURED: u64 = 3 * BLOCK;
    let (folder, log) = (Folder::new(), MemoryLog::starting_after(0));
    for number in 0..MEASURED {
        let mut record = call(["Bash", "Read", "Write", "mcp__notes__add"][number as usize % 4]);
        record.tool.as_mut().unwrap().input = Some("x".repeat(300));
        record.who.session = Some(format!("session {}", number / 50));
        record.who.user = Some("ann".to_owned());
        record.who.key = Some("ci".to_owned());
        record.who.agent = Some("codex".to_owned());
        (record.provider, record.model) = (Some("anthropic".to_owned()), Some("claude".to_owned()));
        record.request = Some(format!("request {}", number / 2));
        record.surface = Some(callgate_call::Surface::Response);
        log.append(record);
    }
    let index = folder.index();
    let begin = Instant::now();
    fill(&index, &log).unwrap();
    println!("fill: {:.2} µs per record", begin.elapsed().as_secs_f64() * 1e6 / MEASURED as f64);
    let entries = log.entries();
    let begin = Instant::now();
    for entry in &entries {
        assert!(super::super::columns::Columns::read(&entry.body).is_some());
    }
    println!("of it reading: {:.2} µs", begin.elapsed().as_secs_f64() * 1e6 / MEASURED as f64);
    let begin = Instant::now();
    for entry in &entries {
        let _: callgate_audit::RecordBody<Record> = serde_json::from_str(&entry.body).unwrap();
    }
    println!("a whole record: {:.2} µs", begin.elapsed().as_secs_f64() * 1e6 / MEASURED as f64);
    drop(index);
    let size = std::fs::metadata(folder.path()).unwrap().len();
    let journal: usize = entries.iter().map(|entry| entry.body.len()).sum();
    println!("{} bytes per record", size / MEASURED);
    assert!(size < journal as u64 / 8, "{size} of {journal} bytes");
}
