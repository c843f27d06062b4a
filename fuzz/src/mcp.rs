//! A conversation with an MCP server, for the targets that speak in it.

use callgate_decide::Decider;
use callgate_effects::Catalogue;
use callgate_mcp::probe::Probe;
use callgate_policy::{Policies, Source};
use callgate_store::{Durability, Location, Store};

/// What the server lists when callgate asks for it.
pub const TOOLS: &str = r#"{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}},{"name":"rm","inputSchema":{"type":"object"}}"#;

/// No call of `rm` passes.
const POLICY: &str =
    "policy: p\nrules:\n  - { id: no-rm, tool: rm, surface: mcp, verdict: deny, reason: No. }\n";

/// A process that knows nothing yet: what one run has pinned must not meet the next.
fn decider() -> Decider {
    let source = Source { name: "p.yaml".into(), text: POLICY.into() };
    let (policies, _) = Policies::compile(&[source], &Catalogue::builtin()).expect("a policy");
    let settings = callgate_store::Settings {
        durability: Durability::Process,
        ..callgate_store::Settings::at(Location::Memory)
    };
    let audit = Store::open(&settings).expect("a store in memory");
    Decider::new(Some(policies), audit, callgate_decide::Settings::default())
}

/// A conversation on a pipe.
pub fn on_pipe() -> Probe {
    Probe::on_pipe(&decider(), TOOLS).expect("a runtime")
}

/// A conversation in requests, in which the client has asked for one thing of each kind. What the
/// server may answer has the number of the request.
pub fn asked() -> Probe {
    let mut probe = Probe::in_requests(&decider(), TOOLS).expect("a runtime");
    for (id, (method, params)) in (1..).zip(ASKED) {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        probe.request(body.as_bytes());
    }
    probe
}

const ASKED: [(&str, &str); 8] = [
    ("initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#),
    ("tools/list", "{}"),
    ("tools/call", r#"{"name":"echo","arguments":{}}"#),
    ("prompts/list", "{}"),
    ("prompts/get", r#"{"name":"p"}"#),
    ("resources/list", "{}"),
    ("resources/read", r#"{"uri":"file:///x"}"#),
    ("tasks/result", r#"{"taskId":"t"}"#),
];

/// A text in which what is random looks alike: ids of requests of our own, and of records.
pub fn comparable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    without(&without(&text, "callgate-", 16), "Record: ", 36)
}

/// The text without the `length` digits that follow each `mark`.
fn without(text: &str, mark: &str, length: usize) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_digit = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
        let digits = part.bytes().take(length).take_while(is_digit).count();
        out.push_str(mark);
        out.push_str(if digits == length { &part[length..] } else { part });
    }
    out
}
