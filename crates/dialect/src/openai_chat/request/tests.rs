use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Dialect;
use crate::json::{document, elements, member};
use crate::request::{NotRestored, RemovedCall, RemovedTurn, Restored, testing};

/// A notice with everything that makes texts hard to compare.
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

fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, callgate_json::Error> {
    testing::restore(Dialect::OpenAiChat, request, turns)
}

/// The turn for which the client has this message.
fn turn_of(message: &str, calls: Vec<RemovedCall>) -> RemovedTurn {
    let client = testing::client_turn(Dialect::OpenAiChat, &request(message));
    RemovedTurn { client, ..turn(calls) }
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
fn skips(request: &str, turns: &[RemovedTurn], why: NotRestored) {
    let restored = restore(request, turns).unwrap();
    assert_eq!((restored.body, restored.restored), (None, vec![]), "{request}");
    assert!(!restored.skipped.is_empty());
    assert!(restored.skipped.iter().all(|skipped| skipped.why == why), "{:?}", restored.skipped);
}

/// Checks what providers check.
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
        // Before the calls that the client received.
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
    // The removed calls, those that the client received, and the original order.
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
        let removed = turn(calls);
        let sent = format!(
            r#"{{"messages":[{{"role":"assistant","tool_calls":{}}},{{"role":"user"}}]}}"#,
            list(got)
        );
        let body = restore(&sent, &[removed]).unwrap().body.unwrap();
        assert!(body.contains(&list(whole)), "{whole}: {body}");
    }
}

const SIBLING: &str =
    r#"{"id":"c0","type":"function","function":{"name":"ls","arguments":"{\"a\":1,\"b\":\"x\"}"}}"#;
const OWN: &str = r#"{"role":"tool","tool_call_id":"c0","content":"x"}"#;

#[test]
fn a_turn_is_known_however_the_client_spells_it() {
    let got = format!(r#"{{"role":"assistant","content":"","tool_calls":[{SIBLING}]}}"#);
    let removed = turn_of(&got, vec![call("c1", 1, None)]);
    for before in [
        format!(r#"{{"role":"assistant","tool_calls":[{SIBLING}]}}"#),
        format!(r#"{{"role":"assistant","content":null,"refusal":null,"tool_calls":[{SIBLING}]}}"#),
        format!(r#"{{"role":"assistant","content":[{{"type":"text","text":" "}}],"reasoning_content":"x","tool_calls":[{SIBLING}]}}"#),
        r#"{"tool_calls":[{"function":{"arguments":" { \"b\" : \"\\u0078\", \"a\" : 1.0 }","name":"l\u0073"},"id":"c\u0030","index":0}],"role":"assistant"}"#.into(),
        r#"{"role":"assistant","tool_calls":[{"id":"c0","type":"function","custom":null,"function":{"name":"ls","arguments":{"b":"x","a":1}}}]}"#.into(),
    ] {
        let (calls, behind) = before.split_at(before.rfind("}]").unwrap() + 1);
        let after = format!("{calls},CALL{behind}");
        becomes(&removed, &format!("{before},{OWN}"), &format!("{after},RESULT,{OWN}"));
    }
    // A custom tool's free text is compared unchanged.
    let custom = |input: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"c0","type":"custom","custom":{{"name":"sh","input":"{input}"}}}}]}},{OWN}"#
        )
    };
    let removed = turn_of(&custom("ls -l"), vec![call("c1", 1, None)]);
    becomes(&removed, &custom("ls -l"), &custom("ls -l").replace("}]},", "},CALL]},RESULT,"));
    skips(&request(&custom("ls  -l")), &[removed], NotRestored::NotFound);
}

/// Some providers number the calls of each conversation from zero.
#[test]
fn a_call_id_alone_proves_nothing() {
    let said = |text: &str, call: &str| {
        format!(r#"{{"role":"assistant","content":"{text}","tool_calls":[{call}]}},{OWN}"#)
    };
    let silent = turn_of(&said("A", SIBLING), vec![call("c1", 1, None)]);
    let explained = turn_of(&said("A\\n\\nN", SIBLING), vec![call("c1", 0, Some("N"))]);
    for other in [
        said("B", SIBLING),
        said("", SIBLING),
        said("A", &SIBLING.replace("\\\"a\\\":1", "\\\"a\\\":2")),
        said("A", &SIBLING.replace("ls", "cat")),
        said("A", &format!("{SIBLING},{}", SIBLING.replace("c0", "c2"))),
    ] {
        skips(&request(&other), std::slice::from_ref(&silent), NotRestored::NotFound);
        skips(&request(&other), std::slice::from_ref(&explained), NotRestored::NotFound);
    }
    // Of two turns with the same id, the right one gets its call back.
    let sent = request(&format!("{},{USER},{}", said("B", SIBLING), said("A", SIBLING)));
    let body = restore(&sent, &[silent]).unwrap().body.unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["messages"][1]["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(body["messages"][4]["tool_calls"][1]["id"], "c1");
    // A notice that the client has changed is not removed, so its call is not restored.
    skips(
        &request(&said("A\\n\\nn", SIBLING)),
        std::slice::from_ref(&explained),
        NotRestored::NotFound,
    );
    skips(&request(&said("A N", SIBLING)), &[explained], NotRestored::NotFound);
}

#[test]
fn a_silent_turn_is_recognised_by_what_was_left() {
    let message = r#"{"role":"assistant","content":"Let me \ud83d\ude00see."}"#;
    let removed = turn_of(message, vec![call("c1", 0, None)]);
    for before in [
        message,
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
        skips(&request(other), std::slice::from_ref(&removed), NotRestored::NotFound);
    }
    // The text that kept the turn from being empty is removed, if it is known.
    let neutral = turn_of(message, vec![call("c1", 0, Some("Let me \u{1F600}see."))]);
    becomes(&neutral, message, r#"{"role":"assistant","content":null,"tool_calls":[CALL]},RESULT"#);
    let empty = r#"{"role":"assistant","content":""}"#;
    skips(&request(empty), &[turn_of(empty, vec![call("c1", 0, None)])], NotRestored::NotFound);
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
        skips(&request(occupied), std::slice::from_ref(&removed), NotRestored::Occupied);
    }
    skips(
        &request(r#"{"role":"assistant","content":"N1","function_call":{"name":"x"}}"#),
        &[turn(vec![call("c1", 0, Some(N1))])],
        NotRestored::Occupied,
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
fn calls_that_cannot_be_answered_are_not_restored() {
    let mut removed = [turn(vec![call("c1", 0, Some("N"))])];
    skips(
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"N"}]}"#,
        &removed,
        NotRestored::Unanswered,
    );
    let sent = request(r#"{"role":"assistant","content":"N"}"#);
    removed[0].calls[0].id = String::new();
    skips(&sent, &removed, NotRestored::NoId);
    for original in ["", "{", "[]", "{}", "{\"name\":"] {
        removed[0].calls[0].original = original.into();
        skips(&sent, &removed, NotRestored::Unreadable);
    }
}

#[test]
fn signs_outside_of_assistant_messages_mean_nothing() {
    let removed = turn_of(r#"{"role":"assistant","content":"N"}"#, vec![call("c1", 0, Some("N"))]);
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
        skips(&request(message), std::slice::from_ref(&removed), NotRestored::NotFound);
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
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "c1".to_owned(), why: NotRestored::Present }]
    );
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][1]["tool_calls"][1]["id"], "c2");
    assert_eq!(body["messages"][1]["content"], "N");
    check(&body);
    skips(
        &request(r#"{"role":"assistant","content":"N"},RESULT"#),
        &[turn(vec![call("c1", 0, Some("N"))])],
        NotRestored::Present,
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

/// One turn of a generated conversation, as the provider has it.
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
            continue;
        }
        let shows = !turn.silent && calls.is_empty();
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
    let sent = message(&content, calls);
    let alone = json!({"messages":[sent]}).to_string();
    removed.client = testing::client_turn(Dialect::OpenAiChat, &alone);
    talk.sent.push(sent);
    talk.want.push(message(&whole, all));
    talk.want.extend(errors);
    talk.want.extend(results.iter().cloned());
    talk.sent.extend(results);
    if !removed.calls.is_empty() {
        talk.removed.push(removed);
    }
}

/// Different spellings of the same document.
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
        // Everything else has the same bytes in the same order.
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

/// All texts of a choice are joined, so the model's next text continues the last line of a notice.
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
    skips(&sent, &[turn(vec![short])], NotRestored::NotFound);
}
