//! Turns of Cohere that continue after a denial.

use callgate_dialect::Dialect;
use callgate_testkit::http::Reply;
use serde_json::{Value, json};

use crate::continuing_scenarios::{self as scenarios, Api, Form, Turn};

struct Cohere;

/// A message as it is read.
#[derive(Default)]
struct Message {
    plan: String,
    texts: Vec<String>,
    calls: Vec<Value>,
}

impl Message {
    /// Adds an event, as strictly as a client can.
    fn add(&mut self, event: &Value, turn: &mut Turn) {
        let said = &event["delta"]["message"];
        let index = || event["index"].as_u64().unwrap() as usize;
        assert!(turn.ends.is_empty(), "an event behind the end: {event}");
        match event["type"].as_str().unwrap() {
            "message-start" => assert!(self.texts.is_empty() && self.calls.is_empty(), "{event}"),
            "tool-plan-delta" => self.plan += said["tool_plan"].as_str().unwrap(),
            "content-start" => {
                assert_eq!(index(), self.texts.len(), "{event}");
                self.texts.push(String::new());
            }
            "content-delta" => self.texts[index()] += said["content"]["text"].as_str().unwrap(),
            "tool-call-start" => {
                assert_eq!(index(), self.calls.len(), "{event}");
                self.calls.push(said["tool_calls"].clone());
            }
            "tool-call-delta" => {
                let arguments = &mut self.calls[index()]["function"]["arguments"];
                let piece = said["tool_calls"]["function"]["arguments"].as_str().unwrap();
                *arguments = (arguments.as_str().unwrap().to_owned() + piece).into();
            }
            "message-end" => turn.end(&event["delta"]),
            _ => {}
        }
    }
}

impl Turn {
    /// Notes the end in an object.
    fn end(&mut self, end: &Value) {
        self.ends.push(end["finish_reason"].as_str().unwrap().to_owned());
        let count = |key: &str| end["usage"]["tokens"][key].as_u64().unwrap();
        self.usage = (count("input_tokens"), count("output_tokens"));
        assert_eq!(end["usage"]["billed_units"], end["usage"]["tokens"]);
    }
}

impl Api for Cohere {
    fn dialect(&self) -> Dialect {
        Dialect::Cohere
    }

    fn forms(&self) -> &'static [Form] {
        &[Form::Stream, Form::Body]
    }

    fn path(&self, _: Form) -> String {
        "/v2/chat".to_owned()
    }

    fn user(&self, words: &str) -> Value {
        json!({ "role": "user", "content": words })
    }

    fn body(&self, messages: &[Value], form: Form) -> Value {
        json!({ "model": "any", "messages": messages, "stream": form == Form::Stream })
    }

    fn read(&self, reply: &Reply, form: Form) -> Turn {
        let (mut turn, mut read) = (Turn::default(), Message::default());
        let text = reply.text();
        if form == Form::Stream {
            let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
            for data in events.filter(|data| *data != "[DONE]") {
                read.add(&serde_json::from_str(data).expect(data), &mut turn);
            }
            assert_eq!(text.matches("message-start").count(), 2, "{text}");
            assert!(text.trim_end().ends_with("data: [DONE]"), "{text}");
        } else {
            let body = reply.json();
            let said = &body["message"];
            read.plan = said["tool_plan"].as_str().unwrap_or_default().to_owned();
            let parts = said["content"].as_array().into_iter().flatten();
            read.texts = parts.map(|part| part["text"].as_str().unwrap().to_owned()).collect();
            read.calls = said["tool_calls"].as_array().cloned().unwrap_or_default();
            turn.end(&body);
        }
        turn.said = read.texts.join("\n\n");
        let name = |call: &Value| call["function"]["name"].as_str().unwrap().to_owned();
        turn.calls = read.calls.iter().map(name).collect();
        let parts = read.texts.iter().map(|text| json!({ "type": "text", "text": text }));
        let mut message = json!({ "role": "assistant", "content": parts.collect::<Vec<_>>() });
        if !read.calls.is_empty() {
            (message["tool_plan"], message["tool_calls"]) = (read.plan.into(), json!(read.calls));
        }
        turn.history.push(message);
        turn.history.extend(
            read.calls
                .iter()
                .map(|call| json!({ "role": "tool", "tool_call_id": call["id"], "content": "ok" })),
        );
        if read.calls.is_empty() {
            turn.history.push(self.user("Go on."));
        }
        turn
    }

    fn messages<'a>(&self, body: &'a Value) -> &'a Value {
        &body["messages"]
    }

    fn ends(&self) -> [&'static str; 2] {
        ["COMPLETE", "TOOL_CALL"]
    }

    fn demand(&self, body: &mut Value) {
        body["tool_choice"] = "REQUIRED".into();
        body["tools"] = json!([{ "type": "function", "function": { "name": "delete_all" } }]);
    }

    fn demand_json(&self, body: &mut Value) {
        body["response_format"] = json!({ "type": "json_object" });
    }
}

#[test]
fn the_model_takes_another_way_in_the_same_turn() {
    scenarios::the_model_takes_another_way(&Cohere);
}

#[test]
fn two_denials_are_two_more_requests() {
    scenarios::two_denials_are_two_more_requests(&Cohere);
}

#[test]
fn a_turn_with_a_call_left_is_not_continued() {
    scenarios::a_turn_with_a_call_left_is_not_continued(&Cohere);
}

#[test]
fn a_turn_has_bounds() {
    scenarios::a_turn_has_bounds(&Cohere);
}

#[test]
fn a_next_answer_that_fails_ends_the_turn_with_an_explanation() {
    scenarios::a_next_answer_that_fails_ends_the_turn(&Cohere);
}

#[test]
fn a_demanded_tool_is_not_asked_for_again() {
    scenarios::a_demanded_tool_is_not_asked_for_again(&Cohere);
}

#[test]
fn without_a_notice_no_trace_of_the_denial_is_left() {
    scenarios::without_a_notice_no_trace_is_left(&Cohere);
}

#[test]
fn a_turn_the_client_changed_goes_as_it_was_sent() {
    scenarios::a_turn_the_client_changed_goes_as_it_was_sent(&Cohere);
}

#[test]
fn a_stopping_gateway_ends_the_turn() {
    scenarios::a_stopping_gateway_ends_the_turn(&Cohere);
}

#[test]
fn each_answer_is_on_record() {
    scenarios::each_answer_is_on_record(&Cohere);
}

#[test]
fn official_clients_read_several_answers_as_one() {
    scenarios::official_clients_read_several_answers_as_one(&Cohere);
}
