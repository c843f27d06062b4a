//! Clients that we did not write, with servers that we did not write, and callgate between them.

use std::process::Command;
use std::thread;

use callgate_testkit::drive;
use callgate_testkit::gateway::Gateway;
use serde_json::{Value, json};

use crate::network::{Served, address, gateway};
use crate::peers::{Peers, repository};
use crate::support::Place;

/// A client to talk through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Client {
    /// The official one for Python.
    Mcp,
    FastMcp,
    /// The official ones for TypeScript.
    TypeScript1,
    TypeScript2,
    /// The inspector, without its window.
    Inspector,
}

/// How to get at a server.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Command(Vec<String>),
    Url { url: String, transport: &'static str },
}

/// What a client is to call, after it has listed the tools.
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
}

/// What a client made of a server: what was agreed where it says so, the tools, the results.
#[derive(Debug, PartialEq)]
pub(crate) struct Session {
    pub(crate) agreed: Value,
    pub(crate) tools: Vec<Value>,
    pub(crate) results: Vec<Value>,
}

impl Client {
    pub(crate) const ALL: [Self; 5] =
        [Self::Mcp, Self::FastMcp, Self::TypeScript1, Self::TypeScript2, Self::Inspector];

    /// A session with each of the targets.
    #[track_caller]
    pub(crate) fn sessions(self, peers: &Peers, targets: &[(Target, Vec<Call>)]) -> Vec<Session> {
        let script = |name| Peers::folder().join(name);
        let (mut program, word) = match self {
            Self::Inspector => {
                return targets
                    .iter()
                    .map(|(target, calls)| inspect(peers, target, calls))
                    .collect();
            }
            Self::Mcp => (Command::new(&peers.python), "mcp"),
            Self::FastMcp => (Command::new(&peers.python), "fastmcp"),
            Self::TypeScript1 => (Command::new(&peers.node), "v1"),
            Self::TypeScript2 => (Command::new(&peers.node), "v2"),
        };
        program.arg(match self {
            Self::Mcp | Self::FastMcp => script("python/client.py"),
            _ => script("node/client.mjs"),
        });
        let told = output(program.arg(word).arg(plan(targets)), self);
        let told = told.as_array().unwrap_or_else(|| panic!("{self:?}: {told}"));
        assert_eq!(told.len(), targets.len(), "{self:?}");
        told.iter().cloned().map(Session::of).collect()
    }
}

impl Session {
    fn of(mut told: Value) -> Self {
        let list = |value: Value| value.as_array().cloned().unwrap_or_else(|| panic!("{value}"));
        let (tools, results) = (list(told["tools"].take()), list(told["calls"].take()));
        Self { agreed: told, tools, results }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }
}

/// The targets as the scripts read them.
fn plan(targets: &[(Target, Vec<Call>)]) -> String {
    let one = |(target, calls): &(Target, Vec<Call>)| {
        let calls =
            calls.iter().map(|call| json!({ "name": call.tool, "arguments": call.arguments }));
        let calls: Vec<Value> = calls.collect();
        match target {
            Target::Command(command) => json!({ "command": command, "calls": calls }),
            Target::Url { url, transport } => {
                json!({ "url": url, "transport": transport, "calls": calls })
            }
        }
    };
    Value::from_iter(targets.iter().map(one)).to_string()
}

/// The inspector makes one request each time it runs.
fn inspect(peers: &Peers, target: &Target, calls: &[Call]) -> Session {
    let ask = |words: &[&str]| {
        let mut inspector = Command::new(&peers.node);
        inspector.arg(Peers::package("inspector/clients/launcher/build/index.js")).arg("--cli");
        inspector.args(["--format", "json", "--quiet", "--protocol-era", "auto"]);
        // A busy machine is slow to start a server.
        inspector.args(["--connect-timeout", "60000"]).args(words);
        match target {
            Target::Command(command) => inspector.arg("--").args(command),
            Target::Url { url, transport } => inspector.args(["--transport", transport, url]),
        };
        let told = output(&mut inspector, Client::Inspector);
        told.get("result").unwrap_or(&told).clone()
    };
    let mut list = ask(&["--method", "tools/list"]);
    let tools = list["tools"].take().as_array().cloned().unwrap_or_default();
    let call = |call: &Call| {
        let arguments = call.arguments.to_string();
        let words = ["--method", "tools/call", "--tool-name", call.tool, "--tool-args-json"];
        ask(&[&words[..], &[&arguments]].concat())
    };
    Session { agreed: list, tools, results: calls.iter().map(call).collect() }
}

/// What a program prints as JSON; the inspector prints its errors elsewhere.
#[track_caller]
fn output(program: &mut Command, client: Client) -> Value {
    let ran = program.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&ran.stdout), text(&ran.stderr));
    serde_json::from_str(&said)
        .or_else(|_| serde_json::from_str(&errors))
        .unwrap_or_else(|error| panic!("{client:?}: {error}: {said}\n{errors}"))
}

/// The policy that denies a tool of each of these servers.
pub(crate) fn denying(denied: &[(&str, &str)]) -> String {
    let rule = |(server, tool): &(&str, &str)| {
        format!(
            "  - {{ id: no-{server}, tool: {tool}, server: {server}, surface: mcp, verdict: deny, reason: Not here. }}\n"
        )
    };
    format!("policy: p\nrules:\n{}", denied.iter().map(rule).collect::<String>())
}

/// What came through is what comes directly, but for the denied tool: it is not listed, and its
/// call, the last one, is answered by callgate.
#[track_caller]
pub(crate) fn assert_only_denied(
    client: Client,
    server: &str,
    (mut direct, mut through): (Session, Session),
    denied: &str,
) {
    let what = format!("{client:?} and {server}");
    assert!(direct.names().contains(&denied), "{what}: {:?}", direct.names());
    direct.tools.retain(|tool| tool["name"] != denied);
    let refusal = through.results.pop().unwrap();
    assert_eq!(direct, through, "{what}");
    if matches!(client, Client::Inspector) {
        // It looks for a tool in the list before it calls it.
        assert_eq!(refusal["error"]["code"], "tool_not_found", "{what}: {refusal}");
        return;
    }
    assert_eq!(refusal["isError"], true, "{what}: {refusal}");
    let text = refusal["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("callgate blocked") && text.contains("Not here."), "{what}: {refusal}");
}

/// Without `--all`, a client talks to every fourth server, and the next client to other ones.
fn every_server_through(client: Client, peers: &Peers) {
    let folder = repository();
    let mut servers = peers.all(folder.path());
    if !drive::runs_everything() {
        let mut place = client as usize;
        servers.retain(|_| {
            place += 1;
            place.is_multiple_of(4)
        });
    }
    let denied: Vec<_> = servers.iter().map(|server| (server.name, server.other)).collect();
    let place = Place::new(&denying(&denied), "");
    let mut targets = Vec::new();
    for server in &servers {
        let wrapped = place.wrapping(server.name, &server.command);
        let call = || Call { tool: server.tool, arguments: server.arguments.clone() };
        let denied = Call { tool: server.other, arguments: json!({}) };
        targets.push((Target::Command(server.command.clone()), vec![call()]));
        targets.push((Target::Command(wrapped), vec![call(), denied]));
    }
    let mut sessions = client.sessions(peers, &targets).into_iter();
    for server in &servers {
        let both = (sessions.next().unwrap(), sessions.next().unwrap());
        assert_only_denied(client, server.name, both, server.other);
    }
}

/// A server on the network.
struct Site {
    id: &'static str,
    transport: &'static str,
    served: Served,
    tool: &'static str,
    arguments: Value,
    denied: &'static str,
}

fn everything(peers: &Peers, transport: &'static str, word: &str) -> Site {
    Site {
        id: "everything",
        transport,
        served: Served::everything(peers, word),
        tool: "echo",
        arguments: json!({ "message": "hi" }),
        denied: "get-env",
    }
}

fn fast(peers: &Peers) -> Site {
    Site {
        id: "fast",
        transport: "http",
        served: Served::script(&peers.python, "python/fast_server.py"),
        tool: "add",
        arguments: json!({ "a": 20, "b": 22 }),
        denied: "erase",
    }
}

fn every_site_through(client: Client, peers: &Peers, sites: &[Site], gateway: &Gateway) {
    let mut targets = Vec::new();
    for site in sites {
        let target = |url: &str| Target::Url { url: url.to_owned(), transport: site.transport };
        let call = || Call { tool: site.tool, arguments: site.arguments.clone() };
        let denied = Call { tool: site.denied, arguments: json!({ "name": "x" }) };
        targets.push((target(&site.served.url), vec![call()]));
        targets.push((target(&address(gateway, site.id)), vec![call(), denied]));
    }
    let mut sessions = client.sessions(peers, &targets).into_iter();
    for site in sites {
        let both = (sessions.next().unwrap(), sessions.next().unwrap());
        assert_only_denied(client, site.id, both, site.denied);
    }
}

/// Every client in a thread of its own.
fn with_every_client(session: impl Fn(Client) + Sync) {
    let session = &session;
    thread::scope(|scope| {
        for client in Client::ALL {
            scope.spawn(move || session(client));
        }
    });
}

#[test]
fn clients_get_from_every_server_what_they_get_without_callgate() {
    let Some(peers) = Peers::find() else { return };
    with_every_client(|client| every_server_through(client, &peers));
}

/// Each kind of transport has a gateway of its own: a server that is declared twice would mention
/// tools that another one has.
fn over(peers: &Peers, sites: &[Site]) {
    let denied: Vec<_> = sites.iter().map(|site| (site.id, site.denied)).collect();
    let servers = sites.iter().map(|site| (site.id, site.transport, site.served.url.as_str()));
    let gateway = gateway(&denying(&denied), &servers.collect::<Vec<_>>());
    with_every_client(|client| every_site_through(client, peers, sites, &gateway));
    let calls = gateway.calls();
    let denied = calls.iter().filter(|call| call["verdict"]["action"] == "deny").count();
    // The inspector does not call what is not listed.
    assert_eq!(denied, (Client::ALL.len() - 1) * sites.len(), "{calls:?}");
}

#[test]
fn clients_get_over_streamable_http_what_they_get_without_callgate() {
    let Some(peers) = Peers::find() else { return };
    over(&peers, &[everything(&peers, "http", "streamableHttp"), fast(&peers)]);
}

#[test]
fn clients_get_over_the_older_transport_what_they_get_without_callgate() {
    let Some(peers) = Peers::find() else { return };
    over(&peers, &[everything(&peers, "sse", "sse")]);
}
