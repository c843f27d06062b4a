//! Two scripted MCP servers: one that is started, one on the network.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_testkit::upstream::{Answer, Request, Upstream};
use serde_json::{Value, json};

/// A revision that every agent speaks.
const REVISION: &str = "2025-06-18";

/// A server: its name in the configuration, its tools, and what it answers to a call.
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// What the model calls.
    pub(crate) tool: &'static str,
    /// What the policy denies as a whole, so that nobody is shown it.
    pub(crate) hidden: &'static str,
    pub(crate) answer: &'static str,
}

/// Behind `callgate mcp wrap`.
pub(crate) const SHIM: Server =
    Server { name: "shim", tool: "read_note", hidden: "burn_notes", answer: "read by a process" };

/// Behind `/mcp/web`.
pub(crate) const WEB: Server =
    Server { name: "web", tool: "find_page", hidden: "drop_pages", answer: "found over http" };

impl Server {
    fn hello() -> Value {
        json!({
            "protocolVersion": REVISION,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "scripted", "version": "1" },
        })
    }

    fn tools(&self) -> Value {
        let tool = |name: &str, description: &str| {
            let text = json!({ "type": "string" });
            let schema = json!({ "type": "object", "properties": { "text": text } });
            json!({ "name": name, "description": description, "inputSchema": schema })
        };
        json!({ "tools": [tool(self.tool, "Looks something up."), tool(self.hidden, "Destroys.")] })
    }

    fn result(&self) -> Value {
        json!({ "content": [{ "type": "text", "text": self.answer }] })
    }

    /// On the network.
    pub(crate) fn serve(&'static self) -> Upstream {
        Upstream::start(move |request| self.reply(request))
    }

    fn reply(&self, request: &Request) -> Answer {
        if request.method != "POST" {
            return Answer::new(405);
        }
        let said = request.json();
        if said["id"].is_null() {
            return Answer::new(202);
        }
        let mut answer = json!({ "jsonrpc": "2.0", "id": said["id"] });
        match said["method"].as_str().unwrap_or_default() {
            "initialize" => answer["result"] = Self::hello(),
            "tools/list" => answer["result"] = self.tools(),
            "tools/call" => answer["result"] = self.result(),
            _ => answer["error"] = json!({ "code": -32601, "message": "Method not found" }),
        }
        Answer::json(200, answer.to_string())
    }
}

/// A server that is started, and writes down what it receives.
pub(crate) struct Started {
    received: PathBuf,
    pub(crate) command: Vec<String>,
}

impl Started {
    pub(crate) fn new(server: &Server, folder: &Path) -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/server.py");
        let (script, received) = (folder.join("shim.json"), folder.join("shim.received"));
        let answers = json!({
            "initialize": { "result": Server::hello() },
            "tools/list": { "result": server.tools() },
            "tools/call": { "result": server.result() },
        });
        fs::write(&script, json!({ "answers": answers }).to_string()).unwrap();
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let command = vec!["python3".to_owned(), path(&program), path(&script), path(&received)];
        Self { received, command }
    }

    /// Every call it got.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let told = fs::read_to_string(&self.received).unwrap_or_default();
        let said = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        said.filter(|said| said["method"] == "tools/call").collect()
    }
}
