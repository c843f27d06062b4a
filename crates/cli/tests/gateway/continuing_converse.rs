//! Turns of Converse that continue after a denial.

use callgate_dialect::Dialect;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::{Ask, Reply};
use callgate_testkit::provider::{POLICY, TOOLS};
use callgate_testkit::sdk;
use callgate_testkit::upstream::Upstream;
use callgate_wire::{Framing, Splitter};
use serde_json::{Value, json};

use crate::continuing_scenarios::{self as scenarios, Api, CONTINUE, Form, Turn};
use crate::support::setup;

struct Converse;

/// The message in a stream, read as strictly as a client can.
fn message(out: &[u8], turn: &mut Turn) -> Vec<Value> {
    let mut splitter = Splitter::new(Framing::EventStream, out.len() + 1);
    splitter.push(out);
    let (mut blocks, mut starts): (Vec<Value>, usize) = (Vec::new(), 0);
    while let Some(frame) = splitter.next_frame().unwrap() {
        let name = std::str::from_utf8(frame.event().unwrap()).unwrap().to_owned();
        let data: Value = serde_json::from_slice(frame.data().unwrap()).unwrap();
        let index = || data["contentBlockIndex"].as_u64().unwrap() as usize;
        match name.as_str() {
            "messageStart" => starts += 1,
            "contentBlockStart" => {
                assert_eq!(index(), blocks.len());
                let mut block = data["start"].clone();
                block["toolUse"]["input"] = "".into();
                blocks.push(block);
            }
            "contentBlockDelta" => {
                let delta = &data["delta"];
                if index() == blocks.len() {
                    blocks.push(match delta.get("text") {
                        Some(_) => json!({ "text": "" }),
                        None => json!({ "reasoningContent": { "reasoningText":
                            { "text": "", "signature": "" } } }),
                    });
                }
                add(&mut blocks[index()], delta);
            }
            "contentBlockStop" => {
                let block = &mut blocks[index()];
                if let Some(input) = block["toolUse"]["input"].as_str() {
                    block["toolUse"]["input"] = serde_json::from_str(input).unwrap();
                }
            }
            "messageStop" => turn.ends.push(data["stopReason"].as_str().unwrap().to_owned()),
            "metadata" => turn.usage = usage(&data["usage"]),
            other => panic!("{other}: {data}"),
        }
    }
    assert_eq!(starts, 1);
    blocks
}

fn add(block: &mut Value, delta: &Value) {
    let mut longer = |at: &str, piece: &Value| {
        if let (Some(text), Some(piece)) = (block.pointer_mut(at), piece.as_str()) {
            *text = (text.as_str().unwrap().to_owned() + piece).into();
        }
    };
    longer("/text", &delta["text"]);
    longer("/toolUse/input", &delta["toolUse"]["input"]);
    for key in ["text", "signature"] {
        let at = format!("/reasoningContent/reasoningText/{key}");
        longer(&at, &delta["reasoningContent"][key]);
    }
}

fn usage(usage: &Value) -> (u64, u64) {
    (usage["inputTokens"].as_u64().unwrap(), usage["outputTokens"].as_u64().unwrap())
}

impl Api for Converse {
    fn dialect(&self) -> Dialect {
        Dialect::Converse
    }

    fn forms(&self) -> &'static [Form] {
        &[Form::Stream, Form::Body]
    }

    fn path(&self, form: Form) -> String {
        match form {
            Form::Stream => "/model/any/converse-stream".to_owned(),
            _ => "/model/any/converse".to_owned(),
        }
    }

    fn user(&self, words: &str) -> Value {
        json!({ "role": "user", "content": [{ "text": words }] })
    }

    fn body(&self, messages: &[Value], _: Form) -> Value {
        json!({ "messages": messages })
    }

    fn read(&self, reply: &Reply, form: Form) -> Turn {
        let mut turn = Turn::default();
        let blocks = match form {
            Form::Stream => message(&reply.body, &mut turn),
            _ => {
                let body = reply.json();
                turn.ends.push(body["stopReason"].as_str().unwrap().to_owned());
                turn.usage = usage(&body["usage"]);
                body["output"]["message"]["content"].as_array().unwrap().clone()
            }
        };
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        turn.said = texts.join("\n\n");
        let calls = blocks.iter().filter_map(|block| block.get("toolUse"));
        let calls: Vec<&Value> = calls.collect();
        turn.calls = calls.iter().map(|call| call["name"].as_str().unwrap().to_owned()).collect();
        let results = calls.iter().map(|call| {
            json!({ "toolResult": { "toolUseId": call["toolUseId"], "content": [{ "text": "ok" }] } })
        });
        let results: Vec<Value> = results.collect();
        let answer = match results.is_empty() {
            true => self.user("Go on."),
            false => json!({ "role": "user", "content": results }),
        };
        turn.history = vec![json!({ "role": "assistant", "content": blocks }), answer];
        turn
    }

    fn messages<'a>(&self, body: &'a Value) -> &'a Value {
        &body["messages"]
    }

    fn ends(&self) -> [&'static str; 2] {
        ["end_turn", "tool_use"]
    }

    fn demand(&self, body: &mut Value) {
        body["toolConfig"] =
            json!({ "tools": [], "toolChoice": { "tool": { "name": "delete_all" } } });
    }

    fn demand_json(&self, body: &mut Value) {
        body["outputConfig"] = json!({ "textFormat": { "type": "json_schema" } });
    }
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    scenarios::the_model_takes_another_way(&Converse);
}

#[test]
fn two_denials_are_two_more_requests() {
    scenarios::two_denials_are_two_more_requests(&Converse);
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    scenarios::a_turn_with_a_call_left_is_not_continued(&Converse);
}

#[test]
fn a_turn_has_bounds() {
    scenarios::a_turn_has_bounds(&Converse);
}

#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    scenarios::a_next_answer_that_fails_ends_the_turn(&Converse);
}

#[test]
fn a_demanded_tool_is_not_asked_for_again() {
    scenarios::a_demanded_tool_is_not_asked_for_again(&Converse);
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    scenarios::without_a_notice_no_trace_is_left(&Converse);
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    scenarios::a_turn_the_client_changed_goes_as_it_was_sent(&Converse);
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    scenarios::a_stopping_gateway_ends_the_turn(&Converse);
}

#[test]
fn each_answer_is_on_record() {
    scenarios::each_answer_is_on_record(&Converse);
}

fn server() -> Upstream {
    let provider = scenarios::provider();
    Upstream::start(move |request| provider.answer(request))
}

/// A gateway with a signing key of its own.
fn signing(upstream: &Upstream) -> Gateway {
    let url = upstream.url();
    let config = format!(
        "providers:\n  bedrock: {{ base_url: \"{url}\", dialect: bedrock-converse, sign: aws }}\n\
         policies: [rules.yaml]\n{CONTINUE}\n"
    );
    let setup = setup(upstream, POLICY, "").config(&config).file("rules.yaml", POLICY);
    let setup = setup
        .env("AWS_ACCESS_KEY_ID", "AKIAGATEWAY")
        .env("AWS_SECRET_ACCESS_KEY", "secret")
        .env("AWS_REGION", "eu-central-1");
    setup.start()
}

/// The official client takes several answers for one, and the next request is valid, with and
/// without a restart in between.
#[test]
fn official_clients_read_several_answers_as_one() {
    let Some(interpreters) = sdk::interpreters() else { return };
    let upstream = server();
    let mut gateway = signing(&upstream);
    let [(mut driver, _), _] = interpreters.talkers();
    let clients = ["boto3 converse_stream()", "boto3 converse()"];
    let scripts = ["other way", "two denials"];
    let talks: Vec<(&str, &str)> =
        clients.iter().flat_map(|client| scripts.map(|script| (*client, script))).collect();
    for turn in 0..3 {
        let jobs = talks.iter().enumerate().map(|(id, (client, script))| {
            let say = format!("[script {script} #{id}] Please.");
            json!({ "id": id.to_string(), "client": client, "base_url": gateway.url(), "say": say, "tools": TOOLS })
        });
        let results = driver.ask(&jobs.collect::<Vec<_>>());
        for (id, talk) in talks.iter().enumerate() {
            let result = &results[&id.to_string()];
            let text = result["text"].as_str().unwrap_or_default();
            let is_right = match turn {
                0 => {
                    result["calls"][0][0] == "read_file"
                        && text.contains("callgate blocked the tool call `delete_all` (rule")
                }
                _ => text == "That was all.",
            };
            assert!(is_right && result["error"].is_null(), "{talk:?}, turn {turn}: {result}");
        }
        if turn == 1 {
            gateway = gateway.restart();
        }
    }
}

/// With a signing key of its own, the gateway signs every request of a turn.
#[test]
fn each_request_of_a_turn_is_signed() {
    let upstream = server();
    let gateway = signing(&upstream);
    let messages = [Converse.user("[script other way #1] Please.")];
    let body = Converse.body(&messages, Form::Stream).to_string();
    let ask = Ask::post(&Converse.path(Form::Stream), body)
        .header("authorization", "AWS4-HMAC-SHA256 Credential=AKIACLIENT/20261115/eu-central-1/bedrock/aws4_request, SignedHeaders=host, Signature=00");
    let reply = ask.send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(Converse.read(&reply, Form::Stream).calls, ["read_file"]);
    let sent = upstream.requests();
    assert_eq!(sent.len(), 2);
    let signatures: Vec<&str> =
        sent.iter().map(|request| request.header("authorization").unwrap()).collect();
    assert!(signatures.iter().all(|it| it.contains("Credential=AKIAGATEWAY/")), "{signatures:?}");
    assert_ne!(signatures[0], signatures[1]);
}
