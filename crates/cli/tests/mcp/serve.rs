//! callgate as an MCP server, on standard input and output.

mod clients;
mod http;
mod reload;

use serde_json::{Value, json};

use crate::support::{Place, Wrapped, simple, text_of};

pub(crate) const POLICY: &str = "\
policy: mine
rules:
  - id: no-force-push
    tool: \"@shell\"
    when: { arg: command, matches: 'git push .*--force' }
    verdict: deny
    reason: History is shared.
    hint: Push to a branch of your own.
  - { id: no-mail, tool: send_email, verdict: deny, reason: No mail. }
  - { id: no-wipe, tool: delete_all, surface: mcp, verdict: deny, reason: Nothing is deleted. }
  - { id: seldom, tool: seldom, verdict: deny, reason: Too often., limit: { calls: 1, per: hour } }
";

impl Place {
    /// callgate as a server.
    pub(crate) fn serve(&self) -> Wrapped {
        Wrapped::start(self.callgate().args(["mcp", "serve"]))
    }

    fn rules(&self, text: &str) {
        // As editors do: the file is never half there.
        let new = self.path().join("rules.new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.path().join("rules.yaml")).unwrap();
    }
}

/// Parameters as the newer revisions want them.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

impl Wrapped {
    #[track_caller]
    pub(crate) fn evaluate(&mut self, arguments: Value) -> Value {
        let answer = self.call("evaluate", arguments);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    #[track_caller]
    pub(crate) fn read(&mut self, uri: &str) -> String {
        let answer = self.ask("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    #[track_caller]
    fn read_json(&mut self, uri: &str) -> Value {
        serde_json::from_str(&self.read(uri)).unwrap()
    }
}

const TOOLS: [&str; 3] = ["evaluate", "explain", "recent_decisions"];

#[test]
fn a_session_of_the_older_revisions() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let hello = server.hello();
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["result"]["serverInfo"]["name"], "callgate");
    assert_eq!(hello["result"]["capabilities"]["resources"]["subscribe"], true);
    let list = server.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), TOOLS);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
    let list = server.ask("resources/list", json!({}));
    let uris: Vec<&Value> =
        list["result"]["resources"].as_array().unwrap().iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris, ["config://rules", "audit://recent", "config://health"]);
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(server.call("no_such_tool", json!({}))["error"]["code"], -32602);
    let missing = server.ask("resources/read", json!({ "uri": "config://nothing" }));
    assert_eq!(missing["error"]["code"], -32002);
    let end = server.end();
    assert_eq!((end.code, end.said.as_str()), (Some(0), ""));
}

#[test]
fn a_session_of_the_newer_revisions() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let found = server.ask("server/discover", modern(json!({})));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]), "{found}");
    let list = server.ask("tools/list", modern(json!({})));
    assert_eq!(list["result"]["resultType"], "complete");
    assert!(list["result"]["ttlMs"].is_u64() && list["result"]["cacheScope"] == "public");
    let params = json!({ "name": "evaluate", "arguments": { "tool": "send_email" } });
    let judged = server.ask("tools/call", modern(params));
    assert_eq!(judged["result"]["resultType"], "complete");
    assert_eq!(judged["result"]["structuredContent"]["verdict"], "deny", "{judged}");
    let missing = server.ask("resources/read", modern(json!({ "uri": "config://nothing" })));
    assert_eq!(missing["error"]["code"], -32602);
    assert_eq!(server.ask("ping", modern(json!({})))["error"]["code"], -32601);
    assert_eq!(server.ask("server/discover", json!({}))["error"]["code"], -32602);
    assert_eq!(server.end().code, Some(0));
}

#[test]
fn evaluate_says_what_check_says() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let calls = [
        json!({ "tool": "Bash", "input": { "command": "git push --force origin" } }),
        json!({ "tool": "Bash", "input": { "command": "ls" } }),
        json!({ "tool": "send_email" }),
        json!({ "tool": "delete_all", "server": "notes", "surface": "mcp" }),
        json!({ "tool": "delete_all", "server": "notes", "surface": "hook", "id": "c1" }),
        json!({ "tool": "exec", "input": "free text", "agent": "a", "session": "s", "cwd": "/" }),
    ];
    for call in calls {
        let checked = place.run(&["check", "--json", &call.to_string()]);
        let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
        let mut asked = call.clone();
        if let Some(input) = asked.as_object_mut().unwrap().remove("input") {
            asked["arguments"] = input;
        }
        assert_eq!(server.evaluate(asked), checked, "{call}");
    }
    let denied = json!({ "tool": "Bash", "arguments": { "command": "git push --force" } });
    let answer = server.call("evaluate", denied);
    let text = text_of(&answer);
    for word in
        ["deny", "mine/no-force-push", "History is shared.", "Push to a branch of your own."]
    {
        assert!(text.contains(word), "{text}");
    }
}

/// Asking is not calling: neither a record nor a limit.
#[test]
fn evaluate_reads_a_call_as_the_doors_do() {
    let policy = "policy: p\nrules:\n  - { id: no-rm, when: { arg: command, contains: rm -rf }, verdict: deny }\n";
    let place = Place::new(policy, "limits: { arguments: 1KiB }");
    let mut server = place.serve();
    server.hello();
    let object = r#"{"command":"rm -rf /"}"#;
    for (surface, arguments, verdict) in [
        ("hook", json!(object), "deny"),
        ("hook", json!("*** Begin rm -rf"), "allow"),
        ("mcp", json!(object), "deny"),
        // No object: what a server makes of it, nobody knows.
        ("mcp", json!("anything"), "deny"),
        ("mcp", json!({ "command": "ls" }), "allow"),
        ("mcp", json!({ "text": "x".repeat(2000) }), "deny"),
        ("hook", json!({ "text": "x".repeat(2000) }), "deny"),
    ] {
        let asked = json!({ "tool": "t", "arguments": arguments, "surface": surface });
        assert_eq!(server.evaluate(asked.clone())["verdict"], verdict, "{asked}");
        let explained =
            server.call("explain", asked)["result"]["structuredContent"]["call"].clone();
        assert_eq!(explained["verdict"], verdict, "{explained}");
    }
    server.say(r#"{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"evaluate","arguments":{"tool":"t","surface":"mcp","arguments":{"command":"rm \ud83d-rf /"}}}}"#);
    assert_eq!(server.hear()["result"]["structuredContent"]["verdict"], "deny");
    server.end();
    let place = Place::new("policy: p\nrules: []\n", "limits: { arguments: 1KiB }\noversize: deny");
    let mut server = place.serve();
    server.hello();
    let large = json!({ "tool": "t", "arguments": { "text": "x".repeat(2000) } });
    let answer = server.call("evaluate", large);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text_of(&answer).contains("would be blocked"), "{answer}");
    server.end();
}

#[test]
fn evaluate_leaves_no_trace() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    assert_eq!(server.evaluate(json!({ "tool": "send_email" }))["verdict"], "deny");
    for _ in 0..5 {
        assert_eq!(server.evaluate(json!({ "tool": "seldom" }))["verdict"], "allow");
    }
    server.call("explain", json!({ "tool": "send_email" }));
    assert_eq!(server.read_json("audit://recent"), json!({ "decisions": [], "more": false }));
    server.end();
    assert!(!place.path().join("callgate.db").exists());
}

#[test]
fn what_cannot_be_answered_says_what_next() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let table = [
        ("evaluate", json!({}), "the call has no `tool`"),
        (
            "evaluate",
            json!({ "tool": "Bash", "input": {} }),
            "the keys of a call are tool, arguments, server",
        ),
        ("evaluate", json!({ "tool": "Bash", "surface": "web" }), "the surfaces are"),
        ("evaluate", json!({ "tool": "" }), "cannot judge"),
        ("explain", json!({ "record": "0" }), "no records yet"),
        ("explain", json!({ "record": 1 }), "`record` is not a string"),
        ("explain", json!({ "record": "0", "tool": "Bash" }), "give `record` alone"),
        ("recent_decisions", json!({ "limit": 0 }), "ask for 1 to 200"),
        ("recent_decisions", json!({ "limit": 201 }), "ask for 1 to 200"),
        ("recent_decisions", json!({ "verdict": "block" }), "the verdicts are allow"),
        ("recent_decisions", json!({ "since": "soon" }), "use a time ago such as"),
        ("recent_decisions", json!({ "limitt": 1 }), "unknown field `limitt`"),
    ];
    for (tool, arguments, expected) in table {
        let answer = server.call(tool, arguments.clone());
        assert_eq!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
        assert!(text_of(&answer).contains(expected), "{tool} {arguments}: {}", text_of(&answer));
    }
}

#[test]
fn rules_are_shown_as_written_without_secrets() {
    let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
    let policy = format!("# My rules.\n{POLICY}# key: {key}\n");
    let place = Place::new(&policy, "");
    let config = place.path().join("callgate.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("[rules.yaml]", "[rules.yaml, builtin:starter]");
    std::fs::write(&config, text).unwrap();
    let rules = place.serve().read("config://rules");
    assert!(
        rules.contains("# My rules.\npolicy: mine\nrules:\n  - id: no-force-push\n"),
        "{rules}"
    );
    assert!(rules.contains("rules.yaml") && rules.contains("# from builtin:starter\n"), "{rules}");
    assert!(rules.contains("no-fork-bomb"), "{rules}");
    assert!(!rules.contains(&key) && rules.contains("[REDACTED:aws_access_key_id]"), "{rules}");
}

#[test]
fn what_was_decided_is_found_again() {
    let place = Place::new(POLICY, "");
    let key = ["AKI", "AIOSFODNN7ABCDEFG"].concat();
    let mut notes = place.scripted("notes", simple());
    notes.hello();
    notes.call("echo", json!({ "text": format!("use {key}") }));
    notes.call("delete_all", json!({}));
    notes.end();
    let mut server = place.serve();
    let recent = server.call("recent_decisions", json!({ "server": "notes" }));
    let decisions = &recent["result"]["structuredContent"]["decisions"];
    let told: Vec<_> =
        decisions.as_array().unwrap().iter().map(|it| (&it["tool"], &it["verdict"])).collect();
    assert_eq!(told, [(&json!("delete_all"), &json!("deny")), (&json!("echo"), &json!("allow"))]);
    assert!(!recent.to_string().contains(&key), "{recent}");
    assert!(text_of(&recent).contains("mine/no-wipe"), "{}", text_of(&recent));
    for (filter, count) in [
        (json!({ "verdict": "deny" }), 1),
        (json!({ "tool": "ec*" }), 1),
        (json!({ "limit": 1 }), 1),
        (json!({ "since": "1h" }), 2),
        (json!({ "since": "2020-01-01", "verdict": "audit" }), 0),
        (json!({ "session": "nobody's" }), 0),
    ] {
        let found = server.call("recent_decisions", filter.clone());
        let found = &found["result"]["structuredContent"]["decisions"];
        assert_eq!(found.as_array().unwrap().len(), count, "{filter}");
    }
    let id = decisions[0]["id"].as_str().unwrap();
    let why = server.call("explain", json!({ "record": id }));
    let record = &why["result"]["structuredContent"]["record"];
    let shown = place.json(&["calls", "show", id, "--json"]);
    assert_eq!(record, &shown[0]);
    assert!(text_of(&why).contains("Nothing is deleted."), "{}", text_of(&why));
    let resource = server.read_json("audit://recent");
    assert_eq!(&resource["decisions"], decisions);
}

#[test]
fn rules_are_explained() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let tool = server.call("explain", json!({ "tool": "Bash" }));
    let told = &tool["result"]["structuredContent"];
    assert_eq!((&told["decided"], &told["verdict"]), (&json!("by arguments"), &Value::Null));
    assert_eq!(told["rules"][0]["rule"], "no-force-push", "{told}");
    let own = |rule: &&Value| rule["policy"] != "self-protection";
    assert_eq!(told["rules"].as_array().unwrap().iter().filter(own).count(), 1);
    let mail = server.call("explain", json!({ "tool": "send_email" }));
    let told = &mail["result"]["structuredContent"];
    assert_eq!((&told["decided"], &told["verdict"]), (&json!("by name"), &json!("deny")));
    let push = json!({ "tool": "Bash", "arguments": { "command": "git push --force" } });
    let call = server.call("explain", push);
    let told = &call["result"]["structuredContent"]["call"];
    assert_eq!((&told["verdict"], &told["rule"]), (&json!("deny"), &json!("no-force-push")));
    assert_eq!(told["rules"][0]["part"], "decided", "{told}");
    let other = json!({ "tool": "Bash", "arguments": { "command": "ls" } });
    let call = server.call("explain", other);
    let told = &call["result"]["structuredContent"];
    assert_eq!(told["not_matched"][0], "mine/no-force-push");
}

#[test]
fn what_two_peers_would_read_differently_is_not_read() {
    let place = Place::new(POLICY, "");
    let mut server = place.serve();
    let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"evaluate","arguments":{"tool":"Bash"}}}"#;
    let table = [
        (call.replace("\"id\":9", "\"id\":9,\"method\":\"ping\""), -32600),
        (call.replace("\"tool\"", "\"tool\":\"x\",\"tool\""), -32600),
        (format!("[{call}]"), -32600),
        (format!("\u{feff}{call}"), -32700),
        (format!("{call}\r{call}"), -32600),
        (call.replace("\"Bash\"", "NaN"), -32700),
        (call.replace(":9", ":9.5"), -32600),
        (call.replace("}}}", "}}"), -32700),
    ];
    for (line, code) in table {
        server.say(&line);
        let answer = server.hear();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    let mut broken = call.as_bytes().to_vec();
    broken.extend_from_slice(b"\xff");
    server.say(&broken);
    assert_eq!(server.hear()["error"]["code"], -32700);
    server.say(vec![b' '; (16 << 20) + 1]);
    assert_eq!(server.hear()["error"]["code"], -32600, "larger than 16 MiB");
    server.say("");
    assert_eq!(server.evaluate(json!({ "tool": "x" }))["verdict"], "allow", "it goes on");
}

/// As with the gateway: what cannot be judged by is not served.
#[test]
fn a_broken_policy_is_refused_at_the_start() {
    let place = Place::new("policy: p\nrules: [{ id: a, verdict: never }]\n", "");
    let end = place.serve().end();
    assert_eq!(end.code, Some(2));
    assert!(end.said.contains("rules.yaml:2"), "{}", end.said);
}
