//! Turns of Gemini that continue after a denial: events, a streamed list, and bodies.

use callgate_dialect::Dialect;
use callgate_testkit::http::Reply;
use serde_json::{Value, json};

use crate::continuing_scenarios::{self as scenarios, Api, Form, Turn};

struct Gemini;

impl Api for Gemini {
    fn dialect(&self) -> Dialect {
        Dialect::Gemini
    }

    fn forms(&self) -> &'static [Form] {
        &[Form::Stream, Form::List, Form::Body]
    }

    fn path(&self, form: Form) -> String {
        let model = "/v1beta/models/gemini-x";
        match form {
            Form::Stream => format!("{model}:streamGenerateContent?alt=sse"),
            Form::List => format!("{model}:streamGenerateContent?alt=json"),
            Form::Body => format!("{model}:generateContent"),
        }
    }

    fn user(&self, words: &str) -> Value {
        json!({ "role": "user", "parts": [{ "text": words }] })
    }

    fn body(&self, messages: &[Value], _: Form) -> Value {
        json!({ "contents": messages })
    }

    fn read(&self, reply: &Reply, form: Form) -> Turn {
        let text = reply.text();
        let chunks: Vec<Value> = match form {
            Form::Body => vec![reply.json()],
            Form::List => serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}")),
            Form::Stream => {
                let events = text.split("\r\n\r\n").filter(|event| !event.is_empty());
                let data = events.map(|event| event.strip_prefix("data: ").expect(&text));
                data.map(|data| serde_json::from_str(data).expect(&text)).collect()
            }
        };
        let mut turn = Turn::default();
        let mut parts = Vec::new();
        let mut results = Vec::new();
        for chunk in &chunks {
            let candidate = &chunk["candidates"][0];
            for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
                if part["thought"] != true {
                    turn.said += part["text"].as_str().unwrap_or_default();
                }
                if let Some(call) = part.get("functionCall") {
                    turn.calls.push(call["name"].as_str().unwrap().to_owned());
                    let result = json!({ "id": call["id"], "name": call["name"], "response": {} });
                    results.push(json!({ "functionResponse": result }));
                }
                let is_empty = part["text"] == "" && part.get("thoughtSignature").is_none();
                parts.extend((!is_empty).then(|| part.clone()));
            }
            turn.ends.extend(candidate["finishReason"].as_str().map(str::to_owned));
            if let Some(usage) = chunk.get("usageMetadata") {
                let count = |key: &str| usage[key].as_u64().unwrap_or_default();
                turn.usage = (count("promptTokenCount"), count("candidatesTokenCount"));
                assert_eq!(count("totalTokenCount"), turn.usage.0 + turn.usage.1);
            }
        }
        let answer = match results.is_empty() {
            true => self.user("Go on."),
            false => json!({ "role": "user", "parts": results }),
        };
        turn.history = vec![json!({ "role": "model", "parts": parts }), answer];
        turn
    }

    fn messages<'a>(&self, body: &'a Value) -> &'a Value {
        &body["contents"]
    }

    /// There is no other reason for calls.
    fn ends(&self) -> [&'static str; 2] {
        ["STOP", "STOP"]
    }

    fn demand(&self, body: &mut Value) {
        let config = json!({ "mode": "ANY", "allowedFunctionNames": ["delete_all"] });
        body["toolConfig"] = json!({ "functionCallingConfig": config });
    }

    fn demand_json(&self, body: &mut Value) {
        body["generationConfig"] = json!({ "responseMimeType": "application/json" });
    }
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    scenarios::the_model_takes_another_way(&Gemini);
}

#[test]
fn two_denials_are_two_more_requests() {
    scenarios::two_denials_are_two_more_requests(&Gemini);
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    scenarios::a_turn_with_a_call_left_is_not_continued(&Gemini);
}

#[test]
fn a_turn_has_bounds() {
    scenarios::a_turn_has_bounds(&Gemini);
}

#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    scenarios::a_next_answer_that_fails_ends_the_turn(&Gemini);
}

#[test]
fn a_demanded_tool_is_not_asked_for_again() {
    scenarios::a_demanded_tool_is_not_asked_for_again(&Gemini);
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    scenarios::without_a_notice_no_trace_is_left(&Gemini);
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    scenarios::a_turn_the_client_changed_goes_as_it_was_sent(&Gemini);
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    scenarios::a_stopping_gateway_ends_the_turn(&Gemini);
}

#[test]
fn each_answer_is_on_record() {
    scenarios::each_answer_is_on_record(&Gemini);
}

#[test]
fn official_clients_read_several_answers_as_one() {
    scenarios::official_clients_read_several_answers_as_one(&Gemini);
}
