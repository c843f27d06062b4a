//! Turns that continue after a denial, against a provider that checks every request.

use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_dialect::Dialect;
use callgate_testkit::gateway::{Gateway, Setup};
use callgate_testkit::http::{Ask, Exchange, Reply};
use callgate_testkit::provider::{POLICY, Provider, TOOLS, TurnPart};
use callgate_testkit::sdk;
use callgate_testkit::upstream::{Answer, AnswerStep, Request, Upstream};
use serde_json::{Value, json};

use crate::support::{MESSAGES, binary, gateway, setup};

pub(crate) const CONTINUE: &str = "on_deny: continue";

/// Conversations in which the model takes another way after a denial.
fn provider() -> Provider {
    let denied = TurnPart::call("{n}_1a", "delete_all", r#"{ "path": "/" }"#);
    let again = TurnPart::call("{n}_2a", "bash", r#"{"command": "rm -rf /"}"#);
    let read = TurnPart::call("{n}_3a", "read_file", r#"{"path":"a"}"#);
    let thought =
        |number: &str| TurnPart::thinking("Let me think.", &format!("sig-{{n}}-{number}"));
    Provider::default()
        .script(
            "other way",
            vec![
                vec![thought("1"), TurnPart::text("I will delete it."), denied.clone()],
                vec![thought("2"), TurnPart::text("Then I read it."), read.clone()],
            ],
        )
        .script(
            "two denials",
            vec![
                vec![thought("1"), denied.clone()],
                vec![thought("2"), TurnPart::text("By hand, then."), again.clone()],
                vec![thought("3"), read.clone()],
            ],
        )
        .script("mixed", vec![vec![TurnPart::text("Both."), read.clone(), denied.clone()]])
        .script(
            "stubborn",
            vec![vec![denied.clone()], vec![TurnPart::text("Again."), denied.clone()]],
        )
        .script("many", vec![vec![denied.clone(), again.clone()], vec![TurnPart::text("Fine.")]])
        .script(
            "twice",
            vec![
                vec![thought("1"), denied.clone()],
                vec![thought("2"), read.clone()],
                vec![thought("3"), again.clone()],
                vec![thought("4"), TurnPart::text("Fine.")],
            ],
        )
        .script(
            "redacted",
            vec![
                vec![TurnPart::Redacted("xyz".into()), denied],
                vec![TurnPart::Redacted("abc".into()), read],
            ],
        )
}

pub(crate) fn server() -> Upstream {
    let provider = provider();
    Upstream::start(move |request| provider.answer(request))
}

/// A server that answers like the model, except for one of its answers.
pub(crate) fn server_but(
    which: usize,
    answer: impl Fn(Answer) -> Answer + Send + Sync + 'static,
) -> Upstream {
    let (provider, count) = (provider(), AtomicUsize::new(0));
    Upstream::start(move |request| {
        let usual = provider.answer(request);
        match count.fetch_add(1, Ordering::SeqCst) == which {
            true => answer(usual),
            false => usual,
        }
    })
}

pub(crate) fn first(script: &str) -> Value {
    json!({ "role": "user", "content": format!("[script {script} #1] Please.") })
}

pub(crate) fn body(messages: &[Value], stream: bool) -> Value {
    json!({ "model": "any", "max_tokens": 64, "stream": stream, "messages": messages })
}

pub(crate) fn asked(body: &Value) -> Ask {
    Ask::post(MESSAGES, body.to_string()).header("authorization", "Bearer none")
}

pub(crate) fn post(gateway: &Gateway, messages: &[Value], stream: bool) -> Reply {
    asked(&body(messages, stream)).send(gateway.address())
}

/// The message in a reply, read as strictly as a client can.
#[track_caller]
pub(crate) fn message(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let text = reply.text();
    if text.starts_with('{') {
        return reply.json();
    }
    let (mut message, mut is_over) = (Value::Null, false);
    for data in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(data).unwrap();
        assert!(!is_over, "{text}");
        match event["type"].as_str().unwrap() {
            "message_start" => {
                assert!(message.is_null(), "{text}");
                message = event["message"].clone();
            }
            "content_block_start" => {
                let blocks = message["content"].as_array_mut().unwrap();
                assert_eq!(event["index"], blocks.len(), "{text}");
                let mut block = event["content_block"].clone();
                if block["type"] == "tool_use" {
                    block["input"] = "".into();
                }
                blocks.push(block);
            }
            "content_block_delta" => {
                let blocks = message["content"].as_array_mut().unwrap();
                assert_eq!(event["index"], blocks.len() - 1, "{text}");
                let block = blocks.last_mut().unwrap();
                for (from, to) in [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("signature", "signature"),
                    ("partial_json", "input"),
                ] {
                    if let Some(piece) = event["delta"][from].as_str() {
                        block[to] = (block[to].as_str().unwrap().to_owned() + piece).into();
                    }
                }
            }
            "content_block_stop" => {
                let block = message["content"].as_array_mut().unwrap().last_mut().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] =
                        serde_json::from_str(block["input"].as_str().unwrap()).unwrap();
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (key, value) in event["usage"].as_object().unwrap() {
                    message["usage"][key] = value.clone();
                }
            }
            "message_stop" => is_over = true,
            "ping" => {}
            _ => panic!("{text}"),
        }
    }
    assert!(is_over, "{text}");
    message
}

fn kinds(message: &Value) -> Vec<&str> {
    let blocks = message["content"].as_array().unwrap().iter();
    blocks.map(|block| block["type"].as_str().unwrap()).collect()
}

/// The conversation with the turn, and the results of its calls or a word of the user.
fn going_on(mut messages: Vec<Value>, turn: &Value) -> Vec<Value> {
    let calls = turn["content"].as_array().unwrap().iter().filter(|b| b["type"] == "tool_use");
    let result =
        |call: &Value| json!({ "type": "tool_result", "tool_use_id": call["id"], "content": "ok" });
    let results: Vec<Value> = calls.map(result).collect();
    messages.push(json!({ "role": "assistant", "content": turn["content"] }));
    messages.push(match results.is_empty() {
        true => json!({ "role": "user", "content": "Go on." }),
        false => json!({ "role": "user", "content": results }),
    });
    messages
}

fn roles(request: &Request) -> Vec<String> {
    let messages = request.json()["messages"].as_array().unwrap().clone();
    messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    for stream in [true, false] {
        let upstream = server();
        let mut gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("other way")];
        let turn = message(&post(&gateway, &messages, stream));
        assert_eq!(kinds(&turn), ["thinking", "text", "text", "text", "tool_use"], "{turn}");
        assert_eq!(turn["stop_reason"], "tool_use");
        assert_eq!(turn["content"][4]["name"], "read_file");
        assert_eq!(turn["usage"], json!({ "input_tokens": 20, "output_tokens": 40 }));
        let notice = turn["content"][2]["text"].as_str().unwrap();
        assert!(
            notice.starts_with("callgate blocked the tool call `delete_all` (rule no-delete"),
            "{notice}"
        );
        assert_eq!(notice.lines().count(), 1, "{notice}");
        let sent = upstream.requests();
        assert_eq!(sent.len(), 2);
        assert_eq!(roles(&sent[1]), ["user", "assistant", "user"]);
        let result = &sent[1].json()["messages"][2]["content"][0];
        assert_eq!((&result["tool_use_id"], &result["is_error"]), (&json!("1_1a"), &json!(true)));
        assert!(
            result["content"].as_str().unwrap().contains("Nothing is deleted here."),
            "{result}"
        );

        // The provider checks every turn that it gave; restarted, the gateway still knows them.
        for _ in 0..2 {
            let messages = going_on(messages.clone(), &turn);
            let reply = post(&gateway, &messages, stream);
            assert_eq!(message(&reply)["content"][0]["text"], "That was all.");
            let last = upstream.requests().pop().unwrap();
            assert_eq!(roles(&last), ["user", "assistant", "user", "assistant", "user"]);
            gateway = gateway.restart();
        }
    }
}

#[test]
fn two_denials_are_two_more_requests() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("two denials")];
        let turn = message(&post(&gateway, &messages, stream));
        assert_eq!(kinds(&turn), ["thinking", "text", "text", "text", "tool_use"], "{turn}");
        assert_eq!(turn["usage"], json!({ "input_tokens": 30, "output_tokens": 60 }));
        assert_eq!(upstream.requests().len(), 3);
        let messages = going_on(messages, &turn);
        let next = message(&post(&gateway, &messages, stream));
        assert_eq!(next["content"][0]["text"], "That was all.");
        // The turn stays restored as the conversation grows.
        let messages = going_on(messages, &next);
        assert_eq!(post(&gateway, &messages, stream).status, 200);
    }
}

/// Without a setting, a gateway asks again.
#[test]
fn it_is_the_default() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = Setup::new(binary(), &upstream.url(), POLICY, "").start();
        let turn = message(&post(&gateway, &[first("other way")], stream));
        assert_eq!(turn["stop_reason"], "tool_use");
        assert_eq!(upstream.requests().len(), 2);
    }
}

#[test]
fn several_denied_calls_and_hidden_thinking_go_up_as_they_came() {
    for stream in [true, false] {
        for script in ["many", "redacted"] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, CONTINUE);
            let messages = vec![first(script)];
            let turn = message(&post(&gateway, &messages, stream));
            assert_eq!(upstream.requests().len(), 2, "{script}");
            let reply = post(&gateway, &going_on(messages, &turn), stream);
            assert_eq!(reply.status, 200, "{script}: {}", reply.text());
        }
    }
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    for stream in [true, false] {
        let upstream = server();
        let explaining = gateway(&upstream, POLICY, "on_deny: explain");
        let continuing = gateway(&upstream, POLICY, CONTINUE);
        // The comments name the records.
        let said = |reply: Reply| -> String {
            let text = reply.text();
            text.split_inclusive("\n\n").filter(|frame| !frame.starts_with(':')).collect()
        };
        let explained = said(post(&explaining, &[first("mixed")], stream));
        let continued = said(post(&continuing, &[first("mixed")], stream));
        assert_eq!(explained, continued);
        assert_eq!(upstream.requests().len(), 2);
    }
}

#[test]
fn the_same_denied_action_ends_the_turn() {
    for stream in [true, false] {
        let upstream = server();
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("stubborn")];
        let turn = message(&post(&gateway, &messages, stream));
        assert_eq!(turn["stop_reason"], "end_turn");
        assert_eq!(upstream.requests().len(), 2);
        let last = turn["content"].as_array().unwrap().last().unwrap().clone();
        assert!(last["text"].as_str().unwrap().contains("Reason: Nothing is deleted"), "{last}");
    }
}

#[test]
fn the_number_of_rounds_the_tokens_and_the_time_are_bounded() {
    for limit in ["rounds: 1", "tokens: 50", "tokens: 1", "time: 1ms"] {
        let upstream = server();
        let settings = format!("{CONTINUE}\ncontinue: {{ {limit} }}");
        let gateway = gateway(&upstream, POLICY, &settings);
        let turn = message(&post(&gateway, &[first("two denials")], true));
        assert_eq!(turn["stop_reason"], "end_turn", "{limit}");
        let requests = if matches!(limit, "rounds: 1" | "tokens: 50") { 2 } else { 1 };
        assert_eq!(upstream.requests().len(), requests, "{limit}");
        let reply = post(&gateway, &going_on(vec![first("two denials")], &turn), true);
        assert_eq!(reply.status, 200, "{limit}: {}", reply.text());
    }
}

/// What happens to an answer.
pub(crate) type Failure = Box<dyn Fn(Answer) -> Answer + Send + Sync>;

/// Ways in which a streamed answer fails.
pub(crate) fn failures() -> Vec<(&'static str, Failure)> {
    let cut = |at: usize| {
        move |usual: Answer| {
            let whole = usual.clone().body();
            let part = whole.get(..whole.len() * at / 100).unwrap_or_default().to_vec();
            Answer::stream("").send(part).step(AnswerStep::Cut)
        }
    };
    vec![
        (
            "status",
            Box::new(|_| {
                Answer::json(
                    529,
                    r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
                )
            }),
        ),
        ("form", Box::new(|_| Answer::json(200, "{}"))),
        ("cut at once", Box::new(cut(0))),
        ("cut early", Box::new(cut(40))),
        ("cut late", Box::new(cut(55))),
        ("reset", Box::new(|_| Answer::stream("").step(AnswerStep::Reset))),
    ]
}

/// What the client has is complete whatever happens to the next answer, and the conversation goes on.
#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    for (name, fail) in failures() {
        let upstream = server_but(1, fail);
        let gateway = gateway(&upstream, POLICY, CONTINUE);
        let messages = vec![first("other way")];
        let turn = message(&post(&gateway, &messages, true));
        assert_eq!(turn["stop_reason"], "end_turn", "{name}: {turn}");
        assert!(turn.to_string().contains("callgate blocked the tool call"), "{name}: {turn}");
        let sent = upstream.requests().len();
        post(&gateway, &going_on(messages, &turn), true);
        let next = upstream.requests()[sent].json().to_string();
        assert!(
            next.contains("1_1a")
                && !next.contains("callgate blocked the tool call `delete_all` ("),
            "{name}: {next}"
        );
    }
}

#[test]
fn a_demanded_tool_is_not_asked_for_again() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut request = body(&[first("other way")], true);
    request["tool_choice"] = json!({ "type": "tool", "name": "delete_all" });
    let turn = message(&asked(&request).send(gateway.address()));
    assert_eq!(turn["stop_reason"], "end_turn");
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn a_later_request_is_a_new_one_of_the_same_client() {
    let upstream = server();
    let url = upstream.url();
    let config = format!(
        "providers:\n  anthropic: {{ base_url: \"{url}\", dialect: anthropic, api_key_env: REAL_KEY }}\n\
         policies: [rules.yaml]\n{CONTINUE}\n"
    );
    let setup = setup(&upstream, POLICY, "").config(&config).file("rules.yaml", POLICY);
    let setup = setup.env("REAL_KEY", "sk-real");
    let key = crate::access::add_key(&setup, &["ci"]);
    let gateway = setup.start();
    let ask = Ask::post(MESSAGES, body(&[first("other way")], true).to_string())
        .header("x-api-key", &key)
        .header("idempotency-key", "first")
        .header("anthropic-version", "2023-06-01");
    assert_eq!(ask.send(gateway.address()).status, 200);
    let sent = upstream.requests();
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|request| request.header("x-api-key") == Some("sk-real")));
    assert_eq!(sent[1].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(sent[0].header("idempotency-key"), Some("first"));
    let second = sent[1].header("idempotency-key").unwrap();
    assert!(second != "first" && second.len() == 36, "{second}");
    let length = sent[1].header("content-length").unwrap();
    assert_eq!(length, sent[1].body.len().to_string());
}

#[test]
fn text_rules_apply_to_the_later_request() {
    let text = "text:\n  - { id: quiet, in: request, keywords: [\"I will delete it\"], verdict: mask, reason: Quiet. }\n";
    let upstream = server_but(1, |_| Answer::json(500, "{}"));
    let gateway = gateway(&upstream, &format!("{POLICY}{text}"), CONTINUE);
    post(&gateway, &[first("other way")], true);
    let sent = upstream.requests();
    assert_eq!(sent.len(), 2);
    let second = sent[1].json().to_string();
    assert!(second.contains("1_1a") && !second.contains("I will delete it"), "{second}");
    let block = text.replace("mask", "block");
    let upstream = server();
    let gateway = setup(&upstream, &format!("{POLICY}{block}"), CONTINUE).start();
    let turn = message(&post(&gateway, &[first("other way")], true));
    assert_eq!((upstream.requests().len(), &turn["stop_reason"]), (1, &json!("end_turn")));
}

/// Nothing is sent once the client is gone.
#[test]
fn a_client_that_left_is_not_asked_for() {
    let upstream = server_but(0, |usual| {
        let whole = usual.body();
        let (head, tail) = whole.split_at(whole.len() - 60);
        Answer::stream("").send(head.to_vec()).step(AnswerStep::Stall).send(tail.to_vec())
    });
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut open =
        Exchange::open(gateway.address(), &asked(&body(&[first("other way")], true))).unwrap();
    assert!(open.read_until("text_delta"));
    open.leave();
    assert!(gateway.wait_until(|gateway| !gateway.turns().is_empty()));
    upstream.release();
    // A gateway that has ended has nothing left to send.
    gateway.signal("TERM");
    assert!(gateway.ended().is_some());
    assert_eq!(upstream.requests().len(), 1);
}

#[test]
fn the_client_hears_something_between_the_answers() {
    let upstream = server_but(1, |usual| {
        let whole = usual.body();
        Answer::raw("").step(AnswerStep::Pause(std::time::Duration::from_millis(3500))).send(
            [
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
                &*whole,
            ]
            .concat(),
        )
    });
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let reply = post(&gateway, &[first("other way")], true);
    assert!(
        reply.text().contains("event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        "{}",
        reply.text()
    );
    assert_eq!(message(&reply)["stop_reason"], "tool_use");
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    let upstream = server_but(1, |_| Answer::raw("").step(AnswerStep::Stall));
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut open =
        Exchange::open(gateway.address(), &asked(&body(&[first("other way")], true))).unwrap();
    assert!(open.read_until("text_delta"));
    assert!(upstream.wait_until(|upstream| upstream.requests().len() == 2));
    gateway.signal("TERM");
    let turn = message(&open.finish().unwrap());
    assert_eq!(turn["stop_reason"], "end_turn");
    assert!(gateway.ended().is_some());
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let turn = message(&post(&gateway, &[first("other way")], true));
    let mut messages = going_on(vec![first("other way")], &turn);
    messages[1]["content"][3]["text"] = "Something else.".into();
    post(&gateway, &messages, true);
    let sent = upstream.requests().pop().unwrap().json();
    assert_eq!(sent["messages"], Value::from(messages));
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    for stream in [true, false] {
        let upstream = server();
        let settings = format!("{CONTINUE}\ncontinue: {{ notice: none }}");
        let gateway = gateway(&upstream, POLICY, &settings);
        let turn = message(&post(&gateway, &[first("other way")], stream));
        assert_eq!(kinds(&turn), ["thinking", "text", "text", "tool_use"], "{turn}");
        let reply = post(&gateway, &going_on(vec![first("other way")], &turn), stream);
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

/// A notice would make JSON that a client asked for unreadable.
#[test]
fn json_that_was_asked_for_has_no_notice() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut request = body(&[first("many")], false);
    request["output_config"] = json!({ "format": { "type": "json_schema", "schema": {} } });
    let turn = message(&asked(&request).send(gateway.address()));
    assert_eq!(turn["content"], json!([{ "type": "text", "text": "Fine." }]));
}

#[test]
fn each_answer_is_on_record() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    post(&gateway, &[first("two denials")], true);
    assert!(gateway.wait_until(|gateway| gateway.turns().len() == 1));
    let turn = gateway.turns().remove(0);
    assert_eq!((&turn["tokens"]["input"], &turn["tokens"]["output"]), (&json!(10), &json!(20)));
    let continued: Vec<Value> =
        gateway.events().into_iter().filter(|event| event["type"] == "continued").collect();
    assert_eq!(continued.len(), 2, "{continued:?}");
    for event in &continued {
        assert_eq!(event["request_id"], turn["request_id"]);
        assert!(event["request_id"].is_string(), "{event}");
        assert_eq!(event["tokens"]["output"], 20, "{event}");
    }
    let calls = gateway.calls();
    assert_eq!(calls.len(), 3);
    assert!(calls.iter().all(|call| call["request_id"] == turn["request_id"]));
}

/// `calls show` prints the story of a turn with each of its calls, and the extra answers have their
/// cost.
#[test]
fn the_story_and_the_cost_of_a_turn_are_shown() {
    let upstream = server();
    let gateway = gateway(&upstream, POLICY, CONTINUE);
    post(&gateway, &[first("two denials")], true);
    assert!(gateway.wait_until(|gateway| gateway.turns().len() == 1));
    let call = gateway.calls().remove(0);
    let shown = gateway.run(&["calls", "show", call["id"].as_str().unwrap()]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(shown.matches("asked again").count(), 2, "{shown}");
    assert!(shown.contains("10 tokens in, 20 out"), "{shown}");
    let stats = gateway.run(&["stats", "--json"]);
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    let want = json!({ "answers": 2, "tokens_input": 20, "tokens_output": 40 });
    assert_eq!(stats["turns"]["continued"], want);
    assert_eq!(stats["turns"]["tokens_input"], 30);
    let stats = String::from_utf8(gateway.run(&["stats"]).stdout).unwrap();
    assert!(stats.contains("answers after a denial"), "{stats}");
}

/// Programs can see what was denied, and ask for the records of their request.
#[test]
fn a_response_names_its_request_and_the_denied_calls() {
    for settings in ["on_deny: explain", CONTINUE, "on_deny: silent"] {
        let is_silent = settings.ends_with("silent");
        for stream in [true, false] {
            let upstream = server();
            let gateway = gateway(&upstream, POLICY, settings);
            let reply = post(&gateway, &[first("many")], stream);
            let request = reply.header("x-callgate-request").unwrap().to_owned();
            post(&gateway, &[first("other way")], stream);
            assert!(gateway.wait_until(|gateway| gateway.turns().len() == 2));
            let found = gateway.run(&["calls", "--request", &request, "--json"]);
            let found = String::from_utf8(found.stdout).unwrap();
            let calls: Vec<Value> =
                found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(calls.len(), 2, "{settings}: {found}");
            assert!(calls.iter().all(|call| call["request_id"] == request));
            let mut ids: Vec<&str> =
                calls.iter().map(|call| call["id"].as_str().unwrap()).collect();
            ids.sort_unstable();
            let denied = reply.header("x-callgate-denied");
            let mut records: Vec<String> = match stream {
                true => {
                    assert_eq!(denied, None);
                    let text = reply.text();
                    let comments =
                        text.lines().filter_map(|it| it.strip_prefix(": callgate denied "));
                    comments.map(str::to_owned).collect()
                }
                false => {
                    let records = reply.header("x-callgate-records").unwrap_or_default();
                    assert_eq!(denied, if is_silent { None } else { Some("2") }, "{settings}");
                    records.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect()
                }
            };
            records.sort_unstable();
            assert_eq!(records, if is_silent { Vec::new() } else { ids }, "{settings} {stream}");
        }
    }
}

/// The official clients take several answers for one, and the next request is valid, with and
/// without a restart in between.
#[test]
fn official_clients_read_several_answers_as_one() {
    talk_officially(Dialect::Anthropic);
}

/// Lets the official clients of one API hold conversations that go on after denials.
pub(crate) fn talk_officially(dialect: Dialect) {
    let Some(interpreters) = sdk::interpreters() else { return };
    let upstream = server();
    let mut gateway = gateway(&upstream, POLICY, CONTINUE);
    let mut failures = Vec::new();
    let mut drivers = interpreters.talkers();
    let mut take_turn = |gateway: &Gateway, turn: usize| {
        for (driver, clients) in &mut drivers {
            let speaks = |client: &&&str| sdk::dialect_of(client) == dialect;
            let clients = clients.iter().filter(speaks);
            let scripts = ["other way", "two denials", "redacted"];
            let talks: Vec<(String, &str, &str)> = clients
                .flat_map(|client| scripts.map(|script| (client, script)))
                .enumerate()
                .map(|(number, (client, script))| {
                    let language = if client.contains("python") { "p" } else { "n" };
                    (format!("{language}{number}"), *client, script)
                })
                .collect();
            let job = |(id, client, script): &(String, &str, &str)| {
                let say = format!("[script {script} #{id}] Please.");
                json!({ "id": id, "client": client, "base_url": gateway.url(), "say": say, "tools": TOOLS })
            };
            let results = driver.ask(&talks.iter().map(job).collect::<Vec<_>>());
            for (id, client, script) in &talks {
                let result = &results[id];
                let text = result["text"].as_str().unwrap_or_default();
                let is_right = match turn {
                    0 => {
                        result["calls"][0][0] == "read_file"
                            && text.contains("callgate blocked the tool call `delete_all` (rule")
                    }
                    _ => text.contains("That was all."),
                };
                if !is_right || !result["error"].is_null() {
                    failures.push(format!("{client}, {script}, turn {turn}: {result}"));
                }
            }
        }
    };
    take_turn(&gateway, 0);
    take_turn(&gateway, 1);
    gateway = gateway.restart();
    take_turn(&gateway, 2);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
