//! Real servers behind the real binary: what comes through is what comes directly.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Wrapped};

const ALLOW: &str = "policy: p\nrules: []\n";

/// Where the servers are; `None` without `cargo xtask test`, which sets them up.
struct Peers {
    node: PathBuf,
    python: PathBuf,
}

impl Peers {
    fn find() -> Option<Self> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let peers = variable("CALLGATE_PEERS_NODE").zip(variable("CALLGATE_PEERS_PYTHON"));
        if peers.is_none() {
            eprintln!("skipped: no MCP servers here (`cargo xtask test` sets them up)");
        }
        peers.map(|(node, python)| Self { node, python })
    }

    /// A server of an npm package.
    fn node(&self, package: &str, args: &[&str]) -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/node/node_modules");
        let program = root.join(format!("@modelcontextprotocol/{package}/dist/index.js"));
        let words = [self.node.to_str().unwrap(), program.to_str().unwrap()];
        words.iter().chain(args).map(|&word| word.to_owned()).collect()
    }

    /// A server of a Python package.
    fn python(&self, package: &str, args: &[&str]) -> Vec<String> {
        let words = [self.python.to_str().unwrap(), "-m", package];
        words.iter().chain(args).map(|&word| word.to_owned()).collect()
    }

    fn all(&self, folder: &Path) -> Vec<(&'static str, Vec<String>, &'static str, Value)> {
        let folder = folder.to_str().unwrap();
        vec![
            ("everything", self.node("server-everything", &[]), "echo", json!({ "message": "hi" })),
            (
                "filesystem",
                self.node("server-filesystem", &[folder]),
                "list_directory",
                json!({ "path": folder }),
            ),
            ("memory", self.node("server-memory", &[]), "read_graph", json!({})),
            (
                "time",
                self.python("mcp_server_time", &["--local-timezone", "UTC"]),
                "convert_time",
                json!({ "source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:00" }),
            ),
            (
                "git",
                self.python("mcp_server_git", &["--repository", folder]),
                "git_status",
                json!({ "repo_path": folder }),
            ),
        ]
    }
}

/// A folder that is a repository.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "some text\n").unwrap();
    let made = Command::new("git").arg("init").arg("--quiet").arg(folder.path()).status().unwrap();
    assert!(made.success());
    folder
}

#[test]
fn a_session_through_callgate_is_the_same_as_without() {
    let Some(peers) = Peers::find() else { return };
    let folder = repository();
    for (server, command, tool, arguments) in peers.all(folder.path()) {
        let place = Place::new(ALLOW, "");
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut direct = Command::new(words[0]);
        direct.args(&words[1..]);
        let direct = session(Wrapped::start(&mut direct), tool, &arguments);
        let through = session(place.wrap(server, &[], &words), tool, &arguments);
        assert_eq!(direct, through, "{server}");
        let blocked = place
            .json(&["calls", "--json"])
            .into_iter()
            .filter(|call| call["verdict"]["action"] == "deny")
            .count();
        assert_eq!(blocked, 0, "{server}");
    }
}

/// A short session in the older revisions: what was answered.
fn session(mut wrapped: Wrapped, tool: &str, arguments: &Value) -> Vec<Value> {
    let mut heard = vec![wrapped.hello(), wrapped.ask("tools/list", json!({}))];
    heard.push(wrapped.call(tool, arguments.clone()));
    heard.push(wrapped.call("no_such_tool", json!({})));
    let end = wrapped.end();
    assert_eq!(end.code, Some(0), "{}", end.said);
    heard
}

/// The table of differences between peers, against the real ones.
#[test]
fn no_call_slips_through_to_a_real_server() {
    let Some(peers) = Peers::find() else { return };
    let folder = repository();
    for (server, command, tool, arguments) in peers.all(folder.path()) {
        let policy = format!(
            "policy: p\nrules:\n  - {{ id: no, tool: {tool}, surface: mcp, verdict: deny, reason: No. }}\n"
        );
        let place = Place::new(&policy, "");
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut wrapped = place.wrap(server, &[], &words);
        wrapped.hello();
        let call = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }).to_string();
        let other = call.replace("\"id\":900", "\"id\":900,\"method\":\"ping\"");
        let hidden = [
            call.clone(),
            other,
            call.replace(
                &format!("\"name\":\"{tool}\""),
                &format!("\"name\":\"x\",\"name\":\"{tool}\""),
            ),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":899,\"method\":\"ping\"}}\r{call}"),
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"a\":\r{call}\r}}}}"
            ),
            format!("\u{feff}{call}"),
            format!("[{call}]"),
            call.replace("900", "900.0"),
            call.replace("{\"jsonrpc\"", "{\"result\":{},\"jsonrpc\""),
            call.replace("tools/call", "tools\\/call"),
        ];
        for line in &hidden {
            wrapped.say(line);
        }
        wrapped.say(r#"{"jsonrpc":"2.0","id":901,"method":"tools/list","params":{}}"#);
        loop {
            let answer = wrapped.hear();
            if answer["id"] == 901 {
                assert!(answer["result"].is_object(), "{server}: {answer}");
                break;
            }
            // A call that ran would have a result of its own.
            let ran = answer["result"].is_object() && answer["result"]["isError"] != true;
            assert!(!ran, "{server}: {answer}");
        }
        wrapped.end();
        let ran = place
            .json(&["calls", "--json"])
            .into_iter()
            .filter(|call| call["verdict"]["action"] != "deny");
        assert_eq!(ran.count(), 0, "{server}");
    }
}
