use super::*;
use crate::Dialect;
use crate::request::testing::{client_turn, restore};
use crate::request::{NotRestored, RemovedTurn};

const CALL: &str = r#"{"toolUse":{"toolUseId":"t1","name":"rm","input":{"n": 1.0}}}"#;
const RESULT: &str =
    r#"{"toolResult":{"toolUseId":"t1","content":[{"text":"no"}],"status":"error"}}"#;

fn turn(notice: Option<&str>) -> RemovedTurn {
    let call = RemovedCall {
        id: "t1".into(),
        original: CALL.into(),
        place: 1,
        notice: notice.map(str::to_owned),
        why: "no".into(),
    };
    RemovedTurn { calls: vec![call], ..RemovedTurn::default() }
}

fn request(assistant: &str, user: &str) -> String {
    format!(
        "{{\"messages\": [{{\"role\":\"user\",\"content\":[{{\"text\":\"Hi\"}}]}},\n \
         {{\"role\":\"assistant\",\"content\": {assistant}}} ,\
         {{\"content\":{user},\"role\":\"user\"}}],\"inferenceConfig\":{{}}}}"
    )
}

#[track_caller]
fn becomes(turn: &RemovedTurn, before: (&str, &str), after: (&str, &str)) {
    let sent = request(before.0, before.1);
    let restored = restore(Dialect::Converse, &sent, std::slice::from_ref(turn)).unwrap();
    assert_eq!(restored.skipped, []);
    assert_eq!(restored.body.unwrap(), request(after.0, after.1));
}

#[test]
fn a_call_replaces_its_notice() {
    becomes(
        &turn(Some("blocked: rm")),
        (r#"[{"text":"I will."}, {"text":"blocked: rm"}]"#, r#"[{"text":"Why?"}]"#),
        (
            &format!(r#"[{{"text":"I will."}}, {CALL}]"#),
            &format!(r#"[{RESULT},{{"text":"Why?"}}]"#),
        ),
    );
}

#[test]
fn a_turn_is_known_by_all_of_it() {
    let thinking = r#"{"reasoningContent":{"reasoningText":{"text":"so","signature":"sig"}}}"#;
    let ls =
        |n: u32| format!(r#"{{"toolUse":{{"toolUseId":"t0","name":"ls","input":{{"n":{n}}}}}}}"#);
    let client = client_turn(Dialect::Converse, &request(&format!("[{}]", ls(1)), "[]"));
    let silent = RemovedTurn { client, ..turn(None) };
    for (n, ids) in [(1, vec!["t1"]), (2, vec![])] {
        let sent = request(&format!("[{}]", ls(n)), r#"[{"text":"Why?"}]"#);
        let restored = restore(Dialect::Converse, &sent, std::slice::from_ref(&silent)).unwrap();
        assert_eq!(restored.restored, ids);
    }
    let turn = turn(None);
    becomes(
        &turn,
        (&format!("[{thinking}]"), r#"[{"text":"Why?"}]"#),
        (&format!("[{thinking},{CALL}]"), &format!(r#"[{RESULT},{{"text":"Why?"}}]"#)),
    );
}

#[test]
fn a_call_that_nothing_answers_stays_out() {
    let request = r#"{"messages":[{"role":"assistant","content":[{"text":"blocked: rm"}]}]}"#;
    let restored = restore(Dialect::Converse, request, &[turn(Some("blocked: rm"))]).unwrap();
    assert_eq!(restored.body, None);
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "t1".to_owned(), why: NotRestored::Unanswered }]
    );
}

#[test]
fn a_call_the_client_has_stays_out() {
    let sent = request(&format!(r#"[{{"text":"blocked: rm"}},{CALL}]"#), r#"[{"text":"Why?"}]"#);
    let restored = restore(Dialect::Converse, &sent, &[turn(Some("blocked: rm"))]).unwrap();
    assert_eq!(
        restored.skipped,
        [crate::request::SkippedCall { id: "t1".to_owned(), why: NotRestored::Present }]
    );
}
