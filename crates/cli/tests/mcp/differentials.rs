//! Messages that real servers read differently from each other, and from us: none of them runs a
//! call that is denied.

use std::process::Command;

use serde_json::{Value, json};

use crate::peers::{Peers, Server, repository};
use crate::support::{Place, Wrapped};

const LIST: &str = r#"{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{}}"#;

/// A line with a call in it, and who runs that call if there is no callgate.
struct Row {
    what: &'static str,
    line: Vec<u8>,
    /// The id that an answer to the call has.
    id: Value,
    by: By,
}

/// Whose SDK runs the call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Both,
    TypeScript,
    Python,
    Nobody,
}

impl Row {
    fn runs_on(&self, server: &str) -> bool {
        match self.by {
            By::Both => true,
            By::TypeScript => server == "everything",
            By::Python => server == "time",
            By::Nobody => false,
        }
    }
}

/// Every way there is, for a call of a server's tool.
fn rows(server: &Server) -> Vec<Row> {
    let name = format!("\"name\":\"{}\"", server.tool);
    let mut id = 100;
    let mut rows = Vec::new();
    let mut row = |what, by, change: &dyn Fn(&str, &str) -> Vec<u8>| {
        id += 1;
        let params = json!({ "name": server.tool, "arguments": server.arguments });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let line = change(&call.to_string(), &id.to_string());
        rows.push(Row { what, line, id: id.into(), by });
    };
    let swap = |from: &str, to: &str| {
        let (from, to) = (from.to_owned(), to.to_owned());
        move |call: &str, _: &str| {
            assert!(call.contains(&from), "{call}");
            call.replacen(&from, &to, 1).into_bytes()
        }
    };
    let method = "\"method\":\"tools/call\"";
    let escaped = name.replace("name", "n\\u0061me");
    row("as it is", By::Both, &swap("", ""));
    row("the method twice", By::Both, &swap(method, &format!("\"method\":\"ping\",{method}")));
    row("the tool twice", By::Both, &swap(&name, &format!("\"name\":\"x\",{name}")));
    row("the tool twice, escaped", By::Both, &swap(&name, &format!("\"name\":\"x\",{escaped}")));
    row("an escaped key", By::Both, &swap(&name, &escaped));
    row("an escaped method", By::Both, &swap("tools/call", "tools\\/call"));
    row("two messages parted by a carriage return", By::Python, &|call, _| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\r{call}").into_bytes()
    });
    row("a message inside of a notification", By::Python, &|call, _| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"a\":\r{call}\r}}}}"
        )
        .into_bytes()
    });
    row("a byte order mark", By::Nobody, &|call, _| format!("\u{feff}{call}").into_bytes());
    row("a batch", By::Nobody, &|call, _| format!("[{call}]").into_bytes());
    row("an id with a point", By::TypeScript, &|call, id| {
        call.replacen(id, &format!("{id}.0"), 1).into_bytes()
    });
    row("an id that is a fraction", By::Nobody, &|call, id| {
        call.replacen(id, &format!("{id}.5"), 1).into_bytes()
    });
    row("no id but null", By::Nobody, &|call, id| call.replacen(id, "null", 1).into_bytes());
    row("a key next to the others", By::Python, &swap("{", "{\"extra\":1,"));
    row("a result too", By::Python, &swap("{", "{\"result\":{},"));
    row(
        "a number that is not one",
        By::Python,
        &swap("\"arguments\":{", "\"_meta\":{\"x\":NaN},\"arguments\":{"),
    );
    row("bytes that are no text", By::Both, &|call, _| {
        let (before, after) = call.split_once("\"arguments\":{").unwrap();
        [before.as_bytes(), b"\"_meta\":{\"x\":\"\xff\"},\"arguments\":{", after.as_bytes()]
            .concat()
    });
    let big = (1_u64 << 60) + 1;
    row("an id that is no double", By::Python, &|call, id| {
        call.replacen(id, &big.to_string(), 1).into_bytes()
    });
    rows.last_mut().unwrap().id = big.into();
    rows
}

/// The ids of the calls that ran, once those have that are waited for. What else ran is answered
/// before a list that is asked for after another one.
fn ran(mut session: Wrapped, rows: &[Row], wanted: &[Value]) -> Vec<Value> {
    session.hello();
    for row in rows {
        session.say(&row.line);
    }
    session.say(LIST);
    let (mut ran, mut lists) = (Vec::new(), 1);
    while lists < 3 || !wanted.iter().all(|id| ran.contains(id)) {
        let answer = session.hear();
        if answer["id"] == "list" && lists < 3 {
            assert!(answer["result"].is_object(), "{answer}");
            session.say(LIST);
            lists += 1;
        }
        // A call that was refused has a result too, which says so.
        if answer["result"]["content"].is_array() && answer["result"]["isError"] != true {
            ran.push(answer["id"].clone());
        }
    }
    session.end();
    ran
}

/// The table is about something: this is what the servers do.
#[test]
fn real_servers_run_calls_that_are_hidden_from_a_careless_reader() {
    let Some(peers) = Peers::find() else { return };
    let folder = repository();
    let servers = peers.all(folder.path()).into_iter();
    for server in servers.filter(|server| ["everything", "time"].contains(&server.name)) {
        let rows = rows(&server);
        let wanted = rows.iter().filter(|row| row.runs_on(server.name)).map(|row| row.id.clone());
        let wanted: Vec<Value> = wanted.collect();
        let mut command = Command::new(&server.command[0]);
        let ran = ran(Wrapped::start(command.args(&server.command[1..])), &rows, &wanted);
        for row in &rows {
            let runs = ran.contains(&row.id);
            assert_eq!(runs, row.runs_on(server.name), "{}: {}", server.name, row.what);
        }
    }
}

#[test]
fn no_call_slips_through_to_a_real_server() {
    let Some(peers) = Peers::find() else { return };
    let folder = repository();
    for server in peers.all(folder.path()) {
        let (name, tool) = (server.name, server.tool);
        let policy = format!(
            "policy: p\nrules:\n  - {{ id: no, tool: {tool}, surface: mcp, verdict: deny, reason: No. }}\n"
        );
        let place = Place::new(&policy, "");
        let ran = ran(place.wrap(name, &[], &server.words()), &rows(&server), &[]);
        assert!(ran.is_empty(), "{name}: {ran:?}");
        let calls = place.json(&["calls", "--json"]);
        let passed = calls.iter().filter(|call| call["verdict"]["action"] != "deny");
        assert_eq!(passed.count(), 0, "{name}");
    }
}
