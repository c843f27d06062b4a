use proptest::prelude::*;
use serde_json::{Value, json};

use super::restore;
use crate::json::{document, elements, member};
use crate::request::{RemovedCall, RemovedTurn, Restored, TextDigest};

/// A notice with all that makes texts hard to compare.
const N1: &str = "blocked `rm`: \"no\" \u{1F600}\nRecord: r1";
const N1_RAW: &str = r#"blocked `rm`: \"no\" \ud83d\ude00\nRecord: r1"#;
const CALL: &str =
    r#"{"id":"c1","type":"function","function":{"name":"rm","arguments":"{\"n\": 1.0}"}}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"no"}"#;
const USER: &str = r#"{"role":"user","content":"Why?"}"#;

fn call(id: &str, place: usize, notice: Option<&str>) -> RemovedCall {
    RemovedCall {
        id: id.into(),
        original: CALL.replace("c1", id),
        place,
        notice: notice.map(str::to_owned),
        why: "no".into(),
    }
}

fn turn(calls: Vec<RemovedCall>) -> RemovedTurn {
    RemovedTurn { calls, ..RemovedTurn::default() }
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = TextDigest::new();
    digest.add(text);
    Some(digest.finish())
}

/// A request with these messages between the user's first and last.
fn request(messages: &str) -> String {
    let messages = messages.replace("N1", N1_RAW).replace("CALL", CALL).replace("RESULT", RESULT);
    format!(
        "{{ \"model\":\"m\",\"messages\" : [{{\"role\":\"user\",\"content\":\"Hi\"}},\n \
         {messages} ,{USER}],\"max_tokens\":1e3}}\n"
    )
}

#[track_caller]
fn becomes(turn: &RemovedTurn, before: &str, after: &str) {
    let sent = request(before);
    let restored = restore(&sent, std::slice::from_ref(turn)).unwrap();
    assert_eq!(restored.skipped, []);
    let body = restored.body.unwrap();
    assert_eq!(body, request(after), "\n{sent}");
    check(&serde_json::from_str(&body).unwrap());
}

#[track_caller]
fn skips(request: &str, turns: &[RemovedTurn], why: &'static str) {
    let restored = restore(request, turns).unwrap();
    assert_eq!((restored.body, restored.restored), (None, vec![]), "{request}");
    assert!(!restored.skipped.is_empty());
    assert!(restored.skipped.iter().all(|(_, reason)| *reason == why), "{:?}", restored.skipped);
}

/// What providers check.
fn check(request: &Value) {
    let messages = request["messages"].as_array().unwrap();
    let mut open: Vec<String> = Vec::new();
    let mut legacy: Option<String> = None;
    for message in messages {
        match message["role"].as_str().unwrap() {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap();
                let place = open.iter().position(|open| open == id).expect("a call for a result");
                open.remove(place);
                continue;
            }
            "function" => {
                assert_eq!(legacy.take().as_deref(), message["name"].as_str());
                continue;
            }
            _ => {}
        }
        assert!(open.is_empty() && legacy.is_none(), "calls without results: {open:?}");
        let calls = message["tool_calls"].as_array();
        assert!(calls.is_none_or(|calls| !calls.is_empty()), "an empty list of calls");
        open.extend(calls.into_iter().flatten().map(|c| c["id"].as_str().unwrap().to_owned()));
        legacy = message["function_call"]["name"].as_str().map(str::to_owned);
        match &message["content"] {
            Value::Null => assert!(!open.is_empty() || legacy.is_some(), "no content"),
            Value::String(text) => assert!(!text.is_empty(), "empty content"),
            parts => {
                let parts = parts.as_array().unwrap();
                assert!(!parts.is_empty() && parts.iter().all(|part| part["text"] != ""));
            }
        }
    }
    assert!(open.is_empty() && legacy.is_none(), "calls without results: {open:?}");
}

#[test]
fn a_notice_is_cut_out_and_its_call_put_back() {
    let removed = turn(vec![call("c1", 0, Some(N1))]);
    for (before, after) in [
        (
            r#"{"role":"assistant","content":"N1"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[CALL]},RESULT"#,
        ),
        (
            r#"{ "content" : "N1" , "role":"assistant" }"#,
            r#"{ "content" : null , "role":"assistant","tool_calls":[CALL] },RESULT"#,
        ),
        (
            r#"{"role":"assistant","content":"A\u0041\n\nN1","refusal":null}"#,
            r#"{"role":"assistant","content":"A\u0041","refusal":null,"tool_calls":[CALL]},RESULT"#,
        ),
        (
            r#"{"role":"assistant","content":"N1\n\nB","tool_calls":null}"#,
            r#"{"role":"assistant","content":"B","tool_calls":[CALL]},RESULT"#,
        ),
        (
            r#"{"role":"assistant","tool_calls":[ ],"content":"A\n\nN1\n\nB"}"#,
            r#"{"role":"assistant","tool_calls":[CALL],"content":"A\n\nB"},RESULT"#,
        ),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"N1"}]}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[CALL]},RESULT"#,
        ),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"A"}, {"type":"text","text":"N1"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"A"}],"tool_calls":[CALL]},RESULT"#,
        ),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"A\n\nN1"},{"type":"refusal","refusal":"N1"}]}"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"A"},{"type":"refusal","refusal":"N1"}],"tool_calls":[CALL]},RESULT"#,
        ),
        // Before the calls that the client got.
        (
            r#"{"role":"assistant","content":"N1","tool_calls":[ {"id":"c2","type":"function"}]}, {"role":"tool","tool_call_id":"c2","content":"x"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[ CALL,{"id":"c2","type":"function"}]},RESULT, {"role":"tool","tool_call_id":"c2","content":"x"}"#,
        ),
    ] {
        becomes(&removed, before, after);
    }
}

#[test]
fn calls_keep_their_places() {
    let list = |ids: &str| -> String {
        let calls: Vec<String> =
            ids.chars().map(|id| CALL.replace("c1", &id.to_string())).collect();
        format!("[{}]", calls.join(","))
    };
    // What was removed, what the client got, and the original order.
    for (removed, got, whole) in [
        (&[("a", 0)][..], "z", "az"),
        (&[("a", 1)], "z", "za"),
        (&[("a", 1)], "xyz", "xayz"),
        (&[("a", 0), ("b", 2)], "xy", "axby"),
        (&[("b", 2), ("a", 0), ("c", 3)], "x", "axbc"),
        (&[("a", 0), ("b", 1), ("c", 3)], "xy", "abxcy"),
        (&[("a", 9)], "x", "xa"),
    ] {
        let calls = removed.iter().map(|(id, place)| call(id, *place, None)).collect();
        let mut removed = turn(calls);
        removed.siblings = got.chars().map(String::from).collect();
        let sent = format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":{}}},{{"role":"user"}}]}}"#,
            list(got)
        );
        let body = restore(&sent, &[removed]).unwrap().body.unwrap();
        assert!(body.contains(&list(whole)), "{whole}: {body}");
    }
}

#[test]
fn a_turn_is_known_by_a_call() {
    let mut removed = turn(vec![call("c1", 1, None)]);
    removed.siblings = vec!["c0".into()];
    let own = r#"{"role":"tool","tool_call_id":"c0","content":"x"}"#;
    let sibling = r#"{"id":"c\u0030","type":"function"}"#;
    becomes(
        &removed,
        &format!(r#"{{"role":"assistant","content":null,"tool_calls":[{sibling}]}},{own}"#),
        &format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{sibling},CALL]}},RESULT,{own}"#
        ),
    );
    // With a notice that the client has changed: the text stays.
    removed.calls[0].notice = Some("N1".into());
    let before = format!(r#"{{"role":"assistant","content":"n1","tool_calls":[{sibling}]}},{own}"#);
    becomes(&removed, &before, &before.replace("}]},", "},CALL]},RESULT,"));
    removed.siblings = vec![String::new()];
    skips(
        &request(r#"{"role":"assistant","content":"x","tool_calls":[{"id":""}]}"#),
        &[removed],
        Restored::NOT_FOUND,
    );
}

#[test]
fn ids_that_start_anew_are_no_proof_alone() {
    // The same id in an innocent turn before.
    let innocent = r#"{"role":"assistant","tool_calls":[{"id":"c0"}]},{"role":"tool","tool_call_id":"c0","content":"x"}"#;
    let mut removed = turn(vec![call("c1", 1, None)]);
    removed.siblings = vec!["c0".into()];
    skips(&request(&format!("{innocent},{innocent}")), &[removed.clone()], Restored::AMBIGUOUS);
    // What was left decides, if it can.
    removed.left = digest("B");
    let named = innocent.replacen("\"tool_calls\"", "\"content\":\"B\",\"tool_calls\"", 1);
    let restored = restore(&request(&format!("{innocent},{named}")), &[removed]).unwrap();
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][3]["tool_calls"][1]["id"], "c1");
}

#[test]
fn a_silent_turn_is_known_by_what_was_left() {
    let mut removed = turn(vec![call("c1", 0, None)]);
    removed.left = digest("Let me \u{1F600}see.");
    for before in [
        r#"{"role":"assistant","content":"Let me \ud83d\ude00see."}"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"Let me \ud83d\ude00"},{"type":"text","text":"see."}]}"#,
    ] {
        let after = before.strip_suffix('}').unwrap().to_owned() + ",\"tool_calls\":[CALL]},RESULT";
        becomes(&removed, before, &after);
    }
    for other in [
        r#"{"role":"assistant","content":"Let me see."}"#,
        r#"{"role":"assistant","content":"Let me \ud83d\ude00see.","tool_calls":[{"id":"c7"}]}"#,
        r#"{"role":"user","content":"Let me \ud83d\ude00see."}"#,
    ] {
        skips(&request(other), std::slice::from_ref(&removed), Restored::NOT_FOUND);
    }
    // Two messages that look alike.
    let message = r#"{"role":"assistant","content":"Let me \ud83d\ude00see."}"#;
    skips(
        &request(&format!("{message},{USER},{message}")),
        &[removed.clone()],
        Restored::AMBIGUOUS,
    );
    // The text that kept the turn from being empty is cut, where it is named.
    removed.calls[0].notice = Some("Let me \u{1F600}see.".into());
    becomes(&removed, message, r#"{"role":"assistant","content":null,"tool_calls":[CALL]},RESULT"#);
    removed.left = digest("");
    skips(&request(r#"{"role":"assistant","content":""}"#), &[removed], Restored::NOT_FOUND);
}

#[test]
fn a_legacy_call_comes_back_as_one() {
    let mut removed = turn(vec![call("", 0, Some(N1))]);
    removed.calls[0].original = r#"{"name":"r\u006d","arguments":"{}"}"#.into();
    let function = r#""function_call":{"name":"r\u006d","arguments":"{}"}"#;
    let result = r#"{"role":"function","name":"r\u006d","content":"no"}"#;
    becomes(
        &removed,
        r#"{"role":"assistant","content":"N1"}"#,
        &format!(r#"{{"role":"assistant","content":null,{function}}},{result}"#),
    );
    becomes(
        &removed,
        r#"{"role":"assistant","function_call":null,"content":"A\n\nN1"}"#,
        &format!(r#"{{"role":"assistant",{function},"content":"A"}},{result}"#),
    );
    for occupied in [
        r#"{"role":"assistant","content":"N1","tool_calls":[{"id":"x"}]}"#,
        r#"{"role":"assistant","content":"N1","function_call":{"name":"x"}}"#,
    ] {
        skips(&request(occupied), std::slice::from_ref(&removed), Restored::OCCUPIED);
    }
    skips(
        &request(r#"{"role":"assistant","content":"N1","function_call":{"name":"x"}}"#),
        &[turn(vec![call("c1", 0, Some(N1))])],
        Restored::OCCUPIED,
    );
}

#[test]
fn a_custom_call_comes_back_as_it_was() {
    let mut removed = turn(vec![call("c1", 0, Some("N"))]);
    let custom = r#"{"id":"c1","type":"custom","custom":{"name":"sh","input":"rm -rf"}}"#;
    removed.calls[0].original = custom.into();
    becomes(
        &removed,
        r#"{"role":"assistant","content":"N"}"#,
        &format!(r#"{{"role":"assistant","content":null,"tool_calls":[{custom}]}},RESULT"#),
    );
}

#[test]
fn what_cannot_be_answered_is_not_restored() {
    let mut removed = [turn(vec![call("c1", 0, Some("N"))])];
    skips(
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"N"}]}"#,
        &removed,
        Restored::UNANSWERED,
    );
    let sent = request(r#"{"role":"assistant","content":"N"}"#);
    removed[0].calls[0].id = String::new();
    skips(&sent, &removed, Restored::NO_ID);
    for original in ["", "{", "[]", "{}", "{\"name\":"] {
        removed[0].calls[0].original = original.into();
        skips(&sent, &removed, Restored::UNREADABLE);
    }
}

#[test]
fn signs_outside_of_assistant_messages_mean_nothing() {
    let mut removed = turn(vec![call("c1", 0, Some("N"))]);
    removed.siblings = vec!["c0".into()];
    for message in [
        r#"{"role":"user","content":"N"}"#,
        r#"{"role":"system","content":"N"}"#,
        r#"{"role":"tool","tool_call_id":"c0","content":"N"}"#,
        r#"{"role":"user","content":"x","tool_calls":[{"id":"c0"}]}"#,
        r#"{"role":"assistant","content":"N!"}"#,
        r#"{"role":"assistant","content":"x\nN"}"#,
        r#"{"role":"assistant","reasoning_content":"N","content":"x","name":"N"}"#,
        r#"{"role":"assistant","tool_calls":[{"id":"c7","function":{"name":"c0","arguments":"N"}}]}"#,
    ] {
        skips(&request(message), std::slice::from_ref(&removed), Restored::NOT_FOUND);
    }
}

#[test]
fn a_call_the_client_knows_is_skipped() {
    let removed = turn(vec![call("c1", 0, Some("N")), call("c2", 1, Some("M"))]);
    let known = request(
        r#"{"role":"assistant","content":"N\n\nM","tool_calls":[CALL]},{"role":"tool","tool_call_id":"c1","content":"x"}"#,
    );
    let restored = restore(&known, &[removed]).unwrap();
    assert_eq!(restored.restored, ["c2"]);
    assert_eq!(restored.skipped, [("c1".to_owned(), Restored::PRESENT)]);
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][1]["tool_calls"][1]["id"], "c2");
    assert_eq!(body["messages"][1]["content"], "N");
    check(&body);
    skips(
        &request(r#"{"role":"assistant","content":"N"},RESULT"#),
        &[turn(vec![call("c1", 0, Some("N"))])],
        Restored::PRESENT,
    );
}

#[test]
fn equal_notices_match_in_order_each_once() {
    let message = format!(r#"{{"role":"assistant","content":"N"}},{USER}"#);
    let sent = request(&format!("{message},{message},{message}"));
    let turns = [turn(vec![call("c1", 0, Some("N"))]), turn(vec![call("c2", 0, Some("N"))])];
    let restored = restore(&sent, &turns).unwrap();
    assert_eq!(restored.restored, ["c1", "c2"]);
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][1]["tool_calls"][0]["id"], "c1");
    assert_eq!(body["messages"][4]["tool_calls"][0]["id"], "c2");
    assert_eq!(body["messages"][7]["content"], "N");
    check(&body);
}

/// One turn of a made-up conversation, as the provider knows it.
#[derive(Debug, Clone)]
struct Turn {
    text: Option<String>,
    /// For each call, whether it is removed.
    calls: Vec<bool>,
    silent: bool,
    /// How the client sends the text back.
    parts: bool,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let text = prop::option::of("[a-c\"\\\\\n\u{1F600}\u{e9}]{0,4}");
    let turn = (text, prop::collection::vec(any::<bool>(), 0..5), any::<bool>(), any::<bool>());
    let turn = turn.prop_map(|(text, calls, silent, parts)| {
        let text = if calls.is_empty() { Some(text.unwrap_or_default()) } else { text };
        Turn { text, calls, silent, parts }
    });
    prop::collection::vec(turn, 1..5)
}

struct Conversation {
    sent: Vec<Value>,
    want: Vec<Value>,
    removed: Vec<RemovedTurn>,
}

const NEUTRAL: &str = "I cannot go on here.";

fn play(turns: &[Turn]) -> Conversation {
    let mut talk = Conversation { sent: Vec::new(), want: Vec::new(), removed: Vec::new() };
    for (number, turn) in turns.iter().enumerate() {
        let user = json!({"role":"user","content":format!("u{number}")});
        talk.sent.push(user.clone());
        talk.want.push(user);
        play_turn(&mut talk, turn, number);
    }
    let user = json!({"role":"user","content":"Bye"});
    talk.sent.push(user.clone());
    talk.want.push(user);
    talk
}

fn play_turn(talk: &mut Conversation, turn: &Turn, number: usize) {
    let text = turn.text.as_ref().map(|text| format!("{text} t{number}"));
    let mut removed = RemovedTurn::default();
    let (mut content, mut calls, mut all) = (text.clone(), Vec::new(), Vec::new());
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    for (place, is_removed) in turn.calls.iter().enumerate() {
        let id = format!("call_{number}_{place}");
        let call = json!({"id":id,"type":"function","function":{"name":"x","arguments":"{}"}});
        all.push(call.clone());
        if !is_removed {
            calls.push(call);
            results.push(json!({"role":"tool","tool_call_id":id,"content":"ok"}));
            removed.siblings.push(id);
            continue;
        }
        let shows = !turn.silent && removed.siblings.is_empty();
        let notice = shows.then(|| format!("blocked:\n\"x\" {id}"));
        if let Some(notice) = &notice {
            content = Some(content.map_or_else(String::new, |text| text + "\n\n") + notice);
        }
        errors.push(json!({"role":"tool","tool_call_id":id,"content":"why"}));
        let (original, why) = (call.to_string(), "why".to_owned());
        removed.calls.push(RemovedCall { id, original, place, notice, why });
    }
    let mut whole = text.clone();
    if content.is_none() && calls.is_empty() && !all.is_empty() {
        content = Some(NEUTRAL.to_owned());
        whole = content.clone();
    }
    removed.left = turn.silent.then(|| digest(content.as_deref().unwrap_or("")).unwrap());
    let said = |text: &Option<String>| match (text, turn.parts) {
        (Some(text), true) => json!([{"type":"text","text":text}]),
        (text, _) => json!(text),
    };
    let message = |content: &Option<String>, calls: Vec<Value>| {
        let mut message = json!({"role":"assistant","content":said(content)});
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        message
    };
    talk.sent.push(message(&content, calls));
    talk.want.push(message(&whole, all));
    talk.want.extend(errors);
    talk.want.extend(results.iter().cloned());
    talk.sent.extend(results);
    if !removed.calls.is_empty() {
        talk.removed.push(removed);
    }
}

/// How clients spell the same document.
fn spell(value: &Value, style: u8) -> String {
    let units = |c: char| -> String {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let escape = |c: char| if c.is_ascii() { c.into() } else { units(c) };
    match style {
        0 => value.to_string(),
        1 => serde_json::to_string_pretty(value).unwrap(),
        _ => value.to_string().chars().map(escape).collect(),
    }
}

fn raw_messages(request: &str) -> Vec<String> {
    let list = member(request, document(request), "messages").unwrap();
    elements(request, list).into_iter().map(|span| span.of(request).to_owned()).collect()
}

proptest! {
    #[test]
    fn a_conversation_comes_back_whole(turns in turns(), style in 0..3_u8) {
        let talk = play(&turns);
        let request = spell(&json!({"model":"m","messages":talk.sent,"stream":true}), style);
        let want = json!({"model":"m","messages":talk.want,"stream":true});
        let restored = restore(&request, &talk.removed).unwrap();
        prop_assert_eq!(&restored.skipped, &[]);
        prop_assert_eq!(restored.body.is_none(), talk.removed.is_empty());
        let body = restored.body.unwrap_or_else(|| request.clone());
        let read: Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(&read, &want);
        check(&read);
        // What was not touched is there in the same bytes and the same order.
        let after = raw_messages(&body);
        let mut rest = after.iter();
        for (message, value) in raw_messages(&request).iter().zip(&talk.sent) {
            if talk.want.contains(value) {
                prop_assert!(rest.any(|other| other == message));
            }
        }
        let again = restore(&body, &talk.removed).unwrap();
        prop_assert_eq!(again.body, None);
    }
}

/// All text of a choice is one, so what the model says next joins the last line of a notice.
#[test]
fn text_may_follow_a_notice_at_once() {
    let notice = |last: char| format!("blocked\nRecord: 0199a8f3-7c1e-7d2a-9b4e-5f607182930{last}");
    let removed = |id: &str, last: char| {
        turn(vec![RemovedCall { notice: Some(notice(last)), ..call(id, 0, None) }])
    };
    let request = |text: String| {
        let said = json!({"role": "assistant", "content": text});
        json!({"messages": [said, {"role": "user", "content": "Go"}]}).to_string()
    };
    for (before, behind) in [("", "and so on"), ("So:\n\n", "face"), ("So:\n\n", "\n\nx")] {
        let sent = request(format!("{before}{}{behind}", notice('a')));
        let restored = restore(&sent, &[removed("c1", 'b'), removed("c2", 'a')]).unwrap();
        assert_eq!(restored.restored, ["c2"], "{sent}");
        let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
        let left = format!("{}{behind}", before.trim_end());
        let left = if before.is_empty() { left.trim_start() } else { &left };
        assert_eq!(body["messages"][0]["content"], left);
    }
    // Without an id that shows its end it may be another notice.
    let sent = request("blocked\nRecord: r12".into());
    let short = RemovedCall { notice: Some("blocked\nRecord: r1".into()), ..call("c1", 0, None) };
    skips(&sent, &[turn(vec![short])], Restored::NOT_FOUND);
}
