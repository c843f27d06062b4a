//! `callgate audit backup` and `reindex`, `callgate tail --after`, and stores of version 0.1.

use std::fs;
use std::path::Path;

use callgate_audit::CallOutcome;

use crate::records::{call, store};
use crate::support::{Ran, Test};

const STORE: &str = ".local/state/callgate/callgate.db";

/// Appends calls with these inputs to the store of a test.
fn append(home: &Path, inputs: &[&str]) {
    let store = store(home);
    for input in inputs {
        store.append(call("Bash", input, CallOutcome::Allow)).wait().unwrap();
    }
}

/// The inputs of the calls that were printed as JSON, and the number of the last one.
fn inputs(ran: &Ran) -> (Vec<String>, u64) {
    let lines = ran.json();
    let calls = lines.iter().filter(|line| line["type"] == "tool_call");
    let last = lines.iter().filter_map(|line| line["seq"].as_u64()).max().unwrap_or(0);
    (calls.map(|line| line["payload"]["tool_input"].as_str().unwrap().to_owned()).collect(), last)
}

#[test]
fn a_backup_is_restored_by_copying_it_back() {
    let test = Test::new(&["audit", "backup", "copy", "--json"]);
    append(&test.path(), &["one", "two"]);
    let ran = test.run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let said = &ran.json()[0];
    let head = said["head"].as_str().unwrap().to_owned();
    assert_eq!(said["records"], 3, "two calls and the beginning of their session");

    append(ran.dir.path(), &["lost"]);
    let state = ran.dir.path().join(".local/state/callgate");
    fs::remove_dir_all(&state).unwrap();
    fs::rename(ran.dir.path().join("copy"), &state).unwrap();
    let ran = Test::again(ran, &["audit", "verify", "--json"]).run();
    assert_eq!(ran.json()[0]["head"], head.as_str(), "{}", ran.stderr);
    let ran = Test::again(ran, &["calls", "--json"]).run();
    assert_eq!(inputs(&ran).0, ["two", "one"], "{}", ran.stderr);
    append(ran.dir.path(), &["three"]);
    let ran = Test::again(ran, &["audit", "verify"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_backup_says_what_is_wrong() {
    let error = "error: no records yet: there is no store at \
                 `[DIR]/.local/state/callgate/callgate.db`\n\
                 hint: start the gateway with `callgate serve`; `callgate demo` shows how it works\n";
    Test::new(&["audit", "backup", "copy"]).run().sees(2, "", error);
    let test = Test::new(&["audit", "backup", "."]);
    append(&test.path(), &["one"]);
    test.run().sees(
        2,
        "",
        "error: `.` is not empty\nhint: name a folder that does not exist yet\n",
    );
}

#[test]
fn a_damaged_index_is_rebuilt_and_the_keys_stay() {
    let test = Test::new(&["keys", "add", "laptop"]);
    append(&test.path(), &["one", "two"]);
    let ran = test.run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let index = ran.dir.path().join(STORE);
    let mut bytes = fs::read(&index).unwrap();
    // Behind the header, which says whose file it is.
    bytes[200..].fill(0xa5);
    fs::write(&index, bytes).unwrap();
    let ran = Test::again(ran, &["audit", "reindex"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, "rebuilt the index: 4 records\n");
    let ran = Test::again(ran, &["calls", "--json"]).run();
    assert_eq!(inputs(&ran).0, ["two", "one"]);
    let ran = Test::again(ran, &["keys", "list"]).run();
    assert!(ran.stdout.contains("laptop"), "{}", ran.stdout);
}

#[test]
fn tail_resumes_after_a_record_without_gaps() {
    let tail = ["tail", "--json", "--no-follow", "--after"];
    let many: Vec<String> = (0..40).map(|number| format!("call {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let test = Test::new(&tail).with(&["0"]);
    append(&test.path(), &many);
    let ran = test.run();
    let (seen, last) = inputs(&ran);
    assert_eq!(seen, many, "more than a tail usually shows, the oldest first");
    append(ran.dir.path(), &["next", "last"]);
    let ran = Test::again(ran, &tail).with(&[&last.to_string()]).run();
    assert_eq!(inputs(&ran).0, ["next", "last"]);
    let ran = Test::again(ran, &tail).with(&["999"]).run();
    let error = "error: there is no record 999: the newest one is 43\n\
                 hint: the store was replaced or restored since; begin again with `--after 0`\n";
    ran.sees(2, "", error);
}

/// Written by callgate 0.1: three calls of an MCP server, and a key.
const STORE_0_1: &[u8] = include_bytes!("../fixtures/store-0.1.db");

#[test]
fn a_store_of_version_0_1_is_moved_once_and_still_verifies() {
    let ran = Test::new(&["audit", "verify"]).file(STORE, STORE_0_1).run();
    let moving = format!(
        "moving 9 records of callgate 0.1 into the journal; the old file is kept as `[DIR]/{STORE}.0.1`\n"
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, moving.as_str()));
    assert_eq!(ran.stdout, format!("the chain is intact: 9 records (1 to 9)\nhead {HEAD_0_1}\n"));
    let kept = fs::read(ran.dir.path().join(format!("{STORE}.0.1"))).unwrap();
    assert!(kept.starts_with(b"SQLite format 3"), "the old file is kept");
    let ran = Test::again(ran, &["keys", "list"]).run();
    assert!(ran.stdout.contains("laptop"), "{}", ran.stdout);
    append(ran.dir.path(), &["new"]);
    let ran = Test::again(ran, &["audit", "export"]).run();
    assert_eq!(ran.stderr, "", "it is not moved again");
    let records = ran.json();
    let first_new = records.iter().find(|record| record["seq"] == 10).unwrap();
    assert_eq!(first_new["prev_hash"], HEAD_0_1, "the first new record names the last old hash");
    assert_eq!(records.iter().filter(|it| it["type"] == "mcp_tool_called").count(), 3);
}

/// The hash of its last record, as version 0.1 printed it.
const HEAD_0_1: &str = "ee2157fbe01feb5c26a0ae515c3ffe6ecf3f317af5ee348d448be2f09a69669b";
