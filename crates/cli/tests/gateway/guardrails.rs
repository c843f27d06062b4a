//! Rules about text, and rules that sanitize calls, through the gateway.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::provider::{POLICY, Provider, TurnPart};
use callgate_testkit::upstream::{Answer, BodyCoding, Upstream};
use serde_json::{Value, json};

use crate::support::{CHAT, MESSAGES, ask, gateway, hits, is_refusal, turns, whole_turns};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

const MASK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-keys, detect: [secret], verdict: mask, reason: Keys stay here. }\n";
const BLOCK: &str = "policy: p\nrules: []\ntext:\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";
const SANITIZE: &str = "policy: p\nrules:\n  - { id: clean, verdict: sanitize, sanitize: { detectors: [secret] }, reason: No keys in calls. }\n";

/// A turn with that text, streamed in small pieces and whole, as each API has it.
fn answers(text: &str) -> Vec<(&'static str, Answer)> {
    let provider = Provider::default().script("turn", vec![vec![TurnPart::text(text)]]);
    let mut all = Vec::new();
    for path in [MESSAGES, CHAT] {
        for stream in [true, false] {
            let messages = json!([{ "role": "user", "content": "[script turn #1]" }]);
            let body = json!({ "stream": stream, "messages": messages }).to_string();
            let request = callgate_testkit::upstream::Request {
                path: path.into(),
                body: body.into(),
                ..Default::default()
            };
            all.push((path, provider.answer(&request)));
        }
    }
    all
}

#[test]
fn a_response_is_masked_and_the_record_does_not_tell_the_text() {
    for (path, answer) in answers(&format!("Take {SECRET} with you.")) {
        let upstream = Upstream::always(answer.dribbled());
        let gateway = gateway(&upstream, MASK, "");
        let reply = ask(path).send(gateway.address());
        assert_eq!(reply.status, 200);
        // In a stream each piece of the text is in a frame of its own.
        assert!(
            !reply.text().contains("ghp_") && !reply.text().contains("0123456789"),
            "{}",
            reply.text()
        );
        assert!(reply.text().contains("Take") && reply.text().contains("you."), "{}", reply.text());
        let found = hits(&gateway);
        assert_eq!(found.len(), 1, "{found:?}");
        let hit = &found[0];
        assert_eq!(
            (&hit["guardrail"]["action"], &hit["guardrail"]["direction"], &hit["verdict"]["rule"]),
            (&json!("mask"), &json!("response"), &json!("no-keys")),
            "{hit}"
        );
        assert!(hit["guardrail"]["kind"].is_string() && hit["request_id"].is_string(), "{hit}");
        assert!(!hit.to_string().contains("ghp_"), "{hit}");
        let metrics = Ask::get("/metrics").send(gateway.address()).text();
        let counted = r#"callgate_guardrail_hits_total{action="mask",direction="response"} 1"#;
        assert!(metrics.contains(counted), "{metrics}");
        let shown = gateway.run(&["events"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("guardrail") && shown.contains("mask"), "{shown}");
        let tail = gateway.run(&["tail", "--no-follow"]);
        assert!(String::from_utf8_lossy(&tail.stdout).contains("p/no-keys"));
    }
}

#[test]
fn a_blocked_response_ends_in_the_form_of_its_api_and_names_no_rule() {
    for (path, answer) in answers("First the plugh, then xyzzy, then more.") {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, BLOCK, "");
        let reply = ask(path).send(gateway.address());
        let text = reply.text();
        assert_eq!(reply.status, 200, "{text}");
        assert!(text.contains("stopped by a content policy"), "{text}");
        for secret in ["xyzzy", "then more", "no-word", "Not that word"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
        let ending = if path == MESSAGES {
            r#""stop_reason":"refusal""#
        } else {
            r#""finish_reason":"content_filter""#
        };
        assert!(text.contains(ending), "{text}");
        let found = hits(&gateway);
        assert_eq!(found[0]["guardrail"]["action"], "block", "{found:?}");
        assert_eq!(found[0]["payload"]["blocked"], true, "{found:?}");
        let stopped = |gateway: &Gateway| {
            gateway.turns().iter().any(|turn| turn["detail"].to_string().contains("stopped"))
        };
        assert!(gateway.wait_until(stopped), "{:?}", gateway.turns());
    }
}

#[test]
fn calls_only_never_looks_at_text() {
    for (path, answer) in answers(&format!("Take {SECRET}!")) {
        let (body, upstream) = (answer.clone(), Upstream::always(answer));
        let gateway = gateway(&upstream, MASK, "gateway: { mode: calls-only }");
        let request = json!({ "model": "m", "messages": [{ "role": "user", "content": SECRET }] });
        let reply = Ask::post(path, request.to_string()).send(gateway.address());
        let mut sent = Vec::new();
        body.map_body(|bytes| {
            sent = bytes.to_vec();
            Vec::new()
        });
        assert_eq!(reply.text(), String::from_utf8(sent).unwrap());
        assert!(String::from_utf8(upstream.request().body).unwrap().contains(SECRET));
        assert!(gateway.events().iter().all(|event| event["type"] != "guardrail"));
    }
}

#[test]
fn a_sanitized_call_leaves_with_its_new_arguments_and_is_on_record() {
    let input = json!({ "deep": [{ "token": format!("x {SECRET} y") }], "n": 1 }).to_string();
    for answers in [turns("Bash", &input), whole_turns("Bash", &input)] {
        for (path, answer) in answers {
            let upstream = Upstream::always(answer.dribbled());
            let gateway = gateway(&upstream, SANITIZE, "");
            let reply = ask(path).send(gateway.address());
            let text = reply.text();
            assert!(!text.contains("ghp_") && !text.contains("0123456789"), "{text}");
            assert!(
                text.contains("call_1") && text.contains("Bash") && text.contains("deep"),
                "{text}"
            );
            let calls = gateway.calls();
            assert_eq!(calls.len(), 1, "{calls:?}");
            let verdict = &calls[0]["verdict"];
            assert_eq!(verdict["action"], "allow", "{verdict}");
            assert_eq!(verdict["sanitized"][0]["rule"], "clean", "{verdict}");
            assert!(verdict["replaced"][0].is_string(), "{verdict}");
            assert!(!calls[0].to_string().contains("ghp_"), "{calls:?}");
            let shown = gateway.run(&["calls", "show", calls[0]["id"].as_str().unwrap()]);
            let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
            assert!(shown.contains("rewrote") && shown.contains("replaced"), "{shown}");
        }
    }
}

/// A request in which that text stands in every place for text, and in some that are not.
fn request(path: &str, text: &str) -> Vec<u8> {
    let body = match path {
        MESSAGES => {
            json!({ "model": "m", "max_tokens": 9, "system": text, "tools": [{ "name": "a", "description": "kept" }],
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": text }] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "a", "input": {} }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": text }] }] })
        }
        _ => {
            json!({ "model": "m", "messages": [{ "role": "system", "content": text }, { "role": "user", "content": text },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": "t", "type": "function", "function": { "name": "a", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "t", "content": text }] })
        }
    };
    // Odd on purpose: what is not text stays byte for byte.
    body.to_string().replacen('{', "{ ", 1).into_bytes()
}

#[test]
fn a_request_is_masked_before_the_model_sees_it() {
    for (path, answer) in answers("Fine.").into_iter().step_by(2) {
        for coding in [None, Some(BodyCoding::Gzip)] {
            let upstream = Upstream::always(answer.clone());
            let gateway = gateway(&upstream, MASK, "");
            let body = request(path, &format!("use {SECRET} \"now\""));
            let reply = match coding {
                None => Ask::post(path, body.clone()),
                Some(coding) => {
                    Ask::post(path, coding.encode(&body)).header("content-encoding", "gzip")
                }
            }
            .send(gateway.address());
            assert_eq!(reply.status, 200, "{}", reply.text());
            let sent = upstream.request();
            let sent = String::from_utf8(sent.body).unwrap();
            assert!(!sent.contains("ghp_"), "{sent}");
            // The same places with the same words instead of the secret, nothing else.
            let text = serde_json::from_str::<Value>(&sent).unwrap();
            let masked =
                if path == MESSAGES { &text["system"] } else { &text["messages"][0]["content"] };
            assert_eq!(sent.as_bytes(), request(path, masked.as_str().unwrap()));
            let found = hits(&gateway);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0]["guardrail"]["direction"], "request");
            assert_eq!(found[0]["detail"], "3 times");
        }
    }
}

/// What was masked once is not changed again, so that prompt caches hit.
#[test]
fn a_masked_request_stays_as_it_is() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, MASK, "");
    let send = |body: Vec<u8>| {
        Ask::post(CHAT, body).send(gateway.address());
        upstream.requests().pop().unwrap().body
    };
    let once = send(request(CHAT, &format!("use {SECRET} now")));
    assert_eq!(send(once.clone()), once);
    let plain = request(CHAT, "nothing \\u0068ere");
    assert_eq!(send(plain.clone()), plain);
}

#[test]
fn a_blocked_request_never_reaches_the_provider() {
    for path in [MESSAGES, CHAT] {
        let upstream = Upstream::always(Answer::json(200, "{}"));
        let gateway = gateway(&upstream, BLOCK, "");
        let reply = Ask::post(path, request(path, "say xyzzy")).send(gateway.address());
        is_refusal(&reply, path, 400);
        assert_eq!(reply.header("x-should-retry"), Some("false"));
        assert!(
            !reply.text().contains("no-word") && !reply.text().contains("Not that"),
            "{}",
            reply.text()
        );
        assert!(upstream.requests().is_empty());
        assert_eq!(hits(&gateway)[0]["guardrail"]["action"], "block");
    }
}

#[test]
fn an_audited_request_goes_up_as_it_came() {
    let audit = MASK.replace("verdict: mask", "verdict: audit");
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, &audit, "");
    let body = request(CHAT, &format!("use {SECRET} now"));
    Ask::post(CHAT, body.clone()).send(gateway.address());
    assert_eq!(upstream.request().body, body);
    assert_eq!(hits(&gateway)[0]["guardrail"]["action"], "audit");
}

#[test]
fn a_request_that_cannot_be_read_is_refused() {
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, MASK, "");
    for body in [&b"not json"[..], b"{\"messages\":[}", b"{\"messages\":\"\xff\"}"] {
        for path in [MESSAGES, CHAT] {
            is_refusal(&Ask::post(path, body).send(gateway.address()), path, 400);
        }
    }
    assert!(upstream.requests().is_empty());
}

/// A rule for responses alone leaves requests unread.
#[test]
fn a_rule_for_responses_reads_no_request() {
    let policy = MASK.replace("id: no-keys,", "id: no-keys, in: [response],");
    let upstream = Upstream::always(Answer::json(200, "{}"));
    let gateway = gateway(&upstream, &policy, "");
    let body = request(CHAT, SECRET);
    Ask::post(CHAT, body.clone()).send(gateway.address());
    assert_eq!(upstream.request().body, body);
}

/// Removed calls come back, and the text next to them is masked.
#[test]
fn restoring_and_masking_go_together() {
    let policy = format!(
        "{POLICY}\ntext:\n  - {{ id: no-keys, detect: [secret], verdict: mask, reason: Keys stay here. }}\n"
    );
    let script = vec![vec![
        TurnPart::text(&format!("Here is {SECRET}.")),
        TurnPart::call("{n}_1a", "delete_all", r#"{ "path": "/" }"#),
    ]];
    for settings in ["on_deny: explain", "on_deny: silent"] {
        for path in [MESSAGES, CHAT] {
            let provider = Provider::default().script("leak", script.clone());
            let upstream = Upstream::start(move |request| provider.answer(request));
            let gateway = gateway(&upstream, &policy, settings);
            let first = json!({ "role": "user", "content": "[script leak #1] Please." });
            let post = |messages: Value| {
                let body = json!({ "model": "any", "max_tokens": 64, "messages": messages });
                let ask = Ask::post(path, body.to_string()).header("authorization", "Bearer none");
                let reply = ask.send(gateway.address());
                (reply.status, reply.json())
            };
            let (status, body) = post(json!([first]));
            assert_eq!(status, 200, "{body}");
            assert!(!body.to_string().contains("ghp_"), "{body}");
            let turn = match path {
                MESSAGES => json!({ "role": "assistant", "content": body["content"] }),
                _ => body["choices"][0]["message"].clone(),
            };
            post(json!([first, turn, { "role": "user", "content": format!("And {SECRET}?") }]));
            let sent = String::from_utf8(upstream.requests().pop().unwrap().body).unwrap();
            assert!(
                sent.contains("1_1a") && sent.contains("delete_all"),
                "{settings} {path}: {sent}"
            );
            assert!(!sent.contains("ghp_"), "{settings} {path}: {sent}");
        }
    }
}
