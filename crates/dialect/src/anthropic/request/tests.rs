use proptest::prelude::*;
use serde_json::{Value, json};

use super::Message;
use crate::Dialect;
use crate::json::{Edits, document, elements, member};
use crate::request::block_lists::BlockMessage as _;
use crate::request::{
    ClientMessage, EarlierAnswer, MergedTurn, NotRestored, Plan, RemovedCall, RemovedTurn,
    Restored, messages, testing,
};

/// A notice with everything that makes texts hard to compare.
const N1: &str = "blocked `rm`: \"no\" \u{1F600}\nRecord: r1";
const N1_RAW: &str = r#"blocked `rm`: \"no\" \ud83d\ude00\nRecord: r1"#;
const CALL: &str = r#"{"type":"tool_use","id":"t1","name":"rm","input":{"n": 1.0}}"#;
const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}"#;

fn call(id: &str, place: usize, notice: Option<&str>) -> RemovedCall {
    RemovedCall {
        id: id.into(),
        original: CALL.replace("t1", id),
        place,
        notice: notice.map(str::to_owned),
        why: "no".into(),
    }
}

fn turn(calls: Vec<RemovedCall>) -> RemovedTurn {
    RemovedTurn { calls, ..RemovedTurn::default() }
}

fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, callgate_json::Error> {
    testing::restore(Dialect::Anthropic, request, turns)
}

/// The turn for which the client has this content.
fn turn_of(content: &str, calls: Vec<RemovedCall>) -> RemovedTurn {
    let client = testing::client_turn(Dialect::Anthropic, &request(&fill(content), "\"x\""));
    RemovedTurn { client, ..turn(calls) }
}

/// Nothing can be put into a message without content, and no result may answer what is not there.
#[test]
fn a_message_without_content_has_no_place_for_a_call() {
    let (text, turn) = (request("null", "\"x\""), turn(vec![call("t1", 0, None)]));
    let messages = messages(&text, Message::read).unwrap();
    let plan = Plan { seen: 0, turn: &turn, calls: turn.calls.iter().collect() };
    let (mut edits, mut out) = (Edits::default(), Restored::default());
    let placed = messages[1].put_back(&text, &ClientMessage::new(1, vec![]), &plan, &mut edits);
    plan.report(placed, &mut out);
    assert!(edits.is_empty() && out.restored.is_empty(), "{out:?}");
    assert_eq!(
        out.skipped,
        [crate::request::SkippedCall { id: "t1".to_owned(), why: NotRestored::NoPlace }]
    );
}

/// A request of three messages: the user's first, the assistant's and the answer.
fn request(assistant: &str, answer: &str) -> String {
    format!(
        "{{ \"model\":\"m\",\"messages\" : [{{\"role\":\"user\",\"content\":\"Hi\"}},\n \
         {{\"role\":\"assistant\",\"content\": {assistant} }} ,{{\"content\":{answer},\
         \"role\":\"user\"}}],\"max_tokens\":1e3}}\n"
    )
}

fn fill(text: &str) -> String {
    text.replace("N1", N1_RAW).replace("CALL", CALL).replace("RESULT", RESULT)
}

/// The content of the assistant message and of the user message after it, before and after.
#[track_caller]
fn becomes(turn: &RemovedTurn, before: (&str, &str), after: (&str, &str)) {
    let sent = request(&fill(before.0), &fill(before.1));
    let want = request(&fill(after.0), &fill(after.1));
    let restored = restore(&sent, std::slice::from_ref(turn)).unwrap();
    assert_eq!(restored.skipped, []);
    let body = restored.body.unwrap();
    assert_eq!(body, want, "\n{sent}");
    check(&serde_json::from_str(&body).unwrap());
}

#[track_caller]
fn skips(request: &str, turns: &[RemovedTurn], why: NotRestored) {
    let restored = restore(request, turns).unwrap();
    assert_eq!((restored.body, restored.restored), (None, vec![]), "{request}");
    assert!(!restored.skipped.is_empty());
    assert!(restored.skipped.iter().all(|skipped| skipped.why == why), "{:?}", restored.skipped);
}

/// Checks what the provider checks.
fn check(request: &Value) {
    let messages = request["messages"].as_array().unwrap();
    for (place, message) in messages.iter().enumerate() {
        let Some(blocks) = message["content"].as_array() else {
            assert!(!message["content"].as_str().unwrap().trim().is_empty());
            continue;
        };
        assert!(!blocks.is_empty(), "empty content");
        for block in blocks.iter().filter(|block| block["type"] == "text") {
            assert!(!block["text"].as_str().unwrap().trim().is_empty(), "empty text");
        }
        let ids: Vec<&Value> =
            blocks.iter().filter(|block| block["type"] == "tool_use").map(|b| &b["id"]).collect();
        if ids.is_empty() {
            continue;
        }
        let next = &messages.get(place + 1).expect("a message behind calls");
        assert_eq!(next["role"], "user");
        let answer = next["content"].as_array().expect("blocks behind calls");
        let results: Vec<&Value> = answer
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .map(|block| &block["tool_use_id"])
            .collect();
        for id in &ids {
            assert_eq!(results.iter().filter(|result| result == &id).count(), 1, "result of {id}");
        }
        assert_eq!(results.len(), ids.len(), "results without calls");
        let only_results = results.len() == answer.len();
        assert!(only_results || blocks.iter().all(|b| b.get("caller").is_none()), "text");
    }
}

#[test]
fn a_notice_is_replaced_by_its_call() {
    let removed = turn(vec![call("t1", 1, Some(N1))]);
    for (before, after) in [
        (r#"[{"type":"text","text":"N1"}]"#, "[CALL]"),
        (r#"[ {"text":"N1","type":"text"} ]"#, "[ CALL ]"),
        (
            r#"[{"type":"thinking","thinking":"x","signature":"s"}, {"type":"text","text":"N1"}]"#,
            r#"[{"type":"thinking","thinking":"x","signature":"s"}, CALL]"#,
        ),
        (
            r#"[{"type":"text","text":"N1"},{"type":"thinking","thinking":"x","signature":"s"}]"#,
            r#"[CALL,{"type":"thinking","thinking":"x","signature":"s"}]"#,
        ),
        // Clients that merge blocks.
        (r#""N1""#, "[CALL]"),
        (r#""A \u00e9\n\nN1""#, r#"[{"type":"text","text":"A \u00e9"},CALL]"#),
        (r#""N1\n\nB""#, r#"[CALL,{"type":"text","text":"B"}]"#),
        (r#""A\n\nN1\n\nB""#, r#"[{"type":"text","text":"A\n\nB"},CALL]"#),
        (
            r#"[{"type":"text","text":"A\n\nN1","x":1} ]"#,
            r#"[{"type":"text","text":"A","x":1},CALL ]"#,
        ),
        (r#"[{"type":"text","text":"N1\n\nB"}]"#, r#"[CALL,{"type":"text","text":"B"}]"#),
        (r#"[{"type":"text","text":" \n\nN1"}]"#, "[CALL]"),
        // The `cache_control` of the notice's block.
        (
            r#"[{"type":"text","text":"N1","cache_control":{"type":"ephemeral"}}]"#,
            r#"[{"type":"tool_use","id":"t1","name":"rm","input":{"n": 1.0},"cache_control":{"type":"ephemeral"}}]"#,
        ),
    ] {
        becomes(
            &removed,
            (before, r#""Why?""#),
            (after, r#"[RESULT,{"type":"text","text":"Why?"}]"#),
        );
    }
}

#[test]
fn results_open_the_answer() {
    let removed = turn(vec![call("t1", 0, Some(N1))]);
    for (before, after) in [
        (r#""Why? \/""#, r#"[RESULT,{"type":"text","text":"Why? \/"}]"#),
        (r#"[{"type":"text","text":"Why?"}]"#, r#"[RESULT,{"type":"text","text":"Why?"}]"#),
        (r#"[ {"type":"image"} ]"#, r#"[RESULT, {"type":"image"} ]"#),
        ("[]", "[RESULT]"),
        (r#""""#, "[RESULT]"),
        (r#"" \n""#, "[RESULT]"),
    ] {
        becomes(&removed, (r#"[{"type":"text","text":"N1"}]"#, before), ("[CALL]", after));
    }
}

#[test]
fn for_code_that_waits_the_text_goes_inside_the_result() {
    let mut removed = turn(vec![call("t1", 0, Some(N1))]);
    let with = |caller: &str| CALL.replace("\"name\"", &format!("\"caller\":{caller},\"name\""));
    let code = with(r#"{"type":"code_execution_20260120","tool_id":"srvtoolu_1"}"#);
    removed.calls[0].original = code.clone();
    let inside = |more: &str| {
        format!(
            r#"{{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{{"type":"text","text":"no"}},{more}]}}"#
        )
    };
    let text = r#"{"type":"text","text":"Why?"}"#;
    for (before, after) in [
        (r#""Why?""#.to_owned(), format!("[{}]", inside(text))),
        (format!("[{text}]"), format!("[{}]", inside(text))),
        (r#""""#.to_owned(), "[RESULT]".to_owned()),
        (
            format!("[{text} , {{\"type\":\"image\"}}]"),
            format!("[{}]", inside(&format!("{text},{{\"type\":\"image\"}}"))),
        ),
    ] {
        becomes(
            &removed,
            (r#"[{"type":"text","text":"N1"}]"#, &before),
            (&format!("[{code}]"), &after),
        );
    }
    // With one of the client's own results.
    removed.calls[0].notice = None;
    let own = r#"{"type":"tool_result","tool_use_id":"t0","content":"x"}"#;
    let sibling = CALL.replace("t1", "t0");
    becomes(
        &removed,
        (&format!("[{sibling}]"), &format!("[{own}, {text}]")),
        (&format!("[{code},{sibling}]"), &format!("[{},{own}]", inside(text))),
    );
    // A direct caller is the same as no caller.
    removed = turn(vec![call("t1", 0, Some(N1))]);
    let direct = with(r#"{"type":"direct"}"#);
    removed.calls[0].original = direct.clone();
    let sent = request(&fill(r#""N1""#), r#""Why?""#);
    let want = request(&format!("[{direct}]"), &fill(&format!("[RESULT,{text}]")));
    assert_eq!(restore(&sent, &[removed]).unwrap().body.unwrap(), want);
}

const SIBLING: &str = r#"{"type":"tool_use","id":"t0","name":"ls","input":{"a":1,"b":["x"]}}"#;
const OWN: &str = r#"{"type":"tool_result","tool_use_id":"t0","content":"x"}"#;

#[test]
fn a_turn_is_known_however_the_client_spells_it() {
    let thinking = r#"{"type":"thinking","thinking":"x","signature":"s1"}"#;
    let got = format!(r#"[{thinking},{{"type":"text","text":"I look. "}},{SIBLING}]"#);
    let removed = turn_of(&got, vec![call("t1", 3, None)]);
    for (before, after) in [
        (got.as_str(), format!("{},CALL]", got.strip_suffix(']').unwrap())),
        // Escapes, the order of keys, the spelling of numbers.
        (
            r#"[{"type":"thinking","thinking":"x","signature":"s\u0031"},{"type":"text","text":"I\u0020look."},{"input":{ "b" : [ "\u0078" ], "a" : 1.0 },"id":"t\u0030","type":"tool_use","name":"ls"}]"#,
            r#"[{"type":"thinking","thinking":"x","signature":"s\u0031"},{"type":"text","text":"I\u0020look."},{"input":{ "b" : [ "\u0078" ], "a" : 1.0 },"id":"t\u0030","type":"tool_use","name":"ls"},CALL]"#.into(),
        ),
        // No thinking, split texts, an empty one among them, a `cache_control` mark.
        (
            &format!(r#"[{{"type":"text","text":"I"}},{{"type":"text","text":" "}},{{"type":"text","text":"\nlook.","cache_control":{{}}}},{SIBLING}]"#),
            format!(r#"[{{"type":"text","text":"I"}},{{"type":"text","text":" "}},{{"type":"text","text":"\nlook.","cache_control":{{}}}},CALL,{SIBLING}]"#),
        ),
    ] {
        let sent = request(&fill(before), &format!("[{OWN}]"));
        let want = request(&fill(&after), &fill(&format!("[RESULT,{OWN}]")));
        let restored = restore(&sent, std::slice::from_ref(&removed)).unwrap();
        assert_eq!(restored.body.unwrap(), want);
    }
}

/// A message that only resembles the turn: one common trait is never enough.
#[test]
fn a_turn_that_differs_anywhere_is_another_turn() {
    let thinking = |n: u32| format!(r#"{{"type":"thinking","thinking":"x","signature":"s{n}"}}"#);
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let got = [thinking(1), text("I look."), SIBLING.to_owned()];
    let content = |blocks: &[String]| format!("[{}]", blocks.join(","));
    let silent = turn_of(&content(&got), vec![call("t1", 3, None)]);
    let with_notice = [&got[..1], &[text("N1")], &got[1..]].concat();
    let explained = turn_of(&content(&with_notice), vec![call("t1", 3, Some(N1))]);
    let [thought, said, called] = got.clone();
    for (other, why) in [
        (vec![thought.clone(), said.clone(), called.replace("t0", "t9")], "id"),
        (vec![thought.clone(), said.clone(), called.replace("ls", "cat")], "name"),
        (vec![thought.clone(), said.clone(), called.replace("\"a\":1", "\"a\":2")], "arguments"),
        (
            vec![thought.clone(), said.clone(), called.clone(), called.replace("t0", "t8")],
            "one more call",
        ),
        (vec![thought.clone(), said.clone()], "a call is missing"),
        (vec![thought.clone(), text("I looked."), called.clone()], "text"),
        (vec![thought.clone(), called.clone()], "no text"),
        (vec![thinking(2), said.clone(), called.clone()], "the thinking of another turn"),
        (vec![thought.clone(), thinking(2), said.clone(), called.clone()], "more thinking"),
        (vec![called, thought], "nothing but the id and the signature"),
    ] {
        let answer = format!("[{OWN}]");
        skips(
            &request(&content(&other), &answer),
            std::slice::from_ref(&silent),
            NotRestored::NotFound,
        );
        // Also with the notice as it was shown.
        let other = [other, vec![text("N1")]].concat();
        let sent = request(&fill(&content(&other)), &answer);
        skips(&sent, std::slice::from_ref(&explained), NotRestored::NotFound);
        assert!(!why.is_empty());
    }
    // A turn that had a notice, without it; and one that had none, with one.
    let sent = request(&content(&got), &format!("[{OWN}]"));
    skips(&sent, std::slice::from_ref(&explained), NotRestored::NotFound);
    let sent = request(&fill(&content(&with_notice)), &format!("[{OWN}]"));
    skips(&sent, &[silent], NotRestored::NotFound);
    assert_eq!(restore(&sent, &[explained]).unwrap().restored, ["t1"]);
}

/// The model repeats the text of a notice in a later signed turn, and the client has dropped the
/// turn that showed it.
#[test]
fn a_notice_that_the_model_quotes_is_not_its_turn() {
    let shown =
        r#"[{"type":"thinking","thinking":"x","signature":"s1"},{"type":"text","text":"N1"}]"#;
    let removed = turn_of(shown, vec![call("t1", 1, Some(N1))]);
    for quoted in [
        r#"[{"type":"thinking","thinking":"x","signature":"s2"},{"type":"text","text":"N1"}]"#,
        r#"[{"type":"thinking","thinking":"x","signature":"s2"},{"type":"text","text":"It said:\n\nN1"}]"#,
        r#""It said:\n\nN1""#,
        r#"[{"type":"text","text":"N1"},{"type":"tool_use","id":"t0","name":"ls","input":{}}]"#,
    ] {
        skips(
            &request(&fill(quoted), "\"x\""),
            std::slice::from_ref(&removed),
            NotRestored::NotFound,
        );
    }
    assert_eq!(restore(&request(&fill(shown), "\"x\""), &[removed]).unwrap().restored, ["t1"]);
}

#[test]
fn calls_keep_their_places() {
    let text = |n: u32| format!(r#"{{"type":"text","text":"x{n}"}}"#);
    let thinking = |n: u32| format!(r#"{{"type":"thinking","thinking":"","signature":"s{n}"}}"#);
    let tool = |id: &str| CALL.replace("t1", id);
    let sent = |blocks: &[String]| format!("[{}]", blocks.join(","));
    let check_places = |calls: Vec<RemovedCall>, before: &[String], after: &[String]| {
        let removed = turn(calls);
        let request = request(&sent(before), "\"Go on\"");
        let body = restore(&request, &[removed]).unwrap().body.unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        let want: Value = serde_json::from_str(&sent(after)).unwrap();
        assert_eq!(body["messages"][1]["content"], want);
    };
    // Between thinking blocks.
    check_places(
        vec![call("a", 1, None), call("b", 3, None)],
        &[thinking(0), thinking(1)],
        &[thinking(0), tool("a"), thinking(1), tool("b")],
    );
    // Several in a row, given in another order.
    check_places(
        vec![call("c", 3, None), call("a", 1, None), call("b", 2, None)],
        &[thinking(0), text(0), tool("z")],
        &[thinking(0), tool("a"), tool("b"), tool("c"), text(0), tool("z")],
    );
    // Some with a notice, some without.
    check_places(
        vec![call("a", 1, Some("N")), call("b", 2, None), call("c", 4, None)],
        &[thinking(0), r#"{"type":"text","text":"N"}"#.into(), tool("z")],
        &[thinking(0), tool("a"), tool("b"), tool("z"), tool("c")],
    );
    // A position that no longer exists.
    check_places(vec![call("a", 9, None)], &[thinking(0)], &[thinking(0), tool("a")]);
    // The text that a silent denial put into an empty turn.
    check_places(
        vec![call("a", 1, None), call("b", 2, None)],
        &[thinking(0), text(0)],
        &[thinking(0), text(0), tool("a"), tool("b")],
    );
    // Text between two removed calls.
    check_places(
        vec![call("a", 1, None), call("b", 3, None)],
        &[thinking(0), text(0)],
        &[thinking(0), tool("a"), text(0), tool("b")],
    );
    // Blocks that the client dropped or moved: the calls keep their order.
    check_places(
        vec![call("a", 1, None), call("b", 2, Some("Nb"))],
        &[r#"{"type":"text","text":"Nb"}"#.into(), tool("z")],
        &[tool("a"), tool("b"), tool("z")],
    );
    check_places(
        vec![call("a", 1, Some("Na")), call("b", 2, None)],
        &[thinking(0), tool("z"), r#"{"type":"text","text":"x0\n\nNa"}"#.into()],
        &[thinking(0), tool("z"), text(0), tool("a"), tool("b")],
    );
    // Notices merged into one block, with another text between them.
    check_places(
        vec![call("a", 1, Some("Na")), call("b", 2, Some("Nb"))],
        &[thinking(0), r#"{"type":"text","text":"Na\n\nx0\n\nNb"}"#.into()],
        &[thinking(0), tool("a"), text(0), tool("b")],
    );
    check_places(
        vec![call("a", 1, Some("Na")), call("b", 2, Some("Nb")), call("c", 3, None)],
        &[thinking(0), r#"{"type":"text","text":"Na\n\nNb"}"#.into()],
        &[thinking(0), tool("a"), tool("b"), tool("c")],
    );
}

#[test]
fn a_silent_turn_is_recognised_by_what_was_left() {
    let removed = turn_of("\"Let me \u{1F600}see.\"", vec![call("t1", 2, None)]);
    let blocks = r#"[{"type":"text","text":"Let me \ud83d\ude00"},{"type":"text","text":"see."}]"#;
    let after = blocks.replace("}]", "},CALL]");
    let answer = (r#""Go on""#, r#"[RESULT,{"type":"text","text":"Go on"}]"#);
    becomes(&removed, (blocks, answer.0), (&after, answer.1));
    becomes(
        &removed,
        ("\"Let me \u{1F600}see.\"", answer.0),
        ("[{\"type\":\"text\",\"text\":\"Let me \u{1F600}see.\"},CALL]", answer.1),
    );
    skips(&request("\"Let me see.\"", answer.0), &[removed], NotRestored::NotFound);
    // The text that kept the turn from being empty is removed.
    let neutral = turn_of("\"Let me\"", vec![call("t1", 2, Some("Let me"))]);
    becomes(&neutral, ("\"Let me\"", answer.0), ("[CALL]", answer.1));
    // An empty text does not identify a turn.
    let nothing = turn_of("\"\"", vec![call("t1", 2, None)]);
    skips(&request("[]", answer.0), std::slice::from_ref(&nothing), NotRestored::NotFound);
    skips(&request("\"\"", answer.0), &[nothing], NotRestored::NotFound);
}

/// Turns that lost the same calls are restored in order; if they lost different ones, none is.
#[test]
fn alike_turns_are_restored_in_order_and_unlike_ones_are_not() {
    let one = turn_of("\"Done.\"", vec![call("t1", 1, None)]);
    let two = turn_of("\"Done.\"", vec![call("t2", 1, None)]);
    let message = r#"{"role":"assistant","content":"Done."},{"role":"user","content":"Go"}"#;
    let sent = |times: usize| format!("{{\"messages\":[{}]}}", vec![message; times].join(","));
    for (times, ids) in [(1, vec!["t1"]), (2, vec!["t1", "t2"]), (3, vec!["t1", "t2"])] {
        let restored = restore(&sent(times), &[one.clone(), two.clone()]).unwrap();
        assert_eq!(restored.restored, ids);
        let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
        for (number, id) in ids.iter().enumerate() {
            assert_eq!(body["messages"][2 * number]["content"][1]["id"], *id);
        }
        check(&body);
    }
    let other = RemovedTurn { removed: [1; 32], ..two };
    for times in [1, 2] {
        skips(&sent(times), &[one.clone(), other.clone()], NotRestored::Ambiguous);
    }
}

#[test]
fn equal_notices_match_in_order_each_once() {
    let message = r#"{"role":"assistant","content":"N"},{"role":"user","content":"Go"}"#;
    let request = format!("{{\"messages\":[{message},{message},{message}]}}");
    let turns = [turn(vec![call("t1", 0, Some("N"))]), turn(vec![call("t2", 0, Some("N"))])];
    let restored = restore(&request, &turns).unwrap();
    assert_eq!(restored.restored, ["t1", "t2"]);
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][0]["content"][0]["id"], "t1");
    assert_eq!(body["messages"][2]["content"][0]["id"], "t2");
    assert_eq!(body["messages"][4]["content"], "N");
    check(&body);
}

#[test]
fn signs_outside_of_assistant_messages_mean_nothing() {
    let removed = turn_of("\"N\"", vec![call("t1", 0, Some("N"))]);
    for request in [
        r#"{"system":"N","messages":[{"role":"user","content":"N"},{"role":"user","content":"x"}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"N"},{"type":"tool_use","id":"t0"},{"type":"thinking","signature":"s1"}]},{"role":"user","content":"x"}]}"#,
        r#"{"messages":[{"role":"assistant","content":"hm"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t5","content":"N"}]}]}"#,
        r#"{"messages":[{"role":"assistant","content":[{"type":"other","text":"N"},{"type":"thinking","thinking":"N","signature":"x"},{"type":"tool_use","id":"t5","input":{"text":"N"}}]},{"role":"user","content":"x"}]}"#,
        r#"{"messages":[{"role":"assistant","content":"N!"},{"role":"user","content":"x"}]}"#,
        r#"{"messages":[{"content":"N"},{"role":"user","content":"x"}]}"#,
    ] {
        skips(request, std::slice::from_ref(&removed), NotRestored::NotFound);
    }
}

#[test]
fn calls_that_cannot_be_answered_are_not_restored() {
    let removed = [turn(vec![call("t1", 0, Some("N"))])];
    for behind in [
        "",
        r#",{"role":"assistant","content":"x"}"#,
        r#",{"role":"system","content":"x"}"#,
        r#",{"role":"user"}"#,
    ] {
        let request =
            format!("{{\"messages\":[{{\"role\":\"assistant\",\"content\":\"N\"}}{behind}]}}");
        skips(&request, &removed, NotRestored::Unanswered);
    }
    let mut broken = removed[0].clone();
    broken.calls[0].original = "{\"type\":".into();
    skips(&request("\"N\"", "\"x\""), &[broken.clone()], NotRestored::Unreadable);
    broken.calls[0].id = String::new();
    skips(&request("\"N\"", "\"x\""), &[broken], NotRestored::NoId);
}

#[test]
fn assistant_messages_in_a_row_are_one() {
    let turns = [turn(vec![call("t1", 0, Some("N"))]), turn(vec![call("t2", 0, Some("M"))])];
    let request = r#"{"messages":[{"role":"assistant","content":"N"},{"role":"assistant","content":"M"},{"role":"user","content":"x"}]}"#;
    let body = restore(request, &turns).unwrap().body.unwrap();
    let body: Value = serde_json::from_str(&body).unwrap();
    let answer = &body["messages"][2]["content"];
    assert_eq!(answer[0]["tool_use_id"], "t1");
    assert_eq!(answer[1]["tool_use_id"], "t2");
    assert_eq!(answer[2], json!({"type":"text","text":"x"}));
}

#[test]
fn a_call_the_client_knows_is_skipped() {
    let mut removed = turn(vec![call("t1", 0, Some("N")), call("t2", 1, Some("M"))]);
    let known = request(
        r#"[{"type":"text","text":"N"},{"type":"text","text":"M"}]"#,
        r#"[{"type":"tool_result","tool_use_id":"t1","content":"x"}]"#,
    );
    let restored = restore(&known, std::slice::from_ref(&removed)).unwrap();
    assert_eq!(restored.restored, ["t2"]);
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "t1".to_owned(), why: NotRestored::Present }]
    );
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["messages"][1]["content"][0]["text"], "N");
    assert_eq!(body["messages"][1]["content"][1]["id"], "t2");
    // A result without its call: a second one would be refused.
    removed.calls.truncate(1);
    let answered = request("\"N\"", r#"[{"type":"tool_result","tool_use_id":"t1"}]"#);
    skips(&answered, std::slice::from_ref(&removed), NotRestored::Present);
    // The same call stored twice.
    let message = r#"{"role":"assistant","content":"N"},{"role":"user","content":"Go"}"#;
    let twice = format!("{{\"messages\":[{message},{message}]}}");
    let restored = restore(&twice, &[removed.clone(), removed]).unwrap();
    assert_eq!(restored.restored, ["t1"]);
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "t1".to_owned(), why: NotRestored::Present }]
    );
}

#[test]
fn restoring_again_changes_nothing() {
    let removed = [turn(vec![call("t1", 0, Some("N"))])];
    let body = restore(&request("\"N\"", "\"x\""), &removed).unwrap().body.unwrap();
    skips(&body, &removed, NotRestored::Present);
}

/// One turn of a generated conversation, as the provider has it.
#[derive(Debug, Clone)]
struct Turn {
    blocks: Vec<Made>,
    silent: bool,
    programmatic: bool,
    /// The user's text after the results.
    user: User,
}

#[derive(Debug, Clone, PartialEq)]
enum Made {
    Thinking,
    Text(String),
    Call { removed: bool },
}

#[derive(Debug, Clone)]
enum User {
    Nothing,
    Text(String),
    Blocks(String),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let text = "[a-c\"\\\\\n\u{1F600}\u{e9}]{0,4}";
    let block = prop_oneof![
        1 => Just(Made::Thinking),
        2 => text.prop_map(Made::Text),
        3 => any::<bool>().prop_map(|removed| Made::Call { removed }),
    ];
    let user =
        prop_oneof![Just(User::Nothing), text.prop_map(User::Text), text.prop_map(User::Blocks)];
    let turn = (prop::collection::vec(block, 1..7), any::<bool>(), any::<bool>(), user);
    let turn = turn.prop_map(|(mut blocks, silent, programmatic, user)| {
        // No provider sends text after the last call.
        if blocks.iter().any(|block| matches!(block, Made::Call { .. })) {
            while matches!(blocks.last(), Some(Made::Text(_))) {
                blocks.pop();
            }
        }
        Turn { blocks, silent, programmatic, user }
    });
    prop::collection::vec(turn, 1..5)
}

/// The conversation that the client sends, the expected result, and the removed calls.
struct Conversation {
    sent: Vec<Value>,
    want: Vec<Value>,
    removed: Vec<RemovedTurn>,
    /// Whether each message stays unchanged.
    same: Vec<bool>,
}

const NEUTRAL: &str = "I cannot go on here.";

fn play(turns: &[Turn]) -> Conversation {
    let first = json!({"role":"user","content":"Hi"});
    let mut talk = Conversation {
        sent: vec![first.clone()],
        want: vec![first],
        removed: Vec::new(),
        same: vec![true],
    };
    for (number, turn) in turns.iter().enumerate() {
        play_turn(&mut talk, turn, number);
    }
    talk
}

fn play_turn(talk: &mut Conversation, turn: &Turn, number: usize) {
    let (mut sent, mut want) = (Vec::new(), Vec::new());
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    let mut removed = RemovedTurn::default();
    let text_of = |place: usize, text: &str| json!({"type":"text","text":format!("{text} t{number}.{place}")});
    for (place, block) in turn.blocks.iter().enumerate() {
        let id = format!("toolu_{number}_{place}");
        match block {
            Made::Thinking => {
                let signature = format!("sig{number}.{place}");
                let thinking = json!({"type":"thinking","thinking":"","signature":signature});
                sent.push(thinking.clone());
                want.push(thinking);
            }
            Made::Text(text) => {
                let block = text_of(place, text);
                sent.push(block.clone());
                want.push(block);
            }
            Made::Call { removed: is_removed } => {
                let mut call = json!({"type":"tool_use","id":id,"name":"x","input":{"n":place}});
                if turn.programmatic {
                    call["caller"] = json!({"type":"code_execution_20260120","tool_id":"s"});
                }
                want.push(call.clone());
                if !is_removed {
                    results.push(json!({"type":"tool_result","tool_use_id":id,"content":"ok"}));
                    sent.push(call);
                    continue;
                }
                let shows = !turn.silent && results.is_empty();
                let notice = shows.then(|| format!("blocked:\n\"x\" {id}"));
                if let Some(notice) = &notice {
                    sent.push(json!({"type":"text","text":notice}));
                }
                errors.push(json!({
                    "type":"tool_result","tool_use_id":id,"is_error":true,"content":"why"
                }));
                let original = call.to_string();
                let why = "why".to_owned();
                removed.calls.push(RemovedCall { id, original, place, notice, why });
            }
        }
    }
    let says_nothing = !sent.iter().any(|block| block["type"] == "text");
    if !removed.calls.is_empty() && results.is_empty() && turn.silent && says_nothing {
        let neutral = json!({"type":"text","text":NEUTRAL});
        sent.push(neutral.clone());
        let is_call = |block: &&Value| block["type"] == "tool_use";
        let calls = want.iter().rev().take_while(is_call).count();
        want.insert(want.len() - calls, neutral);
    }
    let message = json!({"role":"assistant","content":sent});
    let alone = json!({"messages":[message]}).to_string();
    removed.client = testing::client_turn(Dialect::Anthropic, &alone);
    let user = match &turn.user {
        // Code that waits accepts only results, and the client knows that.
        _ if turn.programmatic && !results.is_empty() => User::Nothing,
        User::Nothing if results.is_empty() => User::Text(String::new()),
        user => user.clone(),
    };
    let said = match &user {
        User::Nothing => None,
        User::Text(text) | User::Blocks(text) => {
            Some(json!({"type":"text","text":format!("{text} u{number}")}))
        }
    };
    let answer = match &user {
        User::Text(_) if results.is_empty() => said.clone().unwrap()["text"].clone(),
        _ => Value::Array(results.iter().cloned().chain(said.clone()).collect()),
    };
    talk.sent.push(message);
    talk.sent.push(json!({"role":"user","content":answer}));
    let unchanged = errors.is_empty();
    talk.same.extend([unchanged, unchanged]);
    if unchanged {
        let len = talk.sent.len();
        talk.want.extend_from_slice(&talk.sent[len - 2..]);
        return;
    }
    if let (true, Some(said)) = (turn.programmatic, &said) {
        errors.last_mut().unwrap()["content"] = json!([{"type":"text","text":"why"}, said]);
        errors.extend(results);
    } else {
        errors.extend(results);
        errors.extend(said);
    }
    talk.want.push(json!({"role":"assistant","content":want}));
    talk.want.push(json!({"role":"user","content":errors}));
    talk.removed.push(removed);
}

/// Different spellings of the same document.
fn spell(value: &Value, style: u8) -> String {
    match style {
        0 => value.to_string(),
        1 => serde_json::to_string_pretty(value).unwrap(),
        _ => {
            let units = |c: char| -> String {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            };
            value
                .to_string()
                .chars()
                .map(|c| if c.is_ascii() { c.into() } else { units(c) })
                .collect()
        }
    }
}

fn raw_messages(request: &str) -> Vec<String> {
    let list = member(request, document(request), "messages").unwrap();
    elements(request, list).into_iter().map(|span| span.of(request).to_owned()).collect()
}

fn raw_blocks(message: &str) -> Vec<String> {
    let list = member(message, document(message), "content").unwrap();
    elements(message, list).into_iter().map(|span| span.of(message).to_owned()).collect()
}

proptest! {
    #[test]
    fn a_conversation_comes_back_whole(turns in turns(), style in 0..3_u8, cut in any::<bool>()) {
        let mut talk = play(&turns);
        let sent = json!({"model":"m","messages":talk.sent,"stream":true});
        let want = json!({"model":"m","messages":talk.want,"stream":true});
        let request = spell(&sent, style);
        let restored = restore(&request, &talk.removed).unwrap();
        prop_assert_eq!(&restored.skipped, &[]);
        prop_assert_eq!(restored.body.is_none(), talk.removed.is_empty());
        let body = restored.body.unwrap_or_else(|| request.clone());
        let read: Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(&read, &want);
        check(&read);
        for ((before, after), same) in
            raw_messages(&request).iter().zip(raw_messages(&body)).zip(&talk.same)
        {
            if *same {
                prop_assert_eq!(before, &after);
            }
            // Blocks that stay keep their bytes and their order.
            let after = raw_blocks(&after);
            let mut rest = after.iter();
            for block in raw_blocks(before).iter().filter(|block| !block.contains("blocked:")) {
                let inside = |other: &String| block.contains(" u") && other.contains(block);
                prop_assert!(rest.any(|other| other == block || inside(other)), "{}", block);
            }
        }
        // The second time, all calls are known.
        let again = restore(&body, &talk.removed).unwrap();
        prop_assert_eq!(again.body, None);

        // Without an answer, the last turn stays unchanged.
        if cut {
            talk.sent.pop();
            let sent = json!({"messages":talk.sent});
            let restored = restore(&spell(&sent, style), &talk.removed).unwrap();
            let last = !talk.same.last().unwrap();
            prop_assert_eq!(!restored.skipped.is_empty(), last);
        }
    }
}

/// What a client has of two answers, and the two answers.
const MERGED: &str = r#"[{"type":"thinking","thinking":"a","signature":"s1"},{"type":"text","text":"One."},{"type":"text","text":"blocked"},{"type":"text","text":"Two."},{"type":"tool_use","id":"t2","name":"ls","input":{}}]"#;
const FIRST: &str =
    r#"[{"type":"thinking","thinking":"a","signature":"s1"},{"type":"text","text":"One."},CALL]"#;
const LAST: &str = r#"[{"type":"thinking","thinking":"b","signature":"s2"},{"type":"text","text":"Two."},{"type":"tool_use","id":"t2","name":"ls","input":{}}]"#;
const ANSWER: &str = r#"[{"type":"tool_result","tool_use_id":"t2","content":"x"}]"#;

fn merged(calls: Vec<RemovedCall>) -> RemovedTurn {
    let earlier =
        EarlierAnswer { content: fill(FIRST), results: fill("[RESULT]"), ids: vec!["t1".into()] };
    let merged = MergedTurn { earlier: vec![earlier], last: LAST.into(), stored: None };
    turn_of(MERGED, calls).merged(merged)
}

/// The contents of all messages but the first.
fn contents(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter().skip(1);
    messages.map(|message| message["content"].clone()).collect()
}

#[test]
fn several_answers_become_turns_of_their_own() {
    let restored = restore(&request(MERGED, ANSWER), &[merged(Vec::new())]).unwrap();
    assert_eq!((restored.restored, restored.skipped), (vec!["t1".to_owned()], Vec::new()));
    let body = restored.body.unwrap();
    let last = format!("{{\"role\":\"assistant\",\"content\":{LAST}}} ,{{\"content\":{ANSWER}");
    assert!(body.contains(&last) && body.contains(&fill(FIRST)), "{body}");
    check(&serde_json::from_str(&body).unwrap());
    let roles: Vec<Value> = serde_json::from_str::<Value>(&body).unwrap()["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
}

#[test]
fn the_last_of_several_answers_gets_its_denied_calls_answered() {
    let denied = call("t3", 3, None);
    let last = LAST.replace("}]", &format!("}},{}]", denied.original));
    let mut turn = merged(vec![denied]);
    turn.merged.as_mut().unwrap().last = last;
    let restored = restore(&request(MERGED, ANSWER), &[turn]).unwrap();
    assert_eq!(restored.restored, ["t1", "t3"]);
    let contents = contents(&restored.body.unwrap());
    let ids: Vec<&Value> =
        contents[3].as_array().unwrap().iter().map(|block| &block["tool_use_id"]).collect();
    assert_eq!(ids, ["t3", "t2"]);
}

#[test]
fn a_client_without_thinking_gets_none_back_and_keeps_its_cache_control() {
    let sent = MERGED
        .replace(r#"{"type":"thinking","thinking":"a","signature":"s1"},"#, "")
        .replace(r#""input":{}}"#, r#""input":{},"cache_control":{"type":"ephemeral"}}"#);
    let restored = restore(&request(&sent, ANSWER), &[merged(Vec::new())]).unwrap();
    let body = restored.body.unwrap();
    assert!(!body.contains("thinking"), "{body}");
    let contents = contents(&body);
    assert_eq!(contents[2][1]["cache_control"], json!({ "type": "ephemeral" }));
}

#[test]
fn several_answers_are_restored_only_as_a_whole() {
    // The client changed a text.
    let changed = request(&MERGED.replace("Two.", "Three."), ANSWER);
    assert_eq!(restore(&changed, &[merged(Vec::new())]).unwrap().body, None);
    // The client knows the denied call: it was restored by someone else.
    let known = ANSWER.replace("t2\",", "t1\",");
    assert_eq!(restore(&request(MERGED, &known), &[merged(Vec::new())]).unwrap().body, None);
    // One call of the last answer cannot be restored.
    let nameless = call("", 3, None);
    assert_eq!(restore(&request(MERGED, ANSWER), &[merged(vec![nameless])]).unwrap().body, None);
    // Turns that lost other answers are other turns.
    let mut other = merged(Vec::new()).merged.unwrap();
    other.last = "[]".into();
    let other = turn_of(MERGED, Vec::new()).merged(other);
    let both = [merged(Vec::new()), other];
    assert_eq!(restore(&request(MERGED, ANSWER), &both).unwrap().body, None);
}

#[test]
fn a_call_that_is_not_put_back_does_not_take_the_place_of_another() {
    // A call of the first turn has no id, so that turn is left as it is; the second turn has a call
    // with the same id.
    let left = merged(vec![call("t3", 3, None), call("", 4, None)]);
    let other = r#"[{"type":"text","text":"Other."},{"type":"text","text":"N1"}]"#;
    let restored = turn_of(other, vec![call("t3", 1, Some(N1))]);
    let behind = format!(
        r#"{ANSWER},"role":"user"}},{{"role":"assistant","content":{}}},{{"content":"x""#,
        fill(other)
    );
    let restored = restore(&request(MERGED, &behind), &[left, restored]).unwrap();
    assert_eq!(restored.restored, ["t3"], "{:?}", restored.skipped);
}
