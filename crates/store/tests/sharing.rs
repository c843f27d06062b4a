//! Several processes share pins and token buckets: they agree on one pin, and never take more
//! tokens than there are.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use callgate_store::{
    Bucket, Durability, Location, PinnedVersion, PutPin, RecordReader, Settings, Store, StoredPin,
};

/// Set in the other processes: the store, what to do with it, and who they are.
const STORE: &str = "CALLGATE_TEST_SHARED_STORE";
const TASK: &str = "CALLGATE_TEST_SHARED_TASK";
const WHO: &str = "CALLGATE_TEST_SHARED_WHO";

/// How many tools each process pins, and how many tokens there are.
const TOOLS: usize = 50;
const TOKENS: u32 = 200;

/// Not a test by itself: what the other processes run.
#[test]
fn other_process() {
    let Ok(store) = std::env::var(STORE) else { return };
    let settings = Settings {
        durability: Durability::Process,
        ..Settings::at(Location::Sqlite(store.into()))
    };
    let audit = Store::open(&settings).unwrap();
    say("ready");
    let mut go = String::new();
    std::io::stdin().read_line(&mut go).unwrap();
    match std::env::var(TASK).as_deref() {
        Ok("pins") => pin_all(&audit, &std::env::var(WHO).unwrap()),
        Ok("tokens") => take_all(&audit),
        _ => {}
    }
}

fn say(line: &str) {
    std::io::stdout().lock().write_all(format!("say {line}\n").as_bytes()).unwrap();
}

fn pin(name: usize, who: &str) -> StoredPin {
    let pinned = PinnedVersion {
        launch: "l".into(),
        launch_shown: "l".into(),
        hash: who.into(),
        whole: who.into(),
        definition: "{}".into(),
    };
    StoredPin {
        server: "s".into(),
        kind: "tool".into(),
        name: format!("t{name}"),
        state: "trusted".into(),
        pinned,
        seen: None,
        first_seen: 0,
        last_seen: 0,
        revision: 0,
    }
}

/// Sees each tool for the first time, and tells whose definition holds.
fn pin_all(audit: &Store, who: &str) {
    for name in 0..TOOLS {
        let holds = match audit.put_pin(&pin(name, who)).unwrap() {
            PutPin::Stored(_) => who.to_owned(),
            PutPin::Stale(Some(kept)) => kept.pinned.hash.clone(),
            PutPin::Stale(None) => panic!("nobody removes"),
        };
        say(&format!("t{name} {holds}"));
    }
}

/// Takes tokens until there are none, and reports each.
fn take_all(audit: &Store) {
    // Nothing comes back within the test: one in a thousand hours.
    let bucket = Bucket { key: [1; 32], burst: TOKENS, calls: 1, seconds: 3_600_000 };
    while audit.take_tokens(&[bucket]).unwrap().is_empty() {
        say("token");
    }
}

fn start(store: &Path, task: &str, who: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_process", "--nocapture"])
        .env(STORE, store)
        .env(TASK, task)
        .env(WHO, who)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What several processes say that begin at the same moment.
fn together(store: &Path, task: &str) -> Vec<Vec<String>> {
    let mut children: Vec<_> = ["one", "two", "three"].map(|who| start(store, task, who)).into();
    let mut outputs: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
            lines.filter_map(|line| line.strip_prefix("say ").map(str::to_owned))
        })
        .collect();
    for output in &mut outputs {
        assert_eq!(output.next().as_deref(), Some("ready"));
    }
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let said = outputs.into_iter().map(Iterator::collect).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    said
}

#[test]
fn processes_that_see_a_new_tool_at_once_agree() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("callgate.db");
    let said = together(&store, "pins");
    assert_eq!(said[0].len(), TOOLS);
    assert!(said.iter().all(|other| *other == said[0]), "all tell the same: {said:?}");
    let kept = RecordReader::open(&Location::Sqlite(store)).unwrap().pins().unwrap();
    assert_eq!(kept.len(), TOOLS);
    for pin in kept {
        assert!(said[0].contains(&format!("{} {}", pin.name, pin.pinned.hash)));
        assert_eq!(pin.revision, 1);
    }
}

/// A store in the making must not look like something else, or like one that is locked for good.
#[test]
fn processes_that_make_a_store_at_once_all_open_it() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let said = together(&folder.path().join("callgate.db"), "nothing");
        assert_eq!(said, [[""; 0]; 3]);
    }
}

#[test]
fn processes_take_no_more_tokens_than_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let said = together(&folder.path().join("callgate.db"), "tokens");
    let taken: usize = said.iter().map(Vec::len).sum();
    assert_eq!(taken, TOKENS as usize, "{:?}", said.iter().map(Vec::len).collect::<Vec<_>>());
}
