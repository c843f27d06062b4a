//! `tools:` of the config: what the operator knows about tools that callgate does not know.

use callgate_testkit::http::Exchange;
use callgate_testkit::upstream::{AnswerFeed, AnswerStep, Upstream};

use crate::support::{CHAT, MESSAGES, SAID, ask, emptied, gateway, turns, whole_turns};

/// A rule on effects, which holds the calls of unknown tools.
const NO_DELETES: &str = "policy: p\nrules:\n  - { id: no-deletes, when: { deletes: '**' }, verdict: deny, reason: Keep it. }\n";

/// The events of a stream.
fn events(stream: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8(stream.to_vec()).unwrap();
    text.split_inclusive("\n\n").map(|event| event.as_bytes().to_vec()).collect()
}

/// Whether the beginning of a call reaches the client before its end has been sent.
fn streams(settings: &str) -> bool {
    let [(_, answer), _] = turns("get_weather", r#"{"city":"Florence"}"#);
    let (answer, whole) = emptied(answer);
    let all = events(&whole);
    let is_end = |event: &Vec<u8>| String::from_utf8_lossy(event).contains("content_block_stop");
    let end = all.iter().rposition(is_end).unwrap();
    let feed = AnswerFeed::default();
    let answer = answer.send(all[..end].concat()).step(AnswerStep::Feed(feed.clone()));
    let upstream = Upstream::always(answer.send(all[end..].concat()));
    let gateway = gateway(&upstream, NO_DELETES, settings);
    let mut exchange = Exchange::open(gateway.address(), &ask(MESSAGES)).unwrap();
    assert!(exchange.read_until(SAID));
    // What passes by a held call shows that the call would be here by now.
    feed.say("event: ping\ndata: {\"type\":\"ping\",\"mark\":\"passes\"}\n\n".to_owned());
    assert!(exchange.read_until("passes"));
    let early = exchange.reply().text();
    upstream.release();
    let text = exchange.finish().unwrap().text();
    assert!(text.contains("Florence") || text.contains("get_weather"), "{text}");
    early.contains("input_json_delta")
}

#[test]
fn a_tool_without_effects_streams_and_an_unknown_one_is_held() {
    assert!(!streams(""), "rules on effects hold an unknown tool until it is complete");
    assert!(streams("tools: { get_weather: { effects: none } }"));
}

/// Through the gateway, and taken over while it runs.
#[test]
fn a_declared_shell_is_judged_like_any_other_and_reloads() {
    let input = r#"{"cmdline":"rm -rf /srv/data"}"#;
    let upstream = Upstream::always(whole_turns("deploy", input)[1].1.clone());
    let gateway = gateway(&upstream, NO_DELETES, "");
    let passes = |gateway: &callgate_testkit::gateway::Gateway| {
        let reply = ask(CHAT).send(gateway.address());
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()["choices"][0]["message"].get("tool_calls").is_some()
    };
    assert!(passes(&gateway), "nothing says that `cmdline` is a command");
    let before = std::fs::read_to_string(gateway.folder().join("callgate.yaml")).unwrap();
    let tools = "tools: { deploy: { kind: '@shell', args: { cmdline: '@command' } } }";
    gateway.replace("callgate.yaml", &format!("{before}{tools}\n"));
    assert!(gateway.wait_until(|gateway| !passes(gateway)), "the tool is still unknown");
    gateway.replace("callgate.yaml", &before);
    assert!(gateway.wait_until(passes), "the tool is still known");
}
