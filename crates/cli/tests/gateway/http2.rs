//! The same over HTTP/2, with the client that Node brings.

use std::process::Command;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::sdk;
use callgate_testkit::upstream::{Answer, Upstream};
use serde_json::Value;

use crate::support::{ALLOW, CHAT, DENY, MESSAGES, emptied, gateway, turns, whole_turns};

/// Asks for each path at once on one connection, and prints status, headers and body of each.
const SCRIPT: &str = r#"
import { connect } from 'node:http2';
const [, url, ...paths] = process.argv;
const session = connect(url);
const ask = (path) => new Promise((done, fail) => {
  const stream = session.request({ ':method': 'POST', ':path': path, authorization: 'Bearer none' });
  let head, body = '';
  stream.setEncoding('utf8').on('error', fail).on('response', (headers) => (head = headers));
  stream.on('data', (piece) => (body += piece)).on('end', () => done({ head, body }));
  stream.end('{"messages":[]}');
});
const all = await Promise.all(paths.map(ask));
console.log(JSON.stringify(all.map(({ head, body }) => ({ status: head[':status'], head: { ...head }, body }))));
session.close();
"#;

fn ask(gateway: &Gateway, paths: &[&str]) -> Option<Vec<Value>> {
    let interpreters = sdk::interpreters()?;
    let mut node = Command::new(interpreters.node());
    node.args(["--input-type=module", "--eval", SCRIPT, &gateway.url()]).args(paths);
    let ran = node.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(serde_json::from_slice(&ran.stdout).unwrap())
}

fn server(tool: &'static str) -> Upstream {
    Upstream::start(move |request| of(&request.path, tool))
}

fn of(path: &str, tool: &str) -> Answer {
    let [messages, chat] = turns(tool, "{}");
    if path.ends_with(MESSAGES) { messages.1 } else { chat.1 }
}

#[test]
fn http2_clients_get_what_is_allowed_byte_for_byte() {
    let upstream = server("read_file");
    let gateway = gateway(&upstream, ALLOW, "");
    let paths = [MESSAGES, CHAT].repeat(20);
    let Some(replies) = ask(&gateway, &paths) else { return };
    for (path, reply) in paths.iter().zip(replies) {
        let (_, body) = emptied(of(path, "read_file"));
        assert_eq!(
            (&reply["status"], reply["body"].as_str()),
            (&200.into(), std::str::from_utf8(&body).ok())
        );
        assert_eq!(reply["head"]["content-type"], "text/event-stream; charset=utf-8");
    }
    assert_eq!(upstream.requests().len(), paths.len());
}

#[test]
fn http2_clients_get_no_denied_call() {
    let upstream = Upstream::always(whole_turns("delete_all", "{}")[1].1.clone());
    let gateway = gateway(&upstream, DENY, "");
    let Some(replies) = ask(&gateway, &[CHAT, "/v1/unknown"]) else { return };
    assert_eq!(replies[0]["status"], 200);
    assert!(!replies[0]["body"].as_str().unwrap().contains("tool_calls\":"), "{}", replies[0]);
    assert_eq!(replies[1]["status"], 404);
}
