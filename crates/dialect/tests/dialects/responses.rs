//! The output for a Responses stream is one that the official clients accept, and it reports what
//! happened.

use std::collections::BTreeMap;

use callgate_dialect::Dialect;
use callgate_gate::{Close, Ending, Gate, Note, OnDeny, RemovedTurn};
use callgate_policy::Policies;
use callgate_testkit::corpus::{self, Case};
use callgate_testkit::drive::{self, Run};
use serde_json::{Value, json};

const RESPONSES: Dialect = Dialect::Responses;

fn run(body: &[u8], policies: &Policies, on_deny: OnDeny) -> Run {
    drive::run(RESPONSES, drive::settings(on_deny), policies, [body])
}

/// The data of every event, and its name.
fn events(text: &str) -> Vec<(String, Value)> {
    callgate_testkit::clients::events(text)
}

fn case(name: &str) -> Case {
    let name = format!("openai-responses/{name}");
    corpus::all().into_iter().find(|case| case.name == name).unwrap()
}

fn recordings() -> impl Iterator<Item = Case> {
    let ours = |case: &Case| case.dialect == RESPONSES && !case.name.contains("evasion");
    corpus::all().into_iter().filter(ours)
}

fn removed(run: &Run) -> Vec<&RemovedTurn> {
    fn turn(note: &Note) -> Option<&RemovedTurn> {
        match note {
            Note::Removed(turn) => Some(turn),
            _ => None,
        }
    }
    run.notes.iter().filter_map(turn).collect()
}

/// The rules that the official clients enforce.
fn check(name: &str, text: &str) {
    let mut added: BTreeMap<i64, Value> = BTreeMap::new();
    let mut done: BTreeMap<i64, Value> = BTreeMap::new();
    let mut last = -1;
    for (event, data) in events(text) {
        let kind = data["type"].as_str().unwrap_or_default().to_owned();
        assert!(event.is_empty() || event == kind, "{name}: {event} {kind}");
        let number = data["sequence_number"].as_i64().unwrap_or(last);
        assert!(number >= last, "{name}: numbers go back at {kind}");
        last = number;
        let index = data["output_index"].as_i64();
        match kind.as_str() {
            "response.output_item.added" => {
                let index = index.unwrap();
                assert_eq!(index, added.len() as i64, "{name}: indices have no holes");
                assert!(added.insert(index, data["item"].clone()).is_none(), "{name}");
            }
            "response.output_item.done" => {
                let begun = &added[&index.unwrap()];
                for key in ["id", "type", "call_id"] {
                    let rotates = key == "id" && name.contains("rotation");
                    assert!(rotates || begun[key] == data["item"][key], "{name}: {key} changes");
                }
                done.insert(index.unwrap(), data["item"].clone());
            }
            "response.completed" | "response.incomplete" => {
                assert_eq!(added.len(), done.len(), "{name}: unfinished items");
                let output = data["response"]["output"].as_array().unwrap();
                assert_eq!(output.len(), done.len(), "{name}: the whole has other items");
                for (item, done) in output.iter().zip(done.values()) {
                    assert_eq!(item["type"], done["type"], "{name}");
                    if done["type"] == "message" && !name.contains("rotation") {
                        assert_eq!(item, done, "{name}");
                    }
                }
            }
            _ => {
                if let Some(index) = index {
                    assert!(added.contains_key(&index), "{name}: {kind} before its item");
                }
            }
        }
    }
}

#[test]
fn the_rest_follows_the_rules_of_the_clients() {
    let mut streams = 0;
    for case in recordings().filter(|case| case.is_stream) {
        // It ends with an error.
        if case.name.contains("error") {
            continue;
        }
        streams += 1;
        for policies in
            [drive::allow_all(), drive::deny_names(&["*"]), drive::deny_all_by_arguments()]
        {
            for on_deny in [OnDeny::Explain, OnDeny::Silent] {
                let run = run(&case.body, &policies, on_deny);
                assert_eq!(run.ending, Ending::Clean, "{}", case.name);
                check(&case.name, &run.text());
            }
        }
    }
    assert!(streams >= 20, "{streams}");
}

#[test]
fn a_denied_call_becomes_a_message_in_its_place() {
    let case = case("reasoning-parallel-function-calls");
    let run = run(&case.body, &drive::deny_names(&["add"]), OnDeny::Explain);
    let events = events(&run.text());
    let kinds: Vec<(&str, i64)> = events
        .iter()
        .filter(|(_, data)| data["output_index"] == 1)
        .map(|(_, data)| {
            (data["type"].as_str().unwrap(), data["sequence_number"].as_i64().unwrap())
        })
        .collect();
    // The events of the message have the number of the event that they replace.
    assert_eq!(
        kinds,
        [
            ("response.output_item.added", 4),
            ("response.content_part.added", 4),
            ("response.output_text.delta", 4),
            ("response.output_text.done", 4),
            ("response.content_part.done", 4),
            ("response.output_item.done", 4),
        ]
    );
    let whole = &events.last().unwrap().1["response"];
    let message = &whole["output"][1];
    assert_eq!(message["id"], "msg_0a7836d50cf181dd016a3c12307fa481a1a06adb8b03345a43");
    let text = message["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("add") && text.contains("not here"), "{text}");
    assert_eq!(whole["output"][2]["name"], "multiply");
    assert_eq!(
        (&whole["status"], &whole["output"][0]["type"]),
        (&json!("completed"), &json!("reasoning"))
    );
    let [turn] = removed(&run).try_into().unwrap();
    let RemovedTurn { client, calls, response, .. } = turn;
    let kept = &client.as_ref().unwrap().calls;
    assert_eq!((kept.len(), kept[0].id.as_str()), (1, "call_Op66UUnzuOoKmgGeFJQJFTUY"));
    assert_eq!(response.as_deref(), whole["id"].as_str());
    let original: Value = serde_json::from_str(&calls[0].original).unwrap();
    assert_eq!(original["arguments"], "{\"a\":2,\"b\":3}");
    assert_eq!((&original["status"], calls[0].place), (&json!("completed"), 1));
}

#[test]
fn a_silent_denial_moves_the_others_up() {
    let case = case("evasion-two_calls");
    let run_it = |names: &[&str]| run(&case.body, &drive::deny_names(names), OnDeny::Silent);
    let run = run_it(&["ok"]);
    check("evasion-two_calls", &run.text());
    let whole = &events(&run.text()).pop().unwrap().1["response"]["output"];
    assert_eq!((whole.as_array().unwrap().len(), &whole[0]["name"]), (1, &json!("evil")));
    // Nothing else is left: there is a neutral message.
    let run = run_it(&["ok", "evil"]);
    check("evasion-two_calls", &run.text());
    let whole = &events(&run.text()).pop().unwrap().1["response"]["output"];
    assert_eq!((whole.as_array().unwrap().len(), &whole[0]["type"]), (1, &json!("message")));
    assert!(!run.text().contains("\"ok\"") && !run.text().contains("evil"));
}

#[test]
fn signatures_and_usage_are_reported() {
    let case = case("xai-function-call");
    let mut gate = Gate::new(RESPONSES, drive::settings(OnDeny::Silent));
    gate.push(&case.body);
    gate.close(Close::End);
    let mut run = Run {
        out: Vec::new(),
        judged: Vec::new(),
        notes: Vec::new(),
        ending: Ending::Error(String::new()),
    };
    drive::steps(&mut gate, &drive::deny_names(&["weather"]), &mut run);
    let usage = gate.usage();
    let told = &events(&run.text()).pop().unwrap().1["response"]["usage"];
    assert_eq!(usage.input, told["input_tokens"].as_u64());
    assert_eq!(usage.output, told["output_tokens"].as_u64());
    assert_eq!((usage.stop_reason.as_deref(), usage.calls), (Some("completed"), 1));
    assert_eq!(gate.model(), Some("grok-4.3"));
    let [turn] = removed(&run).try_into().unwrap();
    let turn: &RemovedTurn = turn;
    let client = turn.client.as_ref().unwrap();
    // The encrypted content of the reasoning, its id, and that of the call.
    assert_eq!(client.signatures.len(), 3);
    assert!(client.text.is_some());
}

#[test]
fn only_calls_of_the_provider_are_reported() {
    for (name, tools) in [
        ("mcp-call", vec!["deepwiki.ask_question"]),
        ("code-interpreter", vec!["code_interpreter"; 8]),
        ("file-search", vec!["file_search"]),
        ("image-generation", vec!["image_generation"]),
        ("programmatic-program-then-call", vec!["program"]),
        ("tool-search-server-then-call", vec!["tool_search"]),
    ] {
        let run = run(&case(name).body, &drive::deny_all_by_arguments(), OnDeny::Explain);
        let mut observed = Vec::new();
        for note in &run.notes {
            if let Note::Observed(call) = note {
                observed.push(call);
            }
        }
        let names: Vec<&str> = observed.iter().map(|call| call.name.raw()).collect();
        let tools = tools.get(..names.len().min(tools.len())).unwrap();
        assert_eq!(names.get(..tools.len()), Some(tools), "{name}: {names:?}");
        assert!(!names.is_empty(), "{name}");
        if name == "mcp-call" {
            assert!(observed[0].arguments.raw().contains("repoName"), "{:?}", observed[0]);
        }
    }
}

/// The arguments of calls that are not functions, as policies see them.
#[test]
fn the_arguments_of_every_kind_are_judged() {
    for (name, tool, argument, value) in [
        ("shell-call", "shell", "commands[*]", "ls -a ~/Desktop"),
        ("local-shell-call", "local_shell", "command[*]", "ls"),
        ("apply-patch-call", "apply_patch", "path", "shopping-checklist.md"),
        ("custom-tool-call", "write_sql", "$", "SELECT * FROM users WHERE age > 25"),
        ("mcp-approval-request", "zip1.create_short_url", "url", "https://ai-sdk.dev/"),
        ("evasion-computer_actions", "computer", "actions[*].type", "click"),
    ] {
        let rule = |value: &str| {
            drive::policies(&format!(
                "policy: p\nrules:\n  - {{ id: r, tool: \"{tool}\", when: {{ arg: \"{argument}\", \
                 equals: {} }}, verdict: deny, reason: no }}\n",
                serde_json::to_string(value).unwrap()
            ))
        };
        let body = case(name).body;
        let denied = run(&body, &rule(value), OnDeny::Explain);
        assert!(
            denied.judged.iter().any(|(_, _, allowed)| !allowed),
            "{name}: {:?}",
            denied.judged
        );
        let allowed = run(&body, &rule("something else"), OnDeny::Explain);
        assert_eq!(allowed.text(), String::from_utf8_lossy(&body), "{name}");
    }
}

/// Copies that differ are never passed on, and a client that received one gets an error.
#[test]
fn a_copy_that_differs_ends_the_stream() {
    for (name, policies) in [
        ("evasion-args_disagree", drive::allow_all()),
        ("evasion-name_disagree", drive::allow_all()),
    ] {
        let run = run(&case(name).body, &policies, OnDeny::Explain);
        let Ending::Error(why) = &run.ending else { panic!("{name}: {}", run.text()) };
        assert!(why.contains("refused after it had begun"), "{name}: {why}");
        let events = events(&run.text());
        let [error, failed] = events.get(events.len() - 2..).unwrap() else { panic!() };
        assert_eq!(
            (error.0.as_str(), &error.1["error"]["type"]),
            ("error", &json!("invalid_request_error"))
        );
        // Codex does not retry after this code.
        assert_eq!(failed.1["response"]["error"]["code"], "invalid_prompt");
        assert!(!run.text().contains("output_item.done"), "{name}: {}", run.text());
    }
}

/// Nothing of a held call has left by then: a notice replaces it.
#[test]
fn a_copy_that_differs_denies_a_held_call() {
    let body = case("evasion-args_disagree").body;
    let run = run(&body, &drive::allow_all_held(), OnDeny::Explain);
    assert_eq!(run.ending, Ending::Clean);
    assert!(run.text().contains("its copies differ"), "{}", run.text());
    assert!(!run.text().contains("function_call"), "{}", run.text());
}
