//! Calls that are not over with their answer: tasks, and questions in between.

use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::support::{ALLOW, Client, Era, ORDER, Server, message, result, text};
use crate::support::text_of;

/// The calls on record, each with the one it continues with.
fn calls(gateway: &callgate_testkit::gateway::Gateway) -> Vec<Value> {
    let calls = gateway.calls().into_iter();
    calls.filter(|call| call["type"] == "mcp_tool_called").collect()
}

#[test]
fn a_call_that_goes_on_is_bound_to_its_first_part_across_requests() {
    let wants =
        json!({ "who": { "method": "elicitation/create", "params": { "message": "Which one?" } } });
    let server = Server::with(Era::Modern, move |_, said| {
        let goes_on = said["params"].get("inputResponses").is_some();
        (said["method"] == "tools/call").then(|| match goes_on {
            true => Answer::json(200, text(said, "done")),
            false => result(said, json!({ "resultType": "input_required", "inputRequests": wants.clone(), "requestState": "st" })),
        })
    });
    // A rate of one call: the second part is the same call, and another one is not.
    let gateway = server.gateway(ALLOW, "rate: { calls: 1, per: hour }");
    let mut client = Client::modern(&gateway);
    let call = json!({ "name": "echo", "arguments": { "text": "a" } });
    let asked = client.ask("tools/call", call.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(asked["result"]["requestState"], "st");
    let mut answer = call.clone();
    answer["inputResponses"] = json!({ "who": { "action": "accept" } });
    answer["requestState"] = json!("st");
    let done = client.ask("tools/call", answer.clone());
    assert_eq!(text_of(&done), "done", "{done}");
    assert_eq!(server.heard("tools/call")[1].json()["params"]["requestState"], "st");
    // The round is over: what claims to continue is a new call, and the rate is used up.
    let again = client.ask("tools/call", answer);
    assert_eq!(again["result"]["isError"], true, "{again}");
    assert_eq!(server.heard("tools/call").len(), 2);
}

#[test]
fn another_call_does_not_go_on_with_the_first() {
    let wants =
        json!({ "who": { "method": "elicitation/create", "params": { "message": "Which one?" } } });
    let server = Server::with(Era::Modern, move |_, said| {
        let goes_on = said["params"].get("inputResponses").is_some();
        (said["method"] == "tools/call" && !goes_on).then(|| {
            result(said, json!({ "resultType": "input_required", "inputRequests": wants.clone(), "requestState": "st" }))
        })
    });
    let gateway = server.gateway(ALLOW, "rate: { calls: 1, per: hour }");
    let mut client = Client::modern(&gateway);
    client.ask("tools/call", json!({ "name": "echo", "arguments": { "text": "a" } }));
    let other = json!({ "name": "echo", "arguments": { "text": "b" }, "inputResponses": {}, "requestState": "st" });
    let answer = client.ask("tools/call", other);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[test]
fn a_question_inside_of_an_answer_is_judged() {
    for (method, params) in [
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 1 })),
        ("elicitation/create", json!({ "message": ORDER })),
    ] {
        let wants = json!({ "q": { "method": method, "params": params } });
        let server = Server::with(Era::Modern, move |_, said| {
            let asks = json!({ "resultType": "input_required", "inputRequests": wants.clone() });
            (said["method"] == "tools/call").then(|| result(said, asks))
        });
        let gateway = server.gateway(ALLOW, "");
        let answer = Client::modern(&gateway).call("echo", json!({}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer["result"].get("inputRequests").is_none(), "{answer}");
    }
}

#[test]
fn what_comes_of_a_task_is_judged_as_the_result_of_its_call() {
    let server = Server::with(Era::Modern, |_, said| match said["method"].as_str()? {
        "tools/call" => Some(result(
            said,
            json!({ "resultType": "task", "taskId": "t-1", "status": "working" }),
        )),
        "tasks/get" => {
            let order = json!({ "content": [{ "type": "text", "text": ORDER }] });
            let done = json!({ "resultType": "complete", "taskId": said["params"]["taskId"], "status": "completed", "result": order });
            Some(Answer::json(200, message(said, done)))
        }
        _ => None,
    });
    let gateway = server.gateway(ALLOW, "");
    let mut client = Client::modern(&gateway);
    let task = client.call("echo", json!({}));
    assert_eq!(task["result"]["taskId"], "t-1", "{task}");
    let known = client.ask("tasks/get", json!({ "taskId": "t-1" }));
    assert_eq!(known["result"]["isError"], true, "as a call's result: {known}");
    assert!(!known.to_string().contains("id_rsa"), "{known}");
    let unknown = client.ask("tasks/get", json!({ "taskId": "t-2" }));
    assert_eq!(unknown["error"]["code"], 1403, "nobody knows whose it is: {unknown}");
    // What was found belongs to the call that began it.
    let found = gateway.wait_until(|gateway| {
        gateway
            .events()
            .iter()
            .any(|event| event["tool"]["name"] == "echo" && event["type"] == "guardrail")
    });
    assert!(found, "{:?}", gateway.events());
    assert_eq!(calls(&gateway).len(), 1);
}
