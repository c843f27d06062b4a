//! Two conversations with one credential, at a provider that counts the calls of each from zero:
//! what was taken out of one never goes up in the other.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, DENY, MESSAGES, gateway};

/// A call of a turn.
#[derive(Clone, Copy)]
struct Call {
    id: &'static str,
    name: &'static str,
    path: &'static str,
}

/// What the model says in a turn.
struct Turn {
    text: &'static str,
    calls: Vec<Call>,
}

/// How one API writes turns.
struct Api {
    path: &'static str,
    /// A response with a turn.
    response: fn(&Turn) -> Value,
    /// What a client sends back of a response.
    back: fn(&Value) -> Vec<Value>,
    /// The result of a call.
    result: fn(&Call) -> Value,
    user: fn(&str) -> Value,
    request: fn(Vec<Value>) -> Value,
}

const READ: Call = Call { id: "functions.read_file:0", name: "read_file", path: "a" };
const DELETE: Call = Call { id: "functions.delete_all:1", name: "delete_all", path: "PRIVATE-ONE" };

fn arguments(call: &Call) -> Value {
    json!({ "path": call.path })
}

fn messages(messages: Vec<Value>) -> Value {
    json!({ "model": "any", "max_tokens": 64, "messages": messages })
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

const ANTHROPIC: Api = Api {
    path: MESSAGES,
    response: |turn| {
        let text = json!({ "type": "text", "text": turn.text });
        let call = |call: &Call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call) });
        let content: Vec<Value> = [text].into_iter().chain(turn.calls.iter().map(call)).collect();
        json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "any",
            "content": content, "stop_reason": "tool_use", "stop_sequence": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 } })
    },
    back: |body| vec![json!({ "role": "assistant", "content": body["content"] })],
    result: |call| {
        let result = json!({ "type": "tool_result", "tool_use_id": call.id, "content": "ok" });
        json!({ "role": "user", "content": [result] })
    },
    user,
    request: messages,
};

/// A call as Chat lists it, with or without an id.
fn listed(call: &Call, arguments: Value) -> Value {
    let mut listed =
        json!({ "type": "function", "function": { "name": call.name, "arguments": arguments } });
    if !call.id.is_empty() {
        listed["id"] = json!(call.id);
    }
    listed
}

const OPENAI: Api = Api {
    path: CHAT,
    response: |turn| {
        let call = |call: &Call| listed(call, json!(arguments(call).to_string()));
        let calls: Vec<Value> = turn.calls.iter().map(call).collect();
        let message = json!({ "role": "assistant", "content": turn.text, "tool_calls": calls });
        json!({ "id": "x", "object": "chat.completion", "created": 1, "model": "any",
            "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
    },
    back: |body| vec![body["choices"][0]["message"].clone()],
    result: |call| json!({ "role": "tool", "tool_call_id": call.id, "content": "ok" }),
    user,
    request: messages,
};

const RESPONSES: Api = Api {
    path: "/v1/responses",
    response: |turn| {
        let part = json!({ "type": "output_text", "text": turn.text, "annotations": [] });
        let said = json!({ "type": "message", "id": "msg_0", "role": "assistant",
            "status": "completed", "content": [part] });
        let call = |call: &Call| {
            json!({ "type": "function_call", "id": format!("fc_{}", call.name), "call_id": call.id,
                "name": call.name, "arguments": arguments(call).to_string(),
                "status": "completed" })
        };
        let output: Vec<Value> = [said].into_iter().chain(turn.calls.iter().map(call)).collect();
        json!({ "id": "resp_0", "object": "response", "status": "completed", "model": "any",
            "output": output })
    },
    back: |body| body["output"].as_array().unwrap().clone(),
    result: |call| json!({ "type": "function_call_output", "call_id": call.id, "output": "ok" }),
    user,
    request: |input| json!({ "model": "any", "store": false, "input": input }),
};

const GEMINI: Api = Api {
    path: "/v1beta/models/gemini-x:generateContent",
    response: |turn| {
        let call = |call: &Call| {
            let mut called = json!({ "name": call.name, "args": arguments(call) });
            if !call.id.is_empty() {
                called["id"] = json!(call.id);
            }
            json!({ "functionCall": called })
        };
        let text = json!({ "text": turn.text });
        let parts: Vec<Value> = [text].into_iter().chain(turn.calls.iter().map(call)).collect();
        let content = json!({ "role": "model", "parts": parts });
        json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }] })
    },
    back: |body| vec![body["candidates"][0]["content"].clone()],
    result: |call| {
        let response = json!({ "name": call.name, "response": { "output": "ok" } });
        json!({ "role": "user", "parts": [{ "functionResponse": response }] })
    },
    user: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
    request: |contents| json!({ "contents": contents }),
};

const OLLAMA: Api = Api {
    path: "/api/chat",
    response: |turn| {
        let calls: Vec<Value> =
            turn.calls.iter().map(|call| listed(call, arguments(call))).collect();
        let message = json!({ "role": "assistant", "content": turn.text, "tool_calls": calls });
        json!({ "model": "any", "message": message, "done": true, "done_reason": "stop" })
    },
    back: |body| vec![body["message"].clone()],
    result: |call| json!({ "role": "tool", "tool_name": call.name, "content": "ok" }),
    user,
    request: |list| json!({ "model": "any", "stream": false, "messages": list }),
};

const COHERE: Api = Api {
    path: "/v2/chat",
    response: |turn| {
        let call = |call: &Call| listed(call, json!(arguments(call).to_string()));
        let calls: Vec<Value> = turn.calls.iter().map(call).collect();
        let message = json!({ "role": "assistant", "tool_plan": turn.text, "tool_calls": calls });
        json!({ "id": "m", "message": message, "finish_reason": "TOOL_CALL" })
    },
    back: |body| vec![body["message"].clone()],
    result: |call| json!({ "role": "tool", "tool_call_id": call.id, "content": "ok" }),
    user,
    request: |list| json!({ "model": "any", "stream": false, "messages": list }),
};

const CONVERSE: Api = Api {
    path: "/bedrock/model/any/converse",
    response: |turn| {
        let call = |call: &Call| json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": arguments(call) } });
        let text = json!({ "text": turn.text });
        let content: Vec<Value> = [text].into_iter().chain(turn.calls.iter().map(call)).collect();
        json!({ "output": { "message": { "role": "assistant", "content": content } },
            "stopReason": "tool_use", "usage": { "inputTokens": 1, "outputTokens": 1 } })
    },
    back: |body| vec![body["output"]["message"].clone()],
    result: |call| {
        let result = json!({ "toolUseId": call.id, "content": [{ "text": "ok" }] });
        json!({ "role": "user", "content": [{ "toolResult": result }] })
    },
    user: |text| json!({ "role": "user", "content": [{ "text": text }] }),
    request: |list| json!({ "messages": list }),
};

const INTERACTIONS: Api = Api {
    path: "/v1beta/interactions",
    response: |turn| {
        let content = json!([{ "type": "text", "text": turn.text }]);
        let said = json!({ "type": "model_output", "content": content });
        let call = |call: &Call| json!({ "type": "function_call", "id": call.id, "name": call.name, "arguments": arguments(call) });
        let steps: Vec<Value> = [said].into_iter().chain(turn.calls.iter().map(call)).collect();
        json!({ "id": "v1_0", "object": "interaction", "status": "requires_action",
            "model": "gemini-x", "steps": steps })
    },
    back: |body| body["steps"].as_array().unwrap().clone(),
    result: |call| json!({ "type": "function_result", "call_id": call.id, "result": "ok" }),
    user: |text| json!({ "type": "user_input", "content": [{ "type": "text", "text": text }] }),
    request: |input| json!({ "model": "gemini-x", "store": false, "input": input }),
};

impl Api {
    /// The model answers the first request of each conversation with its turn.
    fn model(&self, one: &Turn, two: &Turn) -> Upstream {
        let (one, two) = ((self.response)(one).to_string(), (self.response)(two).to_string());
        Upstream::start(move |request| {
            let is_two = String::from_utf8_lossy(&request.body).contains("Conversation two.");
            Answer::json(200, if is_two { two.clone() } else { one.clone() })
        })
    }

    fn post(&self, gateway: &Gateway, session: &str, list: Vec<Value>) -> Value {
        let ask = Ask::post(self.path, (self.request)(list).to_string())
            .header("content-type", "application/json")
            .header("authorization", "Bearer team")
            .header("x-callgate-session", session);
        let reply = ask.send(gateway.address());
        assert_eq!(reply.status, 200, "{}: {}", self.path, reply.text());
        reply.json()
    }

    /// Takes a turn and continues: the history as the client has it, and as it went up.
    fn talk(
        &self,
        gateway: &Gateway,
        upstream: &Upstream,
        name: &str,
        read: &Call,
    ) -> (Value, Value) {
        let first = (self.user)(&format!("Conversation {name}."));
        let body = self.post(gateway, name, vec![first.clone()]);
        let mut history = vec![first];
        history.extend((self.back)(&body));
        history.push((self.result)(read));
        self.post(gateway, name, history.clone());
        let sent = upstream.requests().pop().unwrap().json();
        ((self.request)(history), sent)
    }
}

/// The call that the client keeps comes before or after the one it does not get, and the other
/// conversation differs in one thing.
#[test]
fn a_call_id_in_common_puts_nothing_into_another_conversation() {
    let other = Call { path: "b", ..READ };
    for api in
        [&ANTHROPIC, &OPENAI, &RESPONSES, &GEMINI, &OLLAMA, &COHERE, &CONVERSE, &INTERACTIONS]
    {
        for settings in ["on_deny: explain", "on_deny: silent"] {
            for calls in [vec![READ, DELETE], vec![DELETE, READ]] {
                for two in [
                    Turn { text: "I look.", calls: vec![other] },
                    Turn { text: "I look again.", calls: vec![READ] },
                ] {
                    let one = Turn { text: "I look.", calls: calls.clone() };
                    let upstream = api.model(&one, &two);
                    let gateway = gateway(&upstream, DENY, settings);
                    let case = format!("{} {settings} {}", api.path, two.text);
                    let (_, sent) = api.talk(&gateway, &upstream, "one", &READ);
                    assert!(sent.to_string().contains("PRIVATE-ONE"), "{case}: {sent}");
                    let (history, sent) = api.talk(&gateway, &upstream, "two", &two.calls[0]);
                    assert_eq!(sent, history, "{case}");
                }
            }
        }
    }
}

/// Without ids there is nothing but the turn itself.
#[test]
fn turns_without_ids_are_distinguished() {
    let anonymous = |call: Call| Call { id: "", ..call };
    let other = Call { path: "b", ..anonymous(READ) };
    for api in [&GEMINI, &OLLAMA] {
        for settings in ["on_deny: explain", "on_deny: silent"] {
            for calls in [[READ, DELETE], [DELETE, READ]] {
                let one = Turn { text: "I look.", calls: calls.map(anonymous).to_vec() };
                let two = Turn { text: "I look.", calls: vec![other] };
                let upstream = api.model(&one, &two);
                let gateway = gateway(&upstream, DENY, settings);
                let (_, sent) = api.talk(&gateway, &upstream, "one", &READ);
                assert!(sent.to_string().contains("PRIVATE-ONE"), "{settings}: {sent}");
                let (history, sent) = api.talk(&gateway, &upstream, "two", &other);
                assert_eq!(sent, history, "{} {settings}", api.path);
            }
        }
    }
}

/// A turn of another conversation that was shown no notice is not the one that was, even if all
/// else is alike.
#[test]
fn a_turn_without_the_notice_is_another_one() {
    for api in [&ANTHROPIC, &OPENAI, &RESPONSES, &GEMINI, &OLLAMA, &CONVERSE, &INTERACTIONS] {
        let one = Turn { text: "I look.", calls: vec![DELETE, READ] };
        let two = Turn { text: "I look.", calls: vec![READ] };
        let upstream = api.model(&one, &two);
        let gateway = gateway(&upstream, DENY, "on_deny: explain");
        api.talk(&gateway, &upstream, "one", &READ);
        let (history, sent) = api.talk(&gateway, &upstream, "two", &READ);
        assert_eq!(sent, history, "{}", api.path);
        // That something of a kept turn is in the request is recorded.
        let is_recorded = |gateway: &Gateway| {
            let records = [gateway.calls(), gateway.events()].concat();
            records.iter().any(|record| record.to_string().contains("not restored"))
        };
        assert!(gateway.wait_until(is_recorded), "{}: {:?}", api.path, gateway.calls());
    }
}
