use serde_json::{Value, json};

use super::{seen, states};
use crate::Dialect;
use crate::request::testing::{self, client_turn};
use crate::request::{
    ClientCall, NotRestored, RemovedCall, RemovedTurn, Restored, sent, signature_hash,
};

fn restore(request: &str, turns: &[RemovedTurn]) -> Result<Restored, callgate_json::Error> {
    testing::restore(Dialect::Responses, request, turns)
}

const NOTICE: &str = "blocked `rm`: \"no\"\nRecord: r1";

fn original(kind: &str) -> String {
    let item = match kind {
        "function_call" => json!({"id": "fc_1", "arguments": "{\"n\": 1.0}", "name": "rm"}),
        "custom_tool_call" => json!({"id": "ct_1", "input": "rm", "name": "rm"}),
        "mcp_approval_request" => {
            return json!({"type": kind, "id": "call_1", "name": "rm", "server_label": "s",
                "arguments": "{}"})
            .to_string();
        }
        "apply_patch_call" => {
            json!({"id": "apc_1", "operation": {"type": "delete_file", "path": "a"}})
        }
        "tool_search_call" => json!({"id": "tsc_1", "arguments": {}, "execution": "client"}),
        _ => json!({"id": "sh_1", "action": {}}),
    };
    let mut item = item;
    item["type"] = kind.into();
    item["call_id"] = "call_1".into();
    item.to_string()
}

fn call(kind: &str, place: usize, notice: Option<&str>) -> RemovedCall {
    RemovedCall {
        id: "call_1".into(),
        original: original(kind),
        place,
        notice: notice.map(str::to_owned),
        why: "no".into(),
    }
}

fn turn(call: RemovedCall) -> RemovedTurn {
    RemovedTurn { calls: vec![call], ..RemovedTurn::default() }
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn reasoning(sign: &str) -> Value {
    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sign})
}

fn other_call(id: &str) -> [Value; 2] {
    [
        json!({"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": id, "output": "ok"}),
    ]
}

/// Checks what the items become. All others stay unchanged.
#[track_caller]
fn becomes(turn: &RemovedTurn, before: &[Value], after: &[Value]) {
    let request = json!({"model": "m", "input": before}).to_string();
    let restored = restore(&request, std::slice::from_ref(turn)).unwrap();
    assert_eq!(restored.skipped, [], "{request}");
    let body: Value = serde_json::from_str(&restored.body.unwrap()).unwrap();
    assert_eq!(body["input"], json!(after));
    assert_eq!(body["model"], "m");
}

#[track_caller]
fn skips(turn: &RemovedTurn, input: &[Value], why: NotRestored) {
    let request = json!({ "input": input }).to_string();
    let restored = restore(&request, std::slice::from_ref(turn)).unwrap();
    assert_eq!((restored.body, restored.restored), (None, vec![]));
    assert_eq!(restored.skipped, [crate::request::SkippedCall { id: "call_1".to_owned(), why }]);
}

fn result() -> Value {
    json!({"type": "function_call_output", "call_id": "call_1", "output": "no"})
}

fn parsed(kind: &str) -> Value {
    serde_json::from_str(&original(kind)).unwrap()
}

#[test]
fn a_notice_is_replaced_by_its_call_and_result() {
    let turn = turn(call("function_call", 1, Some(NOTICE)));
    becomes(
        &turn,
        &[user("hi"), reasoning("s"), said(NOTICE), user("why")],
        &[user("hi"), reasoning("s"), parsed("function_call"), result(), user("why")],
    );
    // A client that joins the texts of a turn.
    becomes(
        &turn,
        &[said(&format!("One moment.\n\n{NOTICE}")), user("why")],
        &[said("One moment."), parsed("function_call"), result(), user("why")],
    );
    // A message in the short form, at the very end.
    becomes(
        &turn,
        &[user("hi"), json!({"role": "assistant", "content": NOTICE})],
        &[user("hi"), parsed("function_call"), result()],
    );
    skips(&turn, &[user("hi"), user(NOTICE)], NotRestored::NotFound);
}

#[test]
fn every_kind_of_call_has_its_kind_of_result() {
    for (kind, result) in [
        (
            "custom_tool_call",
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "no"}),
        ),
        (
            "local_shell_call",
            json!({"type": "local_shell_call_output", "call_id": "call_1", "output": "no"}),
        ),
        (
            "shell_call",
            json!({"type": "shell_call_output", "call_id": "call_1", "output": [{"stdout": "",
                "stderr": "no", "outcome": {"type": "exit", "exit_code": 1}}]}),
        ),
        (
            "apply_patch_call",
            json!({"type": "apply_patch_call_output", "call_id": "call_1", "status": "failed",
                "output": "no"}),
        ),
        (
            "tool_search_call",
            json!({"type": "tool_search_output", "call_id": "call_1", "execution": "client",
                "status": "completed", "tools": []}),
        ),
        (
            "mcp_approval_request",
            json!({"type": "mcp_approval_response", "approval_request_id": "call_1",
                "approve": false, "reason": "no"}),
        ),
    ] {
        let turn = turn(call(kind, 0, Some(NOTICE)));
        becomes(&turn, &[said(NOTICE)], &[parsed(kind), result]);
    }
    // It would need a screenshot.
    let turn = turn(call("computer_call", 0, Some(NOTICE)));
    skips(&turn, &[said(NOTICE)], NotRestored::NoResult);
}

#[test]
fn without_a_notice_a_call_goes_to_its_old_place() {
    let [ls, output] = other_call("c2");
    let turn = turn(call("function_call", 1, None));
    becomes(
        &turn,
        &[user("hi"), reasoning("s"), ls.clone(), output.clone()],
        &[user("hi"), reasoning("s"), parsed("function_call"), result(), ls, output],
    );
    // By the reasoning alone, and by what the client was left with.
    becomes(
        &turn,
        &[reasoning("s"), user("go on")],
        &[reasoning("s"), parsed("function_call"), result(), user("go on")],
    );
    becomes(
        &turn,
        &[said("All done."), user("go on")],
        &[said("All done."), parsed("function_call"), result(), user("go on")],
    );
}

#[test]
fn calls_the_client_has_are_not_put_back() {
    let turn = turn(call("function_call", 0, Some(NOTICE)));
    let own = json!({"type": "function_call_output", "call_id": "call_1", "output": "ran"});
    skips(&turn, &[said(NOTICE), own], NotRestored::Present);
}

fn refer(id: &str) -> Value {
    json!({"type": "item_reference", "id": id})
}

/// A turn that the provider stores: reasoning, a text, a call that was replaced by a notice, and
/// one that stayed.
fn kept() -> RemovedTurn {
    let mut turn = turn(call("function_call", 2, Some(NOTICE)));
    turn.response = Some("resp_1".into());
    let request = json!({"input": [said("Hm."), said(NOTICE), other_call("c2")[0]]}).to_string();
    let mut client = client_turn(Dialect::Responses, &request).unwrap();
    client.signatures = ["rs_1", "enc", "msg_0", "fc_2"].map(signature_hash).to_vec();
    turn.client = Some(client);
    turn
}

#[test]
fn a_reference_to_the_message_becomes_the_call() {
    let [ls, output] = other_call("c2");
    let (all, rest) = (["rs_1", "msg_0"].map(refer), [output, user("why")]);
    let put_back = [parsed("function_call"), result()];
    let request = |middle: &[Value]| [&all[..], middle, &rest].concat();
    let becomes = |before: &[Value], after: &[Value]| becomes(&kept(), before, after);
    becomes(
        &request(&[refer("msg_1"), refer("fc_2")]),
        &request(&[put_back[0].clone(), put_back[1].clone(), refer("fc_2")]),
    );
    // The call that stayed may be sent whole.
    becomes(
        &request(&[refer("msg_1"), ls.clone()]),
        &request(&[put_back[0].clone(), put_back[1].clone(), ls.clone()]),
    );
    // Reasoning may be left out, and text be sent whole.
    becomes(
        &[said("Hm."), said(NOTICE), refer("fc_2"), rest[0].clone()],
        &[said("Hm."), put_back[0].clone(), put_back[1].clone(), refer("fc_2"), rest[0].clone()],
    );
    let asked = json!({"input": [refer("msg_1")]}).to_string();
    let asked = sent(Dialect::Responses, &asked).unwrap().turns.remove(0).keys;
    assert!(kept().keys().iter().any(|key| asked.contains(key)));
}

/// One common id does not make it the turn: everything next to it must belong to the turn, and
/// nothing may be missing.
#[test]
fn a_reference_alone_is_not_the_turn() {
    let [ls, _] = other_call("c2");
    let [other, _] = other_call("c3");
    for items in [
        vec![refer("msg_1")],
        vec![refer("rs_1"), user("why")],
        vec![refer("msg_1"), refer("fc_2")],
        vec![refer("msg_0"), refer("msg_1")],
        vec![refer("msg_0"), refer("msg_1"), refer("fc_2"), refer("msg_9")],
        vec![refer("msg_0"), refer("msg_1"), refer("fc_2"), said("Something else.")],
        vec![refer("msg_0"), refer("msg_1"), refer("fc_2"), ls.clone()],
        vec![refer("msg_0"), refer("msg_1"), other],
        vec![said("Hm."), refer("msg_1"), refer("fc_2")],
        vec![refer("msg_0"), refer("msg_1"), refer("fc_2"), reasoning("of another turn")],
    ] {
        skips(&kept(), &items, NotRestored::NotFound);
    }
}

/// If the provider stores the response, only the result is missing.
#[test]
fn a_kept_response_gets_its_results() {
    let mut turn = turn(call("function_call", 0, Some(NOTICE)));
    turn.response = Some("resp_1".into());
    turn.conversation = Some("conv_1".into());
    for (request, want) in [
        (
            r#"{"previous_response_id":"resp_1", "input" : "why \u00e9"}"#,
            r#"{"previous_response_id":"resp_1", "input" : [RESULT,{"role":"user","content":"why \u00e9"}]}"#,
        ),
        (
            r#"{"previous_response_id":"resp_1","input":[ {"role":"user","content":"why"}]}"#,
            r#"{"previous_response_id":"resp_1","input":[RESULT, {"role":"user","content":"why"}]}"#,
        ),
        (
            r#"{"conversation":"conv_1","input":[]}"#,
            r#"{"conversation":"conv_1","input":[RESULT]}"#,
        ),
        (
            r#"{"conversation":{"id":"conv_1"}}"#,
            r#"{"input":[RESULT],"conversation":{"id":"conv_1"}}"#,
        ),
    ] {
        let restored = restore(request, std::slice::from_ref(&turn)).unwrap();
        let result = r#"{"type":"function_call_output","call_id":"call_1","output":"no"}"#;
        assert_eq!(restored.body.unwrap(), want.replace("RESULT", result));
        assert_eq!(restored.restored, ["call_1"]);
        let asked = sent(Dialect::Responses, request).unwrap().states;
        assert!(asked.iter().any(|state| turn.states().contains(state)), "{request}");
    }
    let answered = r#"{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_1","output":"x"}]}"#;
    let restored = restore(answered, std::slice::from_ref(&turn)).unwrap();
    assert_eq!((restored.body, restored.skipped.len()), (None, 1));
    let other = r#"{"previous_response_id":"resp_2","input":"why"}"#;
    assert_eq!(restore(other, &[turn]).unwrap().body, None);
    assert_eq!(states(other).unwrap(), ["resp_2"]);
}

#[test]
fn the_turns_of_a_history_are_distinguished() {
    let [ls, output] = other_call("c2");
    let input = [user("a"), reasoning("s"), ls, output, said("b"), user("c"), said("d")];
    let request = json!({ "input": input }).to_string();
    let seen = seen(&request).unwrap();
    let starts: Vec<usize> = seen.iter().map(|seen| seen.message).collect();
    assert_eq!(starts, [1, 4, 6]);
    assert_eq!(seen[0].client.signatures, [signature_hash("s")]);
    assert_eq!(seen[0].client.calls, [ClientCall::new("c2".into(), "ls", "{}")]);
}

#[test]
fn a_request_that_cannot_be_read_is_an_error() {
    let turn = turn(call("function_call", 0, Some(NOTICE)));
    for request in ["[]", "{", r#"{"input":1}"#, r#"{"input":[],"input":[]}"#, r#"{"Input":[]}"#] {
        assert!(restore(request, std::slice::from_ref(&turn)).is_err(), "{request}");
    }
}

/// The items of a turn are compared as in the response, whatever their kind.
#[test]
fn an_id_in_common_is_not_enough() {
    let item = |kind: &str, command: &str| match kind {
        "function_call" => json!({"type": kind, "call_id": "c2", "name": "sh",
            "arguments": json!({"command": command}).to_string()}),
        "custom_tool_call" => {
            json!({"type": kind, "call_id": "c2", "name": "sh", "input": command})
        }
        "apply_patch_call" => json!({"type": kind, "call_id": "c2",
            "operation": {"type": "delete_file", "path": command}}),
        _ => json!({"type": kind, "call_id": "c2", "action": {"commands": [command]}}),
    };
    let output = json!({"type": "function_call_output", "call_id": "c2", "output": "ok"});
    for kind in ["function_call", "custom_tool_call", "apply_patch_call", "shell_call"] {
        let request = |command: &str| {
            let items = [said("I run it."), item(kind, command), output.clone()];
            json!({"input": items}).to_string()
        };
        let client = client_turn(Dialect::Responses, &request("ls"));
        let turn = RemovedTurn { client, ..turn(call("function_call", 2, None)) };
        let turns = std::slice::from_ref(&turn);
        assert_eq!(restore(&request("ls"), turns).unwrap().restored, ["call_1"], "{kind}");
        assert_eq!(restore(&request("pwd"), turns).unwrap().body, None, "{kind}");
    }
}

/// Some clients put each output directly after its call, and so split the turn.
#[test]
fn a_turn_in_pairs_is_one_turn() {
    let [[one, one_out], [two, two_out]] = ["c2", "c3"].map(other_call);
    let as_given = [said("Hm."), one.clone(), two.clone(), one_out.clone(), two_out.clone()];
    let request = json!({ "input": as_given }).to_string();
    let client = client_turn(Dialect::Responses, &request);
    let pairs =
        [user("a"), said("Hm."), one.clone(), one_out.clone(), two.clone(), two_out.clone()];
    // Removed between the two that stayed.
    let turn = RemovedTurn { client, ..turn(call("function_call", 2, None)) };
    let [call, result] = [parsed("function_call"), result()];
    let (head, tail) = pairs.split_at(4);
    becomes(&turn, &pairs, &[head, &[call, result], tail].concat());
    // With an item of the user between them, or another call after them, it is another turn.
    let [three, three_out] = other_call("c4");
    let torn = [said("Hm."), one, one_out, user("a"), two, two_out];
    skips(&turn, &torn, NotRestored::NotFound);
    skips(&turn, &[&pairs[..4], &[three, three_out]].concat(), NotRestored::NotFound);
}

#[test]
fn turns_one_after_the_other_are_not_taken_for_pairs() {
    let [[one, one_out], [two, two_out]] = ["c2", "c3"].map(other_call);
    let request = json!({ "input": [one, one_out] }).to_string();
    let client = client_turn(Dialect::Responses, &request);
    let turn = RemovedTurn { client, ..turn(call("function_call", 1, None)) };
    becomes(
        &turn,
        &[one.clone(), one_out.clone(), two.clone(), two_out.clone()],
        &[one, parsed("function_call"), result(), one_out, two, two_out],
    );
}
