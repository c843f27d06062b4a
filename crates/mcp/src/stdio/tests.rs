use callgate_call::{Origin, Surface};
use callgate_decide::mcp::Launch;
use callgate_decide::{Decider, RequestContext};
use callgate_effects::Catalogue;
use callgate_policy::{Policies, Source};
use callgate_store::{Location, Store};
use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream};

use super::*;

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

/// A wrapped server, of which the test reads the input.
fn wrapped() -> (Arc<WrapState>, BufReader<DuplexStream>) {
    let source = Source { name: "p.yaml".into(), text: "policy: p\nrules: []\n".into() };
    let (policies, _) = Policies::compile(&[source], &Catalogue::builtin()).unwrap();
    let audit = Store::open(&callgate_store::Settings::at(Location::Memory)).unwrap();
    let decider = Decider::new(Some(policies), audit, callgate_decide::Settings::default());
    let context = RequestContext::new(Origin::at(Surface::Mcp));
    let mcp_session = decider.mcp("s", &Launch::command("s", &["x"], None), context);
    let settings = StdioSettings::default();
    let (server, stdin) = tokio::io::duplex(16 << 20);
    let (to_server, _) = Pipe::start(stdin, settings.max_message);
    let (to_client, _) = Pipe::start(tokio::io::sink(), settings.max_message);
    let state = WrapState {
        session: Mutex::new(RpcSession::new(mcp_session.clone())),
        mcp_session,
        settings,
        to_server,
        to_client,
        call_decided: Notify::new(),
    };
    (Arc::new(state), BufReader::new(server))
}

fn notification(number: usize) -> SplitLine {
    let text = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progress":{number}}}}}"#
    );
    SplitLine::Whole(text.into_bytes())
}

async fn next_line(server: &mut BufReader<DuplexStream>) -> serde_json::Value {
    let mut line = String::new();
    server.read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

/// More lines wait behind a call than one task may send without a pause, and more come while they
/// are sent.
#[tokio::test]
async fn lines_reach_the_server_in_order() {
    const WAITING: usize = 500;
    const LATER: usize = 3000;
    let (state, mut server) = wrapped();
    state.line(SplitLine::Whole(CALL.into()), Peer::Client).await;
    for number in 0..WAITING {
        state.line(notification(number), Peer::Client).await;
    }
    let list = next_line(&mut server).await;
    assert_eq!(list["method"], "tools/list");
    let tools = serde_json::json!({ "jsonrpc": "2.0", "id": list["id"], "result": { "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] } });
    state.line(SplitLine::Whole(tools.to_string().into_bytes()), Peer::Server).await;
    for number in WAITING..LATER {
        state.line(notification(number), Peer::Client).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(next_line(&mut server).await["method"], "tools/call");
    for number in 0..LATER {
        assert_eq!(next_line(&mut server).await["params"]["progress"], number);
    }
}
