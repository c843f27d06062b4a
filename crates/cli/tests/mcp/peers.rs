//! Real servers behind the real binary: what comes through is what comes directly.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Wrapped};

const ALLOW: &str = "policy: p\nrules: []\n";

/// Where the servers are; `None` without `cargo xtask test`, which sets them up.
pub(crate) struct Peers {
    pub(crate) node: PathBuf,
    pub(crate) python: PathBuf,
}

/// A server that we did not write.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) command: Vec<String>,
    /// A tool of it that changes nothing, and what it is called with.
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// Another one, that a policy may deny.
    pub(crate) other: &'static str,
}

impl Server {
    pub(crate) fn words(&self) -> Vec<&str> {
        self.command.iter().map(String::as_str).collect()
    }
}

impl Peers {
    pub(crate) fn find() -> Option<Self> {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        let peers = variable("CALLGATE_PEERS_NODE").zip(variable("CALLGATE_PEERS_PYTHON"));
        if peers.is_none() {
            callgate_testkit::skipped("no MCP servers here (`cargo xtask test` sets them up)");
        }
        peers.map(|(node, python)| Self { node, python })
    }

    /// The folder with the scripts, and the packages of npm.
    pub(crate) fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers")
    }

    /// A program of an npm package of MCP.
    pub(crate) fn package(path: &str) -> String {
        let packages = Self::folder().join("node/node_modules/@modelcontextprotocol");
        packages.join(path).to_str().unwrap().to_owned()
    }

    /// A server of an npm package.
    pub(crate) fn node(&self, package: &str, args: &[&str]) -> Vec<String> {
        let program = Self::package(&format!("{package}/dist/index.js"));
        let words = [self.node.to_str().unwrap(), &program];
        words.iter().chain(args).map(|&word| word.to_owned()).collect()
    }

    /// A server of a Python package.
    fn python(&self, package: &str, args: &[&str]) -> Vec<String> {
        let words = [self.python.to_str().unwrap(), "-m", package];
        words.iter().chain(args).map(|&word| word.to_owned()).collect()
    }

    pub(crate) fn all(&self, folder: &Path) -> Vec<Server> {
        let folder = folder.to_str().unwrap();
        vec![
            Server {
                name: "everything",
                command: self.node("server-everything", &[]),
                tool: "echo",
                arguments: json!({ "message": "hi" }),
                other: "get-env",
            },
            Server {
                name: "filesystem",
                command: self.node("server-filesystem", &[folder]),
                tool: "list_directory",
                arguments: json!({ "path": folder }),
                other: "write_file",
            },
            Server {
                name: "memory",
                command: self.node("server-memory", &[]),
                tool: "read_graph",
                arguments: json!({}),
                other: "delete_entities",
            },
            Server {
                name: "time",
                command: self.python("mcp_server_time", &["--local-timezone", "UTC"]),
                tool: "convert_time",
                arguments: json!({ "source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:00" }),
                other: "get_current_time",
            },
            Server {
                name: "git",
                command: self.python("mcp_server_git", &["--repository", folder]),
                tool: "git_status",
                arguments: json!({ "repo_path": folder }),
                other: "git_commit",
            },
        ]
    }
}

/// A folder that is a repository.
pub(crate) fn repository() -> tempfile::TempDir {
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
    for server in peers.all(folder.path()) {
        let place = Place::new(ALLOW, "");
        let (name, words) = (server.name, server.words());
        let mut direct = Command::new(words[0]);
        direct.args(&words[1..]);
        let direct = session(Wrapped::start(&mut direct), &server);
        let through = session(place.wrap(name, &[], &words), &server);
        assert_eq!(direct, through, "{name}");
        let blocked = place
            .json(&["calls", "--json"])
            .into_iter()
            .filter(|call| call["verdict"]["action"] == "deny")
            .count();
        assert_eq!(blocked, 0, "{name}");
    }
}

/// A short session in the older revisions: what was answered.
fn session(mut wrapped: Wrapped, server: &Server) -> Vec<Value> {
    let mut heard = vec![wrapped.hello(), wrapped.ask("tools/list", json!({}))];
    heard.push(wrapped.call(server.tool, server.arguments.clone()));
    heard.push(wrapped.call("no_such_tool", json!({})));
    let end = wrapped.end();
    assert_eq!(end.code, Some(0), "{}", end.said);
    heard
}
