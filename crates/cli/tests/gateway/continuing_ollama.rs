//! Turns of Ollama that continue after a denial.

use callgate_dialect::Dialect;
use callgate_testkit::http::Reply;
use serde_json::{Value, json};

use crate::continuing_scenarios::{self as scenarios, Api, Form, Turn};

struct Ollama;

impl Api for Ollama {
    fn dialect(&self) -> Dialect {
        Dialect::Ollama
    }

    fn forms(&self) -> &'static [Form] {
        &[Form::Stream, Form::Body]
    }

    fn path(&self, _: Form) -> String {
        "/api/chat".to_owned()
    }

    fn user(&self, words: &str) -> Value {
        json!({ "role": "user", "content": words })
    }

    fn body(&self, messages: &[Value], form: Form) -> Value {
        json!({ "model": "any", "messages": messages, "stream": form == Form::Stream })
    }

    fn read(&self, reply: &Reply, _: Form) -> Turn {
        let text = reply.text();
        let mut turn = Turn::default();
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect(&text);
            assert!(turn.ends.is_empty(), "a line behind the end: {text}");
            turn.said += line["message"]["content"].as_str().unwrap();
            for call in line["message"]["tool_calls"].as_array().into_iter().flatten() {
                let name = call["function"]["name"].as_str().unwrap();
                turn.calls.push(name.to_owned());
                results.push(json!({ "role": "tool", "tool_name": name, "content": "ok" }));
                calls.push(call.clone());
            }
            if line["done"] == true {
                turn.ends.push(line["done_reason"].as_str().unwrap().to_owned());
                let count = |key: &str| line[key].as_u64().unwrap();
                turn.usage = (count("prompt_eval_count"), count("eval_count"));
            }
        }
        let mut message = json!({ "role": "assistant", "content": turn.said });
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        if results.is_empty() {
            results.push(self.user("Go on."));
        }
        turn.history = [message].into_iter().chain(results).collect();
        turn
    }

    fn messages<'a>(&self, body: &'a Value) -> &'a Value {
        &body["messages"]
    }

    /// There is no other reason for calls.
    fn ends(&self) -> [&'static str; 2] {
        ["stop", "stop"]
    }

    /// Its requests cannot.
    fn demand(&self, _: &mut Value) {}

    fn demand_json(&self, body: &mut Value) {
        body["format"] = "json".into();
    }
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    scenarios::the_model_takes_another_way(&Ollama);
}

#[test]
fn two_denials_are_two_more_requests() {
    scenarios::two_denials_are_two_more_requests(&Ollama);
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    scenarios::a_turn_with_a_call_left_is_not_continued(&Ollama);
}

#[test]
fn a_turn_has_bounds() {
    scenarios::a_turn_has_bounds(&Ollama);
}

#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    scenarios::a_next_answer_that_fails_ends_the_turn(&Ollama);
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    scenarios::without_a_notice_no_trace_is_left(&Ollama);
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    scenarios::a_turn_the_client_changed_goes_as_it_was_sent(&Ollama);
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    scenarios::a_stopping_gateway_ends_the_turn(&Ollama);
}

#[test]
fn each_answer_is_on_record() {
    scenarios::each_answer_is_on_record(&Ollama);
}

#[test]
fn official_clients_read_several_answers_as_one() {
    scenarios::official_clients_read_several_answers_as_one(&Ollama);
}
