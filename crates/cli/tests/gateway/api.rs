//! The API on its own socket: who has it, who may ask, and whom clients believe.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::socket::{self, CommandOutput, FeedClient};
use callgate_testkit::upstream::Upstream;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ALLOW, CHAT, DENY, ask, binary, can_become_anybody, setup, whole_turns};

const HEALTH: &str = "/api/v1/health";

/// A gateway to be, whose model calls `delete_all`, with its socket at this path.
fn at(upstream: &Upstream, policy: &str, socket: &Path) -> Setup {
    setup(upstream, policy, &format!("api: {{ listen: \"{}\" }}", socket.display()))
}

fn model() -> Upstream {
    Upstream::always(whole_turns("delete_all", "{}")[1].1.clone())
}

fn pid(socket: &Path) -> Value {
    socket::get(socket, HEALTH).1["pid"].clone()
}

/// What `doctor` finds of the socket.
#[track_caller]
fn doctor(setup: &Setup) -> Value {
    doctored(&setup.run(&["doctor", "--json"]))
}

#[track_caller]
fn doctored(ran: &std::process::Output) -> Value {
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    told["api"].clone()
}

#[test]
fn a_gateway_describes_itself() {
    let upstream = model();
    let mut gateway = setup(&upstream, DENY, "").start();
    let socket = socket::of(&gateway);
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!((mode(socket.parent().unwrap()), mode(&socket)), (0o700, 0o600));
    let shown = format!("  api       {}\n", socket.display());
    assert!(gateway.said().contains(&shown), "{}", gateway.said());
    let (status, health) = socket::get(&socket, HEALTH);
    assert_eq!(status, 200);
    assert_eq!((&health["status"], &health["pid"]), (&json!("ok"), &json!(gateway.id())));
    let store = gateway.folder().join("callgate.db");
    assert_eq!(health["store"]["location"], format!("sqlite:{}", store.display()));
    assert_eq!(health["config"], gateway.folder().join("callgate.yaml").display().to_string());
    assert_eq!(health["policies"]["rules"], 1);
    let about = doctored(&gateway.run(&["doctor", "--json"]));
    assert_eq!((&about["state"], &about["pid"]), (&json!("running"), &json!(gateway.id())));
    let text = String::from_utf8(gateway.run(&["doctor"]).stdout).unwrap();
    assert!(text.contains(&format!("process {}, with this config and store, is ok", gateway.id())));
    gateway.signal("TERM");
    assert!(gateway.ended().unwrap().success(), "{}", gateway.said());
    assert!(!socket.exists(), "the socket is left behind");
    assert_eq!(doctored(&gateway.run(&["doctor", "--json"]))["state"], "not running");
}

#[test]
fn what_cannot_be_answered_says_what_next() {
    let upstream = model();
    let gateway = setup(&upstream, ALLOW, "").start();
    let socket = socket::of(&gateway);
    let large = format!("{{\"tool\":\"{}\"}}", "x".repeat(8 << 20));
    let table = [
        ("GET", "/api/v2/health", "", 404, "not_found", "there are /api/v1/health"),
        ("GET", "/v1/messages", "", 404, "not_found", "/api/v1/feed"),
        ("POST", HEALTH, "", 405, "method_not_allowed", ""),
        ("GET", "/api/v1/evaluate", "", 405, "method_not_allowed", ""),
        ("POST", "/api/v1/evaluate", "{", 400, "bad_request", ""),
        ("POST", "/api/v1/evaluate", "{\"tool\":\"x\",\"y\":1}", 400, "bad_request", "the keys of"),
        ("POST", "/api/v1/evaluate", &large, 413, "too_large", ""),
        ("GET", "/api/v1/records?limit=1001", "", 400, "bad_request", "ask for 1 to 1000"),
        ("GET", "/api/v1/records?tol=x", "", 400, "bad_request", "there are after, limit"),
        ("GET", "/api/v1/records?tool=%5B", "", 400, "bad_request", ""),
        ("GET", "/api/v1/feed", "", 400, "bad_request", "after=0"),
        ("GET", "/api/v1/feed?after=0&tool=%5B", "", 400, "bad_request", ""),
    ];
    for (method, target, body, status, code, hint) in table {
        let (was, told) = socket::ask(&socket, method, target, body);
        let error = &told["error"];
        assert_eq!((was, &error["code"]), (status, &json!(code)), "{target}: {told}");
        assert!(error["message"].is_string(), "{target}");
        assert!(error["hint"].as_str().unwrap_or_default().contains(hint), "{target}: {told}");
    }
    assert_eq!(socket::get(&socket, HEALTH).0, 200, "it goes on");
}

#[test]
fn changed_policies_are_in_force_and_told() {
    let upstream = model();
    let gateway = setup(&upstream, ALLOW, "").start();
    let socket = socket::of(&gateway);
    let verdict = || {
        let call = json!({ "tool": "delete_all" });
        socket::post(&socket, "/api/v1/evaluate", &call).1["verdict"].clone()
    };
    let before = socket::get(&socket, HEALTH).1;
    assert_eq!(verdict(), "allow");
    gateway.replace("rules.yaml", DENY);
    assert!(gateway.wait_until(|_| verdict() == "deny"));
    let told = |health: &Value| health["config_digest"] != before["config_digest"];
    assert!(gateway.wait_until(|_| told(&socket::get(&socket, HEALTH).1)));
    assert_eq!(doctored(&gateway.run(&["doctor", "--json"]))["state"], "running");
    gateway.replace("rules.yaml", "policy: [");
    let is_degraded = |_: &Gateway| socket::get(&socket, HEALTH).1["status"] == "degraded";
    assert!(gateway.wait_until(is_degraded));
    let rejected = socket::get(&socket, HEALTH).1["policies"]["rejected"].clone();
    assert!(rejected.as_str().unwrap().contains("rules.yaml"), "{rejected}");
    assert_eq!(verdict(), "deny", "the last good ones stay in force");
    gateway.replace("rules.yaml", ALLOW);
    let config = std::fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap();
    gateway.replace("callgate.yaml", &format!("{config}api: {{ listen: off }}\n"));
    let restart =
        |_: &Gateway| socket::get(&socket, HEALTH).1["restart_needed"] == json!(["api.listen"]);
    assert!(gateway.wait_until(restart), "{}", socket::get(&socket, HEALTH).1);
}

#[test]
fn a_second_gateway_does_without_and_says_so() {
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    let socket = folder.path().join("api.sock");
    let first = at(&upstream, ALLOW, &socket).start();
    let mut second = at(&upstream, ALLOW, &socket).start();
    let said = second.said();
    let why = format!("none: another gateway uses the socket `{}`", socket.display());
    assert!(said.contains(&why), "{said}");
    assert!(second.wait_until(|it| it.said().contains("WARN no API: another gateway")), "{said}");
    assert_eq!(ask(CHAT).send(second.address()).status, 200, "it serves all the same");
    assert_eq!(pid(&socket), first.id());
    // What keeps another store is no help to this one's clients.
    let about = doctored(&second.run(&["doctor", "--json"]));
    assert_eq!(about["state"], "another store", "{about}");
    second.signal("TERM");
    assert!(second.ended().unwrap().success());
    assert_eq!(pid(&socket), first.id(), "the socket is not the second one's to remove");
}

#[test]
fn what_a_killed_gateway_left_is_replaced() {
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    let socket = folder.path().join("api.sock");
    let mut first = at(&upstream, ALLOW, &socket).start();
    first.signal("KILL");
    assert!(first.ended().is_some());
    assert!(socket.exists());
    assert_eq!(doctored(&first.run(&["doctor", "--json"]))["state"], "not running");
    let second = at(&upstream, ALLOW, &socket).start();
    assert_eq!(pid(&socket), second.id());
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let said = at(&upstream, ALLOW, &folder.path().join("api.sock")).try_start().unwrap_err();
    assert!(said.contains("other users can write the folder"), "{said}");
    assert!(said.contains("hint: run `chmod go-w "), "{said}");
    // Where nobody has chosen the place, the gateway is worth more than its API.
    let setup = setup(&upstream, ALLOW, "");
    let usual = setup.folder().join("callgate");
    fs::create_dir(&usual).unwrap();
    fs::set_permissions(&usual, Permissions::from_mode(0o770)).unwrap();
    let gateway = setup.start();
    assert!(gateway.said().contains("  api       none: other users can write"));
    assert!(!socket::of(&gateway).exists());
}

#[test]
fn it_can_be_turned_off_and_tcp_is_not_there_yet() {
    let upstream = model();
    let gateway = setup(&upstream, ALLOW, "api: { listen: off }").start();
    assert!(gateway.said().contains("  api       off\n"), "{}", gateway.said());
    assert!(!gateway.folder().join("callgate").exists());
    assert_eq!(doctored(&gateway.run(&["doctor", "--json"]))["state"], "off");
    let said = setup(&upstream, ALLOW, "api: { listen: '127.0.0.1:9' }").try_start().unwrap_err();
    assert!(said.contains("`api.listen` is not the path of a Unix socket"), "{said}");
    assert!(said.contains("TCP is not supported yet"), "{said}");
}

#[test]
fn a_gateway_with_another_config_is_not_used() {
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    let socket = folder.path().join("api.sock");
    let other = at(&upstream, DENY, &socket).start();
    ask(CHAT).send(other.address());
    // The same store, judged by other words.
    let config = fs::read_to_string(other.folder().join("callgate.yaml")).unwrap();
    let laxer = Setup::bare(binary()).file("rules.yaml", ALLOW).file("callgate.yaml", &config);
    assert_eq!(doctor(&laxer)["state"], "another config", "{}", doctor(&laxer));
    // Another store: its own records are shown, and the feed is not opened.
    let own = at(&upstream, ALLOW, &socket).start();
    let tail = CommandOutput::start(&mut own.command(&["tail", "--json", "--verdict", "allow"]));
    ask(CHAT).send(own.address());
    assert_eq!(tail.json()["tool"]["name"], "delete_all");
    assert_eq!(socket::get(&socket, HEALTH).1["feeds"], 0);
}

/// Answers every request as the gateway would whose health it was given, and reports a record that
/// never was.
const FAKE: &str = r#"
import json, os, socket, sys
path, health = sys.argv[1], json.dumps({**json.loads(sys.argv[2]), "pid": os.getpid()})
server = socket.socket(socket.AF_UNIX)
server.bind(path)
os.chmod(path, 0o777)
server.listen(8)
print("ready", flush=True)
while True:
    peer, _ = server.accept()
    try:
        body = health
        if "/feed" in peer.recv(65536).decode():
            body = 'id: 999\ndata: {"seq":999,"type":"tool_call","tool":{"name":"forged"}}\n\n'
        peer.sendall(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
    except OSError:
        pass
"#;

/// A forger that listens, as this user or as another.
fn fake(socket: &Path, health: &Value, uid: Option<u32>) -> CommandOutput {
    let mut command = Command::new("python3");
    command.arg("-c").arg(FAKE).arg(socket).arg(health.to_string());
    uid.map(|uid| command.uid(uid).gid(uid));
    let lines = CommandOutput::start(command.stderr(Stdio::null()));
    assert_eq!(lines.line(), "ready");
    lines
}

/// Whether `tail` shows what the store has, and nothing of what a forger tells.
#[track_caller]
fn tail_reads_the_store(gateway: &Gateway) {
    let tail = CommandOutput::start(&mut gateway.command(&["tail", "--json", "--limit", "1"]));
    tail.line();
    ask(CHAT).send(gateway.address());
    let called = loop {
        let record = tail.json();
        assert_ne!(record["seq"], 999, "{record}");
        if record["type"] == "tool_call" {
            break record;
        }
    };
    assert_eq!(called["tool"]["name"], "delete_all");
}

#[test]
fn a_forger_is_not_believed() {
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    // An agent that runs as the same user can replace the gateway's socket by its own.
    let socket = folder.path().join("api.sock");
    let gateway = at(&upstream, ALLOW, &socket).start();
    let health = socket::get(&socket, HEALTH).1;
    fs::remove_file(&socket).unwrap();
    let forger = fake(&socket, &health, None);
    let about = doctored(&gateway.run(&["doctor", "--json"]));
    assert_eq!(about["state"], "not believed", "{about}");
    assert!(about["problem"].as_str().unwrap().contains("it runs another program"), "{about}");
    assert_eq!(gateway.run(&["doctor"]).status.code(), Some(1));
    tail_reads_the_store(&gateway);
    drop(forger);
    fs::remove_file(&socket).unwrap();
    if !can_become_anybody() {
        return;
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let _forger = fake(&socket, &health, Some(NOBODY));
    let about = doctored(&gateway.run(&["doctor", "--json"]));
    assert_eq!(about["problem"], format!("it belongs to another user (uid {NOBODY})"), "{about}");
    tail_reads_the_store(&gateway);
}

/// A user that is nobody here.
const NOBODY: u32 = 65534;

#[test]
fn another_user_is_refused() {
    if !can_become_anybody() {
        return;
    }
    let (upstream, folder) = (model(), TempDir::new().unwrap());
    let socket = folder.path().join("api.sock");
    let _gateway = at(&upstream, ALLOW, &socket).start();
    // The modes keep others out already. What if they were changed?
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&socket, Permissions::from_mode(0o666)).unwrap();
    let program = "import socket, sys\n\
        peer = socket.socket(socket.AF_UNIX)\n\
        peer.connect(sys.argv[1])\n\
        peer.sendall(b'GET /api/v1/health HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n')\n\
        print(peer.makefile().read())\n";
    let mut command = Command::new("python3");
    command.arg("-c").arg(program).arg(&socket).uid(NOBODY).gid(NOBODY);
    let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(told.starts_with("HTTP/1.1 403 "), "{told}");
    assert!(told.contains(r#""code":"forbidden""#) && !told.contains("pid"), "{told}");
    assert_eq!(socket::get(&socket, HEALTH).0, 200);
}

#[test]
fn a_feed_ends_with_its_gateway_and_says_where_to_go_on() {
    let upstream = model();
    let mut gateway = setup(&upstream, ALLOW, "").start();
    let mut feed = FeedClient::open(&socket::of(&gateway), "?after=0&kind=tool_call");
    ask(CHAT).send(gateway.address());
    let (seq, _) = feed.record();
    gateway.signal("TERM");
    assert_eq!(feed.line("event: "), "resume");
    let told: Value = serde_json::from_str(&feed.line("data: ")).unwrap();
    assert_eq!(told["why"], "stopping");
    assert!(told["after"].as_u64() >= Some(seq), "{told}");
    assert!(gateway.ended().unwrap().success(), "an open feed does not hold it up");
}

#[test]
fn the_number_of_feeds_is_limited() {
    let upstream = model();
    let gateway = setup(&upstream, ALLOW, "").start();
    let socket = socket::of(&gateway);
    let mut feeds: Vec<FeedClient> =
        (0..32).map(|_| FeedClient::open(&socket, "?after=0")).collect();
    let (status, told) = socket::get(&socket, "/api/v1/feed?after=0");
    assert_eq!((status, &told["error"]["code"]), (503, &json!("busy")), "{told}");
    feeds.pop();
    let is_free = |_: &Gateway| socket::get(&socket, HEALTH).1["feeds"] == 31;
    assert!(gateway.wait_until(is_free));
    FeedClient::open(&socket, "?after=0").record();
}
