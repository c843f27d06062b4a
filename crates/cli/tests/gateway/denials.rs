//! How a denial is worded: in the response, when it comes back, and instead of blocked content.

use callgate_testkit::http::Ask;
use callgate_testkit::provider::{Provider, TurnPart};
use callgate_testkit::upstream::Upstream;
use serde_json::{Value, json};

use crate::support::{ALLOW, CHAT, MESSAGES, ask, gateway, setup, whole_turns};

const FORCE: &str = "policy: git\nrules:\n  - { id: no-force, tool: Bash, when: { arg: command, contains: \"push -f\" }, verdict: deny, reason: Main is shared., hint: Push to a branch., blocks: any force push to main }\n  - { id: no-mail, tool: send_email, verdict: deny, reason: No mail. }\n";

const TEXT: &str = "\
denial:
  text: |
    STOP: {tool} ({rule}).
    {reason} {hint}
    Kind: {blocks}

    Ask {contact}; see {link}.
    Nobody: {matched}
  contact: sec@example.com
  link: https://wiki.example.com/agents
";

fn server(tool: &str, input: &str) -> Upstream {
    let [message, completion] = whole_turns(tool, input);
    Upstream::start(move |request| {
        if request.path.contains("chat") { completion.1.clone() } else { message.1.clone() }
    })
}

/// What the answer says, without the model's own words.
fn said(path: &str, body: &Value) -> String {
    let texts: Vec<&str> = match path {
        MESSAGES => body["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["text"].as_str())
            .collect(),
        _ => vec![body["choices"][0]["message"]["content"].as_str().unwrap()],
    };
    texts.concat()
}

#[test]
fn the_operator_words_it() {
    let expected = "\
STOP: Bash (no-force (policy git)).
Main is shared. Push to a branch.
Kind: any force push to main

Ask sec@example.com; see https://wiki.example.com/agents.
Nobody: git push -f origin main
Record: ";
    let upstream = server("Bash", r#"{"command":"git push -f origin main"}"#);
    for path in [MESSAGES, CHAT] {
        let gateway = gateway(&upstream, FORCE, TEXT);
        let said = said(path, &ask(path).send(gateway.address()).json());
        let record = gateway.calls()[0]["id"].as_str().unwrap().to_owned();
        assert!(said.ends_with(&format!("{expected}{record}")), "{path}: {said}");
    }
}

/// Whether the tool or only this use of it is blocked, and which kind of action the rule means.
#[test]
fn the_built_in_text_says_how_much_is_blocked() {
    let table = [
        (
            "Bash",
            r#"{"command":"git push -f origin main"}"#,
            "Blocked: any force push to main\nOnly this use of `Bash` is blocked; other uses may be allowed.\nIt was not executed. Do not retry it, in this or any other form.\nRecord: ",
        ),
        (
            "send_email",
            "{}",
            "Reason: No mail.\nThe tool `send_email` is blocked, whatever its arguments.\nIt was not executed. Do not retry it: the answer will be the same.\nRecord: ",
        ),
    ];
    for (tool, input, expected) in table {
        let upstream = server(tool, input);
        let gateway = gateway(&upstream, FORCE, "");
        for path in [MESSAGES, CHAT] {
            let said = said(path, &ask(path).send(gateway.address()).json());
            assert!(said.contains(expected), "{path}: {said}");
        }
    }
}

/// What was shown is known again, however it is worded, and the model reads the same in the result.
#[test]
fn a_turn_comes_back_with_the_same_text() {
    for text in [TEXT, "denial: { text: \"No.\" }", "denial: { text: \"{record}: no {tool}\" }"] {
        for path in [MESSAGES, CHAT] {
            let script = vec![
                vec![TurnPart::call("{n}_1a", "send_email", r#"{"to":"ann"}"#)],
                vec![TurnPart::text("Well then.")],
            ];
            let provider = Provider::default().script("mail", script);
            let upstream = Upstream::start(move |request| provider.answer(request));
            let gateway = gateway(&upstream, FORCE, text);
            let first = json!({ "role": "user", "content": "[script mail #1] Please." });
            let post = |messages: &[Value]| {
                let body = json!({ "model": "any", "max_tokens": 64, "messages": messages });
                let ask = Ask::post(path, body.to_string()).header("authorization", "Bearer none");
                let reply = ask.send(gateway.address());
                (reply.status, reply.json())
            };
            let (_, body) = post(std::slice::from_ref(&first));
            let notice = said(path, &body);
            assert!(!notice.contains("callgate blocked"), "{notice}");
            let turn = match path {
                MESSAGES => json!({ "role": "assistant", "content": body["content"] }),
                _ => body["choices"][0]["message"].clone(),
            };
            let (status, body) =
                post(&[first, turn, json!({ "role": "user", "content": "Go on." })]);
            assert_eq!(status, 200, "{text} {path}: {body}");
            let sent = upstream.requests().pop().unwrap().json()["messages"].clone();
            let result = match path {
                MESSAGES => &sent[2]["content"][0]["content"],
                _ => &sent[2]["content"],
            };
            assert_eq!(result.as_str().or(result[0]["text"].as_str()), Some(&*notice), "{path}");
            assert!(!sent[1].to_string().contains("Record: "), "the notice stayed: {sent}");
        }
    }
}

#[test]
fn the_text_about_blocked_content_is_the_operators_too() {
    let policy = "policy: p\nrules: []\ntext:\n  - { id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }\n";
    let settings =
        "denial: { content: \"Stopped here. Ask {contact}.\", contact: sec@example.com }";
    let provider = Provider::default().script("turn", vec![vec![TurnPart::text("Say xyzzy now.")]]);
    let upstream = Upstream::start(move |request| provider.answer(request));
    let gateway = gateway(&upstream, policy, settings);
    for path in [MESSAGES, CHAT] {
        for stream in [true, false] {
            let messages = json!([{ "role": "user", "content": "[script turn #1]" }]);
            let body =
                json!({ "model": "any", "max_tokens": 9, "stream": stream, "messages": messages });
            let reply = Ask::post(path, body.to_string()).send(gateway.address());
            let text = reply.text();
            assert!(text.contains("Stopped here. Ask sec@example.com."), "{path} {stream}: {text}");
            assert!(!text.contains("xyzzy") && !text.contains("content policy"), "{text}");
        }
        let messages = json!([{ "role": "user", "content": "Say xyzzy." }]);
        let body = json!({ "model": "any", "max_tokens": 9, "messages": messages });
        let reply = Ask::post(path, body.to_string()).send(gateway.address());
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert!(reply.text().contains("Stopped here. Ask sec@example.com."), "{}", reply.text());
    }
}

#[test]
fn a_placeholder_that_is_not_known_stops_the_start() {
    let upstream = server("t", "{}");
    let setup = setup(&upstream, ALLOW, "denial:\n  text: |\n    Blocked.\n    See {page}.\n");
    let ran = setup.run(&["serve"]);
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success());
    assert!(told.contains("unknown placeholder `{page}` in `denial.text`"), "{told}");
    assert!(told.contains("known here: {tool}, {rule}, "), "{told}");
    let line = told.lines().find(|line| line.contains("--> ")).unwrap();
    assert!(line.ends_with(":9"), "the column of the placeholder: {told}");
}
