//! Official clients with callgate as their server.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::POLICY;
use crate::support::Place;

/// A client of an SDK: its program, its script, and the revision it agrees on with us.
struct Client {
    program: PathBuf,
    script: &'static str,
    words: &'static [&'static str],
    revision: &'static str,
}

/// The clients; none without `cargo xtask test`, which sets them up.
fn clients() -> Vec<Client> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let found = variable("CALLGATE_PEERS_NODE").zip(variable("CALLGATE_PEERS_PYTHON"));
    let Some((node, python)) = found else {
        callgate_testkit::skipped("no MCP clients here (`cargo xtask test` sets them up)");
        return Vec::new();
    };
    let client = |program: &PathBuf, script, words, revision| Client {
        program: program.clone(),
        script,
        words,
        revision,
    };
    vec![
        client(&node, "node/ask.mjs", &["v1"], "2025-11-25"),
        client(&node, "node/ask.mjs", &["v2"], "2026-07-28"),
        client(&python, "python/ask.py", &["legacy"], "2025-11-25"),
        client(&python, "python/ask.py", &["auto"], "2026-07-28"),
    ]
}

impl Client {
    fn asks(&self, server: &[String]) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers").join(self.script);
        let mut command = Command::new(&self.program);
        command.arg(script).args(self.words).arg(json!(server).to_string());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {:?}: {said}", self.script, self.words);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

#[test]
fn official_clients_read_what_it_says() {
    let place = Place::new(POLICY, "");
    let config = place.path().join("callgate.yaml").to_str().unwrap().to_owned();
    let callgate = env!("CARGO_BIN_EXE_callgate");
    let command = [callgate, "--config", &config, "mcp", "serve"].map(str::to_owned);
    let listening = place.listen("127.0.0.1:0");
    let url = [format!("http://{}/mcp", listening.address)];
    for client in clients() {
        for server in [&command[..], &url[..]] {
            let told = client.asks(server);
            let at = format!("{} {:?} {server:?}: {told}", client.script, client.words);
            assert_eq!(told["revision"], client.revision, "{at}");
            assert_eq!(told["tools"], json!(super::TOOLS), "{at}");
            let uris = json!(["config://rules", "audit://recent", "config://health"]);
            assert_eq!(told["resources"], uris, "{at}");
            assert_eq!(told["evaluated"]["rule"], "no-mail", "{at}");
            assert_eq!(told["explained"]["decided"], "by arguments", "{at}");
            assert_eq!(told["recent"]["decisions"], json!([]), "{at}");
            assert_eq!(told["failed"], true, "{at}");
            assert!(told["rules"].as_str().unwrap().contains("id: no-force-push"), "{at}");
        }
    }
}
