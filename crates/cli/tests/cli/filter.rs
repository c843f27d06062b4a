//! `callgate filter`.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::support::{Ran, Test};

fn filter(dialect: &str) -> Test {
    Test::new(&["filter", "--policy", "policy.yaml", "--dialect", dialect])
}

#[test]
fn a_denial_is_worded_as_the_config_says() {
    let config = "denial: { text: \"No {tool}, says {rule}.\" }\npolicies: [policy.yaml]\n";
    let test = Test::new(&["filter", "--config", "c.yaml", "--dialect", "anthropic"]);
    let ran = test.file("c.yaml", config).stdin(anthropic("nuke", &["{}"])).run();
    let text = r#""text":"No nuke, says no-nuke (policy test).""#;
    assert!(ran.stdout.contains(text), "{}{}", ran.stdout, ran.stderr);
    // Without the config it is the built-in text.
    let ran = filter("anthropic").stdin(anthropic("nuke", &["{}"])).run();
    assert!(ran.stdout.contains("callgate blocked the tool call `nuke`."), "{}", ran.stdout);
}

/// An Anthropic answer: a text, then one call whose arguments come in the given pieces.
fn anthropic(tool: &str, pieces: &[&str]) -> String {
    let mut stream = text_of_anthropic();
    let open = json!({"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}});
    stream += &event("content_block_start", json!({"index": 1, "content_block": open}));
    for piece in pieces {
        let delta = json!({"type": "input_json_delta", "partial_json": piece});
        stream += &event("content_block_delta", json!({"index": 1, "delta": delta}));
    }
    stream += &event("content_block_stop", json!({"index": 1}));
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null});
    stream += &event("message_delta", json!({"delta": delta, "usage": {"output_tokens": 9}}));
    stream + &event("message_stop", json!({}))
}

fn text_of_anthropic() -> String {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let delta = json!({"type": "text_delta", "text": "I will look."});
    let block = json!({"type": "text", "text": ""});
    event("message_start", json!({"message": message}))
        + &event("content_block_start", json!({"index": 0, "content_block": block}))
        + &event("content_block_delta", json!({"index": 0, "delta": delta}))
        + &event("content_block_stop", json!({"index": 0}))
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

/// An OpenAI Chat answer with one call.
fn openai(tool: &str, pieces: &[&str]) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let data = json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]});
        format!("data: {data}\n\n")
    };
    let call = |function: Value| json!({"tool_calls": [{"index": 0, "function": function}]});
    let mut open = call(json!({"name": tool, "arguments": ""}));
    open["tool_calls"][0]["id"] = json!("call_1");
    open["tool_calls"][0]["type"] = json!("function");
    let mut stream = chunk(json!({"role": "assistant", "content": "Hm."}), json!(null));
    stream += &chunk(open, json!(null));
    for piece in pieces {
        stream += &chunk(call(json!({"arguments": piece})), json!(null));
    }
    stream + &chunk(json!({}), json!("tool_calls")) + "data: [DONE]\n\n"
}

const DANGER: [&str; 2] = [r#"{"command":"rm -"#, r#"rf /"}"#];
const HARMLESS: [&str; 2] = [r#"{"comm"#, r#"and":"ls"}"#];

/// An answer with a call of that tool, its arguments in pieces.
type Stream = fn(&str, &[&str]) -> String;

fn dialects() -> [(&'static str, Stream); 2] {
    [("anthropic", anthropic), ("openai-chat", openai)]
}

/// The id of the call, which no answer without the call contains.
fn has_call(ran: &Ran) -> bool {
    ran.stdout.contains("toolu_1") || ran.stdout.contains("call_1")
}

#[test]
fn what_is_allowed_leaves_byte_for_byte() {
    for (dialect, stream) in dialects() {
        // Allowed by its arguments, and by its name alone.
        for (tool, line) in [
            ("Bash", "allow  Bash  test (default)  no rule matched\n"),
            ("Read", "allow  Read  test (default)  no rule matched\n"),
        ] {
            let stream = stream(tool, &HARMLESS);
            filter(dialect).stdin(stream.clone()).run().sees(0, &stream, line);
        }
    }
}

/// Two calls of Chat in turns, the first complete before the second, and whatever comes after
/// that.
fn in_turns(rest: &str) -> String {
    let chunk = |entry: Value| {
        let delta = json!({"tool_calls": [entry]});
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let open = |index: usize| {
        let function = json!({"name": "Bash", "arguments": ""});
        chunk(
            json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function}),
        )
    };
    let first = json!({"index": 0, "function": {"arguments": HARMLESS.concat()}});
    let second = json!({"index": 1, "function": {"arguments": HARMLESS[0]}});
    open(0) + &open(1) + &chunk(first) + &chunk(second) + rest
}

/// The opening chunk of the first call would be a call without arguments to some clients.
#[test]
fn of_held_calls_in_turns_no_beginning_is_left_behind() {
    let unreadable = "data: {\"choices\":[{\"index\":0,\"index\":1}]}\n\n";
    let ran = filter("openai-chat").stdin(in_turns(unreadable)).run();
    assert!(!ran.stdout.contains("call_") && !ran.stdout.contains("Bash"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\"error\":{"), "{}", ran.stdout);
    let last = json!({"tool_calls": [{"index": 1, "function": {"arguments": HARMLESS[1]}}]});
    let choice = json!({"index": 0, "delta": last, "finish_reason": "tool_calls"});
    let last = json!({"object": "chat.completion.chunk", "choices": [choice]});
    let whole = in_turns(&format!("data: {last}\n\ndata: [DONE]\n\n"));
    assert_eq!(filter("openai-chat").stdin(whole.clone()).run().stdout, whole);
}

#[test]
fn denied_by_its_arguments() {
    for (dialect, stream) in dialects() {
        let ran = filter(dialect).stdin(stream("Bash", &DANGER)).run();
        let line = "deny   Bash  test/no-rm  Nothing is removed for good.\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (0, line), "{dialect}");
        assert!(!has_call(&ran) && ran.stdout.contains("Nothing is removed for good."));
        assert!(!ran.stdout.contains(r#"rf /\"}"#), "{dialect}: {}", ran.stdout);
    }
}

#[test]
fn denied_by_its_name() {
    for (dialect, stream) in dialects() {
        let ran = filter(dialect).stdin(stream("nuke", &HARMLESS)).run();
        let line = "deny   nuke  test/no-nuke  Not here.\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (0, line), "{dialect}");
        assert!(!has_call(&ran) && ran.stdout.contains("Ask the operator."), "{}", ran.stdout);
    }
}

#[test]
fn denied_by_its_name_in_every_spelling() {
    let policy =
        "policy: p\nrules:\n  - { id: keep, server: github, tool: delete_repo, verdict: deny }\n";
    for (dialect, stream) in dialects() {
        let run = |name| {
            let test = Test::new(&["filter", "--policy", "p.yaml", "--dialect", dialect]);
            test.file("p.yaml", policy).stdin(stream(name, &HARMLESS)).run()
        };
        for name in [
            "mcp__plugin_x_github__delete_repo",
            "functions.mcp__github__delete_repo",
            "github_delete_repo",
            "github-delete_repo",
            "mcp.github.delete_repo",
            "mcp__github__delete-repo",
            "mcp__g\u{456}thub__delete_repo",
        ] {
            let ran = run(name);
            assert!(!has_call(&ran) && ran.stderr.contains("p/keep"), "{name}: {}", ran.stdout);
        }
        let harmless = "github_delete_repo_notes";
        assert_eq!(run(harmless).stdout, stream(harmless, &HARMLESS));
    }
}

#[test]
fn silent_says_nothing() {
    for (dialect, stream) in dialects() {
        let ran = filter(dialect).with(&["--on-deny", "silent"]).stdin(stream("nuke", &[])).run();
        assert_eq!(ran.code, 0);
        assert!(!has_call(&ran) && !ran.stdout.contains("callgate"), "{}", ran.stdout);
    }
}

#[test]
fn a_whole_body_is_judged_too() {
    let body = |command: &str| {
        let input = json!({ "command": command });
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input}],
            "stop_reason": "tool_use", "stop_sequence": null, "usage": {"output_tokens": 3},
        })
        .to_string()
    };
    let ran = filter("anthropic").stdin(body("ls")).run();
    assert_eq!((ran.code, ran.stdout), (0, body("ls")));
    let ran = filter("anthropic").stdin(body("rm -rf /")).run();
    assert_eq!(ran.code, 0);
    assert!(!has_call(&ran) && ran.stdout.contains("end_turn"), "{}", ran.stdout);
}

#[test]
fn bytes_leave_as_soon_as_they_are_free() {
    for (dialect, stream) in dialects() {
        let stream = stream("Bash", &HARMLESS);
        let call = stream.find("toolu_1").or(stream.find("call_1")).unwrap();
        let text = stream[..call].rfind("\n\n").unwrap() + 2;
        let held = stream.rfind("and\\\":\\\"ls").unwrap();
        let (mut child, _dir) = filter(dialect).spawn();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());

        // The text is out while the input is still open.
        stdin.write_all(&stream.as_bytes()[..text]).unwrap();
        let mut out = vec![0; text];
        stdout.read_exact(&mut out).unwrap();
        assert_eq!(out, stream.as_bytes()[..text], "{dialect}");

        // The call is out when it is whole, though the answer has not ended.
        let whole = if dialect == "anthropic" {
            stream.find("event: message_delta").unwrap()
        } else {
            held + stream[held..].find("\n\n").unwrap() + 2
        };
        stdin.write_all(&stream.as_bytes()[text..whole]).unwrap();
        let mut out = vec![0; whole - text];
        stdout.read_exact(&mut out).unwrap();
        assert_eq!(out, stream.as_bytes()[text..whole], "{dialect}");

        stdin.write_all(&stream.as_bytes()[whole..]).unwrap();
        drop(stdin);
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, stream.as_bytes()[whole..], "{dialect}");
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn coded_input_is_decoded() {
    let stream = anthropic("Bash", &HARMLESS);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(stream.as_bytes()).unwrap();
    let coded = gzip.finish().unwrap();
    let gz = || filter("anthropic").with(&["--content-encoding", "gzip"]);
    let ran = gz().stdin(coded.clone()).run();
    assert_eq!((ran.code, ran.stdout), (0, stream));

    let ran = gz().stdin(&coded[..coded.len() - 9]).run();
    let why = "the gzip body ends too early\n";
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.ends_with(why), "{}", ran.stderr);

    let ran = gz().stdin("no gzip at all").run();
    let why = "error: the response was ended with an error: cannot decode the response: \
               the body is not valid gzip\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (4, why));
}

#[test]
fn an_unknown_coding_is_refused_before_anything_is_read() {
    let error = "error: unknown content coding `lzma`\n\
                 hint: callgate reads gzip, deflate, br and zstd\n";
    let test = filter("anthropic").with(&["--content-encoding", "gzip, lzma"]);
    test.stdin(anthropic("Read", &[])).run().sees(2, "", error);
}

#[test]
fn json_lines() {
    let test = filter("anthropic").with(&["--json"]).stdin(anthropic("Bash", &DANGER));
    let expected = json!({
        "event": "tool_call", "tool_name": "Bash", "tool_id": "toolu_1",
        "tool_input": {"command": "rm -rf /"}, "verdict": "deny", "policy": "test", "rule": "no-rm",
        "reason": "Nothing is removed for good.", "hint": null, "uncovered": false,
        "matched": {"path": "command", "value": "rm -rf /"},
        "deciding": [{
            "policy": "test", "rule": "no-rm", "verdict": "deny",
            "reason": "Nothing is removed for good.", "hint": null, "unknown": false,
        }],
        "audits": [], "shadows": [], "errors": [], "scope": "use",
    });
    let told = test.run().told();
    assert_eq!(told[0], expected);
    assert_eq!((told.len(), &told[1]["event"]), (2, &json!("removed")));
}

#[test]
fn a_denial_by_name_is_reported_at_once_and_its_arguments_later() {
    let test = filter("anthropic").with(&["--json"]).stdin(anthropic("nuke", &HARMLESS));
    let told = test.run().told();
    assert_eq!((&told[0]["rule"], &told[0]["tool_input"]), (&json!("no-nuke"), &json!(null)));
    let removed = json!({
        "event": "removed", "tool_id": "toolu_1",
        "original": {"type": "tool_use", "id": "toolu_1", "name": "nuke", "input": {"command": "ls"}},
    });
    assert_eq!(told[1..], [removed]);
}

#[test]
fn a_shadow_holds_nothing_back() {
    let stream = anthropic("WebFetch", &[r#"{"url":"https://example.com"}"#]);
    let ran = filter("anthropic").with(&["--json"]).stdin(stream.clone()).run();
    assert_eq!((ran.code, &ran.stdout), (0, &stream));
    let told = ran.told();
    assert_eq!(told[0]["verdict"], "allow");
    assert_eq!(told[0]["shadows"][0]["rule"], "no-fetch");
    assert_eq!(told[0]["tool_input"], json!({"url": "https://example.com"}));
}

#[test]
fn a_limit_counts_within_the_response() {
    let policy = "\
policy: p
rules:
  - id: twice
    tool: Read
    limit: { calls: 2, per: day }
    verdict: deny
    reason: Twice is enough.
";
    let data = |calls: usize| {
        let blocks: Vec<_> = (0..calls)
            .map(
                |n| json!({"type": "tool_use", "id": format!("t{n}"), "name": "Read", "input": {}}),
            )
            .collect();
        json!({
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks,
            "stop_reason": "tool_use", "stop_sequence": null, "usage": {"output_tokens": 3},
        })
    };
    let args = ["filter", "--policy", "p.yaml", "--dialect", "anthropic", "--json"];
    let ran = Test::new(&args).file("p.yaml", policy).stdin(data(3).to_string()).run();
    let told = ran.told();
    let judged = told.iter().filter(|line| line["event"] == "tool_call");
    let verdicts: Vec<_> = judged.map(|line| &line["verdict"]).collect();
    assert_eq!(verdicts, ["allow", "allow", "deny"]);
}

#[test]
fn context_reaches_the_rules() {
    let policy = "\
policy: p
rules:
  - { id: agent, agent: me, verdict: deny, reason: agent }
  - { id: session, when: { arg: context.session, equals: s1 }, verdict: deny, reason: session }
  - { id: cwd, when: { arg: context.cwd, equals: /w }, verdict: deny, reason: cwd }
  - { id: provider, when: { arg: context.provider, equals: p1 }, verdict: deny, reason: p }
  - { id: model, when: { arg: context.model, equals: m1 }, verdict: deny, reason: model }
";
    for (flag, value) in
        [("agent", "me"), ("session", "s1"), ("cwd", "/w"), ("provider", "p1"), ("model", "m1")]
    {
        let flag_arg = format!("--{flag}");
        // An agent that is not known may be the one that a rule restricts.
        let agent: &[&str] = if flag == "agent" { &[] } else { &["--agent", "another"] };
        let args = ["filter", "--policy", "p.yaml", "--dialect", "anthropic", "--json"];
        let stream = anthropic("Read", &["{}"]);
        let ran = Test::new(&args)
            .with(&[&flag_arg, value])
            .with(agent)
            .file("p.yaml", policy)
            .stdin(stream)
            .run();
        assert_eq!(ran.told()[0]["rule"], flag);
    }
}

#[test]
fn a_stream_that_is_cut_inside_a_call_drops_it() {
    let stream = anthropic("Bash", &HARMLESS);
    let cut = stream.find("and\\\":\\\"ls").unwrap();
    let cut = stream[..cut].rfind("\n\n").unwrap() + 2;
    let ran = filter("anthropic").stdin(&stream[..cut]).run();
    assert!(!has_call(&ran), "{}", ran.stdout);
    assert!(ran.stderr.contains("dropped  Bash"), "{}", ran.stderr);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
}

#[test]
fn unreadable_input_is_ended_with_an_error() {
    for (dialect, input) in [("anthropic", "data: {nope\n\n"), ("openai-chat", "data: {nope\n\n")] {
        let ran = filter(dialect).stdin(input).run();
        assert_eq!(ran.code, 4, "{dialect}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("error: the response was ended with an error: "));
        assert!(!ran.stdout.contains("nope"), "{dialect}: {}", ran.stdout);
        let ran = filter(dialect).with(&["--json"]).stdin(input).run();
        let told = ran.told();
        let last = told.last().unwrap();
        assert_eq!((ran.code, &last["event"]), (4, &json!("ended")));
        assert!(last["why"].is_string());
    }
}

#[test]
fn a_broken_policy_lets_nothing_through() {
    let ran = Test::new(&["filter", "--policy", "p.yaml", "--dialect", "anthropic"])
        .file("p.yaml", "policy: p\nrules: [{ id: x }]\n")
        .stdin(anthropic("Read", &[]))
        .run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("p.yaml:2:"), "{}", ran.stderr);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let (mut child, _dir) = filter("anthropic").spawn();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // Goes on until the program has noticed and closed its end.
    let alive = ": still here\n\n".repeat(1000);
    while stdin.write_all(alive.as_bytes()).is_ok() {}
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
