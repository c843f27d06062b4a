//! A store that fails while the gateway runs: calls are denied, text flows, health tells, and all
//! is well again when the fault is gone.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use callgate_audit::{Filter, RecordKind};
use callgate_store::{Location, RecordReader};
use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::{Ask, Exchange, Reply};
use callgate_testkit::upstream::Upstream;
use rusqlite::Connection;

use crate::load::{HELD, holds_call, shows_call};
use crate::process::{bound_files, works};
use crate::support::{ALLOW, CHAT, MESSAGES, SAID, ask, emptied, gateway, setup, turns};
use crate::upstreams::ends_in_error;

/// What a denial says whose cause is the store.
const UNRECORDED: &str = "could not be written";

/// A write past a process's bound is an error then, as on a full disk, and not its end.
const NOT_KILLED: [&str; 4] = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];

/// Calls that stream live and calls that are held, written in both ways.
const BOTH: [(&str, &str); 2] = [(ALLOW, "process"), (HELD, "disk")];

/// Both APIs, with one call in each turn.
pub(crate) fn server() -> Upstream {
    Upstream::start(|request| {
        let [messages, chat] = turns("read_file", r#"{"path":"a file"}"#);
        if request.path.ends_with("completions") { chat.1 } else { messages.1 }
    })
}

/// The turn as the upstream sends it.
fn sent(path: &str) -> Vec<u8> {
    let turn = turns("read_file", r#"{"path":"a file"}"#).into_iter().find(|turn| turn.0 == path);
    emptied(turn.unwrap().1).1
}

fn settings(durability: &str, on_failure: &str) -> String {
    format!("audit: {{ durability: {durability}, on_failure: {on_failure} }}")
}

fn health(gateway: &Gateway, path: &str) -> (u16, String) {
    let reply = Ask::get(path).send(gateway.address());
    (reply.status, reply.json()["status"].as_str().unwrap_or_default().to_owned())
}

#[track_caller]
pub(crate) fn passes(gateway: &Gateway, path: &str) {
    let reply = ask(path).send(gateway.address());
    assert_eq!((reply.status, reply.is_whole), (200, true), "{path}");
    assert_eq!(reply.text(), String::from_utf8(sent(path)).unwrap(), "{path}");
}

#[track_caller]
pub(crate) fn is_denied(path: &str, reply: &Reply) {
    assert_eq!((reply.status, reply.is_whole), (200, true), "{path}");
    let text = reply.text();
    assert!(text.contains(SAID), "{path}: the text is gone: {text}");
    assert!(text.contains(UNRECORDED), "{path}: nothing tells why: {text}");
    assert!(!holds_call(&reply.body), "{path}: a call without record: {text}");
    // What streamed live before its record failed cannot be taken back: it ends in an error.
    if shows_call(path, &reply.body) {
        ends_in_error(path, reply, "a live call without record");
    }
}

#[track_caller]
fn fails(gateway: &Gateway) {
    assert_eq!(health(gateway, "/healthz"), (200, "failing".to_owned()));
    assert_eq!(health(gateway, "/readyz"), (503, "failing".to_owned()));
    let metrics = Ask::get("/metrics").send(gateway.address()).text();
    assert!(metrics.contains("callgate_records_failing 1"), "{metrics}");
}

#[track_caller]
pub(crate) fn recovers(gateway: &Gateway) {
    let ready = |gateway: &Gateway| health(gateway, "/readyz") == (200, "ok".to_owned());
    assert!(gateway.wait_until(ready), "it does not recover: {}", gateway.said());
    [MESSAGES, CHAT].iter().for_each(|path| passes(gateway, path));
}

/// With the default, from before the fault to after it. Four calls pass.
#[track_caller]
fn closed(gateway: &Gateway, begin: &dyn Fn(), end: &dyn Fn()) {
    [MESSAGES, CHAT].iter().for_each(|path| passes(gateway, path));
    begin();
    for path in [MESSAGES, CHAT] {
        is_denied(path, &ask(path).send(gateway.address()));
    }
    fails(gateway);
    end();
    recovers(gateway);
}

/// With `on_failure: allow`, the same. Four calls are recorded.
#[track_caller]
fn open(gateway: &Gateway, begin: &dyn Fn(), end: &dyn Fn()) {
    [MESSAGES, CHAT].iter().for_each(|path| passes(gateway, path));
    begin();
    [MESSAGES, CHAT].iter().for_each(|path| passes(gateway, path));
    fails(gateway);
    end();
    recovers(gateway);
}

#[track_caller]
fn holds(gateway: &Gateway, calls: usize) {
    let recorded = gateway.calls();
    assert_eq!(recorded.len(), calls, "{recorded:?}");
    let verified = gateway.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_store_whose_writes_fail_denies_and_recovers() {
    let upstream = server();
    for (policy, durability) in BOTH {
        let bounded = |on_failure| {
            let setup = setup(&upstream, policy, &settings(durability, on_failure));
            setup.under(&NOT_KILLED).start()
        };
        let gateway = bounded("deny");
        closed(&gateway, &|| bound_files(&gateway, Some(1)), &|| bound_files(&gateway, None));
        holds(&gateway, 4);
        let gateway = bounded("allow");
        open(&gateway, &|| bound_files(&gateway, Some(1)), &|| bound_files(&gateway, None));
        holds(&gateway, 4);
    }
}

/// Keeps every other process from writing to a store, until it is dropped.
pub(crate) struct StoreLock {
    _journal: File,
    _state: Connection,
}

/// Holds every lock of a store, in the order in which its writers take them.
pub(crate) fn lock(store: &Path) -> StoreLock {
    let sibling = |ending: &str| format!("{}{ending}", store.display());
    let state = Connection::open(sibling(".state")).unwrap();
    state.busy_timeout(Duration::from_secs(60)).unwrap();
    state.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let journal = File::open(sibling(".journal/lock")).unwrap();
    journal.lock().unwrap();
    StoreLock { _journal: journal, _state: state }
}

#[test]
fn a_locked_store_denies_and_recovers() {
    let upstream = server();
    for (policy, durability) in BOTH {
        for (on_failure, check) in [("deny", closed as Check), ("allow", open as Check)] {
            let gateway = gateway(&upstream, policy, &settings(durability, on_failure));
            let locked = std::cell::RefCell::new(None);
            let begin = || *locked.borrow_mut() = Some(lock(&gateway.folder().join("callgate.db")));
            check(&gateway, &begin, &|| drop(locked.take()));
            holds(&gateway, 4);
        }
    }
}

type Check = fn(&Gateway, &dyn Fn(), &dyn Fn());

/// A denial has its record even if what later calls may ask about it cannot be stored.
#[test]
fn a_denial_is_recorded_while_the_state_is_locked() {
    let policy = "policy: p\nrules:\n  - { id: no-reading, tool: read_file, verdict: deny, reason: No. }\n  - { id: calm-down, tool: Bash, when: { denied: { times: 2, within: 1h } }, verdict: deny, reason: Too many. }\n";
    let upstream = server();
    let gateway = gateway(&upstream, policy, "on_deny: explain");
    let state = Connection::open(gateway.folder().join("callgate.db.state")).unwrap();
    state.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let reply = ask(CHAT).send(gateway.address());
    assert_eq!(reply.status, 200);
    assert!(!holds_call(&reply.body), "{}", reply.text());
    drop(state);
    assert!(gateway.wait_until(|gateway| gateway.calls().len() == 1), "the record is lost");
}

#[test]
fn text_does_not_wait_for_a_locked_store() {
    let upstream = server();
    for (policy, durability) in BOTH {
        let gateway = gateway(&upstream, policy, &settings(durability, "deny"));
        for path in [MESSAGES, CHAT] {
            let locked = lock(&gateway.folder().join("callgate.db"));
            let mut exchange = Exchange::open(gateway.address(), &ask(path)).unwrap();
            assert!(exchange.read_until(SAID));
            let so_far = String::from_utf8_lossy(&exchange.reply().body).into_owned();
            assert!(!so_far.contains(UNRECORDED), "{path}: the text came with the denial");
            is_denied(path, &exchange.finish().unwrap());
            drop(locked);
            recovers(&gateway);
        }
    }
}

#[test]
fn a_full_disk_denies_and_recovers() {
    let alone = ["unshare", "-rm"];
    if !works(&[&alone[..], &["mount", "-t", "tmpfs", "tmpfs", "/mnt"]].concat()) {
        eprintln!("skipped: no file system of its own for a gateway, `unshare -rm` is not allowed");
        return;
    }
    let upstream = server();
    for (policy, durability) in BOTH {
        for (on_failure, check) in [("deny", closed as Check), ("allow", open as Check)] {
            let gateway = small_disk(&upstream, policy, &settings(durability, on_failure));
            let disk = disk_of(&gateway);
            let filler = disk.join("filler");
            let recorded = Cell::new(4);
            let begin = || {
                fill(&filler);
                recorded.set(4 + use_up_last_page(&gateway));
            };
            check(&gateway, &begin, &|| fs::remove_file(&filler).unwrap());
            assert!(gateway.said().contains("disk is full"), "{}", gateway.said());
            is_verifiable(&gateway, &disk, recorded.get());
        }
    }
}

/// A gateway whose store lies on a disk of a few megabytes, which nobody else sees and which is
/// gone with it.
fn small_disk(upstream: &Upstream, policy: &str, settings: &str) -> Gateway {
    let setup: Setup = setup(upstream, policy, settings);
    let disk = setup.folder().join("disk");
    fs::create_dir(&disk).unwrap();
    let config = fs::read_to_string(setup.folder().join("callgate.yaml")).unwrap();
    let config = config.replace("callgate.db", "disk/callgate.db");
    let mount = "mount -t tmpfs -o size=4m tmpfs \"$DISK\" && exec \"$@\"";
    setup
        .file("callgate.yaml", &config)
        .env("DISK", disk.to_str().unwrap())
        .under(&["unshare", "-rm", "sh", "-c", mount, "sh"])
        .flag("--log-format")
        .flag("json")
        .start()
}

/// That disk, seen from here.
fn disk_of(gateway: &Gateway) -> PathBuf {
    let inside = gateway.folder().join("disk");
    Path::new(&format!("/proc/{}/root", gateway.id())).join(inside.strip_prefix("/").unwrap())
}

/// Writes until nothing more fits.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    for size in [4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// Calls until no record fits into the last page of the journal, which it has already. Returns how
/// many still did.
fn use_up_last_page(gateway: &Gateway) -> usize {
    // Two calls were made before.
    let calls = Cell::new(2);
    let said = |text| gateway.said().matches(text).count();
    let is_recorded = |path: &&str| {
        let failures = said("the record of a call could not be written");
        ask(path).send(gateway.address());
        calls.set(calls.get() + 1);
        // A call's line about a failure comes before the line with its decision.
        let logged = gateway.wait_until(|_| said(r#""message":"decision""#) == calls.get());
        assert!(logged, "{}", gateway.said());
        said("the record of a call could not be written") == failures
    };
    let many = |path| std::iter::repeat_n(path, 50).take_while(is_recorded).count();
    many(MESSAGES) + many(CHAT)
}

/// The store on that disk, looked at as a copy: SQLite would not find its way there.
///
/// The gateway is stopped meanwhile. Otherwise it might write a record between the copy of the
/// journal and that of the head, and the copy would look as if its end had been cut off.
fn is_verifiable(gateway: &Gateway, disk: &Path, calls: usize) {
    let folder = tempfile::tempdir().unwrap();
    gateway.signal("STOP");
    let copy = Command::new("cp").arg("-a").arg(disk.join(".")).arg(folder.path()).status();
    gateway.signal("CONT");
    assert!(copy.unwrap().success());
    let store = Location::Sqlite(folder.path().join("callgate.db"));
    let reader = RecordReader::open(&store).unwrap();
    reader.verify(|_, _| {}).unwrap();
    let filter = Filter { kinds: vec![RecordKind::ToolCall], ..Filter::default() };
    assert_eq!(reader.records(&filter).unwrap().len(), calls, "calls on record");
}
