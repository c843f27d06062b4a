//! Whom a policy is for, as the gateway knows its callers: by their keys, and by the user who owns
//! the connection.

use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use callgate_decide::login;
use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Ask;
use callgate_testkit::upstream::{Answer, Upstream};

use crate::access::{add_key, principal};
use crate::support::{MESSAGES, ask, can_become_anybody, setup, whole_turns};

fn server() -> Upstream {
    Upstream::start(|_| {
        let [message, _] = whole_turns("delete_all", "{}");
        message.1
    })
}

fn passes(ask: Ask, gateway: &Gateway) -> bool {
    let reply = ask.send(gateway.address());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.text().contains("tool_use\"")
}

/// A policy that denies all calls of those it is for.
fn closed_for(whom: &str) -> String {
    format!("policy: closed\nfor: {{ {whom} }}\ndefault: deny\n")
}

#[test]
fn a_policy_for_a_team_holds_for_its_keys_and_for_callers_without_one() {
    let upstream = server();
    let setup = setup(&upstream, &closed_for("team: 'pay*'"), "");
    let payments = add_key(&setup, &["ann", "--team", "payments"]);
    let teamless = add_key(&setup, &["ci"]);
    let gateway = setup.start();
    let with = |key: &str| ask(MESSAGES).header("x-callgate-key", key);
    assert!(!passes(with(&payments), &gateway), "the team's policy");
    assert!(passes(with(&teamless), &gateway), "this key has no team");
    let calls = gateway.calls();
    let ci = calls.iter().find(|call| call["principal"]["key"] == "ci").unwrap();
    assert_eq!(ci["principal"]["user"], login::own().unwrap(), "whose program shows it");
    assert!(!passes(ask(MESSAGES), &gateway), "the team of a local user is not known");
}

#[test]
fn a_user_of_this_machine_is_known_by_the_login_name() {
    let me = login::own().unwrap();
    for (user, passed) in [(me.as_str(), false), ("somebody-else", true)] {
        let upstream = server();
        let gateway = setup(&upstream, &closed_for(&format!("user: {user}")), "").start();
        assert_eq!(passes(ask(MESSAGES), &gateway), passed, "{user}");
        assert_eq!(principal(&gateway)["user"], me);
    }
}

/// Only root can start a program as another user.
#[test]
fn another_user_of_this_machine_is_another_principal() {
    const NOBODY: u32 = 65_534;
    let Some(nobody) = login::of(NOBODY).filter(|_| can_become_anybody()) else { return };
    let upstream = server();
    let gateway = setup(&upstream, &closed_for(&format!("user: {nobody}")), "").start();
    assert!(passes(ask(MESSAGES), &gateway), "root is not nobody");
    let answer = ask_as(NOBODY, gateway.address());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!answer.contains("tool_use\""), "{answer}");
}

/// A caller without a name may be anyone.
#[test]
fn a_user_without_a_login_name_is_not_known() {
    const NAMELESS: u32 = 4_000_000_001;
    if !can_become_anybody() {
        return;
    }
    let upstream = server();
    let gateway = setup(&upstream, &closed_for("user: games"), "").start();
    assert!(passes(ask(MESSAGES), &gateway), "root is not games");
    let answer = ask_as(NAMELESS, gateway.address());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!answer.contains("tool_use\""), "{answer}");
}

/// What a program of this user gets from the gateway.
fn ask_as(user: u32, gateway: SocketAddr) -> String {
    let body = r#"{"model":"any","max_tokens":64,"messages":[{"role":"user","content":"hi"}]}"#;
    let head = format!("POST {MESSAGES} HTTP/1.1\r\nhost: localhost\r\nconnection: close");
    let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let script = format!(
        "exec 3<>/dev/tcp/{}/{} && printf %s \"$0\" >&3 && cat <&3",
        gateway.ip(),
        gateway.port()
    );
    let mut client = Command::new("bash");
    client.args(["-c", &script, &request]).uid(user).gid(user).stdout(Stdio::piped());
    let mut child = client.spawn().unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert!(child.wait().unwrap().success(), "{answer}");
    answer
}

#[test]
fn rules_about_text_are_for_those_their_policy_is_for() {
    let rule = "{ id: no-word, keywords: [xyzzy], verdict: block, reason: Not that word. }";
    let policy = format!("policy: words\nfor: {{ team: payments }}\ntext: [{rule}]\n");
    let upstream = server();
    let setup = setup(&upstream, &policy, "");
    let payments = add_key(&setup, &["ann", "--team", "payments"]);
    let web = add_key(&setup, &["bob", "--team", "web"]);
    let gateway = setup.start();
    let status = |key: &str| {
        let body = r#"{"model":"any","messages":[{"role":"user","content":"say xyzzy"}]}"#;
        let ask = Ask::post(MESSAGES, body).header("authorization", "Bearer none");
        ask.header("x-callgate-key", key).send(gateway.address()).status
    };
    assert_eq!(status(&web), 200);
    assert_eq!(status(&payments), 400);
}

#[test]
fn responses_without_calls_are_counted_by_who_asked() {
    let upstream = Upstream::always(plain_answer());
    let setup = setup(&upstream, "policy: p\nrules: []\n", "");
    let ann = add_key(&setup, &["ann", "--user", "ann", "--team", "payments"]);
    let gateway = setup.start();
    let asked = [ask(MESSAGES).header("x-callgate-key", &ann), ask(MESSAGES)];
    for ask in asked {
        assert_eq!(ask.send(gateway.address()).status, 200);
    }
    let turns = |filter: &[&str]| {
        let ran = gateway.run(&[&["stats", "--json"], filter].concat());
        let stats: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        stats["turns"]["without_calls"].clone()
    };
    assert!(gateway.wait_until(|_| turns(&[]) == 2), "{}", turns(&[]));
    assert_eq!(turns(&["--user", "ann"]), 1);
    assert_eq!(turns(&["--team", "pay*"]), 1);
    assert_eq!(turns(&["--user", &login::own().unwrap()]), 1);
    assert_eq!(turns(&["--user", "nobody-at-all"]), 0);
}

/// A response that only says something.
fn plain_answer() -> Answer {
    let message = serde_json::json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{ "type": "text", "text": "hi" }], "stop_reason": "end_turn",
        "stop_sequence": null, "usage": { "input_tokens": 3, "output_tokens": 4 },
    });
    Answer::json(200, message.to_string())
}
