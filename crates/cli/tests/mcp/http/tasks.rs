//! Tasks of several who speak to one server with one token.

use callgate_testkit::gateway::Gateway;
use callgate_testkit::upstream::Answer;
use serde_json::{Value, json};

use super::access::add_key;
use super::support::{ALLOW, Client, Era, Server, result};

/// A server that begins a task for every call, and reports it on request.
fn server(era: Era) -> Server {
    Server::with(era, |_, said| {
        let task = |id: &Value| json!({ "taskId": id, "status": "working" });
        let begun = task(&said["params"]["arguments"]["id"]);
        let asked = task(&said["params"]["taskId"]);
        let of = |extra: Value| {
            let mut task = extra;
            task["resultType"] = json!("task");
            task
        };
        Some(match said["method"].as_str()? {
            // In the older revisions the task stands by itself.
            "tools/call" if said["params"].get("task").is_some() => {
                result(said, json!({ "task": begun }))
            }
            "tools/call" => result(said, of(begun)),
            "resources/read" => result(said, of(task(&json!("of-a-resource")))),
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => result(said, asked),
            "tasks/list" => {
                let tasks = ["of-mine", "of-other", "of-nobody"].map(|id| task(&json!(id)));
                result(said, json!({ "tasks": tasks, "nextCursor": "c" }))
            }
            "subscriptions/listen" => Answer::stream(
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\"}\n\n",
            ),
            _ => return None,
        })
    })
}

fn client(gateway: &Gateway, era: Era, key: &str) -> Client {
    let mut client = Client::new(gateway, era).with("x-callgate-key", key);
    if era == Era::Legacy {
        client.hello();
    }
    client
}

#[test]
fn nobody_asks_for_anothers_task() {
    for era in [Era::Legacy, Era::Modern] {
        let server = server(era);
        let setup = server.setup(ALLOW, "", "").listen("0.0.0.0:0");
        let keys = ["mine", "other"].map(|name| add_key(&setup, name));
        let gateway = server.start(setup);
        let [mut mine, mut other] = [0, 1].map(|at: usize| client(&gateway, era, &keys[at]));
        let params = |id: &str| {
            let mut params = json!({ "name": "echo", "arguments": { "id": id } });
            if era == Era::Legacy {
                params["task"] = json!({ "ttl": 60000 });
            }
            params
        };
        mine.ask("tools/call", params("of-mine"));
        mine.ask("resources/read", json!({ "uri": "file:///a" }));
        other.ask("tools/call", params("of-other"));
        server.begin();
        for task in ["of-mine", "of-a-resource"] {
            // In the older revisions only calls become tasks.
            if era == Era::Legacy && task == "of-a-resource" {
                continue;
            }
            for (method, key) in [
                ("tasks/get", "taskId"),
                ("tasks/result", "taskId"),
                ("tasks/cancel", "taskId"),
                ("tasks/update", "taskId"),
                // Some servers do not look at the case of a key.
                ("tasks/get", "TaskId"),
                ("subscriptions/listen", "taskIds"),
            ] {
                let refused = other.ask(method, json!({ key: [task], "taskId": task }));
                assert_eq!(refused["error"]["code"], -32602, "{era:?} {method}: {refused}");
            }
        }
        assert!(server.seen().is_empty(), "{:?}", server.seen());
        for (client, own) in [(&mut mine, "of-mine"), (&mut other, "of-other")] {
            let told = client.ask("tasks/get", json!({ "taskId": own }));
            assert_eq!(told["result"]["taskId"], own, "{told}");
            // What nobody is known to have begun is the server's affair.
            let told = client.ask("tasks/get", json!({ "taskId": "of-nobody" }));
            assert_eq!(told["result"]["taskId"], "of-nobody", "{told}");
            let list = client.ask("tasks/list", json!({}));
            let tasks = list["result"]["tasks"].as_array().unwrap().iter();
            let tasks: Vec<&str> = tasks.map(|task| task["taskId"].as_str().unwrap()).collect();
            assert_eq!(tasks, [own, "of-nobody"], "{list}");
            assert_eq!(list["result"]["nextCursor"], "c");
        }
        // The same key in another conversation is the same one.
        let mut again = client(&gateway, era, &keys[0]);
        let told = again.ask("tasks/get", json!({ "taskId": "of-mine" }));
        assert_eq!(told["result"]["taskId"], "of-mine", "{told}");
        let told = gateway.wait_until(|gateway| {
            gateway.calls().iter().any(|it| {
                it["detail"].as_str().is_some_and(|it| it.contains("a task of another client"))
            })
        });
        assert!(told, "{:?}", gateway.calls());
    }
}
